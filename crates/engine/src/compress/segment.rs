//! From lexed text to an encoded segment: at once, or by way of parts that wait for each other.

use rayon::prelude::*;
use tadoc_core::archive::{EncodedDictionary, EncodedSegment};
use tadoc_core::parallel::map_concat;
use tadoc_core::{Grammar, TokenSequence};

use super::Builder;
use super::lex::{Lexed, Piece};
use crate::build::builder::{CancelFlag, Cancelled, GrammarBuilder, share};
use crate::build::dictionary::MergedDictionary;
use crate::build::interner::TokenList;
use crate::build::repair::{self, RePair};
use crate::build::sequitur::Sequitur;
use crate::{Level, SegmentInfo};

/// Builds and encodes a segment on the threads of the current pool, of text that was lexed as a whole. The figures say nothing yet about
/// which documents it has.
pub(super) fn build(
    lexed: Lexed,
    builder: Builder,
    level: Level,
    cancel: &CancelFlag,
) -> Result<(EncodedSegment, SegmentInfo), Cancelled> {
    let merging = cancel.stage(share::MERGE);
    let dictionary = dictionary_of(&lexed.interners, &lexed.tokens, lexed.overshot);
    cancel.check()?;
    let sequence = sequence_of(&dictionary, &lexed.tokens, &lexed.pieces);
    drop((lexed.tokens, merging));
    cancel.check()?;
    let info = SegmentInfo {
        text_bytes: lexed.pieces.iter().map(|piece| piece.bytes).sum(),
        tokens: sequence.tokens.len() as u64,
        ..SegmentInfo::default()
    };
    let grammar = || match builder {
        Builder::RePair => RePair::new(dictionary.line_ends.clone()).build(sequence, cancel),
        Builder::Sequitur => Sequitur.build(sequence, cancel),
    };
    encode(&dictionary, grammar, info, level, cancel)
}

/// What a part of a segment waits as until the others are there.
pub(super) struct Part {
    tokens: TokenList,
    rules: repair::Part,
    info: SegmentInfo,
}

impl Part {
    /// Pairs text that was lexed on the threads of the current pool. It has `documents` documents, `first_document` and those behind it.
    pub(super) fn new(
        lexed: Lexed,
        (first_document, documents): (u64, u64),
        cancel: &CancelFlag,
    ) -> Result<Self, Cancelled> {
        let merging = cancel.stage(share::MERGE);
        let dictionary = dictionary_of(&lexed.interners, &lexed.tokens, lexed.overshot);
        cancel.check()?;
        let sequence = sequence_of(&dictionary, &lexed.tokens, &lexed.pieces);
        let tokens = dictionary.to_tokens();
        let line_ends = dictionary.line_ends;
        drop((lexed.interners, lexed.tokens, merging));
        cancel.check()?;
        let info = SegmentInfo {
            first_document,
            documents,
            text_bytes: lexed.pieces.iter().map(|piece| piece.bytes).sum(),
            tokens: sequence.tokens.len() as u64,
            ..SegmentInfo::default()
        };
        let mut rules = RePair::new(line_ends).part(sequence, cancel)?;
        if lexed.pieces.last().is_some_and(|piece| !piece.ends) {
            rules.leave_open();
        }
        Ok(Self { tokens, rules, info })
    }

    /// How many symbols there are to pair.
    pub(super) fn symbols(&self) -> u64 {
        self.rules.symbols()
    }

    /// Bytes of memory that the tokens take.
    pub(super) fn dictionary(&self) -> u64 {
        self.tokens.memory() as u64
    }

    /// Bytes of memory held.
    pub(super) fn memory(&self) -> u64 {
        self.rules.memory() + self.dictionary()
    }
}

