//! The keys of every document, by count.
//!
//! Every operation of a [`Plan`](crate::plan::Plan) writes the vectors of its documents as they are shown. Documents that are cut have no vector then: their
//! stretches are written by key, and added up and put by count in a second phase, one operation a document.
//!
//! Cost: a walk over all documents. Size: a key and a count an entry, and 8 bytes a document; those of documents that are cut twice.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Result;
use crate::answer::Vectors;
use crate::check::are_ends;
use crate::entry::{Count, Entry, Key};
use crate::walk::{Emit, Walkers};
use crate::work::{Block, BlockBuilder, Blocks, Work};

/// Sections of a block: where the entries of each document end, keys, and what there is of each: counts, or
/// weights.
pub(crate) const ENDS: usize = 0;
pub(crate) const KEYS: usize = 1;
pub(crate) const CELLS: usize = 2;

/// Counts below this are put in order by counting.
const CLASSES: usize = 64;

/// The names of both phases.
#[derive(Debug, Clone, Copy)]
pub struct PhaseNames {
    /// Of the walk.
    pub walk: &'static str,
    /// Of adding up what stretches have.
    pub add_up: &'static str,
}

/// The order of the keys of a document.
#[derive(Debug, Clone, Copy)]
pub enum Order {
    /// By key.
    Key,
    /// By count descending, then key; so many of each document.
    Count(usize),
}

/// The vectors of all documents, in the order of documents: keys that `keep` says.
pub fn vectors<E: Emit>(
    work: &mut Work<'_>,
    phases: PhaseNames,
    walkers: &Walkers<'_, E>,
    keep: impl Fn(E::Key) -> bool + Sync,
    order: Order,
) -> Result<Vec<Vectors>> {
    let operations = walkers.plan().operations();
    let numbers = walkers.emit().numbers();
    let are_of = |block: Block<'_>, documents: usize| {
        are_vectors::<E::Key>(block, documents, numbers.unwrap_or(usize::MAX))
    };
    let are_whole =
        |operation: usize, block: Block<'_>| are_of(block, operations[operation].documents.len());
    let blocks = work.append(phases.walk, operations.len(), are_whole, |operation, block| {
        let mut lists = Lists::<E::Key>::default();
        walkers.walk(operation, |_, found| {
            found.retain(|entry| keep(entry.key()));
            // Stretches are merged by key.
            let order = if operations[operation].is_cut() { Order::Key } else { order };
            lists.extend(found, order);
        });
        lists.put(block);
        Ok(())
    })?;
    // The blocks of every document that is cut.
    let mut cut: Vec<std::ops::Range<usize>> = Vec::new();
    let mut documents = Vec::with_capacity(operations.len());
    for (place, operation) in operations.iter().enumerate() {
        let first = operation.documents.start;
        match cut.last_mut() {
            Some(blocks)
                if operation.is_cut() && operations[blocks.start].documents.start == first =>
            {
                blocks.end = place + 1;
            }
            _ if operation.is_cut() => {
                documents.push((cut.len(), first, true));
                cut.push(place..place + 1);
            }
            _ => documents.push((place, first, false)),
        }
    }
    let is_one = |_, block: Block<'_>| are_of(block, 1);
    let whole = work.append(phases.add_up, cut.len(), is_one, |operation, block| {
        let mut lists = Lists::<E::Key>::default();
        let stretches: Vec<Stretch<'_, E::Key>> =
            cut[operation].clone().map(|block| stretch(&blocks, block)).collect();
        let whole = match numbers {
            Some(numbers) => add_numbers(&stretches, numbers),
            None => merge(&stretches),
        };
        lists.extend(&whole, order);
        lists.put(block);
        Ok(())
    })?;
    let vectors = documents.into_iter().map(|(block, first, is_cut)| {
        let blocks = if is_cut { whole.clone() } else { blocks.clone() };
        Vectors { blocks, block, first }
    });
    Ok(vectors.collect())
}

/// The vector of one document, whose entries come by key ascending.
pub fn one_vector<K: Key>(
    work: &mut Work<'_>,
    phase: &'static str,
    document: u32,
    numbers: usize,
    entries: impl Fn() -> Vec<K::Entry> + Sync,
    order: Order,
) -> Result<Vectors> {
    let is_one = |_, block: Block<'_>| are_vectors::<K>(block, 1, numbers);
    let blocks = work.append(phase, 1, is_one, |_, block| {
        let mut lists = Lists::<K>::default();
        lists.extend(&entries(), order);
        lists.put(block);
        Ok(())
    })?;
    Ok(Vectors { blocks, block: 0, first: document })
}

/// Whether a block has the vectors of so many documents, of keys below `numbers`; nothing if it lacks a section.
fn are_vectors<K: Key>(block: Block<'_>, documents: usize, numbers: usize) -> Option<bool> {
    let (ends, keys) = (block.section::<u64>(ENDS)?, block.section::<K>(KEYS)?);
    let counts = block.section::<K::Count>(CELLS)?;
    Some(
        ends.len() == documents
            && are_ends(ends.iter().copied(), keys.len())
            && counts.len() == keys.len()
            && (numbers == usize::MAX || keys.iter().all(|key| (key.number() as usize) < numbers)),
    )
}

/// Keys of a stretch, ascending, and their counts.
type Stretch<'a, K> = (&'a [K], &'a [<K as Key>::Count]);

fn stretch<K: Key>(blocks: &Blocks, block: usize) -> Stretch<'_, K> {
    (blocks.section(block, KEYS), blocks.section(block, CELLS))
}

