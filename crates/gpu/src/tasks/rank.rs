//! Entries in the order of counts, and rows turned into columns: radix sorts, which keep what is equal in order.
//!
//! Cost: a pass of a sort for each 8 bits of the greatest count and of the number of rows; where the greatest count is looked
//! for, that is waited for.

use super::kernel;
use crate::device::{Buffer, Kernel, groups_for};
use crate::error::Result;
use crate::lists::{Table, busy_groups};
use crate::network::{bits_below, find_starts};
use crate::primitives::select::Marks;
use crate::primitives::sort::{self, Keys, Order, Rows};

use super::answer::Names;

const GREATEST_COUNT: Kernel = kernel("greatest_count");
const RANK_KEYS: Kernel = kernel("rank_keys");
const RANKED_COUNTS: Kernel = kernel("ranked_counts");
const RANKED_STARTS: Kernel = kernel("ranked_starts");
const MARK_UNORDERED_ROWS: Kernel = kernel("mark_unordered_rows");
const MARK_UNORDERED_ENTRIES: Kernel = kernel("mark_unordered_entries");
const PUT_BACK: Kernel = kernel("put_back");
const NUMBER: Kernel = kernel("number");
const ORDER_KEYS: Kernel = kernel("order_keys");

/// Counts, the highest first.
pub(super) struct Ranked {
    /// Which each one was.
    pub(super) order: Buffer<u32>,
    pub(super) counts: Buffer<u64>,
}

/// Puts counts in order; equal ones stay as they are. None is above `most`.
pub(super) fn by_count(counts: Buffer<u64>, most: u64) -> Result<Ranked> {
    let device = counts.device().clone();
    let length = counts.len();
    let numbers = device.allocate(length)?;
    device.launch(&NUMBER, groups_for(length), &[(&numbers).into(), (length as u32).into()])?;
    let rows = Rows { keys: Keys::Wide(counts), first: Some(numbers), second: None };
    let bits = 0..u64::BITS - most.leading_zeros();
    let rows = sort::sort(&device, rows, length, bits, Order::Descending)?;
    Ok(Ranked { order: rows.first.expect("it was given"), counts: rows.keys.wide() })
}

/// Names of sequences in another order.
pub(super) fn ordered(names: Names, order: &Buffer<u32>) -> Result<Names> {
    let Names::Sequences { packing, keys } = names else { return Ok(names) };
    let device = order.device();
    let length = order.len();
    let take = |high: &Buffer<u64>, low: &Buffer<u64>, is_wide: bool| {
        let out_high = device.allocate(if is_wide { length } else { 0 })?;
        let out_low = device.allocate(length)?;
        device.launch(
            &ORDER_KEYS,
            groups_for(length),
            &[
                high.into(),
                low.into(),
                order.into(),
                (&out_high).into(),
                (&out_low).into(),
                (length as u32).into(),
                u32::from(is_wide).into(),
            ],
        )?;
        Ok((out_high, out_low))
    };
    let keys = match &keys {
        Keys::Double { high, low } => {
            let (high, low) = take(high, low, true)?;
            Keys::Double { high, low }
        }
        Keys::Wide(low) => Keys::Wide(take(low, low, false)?.1),
        Keys::Narrow(_) => unreachable!("keys of sequences have 64 bits or 128"),
    };
    Ok(Names::Sequences { packing, keys })
}

/// The entries of each row by count descending. Rows that are in order already, which are most where most have one entry, are
/// left alone.
pub(super) fn in_rows(table: Table) -> Result<Table> {
    let device = table.starts.device();
    let entries = table.entries();
    let rows = table.entry_rows()?;
    let is_unordered = device.zeroed::<u8>(table.rows())?;
    let flags = device.allocate::<u8>(entries)?;
    device.launch(
        &MARK_UNORDERED_ROWS,
        groups_for(entries),
        &[(&rows).into(), (&table.counts).into(), (&is_unordered).into(), (entries as u32).into()],
    )?;
    device.launch(
        &MARK_UNORDERED_ENTRIES,
        groups_for(entries),
        &[(&rows).into(), (&is_unordered).into(), (&flags).into(), (entries as u32).into()],
    )?;
    let places = Marks::of_flags(&flags, entries)?.places()?;
    let count = places.len() - 1;
    let most = greatest(&table)?;
    let order = (most, &rows, table.rows() as u32);
    let (keys, along) = ranked(&table.values, &table.counts, order, Some(&places), count)?;
    device.launch(
        &PUT_BACK,
        groups_for(count),
        &[
            (&keys).into(),
            (&along).into(),
            (&places).into(),
            (&table.values).into(),
            (&table.counts).into(),
            (count as u32).into(),
            most.into(),
            bits_of(most).into(),
        ],
    )?;
    Ok(table)
}

