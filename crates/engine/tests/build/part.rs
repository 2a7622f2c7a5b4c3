//! Parts of grammars.

use proptest::prelude::*;
use tadoc_core::Grammar;
use tadoc_engine::build::part::{part_of, with_used_tokens};

use super::again::any_grammar;

/// Tokens 0 to 3, of which 1 is not used; `0 2 | 3 0 2 0 2 |` in two documents, and an empty one.
fn sample() -> Grammar {
    Grammar::new(4, vec![5, 3, 4, 5, 5, 0, 2], vec![3, 5, 7], vec![0, 1, 3, 3]).unwrap()
}

#[test]
fn unused_tokens_are_dropped_and_the_rest_keeps_its_order() {
    let (grammar, kept) = with_used_tokens(&sample());
    assert_eq!((grammar.token_count(), &kept[..]), (3, &[0, 2, 3][..]));
    assert!(grammar.expand(grammar.root()).eq([0, 1, 2, 0, 1, 0, 1]));
    assert_eq!(with_used_tokens(&grammar), (grammar, vec![0, 1, 2]));
}

#[test]
fn a_part_has_the_documents_that_it_is_asked_for() {
    let grammar = sample();
    let part = part_of(&grammar, 0..1, 0..1);
    assert_eq!((part.document_starts(), part.rule_count()), (&[0, 1][..], 1));
    // The second half of the second document, and the empty one; or without it.
    assert_eq!(part_of(&grammar, 2..3, 1..3).document_starts(), [0, 1, 1]);
    assert_eq!(part_of(&grammar, 2..3, 1..2).document_starts(), [0, 1]);
    assert_eq!(part_of(&grammar, 3..3, 2..3).document_starts(), [0, 0]);
    assert_eq!(part_of(&grammar, 0..0, 0..0).document_count(), 0);
}

#[test]
#[should_panic(expected = "not inside of the documents")]
fn a_part_outside_of_its_documents_is_refused() {
    part_of(&sample(), 0..2, 0..1);
}

proptest! {
    #[test]
    fn parts_are_the_whole_together(grammar in any_grammar(), at in any::<prop::sample::Index>()) {
        let length = grammar.root().len();
        let place = at.index(length + 1);
        let document =
            grammar.document_starts().partition_point(|&start| (start as usize) < place);
        let first = part_of(&grammar, 0..place, 0..document.min(grammar.document_count()));
        let cut = document > 0 && grammar.document_starts()[document.min(grammar.document_count())] as usize > place;
        let from = if cut { document - 1 } else { document.min(grammar.document_count()) };
        let second = part_of(&grammar, place..length, from..grammar.document_count());
        let tokens = |grammar: &Grammar| -> Vec<u32> { grammar.expand(grammar.root()).collect() };
        prop_assert_eq!([tokens(&first), tokens(&second)].concat(), tokens(&grammar));
        prop_assert_eq!(
            first.document_count() + second.document_count(),
            grammar.document_count() + usize::from(cut)
        );
        let (used, kept) = with_used_tokens(&second);
        let mapped: Vec<u32> = tokens(&used).iter().map(|&token| kept[token as usize]).collect();
        prop_assert_eq!(mapped, tokens(&second));
    }
}
