//! Sequences with the documents that they occur in.
//!
//! Every sequence is sorted once for each place where it is met, not for each time that it occurs: a *site* is a document, for places in
//! its own symbols, or a rule, and for every rule it is known in which documents it occurs and how often. What a sequence has in
//! each document is then the sum over its sites; for most, which have one site, it is a copy of a rule's list.
//!
//! Phase `sites` groups the sites of all sequences by key. The answer is made of them while it is given, a few pieces at a time. Cost: O(symbols) to
//! sort, the rules that each document uses, and the rows of the answer. In the pool: a key and 4 bytes for each site, and the documents
//! of rules. Memory: some pieces for each thread, of which each stops when it has many rows and goes on when they have been given.
//! Where all is of one document, sequences are counted as they are over the whole corpus, and given by key.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tadoc_core::answer::columns::SEQUENCE_DOCUMENTS;
use tadoc_core::answer::{Answer, Column, Labels, Position, Rows, Value};
use tadoc_core::{Packing, parallel};

use super::Budget;
use super::buckets::{Grouping, Groupings, Layout, Piece, Records, are_grouped, pieces};
use super::counts::{Counter, Occurrences};
use super::keys::Key;
use super::rule_documents::RuleDocuments;
use super::sort::{Record, Sorter};
use super::source::{Sequences, Stretch};
use crate::entry::{self, Count};
use crate::plan::sole_document;
use crate::work::{Block, Work};
use crate::{Error, Result};

/// Pieces that a thread makes rows of before any are given.
const PIECES_PER_THREAD: usize = 4;
/// Bytes that a site takes while its piece is sorted and made rows of.
const BYTES_OF_A_SITE: u64 = 64;

/// Sequences, ascending, each with its documents by count.
pub(super) struct RankedIndex<K, H, C> {
    /// The number of every document in the corpus, by place.
    documents: Arc<[u32]>,
    packing: Packing,
    layout: Layout,
    met: Met<H, C>,
    pieces: Vec<Piece<H>>,
    least: u64,
    top: usize,
    /// A piece stops when it has so many rows.
    rows_at_once: usize,
    kind: std::marker::PhantomData<K>,
}

/// Where sequences are met.
enum Met<H, C> {
    /// At sites, by key: documents by place, and behind them rules, whose documents are known.
    Sites(Records<H, u32>, RuleDocuments<C>),
    /// In one document, by place: how often is enough.
    Sole(u32, Occurrences<H>),
}

