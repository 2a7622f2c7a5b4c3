//! A network whose items are sequences: what lets every traversal over terms go over sequences as well.
//!
//! The body of a rule becomes the sequences that cross a border in it, and the rules of the old body. So a
//! sequence occurs in the new grammar as often, and in the same documents, as in the text.
//!
//! Cost: sequences are made twice, sorted once and numbered. Memory: a key and 4 bytes for each place of a sequence,
//! 4 bytes a symbol of the result.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use tadoc_core::parallel::{for_each, map, map_chunks, map_with};
use tadoc_core::{Grammar, Network, Part};

use super::keys::Key;
use super::labels::{Packing, SequenceNames};
use super::partition::{Buckets, Layout, Record, Sorter};
use super::sites::Crossings;
use super::windows::Windows;
use crate::error::{Error, Result};

/// Rows of symbols that a thread takes at a time.
const ROWS_AT_ONCE: usize = 1 << 10;

/// The network of the sequences of `n` items, and the sequences that its items are.
pub(super) fn make<K: Key + Record<Key = K>>(
    network: &Network,
    packing: Packing,
    memory: u64,
) -> Result<(Network, SequenceNames<K>)> {
    let windows = Windows::<K>::new(network, packing.n);
    let rows = rows(network);
    let lengths = map_chunks(&rows, ROWS_AT_ONCE, &|_, rows: &[Row]| {
        let length = |row: &Row| {
            let mut length = row.rules(network, packing.n).count() as u64;
            row.sequences(&windows, |_| length += 1);
            length
        };
        rows.iter().map(length).collect::<Vec<u64>>()
    });
    let mut starts = Vec::with_capacity(lengths.len() + 1);
    starts.push(0_u32);
    let mut total = 0_u64;
    for length in lengths.into_iter().flatten() {
        total += length;
        starts.push(total.min(u32::MAX.into()) as u32);
    }
    if total > u64::from(u32::MAX) {
        return Err(Error::TooMany { what: "sequences", most: u32::MAX.into() });
    }
    let needed = total * (2 * size_of::<(K, u32)>() as u64 + 8);
    if needed > memory {
        return Err(Error::TooLittleMemory { given: memory, least: needed });
    }
    let symbols: Vec<AtomicU32> = (0..total).map(|_| AtomicU32::new(0)).collect();
    let layout = Layout::new(windows.key_bits(), total);
    let per_thread = rows.len().div_ceil(4 * rayon::current_num_threads()).max(1);
    let filled = map_chunks(&rows, per_thread, &|chunk, of_chunk: &[Row]| {
        let mut buckets = Buckets::<(K, u32)>::new(layout);
        for (row, place) in of_chunk.iter().zip(chunk * per_thread..) {
            let mut at = starts[place];
            row.sequences(&windows, |key| {
                buckets.push(layout.bucket(key), (key, at));
                at += 1;
            });
            for rule in row.rules(network, packing.n) {
                symbols[at as usize].store(rule, Ordering::Relaxed);
                at += 1;
            }
        }
        buckets.finish()
    });
    // The sequences of a bucket get their numbers when it is known how many come before.
    let sorted: Vec<Vec<(K, u32)>> =
        map_with(&Sorter::default, layout.buckets(), &|sorter: &mut Sorter<_>, bucket| {
            sorter.sorted(&filled, bucket, layout.low_bits).to_vec()
        });
    drop(filled);
    let distinct: Vec<Vec<K>> = map(sorted.len(), &|bucket| {
        let mut keys: Vec<K> = sorted[bucket].iter().map(|&(key, _)| key).collect();
        keys.dedup();
        keys
    });
    let mut first = 0_u32;
    let firsts: Vec<u32> = distinct
        .iter()
        .map(|keys| {
            let before = first;
            first += keys.len() as u32;
            before
        })
        .collect();
    for_each(sorted, &|bucket, records: Vec<(K, u32)>| {
        let mut number = firsts[bucket];
        for (place, &(key, position)) in records.iter().enumerate() {
            number += u32::from(place > 0 && records[place - 1].0 != key);
            symbols[position as usize].store(number, Ordering::Relaxed);
        }
    });
    let keys = distinct.concat();
    let item_count = keys.len() as u32;
    if u64::from(item_count) + u64::from(network.grammar().rule_count()) > u64::from(u32::MAX) {
        return Err(Error::TooMany { what: "sequences", most: u32::MAX.into() });
    }
    // Rules were written by their numbers alone, behind the sequences of each row.
    let symbols = finish(symbols, &rows, &starts, network, &packing, item_count);
    let made = assemble(network, &rows, starts, symbols, item_count)?;
    Ok((made, SequenceNames { packing, keys }))
}

