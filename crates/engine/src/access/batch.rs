//! Batches: many operations at once, on all threads, with their results in order.
//!
//! Operations of one kind are put together: extracts in the order of the text, searches segment by segment with postings
//! that they share. A backend that answers batches elsewhere takes the same operations and gives the same outcomes.

use rayon::prelude::*;

use super::occurrences::Occurrences;
use super::phrase::Phrase;
use super::postings::{Postings, Reached};
use super::sample::Sampled;
use super::search::SegmentSearch;
use super::walk::Extractor;
use super::{Access, Part, Scope};
use crate::analyzer::Analyzer;
use crate::error::Result;

/// One operation of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// At most `length` bytes of a document from `offset` on.
    Extract {
        /// The document's number.
        document: u32,
        /// Where they start.
        offset: u64,
        /// How many.
        length: u64,
    },
    /// Where a word or phrase is.
    Search {
        /// The document's number, or all documents.
        document: Option<u32>,
        /// The word or phrase, as [`Access::phrase`] takes it.
        phrase: Vec<u8>,
    },
    /// How often a word or phrase occurs.
    Count {
        /// The document's number, or all documents.
        document: Option<u32>,
        /// The word or phrase, as [`Access::phrase`] takes it.
        phrase: Vec<u8>,
    },
    /// Words drawn at random.
    Sample {
        /// The document's number, or all documents.
        document: Option<u32>,
        /// How many.
        count: u64,
        /// What the draw depends on.
        seed: u64,
    },
}

/// What came of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Of [`Operation::Extract`].
    Bytes(Vec<u8>),
    /// Of [`Operation::Search`]: documents in which it is, ascending, with offsets, ascending.
    Offsets(Vec<(u32, Vec<u64>)>),
    /// Of [`Operation::Count`].
    Count(u64),
    /// Of [`Operation::Sample`], in the order drawn.
    Words(Vec<Sampled>),
}

/// Operations that a thread runs at a time.
const RUN_AT_ONCE: usize = 256;

/// From so many searches on, postings are made for them.
const MANY_SEARCHES: usize = 16;

/// From so many words on that are looked up, all words get a table to be looked up in.
const MANY_WORDS: usize = 1 << 10;

fn scope(document: Option<u32>) -> Scope {
    document.map_or(Scope::All, |document| Scope::Documents(vec![document]))
}

