//! The automaton that sorts out lines: what it does not let through cannot match.
//!
//! It is a dense deterministic automaton for a pattern that may be looser than the one asked for. Classes of many
//! ranges (`\w` has hundreds) take every character beyond ASCII if they take any; where that is still too large,
//! counted repetitions are counted up to a few and then go on without end. Word boundaries are looked at among ASCII
//! bytes, and a line in which others come first is let through. Where none can be made small enough, all lines are let
//! through.
//!
//! A state is a number below [`MOST_STATES`]. Reading a byte costs two look-ups.

use std::collections::HashMap;

use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Repetition};

use super::pattern::map;

/// A class of more ranges is made coarse.
const MOST_RANGES: usize = 16;
/// How often a repetition is counted, where counts are cut.
const MOST_REPEATS: u32 = 4;
/// How many states there may be.
pub(super) const MOST_STATES: usize = 1 << 12;
/// Bytes that the automaton, and what it is made of, may take.
const MOST_BYTES: usize = 4 << 20;

/// A state.
pub(super) type State = u16;
/// The line read so far matches, whatever follows in it.
pub(super) const MATCHED: State = 0;
/// The line cannot match, whatever follows in it.
pub(super) const FAILED: State = 1;
/// No byte of the line has been read.
pub(super) const START: State = 2;

/// See the module's page.
#[derive(Debug)]
pub(super) struct Automaton {
    /// The class of each byte.
    classes: [u8; 256],
    class_count: usize,
    /// For each state and class the next state.
    next: Vec<State>,
    /// For each state whether a line that ends in it may match.
    ends: Vec<bool>,
    /// Whether all lines that are let through match.
    exact: bool,
}

impl Automaton {
    /// An automaton that lets through every line that matches `expression`.
    pub(super) fn new(expression: &Hir) -> Self {
        let coarse = coarse_classes(expression);
        // A word boundary is not known next to bytes beyond ASCII.
        let exact =
            coarse == *expression && !expression.properties().look_set().contains_word_unicode();
        Self::build(&coarse)
            .map(|automaton| Self { exact, ..automaton })
            .or_else(|| Self::build(&few_repeats(&coarse)))
            // All lines are let through.
            .unwrap_or_else(|| {
                let (next, ends) = (vec![MATCHED, FAILED, MATCHED], vec![true, false, true]);
                Self { classes: [0; 256], class_count: 1, next, ends, exact: false }
            })
    }

    /// Whether all lines that are let through match.
    pub(super) fn is_exact(&self) -> bool {
        self.exact
    }

    /// Whether it lets all lines through.
    pub(super) fn lets_all_through(&self) -> bool {
        self.ends[usize::from(START)]
            && self.next[usize::from(START) * self.class_count..].iter().all(|&to| to == MATCHED)
    }

    fn build(expression: &Hir) -> Option<Self> {
        let nfa = thompson::Compiler::new()
            .configure(
                thompson::Config::new()
                    .utf8(false)
                    .which_captures(thompson::WhichCaptures::None)
                    .nfa_size_limit(Some(MOST_BYTES)),
            )
            .build_from_hir(expression)
            .ok()?;
        let dfa = dense::Builder::new()
            .configure(
                dense::Config::new()
                    .start_kind(StartKind::Unanchored)
                    .unicode_word_boundary(true)
                    .dfa_size_limit(Some(MOST_BYTES))
                    .determinize_size_limit(Some(MOST_BYTES)),
            )
            .build_from_nfa(&nfa)
            .ok()?;
        Self::number(&dfa)
    }

    /// Numbers the states that can be reached.
    fn number(dfa: &dense::DFA<Vec<u32>>) -> Option<Self> {
        let start = dfa.start_state(&start::Config::new()).ok()?;
        let mut classes = [0; 256];
        let mut first_of_class: Vec<u8> = Vec::new();
        for byte in 0..=255_u8 {
            let class = dfa.byte_classes().get(byte);
            if usize::from(class) == first_of_class.len() {
                first_of_class.push(byte);
            }
            classes[usize::from(byte)] = class;
        }
        let class_count = first_of_class.len();
        let mut numbers: HashMap<StateID, State> = HashMap::new();
        let mut order: Vec<StateID> = Vec::new();
        let special = |id: StateID| match () {
            () if dfa.is_match_state(id) || dfa.is_quit_state(id) => Some(MATCHED),
            () if dfa.is_dead_state(id) => Some(FAILED),
            () => None,
        };
        let mut number_of = |id: StateID, order: &mut Vec<StateID>| {
            special(id).unwrap_or_else(|| {
                *numbers.entry(id).or_insert_with(|| {
                    order.push(id);
                    START + order.len() as State - 1
                })
            })
        };
        // A pattern that nothing matches has no state to start in.
        if number_of(start, &mut order) != START {
            order.push(start);
        }
        let mut next = vec![MATCHED; class_count];
        next.resize(2 * class_count, FAILED);
        let mut ends = vec![true, false];
        let mut place = 0;
        while let Some(&id) = order.get(place) {
            for &byte in &first_of_class {
                let to = dfa.next_state(id, byte);
                next.push(number_of(to, &mut order));
            }
            ends.push(special(dfa.next_eoi_state(id)) == Some(MATCHED));
            if order.len() + usize::from(START) > MOST_STATES {
                return None;
            }
            place += 1;
        }
        Some(Self { classes, class_count, next, ends, exact: false })
    }

