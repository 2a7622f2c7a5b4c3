//! A stretch of a document: whole lines, searched by one thread.
//!
//! A stretch is a range of the root. Its first line may begin in the symbol before it, behind that symbol's last
//! newline, and what stands behind its own last newline is the beginning of the next one. So stretches of a document
//! are searched apart, and their lines are all of the document's, each once.
//!
//! There are two ways to search. *Sparse*: the filter goes over the root, and where it finds a line that may match,
//! that line alone is written out and looked at. *Dense*: all text is written out and searched; better where many
//! lines match. Both give the same lines.

use std::ops::Range;
use std::sync::OnceLock;

use tadoc_core::{Budget, Share};

use super::automaton::{FAILED, START, State};
use super::filter::Filter;
use super::pattern::Pattern;
use super::source::Source;
use super::text::{Piece, Writer};
use super::{Options, Want};
use crate::corpus::count_newlines;
use crate::error::Result;
use crate::texts::Texts;

/// So many symbols of the root make a stretch.
pub(super) const STRETCH_SYMBOLS: u32 = 4096;

/// Lines that are found at a time, and bytes of them: a few more where a line is longer.
const LINES_AT_ONCE: usize = 1 << 14;
const TEXT_AT_ONCE: usize = 1 << 22;
/// Longer stretches are not written out as a whole, however many lines match.
const LONGEST_DENSE: u64 = 1 << 26;
/// What memory is taken for, in errors.
pub(super) const LINE: &str = "a long line";
/// Parts of lines that are longer are counted before they are written out.
const COUNTED: u64 = 1 << 16;

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

/// A line that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundLine {
    /// Newlines of the stretch before the line; only if numbers are wanted.
    pub(super) newlines: u64,
    /// Where it starts, counted from the start of the stretch's first symbol: less than 0 for a line that began in
    /// the symbol before. Only if numbers are wanted.
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
    /// How many lines of the stretch were looked at one by one.
    pub(super) candidates: u64,
    /// Whether the document ends here with a line without newline; only if lines that do not match are counted.
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
    /// Texts of short rules, if they are written out.
    pub(super) texts: OnceLock<Texts>,
    /// What memory is taken of.
    pub(super) budget: &'s Budget,
}

