//! One segment's grammar with its tokens made terms, and rules that do not pay written out.
//!
//! A whole segment of level `fast` is coded: its root is decoded chunk by chunk into the view, and
//! the archive says how often rules are used. Of any other, the root is there, and its symbols are counted.
//!
//! Cost: a pass over all symbols on all threads, and one before it over the rules
//! ([`Replacements`]); of a grammar that is not coded also one over the root, and one over the
//! rules on one thread. The root is not copied if only counts are wanted.

use tadoc_core::archive::CodedGrammar;
use tadoc_core::parallel::map_chunks;
use tadoc_core::{Grammar, SpillVec};

use super::replacements::Replacements;
use super::{Detail, NONE, ViewRows, WHAT, too_many_symbols};
use crate::error::Result;

/// Symbols of the root that a thread copies at a time.
const ROOT_AT_ONCE: usize = 1 << 16;
/// Rules that a thread works on at a time.
pub(super) const RULES_AT_ONCE: usize = 1 << 14;
/// Symbols of a coded root from which those without a term are taken out at a time.
const COMPACTED: usize = 256;
/// What is added to a view.
pub(super) struct Source<'a> {
    /// The rules, and the root unless that is coded.
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
    /// Adds it to a view, with its counts.
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
        let counts = self.grammar.count_symbols(rows);
        let spill = self.grammar.spill();
        let uses = uses(self.grammar, &counts);
        let replacements = Replacements::new(self, &uses);
        drop(uses);
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

    /// The same for all of a coded grammar, whose rules this source has; without counts.
    pub(super) fn add_coded(&self, coded: CodedGrammar, made: &mut ViewRows) -> Result<()> {
        // A rule that is used is never left out, whatever the archive says of it.
        let mut uses = coded.least_uses();
        uses.iter_mut().for_each(|uses| *uses = (*uses).max(1));
        let steps = coded.budget().steps().clone();
        let bytes = 4 * self.grammar.symbols().len() as u64 + 16 * uses.len() as u64;
        let make = || Replacements::new(self, &uses);
        let replacements = steps.measure("rules over terms", bytes, make);
        drop(uses);
        steps.measure("bodies over terms", 2 * bytes, || self.copy_bodies(&replacements, made))?;
        let document_starts = coded.document_starts().to_vec();
        let share = coded.budget().share();
        made.shares.push(share.clone());
        // What is several symbols is found by the numbers above all that are one.
        let several = self.term_count + self.rules_before + self.grammar.rule_count();
        let other = |symbol: u32| match self.grammar.rule_of(symbol) {
            None => self.terms[symbol as usize],
            Some(rule) => match *replacements.get(rule) {
                [] => NONE,
                [other] => other,
                _ => several + rule,
            },
        };
        let append = |row: &[u32], into: &mut Vec<u32>| {
            let mut kept = [0_u32; COMPACTED];
            for row in row.chunks(COMPACTED) {
                // Whether a symbol goes is hard to predict, so there is no branch on it.
                let mut length = 0;
                for &symbol in row {
                    kept[length] = symbol;
                    length += usize::from(symbol != NONE);
                }
                replacements.write_out(&kept[..length], several, into);
            }
        };
        let copy = |first: usize, row: &[u32]| copy_chunk(first, row, &document_starts, append);
        coded.replace_root(other, &copy, &mut |chunks: Vec<Chunk>| {
            let symbols: usize = chunks.iter().map(|chunk| chunk.symbols.len()).sum();
            share.grow((size_of::<u32>() * symbols) as u64, WHAT)?;
            append_chunks(&chunks, made)
        })
    }

    /// Adds the bodies of the rules that stay, and where each ends.
    #[expect(clippy::cast_possible_truncation, reason = "`append` refuses 2^32 symbols")]
    fn copy_bodies(&self, replacements: &Replacements, made: &mut ViewRows) -> Result<()> {
        for rules in replacements.kept().chunks(RULES_AT_ONCE * copied_at_once()) {
            let copied = map_chunks(rules, RULES_AT_ONCE, &|_, rules: &[u32]| {
                let (mut bodies, mut ends) = (Vec::new(), Vec::with_capacity(rules.len()));
                for &rule in rules {
                    replacements.append(self, self.grammar.body(rule), &mut bodies);
                    ends.push(bodies.len() as u32);
                }
                (bodies, ends)
            });
            let starts = append(&mut made.bodies, copied.iter().map(|(bodies, _)| &bodies[..]))?;
            for ((_, ends), start) in copied.iter().zip(starts) {
                made.rule_ends.extend(ends.iter().map(|end| start + end));
            }
        }
        Ok(())
    }

    /// Adds the symbols of documents, and where each document starts that has any or comes before
    /// one that has.
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
                let first = number * at_once + chunk * ROOT_AT_ONCE;
                copy_chunk(first, symbols, document_starts, |row: &[u32], into: &mut Vec<u32>| {
                    replacements.append(self, row, into);
                })
            });
            append_chunks(&copied, made)?;
        }
        Ok(())
    }
}

