//! One segment's grammar with its tokens made terms, and rules that do not pay written out.
//!
//! Separators and removed words go; a rule that is left with nothing goes too, one that is left with a single
//! symbol is replaced by it, and one that saves next to nothing is replaced by its body: half of all rules are two
//! symbols that come twice, and a rule costs a miss of the cache wherever it is met. The order of rules stays, so
//! parents still come before children.
//!
//! Cost: a pass over the root that counts rules, three over the rules on one thread, then one over all symbols on all threads.
//! 20 bytes a rule and the result, beside the grammar.

use rayon::prelude::*;
use tadoc_core::Grammar;

use super::NONE;
use crate::parallel::split;

/// Symbols of the root that a thread copies at a time.
const ROOT_AT_ONCE: usize = 1 << 16;
/// Rules that a thread copies at a time.
const RULES_AT_ONCE: usize = 1 << 14;
/// A rule of `length` symbols and `uses` uses stays if `(uses - 1) * (length - 1)`, which is by how much the grammar would grow
/// without it and one, is above this. Measured: higher saves few more rules.
const LEAST_GAIN: u64 = 3;
/// What is longer is not written out, whatever it saves: chains of rules would be written out at each of their links.
const LONGEST_WRITTEN_OUT: usize = 64;

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
    let chosen: Vec<&[u32]>;
    let rows = match documents {
        None => &[grammar.root()][..],
        Some(places) => {
            chosen = places.iter().map(|&place| grammar.document(place)).collect();
            &chosen
        }
    };
    let replacements = Replacements::new(grammar, terms, term_count, rows);
    let (bodies, rule_starts) = copy_bodies(grammar, terms, &replacements);
    let (root, document_starts) = match documents {
        None => copy_root(grammar, grammar.root(), grammar.document_starts(), terms, &replacements),
        Some(_) => {
            let ends = rows.iter().scan(0, |end, row| {
                *end += row.len() as u32;
                Some(*end)
            });
            let starts: Vec<u32> = std::iter::once(0).chain(ends).collect();
            copy_root(grammar, &rows.concat(), &starts, terms, &replacements)
        }
    };
    Piece { term_count, root, bodies, rule_starts, document_starts }
}

/// What stands for each rule in the piece: nothing, one symbol (its own new one, or that of what is left of it), or
/// what is written out in its place.
struct Replacements {
    /// Where the symbols of each rule start in `symbols`, with the end behind the last.
    starts: Vec<u32>,
    symbols: Vec<u32>,
    /// The rules that stay.
    kept: Vec<u32>,
}

/// Stands for itself, for now.
const OWN: u32 = NONE - 1;

/// What becomes of a rule of two symbols or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Unused,
    WrittenOut,
    Kept,
}

impl Replacements {
    /// `rows` are the documents that count.
    fn new(grammar: &Grammar, terms: &[u32], term_count: u32, rows: &[&[u32]]) -> Self {
        let slices = grammar.slices();
        let single = singles(grammar, terms, term_count);
        // The rule that a symbol is in the end, if it is one.
        let rule_of = |symbol: u32| {
            let rule = slices.rule_of(symbol)?;
            match single[rule as usize] {
                OWN => Some(rule),
                NONE => None,
                other => other.checked_sub(term_count),
            }
        };
        let mut uses = count_uses(grammar, rows, &rule_of);
        // Parents first: what is written out hands its uses on.
        let mut fate = vec![Fate::Unused; single.len()];
        for rule in 0..single.len() as u32 {
            if single[rule as usize] != OWN {
                continue;
            }
            let own = uses[rule as usize];
            let is_symbol = |symbol: u32| match slices.rule_of(symbol) {
                None => terms[symbol as usize] != NONE,
                Some(child) => single[child as usize] != NONE,
            };
            let body = slices.body(rule);
            let length = body.iter().filter(|&&symbol| is_symbol(symbol)).count() as u64;
            let gain = u64::from(own.saturating_sub(1)) * (length - 1);
            fate[rule as usize] = match own {
                0 => Fate::Unused,
                _ if gain <= LEAST_GAIN => Fate::WrittenOut,
                _ => Fate::Kept,
            };
            let handed_on = if gain <= LEAST_GAIN { own } else { 1 };
            for child in body.iter().filter_map(|&symbol| rule_of(symbol)) {
                uses[child as usize] = uses[child as usize].saturating_add(handed_on);
            }
        }
        Self::write_out(grammar, terms, term_count, &single, &fate)
    }

