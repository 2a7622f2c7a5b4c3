//! What grammars of Sequitur must be.

use std::collections::HashMap;

use proptest::prelude::*;
use tadoc_core::{Grammar, TokenSequence};
use tadoc_engine::build::builder::{CancelFlag, Cancelled, GrammarBuilder};
use tadoc_engine::build::sequitur::Sequitur;

fn sequence(documents: &[Vec<u32>]) -> TokenSequence {
    let tokens = documents.concat();
    let mut document_starts = vec![0];
    for document in documents {
        document_starts.push(document_starts.last().unwrap() + document.len() as u32);
    }
    let token_count = tokens.iter().max().map_or(0, |token| token + 1);
    TokenSequence { token_count, tokens, document_starts }
}

/// Builds the grammar of the documents and checks all that it promises.
fn build(documents: &[Vec<u32>]) -> Grammar {
    let grammar = Sequitur.build(sequence(documents), &CancelFlag::default()).unwrap();
    assert_eq!(grammar.document_count(), documents.len());
    for (number, document) in documents.iter().enumerate() {
        assert!(grammar.expand(grammar.document(number)).eq(document.iter().copied()));
    }
    check_rule_utility(&grammar);
    check_digram_uniqueness(&grammar);
    grammar
}

fn check_rule_utility(grammar: &Grammar) {
    let mut uses = vec![0; grammar.rule_count() as usize];
    for rule in grammar.symbols().iter().filter_map(|&symbol| grammar.rule_of(symbol)) {
        uses[rule as usize] += 1;
    }
    for rule in 0..grammar.rule_count() {
        assert!(uses[rule as usize] >= 2, "rule {rule} is used {} times", uses[rule as usize]);
        assert!(grammar.body(rule).len() >= 2, "rule {rule} is {:?}", grammar.body(rule));
    }
}

fn check_digram_uniqueness(grammar: &Grammar) {
    let documents = (0..grammar.document_count()).map(|number| grammar.document(number));
    let bodies = (0..grammar.rule_count()).map(|rule| grammar.body(rule));
    let mut first_seen = HashMap::new();
    for (run, symbols) in documents.chain(bodies).enumerate() {
        for (position, digram) in symbols.windows(2).enumerate() {
            let first = *first_seen.entry(digram).or_insert((run, position));
            // `a a a` is `a a` twice, overlapping.
            assert!(
                first == (run, position) || first == (run, position.wrapping_sub(1)),
                "{digram:?} stands at {first:?} and {:?}",
                (run, position)
            );
        }
    }
}

fn letters(text: &str) -> Vec<u32> {
    text.bytes().map(|byte| u32::from(byte - b'a')).collect()
}

/// The grammar as a line, with rules as capitals: `aAdA A=bc`.
fn written(grammar: &Grammar) -> String {
    let write = |symbols: &[u32]| -> String {
        let letter = |&symbol: &u32| match grammar.rule_of(symbol) {
            None => char::from(b'a' + symbol as u8),
            Some(rule) => char::from(b'A' + rule as u8),
        };
        symbols.iter().map(letter).collect()
    };
    let mut line = write(grammar.root());
    for rule in 0..grammar.rule_count() {
        line += &format!(" {}={}", char::from(b'A' + rule as u8), write(grammar.body(rule)));
    }
    line
}

#[test]
fn examples_of_the_paper() {
    for (text, grammar) in [
        ("", ""),
        ("a", "a"),
        ("abc", "abc"),
        ("abcdbc", "aAdA A=bc"),
        ("abcdbcabcdbc", "AA A=aBdB B=bc"),
        ("abab", "AA A=ab"),
        ("abababab", "AA A=BB B=ab"),
        ("aaa", "aaa"),
        ("aaaa", "AA A=aa"),
        ("aaaaaaaa", "AA A=BB B=aa"),
        ("aaabaaa", "AbA A=aaa"),
        ("abcabdabcabd", "AA A=BcBd B=ab"),
    ] {
        assert_eq!(written(&build(&[letters(text)])), grammar, "of {text}");
    }
}

#[test]
fn every_short_text_over_few_letters() {
    for (alphabet, longest) in [(2_u32, 13_u32), (3, 9)] {
        for length in 0..=longest {
            for number in 0..alphabet.pow(length) {
                let letter = |place| number / alphabet.pow(place) % alphabet;
                build(&[(0..length).map(letter).collect()]);
            }
        }
    }
}

#[test]
fn documents_without_tokens_and_none_at_all() {
    let none = Sequitur.build(TokenSequence::default(), &CancelFlag::default()).unwrap();
    assert_eq!((none.document_count(), none.rule_count()), (0, 0));
    build(&[]);
    build(&[vec![]]);
    build(&[vec![], vec![0], vec![], vec![], letters("abab"), vec![]]);
}

/// A border that paired with its neighbours, or did not part them, would make rules here.
#[test]
fn borders_are_in_no_rule_and_in_no_document() {
    let documents: Vec<Vec<u32>> = (0..1000).map(|number| vec![number % 2]).collect();
    let grammar = build(&documents);
    assert_eq!(grammar.rule_count(), 0);
    assert_eq!(grammar.symbols(), documents.concat());

    let grammar = build(&vec![letters("ab"); 1000]);
    assert_eq!(grammar.root(), [2; 1000]);
    assert_eq!(grammar.body(0), [0, 1]);
    assert_eq!(grammar.rule_count(), 1);
}

#[test]
fn long_runs_and_fibonacci_words_stay_small() {
    let grammar = build(&[vec![0; 3_000_000]]);
    assert!(grammar.symbols().len() < 200, "{} symbols", grammar.symbols().len());

    let (mut shorter, mut word) = (vec![0], vec![0, 1]);
    while word.len() < 1_000_000 {
        let longer = [word.as_slice(), &shorter].concat();
        shorter = std::mem::replace(&mut word, longer);
    }
    let grammar = build(&[word]);
    assert!(grammar.symbols().len() < 200, "{} symbols", grammar.symbols().len());
}

#[test]
fn a_set_flag_ends_the_work() {
    let cancel = CancelFlag::default();
    cancel.cancel();
    assert_eq!(Sequitur.build(sequence(&[vec![0; 10]]), &cancel), Err(Cancelled));
}

fn documents() -> impl Strategy<Value = Vec<Vec<u32>>> {
    (1_u32..=4).prop_flat_map(|alphabet| {
        let length = prop_oneof![3 => 0_usize..60, 1 => 0_usize..2000];
        let document =
            length.prop_flat_map(move |length| prop::collection::vec(0..alphabet, length));
        prop::collection::vec(document, 0..6)
    })
}

/// Texts put together of a few phrases, which repeat on several levels.
fn phrases() -> impl Strategy<Value = Vec<Vec<u32>>> {
    prop::collection::vec(prop::collection::vec(0_u32..5, 1..12), 1..6).prop_flat_map(|phrases| {
        let phrase = prop::sample::select(phrases);
        let document = prop::collection::vec(phrase, 0..150).prop_map(|parts| parts.concat());
        prop::collection::vec(document, 1..4)
    })
}

proptest! {
    #[test]
    fn few_letters(documents in documents()) {
        build(&documents);
    }

    #[test]
    fn repeated_phrases(documents in phrases()) {
        build(&documents);
    }

    #[test]
    fn equal_texts_give_equal_grammars(documents in phrases()) {
        prop_assert_eq!(build(&documents), build(&documents));
    }
}
