//! Where the text of an edited document is not that of its base, and what words are there.
//!
//! A *zone* is a stretch of the edited text that has everything that is new, and whatever a word could reach from there; all other text
//! is that of the base, moved. Both ends of a zone are beside a separator, so that its words are those of the whole
//! text. Cost: a pass over the pieces, of which a document with `k` has at most `k + 1` zones; a few bytes of the base are read for each end
//! of a piece that was not there before, and the words of each zone that was not. They are kept, but for those of very long zones, so that
//! a word is looked for without reading any text.

use std::ops::Range;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::pieces::{Piece, Source};
use crate::Lexer;
use crate::access::words;
use crate::error::Result;

/// Bytes that are read at first to find a separator or words; then twice as many, and so on.
const FIRST_LOOK: u64 = 64;

/// The words of longer zones are not kept.
const LONGEST_KEPT: usize = 1 << 16;

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

/// The words of the zones of a document, and how often each is in them, less how often it was in the stretches of the base that they are in the
/// place of.
#[derive(Debug, Default)]
pub(super) struct ZoneWords {
    contents: Contents,
    /// Of each zone.
    words: Vec<Option<Words>>,
    differences: HashMap<Vec<u8>, i64, FixedState>,
}

/// What zones are made of: stretches of the base that they are in the place of, and pieces. Neither the base nor new text changes, so zones of
/// equal contents have equal words.
#[derive(Debug, Default)]
struct Contents {
    base: Vec<Range<u64>>,
    /// The pieces of all zones, and where those of each end.
    pieces: Vec<Piece>,
    ends: Vec<usize>,
}

/// The words of a zone.
#[derive(Debug)]
struct Words {
    text: Vec<u8>,
    words: Vec<Range<usize>>,
}

impl Words {
    /// The words of a text; nothing is kept of one that is long.
    fn of(lexer: Lexer, text: &[u8]) -> Option<Self> {
        (text.len() <= LONGEST_KEPT)
            .then(|| Self { text: text.to_vec(), words: words(lexer, text) })
    }

    /// Where a word is.
    fn find(&self, word: &[u8]) -> impl Iterator<Item = u64> {
        let own = self.words.iter().filter(move |own| self.text[(*own).clone()] == *word);
        own.map(|own| own.start as u64)
    }
}

impl Contents {
    fn len(&self) -> usize {
        self.base.len()
    }

    fn pieces(&self, zone: usize) -> &[Piece] {
        let start = if zone == 0 { 0 } else { self.ends[zone - 1] };
        &self.pieces[start..self.ends[zone]]
    }
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
        let now = zones.contents(pieces);
        let before = std::mem::replace(&mut self.contents, now);
        let now = &self.contents;
        let mut words_before = std::mem::take(&mut self.words).into_iter();
        let mut text = Vec::new();
        let mut count_zone = |contents: &Contents, zone: usize, sign: i64| -> Result<_> {
            text.clear();
            let base = &contents.base[zone];
            if !base.is_empty() {
                let bytes = base.end - base.start;
                read(Piece::new(Source::Stored, base.start, bytes), &mut text)?;
            }
            count(&mut self.differences, lexer, &text, -sign);
            text.clear();
            contents.pieces(zone).iter().try_for_each(|&piece| read(piece, &mut text))?;
            count(&mut self.differences, lexer, &text, sign);
            Ok(Words::of(lexer, &text))
        };
        let key = |contents: &Contents, zone: usize| {
            contents.base.get(zone).map_or((u64::MAX, 0), |base| (base.start, base.end))
        };
        // Both ascend in the base.
        let (mut old, mut new) = (0, 0);
        while old < before.len() || new < now.len() {
            let order = key(&before, old).cmp(&key(now, new));
            if order.is_eq() && before.pieces(old) == now.pieces(new) {
                self.words.push(words_before.next().expect("each zone has its words"));
                (old, new) = (old + 1, new + 1);
                continue;
            }
            if order.is_le() {
                count_zone(&before, old, -1)?;
                words_before.next();
                old += 1;
            }
            if order.is_ge() {
                self.words.push(count_zone(now, new, 1)?);
                new += 1;
            }
        }
        Ok(())
    }

    /// Where a word is in the zones that were taken last. `edited` is the text that they are of.
    pub(super) fn find(
        &self,
        zones: &Zones,
        word: &[u8],
        lexer: Lexer,
        edited: &mut dyn Text,
    ) -> Result<Vec<u64>> {
        let (mut found, mut text) = (Vec::new(), Vec::new());
        for (zone, kept) in zones.zones.iter().zip(&self.words) {
            let start = zone.edited.start;
            if let Some(words) = kept {
                found.extend(words.find(word).map(|place| start + place));
                continue;
            }
            text.clear();
            edited.read(zone.edited.clone(), &mut text)?;
            let own = words(lexer, &text).into_iter().filter(|own| text[own.clone()] == *word);
            found.extend(own.map(|own| start + own.start as u64));
        }
        Ok(found)
    }
}

/// Adds the words of a text to counts, or takes them away. A word that is counted as often as before has no count.
fn count(counts: &mut HashMap<Vec<u8>, i64, FixedState>, lexer: Lexer, text: &[u8], sign: i64) {
    for word in words(lexer, text) {
        let count = counts.entry_ref(&text[word.clone()]).or_insert(0);
        *count += sign;
        if *count == 0 {
            counts.remove(&text[word]);
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

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.zones.len()
    }

    /// What each zone is made of.
    fn contents(&self, pieces: impl Iterator<Item = Piece>) -> Contents {
        let mut contents = Contents::default();
        let mut pieces = pieces.peekable();
        // Where the next piece starts in the edited text.
        let mut at = 0;
        for zone in &self.zones {
            while let Some(&piece) = pieces.peek() {
                let end = at + piece.bytes();
                let (from, to) = (at.max(zone.edited.start), end.min(zone.edited.end));
                if from < to {
                    let own = Piece::new(piece.source(), piece.start() + (from - at), to - from);
                    contents.pieces.push(own);
                }
                // A piece that goes on behind the zone may have to do with the next one, too.
                if end > zone.edited.end {
                    break;
                }
                at = end;
                pieces.next();
            }
            contents.base.push(zone.base.clone());
            contents.ends.push(contents.pieces.len());
        }
        contents
    }

    /// Bytes of the base that zones are in the place of.
    pub(super) fn base_bytes_gone(&self) -> u64 {
        self.zones.iter().map(|zone| zone.base.end - zone.base.start).sum()
    }

    /// Where a place of the base is in the edited text, if it is shared and, for the last of the stretch before a zone, before `limits` of that zone,
    /// if it has one.
    pub(super) fn moved(&self, place: u64, limits: &[u64]) -> Option<u64> {
        let next = self.zones.partition_point(|zone| zone.base.start <= place);
        // Zones that are in the place of nothing start where others end: the last one counts.
        if next > 0 && place < self.zones[next - 1].base.end {
            return None;
        }
        if limits.get(next).is_some_and(|&limit| place >= limit) {
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