    /// Children first: what stands for a rule, out of what stands for the symbols of its body.
    fn write_out(
        grammar: &Grammar,
        terms: &[u32],
        term_count: u32,
        single: &[u32],
        fate: &[Fate],
    ) -> Self {
        let slices = grammar.slices();
        let mut symbols: Vec<u32> = Vec::with_capacity(single.len());
        let mut ranges = vec![(0_u32, 0_u32); single.len()];
        let mut kept = Vec::new();
        for rule in (0..single.len()).rev() {
            let start = symbols.len();
            let append = |symbols: &mut Vec<u32>, child: u32| {
                let (from, to) = ranges[child as usize];
                symbols.extend_from_within(from as usize..to as usize);
            };
            match (single[rule], fate[rule]) {
                (NONE, _) | (OWN, Fate::Unused) => {}
                (OWN, Fate::Kept) => symbols.push(term_count + rule as u32),
                (OWN, Fate::WrittenOut) => {
                    for &symbol in slices.body(rule as u32) {
                        match slices.rule_of(symbol) {
                            None if terms[symbol as usize] != NONE => {
                                symbols.push(terms[symbol as usize]);
                            }
                            None => {}
                            Some(child) => append(&mut symbols, child),
                        }
                    }
                    if symbols.len() - start > LONGEST_WRITTEN_OUT {
                        symbols.truncate(start);
                        symbols.push(term_count + rule as u32);
                    }
                }
                (other, _) => match other.checked_sub(term_count) {
                    None => symbols.push(other),
                    Some(child) => append(&mut symbols, child),
                },
            }
            ranges[rule] = (start as u32, symbols.len() as u32);
            if symbols[start..] == [term_count + rule as u32] {
                kept.push(rule as u32);
            }
        }
        kept.reverse();
        // Rules had their old numbers up to here, as the new ones were not known.
        let mut numbers = vec![NONE; single.len()];
        for (number, &rule) in (term_count..).zip(&kept) {
            numbers[rule as usize] = number;
        }
        for symbol in symbols.iter_mut().filter(|symbol| **symbol >= term_count) {
            *symbol = numbers[(*symbol - term_count) as usize];
        }
        Self::in_order(&symbols, &ranges, kept)
    }

    /// In the order of rules.
    fn in_order(symbols: &[u32], ranges: &[(u32, u32)], kept: Vec<u32>) -> Self {
        let mut starts = Vec::with_capacity(ranges.len() + 1);
        let mut ordered = Vec::with_capacity(symbols.len());
        starts.push(0);
        for &(from, to) in ranges {
            ordered.extend_from_slice(&symbols[from as usize..to as usize]);
            starts.push(ordered.len() as u32);
        }
        Self { starts, symbols: ordered, kept }
    }

    #[inline]
    fn get(&self, rule: u32) -> &[u32] {
        let rule = rule as usize;
        &self.symbols[self.starts[rule] as usize..self.starts[rule + 1] as usize]
    }

    /// Calls `each` with the symbols that stand for those of a row.
    #[inline]
    fn for_each(&self, grammar: &Grammar, row: &[u32], terms: &[u32], mut each: impl FnMut(u32)) {
        let grammar = grammar.slices();
        for &symbol in row {
            match grammar.rule_of(symbol) {
                None if terms[symbol as usize] != NONE => each(terms[symbol as usize]),
                None => {}
                Some(rule) => self.get(rule).iter().for_each(|&symbol| each(symbol)),
            }
        }
    }

    /// How many symbols stand for those of a row.
    fn length(&self, grammar: &Grammar, row: &[u32], terms: &[u32]) -> usize {
        let mut length = 0;
        self.for_each(grammar, row, terms, |_| length += 1);
        length
    }
}

/// For each rule [`OWN`], the one symbol that is left of it (a term, or `term_count` and a rule), or [`NONE`].
fn singles(grammar: &Grammar, terms: &[u32], term_count: u32) -> Vec<u32> {
    let rules = grammar.rule_count();
    let grammar = grammar.slices();
    let mut single = vec![NONE; rules as usize];
    for rule in (0..rules).rev() {
        let (mut length, mut last) = (0, NONE);
        for &symbol in grammar.body(rule) {
            let symbol = match grammar.rule_of(symbol) {
                None => terms[symbol as usize],
                Some(child) => match single[child as usize] {
                    OWN => term_count + child,
                    other => other,
                },
            };
            if symbol != NONE {
                length += 1;
                last = symbol;
            }
        }
        single[rule as usize] = if length > 1 { OWN } else { last };
    }
    single
}

