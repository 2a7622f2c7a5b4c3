//! From what was found in stretches to the lines of documents: numbers, lines nearby, limits.

use std::ops::{ControlFlow, Range};

use super::source::Source;
use super::stretch::{Found, Searcher, Stretch};
use super::{Binary, Line, Options, Sink, Summary, Want};
use crate::error::{Error, Result};

/// The document that is being assembled.
#[derive(Default)]
struct Current {
    /// Newlines and bytes of the stretches before, if numbers are wanted.
    newlines: u64,
    bytes: u64,
    summary: Summary,
    /// How many lines behind the last line are still to be given.
    after_left: u64,
    /// How many lines of the document were given or are before the last one that was; `None` before the first.
    given_up_to: Option<u64>,
    /// The last lines of an earlier segment.
    earlier: Vec<u8>,
}

/// Puts what was found together, and gives it to a sink.
pub(super) struct Assembler<'a> {
    options: &'a Options,
    sink: &'a mut dyn Sink,
    current: Current,
    /// The document of which no more is needed.
    done: Option<usize>,
    ended: bool,
}

impl<'a> Assembler<'a> {
    pub(super) fn new(options: &'a Options, sink: &'a mut dyn Sink) -> Self {
        Self { options, sink, current: Current::default(), done: None, ended: false }
    }

    /// The document of which no more is needed, if it has not ended.
    pub(super) fn done(&self) -> Option<usize> {
        self.done
    }

    /// Whether the sink has enough.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Whether no more of a document is needed.
    pub(super) fn is_done(&self, document: usize) -> bool {
        self.ended || self.done == Some(document)
    }

