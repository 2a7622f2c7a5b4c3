//! Where some tokens are in the texts of rules: for each rule that has them a few times, the offsets in its text.
//!
//! A rule's offsets are those of its symbols, moved; rules are gone through children first, so that each is looked at
//! once and a passage that comes a thousand times is searched once. Either all rules are scanned, or those that
//! some places of the root reach, but none whose [`Signatures`] lack the tokens, or those that
//! can be reached from the tokens by [`Postings`](super::postings::Postings). A rule that has the tokens more than
//! [`LONGEST_LIST`] times, or for which there is no room left, has no list: whoever wants its offsets goes down to those of its
//! symbols. So memory is bounded, however long the texts of rules are.

use std::mem;
use std::ops::Range;

use tadoc_core::Share;
use tadoc_core::packed::prefetch;

use super::segment::{Segment, Slices};
use super::signatures::Wanted;
use super::tokens::leading_space;
use crate::error::Result;

/// The rule was not looked at: zeroed memory, of which pages that are not touched cost nothing.
const UNKNOWN: u32 = 0;
/// No list, since the rule has none of the tokens.
const LACKS: u32 = u32::MAX;
/// No list, since it would be too long.
const LONG: u32 = u32::MAX - 1;

/// Offsets of a list at the most.
const LONGEST_LIST: usize = 1 << 12;
/// Offsets of all lists at the most, and the part of the memory left that those of all threads may take.
const MOST_OFFSETS: u64 = 1 << 24;
const PART_OF_MEMORY: u64 = 8;

/// Places that are compared by their signatures at a time.
const PLACES_AT_ONCE: usize = 1 << 12;

/// Room for so many offsets is kept from one question to the next.
const KEPT_OFFSETS: usize = 1 << 12;

/// What memory is taken for, in errors.
const WHAT: &str = "a search on the rules";

/// The offsets of tokens in rules. Room that is used again and again.
#[derive(Debug, Default)]
pub(super) struct Occurrences {
    /// A bit for each symbol that has one of the tokens.
    marks: Vec<u64>,
    tokens: Vec<Range<u32>>,
    /// Tokens of the grammar that the marks are of.
    token_count: u32,
    /// The words of the tokens, as signatures have them.
    wanted: Wanted,
    /// For each rule one more than the number of its list, [`UNKNOWN`], [`LACKS`] or [`LONG`].
    list_of: Vec<u32>,
    /// Rules that were looked at.
    rules: Vec<u32>,
    /// Where each list ends in `offsets`.
    ends: Vec<usize>,
    offsets: Vec<u64>,
    /// How long `offsets` may get.
    most_offsets: usize,
    /// Places whose signatures have the tokens, and their symbols.
    candidates: Vec<(usize, u32)>,
    /// Rules that are being looked at, and up to where their symbols are known.
    pending: Vec<(u32, usize)>,
    share: Option<Share>,
}

impl Occurrences {
    /// Prepares to look at symbols as they come.
    pub(super) fn start(
        &mut self,
        segment: &Segment,
        slices: &Slices<'_>,
        tokens: &[Range<u32>],
    ) -> Result<()> {
        let words = slices.symbol_count().div_ceil(64);
        if self.list_of.len() != slices.rule_count() as usize
            || self.marks.len() != words
            || self.token_count != slices.token_count()
        {
            *self = Self::default();
            // Marks, and for each rule its list and where that ends.
            let bytes = 8 * words as u64 + 16 * u64::from(slices.rule_count());
            self.share = Some(segment.budget().take(bytes, WHAT)?);
            self.token_count = slices.token_count();
            self.list_of = vec![UNKNOWN; slices.rule_count() as usize];
            self.marks = vec![0; words];
        } else {
            for &rule in &self.rules {
                self.list_of[rule as usize] = UNKNOWN;
                self.marks[(slices.token_count() + rule) as usize / 64] = 0;
            }
            for token in self.tokens.iter().cloned().flatten() {
                self.marks[token as usize / 64] = 0;
            }
        }
        self.rules.clear();
        self.ends.clear();
        self.offsets.clear();
        self.pending.clear();
        self.tokens.clear();
        self.tokens.extend_from_slice(tokens);
        self.wanted = Wanted::new(segment.tokens(), tokens);
        let threads = rayon::current_num_threads() as u64;
        let room = segment.budget().left() / PART_OF_MEMORY / threads / size_of::<u64>() as u64;
        self.most_offsets = room.min(MOST_OFFSETS) as usize;
        for token in tokens.iter().cloned().flatten() {
            self.mark(token);
        }
        Ok(())
    }

