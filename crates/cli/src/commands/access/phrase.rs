//! The words that `search`, `count` and `kwic` look for: a phrase, or all words that match.
//!
//! Archives come first and the phrase last, as in `cp`; with --match all arguments are archives. What was probably
//! meant by arguments that fit badly is told: words without quotes around them, and wildcards.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, ValueHint};
use tadoc::{Analyzer, Corpus, Phrase, Query};

use crate::commands::archives::DocumentArguments;
use crate::commands::terms::AnalyzerArguments;

/// The archives, and the words that are looked for in them.
#[derive(Debug, Args)]
pub struct PhraseArguments {
    /// The archives, and last a word, or several words in a row as one argument
    ///
    /// What stands between words in the text does not matter: "to be" is found in "to (be)" too. Quote
    /// several words, so that they are one argument.
    #[arg(value_name = "ARCHIVE|PHRASE", required = true, value_hint = ValueHint::FilePath)]
    given: Vec<OsString>,

    /// All words in which the regular expression matches, instead of a phrase
    ///
    /// It sees the word as --ignore-case and --stem make it; ^…$ makes it match the whole word.
    #[arg(long = "match", value_name = "REGEX", help_heading = "Terms")]
    matching: Option<String>,
}

/// What is looked for, and where.
pub struct Sought<'a> {
    command: &'static str,
    pub archives: Vec<PathBuf>,
    /// The phrase; any word that the analyzer leaves in where there is none.
    phrase: Option<&'a OsStr>,
    pub analyzer: Analyzer,
}

impl PhraseArguments {
    /// Tells archives from the phrase, whose words are terms as `terms` says.
    pub fn sought(
        &self,
        command: &'static str,
        terms: &AnalyzerArguments,
    ) -> anyhow::Result<Sought<'_>> {
        let analyzer = terms.analyzer()?;
        if let Some(pattern) = &self.matching {
            let archives: Vec<PathBuf> = self.given.iter().map(PathBuf::from).collect();
            if let Some(missing) = missing_archive(&archives) {
                bail!(
                    "there is no archive {:?}; with --match no word is given beside it, so that all \
                     arguments are archives",
                    archives[missing].display()
                );
            }
            let analyzer = analyzer.matching(pattern)?;
            return Ok(Sought { command, archives, phrase: None, analyzer });
        }
        let (archives, phrase) = archives_and_last(&self.given, command, "'WORD or PHRASE'")?;
        Ok(Sought { command, archives, phrase: Some(phrase), analyzer })
    }
}

/// Tells archives from what is asked of them, which is the last argument.
pub fn archives_and_last<'a>(
    given: &'a [OsString],
    command: &str,
    wanted: &str,
) -> anyhow::Result<(Vec<PathBuf>, &'a OsStr)> {
    let (last, archives) = given.split_last().expect("clap requires one");
    if archives.is_empty() {
        bail!("an archive and what to look for in it are needed: tadoc {command} ARCHIVE {wanted}");
    }
    let archives: Vec<PathBuf> = archives.iter().map(PathBuf::from).collect();
    if let Some(missing) = missing_archive(&archives) {
        let (there, words) = given.split_at(missing);
        bail!(
            "there is no archive {:?}; words are one argument, so quote them: tadoc {command} {} {}",
            archives[missing].display(),
            there.iter().map(|path| quoted(path)).collect::<Vec<_>>().join(" "),
            quoted(&words.join(OsStr::new(" ")))
        );
    }
    Ok((archives, last))
}

/// The first argument but one that is no file, so that it was hardly meant as an archive.
fn missing_archive(archives: &[PathBuf]) -> Option<usize> {
    (1..archives.len()).find(|&number| !archives[number].exists())
}

