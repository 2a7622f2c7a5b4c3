//! Sequences with the documents that they occur in, top-down.
//!
//! Every sequence is sorted once for each place where it crosses a border, not for each time that it occurs: a
//! place is in a document's own symbols, or in a rule, and for every rule it is known in which documents it
//! occurs and how often. What a sequence has in each document is then the sum over its places; for most, which
//! have one place, it is a copy of a rule's list.
//!
//! The answer is made bucket by bucket while it is given. Cost: O(symbols) to sort, the rules that each document
//! uses, and the rows of the answer. Memory: a key and 4 bytes for each place, 12 bytes for each rule of each
//! document, and the rows of the buckets at hand.

use std::io;
use std::ops::Range;

use tadoc_core::Network;
use tadoc_core::answer::{Answer, Column, Labels, Rows, Value};
use tadoc_core::parallel::map_with;

use super::columns::SEQUENCE_DOCUMENTS;
use super::inverted_index::rank;
use super::keys::{Key, bits_for};
use super::labels::Packing;
use super::partition::{Record, Sorter};
use super::sites::Sites;
use super::windows::Windows;
use crate::error::{Error, Result};
use crate::traverse::{DocumentLists, Postings, map_documents};

/// Buckets a thread that are given at a time.
const BUCKETS_PER_THREAD: usize = 8;

/// Sequences, ascending, each with its documents by count.
pub(super) struct RankedIndex<'n, K> {
    network: &'n Network,
    packing: Packing,
    sites: Sites<Windows<'n, K>>,
    /// The documents of every rule.
    of_rules: Postings,
    least: u64,
    top: usize,
}

/// Whether the counts of a text of so many words fit those that are kept here.
pub(super) fn fits(words: u64) -> bool {
    words <= u32::MAX.into()
}

impl<'n, K: Key + Record<Key = K>> RankedIndex<'n, K> {
    /// For texts that [`fits`] says yes to.
    pub(super) fn new(
        network: &'n Network,
        packing: Packing,
        least: u64,
        top: Option<usize>,
        memory: u64,
    ) -> Result<Self> {
        let lists = map_documents(network, None, |walker, documents| {
            let mut lists = DocumentLists::new(documents.start);
            for document in documents {
                let found = walker.rules(document);
                // Rules that are too short to hold a sequence are not asked for.
                let long = found
                    .iter()
                    .filter(|&(rule, _)| network.lengths()[rule as usize] >= packing.n as u64);
                for (rule, count) in long {
                    lists.items.push(rule);
                    lists.counts.push(count);
                }
                lists.close();
            }
            lists
        });
        let needed = 24 * lists.iter().map(|list| list.items.len() as u64).sum::<u64>();
        if needed > memory {
            return Err(Error::TooLittleMemory { given: memory, least: needed });
        }
        let of_rules = Postings::new(&lists, network.grammar().rule_count());
        drop(lists);
        let sites = Sites::new(Windows::new(network, packing.n), memory - needed);
        let top = top.unwrap_or(usize::MAX);
        Ok(Self { network, packing, sites, of_rules, least, top })
    }

    /// The rows of a bucket, out of its places in documents (so many, each a sequence and a document, in order) and in rules.
    fn rows(
        &self,
        length: usize,
        root: impl Fn(usize) -> (K, u32),
        rules: &[(K, u32)],
    ) -> BucketRows<K> {
        let mut rows = BucketRows::default();
        let mut found: Vec<(u32, u32)> = Vec::new();
        let (mut at_root, mut at_rule) = (0, 0);
        let root = |place: usize| (place < length).then(|| root(place));
        loop {
            let key = match (root(at_root), rules.get(at_rule)) {
                (Some((one, _)), Some(&(other, _))) => one.min(other),
                (Some((key, _)), None) | (None, Some(&(key, _))) => key,
                (None, None) => break,
            };
            found.clear();
            let mut places = 0;
            while let Some((_, document)) = root(at_root).filter(|record| record.0 == key) {
                // Places in the root come in the order of documents.
                match found.last_mut() {
                    Some(last) if last.0 == document => last.1 += 1,
                    _ => found.push((document, 1)),
                }
                at_root += 1;
            }
            places += usize::from(!found.is_empty());
            while let Some(&(_, rule)) = rules.get(at_rule).filter(|record| record.0 == key) {
                // A sequence may cross several borders of one rule.
                let mut times = 0;
                while rules.get(at_rule) == Some(&(key, rule)) {
                    times += 1;
                    at_rule += 1;
                }
                let (documents, counts) = self.of_rules.get(rule);
                let counts = counts.iter().map(|&count| times * count as u32);
                found.extend(documents.iter().copied().zip(counts));
                places += 1;
            }
            if places > 1 {
                add_up(&mut found);
            }
            let total = || found.iter().map(|&(_, count)| u64::from(count)).sum::<u64>();
            if self.least > 1 && total() < self.least {
                continue;
            }
            if found.is_empty() {
                continue;
            }
            rank(&mut found);
            found.truncate(self.top);
            rows.documents.extend_from_slice(&found);
            rows.keys.push(key);
            rows.ends.push(rows.documents.len());
        }
        rows
    }
}

