//! The search of a corpus: segments one after the other, their stretches on all threads, lines in
//! order.
//!
//! Stretches are searched in batches. While a batch is searched, what was found in the one before
//! is given to the sink; so there are at most two batches in memory.

use std::ops::Range;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use tadoc_core::Counted;

use super::assemble::Assembler;
use super::binary::Nuls;
use super::choose::{Chooser, Figures, Spent};
use super::filter::Filter;
use super::pattern::Pattern;
use super::source::{Mapped, Source};
use super::stretch::{Found, LINE, LONGEST_EXPANDED, STRETCH_SYMBOLS, Searcher, Stretch, Walk};
use super::text::Piece;
use super::{Binary, Method, Options, Report, Sink, Want};
use crate::access::{Index, Segment};
use crate::corpus::{Corpus, Decoded};
use crate::error::Result;
use crate::texts::{Buffer, Texts};

/// Groups of stretches that are searched at a time, for each thread.
const GROUPS_PER_THREAD: usize = 16;
/// Where so many times the symbols of the root that are searched are as many as all symbols, most
/// of these will be met.
const MET_AGAIN: u64 = 4;
/// Documents of fewer symbols than these are searched without asking an index which of them have
/// the words.
const FEW_SYMBOLS: u64 = 1 << 14;
/// The next segment is loaded beside a search if there is room for it so many times.
const ROOM_AHEAD: u64 = 4;

