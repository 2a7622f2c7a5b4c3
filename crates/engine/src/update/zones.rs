//! Where the text of an edited document is not that of its base, and what words are there.
//!
//! A *zone* is a stretch of the edited text that has everything that is new, and whatever a word could reach from there; all other text
//! is that of the base, moved. Both ends of a zone are beside a separator, so that its words are those of the whole
//! text. Cost: a few bytes of the base are read for each end of a piece; a document of `k` pieces has at most `k + 1` zones.

use std::ops::Range;

use super::pieces::{Piece, Source};
use crate::Lexer;
use crate::access::words;
use crate::error::Result;

/// Bytes that are read at first to find a separator or words; then twice as many, and so on.
const FIRST_LOOK: u64 = 64;

/// A stretch of an edited document, and the stretch of its base that it is in the place of. Either may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Zone {
    pub(super) edited: Range<u64>,
    pub(super) base: Range<u64>,
}

/// The zones of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Zones {
    zones: Vec<Zone>,
    edited_bytes: u64,
    base_bytes: u64,
}

/// Text that can be read anywhere.
pub(super) trait Text {
    /// Appends bytes of the text; the range is inside of it.
    fn read(&mut self, range: Range<u64>, into: &mut Vec<u8>) -> Result<()>;
}

/// A stretch that the edited text and the base share, by where it starts in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shared {
    pub(super) edited: u64,
    pub(super) base: u64,
    pub(super) bytes: u64,
}

impl Zones {
    /// The zones of a document of these pieces, over a base of so many bytes.
    pub(super) fn new(
        pieces: impl Iterator<Item = Piece>,
        base_bytes: u64,
        base: &mut dyn Text,
        separators: &[bool; 256],
    ) -> Result<Self> {
        let mut shared: Vec<Shared> = Vec::new();
        let mut edited = 0;
        let mut pieces = pieces.peekable();
        while let Some(piece) = pieces.next() {
            if piece.source() == Source::Stored {
                let (mut start, mut end) = (piece.start(), piece.start() + piece.bytes());
                if edited > 0 || start > 0 {
                    start += first_separator(start..end, base, separators)?;
                }
                if pieces.peek().is_some() || end < base_bytes {
                    end = behind_last_separator(start..end, base, separators)?;
                }
                if start < end {
                    let moved = edited + (start - piece.start());
                    shared.push(Shared { edited: moved, base: start, bytes: end - start });
                }
            }
            edited += piece.bytes();
        }
        let mut zones = Vec::new();
        let mut before = (0, 0);
        for next in shared
            .iter()
            .map(|shared| (shared.edited, shared.base, shared.bytes))
            .chain([(edited, base_bytes, 0)])
        {
            let (at, base_at, bytes) = next;
            if before != (at, base_at) {
                zones.push(Zone { edited: before.0..at, base: before.1..base_at });
            }
            before = (at + bytes, base_at + bytes);
        }
        Ok(Self { zones, edited_bytes: edited, base_bytes })
    }

    /// The zones, in order.
    pub(super) fn zones(&self) -> &[Zone] {
        &self.zones
    }

    /// Bytes of the base that zones are in the place of.
    pub(super) fn base_bytes_gone(&self) -> u64 {
        self.zones.iter().map(|zone| zone.base.end - zone.base.start).sum()
    }

    /// Where a place of the base is in the edited text, if it is shared and, for the last of the stretch before a zone, before `limits` of that zone.
    pub(super) fn moved(&self, place: u64, limits: &[u64]) -> Option<u64> {
        let next = self.zones.partition_point(|zone| zone.base.start <= place);
        // Zones that are in the place of nothing start where others end: the last one counts.
        if next > 0 && place < self.zones[next - 1].base.end {
            return None;
        }
        if next < self.zones.len() && place >= limits[next] {
            return None;
        }
        let (edited, base) = match next {
            0 => (0, 0),
            next => (self.zones[next - 1].edited.end, self.zones[next - 1].base.end),
        };
        Some(place - base + edited)
    }

