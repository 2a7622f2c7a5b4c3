//! The terms that analyzers make of words.

use std::borrow::Cow;

use proptest::prelude::*;
use tadoc_engine::Error;
use tadoc_engine::analyzer::{Analyzer, LONGEST_STEMMED, Language, StopWords};

fn term(analyzer: &Analyzer, word: &str) -> Option<String> {
    let term = analyzer.term(word.as_bytes())?;
    Some(String::from_utf8(term.into_owned()).unwrap())
}

fn english() -> Analyzer {
    Analyzer::new().stem(Some(Language::English))
}

#[test]
fn a_new_one_keeps_words() {
    let analyzer = Analyzer::new();
    assert!(analyzer.is_identity());
    for word in [&b"The"[..], "Straße".as_bytes(), b"\xFF\xFEA"] {
        assert!(matches!(analyzer.term(word), Some(Cow::Borrowed(same)) if same == word));
    }
    assert_eq!(analyzer.term(b""), None);
}

#[test]
fn each_option_ends_identity() {
    assert!(!Analyzer::new().fold_case(true).is_identity());
    assert!(!english().is_identity());
    assert!(!Analyzer::new().stop_words(StopWords::from_lines(b"x")).is_identity());
    assert!(!Analyzer::new().matching("").unwrap().is_identity());
    let undone = english().fold_case(true).stop_words(StopWords::from_lines(b"x"));
    assert!(undone.fold_case(false).stem(None).stop_words(StopWords::none()).is_identity());
}

#[test]
fn stop_words_are_left_out_in_any_case() {
    let kept = Analyzer::new().stop_words(StopWords::of(Language::English).unwrap());
    for analyzer in [kept.clone(), kept.clone().fold_case(true)] {
        assert_eq!(term(&analyzer, "the"), None);
        assert_eq!(term(&analyzer, "THE"), None);
    }
    assert_eq!(term(&kept, "Fox").as_deref(), Some("Fox"));
    assert_eq!(term(&kept.fold_case(true), "Fox").as_deref(), Some("fox"));
}

#[test]
fn stop_words_are_words_and_not_stems() {
    // The stem of "having" is "have", which is a stop word; that of "does" is "doe", which is none.
    let analyzer = english().stop_words(StopWords::from_lines(b"does\nhave"));
    assert_eq!(term(&analyzer, "Does"), None);
    assert_eq!(term(&analyzer, "having").as_deref(), Some("have"));
}

#[test]
fn stemming_folds() {
    assert_eq!(term(&english(), "CONNECTIONS").as_deref(), Some("connect"));
    assert_eq!(term(&english().fold_case(false), "Fox").as_deref(), Some("fox"));
    let german = Analyzer::new().stem(Some(Language::German));
    assert_eq!(term(&german, "HÄUSER").as_deref(), Some("haus"));
}

#[test]
fn what_cannot_be_stemmed_is_folded() {
    assert_eq!(english().term(b"RUNNING\xFF").as_deref(), Some(&b"running\xFF"[..]));
    let long = format!("{}running", "x".repeat(LONGEST_STEMMED - 7));
    assert_eq!(term(&english(), &long).unwrap(), long.strip_suffix("ning").unwrap());
    let longer = format!("X{long}");
    assert_eq!(term(&english(), &longer).unwrap(), longer.to_lowercase());
}

#[test]
fn a_pattern_sees_the_finished_term() {
    let pattern = |analyzer: Analyzer, pattern| analyzer.matching(pattern).unwrap();
    assert_eq!(term(&pattern(english(), "^connect$"), "Connections").as_deref(), Some("connect"));
    assert_eq!(term(&pattern(english(), "[A-Z]|s$"), "Connections"), None);
    // Anywhere in the term, unless it is anchored.
    assert_eq!(
        term(&pattern(Analyzer::new(), "nn"), "Connections").as_deref(),
        Some("Connections")
    );
    assert_eq!(
        pattern(Analyzer::new(), r"(?-u:\xFF)").term(b"a\xFF").as_deref(),
        Some(&b"a\xFF"[..])
    );
    assert_eq!(pattern(Analyzer::new(), r"^\w$").term("é".as_bytes()).unwrap(), "é".as_bytes());
    assert_eq!(pattern(Analyzer::new(), r"^\w$").term(b"\xFF"), None);
}

#[test]
fn bad_patterns_are_explained() {
    for (pattern, reason) in [("a(b", "unclosed group"), (r"(\w{1000}){1000}", "10485760 bytes")] {
        let error = Analyzer::new().matching(pattern).unwrap_err();
        assert!(matches!(&error, Error::BadPattern { pattern: given, .. } if given == pattern));
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn it_can_be_shared() {
    fn shared<T: Send + Sync + Clone>(_: &T) {}
    shared(&english());
}

#[test]
fn folding_is_full() {
    let folded = |text| term(&Analyzer::new().fold_case(true), text).unwrap();
    assert_eq!(folded("Hello_42"), "hello_42");
    assert_eq!(folded("Straße"), "strasse");
    assert_eq!(folded("ΣΊΣΥΦΟΣ Σίσυφος"), "σίσυφοσ σίσυφοσ");
    assert_eq!(folded("ﬃ İI"), "ffi i\u{307}i");
}

#[test]
fn bytes_that_are_not_utf8_stay() {
    let folding = Analyzer::new().fold_case(true);
    let folded = |word| folding.term(word).unwrap();
    assert_eq!(*folded(b"A\xFF\xC3\x89\xE4\xB8B\xC3"), *b"a\xFF\xC3\xA9\xE4\xB8b\xC3");
    assert_eq!(*folded(b"\xFF"), *b"\xFF");
}

#[test]
fn an_unknown_language_is_told_the_known_ones() {
    let message = "klingon".parse::<Language>().unwrap_err().to_string();
    assert!(message.contains("\"klingon\""), "{message}");
    for language in Language::ALL {
        assert!(message.contains(language.name()), "{message}");
    }
}

proptest! {
    /// Folding twice is folding once, and no stemmer panics, whatever the bytes.
    #[test]
    fn any_bytes(word in prop::collection::vec(any::<u8>(), 0..40), text in "\\PC{0,20}") {
        let folding = Analyzer::new().fold_case(true);
        for word in [&word[..], text.as_bytes()] {
            let Some(folded) = folding.term(word) else {
                prop_assert!(word.is_empty());
                continue;
            };
            prop_assert_eq!(folding.term(&folded), Some(folded.clone()));
            for &language in Language::ALL {
                let stemming = Analyzer::new().stem(Some(language));
                prop_assert_eq!(stemming.term(word), stemming.term(&folded));
            }
        }
    }
}
