//! One segment's grammar with its tokens made terms, and rules that do not pay written out.
//!
//! Separators and removed words go; a rule that is left with nothing goes too, one that is left with a single
//! symbol is replaced by it, and one that saves next to nothing is replaced by its body: very many rules are two
//! symbols that come twice, and a rule costs a miss of the cache wherever it is met. The order of rules stays, so
//! parents still come before children.
//!
//! Cost: a pass over the root that counts its symbols, three over the rules on one thread, then one over all symbols on all
//! threads; the root is left out of that if only counts are wanted. 24 bytes a rule and the result, beside the grammar.

use rayon::prelude::*;
use tadoc_core::parallel::map_chunks;
use tadoc_core::{Grammar, SpillVec};

use super::{Detail, NONE, ViewRows, add, too_many_symbols};
use crate::error::Result;

/// Symbols of the root that a thread copies at a time.
const ROOT_AT_ONCE: usize = 1 << 16;
/// Rules that a thread copies at a time.
const RULES_AT_ONCE: usize = 1 << 14;
/// A rule of `length` symbols and `uses` uses stays if `(uses - 1) * (length - 1)`, which is by how much the grammar would grow
/// without it and one, is above this.
const LEAST_GAIN: u64 = 3;
/// What is longer is not written out, whatever it saves: chains of rules would be written out at each of their links.
const LONGEST_WRITTEN_OUT: usize = 64;

/// What is added to a view.
pub(super) struct Source<'a> {
    pub(super) grammar: &'a Grammar,
    /// For each token its term or [`NONE`].
    pub(super) terms: &'a [u32],
    /// How many terms the view has, and how many rules before those of this segment.
    pub(super) term_count: u32,
    pub(super) rules_before: u32,
    /// Places of the documents that count, ascending; `None` for all.
    pub(super) documents: Option<&'a [usize]>,
}

impl Source<'_> {
    /// Adds it to a view.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the rows are of a grammar, which has fewer than 2^32 symbols"
    )]
    pub(super) fn add_to(&self, made: &mut ViewRows, detail: Detail) -> Result<()> {
        let chosen: Vec<&[u32]>;
        let rows = match self.documents {
            None => &[self.grammar.root()][..],
            Some(places) => {
                chosen = places.iter().map(|&place| self.grammar.document(place)).collect();
                &chosen
            }
        };
        let counts = count_symbols(self.grammar, rows);
        let replacements = Replacements::new(self, &counts);
        replacements.count(self, &counts, made)?;
        drop(counts);
        self.copy_bodies(&replacements, made)?;
        match (detail, self.documents) {
            (Detail::Counts, _) => Ok(()),
            (Detail::Whole, None) => {
                let starts = self.grammar.document_starts();
                self.copy_root(self.grammar.root(), starts, &replacements, made)
            }
            (Detail::Whole, Some(_)) => {
                let spill = self.grammar.spill();
                let (mut root, mut starts) = (spill.row(), spill.row());
                for row in rows {
                    starts.push(root.len() as u32);
                    root.extend_from_slice(row);
                }
                starts.push(root.len() as u32);
                self.copy_root(&root, &starts, &replacements, made)
            }
        }
    }

    /// Adds the bodies of the rules that stay, and where each ends.
    #[expect(clippy::cast_possible_truncation, reason = "`append` refuses 2^32 symbols")]
    fn copy_bodies(&self, replacements: &Replacements, made: &mut ViewRows) -> Result<()> {
        for rules in replacements.kept.chunks(RULES_AT_ONCE * copied_at_once()) {
            let copied = map_chunks(rules, RULES_AT_ONCE, &|_, rules: &[u32]| {
                let (mut bodies, mut ends) = (Vec::new(), Vec::with_capacity(rules.len()));
                for &rule in rules {
                    replacements.append(self, self.grammar.body(rule), &mut bodies);
                    ends.push(bodies.len() as u32);
                }
                (bodies, ends)
            });
            for (bodies, ends) in copied {
                let before = append(&mut made.bodies, &bodies)?;
                made.rule_ends.extend(ends.iter().map(|end| before + end));
            }
        }
        Ok(())
    }

    /// Adds the symbols of documents, and where each document starts that has any or comes before
    /// one that has.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the root has fewer than 2^32 symbols, and `append` refuses as many"
    )]
    fn copy_root(
        &self,
        root: &[u32],
        document_starts: &[u32],
        replacements: &Replacements,
        made: &mut ViewRows,
    ) -> Result<()> {
        let at_once = ROOT_AT_ONCE * copied_at_once();
        for (number, symbols) in root.chunks(at_once).enumerate() {
            let copied = map_chunks(symbols, ROOT_AT_ONCE, &|chunk, symbols: &[u32]| {
                let first = (number * at_once + chunk * ROOT_AT_ONCE) as u32;
                let end = first + symbols.len() as u32;
                let low = document_starts.partition_point(|&start| start < first);
                let high = document_starts.partition_point(|&start| start < end);
                let mut copied = Vec::with_capacity(symbols.len() * 5 / 4);
                let mut starts = Vec::with_capacity(high - low);
                let mut at = 0;
                // The symbols up to each start of a document, and then the rest.
                for &start in &document_starts[low..high] {
                    let next = (start - first) as usize;
                    replacements.append(self, &symbols[at..next], &mut copied);
                    starts.push(copied.len() as u32);
                    at = next;
                }
                replacements.append(self, &symbols[at..], &mut copied);
                (copied, starts)
            });
            for (symbols, starts) in copied {
                let before = append(&mut made.root, &symbols)?;
                made.document_starts.extend(starts.iter().map(|start| before + start));
            }
        }
        Ok(())
    }
}

