//! From a segment back to bytes.
//!
//! The texts of short rules are written out once, so that most of a document is copied in runs of dozens of
//! bytes and not token by token. Memory: the segment's grammar and tokens, and for the texts at most 16
//! bytes a symbol.

use std::ops::Range;

use tadoc_core::archive::Tokens;
use tadoc_core::{Budget, Error, Grammar, Share};

use super::Corpus;
use crate::error::Result;

/// Rules of a longer text are expanded as they come.
const LONGEST_TEXT: u64 = 256;
/// Bytes of texts for each symbol of the grammar, and for all.
const TEXT_PER_SYMBOL: usize = 16;
const MOST_TEXT: usize = 1 << 30;
/// The text of this rule is not written out.
const NOT_WRITTEN: u32 = u32::MAX;

/// A segment, decoded for expansion.
pub(crate) struct Segment {
    grammar: Grammar,
    tokens: Tokens,
    /// The length of every rule's text.
    rule_bytes: Vec<u64>,
    /// The texts of short rules, and where each starts.
    texts: Vec<u8>,
    text_starts: Vec<u32>,
    share: Share,
}

impl Segment {
    /// Decodes a segment.
    pub(super) fn load(corpus: &Corpus, number: usize) -> Result<Self> {
        let recorded = corpus.summary().segments[number].text_bytes;
        let (grammar, dictionary) = corpus.segment(number)?;
        let tokens = dictionary.tokens(recorded)?;
        drop(dictionary);
        Self::new(number, grammar, tokens, recorded, corpus.budget())
    }

    /// Checks that a segment is as long as recorded before anything is expanded.
    pub(crate) fn new(
        number: usize,
        grammar: Grammar,
        tokens: Tokens,
        recorded: u64,
        budget: &Budget,
    ) -> Result<Self> {
        // For each rule its length, and where its text starts.
        let share = budget.take(12 * u64::from(grammar.rule_count()), "the texts of rules")?;
        let rule_bytes = grammar.rule_weights(|token| tokens.length(token)).map_err(Error::from)?;
        let (texts, text_starts) = (Vec::new(), Vec::new());
        let mut segment = Self { grammar, tokens, rule_bytes, texts, text_starts, share };
        let bytes = segment.length(segment.grammar.root());
        if bytes != recorded {
            return Err(Error::malformed(format!(
                "segment {number} expands to {bytes} bytes, recorded are {recorded}"
            ))
            .into());
        }
        segment.write_out_short_rules();
        Ok(segment)
    }

    /// The length of the text of some symbols.
    fn length(&self, symbols: &[u32]) -> u64 {
        let length = |&symbol: &u32| match self.grammar.rule_of(symbol) {
            None => self.tokens.length(symbol),
            Some(rule) => self.rule_bytes[rule as usize],
        };
        symbols.iter().map(length).fold(0, u64::saturating_add)
    }

    /// The length of the text of a document, or of what is here of it.
    pub(crate) fn document_bytes(&self, document: usize) -> u64 {
        self.length(self.grammar.document(document))
    }

    /// Appends bytes of a document, or of what is here of it; a range past its end is cut there. O(symbols of the document + depth + bytes).
    pub(crate) fn append(&self, document: usize, range: Range<u64>, into: &mut Vec<u8>) {
        let mut offset = 0;
        let mut above = vec![self.grammar.document(document)];
        while let Some(symbols) = above.pop() {
            let Some((&symbol, rest)) = symbols.split_first() else { continue };
            above.push(rest);
            if offset >= range.end {
                return;
            }
            let bytes = self.length(&[symbol]);
            if offset + bytes <= range.start {
                offset += bytes;
            } else if let Some(rule) = self.grammar.rule_of(symbol) {
                above.push(self.grammar.body(rule));
            } else {
                let from = range.start.saturating_sub(offset);
                let to = bytes.min(range.end - offset);
                into.extend_from_slice(&self.tokens.get(symbol)[from as usize..to as usize]);
                offset += bytes;
            }
        }
    }

    /// Writes out texts, children first, until there is no more room.
    fn write_out_short_rules(&mut self) {
        let room = (self.grammar.symbols().len() * TEXT_PER_SYMBOL).min(MOST_TEXT);
        // Without them it is slower, and no less possible.
        let budget = self.share.budget();
        let room = room.min((budget.left() / 4) as usize);
        let mut texts: Vec<u8> = Vec::new();
        self.text_starts = vec![NOT_WRITTEN; self.grammar.rule_count() as usize];
        for rule in (0..self.grammar.rule_count()).rev() {
            let bytes = self.rule_bytes[rule as usize];
            let body = self.grammar.body(rule);
            let written = |&symbol: &u32| match self.grammar.rule_of(symbol) {
                None => true,
                Some(child) => self.text_starts[child as usize] != NOT_WRITTEN,
            };
            if bytes > LONGEST_TEXT
                || texts.len() + bytes as usize > room
                || !body.iter().all(written)
            {
                continue;
            }
            let start = texts.len();
            for &symbol in body {
                match self.grammar.rule_of(symbol) {
                    None => texts.extend_from_slice(self.tokens.get(symbol)),
                    Some(child) => {
                        let from = self.text_starts[child as usize] as usize;
                        texts.extend_from_within(
                            from..from + self.rule_bytes[child as usize] as usize,
                        );
                    }
                }
            }
            self.text_starts[rule as usize] = start as u32;
        }
        self.texts = texts;
        // There was room for them a moment ago.
        let _ = self.share.grow(self.texts.len() as u64, "the texts of rules");
    }

    /// The text of a document, piece by piece.
    pub(crate) fn expand(&self, document: usize) -> Pieces<'_> {
        Pieces { segment: self, current: self.grammar.document(document), above: Vec::new() }
    }
}

/// Expands the symbols of a document.
pub(crate) struct Pieces<'s> {
    segment: &'s Segment,
    current: &'s [u32],
    above: Vec<&'s [u32]>,
}

impl Pieces<'_> {
    /// Appends text until `into` has at least `enough` bytes or the document ends; tells whether there is
    /// more.
    pub(crate) fn next_piece(&mut self, enough: usize, into: &mut Vec<u8>) -> bool {
        let segment = self.segment;
        while into.len() < enough {
            let Some((&symbol, rest)) = self.current.split_first() else {
                match self.above.pop() {
                    Some(above) => self.current = above,
                    None => return false,
                }
                continue;
            };
            self.current = rest;
            let Some(rule) = segment.grammar.rule_of(symbol) else {
                into.extend_from_slice(segment.tokens.get(symbol));
                continue;
            };
            let start = segment.text_starts[rule as usize];
            if start == NOT_WRITTEN {
                if !rest.is_empty() {
                    self.above.push(rest);
                }
                self.current = segment.grammar.body(rule);
            } else {
                let start = start as usize;
                let end = start + segment.rule_bytes[rule as usize] as usize;
                into.extend_from_slice(&segment.texts[start..end]);
            }
        }
        !self.current.is_empty() || !self.above.is_empty()
    }
}
