//! The items of one document after the other.
//!
//! A [`Walker`] counts the symbols of a document, then takes the rules among them in order, each giving
//! its weight to the symbols of its body. Where there are [`Tables`], a rule that has one is met with its items at once, and
//! only the others wait for their weight. It looks at the rules that the document uses and at no others. Counters are
//! all zero between documents, and sets of what was touched give items back in ascending order, so that nothing is sorted.
//!
//! Cost a document: one random access for each symbol of it and of the different rules that it uses (top-down),
//! or a step for each item of the text, most of them along a table (bottom-up). A document with a large part
//! of all symbols is counted densely, on all threads, with tables or without. Memory: 8 bytes a rule and an item for each thread, half of
//! it where the text has fewer than 2^32 words.

use std::ops::Range;

use tadoc_core::Network;
use tadoc_core::parallel::map_with;

use super::ordered_set::OrderedSet;
use super::tables::Tables;
use super::weights::occurrences;
use crate::memory::Zeroed;

/// Groups of documents a thread, so that threads end at about the same time.
const GROUPS_PER_THREAD: usize = 16;
/// A document is counted densely if it has at least so many symbols, and a fourth of a symbol for each rule
/// and item that there is.
const DENSE: usize = 1 << 16;

/// Symbols whose tables are looked up together, so that waiting for one is waiting for all.
const FETCHED: usize = 16;

/// What one document holds: its different items, ascending, each with its count.
#[derive(Debug, Clone, Copy)]
pub struct DocumentItems<'a> {
    /// The items.
    pub items: &'a [u32],
    /// The count of each.
    pub counts: &'a [u64],
}

impl<'a> DocumentItems<'a> {
    /// Each item with its count.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> + use<'a> {
        self.items.iter().copied().zip(self.counts.iter().copied())
    }
}

/// Counters that are as narrow as the text allows.
#[derive(Debug)]
enum Counters {
    Narrow(Zeroed<u32>, Zeroed<u32>),
    Wide(Zeroed<u64>, Zeroed<u64>),
}

/// A counter.
trait Counter: Copy + Default + PartialEq {
    fn add(&mut self, more: u64);
    fn get(self) -> u64;
}

impl Counter for u32 {
    #[inline]
    fn add(&mut self, more: u64) {
        *self += more as u32;
    }

    #[inline]
    fn get(self) -> u64 {
        self.into()
    }
}

impl Counter for u64 {
    #[inline]
    fn add(&mut self, more: u64) {
        *self += more;
    }

    #[inline]
    fn get(self) -> u64 {
        self
    }
}

/// Goes over documents, one at a time.
#[derive(Debug)]
pub struct Walker<'n> {
    network: &'n Network,
    tables: Option<&'n Tables>,
    /// Counters of rules and of items.
    counters: Counters,
    rules: OrderedSet,
    items: OrderedSet,
    found: (Vec<u32>, Vec<u64>),
}

impl<'n> Walker<'n> {
    /// A walker over a network, bottom-up if there are tables.
    pub fn new(network: &'n Network, tables: Option<&'n Tables>) -> Self {
        let rules = network.grammar().rule_count() as usize;
        let items = network.grammar().token_count() as usize;
        let counters = if network.length() <= u32::MAX.into() {
            Counters::Narrow(Zeroed::new(rules), Zeroed::new(items))
        } else {
            Counters::Wide(Zeroed::new(rules), Zeroed::new(items))
        };
        let (rules, items) = (OrderedSet::new(rules), OrderedSet::new(items));
        Self { network, tables, counters, rules, items, found: Default::default() }
    }