impl<S: Source> Searcher<'_, S> {
    /// Searches a stretch by writing out the lines that may match: all of them, or the first ones, and then what goes on
    /// with the others.
    pub(super) fn sparse(&self, stretch: &Stretch) -> Result<(Found, Option<Walk<'_, S>>)> {
        let mut walk = Walk {
            searcher: self,
            writer: Writer::new(self.filter, None),
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

    /// Whether all of a stretch can be written out: else only lines that may match are.
    pub(super) fn is_short(&self, stretch: &Stretch) -> bool {
        self.bytes(stretch) <= LONGEST_DENSE
    }

    /// How many bytes a stretch has, with the line that begins before it.
    fn bytes(&self, stretch: &Stretch) -> u64 {
        let begun = stretch
            .before
            .map_or(0, |symbol| Writer::new(self.filter, None).length(Piece::Tail(symbol)));
        let symbols = self.symbols(stretch).into_iter();
        symbols.map(|symbol| self.source.bytes(symbol)).fold(begun, u64::saturating_add)
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

    /// All lines of a stretch with their newlines, how many newlines of the stretch are before them, and where they
    /// start, counted from its first symbol.
    pub(super) fn text(&self, stretch: &Stretch) -> (Vec<u8>, u64, i64) {
        if let Some((line, before)) = &stretch.line {
            return (line.clone(), 0, -(*before as i64));
        }
        let mut writer = Writer::new(self.filter, self.texts.get());
        let mut text = Vec::new();
        if let Some(before) = stretch.before {
            writer.piece(Piece::Tail(before), &mut text);
        }
        let mut offset = -(text.len() as i64);
        for symbol in self.symbols(stretch) {
            writer.whole(symbol, &mut text);
        }
        if !stretch.closed {
            text.truncate(memchr::memrchr(b'\n', &text).map_or(0, |newline| newline + 1));
        }
        let mut newlines = 0;
        if stretch.skip_first {
            let start = memchr::memchr(b'\n', &text).map_or(text.len(), |newline| newline + 1);
            newlines = 1;
            offset += start as i64;
            text.drain(..start);
        }
        (text, newlines, offset)
    }

    /// Searches a stretch by writing out all of it.
    pub(super) fn dense(&self, stretch: &Stretch) -> Result<Found> {
        // Its text, and the same again while lines are taken out of it.
        let bytes = self.bytes(stretch).saturating_mul(2);
        let share = self.budget.take(bytes, "a long stretch of lines")?;
        let (text, newlines, offset) = self.text(stretch);
        let mut found = self.lines_of(text, newlines, offset);
        found.share = Some(share);
        if self.options.numbers {
            (found.newlines, found.bytes) = self.lengths(stretch);
        }
        Ok(found)
    }

    /// Searches lines; `newlines` and `offset` are of the first one.
    pub(super) fn lines_of(&self, text: Vec<u8>, newlines: u64, offset: i64) -> Found {
        let mut found = Found { whole: true, first: (newlines, offset), ..Found::default() };
        let mut line_number = newlines;
        let mut at = 0;
        while at < text.len() {
            let place = self.pattern.find_in_text(&text, at);
            let line = place.map(|place| {
                let start =
                    memchr::memrchr(b'\n', &text[at..place]).map_or(at, |last| at + last + 1);
                let end =
                    memchr::memchr(b'\n', &text[place..]).map_or(text.len(), |next| place + next);
                start..end
            });
            // An empty match behind the last newline is in no line.
            let line = line.filter(|line| line.start < text.len());
            let start = line.as_ref().map_or(text.len(), |line| line.start);
            if self.options.invert {
                let mut from = at;
                while from < start {
                    let end =
                        memchr::memchr(b'\n', &text[from..start]).map_or(start, |next| from + next);
                    self.keep_line(&mut found, &text, from..end, line_number, offset);
                    line_number += 1;
                    from = end + 1;
                }
            } else if self.options.numbers {
                line_number += count_newlines(&text[at..start]);
            }
            let Some(line) = line else { break };
            at = line.end + 1;
            if !self.options.invert {
                self.keep_line(&mut found, &text, line, line_number, offset);
                if self.is_enough(found.count) {
                    break;
                }
            }
            line_number += 1;
        }
        found.text = text;
        found
    }

    /// Whether so many lines of a document are all that is wanted of it.
    fn is_enough(&self, lines: u64) -> bool {
        if self.options.want == Want::Any {
            return lines > 0;
        }
        // Lines behind the last one are still to be given.
        self.options.after == 0 && self.options.max_count.is_some_and(|most| lines >= most)
    }

    fn keep_line(
        &self,
        found: &mut Found,
        text: &[u8],
        line: Range<usize>,
        newlines: u64,
        offset: i64,
    ) {
        found.count += 1;
        found.candidates += 1;
        if let Want::Lines | Want::CountMatches = self.options.want {
            let newline = line.end < text.len();
            let matches = self.count_matches(&text[line.clone()], newline);
            let offset = offset + line.start as i64;
            found.lines.push(FoundLine { newlines, offset, text: line, newline, matches });
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

/// A way over the symbols of a stretch that writes out the lines that may match. It is paused when there are many, since a
/// symbol may have more lines than memory, and goes on from there.
pub(super) struct Walk<'w, S> {
    searcher: &'w Searcher<'w, S>,
    writer: Writer<'w, S>,
    /// What has been read of the line, up to where the walk is.
    line: Vec<Piece>,
    /// Newlines and bytes up to where the walk is, if numbers are wanted.
    newlines: u64,
    position: u64,
    /// What was found since the walk was last paused, and lines that matched in all.
    found: Found,
    matched: u64,
    /// The symbols, the place among them that comes next, and what is left of the bodies of rules below the last one.
    symbols: Vec<u32>,
    place: usize,
    above: Vec<Range<u32>>,
    /// The state before what comes next.
    state: State,
    stretch: Stretch,
}

impl<S: Source> Walk<'_, S> {
    /// Finds the next lines: some thousands, or a few long ones, or those that are left. The last ones come with the figures
    /// of the stretch.
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

    /// Goes over symbols of the root to the next one in which a line ends that may match, and into that; `false` if there
    /// is none. Where the document ends behind them, a last line without newline is looked at, too.
    fn enter(&mut self) -> Result<bool> {
        let filter = self.searcher.filter;
        let symbols = std::mem::take(&mut self.symbols);
        let mut row = filter.row(self.state);
        // The symbols before this one are counted, and the line is what `self.line` has and those from this one on.
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

    /// Goes on in the rules below a symbol in which a line ends that may match, up to the next such line.
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
        let start = self.found.text.len();
        self.write_line()?;
        self.found.text.extend_from_slice(last);
        self.look_at(start, true);
        Ok(())
    }

    /// The document ends, perhaps with a line without newline, which may match or not.
    fn last_line(&mut self, may_match: bool) -> Result<()> {
        if !may_match {
            self.found.last_line = self.line.iter().any(|&piece| self.has_text(piece));
            return Ok(());
        }
        let start = self.found.text.len();
        self.write_line()?;
        self.found.last_line = self.found.text.len() > start;
        if self.found.last_line {
            self.look_at(start, false);
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
        for &piece in &self.line {
            let (Piece::Whole(symbol) | Piece::Tail(symbol)) = piece;
            // What is behind the last newline of a symbol is no longer than all of it.
            if self.searcher.source.bytes(symbol) > COUNTED {
                let bytes = self.writer.length(piece);
                let share = self.found.share.get_or_insert_with(|| self.searcher.budget.share());
                share.grow(2 * bytes, LINE)?;
            }
            self.writer.piece(piece, &mut self.found.text);
        }
        Ok(())
    }

    /// Keeps the line that has been written if it matches.
    fn look_at(&mut self, start: usize, newline: bool) {
        let searcher = self.searcher;
        self.found.candidates += 1;
        let text = start..self.found.text.len();
        let line = &self.found.text[text.clone()];
        let pattern = searcher.pattern;
        let matches = pattern.automaton().is_exact() || pattern.is_match(line);
        if matches {
            self.found.count += 1;
            self.matched += 1;
            if let Want::Lines | Want::CountMatches = searcher.options.want {
                let matches = searcher.count_matches(line, newline);
                let offset = self.position as i64 - text.len() as i64;
                let newlines = self.newlines;
                self.found.lines.push(FoundLine { newlines, offset, text, newline, matches });
            }
        }
        if !matches || searcher.options.want != Want::Lines {
            self.found.text.truncate(start);
        }
    }
}
