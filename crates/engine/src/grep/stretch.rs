//! A stretch of a document: whole lines, searched by one thread.
//!
//! A stretch is a range of the root. Its first line may begin in the symbol before it, behind that
//! symbol's last newline, and what stands behind its own last newline is the beginning of the next
//! one. So stretches of a document are searched apart, and their lines are all of the document's,
//! each once.
//!
//! There are two ways to search, and both give the same lines. *By the automaton*: the filter goes
//! over the root, and where it finds a line that may match, that line alone is written out and
//! looked at. *By expansion*: all text is written out and scanned by the regular expression; better
//! where text repeats little or many lines match.

use std::ops::Range;
use std::sync::OnceLock;

use tadoc_core::{Budget, Counted, Share};

use super::automaton::{FAILED, START, State};
use super::filter::Filter;
use super::pattern::Pattern;
use super::source::Source;
use super::text::{Piece, Writer};
use super::{Options, Want};
use crate::corpus::count_newlines;
use crate::error::Result;
use crate::texts::{Buffer, Texts};

/// So many symbols of the root make a stretch.
pub(super) const STRETCH_SYMBOLS: u32 = 4096;

/// Lines that are found at a time, and bytes of them: a few more where a line is longer.
const LINES_AT_ONCE: usize = 1 << 14;
const TEXT_AT_ONCE: usize = 1 << 22;
/// Longer stretches are not written out as a whole where the automaton can search them.
pub(super) const LONGEST_EXPANDED: usize = 1 << 26;
/// What memory is taken for, in errors.
pub(super) const LINE: &str = "a long line";
const LONG_STRETCH: &str = "a long stretch of lines";
/// Longer lines are counted before they are written out.
const COUNTED: usize = 1 << 16;

/// Lines of a document, in their order: a part of a segment's root.
#[derive(Debug, Clone)]
pub(super) struct Stretch {
    /// The document's number.
    pub(super) document: usize,
    /// Where its first NUL is, if it is binary and that matters.
    pub(super) binary: Option<u64>,
    /// The symbols.
    pub(super) places: Range<u32>,
    /// The symbol in which the first line begins, behind its last newline.
    pub(super) before: Option<u32>,
    /// The first line began in another segment, and is no line of this stretch.
    pub(super) skip_first: bool,
    /// The line of that kind, as a stretch without symbols: its text, with its newline if it has
    /// one, and how many bytes of it are in the segments before.
    pub(super) line: Option<(Vec<u8>, u64)>,
    /// The document's last line ends here, if need be without newline.
    pub(super) closed: bool,
    /// The document ends with it.
    pub(super) ends: bool,
}

impl Stretch {
    /// Cuts it behind newlines.
    pub(super) fn cut<S: Source>(self, filter: &Filter<'_, S>) -> Vec<Self> {
        let (mut stretches, mut symbols) = (Vec::new(), Vec::new());
        let mut rest = self;
        while rest.places.len() > STRETCH_SYMBOLS as usize {
            // To the first newline behind so many symbols.
            let Range { start, end } = rest.places;
            let mut found = None;
            for ahead in (start + STRETCH_SYMBOLS - 1..end).step_by(64) {
                filter.source.read_root(ahead..end.min(ahead + 64), &mut symbols);
                if let Some(at) = symbols.iter().position(|&symbol| filter.has_newline(symbol)) {
                    found = Some((ahead + at as u32 + 1, symbols[at]));
                    break;
                }
            }
            let Some((cut, symbol)) = found else { break };
            stretches.push(Self { places: start..cut, closed: false, ends: false, ..rest.clone() });
            rest = Self { places: cut..end, before: Some(symbol), skip_first: false, ..rest };
        }
        stretches.push(rest);
        stretches
    }
}

/// The lines of a stretch in the text that was written out.
pub(super) struct Lines {
    pub(super) places: Range<usize>,
    /// How many newlines of the stretch are before them, and where they start, counted from its
    /// first symbol.
    pub(super) newlines: u64,
    pub(super) offset: i64,
}

