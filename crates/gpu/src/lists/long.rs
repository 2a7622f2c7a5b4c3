//! Rows that are too long for local memory: by counters, or sorted.
//!
//! A row of counters costs 20 bytes for each value that there is, whatever the row has; sorting costs about as much for
//! each entry of the row and each 8 bits of its key. So rows with at least a certain part of the values as entries are
//! counted, some at a time, and the others sorted together.

use super::{Lists, Offsets, Pool, Rows, Target, busy_groups, kernel};
use crate::device::{Buffer, Kernel, groups_for};
use crate::error::Result;
use crate::network::bits_below;
use crate::primitives::scan;
use crate::primitives::sort::{self, Keys, Order};
use crate::tuning::{
    COUNTED_LOCALLY, COUNTERS_AT_ONCE, ENTRIES_OF_A_STRETCH, SORTED_AT_ONCE, VALUES_PER_ENTRY,
};

const LONG_ROW_SIZES: Kernel = kernel("long_row_sizes");
const ADD_TO_COUNTERS: Kernel = kernel("add_to_counters");
const MARK_COUNTERS: Kernel = kernel("mark_counters");
const TAKE_ROOM: Kernel = kernel("take_room");
const WRITE_COUNTERS: Kernel = kernel("write_counters");
const CLOSE_COUNTED_ROWS: Kernel = kernel("close_counted_rows");
const GATHER_ENTRIES: Kernel = kernel("gather_entries");
const MARK_KEYS: Kernel = kernel("mark_keys");
const CLEAR_ROOM: Kernel = kernel("clear_room");
const WRITE_KEYS: Kernel = kernel("write_keys");
const CLOSE_SORTED_ROWS: Kernel = kernel("close_sorted_rows");

/// Merges the first `count` of `long_rows`. Waits for how many entries they have.
pub(super) fn merge(
    rows: &Rows<'_>,
    offsets: &Offsets,
    lists: &Lists,
    pool: &Pool,
    target: Target<'_>,
    long_rows: &Buffer<u32>,
    count: u32,
) -> Result<()> {
    let device = rows.edges.device();
    let (firsts, entries) =
        (device.allocate::<u64>(count as usize)?, device.allocate::<u64>(count as usize)?);
    device.launch(
        &LONG_ROW_SIZES,
        groups_for(count as usize),
        &[
            rows.row_starts.into(),
            (&offsets.0).into(),
            long_rows.into(),
            (&firsts).into(),
            (&entries).into(),
            rows.edge_range.start.into(),
            count.into(),
        ],
    )?;
    let numbers = device.download_part(long_rows, 0..count as usize)?;
    let mut found: Vec<(u32, u64)> = numbers.into_iter().zip(device.download(&entries)?).collect();
    // Groups took them in any order.
    found.sort_unstable();
    let values = u64::from(rows.value_count);
    let is_counted = |&(_, entries): &(u32, u64)| {
        values <= COUNTED_LOCALLY || entries.saturating_mul(VALUES_PER_ENTRY) >= values
    };
    let (counted, sorted): (Vec<_>, Vec<_>) = found.into_iter().partition(is_counted);
    let work = Work { rows, offsets, lists, pool, target };
    let at_once = (COUNTERS_AT_ONCE / values.max(1)).max(1) as usize;
    for batch in counted.chunks(at_once) {
        work.count(batch)?;
    }
    let mut rest = &sorted[..];
    while !rest.is_empty() {
        let mut sum = 0;
        let fitting = rest.iter().take_while(|&&(_, entries)| {
            sum += entries;
            sum <= SORTED_AT_ONCE
        });
        let (batch, behind) = rest.split_at(fitting.count().max(1));
        work.sort(batch)?;
        rest = behind;
    }
    Ok(())
}

/// What is merged, and where it goes.
struct Work<'a> {
    rows: &'a Rows<'a>,
    offsets: &'a Offsets,
    lists: &'a Lists,
    pool: &'a Pool,
    target: Target<'a>,
}

/// Some long rows, cut into stretches.
struct Batch {
    rows: Buffer<u32>,
    stretch_starts: Buffer<u32>,
    stretches: u32,
}

