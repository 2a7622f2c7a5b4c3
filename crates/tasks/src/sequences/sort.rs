//! Sorting records by their keys, digit by digit.
//!
//! Cost: a record is moved once for every 8 to 11 bits of its key that are not the same in all; rows that do not fit into the cache are
//! cut by their highest bits before. Memory: as much again as the records.

use super::keys::Key;

/// Rows up to this length are sorted by comparing.
const SMALL: usize = 192;
/// Rows above this length are cut by their highest bits first.
const LARGE: usize = 1 << 17;

/// A record: a key, and what is known about it.
pub(super) type Record<H, V> = (H, V);

/// Records that are sorted again and again in the same memory.
#[derive(Debug)]
pub(super) struct Sorter<H, V> {
    pub(super) records: Vec<Record<H, V>>,
    scratch: Vec<Record<H, V>>,
}

impl<H, V> Default for Sorter<H, V> {
    fn default() -> Self {
        Self { records: Vec::new(), scratch: Vec::new() }
    }
}

impl<H: Key, V: Copy + Default> Sorter<H, V> {
    /// Sorts the records by the lowest `bits` bits of their keys, stably; the higher ones are all the same.
    pub(super) fn sort(&mut self, bits: u32) -> &[Record<H, V>] {
        self.sort_from(0, bits);
        &self.records
    }

    /// The same for those from a place on.
    pub(super) fn sort_from(&mut self, start: usize, bits: u32) {
        let length = self.records.len() - start;
        if self.scratch.len() < length {
            // What was in it is of no use any more, so it is not moved.
            self.scratch = vec![Default::default(); length];
        }
        sort(&mut self.records[start..], &mut self.scratch[..length], bits);
    }
}

fn sort<H: Key, V: Copy>(records: &mut [Record<H, V>], scratch: &mut [Record<H, V>], bits: u32) {
    if records.len() <= SMALL {
        records.sort_by_key(|record| record.0);
    } else if records.len() > LARGE && bits > 8 {
        sort_pieces(records, scratch, bits);
    } else {
        sort_digits(records, scratch, bits);
    }
}

/// By the highest eight bits into pieces, which are sorted one after the other.
fn sort_pieces<H: Key, V: Copy>(
    mut records: &mut [Record<H, V>],
    mut scratch: &mut [Record<H, V>],
    bits: u32,
) {
    let shift = bits - 8;
    let mut places = [0_usize; 256];
    records.iter().for_each(|record| places[record.0.digit(shift, 8) as usize] += 1);
    let sizes = places;
    let mut sum = 0;
    for place in &mut places {
        sum += std::mem::replace(place, sum);
    }
    for record in &*records {
        let place = &mut places[record.0.digit(shift, 8) as usize];
        scratch[*place] = *record;
        *place += 1;
    }
    records.copy_from_slice(scratch);
    for size in sizes {
        let piece = records.split_off_mut(..size).expect("as many as were counted");
        let room = scratch.split_off_mut(..size).expect("as many as were counted");
        sort(piece, room, shift);
    }
}

/// Digit by digit, the lowest first; all digits are counted in one pass before. A digit that is the same everywhere is passed
/// over.
fn sort_digits<H: Key, V: Copy>(
    records: &mut [Record<H, V>],
    scratch: &mut [Record<H, V>],
    bits: u32,
) {
    let width = if records.len() < 1 << 12 { 8 } else { 11 };
    let digits = bits.div_ceil(width) as usize;
    let values = 1_usize << width;
    let mut places = vec![0_u32; digits * values];
    for (key, _) in &*records {
        for (digit, places) in places.chunks_exact_mut(values).enumerate() {
            places[key.digit(digit as u32 * width, width) as usize] += 1;
        }
    }
    let (mut from, mut to) = (records, scratch);
    let mut swapped = false;
    for (digit, places) in places.chunks_exact_mut(values).enumerate() {
        // Bits above those to sort by are the same in all keys.
        let shift = digit as u32 * width;
        let first = from[0].0.digit(shift, width);
        if places[first as usize] as usize == from.len() {
            continue;
        }
        let mut sum = 0;
        for place in &mut *places {
            sum += std::mem::replace(place, sum);
        }
        for record in &*from {
            let place = &mut places[record.0.digit(shift, width) as usize];
            to[*place as usize] = *record;
            *place += 1;
        }
        std::mem::swap(&mut from, &mut to);
        swapped = !swapped;
    }
    if swapped {
        // `from` is the scratch now, and holds the result.
        to.copy_from_slice(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_all_lengths_are_sorted_and_equal_keys_stay_in_order() {
        let mix = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        for (count, bits) in [(0, 20), (1, 20), (100, 20), (3000, 60), (40_000, 17), (300_000, 50)]
        {
            let keys = (0..count).map(|number| mix(mix(number)) >> (64 - bits));
            let records = keys.zip(0_u32..).collect();
            let mut sorter = Sorter { records, ..Sorter::default() };
            let mut expected = sorter.records.clone();
            expected.sort();
            assert!(sorter.sort(bits) == expected, "{count} of {bits} bits");
        }
    }
}
