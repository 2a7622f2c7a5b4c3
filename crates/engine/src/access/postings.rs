//! For each word and each rule of a segment where it stands: the rules that use it, and its places in the root.
//!
//! This is what makes many searches cheap: one goes up from its tokens to the rules that have them, and never looks at
//! others. It is as large as the grammar itself, so it is made when there are many searches to run, and kept where there is memory
//! to spare; else it is given back after them. Cost: two passes over the symbols.

use std::ops::Range;

use tadoc_core::packed::Packed;
use tadoc_core::{Share, usize_of};

use super::segment::{Segment, Slices};
use crate::error::Result;

/// Where symbols stand. Separators are left out: nobody searches for them.
#[derive(Debug)]
pub(super) struct Postings {
    rules: u64,
    /// Where the list of each symbol starts, and the end behind the last.
    starts: Packed,
    /// Rules that use a symbol, and behind the numbers of rules places in the root; ascending.
    users: Packed,
    _share: Option<Share>,
}

/// What memory is taken for, in errors.
const WHAT: &str = "the places of all words";

impl Postings {
    /// Where the symbols of a segment stand.
    pub(super) fn of(segment: &Segment) -> Result<Self> {
        let slices = segment.slices()?;
        let share = segment.budget().take(Self::most_bytes(&slices), WHAT)?;
        let postings = Self::new(&slices);
        drop(share);
        let share = segment.budget().take(postings.memory() as u64, WHAT)?;
        Ok(Self { _share: Some(share), ..postings })
    }

    /// Bytes of memory that making them takes: starts are there thrice then, and users twice.
    pub(super) fn most_bytes(slices: &Slices<'_>) -> u64 {
        let (symbols, all) = (slices.symbol_count(), slices.bodies_length() + slices.root_length());
        (size_of::<u32>() * (3 * symbols + 2 * all)) as u64
    }

    /// Bytes of memory held.
    pub(super) fn memory(&self) -> usize {
        self.starts.as_bytes().len() + self.users.as_bytes().len()
    }

    fn new(slices: &Slices<'_>) -> Self {
        let rules = slices.rule_count();
        let wanted = |symbol: u32| slices.is_word(symbol) || slices.rule_of(symbol).is_some();
        let mut starts = vec![0_u32; slices.symbol_count() + 1];
        let each = |visit: &mut dyn FnMut(u32, u32)| {
            // A rule that uses a symbol twice is listed once.
            let mut last_user = vec![u32::MAX; slices.symbol_count()];
            for rule in 0..rules {
                for at in slices.body(rule) {
                    let symbol = slices.body_symbol(at);
                    if wanted(symbol)
                        && std::mem::replace(&mut last_user[symbol as usize], rule) != rule
                    {
                        visit(symbol, rule);
                    }
                }
            }
            for place in 0..slices.root_length() {
                let symbol = slices.root(place);
                if wanted(symbol) {
                    #[expect(
                        clippy::cast_possible_truncation,
                        reason = "a segment has fewer than 2^32 symbols"
                    )]
                    visit(symbol, rules + place as u32);
                }
            }
        };
        each(&mut |symbol, _| starts[symbol as usize + 1] += 1);
        for symbol in 1..starts.len() {
            starts[symbol] += starts[symbol - 1];
        }
        let mut users = vec![0_u32; starts[starts.len() - 1] as usize];
        let mut next = starts.clone();
        each(&mut |symbol, user| {
            let at = &mut next[symbol as usize];
            users[*at as usize] = user;
            *at += 1;
        });
        drop(next);
        let count = users.len() as u64;
        let most = u64::from(rules) + slices.root_length() as u64;
        Self {
            rules: rules.into(),
            starts: Packed::new(starts.into_iter().map(u64::from), count),
            users: Packed::new(users.into_iter().map(u64::from), most),
            _share: None,
        }
    }

    /// All rules that have any of the tokens, children first, and all places of the root that do, ascending.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "users are rules and places, and fewer than 2^32"
    )]
    pub(super) fn reach(&self, slices: &Slices<'_>, tokens: &[Range<u32>], room: &mut Reached) {
        let (starts, users) = (self.starts.slice(), self.users.slice());
        room.reset(slices.rule_count() as usize);
        let visit = |symbol: u32, room: &mut Reached| {
            let (start, end) = (starts.get(symbol as usize), starts.get(symbol as usize + 1));
            for at in usize_of(start)..usize_of(end) {
                match users.get(at).checked_sub(self.rules) {
                    None => room.see(users.get(at) as u32),
                    Some(place) => room.places.push(place as u32),
                }
            }
        };
        for token in tokens.iter().cloned().flatten() {
            visit(token, room);
        }
        let mut next = 0;
        while let Some(&rule) = room.rules.get(next) {
            visit(slices.token_count() + rule, room);
            next += 1;
        }
        room.rules.sort_unstable_by(|one, other| other.cmp(one));
        room.sort_places(slices.root_length());
    }
}

/// Of so many places and more for each word of a bitmap, setting bits is faster than sorting.
const SORTED: usize = 16;

/// What was reached. Room that is used again and again.
#[derive(Debug, Default)]
pub(super) struct Reached {
    seen: Vec<bool>,
    pub(super) rules: Vec<u32>,
    pub(super) places: Vec<u32>,
    bits: Vec<u64>,
}

impl Reached {
    fn reset(&mut self, rules: usize) {
        if self.seen.len() != rules {
            self.seen = vec![false; rules];
        } else {
            self.rules.iter().for_each(|&rule| self.seen[rule as usize] = false);
        }
        self.rules.clear();
        self.places.clear();
    }

    /// Bytes of memory held.
    pub(super) fn memory(&self) -> usize {
        self.seen.len()
    }

    /// Gives back what only a question with many places needs.
    pub(super) fn shrink(&mut self) {
        (self.places, self.bits) = (Vec::new(), Vec::new());
    }

    fn see(&mut self, rule: u32) {
        if !std::mem::replace(&mut self.seen[rule as usize], true) {
            self.rules.push(rule);
        }
    }

    /// Sorts the places, each of which is there once.
    fn sort_places(&mut self, root_length: usize) {
        let words = root_length.div_ceil(64);
        if self.places.len() * SORTED < words {
            self.places.sort_unstable();
            return;
        }
        self.bits.clear();
        self.bits.resize(words, 0);
        for &place in &self.places {
            self.bits[place as usize / 64] |= 1 << (place % 64);
        }
        self.places.clear();
        for (word, &bits) in (0..).zip(&self.bits) {
            let mut bits = bits;
            while bits > 0 {
                self.places.push(64 * word + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
    }
}
