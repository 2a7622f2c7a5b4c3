//! Many ways to places at once: while one waits for memory, the others go on.
//!
//! A way from an offset to its bytes is a chain of look-ups, each of which needs the one before it, in arrays that no cache
//! holds. So a group of ways is gone in turns: each step asks for the memory that the next one needs, and passes the turn.
//! Cost: as one way, but waiting for memory is shared by the group.

use std::ops::Range;

use tadoc_core::navigation::{BYTES_EVERY, WORDS_EVERY};
use tadoc_core::usize_of;

use super::segment::{Measure, Segment, Slices};
use super::texts::Texts;
use super::tokens::TokenStore;
use crate::error::Result;

/// Ways of a group: enough to cover the time that memory takes, and few enough that what they asked for is still there.
pub(super) const GROUP: usize = 24;

/// What is looked for in a segment: its unit of a number, and from there on bytes up to the end of its document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    pub(super) number: u64,
    /// The place of the root at which its document ends.
    pub(super) end: usize,
    /// Bytes wanted; 0 if only the token in which the unit is.
    pub(super) length: usize,
}

/// One way.
#[derive(Debug, Default)]
pub(super) struct Way {
    place: usize,
    end: usize,
    /// Units to pass over before anything is wanted.
    skip: u64,
    /// Bytes to pass over in the first leaf, and bytes that are wanted behind them.
    inner: usize,
    wanted: usize,
    reached: bool,
    /// A symbol whose memory was asked for.
    pending: Option<u32>,
    stack: Vec<Range<usize>>,
    /// Tokens, and rules whose texts are written out: what the bytes are in.
    leaves: Vec<u32>,
    /// Bytes of the segment's text before the token that was found, if that was all that was wanted.
    text: u64,
    done: bool,
}

/// Ways that are gone together. Room that is used again and again.
#[derive(Debug, Default)]
pub(super) struct Pipeline {
    ways: Vec<Way>,
}

/// What a way goes over.
struct Ground<'g> {
    slices: &'g Slices<'g>,
    texts: Option<&'g Texts>,
    tokens: &'g TokenStore,
    measure: Measure,
}

impl Pipeline {
    /// Goes to the units of some requests, at most [`GROUP`], and gives the ways.
    pub(super) fn go(
        &mut self,
        segment: &Segment,
        slices: &Slices<'_>,
        measure: Measure,
        requests: &[Request],
    ) -> &[Way] {
        let ground = Ground { slices, texts: segment.texts(), tokens: segment.tokens(), measure };
        self.ways.resize_with(self.ways.len().max(requests.len()), Way::default);
        let ways = &mut self.ways[..requests.len()];
        requests.iter().for_each(|request| slices.prefetch_sample(measure, request.number));
        for (way, request) in ways.iter_mut().zip(requests) {
            way.place = slices.sampled_place(measure, request.number);
            for ahead in [0, BYTES_EVERY / 2, BYTES_EVERY] {
                slices.root.prefetch(way.place + ahead);
            }
        }
        for (way, request) in ways.iter_mut().zip(requests) {
            way.start(&ground, request);
        }
        let mut left = requests.len();
        while left > 0 {
            left = ways
                .iter_mut()
                .filter(|way| !way.done)
                .map(|way| way.step(&ground))
                .filter(|done| !done)
                .count();
        }
        ways
    }
}

impl Way {
    /// Finds the place of the root, from a sampled one before it.
    fn start(&mut self, ground: &Ground<'_>, request: &Request) {
        let slices = ground.slices;
        let every = if ground.measure == Measure::Bytes { BYTES_EVERY } else { WORDS_EVERY };
        let mut before = slices.sample(ground.measure, self.place / every);
        self.text = slices.sample(Measure::Bytes, self.place / BYTES_EVERY);
        self.stack.clear();
        self.leaves.clear();
        (self.end, self.wanted, self.inner) = (request.end, request.length, 0);
        (self.reached, self.done, self.pending) = (false, false, None);
        while self.place < self.end {
            let symbol = slices.root(self.place);
            let next = before + slices.measure(ground.measure, symbol);
            if next > request.number {
                break;
            }
            before = next;
            if ground.measure != Measure::Bytes {
                self.text += slices.bytes(symbol);
            }
            self.place += 1;
        }
        self.skip = request.number - before;
    }

