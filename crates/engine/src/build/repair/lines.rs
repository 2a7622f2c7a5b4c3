//! Lines that come again as a whole, found by hashing before any pairing.
//!
//! Text is full of equal lines: boilerplate, headers, records. Hashing finds them at memory speed, and what
//! is paired afterwards is a fraction of the text (a quarter of it for web pages). Only lines that come
//! four times or more are taken out: rarer ones would hide longer passages that begin or end inside of
//! them, which costs more than it saves (measured when it was chosen: 0.4 to 3% more
//! symbols, pairing 1.2 to 4.9 times as fast).
//!
//! Cost: O(tokens) on all threads, 32 bytes a line.

use tadoc_core::TokenSequence;
use tadoc_core::parallel::map;

use super::sequence::BARRIER;

/// A line that comes so often becomes a rule.
const LEAST_USES: u32 = 4;
/// Shorter lines are left to pairing.
const LEAST_TOKENS: usize = 3;

/// What is left to pair, without the lines that became rules.
pub(in crate::build) struct Lines {
    /// A barrier, the body of each line with a barrier behind it, the documents likewise.
    pub(in crate::build) cells: Vec<u32>,
    /// How many lines became rules; their symbols follow those of the tokens.
    pub(in crate::build) rules: u32,
}

/// Takes out the lines of `sequence`: runs of tokens up to and with one of `line_ends`.
pub(in crate::build) fn take_out(sequence: TokenSequence, line_ends: &[bool]) -> Lines {
    let TokenSequence { token_count, tokens, document_starts } = sequence;
    let lines = cut(&tokens, &document_starts, line_ends);
    let rule_of_line = find_equal(&tokens, &lines);

    let mut first_uses: Vec<u32> = Vec::new();
    let mut cells = vec![BARRIER];
    for (line, &rule) in rule_of_line.iter().enumerate() {
        if rule == first_uses.len() as u32 {
            first_uses.push(line as u32);
            cells.extend_from_slice(lines.tokens(&tokens, line));
            cells.push(BARRIER);
        }
    }
    let mut document_ends = document_starts.iter().skip(1).copied().peekable();
    let mut end_documents = |cells: &mut Vec<u32>, position: u32| {
        while document_ends.next_if(|&end| end <= position).is_some() {
            cells.push(BARRIER);
        }
    };
    for (line, &rule) in rule_of_line.iter().enumerate() {
        end_documents(&mut cells, lines.starts[line]);
        if rule == NO_RULE {
            cells.extend_from_slice(lines.tokens(&tokens, line));
        } else {
            cells.push(token_count + rule);
        }
    }
    end_documents(&mut cells, tokens.len() as u32);
    cells.shrink_to_fit();
    Lines { cells, rules: first_uses.len() as u32 }
}

/// Lines that are no rule.
const NO_RULE: u32 = u32::MAX;

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

/// Documents of about so many tokens are cut into lines at a time.
const TOKENS_AT_A_TIME: u32 = 1 << 20;

fn cut(tokens: &[u32], document_starts: &[u32], line_ends: &[bool]) -> Cut {
    let groups = groups(document_starts);
    let parts: Vec<Cut> =
        map(groups.len(), &|group| cut_documents(tokens, groups[group], line_ends));
    let mut lines = Cut { starts: vec![0], hashes: Vec::new() };
    lines.hashes.reserve_exact(parts.iter().map(|part| part.hashes.len()).sum());
    for part in parts {
        lines.starts.extend_from_slice(&part.starts);
        lines.hashes.extend_from_slice(&part.hashes);
    }
    lines
}

/// Runs of documents that are some megabytes long, each with its end as the last boundary.
fn groups(document_starts: &[u32]) -> Vec<&[u32]> {
    let mut groups = Vec::new();
    let mut first = 0;
    for (number, &start) in document_starts.iter().enumerate().skip(1) {
        let last = number + 1 == document_starts.len();
        if start - document_starts[first] >= TOKENS_AT_A_TIME || last {
            groups.push(&document_starts[first..=number]);
            first = number;
        }
    }
    groups
}

/// The ends and hashes of the lines of some documents.
fn cut_documents(tokens: &[u32], document_starts: &[u32], line_ends: &[bool]) -> Cut {
    let mut lines = Cut { starts: Vec::new(), hashes: Vec::new() };
    for document in document_starts.windows(2) {
        let mut hash = 0_u64;
        let mut open = false;
        for position in document[0]..document[1] {
            let token = tokens[position as usize];
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
            lines.starts.push(document[1]);
            lines.hashes.push(hash);
        }
    }
    lines
}

/// Lines are looked up in so many tables, by the low bits of their hashes; any number gives the same.
const TABLES: usize = 2;

/// For each line the number of its rule, in the order of first uses, or [`NO_RULE`].
fn find_equal(tokens: &[u32], lines: &Cut) -> Vec<u32> {
    let count = lines.hashes.len();
    // For each line that comes often enough, the first line that it equals.
    let frequent: Vec<Vec<(u32, u32)>> = map(TABLES, &|table| frequent_lines(tokens, lines, table));
    let mut rules = vec![NO_RULE; count];
    for &(line, first) in frequent.iter().flatten() {
        rules[line as usize] = first;
    }
    // The first use of a line comes before the others, so its rule has a number when they are seen.
    let mut next = 0;
    for line in 0..count as u32 {
        let first = rules[line as usize];
        if first == line {
            rules[line as usize] = next;
            next += 1;
        } else if first != NO_RULE {
            rules[line as usize] = rules[first as usize];
        }
    }
    rules
}

/// Of the lines that belong to a table, those that come often enough, each with the first one like it.
fn frequent_lines(tokens: &[u32], lines: &Cut, table: usize) -> Vec<(u32, u32)> {
    // An open-addressing table of places in `found`; it has room for all lines, were they all its own.
    let mask = (lines.hashes.len() + 1).next_power_of_two() - 1;
    let mut slots = vec![NO_RULE; mask + 1];
    let mut found: Vec<(u32, u32)> = Vec::new();
    let mut lines_found: Vec<(u32, u32)> = Vec::new();
    for (line, &hash) in lines.hashes.iter().enumerate() {
        if hash as usize % TABLES != table {
            continue;
        }
        let content = lines.tokens(tokens, line);
        if content.len() < LEAST_TOKENS {
            continue;
        }
        let mut slot = (hash >> 8) as usize & mask;
        let place = loop {
            let place = slots[slot];
            if place == NO_RULE {
                slots[slot] = found.len() as u32;
                found.push((line as u32, 0));
                break found.len() as u32 - 1;
            }
            let other = found[place as usize].0 as usize;
            if lines.hashes[other] == hash && lines.tokens(tokens, other) == content {
                break place;
            }
            slot = (slot + 1) & mask;
        };
        found[place as usize].1 += 1;
        lines_found.push((line as u32, place));
    }
    lines_found
        .into_iter()
        .filter_map(|(line, place)| {
            let (first, uses) = found[place as usize];
            (uses >= LEAST_USES).then_some((line, first))
        })
        .collect()
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
