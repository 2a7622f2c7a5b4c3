//! `tadoc grep`: lines that match, with ripgrep's habits.
//!
//! `arguments` is the command line; `lines`, `counts` and `json` print what the library finds.

mod arguments;
mod counts;
mod json;
mod lines;

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use anyhow::Context;
use tadoc::Corpus;
use tadoc::grep::{Options, Pattern, Sink, Want};

pub use self::arguments::Grep;
use self::counts::Counts;
use self::json::Json;
use self::lines::Lines;
use super::{about, documents, open};
use crate::failure::{Outcome, print_error};
use crate::output::Output;
use crate::{screen, select};

impl Grep {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads.unwrap_or(0)).build();
        pool.context("cannot start threads")?.install(|| self.search(quiet))
    }

    fn search(&self, quiet: bool) -> anyhow::Result<Outcome> {
        let (pattern, archives) = self.pattern()?;
        let mut options = self.options(quiet);
        let corpora = open_all(archives)?;
        let tables: Vec<&[tadoc::Document]> = corpora
            .iter()
            .map(|(path, corpus)| documents(corpus, path))
            .collect::<anyhow::Result<_>>()?;
        let chosen = select::find_all(&tables, &self.document)?;
        if chosen.is_empty() && !self.document.is_empty() {
            print_error("no document matches; `tadoc list` shows what an archive has");
            return Ok(Outcome::Negative);
        }
        let mut output = Output::new();
        let escapes = self.print.escapes(output.is_terminal());
        let names = Names { tables: &tables, first: 0, escapes };
        let result = match options.want {
            Want::Lines if self.print.json => {
                options.numbers = true;
                let mut json = Json::new(&mut output, names, &pattern, options.invert);
                search_all(&corpora, &chosen, &pattern, &options, &mut json)
                    .and_then(|()| Ok(json.finish(chosen.len())?))
            }
            Want::Lines => {
                let mut lines = Lines::new(&mut output, names, &pattern, &options, &self.print);
                options.numbers = lines.needs_numbers();
                search_all(&corpora, &chosen, &pattern, &options, &mut lines)
                    .map(|()| lines.found())
            }
            _ => {
                let mut counts = Counts::new(&mut output, names, quiet, &options, &self.print);
                search_all(&corpora, &chosen, &pattern, &options, &mut counts)
                    .map(|()| counts.found())
            }
        };
        let found = output.finish(result)?;
        Ok(if found { Outcome::Done } else { Outcome::Negative })
    }
}

fn open_all(archives: Vec<PathBuf>) -> anyhow::Result<Vec<(PathBuf, Corpus)>> {
    archives.into_iter().map(|path| open(&path).map(|corpus| (path, corpus))).collect()
}

/// What prints: it is told at which document of all the next archive starts, and when it has enough.
trait Printer: Sink {
    fn next_archive(&mut self, first: usize);

    /// Whether the search has ended early.
    fn has_enough(&self) -> bool {
        false
    }
}

/// Searches chosen documents, which are numbered one archive after the other.
fn search_all(
    corpora: &[(PathBuf, Corpus)],
    chosen: &[usize],
    pattern: &Pattern,
    options: &Options,
    printer: &mut dyn Printer,
) -> anyhow::Result<()> {
    let mut first = 0;
    for (path, corpus) in corpora {
        let count = documents(corpus, path)?.len();
        let start = chosen.partition_point(|&place| place < first);
        let end = chosen.partition_point(|&place| place < first + count);
        let own: Vec<usize> = chosen[start..end].iter().map(|&place| place - first).collect();
        printer.next_archive(first);
        tadoc::grep::search(corpus, &own, pattern, options, printer)
            .map_err(|error| about(path, error))?;
        if printer.has_enough() {
            break;
        }
        first += count;
    }
    Ok(())
}

/// The documents of all archives, numbered by those of the archive that is searched.
struct Names<'n> {
    tables: &'n [&'n [tadoc::Document]],
    first: usize,
    /// Whether names are shown with what would steer a terminal escaped.
    escapes: bool,
}

impl<'n> Names<'n> {
    /// The name of a document as it is shown.
    fn shown(&self, document: usize) -> Cow<'n, [u8]> {
        let name = &self.get(document).name;
        match self.escapes {
            true => screen::name(name).into_bytes().into(),
            false => name.into(),
        }
    }

    fn get(&self, document: usize) -> &'n tadoc::Document {
        let mut place = self.first + document;
        for table in self.tables {
            match table.get(place) {
                Some(document) => return document,
                None => place -= table.len(),
            }
        }
        panic!("document {document} of none of the archives")
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
