//! One segment's grammar with its tokens made terms.
//!
//! Separators and removed words go; a rule that is left with nothing goes too, and one that is left with a
//! single symbol is replaced by it wherever it is used. The order of rules stays, so parents still come
//! before children.
//!
//! Cost: one pass over the rules, children first, on one thread (segments go side by side), then one over
//! all symbols on all threads. 4 bytes a rule and the result, beside the grammar.

use rayon::prelude::*;
use tadoc_core::Grammar;

use super::NONE;
use crate::parallel::split;

/// Symbols of the root that a thread copies at a time.
const ROOT_AT_ONCE: usize = 1 << 16;
/// Rules that a thread copies at a time.
const RULES_AT_ONCE: usize = 1 << 14;

/// A grammar over the terms of one segment; not checked, as it is a part of a view that will be.
#[derive(Debug, Default)]
pub(super) struct Piece {
    /// Terms that the segment has: its rules are numbered from here.
    pub(super) term_count: u32,
    pub(super) root: Vec<u32>,
    pub(super) bodies: Vec<u32>,
    /// Where each rule starts in `bodies`, with the end behind the last.
    pub(super) rule_starts: Vec<u32>,
    /// Where each document starts in `root`, with the end behind the last.
    pub(super) document_starts: Vec<u32>,
}

/// Makes the piece of some documents of a grammar (places, ascending), or of all. `terms` has for each token
/// its term or [`NONE`].
pub(super) fn piece(
    grammar: &Grammar,
    terms: &[u32],
    term_count: u32,
    documents: Option<&[usize]>,
) -> Piece {
    let (resolved, lengths) = resolve(grammar, terms, term_count);
    let symbol = |symbol: u32| match grammar.rule_of(symbol) {
        None => terms[symbol as usize],
        Some(rule) => resolved[rule as usize],
    };
    let (bodies, rule_starts) = copy_bodies(grammar, &lengths, &symbol);
    let (root, document_starts) = match documents {
        None => copy_root(grammar.root(), grammar.document_starts(), &symbol),
        Some(chosen) => {
            let parts: Vec<&[u32]> = chosen.iter().map(|&place| grammar.document(place)).collect();
            let ends = parts.iter().scan(0, |end, part| {
                *end += part.len() as u32;
                Some(*end)
            });
            let starts: Vec<u32> = std::iter::once(0).chain(ends).collect();
            copy_root(&parts.concat(), &starts, &symbol)
        }
    };
    Piece { term_count, root, bodies, rule_starts, document_starts }
}

/// For each rule the symbol that stands for it in the piece, or [`NONE`], and its length if it stays, else 0.
fn resolve(grammar: &Grammar, terms: &[u32], term_count: u32) -> (Vec<u32>, Vec<u32>) {
    let rules = grammar.rule_count() as usize;
    let grammar = grammar.slices();
    let mut resolved = vec![NONE; rules];
    let mut lengths = vec![0_u32; rules];
    for rule in (0..rules).rev() {
        let (mut length, mut last) = (0, NONE);
        for &symbol in grammar.body(rule as u32) {
            let symbol = match grammar.rule_of(symbol) {
                None => terms[symbol as usize],
                Some(child) => resolved[child as usize],
            };
            if symbol != NONE {
                length += 1;
                last = symbol;
            }
        }
        if length > 1 {
            lengths[rule] = length;
            // Its old number, for now: the new one is not known before all rules are.
            last = term_count + rule as u32;
        }
        resolved[rule] = last;
    }
    let mut next = term_count;
    let numbers: Vec<u32> = lengths
        .iter()
        .map(|&length| {
            let number = next;
            next += u32::from(length > 0);
            number
        })
        .collect();
    resolved.par_iter_mut().with_min_len(RULES_AT_ONCE).for_each(|symbol| {
        if *symbol != NONE && *symbol >= term_count {
            *symbol = numbers[(*symbol - term_count) as usize];
        }
    });
    (resolved, lengths)
}

/// The bodies of the rules that stay, and where each starts.
fn copy_bodies(
    grammar: &Grammar,
    lengths: &[u32],
    symbol: &(impl Fn(u32) -> u32 + Sync),
) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32];
    let mut total = 0;
    // Where the rules of each chunk begin.
    let mut chunks = Vec::with_capacity(lengths.len() / RULES_AT_ONCE + 1);
    for chunk in lengths.chunks(RULES_AT_ONCE) {
        let before = total;
        for &length in chunk.iter().filter(|&&length| length > 0) {
            total += length;
            starts.push(total);
        }
        chunks.push((total - before) as usize);
    }
    let mut bodies = vec![0_u32; total as usize];
    let stretches = split(&mut bodies, chunks.into_iter());
    stretches.into_par_iter().enumerate().for_each(|(chunk, stretch)| {
        let first = chunk * RULES_AT_ONCE;
        let last = lengths.len().min(first + RULES_AT_ONCE);
        let kept = (first..last).filter(|&rule| lengths[rule] > 0);
        let symbols = kept.flat_map(|rule| grammar.body(rule as u32)).map(|&old| symbol(old));
        for (place, new) in stretch.iter_mut().zip(symbols.filter(|&symbol| symbol != NONE)) {
            *place = new;
        }
    });
    (bodies, starts)
}

/// The symbols of documents, and where each starts.
fn copy_root(
    root: &[u32],
    document_starts: &[u32],
    symbol: &(impl Fn(u32) -> u32 + Sync),
) -> (Vec<u32>, Vec<u32>) {
    let counts: Vec<usize> = root
        .par_chunks(ROOT_AT_ONCE)
        .map(|chunk| chunk.iter().filter(|&&old| symbol(old) != NONE).count())
        .collect();
    let mut copied = vec![0_u32; counts.iter().sum()];
    let total = copied.len() as u32;
    let mut before: Vec<u32> = vec![0];
    before.extend(counts.iter().scan(0, |sum, &count| {
        *sum += count as u32;
        Some(*sum)
    }));
    let stretches = split(&mut copied, counts.into_iter());
    let starts: Vec<Vec<u32>> = stretches
        .into_par_iter()
        .zip(root.par_chunks(ROOT_AT_ONCE))
        .enumerate()
        .map(|(chunk, (stretch, symbols))| {
            let first = (chunk * ROOT_AT_ONCE) as u32;
            let low = document_starts.partition_point(|&start| start < first);
            let high =
                document_starts.partition_point(|&start| start < first + symbols.len() as u32);
            let mut boundaries = document_starts[low..high].iter().peekable();
            let (mut starts, mut place) = (Vec::with_capacity(high - low), 0);
            for (position, &old) in (first..).zip(symbols) {
                while boundaries.next_if(|&&start| start == position).is_some() {
                    starts.push(before[chunk] + place as u32);
                }
                let new = symbol(old);
                if new != NONE {
                    stretch[place] = new;
                    place += 1;
                }
            }
            starts
        })
        .collect();
    let mut starts = starts.concat();
    // What starts behind the last symbol: empty documents, and the end.
    starts.resize(document_starts.len(), total);
    (copied, starts)
}
