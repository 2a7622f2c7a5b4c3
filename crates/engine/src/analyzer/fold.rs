//! Unicode case folding of bytes that are mostly UTF-8.
//!
//! Full folding (the mappings C and F of `CaseFolding.txt`), as Python's `str.casefold` has it:
//! `Straße` and `STRASSE` are one, and no language's own rules apply (Turkish `I` becomes `i` like
//! any other). The tables are those of the crate `unicase`: the newest Unicode and no dependencies,
//! where `caseless` is two versions behind, `icu_casemap` brings 27 crates, and the standard
//! library can only lower-case, which is another thing for some three hundred scalars
//! (`tests/analyzer` compares with Python).
//!
//! Linear in the word; one without upper case is only read, and not copied.

use std::borrow::Cow;

use unicase::UniCase;

/// The word, folded. Bytes that are not UTF-8 stay, and what is valid between them is folded.
pub(super) fn fold(word: &[u8]) -> Cow<'_, [u8]> {
    if word.is_ascii() {
        return match word.iter().any(u8::is_ascii_uppercase) {
            true => Cow::Owned(word.to_ascii_lowercase()),
            false => Cow::Borrowed(word),
        };
    }
    let mut folded = Vec::with_capacity(word.len());
    for chunk in word.utf8_chunks() {
        folded.extend_from_slice(UniCase::unicode(chunk.valid()).to_folded_case().as_bytes());
        folded.extend_from_slice(chunk.invalid());
    }
    match folded == word {
        true => Cow::Borrowed(word),
        false => Cow::Owned(folded),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_folded_already_is_not_copied() {
        for word in [&b""[..], b"lower", "straße ".replace('ß', "é").as_bytes(), b"\xFFx"] {
            assert!(matches!(fold(word), Cow::Borrowed(_)), "{word:?}");
        }
    }
}
