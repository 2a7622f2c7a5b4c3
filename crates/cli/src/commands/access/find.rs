//! `tadoc find`: the documents that fit some words best.

use std::ffi::OsString;
use std::io::Write as _;
use std::ops::Range;

use anstyle::{AnsiColor, Style};
use clap::{Args, ValueHint};
use rayon::prelude::*;
use tadoc::{Bm25, Column, Found, Rows, SearchQuery, Snippet, Value};

use super::arguments::AccessArguments;
use super::find_query;
use super::phrase::archives_and_last;
use crate::arguments::{at_least_one, examples};
use crate::commands::archives::{DocumentArguments, WithArchive};
use crate::commands::terms::AnalyzerArguments;
use crate::failure::Outcome;
use crate::rows::{Format, FormatArguments, RowWriter};
use crate::screen::{self, in_line, wide};
use crate::units::usize_of;

/// Snippets have at most so many lines on a terminal, and lines at most so many columns.
const LINES: usize = 2;
const WIDEST: usize = 120;
const INDENT: &str = "    ";

const NAME: Style = Style::new().bold();
const SCORE: Style = Style::new().dimmed();
const WORD: Style = AnsiColor::Red.on_default().bold();

/// Find the documents that fit some words best
///
/// Columns: document, score, snippet; best first; with --with-archive the archive first. A document
/// need not have all of the words. A phrase in double quotes is required, and what has - or NOT
/// before it is excluded. Scores are those of BM25 over the documents that are asked, in all
/// archives; the snippet is from where most of the words are together, in one line.
#[derive(Debug, Args)]
#[command(
    override_usage = "tadoc find [OPTIONS] ARCHIVE... 'WORDS'",
    after_help = examples!(
        "tadoc find corpus.tdc 'tide gauge maintenance'"
        "tadoc find corpus.tdc '\"tide gauge\" maintenance -battery'"
        "tadoc find 2023.tdc 2024.tdc 'broken connections' --stem english --top 3 --with-archive"
        "tadoc find corpus.tdc error -d 'logs/*' --no-snippets --format jsonl"
    )
)]
pub struct Find {
    /// The archives, and last the words, in any order and as one argument
    #[arg(value_name = "ARCHIVE|WORDS", required = true, value_hint = ValueHint::FilePath)]
    given: Vec<OsString>,

    /// The N best documents only
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one())]
    top: usize,

    /// BM25's term frequency saturation
    ///
    /// 0 or more: the higher, the longer further occurrences of a word count.
    #[arg(long, value_name = "K1", default_value_t = 1.2)]
    k1: f64,

    /// BM25's length normalisation, 0 (none) to 1
    #[arg(long, value_name = "B", default_value_t = 0.75)]
    b: f64,

    /// No snippets: document and score only
    #[arg(long)]
    no_snippets: bool,

    #[command(flatten)]
    documents: DocumentArguments,

    #[command(flatten)]
    with_archive: WithArchive,

    #[command(flatten)]
    format: FormatArguments,

    #[command(flatten)]
    terms: AnalyzerArguments,

    #[command(flatten)]
    reading: AccessArguments,
}

const COLUMNS: &[Column] =
    &[Column::text("document"), Column::real("score"), Column::text("snippet")];

impl Find {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let analyzer = self.terms.analyzer()?;
        let (archives, words) = archives_and_last(&self.given, "find", "'WORDS'")?;
        let bm25 = Bm25::new(self.k1, self.b)?;
        let query = SearchQuery { bm25, ..find_query::parse(words.as_encoded_bytes())? };
        self.reading.open(&archives, quiet, |corpus| {
            let question = corpus.query().analyzer(analyzer);
            let Some(question) = self.documents.of(question)? else { return Ok(Outcome::Negative) };
            let columns = if self.no_snippets { &COLUMNS[..2] } else { COLUMNS };
            let with_archive = self.with_archive.columns(columns);
            let for_people = self.format.format() == Format::Table;
            let (mut writer, mut output) = match for_people {
                true => (None, Some(self.format.open()?)),
                false => (Some(RowWriter::open(&self.format, with_archive)?), None),
            };
            let found = question.find(&query, self.top)?;
            let snippets: Vec<Snippet> = match self.no_snippets {
                true => Vec::new(),
                false => found.par_iter().map(Found::snippet).collect::<tadoc::Result<_>>()?,
            };
            let rows = Documents { columns, found: &found, snippets: &snippets };
            if let Some(writer) = &mut writer {
                let archive_of = |row: u64| found[usize_of(row)].document().archive().0;
                let write = |rows: &dyn Rows| writer.write(rows);
                self.with_archive.write(with_archive, &rows, &archive_of, write)?;
            }
            if let Some(output) = &mut output {
                let width = output.terminal_width().unwrap_or(screen::WIDTH);
                let styled = screen::is_styled(output);
                let list = rows.list(self.with_archive.with_archive, width, styled);
                output.write_all(list.as_bytes())?;
            }
            writer.map_or(Ok(()), RowWriter::finish)?;
            output.map_or(Ok(()), |output| output.finish(anyhow::Ok(())))?;
            Ok(if found.is_empty() { Outcome::Negative } else { Outcome::Done })
        })
    }
}

