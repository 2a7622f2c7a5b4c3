//! Words drawn at random: each word occurrence is as likely as any other, and draws do not depend on each other.
//!
//! A draw is the number of a word in the text; the way to it is that to any place. The same seed draws the same words
//! from the same documents, on any machine and with any index.

use rayon::prelude::*;
use tadoc_core::{Share, parallel, usize_of};

use super::pipeline::{GROUP, Pipeline, Request};
use super::segment::Measure;
use super::tokens::leading_space;
use super::walk::{Opened, Reader};
use super::{Access, Part, Scope};
use crate::error::{Error, Result};

/// A word that was drawn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sampled {
    /// The archive that it was drawn from: its place among those asked.
    pub archive: usize,
    /// The document's number.
    pub document: u32,
    /// Where the word starts in it.
    pub offset: u64,
    /// The word.
    pub word: Vec<u8>,
}

impl Sampled {
    /// Bytes of memory that it takes.
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.word.len()
    }
}

/// What memory is taken for, in errors.
const WHAT: &str = "the words drawn";

/// Draws that are given at a time.
const VISITED_AT_ONCE: u64 = 1 << 16;

/// Draws that a thread looks up at a time.
const DRAWN_AT_ONCE: usize = 1 << 12;

/// A draw of words that is pulled, some thousands at a time, and that borrows nothing.
///
/// Each word occurrence of all scopes is as likely as any other, and draws do not depend on each other (one may
/// come twice); none if there is no word. O(depth) each. The same words are drawn from one archive that has all the
/// documents, if they are in the same order there.
#[derive(Debug)]
pub struct Draws {
    /// Of each archive.
    stretches: Vec<Vec<Stretch>>,
    random: Random,
    undrawn: u64,
}

impl Draws {
    /// A draw of so many words, of which none is drawn yet.
    ///
    /// # Errors
    /// [`Error::BadChoice`](crate::Error::BadChoice) if a scope has documents that are not there.
    pub fn new(archives: &[(&Access, &Scope)], count: u64, seed: u64) -> Result<Self> {
        let stretches = archives.iter().map(|(access, scope)| access.stretches(scope));
        let stretches: Vec<Vec<Stretch>> = stretches.collect::<Result<_>>()?;
        let is_empty = stretches.iter().all(|stretches| words_of(stretches) == 0);
        let undrawn = if is_empty { 0 } else { count };
        Ok(Self { stretches, random: Random::new(seed), undrawn })
    }

    /// The next words, in the order drawn; `None` at the end. `archives` are those that the draw was made for.
    ///
    /// # Errors
    /// What reading the archives gives.
    pub fn next<'a>(
        &mut self,
        archives: impl IntoIterator<Item = &'a Access>,
    ) -> Result<Option<Vec<Sampled>>> {
        if self.undrawn == 0 {
            return Ok(None);
        }
        let now = self.undrawn.min(VISITED_AT_ONCE);
        self.undrawn -= now;
        let total = self.stretches.iter().map(|own| words_of(own)).fold(0, u64::saturating_add);
        // In the order of the text, draws that are near each other find the same memory.
        let mut draws: Vec<(u64, u64)> =
            (0..now).map(|number| (self.random.below(total), number)).collect();
        draws.par_sort_unstable();
        let mut sampled = vec![Sampled::default(); draws.len()];
        let (mut left, mut first) = (&mut draws[..], 0);
        for (archive, (access, stretches)) in archives.into_iter().zip(&self.stretches).enumerate()
        {
            let end = first + words_of(stretches);
            let (own, later) = left.split_at_mut(left.partition_point(|(draw, _)| *draw < end));
            left = later;
            own.iter_mut().for_each(|(draw, _)| *draw -= first);
            let found = access.words_of(stretches, own)?;
            for ((_, number), word) in own.iter().zip(found) {
                sampled[usize_of(*number)] = Sampled { archive, ..word };
            }
            first = end;
        }
        Ok(Some(sampled))
    }
}

