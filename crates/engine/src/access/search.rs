//! Search and count: from a phrase to the offsets at which it is.
//!
//! One of the words, the *pivot*, is looked for on the grammar; where it is found, its neighbours are compared. How the pivot
//! is found depends on how much there is to look through:
//!
//! - a text that is short beside the rules of its segment is gone through token by token;
//! - else the rules that have the pivot are found in one pass over all rules, and then the root is scanned for
//!   them;
//! - with the documents of words (a fast index), documents without the pivot are passed over, and counting
//!   one word needs no text at all;
//! - many searches at once share [`Postings`], so that each looks at nothing but what has its pivot.

use std::ops::{ControlFlow, Range};

use rayon::prelude::*;
use tadoc_core::navigation::BYTES_EVERY;

use super::cursor::Cursor;
use super::occurrences::Occurrences;
use super::phrase::{Phrase, is_one_of};
use super::postings::{Postings, Reached};
use super::segment::{Measure, Segment, Slices};
use super::tokens::leading_space;
use super::{Access, Part, Scope, walk};
use crate::error::Result;

/// Places of the root that a thread goes through at a time.
const PLACES_AT_ONCE: usize = 1 << 17;

/// A token of the text is gone through in the time in which so many symbols of rules and root are scanned.
const SCANNED_PER_TOKEN: u64 = 3;

/// Where fewer than one of so many documents are asked about, each is looked up in the lists of words.
const LOOKED_UP: usize = 16;

/// Following an occurrence up the rules takes the time of so many tokens.
const TOKENS_PER_OCCURRENCE: u64 = 8;

/// How often a word occurs if nobody knows.
const TYPICAL_OCCURRENCES: u64 = 1 << 10;

/// About so many bytes are a token.
const BYTES_PER_TOKEN: u64 = 4;

