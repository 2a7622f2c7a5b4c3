//! Lists merged: what every task per document is made of.
//!
//! A list has values (documents, items), ascending, each with a count. A row has edges to lists, and its own list is theirs put
//! together, with the counts of equal values added up. Lists lie in a [`Pool`] in no order, and [`Lists`] says where each one
//! is. Most rows are short: they are merged in local memory, many to a tile. Long rows are counted in a row of counters where
//! they have many entries for the values that there are, and sorted otherwise (`long`).
//!
//! Cost: 8 bytes read an entry, 12 an edge, 16 a row, and 8 bytes written an entry of the result. Where many rows might be long,
//! a call waits for which are.

mod long;

use std::ops::Range;
use std::sync::Arc;

use crate::device::{Argument, Buffer, Device, GROUP, Kernel, Module, groups_for};
use crate::error::{Error, Result};
use crate::primitives::scan;
use crate::tuning::{GROUPS_PER_UNIT, LISTS_PER_LANE};

/// The kernels.
pub static MODULE: Module = Module { name: "lists", source: include_str!("../kernels/lists.c") };

const fn kernel(name: &'static str) -> Kernel {
    Kernel { module: &MODULE, name }
}

const EDGE_SIZES: Kernel = kernel("edge_sizes");
const MERGE_TILES: Kernel = kernel("merge_tiles");
const ROWS_OF_ENTRIES: Kernel = kernel("rows_of_entries");
const COPY_LISTS: Kernel = kernel("copy_lists");

/// Entries of a tile.
const TILE: u32 = GROUP * LISTS_PER_LANE;
/// The most entries of a row that is merged in local memory.
pub const SHORT_ROW: u32 = TILE / 2;

/// Edges from this number on are lists of one value, where no other bound is said: a document, marked by its highest bit.
pub const VIRTUAL: u32 = 1 << 31;

/// Room for the entries of lists.
#[derive(Debug)]
pub struct Pool {
    /// Values.
    pub values: Buffer<u32>,
    /// How often each is there.
    pub counts: Buffer<u32>,
    /// How many entries were taken, also beyond the capacity.
    pub used: Buffer<u64>,
}

/// Where lists are in a pool.
#[derive(Debug)]
pub struct Lists {
    /// Where each begins.
    pub starts: Buffer<u32>,
    /// How many entries it has.
    pub sizes: Buffer<u32>,
}

/// Rows with their edges.
#[derive(Debug, Clone)]
pub struct Rows<'a> {
    /// Where the edges of each row begin, and where the last ones end.
    pub row_starts: &'a Buffer<u32>,
    /// The edges: numbers of lists.
    pub edges: &'a Buffer<u32>,
    /// The rows to merge.
    pub rows: Range<u32>,
    /// The edges of these rows.
    pub edge_range: Range<u32>,
    /// Edges from this number on are lists of one value, which is what they are above it.
    pub virtual_from: u32,
    /// Values are below this.
    pub value_count: u32,
    /// No more rows than these are longer than [`SHORT_ROW`], as far as is known.
    pub most_long: u32,
}

/// Where merged lists go.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// Where they are.
    pub lists: &'a Lists,
    /// Their entries.
    pub pool: &'a Pool,
    /// The list of row `row` is number `row - first`.
    pub first: u32,
}

impl Pool {
    /// Room for `wanted` entries, or for as many as memory and numbers allow: [`Pool::check`] says whether they were enough.
    pub fn new(device: &Arc<Device>, wanted: u64) -> Result<Self> {
        // Some memory is left for what is done with the lists.
        let free = device.free_memory()? / 8 * 6;
        let length = wanted.min(free / 8).min(u32::MAX.into()) as usize;
        let (values, counts) = (device.allocate(length)?, device.allocate(length)?);
        Ok(Self { values, counts, used: device.zeroed(1)? })
    }

    /// How many entries there is room for.
    pub fn capacity(&self) -> u64 {
        self.values.len() as u64
    }

