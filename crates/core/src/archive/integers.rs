//! Lists of integers: the length in bits of each is a class, the bits below the highest are raw.
//!
//! One stream a list, so a list is read as a whole. Cost: a class and up to three takes of raw bits a
//! value.

use super::rans::{Decoder, DecodingTable, Encoder, MOST_RAW_BITS, Model, most_values};
use super::wire::{Reader, put_varint};
use crate::budget::{Budget, Counted};
use crate::error::Result;
use crate::spill::SpillVec;
use crate::usize_of;

/// Classes of bit lengths, 0 to 64.
pub(crate) const LENGTHS: usize = 65;

/// Appends a list.
pub(crate) fn write(into: &mut Vec<u8>, values: impl Iterator<Item = u64> + Clone) {
    let mut counts = [0; LENGTHS];
    let mut length = 0_u64;
    for value in values.clone() {
        counts[bit_length(value) as usize] += 1;
        length += 1;
    }
    put_varint(into, length);
    if length == 0 {
        return;
    }
    let model = Model::from_counts(&counts);
    model.write(into);
    let mut encoder = Encoder::default();
    for value in values {
        put(&mut encoder, &model, value);
    }
    let mut stream = Vec::new();
    encoder.write(&mut stream);
    put_varint(into, stream.len() as u64);
    into.extend_from_slice(&stream);
}

/// Adds an integer: the class of its length, and raw bits.
#[expect(
    clippy::cast_possible_truncation,
    reason = "so many bits are taken at a time as an u32 has room for"
)]
pub(crate) fn put(encoder: &mut Encoder, model: &Model, value: u64) {
    let bits = bit_length(value);
    encoder.class(model, bits as usize);
    let mut left = bits.saturating_sub(1);
    let mut rest = value;
    while left > 0 {
        let now = left.min(MOST_RAW_BITS);
        encoder.bits((rest & ((1 << now) - 1)) as u32, now);
        rest >>= now;
        left -= now;
    }
}

/// Takes an integer.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "classes are numbers of bits, 64 at most")]
pub(crate) fn take(decoder: &mut Decoder<'_>, table: &DecodingTable) -> u64 {
    let bits = decoder.class(table) as u32;
    let mut value = 0_u64;
    let mut done = 0;
    while done + 1 < bits {
        let now = (bits - 1 - done).min(MOST_RAW_BITS);
        value |= u64::from(decoder.bits(now)) << done;
        done += now;
    }
    if bits > 0 {
        value |= 1 << (bits - 1);
    }
    value
}

/// Reads a list, whose memory is counted as that of `what`.
pub(crate) fn read(
    reader: &mut Reader<'_>,
    budget: &Budget,
    what: &'static str,
) -> Result<Counted<SpillVec<u64>>> {
    let Some((length, table, stream)) = open(reader)? else { return Ok(Counted::default()) };
    let share = budget.take(size_of::<u64>() as u64 * length, what)?;
    let mut decoder = Decoder::new(stream)?;
    let mut values = budget.spill().filled(0, usize_of(length));
    values.iter_mut().for_each(|value| *value = take(&mut decoder, &table));
    decoder.finish()?;
    Ok(Counted::new(values, share))
}

/// Reads integers that stand for something smaller; `value` says what.
pub(super) fn read_as<T>(
    reader: &mut Reader<'_>,
    budget: &Budget,
    what: &'static str,
    value: impl Fn(u64) -> Result<T>,
) -> Result<Counted<Vec<T>>> {
    let Some((length, table, stream)) = open(reader)? else { return Ok(Counted::default()) };
    let share = budget.take(size_of::<T>() as u64 * length, what)?;
    let mut decoder = Decoder::new(stream)?;
    let mut values = Vec::with_capacity(usize_of(length));
    for _ in 0..length {
        values.push(value(take(&mut decoder, &table))?);
    }
    decoder.finish()?;
    Ok(Counted::new(values, share))
}

/// Passes over a list.
pub(super) fn pass_over(reader: &mut Reader<'_>) -> Result<()> {
    open(reader).map(drop)
}

/// How many integers there are, what they are decoded with, and their stream; `None` if there are none.
fn open<'s>(reader: &mut Reader<'s>) -> Result<Option<(u64, DecodingTable, &'s [u8])>> {
    let length = reader.varint()?;
    if length == 0 {
        return Ok(None);
    }
    let table = Model::read(reader, LENGTHS)?.decoding_table();
    let bytes = reader.varint()?;
    let stream = reader.take(bytes)?;
    if length > most_values(stream.len()) {
        return Err(reader.malformed(format!("{length} integers cannot be in {bytes} bytes")));
    }
    Ok(Some((length, table, stream)))
}

/// How many bits an integer has: 0 for 0, 64 at the most.
pub(crate) fn bit_length(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_round_trip(values in proptest::collection::vec(prop_oneof![0_u64..4, any::<u64>(), any::<u32>().prop_map(u64::from)], 0..500)) {
            let mut bytes = Vec::new();
            write(&mut bytes, values.iter().copied());
            let mut reader = Reader::new(&bytes, "test");
            let read = read(&mut reader, &Budget::unlimited(), "test").unwrap();
            prop_assert_eq!(&read[..], &values[..]);
            reader.finish().unwrap();
        }
    }

    #[test]
    fn a_length_that_cannot_be_is_refused() {
        let mut bytes = Vec::new();
        write(&mut bytes, [1, 2, 3].into_iter());
        let mut huge = Vec::new();
        put_varint(&mut huge, 1 << 40);
        huge.extend_from_slice(&bytes[1..]);
        assert!(read(&mut Reader::new(&huge, "test"), &Budget::unlimited(), "test").is_err());
    }
}