impl Access<'_> {
    /// Visits the byte offsets of a phrase, ascending: documents in order, the offsets of one document in one or
    /// several calls. Ends early where `visit` breaks.
    ///
    /// # Errors
    /// [`Error::BadChoice`](crate::Error::BadChoice) if the scope has documents that are not there.
    pub fn search(
        &self,
        phrase: &Phrase,
        scope: &Scope,
        visit: &mut dyn FnMut(u32, &[u64]) -> ControlFlow<()>,
    ) -> Result<()> {
        let parts = self.parts_of_scope(scope)?;
        let pivot = self.pivot(phrase, &parts)?;
        let mut room = Occurrences::default();
        for of_segment in parts.chunk_by(|one, other| one.segment == other.segment) {
            let search = SegmentSearch::new(self, of_segment[0].segment as usize, phrase, pivot)?;
            let parts = search.parts_with_pivot(of_segment)?;
            let way = search.way(&parts, &mut room)?;
            let stretches = search.stretches(&parts);
            // A few stretches for each thread, and then their offsets in order: an answer of any length streams.
            for wave in stretches.chunks(4 * rayon::current_num_threads()) {
                let found: Vec<Vec<u64>> = wave
                    .par_iter()
                    .map(|(part, places)| {
                        let mut offsets = Vec::new();
                        search.offsets(part, places.clone(), &way, &mut offsets)?;
                        Ok(offsets)
                    })
                    .collect::<Result<_>>()?;
                for ((part, _), offsets) in wave.iter().zip(found) {
                    if !offsets.is_empty() && visit(part.document, &offsets).is_break() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// How often a phrase occurs. With a fast index O(log documents) for a word in a document, and O(1) for one in all
    /// documents; else as [`Access::search`].
    ///
    /// # Errors
    /// As [`Access::search`].
    pub fn count(&self, phrase: &Phrase, scope: &Scope) -> Result<u64> {
        if let ([_], Scope::All, true) = (phrase.terms(), scope, self.counts_words()) {
            let mut total = 0;
            for number in 0..self.segment_count() {
                let here = SegmentSearch::new(self, number, phrase, 0)?.total()?;
                total = here.saturating_add(total);
            }
            return Ok(total);
        }
        let counts = self.count_by_document(phrase, scope)?;
        Ok(counts.iter().fold(0, |sum, &(_, count)| count.saturating_add(sum)))
    }

    /// How often a phrase occurs in each document in which it does, ascending. As [`Access::count`].
    ///
    /// # Errors
    /// As [`Access::search`].
    pub fn count_by_document(&self, phrase: &Phrase, scope: &Scope) -> Result<Vec<(u32, u64)>> {
        let mut counts: Vec<(u32, u64)> = Vec::new();
        let mut add = |document: u32, count: u64| match counts.last_mut() {
            Some((last, sum)) if *last == document => *sum = sum.saturating_add(count),
            _ if count > 0 => counts.push((document, count)),
            _ => {}
        };
        if phrase.terms().len() > 1 || !self.counts_words() {
            self.search(phrase, scope, &mut |document, offsets| {
                add(document, offsets.len() as u64);
                ControlFlow::Continue(())
            })?;
            return Ok(counts);
        }
        let parts = self.parts_of_scope(scope)?;
        for of_segment in parts.chunk_by(|one, other| one.segment == other.segment) {
            let search = SegmentSearch::new(self, of_segment[0].segment as usize, phrase, 0)?;
            for (part, count) in search.counts(of_segment)? {
                add(part.document, count);
            }
        }
        Ok(counts)
    }

    /// Whether the documents of words are known.
    pub(super) fn counts_words(&self) -> bool {
        self.index == super::Index::Fast || self.derived_counts.get().is_some()
    }

    /// Which word of a phrase to look for: the same in all segments, so that what goes across segments is found once. The rarest
    /// is the best; where it is not known how often they occur, the longest one.
    pub(super) fn pivot(&self, phrase: &Phrase, parts: &[Part]) -> Result<usize> {
        let terms = phrase.terms();
        if terms.len() == 1 {
            return Ok(0);
        }
        let mut totals = vec![0_u64; terms.len()];
        if self.counts_words() {
            for of_segment in parts.chunk_by(|one, other| one.segment == other.segment) {
                for (index, total) in totals.iter_mut().enumerate() {
                    let number = of_segment[0].segment as usize;
                    let here = SegmentSearch::new(self, number, phrase, index)?.total()?;
                    *total = here.saturating_add(*total);
                }
            }
        }
        let longest = |index: &usize| (totals[*index], usize::MAX - terms[*index].len());
        Ok((0..terms.len()).min_by_key(longest).expect("a phrase has terms"))
    }
}

/// One phrase in one segment.
#[derive(Debug)]
pub(super) struct SegmentSearch<'a, 'c> {
    access: &'a Access<'c>,
    segment: &'a Segment<'c>,
    slices: Slices<'a>,
    phrase: &'a Phrase,
    pivot: usize,
    tokens: &'a [Range<u32>],
}

/// How the pivot is found.
#[derive(Debug)]
pub(super) enum Way<'r> {
    /// Token by token.
    Tokens,
    /// By the rules that have it.
    Rules(&'r Occurrences),
}

impl<'a, 'c> SegmentSearch<'a, 'c> {
    pub(super) fn new(
        access: &'a Access<'c>,
        number: usize,
        phrase: &'a Phrase,
        pivot: usize,
    ) -> Result<Self> {
        let segment = access.segment(number)?;
        let slices = segment.slices()?;
        let tokens = &phrase.tokens(number, segment)?[pivot];
        Ok(Self { access, segment, slices, phrase, pivot, tokens })
    }

    /// The words that the pivot is, and the documents of words if they are known.
    fn words_of_pivot(
        &self,
    ) -> (impl Iterator<Item = u32> + '_, Option<&'a tadoc_core::archive::WordDocuments>) {
        let tokens = self.segment.tokens();
        let words = self.tokens.iter().map(|range| tokens.word_number(range.start));
        (words, self.segment.word_documents())
    }

    /// How often the pivot is in the segment; asked only where that is known.
    fn total(&self) -> Result<u64> {
        let (words, lists) = self.words_of_pivot();
        let lists = lists.expect("asked only where they are known");
        let mut total = 0;
        for word in words {
            total = lists.total(word)?.saturating_add(total);
        }
        Ok(total)
    }

    /// How often the pivot is in each of some parts.
    fn counts<'p>(&self, parts: &'p [Part]) -> Result<Vec<(&'p Part, u64)>> {
        let (words, lists) = self.words_of_pivot();
        let lists = lists.expect("asked only where they are known");
        let mut counts: Vec<(&Part, u64)> = parts.iter().map(|part| (part, 0)).collect();
        if parts.len() < self.segment.document_count() / LOOKED_UP {
            for word in words {
                for (part, count) in &mut counts {
                    *count = lists.count(word, part.place)?.saturating_add(*count);
                }
            }
            return Ok(counts);
        }
        let mut of_places = vec![0; self.segment.document_count()];
        for word in words {
            for entry in lists.documents(word)? {
                let (place, count) = entry?;
                of_places[place as usize] = count.saturating_add(of_places[place as usize]);
            }
        }
        counts.iter_mut().for_each(|(part, count)| *count = of_places[part.place as usize]);
        Ok(counts)
    }

    /// Of some parts those that have the pivot, as far as that is known.
    fn parts_with_pivot(&self, parts: &[Part]) -> Result<Vec<Part>> {
        if self.tokens.is_empty() {
            return Ok(Vec::new());
        }
        if self.segment.word_documents().is_none() {
            return Ok(parts.to_vec());
        }
        let counts = self.counts(parts)?.into_iter();
        Ok(counts.filter(|&(_, count)| count > 0).map(|(part, _)| *part).collect())
    }

    /// The cheaper way through some parts, and what it needs.
    fn way<'r>(&self, parts: &[Part], room: &'r mut Occurrences) -> Result<Way<'r>> {
        let bytes: u64 = parts.iter().map(|part| part.bytes).sum();
        let places: usize = parts.iter().map(|part| self.places(part).len()).sum();
        let scanned = (places + self.slices.bodies_length()) as u64;
        if bytes / BYTES_PER_TOKEN * SCANNED_PER_TOKEN < scanned {
            return Ok(Way::Tokens);
        }
        room.scan(self.segment, &self.slices, self.tokens)?;
        Ok(Way::Rules(room))
    }

    fn places(&self, part: &Part) -> Range<usize> {
        self.segment.document_root(part.place as usize)
    }

    /// Parts, cut so that several threads have work.
    fn stretches(&self, parts: &[Part]) -> Vec<(Part, Range<usize>)> {
        let mut stretches = Vec::new();
        for part in parts {
            let places = self.places(part);
            for start in places.clone().step_by(PLACES_AT_ONCE) {
                stretches.push((*part, start..places.end.min(start + PLACES_AT_ONCE)));
            }
        }
        stretches
    }

    /// Appends the offsets of the phrase whose pivot is at some places of a part.
    fn offsets(
        &self,
        part: &Part,
        places: Range<usize>,
        way: &Way<'_>,
        into: &mut Vec<u64>,
    ) -> Result<()> {
        match way {
            Way::Tokens => self.offsets_by_tokens(part, places, into),
            Way::Rules(occurrences) => self.offsets_by_rules(part, places, occurrences, into),
        }
    }

    fn offsets_by_tokens(
        &self,
        part: &Part,
        places: Range<usize>,
        into: &mut Vec<u64>,
    ) -> Result<()> {
        let mut stack = Vec::new();
        let mut failed = Ok(());
        let mut at = self.slices.before(Measure::Bytes, places.start);
        for place in places {
            let (base, first) = (at, into.len());
            walk::tokens(&self.slices, place..place + 1, &mut stack, |token| {
                if is_one_of(self.tokens, token) {
                    match self.segment.token(token) {
                        Ok(bytes) => into.push(at + leading_space(bytes) as u64),
                        Err(error) => failed = Err(error),
                    }
                }
                at += self.slices.bytes(token);
            });
            self.keep_phrases(part, place, base, first, into)?;
        }
        failed
    }

    fn offsets_by_rules(
        &self,
        part: &Part,
        places: Range<usize>,
        occurrences: &Occurrences,
        into: &mut Vec<u64>,
    ) -> Result<()> {
        let mut start = places.start;
        while start < places.end {
            let end = places.end.min((start / BYTES_EVERY + 1) * BYTES_EVERY);
            let mut has = false;
            let mut symbols = [0_u32; BYTES_EVERY];
            for (symbol, place) in symbols.iter_mut().zip(start..end) {
                *symbol = self.slices.root(place);
                has |= occurrences.is_in(*symbol);
            }
            if has {
                let mut at = self.slices.before(Measure::Bytes, start);
                for (&symbol, place) in symbols.iter().zip(start..end) {
                    if occurrences.is_in(symbol) {
                        let first = into.len();
                        occurrences.append(self.segment, &self.slices, symbol, at, into)?;
                        self.keep_phrases(part, place, at, first, into)?;
                    }
                    at += self.slices.bytes(symbol);
                }
            }
            start = end;
        }
        Ok(())
    }

    /// The offsets of the phrase in a part, or in a document that it is of, by the places that have the pivot.
    pub(super) fn offsets_at(
        &self,
        part: &Part,
        places: &[u32],
        occurrences: &Occurrences,
        into: &mut Vec<u64>,
    ) -> Result<()> {
        // The place that was summed up to, and the bytes before it.
        let mut summed = (usize::MAX, 0);
        for &place in places {
            let place = place as usize;
            let at = match summed.0 <= place && place - summed.0 < BYTES_EVERY / 2 {
                true => (summed.0..place)
                    .fold(summed.1, |sum, place| sum + self.slices.bytes(self.slices.root(place))),
                false => self.slices.before(Measure::Bytes, place),
            };
            summed = (place, at);
            let first = into.len();
            occurrences.append(self.segment, &self.slices, self.slices.root(place), at, into)?;
            self.keep_phrases(part, place, at, first, into)?;
        }
        Ok(())
    }

    /// Makes of the offsets of the pivot from `first` on (in the segment's text, at a place whose text starts at `base`)
    /// those of the phrase in the document, and drops those at which the phrase is not.
    #[inline]
    fn keep_phrases(
        &self,
        part: &Part,
        place: usize,
        base: u64,
        first: usize,
        offsets: &mut Vec<u64>,
    ) -> Result<()> {
        let in_document = |text: u64| (text + part.offset).saturating_sub(part.text_start);
        if self.phrase.terms().len() == 1 {
            offsets[first..].iter_mut().for_each(|offset| *offset = in_document(*offset));
            return Ok(());
        }
        let mut kept = first;
        for index in first..offsets.len() {
            let text = offsets[index];
            let cursor = Cursor::new(
                self.access,
                &self.slices,
                part,
                place,
                text - base,
                in_document(text),
            )?;
            if let Some(start) = self.start_of_phrase(cursor)? {
                offsets[kept] = start;
                kept += 1;
            }
        }
        offsets.truncate(kept);
        Ok(())
    }

    /// Where the phrase starts whose pivot is at a place, if all its other words are around it.
    fn start_of_phrase<'s>(&'s self, pivot: Cursor<'s, 'c>) -> Result<Option<u64>> {
        let mut behind = pivot.clone();
        for term in self.pivot + 1..self.phrase.terms().len() {
            if !self.step(&mut behind, term, Cursor::next_word)? {
                return Ok(None);
            }
        }
        let mut before = pivot;
        for term in (0..self.pivot).rev() {
            if !self.step(&mut before, term, Cursor::previous_word)? {
                return Ok(None);
            }
        }
        before.word_offset().map(Some)
    }

    /// Goes to the next word that the analyzer does not leave out; whether it is the term of that number.
    fn step<'s>(
        &'s self,
        cursor: &mut Cursor<'s, 'c>,
        term: usize,
        go: impl Fn(&mut Cursor<'s, 'c>) -> Result<bool>,
    ) -> Result<bool> {
        loop {
            if !go(cursor)? {
                return Ok(false);
            }
            let tokens = self.phrase.tokens(cursor.segment_number(), cursor.segment())?;
            if is_one_of(&tokens[term], cursor.token()) {
                return Ok(true);
            }
            let word = cursor.segment().tokens().word(cursor.token())?;
            if !self.phrase.passes_over(word) {
                return Ok(false);
            }
        }
    }

    /// The offsets in some parts, by a scan.
    pub(super) fn by_scan(
        &self,
        parts: &[Part],
        room: &mut Occurrences,
        found: &mut Vec<(u32, Vec<u64>)>,
    ) -> Result<()> {
        let parts = self.parts_with_pivot(parts)?;
        let way = self.way(&parts, room)?;
        for part in &parts {
            let mut offsets = Vec::new();
            self.offsets(part, self.places(part), &way, &mut offsets)?;
            push(found, part.document, offsets);
        }
        Ok(())
    }

    /// The offsets in some parts, by what has the pivot: for when there are many searches.
    pub(super) fn by_postings(
        &self,
        parts: &[Part],
        postings: &Postings,
        room: &mut (Reached, Occurrences),
        found: &mut Vec<(u32, Vec<u64>)>,
    ) -> Result<()> {
        if self.tokens.is_empty() || parts.is_empty() {
            return Ok(());
        }
        let (reached, occurrences) = room;
        if self.is_short(parts)? {
            occurrences.start(&self.slices, self.tokens);
            for part in parts {
                reached.places.clear();
                for place in self.places(part) {
                    if occurrences.look(self.segment, &self.slices, self.slices.root(place))? {
                        reached.places.push(place as u32);
                    }
                }
                let mut offsets = Vec::new();
                self.offsets_at(part, &reached.places, occurrences, &mut offsets)?;
                push(found, part.document, offsets);
            }
            return Ok(());
        }
        postings.reach(&self.slices, self.tokens, reached);
        occurrences.collect(self.segment, &self.slices, self.tokens, &reached.rules)?;
        // Both ascend; parts in which nothing was reached are leapt over.
        let (mut parts, mut places) = (parts, &reached.places[..]);
        while let Some((&first, _)) = places.split_first().filter(|_| !parts.is_empty()) {
            let behind = parts.partition_point(|part| self.places(part).end <= first as usize);
            let Some(part) = parts.get(behind) else { break };
            parts = &parts[behind + 1..];
            let of_part = self.places(part);
            let start = places.partition_point(|&place| (place as usize) < of_part.start);
            let end =
                start + places[start..].partition_point(|&place| (place as usize) < of_part.end);
            if start < end {
                let mut offsets = Vec::with_capacity(end - start);
                self.offsets_at(part, &places[start..end], occurrences, &mut offsets)?;
                push(found, part.document, offsets);
            }
            places = &places[end..];
        }
        Ok(())
    }

    /// Whether it is cheaper to look at all rules of some parts than to follow the pivot everywhere.
    fn is_short(&self, parts: &[Part]) -> Result<bool> {
        if parts.len() == self.segment.document_count() {
            return Ok(false);
        }
        let bytes: u64 = parts.iter().map(|part| part.bytes).sum();
        let occurrences = match self.segment.word_documents() {
            Some(_) => self.total()?,
            None => TYPICAL_OCCURRENCES,
        };
        Ok(bytes / BYTES_PER_TOKEN < occurrences.saturating_mul(TOKENS_PER_OCCURRENCE))
    }
}

/// Adds offsets of a document; one that is in several segments has them in one list.
pub(super) fn push(found: &mut Vec<(u32, Vec<u64>)>, document: u32, offsets: Vec<u64>) {
    match found.last_mut() {
        _ if offsets.is_empty() => {}
        Some((last, list)) if *last == document => list.extend(offsets),
        _ => found.push((document, offsets)),
    }
}
