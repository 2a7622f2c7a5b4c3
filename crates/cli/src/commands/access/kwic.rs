//! `tadoc kwic`: keywords in context, aligned for people and as rows for machines.

use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;

use anstyle::{AnsiColor, Style};
use clap::Args;
use rayon::prelude::*;
use tadoc::{Column, Context, Extent, Hit, Rows, Value};

use super::arguments::AccessArguments;
use super::phrase::PhraseArguments;
use crate::arguments::examples;
use crate::commands::archives::{DocumentArguments, WithArchive};
use crate::commands::terms::AnalyzerArguments;
use crate::failure::Outcome;
use crate::output::Output;
use crate::rows::{Format, FormatArguments, RowWriter};
use crate::screen::{self, Limit, fit, fit_end, fit_name, fit_start, in_line, wide};
use crate::units::usize_of;

/// So many occurrences are read at a time; the first ones say how wide columns are.
const BATCH: u64 = 1000;
/// Fewer, if their contexts are longer than so much together.
const BATCH_BYTES: u64 = 32 << 20;
/// Columns get no wider than such a part of the line: names and keywords.
const WIDEST_NAME: usize = 4;
const WIDEST_KEYWORD: usize = 3;
const GAP: &str = "  ";

const NAME: Style = AnsiColor::Magenta.on_default();
const KEYWORD: Style = AnsiColor::Red.on_default().bold();

/// Show a word or phrase with what stands around it
///
/// Columns: document, offset (in bytes, from 0), left, keyword, right; with --with-archive the archive
/// first. On a terminal keywords are below each other, and line breaks and tabs are shown as spaces.
#[derive(Debug, Args)]
#[command(
    override_usage = "tadoc kwic [OPTIONS] ARCHIVE... 'WORD or PHRASE'\n       \
                      tadoc kwic [OPTIONS] --match REGEX ARCHIVE...",
    after_help = examples!(
        "tadoc kwic corpus.tdc gauge"
        "tadoc kwic corpus.tdc 'not to be' -i --context 60"
        "tadoc kwic 2023.tdc 2024.tdc --match '^heart' --with-archive"
        "tadoc kwic corpus.tdc connection --stem en --words 5 --max-count 20 --format csv"
    )
)]
pub struct Kwic {
    #[command(flatten)]
    phrase: PhraseArguments,

    #[command(flatten)]
    documents: DocumentArguments,

    /// Characters to show on each side
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    context: u64,

    /// Words to show on each side, instead of characters
    ///
    /// Where there are more than some million bytes without that many words, these are shown.
    #[arg(long, value_name = "N", conflicts_with = "context", value_parser = clap::value_parser!(u64).range(..=100_000))]
    words: Option<u64>,

    /// End after N occurrences
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_count: Option<u64>,

    #[command(flatten)]
    with_archive: WithArchive,

    #[command(flatten)]
    format: FormatArguments,

    #[command(flatten)]
    terms: AnalyzerArguments,

    #[command(flatten)]
    reading: AccessArguments,
}

const COLUMNS: &[Column] = &[
    Column::text("document"),
    Column::count("offset"),
    Column::text("left"),
    Column::text("keyword"),
    Column::text("right"),
];

impl Kwic {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let sought = self.phrase.sought("kwic", &self.terms)?;
        self.reading.open(&sought.archives, quiet, |corpus| {
            let Some(query) = sought.query(corpus, &self.documents)? else {
                return Ok(Outcome::Negative);
            };
            let mut hits = sought.told(corpus, query.search(sought.phrase()))?;
            let mut writer = Writer::open(&self.format, &self.with_archive, self.max_count)?;
            let extent = self.words.map_or(Extent::Characters(self.context), Extent::Words);
            let batch = (BATCH_BYTES / extent.bytes()).clamp(1, BATCH);
            let (mut left, mut found) = (self.max_count.unwrap_or(u64::MAX), 0);
            loop {
                let now: Vec<Hit> = hits
                    .by_ref()
                    .take(usize::try_from(batch.min(left)).unwrap_or(usize::MAX))
                    .collect::<tadoc::Result<_>>()?;
                if now.is_empty() {
                    break;
                }
                (found, left) = (found + now.len() as u64, left - now.len() as u64);
                let shown = &now[..writer.take(now.len())];
                let contexts = shown.par_iter().map(|hit| hit.context(extent));
                let contexts = contexts.collect::<tadoc::Result<Vec<Context>>>()?;
                writer.write(shown, &contexts)?;
            }
            writer.finish()?;
            Ok(if found > 0 { Outcome::Done } else { Outcome::Negative })
        })
    }
}

