//! The second entropy coder of the format: binary decisions, each predicted by several adaptive estimates
//! that a small network weighs against each other (context mixing, after M. Mahoney's PAQ family).
//!
//! It learns as it goes, on both sides alike: no model is stored, and a stream can only be decoded in order.
//! All arithmetic is on integers, so that every machine decodes the same. Cost: a row of memory for
//! each estimate of a decision.

use std::sync::LazyLock;

use crate::error::{Error, Result};

/// Codes one decision: an encoder takes `bit` and gives it back, a decoder gives the one it finds.
/// `probability` is that of a one, in units of 2^-16, neither 0 nor 2^16.
pub(crate) trait BitCoder {
    fn code(&mut self, bit: bool, probability: u32) -> bool;

    /// Codes bits at even odds, the highest of `count` first.
    #[inline(always)]
    fn bits(&mut self, value: u32, count: u32) -> u32 {
        let even = 1 << 15;
        let bit = |index| value >> index & 1 == 1;
        (0..count).rev().fold(0, |coded, index| coded << 1 | u32::from(self.code(bit(index), even)))
    }
}

/// Writes decisions.
pub(crate) struct BitEncoder {
    low: u32,
    high: u32,
    bytes: Vec<u8>,
}

impl BitEncoder {
    pub(crate) fn new() -> Self {
        Self { low: 0, high: u32::MAX, bytes: Vec::new() }
    }

    /// The bytes, with enough at the end to tell the last decision.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.bytes.extend_from_slice(&self.high.to_be_bytes());
        self.bytes
    }
}

fn middle(low: u32, high: u32, probability: u32) -> u32 {
    low + ((u64::from(high - low) * u64::from(probability)) >> 16) as u32
}

impl BitCoder for BitEncoder {
    #[inline]
    fn code(&mut self, bit: bool, probability: u32) -> bool {
        let middle = middle(self.low, self.high, probability);
        if bit {
            self.high = middle;
        } else {
            self.low = middle + 1;
        }
        while (self.low ^ self.high) >> 24 == 0 {
            self.bytes.push((self.high >> 24) as u8);
            self.low <<= 8;
            self.high = self.high << 8 | 255;
        }
        bit
    }
}

/// Reads decisions.
pub(crate) struct BitDecoder<'a> {
    low: u32,
    high: u32,
    value: u32,
    bytes: std::slice::Iter<'a, u8>,
    /// Bytes taken beyond the end.
    missing: u32,
}

impl<'a> BitDecoder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let mut decoder =
            Self { low: 0, high: u32::MAX, value: 0, bytes: bytes.iter(), missing: 0 };
        for _ in 0..4 {
            decoder.value = decoder.value << 8 | decoder.byte();
        }
        decoder
    }

    #[inline]
    fn byte(&mut self) -> u32 {
        match self.bytes.next() {
            Some(&byte) => byte.into(),
            None => {
                self.missing = self.missing.saturating_add(1);
                0
            }
        }
    }

    /// Whether more was read than is there: what was decoded is then void.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.missing > 0
    }

    /// Fails unless the bytes were read exactly to their end.
    pub(crate) fn finish(self) -> Result<()> {
        if self.is_exhausted() || !self.bytes.as_slice().is_empty() {
            return Err(Error::malformed("a mixed stream does not end where its content does"));
        }
        Ok(())
    }
}

impl BitCoder for BitDecoder<'_> {
    #[inline]
    fn code(&mut self, _: bool, probability: u32) -> bool {
        let middle = middle(self.low, self.high, probability);
        let bit = self.value <= middle;
        if bit {
            self.high = middle;
        } else {
            self.low = middle + 1;
        }
        while (self.low ^ self.high) >> 24 == 0 {
            self.low <<= 8;
            self.high = self.high << 8 | 255;
            self.value = self.value << 8 | self.byte();
        }
        bit
    }
}

/// Probabilities of the network: 12 bits.
const PROBABILITY_BITS: u32 = 12;
/// The logistic domain reaches from -2047 to 2047, in steps of 1/256.
const DOMAIN: i32 = 2047;

