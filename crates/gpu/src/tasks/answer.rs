//! Answers as they lie on a device, and as plain tables.

use rayon::prelude::*;
use tadoc_core::Packing;
use tadoc_core::answer::tables::{self, CountTable, DocumentTable, VectorTable};

use crate::device::{Buffer, Device};
use crate::error::Result;
use crate::lists::Table;
use crate::primitives::sort::Keys;
use crate::sequences::SequenceRows;

/// The answer of a task, on the device and in the order that the task has. What `least` and `top` leave out of rows is still
/// there, and is left out when it is downloaded.
#[derive(Debug)]
pub enum DeviceAnswer {
    /// Keys with their occurrences.
    Counts(Counts),
    /// Keys with their documents.
    Index(Index),
    /// Documents with their keys.
    Vectors(Vectors),
}

/// What keys are.
#[derive(Debug)]
pub enum Names {
    /// Terms: in this order, or ascending.
    Terms(Option<Buffer<u32>>),
    /// Sequences.
    Sequences {
        /// How they are packed.
        packing: Packing,
        /// The sequences.
        keys: Keys,
    },
}

/// Keys with their occurrences.
#[derive(Debug)]
pub struct Counts {
    /// The keys.
    pub names: Names,
    /// The occurrences of each.
    pub counts: Buffer<u64>,
    pub(super) least: u64,
    pub(super) top: usize,
}

/// Keys with their documents.
#[derive(Debug)]
pub struct Index {
    /// The keys.
    pub names: Names,
    /// A row of documents for each.
    pub table: Table,
    pub(super) with_counts: bool,
    pub(super) top: usize,
}

/// Documents with their keys.
#[derive(Debug)]
pub struct Vectors {
    /// The keys, ascending.
    pub names: Names,
    /// A row of keys for each document.
    pub table: Table,
    pub(super) top: usize,
}

impl Names {
    /// The names of all sequences, in their order.
    pub(super) fn of_sequences(rows: SequenceRows) -> Self {
        Self::Sequences { packing: rows.packing, keys: rows.keys }
    }
}

fn sequences(device: &Device, packing: Packing, keys: &Keys) -> Result<tables::Sequences> {
    let (high, low) = match keys {
        Keys::Double { high, low } => (device.download(high)?, device.download(low)?),
        Keys::Wide(low) => (Vec::new(), device.download(low)?),
        Keys::Narrow(_) => unreachable!("keys of sequences have 64 bits or 128"),
    };
    Ok(tables::Sequences { packing, low, high })
}

/// Some keys of many, in their order.
fn picked(keys: tables::Keys, places: impl Iterator<Item = usize>) -> tables::Keys {
    match keys {
        tables::Keys::Terms(terms) => {
            tables::Keys::Terms(places.map(|place| terms[place]).collect())
        }
        tables::Keys::Sequences(all) => {
            let mut some = tables::Sequences::new(all.packing);
            places.for_each(|place| some.push(all.packed(place)));
            tables::Keys::Sequences(some)
        }
    }
}

impl Names {
    /// The first `count` keys.
    fn download(&self, device: &Device, count: usize) -> Result<tables::Keys> {
        Ok(match self {
            Self::Terms(None) => tables::Keys::Terms((0..count as u32).collect()),
            Self::Terms(Some(order)) => tables::Keys::Terms(device.download(order)?),
            Self::Sequences { packing, keys } => {
                tables::Keys::Sequences(sequences(device, *packing, keys)?)
            }
        })
    }
}

impl DeviceAnswer {
    /// The answer as a plain table. Waits for the device.
    pub fn download(&self) -> Result<tables::Table> {
        Ok(match self {
            Self::Counts(counts) => tables::Table::Counts(counts.download()?),
            Self::Index(index) => tables::Table::Documents(index.download()?),
            Self::Vectors(vectors) => tables::Table::Vectors(vectors.download()?),
        })
    }
}

impl Counts {
    fn download(&self) -> Result<CountTable> {
        let device = self.counts.device();
        let counts = device.download(&self.counts)?;
        let keys = self.names.download(device, counts.len())?;
        let least = self.least.max(1);
        // Mostly all rows are in the answer, and there is nothing to pick.
        if counts.len() <= self.top && counts.par_iter().all(|&count| count >= least) {
            return Ok(CountTable { keys, counts });
        }
        let kept: Vec<usize> =
            (0..counts.len()).filter(|&place| counts[place] >= least).take(self.top).collect();
        let keys = picked(keys, kept.iter().copied());
        Ok(CountTable { keys, counts: kept.into_iter().map(|place| counts[place]).collect() })
    }
}

/// A table on the host, with at most `top` entries of each row; and where each row ends.
struct Downloaded {
    ends: Vec<u64>,
    values: Vec<u32>,
    counts: Vec<u32>,
}

fn downloaded(table: &Table, top: usize, with_counts: bool) -> Result<Downloaded> {
    let device = table.starts.device();
    let starts = device.download(&table.starts)?;
    let mut values = device.download(&table.values)?;
    let mut counts = if with_counts { device.download(&table.counts)? } else { Vec::new() };
    let mut ends = Vec::with_capacity(starts.len() - 1);
    let mut end = 0;
    for row in starts.windows(2) {
        let start = row[0] as usize;
        let kept = start..start + ((row[1] - row[0]) as usize).min(top);
        if end < start {
            values.copy_within(kept.clone(), end);
            if with_counts {
                counts.copy_within(kept.clone(), end);
            }
        }
        end += kept.len();
        ends.push(end as u64);
    }
    values.truncate(end);
    counts.truncate(end);
    Ok(Downloaded { ends, values, counts })
}

impl Index {
    fn download(&self) -> Result<DocumentTable> {
        let device = self.table.starts.device();
        let Downloaded { ends, values, counts } =
            downloaded(&self.table, self.top, self.with_counts)?;
        let keys = self.names.download(device, ends.len())?;
        // Keys that have no documents are not in the answer.
        let has_some = |&place: &usize| ends[place] > if place == 0 { 0 } else { ends[place - 1] };
        let counts = self.with_counts.then_some(counts);
        if (0..ends.len()).into_par_iter().all(|place| has_some(&place)) {
            return Ok(DocumentTable { keys, ends, documents: values, counts });
        }
        let kept: Vec<usize> = (0..ends.len()).filter(has_some).collect();
        let keys = picked(keys, kept.iter().copied());
        let ends = kept.into_iter().map(|place| ends[place]).collect();
        Ok(DocumentTable { keys, ends, documents: values, counts })
    }
}

impl Vectors {
    fn download(&self) -> Result<VectorTable> {
        let device = self.table.starts.device();
        let Downloaded { ends, values, counts } = downloaded(&self.table, self.top, true)?;
        let sequences = match &self.names {
            Names::Terms(_) => None,
            Names::Sequences { packing, keys } => Some(sequences(device, *packing, keys)?),
        };
        Ok(VectorTable { ends, items: values, counts, sequences })
    }
}