/// Where contexts go.
struct Writer<'w> {
    with_archive: &'w WithArchive,
    columns: &'static [Column],
    to: To,
}

enum To {
    Rows(Box<RowWriter>),
    Lines { output: Box<Output>, layout: Option<Layout>, limit: Limit },
}

impl<'w> Writer<'w> {
    /// A terminal gets the first lines, unless all are asked for or there are at `most` so many.
    fn open(
        format: &FormatArguments,
        with_archive: &'w WithArchive,
        most: Option<u64>,
    ) -> anyhow::Result<Self> {
        let columns = with_archive.columns(COLUMNS);
        let to = match format.format() {
            Format::Table => {
                let output = format.open()?;
                let limit = if most.is_some() { Limit::none() } else { format.limit(&output) };
                To::Lines { output: Box::new(output), layout: None, limit }
            }
            _ => To::Rows(Box::new(RowWriter::open(format, columns)?)),
        };
        Ok(Self { with_archive, columns, to })
    }

    /// How many of so many more contexts are to be written.
    fn take(&mut self, contexts: usize) -> usize {
        match &mut self.to {
            To::Rows(_) => contexts,
            To::Lines { limit, .. } => usize_of(limit.take(contexts as u64)),
        }
    }

    fn write(&mut self, hits: &[Hit], contexts: &[Context]) -> anyhow::Result<()> {
        match &mut self.to {
            To::Rows(writer) => {
                let rows = Contexts { hits, contexts };
                let archive_of = |row: u64| hits[usize_of(row)].document().archive().0;
                let write = |rows: &dyn Rows| writer.write(rows);
                self.with_archive.write(self.columns, &rows, &archive_of, write)
            }
            To::Lines { output, layout, .. } => {
                let name = |hit: &Hit| {
                    let name = screen::name(hit.document().name());
                    match self.with_archive.with_archive {
                        true => format!("{}:{name}", screen::path(hit.document().archive().0)),
                        false => name,
                    }
                };
                let layout = layout.get_or_insert_with(|| {
                    let width = output.terminal_width().unwrap_or(screen::WIDTH);
                    let names = hits.iter().map(|hit| wide(&name(hit))).max();
                    Layout::new(contexts, names.unwrap_or(0), width, screen::is_styled(output))
                });
                for (hit, context) in hits.iter().zip(contexts) {
                    output.write_all(layout.line(&name(hit), context).as_bytes())?;
                }
                Ok(())
            }
        }
    }

    fn finish(self) -> anyhow::Result<()> {
        match self.to {
            To::Rows(writer) => writer.finish(),
            To::Lines { mut output, limit, .. } => {
                output.write_all(limit.last_line("occurrence").as_bytes())?;
                output.finish(anyhow::Ok(()))
            }
        }
    }
}

/// Where things stand on a line of a terminal.
struct Layout {
    width: usize,
    name: usize,
    left: usize,
    keyword: usize,
    styled: bool,
}

impl Layout {
    /// One that suits these contexts, and others as well as can be.
    fn new(contexts: &[Context], names: usize, width: usize, styled: bool) -> Self {
        let widest = |part: fn(&Context) -> &Vec<u8>| {
            contexts.iter().map(|context| wide(&in_line(part(context)))).max().unwrap_or(0)
        };
        let name = names.min(width / WIDEST_NAME);
        let keyword = widest(|context| &context.keyword).min(width / WIDEST_KEYWORD);
        let (lefts, rights) = (widest(|context| &context.left), widest(|context| &context.right));
        let room = width.saturating_sub(name + GAP.len() + keyword);
        // Half of the room, and what the right side does not need.
        let left = lefts.min((room / 2).max(room.saturating_sub(rights)));
        Self { width, name, left, keyword, styled }
    }