/// A row of symbols: a stretch of the root that is of one document and one part, or a rule.
#[derive(Debug, Clone)]
enum Row {
    Root(Range<u32>),
    Rule(u32),
}

impl Row {
    fn symbols<'n>(&self, network: &'n Network) -> &'n [u32] {
        match self {
            Self::Root(stretch) => {
                &network.grammar().root()[stretch.start as usize..stretch.end as usize]
            }
            Self::Rule(rule) => network.grammar().body(*rule),
        }
    }

    /// The rules of the row that have sequences.
    fn rules<'n>(&self, network: &'n Network, n: usize) -> impl Iterator<Item = u32> + use<'n> {
        let rules =
            self.symbols(network).iter().filter_map(|&symbol| network.grammar().rule_of(symbol));
        rules.filter(move |&rule| network.lengths()[rule as usize] >= n as u64)
    }

    fn sequences<K: Key + Record<Key = K>>(
        &self,
        windows: &Windows<'_, K>,
        mut each: impl FnMut(K),
    ) {
        match self {
            Self::Root(stretch) => windows.of_root(stretch.clone(), |_, key| each(key)),
            Self::Rule(rule) => windows.of_rule(*rule, each),
        }
    }
}

/// All rows: the root cut at the starts of documents and parts, then the rules.
fn rows(network: &Network) -> Vec<Row> {
    let grammar = network.grammar();
    let mut cuts: Vec<u32> = grammar.document_starts().to_vec();
    cuts.extend(network.parts().iter().map(|part| part.root.start));
    cuts.sort_unstable();
    cuts.dedup();
    let root = cuts.windows(2).map(|cut| Row::Root(cut[0]..cut[1]));
    root.chain((0..grammar.rule_count()).map(Row::Rule)).collect()
}

/// Makes symbols of the rules' numbers.
fn finish(
    symbols: Vec<AtomicU32>,
    rows: &[Row],
    starts: &[u32],
    network: &Network,
    packing: &Packing,
    item_count: u32,
) -> Vec<u32> {
    let mut symbols: Vec<u32> = symbols.into_iter().map(AtomicU32::into_inner).collect();
    for (row, range) in rows.iter().zip(starts.windows(2)) {
        let rules = row.rules(network, packing.n).count();
        let own = &mut symbols[range[0] as usize..range[1] as usize];
        let sequences = own.len() - rules;
        own[sequences..].iter_mut().for_each(|rule| *rule += item_count);
    }
    symbols
}

fn assemble(
    network: &Network,
    rows: &[Row],
    starts: Vec<u32>,
    symbols: Vec<u32>,
    item_count: u32,
) -> Result<Network> {
    let of_root: Vec<u32> = rows
        .iter()
        .map_while(|row| match row {
            Row::Root(stretch) => Some(stretch.start),
            Row::Rule(_) => None,
        })
        .collect();
    let root_end = starts[of_root.len()];
    // Where a place of the old root is in the new one; it is the start of a row, or the end.
    let moved = |place: u32| match of_root.binary_search(&place) {
        Ok(row) => starts[row],
        Err(_) => root_end,
    };
    let old = network.grammar();
    let document_starts: Vec<u32> =
        old.document_starts().iter().map(|&start| moved(start)).collect();
    let parts = network.parts().iter().map(|part| Part {
        root: moved(part.root.start)..moved(part.root.end),
        rules: part.rules.clone(),
    });
    let rule_starts = starts[of_root.len()..].to_vec();
    let grammar = Grammar::new(item_count, symbols, rule_starts, document_starts)
        .map_err(tadoc_core::Error::from)?;
    Ok(Network::new(grammar, parts.collect(), network.documents().to_vec())?)
}
