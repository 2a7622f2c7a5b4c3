//! Search and count: from a phrase to the offsets at which it is.
//!
//! One of the words, the *pivot*, is looked for on the grammar; where it is found, its neighbours are compared. How the pivot
//! is found depends on how much there is to look through:
//!
//! - in documents that are short beside the rules of their segment, the rules that they reach are looked at, each once; and once
//!   there are [`Signatures`](super::signatures::Signatures), only those that may have the pivot;
//! - else the rules that have the pivot are found in one pass over all rules, and then the root is scanned for
//!   them; when that was done a few times, [`Postings`] are made and kept, and no other rule is looked at any more;
//! - where there is much more text than symbols, phrases are counted on the rules ([`Counts`]), and never found to be counted;
//! - with the documents of words (a fast index), documents without the pivot are passed over, and counting
//!   one word needs no text at all;
//! - many searches at once share [`Postings`], too.

use std::collections::VecDeque;
use std::mem;
use std::ops::{ControlFlow, Range};

use hashbrown::HashMap;
use rayon::prelude::*;
use tadoc_core::Share;

use super::counts::{self, Counts, Passed};
use super::cursor::Cursor;
use super::finder::{Finder, Places};
use super::occurrences::Occurrences;
use super::phrase::{Phrase, is_one_of};
use super::postings::Postings;
use super::segment::{Segment, Slices};
use super::workspace::{LentWorkspace, Workspace};
use super::{Access, Part, Scope};
use crate::error::Result;

/// Places of the root that a thread goes through at a time.
const PLACES_AT_ONCE: usize = 1 << 17;

/// A symbol that is looked at by itself takes the time of so many that are scanned.
pub(super) const SCANNED_PER_LOOK: usize = 8;

/// Where fewer than one of so many documents are asked about, each is looked up in the lists of words.
const LOOKED_UP: usize = 16;

/// Following an occurrence up the rules takes the time of so many places with signatures, and looking at one without takes that
/// of so many.
const PLACES_PER_OCCURRENCE: u64 = 32;
const PLACES_PER_LOOK: u64 = 16;

/// How often a word occurs if nobody knows.
const TYPICAL_OCCURRENCES: u64 = 1 << 10;

/// Offsets that a stretch gives at a time.
const OFFSETS_AT_ONCE: usize = 1 << 16;

/// Where all symbols together have more text than so many bytes each, counting on the rules is cheaper than finding.
const BYTES_COUNTED: u64 = 16;

