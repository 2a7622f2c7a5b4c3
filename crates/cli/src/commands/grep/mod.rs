//! `tadoc grep`: lines that match, with ripgrep's habits.
//!
//! `arguments` is the command line; `lines`, `counts` and `json` print what the library finds.

mod arguments;
mod counts;
mod json;
mod lines;

use std::borrow::Cow;
use std::io;
use std::path::Path;

use tadoc_engine::grep::{Options, Pattern, Sink, Want};

pub use self::arguments::Grep;
use self::counts::Counts;
use self::json::Json;
use self::lines::Lines;
use super::archives::{Archives, Chosen};
use crate::failure::Outcome;
use crate::output::Output;
use crate::screen;

impl Grep {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let (pattern, paths) = self.pattern()?;
        self.reading.open(&paths, |archives| self.search(&pattern, &archives, quiet))
    }

    fn search(
        &self,
        pattern: &Pattern,
        archives: &Archives,
        quiet: bool,
    ) -> anyhow::Result<Outcome> {
        let mut options = self.options(quiet);
        let tables = archives.tables()?;
        let chosen = match self.documents.choose(&tables)? {
            None => return Ok(Outcome::Negative),
            Some(Chosen::All) => {
                (0..tables.iter().map(|documents| documents.len()).sum()).collect()
            }
            Some(Chosen::Documents(places)) => places,
        };
        let mut output = Output::new();
        let escapes = self.print.escapes(output.is_terminal());
        let names = Names { archives, tables: &tables, searched: 0, escapes };
        let result = match options.want {
            Want::Lines if self.print.json => {
                options.numbers = true;
                let mut json = Json::new(&mut output, names, pattern, &options, &self.print);
                search_all(archives, &chosen, pattern, &options, &mut json)
                    .and_then(|()| Ok(json.finish(chosen.len())?))
            }
            Want::Lines => {
                let mut lines = Lines::new(&mut output, names, pattern, &options, &self.print);
                options.numbers = lines.needs_numbers();
                search_all(archives, &chosen, pattern, &options, &mut lines).map(|()| lines.found())
            }
            _ => {
                let mut counts = Counts::new(&mut output, names, quiet, &options, &self.print);
                search_all(archives, &chosen, pattern, &options, &mut counts)
                    .map(|()| counts.found())
            }
        };
        let found = output.finish(result)?;
        Ok(if found { Outcome::Done } else { Outcome::Negative })
    }
}

/// What prints: it is told which archive is searched next, and tells when it has enough.
trait Printer: Sink {
    fn next_archive(&mut self, number: usize);

    /// Whether the search has ended early.
    fn has_enough(&self) -> bool {
        false
    }
}

/// Searches chosen documents, which are numbered one archive after the other.
fn search_all(
    archives: &Archives,
    chosen: &[usize],
    pattern: &Pattern,
    options: &Options,
    printer: &mut dyn Printer,
) -> anyhow::Result<()> {
    let mut first = 0;
    for (number, archive) in archives.iter().enumerate() {
        let count = archive.documents()?.len();
        let start = chosen.partition_point(|&place| place < first);
        let end = chosen.partition_point(|&place| place < first + count);
        let own: Vec<usize> = chosen[start..end].iter().map(|&place| place - first).collect();
        printer.next_archive(number);
        archive.told(tadoc_engine::grep::search(
            &archive.corpus,
            &own,
            pattern,
            options,
            printer,
        ))?;
        if printer.has_enough() {
            break;
        }
        first += count;
    }
    Ok(())
}

/// The documents of all archives, numbered by those of the archive that is searched.
struct Names<'n> {
    archives: &'n Archives,
    tables: &'n [&'n [tadoc_engine::Document]],
    searched: usize,
    /// Whether names are shown with what would steer a terminal escaped.
    escapes: bool,
}

impl<'n> Names<'n> {
    fn get(&self, document: usize) -> &'n tadoc_engine::Document {
        &self.tables[self.searched][document]
    }

    /// The archive that is searched.
    fn archive(&self) -> &'n Path {
        &self.archives[self.searched].path
    }

    /// Appends the name of a document, behind the archive's if that is told too.
    fn write(&self, document: usize, with_archive: bool, colors: bool, into: &mut Vec<u8>) {
        let shown = |bytes: &'n [u8]| -> Cow<'n, [u8]> {
            match self.escapes {
                true => screen::name(bytes).into_bytes().into(),
                false => bytes.into(),
            }
        };
        if with_archive {
            let archive = shown(self.archive().as_os_str().as_encoded_bytes());
            Style::NAME.write(colors, &archive, into);
            into.push(b':');
        }
        Style::NAME.write(colors, &shown(&self.get(document).name), into);
    }
}

/// Text in a colour, as ripgrep writes it.
struct Style {
    start: &'static [u8],
}

impl Style {
    const NAME: Self = Self { start: b"\x1b[0m\x1b[35m" };
    const LINE: Self = Self { start: b"\x1b[0m\x1b[32m" };
    const PLACE: Self = Self { start: b"\x1b[0m" };
    const MATCH: Self = Self { start: b"\x1b[0m\x1b[1m\x1b[31m" };
    const END: &'static [u8] = b"\x1b[0m";

    /// Appends text, in the colour if there are colours.
    fn write(&self, colors: bool, text: &[u8], into: &mut Vec<u8>) {
        if colors {
            into.extend_from_slice(self.start);
        }
        into.extend_from_slice(text);
        if colors {
            into.extend_from_slice(Self::END);
        }
    }
}

/// An output that takes bytes as a whole.
fn put(output: &mut Output, bytes: &[u8]) -> io::Result<()> {
    io::Write::write_all(output, bytes)
}
