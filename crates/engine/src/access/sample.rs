//! Words drawn at random: each word occurrence is as likely as any other, and draws do not depend on each other.
//!
//! A draw is the number of a word in the text; the way to it is that to any place. The same seed draws the same words
//! from the same documents, on any machine and with any index.

use rayon::prelude::*;

use super::segment::Measure;
use super::{Access, Part, Scope};
use crate::error::Result;

/// A word that was drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampled {
    /// The document's number.
    pub document: u32,
    /// Where the word starts in it.
    pub offset: u64,
    /// The word.
    pub word: Vec<u8>,
}

/// Draws that a thread looks up at a time.
const DRAWN_AT_ONCE: usize = 1 << 12;

impl Access<'_> {
    /// Draws words, each word occurrence of the scope being as likely as any other, independently of each other (one may
    /// come twice); none if there is no word. O(depth) each.
    ///
    /// # Errors
    /// [`Error::BadChoice`](crate::Error::BadChoice) if the scope has documents that are not there.
    pub fn sample(&self, count: u64, seed: u64, scope: &Scope) -> Result<Vec<Sampled>> {
        let stretches = self.stretches(scope)?;
        let total = stretches.last().map_or(0, |stretch| stretch.words_before + stretch.words);
        if total == 0 {
            return Ok(Vec::new());
        }
        let mut random = Random::new(seed);
        let draws: Vec<u64> = (0..count).map(|_| random.below(total)).collect();
        // In the order of the text, draws that are near each other find the same memory.
        let mut order: Vec<u32> = Vec::new();
        if let Ok(count) = u32::try_from(count) {
            order.extend(0..count);
            order.par_sort_unstable_by_key(|&draw| draws[draw as usize]);
        }
        if order.is_empty() {
            return draws.par_iter().map(|&draw| self.word_at(&stretches, draw)).collect();
        }
        let found: Vec<Vec<Sampled>> = order
            .par_chunks(DRAWN_AT_ONCE)
            .map(|chunk| {
                chunk.iter().map(|&draw| self.word_at(&stretches, draws[draw as usize])).collect()
            })
            .collect::<Result<_>>()?;
        let mut sampled = vec![None; order.len()];
        for (&draw, word) in order.iter().zip(found.into_iter().flatten()) {
            sampled[draw as usize] = Some(word);
        }
        Ok(sampled.into_iter().map(|word| word.expect("every draw was looked up")).collect())
    }

    /// Runs of places of roots that a scope has, with the words before each.
    fn stretches(&self, scope: &Scope) -> Result<Vec<Stretch>> {
        let mut stretches: Vec<Stretch> = Vec::new();
        let mut words_before = 0;
        let runs: Vec<(usize, Part, Part)> = match scope {
            Scope::All => {
                let segments = 0..self.segment_count();
                let of = segments.filter_map(|number| {
                    let parts = self.parts_of_segment(number);
                    Some((number, *parts.first()?, *parts.last()?))
                });
                of.collect()
            }
            Scope::Documents(_) => {
                let parts = self.parts_of_scope(scope)?.into_iter();
                parts.map(|part| (part.segment as usize, part, part)).collect()
            }
        };
        for (number, first, last) in runs {
            let segment = self.segment(number)?;
            let slices = segment.slices()?;
            let start = segment.document_root(first.place as usize).start;
            let end = segment.document_root(last.place as usize).end;
            let in_segment = slices.before(Measure::Words, start);
            let words = slices.before(Measure::Words, end) - in_segment;
            stretches.push(Stretch { segment: number, in_segment, words_before, words });
            words_before += words;
        }
        Ok(stretches)
    }

    /// The word of a number.
    fn word_at(&self, stretches: &[Stretch], number: u64) -> Result<Sampled> {
        let behind = stretches.partition_point(|stretch| stretch.words_before <= number);
        let stretch = &stretches[behind - 1];
        let segment = self.segment(stretch.segment)?;
        let slices = segment.slices()?;
        let number = stretch.in_segment + (number - stretch.words_before);
        let found = slices.locate(Measure::Words, number);
        let symbol = slices.root(found.place);
        let (token, _, inner) = slices.descend(Measure::Words, symbol, number - found.before);
        let bytes = segment.token(token)?;
        let space = super::tokens::leading_space(bytes);
        let text = slices.before(Measure::Bytes, found.place) + inner;
        let parts = self.parts_of_segment(stretch.segment);
        let part = parts[parts.partition_point(|part| part.text_start <= text) - 1];
        let offset = text - part.text_start + part.offset + space as u64;
        Ok(Sampled { document: part.document, offset, word: bytes[space..].to_vec() })
    }
}

/// Places of the root of one segment.
#[derive(Debug)]
struct Stretch {
    segment: usize,
    /// Words of the segment before it.
    in_segment: u64,
    /// Words of the scope before it.
    words_before: u64,
    words: u64,
}

/// Numbers that look drawn: SplitMix64, which any seed is good for.
#[derive(Debug, Clone)]
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// A number below a limit, each as likely as any other: those that would make some likelier are drawn again.
    fn below(&mut self, limit: u64) -> u64 {
        let refused = limit.wrapping_neg() % limit;
        loop {
            let product = u128::from(self.next()) * u128::from(limit);
            if product as u64 >= refused {
                return (product >> 64) as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_published_generator() {
        // The first numbers of SplitMix64 for the seed 1234567, as its authors' test has them.
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn numbers_below_a_limit_are_evenly_drawn() {
        let mut random = Random::new(7);
        let mut counts = [0_u32; 6];
        (0..60_000).for_each(|_| counts[random.below(6) as usize] += 1);
        // Six standard deviations of a count are 550.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 550), "{counts:?}");
    }
}