impl<K: Key, H: Key, C: Count> RankedIndex<K, H, C> {
    /// With rules as keys that have counts of this width.
    pub(super) fn new<R: entry::Key<Count = C>>(
        work: &mut Work<'_>,
        source: &Sequences<'_, K, H>,
        packing: Packing,
        least: u64,
        top: Option<usize>,
    ) -> Result<Self> {
        let network = source.network();
        let documents = network.documents().len() as u64;
        if documents + u64::from(network.grammar().rule_count()) > u32::MAX.into() {
            let what =
                format!("{documents} documents and {} rules", network.grammar().rule_count());
            return Err(Error::Unsupported { what });
        }
        let top = top.unwrap_or(usize::MAX);
        let index = |layout, met, pieces, rows_at_once| Self {
            documents: network.documents().clone(),
            packing,
            layout,
            met,
            pieces,
            least,
            top,
            rows_at_once,
            kind: std::marker::PhantomData,
        };
        if let Some(document) = sole_document(network) {
            let occurrences = Occurrences::new(work, source, packing)?;
            let pieces = occurrences.pieces(work, size_of::<(K, u64, u32, C)>() as u64);
            return Ok(index(occurrences.layout, Met::Sole(document, occurrences), pieces, 0));
        }
        let documents = documents as u32;
        let of_rules = RuleDocuments::new::<R>(work, source.scope())?;
        let budget = Budget::new(work);
        let most = budget.records(Grouping::<H, u32>::BYTES, source.most());
        let bytes = BYTES_OF_A_SITE + 2 * size_of::<Record<H, u32>>() as u64;
        let of_a_piece = budget.of_a_piece(bytes, source.most() / 2);
        let layout = Layout::new(packing.key_bits(), H::BITS, source.most() / 2, of_a_piece[0]);
        let stretches = source.stretches(most);
        let sites = documents + network.grammar().rule_count();
        let are_sites = |_, block: Block<'_>| {
            are_grouped::<K, H, u32>(block, layout, |key, site| {
                key.is_sequence(packing) && site < sites
            })
        };
        let groupings = Groupings::<H, u32>::new(layout, most);
        let blocks = work.append("sites", stretches.len(), are_sites, |operation, block| {
            groupings.make(block, |grouping| match stretches[operation].clone() {
                Stretch::Root(stretch) => {
                    source.of_root(stretch, |document, key| grouping.push(key, document));
                }
                Stretch::Rules(rules) => {
                    for rule in rules {
                        source.of_rule(rule, |key| grouping.push(key, documents + rule));
                    }
                }
            });
            Ok(())
        })?;
        let sites = Records::new(blocks, 0..stretches.len());
        let pieces = pieces(layout, &[&sites], of_a_piece);
        let rows_at_once = budget.records(2 * size_of::<(u32, C)>() as u64, u64::MAX) as usize;
        Ok(index(layout, Met::Sites(sites, of_rules), pieces, rows_at_once))
    }

    /// Rows of a piece from one of its sites on, up to where there are enough; and the site to go on with, if there are more.
    fn rows(
        &self,
        piece: &Piece<H>,
        from: usize,
        sorter: &mut Sorter<H, u32>,
    ) -> (PieceRows<K, C>, Option<usize>) {
        let mut rows = PieceRows { keys: Vec::new(), ends: Vec::new(), documents: Vec::new() };
        let (sites, of_rules) = match &self.met {
            Met::Sites(sites, of_rules) => (sites, of_rules),
            Met::Sole(document, Occurrences { layout, root, rules, .. }) => {
                let least: K = layout.least(piece.buckets.start);
                Counter::default().count(*layout, piece, root, rules, |key, count| {
                    if count >= self.least && self.top > 0 {
                        rows.documents.push((*document, C::of(count)));
                        rows.keys.push(least.plus(key.to()));
                        rows.ends.push(rows.documents.len());
                    }
                });
                return (rows, None);
            }
        };
        let mut found = Found::new(self, of_rules);
        if let Some([key, _]) = piece.keys.filter(|_| piece.is_one_key()) {
            sites.for_each(piece.buckets.start, piece, |(_, site)| found.meet(site));
            let least: K = self.layout.least(piece.buckets.start);
            found.give(least.plus(key.to()), &mut rows);
            return (rows, None);
        }
        let mut before = 0;
        for bucket in piece.buckets.clone() {
            sites.gather(bucket, piece, &mut sorter.records);
            let sorted = sorter.sort(self.layout.low_bits);
            let least: K = self.layout.least(bucket);
            let mut next = from.saturating_sub(before).min(sorted.len());
            while next < sorted.len() {
                if rows.documents.len() >= self.rows_at_once {
                    return (rows, Some(before + next));
                }
                let key = sorted[next].0;
                while let Some(&(_, site)) = sorted.get(next).filter(|record| record.0 == key) {
                    found.meet(site);
                    next += 1;
                }
                found.give(least.plus(key.to()), &mut rows);
            }
            before += sorted.len();
        }
        (rows, None)
    }
}

/// Where documents of one sequence are added up.
struct Found<'a, K, H, C> {
    index: &'a RankedIndex<K, H, C>,
    of_rules: &'a RuleDocuments<C>,
    documents: Vec<(u32, C)>,
    /// The site at hand, and how often the sequence was met there: it may cross several borders of one rule.
    site: Option<(u32, u64)>,
    /// Whether there are documents in order, and others behind them.
    several: bool,
    /// So many documents are added up before there are more.
    most: usize,
}

impl<'a, K, H, C: Count> Found<'a, K, H, C> {
    fn new(index: &'a RankedIndex<K, H, C>, of_rules: &'a RuleDocuments<C>) -> Self {
        let most = 2 * index.documents.len();
        Self { index, of_rules, documents: Vec::new(), site: None, several: false, most }
    }

    /// Meets the sequence at a site. Sites ascend.
    #[inline]
    fn meet(&mut self, site: u32) {
        match &mut self.site {
            Some((last, times)) if *last == site => *times += 1,
            _ => {
                self.close_site();
                self.site = Some((site, 1));
            }
        }
    }

    /// Adds the documents of the site at hand.
    fn close_site(&mut self) {
        let Some((site, times)) = self.site.take() else { return };
        let documents = self.index.documents.len() as u32;
        match site.checked_sub(documents) {
            None => self.documents.push((site, C::of(times))),
            Some(rule) => {
                self.several |= !self.documents.is_empty();
                let (own, counts) = self.of_rules.get(rule);
                let counts = counts.iter().map(|count| C::of(times.saturating_mul(count.get())));
                self.documents.extend(own.iter().copied().zip(counts));
                if self.documents.len() > self.most {
                    add_up(&mut self.documents);
                }
            }
        }
    }