    /// Goes on until memory is needed that may not be there; whether all is found.
    fn step(&mut self, ground: &Ground<'_>) -> bool {
        let slices = ground.slices;
        loop {
            let (symbol, asked) = match self.pending.take() {
                Some(symbol) => (symbol, true),
                None => match self.next_symbol(slices) {
                    Some(symbol) => (symbol, false),
                    None => {
                        self.done = true;
                        return true;
                    }
                },
            };
            let Some(rule) = slices.rule_of(symbol) else {
                if self.leaf(ground, symbol, slices.measure(ground.measure, symbol)) {
                    return true;
                }
                continue;
            };
            if !self.reached {
                let units = slices.measure(ground.measure, symbol);
                if units <= self.skip {
                    self.pass_over(ground, symbol, units);
                    continue;
                }
            }
            if !asked {
                slices.rule_starts.prefetch(rule as usize);
                if let Some(texts) = ground.texts {
                    texts.prefetch(rule);
                }
                self.pending = Some(symbol);
                return false;
            }
            if self.wanted > 0 && ground.texts.is_some_and(|texts| texts.has(rule)) {
                if self.leaf(ground, symbol, slices.bytes(symbol)) {
                    return true;
                }
                continue;
            }
            let body = slices.body(rule);
            slices.bodies.prefetch(body.start);
            self.stack.push(body);
            return false;
        }
    }

    fn pass_over(&mut self, ground: &Ground<'_>, symbol: u32, units: u64) {
        self.skip -= units;
        if ground.measure != Measure::Bytes {
            self.text += ground.slices.bytes(symbol);
        }
    }

    /// Comes to a token or a text; whether it was the last that is wanted.
    fn leaf(&mut self, ground: &Ground<'_>, symbol: u32, units: u64) -> bool {
        if !self.reached {
            if units <= self.skip {
                self.pass_over(ground, symbol, units);
                return false;
            }
            self.reached = true;
            self.inner = usize_of(self.skip);
        }
        let bytes = usize_of(ground.slices.bytes(symbol));
        if ground.slices.rule_of(symbol).is_none() {
            ground.tokens.prefetch(symbol);
        }
        self.leaves.push(symbol);
        let had = if self.leaves.len() == 1 { self.inner } else { 0 };
        self.wanted = self.wanted.saturating_sub(bytes.saturating_sub(had));
        self.done = self.wanted == 0;
        self.done
    }

    /// The next symbol of the innermost body that has one, or of the root.
    fn next_symbol(&mut self, slices: &Slices<'_>) -> Option<u32> {
        while let Some(body) = self.stack.last_mut() {
            if let Some(at) = body.next() {
                if body.start == body.end {
                    self.stack.pop();
                }
                return Some(slices.body_symbol(at));
            }
            self.stack.pop();
        }
        if self.place >= self.end {
            return None;
        }
        self.place += 1;
        Some(slices.root(self.place - 1))
    }

    /// The token in which the unit is, and the bytes of the segment's text before it; `None` if there is none.
    pub(super) fn token(&self) -> Option<(u32, u64)> {
        self.leaves.first().map(|&token| (token, self.text))
    }

    /// Asks for the bytes of what was found.
    pub(super) fn prefetch_bytes(&self, segment: &Segment, slices: &Slices<'_>) {
        for &symbol in &self.leaves {
            match slices.rule_of(symbol) {
                None => segment.tokens().prefetch_bytes(symbol),
                Some(rule) => {
                    segment.texts().into_iter().for_each(|texts| texts.prefetch_bytes(rule))
                }
            }
        }
    }

    /// Appends the bytes that were found, at most `length`.
    pub(super) fn append(
        &self,
        segment: &Segment,
        slices: &Slices<'_>,
        length: usize,
        into: &mut Vec<u8>,
    ) -> Result<()> {
        let start = into.len();
        for (number, &symbol) in self.leaves.iter().enumerate() {
            let before = into.len();
            match slices.rule_of(symbol) {
                None => segment.tokens().append(symbol, into)?,
                Some(rule) => {
                    let texts = segment.texts().expect("its text was there");
                    texts.append(rule, slices.bytes(symbol), into);
                }
            }
            if number == 0 && self.inner > 0 {
                into.drain(before..into.len().min(before + self.inner));
            }
        }
        into.truncate(start + length);
        Ok(())
    }
}
