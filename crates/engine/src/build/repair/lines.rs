//! Lines that come again as a whole, found by hashing before any pairing.
//!
//! Text is full of equal lines: boilerplate, headers, records. Hashing finds them at memory speed, and what
//! is paired afterwards is a fraction of the text (a quarter of it for web pages). Only lines that come
//! four times or more are taken out: rarer ones would hide longer passages that begin or end inside of
//! them, which costs more than it saves (measured when it was chosen: 0.4 to 3% more
//! symbols, pairing 1.2 to 4.9 times as fast).
//!
//! Cost: O(tokens) on all threads, 40 bytes a line.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;
use tadoc_core::TokenSequence;
use tadoc_core::parallel::{each, map, map_chunks, map_concat, split};

use super::sequence::BARRIER;

/// A line that comes so often becomes a rule.
const LEAST_USES: u32 = 4;
/// Shorter lines are left to pairing.
const LEAST_TOKENS: u32 = 3;

/// What is left to pair, without the lines that became rules.
pub(in crate::build) struct Lines {
    /// A barrier, the body of each line with a barrier behind it, the documents likewise.
    pub(in crate::build) cells: Vec<u32>,
    /// How many lines became rules; their symbols follow those of the tokens.
    pub(in crate::build) rules: u32,
}

/// Lines that a thread looks at before the next ones.
const LINES_AT_A_TIME: usize = 1 << 16;

/// Takes out the lines of `sequence`: runs of tokens up to and with one of `line_ends`.
pub(in crate::build) fn take_out(sequence: TokenSequence, line_ends: &[bool]) -> Lines {
    let TokenSequence { token_count, tokens, document_starts } = sequence;
    let lines = cut(&tokens, &document_starts, line_ends);
    let (rule_of_line, first_uses) = find_equal(&tokens, &lines);

    let bodies = map_chunks(&first_uses, LINES_AT_A_TIME, &|_, group: &[u32]| {
        let mut bodies = Vec::new();
        for &line in group {
            bodies.extend_from_slice(lines.tokens(&tokens, line as usize));
            bodies.push(BARRIER);
        }
        bodies
    });
    let document_ends = document_starts.get(1..).unwrap_or_default();
    let text = map_chunks(&rule_of_line, LINES_AT_A_TIME, &|group, rules: &[u32]| {
        let first = group * LINES_AT_A_TIME;
        // The group before has seen the documents that end where its last line starts.
        let ended = match first {
            0 => 0,
            _ => document_ends.partition_point(|&end| end <= lines.starts[first - 1]),
        };
        let mut ends = document_ends[ended..].iter().copied().peekable();
        let mut text = Vec::new();
        for (line, &rule) in (first..).zip(rules) {
            while ends.next_if(|&end| end <= lines.starts[line]).is_some() {
                text.push(BARRIER);
            }
            if rule == NO_RULE {
                text.extend_from_slice(lines.tokens(&tokens, line));
            } else {
                text.push(token_count + rule);
            }
        }
        text
    });
    let ended = match rule_of_line.len() {
        0 => 0,
        count => document_ends.partition_point(|&end| end <= lines.starts[count - 1]),
    };
    let last_ends = vec![BARRIER; document_ends.len() - ended];
    drop((tokens, lines, rule_of_line));
    let mut parts: Vec<&[u32]> = vec![&[BARRIER]];
    parts.extend(bodies.iter().chain(&text).map(|part| &part[..]));
    parts.push(&last_ends);
    Lines { cells: map_concat(&parts, |_, cell| cell), rules: first_uses.len() as u32 }
}

/// Lines that are no rule.
const NO_RULE: u32 = u32::MAX;
/// The number of a rule stands at its first line, and not the number of that line at another one.
const NUMBERED: u32 = 1 << 31;

struct Cut {
    /// Where each line starts, and the end.
    starts: Vec<u32>,
    hashes: Vec<u64>,
}

