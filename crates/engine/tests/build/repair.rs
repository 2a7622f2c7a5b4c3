//! What every grammar of this builder must be, on texts made to break it.

use proptest::prelude::*;
use tadoc_core::{Grammar, TokenSequence};
use tadoc_engine::build::builder::{CancelFlag, Cancelled, GrammarBuilder};
use tadoc_engine::build::repair::{RePair, WORTH_CUTTING};

fn sequence(token_count: u32, documents: &[Vec<u32>]) -> TokenSequence {
    let mut sequence =
        TokenSequence { token_count, document_starts: vec![0], ..Default::default() };
    for document in documents {
        sequence.tokens.extend_from_slice(document);
        sequence.document_starts.push(sequence.tokens.len() as u32);
    }
    sequence
}

/// Builds, and checks that it expands to the documents and that every rule pays.
/// Every rule has two symbols at least, and is used twice.
pub fn rules_pay(grammar: &Grammar) {
    let mut uses = vec![0; grammar.rule_count() as usize];
    for rule in grammar.symbols().iter().filter_map(|&symbol| grammar.rule_of(symbol)) {
        uses[rule as usize] += 1;
    }
    for rule in 0..grammar.rule_count() {
        assert!(
            grammar.body(rule).len() >= 2 && uses[rule as usize] >= 2,
            "rule {rule} does not pay"
        );
    }
}

fn build(token_count: u32, documents: &[Vec<u32>], line_ends: Vec<bool>) -> Grammar {
    let grammar = RePair::new(line_ends)
        .build(sequence(token_count, documents), &CancelFlag::default())
        .unwrap();
    assert_eq!(grammar.document_count(), documents.len());
    for (number, document) in documents.iter().enumerate() {
        let expanded: Vec<u32> = grammar.expand(grammar.document(number)).collect();
        assert_eq!(&expanded, document, "document {number}");
    }
    rules_pay(&grammar);
    grammar
}

#[test]
fn one_passage_three_times_is_one_rule() {
    let passage = [0, 1, 2, 3, 4];
    let text: Vec<u32> = [&passage[..], &[5], &passage, &[6], &passage].concat();
    let grammar = build(7, &[text], vec![]);
    assert_eq!((grammar.rule_count(), grammar.root().len()), (1, 5));
    assert_eq!(grammar.body(0), passage);
}

#[test]
fn runs_fold_to_a_logarithm() {
    for length in [1, 2, 3, 4, 5, 7, 8, 1000, 65_535, 65_536, 65_537] {
        let grammar = build(1, &[vec![0; length]], vec![]);
        assert!(grammar.symbols().len() <= 80, "{length}: {}", grammar.symbols().len());
    }
}

#[test]
fn documents_never_share_a_rule_across_their_border() {
    // `0 1` occurs twice, but once across a border.
    let grammar = build(3, &[vec![2, 0], vec![1, 0, 1]], vec![]);
    assert_eq!(grammar.rule_count(), 0);
}

#[test]
fn empty_corpora_and_documents() {
    assert_eq!(build(0, &[], vec![]).document_count(), 0);
    assert_eq!(build(0, &[vec![]], vec![]).root().len(), 0);
    build(1, &[vec![], vec![0], vec![], vec![]], vec![true]);
}

#[test]
fn work_ends_when_it_is_cancelled() {
    let cancel = CancelFlag::default();
    cancel.cancel();
    let result = RePair::default().build(sequence(1, &[vec![0; 100]]), &cancel);
    assert_eq!(result.unwrap_err(), Cancelled);
}

#[test]
fn long_texts_are_paired_in_chunks() {
    // Longer than one chunk is worth, with repetitions on both sides and across the middle.
    let mut state = 1_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let phrases: Vec<Vec<u32>> = (0..300)
        .map(|_| (0..3 + random() % 9).map(|_| (random() % 500) as u32).collect())
        .collect();
    let text: Vec<u32> =
        (0..120_000).flat_map(|_| phrases[(random() % 300) as usize].clone()).collect();
    assert!(text.len() > WORTH_CUTTING);
    let documents: Vec<Vec<u32>> = text.chunks(100_003).map(<[u32]>::to_vec).collect();
    let whole = build(500, &documents, vec![]);
    let mut line_ends = vec![false; 500];
    line_ends[..20].fill(true);
    let by_lines = build(500, &documents, line_ends);
    assert!(by_lines.symbols().len() < whole.symbols().len() * 11 / 10);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_text_comes_back(
        (alphabet, documents, line_ends) in (1_u32..5).prop_flat_map(|alphabet| (
            Just(alphabet),
            proptest::collection::vec(proptest::collection::vec(0..alphabet, 0..400), 0..5),
            proptest::collection::vec(any::<bool>(), alphabet as usize),
        ))
    ) {
        build(alphabet, &documents, vec![]);
        build(alphabet, &documents, line_ends);
    }
}
