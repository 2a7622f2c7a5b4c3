//! What a task runs on: the grammar over terms.
//!
//! A view is a [`Grammar`] whose tokens are terms: separators and what the analyzer removed are gone, and with
//! them the rules that became empty or a single symbol. Several segments, and several archives, are one
//! view: their roots stand one after the other, so that a document that goes on in the next segment is whole
//! again, and their rules likewise. Terms are numbered in byte order, so that the order of numbers is the
//! order of terms, and sequences packed into integers compare as sequences of terms do.
//!
//! It costs 4 bytes a symbol, 8 a document, 16 a rule, and the terms' bytes with 12 more for each. Nothing
//! depends on where the arrays lie: a view may be mapped from a file.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::answer::Texts;
use crate::task::Task;
use crate::{Array, Error, Grammar, Result, SpillVec, parallel};

/// Terms checked by a thread at a time.
const CHECKED_AT_ONCE: usize = 1 << 14;
/// Symbols whose lengths a thread adds up at a time.
const SUMMED_AT_ONCE: usize = 1 << 16;
/// Rules whose lengths a thread adds up at a time.
const SUMMED_RULES: usize = 1 << 13;

/// A network has fewer items. A pair of items is at most as far apart as the widest window, in either order, so that
/// no pair, sequence, item or rule has a count of more than 64 bits.
const MOST_ITEMS: u64 = u64::MAX / (2 * Task::WIDEST_WINDOW as u64);

/// The terms of a view: in byte order, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    bytes: Array<u8>,
    ends: Array<u64>,
}

impl Terms {
    /// Checks the parts and puts them together: the bytes of all terms, and where each ends. O(bytes), on
    /// all threads.
    pub fn new(bytes: impl Into<Array<u8>>, ends: impl Into<Array<u64>>) -> Result<Self> {
        let terms = Self { bytes: bytes.into(), ends: ends.into() };
        let last = terms.ends.last().copied().unwrap_or(0);
        // In order, so that no term can lead out of the bytes.
        let ascending = terms.ends.is_sorted();
        let fits = ascending && last == terms.bytes.len() as u64;
        let Some(length) = u32::try_from(terms.ends.len()).ok().filter(|_| fits) else {
            return Err(Error::malformed("the ends of terms do not fit their bytes"));
        };
        let (numbers, texts) = ((1..length).into_par_iter(), terms.texts());
        let is_wrong = |&term: &u32| texts.get(term - 1) >= texts.get(term);
        let wrong = numbers.with_min_len(CHECKED_AT_ONCE).find_any(is_wrong);
        match wrong {
            Some(term) => Err(Error::malformed(format!("term {term} is not above the one before"))),
            None => Ok(terms),
        }
    }

    /// How many there are.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "`new` has seen that terms are numbered in 32 bits"
    )]
    pub fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of a term.
    ///
    /// # Panics
    /// If there is no such term.
    #[inline]
    pub fn get(&self, term: u32) -> &[u8] {
        self.texts().get(term)
    }

    /// The texts of all, where they lie: for those who read many.
    #[inline]
    pub fn texts(&self) -> Texts<'_> {
        Texts { bytes: &self.bytes, ends: &self.ends }
    }

    /// The number of a term. O(log terms) comparisons.
    pub fn find(&self, bytes: &[u8]) -> Option<u32> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle).cmp(bytes) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// The bytes of all terms, one after the other.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where each term ends in [`Terms::bytes`].
    pub fn ends(&self) -> &[u64] {
        &self.ends
    }
}

/// One grammar of those that a network was made of: rules of a part use only rules of the same part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its stretch of the root.
    pub root: Range<u32>,
    /// Its rules.
    pub rules: Range<u32>,
}

/// A grammar with what traversals need to know beside it. Its tokens are terms, or whatever else is counted;
/// here they are called items.
#[derive(Debug, Clone)]
pub struct Network {
    grammar: Grammar,
    parts: Vec<Part>,
    documents: Arc<[u32]>,
    levels: Vec<u32>,
    lengths: SpillVec<u64>,
    length: u64,
    root_counts: OnceLock<Array<u32>>,
    has_root: bool,
    identity: u64,
}

/// The identity of the network that is made next.
static NEXT_IDENTITY: AtomicU64 = AtomicU64::new(0);