/// What was found.
struct Documents<'d> {
    columns: &'static [Column],
    found: &'d [Found],
    snippets: &'d [Snippet],
}

impl Rows for Documents<'_> {
    fn columns(&self) -> &'static [Column] {
        self.columns
    }

    fn len(&self) -> u64 {
        self.found.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for place in usize_of(rows.start)..usize_of(rows.end) {
            let found = &self.found[place];
            let name = Value::Text(found.document().name());
            let score = Value::Real(found.score());
            match self.snippets.get(place) {
                Some(snippet) => each(&[name, score, Value::Text(&snippet.text)]),
                None => each(&[name, score]),
            }
        }
    }
}

impl Documents<'_> {
    /// A list for people: rank, document and score, and the snippet below it.
    fn list(&self, with_archive: bool, width: usize, styled: bool) -> String {
        let paint = |style: Style, text: &str| match styled {
            true => format!("{style}{text}{style:#}"),
            false => text.to_owned(),
        };
        let mut list = String::new();
        for (place, found) in self.found.iter().enumerate() {
            let document = found.document();
            let mut name = screen::name(document.name());
            if with_archive {
                name = format!("{}:{name}", screen::path(document.archive().0));
            }
            let score = format!("{:.3}", found.score());
            list +=
                &format!("{:>2}. {}  {}\n", place + 1, paint(NAME, &name), paint(SCORE, &score));
            if let Some(snippet) = self.snippets.get(place) {
                let pieces = pieces(&snippet.text, &snippet.marked);
                for line in wrapped(&pieces, width.min(WIDEST).saturating_sub(INDENT.len() + 2)) {
                    let line: String = line
                        .iter()
                        .map(
                            |(text, marked)| if *marked { paint(WORD, text) } else { text.clone() },
                        )
                        .collect();
                    list += &format!("{INDENT}{}\n", line.trim_end());
                }
            }
        }
        list
    }
}

/// A piece of a snippet as it is shown, and whether it is one of the words.
type Piece = (String, bool);

/// A snippet cut at spaces and around the words that are marked.
fn pieces(snippet: &[u8], marked: &[Range<usize>]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let plain = |text: &[u8]| {
        let words = text.split_inclusive(|&byte| byte == b' ');
        words.map(|word| (in_line(word), false)).collect::<Vec<Piece>>()
    };
    let mut place = 0;
    for word in marked {
        pieces.append(&mut plain(&snippet[place..word.start]));
        pieces.push((in_line(&snippet[word.clone()]), true));
        place = word.end;
    }
    pieces.append(&mut plain(&snippet[place..]));
    pieces
}

/// The pieces in [`LINES`] lines of at most `width` columns; what does not fit is left out, and so told.
fn wrapped(pieces: &[Piece], width: usize) -> Vec<Vec<Piece>> {
    let mut lines: Vec<Vec<Piece>> = vec![Vec::new()];
    let mut taken = 0;
    // What has no space in it stays together.
    for word in pieces.chunk_by(|(before, _), _| !before.ends_with(' ')) {
        let text: String = word.iter().map(|(text, _)| &text[..]).collect();
        // A space at the end need not fit.
        if taken > 0 && taken + wide(text.trim_end()) > width {
            if lines.len() == LINES {
                lines[LINES - 1].push(("…".into(), false));
                return lines;
            }
            lines.push(Vec::new());
            taken = 0;
        }
        let line = lines.last_mut().expect("there is a line");
        for (text, marked) in word {
            let fitting = screen::fit_start(text, (width + 1).saturating_sub(taken));
            line.push((fitting.to_owned(), *marked));
            taken += wide(fitting);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snippets_are_wrapped_between_words() {
        let snippet = b"the tide gauge, and the gauge reads more than it did";
        let marked = [9..14, 24..29];
        let lines = wrapped(&pieces(snippet, &marked), 20);
        let shown: Vec<String> = lines
            .iter()
            .map(|line| {
                let mark = |(text, marked): &Piece| match marked {
                    true => format!("[{text}]"),
                    false => text.clone(),
                };
                line.iter().map(mark).collect()
            })
            .collect();
        assert_eq!(shown, ["the tide [gauge], and ", "the [gauge] reads more …"]);
        for width in 1..60 {
            for line in wrapped(&pieces(snippet, &marked), width) {
                let line: String = line.into_iter().map(|(text, _)| text).collect();
                assert!(
                    wide(line.trim_end_matches('…').trim_end()) <= width + 1,
                    "{width}: {line}"
                );
            }
        }
    }
}