/// `4096 / (1 + e^(-x / 256))` at x = -2048, -1920, ... 2048; between, it is interpolated.
const LOGISTIC: [i32; 33] = [
    1, 2, 3, 6, 10, 16, 27, 45, 73, 120, 194, 310, 488, 747, 1101, 1546, 2047, 2549, 2994, 3348,
    3607, 3785, 3901, 3975, 4022, 4050, 4068, 4079, 4085, 4089, 4092, 4093, 4094,
];

/// From the logistic domain to a probability in 1..=4095.
fn squash(value: i32) -> i32 {
    let value = value.clamp(-DOMAIN, DOMAIN) + 2048;
    let (index, weight) = ((value >> 7) as usize, value & 127);
    (LOGISTIC[index] * (128 - weight) + LOGISTIC[index + 1] * weight + 64) >> 7
}

/// A number for each probability, or for each value of the logistic domain and one before it.
type Table = [i16; 1 << PROBABILITY_BITS];

/// [`squash`] of all values from -2048 on.
static SQUASH: LazyLock<Table> =
    LazyLock::new(|| std::array::from_fn(|value| squash(value as i32 - DOMAIN - 1) as i16));

/// From a probability below 4096 to the logistic domain: the inverse of [`squash`].
static STRETCH: LazyLock<Table> = LazyLock::new(|| {
    let mut table = [DOMAIN as i16; 1 << PROBABILITY_BITS];
    let mut next = 0;
    for value in -DOMAIN..=DOMAIN {
        while next <= squash(value) as usize {
            table[next] = value as i16;
            next += 1;
        }
    }
    table
});

/// An adaptive estimate: the probability of a one in the high 22 bits, how often it was told in the low 8.
#[derive(Clone, Copy)]
pub(crate) struct Estimate(u32);

/// No estimate moves slower than at this count.
const SLOWEST: u32 = 255;

/// How fast estimates and weights move.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    /// Estimates move by `1 / (count + 1.5)`, and never slower than at this count, at most 255.
    pub(crate) slowest: u32,
    /// Weights move by this, in units of 2^-14.
    pub(crate) rate: i32,
}

/// `2^16 / (count + 1.5)`.
static STEPS: LazyLock<[u32; SLOWEST as usize + 1]> =
    LazyLock::new(|| std::array::from_fn(|count| (1 << 17) / (2 * count as u32 + 3)));

impl Estimate {
    pub(crate) const EVEN: Self = Self(1 << 31);

    #[inline(always)]
    fn probability(self) -> usize {
        (self.0 >> 20) as usize
    }

    #[inline(always)]
    fn update(&mut self, bit: bool, slowest: u32, steps: &[u32; SLOWEST as usize + 1]) {
        let count = self.0 & SLOWEST;
        let probability = i64::from(self.0 >> 10);
        let target = if bit { (1 << 22) - 1 } else { 0 };
        let distance = (target - probability) * i64::from(steps[count as usize]);
        let moved = probability + (distance >> 16);
        self.0 = (moved as u32) << 10 | (count + 1).min(slowest);
    }
}

/// Weighs `N` estimates of a decision; several sets of weights, for decisions of several kinds.
#[derive(Clone)]
pub(crate) struct Mixer<const N: usize> {
    weights: Vec<[i32; N]>,
    squash: &'static Table,
    stretch: &'static Table,
    steps: &'static [u32; SLOWEST as usize + 1],
    pace: Pace,
}

/// Weights are in units of 2^-16.
const WEIGHT_BITS: u32 = 16;

impl<const N: usize> Mixer<N> {
    pub(crate) fn new(sets: usize, pace: Pace) -> Self {
        let start = (1 << WEIGHT_BITS) / N as i32 + (1 << (WEIGHT_BITS - 3));
        Self {
            weights: vec![[start; N]; sets],
            squash: &SQUASH,
            stretch: &STRETCH,
            steps: &STEPS,
            pace,
        }
    }

