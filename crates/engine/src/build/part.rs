//! Parts of a grammar that are grammars themselves: a stretch of its root, and the tokens that are used.
//!
//! Cost: O(symbols of the whole) each, and 12 bytes a rule or 4 a token besides the result.

use std::ops::Range;

use rayon::prelude::*;
use tadoc_core::Grammar;

use super::order::into_grammar;

/// The grammar of a stretch of the root, with the rules that it reaches, in Kahn's order. `root` may begin and end
/// inside of documents, between symbols; `documents` are those that the part has, of which the first and the
/// last have in it what is inside of `root`. Token numbers stay, used or not.
///
/// A rule that is left with one use stays a rule; see [`build_again`](super::again::build_again).
///
/// # Panics
/// If `root` is not inside of the documents, or there are no such ones.
pub fn part_of(grammar: &Grammar, root: Range<usize>, documents: Range<usize>) -> Grammar {
    let (start, end) = (root.start as u32, root.end as u32);
    let bounds = &grammar.document_starts()[documents.start..=documents.end];
    assert!(
        root.is_empty() || bounds[0] <= start && end <= bounds[bounds.len() - 1],
        "the stretch {root:?} is not inside of the documents {documents:?}"
    );
    let mut document_starts: Vec<u32> =
        bounds.iter().map(|bound| bound.clamp(&start, &end) - start).collect();
    document_starts[0] = 0;
    if let [_, .., last] = &mut document_starts[..] {
        *last = end - start;
    }
    let first_body = grammar.rule_starts()[0];
    let body_starts: Vec<u32> =
        grammar.rule_starts().iter().map(|start| start - first_body).collect();
    into_grammar(
        grammar.token_count(),
        &grammar.root()[root],
        &document_starts,
        &grammar.symbols()[first_body as usize..],
        &body_starts,
    )
}

/// The grammar without the tokens that neither its root nor a rule uses, and which tokens are left, in order:
/// the new number of a token is its place among them.
pub fn with_used_tokens(grammar: &Grammar) -> (Grammar, Vec<u32>) {
    let token_count = grammar.token_count();
    let mut used = vec![false; token_count as usize];
    for &symbol in grammar.symbols() {
        if let Some(used) = used.get_mut(symbol as usize) {
            *used = true;
        }
    }
    let kept: Vec<u32> = (0..token_count).filter(|&token| used[token as usize]).collect();
    if kept.len() == used.len() {
        return (grammar.clone(), kept);
    }
    let mut numbers = vec![u32::MAX; token_count as usize];
    for (number, &token) in (0_u32..).zip(&kept) {
        numbers[token as usize] = number;
    }
    let dropped = token_count - kept.len() as u32;
    let symbols: Vec<u32> = grammar
        .symbols()
        .par_iter()
        .map(|&symbol| {
            numbers.get(symbol as usize).copied().unwrap_or(symbol.wrapping_sub(dropped))
        })
        .collect();
    let grammar = Grammar::new(
        kept.len() as u32,
        symbols,
        grammar.rule_starts().to_vec(),
        grammar.document_starts().to_vec(),
    );
    (grammar.expect("it was a grammar before"), kept)
}
