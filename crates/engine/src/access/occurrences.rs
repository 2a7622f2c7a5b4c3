//! Where some tokens are in the texts of rules: for each rule that has them, the offsets in its text.
//!
//! A rule's offsets are those of its symbols, moved; rules are gone through children first, so that each is looked at
//! once and a passage that comes a thousand times is searched once. Either all rules are scanned, or those that
//! can be reached from the tokens by [`Postings`](super::postings::Postings).

use std::ops::Range;

use super::segment::{Segment, Slices};
use super::tokens::leading_space;
use crate::error::Result;

/// No list.
const NONE: u32 = u32::MAX;

/// The offsets of tokens in rules. Room that is used again and again.
#[derive(Debug, Default)]
pub(super) struct Occurrences {
    /// A bit for each symbol that has one of the tokens.
    marks: Vec<u64>,
    tokens: Vec<Range<u32>>,
    /// Tokens of the grammar that the marks are of.
    token_count: u32,
    /// For each rule the number of its list, or [`NONE`].
    list_of: Vec<u32>,
    /// Rules that have a list.
    rules: Vec<u32>,
    /// Where each list ends in `offsets`.
    ends: Vec<usize>,
    offsets: Vec<u64>,
    /// Rules that are being looked at, and up to where their symbols are known.
    pending: Vec<(u32, usize)>,
}

impl Occurrences {
    fn reset(&mut self, slices: &Slices<'_>, tokens: &[Range<u32>]) {
        let words = slices.symbol_count().div_ceil(64);
        if self.list_of.len() != slices.rule_count() as usize
            || self.marks.len() != words
            || self.token_count != slices.token_count()
        {
            self.token_count = slices.token_count();
            self.list_of = vec![NONE; slices.rule_count() as usize];
            self.marks = vec![0; words];
        } else {
            for &rule in &self.rules {
                self.list_of[rule as usize] = NONE;
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
        for token in tokens.iter().cloned().flatten() {
            self.mark(token);
        }
    }

    fn mark(&mut self, symbol: u32) {
        self.marks[symbol as usize / 64] |= 1 << (symbol % 64);
    }

    /// Whether a symbol has one of the tokens.
    #[inline]
    pub(super) fn is_in(&self, symbol: u32) -> bool {
        self.marks[symbol as usize / 64] >> (symbol % 64) & 1 == 1
    }

    /// Looks for tokens in all rules. O(symbols of rules).
    pub(super) fn scan(
        &mut self,
        segment: &Segment<'_>,
        slices: &Slices<'_>,
        tokens: &[Range<u32>],
    ) -> Result<()> {
        self.reset(slices, tokens);
        let mut end = slices.bodies_length();
        for rule in (0..slices.rule_count()).rev() {
            let start = slices.body(rule).start;
            if (start..end).any(|at| self.is_in(slices.body_symbol(at))) {
                self.add(segment, slices, rule, start..end)?;
            }
            end = start;
        }
        Ok(())
    }

    /// Prepares to look at symbols as they come.
    pub(super) fn start(&mut self, slices: &Slices<'_>, tokens: &[Range<u32>]) {
        self.reset(slices, tokens);
    }

    /// Looks for the tokens in a symbol, and in the rules below it that were not looked at before; whether it has one.
    pub(super) fn look(
        &mut self,
        segment: &Segment<'_>,
        slices: &Slices<'_>,
        symbol: u32,
    ) -> Result<bool> {
        let Some(rule) = slices.rule_of(symbol) else { return Ok(self.is_in(symbol)) };
        if self.list_of[rule as usize] == NONE {
            // A rule is gone through when all rules in it were.
            self.pending.push((rule, slices.body(rule).start));
            while let Some((rule, at)) = self.pending.pop() {
                let body = slices.body(rule);
                let unknown = (at..body.end).find(|&at| {
                    let child = slices.rule_of(slices.body_symbol(at));
                    child.is_some_and(|child| self.list_of[child as usize] == NONE)
                });
                match unknown {
                    None => self.add(segment, slices, rule, body)?,
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
        segment: &Segment<'_>,
        slices: &Slices<'_>,
        tokens: &[Range<u32>],
        rules: &[u32],
    ) -> Result<()> {
        self.reset(slices, tokens);
        for &rule in rules {
            self.add(segment, slices, rule, slices.body(rule))?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        segment: &Segment<'_>,
        slices: &Slices<'_>,
        rule: u32,
        body: Range<usize>,
    ) -> Result<()> {
        let mut before = 0;
        for at in body {
            let symbol = slices.body_symbol(at);
            if self.is_in(symbol) {
                match slices.rule_of(symbol) {
                    None => {
                        self.offsets.push(before + leading_space(segment.token(symbol)?) as u64)
                    }
                    Some(child) => {
                        let list = self.range(child);
                        let moved = self.offsets.len();
                        self.offsets.extend_from_within(list);
                        self.offsets[moved..].iter_mut().for_each(|offset| *offset += before);
                    }
                }
            }
            before += slices.bytes(symbol);
        }
        if self.offsets.len() > self.ends.last().copied().unwrap_or(0) {
            self.mark(slices.token_count() + rule);
        }
        self.list_of[rule as usize] = self.ends.len() as u32;
        self.rules.push(rule);
        self.ends.push(self.offsets.len());
        Ok(())
    }

    fn range(&self, rule: u32) -> Range<usize> {
        let list = self.list_of[rule as usize] as usize;
        let start = if list == 0 { 0 } else { self.ends[list - 1] };
        start..self.ends[list]
    }

    /// Appends the offsets of the tokens in a symbol's text, which starts at `base`.
    #[inline]
    pub(super) fn append(
        &self,
        segment: &Segment<'_>,
        slices: &Slices<'_>,
        symbol: u32,
        base: u64,
        into: &mut Vec<u64>,
    ) -> Result<()> {
        match slices.rule_of(symbol) {
            None => into.push(base + leading_space(segment.token(symbol)?) as u64),
            Some(rule) => {
                into.extend(self.offsets[self.range(rule)].iter().map(|offset| base + offset));
            }
        }
        Ok(())
    }
}
