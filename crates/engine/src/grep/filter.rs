//! Which lines of a segment may match, decided on its grammar.
//!
//! For a symbol and the automaton's state before it, a [`Step`] says in which state the automaton
//! is behind it, and whether a line that ends inside of it may match. A step is computed once and
//! kept: in a row of all symbols for each state that comes up, 2 bytes a symbol. Rows together take
//! bounded memory; steps from states beyond that are computed anew, which costs as much as the
//! symbol's text is long.
//!
//! Behind a newline it does not matter what was before it. So nearly all steps are from a few
//! states, and the number of steps computed is not much larger than that of the grammar's symbols.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use rayon::prelude::*;
use tadoc_core::Budget;

use super::automaton::{Automaton, START, State};
use super::source::Source;

/// Bytes that all rows may take where [`Options::memory`](super::Options::memory) does not say.
const ROW_BYTES: u64 = 1 << 30;

/// What a symbol does to the automaton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step(u16);

const KNOWN: u16 = 1;
const HIT: u16 = 2;
const NEWLINE: u16 = 4;
const STATE_SHIFT: u32 = 3;

impl Step {
    fn new(state: State, flags: u16) -> Self {
        Self(state << STATE_SHIFT | flags | KNOWN)
    }

    /// The state behind the symbol.
    #[inline]
    pub(super) fn state(self) -> State {
        self.0 >> STATE_SHIFT
    }

    /// Whether a line that ends in the symbol may match.
    #[inline]
    pub(super) fn hit(self) -> bool {
        self.0 & HIT != 0
    }

    /// Whether the symbol has a newline.
    #[inline]
    pub(super) fn newline(self) -> bool {
        self.0 & NEWLINE != 0
    }
}

/// The steps of all symbols from one state; empty if there was no room for them.
pub(super) type Row = [AtomicU16];

/// Tokens or rules that a thread reads at a time.
const AT_ONCE: u32 = 1 << 12;

/// The steps of a segment. Threads compute them when they need them, and share them.
pub(super) struct Filter<'f, S> {
    pub(super) source: &'f S,
    automaton: &'f Automaton,
    rows: Vec<OnceLock<Box<Row>>>,
    /// Bytes that rows may still take.
    room: AtomicUsize,
    /// Steps that were computed when they were needed.
    computed: AtomicU64,
}

/// A rule whose step is being computed.
struct Open {
    symbol: u32,
    before: State,
    place: u32,
    end: u32,
    state: State,
    flags: u16,
}

impl<'f, S: Source> Filter<'f, S> {
    pub(super) fn new(
        source: &'f S,
        automaton: &'f Automaton,
        budget: &Budget,
        memory: Option<u64>,
    ) -> Self {
        let rows = (0..automaton.states()).map(|_| OnceLock::new()).collect();
        let room = (budget.left() / 2).min(memory.unwrap_or(ROW_BYTES)) as usize;
        Self { source, automaton, rows, room: AtomicUsize::new(room), computed: AtomicU64::new(0) }
    }

    /// How many steps were computed when they were needed.
    pub(super) fn computed(&self) -> u64 {
        self.computed.load(Ordering::Relaxed)
    }

    /// Whether a line that ends in this state may match.
    pub(super) fn ends(&self, state: State) -> bool {
        self.automaton.ends(state)
    }

    /// Whether a symbol's text has a newline.
    pub(super) fn has_newline(&self, symbol: u32) -> bool {
        self.step(symbol, START).newline()
    }

    /// The steps from a state.
    #[inline]
    pub(super) fn row(&self, state: State) -> &Row {
        let row = &self.rows[usize::from(state)];
        row.get().map_or_else(|| &**row.get_or_init(|| self.new_row()), |row| &**row)
    }