/// Chunks that are copied before they are put behind what there is: some for each thread.
fn copied_at_once() -> usize {
    8 * rayon::current_num_threads()
}

/// Appends symbols; gives how many were there before.
#[expect(clippy::cast_possible_truncation, reason = "checked before")]
fn append(row: &mut SpillVec<u32>, symbols: &[u32]) -> Result<u32> {
    let before = row.len();
    if before + symbols.len() > u32::MAX as usize {
        return Err(too_many_symbols());
    }
    row.extend_from_slice(symbols);
    Ok(before as u32)
}

/// How often each symbol stands in rows: tokens, then rules.
fn count_symbols(grammar: &Grammar, rows: &[&[u32]]) -> SpillVec<u32> {
    let spill = grammar.spill();
    let size = (grammar.token_count() + grammar.rule_count()) as usize;
    let length: usize = rows.iter().map(|row| row.len()).sum();
    let count = |row: &[u32], counts: &mut [u32]| {
        row.iter().for_each(|&symbol| counts[symbol as usize] += 1);
    };
    let tables = rayon::current_num_threads().min(length / size.max(1));
    let [row] = rows else {
        let mut counts = spill.filled(0_u32, size);
        rows.iter().for_each(|row| count(row, &mut counts));
        return counts;
    };
    let at_once = length.div_ceil(tables.max(1)).max(1);
    let counted: Vec<SpillVec<u32>> = map_chunks(row, at_once, &|_, stretch: &[u32]| {
        let mut counts = spill.filled(0_u32, size);
        count(stretch, &mut counts);
        counts
    });
    counted
        .into_iter()
        .reduce(|mut sums, counts| {
            sums.par_iter_mut().zip(&counts[..]).for_each(|(sum, count)| *sum += count);
            sums
        })
        .unwrap_or_else(|| spill.filled(0, size))
}

/// Numbers of a slot.
const SLOT: usize = 4;
/// Rules whose slots are fetched together, so that waiting for one is waiting for all.
const FETCHED: usize = 16;