/// How often each rule stands in the rows.
fn count_uses(
    grammar: &Grammar,
    rows: &[&[u32]],
    rule_of: &(impl Fn(u32) -> Option<u32> + Sync),
) -> Vec<u32> {
    let rules = grammar.rule_count() as usize;
    let symbols: usize = rows.iter().map(|row| row.len()).sum();
    let count = |row: &[u32], uses: &mut [u32]| {
        for rule in row.iter().filter_map(|&symbol| rule_of(symbol)) {
            uses[rule as usize] += 1;
        }
    };
    let mut uses = vec![0_u32; rules];
    let tables = rayon::current_num_threads().min(symbols / rules.max(1));
    if tables < 2 || rows.len() > 1 {
        rows.iter().for_each(|row| count(row, &mut uses));
        return uses;
    }
    let counted: Vec<Vec<u32>> = rows[0]
        .par_chunks(symbols.div_ceil(tables))
        .map(|stretch| {
            let mut uses = vec![0_u32; rules];
            count(stretch, &mut uses);
            uses
        })
        .collect();
    for row in counted {
        uses.iter_mut().zip(row).for_each(|(sum, more)| *sum += more);
    }
    uses
}

/// The bodies of the rules that stay, and where each starts.
fn copy_bodies(
    grammar: &Grammar,
    terms: &[u32],
    replacements: &Replacements,
) -> (Vec<u32>, Vec<u32>) {
    let kept = &replacements.kept;
    let lengths: Vec<Vec<u32>> = kept
        .par_chunks(RULES_AT_ONCE)
        .map(|rules| {
            let length = |&rule| replacements.length(grammar, grammar.body(rule), terms) as u32;
            rules.iter().map(length).collect()
        })
        .collect();
    let mut starts = Vec::with_capacity(kept.len() + 1);
    let mut total = 0;
    starts.push(0);
    for &length in lengths.iter().flatten() {
        total += length;
        starts.push(total);
    }
    let mut bodies = vec![0_u32; total as usize];
    let sizes = lengths.iter().map(|lengths| lengths.iter().sum::<u32>() as usize);
    let stretches = split(&mut bodies, sizes);
    stretches.into_par_iter().zip(kept.par_chunks(RULES_AT_ONCE)).for_each(|(stretch, rules)| {
        let mut places = stretch.iter_mut();
        for &rule in rules {
            replacements.for_each(grammar, grammar.body(rule), terms, |symbol| {
                *places.next().expect("as many places as symbols") = symbol;
            });
        }
    });
    (bodies, starts)
}

/// The symbols of documents, and where each starts.
fn copy_root(
    grammar: &Grammar,
    root: &[u32],
    document_starts: &[u32],
    terms: &[u32],
    replacements: &Replacements,
) -> (Vec<u32>, Vec<u32>) {
    let counts: Vec<usize> = root
        .par_chunks(ROOT_AT_ONCE)
        .map(|chunk| replacements.length(grammar, chunk, terms))
        .collect();
    let mut copied = vec![0_u32; counts.iter().sum()];
    let total = copied.len() as u32;
    let before: Vec<u32> = counts
        .iter()
        .scan(0, |sum, &count| {
            let before = *sum;
            *sum += count as u32;
            Some(before)
        })
        .collect();
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
            let mut starts = Vec::with_capacity(high - low);
            let (mut place, mut at) = (0, 0);
            // The symbols up to each start of a document, and then the rest.
            for &start in &document_starts[low..high] {
                let next = (start - first) as usize;
                replacements.for_each(grammar, &symbols[at..next], terms, |symbol| {
                    stretch[place] = symbol;
                    place += 1;
                });
                starts.push(before[chunk] + place as u32);
                at = next;
            }
            replacements.for_each(grammar, &symbols[at..], terms, |symbol| {
                stretch[place] = symbol;
                place += 1;
            });
            starts
        })
        .collect();
    let mut starts = starts.concat();
    // What starts behind the last symbol: empty documents, and the end.
    starts.resize(document_starts.len(), total);
    (copied, starts)
}
