//! Counts and names of documents: `-c`, `--count-matches`, `-l`, `--files-without-match` and `-q`.

use std::io;
use std::ops::ControlFlow;

use tadoc::{Document, GrepOptions as Options, GrepSink, Line, Summary, Want};

use super::arguments::PrintArguments;
use super::{Names, put};
use crate::output::Output;

pub struct Counts<'c> {
    output: &'c mut Output,
    names: Names,
    shows: Shows,
    with_name: bool,
    with_archive: bool,
    null: bool,
    colors: bool,
    found: bool,
}

/// What is printed of a document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shows {
    Nothing,
    Lines,
    Matches,
    NameIfFound,
    NameIfNot,
}

impl<'c> Counts<'c> {
    pub fn new(
        output: &'c mut Output,
        names: Names,
        quiet: bool,
        options: &Options,
        print: &PrintArguments,
    ) -> Self {
        let shows = match options.want {
            _ if quiet => Shows::Nothing,
            Want::Count => Shows::Lines,
            Want::CountMatches => Shows::Matches,
            _ if print.files_without_match => Shows::NameIfNot,
            _ => Shows::NameIfFound,
        };
        let colors = print.colors(output.is_terminal());
        Self {
            output,
            names,
            shows,
            with_name: !print.no_filename,
            with_archive: print.with_archive,
            null: print.null,
            colors,
            found: false,
        }
    }

    /// Whether anything was found.
    pub fn found(&self) -> bool {
        self.found
    }
}

impl GrepSink for Counts<'_> {
    fn line(&mut self, _: &Document, _: &Line<'_>) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self, document: &Document, summary: &Summary) -> io::Result<ControlFlow<()>> {
        let (shown, count) = match self.shows {
            Shows::Nothing | Shows::NameIfFound => (summary.lines > 0, None),
            Shows::NameIfNot => (summary.lines == 0, None),
            Shows::Lines => (summary.lines > 0, Some(summary.lines)),
            Shows::Matches => (summary.lines > 0, Some(summary.matches)),
        };
        self.found |= shown;
        if self.shows == Shows::Nothing {
            return Ok(if shown { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
        }
        if shown {
            let mut row = Vec::new();
            if self.with_name || count.is_none() {
                self.names.write(document, self.with_archive, self.colors, &mut row);
            }
            if let Some(count) = count {
                if self.with_name {
                    row.push(if self.null { 0 } else { b':' });
                }
                row.extend_from_slice(itoa::Buffer::new().format(count).as_bytes());
            }
            row.push(if self.null && count.is_none() { 0 } else { b'\n' });
            put(self.output, &row)?;
        }
        Ok(ControlFlow::Continue(()))
    }
}
