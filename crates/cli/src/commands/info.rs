//! `tadoc info`: what archives hold and what they cost.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use tadoc::OpenOptions;

use super::archives::{ArchiveArguments, ReadArguments};
use crate::arguments::examples;
use crate::failure::{Outcome, printable};
use crate::{memory, output, units};

/// Show what archives hold and what they cost
///
/// An archive of several segments has a vocabulary and a grammar for each; the totals are sums over them,
/// and the depth is the greatest. Of an archive that was edited, the figures of tokens and grammars are those of
/// what is stored; documents, text and ratio are those of the text with its edits.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc info corpus.tdc"
    "tadoc info corpus.tdc --json | jq .rules"
    "tadoc info *.tdc --json | jq -r '[.archive, .ratio] | @tsv'"
))]
pub struct Info {
    #[command(flatten)]
    archives: ArchiveArguments,

    /// Print one JSON object an archive, one a line
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    reading: ReadArguments,
}

#[derive(Debug, Serialize)]
struct Report {
    archive: String,
    version: u32,
    lexer: String,
    builder: String,
    level: &'static str,
    written_by: String,
    archive_bytes: u64,
    text_bytes: u64,
    /// What was edited since it was compressed.
    edits: Option<Edits>,
    /// Bytes of the file per byte of text.
    ratio: Option<f64>,
    bits_per_byte: Option<f64>,
    documents: u64,
    tokens: u64,
    token_types: u64,
    words: u64,
    rules: u64,
    symbols: u64,
    root_symbols: u64,
    depth: u64,
    /// What loading a dense archive takes.
    dense: Option<Dense>,
    segments: Vec<Segment>,
    sections: Vec<Section>,
}

#[derive(Debug, Serialize)]
struct Dense {
    /// Symbols to decode.
    symbols: u64,
    /// Streams of them that can be decoded side by side, at most.
    streams: u64,
}

#[derive(Debug, Serialize)]
struct Edits {
    edits: u64,
    transactions: u64,
    text_bytes: u64,
    journal_bytes: u64,
    torn_bytes: u64,
}

#[derive(Debug, Serialize)]
struct Segment {
    first_document: u64,
    documents: u64,
    text_bytes: u64,
    tokens: u64,
    token_types: u64,
    words: u64,
    rules: u64,
    symbols: u64,
    root_symbols: u64,
    depth: u64,
}

#[derive(Debug, Serialize)]
struct Section {
    kind: String,
    segment: Option<u32>,
    bytes: u64,
}

impl Info {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let options = memory::limit(OpenOptions::new());
        self.reading.open(&self.archives.archives, options, |corpus| {
            for (number, (path, archive)) in corpus.archives().enumerate() {
                let report = Report::new(path, &archive.info(), archive.edits());
                if self.json {
                    output::print_json(&report)?;
                } else {
                    let gap = if number > 0 { "\n" } else { "" };
                    output::print_text(&format!("{gap}{}", text(&report)))?;
                }
            }
            Ok(Outcome::Done)
        })
    }
}

fn dense(info: &tadoc::Info) -> Option<Dense> {
    let symbols = info.segments.iter().map(|segment| segment.symbols).sum();
    info.dense_streams().map(|streams| Dense { symbols, streams })
}

/// What loading a dense archive takes, for people.
pub fn loading(info: &tadoc::Info) -> Option<String> {
    dense(info).map(|dense| loading_of(&dense))
}

/// Seconds that a symbol takes on one thread of a usual machine: of several streams, and of one.
const SYMBOL_SECONDS: f64 = 0.5e-6;
const SYMBOL_SECONDS_ALONE: f64 = 1.6e-6;

fn loading_of(Dense { symbols, streams }: &Dense) -> String {
    let symbol = if *streams > 1 { SYMBOL_SECONDS } else { SYMBOL_SECONDS_ALONE };
    let on = |threads: u64| {
        let seconds = *symbols as f64 * symbol / threads as f64;
        units::duration(Duration::from_secs_f64(seconds))
    };
    let streams = *streams;
    let side_by_side = if streams > 1 {
        format!("on 1 thread and {} on {streams} or more", on(streams))
    } else {
        "on any number of threads".into()
    };
    format!("about {} {side_by_side}, for {}", on(1), units::counted(*symbols, "symbol"))
}

/// The figures for people.
pub fn for_people(archive: &Path, info: &tadoc::Info) -> String {
    text(&Report::new(archive, info, None))
}