    /// How many states there are.
    pub(super) fn states(&self) -> usize {
        self.ends.len()
    }

    /// The state behind a byte that is no newline.
    #[inline]
    pub(super) fn next(&self, state: State, byte: u8) -> State {
        let class = usize::from(self.classes[usize::from(byte)]);
        self.next[usize::from(state) * self.class_count + class]
    }

    /// The state behind some bytes, none of which is a newline.
    pub(super) fn read(&self, state: State, bytes: &[u8]) -> State {
        bytes.iter().fold(state, |state, &byte| self.next(state, byte))
    }

    /// Whether a line that ends in this state may match.
    #[inline]
    pub(super) fn ends(&self, state: State) -> bool {
        self.ends[usize::from(state)]
    }
}

/// Classes of many ranges take all characters beyond ASCII if they take any.
fn coarse_classes(expression: &Hir) -> Hir {
    map(expression, &mut |kind| match kind {
        HirKind::Class(Class::Unicode(class)) if class.ranges().len() > MOST_RANGES => {
            let mut coarse = class.clone();
            coarse.intersect(&ClassUnicode::new([ClassUnicodeRange::new('\0', '\x7f')]));
            if coarse.ranges() != class.ranges() {
                coarse.push(ClassUnicodeRange::new('\u{80}', char::MAX));
            }
            Some(Hir::class(Class::Unicode(coarse)))
        }
        _ => None,
    })
}

/// Repetitions that are counted far go on without end.
fn few_repeats(expression: &Hir) -> Hir {
    map(expression, &mut |kind| match kind {
        HirKind::Repetition(repetition)
            if repetition.min > MOST_REPEATS
                || repetition.max.is_some_and(|most| most > MOST_REPEATS) =>
        {
            let sub = Box::new(few_repeats(&repetition.sub));
            let min = repetition.min.min(MOST_REPEATS);
            Some(Hir::repetition(Repetition { min, max: None, sub, ..*repetition }))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn automaton(pattern: &str) -> Automaton {
        let parser = regex_syntax::ParserBuilder::new().utf8(false).multi_line(true).build();
        Automaton::new(&{ parser }.parse(pattern).unwrap())
    }

    fn lets_through(pattern: &str, line: &str) -> bool {
        let automaton = automaton(pattern);
        automaton.ends(automaton.read(START, line.as_bytes()))
    }

    #[test]
    fn lines_that_match_are_let_through() {
        for (pattern, matches, others) in [
            ("abc", "xabcx", "xabxc"),
            ("^abc$", "abc", "abcd"),
            (r"\bfoo\b", "a foo", "afoo"),
            (r"[A-Z][a-z]+_[0-9]{2,}", "Ab_12", "Ab_1"),
            (r"\w\d$", "\u{e9}7", "7x"),
            ("", "", "x"),
        ] {
            assert!(lets_through(pattern, matches), "{pattern} {matches}");
            assert_eq!(lets_through(pattern, others), pattern.is_empty(), "{pattern} {others}");
        }
    }

    #[test]
    fn what_would_be_large_becomes_coarse() {
        assert!(automaton(r"\w{3}").states() < 100);
        assert!(!automaton(r"(a|b)*a(a|b){20}").lets_all_through());
        assert!(automaton(r"\w(\d\w|\w\d){4}.{4}x.{4}y.{4}z.{4}").lets_all_through());
        assert!(lets_through(r"a(a|b){20}", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
        // Boundaries are not known next to other bytes.
        assert!(lets_through(r"x\bfoo", "\u{e9}"));
    }
}