impl Access {
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
        let mut search = Search::new(self, phrase, scope)?;
        while let Some((document, offsets)) = search.next(self, phrase)? {
            if visit(document, &offsets).is_break() {
                break;
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
            return (0..self.segment_count()).try_fold(0, |total: u64, number| {
                Ok(self.total(number, phrase, 0)?.saturating_add(total))
            });
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
        if let ([_], Scope::All, true) = (phrase.terms(), scope, self.counts_words()) {
            for number in 0..self.segment_count() {
                if self.lacks(number, phrase, 0)? {
                    continue;
                }
                let parts = self.parts_of_segment(number);
                for (place, count) in SegmentSearch::new(self, number, phrase, 0)?.all_counts()? {
                    let part = parts.get(place as usize);
                    let missing =
                        || super::damaged_index("a word is in a document that is not there");
                    add(part.ok_or_else(missing)?.document, count);
                }
            }
            return Ok(counts);
        }
        let parts = self.parts_of_scope(scope)?;
        if phrase.terms().len() > 1 || !self.counts_words() {
            if self.counts_on_rules(phrase, &parts)? {
                self.count_on_rules(phrase, &parts, &mut add)?;
                return Ok(counts);
            }
            self.search(phrase, scope, &mut |document, offsets| {
                add(document, offsets.len() as u64);
                ControlFlow::Continue(())
            })?;
            return Ok(counts);
        }
        for of_segment in parts.chunk_by(|one, other| one.segment == other.segment) {
            let number = of_segment[0].segment as usize;
            if self.lacks(number, phrase, 0)? {
                continue;
            }
            let search = SegmentSearch::new(self, number, phrase, 0)?;
            for (part, count) in search.counts(of_segment)? {
                add(part.document, count);
            }
        }
        Ok(counts)
    }

    /// Whether a phrase is counted on the rules: where there is so much text that this is cheaper than to find all its
    /// places, or to find them all might never end.
    pub(super) fn counts_on_rules(&self, phrase: &Phrase, parts: &[Part]) -> Result<bool> {
        let terms = phrase.terms().len() as u64;
        if terms > counts::MOST_TERMS as u64 {
            return Ok(false);
        }
        let (mut bytes, mut symbols, mut segment) = (0_u64, 0_u64, None);
        for part in parts {
            bytes = bytes.saturating_add(part.bytes);
            if segment != Some(part.segment) {
                segment = Some(part.segment);
                symbols += self.symbols_of(part.segment as usize)?;
            }
        }
        Ok(bytes / BYTES_COUNTED > symbols.saturating_mul(terms - 1).max(symbols / 4))
    }

    /// Counts a phrase in parts, on the rules of their segments. What goes across segments is found, too.
    fn count_on_rules(
        &self,
        phrase: &Phrase,
        parts: &[Part],
        add: &mut impl FnMut(u32, u64),
    ) -> Result<()> {
        let mut passed = (u32::MAX, Passed::default());
        for of_segment in parts.chunk_by(|one, other| one.segment == other.segment) {
            let number = of_segment[0].segment as usize;
            // Several words may begin in the segment before, or end in the next one.
            if phrase.terms().len() == 1 && self.lacks(number, phrase, 0)? {
                continue;
            }
            let segment = self.segment(number)?;
            let mut counts = Counts::new(number, segment, phrase)?;
            for part in of_segment {
                if passed.0 != part.document {
                    passed = (part.document, Passed::default());
                }
                let places = segment.document_root(part.place as usize);
                add(part.document, counts.pass_places(places, &mut passed.1));
            }
        }
        Ok(())
    }

    /// Whether a segment has no word of one of a phrase's terms. One that is mapped is not loaded
    /// for that.
    fn lacks(&self, number: usize, phrase: &Phrase, term: usize) -> Result<bool> {
        Ok(phrase.tokens(number, self.tokens(number)?)?[term].is_empty())
    }

    /// How often one of a phrase's terms is in a segment; asked only where that is known.
    fn total(&self, number: usize, phrase: &Phrase, term: usize) -> Result<u64> {
        match self.lacks(number, phrase, term)? {
            true => Ok(0),
            false => SegmentSearch::new(self, number, phrase, term)?.total(),
        }
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
                let number = of_segment[0].segment as usize;
                for (index, total) in totals.iter_mut().enumerate() {
                    *total = self.total(number, phrase, index)?.saturating_add(*total);
                }
            }
        }
        let longest = |index: &usize| (totals[*index], usize::MAX - terms[*index].len());
        Ok((0..terms.len()).min_by_key(longest).expect("a phrase has terms"))
    }
}

/// A search whose offsets are pulled, and that borrows nothing.
///
/// It goes on only when more is wanted: it holds the offsets of a few stretches of text for each thread, and
/// what [`Access::search`] holds of rules. Cost: as [`Access::search`].
#[derive(Debug)]
pub struct Search {
    pivot: usize,
    left: Left,
    /// The parts that are left, in order; those of the segment that is searched are not among them.
    parts: VecDeque<Part>,
    segment: Option<InSegment>,
}

/// A segment that is searched.
#[derive(Debug)]
struct InSegment {
    number: usize,
    /// The rules that have the pivot.
    workspace: LentWorkspace,
    /// What is left to search.
    stretches: VecDeque<(Part, Places)>,
    /// What was found and not pulled yet, in order.
    found: VecDeque<InStretch>,
}

/// A stretch of text: offsets that were found in it, and where the search goes on behind them.
#[derive(Debug)]
struct InStretch {
    document: u32,
    offsets: Vec<u64>,
    rest: Option<Finder>,
}

