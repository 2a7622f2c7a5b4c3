//! A run of a network's parts as a network of its own.

use std::ops::Range;

use rayon::prelude::*;
use tadoc_core::{Grammar, Network, Part};

/// Why putting a piece together cannot fail.
const WHOLE: &str = "parts use their own rules alone, so some of them are a network too";

/// Some parts of a network.
pub(super) struct Piece {
    /// They alone. Its terms are those of the whole, its documents those that have symbols in it.
    pub(super) network: Network,
    /// The place of its first document among those of the whole.
    pub(super) first_document: u32,
}

/// Cuts parts out of a network. O(symbols).
///
/// # Panics
/// If there are no such parts.
pub(super) fn cut(network: &Network, parts: Range<usize>) -> Piece {
    let grammar = network.grammar();
    let chosen = &network.parts()[parts.clone()];
    let (first, last) = (&chosen[0], &chosen[chosen.len() - 1]);
    let root = first.root.start..last.root.end;
    let rules = first.rules.start..last.rules.end;

    let starts = grammar.rule_starts();
    let bodies = starts[rules.start as usize] as usize..starts[rules.end as usize] as usize;
    let renumbered = |symbol: u32| match grammar.rule_of(symbol) {
        None => symbol,
        Some(_) => symbol - rules.start,
    };
    let of_root = &grammar.symbols()[root.start as usize..root.end as usize];
    let of_rules = &grammar.symbols()[bodies.clone()];
    let symbols: Vec<u32> =
        of_root.par_iter().chain(of_rules).map(|&symbol| renumbered(symbol)).collect();
    let rule_starts = starts[rules.start as usize..=rules.end as usize].iter();
    let rule_starts: Vec<u32> =
        rule_starts.map(|&start| start - bodies.start as u32 + root.len() as u32).collect();

    let documents = documents_of(grammar.document_starts(), root.clone());
    let document_starts = grammar.document_starts()[documents.clone()].iter();
    let document_starts = document_starts.map(|&start| start.max(root.start) - root.start);
    let document_starts: Vec<u32> = document_starts.chain([root.len() as u32]).collect();

    let cut = Grammar::new(grammar.token_count(), symbols, rule_starts, document_starts);
    let cut = cut.expect(WHOLE);
    let moved = chosen.iter().map(|part| Part {
        root: part.root.start - root.start..part.root.end - root.start,
        rules: part.rules.start - rules.start..part.rules.end - rules.start,
    });
    let first_document = documents.start as u32;
    let numbers = network.documents()[documents].to_vec();
    let network = match network.has_root() {
        true => Network::new(cut, moved.collect(), numbers),
        false => {
            let counts = network
                .root_counts_or(|| -> Vec<u32> { unreachable!("counts are all that there is") });
            let (of_items, of_rules) = counts.split_at(grammar.token_count() as usize);
            let of_rules = &of_rules[rules.start as usize..rules.end as usize];
            // Which part an item of the root is in is not known; the first one takes them all.
            let of_items = of_items.iter().map(|&count| if parts.start == 0 { count } else { 0 });
            let counts: Vec<u32> = of_items.chain(of_rules.iter().copied()).collect();
            Network::of_counts(cut, moved.collect(), numbers, counts.into())
        }
    };
    Piece { network: network.expect(WHOLE), first_document }
}

/// The places of the documents that have symbols in a stretch of the root, and of empty ones between them.
fn documents_of(starts: &[u32], root: Range<u32>) -> Range<usize> {
    if root.is_empty() {
        return 0..0;
    }
    let first = starts.partition_point(|&start| start <= root.start) - 1;
    let last = starts[..starts.len() - 1].partition_point(|&start| start < root.end);
    first..last
}
