//! From the keys of documents to the documents of keys, in far less memory than there are entries.
//!
//! Keys are cut into ranges, the *buckets*. In the first phase every operation of a [`Plan`](crate::plan::Plan) walks its documents and writes a block in which
//! entries stand by bucket, and within a bucket by document. In the second one an operation takes one bucket: it reads its
//! stretch of every block, which is in the order of documents already, and puts the entries by key. So the pool is written and read in long stretches, and
//! memory holds the documents of an operation, or the entries of a bucket.
//!
//! Cost: every entry is written and read once, and put in order by counting where keys are numbers, else by sorting. Size: a key an entry (with its
//! count, if wanted), and 8 bytes for every document and bucket that have entries together.

use std::ops::Range;

use crate::Result;
use crate::check::are_ends;
use crate::entry::{Count, Entry, Key};
use crate::walk::{Emit, Walkers};
use crate::work::{Block, Blocks, Work};

/// Sections of a block: where the runs and the entries of each bucket end; runs, which are a document and where its entries end; keys; counts, if
/// they are wanted.
const ENDS: usize = 0;
const RUNS: usize = 1;
const KEYS: usize = 2;
const COUNTS: usize = 3;

/// The entries of all documents, by bucket.
#[derive(Debug)]
pub struct Transposition<K> {
    blocks: Blocks,
    /// The first key of every bucket but the first.
    firsts: Vec<K>,
    /// If keys are numbers: all are below this.
    numbers: Option<usize>,
    counted: bool,
    /// Whether some document is in several operations.
    is_cut: bool,
}

/// Keys with the documents that have them.
#[derive(Debug, PartialEq, Eq)]
pub struct Postings<K: Key> {
    /// The keys, ascending.
    pub keys: Vec<K>,
    /// Where the documents of each key end.
    pub ends: Vec<u64>,
    /// Documents by place, ascending for each key.
    pub documents: Vec<u32>,
    /// How often the document has the key; none where counts are not wanted.
    pub counts: Vec<K::Count>,
}

/// Where the buckets of numbers begin, all but the first, if they shall have about as much as `most` each; `size` says how much a number has at most. One that
/// has more stands alone.
pub fn even_buckets<K: Key>(sizes: impl Iterator<Item = u64>, most: u64) -> Vec<K> {
    let mut firsts = Vec::new();
    let mut sum = 0_u64;
    for (number, size) in (0..).zip(sizes) {
        if sum > 0 && sum.saturating_add(size) > most {
            firsts.push(K::of_number(number));
            sum = 0;
        }
        sum = sum.saturating_add(size);
    }
    firsts
}