/// The words of [`Draws`], all at once.
///
/// # Errors
/// As [`Draws::new`] and [`Draws::next`], and where the words are more than the memory allowed for the first archive.
pub fn sample(archives: &[(&Access, &Scope)], count: u64, seed: u64) -> Result<Vec<Sampled>> {
    let Some((first, _)) = archives.first() else { return Ok(Vec::new()) };
    let taken = first.corpus.budget().share();
    let mut all = Vec::new();
    let mut draws = Draws::new(archives, count, seed)?;
    while let Some(mut words) = draws.next(archives.iter().map(|(access, _)| *access))? {
        taken.grow(words.iter().map(Sampled::bytes).sum::<usize>() as u64, WHAT)?;
        all.append(&mut words);
    }
    Ok(all)
}

impl Access {
    /// Draws words of this archive: [`sample`] for one.
    ///
    /// # Errors
    /// As [`sample`].
    pub fn sample(&self, count: u64, seed: u64, scope: &Scope) -> Result<Vec<Sampled>> {
        sample(&[(self, scope)], count, seed)
    }

    /// The words of some numbers within stretches, ascending.
    fn words_of(&self, stretches: &[Stretch], draws: &[(u64, u64)]) -> Result<Vec<Sampled>> {
        let taken = self.corpus.budget().share();
        let chunks: Vec<&[(u64, u64)]> = draws.chunks(DRAWN_AT_ONCE).collect();
        let make = || (Reader::new(self), Pipeline::default());
        let found = parallel::map_with(&make, chunks.len(), &|(reader, pipeline), chunk| {
            let mut words = Vec::with_capacity(chunks[chunk].len());
            for group in chunks[chunk].chunks(GROUP) {
                self.words_at(stretches, group, reader, pipeline, &taken, &mut words)?;
            }
            Ok(words)
        });
        Ok(found.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
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
            let words = slices.before(Measure::Words, end).saturating_sub(in_segment);
            stretches.push(Stretch { segment: number, in_segment, words_before, words });
            words_before += words;
        }
        Ok(stretches)
    }

    /// The words of some numbers, ascending.
    fn words_at(
        &self,
        stretches: &[Stretch],
        draws: &[(u64, u64)],
        reader: &mut Reader<'_>,
        pipeline: &mut Pipeline,
        taken: &Share,
        words: &mut Vec<Sampled>,
    ) -> Result<()> {
        let stretch_of = |draw: u64| {
            let behind = stretches.partition_point(|stretch| stretch.words_before <= draw);
            &stretches[behind - 1]
        };
        let in_one_segment = |one: &(u64, u64), other: &(u64, u64)| {
            stretch_of(one.0).segment == stretch_of(other.0).segment
        };
        for draws in draws.chunk_by(in_one_segment) {
            let number = stretch_of(draws[0].0).segment;
            let Opened { segment, slices } = reader.open(number)?;
            let request = |&(draw, _): &(u64, u64)| {
                let stretch = stretch_of(draw);
                let number = stretch.in_segment + (draw - stretch.words_before);
                Request { number, end: slices.root_length(), length: 0 }
            };
            let requests: Vec<Request> = draws.iter().map(request).collect();
            let ways = pipeline.go(segment, slices, Measure::Words, &requests);
            ways.iter().for_each(|way| way.prefetch_bytes(segment, slices));
            let parts = self.parts_of_segment(number);
            for way in ways {
                let missing = || Error::malformed("the index: a word is not where it is announced");
                let (token, text) = way.token().ok_or_else(missing)?;
                let bytes = segment.token(token)?;
                taken.grow((bytes.len() + 2 * size_of::<Sampled>()) as u64, WHAT)?;
                let space = leading_space(bytes);
                let behind = parts.partition_point(|part| part.text_start <= text);
                let part = parts[behind - 1];
                let offset = text - part.text_start + part.offset + space as u64;
                words.push(Sampled {
                    archive: 0,
                    document: part.document,
                    offset,
                    word: bytes[space..].to_vec(),
                });
            }
        }
        Ok(())
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

/// How many words stretches have.
fn words_of(stretches: &[Stretch]) -> u64 {
    stretches.last().map_or(0, |stretch| stretch.words_before + stretch.words)
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
    #[expect(clippy::cast_possible_truncation, reason = "each half is used on its own")]
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