impl Search {
    /// A search for a phrase, of which nothing is found yet.
    ///
    /// # Errors
    /// As [`Access::search`].
    pub fn new(access: &Access, phrase: &Phrase, scope: &Scope) -> Result<Self> {
        let mut parts = access.parts_of_scope(scope)?;
        let pivot = access.pivot(phrase, &parts)?;
        let left = Left::new(access, phrase, scope, &parts)?;
        parts.retain(|part| left.any(part.document));
        Ok(Self { pivot, left, parts: parts.into(), segment: None })
    }

    /// The next document that has the phrase, with the next of its offsets, ascending; `None` at the end. `access` and
    /// `phrase` are those that the search was made with.
    ///
    /// # Errors
    /// As [`Access::search`].
    pub fn next(&mut self, access: &Access, phrase: &Phrase) -> Result<Option<(u32, Vec<u64>)>> {
        loop {
            let Some(segment) = &mut self.segment else {
                let Some(first) = self.parts.front() else { return Ok(None) };
                let number = first.segment;
                let behind = self.parts.partition_point(|part| part.segment == number);
                let parts: Vec<Part> = self.parts.drain(..behind).collect();
                if access.lacks(number as usize, phrase, self.pivot)? {
                    continue;
                }
                let search = SegmentSearch::new(access, number as usize, phrase, self.pivot)?;
                let parts = search.parts_with_pivot(&parts)?;
                let mut workspace = search.segment.workspace();
                let stretches = search.stretches(&parts, &mut workspace)?.into();
                let (number, found) = (number as usize, VecDeque::new());
                self.segment = Some(InSegment { number, workspace, stretches, found });
                continue;
            };
            let search = SegmentSearch::new(access, segment.number, phrase, self.pivot)?;
            let known = (&search, &segment.workspace.occurrences);
            if let Some(first) = segment.found.front_mut() {
                let document = first.document;
                if first.offsets.is_empty() {
                    let more = match &mut first.rest {
                        Some(finder) if self.left.any(document) => {
                            finder.fill(known, OFFSETS_AT_ONCE, &mut first.offsets)?
                        }
                        _ => false,
                    };
                    if !more {
                        first.rest = None;
                    }
                }
                let offsets = mem::take(&mut first.offsets);
                if first.rest.is_none() {
                    segment.found.pop_front();
                }
                if offsets.is_empty() {
                    continue;
                }
                self.left.found(document, offsets.len() as u64);
                return Ok(Some((document, offsets)));
            }
            if segment.stretches.is_empty() {
                self.segment = None;
                continue;
            }
            // A few stretches for each thread, and then their offsets in order: an answer of any length streams.
            let search_one = |(part, places): (Part, Places)| -> Result<InStretch> {
                let mut finder = Finder::new(&part, places);
                let mut offsets = Vec::new();
                let more = finder.fill(known, OFFSETS_AT_ONCE, &mut offsets)?;
                Ok(InStretch { document: part.document, offsets, rest: more.then_some(finder) })
            };
            // A few stretches for each thread, and then their offsets in order: an answer of any length streams.
            let wave = segment.stretches.len().min(4 * rayon::current_num_threads());
            segment.found = match segment.stretches.drain(..wave).collect::<Vec<_>>() {
                // It is not worth waking a thread.
                mut wave if wave.len() == 1 => [search_one(wave.remove(0))?].into(),
                wave => wave.into_par_iter().map(search_one).collect::<Result<_>>()?,
            };
        }
    }
}

/// One phrase in one segment.
#[derive(Debug)]
pub(super) struct SegmentSearch<'a> {
    access: &'a Access,
    pub(super) segment: &'a Segment,
    pub(super) slices: Slices<'a>,
    phrase: &'a Phrase,
    pivot: usize,
    pub(super) tokens: &'a [Range<u32>],
}

/// How many occurrences of a phrase are left in each document, where finding all places of its pivot might never end.
#[derive(Debug)]
struct Left(Option<HashMap<u32, u64>>);

