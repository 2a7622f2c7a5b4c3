//! From archives and an analyzer to the [`View`] that tasks run on.
//!
//! Every segment is decoded, its dictionary analyzed and its tokens made terms (`segment`); the terms of
//! all segments become one list (`terms`), and the grammars are put behind one another. Segments are decoded
//! one at a time, so that beside the view only one of them is in memory.
//!
//! A view of all words and documents can be stored beside its archive ([`store`]); it is then mapped, and views with an
//! analyzer or of some documents are made from it.

mod segment;
mod terms;

use rayon::prelude::*;
use tadoc_core::archive::{open_view, write_view};
use tadoc_core::{Grammar, Network, Part, View};

use self::segment::Piece;
use crate::analyzer::Analyzer;
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::parallel::split;
use crate::progress::{Observer, Phase};
use crate::traverse;

/// What stands for a token without a term.
const NONE: u32 = u32::MAX;

/// Symbols that a thread renumbers at a time.
const RENUMBERED_AT_ONCE: usize = 1 << 16;

/// Where a view came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Decoded from the archives.
    Archive,
    /// Stored beside the archives, and mapped.
    Stored,
    /// Decoded from the archives, as a view that is stored cannot be used; and why.
    Refused(String),
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
    observer: &dyn Observer,
) -> Result<(View, Origin)> {
    let mut origin = Origin::Stored;
    let mut stored = Vec::with_capacity(corpora.len());
    for corpus in corpora {
        let view = open_view(corpus.archive());
        match &view {
            Ok(Some(_)) => {}
            Ok(None) if origin == Origin::Stored => origin = Origin::Archive,
            Ok(None) => {}
            Err(error) => origin = Origin::Refused(error.to_string()),
        }
        stored.push(view.unwrap_or(None));
    }
    if let ([view], true, None) = (&mut stored[..], analyzer.is_identity(), documents)
        && let Some(view) = view.take()
    {
        return Ok((view, origin));
    }
    Ok((make_from(corpora, stored, analyzer, documents, observer)?, origin))
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
    make_from(corpora, none, analyzer, documents, observer)
}

/// Stores the view of a corpus (all words as they are, all documents) beside its archive, so that [`open`] need only
/// map it; gives the length of the file. One that is there is replaced.
pub fn store(corpus: &Corpus, observer: &dyn Observer) -> Result<u64> {
    let view = make(&[corpus], &Analyzer::new(), None, observer)?;
    let counts = traverse::root_counts(view.network());
    Ok(write_view(&view, counts, corpus.archive())?)
}

fn make_from(
    corpora: &[&Corpus],
    stored: Vec<Option<View>>,
    analyzer: &Analyzer,
    documents: Option<&[u32]>,
    observer: &dyn Observer,
) -> Result<View> {
    let total: u64 =
        corpora.iter().map(|corpus| corpus.archive().summary().segments.len() as u64).sum();
    if let Some(documents) = documents {
        let count = corpora.iter().map(|corpus| corpus.archive().summary().documents).sum();
        check_choice(documents, count)?;
    }
    let mut done = 0;
    let mut step = || {
        done += 1;
        crate::progress::step(observer, Phase::Reading, done, total)
    };
    let mut parts = ViewParts::default();
    let mut first_document = 0_u64;
    for (corpus, stored) in corpora.iter().zip(stored) {
        let count = corpus.archive().summary().documents;
        if first_document + count > u64::from(u32::MAX) {
            return Err(Error::TooMany { what: "documents", most: u32::MAX.into() });
        }
        let chosen = documents.map(|documents| of_corpus(documents, first_document, count));
        let (chosen, first) = (chosen.as_deref(), first_document as u32);
        match stored {
            Some(view) => parts.add_view(&view, analyzer, chosen, first),
            None => parts.add_corpus(corpus, analyzer, chosen, first, &mut step)?,
        }
        first_document += count;
    }
    parts.join()
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
    documents[start..end].iter().map(|&document| document as usize - first as usize).collect()
}

/// The pieces that a view is made of.
#[derive(Default)]
struct ViewParts {
    pieces: Vec<Piece>,
    terms: Vec<terms::SegmentTerms>,
    /// For each document of each piece its number in the corpus.
    documents: Vec<Vec<u32>>,
}

