//! Lines: a line ends with a newline, and the last one of a document may do without.
//!
//! Newlines are measured like bytes: a sample of the root, the newlines of a few symbols, and a way down.

use tadoc_core::usize_of;

use super::segment::Measure;
use super::{Access, Part};
use crate::corpus::count_newlines;
use crate::error::Result;

impl Access {
    /// How many lines a document has. O(1) for each part of the document.
    pub fn line_count(&self, document: u32) -> Result<u64> {
        let bytes = match self.parts_of_document(document)? {
            [] => 0,
            _ => self.documents()[document as usize].bytes,
        };
        if bytes == 0 {
            return Ok(0);
        }
        let newlines = self.line_of(document, bytes)?;
        let ends_with_one = self.extract(document, bytes - 1, 1)? == b"\n";
        Ok(newlines + u64::from(!ends_with_one))
    }

    /// Where a line (the first is 0) starts in a document; the document's length for a line past the last. O(depth).
    pub fn line_start(&self, document: u32, line: u64) -> Result<u64> {
        let parts = self.parts_of_document(document)?;
        let Some(mut newline) = line.checked_sub(1) else { return Ok(0) };
        for part in parts {
            let here = self.newlines_of_part(part)?;
            if newline < here {
                return self.behind_newline(part, newline);
            }
            newline -= here;
        }
        Ok(self.documents()[document as usize].bytes)
    }

    /// In which line (the first is 0) a byte of a document is: how many newlines are before it. O(depth).
    pub fn line_of(&self, document: u32, offset: u64) -> Result<u64> {
        self.check_offset(document, offset)?;
        let mut newlines = 0;
        for part in self.parts_of_document(document)? {
            if offset >= part.offset + part.bytes {
                newlines += self.newlines_of_part(part)?;
            } else if offset > part.offset {
                newlines += self.newlines_before(part, offset - part.offset)?;
            }
        }
        Ok(newlines)
    }

    fn newlines_of_part(&self, part: &Part) -> Result<u64> {
        let segment = self.segment(part.segment as usize)?;
        segment.measure_document(Measure::Newlines, part.place as usize)
    }

    /// Where in its document the byte behind a newline of a part is.
    fn behind_newline(&self, part: &Part, newline: u64) -> Result<u64> {
        let segment = self.segment(part.segment as usize)?;
        let slices = segment.slices()?;
        let root = segment.document_root(part.place as usize);
        let number = slices.before(Measure::Newlines, root.start) + newline;
        let found = slices.locate(Measure::Newlines, number);
        if found.place >= slices.root_length() {
            return Ok(part.offset + part.bytes);
        }
        let symbol = slices.root(found.place);
        let (token, left, inner) = slices.descend(Measure::Newlines, symbol, number - found.before);
        let token = segment.token(token)?;
        let at = memchr::memchr_iter(b'\n', token).nth(usize_of(left)).unwrap_or(0) as u64;
        let text = slices.before(Measure::Bytes, found.place) + inner + at + 1;
        Ok(text.saturating_sub(part.text_start) + part.offset)
    }

    /// How many newlines are among the first bytes of a part.
    fn newlines_before(&self, part: &Part, bytes: u64) -> Result<u64> {
        let segment = self.segment(part.segment as usize)?;
        let slices = segment.slices()?;
        let text = part.text_start + bytes;
        let found = slices.locate(Measure::Bytes, text);
        let start = segment.document_root(part.place as usize).start;
        let mut newlines = slices
            .before(Measure::Newlines, found.place)
            .saturating_sub(slices.before(Measure::Newlines, start));
        if found.place < slices.root_length() {
            newlines += self.newlines_in(segment, slices.root(found.place), text - found.before)?;
        }
        Ok(newlines)
    }

    /// How many newlines are among the first bytes of a symbol's text.
    fn newlines_in(&self, segment: &super::Segment, symbol: u32, bytes: u64) -> Result<u64> {
        let slices = segment.slices()?;
        let (mut symbol, mut left, mut newlines) = (symbol, bytes, 0);
        'down: while let Some(rule) = slices.rule_of(symbol) {
            for at in slices.body(rule) {
                let child = slices.body_symbol(at);
                let length = slices.bytes(child);
                if left < length {
                    symbol = child;
                    continue 'down;
                }
                left -= length;
                newlines += slices.newlines(child);
            }
            return Ok(newlines);
        }
        let token = segment.token(symbol)?;
        Ok(newlines + count_newlines(&token[..token.len().min(usize_of(left))]))
    }
}
