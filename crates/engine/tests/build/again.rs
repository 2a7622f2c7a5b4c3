//! What a grammar must be after it was built again, whatever it was before.

use proptest::prelude::*;
use tadoc_core::{Grammar, TokenSequence};
use tadoc_engine::build::again::build_again;
use tadoc_engine::build::builder::{CancelFlag, Cancelled, GrammarBuilder};
use tadoc_engine::build::interner::Interner;
use tadoc_engine::build::order::into_grammar;
use tadoc_engine::build::repair::RePair;
use tadoc_engine::build::sequitur::Sequitur;
use tadoc_engine::{Builder, Lexer};
use tadoc_oracle::cases;

use super::repair::rules_pay;

const BUILDERS: [Builder; 2] = [Builder::RePair, Builder::Sequitur];

/// Builds again with each builder, and checks that the text is the same and that every rule pays; gives the
/// grammar of Re-Pair.
fn again(grammar: &Grammar, line_ends: &[bool]) -> Grammar {
    let [by_pairs, _] = BUILDERS.map(|builder| {
        let built = build_again(grammar, line_ends, builder, &CancelFlag::default()).unwrap();
        assert_eq!(built.token_count(), grammar.token_count());
        assert_eq!(built.document_count(), grammar.document_count());
        for number in 0..grammar.document_count() {
            let before = grammar.expand(grammar.document(number));
            assert!(before.eq(built.expand(built.document(number))), "document {number}");
        }
        rules_pay(&built);
        built
    });
    by_pairs
}

fn sequence(token_count: u32, documents: &[Vec<u32>]) -> TokenSequence {
    let mut sequence =
        TokenSequence { token_count, document_starts: vec![0], ..Default::default() };
    for document in documents {
        sequence.tokens.extend_from_slice(document);
        sequence.document_starts.push(sequence.tokens.len() as u32);
    }
    sequence
}

/// The same rules below another root.
fn with_root(grammar: &Grammar, documents: &[Vec<u32>]) -> Grammar {
    let sequence = sequence(0, documents);
    let first_body = grammar.rule_starts()[0];
    let root_length = sequence.tokens.len() as u32;
    let mut symbols = sequence.tokens;
    symbols.extend_from_slice(&grammar.symbols()[first_body as usize..]);
    let starts = grammar.rule_starts().iter().map(|start| start - first_body + root_length);
    Grammar::new(
        grammar.token_count(),
        symbols,
        starts.collect::<Vec<_>>(),
        sequence.document_starts,
    )
    .unwrap()
}

/// The documents of a grammar, and behind them the same as plain tokens.
fn and_as_plain_tokens(grammar: &Grammar) -> Grammar {
    let documents = || (0..grammar.document_count()).map(|number| grammar.document(number));
    let plain = documents().map(|document| grammar.expand(document).collect());
    let all: Vec<Vec<u32>> = documents().map(<[u32]>::to_vec).chain(plain).collect();
    with_root(grammar, &all)
}

/// Some documents of a few phrases, so that there are rules of several levels.
fn phrases(seed: u64, count: usize) -> Vec<Vec<u32>> {
    let mut random = tadoc_oracle::Random::new(seed);
    let words: Vec<Vec<u32>> = (0..400)
        .map(|_| (0..2 + random.below(5)).map(|_| random.rank() as u32 % 999).collect())
        .collect();
    let phrases: Vec<Vec<u32>> = (0..900)
        .map(|_| (0..2 + random.below(9)).flat_map(|_| random.choose(&words).clone()).collect())
        .collect();
    (0..8)
        .map(|_| {
            (0..count)
                .flat_map(|_| match random.below(3) {
                    0 => vec![random.below(1000) as u32],
                    1 => random.choose(&words).clone(),
                    _ => random.choose(&phrases).clone(),
                })
                .collect()
        })
        .collect()
}

