//! Lines for people and scripts: names, numbers, text, and matches in colour.

use std::io;
use std::ops::{ControlFlow, Range};

use tadoc::{Document, GrepOptions as Options, GrepSink, Line, Pattern, Summary};

use super::arguments::PrintArguments;
use super::{Names, Style, put};
use crate::output::Output;
use crate::screen;

pub struct Lines<'l> {
    output: &'l mut Output,
    names: Names,
    pattern: &'l Pattern,
    numbers: bool,
    columns: bool,
    offsets: bool,
    with_name: bool,
    with_archive: bool,
    headings: bool,
    null: bool,
    colors: bool,
    /// Whether what would steer a terminal is escaped in lines, as it is in names.
    escapes: bool,
    /// Lines are given for their matches, and these alone are printed.
    only_matching: bool,
    /// Whether matches are there to be shown.
    inverted: bool,
    /// Whether lines nearby are given, too.
    nearby: bool,
    /// Whether anything of a document was printed before; whether anything of this one was.
    any: bool,
    any_of_document: bool,
    /// The row that is being put together, and the matches in it.
    row: Vec<u8>,
    matches: Vec<Range<usize>>,
}

impl<'l> Lines<'l> {
    pub fn new(
        output: &'l mut Output,
        names: Names,
        pattern: &'l Pattern,
        options: &Options,
        print: &PrintArguments,
    ) -> Self {
        let terminal = output.is_terminal();
        Self {
            output,
            names,
            pattern,
            numbers: print.numbers_lines(terminal),
            columns: print.column,
            offsets: print.byte_offset,
            with_name: !print.no_filename,
            with_archive: print.with_archive,
            headings: print.has_headings(terminal),
            null: print.null,
            colors: print.colors(terminal),
            escapes: print.escapes(terminal),
            only_matching: print.only_matching && !options.invert,
            inverted: options.invert,
            nearby: options.before > 0 || options.after > 0,
            any: false,
            any_of_document: false,
            row: Vec::new(),
            matches: Vec::new(),
        }
    }

    /// Whether lines need their numbers or offsets.
    pub fn needs_numbers(&self) -> bool {
        self.numbers || self.offsets
    }

    /// Whether anything was found.
    pub fn found(&self) -> bool {
        self.any
    }

    /// Whether the places of matches are needed.
    fn needs_matches(&self) -> bool {
        !self.inverted && (self.colors || self.columns || self.only_matching)
    }

    /// Before the first row of a document: what parts it from the one before, and its name.
    fn begin(&mut self, document: &Document) {
        if self.any_of_document {
            return;
        }
        if self.any && self.headings && self.with_name {
            self.row.push(b'\n');
        } else if self.any && self.nearby {
            self.row.extend_from_slice(b"--\n");
        }
        (self.any, self.any_of_document) = (true, true);
        if self.headings && self.with_name {
            self.names.write(document, self.with_archive, self.colors, &mut self.row);
            self.row.push(if self.null { 0 } else { b'\n' });
        }
    }

    /// What stands before the text of a row.
    fn prefix(&mut self, document: &Document, line: &Line<'_>, place: Option<usize>) {
        let separator = if line.asked { b':' } else { b'-' };
        if self.with_name && !self.headings {
            self.names.write(document, self.with_archive, self.colors, &mut self.row);
            self.row.push(if self.null { 0 } else { separator });
        }
        let mut number = |style: Style, number: u64| {
            style.write(self.colors, itoa::Buffer::new().format(number).as_bytes(), &mut self.row);
            self.row.push(separator);
        };
        if self.numbers {
            number(Style::LINE, line.number);
        }
        if let Some(place) = place.filter(|_| self.columns) {
            number(Style::PLACE, place as u64 + 1);
        }
        if self.offsets {
            let place = place.filter(|_| self.only_matching).unwrap_or(0);
            number(Style::PLACE, line.offset + place as u64);
        }
    }

    /// A part of a line; matches that touch are one in colour.
    fn text(&mut self, text: &[u8], part: Range<usize>) {
        if !self.colors {
            self.push(&text[part]);
            return;
        }
        let matches = std::mem::take(&mut self.matches);
        let mut at = part.start;
        let mut rest = matches.iter().filter(|found| !found.is_empty()).peekable();
        while let Some(found) = rest.next() {
            if found.end <= at {
                continue;
            }
            if found.start >= part.end {
                break;
            }
            let mut end = found.end;
            while let Some(next) = rest.next_if(|next| next.start == end) {
                end = next.end;
            }
            let (start, end) = (found.start.max(at), end.min(part.end));
            self.push(&text[at..start]);
            self.row.extend_from_slice(Style::MATCH.start);
            self.push(&text[start..end]);
            self.row.extend_from_slice(Style::END);
            at = end;
        }
        self.push(&text[at..part.end]);
        self.matches = matches;
    }

    /// Appends bytes of a line.
    fn push(&mut self, text: &[u8]) {
        match self.escapes {
            true => screen::push_text(text, &mut self.row),
            false => self.row.extend_from_slice(text),
        }
    }
}

impl GrepSink for Lines<'_> {
    fn line(&mut self, document: &Document, line: &Line<'_>) -> io::Result<()> {
        self.row.clear();
        self.begin(document);
        self.matches.clear();
        if line.asked && self.needs_matches() {
            self.matches.extend(self.pattern.find_iter(line.text, line.newline));
        }
        // A line may match at its very end only, where there is nothing to show.
        if line.asked && self.only_matching && !self.matches.is_empty() {
            for place in 0..self.matches.len() {
                let found = self.matches[place].clone();
                self.prefix(document, line, Some(found.start));
                self.text(line.text, found);
                self.row.push(b'\n');
            }
        } else {
            let first = self.matches.first().map(|found| found.start);
            self.prefix(document, line, first);
            self.text(line.text, 0..line.text.len());
            self.row.push(b'\n');
        }
        put(self.output, &self.row)
    }

    fn gap(&mut self) -> io::Result<()> {
        put(self.output, b"--\n")
    }

    fn end(&mut self, document: &Document, summary: &Summary) -> io::Result<ControlFlow<()>> {
        if summary.lines > 0
            && let Some(offset) = summary.binary
        {
            self.row.clear();
            self.any = true;
            if self.with_name {
                self.names.write(document, self.with_archive, self.colors, &mut self.row);
                self.row.extend_from_slice(b": ");
            }
            let told = format!("binary file matches (found \"\\0\" byte around offset {offset})\n");
            self.row.extend_from_slice(told.as_bytes());
            put(self.output, &self.row)?;
        }
        self.any_of_document = false;
        Ok(ControlFlow::Continue(()))
    }
}
