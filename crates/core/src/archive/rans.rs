//! The entropy coder of the format: range asymmetric numeral systems with static models.
//!
//! A stream is a row of 32-bit words. The state is a 64-bit integer kept in `2^31..2^63`; taking a class
//! costs a table look-up, a multiplication and seldom a word; taking raw bits costs a shift. Decoding
//! gives what was written in order; encoding runs backwards, so whoever encodes collects first.
//!
//! After J. Duda, "Asymmetric numeral systems" (2013); the state's width and the raw bits in it as in
//! F. Giesen, "Interleaved entropy coders" (2014).

use super::wire::{Reader, put_varint};
use crate::error::{Error, Result};
use crate::usize_of;

/// Frequencies of a model sum up to `2^SCALE_BITS`.
pub(crate) const SCALE_BITS: u32 = 14;
const SCALE: u32 = 1 << SCALE_BITS;
/// No class may be more probable: every class costs at least 0.09 bits, which bounds how much a small
/// section can expand to.
const LARGEST_FREQUENCY: u32 = SCALE / 16 * 15;
const LOWEST_STATE: u64 = 1 << 31;
/// At most so many raw bits at once.
pub(crate) const MOST_RAW_BITS: u32 = 31;

/// How many values a stream of `bytes` can hold at the most if each takes at least one class.
pub(crate) fn most_values(bytes: usize) -> u64 {
    // log2(16 / 15) > 1 / 11 bits a class; the last state holds up to 32 bits more.
    (bytes as u64 * 8 + 64) * 11
}

/// The frequencies of the classes `0..classes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Model {
    frequencies: Vec<u16>,
    starts: Vec<u16>,
}

impl Model {
    /// A model for data with these counts. Classes that do not occur cannot be coded with it.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a share of the scale is not above it, and that has 16 bits"
    )]
    pub(crate) fn from_counts(counts: &[u64]) -> Self {
        let mut counts = counts.to_vec();
        // No class may have it all: where fewer than two occur, others stand in.
        counts.resize(counts.len().max(2), 0);
        let mut used = counts.iter().filter(|&&count| count > 0).count();
        for count in counts.iter_mut().filter(|count| **count == 0) {
            if used < 2 {
                *count = 1;
                used += 1;
            }
        }
        let total: u64 = counts.iter().sum();
        let mut frequencies: Vec<u32> = counts
            .iter()
            .map(|&count| {
                if count == 0 {
                    return 0;
                }
                let scaled = (u128::from(count) * u128::from(SCALE) / u128::from(total)) as u32;
                scaled.clamp(1, LARGEST_FREQUENCY)
            })
            .collect();
        // Rounding is paid for, or spent, where it changes the least: on the most frequent.
        let mut order: Vec<usize> = (0..counts.len()).filter(|&class| counts[class] > 0).collect();
        order.sort_by_key(|&class| (std::cmp::Reverse(frequencies[class]), class));
        let mut sum: u32 = frequencies.iter().sum();
        while sum != SCALE {
            for &class in &order {
                let frequency = &mut frequencies[class];
                if sum < SCALE && *frequency < LARGEST_FREQUENCY {
                    let add =
                        (SCALE - sum).min(LARGEST_FREQUENCY - *frequency).min(*frequency / 8 + 1);
                    *frequency += add;
                    sum += add;
                } else if sum > SCALE && *frequency > 1 {
                    let cut = (sum - SCALE).min(*frequency / 8 + 1).min(*frequency - 1);
                    *frequency -= cut;
                    sum -= cut;
                }
            }
        }
        Self::from_frequencies(frequencies.into_iter().map(|frequency| frequency as u16).collect())
    }

    fn from_frequencies(frequencies: Vec<u16>) -> Self {
        let mut start = 0;
        let starts = frequencies
            .iter()
            .map(|&frequency| {
                let here = start;
                start += frequency;
                here
            })
            .collect();
        Self { frequencies, starts }
    }

    /// Appends the model: the number of classes that occur, then for each the gap to the one before and
    /// its frequency.
    pub(crate) fn write(&self, into: &mut Vec<u8>) {
        let used = self.frequencies.iter().filter(|&&frequency| frequency > 0).count();
        put_varint(into, used as u64);
        let mut next = 0;
        for (class, &frequency) in self.frequencies.iter().enumerate() {
            if frequency > 0 {
                put_varint(into, (class - next) as u64);
                put_varint(into, frequency.into());
                next = class + 1;
            }
        }
    }

    /// Reads a model of classes below `limit`.
    pub(crate) fn read(reader: &mut Reader<'_>, limit: usize) -> Result<Self> {
        let used = reader.bounded(limit as u64, "classes in a model")?;
        let mut frequencies: Vec<u16> = Vec::new();
        let mut sum = 0;
        for _ in 0..used {
            let gap = usize_of(
                reader.bounded((limit - frequencies.len()) as u64, "as a gap in a model")?,
            );
            if frequencies.len() + gap >= limit {
                return Err(reader.malformed("a model has a class that does not exist"));
            }
            let frequency = reader.bounded_u32(LARGEST_FREQUENCY, "as a frequency")?;
            let frequency = u16::try_from(frequency).expect("frequencies have 16 bits");
            if frequency == 0 {
                return Err(reader.malformed("a model has a frequency of 0"));
            }
            frequencies.resize(frequencies.len() + gap, 0);
            frequencies.push(frequency);
            sum += u32::from(frequency);
        }
        if sum != SCALE {
            return Err(reader.malformed(format!("frequencies sum up to {sum}, not to {SCALE}")));
        }
        Ok(Self::from_frequencies(frequencies))
    }

    /// The classes that can be coded.
    pub(crate) fn classes(&self) -> impl Iterator<Item = usize> {
        (0..self.frequencies.len()).filter(|&class| self.frequencies[class] > 0)
    }

    /// The tables to decode with.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "each class has a slot of the scale, which has 16 bits"
    )]
    pub(crate) fn decoding_table(&self) -> DecodingTable {
        let mut range_of_slot = vec![0_u16; SCALE as usize];
        let mut ranges = Vec::new();
        for (class, (&start, &frequency)) in self.starts.iter().zip(&self.frequencies).enumerate() {
            if frequency > 0 {
                let slots = usize::from(start)..usize::from(start) + usize::from(frequency);
                range_of_slot[slots].fill(ranges.len() as u16);
                ranges.push(Range { start, frequency, class: class as u16 });
            }
        }
        DecodingTable { range_of_slot, ranges }
    }
}

