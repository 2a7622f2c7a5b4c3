//! A place in a document that goes from word to word, in both directions, across rules and segments.
//!
//! Cost: O(depth) to get there, O(1) amortised for a step. It checks the neighbours of a word that was found.

use std::borrow::Cow;
use std::ops::Range;

use super::segment::{Segment, Slices};
use super::{Access, Part};
use crate::error::Result;

/// A token of a document.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    access: &'a Access,
    /// Parts of the document, and which of them it is in.
    parts: &'a [Part],
    part: usize,
    pub(super) segment: &'a Segment,
    slices: Cow<'a, Slices<'a>>,
    /// The place in the root, and below it in each rule: what can be gone through, and where it is.
    root: (Range<usize>, usize),
    rules: Vec<(Range<usize>, usize)>,
    pub(super) token: u32,
    /// Where the token starts in the document.
    offset: u64,
}

impl<'a> Cursor<'a> {
    /// The token in which byte `inner` of the text of a place is; `offset` is where that byte is in the document.
    pub(super) fn new(
        access: &'a Access,
        slices: &'a Slices<'a>,
        part: &Part,
        place: usize,
        inner: u64,
        offset: u64,
    ) -> Result<Self> {
        let parts = access.parts_of_document(part.document)?;
        let number = parts.iter().position(|other| other == part).expect("a part of its document");
        let segment = access.segment(part.segment as usize)?;
        let root = segment.document_root(part.place as usize);
        let mut cursor = Self {
            access,
            parts,
            part: number,
            segment,
            slices: Cow::Borrowed(slices),
            root: (root, place),
            rules: Vec::new(),
            token: 0,
            offset,
        };
        let (mut symbol, mut inner) = (slices.root(place), inner);
        while let Some(rule) = slices.rule_of(symbol) {
            let body = slices.body(rule);
            let mut at = body.start;
            while at + 1 < body.end {
                let bytes = slices.bytes(slices.body_symbol(at));
                if inner < bytes {
                    break;
                }
                inner -= bytes;
                at += 1;
            }
            symbol = slices.body_symbol(at);
            cursor.rules.push((body, at));
        }
        cursor.token = symbol;
        cursor.offset = cursor.offset.saturating_sub(inner);
        Ok(cursor)
    }

    /// The number of the segment that it is in.
    pub(super) fn segment_number(&self) -> usize {
        self.parts[self.part].segment as usize
    }

    /// Where its word starts in the document.
    pub(super) fn word_offset(&self) -> Result<u64> {
        let bytes = self.segment.token(self.token)?;
        Ok(self.offset + super::tokens::leading_space(bytes) as u64)
    }

    /// Goes to the next word, or past the end of the document, and then gives `false`.
    pub(super) fn next_word(&mut self) -> Result<bool> {
        self.offset = self.offset.saturating_add(self.slices.bytes(self.token));
        loop {
            let Some(symbol) = self.next_symbol()? else { return Ok(false) };
            if self.enter_word(symbol, true) {
                return Ok(true);
            }
            self.offset = self.offset.saturating_add(self.slices.bytes(symbol));
        }
    }

    /// Goes to the word before, or before the start of the document, and then gives `false`.
    pub(super) fn previous_word(&mut self) -> Result<bool> {
        loop {
            let Some(symbol) = self.previous_symbol()? else { return Ok(false) };
            if self.enter_word(symbol, false) {
                return Ok(true);
            }
            self.offset = self.offset.saturating_sub(self.slices.bytes(symbol));
        }
    }

    /// Goes to the symbol behind the token or symbol that it is at.
    fn next_symbol(&mut self) -> Result<Option<u32>> {
        while let Some((body, at)) = self.rules.last_mut() {
            *at += 1;
            if *at < body.end {
                return Ok(Some(self.slices.body_symbol(*at)));
            }
            self.rules.pop();
        }
        self.root.1 += 1;
        while self.root.1 >= self.root.0.end {
            if self.part + 1 >= self.parts.len() {
                return Ok(None);
            }
            self.go_to_part(self.part + 1)?;
            self.root.1 = self.root.0.start;
        }
        Ok(Some(self.slices.root(self.root.1)))
    }

    /// Goes to the symbol before the token or symbol that it is at.
    fn previous_symbol(&mut self) -> Result<Option<u32>> {
        while let Some((body, at)) = self.rules.last_mut() {
            if *at > body.start {
                *at -= 1;
                return Ok(Some(self.slices.body_symbol(*at)));
            }
            self.rules.pop();
        }
        while self.root.1 <= self.root.0.start {
            if self.part == 0 {
                return Ok(None);
            }
            self.go_to_part(self.part - 1)?;
            self.root.1 = self.root.0.end;
        }
        self.root.1 -= 1;
        Ok(Some(self.slices.root(self.root.1)))
    }

    fn go_to_part(&mut self, part: usize) -> Result<()> {
        self.part = part;
        let Part { segment, place, .. } = self.parts[part];
        self.segment = self.access.segment(segment as usize)?;
        self.slices = Cow::Owned(self.segment.slices()?);
        self.root.0 = self.segment.document_root(place as usize);
        Ok(())
    }

    /// Goes down to the first or the last word of the symbol that it is at; `false` if that has none, and then it stays
    /// there. Rules without words are passed over, however long they are.
    fn enter_word(&mut self, symbol: u32, first: bool) -> bool {
        if self.slices.words(symbol) == 0 {
            return false;
        }
        let mut symbol = symbol;
        while let Some(rule) = self.slices.rule_of(symbol) {
            let body = self.slices.body(rule);
            let has_words = |&at: &usize| self.slices.words(self.slices.body_symbol(at)) > 0;
            let found = match first {
                true => body.clone().find(has_words),
                false => body.clone().rev().find(has_words),
            };
            // Words that are announced and not there are found nowhere.
            let at = found.unwrap_or(body.start);
            let passed = if first { body.start..at } else { at + 1..body.end };
            for at in passed {
                let bytes = self.slices.bytes(self.slices.body_symbol(at));
                self.offset = match first {
                    true => self.offset.saturating_add(bytes),
                    false => self.offset.saturating_sub(bytes),
                };
            }
            symbol = self.slices.body_symbol(at);
            self.rules.push((body, at));
        }
        self.token = symbol;
        if !first {
            self.offset = self.offset.saturating_sub(self.slices.bytes(symbol));
        }
        true
    }
}