impl<K: Key> Transposition<K> {
    /// Walks all documents: the first phase. `firsts` are the first keys of all buckets but the first, ascending.
    pub fn new<E: Emit<Key = K>>(
        work: &mut Work<'_>,
        phase: &'static str,
        walkers: &Walkers<'_, E>,
        firsts: Vec<K>,
        counted: bool,
    ) -> Result<Self> {
        let operations = walkers.plan().operations();
        let numbers = walkers.emit().numbers();
        let is_in = |key: K, bucket: usize| {
            let first = bucket.checked_sub(1).map(|before| firsts[before]);
            let is_number =
                |most: usize| (key.number() as usize) < most && K::of_number(key.number()) == key;
            first.is_none_or(|first| first <= key)
                && firsts.get(bucket).is_none_or(|&next| key < next)
                && numbers.is_none_or(is_number)
        };
        let are_by_bucket = |operation: usize, block: Block<'_>| {
            let ends = block.section::<[u64; 2]>(ENDS)?;
            let (runs, keys) = (block.section::<[u32; 2]>(RUNS)?, block.section::<K>(KEYS)?);
            let counts = block.section::<K::Count>(COUNTS)?.len();
            let documents = &operations[operation].documents;
            let is_cut = ends.len() == firsts.len() + 1
                && are_ends(ends.iter().map(|end| end[0]), runs.len())
                && are_ends(ends.iter().map(|end| end[1]), keys.len())
                && counts == if counted { keys.len() } else { 0 };
            let mut start = [0, 0];
            Some(
                is_cut
                    && ends.iter().enumerate().all(|(bucket, &end)| {
                        let runs = &runs[start[0] as usize..end[0] as usize];
                        let keys = &keys[start[1] as usize..end[1] as usize];
                        start = end;
                        are_ends(runs.iter().map(|&[_, end]| end.into()), keys.len())
                            && runs.iter().all(|[document, _]| documents.contains(document))
                            && keys.iter().all(|&key| is_in(key, bucket))
                    }),
            )
        };
        let blocks = work.append(phase, operations.len(), are_by_bucket, |operation, block| {
            let mut entries: Vec<K::Entry> = Vec::new();
            // Documents, each with where its entries start that were not taken yet, and where they end.
            let mut documents: Vec<(u32, usize, usize)> = Vec::new();
            walkers.walk(operation, |stretch, found| {
                let start = entries.len();
                entries.append(found);
                documents.push((stretch.document, start, entries.len()));
            });
            let mut ends: Vec<[u64; 2]> = Vec::with_capacity(firsts.len() + 1);
            let mut runs: Vec<[u32; 2]> = Vec::new();
            let mut keys: Vec<K> = Vec::with_capacity(entries.len());
            let mut counts = Vec::with_capacity(if counted { entries.len() } else { 0 });
            for bucket in 0..=firsts.len() {
                let limit = firsts.get(bucket);
                let begin = keys.len();
                for (document, start, end) in &mut documents {
                    let rest = &entries[*start..*end];
                    let own = rest
                        .iter()
                        .take_while(|entry| limit.is_none_or(|limit| entry.key() < *limit));
                    let before = keys.len();
                    for entry in own {
                        keys.push(entry.key());
                        if counted {
                            counts.push(K::Count::of(entry.count()));
                        }
                    }
                    if keys.len() > before {
                        *start += keys.len() - before;
                        runs.push([*document, (keys.len() - begin) as u32]);
                    }
                }
                ends.push([runs.len() as u64, keys.len() as u64]);
            }
            block.put(&ends);
            block.put(&runs);
            block.put(&keys);
            block.put(&counts);
            Ok(())
        })?;
        let is_cut = operations.iter().any(|operation| operation.is_cut());
        Ok(Self { blocks, firsts, numbers, counted, is_cut })
    }

    /// How many buckets there are.
    pub fn buckets(&self) -> usize {
        self.firsts.len() + 1
    }

    /// Calls `each` with documents that have keys of a bucket, ascending, their keys, and the counts of these. A document may come several times.
    fn for_each_run(&self, bucket: usize, mut each: impl FnMut(u32, &[K], &[K::Count])) {
        for block in 0..self.blocks.len() {
            let ends = self.blocks.section::<[u64; 2]>(block, ENDS);
            let [first_run, first_key] = if bucket == 0 { [0, 0] } else { ends[bucket - 1] };
            let [last_run, last_key] = ends[bucket];
            let runs = self.blocks.section::<[u32; 2]>(block, RUNS);
            let runs = &runs[first_run as usize..last_run as usize];
            let own = first_key as usize..last_key as usize;
            let keys = &self.blocks.section::<K>(block, KEYS)[own.clone()];
            let counts = self.blocks.section::<K::Count>(block, COUNTS);
            let counts = if self.counted { &counts[own] } else { &[] };
            let mut start = 0;
            for &[document, end] in runs {
                let end = end as usize;
                each(document, &keys[start..end], counts.get(start..end).unwrap_or(&[]));
                start = end;
            }
        }
    }

    /// The documents of the keys of a bucket.
    pub fn postings(&self, bucket: usize) -> Postings<K> {
        let mut postings = match self.numbers {
            Some(numbers) => {
                let first = bucket.checked_sub(1).map_or(0, |before| self.firsts[before].number());
                let end = self.firsts.get(bucket).map_or(numbers as u32, |key| key.number());
                self.by_counting(bucket, first..end)
            }
            None => self.by_sorting(bucket),
        };
        if self.is_cut {
            postings.add_up();
        }
        postings
    }

    /// Keys are numbers of a range: they are counted, and each document is written where it belongs.
    fn by_counting(&self, bucket: usize, range: Range<u32>) -> Postings<K> {
        let place = |key: K| (key.number() - range.start) as usize;
        let mut starts = vec![0_u32; range.len() + 1];
        self.for_each_run(bucket, |_, keys, _| {
            keys.iter().for_each(|&key| starts[place(key) + 1] += 1);
        });
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut documents = vec![0_u32; sum as usize];
        let mut counts = vec![K::Count::of(0); if self.counted { sum as usize } else { 0 }];
        // Starts become ends as they are written past, and the end of one number is the start of the next.
        self.for_each_run(bucket, |document, keys, own_counts| {
            for (number, &key) in keys.iter().enumerate() {
                let start = &mut starts[place(key)];
                documents[*start as usize] = document;
                if self.counted {
                    counts[*start as usize] = own_counts[number];
                }
                *start += 1;
            }
        });
        let (mut keys, mut ends) = (Vec::new(), Vec::new());
        let mut before = 0;
        for (number, &end) in range.clone().zip(&starts) {
            if end > before {
                keys.push(K::of_number(number));
                ends.push(end.into());
                before = end;
            }
        }
        Postings { keys, ends, documents, counts }
    }

    fn by_sorting(&self, bucket: usize) -> Postings<K> {
        let mut entries: Vec<(K, u32, K::Count)> = Vec::new();
        self.for_each_run(bucket, |document, keys, counts| {
            let counts = counts.iter().copied().chain(std::iter::repeat(K::Count::of(0)));
            entries.extend(keys.iter().zip(counts).map(|(&key, count)| (key, document, count)));
        });
        entries.sort_unstable_by_key(|&(key, document, _)| (key, document));
        let (mut keys, mut ends) = (Vec::new(), Vec::new());
        for same in entries.chunk_by(|one, other| one.0 == other.0) {
            keys.push(same[0].0);
            ends.push(ends.last().copied().unwrap_or(0) + same.len() as u64);
        }
        let documents = entries.iter().map(|entry| entry.1).collect();
        let counts = entries.iter().filter(|_| self.counted).map(|entry| entry.2).collect();
        Postings { keys, ends, documents, counts }
    }
}

