//! From the words of segments to the terms of a view: the analyzer runs once a dictionary entry, and the
//! terms of all segments become one list in byte order.
//!
//! Cost: O(words) calls of the analyzer and a sort where it changes their order, then a tree of merges:
//! each word is compared once for every doubling of the number of segments. Words and terms are unpacked in
//! memory, with 8 bytes each for where they end.

use rayon::prelude::*;
use tadoc_core::archive::{Dictionary, Tokens};
use tadoc_core::parallel::{Idle, for_each, map};
use tadoc_core::view::Terms;
use tadoc_core::{Budget, Spill, SpillVec, usize_of};

use super::NONE;
use crate::analyzer::Analyzer;
use crate::error::Result;

/// Words that a thread analyzes at a time.
const ANALYZED_AT_ONCE: u32 = 1 << 12;

/// Byte strings, one after the other.
#[derive(Debug, Default)]
struct Strings {
    bytes: SpillVec<u8>,
    ends: SpillVec<u64>,
}

impl Strings {
    fn new(spill: &Spill) -> Self {
        Self { bytes: spill.row(), ends: spill.row() }
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    fn get(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.bytes[usize_of(start)..usize_of(self.ends[number])]
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len() as u64);
    }

    fn append(&mut self, other: &Self) {
        let base = self.bytes.len() as u64;
        self.bytes.extend_from_slice(&other.bytes);
        self.ends.extend(other.ends.iter().map(|end| base + end));
    }
}

/// What memory is taken for, in errors.
const WHAT: &str = "the terms of the words";

/// The terms of one segment, or of several: in byte order, each once.
#[derive(Debug)]
pub(super) struct SegmentTerms {
    terms: Strings,
    /// For each segment, for each of its own terms, the number here; `None` where it is the same.
    numbers: Vec<Option<SpillVec<u32>>>,
}

impl SegmentTerms {
    fn new(terms: Strings) -> Self {
        Self { terms, numbers: vec![None] }
    }
}

/// The terms of a segment, and for each token the term's number in it, or [`NONE`].
pub(super) fn of_tokens(
    dictionary: &Dictionary,
    analyzer: &Analyzer,
    text_bytes: u64,
) -> Result<(SegmentTerms, SpillVec<u32>)> {
    // For each token its term.
    let tokens = u64::from(dictionary.token_count());
    let _work = dictionary.budget().take(8 * tokens, WHAT)?;
    // Which word a token has is found beside the words.
    let (words, words_of_tokens) = rayon::join(
        || dictionary.words(text_bytes),
        || dictionary.words_of_tokens(|word| word, NONE),
    );
    let (terms, of_words) = of_words(words?, analyzer, dictionary.budget())?;
    let numbers = match of_words {
        None => words_of_tokens,
        Some(of_words) => dictionary.words_of_tokens(|word| of_words[word as usize], NONE),
    };
    Ok((terms, numbers))
}

/// The terms of words in byte order, and for each word the term's number, or [`NONE`]; `None` where
/// terms are the words.
pub(super) fn of_words(
    words: Tokens,
    analyzer: &Analyzer,
    budget: &Budget,
) -> Result<(SegmentTerms, Option<SpillVec<u32>>)> {
    // For each term its number, and its bytes once more when all are merged.
    let _work = budget.take(2 * words.joined().len() as u64, WHAT)?;
    if analyzer.is_identity() {
        let (bytes, ends, _) = words.into_parts();
        return Ok((SegmentTerms::new(Strings { bytes, ends }), None));
    }
    #[expect(clippy::cast_possible_truncation, reason = "words are numbered in 32 bits")]
    let count = words.len() as u32;
    let (terms, of_words) = analyze(count, |word| words.get(word), analyzer, budget.spill());
    Ok((SegmentTerms::new(terms), Some(of_words)))
}

/// The terms that the terms of another view become, and for each its number, or [`NONE`].
pub(super) fn of_view(
    terms: &Terms,
    analyzer: &Analyzer,
    spill: &Spill,
) -> (SegmentTerms, SpillVec<u32>) {
    if analyzer.is_identity() {
        let mut strings = Strings::new(spill);
        strings.bytes.extend_from_slice(terms.bytes());
        strings.ends.extend_from_slice(terms.ends());
        return (SegmentTerms::new(strings), spill.collect(0..terms.len()));
    }
    let (terms, numbers) = analyze(terms.len(), |term| terms.get(term), analyzer, spill);
    (SegmentTerms::new(terms), numbers)
}