/// What stands for each rule in the view: nothing, one symbol (its own new one, or that of what is
/// left of it), or what is written out in its place.
///
/// A rule has a slot: how many symbols, and the symbols if they are fewer than [`SLOT`]; otherwise where they are.
struct Replacements {
    slots: SpillVec<[u32; SLOT]>,
    long: SpillVec<u32>,
    /// The rules that stay.
    kept: SpillVec<u32>,
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
    /// `counts` has how often each symbol stands in the documents.
    fn new(source: &Source<'_>, counts: &[u32]) -> Self {
        let single = singles(source);
        let fates = fates(source, &single, counts);
        Self::write_out(source, &single, &fates)
    }

    /// Children first: what stands for a rule, out of what stands for the symbols of its body.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rules are numbered in 32 bits, and what is written out is shorter"
    )]
    fn write_out(source: &Source<'_>, single: &[u32], fates: &[Fate]) -> Self {
        let grammar = source.grammar.slices();
        let term_count = source.term_count;
        let spill = source.grammar.spill();
        let slots = spill.filled([0; SLOT], single.len());
        let (mut long, mut kept) = (spill.row(), spill.row());
        let mut this = Self { slots, long: spill.row(), kept: spill.row() };
        let mut written: Vec<u32> = Vec::new();
        for rule in (0..single.len()).rev() {
            written.clear();
            match (single[rule], fates[rule]) {
                (NONE, _) | (OWN, Fate::Unused) => {}
                (OWN, Fate::Kept) => written.push(term_count + rule as u32),
                (OWN, Fate::WrittenOut) => {
                    this.append(source, grammar.body(rule as u32), &mut written);
                    if written.len() > LONGEST_WRITTEN_OUT {
                        written.clear();
                        written.push(term_count + rule as u32);
                    }
                }
                (other, _) => match other.checked_sub(term_count) {
                    None => written.push(other),
                    Some(child) => written.extend_from_slice(this.get(child)),
                },
            }
            let slot = &mut this.slots[rule];
            slot[0] = written.len() as u32;
            if written.len() < SLOT {
                slot[1..1 + written.len()].copy_from_slice(&written);
            } else {
                slot[1] = this.long.len() as u32;
                this.long.extend_from_slice(&written);
            }
            if written == [term_count + rule as u32] {
                kept.push(rule as u32);
            }
        }
        kept.reverse();
        // Rules had their old numbers up to here, as the new ones were not known.
        let mut numbers = spill.filled(NONE, single.len());
        for (number, &rule) in (term_count + source.rules_before..).zip(&kept[..]) {
            numbers[rule as usize] = number;
        }
        let renumber = |symbol: &mut u32| {
            if *symbol >= term_count {
                *symbol = numbers[(*symbol - term_count) as usize];
            }
        };
        std::mem::swap(&mut long, &mut this.long);
        long.iter_mut().for_each(renumber);
        this.slots.par_iter_mut().with_min_len(RULES_AT_ONCE).for_each(|slot| {
            if (slot[0] as usize) < SLOT {
                let length = slot[0] as usize;
                slot[1..1 + length].iter_mut().for_each(renumber);
            }
        });
        Self { slots: this.slots, long, kept }
    }

    #[inline]
    fn get(&self, rule: u32) -> &[u32] {
        self.symbols_of(&self.slots[rule as usize])
    }

    #[inline]
    fn symbols_of<'s>(&'s self, slot: &'s [u32; SLOT]) -> &'s [u32] {
        let length = slot[0] as usize;
        if length < SLOT {
            &slot[1..1 + length]
        } else {
            &self.long[slot[1] as usize..slot[1] as usize + length]
        }
    }

    /// Appends the symbols that stand for those of a row.
    #[inline]
    fn append(&self, source: &Source<'_>, row: &[u32], into: &mut Vec<u32>) {
        let grammar = source.grammar.slices();
        for block in row.chunks(FETCHED) {
            let mut fetched = [[0_u32; SLOT]; FETCHED];
            for (slot, &symbol) in fetched.iter_mut().zip(block) {
                match grammar.rule_of(symbol) {
                    None => *slot = [1, source.terms[symbol as usize], 0, 0],
                    Some(rule) => *slot = self.slots[rule as usize],
                }
            }
            for slot in &fetched[..block.len()] {
                match slot {
                    [1, NONE, ..] => {}
                    [1, symbol, ..] => into.push(*symbol),
                    slot => into.extend_from_slice(self.symbols_of(slot)),
                }
            }
        }
    }

    /// Adds how often terms, and rules that stay, stand in the documents, out of how often the old
    /// symbols do.
    fn count(&self, source: &Source<'_>, counts: &[u32], made: &mut ViewRows) -> Result<()> {
        let before = made.rule_counts.len();
        made.rule_counts.extend(std::iter::repeat_n(0, self.kept.len()));
        let (term_counts, rule_counts) =
            (&mut made.term_counts[..], &mut made.rule_counts[before..]);
        let (of_tokens, of_rules) = counts.split_at(source.terms.len());
        for (&term, &count) in source.terms.iter().zip(of_tokens).filter(|(term, _)| **term != NONE)
        {
            add(&mut term_counts[term as usize], count.into())?;
        }
        let first_rule = source.term_count + source.rules_before;
        for (slot, &count) in self.slots.iter().zip(of_rules).filter(|(_, count)| **count > 0) {
            for &symbol in self.symbols_of(slot) {
                match symbol.checked_sub(first_rule) {
                    None => add(&mut term_counts[symbol as usize], count.into())?,
                    Some(rule) => add(&mut rule_counts[rule as usize], count.into())?,
                }
            }
        }
        Ok(())
    }
}

