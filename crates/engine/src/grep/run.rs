//! The search of a corpus: segments one after the other, their stretches on all threads, lines in order.
//!
//! Stretches are searched in batches. While a batch is searched, what was found in the one before is given to the
//! sink; so there are at most two batches in memory.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::assemble::Assembler;
use super::binary::Nuls;
use super::filter::Filter;
use super::pattern::Pattern;
use super::source::{Mapped, Source};
use super::stretch::{Found, LINE, STRETCH_SYMBOLS, Searcher, Stretch, Walk};
use super::text::{Piece, Writer};
use super::{Binary, Options, Sink, Want};
use crate::access::{Index, Segment};
use crate::corpus::{Corpus, Decoded};
use crate::error::Result;
use crate::texts::Texts;

/// Groups of stretches that are searched at a time, for each thread.
const GROUPS_PER_THREAD: usize = 4;
/// Where so many times the symbols of the root that are searched are as many as all symbols, most of these will be met.
const MET_AGAIN: u64 = 4;
/// To write out and look at a line alone costs about as much as to write out and search so many bytes of text.
const LINE_COST: u64 = 400;

/// Searches documents (places in [`Corpus::documents`], ascending) for lines that match, in the rayon pool that it
/// is called in. What is given to the sink does not depend on the number of threads.
pub fn search(
    corpus: &Corpus,
    documents: &[usize],
    pattern: &Pattern,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<()> {
    let mut options = options.clone();
    // Lines nearby are found by their numbers, and lines that do not match are counted as the others of all.
    options.numbers |= options.before > 0 || options.after > 0 || options.invert;
    let mut search = Search {
        corpus,
        pattern,
        options: &options,
        assembler: Assembler::new(&options, sink),
        going_on: GoingOn::default(),
    };
    let mut ahead: Option<(usize, Loaded)> = None;
    for (number, part) in corpus.segments_of(documents) {
        let loaded = match ahead.take() {
            Some((next, loaded)) if next == number => loaded,
            _ => Loaded::load(corpus, number)?,
        };
        // A document that goes on may be binary because of what is in the next segment.
        let goes_on = part.last().is_some_and(|&(document, _)| !corpus.ends_in(number, document));
        if goes_on && options.binary != Binary::Text {
            ahead = Some((number + 1, Loaded::load(corpus, number + 1)?));
        }
        let next = ahead.as_ref().map(|(_, loaded)| loaded);
        match &loaded {
            Loaded::Decoded(source) => search.segment(&**source, number, &part, next)?,
            Loaded::Indexed(segment) => {
                search.segment(&Mapped::new(segment)?, number, &part, next)?;
            }
        }
        if search.assembler.has_ended() {
            break;
        }
    }
    Ok(())
}

/// A segment in memory: decoded, or mapped from an index.
enum Loaded {
    Decoded(Box<Decoded>),
    Indexed(Box<Segment>),
}

impl Loaded {
    fn load(corpus: &Corpus, number: usize) -> Result<Self> {
        match corpus.index_of(number) {
            Index::None => Ok(Self::Decoded(Box::new(Decoded::load(corpus, number)?))),
            index => {
                let segment = Segment::load(corpus, number, index)?;
                Ok(Self::Indexed(Box::new(segment)))
            }
        }
    }

    /// Where the first NUL of its first document is.
    fn first_nul(&self) -> Result<Option<u64>> {
        fn first(source: &impl Source) -> Option<u64> {
            Nuls::new(source).first(source, source.document_root(0))
        }
        Ok(match self {
            Self::Decoded(source) => first(&**source),
            Self::Indexed(segment) => first(&Mapped::new(segment)?),
        })
    }
}

/// A search on its way from segment to segment.
struct Search<'s> {
    corpus: &'s Corpus,
    pattern: &'s Pattern,
    options: &'s Options,
    assembler: Assembler<'s>,
    going_on: GoingOn,
}