    /// Whether everything had room. Waits.
    ///
    /// # Errors
    /// [`Error::TooLittleMemory`] or [`Error::Unsupported`] if not: the lists are not whole, and nothing may be made of them.
    pub fn check(&self) -> Result<u64> {
        let device = self.values.device();
        let used = device.value(&self.used, 0)?;
        if used <= self.capacity() {
            return Ok(used);
        }
        if self.capacity() == u64::from(u32::MAX) {
            return Err(Error::Unsupported { what: format!("an answer of {used} entries") });
        }
        let (needed, free) = (8 * used, 8 * self.capacity());
        Err(Error::TooLittleMemory { device: device.info().name.clone(), needed, free })
    }
}

impl Lists {
    /// So many lists, of which nothing is known yet.
    pub fn new(device: &Arc<Device>, count: usize) -> Result<Self> {
        Ok(Self { starts: device.allocate(count)?, sizes: device.allocate(count)? })
    }
}

/// How many entries there are before each edge of rows, and behind the last one.
#[derive(Debug)]
pub struct Offsets(Buffer<u64>);

impl Offsets {
    /// Adds up the sizes of lists.
    pub fn new(rows: &Rows<'_>, lists: &Lists) -> Result<Self> {
        let device = rows.edges.device();
        let count = rows.edge_range.len();
        let sizes = device.allocate::<u32>(count)?;
        device.launch(
            &EDGE_SIZES,
            groups_for(count),
            &[
                rows.edges.into(),
                (&lists.sizes).into(),
                (&sizes).into(),
                rows.edge_range.start.into(),
                (count as u32).into(),
                rows.virtual_from.into(),
            ],
        )?;
        Ok(Self(scan::starts(device, &sizes, count)?))
    }

    /// How many entries there are in all. Waits for it.
    pub fn total(&self) -> Result<u64> {
        self.0.device().value(&self.0, self.0.len() - 1)
    }
}

/// How many groups keep a device busy.
pub(crate) fn busy_groups(device: &Device) -> u32 {
    device.info().units.max(1) * GROUPS_PER_UNIT
}

/// Merges the lists of rows. Edges are numbers of `lists`, whose entries are in `pool`; both may be where the result goes.
pub fn merge(
    rows: &Rows<'_>,
    offsets: &Offsets,
    lists: &Lists,
    pool: &Pool,
    target: Target<'_>,
) -> Result<()> {
    if rows.rows.is_empty() {
        return Ok(());
    }
    let device = rows.edges.device();
    let most = (rows.edge_range.len() as u64).saturating_mul(rows.value_count.into());
    let tiles = most / u64::from(SHORT_ROW) + 1;
    let groups = u64::from(busy_groups(device)).min(tiles) as u32;
    let most_long = (rows.most_long as usize).min(rows.rows.len());
    let long_rows = device.allocate::<u32>(most_long)?;
    let long_count = device.zeroed::<u32>(1)?;
    let arguments: [Argument; 22] = [
        rows.row_starts.into(),
        rows.edges.into(),
        (&offsets.0).into(),
        (&lists.starts).into(),
        (&lists.sizes).into(),
        (&pool.values).into(),
        (&pool.counts).into(),
        (&target.lists.starts).into(),
        (&target.lists.sizes).into(),
        (&target.pool.values).into(),
        (&target.pool.counts).into(),
        (&target.pool.used).into(),
        (&long_rows).into(),
        (&long_count).into(),
        target.pool.capacity().into(),
        rows.rows.start.into(),
        (rows.rows.len() as u32).into(),
        rows.edge_range.start.into(),
        (rows.edge_range.len() as u32).into(),
        rows.virtual_from.into(),
        target.first.into(),
        u32::from(std::ptr::eq(pool, target.pool)).into(),
    ];
    device.launch(&MERGE_TILES, groups, &arguments)?;
    match most_long {
        0 => Ok(()),
        _ => long::merge(rows, offsets, lists, pool, target, &long_rows, &long_count),
    }
}

/// Lists that lie one after the other.
#[derive(Debug)]
pub struct Table {
    /// Where each list begins, and where the last one ends.
    pub starts: Buffer<u32>,
    /// The values.
    pub values: Buffer<u32>,
    /// Their counts.
    pub counts: Buffer<u32>,
}