    /// Codes a decision with these estimates and this set of weights, and lets all learn from it. No
    /// probability is below `least`, in units of 2^-12.
    #[inline(always)]
    pub(crate) fn code(
        &mut self,
        coder: &mut impl BitCoder,
        bit: bool,
        set: usize,
        estimates: [&mut Estimate; N],
        least: i32,
    ) -> bool {
        let weights = &mut self.weights[set];
        let mut stretched = [0_i32; N];
        let mut sum = 0_i64;
        for index in 0..N {
            stretched[index] = self.stretch[estimates[index].probability()].into();
            sum += i64::from(stretched[index]) * i64::from(weights[index]);
        }
        let value = (sum >> WEIGHT_BITS).clamp(-i64::from(DOMAIN), DOMAIN.into()) as i32;
        let probability = i32::from(self.squash[(value + DOMAIN + 1) as usize]);
        let probability = probability.clamp(least, (1 << PROBABILITY_BITS) - least);
        let bit = coder.code(bit, (probability as u32) << 4 | 8);
        let error = ((i32::from(bit) << PROBABILITY_BITS) - probability) * self.pace.rate;
        for (index, estimate) in estimates.into_iter().enumerate() {
            // A weight moves by one even when all goes as foretold: 2^31 decisions would take it around.
            let step = (stretched[index] * error + (1 << 13)) >> 14;
            weights[index] = weights[index].saturating_add(step);
            estimate.update(bit, self.pace.slowest, self.steps);
        }
        bit
    }

    /// Codes a decision with one estimate alone, which learns from it.
    #[inline]
    pub(crate) fn code_alone(
        &self,
        coder: &mut impl BitCoder,
        bit: bool,
        estimate: &mut Estimate,
    ) -> bool {
        let bit = coder.code(bit, (estimate.probability().max(1) as u32) << 4 | 8);
        estimate.update(bit, self.pace.slowest, self.steps);
        bit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace { slowest: SLOWEST, rate: 6 };

    #[test]
    fn stretch_is_the_inverse_of_squash() {
        for probability in 1..4095 {
            let back = squash(STRETCH[probability].into());
            assert!((back - probability as i32).abs() <= 1 + back / 64, "{probability} {back}");
        }
        assert!((-2047..2047).all(|value| squash(value) <= squash(value + 1)));
    }

    #[test]
    fn weights_stop_at_their_limits() {
        let mut mixer = Mixer::<1>::new(1, PACE);
        let mut estimate = Estimate(u32::MAX << 10);
        mixer.weights[0] = [i32::MAX];
        assert!(mixer.code(&mut BitEncoder::new(), true, 0, [&mut estimate], 1));
        assert_eq!(mixer.weights[0], [i32::MAX]);
        mixer.weights[0] = [i32::MIN];
        assert!(!mixer.code(&mut BitEncoder::new(), false, 0, [&mut estimate], 1));
        assert_eq!(mixer.weights[0], [i32::MIN]);
    }

    #[test]
    fn decisions_come_back_and_what_is_regular_is_cheap() {
        let bits: Vec<bool> =
            (0..100_000_u32).map(|index| index % 7 == 0 || index % 1000 == 1).collect();
        let run = |coder: &mut dyn FnMut(bool, u32) -> bool| -> Vec<bool> {
            struct Coder<'c>(&'c mut dyn FnMut(bool, u32) -> bool);
            impl BitCoder for Coder<'_> {
                fn code(&mut self, bit: bool, probability: u32) -> bool {
                    (self.0)(bit, probability)
                }
            }
            let mut mixer = Mixer::<2>::new(1, PACE);
            let mut tables = [vec![Estimate::EVEN; 7], vec![Estimate::EVEN; 1]];
            let mut coder = Coder(coder);
            bits.iter()
                .enumerate()
                .map(|(index, &bit)| {
                    let [first, second] = &mut tables;
                    let estimates = [&mut first[index % 7], &mut second[0]];
                    mixer.code(&mut coder, bit, 0, estimates, 1)
                })
                .collect()
        };
        let mut encoder = BitEncoder::new();
        run(&mut |bit, probability| encoder.code(bit, probability));
        let bytes = encoder.finish();
        assert!(bytes.len() < 400, "{} bytes", bytes.len());
        let mut decoder = BitDecoder::new(&bytes);
        assert!(run(&mut |_, probability| decoder.code(false, probability)) == bits);
        decoder.finish().unwrap();
        let mut short = BitDecoder::new(&bytes[..bytes.len() - 5]);
        run(&mut |_, probability| short.code(false, probability));
        assert!(short.is_exhausted());
    }
}