/// Searches documents (places in [`Corpus::documents`], ascending) for lines that match, in the
/// rayon pool that it is called in. What is given to the sink does not depend on the number of
/// threads.
pub fn search(
    corpus: &Corpus,
    documents: &[usize],
    pattern: &Pattern,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<Report> {
    let mut options = options.clone();
    // Lines nearby are found by their numbers, and lines that do not match are counted as the
    // others of all.
    options.numbers |= options.before > 0 || options.after > 0 || options.invert;
    let mut search = Search {
        corpus,
        pattern,
        options: &options,
        assembler: Assembler::new(&options, sink),
        going_on: GoingOn::default(),
        report: Report::default(),
        spent: Spent::default(),
    };
    let mut ahead: Option<(usize, Loaded)> = None;
    let parts = corpus.segments_of(documents);
    for (place, (number, part)) in parts.iter().enumerate() {
        let number = *number;
        let start = Instant::now();
        let loaded = match ahead.take() {
            Some((next, loaded)) if next == number => loaded,
            _ => Loaded::load(corpus, number)?,
        };
        // A document that goes on may be binary because of what is in the next segment.
        let goes_on = part.last().is_some_and(|&(document, _)| !corpus.ends_in(number, document));
        if goes_on && options.binary != Binary::Text {
            ahead = Some((number + 1, Loaded::load(corpus, number + 1)?));
        }
        search.report.load += start.elapsed();
        let following = parts.get(place + 1).map(|&(number, _)| number);
        let following = following.filter(|&following| {
            has_room_ahead(corpus, number, following)
                && ahead.as_ref().is_none_or(|&(number, _)| number != following)
        });
        let next = ahead.as_ref().map(|(_, loaded)| loaded);
        let mut run = || match &loaded {
            Loaded::Decoded(source) => search.segment(&**source, number, part, next),
            Loaded::Indexed(segment) => search.segment(&Mapped::new(segment)?, number, part, next),
        };
        match following.filter(|_| options.want != Want::Any) {
            None => run()?,
            Some(following) => {
                // What fails is told when it is needed.
                let (searched, loaded) = rayon::join(run, || Loaded::load(corpus, following).ok());
                searched?;
                ahead = loaded.map(|loaded| (following, loaded));
            }
        }
        if search.assembler.has_ended() {
            break;
        }
    }
    Ok(search.report)
}

/// Whether a segment can be loaded beside one that is, and enough is left for the search.
fn has_room_ahead(corpus: &Corpus, loaded: usize, next: usize) -> bool {
    let symbols = |number: usize| {
        let segment = &corpus.summary().segments[number];
        segment.symbols as f64 + segment.token_types as f64 + 1.0
    };
    let needed = corpus.budget().used() as f64 * (symbols(next) / symbols(loaded)).max(1.0);
    ROOM_AHEAD as f64 * needed <= corpus.budget().left() as f64
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
            Nuls::of_met().first(source, source.document_root(0))
        }
        Ok(match self {
            Self::Decoded(source) => first(&**source),
            Self::Indexed(segment) => {
                let source = Mapped::new(segment)?;
                source.load_tokens(Some(&[0]))?;
                first(&source)
            }
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
    report: Report,
    /// What searching the last segments has taken.
    spent: Spent,
}

impl Search<'_> {
    /// Searches documents of a segment, given by their numbers and their places in it. The next
    /// segment is there if it may matter.
    fn segment(
        &mut self,
        source: &impl Source,
        number: usize,
        part: &[(usize, usize)],
        next: Option<&Loaded>,
    ) -> Result<()> {
        let Self { corpus, pattern, options, assembler, going_on, report, spent } = self;
        let start = Instant::now();
        let root = |own: usize| source.document_root(own).len() as u64;
        let symbols: u64 = part.iter().map(|&(_, own)| root(own)).sum();
        let all = u64::from(source.token_count()) + u64::from(source.rule_count());
        let most_are_met = symbols * MET_AGAIN >= all;
        let own: Vec<usize> = part.iter().map(|&(_, own)| own).collect();
        source.load_tokens((!most_are_met).then_some(&own))?;
        let budget = corpus.budget();
        let filter = Filter::new(source, pattern.automaton(), budget, options.memory);
        let (texts, no_texts) = (OnceLock::new(), Texts::default());
        let searcher =
            Searcher { source, filter: &filter, pattern, options, texts, no_texts, budget };
        // Documents without any of the words that a match must have parts of are as good as empty,
        // unless lines that do not match are wanted. Of one that goes on in another segment a line
        // may, too.
        let known = match options.invert || (!most_are_met && symbols < FEW_SYMBOLS) {
            true => None,
            false => pattern.pieces().and_then(|pieces| source.documents_with(pieces)),
        };
        let first = going_on.document;
        let is_searched = |document: usize, own: usize| {
            let whole = first != Some(document) && corpus.ends_in(number, document);
            !whole || known.as_ref().is_none_or(|known| known[own])
        };
        let searched = part.iter().filter(|&&(document, own)| is_searched(document, own));
        let symbols: u64 = searched.map(|&(_, own)| root(own)).sum();
        let rules = source.rule_count();
        let figures = Figures {
            root: symbols,
            rules: match rules {
                0 => 0,
                rules => u64::from(source.body(rules - 1).end - source.body(0).start),
            },
            symbols: all,
            bytes_per_symbol: bytes_per_symbol(corpus, number),
            most_are_met: symbols * MET_AGAIN >= all,
            has_literals: pattern.has_literals(),
        };
        let chooser =
            Chooser::new(figures, options, pattern.automaton().lets_all_through(), *spent);
        if chooser.learns_before() {
            filter.read_all();
        }
        let is_looked_for = options.binary != Binary::Text;
        let nuls = match (is_looked_for, most_are_met) {
            (true, true) => Nuls::of_all(source).of_documents(source, part),
            (true, false) => Nuls::of_met().of_documents(source, part),
            (false, _) => vec![None; part.len()],
        };
        let mut stretches = Vec::new();
        for (&(document, own), here) in part.iter().zip(nuls) {
            let mut places = source.document_root(own);
            let ends = corpus.ends_in(number, document);
            let continued = going_on.document == Some(document);
            if !continued {
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
        let mut batches =
            Batches { searcher: &searcher, stretches: &stretches, figures, chooser, report, spent };
        batches.report.prepare += start.elapsed();
        batches.run(assembler)?;
        if let Some(document) = going_on.document {
            assembler.leave_segment(&searcher, &stretches, document);
        }
        Ok(())
    }
}

/// Text of a symbol of the root, on average.
fn bytes_per_symbol(corpus: &Corpus, segment: usize) -> f64 {
    let segment = &corpus.summary().segments[segment];
    segment.text_bytes as f64 / segment.root_symbols.max(1) as f64
}

/// The length of the text of some symbols of the root.
fn length<S: Source>(source: &S, places: Range<u32>) -> u64 {
    let mut symbols = Vec::new();
    source.read_root(places, &mut symbols);
    symbols.iter().map(|&symbol| source.bytes(symbol)).fold(0, u64::saturating_add)
}

/// Where the first NUL of a document is behind the segment of this number, counted from the start
/// of the next one.
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
        // A line that began before and does not end before the document does is no line of a
        // stretch.
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
    let writer = searcher.writer();
    let share = searcher.budget.share();
    let (mut symbol, mut buffer) = (Vec::new(), Buffer::default());
    for place in places {
        source.read_root(place..place + 1, &mut symbol);
        share.grow(source.bytes(symbol[0]), LINE)?;
        buffer.clear();
        writer.whole(&symbol, &mut buffer, usize::MAX);
        let newline = memchr::memchr(b'\n', buffer.text());
        let end = newline.map_or(buffer.text().len(), |newline| newline + 1);
        text.extend_from_slice(&buffer.text()[..end]);
        if newline.is_some() {
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
    let writer = searcher.writer();
    let mut buffer = Buffer::default();
    let begun = last.map(|last| Piece::Tail(symbols[last]));
    let others = symbols[last.map_or(0, |last| last + 1)..].iter();
    let share = searcher.budget.share();
    for piece in begun.into_iter().chain(others.map(|&symbol| Piece::Whole(symbol))) {
        share.grow(writer.length(piece), LINE)?;
        writer.piece(piece, &mut buffer, usize::MAX);
    }
    Ok(buffer.text().to_vec())
}

/// What was found in a stretch, or the first of it, and what goes on from there.
type Searched<'s, S> = (Found, Option<Walk<'s, S>>);

/// The stretches of a segment, to be searched.
struct Batches<'b, S> {
    searcher: &'b Searcher<'b, S>,
    stretches: &'b [Stretch],
    figures: Figures,
    chooser: Chooser,
    report: &'b mut Report,
    spent: &'b mut Spent,
}

impl<'b, S: Source> Batches<'b, S> {
    fn run(&mut self, assembler: &mut Assembler<'_>) -> Result<()> {
        let start = Instant::now();
        let groups = self.groups();
        let mut before = (0..0, Vec::new());
        let mut left = self.figures.root;
        let mut spent = Spent::default();
        let mut prepare = Duration::ZERO;
        for batch in groups.chunks(GROUPS_PER_THREAD * rayon::current_num_threads()) {
            prepare += self.write_texts();
            let done = assembler.done();
            let places = batch[0].start..batch[batch.len() - 1].end;
            let this = &*self;
            let (given, found) = rayon::join(
                || this.give(assembler, before),
                || {
                    let searched = batch.par_iter().map_init(Buffer::default, |buffer, group| {
                        let searched = this.search(group.clone(), done, buffer);
                        searched.collect::<Result<Vec<Option<Searched<'b, S>>>>>()
                    });
                    searched.collect::<Result<Vec<_>>>()
                },
            );
            given?;
            if assembler.has_ended() {
                before = (0..0, Vec::new());
                break;
            }
            let found: Vec<Option<Searched<'b, S>>> = found?.into_iter().flatten().collect();
            let computed = this.searcher.filter.computed();
            for (stretch, searched) in self.stretches[places.clone()].iter().zip(&found) {
                let symbols = stretch.places.len() as u64;
                left -= symbols.min(left);
                let Some((found, _)) = searched else { continue };
                self.report.lines += found.candidates;
                self.report.expanded += found.expanded;
                if found.expanded == 0 {
                    self.report.symbols += symbols;
                    spent.symbols += symbols;
                    spent.lines += found.candidates;
                }
            }
            spent.steps = computed;
            self.chooser.again(left, spent);
            before = (places, found);
        }
        self.give(assembler, before)?;
        if spent.symbols > 0 {
            *self.spent = spent;
        }
        if let Some(estimates) = self.chooser.estimates() {
            for (sum, nanoseconds) in self.report.estimates.iter_mut().zip(estimates) {
                *sum += Duration::from_nanos(nanoseconds as u64);
            }
        }
        self.report.prepare += prepare;
        self.report.search += start.elapsed().saturating_sub(prepare);
        Ok(())
    }

    /// Writes out texts if they are about to be needed and are not there, and tells how long that
    /// took. Nothing else is done meanwhile: a thread that waits for others may not take up a
    /// search that needs them.
    fn write_texts(&self) -> Duration {
        let start = Instant::now();
        let searcher = self.searcher;
        let expands = self.chooser.method() == Method::Expansion;
        if expands && self.figures.most_are_met && searcher.texts.get().is_none() {
            let texts = Texts::new(searcher.source, searcher.budget);
            // Where there is no room for all of it, text is expanded token by token.
            searcher.texts.get_or_init(|| {
                let share = searcher.budget.take(texts.bytes(), "the texts of rules");
                share.map(|share| Counted::new(texts, share)).unwrap_or_default()
            });
        }
        start.elapsed()
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
        (places, searched): (Range<usize>, Vec<Option<Searched<'b, S>>>),
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
        buffer: &mut Buffer,
    ) -> impl Iterator<Item = Result<Option<Searched<'b, S>>>> {
        let options = self.searcher.options;
        places.map(move |place| {
            let stretch = &self.stretches[place];
            if done == Some(stretch.document) {
                return Ok(None);
            }
            let (found, rest) = self.stretch(stretch, buffer)?;
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

    fn stretch(&self, stretch: &Stretch, buffer: &mut Buffer) -> Result<Searched<'b, S>> {
        let searcher = self.searcher;
        if let Some((line, before)) = &stretch.line {
            return Ok((searcher.lines_of(line, 0, -(*before as i64)), None));
        }
        let options = searcher.options;
        let expands = self.chooser.method() == Method::Expansion;
        let counts_only = matches!(options.want, Want::Count | Want::Any);
        let nearby = options.want == Want::Lines && (options.before > 0 || options.after > 0);
        if nearby && !options.invert && !expands && !searcher.any_candidate(stretch) {
            let (newlines, bytes) = searcher.lengths(stretch);
            return Ok((Found { newlines, bytes, ..Found::default() }, None));
        }
        let most = match nearby || (options.invert && !counts_only) {
            true => usize::MAX,
            false if expands => LONGEST_EXPANDED,
            false => return searcher.by_automaton(stretch),
        };
        match searcher.by_expansion(stretch, buffer, most)? {
            Some(found) => Ok((found, None)),
            None => searcher.by_automaton(stretch),
        }
    }
}
