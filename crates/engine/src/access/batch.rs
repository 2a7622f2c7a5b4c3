//! Batches: many operations at once, on all threads, with their results in order.
//!
//! Operations of one kind are put together: extracts in the order of the text, searches segment by segment with postings
//! that they share. A backend that answers batches elsewhere takes the same operations and gives the same outcomes.

use std::sync::atomic::Ordering;

use rayon::prelude::*;
use tadoc_core::{Share, usize_of};

use super::phrase::Phrase;
use super::pipeline::{GROUP, Pipeline, Request};
use super::postings::Postings;
use super::sample::Sampled;
use super::search::SegmentSearch;
use super::segment::Measure;
use super::walk::{Opened, ROOM, Reader};
use super::{Access, Part, Scope};
use crate::analyzer::Analyzer;
use crate::error::Result;

/// One operation of a batch. Documents are given by their numbers; `None` means all of them.
#[expect(missing_docs, reason = "variants say what fields are")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// At most `length` bytes of a document from `offset` on.
    Extract { document: u32, offset: u64, length: u64 },
    /// Where a word or phrase is, as [`Access::phrase`] takes it.
    Search { document: Option<u32>, phrase: Vec<u8> },
    /// How often a word or phrase occurs, as [`Access::phrase`] takes it.
    Count { document: Option<u32>, phrase: Vec<u8> },
    /// So many words drawn at random; the draw depends on `seed`.
    Sample { document: Option<u32>, count: u64, seed: u64 },
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

/// Stretches of the text in whose order operations are run.
const BUCKETS: usize = 1 << 12;

/// Operations that a thread runs at a time, at the most.
const RUN_AT_ONCE: usize = 256;

/// So many times for each thread, so that a few operations are shared by all threads, too.
const TIMES_A_THREAD: usize = 8;

/// Extracts of at most so many bytes are run in groups.
const LONGEST_IN_GROUP: u64 = 1 << 10;

/// From so many searches in all documents on, postings are made for them, and of those in one document signatures.
const MANY_SEARCHES: usize = 16;

/// Making postings costs as much as looking at all symbols so often: then they are made for these, too.
const LOOKS_POSTED: u64 = 12;

/// From so many counts in all documents on, the documents of all words are derived if they are not stored.
const MANY_COUNTS: usize = 64;

/// Deriving them costs as much as looking at all symbols so often: from then on they are derived for counts in one document, too.
const LOOKS_DERIVED: u64 = 32;

/// Where a symbol has more bytes of text than so many, the documents of words are not derived from the text.
const MOST_TEXT_PER_SYMBOL: u64 = 1 << 12;

/// From so many words on that are looked up, all words get a table to be looked up in.
const MANY_WORDS: usize = 1 << 10;

fn scope(document: Option<u32>) -> Scope {
    document.map_or(Scope::All, |document| Scope::Documents(vec![document]))
}

impl Access {
    /// Runs operations on all threads of the pool that it is called in, and gives their results in the same order; one that fails
    /// does not stop the others. Memory: the results, and while there are many searches the postings of one segment, which are kept
    /// where there is memory to spare, as signatures are.
    pub fn run(&self, operations: &[Operation]) -> Vec<Result<Outcome>> {
        let words = operations.iter().filter(|operation| operation.phrase().is_some()).count();
        // Whoever needs what could not be loaded meets the error again.
        if words >= MANY_WORDS {
            let _ =
                (0..self.segment_count()).try_for_each(|number| self.segment(number)?.load_words());
        }
        if !self.counts_words() && self.are_many_counts(operations) {
            let _ = self.derive_counts();
        }
        let mut results: Vec<Option<Result<Outcome>>> = operations.iter().map(|_| None).collect();
        let at_once = operations.len() / (TIMES_A_THREAD * rayon::current_num_threads());
        let done: Vec<Vec<(u32, Result<Outcome>)>> = self
            .in_order(operations)
            .par_chunks(at_once.clamp(1, RUN_AT_ONCE))
            .map_init(
                || (Reader::new(self), Pipeline::default()),
                |(reader, pipeline), chunk| {
                    let mut done = Vec::with_capacity(chunk.len());
                    for run in chunk.chunk_by(|&one, &other| {
                        let kind =
                            |number: u32| std::mem::discriminant(&operations[number as usize]);
                        kind(one) == kind(other)
                    }) {
                        let is_extract = |&number: &u32| {
                            matches!(operations[number as usize], Operation::Extract { .. })
                        };
                        if run.first().is_some_and(is_extract) {
                            self.run_extracts(operations, run, reader, pipeline, &mut done);
                            continue;
                        }
                        for &number in run {
                            let result = self.run_alone(&operations[number as usize], reader);
                            done.extend(result.map(|result| (number, result)));
                        }
                    }
                    done
                },
            )
            .collect();
        for (number, result) in done.into_iter().flatten() {
            results[number as usize] = Some(result);
        }
        self.run_searches(operations, &mut results);
        results.into_iter().map(|result| result.expect("all operations were run")).collect()
    }