impl Left {
    fn new(access: &Access, phrase: &Phrase, scope: &Scope, parts: &[Part]) -> Result<Self> {
        if phrase.terms().len() == 1 || !access.counts_on_rules(phrase, parts)? {
            return Ok(Self(None));
        }
        Ok(Self(Some(access.count_by_document(phrase, scope)?.into_iter().collect())))
    }

    fn any(&self, document: u32) -> bool {
        self.0.as_ref().is_none_or(|left| left.get(&document).is_some_and(|&left| left > 0))
    }

    fn found(&mut self, document: u32, count: u64) {
        if let Some(left) = self.0.as_mut().and_then(|left| left.get_mut(&document)) {
            *left = left.saturating_sub(count);
        }
    }
}

impl<'a> SegmentSearch<'a> {
    pub(super) fn new(
        access: &'a Access,
        number: usize,
        phrase: &'a Phrase,
        pivot: usize,
    ) -> Result<Self> {
        let segment = access.segment(number)?;
        let slices = segment.slices()?;
        let tokens = &phrase.tokens(number, segment.tokens())?[pivot];
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
        let mut all = self.all_counts()?.into_iter().peekable();
        // Both ascend.
        for (part, count) in &mut counts {
            while all.next_if(|&(place, _)| place < part.place).is_some() {}
            if let Some((_, own)) = all.next_if(|&(place, _)| place == part.place) {
                *count = own;
            }
        }
        Ok(counts)
    }

    /// How often the pivot is in each part of the segment that has it, by the places of these, ascending. O(parts that have it),
    /// and where the pivot is many words, O(parts).
    fn all_counts(&self) -> Result<Vec<(u32, u64)>> {
        let (words, lists) = self.words_of_pivot();
        let lists = lists.expect("asked only where they are known");
        if self.tokens.len() > 1 {
            let mut of_places = vec![0; self.segment.document_count()];
            for word in words {
                for entry in lists.documents(word)? {
                    let (place, count) = entry?;
                    of_places[place as usize] = count.saturating_add(of_places[place as usize]);
                }
            }
            return Ok((0..).zip(of_places).filter(|&(_, count)| count > 0).collect());
        }
        let mut all = Vec::new();
        for word in words {
            for entry in lists.documents(word)? {
                all.push(entry?);
            }
        }
        Ok(all)
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

    /// Where to search in some parts, in order: the places that have the pivot, or all of them, cut so that several threads
    /// have work. The rules that have the pivot are then known.
    fn stretches(&self, parts: &[Part], workspace: &mut Workspace) -> Result<Vec<(Part, Places)>> {
        let (segment, slices) = (self.segment, &self.slices);
        let places: usize = parts.iter().map(|part| self.places(part).len()).sum();
        if self.is_looked_at(places) {
            return self.look(parts, &mut workspace.occurrences);
        }
        // As long as there are no postings, going over the rules takes less than making them.
        if places > slices.root_length() / 2
            && let Some(postings) = segment.postings()?
        {
            return self.reach(parts, &postings, workspace);
        }
        workspace.occurrences.scan(segment, slices, self.tokens)?;
        let mut stretches = Vec::new();
        for part in parts {
            let places = self.places(part);
            for start in places.clone().step_by(PLACES_AT_ONCE) {
                let end = places.end.min(start + PLACES_AT_ONCE);
                stretches.push((*part, Places::Range(start..end)));
            }
        }
        Ok(stretches)
    }

    /// Whether looking at so many places, and at the rules that they reach, takes less than going over all rules.
    fn is_looked_at(&self, places: usize) -> bool {
        places.saturating_mul(SCANNED_PER_LOOK) < self.slices.bodies_length() + places
    }

    /// The places of some parts that have the pivot, by a look at each.
    fn look(&self, parts: &[Part], occurrences: &mut Occurrences) -> Result<Vec<(Part, Places)>> {
        let Self { segment, slices, tokens, .. } = self;
        occurrences.start(segment, slices, tokens)?;
        let mut stretches = Vec::new();
        for part in parts {
            let having = occurrences.look(segment, slices, self.places(part))?;
            if !having.is_empty() {
                stretches.push((*part, Places::List(having.into_iter())));
            }
        }
        Ok(stretches)
    }

    /// The places of some parts that have the pivot, by going up from it.
    fn reach(
        &self,
        parts: &[Part],
        postings: &Postings,
        workspace: &mut Workspace,
    ) -> Result<Vec<(Part, Places)>> {
        let Workspace { reached, occurrences } = workspace;
        postings.reach(&self.slices, self.tokens, reached);
        occurrences.collect(self.segment, &self.slices, self.tokens, &reached.rules)?;
        let mut stretches = Vec::new();
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
            for places in places[start..end].chunks(PLACES_AT_ONCE) {
                stretches.push((*part, Places::List(Vec::from(places).into_iter())));
            }
            places = &places[end..];
        }
        Ok(stretches)
    }

