//! Lists merged: what every task per document is made of.
//!
//! A list has values (documents, items), ascending, each with a count. A row has edges to lists, and its own list is theirs put
//! together, with the counts of equal values added up. Lists lie in a [`Pool`] in no order, and [`Lists`] says where each one
//! is. Most rows are short: they are merged in local memory, many to a tile. Long rows are counted in a row of counters where
//! they have many entries for the values that there are, and sorted otherwise (`long`).
//!
//! Cost: 8 bytes read an entry, 12 an edge, 16 a row, and 8 bytes written an entry of the result. Rows that might be long are
//! waited for, once a call.

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
const COPY_LISTS: Kernel = kernel("copy_lists");

/// The most entries of a row that is merged in local memory.
const SHORT_ROW: u32 = GROUP * LISTS_PER_LANE / 2;

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
    /// The most edges that a row has.
    pub most_edges: u32,
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
    let longest = u64::from(rows.most_edges) * u64::from(rows.value_count.max(1));
    let may_be_long = longest > SHORT_ROW.into();
    let most = (rows.edge_range.len() as u64).saturating_mul(rows.value_count.into());
    let tiles = most / u64::from(SHORT_ROW) + 1;
    let groups = u64::from(busy_groups(device)).min(tiles) as u32;
    let long_rows = device.allocate::<u32>(if may_be_long { rows.rows.len() } else { 0 })?;
    let long_count = device.zeroed::<u32>(1)?;
    let arguments: [Argument; 21] = [
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
    ];
    device.launch(&MERGE_TILES, groups, &arguments)?;
    if !may_be_long {
        return Ok(());
    }
    match device.value(&long_count, 0)? {
        0 => Ok(()),
        count => long::merge(rows, offsets, lists, pool, target, &long_rows, count),
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
        let device = lists.sizes.device();
        let rows = lists.sizes.len();
        let starts = scan::starts::<u32, u32>(device, &lists.sizes, rows)?;
        let total = device.value(&starts, rows)? as usize;
        let (values, counts) = (device.allocate(total)?, device.allocate(total)?);
        device.launch(
            &COPY_LISTS,
            groups_for(total).min(busy_groups(device)),
            &[
                (&lists.starts).into(),
                (&starts).into(),
                (&pool.values).into(),
                (&pool.counts).into(),
                (&values).into(),
                (&counts).into(),
                (rows as u32).into(),
            ],
        )?;
        Ok(Self { starts, values, counts })
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
