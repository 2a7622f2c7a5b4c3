//! From archives and an analyzer to the [`View`] that tasks run on.
//!
//! The dictionaries of all segments are analyzed, and their terms become one list (`terms`). Then
//! every segment is decoded and its tokens made terms (`segment`), and added to the rows of the
//! view. Segments are decoded one at a time, so that beside the view only one of them is in memory;
//! where a pool is given, both are in files beside it.
//!
//! A view of all words and documents can be stored beside its archive ([`store`]); it is then mapped, and views with an
//! analyzer or of some documents are made from it.

#![cfg_attr(
    not(test),
    warn(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

mod replacements;
mod segment;
mod terms;

use std::borrow::Cow;
use std::sync::Arc;

use rayon::prelude::*;
use tadoc_core::archive::{CodedGrammar, open_view, write_view};
use tadoc_core::{Counted, Grammar, Network, Part, Share, Spill, SpillVec, Terms, View, usize_of};

use self::segment::Source;
use crate::analyzer::Analyzer;
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::progress::{Observer, Phase};

/// What stands for a token without a term.
const NONE: u32 = u32::MAX;

/// What memory is taken for, in errors.
const WHAT: &str = "the grammar over terms";

/// Occurrences of a term that a rule stands for where 32 bits do not count them one by one.
const OCCURRENCES_OF_A_RULE: usize = 1 << 16;

/// Symbols that a thread copies at a time.
const COPIED_AT_ONCE: usize = 1 << 16;

/// Symbols that a thread renumbers at a time.
const RENUMBERED_AT_ONCE: usize = 1 << 16;

/// Where a view came from.
#[derive(Debug, Clone)]
pub enum Origin {
    /// Decoded from the archives.
    Archive,
    /// Stored beside the archives, and mapped.
    Stored,
    /// Decoded from the archives, as a view that is stored cannot be used; and why.
    Refused(Arc<Error>),
    /// In a pool, from an earlier question.
    Pool,
}

/// How much of a corpus a view has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Detail {
    /// All of it.
    #[default]
    Whole,
    /// How often everything occurs, and not where: enough for word count and sort, and for what is
    /// asked of the documents where there is one; made and held for less.
    Counts,
}

/// The view of corpora: their documents are numbered one corpus after the other. `documents` chooses some by
/// their numbers, ascending; the others are not looked at. Where a view is stored beside an archive, the archive itself is
/// not read; see [`store`].
///
/// # Errors
/// [`Error::BadChoice`] if there is no such document, or numbers do not ascend; what the archives give if they
/// cannot be read; [`Error::TooMany`] if they are too large for one view.
pub fn open(
    corpora: &[&Corpus],
    analyzer: &Analyzer,
    documents: Option<&[u32]>,
    detail: Detail,
    observer: &dyn Observer,
) -> Result<(View, Origin)> {
    // Of a view that is all that is asked for, no more is read than that; one to make others from must be whole.
    let as_it_is = corpora.len() == 1 && analyzer.is_identity() && documents.is_none();
    let counts_only = as_it_is && detail == Detail::Counts;
    let mut origin = Origin::Stored;
    let mut stored = Vec::with_capacity(corpora.len());
    for corpus in corpora {
        let view = open_view(corpus.archive(), corpus.summary().documents, counts_only);
        stored.push(match view {
            Ok(Some(view)) => Some(view),
            Ok(None) => {
                if matches!(origin, Origin::Stored) {
                    origin = Origin::Archive;
                }
                None
            }
            Err(error) => {
                origin = Origin::Refused(Arc::new(error.into()));
                None
            }
        });
    }
    if as_it_is && let Some(view) = stored[0].take() {
        return Ok((view, origin));
    }
    Ok((make_from(corpora, stored, analyzer, documents, detail, observer)?, origin))
}

/// Makes the view of corpora from the archives themselves; as [`open`].
///
/// # Errors
/// As [`open`].
pub fn make(
    corpora: &[&Corpus],
    analyzer: &Analyzer,
    documents: Option<&[u32]>,
    observer: &dyn Observer,
) -> Result<View> {
    let none = corpora.iter().map(|_| None).collect();
    make_from(corpora, none, analyzer, documents, Detail::Whole, observer)
}