/// A table whose rows are the values of another one, of which there are so many, and whose values are its rows: by count descending.
pub(super) fn transposed(table: &Table, values: u32) -> Result<Table> {
    let device = table.starts.device();
    let entries = table.entries();
    let most = greatest(table)?;
    let order = (most, &table.values, values);
    let (keys, along) = ranked(&table.entry_rows()?, &table.counts, order, None, entries)?;
    let (counts, count_bits) = (device.allocate(entries)?, bits_of(most));
    device.launch(
        &RANKED_COUNTS,
        groups_for(entries),
        &[
            (&keys).into(),
            (&counts).into(),
            (entries as u32).into(),
            most.into(),
            count_bits.into(),
        ],
    )?;
    let starts = device.allocate(values as usize + 1)?;
    device.launch(
        &RANKED_STARTS,
        groups_for(values as usize + 1),
        &[
            (&keys).into(),
            (&starts).into(),
            (entries as u32).into(),
            values.into(),
            count_bits.into(),
        ],
    )?;
    Ok(Table { starts, values: along, counts })
}

fn bits_of(number: u32) -> u32 {
    u32::BITS - number.leading_zeros()
}

/// The greatest count. Waits for it.
fn greatest(table: &Table) -> Result<u32> {
    let device = table.starts.device();
    let most = device.zeroed::<u32>(1)?;
    device.launch(
        &GREATEST_COUNT,
        groups_for(table.entries()).min(busy_groups(device)),
        &[(&table.counts).into(), (&most).into(), (table.entries() as u32).into()],
    )?;
    device.value(&most, 0)
}

/// Sorted keys of `count` entries, at some places or from the first one on, and the values that went along. `order` has the
/// greatest count, the row of each entry, and how many rows there are.
fn ranked(
    values: &Buffer<u32>,
    counts: &Buffer<u32>,
    order: (u32, &Buffer<u32>, u32),
    places: Option<&Buffer<u32>>,
    count: usize,
) -> Result<(Buffer<u64>, Buffer<u32>)> {
    let device = values.device();
    let (most, rows, row_count) = order;
    let (keys, along) = (device.allocate(count)?, device.allocate(count)?);
    device.launch(
        &RANK_KEYS,
        groups_for(count),
        &[
            rows.into(),
            values.into(),
            counts.into(),
            places.unwrap_or(rows).into(),
            (&keys).into(),
            (&along).into(),
            (count as u32).into(),
            most.into(),
            bits_of(most).into(),
            u32::from(places.is_some()).into(),
        ],
    )?;
    let sorted = Rows { keys: Keys::Wide(keys), first: Some(along), second: None };
    let bits = 0..bits_of(most) + bits_below(row_count);
    let sorted = sort::sort(device, sorted, count, bits, Order::Ascending)?;
    Ok((sorted.keys.wide(), sorted.first.expect("it was given")))
}

/// A table whose rows are the values of another one, of which there are so many, and whose values are its rows, ascending.
pub(super) fn turned(table: Table, values: u32) -> Result<Table> {
    let device = table.starts.device();
    let entries = table.entries();
    let rows = table.entry_rows()?;
    let keys = Keys::Narrow(table.values);
    let sorted = Rows { keys, first: Some(rows), second: Some(table.counts) };
    let bits = 0..bits_below(values);
    let sorted = sort::sort(device, sorted, entries, bits, Order::Ascending)?;
    let starts = find_starts(&sorted.keys.narrow(), entries as u32, values)?;
    let (values, counts) =
        (sorted.first.expect("it was given"), sorted.second.expect("it was given"));
    Ok(Table { starts, values, counts })
}