    /// The items of a document.
    ///
    /// # Panics
    /// If there is no such document.
    pub fn document(&mut self, document: usize) -> DocumentItems<'_> {
        let Self { network, tables, counters, rules, items, found } = self;
        let grammar = network.grammar();
        found.0.clear();
        found.1.clear();
        let symbols = grammar.document(document);
        if is_dense(network, symbols.len()) {
            count_densely(network, document, found);
        } else {
            match counters {
                Counters::Narrow(of_rules, of_items) => {
                    let items = CountedItems { items, counts: of_items };
                    walk(network, *tables, symbols, (rules, of_rules), items, found);
                }
                Counters::Wide(of_rules, of_items) => {
                    let items = CountedItems { items, counts: of_items };
                    walk(network, *tables, symbols, (rules, of_rules), items, found);
                }
            }
        }
        DocumentItems { items: &found.0, counts: &found.1 }
    }

    /// The different items of a document, ascending. Cheaper than with counts.
    ///
    /// # Panics
    /// If there is no such document.
    pub fn distinct(&mut self, document: usize) -> &[u32] {
        let Self { network, tables, counters, rules, items, found } = self;
        found.0.clear();
        found.1.clear();
        let symbols = network.grammar().document(document);
        if is_dense(network, symbols.len()) {
            count_densely(network, document, found);
            return &found.0;
        }
        match counters {
            Counters::Narrow(of_rules, _) => {
                let items = DistinctItems { items };
                walk(network, *tables, symbols, (rules, of_rules), items, found);
            }
            Counters::Wide(of_rules, _) => {
                let items = DistinctItems { items };
                walk(network, *tables, symbols, (rules, of_rules), items, found);
            }
        }
        &found.0
    }

    /// The rules that a document uses, ascending, each with how often.
    ///
    /// # Panics
    /// If there is no such document.
    pub fn rules(&mut self, document: usize) -> DocumentItems<'_> {
        let Self { network, counters, rules, found, .. } = self;
        found.0.clear();
        found.1.clear();
        let symbols = network.grammar().document(document);
        match counters {
            Counters::Narrow(of_rules, _) => walk_rules(network, symbols, rules, of_rules, found),
            Counters::Wide(of_rules, _) => walk_rules(network, symbols, rules, of_rules, found),
        }
        DocumentItems { items: &found.0, counts: &found.1 }
    }
}

/// Whether a document of so many symbols is counted densely.
pub(crate) fn is_dense(network: &Network, symbols: usize) -> bool {
    let size = (network.grammar().rule_count() + network.grammar().token_count()) as usize;
    symbols >= DENSE.max(size / 4)
}

/// Counts all that there is, and keeps what the document has.
fn count_densely(network: &Network, document: usize, found: &mut (Vec<u32>, Vec<u64>)) {
    let starts = network.grammar().document_starts();
    let counted = occurrences(network, starts[document]..starts[document + 1]);
    for (item, count) in (0..).zip(counted.items).filter(|&(_, count)| count > 0) {
        found.0.push(item);
        found.1.push(count);
    }
}

/// What becomes of the items that are met.
trait Items {
    /// An item that was met so many times.
    fn add(&mut self, item: u32, weight: u64);

    /// Takes out what was met.
    fn finish(self, found: &mut (Vec<u32>, Vec<u64>));
}

struct CountedItems<'w, C> {
    items: &'w mut OrderedSet,
    counts: &'w mut [C],
}

impl<C: Counter> Items for CountedItems<'_, C> {
    #[inline]
    fn add(&mut self, item: u32, weight: u64) {
        let counter = &mut self.counts[item as usize];
        if *counter == C::default() {
            self.items.insert(item);
        }
        counter.add(weight);
    }

    fn finish(self, found: &mut (Vec<u32>, Vec<u64>)) {
        self.items.drain(|item, _| {
            found.0.push(item);
            found.1.push(std::mem::take(&mut self.counts[item as usize]).get());
        });
    }
}

struct DistinctItems<'w> {
    items: &'w mut OrderedSet,
}

impl Items for DistinctItems<'_> {
    #[inline]
    fn add(&mut self, item: u32, _: u64) {
        self.items.insert(item);
    }

    fn finish(self, found: &mut (Vec<u32>, Vec<u64>)) {
        self.items.drain(|item, _| found.0.push(item));
    }
}

