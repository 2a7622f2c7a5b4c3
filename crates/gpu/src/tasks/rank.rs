//! Entries in the order of counts, and rows turned into columns: radix sorts, which keep what is equal in order.
//!
//! Cost: a pass of a sort for each 8 bits of the greatest count and of the number of rows; where the greatest count is looked
//! for, that is waited for.

use super::kernel;
use crate::device::{Buffer, Kernel, groups_for};
use crate::error::Result;
use crate::lists::{Table, busy_groups};
use crate::network::{bits_below, find_starts};
use crate::primitives::sort::{self, Keys, Order, Rows};

use super::answer::Names;

const GREATEST_COUNT: Kernel = kernel("greatest_count");
const RANK_KEYS: Kernel = kernel("rank_keys");
const RANKED_COUNTS: Kernel = kernel("ranked_counts");
const RANKED_STARTS: Kernel = kernel("ranked_starts");
const TRANSPOSED_KEYS: Kernel = kernel("transposed_keys");
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

/// The entries of each row by count descending.
pub(super) fn in_rows(table: Table) -> Result<Table> {
    let rows = table.rows() as u32;
    let (values, counts, _) = ranked(&table, rows, false)?;
    Ok(Table { starts: table.starts, values, counts })
}

/// A table whose rows are the values of another one, of which there are so many, and whose values are its rows: by count descending.
pub(super) fn transposed(table: &Table, values: u32) -> Result<Table> {
    let (of_values, counts, starts) = ranked(table, values, true)?;
    Ok(Table { starts: starts.expect("rows are others"), values: of_values, counts })
}

type RankedEntries = (Buffer<u32>, Buffer<u32>, Option<Buffer<u32>>);

/// Values and counts in order, and for rows that are others where they begin.
fn ranked(table: &Table, rows: u32, is_transposed: bool) -> Result<RankedEntries> {
    let device = table.starts.device();
    let entries = table.entries();
    let count = entries as u32;
    let groups = groups_for(entries).min(busy_groups(device));
    let most = device.zeroed::<u32>(1)?;
    device.launch(
        &GREATEST_COUNT,
        groups,
        &[(&table.counts).into(), (&most).into(), count.into()],
    )?;
    let most = device.value(&most, 0)?;
    let count_bits = u32::BITS - most.leading_zeros();
    let (keys, along) = (device.allocate(entries)?, device.allocate(entries)?);
    device.launch(
        &RANK_KEYS,
        groups,
        &[
            (&table.starts).into(),
            (&table.values).into(),
            (&table.counts).into(),
            (&keys).into(),
            (&along).into(),
            (table.rows() as u32).into(),
            count.into(),
            most.into(),
            count_bits.into(),
            u32::from(is_transposed).into(),
        ],
    )?;
    let sorted = Rows { keys: Keys::Wide(keys), first: Some(along), second: None };
    let bits = 0..count_bits + bits_below(rows);
    let sorted = sort::sort(device, sorted, entries, bits, Order::Ascending)?;
    let (keys, along) = (sorted.keys.wide(), sorted.first.expect("it was given"));
    let counts = device.allocate(entries)?;
    device.launch(
        &RANKED_COUNTS,
        groups,
        &[(&keys).into(), (&counts).into(), count.into(), most.into(), count_bits.into()],
    )?;
    if !is_transposed {
        return Ok((along, counts, None));
    }
    let starts = device.allocate(rows as usize + 1)?;
    device.launch(
        &RANKED_STARTS,
        groups_for(rows as usize + 1),
        &[(&keys).into(), (&starts).into(), count.into(), rows.into(), count_bits.into()],
    )?;
    Ok((along, counts, Some(starts)))
}

/// A table whose rows are the values of another one, of which there are so many, and whose values are its rows, ascending.
pub(super) fn turned(table: &Table, values: u32) -> Result<Table> {
    let device = table.starts.device();
    let entries = table.entries();
    let room = || device.allocate::<u32>(entries);
    let (keys, rows, counts) = (room()?, room()?, room()?);
    device.launch(
        &TRANSPOSED_KEYS,
        groups_for(entries).min(busy_groups(device)),
        &[
            (&table.starts).into(),
            (&table.values).into(),
            (&table.counts).into(),
            (&keys).into(),
            (&rows).into(),
            (&counts).into(),
            (table.rows() as u32).into(),
            (entries as u32).into(),
        ],
    )?;
    let sorted = Rows { keys: Keys::Narrow(keys), first: Some(rows), second: Some(counts) };
    let bits = 0..bits_below(values);
    let sorted = sort::sort(device, sorted, entries, bits, Order::Ascending)?;
    let starts = find_starts(&sorted.keys.narrow(), entries as u32, values)?;
    let (values, counts) =
        (sorted.first.expect("it was given"), sorted.second.expect("it was given"));
    Ok(Table { starts, values, counts })
}