/// Stores the view of a corpus (all words as they are, all documents) beside its archive, so that [`open`] need only
/// map it; gives the length of the file. One that is there is replaced.
pub fn store(corpus: &Corpus, observer: &dyn Observer) -> Result<u64> {
    let view = make(&[corpus], &Analyzer::new(), None, observer)?;
    let counts = tadoc_tasks::root_counts(view.network());
    Ok(write_view(&view, counts, corpus.archive())?)
}

fn make_from(
    corpora: &[&Corpus],
    stored: Vec<Option<View>>,
    analyzer: &Analyzer,
    documents: Option<&[u32]>,
    detail: Detail,
    observer: &dyn Observer,
) -> Result<View> {
    if let Some(documents) = documents {
        let count = corpora.iter().map(|corpus| corpus.summary().documents).sum();
        check_choice(documents, count)?;
    }
    let mut inputs = Vec::new();
    let mut first_document = 0_u64;
    // Counts of all documents are of none of them.
    let with_documents = detail == Detail::Whole || documents.is_some();
    for (corpus, stored) in corpora.iter().zip(stored) {
        let count = corpus.summary().documents;
        if with_documents {
            // As many as the summary says.
            corpus.documents()?;
        }
        if first_document + count > u64::from(u32::MAX) {
            return Err(Error::TooMany { what: "documents", most: u32::MAX.into() });
        }
        let chosen = documents.map(|documents| of_corpus(documents, first_document, count));
        #[expect(
            clippy::cast_possible_truncation,
            reason = "checked: documents are numbered in 32 bits"
        )]
        inputs.extend(match with_documents {
            true => inputs_of(corpus, stored, chosen, first_document as u32),
            false => undocumented(corpus, stored)?,
        });
        first_document += count;
    }
    inputs.par_iter().try_for_each(|input| match &input.of {
        Of::Segment(corpus, segment) => corpus.prepare([*segment]),
        Of::Counts(..) | Of::View(_) => Ok(()),
    })?;
    let steps = corpora.first().map(|corpus| corpus.budget().steps().clone()).unwrap_or_default();
    // Some of each is on one thread: the first grammar is loaded beside the terms.
    let (found, mut first) = rayon::join(
        || {
            let of_inputs = inputs.iter().map(|input| input.terms(analyzer));
            steps.measure("terms", 0, || of_inputs.collect::<Result<Vec<_>>>())
        },
        || inputs.first().map(|input| input.load(detail)),
    );
    let (terms_of_inputs, mut of_tokens): (Vec<_>, Vec<_>) = found?.into_iter().unzip();
    let spill = corpora.first().map(|corpus| corpus.budget().spill().clone()).unwrap_or_default();
    let merge = || terms::merge(terms_of_inputs, &spill);
    let (terms, numbers) = steps.measure("one list of terms", 0, merge)?;
    for (of_tokens, numbers) in of_tokens.iter_mut().zip(numbers) {
        let Some(numbers) = numbers else { continue };
        let renumber = |token: &mut u32| {
            if *token != NONE {
                *token = numbers[*token as usize];
            }
        };
        of_tokens.par_iter_mut().with_min_len(RENUMBERED_AT_ONCE).for_each(renumber);
    }
    // What archives say of themselves is not believed beyond the memory that they may take.
    let left = corpora.first().map_or(0, |corpus| corpus.budget().left());
    let most_symbols = match detail {
        Detail::Whole => inputs.iter().map(Input::most_symbols).fold(0, u64::saturating_add),
        Detail::Counts => 0,
    };
    let most_symbols = usize_of(most_symbols.min(left / size_of::<u32>() as u64));
    let mut rows = ViewRows::new(terms.len(), most_symbols, &spill);
    let total = inputs.iter().map(Input::text_bytes).sum();
    let mut done = 0;
    for (input, of_tokens) in inputs.iter().zip(of_tokens) {
        let loaded = first.take().unwrap_or_else(|| input.load(detail))?;
        rows.add(input, loaded, &of_tokens, detail)?;
        done += input.text_bytes();
        crate::progress::step(observer, Phase::Reading, done, total)?;
    }
    if !with_documents && first_document == 1 {
        // The counts are those of the only document.
        (rows.documents, rows.document_starts) = (vec![0], spill.filled(0, 1));
    }
    steps.measure("joined", 0, || rows.join(terms, detail, &spill))
}

