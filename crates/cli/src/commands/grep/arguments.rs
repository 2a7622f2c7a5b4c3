//! The command line of `tadoc grep`: ripgrep's, as far as it is about lines and patterns.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::PathBuf;
use std::{fs, io};

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueEnum, ValueHint};
use tadoc::{Binary, Case, GrepOptions as Options, Pattern, Syntax, Want};

use crate::arguments::examples;
use crate::commands::archives::{DocumentArguments, ReadArguments};

/// Print lines that match a regular expression, as ripgrep does
///
/// The archive is searched as it is: what a repeated passage does to the expression is found out
/// once. Where that would take longer, text is expanded and scanned. Lines are printed as `document:line`, with -n as `document:number:line`; on a terminal
/// under the name of their document, with numbers and colours, and with what would steer the
/// terminal escaped (--null and pipes get all bytes as they are). The syntax of expressions is that
/// of ripgrep (the Rust crate regex), with Unicode; nothing matches across lines.
///
/// A document with a NUL byte is binary: instead of its lines it is told that it matches, unless -a is given. Counts,
/// names and --json are as for text.
///
/// With -q nothing is printed, and the search ends with the first match. Exit codes: 0 found, 1 nothing found, 2 error.
#[derive(Debug, Args)]
#[command(
    override_usage = "tadoc grep [OPTIONS] PATTERN ARCHIVE...\n       tadoc grep [OPTIONS] -e PATTERN... ARCHIVE...",
    after_help = examples!(
        "tadoc grep 'segmentation fault' logs.tdc"
        "tadoc grep -n -i -w error logs.tdc -d '*.log'"
        "tadoc grep --with-archive timeout 2023.tdc 2024.tdc"
        "tadoc grep -c '[A-Z][a-z]+_[0-9]{2,}' corpus.tdc"
        "tadoc grep -C 2 -e TODO -e FIXME source.tdc"
        "tadoc grep --json memory corpus.tdc | jq -r 'select(.type == \"match\").data.lines.text'"
    )
)]
pub struct Grep {
    /// The regular expression, unless -e or -f give one, and the archives
    ///
    /// The documents of an archive follow those of the archive before it.
    #[arg(value_name = "PATTERN|ARCHIVE", required = true, value_hint = ValueHint::FilePath)]
    pattern_and_archives: Vec<OsString>,

    #[command(flatten)]
    pub documents: DocumentArguments,

    #[command(flatten)]
    pub search: SearchArguments,

    #[command(flatten)]
    pub print: PrintArguments,

    #[command(flatten)]
    pub reading: ReadArguments,
}

/// What is looked for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
pub struct SearchArguments {
    /// A pattern to look for; may be given several times
    #[arg(short = 'e', long = "regexp", value_name = "PATTERN", allow_hyphen_values = true)]
    patterns: Vec<OsString>,

    /// Look for the patterns in a file, one a line; - is standard input
    #[arg(short = 'f', long = "file", value_name = "FILE", value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,

    /// Patterns are what is looked for, and no regular expressions
    #[arg(short = 'F', long)]
    fixed_strings: bool,

    /// Letters match those of the other case, too
    #[arg(short, long, overrides_with_all = ["smart_case", "case_sensitive"])]
    ignore_case: bool,

    /// As -i, unless a pattern has an upper case letter
    #[arg(short = 'S', long, overrides_with_all = ["ignore_case", "case_sensitive"])]
    smart_case: bool,

    /// Letters match themselves only; the default
    #[arg(short = 's', long, overrides_with_all = ["ignore_case", "smart_case"])]
    case_sensitive: bool,

    /// Only matches that are whole words: with no word character right before and behind
    #[arg(short, long)]
    word_regexp: bool,

    /// Only matches that are whole lines
    #[arg(short = 'x', long)]
    line_regexp: bool,

    /// Lines that do not match
    #[arg(short = 'v', long)]
    invert_match: bool,

    /// At most so many lines of each document
    #[arg(short, long, value_name = "N")]
    max_count: Option<u64>,

    /// Binary documents are text, too
    #[arg(short = 'a', long)]
    text: bool,

    /// Tell on standard error how text was searched, and what it cost
    ///
    /// Text is searched by an automaton that goes over the grammar, or expanded and scanned. What is
    /// estimated to be quicker is chosen; lines are the same.
    #[arg(long)]
    pub explain: bool,
}