/// A line that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundLine {
    /// Newlines of the stretch before the line; only if numbers are wanted.
    pub(super) newlines: u64,
    /// Where it starts, counted from the start of the stretch's first symbol: less than 0 for a
    /// line that began in the symbol before. Only if numbers are wanted.
    pub(super) offset: i64,
    /// Its bytes in [`Found::text`], without newline.
    pub(super) text: Range<usize>,
    /// Whether it has a newline.
    pub(super) newline: bool,
    /// How many matches it has; only if they are to be counted.
    pub(super) matches: u64,
}

/// What was found in a stretch.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// How many lines match, or do not match if these are wanted.
    pub(super) count: u64,
    /// The lines, if they are wanted.
    pub(super) lines: Vec<FoundLine>,
    /// Their bytes; all lines of the stretch with their newlines if `whole`.
    pub(super) text: Vec<u8>,
    /// Whether `text` has all lines, the first of which is [`Found::first`].
    pub(super) whole: bool,
    /// Newlines before the text, if `whole`, and where it starts.
    pub(super) first: (u64, i64),
    /// How many newlines and bytes the symbols of the stretch have, if numbers are wanted.
    pub(super) newlines: u64,
    pub(super) bytes: u64,
    /// How many lines of the stretch were looked at one by one, and how many bytes were written out
    /// otherwise.
    pub(super) candidates: u64,
    pub(super) expanded: u64,
    /// Whether the document ends here with a line without newline; only if lines that do not match
    /// are counted.
    pub(super) last_line: bool,
    /// What the text takes of a budget.
    pub(super) share: Option<Share>,
}

/// Searches stretches of a segment.
pub(super) struct Searcher<'s, S> {
    pub(super) source: &'s S,
    pub(super) filter: &'s Filter<'s, S>,
    pub(super) pattern: &'s Pattern,
    pub(super) options: &'s Options,
    /// Texts of tokens and short rules, if they are written out.
    pub(super) texts: OnceLock<Counted<Texts>>,
    /// Those of no symbol.
    pub(super) no_texts: Texts,
    /// What memory is taken of.
    pub(super) budget: &'s Budget,
}