/// What a part of a view is made of: a segment of an archive, or a view that is stored instead of it.
struct Input<'c> {
    of: Of<'c>,
    /// Places of the documents in it, if not all count.
    places: Option<Vec<usize>>,
    /// Their numbers in the corpus.
    documents: Vec<u32>,
}

enum Of<'c> {
    Segment(&'c Corpus, usize),
    /// A segment by its number in the archive, of which only words and their counts are read.
    Counts(&'c Corpus, usize, Counted<SpillVec<u64>>),
    View(Box<View>),
}

/// The inputs of all of a corpus, without its documents. Of segments whose counts of words are
/// stored, no more is read than these.
fn undocumented(corpus: &Corpus, stored: Option<View>) -> Result<Vec<Input<'_>>> {
    let input = |of| Input { of, places: None, documents: Vec::new() };
    if let Some(view) = stored {
        return Ok(vec![input(Of::View(Box::new(view)))]);
    }
    let segments = (0..corpus.summary().segments.len()).into_par_iter();
    segments
        .map(|segment| {
            if let Some(stored) = corpus.stored_segment(segment)
                && let Some(counts) = corpus.archive().word_counts(stored)?
            {
                return Ok(input(Of::Counts(corpus, stored, counts)));
            }
            Ok(input(Of::Segment(corpus, segment)))
        })
        .collect()
}

/// The inputs of a corpus, or of the part of it that is chosen.
fn inputs_of<'c>(
    corpus: &'c Corpus,
    stored: Option<View>,
    chosen: Option<Vec<usize>>,
    first_document: u32,
) -> Vec<Input<'c>> {
    let summary = corpus.summary();
    let all = || (0..usize_of(summary.documents)).collect();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "not more than the documents, which were checked"
    )]
    let number = |place: usize| first_document + place as u32;
    if let Some(view) = stored {
        let documents = chosen.clone().unwrap_or_else(all).into_iter().map(number).collect();
        return vec![Input { of: Of::View(Box::new(view)), places: chosen, documents }];
    }
    let wanted = chosen.unwrap_or_else(all);
    let segments = corpus.segments_of(&wanted).into_iter();
    segments
        .map(|(segment, found)| {
            let whole = found.len() as u64 == summary.segments[segment].documents;
            let places = found.iter().map(|&(_, place)| place).collect();
            Input {
                of: Of::Segment(corpus, segment),
                places: (!whole).then_some(places),
                documents: found.iter().map(|&(document, _)| number(document)).collect(),
            }
        })
        .collect()
}