/// The slots of a class.
#[derive(Debug, Clone, Copy)]
struct Range {
    start: u16,
    frequency: u16,
    class: u16,
}

/// A model laid out for decoding: 32 KiB, and 6 bytes for each class that occurs, which stay in the first
/// level of cache.
#[derive(Debug, Clone)]
pub(crate) struct DecodingTable {
    range_of_slot: Vec<u16>,
    ranges: Vec<Range>,
}

/// Reads classes and raw bits from a stream of words.
pub(crate) struct Decoder<'a> {
    state: u64,
    /// The words that are left.
    words: &'a [[u8; 4]],
    /// The stream ended early; from then on everything read is void.
    exhausted: bool,
}

impl<'a> Decoder<'a> {
    /// Starts on a stream; an error if it is too short or not made of whole words.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self> {
        let ([high, low, words @ ..], []) = bytes.as_chunks() else {
            return Err(Error::malformed("a coded stream is not made of whole words"));
        };
        let [high, low] = [high, low].map(|&word| u64::from(u32::from_le_bytes(word)));
        let decoder = Self { state: high << 32 | low, words, exhausted: false };
        if decoder.state < LOWEST_STATE || decoder.state >= 1 << 63 {
            return Err(Error::malformed("a coded stream starts in no possible state"));
        }
        Ok(decoder)
    }

    /// Takes a word if the state is low. Without a branch on that, which nobody could predict: the next
    /// word is read in any case.
    #[inline(always)]
    fn refill(&mut self) {
        let low = self.state < LOWEST_STATE;
        match self.words {
            [word, rest @ ..] => {
                let filled = self.state << 32 | u64::from(u32::from_le_bytes(*word));
                self.state = std::hint::select_unpredictable(low, filled, self.state);
                self.words = std::hint::select_unpredictable(low, rest, self.words);
            }
            [] if low => {
                self.exhausted = true;
                self.state = self.state << 32 | 1 << 31;
            }
            [] => {}
        }
    }

    /// Takes a class.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the lowest bits are meant")]
    pub(crate) fn class(&mut self, table: &DecodingTable) -> usize {
        let slot = self.state as u32 & (SCALE - 1);
        let range = table.range_of_slot[slot as usize];
        let Range { start, frequency, class } = table.ranges[usize::from(range)];
        self.state =
            u64::from(frequency) * (self.state >> SCALE_BITS) + u64::from(slot) - u64::from(start);
        self.refill();
        class.into()
    }

    /// Takes up to [`MOST_RAW_BITS`] raw bits.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "at most 32 bits are taken")]
    pub(crate) fn bits(&mut self, count: u32) -> u32 {
        let value = self.state & ((1 << count) - 1);
        self.state >>= count;
        self.refill();
        value as u32
    }

    /// Takes the bits below the highest one of an integer of `length` bits, and puts that one on top.
    #[inline(always)]
    pub(crate) fn below_top_bit(&mut self, length: u32) -> u32 {
        if length == 0 { 0 } else { 1 << (length - 1) | self.bits(length - 1) }
    }

    /// Fails unless the stream was read exactly to its end.
    pub(crate) fn finish(self) -> Result<()> {
        if self.exhausted || !self.words.is_empty() || self.state != LOWEST_STATE {
            return Err(Error::malformed("a coded stream does not end where its content does"));
        }
        Ok(())
    }
}

/// Collects classes and raw bits, and writes them as a stream.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    /// `(start, frequency)` of a class, or `(value, RAW | count)` of raw bits.
    steps: Vec<(u32, u32)>,
}

