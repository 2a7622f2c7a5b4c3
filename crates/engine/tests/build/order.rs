//! Rules in the order of grammars.

use tadoc_engine::build::order::into_grammar;

#[test]
fn parents_come_before_children() {
    // Tokens 0 and 1; rule 0 = `0 1`, rule 1 = rule 0 twice; the root uses both.
    let grammar = into_grammar(2, &[3, 2, 3], &[0, 1, 3], &[0, 1, 2, 2], &[0, 2, 4]);
    assert_eq!(grammar.root(), [2, 3, 2]);
    assert_eq!(grammar.body(0), [3, 3]);
    assert_eq!(grammar.body(1), [0, 1]);
    assert_eq!(grammar.document_starts(), [0, 1, 3]);
}

#[test]
fn rules_that_the_root_does_not_reach_are_dropped() {
    // Rule 0 is used by rule 2 alone, which nothing uses; rule 1 by rule 2 and by the root; rule 3
    // is a number without a body.
    let bodies = [0, 0, 0, 0, 0, 1, 2];
    let grammar = into_grammar(1, &[2, 0, 2], &[0, 3], &bodies, &[0, 2, 5, 7, 7]);
    assert_eq!(grammar.rule_count(), 1);
    assert_eq!(grammar.root(), [1, 0, 1]);
    assert_eq!(grammar.body(0), [0, 0, 0]);
}

#[test]
fn nothing_at_all_is_a_grammar() {
    let grammar = into_grammar(0, &[], &[0], &[], &[0]);
    assert_eq!((grammar.rule_count(), grammar.document_count()), (0, 0));
}

#[test]
#[should_panic(expected = "contains itself")]
fn cycles_are_refused() {
    into_grammar(1, &[1, 2], &[0, 2], &[2, 0, 1, 0], &[0, 2, 4]);
}