impl ViewParts {
    fn add_corpus(
        &mut self,
        corpus: &Corpus,
        analyzer: &Analyzer,
        chosen: Option<&[usize]>,
        first_document: u32,
        step: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        let all: Vec<usize>;
        let wanted = match chosen {
            Some(chosen) => chosen,
            None => {
                all = (0..corpus.archive().summary().documents as usize).collect();
                &all
            }
        };
        for (number, places) in corpus.segments_of(wanted) {
            let (grammar, dictionary) = corpus.archive().segment(number)?;
            let text_bytes = corpus.archive().summary().segments[number].text_bytes;
            let (terms, of_tokens) = terms::of_segment(&dictionary, analyzer, text_bytes)?;
            drop(dictionary);
            let local: Vec<usize> = places.iter().map(|&(_, place)| place).collect();
            let chosen = (local.len() < grammar.document_count()).then_some(&local[..]);
            self.pieces.push(segment::piece(&grammar, &of_tokens, terms.len(), chosen));
            self.terms.push(terms);
            self.documents.push(
                places.iter().map(|&(document, _)| first_document + document as u32).collect(),
            );
            step()?;
        }
        Ok(())
    }

    /// A view instead of the archive that it is of. Its parts become one.
    fn add_view(
        &mut self,
        view: &View,
        analyzer: &Analyzer,
        chosen: Option<&[usize]>,
        first_document: u32,
    ) {
        let (terms, of_terms) = terms::of_view(view.terms(), analyzer);
        let grammar = view.network().grammar();
        self.pieces.push(segment::piece(grammar, &of_terms, terms.len(), chosen));
        self.terms.push(terms);
        let documents = 0..grammar.document_count() as u32;
        self.documents.push(match chosen {
            Some(chosen) => chosen.iter().map(|&place| first_document + place as u32).collect(),
            None => documents.map(|document| first_document + document).collect(),
        });
    }

    /// Puts the pieces behind one another.
    fn join(self) -> Result<View> {
        let (terms, numbers) = terms::merge(self.terms)?;
        let sum = |length: &dyn Fn(&Piece) -> usize| self.pieces.iter().map(length).sum::<usize>();
        let root_length = sum(&|piece| piece.root.len());
        let symbol_count = root_length + sum(&|piece| piece.bodies.len());
        let rule_count = sum(&|piece| piece.rule_starts.len() - 1);
        if symbol_count as u64 + terms.len() as u64 + rule_count as u64 > u64::from(u32::MAX) {
            return Err(Error::TooMany { what: "symbols", most: u32::MAX.into() });
        }
        let mut symbols = vec![0_u32; symbol_count];
        let mut rule_starts = Vec::with_capacity(rule_count + 1);
        let mut document_starts: Vec<u32> = Vec::new();
        let mut documents: Vec<u32> = Vec::new();
        let mut parts = Vec::with_capacity(self.pieces.len());
        let (mut root_at, mut rule_at, mut body_at) = (0_u32, 0_u32, root_length as u32);
        let (roots, bodies) = symbols.split_at_mut(root_length);
        let roots = split(roots, self.pieces.iter().map(|piece| piece.root.len()));
        let bodies = split(bodies, self.pieces.iter().map(|piece| piece.bodies.len()));
        let places = roots.into_iter().zip(bodies).zip(numbers).zip(self.documents);
        for (piece, (((root, body), numbers), of_piece)) in self.pieces.into_iter().zip(places) {
            let first_rule = terms.len() + rule_at;
            let renumber = |from: &[u32], to: &mut [u32]| {
                let chunks = to.par_chunks_mut(RENUMBERED_AT_ONCE);
                chunks.zip(from.par_chunks(RENUMBERED_AT_ONCE)).for_each(|(to, from)| {
                    for (new, &old) in to.iter_mut().zip(from) {
                        *new = match old.checked_sub(piece.term_count) {
                            None => numbers[old as usize],
                            Some(rule) => first_rule + rule,
                        };
                    }
                });
            };
            renumber(&piece.root, root);
            renumber(&piece.bodies, body);
            // A document that goes on from the piece before starts where it started there.
            let goes_on = documents.last().is_some_and(|last| of_piece.first() == Some(last));
            let new = usize::from(goes_on);
            let starts = &piece.document_starts[..of_piece.len()];
            documents.extend_from_slice(&of_piece[new..]);
            document_starts.extend(starts[new..].iter().map(|start| root_at + start));
            let rules = piece.rule_starts.len() - 1;
            rule_starts.extend(piece.rule_starts[..rules].iter().map(|start| body_at + start));
            let next = (root_at + root.len() as u32, rule_at + rules as u32);
            parts.push(Part { root: root_at..next.0, rules: rule_at..next.1 });
            (root_at, rule_at) = next;
            body_at += body.len() as u32;
        }
        rule_starts.push(body_at);
        document_starts.push(root_at);
        let grammar = Grammar::new(terms.len(), symbols, rule_starts, document_starts)
            .map_err(tadoc_core::Error::from)?;
        Ok(View::new(terms, Network::new(grammar, parts, documents)?)?)
    }
}
