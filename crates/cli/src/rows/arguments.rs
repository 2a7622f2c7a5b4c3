//! `--format`, `--header`, `--all`, `--output` and `--force` of the commands that answer with rows.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum, ValueHint};

use crate::encode::Compression;
use crate::output::Output;
use crate::screen::Limit;

/// `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned, for people; long text is cut; the default on a terminal
    Table,
    /// One row a line, columns by tab; in text a backslash, tab, line feed and carriage return are
    /// \\ \t \n \r, and bytes that are not UTF-8 are \xHH; the default elsewhere
    Tsv,
    /// With a header row; bytes that are not UTF-8 are \xHH, and a backslash before such is \x5c
    Csv,
    /// One array of objects; text that is not UTF-8 is in base64, with _base64 behind the column's
    /// name
    Json,
    /// One object a line, as in json
    Jsonl,
    /// Arrow's IPC file, which is also Feather 2; text as in csv
    Arrow,
    /// Arrow's IPC stream; text as in csv
    Arrows,
    /// Parquet, compressed with Zstandard; text as in csv
    Parquet,
    /// Matrix Market: documents by terms, for answers that are such a matrix
    Mtx,
}

/// What the endings of files stand for.
const ENDINGS: [(&str, Format); 10] = [
    ("tsv", Format::Tsv),
    ("csv", Format::Csv),
    ("json", Format::Json),
    ("jsonl", Format::Jsonl),
    ("ndjson", Format::Jsonl),
    ("mtx", Format::Mtx),
    ("arrow", Format::Arrow),
    ("feather", Format::Arrow),
    ("arrows", Format::Arrows),
    ("parquet", Format::Parquet),
];

impl Format {
    /// Whether it is nothing that a terminal could show.
    pub fn is_binary(self) -> bool {
        matches!(self, Self::Arrow | Self::Arrows | Self::Parquet)
    }
}

/// What a file's name says about its content: `rows.csv.gz` is CSV, compressed with gzip.
fn named(path: &Path) -> (Option<Format>, Compression) {
    let ending = |path: &Path| Some(path.extension()?.to_str()?.to_ascii_lowercase());
    let format = |path: &Path| {
        let ending = ending(path)?;
        ENDINGS.iter().find(|(name, _)| *name == ending).map(|(_, format)| *format)
    };
    match ending(path).as_deref().and_then(Compression::of_ending) {
        // Other formats are compressed within, if at all.
        Some(compression) => {
            let inner = path.file_stem().and_then(|stem| format(Path::new(stem)));
            (inner.filter(|format| !format.is_binary()), compression)
        }
        None => (format(path), Compression::None),
    }
}

/// The endings that there are, in words.
fn endings() -> String {
    let list = |binary: bool| {
        let of_kind = ENDINGS.iter().filter(|(_, format)| format.is_binary() == binary);
        of_kind.map(|(ending, _)| format!(".{ending}")).collect::<Vec<_>>().join(" ")
    };
    format!("{} (these also with .gz or .zst), {}", list(false), list(true))
}

/// How an answer is printed, and where.
#[derive(Debug, Clone, Default, Args)]
pub struct FormatArguments {
    /// How to print [default: table on a terminal, tsv elsewhere; for a FILE, what its ending says]
    ///
    /// It wins over the ending of FILE; .gz and .zst compress in any case.
    #[arg(long, value_enum)]
    pub format: Option<Format>,

    /// Begin tsv with a row of column names; other formats have them anyway
    #[arg(long)]
    pub header: bool,

    /// Show all rows on a terminal, not the first 100
    #[arg(long)]
    pub all: bool,

    /// Write to FILE instead of standard output
    ///
    /// Its ending says the format: .tsv, .csv, .json, .jsonl or .ndjson, .mtx, .arrow or .feather,
    /// .arrows, .parquet; the first six also with .gz or .zst behind them.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Replace FILE if it exists
    #[arg(long, requires = "output")]
    pub force: bool,
}

impl FormatArguments {
    /// The format asked for, or the one that suits where the output goes. A file whose name says
    /// none is refused by [`FormatArguments::open`].
    pub fn format(&self) -> Format {
        self.format.unwrap_or_else(|| match &self.output {
            Some(path) => named(path).0.unwrap_or(Format::Tsv),
            None if io::stdout().is_terminal() => Format::Table,
            None => Format::Tsv,
        })
    }

    /// Where the answer goes.
    pub fn open(&self) -> anyhow::Result<Output> {
        let Some(path) = &self.output else { return Ok(Output::new()) };
        let (format, compression) = named(path);
        if self.format.is_none() && format.is_none() && is_to_be_a_file(path) {
            bail!(
                "{}: the ending of this name says no format; give --format, or one of these endings: {}",
                path.display(),
                endings()
            );
        }
        if compression != Compression::None && self.format().is_binary() {
            bail!(
                "{}: this format is never compressed as a whole; leave .gz or .zst out",
                path.display()
            );
        }
        let output = Output::create(path, self.force)?;
        let cannot = || format!("cannot write {}", path.display());
        output.compressing(compression).with_context(cannot)
    }

    /// How many rows are shown there.
    pub fn limit(&self, output: &Output) -> Limit {
        Limit::new(output, self.all)
    }
}

/// Whether a regular file is there, or nothing yet. Devices, pipes and what is refused anyway need
/// no ending.
fn is_to_be_a_file(path: &Path) -> bool {
    fs::metadata(path).map_or(path.as_os_str() != "-", |there| there.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(format: Option<Format>, output: &Path) -> FormatArguments {
        FormatArguments { format, output: Some(output.into()), ..FormatArguments::default() }
    }

    #[test]
    fn a_file_s_ending_says_the_format() {
        let format = |format, output: &str| arguments(format, Path::new(output)).format();
        for (ending, expected) in ENDINGS {
            assert_eq!(format(None, &format!("a.b/a.{ending}")), expected);
            assert_eq!(format(None, &format!("A.{}", ending.to_uppercase())), expected);
        }
        assert_eq!(format(None, "a.csv.gz"), Format::Csv);
        assert_eq!(format(None, "a.jsonl.ZST"), Format::Jsonl);
        assert_eq!(format(Some(Format::Json), "a.csv"), Format::Json);
    }

    #[test]
    fn endings_that_say_nothing_are_refused_with_those_that_do() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.txt", "csv", ".csv", "a.gz", "a.csv.bz2", "a.parquet.gz", "a.arrow.zst"] {
            let path = folder.path().join(name);
            let error = arguments(None, &path).open().err().unwrap().to_string();
            for (ending, _) in ENDINGS {
                assert!(error.contains(&format!(" .{ending}")), "{name}: {error}");
            }
            assert!(error.contains("with .gz or .zst"), "{error}");
            // A format that is given says it as well.
            assert!(arguments(Some(Format::Csv), &path).open().is_ok(), "{name}");
        }
        let wrapped = arguments(Some(Format::Parquet), &folder.path().join("a.gz")).open();
        assert!(wrapped.err().unwrap().to_string().contains("leave .gz or .zst out"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(arguments(None, Path::new("/dev/null")).open().is_ok());
        assert_eq!(arguments(None, Path::new("/dev/null")).format(), Format::Tsv);
    }
}