/// Marks raw bits among the steps of an encoder.
const RAW: u32 = 1 << 31;

impl Encoder {
    /// Adds a class that the model has.
    #[inline]
    pub(crate) fn class(&mut self, model: &Model, class: usize) {
        let frequency = model.frequencies[class];
        debug_assert!(frequency > 0, "class {class} is not in the model");
        self.steps.push((model.starts[class].into(), frequency.into()));
    }

    /// Adds up to [`MOST_RAW_BITS`] raw bits.
    #[inline]
    pub(crate) fn bits(&mut self, value: u32, count: u32) {
        debug_assert!(count <= MOST_RAW_BITS && u64::from(value) < 1 << count);
        if count > 0 {
            self.steps.push((value, RAW | count));
        }
    }

    /// Adds the bits below the highest one of `value`, which has `length` bits.
    #[inline]
    pub(crate) fn below_top_bit(&mut self, value: u32, length: u32) {
        if length > 1 {
            self.bits(value ^ 1 << (length - 1), length - 1);
        }
    }

    /// Appends the stream, and is empty again.
    #[expect(clippy::cast_possible_truncation, reason = "the lowest bits are meant")]
    pub(crate) fn write(&mut self, into: &mut Vec<u8>) {
        let mut words: Vec<u32> = Vec::new();
        let mut state = LOWEST_STATE;
        for &(first, second) in self.steps.iter().rev() {
            if second & RAW != 0 {
                let count = second ^ RAW;
                if state >= 1 << (63 - count) {
                    words.push(state as u32);
                    state >>= 32;
                }
                state = state << count | u64::from(first);
            } else {
                let frequency = u64::from(second);
                if state >= frequency << (63 - SCALE_BITS) {
                    words.push(state as u32);
                    state >>= 32;
                }
                state = (state / frequency) << SCALE_BITS | (state % frequency + u64::from(first));
            }
        }
        self.steps.clear();
        into.extend_from_slice(&((state >> 32) as u32).to_le_bytes());
        into.extend_from_slice(&(state as u32).to_le_bytes());
        for word in words.into_iter().rev() {
            into.extend_from_slice(&word.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn model_round_trip(model: &Model, limit: usize) -> Model {
        let mut bytes = Vec::new();
        model.write(&mut bytes);
        let mut reader = Reader::new(&bytes, "model");
        let read = Model::read(&mut reader, limit).unwrap();
        reader.finish().unwrap();
        read
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(values in proptest::collection::vec((0_usize..40, 0_u32..=31, any::<u32>()), 0..2000)) {
            let mut counts = vec![0_u64; 40];
            for (class, ..) in &values {
                counts[*class] += 1;
            }
            let model = Model::from_counts(&counts);
            let mut encoder = Encoder::default();
            for &(class, count, value) in &values {
                encoder.class(&model, class);
                encoder.bits(value & ((1 << count) - 1), count);
            }
            let mut bytes = Vec::new();
            encoder.write(&mut bytes);
            let table = model_round_trip(&model, 40).decoding_table();
            let mut decoder = Decoder::new(&bytes).unwrap();
            for &(class, count, value) in &values {
                prop_assert_eq!(decoder.class(&table), class);
                prop_assert_eq!(decoder.bits(count), value & ((1 << count) - 1));
            }
            decoder.finish().unwrap();
        }

        #[test]
        fn models_of_any_counts_sum_up(counts in proptest::collection::vec(prop_oneof![Just(0_u64), 1_u64..10, any::<u32>().prop_map(u64::from)], 0..1000)) {
            let model = Model::from_counts(&counts);
            prop_assert_eq!(model.frequencies.iter().map(|&frequency| u32::from(frequency)).sum::<u32>(), SCALE);
            prop_assert!(model.frequencies.iter().all(|&frequency| u32::from(frequency) <= LARGEST_FREQUENCY));
            for (class, &count) in counts.iter().enumerate() {
                prop_assert!(count == 0 || model.frequencies[class] > 0);
            }
            model_round_trip(&model, counts.len().max(2));
        }
    }

    #[test]
    fn a_stream_cut_short_or_long_is_refused() {
        let model = Model::from_counts(&[1, 2, 3]);
        let table = model.decoding_table();
        let mut encoder = Encoder::default();
        for index in 0..1000 {
            encoder.class(&model, index % 3);
        }
        let mut bytes = Vec::new();
        encoder.write(&mut bytes);
        let decode = |bytes: &[u8]| -> Result<()> {
            let mut decoder = Decoder::new(bytes)?;
            for _ in 0..1000 {
                decoder.class(&table);
            }
            decoder.finish()
        };
        decode(&bytes).unwrap();
        assert!(decode(&bytes[..bytes.len() - 4]).is_err());
        assert!(decode(&bytes[..bytes.len() - 1]).is_err());
        assert!(decode(&[&bytes[..], &[0; 4]].concat()).is_err());
        assert!(decode(&[]).is_err());
    }
}