#[test]
fn what_was_edited_shares_the_old_rules() {
    // `0 1 2 3` is rule 1 with rule 0 inside; both come again as plain tokens, and in a longer passage.
    let passage = [0, 1, 2, 3];
    let grammar = into_grammar(
        6,
        &[7, 4, 7, 5, 6, 5, 0, 1, 2, 3, 5],
        &[0, 6, 11],
        &[1, 2, 0, 6, 3],
        &[0, 2, 5],
    );
    assert!(grammar.expand(grammar.document(1)).eq([&passage[..], &[5]].concat()));
    let built = again(&grammar, &[]);
    // `0 1 2 3 5` twice, `0 1 2 3` once more, `1 2` once more.
    assert_eq!(built.root().len(), 6);
    assert_eq!(built.rule_count(), 3);
}

#[test]
fn a_text_again_as_plain_tokens_costs_little() {
    let documents = phrases(1, 2000);
    let grammar =
        RePair::default().build(sequence(1000, &documents), &CancelFlag::default()).unwrap();
    let twice = again(&and_as_plain_tokens(&grammar), &[]);
    let (one, two) = (grammar.symbols().len(), twice.symbols().len());
    assert!(two < one * 21 / 20, "{one} symbols became {two}");
    let plain: Vec<Vec<u32>> = documents.iter().chain(&documents).cloned().collect();
    let anew = RePair::default().build(sequence(1000, &plain), &CancelFlag::default()).unwrap();
    let anew = anew.symbols().len();
    assert!(two < anew * 21 / 20, "{two} symbols, and {anew} when it is built anew");
}

#[test]
fn a_grammar_that_is_as_good_as_it_gets_does_not_grow() {
    let documents = phrases(2, 1000);
    for builder in [&RePair::default() as &dyn GrammarBuilder, &Sequitur] {
        let grammar = builder.build(sequence(1000, &documents), &CancelFlag::default()).unwrap();
        let built = again(&grammar, &[]);
        assert!(built.symbols().len() <= grammar.symbols().len());
    }
}

#[test]
fn new_lines_become_rules_and_old_lines_are_found() {
    // Token 9 ends lines. One line is a rule already, one is new; both come five times as plain tokens.
    let (old, new) = ([1, 2, 3, 9], [4, 5, 6, 9]);
    let mut root = vec![10, 0, 10];
    for place in 0..5 {
        root.extend_from_slice(&old);
        root.push(place);
        root.extend_from_slice(&new);
    }
    let grammar = into_grammar(10, &root, &[0, root.len() as u32], &old, &[0, 4]);
    let mut line_ends = vec![false; 10];
    line_ends[9] = true;
    let built = again(&grammar, &line_ends);
    let bodies: Vec<&[u32]> = (0..built.rule_count()).map(|rule| built.body(rule)).collect();
    assert!(bodies.contains(&&old[..]), "{bodies:?}");
    assert!(built.symbols().len() <= 26, "{:?}", built.symbols());
}

#[test]
fn rules_that_are_not_used_or_say_nothing_are_no_trouble() {
    // The root uses a rule of one symbol, an empty one, and one that is `0 1`; two rules are not reached, and
    // tokens 2 and 4 are used nowhere.
    let root = [5, 6, 0, 7, 5, 3];
    let bodies: [&[u32]; 5] = [&[7], &[], &[0, 1], &[9, 9], &[1, 1]];
    let symbols = [&root[..], &bodies.concat()].concat();
    let grammar =
        Grammar::new(5, symbols, vec![6, 7, 7, 9, 11, 13], vec![0, 0, 2, 2, 6, 6]).unwrap();
    let built = again(&grammar, &[]);
    assert_eq!(built.rule_count(), 1);
    assert_eq!(built.document_starts(), [0, 0, 1, 1, 5, 5]);
}

#[test]
fn nothing_at_all() {
    let grammar = Grammar::new(0, vec![], vec![0], vec![0]).unwrap();
    assert_eq!(again(&grammar, &[]), grammar);
    let grammar = Grammar::new(3, vec![], vec![0], vec![0, 0, 0]).unwrap();
    assert_eq!(again(&grammar, &[true, false, true]), grammar);
    // No documents, but rules.
    let grammar = Grammar::new(1, vec![2, 2, 0, 0], vec![0, 2, 4], vec![0]).unwrap();
    assert_eq!(again(&grammar, &[]).rule_count(), 0);
}