/// For each rule [`OWN`], the one symbol that is left of it (a term, or `term_count` and a rule), or [`NONE`].
fn singles(source: &Source<'_>) -> SpillVec<u32> {
    let rules = source.grammar.rule_count();
    let grammar = source.grammar.slices();
    let mut single = source.grammar.spill().filled(NONE, rules as usize);
    for rule in (0..rules).rev() {
        let (mut length, mut last) = (0, NONE);
        for &symbol in grammar.body(rule) {
            let symbol = match grammar.rule_of(symbol) {
                None => source.terms[symbol as usize],
                Some(child) => match single[child as usize] {
                    OWN => source.term_count + child,
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

/// What becomes of each rule that is more than a symbol. Parents first: what is written out hands its uses on.
fn fates(source: &Source<'_>, single: &[u32], counts: &[u32]) -> Vec<Fate> {
    let grammar = source.grammar.slices();
    let spill = source.grammar.spill();
    let mut uses = spill.collect(counts[source.terms.len()..].iter().copied());
    let mut fates = vec![Fate::Unused; single.len()];
    for rule in 0..single.len() {
        let own = uses[rule];
        if own == 0 {
            continue;
        }
        if single[rule] != OWN {
            // What stands for it is used in its place; that has a higher number, as all that it uses.
            if let Some(child) = single[rule].checked_sub(source.term_count)
                && single[rule] != NONE
            {
                uses[child as usize] = uses[child as usize].saturating_add(own);
            }
            continue;
        }
        #[expect(clippy::cast_possible_truncation, reason = "rules are numbered in 32 bits")]
        let body = grammar.body(rule as u32);
        let mut length = 0_u64;
        for &symbol in body {
            length += u64::from(match grammar.rule_of(symbol) {
                None => source.terms[symbol as usize] != NONE,
                Some(child) => single[child as usize] != NONE,
            });
        }
        let gain = u64::from(own - 1) * (length - 1);
        let pays = gain > LEAST_GAIN;
        fates[rule] = if pays { Fate::Kept } else { Fate::WrittenOut };
        let handed_on = if pays { 1 } else { own };
        for child in body.iter().filter_map(|&symbol| grammar.rule_of(symbol)) {
            uses[child as usize] = uses[child as usize].saturating_add(handed_on);
        }
    }
    fates
}