impl<S: Source> Searcher<'_, S> {
    /// What writes out text.
    pub(super) fn writer(&self) -> Writer<'_, S> {
        Writer::new(self.filter, self.texts.get().map_or(&self.no_texts, |texts| texts))
    }

    /// Searches a stretch by the automaton, writing out the lines that may match: all of them, or
    /// the first ones, and then what goes on with the others.
    pub(super) fn by_automaton(&self, stretch: &Stretch) -> Result<(Found, Option<Walk<'_, S>>)> {
        let mut walk = Walk {
            searcher: self,
            writer: self.writer(),
            buffer: Buffer::default(),
            line: stretch.before.map(Piece::Tail).into_iter().collect(),
            newlines: 0,
            position: 0,
            found: Found::default(),
            matched: 0,
            symbols: self.symbols(stretch),
            place: 0,
            above: Vec::new(),
            state: self.state_before(stretch),
            stretch: stretch.clone(),
        };
        let found = walk.next()?;
        let rest = (!walk.has_ended()).then_some(walk);
        Ok((found, rest))
    }

    /// The symbols of a stretch.
    fn symbols(&self, stretch: &Stretch) -> Vec<u32> {
        let mut symbols = Vec::new();
        self.source.read_root(stretch.places.clone(), &mut symbols);
        symbols
    }

    /// The state of the automaton before the symbols of a stretch.
    fn state_before(&self, stretch: &Stretch) -> State {
        match stretch {
            Stretch { skip_first: true, .. } => FAILED,
            Stretch { before: Some(symbol), .. } => self.filter.step(*symbol, START).state(),
            Stretch { before: None, .. } => START,
        }
    }

    /// Whether the filter lets any line of a stretch through.
    pub(super) fn any_candidate(&self, stretch: &Stretch) -> bool {
        let mut state = self.state_before(stretch);
        for symbol in self.symbols(stretch) {
            let step = self.filter.step(symbol, state);
            if step.hit() {
                return true;
            }
            state = step.state();
        }
        stretch.closed && self.filter.ends(state)
    }

    /// How many newlines and bytes the symbols of a stretch have.
    pub(super) fn lengths(&self, stretch: &Stretch) -> (u64, u64) {
        self.symbols(stretch).into_iter().fold((0, 0), |(newlines, bytes), symbol| {
            (
                newlines.saturating_add(self.source.newlines(symbol)),
                bytes.saturating_add(self.source.bytes(symbol)),
            )
        })
    }

    /// Writes out all lines of a stretch with their newlines; `None` where there are more than
    /// `most` bytes.
    pub(super) fn expand(
        &self,
        stretch: &Stretch,
        buffer: &mut Buffer,
        most: usize,
    ) -> Option<Lines> {
        buffer.clear();
        if let Some((line, before)) = &stretch.line {
            buffer.push(line);
            return Some(Lines { places: 0..line.len(), newlines: 0, offset: -(*before as i64) });
        }
        let writer = self.writer();
        if let Some(before) = stretch.before
            && !writer.piece(Piece::Tail(before), buffer, most)
        {
            return None;
        }
        let mut offset = -(buffer.text().len() as i64);
        if !writer.whole(&self.symbols(stretch), buffer, most) {
            return None;
        }
        let text = buffer.text();
        let end = match stretch.closed {
            true => text.len(),
            false => memchr::memrchr(b'\n', text).map_or(0, |newline| newline + 1),
        };
        let (mut start, mut newlines) = (0, 0);
        if stretch.skip_first {
            start = memchr::memchr(b'\n', &text[..end]).map_or(end, |newline| newline + 1);
            newlines = 1;
            offset += start as i64;
        }
        Some(Lines { places: start..end, newlines, offset })
    }

    /// All lines of a stretch, however long.
    pub(super) fn text(&self, stretch: &Stretch) -> (Vec<u8>, u64, i64) {
        let mut buffer = Buffer::default();
        let lines = self.expand(stretch, &mut buffer, usize::MAX).expect("no text is too long");
        (buffer.text()[lines.places].to_vec(), lines.newlines, lines.offset)
    }

    /// Searches a stretch by writing out all of it; `None` where it has more than `most` bytes.
    pub(super) fn by_expansion(
        &self,
        stretch: &Stretch,
        buffer: &mut Buffer,
        most: usize,
    ) -> Result<Option<Found>> {
        let known = match most > LONGEST_EXPANDED {
            // Its text, and the same again while lines are taken out of it.
            true => Some(self.budget.take(2 * self.bytes(stretch), LONG_STRETCH)?),
            false => None,
        };
        let Some(lines) = self.expand(stretch, buffer, most) else { return Ok(None) };
        let share = match known {
            Some(share) => share,
            None => self.budget.take(2 * buffer.text().len() as u64, LONG_STRETCH)?,
        };
        let mut found = self.lines_of(&buffer.text()[lines.places], lines.newlines, lines.offset);
        found.expanded = buffer.text().len() as u64;
        found.share = Some(share);
        if self.options.numbers {
            (found.newlines, found.bytes) = self.lengths(stretch);
        }
        Ok(Some(found))
    }

    /// How many bytes a stretch has, with the line that begins before it.
    fn bytes(&self, stretch: &Stretch) -> u64 {
        let begun = stretch.before.map_or(0, |symbol| self.writer().length(Piece::Tail(symbol)));
        let symbols = self.symbols(stretch).into_iter();
        let bytes = symbols.map(|symbol| self.source.bytes(symbol));
        bytes.fold(begun, u64::saturating_add).min(u64::MAX / 2)
    }

    /// Searches lines; `newlines` and `offset` are of the first one.
    pub(super) fn lines_of(&self, text: &[u8], newlines: u64, offset: i64) -> Found {
        // Lines nearby may be any.
        let whole = self.options.before > 0 || self.options.after > 0;
        let mut found = Found { whole, first: (newlines, offset), ..Found::default() };
        let mut line_number = newlines;
        let mut at = 0;
        while at < text.len() {
            let line = self.next_line(text, at, &mut found.candidates);
            let start = line.as_ref().map_or(text.len(), |line| line.start);
            if self.options.invert {
                let mut from = at;
                while from < start {
                    let end =
                        memchr::memchr(b'\n', &text[from..start]).map_or(start, |next| from + next);
                    self.keep_line(&mut found, text, from..end, line_number, offset);
                    line_number += 1;
                    from = end + 1;
                }
            } else if self.options.numbers {
                line_number += count_newlines(&text[at..start]);
            }
            let Some(line) = line else { break };
            at = line.end + 1;
            if !self.options.invert {
                self.keep_line(&mut found, text, line, line_number, offset);
                if self.is_enough(found.count) {
                    break;
                }
            }
            line_number += 1;
        }
        if whole {
            found.text = text.to_vec();
        }
        found
    }

    /// The first line that matches, of those that start at `at` or behind. Counts those that were
    /// looked at.
    fn next_line(&self, text: &[u8], at: usize, looked_at: &mut u64) -> Option<Range<usize>> {
        let mut from = at;
        loop {
            let place = self.pattern.find_in_text(text, from)?;
            let start =
                memchr::memrchr(b'\n', &text[from..place]).map_or(from, |last| from + last + 1);
            let end = memchr::memchr(b'\n', &text[place..]).map_or(text.len(), |next| place + next);
            // An empty match behind the last newline is in no line.
            if start >= text.len() {
                return None;
            }
            *looked_at += 1;
            if self.pattern.finds_exactly() || self.pattern.is_match(&text[start..end]) {
                return Some(start..end);
            }
            from = end + 1;
            if from >= text.len() {
                return None;
            }
        }
    }

    /// Whether so many lines of a document are all that is wanted of it.
    fn is_enough(&self, lines: u64) -> bool {
        if self.options.want == Want::Any {
            return lines > 0;
        }
        // Lines behind the last one are still to be given.
        self.options.after == 0 && self.options.max_count.is_some_and(|most| lines >= most)
    }

    /// Keeps a line that is asked for: where it is in the text, if that is kept too, or a copy.
    fn keep_line(
        &self,
        found: &mut Found,
        text: &[u8],
        line: Range<usize>,
        newlines: u64,
        offset: i64,
    ) {
        found.count += 1;
        if let Want::Lines | Want::CountMatches = self.options.want {
            let newline = line.end < text.len();
            let bytes = &text[line.clone()];
            let matches = self.count_matches(bytes, newline);
            let offset = offset + line.start as i64;
            let text = match found.whole {
                true => line,
                false => {
                    let start = found.text.len();
                    if self.options.want == Want::Lines {
                        found.text.extend_from_slice(bytes);
                    }
                    start..found.text.len()
                }
            };
            found.lines.push(FoundLine { newlines, offset, text, newline, matches });
        }
    }

    fn count_matches(&self, line: &[u8], newline: bool) -> u64 {
        match self.options.want {
            Want::CountMatches if !self.options.invert => {
                self.pattern.find_iter(line, newline).count() as u64
            }
            _ => 0,
        }
    }
}