impl Cut {
    fn tokens<'t>(&self, tokens: &'t [u32], line: usize) -> &'t [u32] {
        &tokens[self.starts[line] as usize..self.starts[line + 1] as usize]
    }
}

/// About so many tokens are cut into lines at a time.
const TOKENS_AT_A_TIME: usize = 1 << 20;

fn cut(tokens: &[u32], document_starts: &[u32], line_ends: &[bool]) -> Cut {
    // The end of a line or document at or behind a place.
    let end_behind = |place: usize| {
        let document = document_starts.partition_point(|&start| (start as usize) < place);
        let end = document_starts.get(document).map_or(tokens.len(), |&start| start as usize);
        let line = tokens[place - 1..end].iter().position(|&token| line_ends[token as usize]);
        line.map_or(end, |line| place + line)
    };
    let mut bounds = vec![0];
    bounds.extend((TOKENS_AT_A_TIME..tokens.len()).step_by(TOKENS_AT_A_TIME).map(end_behind));
    bounds.push(tokens.len());
    bounds.dedup();
    let parts: Vec<Cut> = map(bounds.len() - 1, &|part| {
        cut_range(tokens, document_starts, line_ends, bounds[part]..bounds[part + 1])
    });
    let count = parts.iter().map(|part| part.hashes.len()).sum();
    let mut lines = Cut { starts: vec![0; count + 1], hashes: vec![0; count] };
    let lengths = || parts.iter().map(|part| part.hashes.len());
    let starts = split(&mut lines.starts[1..], lengths());
    let hashes = split(&mut lines.hashes, lengths());
    starts.into_par_iter().zip(hashes).zip(&parts).for_each(|((starts, hashes), part)| {
        starts.copy_from_slice(&part.starts);
        hashes.copy_from_slice(&part.hashes);
    });
    lines
}

/// The ends and hashes of the lines of a stretch, which starts and ends between lines.
fn cut_range(
    tokens: &[u32],
    document_starts: &[u32],
    line_ends: &[bool],
    range: Range<usize>,
) -> Cut {
    let mut lines = Cut { starts: Vec::new(), hashes: Vec::new() };
    let next = document_starts.partition_point(|&start| start as usize <= range.start);
    let mut documents = document_starts[next..].iter();
    let mut position = range.start;
    while position < range.end {
        let end = documents.next().map_or(range.end, |&start| range.end.min(start as usize));
        let mut hash = 0_u64;
        let mut open = false;
        for (&token, position) in tokens[position..end].iter().zip(position as u32..) {
            let product = u128::from(hash ^ u64::from(token) ^ 0x9E37_79B9_7F4A_7C15)
                * 0xD6E8_FEB8_6659_FD93_u128;
            hash = (product >> 64) as u64 ^ product as u64;
            open = !line_ends[token as usize];
            if !open {
                lines.starts.push(position + 1);
                lines.hashes.push(hash);
                hash = 0;
            }
        }
        if open {
            lines.starts.push(end as u32);
            lines.hashes.push(hash);
        }
        position = end;
    }
    lines
}

/// Lines are looked up in so many tables, by the low bits of their hashes; any number gives the same.
const TABLES: usize = 128;