impl Work<'_> {
    fn batch(&self, batch: &[(u32, u64)]) -> Result<Batch> {
        let device = self.rows.edges.device();
        let numbers: Vec<u32> = batch.iter().map(|&(row, _)| row).collect();
        let mut stretches = 0;
        let starts = batch.iter().map(|&(_, entries)| {
            let start = stretches;
            stretches += entries.div_ceil(ENTRIES_OF_A_STRETCH) as u32;
            start
        });
        let stretch_starts = device.upload(&starts.collect::<Vec<_>>())?;
        Ok(Batch { rows: device.upload(&numbers)?, stretch_starts, stretches })
    }

    /// Counts the entries of rows in a row of counters each, and writes those that are not zero.
    fn count(&self, batch: &[(u32, u64)]) -> Result<()> {
        let device = self.rows.edges.device();
        let (values, slots) = (self.rows.value_count, batch.len());
        let length = slots * values as usize;
        let cut = self.batch(batch)?;
        let counters = device.zeroed::<u32>(length)?;
        device.launch(
            &ADD_TO_COUNTERS,
            cut.stretches,
            &[
                self.rows.row_starts.into(),
                self.rows.edges.into(),
                (&self.offsets.0).into(),
                (&self.lists.starts).into(),
                (&self.pool.values).into(),
                (&self.pool.counts).into(),
                (&cut.rows).into(),
                (&cut.stretch_starts).into(),
                (&counters).into(),
                (slots as u32).into(),
                values.into(),
                self.rows.edge_range.start.into(),
                self.rows.virtual_from.into(),
            ],
        )?;
        let groups = groups_for(length).min(busy_groups(device));
        let places = device.allocate::<u32>(length)?;
        device.launch(
            &MARK_COUNTERS,
            groups,
            &[(&counters).into(), (&places).into(), (length as u64).into()],
        )?;
        let made = scan::exclusive(&places, length, &places)?;
        let taken = self.take(&made)?;
        let pool = self.target.pool;
        device.launch(
            &WRITE_COUNTERS,
            groups,
            &[
                (&counters).into(),
                (&places).into(),
                (&made).into(),
                (&taken).into(),
                (&pool.values).into(),
                (&pool.counts).into(),
                values.into(),
                (length as u64).into(),
                pool.capacity().into(),
            ],
        )?;
        device.launch(
            &CLOSE_COUNTED_ROWS,
            groups_for(slots),
            &[
                (&cut.rows).into(),
                (&places).into(),
                (&made).into(),
                (&taken).into(),
                (&self.target.lists.starts).into(),
                (&self.target.lists.sizes).into(),
                (slots as u32).into(),
                values.into(),
                self.target.first.into(),
                pool.capacity().into(),
            ],
        )
    }

    /// Takes room from the pool.
    fn take(&self, made: &Buffer<u32>) -> Result<Buffer<u64>> {
        let device = made.device();
        let taken = device.allocate(1)?;
        let used = &self.target.pool.used;
        device.launch(&TAKE_ROOM, 1, &[made.into(), used.into(), (&taken).into()])?;
        Ok(taken)
    }

    /// Sorts the entries of rows by row and value, and adds up equal ones.
    fn sort(&self, batch: &[(u32, u64)]) -> Result<()> {
        let device = self.rows.edges.device();
        let slots = batch.len();
        let cut = self.batch(batch)?;
        let mut total = 0;
        let entry_starts = batch.iter().map(|&(_, entries)| {
            let start = total;
            total += entries as u32;
            start
        });
        let entry_starts = device.upload(&entry_starts.collect::<Vec<_>>())?;
        let count = total as usize;
        let (keys, counts) = (device.allocate::<u64>(count)?, device.allocate::<u32>(count)?);
        let value_bits = bits_below(self.rows.value_count);
        device.launch(
            &GATHER_ENTRIES,
            cut.stretches,
            &[
                self.rows.row_starts.into(),
                self.rows.edges.into(),
                (&self.offsets.0).into(),
                (&self.lists.starts).into(),
                (&self.pool.values).into(),
                (&self.pool.counts).into(),
                (&cut.rows).into(),
                (&cut.stretch_starts).into(),
                (&entry_starts).into(),
                (&keys).into(),
                (&counts).into(),
                (slots as u32).into(),
                value_bits.into(),
                self.rows.edge_range.start.into(),
                self.rows.virtual_from.into(),
            ],
        )?;
        let rows = sort::Rows { keys: Keys::Wide(keys), first: Some(counts), second: None };
        let bits = 0..value_bits + bits_below(slots as u32);
        let rows = sort::sort(device, rows, count, bits, Order::Ascending)?;
        let (keys, counts) = (rows.keys.wide(), rows.first.expect("it was given"));
        let groups = groups_for(count).min(busy_groups(device));
        let places = device.allocate::<u32>(count)?;
        device.launch(&MARK_KEYS, groups, &[(&keys).into(), (&places).into(), total.into()])?;
        let made = scan::exclusive(&places, count, &places)?;
        let taken = self.take(&made)?;
        let pool = self.target.pool;
        device.launch(
            &CLEAR_ROOM,
            groups,
            &[(&made).into(), (&taken).into(), (&pool.counts).into(), pool.capacity().into()],
        )?;
        device.launch(
            &WRITE_KEYS,
            groups,
            &[
                (&keys).into(),
                (&counts).into(),
                (&places).into(),
                (&made).into(),
                (&taken).into(),
                (&pool.values).into(),
                (&pool.counts).into(),
                total.into(),
                value_bits.into(),
                pool.capacity().into(),
            ],
        )?;
        device.launch(
            &CLOSE_SORTED_ROWS,
            groups_for(slots),
            &[
                (&cut.rows).into(),
                (&entry_starts).into(),
                (&places).into(),
                (&made).into(),
                (&taken).into(),
                (&self.target.lists.starts).into(),
                (&self.target.lists.sizes).into(),
                (slots as u32).into(),
                self.target.first.into(),
                pool.capacity().into(),
            ],
        )
    }
}