/// A way over the symbols of a stretch that writes out the lines that may match. It is paused when
/// there are many, since a symbol may have more lines than memory, and goes on from there.
pub(super) struct Walk<'w, S> {
    searcher: &'w Searcher<'w, S>,
    writer: Writer<'w, S>,
    /// The line that is looked at.
    buffer: Buffer,
    /// What has been read of the line, up to where the walk is.
    line: Vec<Piece>,
    /// Newlines and bytes up to where the walk is, if numbers are wanted.
    newlines: u64,
    position: u64,
    /// What was found since the walk was last paused, and lines that matched in all.
    found: Found,
    matched: u64,
    /// The symbols, the place among them that comes next, and what is left of the bodies of rules
    /// below the last one.
    symbols: Vec<u32>,
    place: usize,
    above: Vec<Range<u32>>,
    /// The state before what comes next.
    state: State,
    stretch: Stretch,
}

impl<S: Source> Walk<'_, S> {
    /// Finds the next lines: some thousands, or a few long ones, or those that are left. The last
    /// ones come with the figures of the stretch.
    pub(super) fn next(&mut self) -> Result<Found> {
        self.found.share = Some(self.searcher.budget.share());
        while !self.is_full() {
            if self.above.is_empty() && !self.enter()? {
                return Ok(self.finish());
            }
            self.symbol()?;
            if self.is_enough() {
                self.place = self.symbols.len() + 1;
                self.above.clear();
                return Ok(std::mem::take(&mut self.found));
            }
        }
        Ok(std::mem::take(&mut self.found))
    }

    /// Whether there is nothing more to find.
    pub(super) fn has_ended(&self) -> bool {
        self.place > self.symbols.len()
    }

    fn is_full(&self) -> bool {
        self.found.lines.len() >= LINES_AT_ONCE || self.found.text.len() >= TEXT_AT_ONCE
    }

    /// Goes over symbols of the root to the next one in which a line ends that may match, and into
    /// that; `false` if there is none. Where the document ends behind them, a last line without
    /// newline is looked at, too.
    fn enter(&mut self) -> Result<bool> {
        let filter = self.searcher.filter;
        let symbols = std::mem::take(&mut self.symbols);
        let mut row = filter.row(self.state);
        // The symbols before this one are counted, and the line is what `self.line` has and those
        // from this one on.
        let from = self.place.min(symbols.len());
        let mut entered = false;
        for (place, &symbol) in symbols.iter().enumerate().skip(from) {
            let known = Filter::<S>::known(row, symbol);
            let step = known.unwrap_or_else(|| filter.step(symbol, self.state));
            if step.hit() {
                self.pass_all(&symbols[from..place]);
                self.place = place + 1;
                let before = std::mem::replace(&mut self.state, step.state());
                match symbol.checked_sub(self.searcher.source.token_count()) {
                    None => self.token(symbol, before)?,
                    Some(rule) => {
                        self.above.push(self.searcher.source.body(rule));
                        self.state = before;
                    }
                }
                entered = true;
                break;
            }
            if step.state() != self.state {
                self.state = step.state();
                row = filter.row(self.state);
            }
        }
        if !entered {
            self.place = symbols.len() + 1;
            let options = self.searcher.options;
            let is_last = self.stretch.closed && (filter.ends(self.state) || options.invert);
            if is_last || options.numbers {
                self.pass_all(&symbols[from..]);
            }
            if is_last {
                self.last_line(filter.ends(self.state))?;
            }
        }
        self.symbols = symbols;
        Ok(entered)
    }

    /// The figures of the stretch, with the last lines.
    fn finish(&mut self) -> Found {
        let mut found = std::mem::take(&mut self.found);
        let options = self.searcher.options;
        if options.numbers {
            found.bytes = self.position;
            found.newlines = self.newlines;
        }
        if options.invert {
            // Only counts are wanted, or this would not have been the way.
            let skipped = self.stretch.skip_first && found.newlines > 0;
            let lines = found.newlines + u64::from(found.last_line) - u64::from(skipped);
            found.count = lines.saturating_sub(found.count);
        }
        found
    }

    /// Passes symbols of which none ends a line that may match.
    fn pass_all(&mut self, symbols: &[u32]) {
        let filter = self.searcher.filter;
        let mut from = 0;
        if let Some(last) = symbols.iter().rposition(|&symbol| filter.has_newline(symbol)) {
            self.begin_line(symbols[last]);
            from = last + 1;
        }
        self.line.extend(symbols[from..].iter().map(|&symbol| Piece::Whole(symbol)));
        if self.searcher.options.numbers {
            for &symbol in symbols {
                self.pass(symbol);
            }
        }
    }

    /// Whether enough was found.
    fn is_enough(&self) -> bool {
        !self.searcher.options.invert && self.searcher.is_enough(self.matched)
    }

    /// The line that follows begins behind the last newline of a symbol.
    fn begin_line(&mut self, symbol: u32) {
        self.line.clear();
        self.line.push(Piece::Tail(symbol));
    }

    /// Counts a symbol that has been passed.
    fn pass(&mut self, symbol: u32) {
        let source = self.searcher.source;
        self.position = self.position.saturating_add(source.bytes(symbol));
        self.newlines = self.newlines.saturating_add(source.newlines(symbol));
    }

    /// Goes on in the rules below a symbol in which a line ends that may match, up to the next such
    /// line.
    fn symbol(&mut self) -> Result<()> {
        let source = self.searcher.source;
        let tokens = source.token_count();
        let numbers = self.searcher.options.numbers;
        while let Some(body) = self.above.last_mut() {
            let Some(place) = body.next() else {
                self.above.pop();
                continue;
            };
            let symbol = source.symbol(place);
            let step = self.searcher.filter.step(symbol, self.state);
            if step.hit() && symbol >= tokens {
                self.above.push(source.body(symbol - tokens));
                continue;
            }
            let before = std::mem::replace(&mut self.state, step.state());
            if step.hit() {
                return self.token(symbol, before);
            }
            match step.newline() {
                true => self.begin_line(symbol),
                false => self.line.push(Piece::Whole(symbol)),
            }
            if numbers {
                self.pass(symbol);
            }
        }
        Ok(())
    }

    /// Goes over a token in which a line ends that may match.
    fn token(&mut self, token: u32, mut state: State) -> Result<()> {
        let filter = self.searcher.filter;
        let bytes = self.searcher.source.token(token);
        let mut start = 0;
        while let Some(length) = memchr::memchr(b'\n', &bytes[start..]) {
            let part = &bytes[start..start + length];
            let read = filter.read(state, part);
            self.position = self.position.saturating_add(length as u64);
            if filter.ends(read) {
                self.candidate(part)?;
            }
            self.newlines = self.newlines.saturating_add(1);
            self.position = self.position.saturating_add(1);
            self.line.clear();
            state = START;
            start += length + 1;
        }
        self.position = self.position.saturating_add((bytes.len() - start) as u64);
        self.begin_line(token);
        Ok(())
    }

    /// The line ends with these bytes, and may match.
    fn candidate(&mut self, last: &[u8]) -> Result<()> {
        let searcher = self.searcher;
        if searcher.pattern.automaton().is_exact()
            && let Want::Count | Want::Any = searcher.options.want
        {
            self.found.count += 1;
            self.matched += 1;
            return Ok(());
        }
        self.write_line()?;
        self.buffer.push(last);
        self.look_at(true);
        Ok(())
    }

    /// The document ends, perhaps with a line without newline, which may match or not.
    fn last_line(&mut self, may_match: bool) -> Result<()> {
        if !may_match {
            self.found.last_line = self.line.iter().any(|&piece| self.has_text(piece));
            return Ok(());
        }
        self.write_line()?;
        self.found.last_line = !self.buffer.text().is_empty();
        if self.found.last_line {
            self.look_at(false);
        }
        Ok(())
    }

    /// Whether a piece of a line has any bytes.
    fn has_text(&self, piece: Piece) -> bool {
        match piece {
            Piece::Whole(symbol) => self.searcher.source.bytes(symbol) > 0,
            Piece::Tail(_) => self.writer.length(piece) > 0,
        }
    }

    /// Writes the line out, for which there must be memory.
    fn write_line(&mut self) -> Result<()> {
        let Self { searcher, writer, buffer, line, found, .. } = self;
        buffer.clear();
        if line.iter().all(|&piece| writer.piece(piece, buffer, COUNTED)) {
            return Ok(());
        }
        *buffer = Buffer::default();
        let bytes = line.iter().map(|&piece| writer.length(piece)).fold(0, u64::saturating_add);
        let share = found.share.get_or_insert_with(|| searcher.budget.share());
        share.grow(bytes.saturating_mul(2), LINE)?;
        for &piece in line.iter() {
            writer.piece(piece, buffer, usize::MAX);
        }
        Ok(())
    }

    /// Keeps the line that has been written if it matches.
    fn look_at(&mut self, newline: bool) {
        let searcher = self.searcher;
        self.found.candidates += 1;
        let line = self.buffer.text();
        let pattern = searcher.pattern;
        if !pattern.automaton().is_exact() && !pattern.is_match(line) {
            return;
        }
        self.found.count += 1;
        self.matched += 1;
        if let Want::Lines | Want::CountMatches = searcher.options.want {
            let matches = searcher.count_matches(line, newline);
            let offset = self.position as i64 - line.len() as i64;
            let newlines = self.newlines;
            let start = self.found.text.len();
            if searcher.options.want == Want::Lines {
                self.found.text.extend_from_slice(line);
            }
            let text = start..self.found.text.len();
            self.found.lines.push(FoundLine { newlines, offset, text, newline, matches });
        }
    }
}
