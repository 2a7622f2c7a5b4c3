//! The offsets of a phrase at some places of the root, a batch at a time: what is found next waits on a stack of rules.
//!
//! A place may be a rule whose text is longer than any memory, so a search is never expected to end: it is paused when enough was
//! found, and goes on when more is wanted. Cost: O(1) for each offset where rules have lists ([`Occurrences`]), and a step for
//! each symbol that has the pivot where they have none.

use std::ops::Range;
use std::vec;

use tadoc_core::navigation::BYTES_EVERY;

use super::occurrences::Occurrences;
use super::search::SegmentSearch;
use super::segment::Measure;
use super::tokens::leading_space;
use super::{Part, walk};
use crate::error::Result;

/// So many times as many places of the pivot are looked at as places of the phrase are wanted.
const LOOKED_AT: usize = 16;

/// Places of the root, ascending.
#[derive(Debug)]
pub(super) enum Places {
    /// All of a range.
    Range(Range<usize>),
    /// Some, all of which have the pivot.
    List(vec::IntoIter<u32>),
}

/// A search of one part that can be paused. It borrows nothing, so that whoever pulls offsets can
/// keep it.
#[derive(Debug)]
pub(super) struct Finder {
    part: Part,
    places: Places,
    /// The place that is being looked at, where its text starts, and where the symbol on top of the stack does.
    place: usize,
    base: u64,
    at: u64,
    /// What is left of the bodies of rules below the place.
    stack: Vec<Range<usize>>,
}

/// What a search goes by: the phrase in a segment, and what is known of rules.
pub(super) type Known<'f, 'a> = (&'f SegmentSearch<'a>, &'f Occurrences);

impl Finder {
    pub(super) fn new(part: &Part, places: Places) -> Self {
        let (place, base, at) = (usize::MAX, 0, 0);
        Self { part: *part, places, place, base, at, stack: Vec::new() }
    }

    /// Appends offsets of the phrase until there are `most` new ones, or a few more, or some times as many of the pivot
    /// were looked at, or no place is left; tells whether there may be more. `known` is the same at every call.
    pub(super) fn fill(
        &mut self,
        known: Known<'_, '_>,
        most: usize,
        into: &mut Vec<u64>,
    ) -> Result<bool> {
        let search = known.0;
        let enough = into.len().saturating_add(most);
        let (mut first, mut looked_at) = (into.len(), 0);
        while into.len() < enough && looked_at < LOOKED_AT * most {
            let symbol = match walk::next_symbol(&search.slices, &mut self.stack) {
                Some(symbol) => symbol,
                None => {
                    search.keep_phrases(&self.part, self.place, self.base, first, into)?;
                    first = into.len();
                    if first >= enough {
                        return Ok(true);
                    }
                    match self.next_place(known) {
                        Some(symbol) => symbol,
                        None => return Ok(false),
                    }
                }
            };
            let before = into.len();
            self.symbol(known, symbol, into)?;
            looked_at += into.len() - before;
            if into.len() >= enough {
                // Of offsets of the pivot perhaps few are of the phrase.
                search.keep_phrases(&self.part, self.place, self.base, first, into)?;
                first = into.len();
            }
        }
        search.keep_phrases(&self.part, self.place, self.base, first, into)?;
        Ok(true)
    }

    /// The symbol of the next place that has the pivot.
    fn next_place(&mut self, (search, occurrences): Known<'_, '_>) -> Option<u32> {
        let slices = &search.slices;
        loop {
            let place = match &mut self.places {
                Places::Range(range) => range.next()?,
                Places::List(list) => list.next()? as usize,
            };
            let symbol = slices.root(place);
            if !occurrences.is_in(symbol) {
                continue;
            }
            // From the place before, if that is near, else from a sample.
            let (from, start) = (self.place, self.base);
            self.base = match place.checked_sub(from) {
                Some(distance) if distance < BYTES_EVERY / 2 => (from..place)
                    .fold(start, |sum, place| sum.saturating_add(slices.bytes(slices.root(place)))),
                _ => slices.before(Measure::Bytes, place),
            };
            self.place = place;
            self.at = self.base;
            return Some(symbol);
        }
    }

    /// Looks at a symbol that starts where the search is.
    fn symbol(
        &mut self,
        (search, occurrences): Known<'_, '_>,
        symbol: u32,
        into: &mut Vec<u64>,
    ) -> Result<()> {
        let SegmentSearch { slices, segment, .. } = search;
        let bytes = slices.bytes(symbol);
        let is_in = occurrences.is_in(symbol);
        let Some(rule) = slices.rule_of(symbol) else {
            if is_in {
                into.push(self.at.saturating_add(leading_space(segment.token(symbol)?) as u64));
            }
            // No token is empty, whatever an index says.
            return self.pass(bytes.max(1));
        };
        if !is_in {
            return self.pass(bytes);
        }
        if let Some(list) = occurrences.list(rule) {
            into.extend(list.iter().map(|offset| self.at.saturating_add(*offset)));
            return self.pass(bytes.max(list.len() as u64));
        }
        self.stack.push(slices.body(rule));
        Ok(())
    }

    /// Goes past some bytes. Past the end of its part a search of right lengths never comes.
    fn pass(&mut self, bytes: u64) -> Result<()> {
        self.at = self.at.saturating_add(bytes);
        if self.at > self.part.text_start + self.part.bytes {
            return Err(super::damaged_index("a text is longer than its document"));
        }
        Ok(())
    }
}