    fn new_row(&self) -> Box<Row> {
        let symbols = self.source.token_count() as usize + self.source.rule_count() as usize;
        let bytes = symbols * size_of::<AtomicU16>();
        let take = |room: usize| room.checked_sub(bytes);
        match self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(_) => (0..symbols).map(|_| AtomicU16::new(0)).collect(),
            Err(_) => Box::default(),
        }
    }

    /// Computes the steps of all symbols at the start of a line: tokens in their order, and rules
    /// children first. That costs less than to look for them at all places of memory when they are
    /// met.
    pub(super) fn read_all(&self) {
        let (tokens, rules) = (self.source.token_count(), self.source.rule_count());
        (0..tokens.div_ceil(AT_ONCE)).into_par_iter().for_each(|number| {
            let first = number * AT_ONCE;
            for token in first..tokens.min(first + AT_ONCE) {
                self.compute_token(token, START);
            }
        });
        // All threads work near the same place, so that what a rule uses is known for the most
        // part.
        let left = AtomicU32::new(rules.div_ceil(AT_ONCE));
        let take = |left: u32| left.checked_sub(1);
        let read = || {
            while let Ok(chunk) = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
                let first = (chunk - 1) * AT_ONCE;
                for rule in (first..rules.min(first + AT_ONCE)).rev() {
                    self.read_rule(rule);
                }
            }
        };
        rayon::scope(|scope| {
            for _ in 0..rayon::current_num_threads() {
                scope.spawn(|_| read());
            }
        });
    }

    /// Computes the step of a rule at the start of a line.
    fn read_rule(&self, rule: u32) {
        let start_row = self.row(START);
        let (mut state, mut row, mut flags) = (START, start_row, 0);
        for place in self.source.body(rule) {
            let child = self.source.symbol(place);
            let known = Self::known(row, child);
            let step = known.unwrap_or_else(|| self.compute(child, state));
            flags |= step.0 & (HIT | NEWLINE);
            if step.state() != state {
                state = step.state();
                row = self.row(state);
            }
        }
        let symbol = self.source.token_count() + rule;
        if let Some(kept) = start_row.get(symbol as usize) {
            kept.store(Step::new(state, flags).0, Ordering::Relaxed);
        }
    }

    /// The step of a symbol from a state. O(1) when it is known.
    #[inline]
    pub(super) fn step(&self, symbol: u32, before: State) -> Step {
        Self::known(self.row(before), symbol).unwrap_or_else(|| self.compute(symbol, before))
    }

    /// The step of a symbol in a row, if it is known.
    #[inline]
    pub(super) fn known(row: &Row, symbol: u32) -> Option<Step> {
        // Whoever computes a step computes the same one: no order is needed.
        let step = Step(row.get(symbol as usize)?.load(Ordering::Relaxed));
        (step.0 & KNOWN != 0).then_some(step)
    }

    fn keep(&self, symbol: u32, before: State, step: Step) {
        if let Some(kept) = self.row(before).get(symbol as usize) {
            kept.store(step.0, Ordering::Relaxed);
        }
    }

    /// Computes a step, and those of the rules below that are not known, without recursion: rules
    /// may be nested deeper than the stack is.
    #[cold]
    fn compute(&self, symbol: u32, before: State) -> Step {
        if symbol < self.source.token_count() {
            self.computed.fetch_add(1, Ordering::Relaxed);
            return self.compute_token(symbol, before);
        }
        let mut computed = 0;
        let mut above: Vec<Open> = Vec::new();
        let mut open = self.open(symbol, before);
        let (mut state, mut row) = (before, self.row(before));
        loop {
            while open.place < open.end {
                let child = self.source.symbol(open.place);
                if open.state != state {
                    (state, row) = (open.state, self.row(open.state));
                }
                let step = match Self::known(row, child) {
                    Some(step) => step,
                    None if child < self.source.token_count() => {
                        computed += 1;
                        self.compute_token(child, open.state)
                    }
                    None => {
                        let below = self.open(child, open.state);
                        above.push(std::mem::replace(&mut open, below));
                        continue;
                    }
                };
                open.take(step);
            }
            let step = Step::new(open.state, open.flags);
            self.keep(open.symbol, open.before, step);
            computed += 1;
            match above.pop() {
                None => {
                    self.computed.fetch_add(computed, Ordering::Relaxed);
                    return step;
                }
                Some(parent) => open = parent,
            }
            open.take(step);
        }
    }

    fn open(&self, symbol: u32, before: State) -> Open {
        let body = self.source.body(symbol - self.source.token_count());
        Open { symbol, before, place: body.start, end: body.end, state: before, flags: 0 }
    }

    fn compute_token(&self, token: u32, before: State) -> Step {
        let (mut state, mut flags) = (before, 0);
        for &byte in self.source.token(token) {
            if byte == b'\n' {
                flags |= if self.automaton.ends(state) { NEWLINE | HIT } else { NEWLINE };
                state = START;
            } else {
                state = self.automaton.next(state, byte);
            }
        }
        let step = Step::new(state, flags);
        self.keep(token, before, step);
        step
    }

    /// The state behind some bytes without newline, to look at the lines of a token.
    pub(super) fn read(&self, state: State, bytes: &[u8]) -> State {
        self.automaton.read(state, bytes)
    }
}

impl Open {
    #[inline]
    fn take(&mut self, step: Step) {
        self.state = step.state();
        self.flags |= step.0 & (HIT | NEWLINE);
        self.place += 1;
    }
}