    /// Appends the rows of the sequence that was met, and starts with the next one.
    fn give(&mut self, key: K, rows: &mut PieceRows<K, C>) {
        self.close_site();
        if std::mem::take(&mut self.several) {
            add_up(&mut self.documents);
        }
        let counts = || self.documents.iter().map(|(_, count)| count.get());
        let total = || counts().fold(0, u64::saturating_add);
        if !self.documents.is_empty() && (self.index.least <= 1 || total() >= self.index.least) {
            if !self.documents.is_sorted_by(|one, other| one.1 >= other.1) {
                self.documents.sort_by_key(|&(_, count)| Reverse(count));
            }
            let kept = self.documents.len().min(self.index.top);
            rows.documents.extend_from_slice(&self.documents[..kept]);
            rows.keys.push(key);
            rows.ends.push(rows.documents.len());
        }
        self.documents.clear();
    }
}

/// Adds up the counts of equal documents, and puts documents in order.
fn add_up<C: Count>(documents: &mut Vec<(u32, C)>) {
    documents.sort_unstable_by_key(|&(document, _)| document);
    documents.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 = C::of(kept.1.get().saturating_add(later.1.get()));
        }
        same
    });
}

/// Rows of sequences that follow each other.
#[derive(Debug)]
struct PieceRows<K, C> {
    keys: Vec<K>,
    /// Where the documents of each end.
    ends: Vec<usize>,
    documents: Vec<(u32, C)>,
}

/// Rows of several pieces.
struct RankedRows<'a, K, C> {
    labels: Labels<'a>,
    packing: Packing,
    /// The number of every document in the corpus, by place.
    numbers: &'a [u32],
    pieces: Vec<PieceRows<K, C>>,
    /// Where the rows of each piece end.
    ends: Vec<u64>,
}

impl<K: Key, C: Count> Rows for RankedRows<'_, K, C> {
    fn columns(&self) -> &'static [Column] {
        SEQUENCE_DOCUMENTS
    }

    fn len(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        let mut at = rows.start;
        let mut number = self.ends.partition_point(|&end| end <= at);
        while at < rows.end {
            let piece = &self.pieces[number];
            let before = self.ends[number] - piece.documents.len() as u64;
            let until = (self.ends[number].min(rows.end) - before) as usize;
            let mut row = (at - before) as usize;
            let mut place = piece.ends.partition_point(|&end| end <= row);
            while row < until {
                let end = piece.ends[place].min(until);
                let terms = |key: K| key.terms(self.packing);
                self.labels.terms.ask_ahead(&piece.keys, place, terms);
                self.packing.show(self.labels, piece.keys[place].terms(self.packing), |terms| {
                    let sequence = Value::Terms(terms);
                    for &(document, count) in &piece.documents[row..end] {
                        let name = self.labels.documents.get(self.numbers[document as usize]);
                        each(&[sequence, Value::Text(name), Value::Count(count.get())]);
                    }
                });
                row = end;
                place += 1;
            }
            at = before + until as u64;
            number += 1;
        }
    }
}

impl<K: Key, H: Key, C: Count> Answer for RankedIndex<K, H, C> {
    fn columns(&self) -> &'static [Column] {
        SEQUENCE_DOCUMENTS
    }

    /// Some pieces, up to one that stops. The part behind it begins with sorting the rest of that one again.
    fn next_part<'a>(
        &'a self,
        at: &mut Position,
        labels: Labels<'a>,
    ) -> Result<Option<Box<dyn Rows + 'a>>> {
        let [first, within, ..] = at.state().map(|number| number as usize);
        let rest = &self.pieces[self.pieces.len().min(first)..];
        if rest.is_empty() {
            return Ok(None);
        }
        let at_once = rest.len().min(rayon::current_num_threads() * PIECES_PER_THREAD);
        // The first piece that stopped: what is behind it is not part of this part.
        let stopped = AtomicUsize::new(at_once);
        let made = parallel::map_with(&Sorter::default, at_once, &|sorter, number| {
            if stopped.load(Ordering::Relaxed) < number {
                return None;
            }
            let from = if number == 0 { within } else { 0 };
            let (rows, next) = self.rows(&rest[number], from, sorter);
            if next.is_some() {
                stopped.fetch_min(number, Ordering::Relaxed);
            }
            Some((rows, next))
        });
        let mut pieces = Vec::with_capacity(at_once);
        let mut behind = [first + at_once, 0];
        for (number, made) in made.into_iter().enumerate() {
            let (rows, stopped_at) = made.expect("made up to the first that stopped");
            pieces.push(rows);
            if let Some(next) = stopped_at {
                behind = [first + number, next];
                break;
            }
        }
        *at = Position::new([behind[0] as u64, behind[1] as u64, 0, 0]);
        let ends = pieces.iter().scan(0, |end, piece| {
            *end += piece.documents.len() as u64;
            Some(*end)
        });
        let ends = ends.collect();
        let (packing, numbers) = (self.packing, &self.documents[..]);
        Ok(Some(Box::new(RankedRows { labels, packing, numbers, pieces, ends })))
    }
}