    fn places(&self, part: &Part) -> Range<usize> {
        self.segment.document_root(part.place as usize)
    }

    /// Adds all offsets of the phrase at some places of a part to what was found; `taken` grows with them.
    fn add_all(
        &self,
        part: &Part,
        places: Places,
        occurrences: &Occurrences,
        taken: &Share,
        found: &mut Vec<(u32, Vec<u64>)>,
    ) -> Result<()> {
        let mut finder = Finder::new(part, places);
        let mut more = true;
        while more {
            let mut offsets = Vec::new();
            more = finder.fill((self, occurrences), OFFSETS_AT_ONCE, &mut offsets)?;
            // Lists that are put together grow by halves.
            taken.grow(2 * size_of_val(&offsets[..]) as u64, "the places of a search")?;
            push(found, part.document, offsets);
        }
        Ok(())
    }

    /// Makes of the offsets of the pivot from `first` on (in the segment's text, at a place whose text starts at `base`)
    /// those of the phrase in the document, and drops those at which the phrase is not.
    #[inline]
    pub(super) fn keep_phrases(
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
    fn start_of_phrase<'s>(&'s self, pivot: Cursor<'s>) -> Result<Option<u64>> {
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
        cursor: &mut Cursor<'s>,
        term: usize,
        go: impl Fn(&mut Cursor<'s>) -> Result<bool>,
    ) -> Result<bool> {
        loop {
            if !go(cursor)? {
                return Ok(false);
            }
            let tokens = self.phrase.tokens(cursor.segment_number(), cursor.segment.tokens())?;
            if is_one_of(&tokens[term], cursor.token) {
                return Ok(true);
            }
            let word = cursor.segment.tokens().word(cursor.token)?;
            if !self.phrase.passes_over(word) {
                return Ok(false);
            }
        }
    }

    /// The offsets in some parts; by `postings`, if there are many searches.
    pub(super) fn find(
        &self,
        parts: &[Part],
        postings: Option<&Postings>,
        workspace: &mut Workspace,
        taken: &Share,
        found: &mut Vec<(u32, Vec<u64>)>,
    ) -> Result<()> {
        if self.tokens.is_empty() || parts.is_empty() {
            return Ok(());
        }
        let stretches = match postings {
            None => self.stretches(&self.parts_with_pivot(parts)?, workspace)?,
            Some(_) if self.is_short(parts)? => self.look(parts, &mut workspace.occurrences)?,
            Some(postings) => self.reach(parts, postings, workspace)?,
        };
        for (part, places) in stretches {
            self.add_all(&part, places, &workspace.occurrences, taken, found)?;
        }
        Ok(())
    }

    /// Whether it is cheaper to look at all places of some parts than to follow the pivot everywhere.
    fn is_short(&self, parts: &[Part]) -> Result<bool> {
        if parts.len() == self.segment.document_count() {
            return Ok(false);
        }
        let places = parts.iter().map(|part| self.places(part).len() as u64).sum::<u64>();
        let each = if self.segment.signatures().is_some() { 1 } else { PLACES_PER_LOOK };
        let occurrences = match self.segment.word_documents() {
            Some(_) => self.total()?,
            None => TYPICAL_OCCURRENCES,
        };
        Ok(places.saturating_mul(each) < occurrences.saturating_mul(PLACES_PER_OCCURRENCE))
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
