//! `--format`, `--output` and `--force` of the commands that answer with rows.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};

use crate::output::Output;

/// `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned, for people; long text is cut; the default on a terminal
    Table,
    /// One row a line, columns by tab, no header; in text a backslash, tab, line feed and carriage return are
    /// \\ \t \n \r, and bytes that are not UTF-8 are \xHH; the default elsewhere
    Tsv,
    /// With a header row; bytes that are not UTF-8 are \xHH, and a backslash before such is \x5c
    Csv,
    /// One object a line; text that is not UTF-8 is in base64, with _base64 behind the column's name
    Json,
    /// Arrow's IPC stream; text as in csv
    Arrow,
    /// Parquet, compressed with Zstandard; text as in csv
    Parquet,
    /// Matrix Market: documents by terms, for answers that are such a matrix
    Mtx,
}

impl Format {
    /// Whether it is nothing that a terminal could show.
    pub fn is_binary(self) -> bool {
        matches!(self, Self::Arrow | Self::Parquet)
    }

    /// What a file with this ending is expected to be.
    fn of_file(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "tsv" => Self::Tsv,
            "csv" => Self::Csv,
            "json" | "jsonl" | "ndjson" => Self::Json,
            "arrow" | "arrows" => Self::Arrow,
            "parquet" => Self::Parquet,
            "mtx" => Self::Mtx,
            _ => return None,
        })
    }
}

/// How an answer is printed, and where.
#[derive(Debug, Clone, Default, Args)]
pub struct FormatArguments {
    /// How to print [default: table on a terminal, tsv elsewhere; for a FILE, what its ending says]
    #[arg(long, value_enum)]
    pub format: Option<Format>,

    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Replace FILE if it exists
    #[arg(long, requires = "output")]
    pub force: bool,
}

impl FormatArguments {
    /// The format asked for, or the one that suits where the output goes.
    pub fn format(&self) -> Format {
        self.format.unwrap_or_else(|| match &self.output {
            Some(path) => Format::of_file(path).unwrap_or(Format::Tsv),
            None if io::stdout().is_terminal() => Format::Table,
            None => Format::Tsv,
        })
    }

    /// Where the answer goes.
    pub fn open(&self) -> anyhow::Result<Output> {
        match &self.output {
            Some(path) => Output::create(path, self.force),
            None => Ok(Output::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_s_ending_says_the_format() {
        let format = |format, output: &str| {
            FormatArguments { format, output: Some(output.into()), force: false }.format()
        };
        assert_eq!(format(None, "a.parquet"), Format::Parquet);
        assert_eq!(format(None, "a.b/A.CSV"), Format::Csv);
        assert_eq!(format(None, "a.jsonl"), Format::Json);
        assert_eq!(format(None, "a.txt"), Format::Tsv);
        assert_eq!(format(None, "csv"), Format::Tsv);
        assert_eq!(format(Some(Format::Json), "a.csv"), Format::Json);
    }
}