impl Network {
    /// Checks the parts and puts them together. `documents` has, for each document of the grammar, its
    /// number in the corpus, ascending. A rule that expands to nothing may be there but not be used, so that no
    /// rule occurs more often than there are items. O(symbols), parts side by side.
    pub fn new(grammar: Grammar, parts: Vec<Part>, documents: Vec<u32>) -> Result<Self> {
        let mut network = Self::without_length(grammar, parts, documents)?;
        network.length = network.root_length()?;
        Ok(network)
    }

    /// A network that has counts instead of a root: how often everything occurs, and not where. The root is empty, and all
    /// documents are. O(symbols of rules).
    pub fn of_counts(
        grammar: Grammar,
        parts: Vec<Part>,
        documents: Vec<u32>,
        root_counts: Array<u32>,
    ) -> Result<Self> {
        if !grammar.root().is_empty() {
            return Err(Error::malformed("a view of counts has a root"));
        }
        let mut network = Self::without_length(grammar, parts, documents)?;
        network.has_root = false;
        network.length = network.length_of_counts(&root_counts)?;
        network.root_counts = root_counts.into();
        Ok(network)
    }

    /// Whether there is a root, and so documents; otherwise there are counts only: all documents seem empty, and only
    /// traversals of the whole corpus give what is right.
    pub fn has_root(&self) -> bool {
        self.has_root
    }

    fn without_length(grammar: Grammar, parts: Vec<Part>, documents: Vec<u32>) -> Result<Self> {
        let mut next = (0, 0);
        for Part { root, rules } in &parts {
            let starts = (root.start, rules.start);
            if starts != next || root.end < root.start || rules.end < rules.start {
                return Err(Error::malformed("the parts of a view do not follow each other"));
            }
            next = (root.end, rules.end);
        }
        if (next.0 as usize, next.1) != (grammar.root().len(), grammar.rule_count()) {
            return Err(Error::malformed("the parts of a view do not cover it"));
        }
        let ascending = documents.is_sorted_by(|one, other| one < other);
        if documents.len() != grammar.document_count() || !ascending {
            return Err(Error::malformed("a view's documents are not numbered in order"));
        }
        let mut lengths = grammar.spill().filled(0, grammar.rule_count() as usize);
        let of_parts = parallel::split(&mut lengths, parts.iter().map(|part| part.rules.len()));
        let sweeps = parts.par_iter().zip(of_parts).map(|(part, lengths)| {
            check_rules(&grammar, part)?;
            let levels = grammar.slices().levels(part.rules.clone());
            sum_lengths(&grammar, part, &levels, lengths)?;
            Ok(levels)
        });
        let mut levels = sweeps.collect::<Result<Vec<Vec<u32>>>>()?.concat();
        levels.push(grammar.rule_count());
        let root_counts = OnceLock::new();
        let (length, has_root) = (0, true);
        let identity = NEXT_IDENTITY.fetch_add(1, Ordering::Relaxed);
        Ok(Self {
            grammar,
            parts,
            documents: documents.into(),
            levels,
            lengths,
            length,
            root_counts,
            has_root,
            identity,
        })
    }

    /// A number that this network and its copies have, and no other one of the process: what was made of a network can be
    /// kept under it.
    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// The items that the root expands to. Checks that its parts use their own rules alone, and none that expands to
    /// nothing.
    fn root_length(&self) -> Result<u64> {
        let grammar = self.grammar.slices();
        let mut length = 0_u64;
        for part in &self.parts {
            let root = &self.grammar.root()[part.root.start as usize..part.root.end as usize];
            let sums = root.par_chunks(SUMMED_AT_ONCE).map(|chunk| {
                let mut sum = 0_u64;
                for &symbol in chunk {
                    let length = match grammar.rule_of(symbol) {
                        None => 1,
                        Some(rule) if part.rules.contains(&rule) => self.lengths[rule as usize],
                        Some(_) => {
                            let what = "the root uses a rule of another part";
                            return Err(Error::malformed(what));
                        }
                    };
                    sum = add_length(sum, length)?;
                }
                Ok(sum)
            });
            let add = |sum: u64, more: u64| sum.checked_add(more).ok_or_else(too_long);
            length = add(length, sums.try_reduce(|| 0, add)?)?;
        }
        if length < MOST_ITEMS { Ok(length) } else { Err(too_long()) }
    }