impl Search<'_> {
    /// Searches documents of a segment, given by their numbers and their places in it. The next segment is there if
    /// it may matter.
    fn segment(
        &mut self,
        source: &impl Source,
        number: usize,
        part: &[(usize, usize)],
        next: Option<&Loaded>,
    ) -> Result<()> {
        let Self { corpus, pattern, options, assembler, going_on } = self;
        let budget = corpus.budget();
        let filter = Filter::new(source, pattern.automaton(), budget, options.memory);
        let texts = OnceLock::new();
        let searcher = Searcher { source, filter: &filter, pattern, options, texts, budget };
        // Documents without any of the words that a match must have parts of are as good as empty, unless lines that do
        // not match are wanted. Of one that goes on in another segment a line may, too.
        let known = match options.invert {
            true => None,
            false => pattern.pieces().and_then(|pieces| source.documents_with(pieces)),
        };
        let first = going_on.document;
        let is_searched = |document: usize, own: usize| {
            let whole = first != Some(document) && corpus.ends_in(number, document);
            !whole || known.as_ref().is_none_or(|known| known[own])
        };
        let searched = part.iter().filter(|&&(document, own)| is_searched(document, own));
        let symbols: u64 = searched.map(|&(_, own)| source.document_root(own).len() as u64).sum();
        let all = u64::from(source.token_count()) + u64::from(source.rule_count());
        let most_are_met = symbols * MET_AGAIN >= all;
        if most_are_met && !starts_dense(pattern, options) {
            filter.read_all();
        }
        let nuls = (options.binary != Binary::Text).then(|| Nuls::new(source));
        let mut stretches = Vec::new();
        for &(document, own) in part {
            let mut places = source.document_root(own);
            let ends = corpus.ends_in(number, document);
            let continued = going_on.document == Some(document);
            if !continued {
                let here = nuls.as_ref().and_then(|nuls| nuls.first(source, places.clone()));
                *going_on = GoingOn { document: Some(document), binary: here, line: Vec::new() };
                if let (None, false, Some(next)) = (here, ends, next) {
                    let behind = first_nul_behind(corpus, document, number, next)?;
                    going_on.binary = behind.map(|offset| length(source, places.clone()) + offset);
                }
            }
            if !is_searched(document, own) {
                places.end = places.start;
            }
            going_on.part(&searcher, places, continued, ends, &mut stretches)?;
        }
        let batches = Batches {
            searcher: &searcher,
            stretches: &stretches,
            bytes_per_symbol: bytes_per_symbol(corpus, number),
            most_are_met,
            dense: AtomicBool::new(starts_dense(pattern, options)),
        };
        batches.run(assembler)?;
        if let Some(document) = going_on.document {
            assembler.leave_segment(&searcher, &stretches, document);
        }
        Ok(())
    }
}

/// Whether all text is written out from the start.
fn starts_dense(pattern: &Pattern, options: &Options) -> bool {
    pattern.automaton().lets_all_through() || (options.invert && !counts_only(options))
}

fn counts_only(options: &Options) -> bool {
    matches!(options.want, Want::Count | Want::Any)
}

/// Text of a symbol of the root, on average.
fn bytes_per_symbol(corpus: &Corpus, segment: usize) -> u64 {
    let segment = &corpus.summary().segments[segment];
    segment.text_bytes / segment.root_symbols.max(1)
}

/// The length of the text of some symbols of the root.
fn length<S: Source>(source: &S, places: Range<u32>) -> u64 {
    let mut symbols = Vec::new();
    source.read_root(places, &mut symbols);
    symbols.iter().map(|&symbol| source.bytes(symbol)).fold(0, u64::saturating_add)
}

/// Where the first NUL of a document is behind the segment of this number, counted from the start of the next one.
fn first_nul_behind(
    corpus: &Corpus,
    document: usize,
    segment: usize,
    next: &Loaded,
) -> Result<Option<u64>> {
    if let Some(offset) = next.first_nul()? {
        return Ok(Some(offset));
    }
    let (mut segment, mut bytes) = (segment + 1, 0);
    while !corpus.ends_in(segment, document) {
        // A document that goes on is all that is in the segment.
        bytes += corpus.summary().segments[segment].text_bytes;
        segment += 1;
        let text_bytes = corpus.summary().segments[segment].text_bytes;
        let tokens = corpus.dictionary(segment)?.tokens(text_bytes)?;
        let any = memchr::memchr(0, tokens.joined()).is_some();
        drop(tokens);
        let first = if any { Loaded::load(corpus, segment)?.first_nul()? } else { None };
        if let Some(offset) = first {
            return Ok(Some(bytes + offset));
        }
    }
    Ok(None)
}

