//! Ways over the text of a segment: its bytes, its tokens, and from one word to the next.

use std::ops::Range;

use tadoc_core::usize_of;

use super::segment::{Measure, Segment, Slices};
use super::{Access, PIECE, Part};
use crate::error::Result;

/// Bytes of room behind what is read.
pub(super) const ROOM: usize = 128;

/// Calls `each` with the tokens of some places of the root, in order: at most so many, each of which has a byte, so that
/// an index whose lengths are wrong leads to no more than it announces. `stack` is room to work in.
#[inline]
pub(super) fn tokens(
    slices: &Slices<'_>,
    places: Range<usize>,
    most: u64,
    stack: &mut Vec<Range<usize>>,
    mut each: impl FnMut(u32),
) -> Result<()> {
    let mut left = most;
    stack.clear();
    for place in places {
        let mut symbol = slices.root(place);
        loop {
            match slices.rule_of(symbol) {
                None => {
                    left = left.checked_sub(1).ok_or_else(too_long)?;
                    each(symbol);
                }
                Some(rule) => stack.push(slices.body(rule)),
            }
            match next_symbol(slices, stack) {
                Some(next) => symbol = next,
                None => break,
            }
        }
    }
    Ok(())
}

/// Calls `each` with the tokens of a rule, in order, of which there are no more than it has bytes. `stack` is room to work
/// in.
pub(super) fn tokens_of_rule(
    slices: &Slices<'_>,
    rule: u32,
    stack: &mut Vec<Range<usize>>,
    mut each: impl FnMut(u32) -> Result<()>,
) -> Result<()> {
    let mut left = slices.bytes(slices.token_count() + rule);
    stack.clear();
    stack.push(slices.body(rule));
    while let Some(symbol) = next_symbol(slices, stack) {
        match slices.rule_of(symbol) {
            None => {
                left = left.checked_sub(1).ok_or_else(too_long)?;
                each(symbol)?;
            }
            Some(rule) => stack.push(slices.body(rule)),
        }
    }
    Ok(())
}

fn too_long() -> crate::Error {
    super::damaged_index("a rule has more text than it announces")
}

/// Goes to places of an archive. Keeps what it has found out about the last segment, and room to work in, so one is used again
/// and again.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    access: &'a Access,
    opened: Option<(usize, Opened<'a>)>,
    stack: Vec<Range<usize>>,
}

/// A segment and its arrays.
#[derive(Debug)]
pub(super) struct Opened<'a> {
    pub(super) segment: &'a Segment,
    pub(super) slices: Slices<'a>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(access: &'a Access) -> Self {
        Self { access, opened: None, stack: Vec::new() }
    }

    /// A segment, opened.
    #[inline]
    pub(super) fn open(&mut self, number: usize) -> Result<&Opened<'a>> {
        if self.opened.as_ref().is_none_or(|(opened, _)| *opened != number) {
            let segment = self.access.segment(number)?;
            self.opened = Some((number, Opened { segment, slices: segment.slices()? }));
        }
        Ok(&self.opened.as_ref().expect("just opened").1)
    }

    /// Appends at most `length` bytes of a document from `offset` on.
    pub(super) fn read(
        &mut self,
        document: u32,
        offset: u64,
        length: u64,
        into: &mut Vec<u8>,
    ) -> Result<()> {
        let access = self.access;
        access.check_offset(document, offset)?;
        let end = offset.saturating_add(length).min(access.documents()[document as usize].bytes);
        let mut at = offset;
        while at < end {
            let Some(part) = access.part_at(document, at)? else { return Err(too_short()) };
            let wanted = end.min(part.offset + part.bytes) - at;
            let before = into.len();
            // Tokens are copied with a few bytes more than they have.
            into.reserve(usize_of(wanted.min(PIECE as u64)) + ROOM);
            self.read_part(&part, part.text_start + (at - part.offset), usize_of(wanted), into)?;
            if into.len() == before {
                return Err(too_short());
            }
            at += (into.len() - before) as u64;
        }
        Ok(())
    }

    /// Appends `length` bytes of a part from a place of the segment's text on.
    pub(super) fn read_part(
        &mut self,
        part: &Part,
        text: u64,
        length: usize,
        into: &mut Vec<u8>,
    ) -> Result<()> {
        self.open(part.segment as usize)?;
        let (Some((_, Opened { segment, slices })), stack) = (&self.opened, &mut self.stack) else {
            unreachable!("just opened");
        };
        let tokens = segment.tokens();
        let found = slices.locate(Measure::Bytes, text);
        let end = segment.document_root(part.place as usize).end;
        let mut skip = text - found.before;
        let full = into.len() + length;
        stack.clear();
        for place in found.place..end {
            let mut symbol = slices.root(place);
            loop {
                let bytes = if skip > 0 { slices.bytes(symbol) } else { 0 };
                if skip > 0 && bytes <= skip {
                    skip -= bytes;
                } else if let Some(rule) = slices.rule_of(symbol) {
                    stack.push(slices.body(rule));
                } else {
                    let before = into.len();
                    tokens.append(symbol, into)?;
                    if skip > 0 {
                        into.drain(before..into.len().min(before + usize_of(skip)));
                        skip = 0;
                    }
                    if into.len() >= full {
                        into.truncate(full);
                        return Ok(());
                    }
                }
                match next_symbol(slices, stack) {
                    Some(next) => symbol = next,
                    None => break,
                }
            }
        }
        Ok(())
    }
}

fn too_short() -> crate::Error {
    super::damaged_index("a document has less text than it announces")
}

/// The next symbol of the innermost body that has one.
#[inline]
pub(super) fn next_symbol(slices: &Slices<'_>, stack: &mut Vec<Range<usize>>) -> Option<u32> {
    loop {
        let body = stack.last_mut()?;
        if let Some(at) = body.next() {
            // A body whose last symbol is a rule is left before that is entered: the stack stays short.
            if body.start == body.end {
                stack.pop();
            }
            return Some(slices.body_symbol(at));
        }
        stack.pop();
    }
}