    /// The numbers of operations, so that those that touch the same memory are run one after the other. Roughly in the order of
    /// the text: a finer order would cost more than it saves.
    fn in_order(&self, operations: &[Operation]) -> Vec<u32> {
        let bucket_of = |operation: &Operation| {
            // Extracts first, so that they come in groups.
            let (kind, document, offset) = match *operation {
                Operation::Extract { document, offset, .. } => (0, Some(document), offset),
                Operation::Count { document, .. } => (1, document, 0),
                Operation::Search { .. } | Operation::Sample { .. } => (2, None, 0),
            };
            let part = document.and_then(|document| self.part_at(document, offset).ok()?);
            let Some(Part { segment, text_start, offset: first, .. }) = part else {
                return kind * BUCKETS;
            };
            let text = self.segment_starts[segment as usize] + text_start + (offset - first);
            let total = self.corpus.summary().text_bytes;
            let share = text as f64 / total.max(1) as f64;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share of the buckets, and the last one at most"
            )]
            let bucket = ((share * BUCKETS as f64) as usize).min(BUCKETS - 1);
            kind * BUCKETS + bucket
        };
        let buckets: Vec<usize> = operations.iter().map(bucket_of).collect();
        let mut starts = vec![0_u32; 3 * BUCKETS + 1];
        buckets.iter().for_each(|&bucket| starts[bucket + 1] += 1);
        for bucket in 0..3 * BUCKETS {
            starts[bucket + 1] += starts[bucket];
        }
        let mut in_order = vec![0; operations.len()];
        for (number, bucket) in (0..).zip(buckets) {
            in_order[starts[bucket] as usize] = number;
            starts[bucket] += 1;
        }
        in_order
    }

    /// Whether counting without the documents of words costs about as much as deriving them, with what was counted before.
    fn are_many_counts(&self, operations: &[Operation]) -> bool {
        let (mut in_all, mut looked_at) = (0, 0);
        for operation in operations {
            match operation {
                Operation::Count { document: None, .. } => in_all += 1,
                Operation::Count { document: Some(document), .. } => {
                    looked_at += self.symbols_of_document(*document);
                }
                _ => {}
            }
        }
        let before = self.counted.fetch_add(looked_at, Ordering::Relaxed);
        in_all >= MANY_COUNTS
            || looked_at > 0
                && before + looked_at >= self.stored_symbols().saturating_mul(LOOKS_DERIVED)
    }

    /// About how many symbols a document has: its share of all; none if it is not there.
    #[expect(clippy::cast_possible_truncation, reason = "a share of the symbols")]
    fn symbols_of_document(&self, document: u32) -> u64 {
        let bytes = self.documents().get(document as usize).map_or(0, |document| document.bytes);
        let text_bytes = self.corpus.summary().text_bytes.max(bytes).max(1);
        (u128::from(self.stored_symbols()) * u128::from(bytes) / u128::from(text_bytes)) as u64
    }

    /// Derives the documents of all words, for when many are counted.
    fn derive_counts(&self) -> Result<()> {
        // Of so much text beside its grammar, words are counted on the rules.
        let is_long = |segment: &crate::SegmentInfo| {
            segment.text_bytes / MOST_TEXT_PER_SYMBOL > segment.symbols
        };
        if self.corpus.summary().segments.iter().any(is_long) {
            return Ok(());
        }
        for number in 0..self.segment_count() {
            self.segment(number)?.derive_word_documents()?;
        }
        self.derived_counts.get_or_init(|| ());
        Ok(())
    }

    /// Runs extracts: those within one part of a document in groups, others one by one.
    fn run_extracts(
        &self,
        operations: &[Operation],
        numbers: &[u32],
        reader: &mut Reader<'_>,
        pipeline: &mut Pipeline,
        done: &mut Vec<(u32, Result<Outcome>)>,
    ) {
        let mut group: Vec<(u32, Part, Request)> = Vec::with_capacity(GROUP);
        for &number in numbers {
            let &Operation::Extract { document, offset, length } = &operations[number as usize]
            else {
                unreachable!("only extracts are given")
            };
            let is_whole = |part: &Part| {
                let end = part.offset + part.bytes;
                end - offset >= length || end == self.documents()[document as usize].bytes
            };
            let is_short = length <= LONGEST_IN_GROUP && length > 0;
            let part = self.part_at(document, offset).ok().flatten();
            let Some(part) = part.filter(|part| is_short && is_whole(part)) else {
                let result = self.run_alone(&operations[number as usize], reader);
                done.extend(result.map(|result| (number, result)));
                continue;
            };
            let left = part.offset + part.bytes - offset;
            if group.first().is_some_and(|(_, first, _)| first.segment != part.segment)
                || group.len() == GROUP
            {
                self.run_group(&group, reader, pipeline, done);
                group.clear();
            }
            let text = part.text_start + (offset - part.offset);
            let length = usize_of(length.min(left));
            group.push((number, part, Request { number: text, end: 0, length }));
        }
        self.run_group(&group, reader, pipeline, done);
    }

    /// Runs extracts from one segment together.
    fn run_group(
        &self,
        group: &[(u32, Part, Request)],
        reader: &mut Reader<'_>,
        pipeline: &mut Pipeline,
        done: &mut Vec<(u32, Result<Outcome>)>,
    ) {
        let Some((_, first, _)) = group.first() else { return };
        let Opened { segment, slices } = match reader.open(first.segment as usize) {
            Ok(opened) => opened,
            Err(_) => {
                // Each of them meets the error again, and tells it.
                for (number, part, request) in group {
                    let mut bytes = Vec::new();
                    let read = reader.read_part(part, request.number, request.length, &mut bytes);
                    done.push((*number, read.map(|()| Outcome::Bytes(bytes))));
                }
                return;
            }
        };
        let end = |part: &Part| segment.document_root(part.place as usize).end;
        let requests: Vec<Request> =
            group.iter().map(|(_, part, request)| Request { end: end(part), ..*request }).collect();
        let ways = pipeline.go(segment, slices, Measure::Bytes, &requests);
        ways.iter().for_each(|way| way.prefetch_bytes(segment, slices));
        for ((number, _, request), way) in group.iter().zip(ways) {
            let mut bytes = Vec::with_capacity(request.length + ROOM);
            let result = way.append(segment, slices, request.length, &mut bytes);
            done.push((*number, result.map(|()| Outcome::Bytes(bytes))));
        }
    }

    /// Runs an operation, unless it is a search or counts like one.
    fn run_alone(&self, operation: &Operation, reader: &mut Reader<'_>) -> Option<Result<Outcome>> {
        Some(match operation {
            Operation::Search { .. } => return None,
            &Operation::Extract { document, offset, length } => {
                let mut bytes = Vec::new();
                reader.read(document, offset, length, &mut bytes).map(|()| Outcome::Bytes(bytes))
            }
            Operation::Count { document, phrase } => {
                if !self.counts_words() || !self.is_word(phrase) {
                    return None;
                }
                self.count_word(*document, phrase).map(Outcome::Count)
            }
            &Operation::Sample { document, count, seed } => {
                self.sample(count, seed, &scope(document)).map(Outcome::Words)
            }
        })
    }

    /// How often a word occurs, by its list.
    fn count_word(&self, document: Option<u32>, text: &[u8]) -> Result<u64> {
        match document {
            None => (0..self.segment_count()).try_fold(0_u64, |sum, number| {
                let count = self.segment(number)?.count(text, None)?;
                Ok(count.saturating_add(sum))
            }),
            Some(document) => {
                self.parts_of_document(document)?.iter().try_fold(0_u64, |sum, part| {
                    let count =
                        self.segment(part.segment as usize)?.count(text, Some(part.place))?;
                    Ok(count.saturating_add(sum))
                })
            }
        }
    }

    /// Runs all searches that have no result yet, and what counts like one, segment by segment.
    fn run_searches(&self, operations: &[Operation], results: &mut [Option<Result<Outcome>>]) {
        let mut searches = Vec::new();
        for (number, operation) in operations.iter().enumerate() {
            let (Operation::Search { document, phrase } | Operation::Count { document, phrase }) =
                operation
            else {
                continue;
            };
            if results[number].is_some() {
                continue;
            }
            match self.prepare(*document, phrase) {
                Ok(search) => searches.push((number, search)),
                Err(error) => results[number] = Some(Err(error)),
            }
        }
        // What is to be counted and comes too often to be found.
        let is_counted = |number: usize, search: &Search| {
            let parts = search.parts.as_deref().unwrap_or(&self.parts);
            matches!(operations[number], Operation::Count { .. })
                && self.counts_on_rules(&search.phrase, parts).unwrap_or(false)
        };
        let (counted, mut searches): (Vec<_>, Vec<_>) =
            searches.into_iter().partition(|(number, search)| is_counted(*number, search));
        let counts: Vec<(usize, Result<u64>)> = counted
            .into_par_iter()
            .map(|(number, search)| {
                let scope = scope(operations[number].document());
                (number, self.count(&search.phrase, &scope))
            })
            .collect();
        for (number, count) in counts {
            results[number] = Some(count.map(Outcome::Count));
        }
        let in_all = searches.iter().filter(|(_, search)| search.parts.is_none()).count();
        let of_documents = searches.iter().filter_map(|(number, _)| operations[*number].document());
        let looked_at: u64 = of_documents.map(|document| self.symbols_of_document(document)).sum();
        let many_in_documents = searches.len() - in_all >= MANY_SEARCHES;
        let mut is_asked = vec![in_all > 0; self.segment_count()];
        for part in searches.iter().filter_map(|(_, search)| search.parts.as_ref()).flatten() {
            is_asked[part.segment as usize] = true;
        }
        for number in (0..self.segment_count()).filter(|&number| is_asked[number]) {
            // Whoever searches in this segment meets an error again.
            let shared = self.segment(number).and_then(|segment| {
                let looks = many_in_documents
                    && looked_at < self.stored_symbols().saturating_mul(LOOKS_POSTED)
                    && segment.sign()?;
                let with_postings = in_all >= MANY_SEARCHES || many_in_documents && !looks;
                with_postings.then(|| segment.postings_for_many()).transpose()
            });
            let postings = shared.ok().flatten();
            searches.par_iter_mut().for_each(|(_, search)| {
                if search.failed.is_none()
                    && let Err(error) = self.search_segment(number, search, postings.as_deref())
                {
                    search.failed = Some(error);
                }
            });
        }
        for (number, search) in searches {
            results[number] = Some(match search.failed {
                Some(error) => Err(error),
                None if matches!(operations[number], Operation::Count { .. }) => {
                    let counts = search.found.iter().map(|(_, offsets)| offsets.len() as u64);
                    Ok(Outcome::Count(counts.sum()))
                }
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
        let taken = self.corpus.budget().share();
        Ok(Search { phrase, pivot, parts, found: Vec::new(), taken, failed: None })
    }

    fn search_segment(
        &self,
        number: usize,
        search: &mut Search,
        postings: Option<&Postings>,
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
        let Search { taken, found, .. } = search;
        of_segment.find(parts, postings, &mut of_segment.segment.workspace(), taken, found)
    }
}

/// A search on its way.
struct Search {
    phrase: Phrase,
    pivot: usize,
    /// The parts to look at, or all.
    parts: Option<Vec<Part>>,
    found: Vec<(u32, Vec<u64>)>,
    /// What that takes of the archive's budget.
    taken: Share,
    failed: Option<crate::Error>,
}

impl Operation {
    fn document(&self) -> Option<u32> {
        match *self {
            Self::Extract { document, .. } => Some(document),
            Self::Search { document, .. }
            | Self::Count { document, .. }
            | Self::Sample { document, .. } => document,
        }
    }

    fn phrase(&self) -> Option<&[u8]> {
        match self {
            Self::Search { phrase, .. } | Self::Count { phrase, .. } => Some(phrase),
            Self::Extract { .. } | Self::Sample { .. } => None,
        }
    }
}