/// The terms that words become, and for each word the number of its term, or [`NONE`].
#[expect(clippy::cast_possible_truncation, reason = "not more terms than words")]
fn analyze<'w>(
    words: u32,
    word: impl Fn(u32) -> &'w [u8] + Sync,
    analyzer: &Analyzer,
    spill: &Spill,
) -> (Strings, SpillVec<u32>) {
    // The terms in the order of the words, and for each the word that it is of.
    let count = words.div_ceil(ANALYZED_AT_ONCE) as usize;
    // A pattern is matched with memory of its own, which threads would wait for.
    let own = || analyzer.clone();
    let idle = Idle::default();
    let analyze = |chunk: usize| {
        #[expect(clippy::cast_possible_truncation, reason = "not more chunks than words")]
        let first = chunk as u32 * ANALYZED_AT_ONCE;
        let last = words.min(first.saturating_add(ANALYZED_AT_ONCE));
        let (mut terms, mut of) = (Strings::default(), Vec::new());
        idle.with(own, |analyzer: &mut Analyzer| {
            for number in first..last {
                if let Some(term) = analyzer.term(word(number)) {
                    terms.push(&term);
                    of.push(number);
                }
            }
        });
        (terms, of)
    };
    let (mut all, mut of) = (Strings::new(spill), spill.row());
    // Chunks are in memory, so some for each thread are made at a time.
    let at_once = 8 * rayon::current_num_threads();
    for first in (0..count).step_by(at_once) {
        let chunks = map(at_once.min(count - first), &|chunk| analyze(first + chunk));
        for (terms, words) in chunks {
            all.append(&terms);
            of.extend_from_slice(&words);
        }
    }
    let mut order = spill.collect(0..all.len() as u32);
    order.par_sort_unstable_by_key(|&number| all.get(number as usize));
    let mut numbers = spill.filled(NONE, words as usize);
    let mut terms = Strings::new(spill);
    for &number in &order[..] {
        let term = all.get(number as usize);
        if terms.len() == 0 || terms.get(terms.len() - 1) != term {
            terms.push(term);
        }
        numbers[of[number as usize] as usize] = terms.len() as u32 - 1;
    }
    (terms, numbers)
}

/// One list of terms for all segments, and for each segment what its own numbers become.
pub(super) fn merge(
    segments: Vec<SegmentTerms>,
    spill: &Spill,
) -> Result<(Terms, Vec<Option<SpillVec<u32>>>)> {
    let SegmentTerms { terms, numbers } = merge_tree(segments, spill);
    Ok((Terms::new(terms.bytes.into_array(), terms.ends.into_array())?, numbers))
}

fn merge_tree(mut segments: Vec<SegmentTerms>, spill: &Spill) -> SegmentTerms {
    if segments.len() < 2 {
        return segments
            .pop()
            .unwrap_or(SegmentTerms { terms: Strings::default(), numbers: Vec::new() });
    }
    let behind = segments.split_off(segments.len() / 2);
    let (mut first, mut second) =
        rayon::join(move || merge_tree(segments, spill), move || merge_tree(behind, spill));
    let (terms, of_first, of_second) = merge_two(&first.terms, &second.terms, spill);
    let renumber = |numbers: &mut Vec<Option<SpillVec<u32>>>, of: SpillVec<u32>| {
        // One segment has the terms in their own order.
        if let [only @ None] = &mut numbers[..] {
            *only = Some(of);
            return;
        }
        let rows = numbers.iter_mut().flatten();
        let chunks = rows.flat_map(|row| row.chunks_mut(super::RENUMBERED_AT_ONCE));
        for_each(chunks.collect(), &|_, numbers: &mut [u32]| {
            numbers.iter_mut().for_each(|number| *number = of[*number as usize]);
        });
    };
    renumber(&mut first.numbers, of_first);
    renumber(&mut second.numbers, of_second);
    first.numbers.append(&mut second.numbers);
    SegmentTerms { terms, numbers: first.numbers }
}

/// Merges two sorted lists; gives for each element of both its place.
fn merge_two(
    first: &Strings,
    second: &Strings,
    spill: &Spill,
) -> (Strings, SpillVec<u32>, SpillVec<u32>) {
    let bytes = spill.with_capacity(first.bytes.len() + second.bytes.len());
    let mut merged = Strings { bytes, ends: spill.with_capacity(first.len() + second.len()) };
    let mut of_first = spill.with_capacity(first.len());
    let mut of_second = spill.with_capacity(second.len());
    while of_first.len() < first.len() || of_second.len() < second.len() {
        let order = match (of_first.len() < first.len(), of_second.len() < second.len()) {
            (true, true) => first.get(of_first.len()).cmp(second.get(of_second.len())),
            (true, false) => std::cmp::Ordering::Less,
            _ => std::cmp::Ordering::Greater,
        };
        #[expect(clippy::cast_possible_truncation, reason = "`Terms::new` refuses a list of more")]
        let number = merged.len() as u32;
        let bytes =
            if order.is_le() { first.get(of_first.len()) } else { second.get(of_second.len()) };
        merged.push(bytes);
        if order.is_le() {
            of_first.push(number);
        }
        if order.is_ge() {
            of_second.push(number);
        }
    }
    (merged, of_first, of_second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(list: &[&str]) -> Strings {
        let mut strings = Strings::default();
        list.iter().for_each(|string| strings.push(string.as_bytes()));
        strings
    }

    fn segment(list: &[&str]) -> SegmentTerms {
        SegmentTerms::new(strings(list))
    }

    #[test]
    fn terms_of_segments_become_one_list() {
        let segments =
            vec![segment(&["a", "c"]), segment(&["b", "c", "d"]), segment(&[]), segment(&["a"])];
        let (terms, numbers) = merge(segments, &Spill::default()).unwrap();
        let all: Vec<&[u8]> = (0..terms.len()).map(|term| terms.get(term)).collect();
        assert_eq!(all, [b"a", b"b", b"c", b"d"]);
        let numbers: Vec<&[u32]> = numbers.iter().flatten().map(|row| &row[..]).collect();
        assert_eq!(numbers, [&[0, 2][..], &[1, 2, 3], &[], &[0]]);
        assert!(merge(Vec::new(), &Spill::default()).unwrap().0.is_empty());
    }
}