/// The document that the stretches made so far end in.
#[derive(Default)]
struct GoingOn {
    document: Option<usize>,
    /// Where its first NUL is.
    binary: Option<u64>,
    /// What is there of the line that goes on in the next segment.
    line: Vec<u8>,
}

impl GoingOn {
    /// Makes stretches of the part of the document that is in a segment.
    fn part<S: Source>(
        &mut self,
        searcher: &Searcher<'_, S>,
        places: Range<u32>,
        continued: bool,
        ends: bool,
        stretches: &mut Vec<Stretch>,
    ) -> Result<()> {
        let mut whole = Stretch {
            document: self.document.expect("set for this document"),
            binary: self.binary,
            places: places.clone(),
            before: None,
            skip_first: continued,
            line: None,
            closed: false,
            ends,
        };
        let mut newline = false;
        if continued {
            let mut text = std::mem::take(&mut self.line);
            let before = text.len() as u64;
            newline = write_first_line(searcher, places.clone(), &mut text)?;
            match newline || ends {
                true => stretches.push(Stretch {
                    places: places.start..places.start,
                    line: Some((text, before)),
                    ends: false,
                    ..whole.clone()
                }),
                false => self.line = text,
            }
        }
        // A line that began before and does not end before the document does is no line of a stretch.
        whole.closed = ends && (newline || !continued);
        stretches.append(&mut whole.cut(searcher.filter));
        match ends {
            true => *self = Self::default(),
            false if newline || !continued => self.line = last_line(searcher, places)?,
            false => {}
        }
        Ok(())
    }
}

/// Appends the first line of some symbols of the root, with its newline; tells whether it has one.
fn write_first_line<S: Source>(
    searcher: &Searcher<'_, S>,
    places: Range<u32>,
    text: &mut Vec<u8>,
) -> Result<bool> {
    let source = searcher.source;
    let mut writer = Writer::new(searcher.filter, None);
    let share = searcher.budget.share();
    let mut symbol = Vec::new();
    for place in places {
        let start = text.len();
        source.read_root(place..place + 1, &mut symbol);
        share.grow(source.bytes(symbol[0]), LINE)?;
        writer.whole(symbol[0], text);
        if let Some(newline) = memchr::memchr(b'\n', &text[start..]) {
            text.truncate(start + newline + 1);
            return Ok(true);
        }
    }
    Ok(false)
}

/// What stands behind the last newline of some symbols of the root; all of it if there is none.
fn last_line<S: Source>(searcher: &Searcher<'_, S>, places: Range<u32>) -> Result<Vec<u8>> {
    let (source, filter) = (searcher.source, searcher.filter);
    let mut symbols = Vec::new();
    source.read_root(places, &mut symbols);
    let last = symbols.iter().rposition(|&symbol| filter.has_newline(symbol));
    let mut writer = Writer::new(filter, None);
    let mut text = Vec::new();
    let begun = last.map(|last| Piece::Tail(symbols[last]));
    let others = symbols[last.map_or(0, |last| last + 1)..].iter();
    let share = searcher.budget.share();
    for piece in begun.into_iter().chain(others.map(|&symbol| Piece::Whole(symbol))) {
        share.grow(writer.length(piece), LINE)?;
        writer.piece(piece, &mut text);
    }
    Ok(text)
}

/// What was found in a stretch, or the first of it, and what goes on from there.
type Searched<'s, S> = (Found, Option<Walk<'s, S>>);

/// The stretches of a segment, to be searched.
struct Batches<'b, S> {
    searcher: &'b Searcher<'b, S>,
    stretches: &'b [Stretch],
    bytes_per_symbol: u64,
    /// Whether most symbols of the segment will be met.
    most_are_met: bool,
    /// Whether text is written out; changes with what was found in the stretches before.
    dense: AtomicBool,
}