/// For each line the number of its rule, in the order of first uses, or [`NO_RULE`]; and the first uses.
fn find_equal(tokens: &[u32], lines: &Cut) -> (Vec<u32>, Vec<u32>) {
    // The lines of each group that belong into each table.
    let shares: Vec<Vec<Vec<u32>>> =
        map_chunks(&lines.hashes, LINES_AT_A_TIME, &|group, hashes: &[u64]| {
            let mut shares = vec![Vec::new(); TABLES];
            for (line, &hash) in (group * LINES_AT_A_TIME..).zip(hashes) {
                if lines.starts[line + 1] - lines.starts[line] >= LEAST_TOKENS {
                    shares[hash as usize % TABLES].push(line as u32);
                }
            }
            shares
        });
    let rules: Vec<AtomicU32> = lines.hashes.par_iter().map(|_| AtomicU32::new(NO_RULE)).collect();
    // Each line that comes often enough is told the first line that it equals.
    each(TABLES, &|table| {
        let shares = || shares.iter().flat_map(|shares| &shares[table]).copied();
        for (line, first) in frequent_lines(tokens, lines, shares) {
            rules[line as usize].store(first, Ordering::Relaxed);
        }
    });
    let first_uses = map_chunks(&rules, LINES_AT_A_TIME, &|group, rules: &[AtomicU32]| {
        let lines = (group * LINES_AT_A_TIME) as u32..;
        let is_first = |(line, rule): &(u32, &AtomicU32)| rule.load(Ordering::Relaxed) == *line;
        lines.zip(rules).filter(is_first).map(|(line, _)| line).collect::<Vec<u32>>()
    })
    .concat();
    first_uses.par_iter().enumerate().for_each(|(number, &line)| {
        rules[line as usize].store(number as u32 | NUMBERED, Ordering::Relaxed);
    });
    let number = |rule: &AtomicU32| match rule.load(Ordering::Relaxed) {
        NO_RULE => NO_RULE,
        number if number & NUMBERED != 0 => number & !NUMBERED,
        first => rules[first as usize].load(Ordering::Relaxed) & !NUMBERED,
    };
    (rules.par_iter().map(number).collect(), first_uses)
}

/// Of the lines that belong to a table, those that come often enough, each with the first one like it.
fn frequent_lines<I: Iterator<Item = u32>>(
    tokens: &[u32],
    lines: &Cut,
    shares: impl Fn() -> I,
) -> Vec<(u32, u32)> {
    // An open-addressing table of places in `found`; it has room for all lines, were they all its own.
    let count = shares().count();
    let mask = (count + count / 2 + 1).next_power_of_two() - 1;
    let mut slots = vec![NO_RULE; mask + 1];
    let mut found: Vec<Found> = Vec::new();
    let mut places: Vec<u32> = Vec::with_capacity(count);
    for line in shares() {
        let hash = lines.hashes[line as usize];
        let mut slot = (hash >> 8) as usize & mask;
        let place = loop {
            let place = slots[slot];
            if place == NO_RULE {
                slots[slot] = found.len() as u32;
                found.push(Found { hash, first: line, uses: 0 });
                break found.len() as u32 - 1;
            }
            let other = &found[place as usize];
            if other.hash == hash
                && lines.tokens(tokens, other.first as usize) == lines.tokens(tokens, line as usize)
            {
                break place;
            }
            slot = (slot + 1) & mask;
        };
        found[place as usize].uses += 1;
        places.push(place);
    }
    let frequent = shares().zip(places).filter_map(|(line, place)| {
        let Found { first, uses, .. } = found[place as usize];
        (uses >= LEAST_USES).then_some((line, first))
    });
    frequent.collect()
}

/// A line that comes for the first time.
struct Found {
    hash: u64,
    first: u32,
    uses: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_lines_become_rules_and_documents_keep_their_borders() {
        // Token 9 ends lines; the line `1 2 9` comes four times, `3 9` is too short, `4 5 9` too rare.
        let line = [1, 2, 9];
        let tokens: Vec<u32> = [&line[..], &[3, 9], &line, &[4, 5, 9], &line, &line, &[7]].concat();
        let mut line_ends = vec![false; 10];
        line_ends[9] = true;
        let document_starts = vec![0, 0, 5, tokens.len() as u32, tokens.len() as u32];
        let sequence = TokenSequence { token_count: 10, tokens, document_starts };
        let lines = take_out(sequence, &line_ends);
        assert_eq!(lines.rules, 1);
        let b = BARRIER;
        assert_eq!(lines.cells, [b, 1, 2, 9, b, b, 10, 3, 9, b, 10, 4, 5, 9, 10, 10, 7, b, b]);
    }

    #[test]
    fn an_empty_corpus_is_one_barrier() {
        let lines = take_out(TokenSequence { document_starts: vec![0], ..Default::default() }, &[]);
        assert_eq!(lines.cells, [BARRIER]);
    }
}