impl Input<'_> {
    /// How much of the work it is.
    fn text_bytes(&self) -> u64 {
        match &self.of {
            Of::View(view) => view.network().grammar().symbols().len() as u64,
            Of::Segment(corpus, segment) => corpus.summary().segments[*segment].text_bytes,
            Of::Counts(corpus, stored, _) => {
                corpus.archive().summary().segments[*stored].text_bytes
            }
        }
    }

    /// About how many symbols it has at most; 0 where it is not known before.
    fn most_symbols(&self) -> u64 {
        match &self.of {
            Of::Segment(corpus, segment) if self.places.is_none() => {
                corpus.summary().segments[*segment].symbols
            }
            _ => 0,
        }
    }

    /// Its terms, and for each token (or word, where only these are counted) the number of its term among them.
    fn terms(&self, analyzer: &Analyzer) -> Result<(terms::SegmentTerms, SpillVec<u32>)> {
        match &self.of {
            Of::View(view) => {
                let spill = view.network().grammar().spill();
                Ok(terms::of_view(view.terms(), analyzer, &spill))
            }
            Of::Segment(corpus, segment) => {
                let dictionary = corpus.dictionary(*segment)?;
                let text_bytes = corpus.summary().segments[*segment].text_bytes;
                terms::of_tokens(&dictionary, analyzer, text_bytes)
            }
            Of::Counts(corpus, stored, counts) => {
                let words = corpus.archive().words(*stored)?;
                let (terms, of_words) = terms::of_words(words, analyzer, corpus.budget())?;
                // As many as the counts, which are those of words.
                let own = || corpus.budget().spill().collect((0..).take(counts.len()));
                Ok((terms, of_words.unwrap_or_else(own)))
            }
        }
    }

    /// Decodes what there is besides its terms.
    fn load(&self, detail: Detail) -> Result<Loaded<'_>> {
        let (corpus, segment) = match &self.of {
            Of::Counts(_, _, counts) => return Ok(Loaded::Counts(counts)),
            Of::View(view) => return Ok(Loaded::Grammar(Cow::Borrowed(view.network().grammar()))),
            Of::Segment(corpus, segment) => (corpus, *segment),
        };
        // Of chosen documents or counts alone, the symbols of the root are counted first.
        if detail == Detail::Whole
            && self.places.is_none()
            && let Some(stored) = corpus.stored_segment(segment)
            && let Some(coded) = corpus.archive().coded_grammar(stored)?
        {
            return Ok(Loaded::Coded(Box::new(coded)));
        }
        Ok(Loaded::Grammar(Cow::Owned(corpus.grammar(segment)?)))
    }
}

