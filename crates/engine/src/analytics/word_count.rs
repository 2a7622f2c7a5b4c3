//! Terms with their occurrences: word count and sort.

use std::io;
use std::iter::once;
use std::ops::Range;

use tadoc_core::answer::{Answer, Column, Labels, Rows, Value};
use tadoc_core::{Network, Strategy};

use super::columns::TERM_COUNTS;
use super::ranking::{Ranking, rank_items};
use crate::traverse::{Tables, occurrences, root_counts};

/// How often every item occurs. Bottom-up needs room for tables, in bytes.
pub(super) fn count_items(network: &Network, strategy: Strategy, memory: u64) -> Vec<u64> {
    match strategy {
        Strategy::TopDown => occurrences(network, ..).items,
        Strategy::BottomUp => count_by_tables(network, &Tables::new(network, memory)),
    }
}

/// Adds up the tables of the rules in the root, each once and times its uses. A rule without one passes its weight on
/// to its body: looked into at every use, it would cost as much as the text that it expands to.
fn count_by_tables(network: &Network, tables: &Tables) -> Vec<u64> {
    let grammar = network.grammar().slices();
    let tables = tables.slices();
    let mut counts = vec![0_u64; network.grammar().token_count() as usize];
    let mut weights = vec![0_u64; network.lengths().len()];
    let give = |row: &[u32], weight: u64, counts: &mut [u64], weights: &mut [u64]| {
        for &symbol in row {
            match grammar.rule_of(symbol) {
                None => counts[symbol as usize] += weight,
                Some(rule) => weights[rule as usize] += weight,
            }
        }
    };
    // The root with its duplicates counted is one more body.
    let (of_items, of_rules) = root_counts(network).split_at(counts.len());
    counts.iter_mut().zip(of_items).for_each(|(count, &more)| *count += u64::from(more));
    weights.iter_mut().zip(of_rules).for_each(|(weight, &more)| *weight += u64::from(more));
    for rule in 0..weights.len() as u32 {
        let weight = weights[rule as usize];
        match tables.get(rule) {
            _ if weight == 0 => {}
            [] => give(grammar.body(rule), weight, &mut counts, &mut weights),
            table => table.iter().for_each(|&item| counts[item as usize] += weight),
        }
    }
    counts
}

/// Terms with their occurrences: by occurrences descending, then term ascending.
#[derive(Debug)]
pub(super) struct WordCounts(pub(super) Ranking<u32>);

impl WordCounts {
    pub(super) fn new(counts: &[u64], least: u64, top: Option<usize>) -> Self {
        let mut ranking = rank_items(counts, least);
        if let Some(top) = top {
            ranking.truncate(top);
        }
        Self(ranking)
    }
}

/// Terms with their occurrences, by term ascending.
#[derive(Debug)]
pub(super) struct SortedCounts {
    terms: Vec<u32>,
    counts: Vec<u64>,
}

impl SortedCounts {
    pub(super) fn new(counts: &[u64], least: u64, top: Option<usize>) -> Self {
        let rows = (0..).zip(counts.iter().copied());
        let kept = rows.filter(|&(_, count)| count >= least.max(1)).take(top.unwrap_or(usize::MAX));
        let (terms, counts) = kept.unzip();
        Self { terms, counts }
    }
}

/// A part of either, with what its numbers stand for.
struct CountRows<'a, T> {
    labels: Labels<'a>,
    rows: &'a T,
}

impl Rows for CountRows<'_, WordCounts> {
    fn columns(&self) -> &'static [Column] {
        TERM_COUNTS
    }

    fn len(&self) -> u64 {
        self.rows.0.keys.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for (place, (term, count)) in (rows.start as usize..).zip(self.rows.0.rows(rows)) {
            self.labels.terms.ask_ahead(&self.rows.0.keys, place, once);
            each(&[Value::Text(self.labels.terms.get(term)), Value::Count(count)]);
        }
    }
}

impl Rows for CountRows<'_, SortedCounts> {
    fn columns(&self) -> &'static [Column] {
        TERM_COUNTS
    }

    fn len(&self) -> u64 {
        self.rows.terms.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for row in rows.start as usize..rows.end as usize {
            let term = self.labels.terms.get(self.rows.terms[row]);
            each(&[Value::Text(term), Value::Count(self.rows.counts[row])]);
        }
    }
}

impl Answer for WordCounts {
    fn columns(&self) -> &'static [Column] {
        TERM_COUNTS
    }

    fn for_each_part(
        &self,
        labels: Labels<'_>,
        each: &mut dyn FnMut(&dyn Rows) -> io::Result<()>,
    ) -> io::Result<()> {
        each(&CountRows { labels, rows: self })
    }
}

impl Answer for SortedCounts {
    fn columns(&self) -> &'static [Column] {
        TERM_COUNTS
    }

    fn for_each_part(
        &self,
        labels: Labels<'_>,
        each: &mut dyn FnMut(&dyn Rows) -> io::Result<()>,
    ) -> io::Result<()> {
        each(&CountRows { labels, rows: self })
    }
}