impl Report {
    fn new(archive: &Path, info: &tadoc::Info, edits: Option<tadoc::EditsInfo>) -> Self {
        let sum = |figure: fn(&tadoc::SegmentInfo) -> u64| info.segments.iter().map(figure).sum();
        let archive_bytes =
            info.archive_bytes + edits.map_or(0, |edits| edits.journal_bytes + edits.torn_bytes);
        let ratio = (info.text_bytes > 0).then(|| archive_bytes as f64 / info.text_bytes as f64);
        Self {
            archive: archive.display().to_string(),
            version: info.version,
            lexer: info.lexer.clone(),
            builder: info.builder.clone(),
            level: match info.level {
                tadoc::Level::Fast => "fast",
                tadoc::Level::Dense => "dense",
            },
            written_by: info.written_by.clone(),
            archive_bytes,
            text_bytes: info.text_bytes,
            edits: edits.map(|edits| Edits {
                edits: edits.edits,
                transactions: edits.transactions,
                text_bytes: edits.text_bytes,
                journal_bytes: edits.journal_bytes,
                torn_bytes: edits.torn_bytes,
            }),
            ratio,
            bits_per_byte: ratio.map(|ratio| 8.0 * ratio),
            documents: info.documents,
            tokens: sum(|segment| segment.tokens),
            token_types: sum(|segment| segment.token_types),
            words: sum(|segment| segment.words),
            rules: sum(|segment| segment.rules),
            symbols: sum(|segment| segment.symbols),
            root_symbols: sum(|segment| segment.root_symbols),
            depth: info.segments.iter().map(|segment| segment.depth).max().unwrap_or(0),
            dense: dense(info),
            segments: info
                .segments
                .iter()
                .map(|segment| Segment {
                    first_document: segment.first_document,
                    documents: segment.documents,
                    text_bytes: segment.text_bytes,
                    tokens: segment.tokens,
                    token_types: segment.token_types,
                    words: segment.words,
                    rules: segment.rules,
                    symbols: segment.symbols,
                    root_symbols: segment.root_symbols,
                    depth: segment.depth,
                })
                .collect(),
            sections: info
                .sections
                .iter()
                .map(|section| Section {
                    kind: section.kind.clone(),
                    segment: section.segment,
                    bytes: section.bytes,
                })
                .collect(),
        }
    }
}

fn text(report: &Report) -> String {
    let mut lines = printable(&report.archive);
    let mut line = |title: &str, value: String| {
        write!(lines, "\n  {title:<10} {value}").expect("a string takes all");
    };
    let exact = |bytes| format!("{} ({})", units::size(bytes), units::counted(bytes, "byte"));
    line("archive", exact(report.archive_bytes));
    line("text", exact(report.text_bytes));
    if let (Some(ratio), Some(bits)) = (report.ratio, report.bits_per_byte) {
        let part = units::share(report.archive_bytes, report.text_bytes);
        line("ratio", format!("{part} (1 : {:.2}), {bits:.3} bits a byte", 1.0 / ratio));
    }
    line("documents", units::count(report.documents));
    if let Some(edits) = &report.edits {
        let mut told = format!(
            "{} with {} of text, in a journal of {}",
            units::count(edits.edits),
            units::size(edits.text_bytes),
            exact(edits.journal_bytes)
        );
        if edits.torn_bytes > 0 {
            let torn = units::counted(edits.torn_bytes, "byte");
            let verb = if edits.torn_bytes == 1 { "does" } else { "do" };
            write!(told, "; {torn} behind them {verb} not count").expect("a string takes all");
        }
        line("edits", told);
    }
    line(
        "tokens",
        format!(
            "{} of {}",
            units::count(report.tokens),
            units::counted(report.token_types, "kind")
        ),
    );
    line("words", format!("{} distinct", units::count(report.words)));
    line("rules", format!("{}, {} deep", units::count(report.rules), units::count(report.depth)));
    line(
        "symbols",
        format!(
            "{}, of them {} in the root",
            units::count(report.symbols),
            units::count(report.root_symbols)
        ),
    );
    if let Some(dense) = &report.dense {
        line("loading", loading_of(dense));
    }
    line("segments", units::count(report.segments.len() as u64));
    line(
        "format",
        format!(
            "version {}, level {}, lexer {}, builder {}, written by {}",
            report.version,
            report.level,
            report.lexer,
            report.builder,
            printable(&report.written_by)
        ),
    );
    lines.push_str("\n\n  section         bytes   share\n");
    for (kind, bytes) in bytes_by_kind(&report.sections) {
        let share = units::share(bytes, report.archive_bytes);
        let line = format!(
            "  {:<8} {:>12} {share:>7}  {}",
            printable(&kind),
            units::count(bytes),
            content(&kind)
        );
        lines.push_str(line.trim_end());
        lines.push('\n');
    }
    lines
}