/// What an input has besides its terms.
enum Loaded<'i> {
    /// How often its words occur.
    Counts(&'i [u64]),
    /// A grammar whose root is decoded on its way into the view.
    Coded(Box<CodedGrammar>),
    Grammar(Cow<'i, Grammar>),
}

/// Checks that chosen documents are in order, and among so many.
fn check_choice(documents: &[u32], count: u64) -> Result<()> {
    let unordered = documents.windows(2).find(|pair| pair[0] >= pair[1]).map(|pair| pair[1]);
    // Where they ascend, the last one is the highest.
    let beyond = documents.last().copied().filter(|&number| u64::from(number) >= count);
    match unordered.or(beyond) {
        Some(number) => Err(Error::BadChoice { number, documents: count }),
        None => Ok(()),
    }
}

/// Of the chosen documents those of one corpus, as places in it.
fn of_corpus(documents: &[u32], first: u64, count: u64) -> Vec<usize> {
    let start = documents.partition_point(|&document| u64::from(document) < first);
    let end = documents.partition_point(|&document| u64::from(document) < first + count);
    documents[start..end].iter().map(|&document| document as usize - usize_of(first)).collect()
}

/// The rows of a view, to which segments are added.
struct ViewRows {
    /// The symbols of the documents; none if only counts are wanted.
    root: SpillVec<u32>,
    /// The bodies of the rules, and where each ends there.
    bodies: SpillVec<u32>,
    rule_ends: SpillVec<u32>,
    /// For each document where it starts in the root, and its number in the corpus.
    document_starts: SpillVec<u32>,
    documents: Vec<u32>,
    parts: Vec<Part>,
    /// How often each term and each rule stands in the documents, whether they are there or not;
    /// of no use if those of an input are missing.
    is_counted: bool,
    term_counts: SpillVec<u64>,
    rule_counts: SpillVec<u64>,
    /// What they take of the budgets of archives.
    shares: Vec<Share>,
}

impl ViewRows {
    /// Rows with room for about so many symbols of the root and the bodies.
    fn new(term_count: u32, most_symbols: usize, spill: &Spill) -> Self {
        Self {
            root: spill.with_room(most_symbols),
            bodies: spill.row(),
            rule_ends: spill.row(),
            document_starts: spill.row(),
            documents: Vec::new(),
            parts: Vec::new(),
            is_counted: true,
            term_counts: spill.filled(0, term_count as usize),
            rule_counts: spill.row(),
            shares: Vec::new(),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "terms and rules are checked here, symbols by `append`"
    )]
    fn add(
        &mut self,
        input: &Input<'_>,
        loaded: Loaded<'_>,
        of_tokens: &[u32],
        detail: Detail,
    ) -> Result<()> {
        let rules;
        let (grammar, coded) = match loaded {
            Loaded::Counts(counts) => return self.add_counts(of_tokens, counts),
            Loaded::Grammar(grammar) => (grammar, None),
            Loaded::Coded(coded) => {
                rules = coded.rules().clone();
                (Cow::Borrowed(&*rules), Some(coded))
            }
        };
        if let Of::Segment(corpus, _) = &input.of {
            // Symbols, of which there are three rows for a moment; and of rules starts, lengths, levels and counts.
            let symbols = 12 * grammar.symbols().len() as u64;
            let bytes = symbols + 32 * u64::from(grammar.rule_count());
            self.shares.push(corpus.budget().take(bytes, WHAT)?);
        }
        let (term_count, rules) = (self.term_counts.len() as u32, self.rule_ends.len());
        // While a segment is added, all its rules have numbers behind those before it, twice.
        let most = u64::from(term_count) + rules as u64 + 2 * u64::from(grammar.rule_count());
        if most >= u64::from(NONE) - 1 {
            return Err(too_many_symbols());
        }
        let source = Source {
            grammar: &grammar,
            terms: of_tokens,
            term_count,
            rules_before: rules as u32,
            documents: input.places.as_deref(),
        };
        let (root, documents) = (self.root.len() as u32, self.documents.len());
        match coded {
            Some(coded) => {
                source.add_coded(*coded, self)?;
                self.is_counted = false;
            }
            None => source.add_to(self, detail)?,
        }
        let added = root..self.root.len() as u32;
        self.parts
            .push(Part { root: added.clone(), rules: rules as u32..self.rule_ends.len() as u32 });
        // What starts behind the last symbol are empty documents, or the end.
        let starts = documents + input.documents.len();
        let missing = starts.saturating_sub(self.document_starts.len());
        self.document_starts.extend(std::iter::repeat_n(added.end, missing));
        self.document_starts.truncate(starts);
        // A document that goes on from the segment before starts where it started there.
        let goes_on = documents > 0 && self.documents.last() == input.documents.first();
        if goes_on {
            self.document_starts.copy_within(documents + 1.., documents);
            self.document_starts.truncate(starts - 1);
        }
        self.documents.extend_from_slice(&input.documents[usize::from(goes_on)..]);
        Ok(())
    }

    /// Adds how often the words of a segment occur.
    fn add_counts(&mut self, of_words: &[u32], counts: &[u64]) -> Result<()> {
        for (&term, &count) in of_words.iter().zip(counts).filter(|(term, _)| **term != NONE) {
            add(&mut self.term_counts[term as usize], count)?;
        }
        Ok(())
    }

    /// Takes counts of terms above `most` apart: a rule that is `factor` times the term is counted
    /// instead, and what is left over. Roots of views are counted in 32 bits.
    fn reduce_counts(&mut self, most: u64, factor: usize) -> Result<()> {
        let end_of = |row: usize| u32::try_from(row).map_err(|_| too_many_symbols());
        let first_rule = end_of(self.rule_ends.len())?;
        let terms = (0..).zip(&mut self.term_counts[..]).filter(|(_, count)| **count > most);
        for (term, count) in terms {
            self.bodies.extend(std::iter::repeat_n(term, factor));
            self.rule_ends.push(end_of(self.bodies.len())?);
            self.rule_counts.push(*count / factor as u64);
            *count %= factor as u64;
        }
        let (root_end, rules_end) = (end_of(self.root.len())?, end_of(self.rule_ends.len())?);
        if rules_end > first_rule {
            self.parts.push(Part { root: root_end..root_end, rules: first_rule..rules_end });
        }
        Ok(())
    }

    /// Puts the bodies behind the root, and makes all of it a view.
    #[expect(clippy::cast_possible_truncation, reason = "`most` is checked")]
    fn join(mut self, terms: Terms, detail: Detail, spill: &Spill) -> Result<View> {
        if detail == Detail::Counts {
            self.reduce_counts(u32::MAX.into(), OCCURRENCES_OF_A_RULE)?;
        }
        let root_length = self.root.len();
        let symbol_count = root_length + self.bodies.len();
        let most = symbol_count as u64 + u64::from(terms.len()) + self.rule_ends.len() as u64;
        if most > u64::from(u32::MAX) {
            return Err(too_many_symbols());
        }
        let symbols = if root_length == 0 {
            self.bodies
        } else {
            self.root.reserve_exact(self.bodies.len());
            let bodies: Vec<&[u32]> = self.bodies.chunks(COPIED_AT_ONCE).collect();
            self.root.extend_from_slices(&bodies);
            self.root
        };
        let ends = self.rule_ends.iter().map(|end| root_length as u32 + end);
        let rule_starts = spill.collect(std::iter::once(root_length as u32).chain(ends));
        self.document_starts.push(root_length as u32);
        let [rule_starts, document_starts] =
            [rule_starts, self.document_starts].map(SpillVec::into_array);
        let grammar = Grammar::new(terms.len(), symbols.into_array(), rule_starts, document_starts)
            .map_err(tadoc_core::Error::from)?
            .spilling(spill);
        let (parts, documents) = (self.parts, self.documents);
        if !self.is_counted {
            return Ok(View::new(terms, Network::new(grammar, parts, documents)?)?);
        }
        let mut counts = spill.with_capacity(self.term_counts.len() + self.rule_counts.len());
        for &count in self.term_counts.iter().chain(&self.rule_counts[..]) {
            counts.push(u32::try_from(count).map_err(|_| too_many_symbols())?);
        }
        let counts = counts.into_array();
        let network = match detail {
            Detail::Whole => Network::new(grammar, parts, documents)?.with_root_counts(counts)?,
            Detail::Counts => Network::of_counts(grammar, parts, documents, counts)?,
        };
        Ok(View::new(terms, network)?)
    }
}

/// Adds to a count.
fn add(sum: &mut u64, more: u64) -> Result<()> {
    *sum = sum.checked_add(more).ok_or_else(too_many_symbols)?;
    Ok(())
}

fn too_many_symbols() -> Error {
    Error::TooMany { what: "symbols", most: u32::MAX.into() }
}

#[cfg(test)]
mod tests {
    use tadoc_tasks::Weights;
    use tadoc_tasks::work::Work;

    use super::*;

    #[test]
    fn counts_of_more_than_32_bits_are_counts_of_rules() {
        let spill = Spill::default();
        let terms = Terms::new(b"abc".to_vec(), vec![1, 2, 3]).unwrap();
        for (counts, rules) in [([10_u64, 3, 4], 1), ([8, 9, 1], 2), ([4, 1, 2], 0)] {
            let mut rows = ViewRows::new(3, 0, &spill);
            rows.add_counts(&[0, NONE, 1, 2], &[counts[0], 99, counts[1], counts[2]]).unwrap();
            rows.reduce_counts(4, 4).unwrap();
            let view = rows.join(terms.clone(), Detail::Counts, &spill).unwrap();
            let network = view.network();
            assert_eq!(network.grammar().rule_count(), rules);
            assert_eq!(network.length(), counts.iter().sum::<u64>());
            let weights = Weights::new(&mut Work::volatile(1 << 20), network).unwrap();
            assert_eq!(weights.items(), counts);
        }
        // What fits no more, as the limits are.
        let most = u64::from(u32::MAX);
        let mut rows = ViewRows::new(3, 0, &spill);
        rows.add_counts(&[0, 1, 2], &[5 * most, most, most + 1]).unwrap();
        let view = rows.join(terms, Detail::Counts, &spill).unwrap();
        let weights = Weights::new(&mut Work::volatile(1 << 20), view.network()).unwrap();
        assert_eq!(weights.items(), [5 * most, most, most + 1]);
    }
}