impl<S: Source> Batches<'_, S> {
    fn run(&self, assembler: &mut Assembler<'_>) -> Result<()> {
        let groups = self.groups();
        let mut before = (0..0, Vec::new());
        for batch in groups.chunks(GROUPS_PER_THREAD * rayon::current_num_threads()) {
            let done = assembler.done();
            let places = batch[0].start..batch[batch.len() - 1].end;
            let (given, found) = rayon::join(
                || self.give(assembler, before),
                || {
                    batch
                        .par_iter()
                        .flat_map_iter(|group| self.search(group.clone(), done))
                        .collect::<Result<Vec<Option<Searched<'_, S>>>>>()
                },
            );
            given?;
            if assembler.has_ended() {
                return Ok(());
            }
            before = (places, found?);
        }
        self.give(assembler, before)
    }

    /// Stretches that are searched by one thread, one after the other.
    fn groups(&self) -> Vec<Range<usize>> {
        let mut groups = Vec::new();
        let (mut start, mut symbols) = (0, 0);
        for (place, stretch) in self.stretches.iter().enumerate() {
            symbols += stretch.places.len();
            if symbols >= STRETCH_SYMBOLS as usize || place + 1 == self.stretches.len() {
                groups.push(start..place + 1);
                (start, symbols) = (place + 1, 0);
            }
        }
        groups
    }

    /// Gives what was found to whoever wants it, and goes on where there is more.
    fn give(
        &self,
        assembler: &mut Assembler<'_>,
        (places, searched): (Range<usize>, Vec<Option<Searched<'_, S>>>),
    ) -> Result<()> {
        for (place, searched) in places.zip(searched) {
            let Some((mut found, mut rest)) = searched else {
                assembler.take(self.searcher, self.stretches, place, None, true)?;
                continue;
            };
            while let Some(walk) = &mut rest {
                assembler.take(self.searcher, self.stretches, place, Some(&found), false)?;
                if assembler.is_done(self.stretches[place].document) {
                    break;
                }
                found = walk.next()?;
                if walk.has_ended() {
                    rest = None;
                }
            }
            assembler.take(self.searcher, self.stretches, place, Some(&found), true)?;
        }
        Ok(())
    }

    /// Searches stretches, but none of a document that is done.
    fn search(
        &self,
        places: Range<usize>,
        mut done: Option<usize>,
    ) -> impl Iterator<Item = Result<Option<Searched<'_, S>>>> {
        let options = self.searcher.options;
        places.map(move |place| {
            let stretch = &self.stretches[place];
            if done == Some(stretch.document) {
                return Ok(None);
            }
            let (found, rest) = self.stretch(stretch)?;
            let withheld = stretch.binary.is_some() && options.binary == Binary::Withhold;
            let any = options.want == Want::Any || (options.want == Want::Lines && withheld);
            let is_full =
                options.after == 0 && options.max_count.is_some_and(|most| found.count >= most);
            if (any && found.count > 0) || is_full {
                done = Some(stretch.document);
            }
            Ok(Some((found, rest)))
        })
    }

    fn stretch(&self, stretch: &Stretch) -> Result<Searched<'_, S>> {
        let searcher = self.searcher;
        if let Some((line, before)) = &stretch.line {
            return Ok((searcher.lines_of(line.clone(), 0, -(*before as i64)), None));
        }
        let options = searcher.options;
        let dense = self.dense.load(Ordering::Relaxed);
        if dense && self.most_are_met {
            searcher.texts.get_or_init(|| Texts::new(searcher.source, searcher.budget));
        }
        if options.invert && !counts_only(options) {
            return Ok((searcher.dense(stretch)?, None));
        }
        if options.want == Want::Lines && (options.before > 0 || options.after > 0) {
            if dense || searcher.any_candidate(stretch) {
                return Ok((searcher.dense(stretch)?, None));
            }
            let (newlines, bytes) = searcher.lengths(stretch);
            return Ok((Found { newlines, bytes, ..Found::default() }, None));
        }
        let dense = dense && searcher.is_short(stretch);
        let (found, rest) = match dense {
            true => (searcher.dense(stretch)?, None),
            false => searcher.sparse(stretch)?,
        };
        if rest.is_none() {
            self.choose(stretch.places.len() as u64, found.candidates, dense);
        }
        Ok((found, rest))
    }

    /// Chooses how the next stretches are searched by how many lines of one were looked at. Which way is taken
    /// changes nothing in what is found.
    fn choose(&self, symbols: u64, candidates: u64, dense: bool) {
        // Short stretches say little.
        if symbols < u64::from(STRETCH_SYMBOLS) / 16
            || self.searcher.pattern.automaton().lets_all_through()
        {
            return;
        }
        let (alone, whole) = (candidates * LINE_COST, symbols * self.bytes_per_symbol);
        let change = if dense { 2 * alone < whole } else { alone > whole };
        if change {
            self.dense.store(!dense, Ordering::Relaxed);
        }
    }
}