/// Adds up stretches whose keys are numbers.
fn add_numbers<K: Key>(stretches: &[Stretch<'_, K>], numbers: usize) -> Vec<K::Entry> {
    let mut sums = vec![K::Count::of(0); numbers];
    for (keys, counts) in stretches {
        for (key, count) in keys.iter().zip(*counts) {
            let sum = &mut sums[key.number() as usize];
            *sum = K::Count::of(sum.get().saturating_add(count.get()));
        }
    }
    let sums = (0..).zip(sums).filter(|(_, sum)| sum.get() > 0);
    sums.map(|(number, sum)| K::Entry::new(K::of_number(number), sum.get())).collect()
}

/// Adds up stretches by merging them.
fn merge<K: Key>(stretches: &[Stretch<'_, K>]) -> Vec<K::Entry> {
    let mut merged: Vec<K::Entry> = Vec::new();
    // The next key of every stretch, and its place there.
    let firsts = stretches.iter().enumerate();
    let mut next: BinaryHeap<Reverse<(K, usize, usize)>> = firsts
        .filter_map(|(stretch, (keys, _))| Some(Reverse((*keys.first()?, stretch, 0))))
        .collect();
    while let Some(Reverse((key, stretch, place))) = next.pop() {
        let (keys, counts) = stretches[stretch];
        let count = counts[place].get();
        match merged.last_mut() {
            Some(last) if last.key() == key => last.add(count),
            _ => merged.push(K::Entry::new(key, count)),
        }
        if let Some(&key) = keys.get(place + 1) {
            next.push(Reverse((key, stretch, place + 1)));
        }
    }
    merged
}

/// The vectors of documents that follow each other.
struct Lists<K: Key> {
    ends: Vec<u64>,
    keys: Vec<K>,
    counts: Vec<K::Count>,
}

impl<K: Key> Default for Lists<K> {
    fn default() -> Self {
        Self { ends: Vec::new(), keys: Vec::new(), counts: Vec::new() }
    }
}

impl<K: Key> Lists<K> {
    /// Appends the entries of a document, which come by key ascending.
    fn extend(&mut self, entries: &[K::Entry], order: Order) {
        match order {
            Order::Key => self.extend_by_key(entries),
            Order::Count(top) => self.extend_by_count(entries, top),
        }
    }

    fn extend_by_key(&mut self, entries: &[K::Entry]) {
        self.keys.extend(entries.iter().map(Entry::key));
        self.counts.extend(entries.iter().map(|entry| K::Count::of(entry.count())));
        self.ends.push(self.keys.len() as u64);
    }

    /// At most so many; equal counts stay as they come.
    fn extend_by_count(&mut self, entries: &[K::Entry], top: usize) {
        let start = self.keys.len();
        self.keys.resize(start + entries.len(), K::zeroed());
        self.counts.resize(start + entries.len(), K::Count::of(0));
        let (keys, counts) = (&mut self.keys[start..], &mut self.counts[start..]);
        let class = |count: u64| CLASSES - 1 - count.min(CLASSES as u64 - 1) as usize;
        let mut places = [0_usize; CLASSES];
        entries.iter().for_each(|entry| places[class(entry.count())] += 1);
        let high = places[0];
        let mut sum = 0;
        for place in &mut places {
            sum += std::mem::replace(place, sum);
        }
        for entry in entries {
            let place = &mut places[class(entry.count())];
            keys[*place] = entry.key();
            counts[*place] = K::Count::of(entry.count());
            *place += 1;
        }
        if high > 1 {
            let rows = keys[..high].iter().copied().zip(counts[..high].iter().copied());
            let mut rows: Vec<(K, K::Count)> = rows.collect();
            rows.sort_by_key(|&(_, count)| Reverse(count));
            for (place, row) in rows.into_iter().enumerate() {
                (keys[place], counts[place]) = row;
            }
        }
        let kept = start + entries.len().min(top);
        self.keys.truncate(kept);
        self.counts.truncate(kept);
        self.ends.push(kept as u64);
    }

    fn put(&self, block: &mut BlockBuilder<'_>) {
        block.put(&self.ends);
        block.put(&self.keys);
        block.put(&self.counts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_added_up() {
        let stretches: [Stretch<'_, u32>; 4] =
            [(&[1, 4, 9], &[1, 2, 3]), (&[], &[]), (&[0, 4], &[5, 6]), (&[4, 9], &[7, 8])];
        let expected = [[0, 5], [1, 1], [4, 15], [9, 11]];
        assert_eq!(merge(&stretches), expected);
        assert_eq!(add_numbers(&stretches, 12), expected);
        assert!(merge::<u32>(&[]).is_empty());
    }

    #[test]
    fn most_frequent_first() {
        let entries: Vec<[u32; 2]> = (0..500).map(|key| [key, 1 + key * 7919 % 211]).collect();
        let mut expected = entries.clone();
        expected.sort_by_key(|&[key, count]| (Reverse(count), key));
        for top in [0, 1, 3, 499, 500, usize::MAX] {
            let mut lists = Lists::<u32>::default();
            lists.extend_by_count(&[[7, 70]], 1);
            lists.extend_by_count(&entries, top);
            let kept = top.min(500);
            assert_eq!(lists.ends, [1, 1 + kept as u64]);
            let found: Vec<[u32; 2]> =
                lists.keys.iter().zip(&lists.counts).map(|(&key, &count)| [key, count]).collect();
            assert_eq!(found[1..], expected[..kept]);
        }
    }
}