    fn mark(&mut self, symbol: u32) {
        self.marks[symbol as usize / 64] |= 1 << (symbol % 64);
    }

    /// Whether a symbol has one of the tokens.
    #[inline]
    pub(super) fn is_in(&self, symbol: u32) -> bool {
        self.marks[symbol as usize / 64] >> (symbol % 64) & 1 == 1
    }

    /// Looks for tokens in all rules. O(rules), and O(symbols) of those that may have them.
    pub(super) fn scan(
        &mut self,
        segment: &Segment,
        slices: &Slices<'_>,
        tokens: &[Range<u32>],
    ) -> Result<()> {
        self.start(segment, slices, tokens)?;
        if let Some(signatures) = segment.signatures() {
            for rule in (0..slices.rule_count()).rev() {
                if signatures.may_have(slices.token_count() + rule, &self.wanted) {
                    self.add_if_in(segment, slices, rule, slices.body(rule))?;
                }
            }
            return Ok(());
        }
        let mut end = slices.bodies_length();
        for rule in (0..slices.rule_count()).rev() {
            let start = slices.body(rule).start;
            self.add_if_in(segment, slices, rule, start..end)?;
            end = start;
        }
        Ok(())
    }

    fn add_if_in(
        &mut self,
        segment: &Segment,
        slices: &Slices<'_>,
        rule: u32,
        body: Range<usize>,
    ) -> Result<()> {
        match body.clone().any(|at| self.is_in(slices.body_symbol(at))) {
            true => self.add(segment, slices, rule, body),
            false => Ok(()),
        }
    }

    /// Looks for the tokens at some places of the root; gives those that have one. O(places), and O(symbols) of the rules
    /// that they reach and that may have the tokens, each of which is looked at once in all calls.
    pub(super) fn look(
        &mut self,
        segment: &Segment,
        slices: &Slices<'_>,
        places: Range<usize>,
    ) -> Result<Vec<u32>> {
        let mut having = Vec::new();
        let Some(signatures) = segment.signatures() else {
            let (count, looked_at) = (places.len(), self.rules.len());
            for place in places {
                if self.has(segment, slices, &|_| true, slices.root(place))? {
                    having.push(number(place));
                }
            }
            segment.looked_at(slices, count + self.rules.len() - looked_at)?;
            return Ok(having);
        };
        let (wanted, mut candidates) =
            (mem::take(&mut self.wanted), mem::take(&mut self.candidates));
        for start in places.clone().step_by(PLACES_AT_ONCE) {
            candidates.clear();
            let end = places.end.min(start + PLACES_AT_ONCE);
            signatures.places(slices, start..end, &wanted, &mut candidates);
            for rule in candidates.iter().filter_map(|&(_, symbol)| slices.rule_of(symbol)) {
                prefetch(&self.list_of, rule as usize);
                slices.rule_starts.prefetch(rule as usize);
            }
            let may_have = |symbol| signatures.may_have(symbol, &wanted);
            for &(place, symbol) in &candidates {
                if self.has(segment, slices, &may_have, symbol)? {
                    having.push(number(place));
                }
            }
        }
        (self.wanted, self.candidates) = (wanted, candidates);
        Ok(having)
    }