/// An argument as a shell takes it.
fn quoted(argument: &OsStr) -> String {
    let text = argument.to_string_lossy();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./,:=+@".contains(&byte);
    match !text.is_empty() && text.bytes().all(is_plain) {
        true => text.into_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

impl Sought<'_> {
    /// The question, about the documents that are asked; `None` if there are none of these, which is told.
    pub fn query(
        &self,
        corpus: &Corpus,
        documents: &DocumentArguments,
    ) -> anyhow::Result<Option<Query>> {
        documents.of(corpus.query().analyzer(self.analyzer.clone()))
    }

    /// What is looked for.
    pub fn phrase(&self) -> Phrase {
        self.phrase.map_or(Phrase::any(), |phrase| Phrase::from(phrase.as_encoded_bytes()))
    }

    /// What came of asking; what is no phrase is told with what may have been meant.
    pub fn told<T>(&self, corpus: &Corpus, asked: tadoc::Result<T>) -> anyhow::Result<T> {
        let Some(phrase) = self.phrase else { return Ok(asked?) };
        match asked {
            Err(tadoc::Error::NotWords { .. } | tadoc::Error::NoWord { .. })
                if has_wildcard(phrase.as_encoded_bytes()) =>
            {
                bail!("{}", self.instead_of_wildcards(corpus, &phrase.to_string_lossy()))
            }
            Err(tadoc::Error::NotWords { .. }) if Path::new(phrase).is_file() => bail!(
                "what to look for is missing: {:?} is a file, and behind the archives comes a word or phrase",
                phrase.display()
            ),
            asked => Ok(asked?),
        }
    }

    fn instead_of_wildcards(&self, corpus: &Corpus, phrase: &str) -> String {
        let archive = corpus.archives().next().map_or(Path::new(""), |(path, _)| path);
        let archive = quoted(archive.as_os_str());
        let pattern = wildcards_as_pattern(phrase);
        let (whole, part) = (quoted(pattern.whole.as_ref()), quoted(pattern.part.as_ref()));
        let command = self.command;
        match phrase.contains(char::is_whitespace) {
            true => format!(
                "wildcards are not supported in phrases; look for lines instead: tadoc grep {part} {archive}"
            ),
            false => format!(
                "wildcards are not supported here; look for words that match: tadoc {command} {archive} \
                 --match {whole}, or for lines: tadoc grep {part} {archive}"
            ),
        }
    }
}

/// Whether a text has `*` or `?` at a word.
pub fn has_wildcard(text: &[u8]) -> bool {
    let is_word =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80);
    (0..text.len()).any(|at| {
        let before = at.checked_sub(1).and_then(|before| text.get(before));
        match text[at] {
            b'*' => is_word(before) || is_word(text.get(at + 1)),
            // Else it ends a question.
            b'?' => is_word(text.get(at + 1)),
            _ => false,
        }
    })
}

/// Regular expressions for what wildcards mean: for a whole word, and for a part of a line.
#[derive(Debug, PartialEq, Eq)]
pub struct Patterns {
    whole: String,
    pub part: String,
}

/// The patterns of a text with wildcards.
pub fn wildcards_as_pattern(text: &str) -> Patterns {
    let mut part = String::new();
    for character in text.chars() {
        match character {
            '*' => part += "\\w*",
            '?' => part += "\\w",
            c if c.is_alphanumeric() || c == '_' || c.is_whitespace() => part.push(c),
            c => part.extend(['\\', c]),
        }
    }
    let start = if part.starts_with("\\w*") { "" } else { "^" };
    let end = if part.ends_with("\\w*") { "" } else { "$" };
    let stem = part.strip_prefix("\\w*").unwrap_or(&part);
    let stem = stem.strip_suffix("\\w*").unwrap_or(stem);
    Patterns { whole: format!("{start}{stem}{end}"), part }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_become_patterns() {
        let patterns = |text: &str| {
            let Patterns { whole, part } = wildcards_as_pattern(text);
            [whole, part]
        };
        assert_eq!(patterns("heart*"), ["^heart", "heart\\w*"]);
        assert_eq!(patterns("*ing"), ["ing$", "\\w*ing"]);
        assert_eq!(patterns("*a*"), ["a", "\\w*a\\w*"]);
        assert_eq!(patterns("wom?n"), ["^wom\\wn$", "wom\\wn"]);
        assert_eq!(patterns("c.d*"), ["^c\\.d", "c\\.d\\w*"]);
    }

    #[test]
    fn wildcards_stand_at_words() {
        for text in ["heart*", "*ing", "wom?n", "a broken heart*", "é*"] {
            assert!(has_wildcard(text.as_bytes()), "{text}");
        }
        for text in ["heart", "what?", "2 * 3", "**", "?", ""] {
            assert!(!has_wildcard(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn arguments_are_quoted_for_a_shell() {
        assert_eq!(quoted(OsStr::new("a/b-c.tdc")), "a/b-c.tdc");
        assert_eq!(quoted(OsStr::new("not to be")), "'not to be'");
        assert_eq!(quoted(OsStr::new("it's")), "'it'\\''s'");
        assert_eq!(quoted(OsStr::new("")), "''");
    }
}
