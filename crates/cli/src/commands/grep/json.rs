//! `--json`: one object a line, as ripgrep has them.
//!
//! Text is `{"text":…}`, or `{"bytes":…}` in base64 where it is not UTF-8. Times are those between the ends of
//! documents: several are searched at a time, so that there is no time of one alone.

use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use base64::prelude::{BASE64_STANDARD, Engine};
use serde::Serialize;
use serde_json::json;
use tadoc::{Document, GrepOptions as Options, GrepSink, Line, Pattern, Summary};

use super::arguments::PrintArguments;
use super::path_of;
use crate::output::Output;

pub struct Json<'j> {
    output: &'j mut Output,
    pattern: &'j Pattern,
    inverted: bool,
    with_archive: bool,
    start: Instant,
    document_start: Instant,
    /// What this document and all of them come to.
    own: Stats,
    all: Stats,
}

#[derive(Serialize)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
enum Message<'m> {
    Begin(Begin<'m>),
    Match(LineData<'m>),
    Context(LineData<'m>),
    End(End<'m>),
}

#[derive(Serialize)]
struct Begin<'m> {
    #[serde(skip_serializing_if = "Option::is_none")]
    archive: Option<Text<'m>>,
    path: Text<'m>,
}

#[derive(Serialize)]
struct End<'m> {
    #[serde(skip_serializing_if = "Option::is_none")]
    archive: Option<Text<'m>>,
    path: Text<'m>,
    binary_offset: Option<u64>,
    stats: Stats,
}

#[derive(Serialize)]
struct LineData<'m> {
    #[serde(skip_serializing_if = "Option::is_none")]
    archive: Option<Text<'m>>,
    path: Text<'m>,
    lines: Text<'m>,
    line_number: u64,
    absolute_offset: u64,
    submatches: Vec<Submatch<'m>>,
}

#[derive(Serialize)]
struct Submatch<'m> {
    r#match: Text<'m>,
    start: usize,
    end: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Text<'m> {
    Text(&'m str),
    Bytes(String),
}

impl<'m> Text<'m> {
    fn new(bytes: &'m [u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text),
            Err(_) => Self::Bytes(BASE64_STANDARD.encode(bytes)),
        }
    }
}

#[derive(Clone, Default, Serialize)]
struct Stats {
    elapsed: Elapsed,
    searches: u64,
    searches_with_match: u64,
    bytes_searched: u64,
    bytes_printed: u64,
    matched_lines: u64,
    matches: u64,
}

#[derive(Clone, Default, Serialize)]
struct Elapsed {
    secs: u64,
    nanos: u32,
    human: String,
}

impl From<Duration> for Elapsed {
    fn from(elapsed: Duration) -> Self {
        let human = format!("{:.6}s", elapsed.as_secs_f64());
        Self { secs: elapsed.as_secs(), nanos: elapsed.subsec_nanos(), human }
    }
}

impl<'j> Json<'j> {
    pub fn new(
        output: &'j mut Output,
        pattern: &'j Pattern,
        options: &Options,
        print: &PrintArguments,
    ) -> Self {
        let start = Instant::now();
        Self {
            output,
            pattern,
            inverted: options.invert,
            with_archive: print.with_archive,
            start,
            document_start: start,
            own: Stats::default(),
            all: Stats::default(),
        }
    }

    /// The archive of a document, if it is told.
    fn archive<'d>(&self, document: &'d Document) -> Option<Text<'d>> {
        self.with_archive.then(|| Text::new(path_of(document)))
    }

    fn write(&mut self, message: &Message<'_>) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.own.bytes_printed += line.len() as u64;
        self.output.json_lines(&line)
    }

    /// Writes the summary of so many documents; tells whether anything was found.
    pub fn finish(&mut self, documents: u64) -> io::Result<bool> {
        self.all.searches = documents;
        let elapsed = Elapsed::from(self.start.elapsed());
        let data = json!({ "elapsed_total": elapsed, "stats": self.all });
        let mut line = serde_json::to_vec(&json!({ "data": data, "type": "summary" }))?;
        line.push(b'\n');
        self.output.json_lines(&line)?;
        Ok(self.all.searches_with_match > 0)
    }
}

impl GrepSink for Json<'_> {
    fn line(&mut self, document: &Document, line: &Line<'_>) -> io::Result<()> {
        let name = document.name();
        if self.own.bytes_printed == 0 {
            let (archive, path) = (self.archive(document), Text::new(name));
            self.write(&Message::Begin(Begin { archive, path }))?;
        }
        let mut text = line.text.to_vec();
        if line.newline {
            text.push(b'\n');
        }
        let mut submatches = Vec::new();
        if line.asked && !self.inverted {
            submatches.extend(self.pattern.find_iter(line.text, line.newline).map(|found| {
                Submatch {
                    r#match: Text::new(&line.text[found.clone()]),
                    start: found.start,
                    end: found.end,
                }
            }));
        }
        self.own.matches += submatches.len() as u64;
        self.own.matched_lines += u64::from(line.asked);
        let data = LineData {
            archive: self.archive(document),
            path: Text::new(name),
            lines: Text::new(&text),
            line_number: line.number,
            absolute_offset: line.offset,
            submatches,
        };
        self.write(&if line.asked { Message::Match(data) } else { Message::Context(data) })
    }

    fn end(&mut self, document: &Document, summary: &Summary) -> io::Result<ControlFlow<()>> {
        let mut own = std::mem::take(&mut self.own);
        let now = Instant::now();
        let elapsed = now - std::mem::replace(&mut self.document_start, now);
        own.elapsed = elapsed.into();
        own.searches = 1;
        own.searches_with_match = u64::from(summary.lines > 0);
        own.bytes_searched = document.bytes();
        let all = &mut self.all;
        all.elapsed = (self.start.elapsed()).into();
        all.searches_with_match += own.searches_with_match;
        all.bytes_searched += own.bytes_searched;
        all.bytes_printed += own.bytes_printed;
        all.matched_lines += own.matched_lines;
        all.matches += own.matches;
        if own.bytes_printed > 0 {
            let (archive, path) = (self.archive(document), Text::new(document.name()));
            let binary_offset = summary.binary;
            self.write(&Message::End(End { archive, path, binary_offset, stats: own }))?;
            self.own = Stats::default();
        }
        Ok(ControlFlow::Continue(()))
    }
}