    /// The items that a root with these counts expands to.
    fn length_of_counts(&self, counts: &[u32]) -> Result<u64> {
        let items = self.grammar.token_count() as usize;
        if counts.len() != items + self.lengths.len() {
            return Err(Error::malformed("the counts of a view's root are of other symbols"));
        }
        let (of_items, of_rules) = counts.split_at(items);
        let mut length: u64 = of_items.iter().map(|&count| u64::from(count)).sum();
        for (&count, &of_rule) in
            of_rules.iter().zip(&self.lengths[..]).filter(|(count, _)| **count > 0)
        {
            let more = of_rule.checked_mul(count.into()).ok_or_else(too_long)?;
            length = add_length(length, more)?;
        }
        if length < MOST_ITEMS { Ok(length) } else { Err(too_long()) }
    }

    /// The grammar.
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// The grammars that it was made of, in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// For each document of the grammar its number in the corpus; answers hold them too.
    pub fn documents(&self) -> &Arc<[u32]> {
        &self.documents
    }

    /// Levels: rules `levels[i]..levels[i + 1]` do not use each other, so that they can be worked on at the
    /// same time. A part starts a level.
    pub fn levels(&self) -> &[u32] {
        &self.levels
    }

    /// How many items each rule expands to.
    pub fn lengths(&self) -> &[u64] {
        &self.lengths
    }

    /// How many items a symbol expands to: 1, or the length of a rule.
    #[inline]
    pub fn length_of(&self, symbol: u32) -> u64 {
        match self.grammar.rule_of(symbol) {
            None => 1,
            Some(rule) => self.lengths[rule as usize],
        }
    }

    /// How often each symbol (items, then rules) stands in the root: the root with duplicates counted, which is all that
    /// questions about the whole corpus need of it. Made by `count` at the first call, and kept.
    pub fn root_counts_or<C: Into<Array<u32>>>(&self, count: impl FnOnce() -> C) -> &[u32] {
        self.root_counts.get_or_init(|| count().into())
    }

    /// Takes counts that were made before, if they add up to the length of the root.
    pub fn with_root_counts(self, counts: Array<u32>) -> Result<Self> {
        if self.length_of_counts(&counts)? != self.length {
            return Err(Error::malformed("the counts of a view's root are of another root"));
        }
        Ok(Self { root_counts: counts.into(), ..self })
    }

    /// How many items all documents expand to. Below 2^57, so that no count overflows.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Bytes that it holds.
    pub fn memory(&self) -> u64 {
        let numbers = self.grammar.symbols().len()
            + self.grammar.rule_starts().len()
            + self.grammar.document_starts().len()
            + self.documents.len()
            + self.levels.len()
            + self.root_counts.get().map_or(0, |counts| counts.len());
        4 * numbers as u64 + 8 * self.lengths.len() as u64
    }
}

fn too_long() -> Error {
    Error::malformed("its text would have more than 2^57 words")
}

/// Adds the length of a symbol, which must have one.
fn add_length(sum: u64, length: u64) -> Result<u64> {
    if length == 0 {
        return Err(Error::malformed("a rule is used that expands to nothing"));
    }
    sum.checked_add(length).ok_or_else(too_long)
}

/// Checks that the rules of a part use no rules behind it.
fn check_rules(grammar: &Grammar, part: &Part) -> Result<()> {
    let (end, slices) = (part.rules.end, grammar.slices());
    let leads_out = |rule: u32| {
        let mut children = slices.body(rule).iter().filter_map(|&symbol| slices.rule_of(symbol));
        children.any(|child| child >= end)
    };
    match part.rules.clone().into_par_iter().with_min_len(SUMMED_RULES).any(leads_out) {
        true => Err(Error::malformed("a rule uses one of another part")),
        false => Ok(()),
    }
}

/// How many items each rule of a part expands to; level by level, children first.
fn sum_lengths(grammar: &Grammar, part: &Part, levels: &[u32], lengths: &mut [u64]) -> Result<()> {
    let (grammar, first) = (grammar.slices(), part.rules.start);
    let mut end = part.rules.end;
    for &start in levels.iter().rev() {
        let place = |rule: u32| (rule - first) as usize;
        let (own, behind) = lengths[place(start)..].split_at_mut(place(end) - place(start));
        let behind = &*behind;
        let sum_of = |rule: u32| {
            grammar.body(rule).iter().try_fold(0, |sum, &symbol| {
                let length = match grammar.rule_of(symbol) {
                    None => 1,
                    Some(child) => behind[(child - end) as usize],
                };
                add_length(sum, length)
            })
        };
        let chunks = own
            .par_chunks_mut(SUMMED_RULES)
            .zip((start..end).into_par_iter().step_by(SUMMED_RULES));
        chunks.try_for_each(|(lengths, first)| {
            for (rule, length) in (first..).zip(lengths) {
                *length = sum_of(rule)?;
            }
            Ok::<_, Error>(())
        })?;
        end = start;
    }
    Ok(())
}

