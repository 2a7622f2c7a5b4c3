//! The texts of short rules, written out: most of a short extract is then a few copies.
//!
//! Made only when an archive is loaded for many operations. It takes no more room than it is given; rules that are used often
//! for their length come first.

use rayon::prelude::*;
use tadoc_core::packed::{Packed, prefetch};
use tadoc_core::usize_of;

use super::segment::{Segment, Slices};
use super::walk;
use crate::error::Result;

/// Longer texts are expanded.
const LONGEST: u64 = 64;

/// About so many bytes say where the text of a rule starts.
const START_BYTES: u64 = 3;

/// The texts of some rules.
#[derive(Debug)]
pub(super) struct Texts {
    /// For each rule one more than where its text starts, or 0.
    starts: Packed,
    /// Behind the last text there are [`LONGEST`] bytes more.
    bytes: Box<[u8]>,
}

impl Texts {
    pub(super) fn new(segment: &Segment, slices: &Slices<'_>, room: u64) -> Result<Self> {
        let rules = slices.rule_count() as usize;
        let length = |rule: u32| slices.bytes(slices.token_count() + rule);
        // How often a rule is met when those with a text are not entered: in documents, and in rules that are too long for one.
        let mut uses = vec![0_u32; rules];
        let mut meet = |symbol: u32| {
            if let Some(rule) = slices.rule_of(symbol) {
                uses[rule as usize] = uses[rule as usize].saturating_add(1);
            }
        };
        (0..slices.root_length()).for_each(|place| meet(slices.root(place)));
        for rule in (0..slices.rule_count()).filter(|&rule| length(rule) > LONGEST) {
            slices.body(rule).for_each(|at| meet(slices.body_symbol(at)));
        }
        let mut chosen: Vec<(u64, u32)> = (0..slices.rule_count())
            .filter(|&rule| uses[rule as usize] > 0 && length(rule) <= LONGEST)
            .map(|rule| ((u64::from(uses[rule as usize]) << 16) / length(rule).max(1), rule))
            .collect();
        chosen.par_sort_unstable_by(|one, other| other.cmp(one));
        let mut room = room.saturating_sub(START_BYTES * rules as u64);
        let fits = |&(_, rule): &(u64, u32)| match room.checked_sub(length(rule)) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        };
        let count = chosen.iter().copied().take_while(fits).count();
        chosen.truncate(count);
        // In the order of rules, which is about that of their use.
        chosen.par_sort_unstable_by_key(|&(_, rule)| rule);
        let (mut starts, mut bytes, mut stack) = (vec![0; rules], Vec::new(), Vec::new());
        for (_, rule) in chosen {
            starts[rule as usize] = bytes.len() as u64 + 1;
            walk::tokens_of_rule(slices, rule, &mut stack, |token| {
                segment.tokens().append(token, &mut bytes)
            })?;
        }
        let most = bytes.len() as u64 + 1;
        bytes.resize(bytes.len() + usize_of(LONGEST), 0);
        Ok(Self { starts: Packed::new(starts.into_iter(), most), bytes: bytes.into() })
    }

    pub(super) fn memory(&self) -> usize {
        self.starts.as_bytes().len() + self.bytes.len()
    }

    /// Whether the text of a rule is written out.
    #[inline]
    pub(super) fn has(&self, rule: u32) -> bool {
        self.starts.get(rule as usize) > 0
    }

    /// Appends the text of a rule that is written out, and whose length is known.
    #[inline]
    pub(super) fn append(&self, rule: u32, length: u64, into: &mut Vec<u8>) {
        let start = usize_of(self.starts.get(rule as usize)) - 1;
        let end = into.len() + usize_of(length);
        into.extend_from_slice(&self.bytes[start..start + usize_of(LONGEST)]);
        into.truncate(end);
    }

    /// Asks for the memory that says where the text of a rule is.
    #[inline]
    pub(super) fn prefetch(&self, rule: u32) {
        self.starts.slice().prefetch(rule as usize);
    }

    /// Asks for the memory of the text of a rule that is written out.
    #[inline]
    pub(super) fn prefetch_bytes(&self, rule: u32) {
        let start = usize_of(self.starts.get(rule as usize)) - 1;
        prefetch(&self.bytes, start);
        prefetch(&self.bytes, start + usize_of(LONGEST) / 2);
    }
}
