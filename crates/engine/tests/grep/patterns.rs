//! What patterns mean, and which are refused.

use tadoc_engine::Error;
use tadoc_engine::grep::{Case, Pattern, Syntax};

#[test]
fn case_depends_on_the_letters_of_all_patterns() {
    let matches = |patterns: &[&str], case, line: &[u8]| {
        Pattern::new(patterns, Syntax { case, ..Syntax::default() }).unwrap().is_match(line)
    };
    assert!(matches(&["a"], Case::Smart, b"A"));
    assert!(!matches(&["a", "B"], Case::Smart, b"A"));
    assert!(!matches(&["[A-B]"], Case::Smart, b"a"));
    assert!(matches(&[r"\Sx"], Case::Smart, b"aX"));
    assert!(matches(&["A"], Case::Insensitive, b"a"));
    assert!(!matches(&["A"], Case::Sensitive, b"a"));
    assert!(matches(&["\u{e9}"], Case::Insensitive, "\u{c9}".as_bytes()));
}

#[test]
fn words_and_lines_are_whole() {
    let words = Syntax { whole_words: true, ..Syntax::default() };
    let found = |text: &str, syntax, line: &str| -> Vec<(usize, usize)> {
        Pattern::new(&[text], syntax)
            .unwrap()
            .find_iter(line.as_bytes(), true)
            .map(|found| (found.start, found.end))
            .collect()
    };
    assert_eq!(found("foo", words, "foo foobar, foo"), [(0, 3), (12, 15)]);
    assert_eq!(found("-foo", words, "x -foo"), [(2, 6)]);
    assert_eq!(found("a|ab", words, "ab"), [(0, 2)]);
    let lines = Syntax { whole_lines: true, whole_words: true, ..Syntax::default() };
    assert_eq!(found("a|ab", lines, "ab"), [(0, 2)]);
    assert!(found("a|ab", lines, "ab ").is_empty());
}

#[test]
fn no_patterns_match_nothing_and_an_empty_one_everything() {
    let none: [&str; 0] = [];
    assert!(!Pattern::new(&none, Syntax::default()).unwrap().is_match(b""));
    assert!(Pattern::new(&[""], Syntax::default()).unwrap().is_match(b""));
}

#[test]
fn what_explodes_is_refused() {
    let error = Pattern::new(&[r"((\w{100}){100}){100}"], Syntax::default()).unwrap_err();
    assert!(error.to_string().contains("would take more than"), "{error}");
    let error = Pattern::new(&["a(b"], Syntax::default()).unwrap_err();
    assert!(matches!(&error, Error::BadPattern { pattern, .. } if pattern == "a(b"), "{error}");
}