/// What is printed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct PrintArguments {
    /// How many lines each document has that match, if any
    #[arg(short, long)]
    pub count: bool,

    /// How many matches each document has, if any
    #[arg(long, overrides_with = "count")]
    pub count_matches: bool,

    /// The names of documents that match
    #[arg(short = 'l', long)]
    pub files_with_matches: bool,

    /// The names of documents that do not match
    #[arg(long, overrides_with = "files_with_matches")]
    pub files_without_match: bool,

    /// The matches only, each on a line of its own
    #[arg(short, long)]
    pub only_matching: bool,

    /// So many lines behind each match, too
    #[arg(short = 'A', long, value_name = "N")]
    after_context: Option<u64>,

    /// So many lines before each match, too
    #[arg(short = 'B', long, value_name = "N")]
    before_context: Option<u64>,

    /// So many lines before and behind each match, too
    #[arg(short = 'C', long, value_name = "N")]
    context: Option<u64>,

    /// The numbers of lines [default: on a terminal]
    #[arg(short = 'n', long, overrides_with = "no_line_number")]
    line_number: bool,

    /// No numbers of lines
    #[arg(short = 'N', long, overrides_with = "line_number")]
    no_line_number: bool,

    /// The columns of matches, in bytes from 1; numbers of lines, too
    #[arg(long)]
    pub column: bool,

    /// How many bytes of the document are before a line, or with -o before a match
    #[arg(short = 'b', long)]
    pub byte_offset: bool,

    /// The names of documents with each line [default]
    #[arg(short = 'H', long, overrides_with = "no_filename")]
    with_filename: bool,

    /// No names of documents
    #[arg(short = 'I', long, overrides_with = "with_filename")]
    pub no_filename: bool,

    /// The archive before the name of each document: `archive:document`; with --json, in "archive"
    #[arg(long)]
    pub with_archive: bool,

    /// The name of a document above its lines, and not with each [default: on a terminal]
    #[arg(long, overrides_with = "no_heading")]
    heading: bool,

    /// The name of a document with each line
    #[arg(long, overrides_with = "heading")]
    no_heading: bool,

    /// End names of documents with a NUL byte, and print all bytes as they are
    #[arg(short = '0', long)]
    pub null: bool,

    /// Colours
    #[arg(long, value_enum, default_value_t = Colors::Auto, value_name = "WHEN")]
    color: Colors,

    /// As on a terminal: --color always --heading --line-number
    #[arg(short, long)]
    pretty: bool,

    /// One object a line, as ripgrep has them: begin, match, context, end and summary
    #[arg(
        long,
        conflicts_with_all = ["count", "count_matches", "files_with_matches", "files_without_match"]
    )]
    pub json: bool,
}

/// `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Colors {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Grep {
    /// The pattern, and the archives to look into.
    pub fn pattern(&self) -> anyhow::Result<(Pattern, Vec<PathBuf>)> {
        let search = &self.search;
        let mut patterns = Vec::new();
        let mut archives = &self.pattern_and_archives[..];
        if search.patterns.is_empty() && search.files.is_empty() {
            patterns.push(utf8(&archives[0])?);
            archives = &archives[1..];
        }
        if archives.is_empty() {
            bail!("an archive to look into is missing: tadoc grep PATTERN ARCHIVE");
        }
        for pattern in &search.patterns {
            patterns.push(utf8(pattern)?);
        }
        for file in &search.files {
            let read = || format!("cannot read the patterns in {}", file.display());
            let lines = read_patterns(file).with_context(read)?;
            patterns.extend(lines.lines().map(str::to_owned));
        }
        let case = match search {
            SearchArguments { ignore_case: true, .. } => Case::Insensitive,
            SearchArguments { smart_case: true, .. } => Case::Smart,
            _ => Case::Sensitive,
        };
        let syntax = Syntax {
            case,
            fixed: search.fixed_strings,
            whole_words: search.word_regexp,
            whole_lines: search.line_regexp,
        };
        let pattern = Pattern::new(&patterns, syntax)?;
        Ok((pattern, archives.iter().map(PathBuf::from).collect()))
    }

    /// What is asked for besides the pattern. Whether numbers are needed is left to who prints.
    pub fn options(&self, quiet: bool) -> Options {
        let (search, print) = (&self.search, &self.print);
        let want = match print {
            _ if quiet => Want::Any,
            PrintArguments { count_matches: true, .. } => Want::CountMatches,
            PrintArguments { count: true, only_matching: true, .. } => Want::CountMatches,
            PrintArguments { count: true, .. } => Want::Count,
            PrintArguments { files_with_matches: true, .. } => Want::Any,
            PrintArguments { files_without_match: true, .. } => Want::Any,
            _ => Want::Lines,
        };
        Options {
            want,
            invert: search.invert_match,
            before: print.before_context.or(print.context).unwrap_or(0),
            after: print.after_context.or(print.context).unwrap_or(0),
            max_count: search.max_count,
            binary: match (search.text, print.json) {
                (true, _) => Binary::Text,
                (false, true) => Binary::Tell,
                (false, false) => Binary::Withhold,
            },
            ..Options::default()
        }
    }
}

impl PrintArguments {
    /// Whether what would steer a terminal is escaped.
    pub fn escapes(&self, terminal: bool) -> bool {
        terminal && !self.null
    }

    pub fn numbers_lines(&self, terminal: bool) -> bool {
        (self.line_number || self.column || self.pretty || terminal) && !self.no_line_number
    }

    pub fn has_headings(&self, terminal: bool) -> bool {
        (self.heading || self.pretty || terminal) && !self.no_heading
    }

    pub fn colors(&self, terminal: bool) -> bool {
        match self.color {
            Colors::Always => true,
            Colors::Never => false,
            Colors::Auto if self.pretty => true,
            Colors::Auto => {
                let is =
                    |name: &str, value: &str| std::env::var_os(name).is_some_and(|is| is == value);
                let set =
                    |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
                terminal && !set("NO_COLOR") && !is("TERM", "dumb")
            }
        }
    }
}

fn utf8(pattern: &OsStr) -> anyhow::Result<String> {
    let not_utf8 = || {
        anyhow!(
            "the pattern {:?} is not UTF-8; write other bytes as (?-u:\\xff)",
            pattern.to_string_lossy()
        )
    };
    Ok(pattern.to_str().ok_or_else(not_utf8)?.to_owned())
}

fn read_patterns(file: &PathBuf) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    match file.as_os_str() == "-" {
        true => drop(io::stdin().read_to_end(&mut bytes)?),
        false => bytes = fs::read(file)?,
    }
    String::from_utf8(bytes).context("patterns are UTF-8; write other bytes as (?-u:\\xff)")
}
