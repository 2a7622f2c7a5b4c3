//! The languages that words can be stemmed in.
//!
//! The stemmers are Snowball's own, as its compiler writes them in Rust, from the crate `frostem`:
//! it has all of Snowball's languages, no dependencies and no `unsafe`, and its stems are those of
//! Snowball 3.1 word for word (`tests/analyzer`). `rust-stemmers` is Snowball of 2019: in eleven
//! of its eighteen languages it gives other stems than programs with today's Snowball do. A release
//! of `frostem` may change stems, and with them answers, so its version is fixed in the workspace
//! and raised on purpose.

use std::fmt;
use std::str::FromStr;

use frostem::{Algorithm, Stemmer};

use crate::{Error, Result};

macro_rules! languages {
    ($($variant:ident, $name:literal, $code:literal;)*) => {
        /// A language that words can be stemmed in; for some there is a list of stop words too
        /// ([`StopWords::LANGUAGES`](super::StopWords::LANGUAGES)).
        ///
        /// ```
        /// use tadoc_engine::analyzer::Language;
        ///
        /// assert_eq!("english".parse::<Language>()?, Language::English);
        /// assert_eq!("EN".parse::<Language>()?.name(), "english");
        /// # Ok::<(), tadoc_engine::Error>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[allow(missing_docs)]
        pub enum Language {
            $($variant,)*
        }

        impl Language {
            /// All languages, by name ascending.
            pub const ALL: &[Language] = &[$(Self::$variant,)*];

            /// Its English name in lower case.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Its code of two letters (ISO 639-1).
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)*
                }
            }

            pub(super) fn stemmer(self) -> Stemmer {
                Stemmer::new(match self {
                    $(Self::$variant => Algorithm::$variant,)*
                })
            }
        }
    };
}

languages! {
    Arabic, "arabic", "ar";
    Armenian, "armenian", "hy";
    Basque, "basque", "eu";
    Catalan, "catalan", "ca";
    Czech, "czech", "cs";
    Danish, "danish", "da";
    Dutch, "dutch", "nl";
    English, "english", "en";
    Esperanto, "esperanto", "eo";
    Estonian, "estonian", "et";
    Finnish, "finnish", "fi";
    French, "french", "fr";
    German, "german", "de";
    Greek, "greek", "el";
    Hindi, "hindi", "hi";
    Hungarian, "hungarian", "hu";
    Indonesian, "indonesian", "id";
    Irish, "irish", "ga";
    Italian, "italian", "it";
    Lithuanian, "lithuanian", "lt";
    Nepali, "nepali", "ne";
    Norwegian, "norwegian", "no";
    Persian, "persian", "fa";
    Polish, "polish", "pl";
    Portuguese, "portuguese", "pt";
    Romanian, "romanian", "ro";
    Russian, "russian", "ru";
    Serbian, "serbian", "sr";
    Sesotho, "sesotho", "st";
    Spanish, "spanish", "es";
    Swedish, "swedish", "sv";
    Tamil, "tamil", "ta";
    Turkish, "turkish", "tr";
    Yiddish, "yiddish", "yi";
}

impl fmt::Display for Language {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Language {
    type Err = Error;

    /// A language by its name or its code, in any case.
    fn from_str(given: &str) -> Result<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|language| {
                given.eq_ignore_ascii_case(language.name())
                    || given.eq_ignore_ascii_case(language.code())
            })
            .ok_or_else(|| Error::UnknownLanguage { given: given.to_string() })
    }
}

/// The names of languages, for a message that lists them.
pub(crate) fn names(languages: &[Language]) -> String {
    languages.iter().map(|language| language.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes_are_read_back() {
        for &language in Language::ALL {
            assert_eq!(language.name().parse::<Language>().unwrap(), language);
            assert_eq!(language.code().to_uppercase().parse::<Language>().unwrap(), language);
            assert_eq!(language.stemmer().algorithm().name(), language.name());
        }
        assert!(Language::ALL.is_sorted_by_key(|language| language.name()));
    }
}