#[test]
fn documents_are_never_paired_across_their_border() {
    // `0 1` is a rule, and comes again across a border; the body of a rule is followed by no other one.
    let grammar = into_grammar(3, &[3, 2, 3, 0, 1, 2], &[0, 4, 6], &[0, 1], &[0, 2]);
    let built = again(&grammar, &[]);
    assert_eq!((built.rule_count(), built.root()), (1, &[3, 2, 3, 0, 1, 2][..]));
}

#[test]
fn work_ends_when_it_is_cancelled() {
    let cancel = CancelFlag::default();
    cancel.cancel();
    let grammar = Grammar::new(1, vec![0; 9], vec![9], vec![0, 9]).unwrap();
    for builder in BUILDERS {
        assert_eq!(build_again(&grammar, &[], builder, &cancel).unwrap_err(), Cancelled);
    }
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let grammar = RePair::default()
        .build(sequence(1000, &phrases(3, 20_000)), &CancelFlag::default())
        .unwrap();
    let grammar = and_as_plain_tokens(&grammar);
    assert!(grammar.root().len() > 1 << 18);
    let build = |threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            build_again(&grammar, &[], Builder::RePair, &CancelFlag::default()).unwrap()
        })
    };
    let one = build(1);
    assert_eq!(one, build(2));
    assert_eq!(one, build(5));
}

#[test]
fn all_cases_with_their_text_again() {
    for case in cases() {
        let mut interner = Interner::default();
        let documents: Vec<Vec<u32>> = case
            .documents
            .iter()
            .map(|(_, text)| {
                let (mut start, mut tokens) = (0, Vec::new());
                Lexer::Words.tokens(text, |end, kind| {
                    tokens.push(interner.intern(text, start, end, kind));
                    start = end;
                });
                tokens
            })
            .collect();
        let token_count = interner.len() as u32;
        let line_ends: Vec<bool> =
            (0..token_count).map(|token| interner.token(token).contains(&b'\n')).collect();
        for builder in [&RePair::new(line_ends.clone()) as &dyn GrammarBuilder, &Sequitur] {
            let grammar =
                builder.build(sequence(token_count, &documents), &CancelFlag::default()).unwrap();
            again(&grammar, &line_ends);
            again(&and_as_plain_tokens(&grammar), &line_ends);
        }
    }
}

/// Any grammar at all whose text has some thousand tokens at the most: rules of any length, used or not.
pub fn any_grammar() -> impl Strategy<Value = Grammar> {
    (1_u32..5, 0_u32..7).prop_flat_map(|(tokens, rules)| {
        let body = move |rule: u32| {
            let above = tokens + rule + 1..(tokens + rules).max(tokens + rule + 1);
            let symbol = if above.is_empty() {
                (0..tokens).boxed()
            } else {
                prop_oneof![0..tokens, above].boxed()
            };
            proptest::collection::vec(symbol, 0..5)
        };
        let bodies: Vec<_> = (0..rules).map(body).collect();
        let documents =
            proptest::collection::vec(proptest::collection::vec(0..tokens + rules, 0..60), 0..5);
        (documents, bodies).prop_map(move |(documents, bodies)| {
            let sequence = sequence(tokens, &documents);
            let mut symbols = sequence.tokens;
            let mut starts = vec![symbols.len() as u32];
            for body in bodies {
                symbols.extend(body);
                starts.push(symbols.len() as u32);
            }
            Grammar::new(tokens, symbols, starts, sequence.document_starts).unwrap()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_grammar_expands_to_the_same(
        (grammar, line_ends) in (any_grammar(), proptest::collection::vec(any::<bool>(), 5))
    ) {
        let line_ends = &line_ends[..grammar.token_count() as usize];
        again(&grammar, &[]);
        let built = again(&grammar, line_ends);
        again(&built, line_ends);
        again(&and_as_plain_tokens(&built), line_ends);
    }
}