/// Meets the items of a row of symbols, and of the rules below it. Rules that have tables are met with their
/// tables; the others wait, in order, until they have all their weight.
fn walk<C: Counter>(
    network: &Network,
    tables: Option<&Tables>,
    symbols: &[u32],
    (rules, of_rules): (&mut OrderedSet, &mut [C]),
    mut items: impl Items,
    found: &mut (Vec<u32>, Vec<u64>),
) {
    let grammar = network.grammar().slices();
    let tables = tables.map(Tables::slices);
    let mut meet = |row: &[u32], weight: u64, rules: &mut OrderedSet, of_rules: &mut [C]| {
        for block in row.chunks(FETCHED) {
            let mut fetched: [&[u32]; FETCHED] = [&[]; FETCHED];
            if let Some(tables) = tables {
                for (table, &symbol) in fetched.iter_mut().zip(block) {
                    if let Some(rule) = grammar.rule_of(symbol) {
                        *table = tables.get(rule);
                    }
                }
            }
            for (&symbol, table) in block.iter().zip(fetched) {
                match grammar.rule_of(symbol) {
                    None => items.add(symbol, weight),
                    Some(_) if !table.is_empty() => {
                        table.iter().for_each(|&item| items.add(item, weight));
                    }
                    Some(rule) => {
                        let counter = &mut of_rules[rule as usize];
                        if *counter == C::default() {
                            rules.insert(rule);
                        }
                        counter.add(weight);
                    }
                }
            }
        }
    };
    meet(symbols, 1, rules, of_rules);
    rules.drain(|rule, rules| {
        let weight = std::mem::take(&mut of_rules[rule as usize]).get();
        meet(grammar.body(rule), weight, rules, of_rules);
    });
    items.finish(found);
}

/// Meets the rules below a row of symbols.
fn walk_rules<C: Counter>(
    network: &Network,
    symbols: &[u32],
    rules: &mut OrderedSet,
    of_rules: &mut [C],
    found: &mut (Vec<u32>, Vec<u64>),
) {
    let grammar = network.grammar().slices();
    let add = |symbol: u32, weight: u64, rules: &mut OrderedSet, of_rules: &mut [C]| {
        if let Some(rule) = grammar.rule_of(symbol) {
            let counter = &mut of_rules[rule as usize];
            if *counter == C::default() {
                rules.insert(rule);
            }
            counter.add(weight);
        }
    };
    symbols.iter().for_each(|&symbol| add(symbol, 1, rules, of_rules));
    rules.drain(|rule, rules| {
        let weight = std::mem::take(&mut of_rules[rule as usize]).get();
        found.0.push(rule);
        found.1.push(weight);
        grammar.body(rule).iter().for_each(|&symbol| add(symbol, weight, rules, of_rules));
    });
}

/// Cuts the documents into groups of about equally many symbols, calls `work` for each with a walker on
/// any thread, and gives what it returned, in the order of the documents.
pub fn map_documents<T: Send>(
    network: &Network,
    tables: Option<&Tables>,
    work: impl Fn(&mut Walker, Range<usize>) -> T + Sync,
) -> Vec<T> {
    map_documents_in(network, tables, 0..network.documents().len(), work)
}

/// The same for some documents that follow each other.
pub fn map_documents_in<T: Send>(
    network: &Network,
    tables: Option<&Tables>,
    documents: Range<usize>,
    work: impl Fn(&mut Walker, Range<usize>) -> T + Sync,
) -> Vec<T> {
    let groups = groups(network, documents);
    // A walker is large, so they are handed from group to group.
    map_with(&|| Walker::new(network, tables), groups.len(), &|walker: &mut Walker, group| {
        work(walker, groups[group].clone())
    })
}

/// Runs of documents with about equally many symbols.
fn groups(network: &Network, documents: Range<usize>) -> Vec<Range<usize>> {
    let starts = network.grammar().document_starts();
    let weight = |from: usize, to: usize| u64::from(starts[to] - starts[from]) + (to - from) as u64;
    let count = (rayon::current_num_threads() * GROUPS_PER_THREAD) as u64;
    let size = weight(documents.start, documents.end).div_ceil(count).max(1);
    let mut groups = Vec::new();
    let mut first = documents.start;
    for document in documents.clone() {
        if weight(first, document + 1) >= size || document + 1 == documents.end {
            groups.push(first..document + 1);
            first = document + 1;
        }
    }
    groups
}
