//! Where the text of an edited document is not that of its base, and what words are there.
//!
//! A *zone* is a stretch of the edited text that has everything that is new, and whatever a word could reach from there; all other text
//! is that of the base, moved. Both ends of a zone are beside a separator, so that its words are those of the whole
//! text. Cost: a pass over the pieces, of which a document with `k` has at most `k + 1` zones; a few bytes of the base are read for each end
//! of a piece that was not there before, and the words of each zone that was not.

use std::ops::Range;

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};

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

/// Where separators of the base are nearest to ends of pieces: found once, as the base does not change.
#[derive(Debug, Default)]
pub(super) struct Borders {
    first_from: HashMap<u64, u64, FixedState>,
    behind_last_before: HashMap<u64, u64, FixedState>,
}

impl Borders {
    /// The first separator at or behind a place, or the end of the base.
    fn first_from(
        &mut self,
        place: u64,
        base_bytes: u64,
        base: &mut dyn Text,
        separators: &[bool; 256],
    ) -> Result<u64> {
        if let Some(&found) = self.first_from.get(&place) {
            return Ok(found);
        }
        let (mut bytes, mut look) = (Vec::new(), FIRST_LOOK);
        let (mut at, mut found) = (place, base_bytes);
        while at < base_bytes {
            bytes.clear();
            let end = base_bytes.min(at + look);
            base.read(at..end, &mut bytes)?;
            if let Some(index) = bytes.iter().position(|&byte| separators[byte as usize]) {
                found = at + index as u64;
                break;
            }
            (at, look) = (end, look * 2);
        }
        self.first_from.insert(place, found);
        Ok(found)
    }

    /// The place behind the last separator before a place, or the start of the base.
    fn behind_last_before(
        &mut self,
        place: u64,
        base: &mut dyn Text,
        separators: &[bool; 256],
    ) -> Result<u64> {
        if let Some(&found) = self.behind_last_before.get(&place) {
            return Ok(found);
        }
        let (mut bytes, mut look) = (Vec::new(), FIRST_LOOK);
        let (mut end, mut found) = (place, 0);
        while end > 0 {
            bytes.clear();
            let start = end.saturating_sub(look);
            base.read(start..end, &mut bytes)?;
            if let Some(index) = bytes.iter().rposition(|&byte| separators[byte as usize]) {
                found = start + index as u64 + 1;
                break;
            }
            (end, look) = (start, look * 2);
        }
        self.behind_last_before.insert(place, found);
        Ok(found)
    }
}

/// How often each word is in the zones of a document, less how often it was in the stretches of the base that they are in the place of.
#[derive(Debug, Default)]
pub(super) struct ZoneWords {
    zones: HashSet<Content, FixedState>,
    differences: HashMap<Vec<u8>, i64, FixedState>,
}

/// What a zone is made of. Neither the base nor new text changes, so zones with equal contents have equal words.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Content {
    base: Range<u64>,
    pieces: Vec<Piece>,
}

impl ZoneWords {
    /// By how much more often a word is in the document than in its base.
    pub(super) fn difference(&self, word: &[u8]) -> i64 {
        self.differences.get(word).copied().unwrap_or(0)
    }

    /// Goes from the zones that the document had to those that it has; only others than before are read. `read` appends the bytes of a piece.
    pub(super) fn update(
        &mut self,
        zones: &Zones,
        pieces: impl Iterator<Item = Piece>,
        lexer: Lexer,
        mut read: impl FnMut(Piece, &mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let now: HashSet<Content, FixedState> = zones.contents(pieces).into_iter().collect();
        let before = std::mem::take(&mut self.zones);
        let mut text = Vec::new();
        for (zone, sign) in before
            .difference(&now)
            .map(|zone| (zone, -1))
            .chain(now.difference(&before).map(|zone| (zone, 1)))
        {
            text.clear();
            zone.pieces.iter().try_for_each(|&piece| read(piece, &mut text))?;
            self.count(lexer, &text, sign);
            text.clear();
            if !zone.base.is_empty() {
                let bytes = zone.base.end - zone.base.start;
                read(Piece::new(Source::Stored, zone.base.start, bytes), &mut text)?;
            }
            self.count(lexer, &text, -sign);
        }
        self.differences.retain(|_, difference| *difference != 0);
        self.zones = now;
        Ok(())
    }

    fn count(&mut self, lexer: Lexer, text: &[u8], sign: i64) {
        for word in words(lexer, text) {
            *self.differences.entry_ref(&text[word]).or_insert(0) += sign;
        }
    }
}

impl Zones {
    /// The zones of a document of these pieces, over a base of so many bytes.
    pub(super) fn new(
        pieces: impl Iterator<Item = Piece>,
        base_bytes: u64,
        base: &mut dyn Text,
        separators: &[bool; 256],
        borders: &mut Borders,
    ) -> Result<Self> {
        // Stretches that the edited text and the base share: where they start in both, and bytes.
        let mut shared: Vec<(u64, u64, u64)> = Vec::new();
        let mut edited = 0;
        let mut pieces = pieces.peekable();
        while let Some(piece) = pieces.next() {
            if piece.source() == Source::Stored {
                let (mut start, mut end) = (piece.start(), piece.start() + piece.bytes());
                if edited > 0 || start > 0 {
                    start = borders.first_from(start, base_bytes, base, separators)?;
                }
                if pieces.peek().is_some() || end < base_bytes {
                    end = borders.behind_last_before(end, base, separators)?;
                }
                if start < end {
                    let moved = edited + (start - piece.start());
                    shared.push((moved, start, end - start));
                }
            }
            edited += piece.bytes();
        }
        let mut zones = Vec::new();
        let mut before = (0, 0);
        for (at, base_at, bytes) in shared.into_iter().chain([(edited, base_bytes, 0)]) {
            if before != (at, base_at) {
                zones.push(Zone { edited: before.0..at, base: before.1..base_at });
            }
            before = (at + bytes, base_at + bytes);
        }
        Ok(Self { zones, edited_bytes: edited, base_bytes })
    }

    /// What each zone is made of.
    fn contents(&self, pieces: impl Iterator<Item = Piece>) -> Vec<Content> {
        let mut contents = Vec::with_capacity(self.zones.len());
        let mut pieces = pieces.peekable();
        // Where the next piece starts in the edited text.
        let mut at = 0;
        for zone in &self.zones {
            let mut own = Vec::new();
            while let Some(&piece) = pieces.peek() {
                let end = at + piece.bytes();
                let (from, to) = (at.max(zone.edited.start), end.min(zone.edited.end));
                if from < to {
                    own.push(Piece::new(piece.source(), piece.start() + (from - at), to - from));
                }
                // A piece that goes on behind the zone may have to do with the next one, too.
                if end > zone.edited.end {
                    break;
                }
                at = end;
                pieces.next();
            }
            contents.push(Content { base: zone.base.clone(), pieces: own });
        }
        contents
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