impl<K: Key> Postings<K> {
    /// Keeps keys that `keep` says, and at most so many documents of each.
    pub fn keep(&mut self, keep: impl Fn(K) -> bool, top: usize) {
        let mut from = 0;
        let (mut keys, mut entries) = (0, 0);
        for place in 0..self.keys.len() {
            let (start, end) = (from, self.ends[place] as usize);
            from = end;
            let kept = (end - start).min(top);
            if kept == 0 || !keep(self.keys[place]) {
                continue;
            }
            self.documents.copy_within(start..start + kept, entries);
            if !self.counts.is_empty() {
                self.counts.copy_within(start..start + kept, entries);
            }
            entries += kept;
            self.keys[keys] = self.keys[place];
            self.ends[keys] = entries as u64;
            keys += 1;
        }
        self.keys.truncate(keys);
        self.ends.truncate(keys);
        self.documents.truncate(entries);
        self.counts.truncate(entries);
    }

    /// Makes one of entries of one document that follow each other.
    fn add_up(&mut self) {
        let (mut kept, mut from) = (0, 0);
        for end in &mut self.ends {
            let first = kept;
            for entry in from..*end as usize {
                if kept > first && self.documents[kept - 1] == self.documents[entry] {
                    if let Some(&more) = self.counts.get(entry) {
                        let sum = self.counts[kept - 1].get().saturating_add(more.get());
                        self.counts[kept - 1] = K::Count::of(sum);
                    }
                    continue;
                }
                self.documents[kept] = self.documents[entry];
                if let Some(&count) = self.counts.get(entry) {
                    self.counts[kept] = count;
                }
                kept += 1;
            }
            from = *end as usize;
            *end = kept as u64;
        }
        self.documents.truncate(kept);
        self.counts.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::plan::Plan;
    use crate::reference::sizes;
    use crate::terms::TermsOf;
    use tadoc_testing::networks::{shapes, texts};

    proptest! {
        #[test]
        fn documents_of_keys(
            shape in shapes(), sizes in sizes(), most in 1..200_u64, counted in any::<bool>()
        ) {
            let network = shape.network();
            let mut work = Work::volatile(1 << 20);
            let terms = TermsOf::<u32>::new(&mut work, &network).unwrap();
            let plan = Plan::new(&mut work, "documents", &network, &terms, sizes).unwrap();
            let walkers = Walkers::new(&work, &network, &plan, &terms).unwrap();
            let mut expected: BTreeMap<u32, BTreeMap<u32, u32>> = BTreeMap::new();
            for (document, text) in (0..).zip(texts(&network)) {
                for term in text {
                    *expected.entry(term).or_default().entry(document).or_default() += 1;
                }
            }
            let weights = (0..network.grammar().token_count()).map(|term| {
                expected.get(&term).map_or(0, |documents| documents.len() as u64)
            });
            let firsts = even_buckets(weights, most);
            let mut made =
                Transposition::new(&mut work, "blocks", &walkers, firsts, counted).unwrap();
            let by_counting: Vec<Postings<u32>> =
                (0..made.buckets()).map(|bucket| made.postings(bucket)).collect();
            let mut found = BTreeMap::new();
            for postings in &by_counting {
                for (place, &key) in postings.keys.iter().enumerate() {
                    let start = place.checked_sub(1).map_or(0, |before| postings.ends[before]);
                    let own = start as usize..postings.ends[place] as usize;
                    let documents = &postings.documents[own.clone()];
                    let counts = postings.counts.get(own).unwrap_or(&[]);
                    prop_assert!(!documents.is_empty());
                    prop_assert_eq!(counts.len(), if counted { documents.len() } else { 0 });
                    prop_assert!(found.last_key_value().is_none_or(|(&before, _)| before < key));
                    found.insert(key, (documents.to_vec(), counts.to_vec()));
                }
            }
            prop_assert_eq!(found.len(), expected.len());
            for (key, documents) in expected {
                let (places, counts): (Vec<u32>, Vec<u32>) = documents.into_iter().unzip();
                prop_assert_eq!(&found[&key].0, &places);
                prop_assert!(!counted || found[&key].1 == counts);
            }
            // As if keys were no numbers.
            made.numbers = None;
            for (bucket, postings) in by_counting.iter().enumerate() {
                prop_assert_eq!(postings, &made.postings(bucket));
            }
        }
    }
}