    fn line(&self, name: &str, context: &Context) -> String {
        let mut line = String::new();
        let write = |line: &mut String, style: Style, text: &str| match self.styled {
            true => write!(line, "{style}{text}{style:#}").expect("a string takes all"),
            false => line.push_str(text),
        };
        let pad = |line: &mut String, columns: usize| line.extend((0..columns).map(|_| ' '));
        let name = fit_name(name, self.name);
        write(&mut line, NAME, &name);
        pad(&mut line, self.name.saturating_sub(wide(&name)) + GAP.len());
        let left = in_line(&context.left);
        let (left, taken) = fit_end(&left, self.left);
        pad(&mut line, self.left - taken);
        line.push_str(left);
        let keyword = in_line(&context.keyword);
        let keyword = fit(&keyword, self.keyword);
        write(&mut line, KEYWORD, &keyword);
        let right = in_line(&context.right);
        let before = self.name + GAP.len() + self.left + wide(&keyword);
        line.push_str(fit_start(&right, self.width.saturating_sub(before)));
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    }
}

/// Contexts as rows.
struct Contexts<'c> {
    hits: &'c [Hit],
    contexts: &'c [Context],
}

impl Rows for Contexts<'_> {
    fn columns(&self) -> &'static [Column] {
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.contexts.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for row in usize_of(rows.start)..usize_of(rows.end) {
            let (hit, context) = (&self.hits[row], &self.contexts[row]);
            each(&[
                Value::Text(hit.document().name()),
                Value::Count(hit.offset()),
                Value::Text(&context.left),
                Value::Text(&context.keyword),
                Value::Text(&context.right),
            ]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(left: &str, keyword: &str, right: &str) -> Context {
        let [left, keyword, right] = [left, keyword, right].map(|part| part.as_bytes().to_vec());
        Context { left, keyword, right }
    }

    fn lines(contexts: &[(&str, Context)], width: usize, styled: bool) -> Vec<String> {
        let names = contexts.iter().map(|(name, _)| wide(name)).max().unwrap();
        let (shown, contexts): (Vec<&str>, Vec<Context>) = contexts
            .iter()
            .map(|(name, c)| {
                let [left, keyword, right] =
                    [&c.left, &c.keyword, &c.right].map(|part| str::from_utf8(part).unwrap());
                (*name, context(left, keyword, right))
            })
            .unzip();
        let layout = Layout::new(&contexts, names, width, styled);
        shown.iter().zip(&contexts).map(|(name, context)| layout.line(name, context)).collect()
    }

    #[test]
    fn keywords_are_below_each_other() {
        let contexts = [
            ("a.txt", context("to be or\nnot ", "to be", ", that\tis")),
            ("日本.txt", context("日本語 ", "To\n  be", "")),
            ("long/path/to/a/document.txt", context("", "to be", " the end")),
        ];
        let lines = lines(&contexts, 60, false);
        assert_eq!(lines[0], "a.txt            to be or not to be, that is\n");
        assert_eq!(lines[1], "日本.txt               日本語 To be\n");
        assert_eq!(lines[2], "long/pa…ent.txt               to be the end\n");
    }

    #[test]
    fn lines_fit_the_terminal() {
        let long = "word ".repeat(50);
        let contexts = [
            ("name", context(&long, &long, &long)),
            ("n", context(&"日".repeat(90), "key", &"本".repeat(90))),
        ];
        for width in [0, 1, 20, 40, 79, 200] {
            for line in lines(&contexts, width, false) {
                // Narrower than the gap: as narrow as it can be.
                assert!(wide(line.trim_end()) <= width.max(4), "{width}: {line}");
            }
        }
    }

    #[test]
    fn keywords_stand_out_and_nothing_else_reaches_the_terminal() {
        let contexts = [("a", context("\x1b[31mred ", "key\x07", "\u{9b}0m"))];
        let line = &lines(&contexts, 80, true)[0];
        assert!(line.contains("\x1b[1m\x1b[31mkey\\x07\x1b[0m"), "{line:?}");
        assert!(line.contains("\\x1b[31mred ") && line.contains("\\xc2\\x9b0m"), "{line:?}");
        assert!(!lines(&contexts, 80, false)[0].contains('\x1b'));
    }
}