/// What a section of that kind holds, in a few words; docs/format.md has the rest.
fn content(kind: &str) -> &'static str {
    match kind {
        "INFO" => "summary",
        "DOCS" => "documents: names, lengths, times, digests",
        "DICT" => "dictionary",
        "ITEM" => "grammar: items (tokens and rules)",
        "SYMB" | "SYMD" | "SYMX" => "grammar: symbols",
        "CNTW" => "counts of words",
        "ORIG" => "origin: what names are relative to",
        "ROOT" => "grammar: ends of documents",
        _ => "",
    }
}

/// The largest first.
fn bytes_by_kind(sections: &[Section]) -> Vec<(String, u64)> {
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for section in sections {
        *kinds.entry(&section.kind).or_default() += section.bytes;
    }
    let mut kinds: Vec<(String, u64)> =
        kinds.into_iter().map(|(kind, bytes)| (kind.to_owned(), bytes)).collect();
    kinds.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info() -> tadoc::Info {
        let segment = tadoc::SegmentInfo {
            first_document: 0,
            documents: 2,
            text_bytes: 1000,
            tokens: 200,
            token_types: 50,
            words: 40,
            rules: 10,
            symbols: 90,
            root_symbols: 60,
            depth: 3,
        };
        let section =
            |kind: &str, segment, bytes| tadoc::SectionInfo { kind: kind.into(), segment, bytes };
        tadoc::Info {
            version: 1,
            lexer: "words".into(),
            builder: "repair".into(),
            level: tadoc::Level::Fast,
            written_by: "tadoc 0.1.0".into(),
            archive_bytes: 500,
            text_bytes: 2000,
            documents: 3,
            segments: vec![segment, tadoc::SegmentInfo { depth: 5, ..segment }],
            sections: vec![
                section("DOCS", None, 100),
                section("GRAM", Some(0), 90),
                section("GRAM", Some(1), 80),
            ],
        }
    }

    #[test]
    fn totals_are_sums_and_the_greatest_depth() {
        let report = serde_json::to_value(Report::new(Path::new("c.tdc"), &info(), None)).unwrap();
        assert_eq!(report["rules"], 20);
        assert_eq!(report["depth"], 5);
        assert_eq!(report["ratio"], 0.25);
        assert_eq!(report["bits_per_byte"], 2.0);
        assert_eq!(report["segments"][1]["depth"], 5);
        assert_eq!(report["sections"][0]["segment"], serde_json::Value::Null);
    }

    #[test]
    fn loading_is_told_of_dense_archives() {
        let mut info = info();
        assert!(!for_people(Path::new("c.tdc"), &info).contains("loading"));
        info.level = tadoc::Level::Dense;
        for segment in &mut info.segments {
            (segment.symbols, segment.root_symbols) = (10_000_000, 9_000_000);
        }
        let of = |info: &tadoc::Info| for_people(Path::new("c.tdc"), info);
        let alone = "loading    about 32.0 s on any number of threads, for 20,000,000 symbols";
        assert!(of(&info).contains(alone), "{}", of(&info));
        info.sections[1].kind = "SYMX".into();
        let told = "loading    about 10.0 s on 1 thread and 625 ms on 16 or more, for 20,000,000";
        assert!(of(&info).contains(told), "{}", of(&info));
        let report = serde_json::to_value(Report::new(Path::new("c.tdc"), &info, None)).unwrap();
        assert_eq!(report["dense"]["streams"], 16);
        assert_eq!(report["dense"]["symbols"], 20_000_000);
    }

    #[test]
    fn text_for_people() {
        let text = for_people(Path::new("c.tdc"), &info());
        assert!(text.contains("ratio      25.0% (1 : 4.00), 2.000 bits a byte"), "{text}");
        assert!(text.contains("GRAM              170   34.0%"), "{text}");
        let mut empty = info();
        empty.text_bytes = 0;
        assert!(!for_people(Path::new("c.tdc"), &empty).contains("ratio"));
    }
}