    /// Where words in a row are that have to do with a zone: one of them is in it, or it is between them. Beside them, for each zone, where in the
    /// base the last words before it start with which they could begin.
    pub(super) fn occurrences(
        &self,
        terms: &[Vec<u8>],
        lexer: Lexer,
        edited: &mut dyn Text,
        separators: &[bool; 256],
    ) -> Result<(Vec<u64>, Vec<u64>)> {
        let more = terms.len() - 1;
        let mut windows: Vec<(Range<u64>, Range<usize>)> = Vec::new();
        let mut limits = Vec::with_capacity(self.zones.len());
        for (number, zone) in self.zones.iter().enumerate() {
            let mut window = zone.edited.clone();
            if more > 0 {
                window.start = words_before(zone.edited.start, more, lexer, edited, separators)?;
                window.end = words_behind(zone.edited.end, self.edited_bytes, more, lexer, edited)?;
            }
            // The stretch before the zone may have fewer words: then none of them is the start of so many.
            let (shared, base) = match number {
                0 => (0, 0),
                number => (self.zones[number - 1].edited.end, self.zones[number - 1].base.end),
            };
            limits.push(base + window.start.saturating_sub(shared));
            match windows.last_mut() {
                Some((last, zones)) if last.end > window.start => {
                    last.end = last.end.max(window.end);
                    zones.end = number + 1;
                }
                _ => windows.push((window, number..number + 1)),
            }
        }
        let mut found = Vec::new();
        let mut text = Vec::new();
        for (window, zones) in windows {
            text.clear();
            edited.read(window.clone(), &mut text)?;
            let words = words(lexer, &text);
            for run in words.windows(terms.len()) {
                let start = window.start + run[0].start as u64;
                let end = window.start + run[more].end as u64;
                if run.iter().zip(terms).all(|(word, term)| text[word.clone()] == term[..])
                    && self.zones[zones.clone()]
                        .iter()
                        .any(|zone| start < zone.edited.end && end > zone.edited.start)
                {
                    found.push(start);
                }
            }
        }
        Ok((found, limits))
    }
}

/// How far it is to the first separator of a stretch, or to its end.
fn first_separator(
    range: Range<u64>,
    text: &mut dyn Text,
    separators: &[bool; 256],
) -> Result<u64> {
    let (mut bytes, mut look) = (Vec::new(), FIRST_LOOK);
    let mut at = range.start;
    while at < range.end {
        bytes.clear();
        let end = range.end.min(at + look);
        text.read(at..end, &mut bytes)?;
        if let Some(place) = bytes.iter().position(|&byte| separators[byte as usize]) {
            return Ok(at - range.start + place as u64);
        }
        (at, look) = (end, look * 2);
    }
    Ok(range.end - range.start)
}

/// The place behind the last separator of a stretch, or its start.
fn behind_last_separator(
    range: Range<u64>,
    text: &mut dyn Text,
    separators: &[bool; 256],
) -> Result<u64> {
    let (mut bytes, mut look) = (Vec::new(), FIRST_LOOK);
    let mut end = range.end;
    while end > range.start {
        bytes.clear();
        let start = range.start.max(end.saturating_sub(look));
        text.read(start..end, &mut bytes)?;
        if let Some(place) = bytes.iter().rposition(|&byte| separators[byte as usize]) {
            return Ok(start + place as u64 + 1);
        }
        (end, look) = (start, look * 2);
    }
    Ok(range.start)
}

/// Where the last so many words before a place start that is beside a separator; 0 if there are fewer.
fn words_before(
    place: u64,
    count: usize,
    lexer: Lexer,
    text: &mut dyn Text,
    separators: &[bool; 256],
) -> Result<u64> {
    let (mut bytes, mut look) = (Vec::new(), FIRST_LOOK);
    loop {
        bytes.clear();
        let start = place.saturating_sub(look);
        text.read(start..place, &mut bytes)?;
        // Behind a separator, or at the start of all, words are whole.
        let safe = match start {
            0 => Some(0),
            _ => bytes.iter().position(|&byte| separators[byte as usize]),
        };
        if let Some(safe) = safe {
            let words = words(lexer, &bytes[safe..]);
            if let Some(first) = words.len().checked_sub(count) {
                return Ok(start + (safe + words[first].start) as u64);
            }
        }
        if start == 0 {
            return Ok(0);
        }
        look *= 2;
    }
}

/// Where the first so many words behind a place end that is beside a separator; the end of the text if there are fewer.
fn words_behind(
    place: u64,
    text_bytes: u64,
    count: usize,
    lexer: Lexer,
    text: &mut dyn Text,
) -> Result<u64> {
    let (mut bytes, mut look) = (Vec::new(), FIRST_LOOK);
    loop {
        bytes.clear();
        let end = text_bytes.min(place + look);
        text.read(place..end, &mut bytes)?;
        let words = words(lexer, &bytes);
        // The last word may go on behind what was read.
        if words.len() > count {
            return Ok(place + words[count - 1].end as u64);
        }
        if end == text_bytes {
            return Ok(text_bytes);
        }
        look *= 2;
    }
}
