//! The answers of pieces, added up.
//!
//! Every row of every piece is an entry (a key, and its count in all or in a document). In the end they are sorted by key and
//! document, equal ones are added up, and what is left is put into the order of the answer.

use std::cmp::Reverse;

use rayon::prelude::*;
use tadoc_core::Limits;
use tadoc_core::answer::tables::{CountTable, DocumentTable, Keys, Table, VectorTable};

use crate::error::{Error, Result};

/// An integer that is wide enough for the keys of a task.
pub(super) trait Packed: Copy + Ord + Send + Sync + Into<u128> + TryFrom<u128> {}

impl<K: Copy + Ord + Send + Sync + Into<u128> + TryFrom<u128>> Packed for K {}

/// A key in a document.
#[derive(Debug, Clone, Copy)]
struct Entry<K> {
    key: K,
    document: u32,
    count: u32,
}

/// What pieces have counted so far.
pub(super) struct Merge<K> {
    /// None yet; they say what keys are.
    keys: Keys,
    /// Keys with their occurrences, for tasks over the whole corpus.
    counts: Vec<(K, u64)>,
    /// Keys in documents, for the others.
    entries: Vec<Entry<K>>,
    memory: u64,
}

impl<K: Packed> Merge<K> {
    pub(super) fn new(keys: Keys, memory: u64) -> Self {
        Self { keys, counts: Vec::new(), entries: Vec::new(), memory }
    }

    /// A sequence of items as a key.
    pub(super) fn pack(&self, items: &[u32]) -> K {
        fitting(match &self.keys {
            Keys::Terms(_) => items[0].into(),
            Keys::Sequences(sequences) => sequences.packing.pack(items),
        })
    }

    pub(super) fn add_count(&mut self, key: K, count: u64) -> Result<()> {
        self.reserve(1, 0)?;
        self.counts.push((key, count));
        Ok(())
    }

    pub(super) fn add_entry(&mut self, key: K, document: u32, count: u32) -> Result<()> {
        self.reserve(0, 1)?;
        self.entries.push(Entry { key, document, count });
        Ok(())
    }

    /// Makes room for more, if the memory allowed has it. Sorting moves nothing into other memory.
    fn reserve(&mut self, counts: usize, entries: usize) -> Result<()> {
        let bytes_of_counts = (self.counts.len() + counts) * size_of::<(K, u64)>();
        let bytes_of_entries = (self.entries.len() + entries) * size_of::<Entry<K>>();
        let needed = (bytes_of_counts + bytes_of_entries) as u64;
        if needed > self.memory {
            return Err(Error::TooMuchToMerge { given: self.memory, needed });
        }
        self.counts.reserve(counts);
        self.entries.reserve(entries);
        Ok(())
    }

    /// Adds the answer of a piece, whose documents are numbered from one of the whole on.
    pub(super) fn add(&mut self, table: &Table, first_document: u32) -> Result<()> {
        match table {
            Table::Counts(table) => {
                self.reserve(table.counts.len(), 0)?;
                let rows = table.counts.iter().enumerate();
                self.counts
                    .extend(rows.map(|(place, &count)| (fitting(table.keys.packed(place)), count)));
            }
            Table::Documents(table) => {
                self.reserve(0, table.documents.len())?;
                let counts = table.counts.as_ref().expect("pieces are asked for counts");
                let mut start = 0;
                for (place, &end) in table.ends.iter().enumerate() {
                    let key = fitting(table.keys.packed(place));
                    self.entries.extend((start..end as usize).map(|entry| Entry {
                        key,
                        document: first_document + table.documents[entry],
                        count: counts[entry],
                    }));
                    start = end as usize;
                }
            }
            Table::Vectors(table) => {
                self.reserve(0, table.items.len())?;
                assert!(table.sequences.is_none(), "pieces are asked for sequences by key");
                let mut start = 0;
                for (document, &end) in (first_document..).zip(&table.ends) {
                    self.entries.extend((start..end as usize).map(|entry| Entry {
                        key: fitting(table.items[entry].into()),
                        document,
                        count: table.counts[entry],
                    }));
                    start = end as usize;
                }
            }
        }
        Ok(())
    }