impl Table {
    /// Copies lists out of a pool, in their order. Waits for how many entries they have.
    pub fn new(lists: &Lists, pool: &Pool) -> Result<Self> {
        Self::of_lists(lists, &pool.values, &pool.counts)
    }

    /// The same where values and counts are somewhere else.
    pub fn of_lists(
        lists: &Lists,
        of_values: &Buffer<u32>,
        of_counts: &Buffer<u32>,
    ) -> Result<Self> {
        let device = lists.sizes.device();
        let rows = lists.sizes.len();
        let starts = scan::starts::<u32, u32>(device, &lists.sizes, rows)?;
        let total = device.value(&starts, rows)? as usize;
        let (values, counts) = (device.allocate(total)?, device.allocate(total)?);
        let made = Self { starts, values, counts };
        device.launch(
            &COPY_LISTS,
            groups_for(total),
            &[
                (&lists.starts).into(),
                (&made.starts).into(),
                (&made.entry_rows()?).into(),
                of_values.into(),
                of_counts.into(),
                (&made.values).into(),
                (&made.counts).into(),
                (total as u32).into(),
            ],
        )?;
        Ok(made)
    }

    /// The row of each entry.
    pub fn entry_rows(&self) -> Result<Buffer<u32>> {
        let device = self.starts.device();
        let entries = self.entries();
        let rows = device.allocate(entries)?;
        device.launch(
            &ROWS_OF_ENTRIES,
            entries.div_ceil(TILE as usize) as u32,
            &[
                (&self.starts).into(),
                (&rows).into(),
                (self.rows() as u32).into(),
                (entries as u32).into(),
            ],
        )?;
        Ok(rows)
    }

