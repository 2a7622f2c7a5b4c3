//! From lexed text to an encoded segment.

use rayon::prelude::*;
use tadoc_core::archive::{EncodedDictionary, EncodedSegment};
use tadoc_core::parallel::map_concat;
use tadoc_core::{Grammar, TokenSequence};

use super::Builder;
use super::lex::LexedSegment;
use crate::build::builder::{CancelFlag, Cancelled, GrammarBuilder, share};
use crate::build::dictionary::MergedDictionary;
use crate::build::repair::RePair;
use crate::build::sequitur::Sequitur;
use crate::{Level, SegmentInfo};

/// Builds and encodes a segment on the threads of the current pool. The figures say nothing yet about which
/// documents it has.
pub(super) fn build(
    lexed: LexedSegment,
    builder: Builder,
    level: Level,
    cancel: &CancelFlag,
) -> Result<(EncodedSegment, SegmentInfo), Cancelled> {
    let LexedSegment { interners, tokens, pieces, overshot, .. } = lexed;
    let merging = cancel.stage(share::MERGE);
    let used = overshot
        .then(|| used_tokens(&interners.iter().map(|one| one.len()).collect::<Vec<_>>(), &tokens));
    let dictionary = MergedDictionary::new(&interners, |interner, token| {
        used.as_ref().is_none_or(|used| used[interner][token as usize])
    });
    cancel.check()?;
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
    drop((tokens, merging));
    cancel.check()?;
    let token_total = sequence.tokens.len() as u64;
    // Parts of building run on one thread: the dictionary is encoded beside them.
    let (grammar, encoded_dictionary) = rayon::join(
        || match builder {
            Builder::RePair => RePair::new(dictionary.line_ends.clone()).build(sequence, cancel),
            Builder::Sequitur => Sequitur.build(sequence, cancel),
        },
        || EncodedDictionary::new(&dictionary.words, &dictionary.separators, level, cancel),
    );
    let grammar = grammar?;
    let info = SegmentInfo {
        text_bytes: pieces.iter().map(|piece| piece.bytes).sum(),
        tokens: token_total,
        words: dictionary.words.len() as u64,
        ..figures(&grammar)
    };
    let dictionary = encoded_dictionary?;
    Ok((EncodedSegment::with_dictionary(dictionary, &grammar, level, cancel)?, info))
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