    /// Keys with their occurrences: by key, or by occurrences first.
    pub(super) fn counts(self, limits: &Limits, ranked: bool) -> Table {
        let Self { mut keys, mut counts, .. } = self;
        counts.par_sort_unstable_by_key(|&(key, _)| key);
        counts.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 += later.1;
            }
            same
        });
        counts.retain(|&(_, count)| count >= limits.least.max(1));
        if ranked {
            counts.par_sort_unstable_by_key(|&(key, count)| (Reverse(count), key));
        }
        counts.truncate(limits.top.unwrap_or(usize::MAX));
        counts.iter().for_each(|&(key, _)| keys.push(key.into()));
        Table::Counts(CountTable { keys, counts: counts.iter().map(|&(_, count)| count).collect() })
    }

    /// All entries, each key and document once and in this order, without keys that occur too seldom.
    fn added_up(self, limits: &Limits) -> (Keys, Vec<Entry<K>>) {
        let Self { keys, mut entries, .. } = self;
        entries.par_sort_unstable_by_key(|entry| (entry.key, entry.document));
        entries.dedup_by(|later, kept| {
            let same = (later.key, later.document) == (kept.key, kept.document);
            if same {
                kept.count += later.count;
            }
            same
        });
        if limits.least > 1 {
            let mut kept = 0;
            let mut start = 0;
            while start < entries.len() {
                let key = entries[start].key;
                let length = entries[start..].partition_point(|entry| entry.key == key);
                let row = start..start + length;
                let total: u64 =
                    entries[row.clone()].iter().map(|entry| u64::from(entry.count)).sum();
                start = row.end;
                if total >= limits.least {
                    entries.copy_within(row, kept);
                    kept += length;
                }
            }
            entries.truncate(kept);
        }
        (keys, entries)
    }

    /// Keys with their documents: in the order of the corpus, or with counts, by these.
    pub(super) fn documents(self, limits: &Limits, ranked: bool) -> Table {
        let (mut keys, mut entries) = self.added_up(limits);
        if ranked {
            entries.par_sort_by_key(|entry| (entry.key, Reverse(entry.count), entry.document));
        }
        let (mut ends, mut documents, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        for row in entries.chunk_by(|one, other| one.key == other.key) {
            let shown = &row[..row.len().min(limits.top.unwrap_or(usize::MAX))];
            keys.push(row[0].key.into());
            documents.extend(shown.iter().map(|entry| entry.document));
            if ranked {
                counts.extend(shown.iter().map(|entry| entry.count));
            }
            ends.push(documents.len() as u64);
        }
        let counts = ranked.then_some(counts);
        Table::Documents(DocumentTable { keys, ends, documents, counts })
    }

    /// All documents with their keys: by count, then key.
    pub(super) fn vectors(self, limits: &Limits, document_count: usize) -> Table {
        let (mut keys, entries) = self.added_up(limits);
        let mut items = Vec::with_capacity(entries.len());
        for (number, row) in entries.chunk_by(|one, other| one.key == other.key).enumerate() {
            let item = match &mut keys {
                Keys::Terms(_) => Into::<u128>::into(row[0].key) as u32,
                Keys::Sequences(sequences) => {
                    sequences.push(row[0].key.into());
                    number as u32
                }
            };
            items.extend(row.iter().map(|entry| (entry.document, Reverse(entry.count), item)));
        }
        drop(entries);
        items.par_sort_unstable();
        let mut table = VectorTable {
            ends: Vec::with_capacity(document_count),
            items: Vec::with_capacity(items.len()),
            counts: Vec::with_capacity(items.len()),
            sequences: match keys {
                Keys::Terms(_) => None,
                Keys::Sequences(sequences) => Some(sequences),
            },
        };
        let mut rest = &items[..];
        for place in 0..document_count as u32 {
            let (row, behind) =
                rest.split_at(rest.partition_point(|&(document, ..)| document == place));
            for &(_, Reverse(count), item) in row.iter().take(limits.top.unwrap_or(usize::MAX)) {
                table.items.push(item);
                table.counts.push(count);
            }
            table.ends.push(table.items.len() as u64);
            rest = behind;
        }
        Table::Vectors(table)
    }
}

/// A key in as many bits as the keys of the task have.
#[inline]
fn fitting<K: Packed>(packed: u128) -> K {
    K::try_from(packed).ok().expect("keys fit the bits of their terms")
}
