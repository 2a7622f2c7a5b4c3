//! Sequitur: a grammar in one pass over the tokens (Nevill-Manning and Witten, 1997).
//!
//! Two properties hold after every token: no digram (two neighbouring symbols) stands twice without
//! overlapping, and every rule is used at least twice. A digram that comes for the second time becomes
//! a rule, and a rule left with one use is dissolved into it.
//!
//! O(tokens) expected time, amortised, and mostly waiting for memory: each token looks up two or three
//! digrams, which lie anywhere. Memory, besides the tokens: 12 bytes a symbol and a rule of the
//! grammar, and 7 to 13 bytes a digram.

mod digrams;
mod nodes;
mod working;

use tadoc_core::{Grammar, TokenSequence};

use self::working::WorkingGrammar;
use super::builder::{CancelFlag, Cancelled, GrammarBuilder, share};
use super::order::into_grammar;

/// How many tokens are read between two looks at the cancel flag: some milliseconds.
const TOKENS_PER_CHECK: usize = 1 << 16;

/// The Sequitur builder. Works on one thread.
///
/// # Panics
/// Building panics where 31 bits cannot number the nodes and symbols: from about 1.2 billion tokens on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sequitur;

impl GrammarBuilder for Sequitur {
    fn build(&self, tokens: TokenSequence, cancel: &CancelFlag) -> Result<Grammar, Cancelled> {
        let TokenSequence { token_count, tokens, document_starts } = tokens;
        let document_count = document_starts.len().saturating_sub(1);
        let mut working = WorkingGrammar::new(token_count, tokens.len(), document_count);
        let mut stage = cancel.stage(share::BUILD);
        let mut until_check = 0;
        for (document, bounds) in document_starts.windows(2).enumerate() {
            if document > 0 {
                working.start_document();
            }
            for (place, &token) in
                tokens.iter().enumerate().take(bounds[1] as usize).skip(bounds[0] as usize)
            {
                if until_check == 0 {
                    cancel.check()?;
                    stage.reach(place as u64, tokens.len() as u64);
                    until_check = TOKENS_PER_CHECK;
                }
                until_check -= 1;
                working.append(token);
            }
        }
        drop(tokens);
        cancel.check()?;
        let flat = working.flatten(document_count);
        cancel.check()?;
        Ok(into_grammar(
            token_count,
            &flat.root,
            &flat.document_starts,
            &flat.body_symbols,
            &flat.body_starts,
        ))
    }
}