impl Access<'_> {
    /// Runs operations on all threads of the pool that it is called in, and gives their results in the same order; one that fails
    /// does not stop the others. Memory: the results, and while there are searches the postings of one segment.
    pub fn run(&self, operations: &[Operation]) -> Vec<Result<Outcome>> {
        let words = operations.iter().filter(|operation| operation.phrase().is_some()).count();
        if words >= MANY_WORDS
            && let Err(error) = self.load_words()
        {
            // Whoever needs the words meets the error again.
            drop(error);
        }
        let mut results: Vec<Option<Result<Outcome>>> = Vec::new();
        results.resize_with(operations.len(), || None);
        let mut in_order: Vec<u32> = (0..operations.len() as u32).collect();
        in_order.par_sort_by_key(|&number| operations[number as usize].order());
        let done: Vec<Vec<(u32, Result<Outcome>)>> = in_order
            .par_chunks(RUN_AT_ONCE)
            .map_init(Extractor::default, |extractor, chunk| {
                let run = |&number: &u32| {
                    let result = self.run_alone(&operations[number as usize], extractor)?;
                    Some((number, result))
                };
                chunk.iter().filter_map(run).collect()
            })
            .collect();
        for (number, result) in done.into_iter().flatten() {
            results[number as usize] = Some(result);
        }
        self.run_searches(operations, &mut results);
        results.into_iter().map(|result| result.expect("all operations were run")).collect()
    }

    fn load_words(&self) -> Result<()> {
        (0..self.segment_count()).try_for_each(|number| self.segment(number)?.tokens().load_table())
    }

    /// Runs an operation, unless it is a search.
    fn run_alone(
        &self,
        operation: &Operation,
        extractor: &mut Extractor,
    ) -> Option<Result<Outcome>> {
        Some(match operation {
            Operation::Search { .. } => return None,
            &Operation::Extract { document, offset, length } => {
                let mut bytes = Vec::new();
                self.read(document, offset, length, extractor, &mut bytes)
                    .map(|()| Outcome::Bytes(bytes))
            }
            Operation::Count { document, phrase } => self
                .phrase(phrase, &Analyzer::new())
                .and_then(|phrase| self.count(&phrase, &scope(*document)))
                .map(Outcome::Count),
            &Operation::Sample { document, count, seed } => {
                self.sample(count, seed, &scope(document)).map(Outcome::Words)
            }
        })
    }

    /// Runs all searches, segment by segment.
    fn run_searches(&self, operations: &[Operation], results: &mut [Option<Result<Outcome>>]) {
        let mut searches = Vec::new();
        for (number, operation) in operations.iter().enumerate() {
            let Operation::Search { document, phrase } = operation else { continue };
            match self.prepare(*document, phrase) {
                Ok(search) => searches.push((number, search)),
                Err(error) => results[number] = Some(Err(error)),
            }
        }
        let few = searches.len() < MANY_SEARCHES;
        for number in 0..self.segment_count() {
            let postings = match few {
                true => None,
                false => match self.segment(number).and_then(|segment| segment.slices()) {
                    Ok(slices) => Some(Postings::new(slices)),
                    // Whoever searches in this segment meets the error again.
                    Err(_) => None,
                },
            };
            searches.par_iter_mut().for_each_init(
                <(Reached, Occurrences)>::default,
                |room, (_, search)| {
                    if search.failed.is_none()
                        && let Err(error) =
                            self.search_segment(number, search, postings.as_ref(), room)
                    {
                        search.failed = Some(error);
                    }
                },
            );
        }
        for (number, search) in searches {
            results[number] = Some(match search.failed {
                Some(error) => Err(error),
                None => Ok(Outcome::Offsets(search.found)),
            });
        }
    }

    fn prepare(&self, document: Option<u32>, phrase: &[u8]) -> Result<Search> {
        let phrase = self.phrase(phrase, &Analyzer::new())?;
        let parts = match document {
            Some(document) => Some(self.parts_of_document(document)?.to_vec()),
            None => None,
        };
        let pivot = self.pivot(&phrase, parts.as_deref().unwrap_or(&self.parts))?;
        Ok(Search { phrase, pivot, parts, found: Vec::new(), failed: None })
    }

    fn search_segment(
        &self,
        number: usize,
        search: &mut Search,
        postings: Option<&Postings>,
        room: &mut (Reached, Occurrences),
    ) -> Result<()> {
        let of_document;
        let parts = match &search.parts {
            None => self.parts_of_segment(number),
            Some(parts) => {
                of_document = parts
                    .iter()
                    .filter(|part| part.segment as usize == number)
                    .copied()
                    .collect::<Vec<_>>();
                &of_document
            }
        };
        if parts.is_empty() {
            return Ok(());
        }
        let of_segment = SegmentSearch::new(self, number, &search.phrase, search.pivot)?;
        match postings {
            Some(postings) => of_segment.by_postings(parts, postings, room, &mut search.found),
            None => of_segment.by_scan(parts, &mut room.1, &mut search.found),
        }
    }
}

/// A search on its way.
struct Search {
    phrase: Phrase,
    pivot: usize,
    /// The parts to look at, or all.
    parts: Option<Vec<Part>>,
    found: Vec<(u32, Vec<u64>)>,
    failed: Option<crate::Error>,
}

impl Operation {
    fn phrase(&self) -> Option<&[u8]> {
        match self {
            Self::Search { phrase, .. } | Self::Count { phrase, .. } => Some(phrase),
            Self::Extract { .. } | Self::Sample { .. } => None,
        }
    }

    /// Operations that touch the same memory are run one after the other.
    fn order(&self) -> (u8, u64, u64) {
        match self {
            Self::Extract { document, offset, .. } => (0, (*document).into(), *offset),
            Self::Count { document, .. } => (1, document.map_or(0, Into::into), 0),
            Self::Search { .. } => (2, 0, 0),
            Self::Sample { .. } => (3, 0, 0),
        }
    }
}
