//! How often a phrase occurs, counted on the rules: a rule is counted once, however often its text comes, and only if what is asked
//! about reaches it.
//!
//! The words of a phrase are matched by bits: bit `k` of a state says that the last words are the first `k + 1` terms. For
//! each rule there are the occurrences inside of its text, the classes of its first words (as many as the phrase has, less
//! one), which complete what began before it, and the state behind it. Cost: O(symbols × terms) of the rules that are reached, and for
//! each rule 8 bytes and 17 more for each term behind the first, of which nobody touches those of other rules.

use std::ops::Range;

use tadoc_core::Share;

use super::phrase::{Phrase, TermTokens, is_one_of};
use super::segment::{Segment, Slices};
use crate::error::Result;

/// Terms at the most: one for each bit of a state.
pub(super) const MOST_TERMS: usize = 64;

/// What memory is taken for, in errors.
const WHAT: &str = "counting on the rules";

/// Occurrences of a phrase in the rules of a segment.
#[derive(Debug)]
pub(super) struct Counts<'a> {
    slices: Slices<'a>,
    terms: &'a [TermTokens],
    /// A bit for each token whose word the analyzer leaves out; empty if it leaves out none.
    passed_over: Vec<u64>,
    /// A bit for each rule that was counted.
    counted: Vec<u64>,
    /// Rules that are being counted, and up to where their symbols are.
    pending: Vec<(u32, usize)>,
    /// Occurrences inside of each rule.
    inside: Vec<u64>,
    /// For each rule how many words it has, up to as many as the phrase; the classes of the first ones; the state
    /// behind it. Nothing, if the phrase is one word.
    words: Vec<u8>,
    firsts: Vec<u64>,
    behind: Vec<u64>,
    _share: Share,
}

/// Words that went by: of a document, or of a rule.
#[derive(Debug, Clone, Default)]
pub(super) struct Passed {
    state: u64,
    count: u64,
    words: usize,
    firsts: Vec<u64>,
}

impl<'a> Counts<'a> {
    /// Nothing is counted yet.
    pub(super) fn new(number: usize, segment: &'a Segment, phrase: &'a Phrase) -> Result<Self> {
        let slices = segment.slices()?;
        let terms = phrase.tokens(number, segment.tokens())?;
        let rules = slices.rule_count() as usize;
        let behind_first = terms.len() - 1;
        let bytes = rules as u64 * (8 + 17 * behind_first as u64);
        let share = segment.budget().take(bytes, WHAT)?;
        let with_state = if behind_first > 0 { rules } else { 0 };
        let mut counts = Self {
            slices: slices.clone(),
            terms,
            passed_over: Vec::new(),
            counted: vec![0; rules.div_ceil(64)],
            pending: Vec::new(),
            inside: vec![0; rules],
            words: vec![0; with_state],
            firsts: vec![0; with_state * behind_first],
            behind: vec![0; with_state],
            _share: share,
        };
        if behind_first > 0 && phrase.leaves_out() {
            let left_out = segment
                .tokens()
                .map_words(|word, tokens| phrase.passes_over(word).then_some(tokens))?;
            counts.passed_over = vec![0; (segment.word_token_count() as usize).div_ceil(64)];
            for token in left_out.into_iter().flatten() {
                counts.passed_over[token as usize / 64] |= 1 << (token % 64);
            }
        }
        Ok(counts)
    }

    /// Counts in a rule and in those below it, children first.
    fn count(&mut self, rule: u32, passed: &mut Passed) {
        let slices = self.slices.clone();
        self.pending.push((rule, slices.body(rule).start));
        while let Some((rule, at)) = self.pending.pop() {
            let body = slices.body(rule);
            let uncounted = (at..body.end).find_map(|at| {
                let child = slices.rule_of(slices.body_symbol(at))?;
                (!self.is_counted(child)).then_some((at, child))
            });
            if let Some((at, child)) = uncounted {
                self.pending.push((rule, at + 1));
                self.pending.push((child, slices.body(child).start));
                continue;
            }
            *passed = Passed { firsts: std::mem::take(&mut passed.firsts), ..Passed::default() };
            passed.firsts.clear();
            self.pass(body.map(|at| slices.body_symbol(at)), passed);
            self.keep(rule as usize, passed);
            self.counted[rule as usize / 64] |= 1 << (rule % 64);
        }
    }

    fn is_counted(&self, rule: u32) -> bool {
        self.counted[rule as usize / 64] >> (rule % 64) & 1 == 1
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "at most the terms of the phrase, and these at most `MOST_TERMS`"
    )]
    fn keep(&mut self, rule: usize, passed: &Passed) {
        self.inside[rule] = passed.count;
        let behind_first = self.terms.len() - 1;
        if behind_first > 0 {
            self.words[rule] = passed.words as u8;
            self.behind[rule] = passed.state;
            let firsts = &mut self.firsts[rule * behind_first..][..passed.firsts.len()];
            firsts.copy_from_slice(&passed.firsts);
        }
    }

    /// The words of some places of the root go by; gives the occurrences that end among them.
    pub(super) fn pass_places(&mut self, places: Range<usize>, passed: &mut Passed) -> u64 {
        let mut of_rule = Passed::default();
        for place in places.clone() {
            if let Some(rule) = self.slices.rule_of(self.slices.root(place))
                && !self.is_counted(rule)
            {
                self.count(rule, &mut of_rule);
            }
        }
        self.pass(places.map(|place| self.slices.root(place)), passed);
        // What began goes on behind, but no rule is made of a document.
        passed.firsts.clear();
        passed.words = MOST_TERMS;
        std::mem::take(&mut passed.count)
    }

    fn pass(&self, symbols: impl Iterator<Item = u32>, passed: &mut Passed) {
        let behind_first = self.terms.len() - 1;
        for symbol in symbols {
            let Some(rule) = self.slices.rule_of(symbol) else {
                if let Some(class) = self.class(symbol) {
                    self.word(class, passed);
                }
                continue;
            };
            let rule = rule as usize;
            passed.count = passed.count.saturating_add(self.inside[rule]);
            if behind_first == 0 {
                continue;
            }
            let words = usize::from(self.words[rule]);
            for &class in &self.firsts[rule * behind_first..][..words.min(behind_first)] {
                self.word(class, passed);
            }
            if words > behind_first {
                passed.words = self.terms.len();
                passed.state = self.behind[rule];
            }
        }
    }

    /// A word goes by. A rule's first words are too few to be an occurrence, so one that ends with them began before.
    #[inline]
    fn word(&self, class: u64, passed: &mut Passed) {
        let last = self.terms.len() - 1;
        passed.state = (passed.state << 1 | 1) & class;
        passed.count = passed.count.saturating_add(passed.state >> last & 1);
        if passed.words < last {
            passed.firsts.push(class);
        }
        passed.words = (passed.words + 1).min(last + 1);
    }

    /// The terms that a token is, as bits; `None` if it does not count as a word.
    #[inline]
    fn class(&self, token: u32) -> Option<u64> {
        if !self.slices.is_word(token) {
            return None;
        }
        let terms = self.terms.iter().enumerate();
        let class = terms
            .fold(0, |class, (term, tokens)| class | u64::from(is_one_of(tokens, token)) << term);
        let is_passed_over = || {
            let marks = self.passed_over.get(token as usize / 64);
            marks.is_some_and(|marks| marks >> (token % 64) & 1 == 1)
        };
        (class != 0 || !is_passed_over()).then_some(class)
    }
}