    /// How many lists there are.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many entries there are.
    pub fn entries(&self) -> usize {
        self.values.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::reference::inputs::noise;
    use crate::reference::lists::{List, merge as plain_merge};
    use crate::testing::device;

    /// Lists of up to `longest` values below `values`.
    fn lists(seed: u32, count: u32, longest: u32, values: u32) -> Vec<List> {
        let list = |number: u32| {
            let length = noise(seed ^ number, 1)[0] % (longest + 1);
            let mut found = noise(seed.wrapping_add(number * 77), length as usize);
            found.iter_mut().for_each(|value| *value %= values);
            found.sort_unstable();
            found.dedup();
            found.into_iter().map(|value| (value, 1 + value % 5)).collect()
        };
        (0..count).map(list).collect()
    }

    fn flat<T: Copy>(rows: &[Vec<T>]) -> (Vec<u32>, Vec<T>) {
        let mut starts = vec![0];
        rows.iter().for_each(|row| starts.push(starts[starts.len() - 1] + row.len() as u32));
        (starts, rows.concat())
    }

    /// Merges on the device into a pool with room for so many, and what [`Pool::check`] says.
    fn merged(
        rows: &[Vec<u32>],
        lists: &[List],
        virtual_from: u32,
        value_count: u32,
        room: u64,
    ) -> Option<Result<Vec<List>>> {
        let size = |&edge: &u32| if edge < virtual_from { lists[edge as usize].len() } else { 1 };
        let is_long = |row: &&Vec<u32>| row.iter().map(size).sum::<usize>() > SHORT_ROW as usize;
        let most_long = rows.iter().filter(is_long).count() as u32;
        let device = device()?;
        let (starts, entries) = flat(lists);
        let (values, counts): (Vec<u32>, Vec<u32>) = entries.into_iter().unzip();
        let sizes: Vec<u32> = starts.windows(2).map(|list| list[1] - list[0]).collect();
        let from = Lists {
            starts: device.upload(&starts[..lists.len()]).unwrap(),
            sizes: device.upload(&sizes).unwrap(),
        };
        let pool = Pool {
            values: device.upload(&values).unwrap(),
            counts: device.upload(&counts).unwrap(),
            used: device.zeroed(1).unwrap(),
        };
        let (row_starts, edges) = flat(rows);
        let given = Rows {
            row_starts: &device.upload(&row_starts).unwrap(),
            edges: &device.upload(&edges).unwrap(),
            rows: 0..rows.len() as u32,
            edge_range: 0..edges.len() as u32,
            virtual_from,
            value_count,
            most_long,
        };
        let (made, into) =
            (Lists::new(&device, rows.len()).unwrap(), Pool::new(&device, room).unwrap());
        let target = Target { lists: &made, pool: &into, first: 0 };
        let offsets = Offsets::new(&given, &from).unwrap();
        merge(&given, &offsets, &from, &pool, target).unwrap();
        if let Err(error) = into.check() {
            return Some(Err(error));
        }
        let table = Table::new(&made, &into).unwrap();
        let starts = device.download(&table.starts).unwrap();
        let values = device.download(&table.values).unwrap();
        let counts = device.download(&table.counts).unwrap();
        let entries: List = values.into_iter().zip(counts).collect();
        let row = |range: &[u32]| entries[range[0] as usize..range[1] as usize].to_vec();
        Some(Ok(starts.windows(2).map(row).collect()))
    }

    fn check(rows: &[Vec<u32>], lists: &[List], virtual_from: u32, value_count: u32) {
        let wanted = plain_merge(rows, lists, virtual_from);
        let needed = wanted.iter().map(|list| list.len() as u64).sum();
        let Some(found) = merged(rows, lists, virtual_from, value_count, needed) else { return };
        let found = found.unwrap();
        let differ = (0..wanted.len()).find(|&row| found[row] != wanted[row]);
        if let Some(row) = differ {
            assert_eq!(found[row], wanted[row], "row {row} with edges {:?}", rows[row]);
        }
        if needed > 0 {
            let short = merged(rows, lists, virtual_from, value_count, needed - 1).unwrap();
            assert!(matches!(short, Err(Error::TooLittleMemory { .. })));
        }
    }

    /// Rows of up to `longest` edges, some to lists and some to single values.
    fn rows(seed: u32, count: u32, longest: u32, lists: u32, values: u32) -> Vec<Vec<u32>> {
        let row = |number: u32| {
            let length = noise(seed ^ (number + 99), 1)[0] % (longest + 1);
            let edges = noise(seed.wrapping_mul(31) ^ number, length as usize);
            let edge = |edge: u32| match edge % 4 {
                0 => lists + edge / 4 % values,
                _ => edge / 4 % lists,
            };
            edges.into_iter().map(edge).collect()
        };
        (0..count).map(row).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn rows_are_those_of_the_reference(
            seed in any::<u32>(),
            counts in (0..600_u32, 1..60_u32),
            longest_row in prop_oneof![0..4_u32, 0..40_u32, Just(300)],
            longest_list in prop_oneof![0..3_u32, 0..100_u32],
            values in prop_oneof![1..5_u32, 1..3000_u32, Just(1_000_000)],
        ) {
            let (row_count, list_count) = counts;
            let lists = lists(seed, list_count, longest_list, values);
            check(&rows(seed, row_count, longest_row, list_count, values), &lists, list_count, values);
        }
    }

    #[test]
    fn long_rows_are_counted_or_sorted() {
        // Of few values, of many with many entries, and of so many that they are sorted.
        for values in [50, 5_000, 1_000_000] {
            let lists = lists(7, 200, 900, values);
            let mut rows = rows(8, 40, 30, 200, values);
            // One whose entries are more than a stretch, and rows of none beside it.
            rows.push((0..200).collect());
            rows.push(vec![]);
            rows.push(vec![3]);
            check(&rows, &lists, 200, values);
        }
    }

    #[test]
    fn rows_without_entries() {
        check(&[], &[vec![]], 1, 1);
        check(&vec![vec![]; 2000], &[vec![]], 1, 1);
        check(&vec![vec![0, 0, 0]; 2000], &[vec![]], 1, 1);
        check(&[vec![0; 3000], vec![0, 1, 0]], &[vec![]], 1, 1);
    }

    #[test]
    fn rows_that_fill_tiles() {
        for size in [SHORT_ROW - 1, SHORT_ROW, SHORT_ROW + 1, 2 * SHORT_ROW] {
            let values = 4 * SHORT_ROW;
            let list: List = (0..size).map(|value| (2 * value, 3)).collect();
            let rows = vec![vec![0], vec![0, 1], vec![1, 1 + 2 * size - 2], vec![], vec![0]];
            check(&rows, &[list], 1, values);
        }
    }
}
