//! Sequences that go from one piece of a network to the next.
//!
//! A sequence belongs to the piece that it starts in; those that end behind it are met here, each once. They are
//! at most `n - 1` for a piece, and cost `n - 1` items to both sides of a border.

use std::ops::Range;

use tadoc_core::Network;

use crate::error::Result;

/// Calls `each` with the place of a document and the items of a sequence, for every sequence of `n` items that starts in one
/// piece and ends in another. Pieces are runs of parts, in order.
pub(super) fn for_each_window(
    network: &Network,
    pieces: &[Range<usize>],
    n: usize,
    mut each: impl FnMut(u32, &[u32]) -> Result<()>,
) -> Result<()> {
    let grammar = network.grammar();
    let (root, starts) = (grammar.root(), grammar.document_starts());
    for piece in pieces {
        let parts = &network.parts()[piece.clone()];
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { continue };
        let border = last.root.end;
        // The document that has symbols on both sides.
        let document = starts.partition_point(|&start| start < border);
        let Some(document) = document.checked_sub(1) else { continue };
        let end = starts.get(document + 1).copied().unwrap_or(border);
        let start = starts[document].max(first.root.start);
        if start >= border || end <= border {
            continue;
        }
        let mut items = last_items(network, &root[start as usize..border as usize], n - 1);
        let before = items.len();
        let behind = grammar.expand(&root[border as usize..end as usize]);
        items.extend(behind.take(n - 1));
        for (place, window) in items.windows(n).enumerate() {
            if place < before {
                each(document as u32, window)?;
            }
        }
    }
    Ok(())
}

/// The last items that a row of symbols expands to, in their order.
fn last_items(network: &Network, row: &[u32], most: usize) -> Vec<u32> {
    let grammar = network.grammar().slices();
    let (mut items, mut rows) = (Vec::with_capacity(most), vec![row]);
    while items.len() < most
        && let Some(row) = rows.last_mut()
    {
        match row.split_last() {
            None => {
                rows.pop();
            }
            Some((&symbol, rest)) => {
                *row = rest;
                match grammar.rule_of(symbol) {
                    None => items.push(symbol),
                    Some(rule) => rows.push(grammar.body(rule)),
                }
            }
        }
    }
    items.reverse();
    items
}