    /// Takes what was found in `stretches[place]`, or the next of it; `None` where it was not searched
    /// because the document was done.
    pub(super) fn take<S: Source>(
        &mut self,
        searcher: &Searcher<'_, S>,
        stretches: &[Stretch],
        place: usize,
        found: Option<&Found>,
        is_all: bool,
    ) -> Result<()> {
        let stretch = &stretches[place];
        if self.ended {
            return Ok(());
        }
        let io = |source| Error::Io { path: "output".into(), source };
        if let Some(found) = found.filter(|_| self.done != Some(stretch.document)) {
            self.take_found(searcher, stretches, place, found).map_err(io)?;
            self.current.newlines = self.current.newlines.saturating_add(found.newlines);
            self.current.bytes = self.current.bytes.saturating_add(found.bytes);
        }
        if is_all && stretch.ends {
            self.done = None;
            let mut current = std::mem::take(&mut self.current);
            current.summary.binary = stretch.binary;
            let flow = self.sink.end(stretch.document, &current.summary).map_err(io)?;
            self.ended = flow == ControlFlow::Break(());
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.options.max_count.is_some_and(|most| self.current.summary.lines >= most)
    }

    fn take_found<S: Source>(
        &mut self,
        searcher: &Searcher<'_, S>,
        stretches: &[Stretch],
        place: usize,
        found: &Found,
    ) -> std::io::Result<()> {
        let stretch = &stretches[place];
        let options = self.options;
        let most = options.max_count.unwrap_or(u64::MAX);
        let withheld = stretch.binary.is_some() && options.binary == Binary::Withhold;
        let lines = &mut self.current.summary.lines;
        match options.want {
            Want::Any => *lines = (*lines + found.count).min(1).min(most),
            Want::Lines if withheld => *lines = (*lines + found.count).min(1).min(most),
            Want::Count => *lines = (*lines + found.count).min(most),
            Want::CountMatches => {
                for line in found.lines.iter().take((most - *lines) as usize) {
                    *lines += 1;
                    self.current.summary.matches += if options.invert { 1 } else { line.matches };
                }
            }
            Want::Lines if options.before == 0 && options.after == 0 => {
                for line in found.lines.iter().take((most - *lines) as usize) {
                    *lines += 1;
                    let (number, offset) = match options.numbers {
                        true => (
                            self.current.newlines + line.newlines + 1,
                            (self.current.bytes as i64 + line.offset) as u64,
                        ),
                        false => (0, 0),
                    };
                    let (text, newline) = (&found.text[line.text.clone()], line.newline);
                    let line = Line { number, offset, text, newline, asked: true };
                    self.sink.line(stretch.document, &line)?;
                }
            }
            Want::Lines => return self.with_lines_nearby(searcher, stretches, place, found),
        }
        let enough = match options.want {
            Want::Any => self.current.summary.lines > 0,
            Want::Lines if withheld => self.current.summary.lines > 0,
            _ => false,
        };
        if enough || self.is_full() {
            self.done = Some(stretch.document);
        }
        Ok(())
    }

    fn with_lines_nearby<S: Source>(
        &mut self,
        searcher: &Searcher<'_, S>,
        stretches: &[Stretch],
        place: usize,
        found: &Found,
    ) -> std::io::Result<()> {
        let stretch = &stretches[place];
        if found.lines.is_empty() && self.current.after_left == 0 {
            return Ok(());
        }
        let written;
        let (text, (newlines, offset)) = if found.whole {
            (&found.text, found.first)
        } else {
            let (text, newlines, offset) = searcher.text(stretch);
            written = text;
            (&written, (newlines, offset))
        };
        let first = self.current.newlines + newlines;
        let base = self.current.bytes as i64 + offset;
        let lines = LineEnds::new(text);
        let mut asked = found.lines.iter().peekable();
        let mut next = 0;
        while next < lines.len() {
            let wanted = asked.peek().map(|line| line.newlines - newlines);
            if self.current.after_left == 0 {
                // On to the next line that is asked for.
                let Some(wanted) = wanted.filter(|_| !self.is_full()) else { break };
                let number = first + wanted;
                let least = self.current.given_up_to.unwrap_or(0);
                let from = number.saturating_sub(self.options.before).max(least);
                if self.current.given_up_to.is_some_and(|up_to| from > up_to) {
                    self.sink.gap()?;
                }
                if from < first {
                    self.give_earlier(searcher, stretches, place, from, first, base)?;
                }
                for line in from.saturating_sub(first)..wanted {
                    let line = line as usize;
                    self.give(
                        stretch.document,
                        text,
                        lines.get(line),
                        first + line as u64,
                        base,
                        false,
                    )?;
                }
                next = wanted as usize;
            }
            let is_asked = wanted == Some(next as u64);
            let full = self.is_full();
            self.give(
                stretch.document,
                text,
                lines.get(next),
                first + next as u64,
                base,
                is_asked,
            )?;
            if is_asked {
                asked.next();
            }
            if is_asked && !full {
                self.current.summary.lines += 1;
                self.current.after_left = self.options.after;
            } else {
                self.current.after_left = self.current.after_left.saturating_sub(1);
            }
            next += 1;
        }
        if self.is_full() && self.current.after_left == 0 {
            self.done = Some(stretch.document);
        }
        Ok(())
    }

    /// Gives the line that is `range` of `text`, which has `number` lines before it in the document.
    fn give(
        &mut self,
        document: usize,
        text: &[u8],
        range: Range<usize>,
        number: u64,
        base: i64,
        asked: bool,
    ) -> std::io::Result<()> {
        self.current.given_up_to = Some(number + 1);
        let line = Line {
            number: number + 1,
            offset: (base + range.start as i64) as u64,
            newline: range.end < text.len(),
            text: &text[range],
            asked,
        };
        self.sink.line(document, &line)
    }

    /// Gives the lines `from..first` of the document, which are before `stretches[place]`; that one
    /// starts at `base`.
    fn give_earlier<S: Source>(
        &mut self,
        searcher: &Searcher<'_, S>,
        stretches: &[Stretch],
        place: usize,
        from: u64,
        first: u64,
        base: i64,
    ) -> std::io::Result<()> {
        let document = stretches[place].document;
        let text = self.earlier(searcher, &stretches[..place], document, first - from);
        let start = base - text.len() as i64;
        let lines = LineEnds::new(&text);
        for line in 0..lines.len() {
            self.give(document, &text, lines.get(line), from + line as u64, start, false)?;
        }
        Ok(())
    }

    /// The last `count` lines of a document in and before `stretches`; fewer where it has not so
    /// many.
    fn earlier<S: Source>(
        &self,
        searcher: &Searcher<'_, S>,
        stretches: &[Stretch],
        document: usize,
        count: u64,
    ) -> Vec<u8> {
        let mut parts: Vec<Vec<u8>> = Vec::new();
        let mut missing = count;
        for stretch in stretches.iter().rev() {
            if missing == 0 || stretch.document != document {
                break;
            }
            let mut text = searcher.text(stretch).0;
            let ends = LineEnds::new(&text);
            let some = (ends.len() as u64).min(missing);
            let from = ends.get_start(ends.len() - some as usize);
            text.drain(..from);
            missing -= some;
            parts.push(text);
        }
        if missing > 0 {
            let ends = LineEnds::new(&self.current.earlier);
            let from = ends.len().saturating_sub(missing as usize);
            parts.push(self.current.earlier[ends.get_start(from)..].to_vec());
        }
        parts.reverse();
        parts.concat()
    }

    /// The segment ends, and a document goes on in the next one: what has to be remembered of it is kept.
    pub(super) fn leave_segment<S: Source>(
        &mut self,
        searcher: &Searcher<'_, S>,
        stretches: &[Stretch],
        document: usize,
    ) {
        if self.options.before > 0 {
            self.current.earlier = self.earlier(searcher, stretches, document, self.options.before);
        }
    }
}

/// Where the lines of a text end.
struct LineEnds {
    ends: Vec<usize>,
}

impl LineEnds {
    fn new(text: &[u8]) -> Self {
        let mut ends: Vec<usize> = memchr::memchr_iter(b'\n', text).collect();
        if text.last().is_some_and(|&last| last != b'\n') {
            ends.push(text.len());
        }
        Self { ends }
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    /// Where a line starts; one behind the last starts at the end.
    fn get_start(&self, line: usize) -> usize {
        match line.checked_sub(1) {
            None => 0,
            Some(before) => self.ends[before] + 1,
        }
    }

    /// A line without its newline.
    fn get(&self, line: usize) -> Range<usize> {
        self.get_start(line)..self.ends[line]
    }
}