/// Builds and encodes the segment of some parts.
pub(super) fn unite(
    parts: Vec<Part>,
    level: Level,
    cancel: &CancelFlag,
) -> Result<(EncodedSegment, SegmentInfo), Cancelled> {
    let (first, last) = (parts[0].info, parts[parts.len() - 1].info);
    let info = SegmentInfo {
        first_document: first.first_document,
        documents: last.first_document + last.documents - first.first_document,
        text_bytes: parts.iter().map(|part| part.info.text_bytes).sum(),
        tokens: parts.iter().map(|part| part.info.tokens).sum(),
        ..SegmentInfo::default()
    };
    let (tokens, rules): (Vec<TokenList>, Vec<repair::Part>) =
        parts.into_iter().map(|part| (part.tokens, part.rules)).unzip();
    let dictionary = MergedDictionary::new(&tokens, |_, _| true);
    cancel.check()?;
    let grammar = || repair::unite(rules, &dictionary.numbers, dictionary.token_count(), cancel);
    encode(&dictionary, grammar, info, level, cancel)
}

/// Encodes a dictionary and the grammar that `build` makes.
fn encode(
    dictionary: &MergedDictionary<'_>,
    build: impl FnOnce() -> Result<Grammar, Cancelled> + Send,
    info: SegmentInfo,
    level: Level,
    cancel: &CancelFlag,
) -> Result<(EncodedSegment, SegmentInfo), Cancelled> {
    // Parts of building run on one thread: the dictionary is encoded beside them.
    let (grammar, encoded) = rayon::join(build, || {
        EncodedDictionary::new(&dictionary.words, &dictionary.separators, level, cancel)
    });
    let grammar = grammar?;
    let SegmentInfo { first_document, documents, text_bytes, tokens, .. } = info;
    let words = dictionary.words.len() as u64;
    let encoded = encoded?;
    let (figures, segment) = rayon::join(
        || figures(&grammar),
        || EncodedSegment::with_dictionary(encoded, &grammar, level, cancel),
    );
    let info = SegmentInfo { first_document, documents, text_bytes, tokens, words, ..figures };
    Ok((segment?, info))
}

/// The dictionary of the tokens that occur; those of the interners, unless these `overshot`.
fn dictionary_of<'i>(
    interners: &'i [TokenList],
    tokens: &[(usize, Vec<u32>)],
    overshot: bool,
) -> MergedDictionary<'i> {
    let used = overshot.then(|| {
        let lengths: Vec<usize> = interners.iter().map(TokenList::len).collect();
        used_tokens(&lengths, tokens)
    });
    MergedDictionary::new(interners, |interner, token| {
        used.as_ref().is_none_or(|used| used[interner][token as usize])
    })
}

/// The tokens with their numbers in the dictionary, cut into documents. The last one ends here, whatever its piece says.
fn sequence_of(
    dictionary: &MergedDictionary<'_>,
    tokens: &[(usize, Vec<u32>)],
    pieces: &[Piece],
) -> TokenSequence {
    let token_count = dictionary.token_count();
    let mut sequence =
        TokenSequence { token_count, document_starts: vec![0], ..Default::default() };
    // A document may be cut into several pieces, of which all but the last do not end it.
    let mut end = 0_u32;
    for (number, piece) in pieces.iter().enumerate() {
        end += piece.tokens;
        if piece.ends || number + 1 == pieces.len() {
            sequence.document_starts.push(end);
        }
    }
    let batches: Vec<&[u32]> = tokens.iter().map(|(_, batch)| &batch[..]).collect();
    sequence.tokens =
        map_concat(&batches, |batch, token| dictionary.numbers[tokens[batch].0][token as usize]);
    sequence
}

/// The figures of a grammar alone.
pub(crate) fn figures(grammar: &Grammar) -> SegmentInfo {
    SegmentInfo {
        token_types: grammar.token_count().into(),
        rules: grammar.rule_count().into(),
        symbols: grammar.symbols().len() as u64,
        root_symbols: grammar.root().len() as u64,
        depth: grammar.depth().into(),
        ..SegmentInfo::default()
    }
}

/// Which tokens of each interner occur.
fn used_tokens(lengths: &[usize], tokens: &[(usize, Vec<u32>)]) -> Vec<Vec<bool>> {
    lengths
        .par_iter()
        .enumerate()
        .map(|(interner, &length)| {
            let mut used = vec![false; length];
            for (_, batch) in tokens.iter().filter(|(owner, _)| *owner == interner) {
                batch.iter().for_each(|&token| used[token as usize] = true);
            }
            used
        })
        .collect()
}
