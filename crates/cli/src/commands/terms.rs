//! What turns words into terms, on the command line of all that counts or looks for them.

use std::ffi::OsString;
use std::fs;

use anyhow::{Context, anyhow};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use tadoc::{Analyzer, Language, StopWords};

/// Which words are one term, and which are none.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Terms")]
pub struct AnalyzerArguments {
    /// Take words that differ only in case as one
    #[arg(short, long)]
    ignore_case: bool,

    /// Take words of the same stem as one; LANGUAGE is a name or code, such as english or de
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
    /// Case does not matter. Sequences, phrases and windows skip over what is left out. There are lists for danish,
    /// dutch, english, finnish, french, german, hungarian, italian, norwegian, portuguese, russian,
    /// spanish and swedish.
    #[arg(long, value_name = "LANGUAGE|FILE", value_hint = ValueHint::FilePath)]
    stop_words: Vec<OsString>,
}

impl AnalyzerArguments {
    /// The analyzer that does it.
    pub fn analyzer(&self) -> anyhow::Result<Analyzer> {
        let mut stop_words = StopWords::none();
        for given in &self.stop_words {
            stop_words = stop_words.and(words_of(given)?);
        }
        Ok(Analyzer::new().fold_case(self.ignore_case).stem(self.stem).stop_words(stop_words))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_the_languages_with_stop_words() {
        let command = AnalyzerArguments::augment_args(clap::Command::new("tadoc"));
        let argument = command.get_arguments().find(|argument| argument.get_id() == "stop_words");
        let help = argument.unwrap().get_long_help().unwrap().to_string();
        for language in StopWords::LANGUAGES {
            assert!(help.contains(language.name()), "{language}");
        }
    }
}
