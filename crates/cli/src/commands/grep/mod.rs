//! `tadoc grep`: lines that match, with ripgrep's habits.
//!
//! `arguments` is the command line; `lines`, `counts` and `json` print what the library finds, and
//! `explain` how it was found.

mod arguments;
mod counts;
mod explain;
mod json;
mod lines;

use std::io;
use std::sync::Arc;

use tadoc::{Corpus, Document, OpenOptions, Pattern, Want};

pub use self::arguments::Grep;
use self::counts::Counts;
use self::json::Json;
use self::lines::Lines;
use crate::failure::{Outcome, print_line};
use crate::memory;
use crate::output::Output;
use crate::screen;

impl Grep {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let (pattern, paths) = self.pattern()?;
        let pattern = Arc::new(pattern);
        let options = memory::limit(OpenOptions::new());
        self.reading.open(&paths, options, |corpus| self.search(&pattern, &corpus, quiet))
    }

    fn search(
        &self,
        pattern: &Arc<Pattern>,
        corpus: &Corpus,
        quiet: bool,
    ) -> anyhow::Result<Outcome> {
        let mut options = self.options(quiet);
        let Some(query) = self.documents.of(corpus.query())? else { return Ok(Outcome::Negative) };
        let mut output = Output::new();
        let names = Names { escapes: self.print.escapes(output.is_terminal()) };
        let grep = query.grep(Arc::clone(pattern));
        let result = match options.want {
            Want::Lines if self.print.json => {
                options.numbers = true;
                let mut json = Json::new(&mut output, pattern, &options, &self.print);
                let searched = match query.selected() {
                    Some(documents) => documents.len() as u64,
                    None => corpus.document_count(),
                };
                let visited = grep.options(options).visit(&mut json);
                visited.map_err(Into::into).and_then(|report| Ok((json.finish(searched)?, report)))
            }
            Want::Lines => {
                let mut lines = Lines::new(&mut output, names, pattern, &options, &self.print);
                options.numbers = lines.needs_numbers();
                let visited = grep.options(options).visit(&mut lines);
                visited.map(|report| (lines.found(), report)).map_err(anyhow::Error::from)
            }
            _ => {
                let mut counts = Counts::new(&mut output, names, quiet, &options, &self.print);
                let visited = grep.options(options).visit(&mut counts);
                visited.map(|report| (counts.found(), report)).map_err(anyhow::Error::from)
            }
        };
        let (found, report) = output.finish(result)?;
        if self.search.explain {
            print_line(explain::text(&report).trim_end());
        }
        Ok(if found { Outcome::Done } else { Outcome::Negative })
    }
}

/// How names of documents are shown.
#[derive(Clone, Copy)]
struct Names {
    /// Whether what would steer a terminal is escaped.
    escapes: bool,
}

impl Names {
    /// Appends the name of a document, behind the archive's if that is told too.
    fn write(self, document: &Document, with_archive: bool, colors: bool, into: &mut Vec<u8>) {
        let shown = |bytes: &[u8]| match self.escapes {
            true => screen::name(bytes).into_bytes(),
            false => bytes.to_vec(),
        };
        if with_archive {
            Style::NAME.write(colors, &shown(path_of(document)), into);
            into.push(b':');
        }
        Style::NAME.write(colors, &shown(document.name()), into);
    }
}

/// The path of a document's archive, as it was given.
fn path_of(document: &Document) -> &[u8] {
    document.archive().0.as_os_str().as_encoded_bytes()
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
