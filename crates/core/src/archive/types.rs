//! What an archive says about itself and its documents.

use std::fmt;

use super::grammar::streams_side_by_side;

/// How an archive is encoded: two levels of one format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Level {
    /// Decodes at the speed that a query deserves.
    #[default]
    Fast,
    /// Smaller, and slower to decode: for keeping.
    Dense,
}

impl Level {
    /// What encoding the symbols of a grammar takes beside building it, which is a million: the stages of a
    /// [`CancelFlag`](crate::CancelFlag) that encoding adds up to.
    pub const fn encoding_work(self) -> u64 {
        match self {
            Self::Fast => 160_000,
            Self::Dense => 4_000_000,
        }
    }

    /// The same for decoding them.
    pub const fn decoding_work(self) -> u64 {
        match self {
            Self::Fast => 0,
            Self::Dense => 4_000_000,
        }
    }
}

impl Info {
    /// At the level `dense`, how many streams of symbols can be decoded side by side, at the most.
    pub fn dense_streams(&self) -> Option<u64> {
        let kind = |kind: &str| self.sections.iter().any(|section| section.kind == kind);
        let segments = self.segments.iter().map(|segment| {
            let rules = segment.symbols.saturating_sub(segment.root_symbols);
            streams_side_by_side(segment.root_symbols, rules)
        });
        match self.level {
            Level::Fast => None,
            Level::Dense if kind("SYMX") => Some(segments.max().unwrap_or(0).max(1)),
            Level::Dense => Some(1),
        }
    }
}

/// A moment, in seconds and nanoseconds since 1970 (UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp {
    /// Whole seconds, negative before 1970.
    pub seconds: i64,
    /// Nanoseconds on top, below a thousand million.
    pub nanoseconds: u32,
}

impl fmt::Display for Timestamp {
    /// As RFC 3339 has it, in UTC: `2024-05-01T12:24:05Z`, with nine digits of the second where it is not whole.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.seconds.div_euclid(86_400);
        let second = self.seconds.rem_euclid(86_400);
        let (year, month, day) = date(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(formatter, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        match self.nanoseconds {
            0 => formatter.write_str("Z"),
            nanoseconds => write!(formatter, ".{nanoseconds:09}Z"),
        }
    }
}

/// Year, month and day of a day counted from 1970-01-01, in the Gregorian calendar. Years are counted
/// from March, so that the leap day is the last of its year.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468; // from 0000-03-01
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

/// One document of the corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its name: any bytes, `/` between folders.
    pub name: Vec<u8>,
    /// Its length in bytes.
    pub bytes: u64,
    /// When the file was last modified.
    pub modified: Option<Timestamp>,
    /// The file's permission bits.
    pub mode: Option<u32>,
}

/// One section of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionInfo {
    /// What it is: four letters, as in docs/format.md.
    pub kind: String,
    /// The segment that it belongs to, if to one.
    pub segment: Option<u32>,
    /// Its length in bytes.
    pub bytes: u64,
}

/// One segment, in figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SegmentInfo {
    /// First document that it holds a piece of.
    pub first_document: u64,
    /// How many documents it holds pieces of.
    pub documents: u64,
    /// Bytes of text.
    pub text_bytes: u64,
    /// Tokens of text.
    pub tokens: u64,
    /// Distinct tokens.
    pub token_types: u64,
    /// Distinct words.
    pub words: u64,
    /// Rules.
    pub rules: u64,
    /// Symbols in the root and all rules.
    pub symbols: u64,
    /// Symbols in the root.
    pub root_symbols: u64,
    /// Longest chain of rules below each other.
    pub depth: u64,
}

/// What an archive holds and what it costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// Version of the format.
    pub version: u32,
    /// `words` or `whitespace`.
    pub lexer: String,
    /// `repair` or `sequitur`.
    pub builder: String,
    /// How it is encoded.
    pub level: Level,
    /// The program that wrote it, such as `tadoc 0.1.0`.
    pub written_by: String,
    /// Bytes of the file.
    pub archive_bytes: u64,
    /// Bytes of text.
    pub text_bytes: u64,
    /// Number of documents.
    pub documents: u64,
    /// The segments.
    pub segments: Vec<SegmentInfo>,
    /// The sections, in the order of the file.
    pub sections: Vec<SectionInfo>,
}