    /// Looks for the tokens in a symbol, and in the rules below it that may have one and were not looked at before; whether it
    /// has one.
    #[inline]
    fn has(
        &mut self,
        segment: &Segment,
        slices: &Slices<'_>,
        may_have: &impl Fn(u32) -> bool,
        symbol: u32,
    ) -> Result<bool> {
        let Some(rule) = slices.rule_of(symbol) else { return Ok(self.is_in(symbol)) };
        if self.list_of[rule as usize] == UNKNOWN {
            // A rule is gone through when all rules in it were.
            self.pending.push((rule, slices.body(rule).start));
            while let Some((rule, at)) = self.pending.pop() {
                let body = slices.body(rule);
                let unknown = (at..body.end).find(|&at| {
                    let symbol = slices.body_symbol(at);
                    slices.rule_of(symbol).is_some_and(|child| {
                        self.list_of[child as usize] == UNKNOWN && may_have(symbol)
                    })
                });
                match unknown {
                    None => {
                        let at = self.rules.len();
                        self.add_if_in(segment, slices, rule, body)?;
                        if self.rules.len() == at {
                            self.rules.push(rule);
                            self.list_of[rule as usize] = LACKS;
                        }
                    }
                    Some(at) => {
                        let child = slices.body_symbol(at) - slices.token_count();
                        self.pending.push((rule, at + 1));
                        self.pending.push((child, slices.body(child).start));
                    }
                }
            }
        }
        Ok(self.is_in(symbol))
    }

    /// Looks for tokens in some rules, each of which has one or a rule that is given too; children come first.
    pub(super) fn collect(
        &mut self,
        segment: &Segment,
        slices: &Slices<'_>,
        tokens: &[Range<u32>],
        rules: &[u32],
    ) -> Result<()> {
        self.start(segment, slices, tokens)?;
        for &rule in rules {
            self.add(segment, slices, rule, slices.body(rule))?;
        }
        Ok(())
    }

    /// Makes the list of a rule that has one of the tokens.
    #[expect(clippy::cast_possible_truncation, reason = "not more lists than rules")]
    fn add(
        &mut self,
        segment: &Segment,
        slices: &Slices<'_>,
        rule: u32,
        body: Range<usize>,
    ) -> Result<()> {
        let first = self.offsets.len();
        let longest = LONGEST_LIST.min(self.most_offsets.saturating_sub(first));
        let (mut before, mut is_long) = (0_u64, false);
        for at in body {
            let symbol = slices.body_symbol(at);
            if self.is_in(symbol) {
                let list = match slices.rule_of(symbol) {
                    None => {
                        let space = leading_space(segment.token(symbol)?) as u64;
                        self.offsets.push(before.saturating_add(space));
                        Some(0..0)
                    }
                    Some(child) => self.range(child),
                };
                let moved = self.offsets.len();
                match list.filter(|list| moved - first + list.len() <= longest) {
                    Some(list) => self.offsets.extend_from_within(list),
                    None => {
                        is_long = true;
                        break;
                    }
                }
                let offsets = &mut self.offsets[moved..];
                offsets.iter_mut().for_each(|offset| *offset = offset.saturating_add(before));
            }
            before = before.saturating_add(slices.bytes(symbol));
        }
        self.mark(slices.token_count() + rule);
        self.rules.push(rule);
        if is_long {
            self.offsets.truncate(first);
            self.list_of[rule as usize] = LONG;
        } else {
            self.ends.push(self.offsets.len());
            self.list_of[rule as usize] = self.ends.len() as u32;
        }
        Ok(())
    }

    /// Where the list of a rule is, if it has one.
    fn range(&self, rule: u32) -> Option<Range<usize>> {
        let list = (self.list_of[rule as usize] as usize).checked_sub(1)?;
        let end = *self.ends.get(list)?;
        let start = if list == 0 { 0 } else { self.ends[list - 1] };
        Some(start..end)
    }

    /// The offsets of the tokens in the text of a rule that has them; `None` if it has no list.
    #[inline]
    pub(super) fn list(&self, rule: u32) -> Option<&[u64]> {
        Some(&self.offsets[self.range(rule)?])
    }

    /// Gives back what only a question with many places needs.
    pub(super) fn shrink(&mut self) {
        if self.offsets.capacity() > KEPT_OFFSETS {
            self.offsets = Vec::new();
        }
    }

    /// Bytes of memory held.
    pub(super) fn memory(&self) -> usize {
        size_of_val(&self.marks[..]) + size_of_val(&self.list_of[..])
    }
}

/// The number of a place.
#[expect(clippy::cast_possible_truncation, reason = "a segment has fewer than 2^32 symbols")]
fn number(place: usize) -> u32 {
    place as u32
}
