//! What all questions have in common on the command line: archives, documents, terms, and the way of the work.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::builder::{PossibleValue, PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use tadoc::{Analyzer, Language, Limits, StopWords};

use crate::rows::FormatArguments;
use crate::units;

/// The arguments that every question has.
#[derive(Debug, Args)]
pub struct Shared {
    /// The archive, or several that are asked as one corpus
    ///
    /// The documents of an archive follow those of the archive before it. Documents of the same name in
    /// two archives stay two documents.
    #[arg(value_name = "CORPUS", required = true, value_hint = ValueHint::FilePath)]
    pub archives: Vec<PathBuf>,

    /// Ask of these documents only: names or globs; may be given several times
    ///
    /// A name is as `tadoc list` prints it. Where no document has that name it is a glob: * stands for any
    /// characters (/ too), ? for one, [a-z] for one of a set. Quote globs, so that the shell leaves them
    /// alone.
    #[arg(long, value_name = "GLOB")]
    pub documents: Vec<OsString>,

    /// Leave out what occurs less than N times in all: terms, sequences or pairs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub min_count: u64,

    #[command(flatten)]
    pub format: FormatArguments,

    #[command(flatten)]
    pub terms: TermArguments,

    #[command(flatten)]
    pub work: WorkArguments,
}

impl Shared {
    /// What is wanted of the answer, and what it may take.
    pub fn limits(&self, top: Option<usize>, strategy: Strategy) -> Limits {
        let strategy = match strategy {
            Strategy::Auto => None,
            Strategy::TopDown => Some(tadoc::Strategy::TopDown),
            Strategy::BottomUp => Some(tadoc::Strategy::BottomUp),
        };
        let memory = self.work.memory.unwrap_or(Limits::default().memory);
        Limits { strategy, least: self.min_count, top, memory }
    }
}

/// What makes terms of words.
#[derive(Debug, Args)]
#[command(next_help_heading = "Terms")]
pub struct TermArguments {
    /// Count words that differ only in case as one
    #[arg(short, long)]
    ignore_case: bool,

    /// Count words of the same stem as one; LANGUAGE is a name or code, such as english or de
    ///
    /// The stemmers are Snowball's. They work on lower case, so that --ignore-case is implied.
    #[arg(
        long,
        value_name = "LANGUAGE",
        value_parser = language_parser(),
        ignore_case = true,
        hide_possible_values = true
    )]
    stem: Option<Language>,

    /// Leave out the stop words of a language, or the words of a file, one a line; may be given several times
    ///
    /// Case does not matter. Sequences and windows skip over what is left out. There are lists for danish,
    /// dutch, english, finnish, french, german, hungarian, italian, norwegian, portuguese, russian,
    /// spanish and swedish.
    #[arg(long, value_name = "LANGUAGE|FILE", value_hint = ValueHint::FilePath)]
    stop_words: Vec<OsString>,

    /// Only terms in which the regular expression matches; ^…$ makes it match the whole term
    #[arg(long = "match", value_name = "REGEX")]
    matching: Option<String>,
}

impl TermArguments {
    /// The analyzer that does it.
    pub fn analyzer(&self) -> anyhow::Result<Analyzer> {
        let mut stop_words = StopWords::none();
        for given in &self.stop_words {
            stop_words = stop_words.and(words_of(given)?);
        }
        let analyzer =
            Analyzer::new().fold_case(self.ignore_case).stem(self.stem).stop_words(stop_words);
        match &self.matching {
            Some(pattern) => Ok(analyzer.matching(pattern)?),
            None => Ok(analyzer),
        }
    }
}

/// The stop words of a language or in a file.
fn words_of(given: &OsString) -> anyhow::Result<StopWords> {
    if let Some(language) = given.to_str().and_then(|given| given.parse::<Language>().ok()) {
        return Ok(StopWords::of(language)?);
    }
    match fs::read(given) {
        Ok(list) => Ok(StopWords::from_lines(&list)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(anyhow!(
            "--stop-words takes a language or a file with one word a line, and {:?} is neither",
            given.display()
        )),
        Err(error) => {
            Err(error).with_context(|| format!("cannot read the stop words in {}", given.display()))
        }
    }
}

/// Languages by name, which completions offer, or by code.
fn language_parser() -> impl TypedValueParser<Value = Language> {
    let values = Language::ALL
        .iter()
        .map(|language| PossibleValue::new(language.name()).alias(language.code()));
    PossibleValuesParser::new(values).try_map(|given| given.parse::<Language>())
}

/// How the work is done.
#[derive(Debug, Args)]
#[command(next_help_heading = "Work")]
pub struct WorkArguments {
    /// Threads to use [default: one a core]
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    pub threads: Option<usize>,

    /// The most memory to use beside the grammar and the answer, such as 512M or 1.5G [default: 4G]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    memory: Option<u64>,

    /// Tell on standard error what was chosen, and what each step cost
    #[arg(long)]
    pub explain: bool,
}

/// `--strategy`, for questions that can be answered in more than one way.
#[derive(Debug, Args)]
#[command(next_help_heading = "Work")]
pub struct StrategyArgument {
    /// Which way to go through the grammar; the answer is the same
    #[arg(long, value_enum, default_value_t = Strategy::Auto)]
    pub strategy: Strategy,
}

/// `--strategy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Strategy {
    /// The one that looks cheaper
    Auto,
    /// Weights go from the documents down to the rules
    TopDown,
    /// Tables go from the rules up to the documents
    BottomUp,
}

/// Reads a number that is not zero.
pub fn at_least_one() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_library_s() {
        use clap::Parser;
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            shared: Shared,
        }
        let line = Line::parse_from(["tadoc", "c.tdc"]);
        let mut limits = line.shared.limits(None, Strategy::Auto);
        assert_eq!(limits, Limits::default());
        // As the help says.
        assert_eq!(limits.memory, 4 << 30);
        assert!(line.shared.terms.analyzer().unwrap().is_identity());
        let line = Line::parse_from(["tadoc", "c.tdc", "--memory", "1M", "--min-count", "2"]);
        limits = line.shared.limits(Some(3), Strategy::BottomUp);
        assert_eq!((limits.memory, limits.least, limits.top), (1 << 20, 2, Some(3)));
        assert_eq!(limits.strategy, Some(tadoc::Strategy::BottomUp));
    }

    #[test]
    fn the_help_names_the_languages_with_stop_words() {
        let command = TermArguments::augment_args(clap::Command::new("tadoc"));
        let argument = command.get_arguments().find(|argument| argument.get_id() == "stop_words");
        let help = argument.unwrap().get_long_help().unwrap().to_string();
        for language in StopWords::LANGUAGES {
            assert!(help.contains(language.name()), "{language}");
        }
    }
}
