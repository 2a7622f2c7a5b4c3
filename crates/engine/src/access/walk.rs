//! Ways over the text of a segment: its bytes, its tokens, and from one word to the next.

use std::ops::Range;

use super::segment::{Segment, Slices};
use crate::error::Result;

/// Calls `each` with the tokens of some places of the root, in order. `stack` is room to work in.
#[inline]
pub(super) fn tokens(
    slices: Slices<'_>,
    places: Range<usize>,
    stack: &mut Vec<Range<usize>>,
    mut each: impl FnMut(u32),
) {
    for place in places {
        let mut symbol = slices.root(place);
        loop {
            match slices.rule_of(symbol) {
                None => each(symbol),
                Some(rule) => stack.push(slices.body(rule)),
            }
            let next = loop {
                let Some(body) = stack.last_mut() else { break None };
                if let Some(at) = body.next() {
                    // A body whose last symbol is a rule is left before that is entered: the stack stays short.
                    let symbol = slices.body_symbol(at);
                    if body.start == body.end {
                        stack.pop();
                    }
                    break Some(symbol);
                }
                stack.pop();
            };
            match next {
                Some(next) => symbol = next,
                None => break,
            }
        }
    }
}

/// Gives bytes of a segment's text. Holds room to work in, so one is used again and again.
#[derive(Debug, Default)]
pub(super) struct Extractor {
    stack: Vec<Range<usize>>,
}

impl Extractor {
    /// Appends `length` bytes of the text, or fewer at its end: those behind the first `skip` bytes of the places.
    pub(super) fn read(
        &mut self,
        segment: &Segment<'_>,
        slices: Slices<'_>,
        places: Range<usize>,
        mut skip: u64,
        length: usize,
        into: &mut Vec<u8>,
    ) -> Result<()> {
        let full = into.len().saturating_add(length);
        self.stack.clear();
        for place in places {
            if into.len() >= full {
                break;
            }
            let mut symbol = slices.root(place);
            loop {
                let bytes = if skip > 0 { slices.bytes(symbol) } else { 0 };
                if skip > 0 && bytes <= skip {
                    skip -= bytes;
                } else {
                    match slices.rule_of(symbol) {
                        Some(rule) => self.stack.push(slices.body(rule)),
                        None => {
                            let token = segment.token(symbol)?;
                            let token = &token[token.len().min(skip as usize)..];
                            skip = 0;
                            into.extend_from_slice(&token[..token.len().min(full - into.len())]);
                            if into.len() >= full {
                                self.stack.clear();
                                return Ok(());
                            }
                        }
                    }
                }
                let next = loop {
                    let Some(body) = self.stack.last_mut() else { break None };
                    if let Some(at) = body.next() {
                        if body.start == body.end {
                            self.stack.pop();
                        }
                        break Some(slices.body_symbol(at));
                    }
                    self.stack.pop();
                };
                match next {
                    Some(next) => symbol = next,
                    None => break,
                }
            }
        }
        Ok(())
    }
}