/// A stretch of a root over terms, and where documents start in it.
struct Chunk {
    symbols: Vec<u32>,
    starts: Vec<u32>,
}

/// Copies the stretch of a root that starts at `first`, `append` by `append` for each document.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the root has fewer than 2^32 symbols, and `append_to` refuses as many"
)]
fn copy_chunk(
    first: usize,
    symbols: &[u32],
    document_starts: &[u32],
    append: impl Fn(&[u32], &mut Vec<u32>),
) -> Chunk {
    let end = first + symbols.len();
    let low = document_starts.partition_point(|&start| (start as usize) < first);
    let high = document_starts.partition_point(|&start| (start as usize) < end);
    let mut copied = Vec::with_capacity(symbols.len() * 5 / 4);
    let mut starts = Vec::with_capacity(high - low);
    let mut at = 0;
    // The symbols up to each start of a document, and then the rest.
    for &start in &document_starts[low..high] {
        let next = start as usize - first;
        append(&symbols[at..next], &mut copied);
        starts.push(copied.len() as u32);
        at = next;
    }
    append(&symbols[at..], &mut copied);
    Chunk { symbols: copied, starts }
}

fn append_chunks(chunks: &[Chunk], made: &mut ViewRows) -> Result<()> {
    let starts = append(&mut made.root, chunks.iter().map(|chunk| &chunk.symbols[..]))?;
    for (chunk, before) in chunks.iter().zip(starts) {
        made.document_starts.extend(chunk.starts.iter().map(|start| before + start));
    }
    Ok(())
}

/// How many symbols each rule is, of those in the documents and in the rules that they reach;
/// `counts` has how often each symbol stands in the documents. At least 1 where there are any.
fn uses(grammar: &Grammar, counts: &[u32]) -> SpillVec<u32> {
    let slices = grammar.slices();
    let in_documents = &counts[grammar.token_count() as usize..];
    let mut uses = grammar.spill().collect(in_documents.iter().copied());
    // Parents come before children.
    for rule in 0..grammar.rule_count() {
        if uses[rule as usize] > 0 {
            for child in slices.body(rule).iter().filter_map(|&symbol| slices.rule_of(symbol)) {
                uses[child as usize] = uses[child as usize].saturating_add(1);
            }
        }
    }
    uses
}

/// Chunks that are copied before they are put behind what there is: some for each thread.
fn copied_at_once() -> usize {
    8 * rayon::current_num_threads()
}

/// Appends rows of symbols, one after the other; gives where each starts.
#[expect(clippy::cast_possible_truncation, reason = "checked before")]
fn append<'r>(
    row: &mut SpillVec<u32>,
    rows: impl Iterator<Item = &'r [u32]>,
) -> Result<impl Iterator<Item = u32>> {
    let rows: Vec<&[u32]> = rows.collect();
    let more: usize = rows.iter().map(|row| row.len()).sum();
    if row.len() + more > u32::MAX as usize {
        return Err(too_many_symbols());
    }
    Ok(row.extend_from_slices(&rows).into_iter().map(|start| start as u32))
}
