//! Lists of stop words.

use tadoc_engine::analyzer::{Language, StopWords};

#[test]
fn every_list_is_there_and_others_are_errors() {
    for &language in Language::ALL {
        match StopWords::of(language) {
            Ok(words) => {
                assert!(StopWords::LANGUAGES.contains(&language), "{language}");
                assert!(words.len() > 90, "{language} {}", words.len());
            }
            Err(error) => {
                assert!(!StopWords::LANGUAGES.contains(&language), "{language}");
                let message = error.to_string();
                assert!(message.contains(language.name()), "{message}");
                assert!(message.contains("danish, dutch, english"), "{message}");
            }
        }
    }
}

#[test]
fn contractions_stand_for_their_pieces() {
    let words = StopWords::of(Language::English).unwrap();
    for word in ["don't", "DON'T", "don’t", "don", "t", "ll", "the", "The"] {
        assert!(words.contains(word.as_bytes()), "{word}");
    }
    assert!(!words.contains(b"do't") && !words.contains(b"") && !words.contains(b"computer"));
}

#[test]
fn lists_are_folded() {
    let words = StopWords::of(Language::German).unwrap();
    assert!(words.contains("daß".as_bytes()) && words.contains(b"DASS"));
    assert!(words.contains("FÜR".as_bytes()));
}

#[test]
fn lines_of_any_kind() {
    let words = StopWords::from_lines(b"\xEF\xBB\xBFOne\r\n\n  two\t\n\xFFx\nthree");
    assert_eq!(words.len(), 4);
    for word in [&b"one"[..], b"TWO", b"\xFFX", b"three"] {
        assert!(words.contains(word), "{word:?}");
    }
    assert!(StopWords::from_lines(b"\r\n \n").is_empty());
    assert!(!StopWords::none().contains(b"the"));
}

#[test]
fn sets_are_put_together() {
    let one = StopWords::from_lines(b"one");
    let both = one.clone().and(StopWords::from_lines(b"two"));
    assert!(both.contains(b"one") && both.contains(b"two"));
    assert!(!one.contains(b"two"), "a clone has its own words");
    assert_eq!(StopWords::none().and(both).len(), 2);
}