/// The grammar over terms, as the module's page describes it. A clone is another handle to the same.
#[derive(Debug, Clone)]
pub struct View {
    terms: Arc<Terms>,
    network: Arc<Network>,
}

impl View {
    /// Checks that the terms are those of the network.
    pub fn new(terms: Terms, network: Network) -> Result<Self> {
        if network.grammar.token_count() != terms.len() {
            return Err(Error::malformed("a view's grammar is of other terms"));
        }
        Ok(Self { terms: Arc::new(terms), network: Arc::new(network) })
    }

    /// The terms.
    pub fn terms(&self) -> &Arc<Terms> {
        &self.terms
    }

    /// The grammar over them: its token `t` is the term `t`.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// Bytes that it holds.
    pub fn memory(&self) -> u64 {
        self.network.memory() + self.terms.bytes.len() as u64 + 8 * self.terms.ends.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a b a b c a b` and `a b`, with `a b` as a rule in a rule.
    fn network() -> Network {
        let grammar =
            Grammar::new(3, vec![3, 2, 4, 4, 4, 4, 0, 1], vec![4, 6, 8], vec![0, 3, 4]).unwrap();
        Network::new(grammar, vec![Part { root: 0..4, rules: 0..2 }], vec![0, 7]).unwrap()
    }

    #[test]
    fn levels_and_lengths() {
        let network = network();
        assert_eq!(network.levels(), [0, 1, 2]);
        assert_eq!(network.lengths(), [4, 2]);
        assert_eq!(network.length(), 9);
        assert_eq!(network.documents()[..], [0, 7]);
        assert_eq!(network.identity(), network.clone().identity());
        assert_ne!(network.identity(), self::network().identity());
    }

    #[test]
    fn parts_must_fit() {
        let grammar = network().grammar().clone();
        let part = |root, rules| Part { root, rules };
        let wrong = [
            vec![],
            vec![part(0..4, 0..1)],
            vec![part(0..2, 0..1), part(3..4, 1..2)],
            // The first rule uses the second one, which is of another part.
            vec![part(0..2, 0..1), part(2..4, 1..2)],
            // The first stretch of the root uses rules, but its part has none.
            vec![part(0..2, 0..0), part(2..4, 0..2)],
        ];
        for parts in wrong {
            assert!(Network::new(grammar.clone(), parts, vec![0, 1]).is_err());
        }
        assert!(Network::new(grammar, vec![part(0..4, 0..2)], vec![1, 1]).is_err());
    }

    #[test]
    fn lengths_that_cannot_be_are_refused() {
        // Each rule is the next one twice: 2^70 items.
        let rules = 70_u32;
        let mut symbols = vec![1];
        for rule in 0..rules {
            let child = if rule + 1 < rules { rule + 2 } else { 0 };
            symbols.extend([child, child]);
        }
        let starts = (0..=rules).map(|rule| 1 + 2 * rule).collect::<Vec<_>>();
        let grammar = Grammar::new(1, symbols, starts, vec![0, 1]).unwrap();
        let parts = vec![Part { root: 0..1, rules: 0..rules }];
        assert!(Network::new(grammar, parts, vec![0]).is_err());
    }

    #[test]
    fn rules_of_nothing_are_not_used() {
        let made = |symbols: Vec<u32>, starts: Vec<u32>| {
            let (root, rules) = (starts[0], starts.len() as u32 - 1);
            let grammar = Grammar::new(1, symbols, starts, vec![0, root]).unwrap();
            Network::new(grammar, vec![Part { root: 0..root, rules: 0..rules }], vec![0])
        };
        assert!(made(vec![0], vec![1, 1]).is_ok());
        assert!(made(vec![0, 1], vec![2, 2]).is_err());
        assert!(made(vec![1, 0, 2], vec![1, 3, 3]).is_err());
    }

    #[test]
    fn terms_are_in_order_and_found() {
        let terms = Terms::new(b"abbc".to_vec(), vec![1, 3, 4]).unwrap();
        assert_eq!(terms.get(1), b"bb");
        assert_eq!(terms.find(b"bb"), Some(1));
        assert_eq!(terms.find(b"b"), None);
        assert!(Terms::new(b"ba".to_vec(), vec![1, 2]).is_err());
        assert!(Terms::new(b"aa".to_vec(), vec![1, 2]).is_err());
        assert!(Terms::new(b"ab".to_vec(), vec![1, 3]).is_err());
    }
}