/// Adds up the counts of equal documents.
fn add_up(found: &mut Vec<(u32, u32)>) {
    found.sort_unstable();
    found.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 += later.1;
        }
        same
    });
}

/// Rows of sequences that follow each other.
#[derive(Debug, Default)]
struct BucketRows<K> {
    keys: Vec<K>,
    /// Where the documents of each end.
    ends: Vec<usize>,
    documents: Vec<(u32, u32)>,
}

/// Rows of several buckets.
struct RankedRows<'a, K> {
    labels: Labels<'a>,
    packing: Packing,
    network: &'a Network,
    buckets: Vec<BucketRows<K>>,
    /// Where the rows of each bucket end.
    ends: Vec<u64>,
}

impl<K: Key> Rows for RankedRows<'_, K> {
    fn columns(&self) -> &'static [Column] {
        SEQUENCE_DOCUMENTS
    }

    fn len(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        let numbers = self.network.documents();
        let mut at = rows.start;
        let mut number = self.ends.partition_point(|&end| end <= at);
        while at < rows.end {
            let bucket = &self.buckets[number];
            let before = self.ends[number] - bucket.documents.len() as u64;
            let until = (self.ends[number].min(rows.end) - before) as usize;
            let mut row = (at - before) as usize;
            let mut place = bucket.ends.partition_point(|&end| end <= row);
            while row < until {
                let end = bucket.ends[place].min(until);
                let terms = |key| self.packing.terms(key);
                self.labels.terms.ask_ahead(&bucket.keys, place, terms);
                self.packing.show(self.labels, bucket.keys[place], |sequence| {
                    for &(document, count) in &bucket.documents[row..end] {
                        let name = self.labels.documents[numbers[document as usize] as usize];
                        each(&[sequence, Value::Text(name), Value::Count(count.into())]);
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

impl<K: Key + Record<Key = K>> Answer for RankedIndex<'_, K> {
    fn columns(&self) -> &'static [Column] {
        SEQUENCE_DOCUMENTS
    }

    fn for_each_part(
        &self,
        labels: Labels<'_>,
        each: &mut dyn FnMut(&dyn Rows) -> io::Result<()>,
    ) -> io::Result<()> {
        let documents = self.network.documents().len() as u32;
        let (low_bits, document_bits) = (self.sites.low_bits(), bits_for(documents));
        // A bucket has the high bits of its keys, so that the others and the document may fit one number: half the bytes.
        if low_bits + document_bits <= u64::BITS {
            let pack =
                |key: K, document: usize| key.low(low_bits) << document_bits | document as u64;
            let unpack = |bucket: usize, record: u64| {
                let key = K::of_parts(bucket as u32, record >> document_bits, low_bits);
                (key, (record & u64::mask(document_bits)) as u32)
            };
            self.for_each_batch(labels, pack, low_bits + document_bits, unpack, each)
        } else {
            let pack = |key: K, document: usize| (key, document as u32);
            self.for_each_batch(labels, pack, low_bits, |_, record| record, each)
        }
    }
}

impl<K: Key + Record<Key = K>> RankedIndex<'_, K> {
    /// Makes the rows, some buckets at a time. `pack` makes a record of a sequence and its document, by whose lowest `bits`
    /// bits places are sorted, and `unpack` takes it apart again.
    fn for_each_batch<R: Record>(
        &self,
        labels: Labels<'_>,
        pack: impl Fn(K, usize) -> R + Sync,
        bits: u32,
        unpack: impl Fn(usize, R) -> (K, u32) + Sync,
        each: &mut dyn FnMut(&dyn Rows) -> io::Result<()>,
    ) -> io::Result<()> {
        let at_once = rayon::current_num_threads() * BUCKETS_PER_THREAD;
        let low_bits = self.sites.low_bits();
        for pass in &self.sites.passes {
            let filled = self.sites.fill(
                pass,
                |document, key| Some(pack(key, document)),
                |rule, key| Some((key, rule)),
            );
            for first in pass.clone().step_by(at_once) {
                let last = pass.end.min(first + at_once);
                let sorters = || (Sorter::<R>::default(), Sorter::<(K, u32)>::default());
                let buckets: Vec<BucketRows<K>> =
                    map_with(&sorters, last - first, &|(of_root, of_rules), number| {
                        let bucket = first + number;
                        let root = of_root.sorted(&filled.root, bucket, bits);
                        let rules = of_rules.sorted(&filled.rules, bucket, low_bits);
                        self.rows(root.len(), |place| unpack(bucket, root[place]), rules)
                    });
                let mut end = 0;
                let ends = buckets.iter().map(|bucket| {
                    end += bucket.documents.len() as u64;
                    end
                });
                let ends = ends.collect();
                let (packing, network) = (self.packing, self.network);
                each(&RankedRows { labels, packing, network, buckets, ends })?;
            }
        }
        Ok(())
    }
}
