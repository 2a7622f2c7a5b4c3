//! Views and questions that cannot be: refused with an error, and never a panic.

use proptest::prelude::*;
use tadoc_core::{Backend, Grammar, Limits, Network, Part, Task, Terms, View};
use tadoc_engine::analytics::Measure;
use tadoc_engine::{Analyzer, Builder, Corpus, Error, Lexer};

use super::random_grammar::terms;
use tadoc_testing::archives::compress;
use tadoc_testing::numbered;

use super::support::{Question, names, plain_view, rows, some_questions};

/// Two parts of one rule each: `a b` twice, then `b a` twice.
fn grammar() -> Grammar {
    Grammar::new(2, vec![2, 2, 3, 3, 0, 1, 1, 0], vec![4, 6, 8], vec![0, 1, 4]).unwrap()
}

fn part(root: std::ops::Range<u32>, rules: std::ops::Range<u32>) -> Part {
    Part { root, rules }
}

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "they are what must be refused")]
fn networks_that_do_not_fit_are_refused() {
    let right = vec![part(0..2, 0..1), part(2..4, 1..2)];
    assert!(Network::new(grammar(), right.clone(), vec![3, 9]).is_ok());
    let wrong_parts = [
        // The root uses a rule of the other part, one way and the other.
        vec![part(0..1, 0..1), part(1..4, 1..2)],
        vec![part(0..3, 0..1), part(3..4, 1..2)],
        vec![part(0..4, 0..0), part(4..4, 0..2)],
        vec![part(0..0, 0..2), part(0..4, 2..2)],
        // Too few, too many, twice, apart and backwards.
        vec![],
        vec![part(0..2, 0..1)],
        vec![part(0..2, 0..1), part(2..4, 1..3)],
        vec![part(0..2, 0..1), part(2..5, 1..2)],
        vec![part(0..2, 0..1), part(0..2, 0..1), part(2..4, 1..2)],
        vec![part(0..1, 0..1), part(2..4, 1..2)],
        vec![part(0..4, 0..2), part(4..0, 2..0)],
        vec![part(u32::MAX..u32::MAX, 0..2)],
    ];
    for parts in wrong_parts {
        assert!(Network::new(grammar(), parts.clone(), vec![3, 9]).is_err(), "{parts:?}");
    }
    for documents in [vec![], vec![0], vec![0, 0], vec![1, 0], vec![0, 1, 2]] {
        assert!(Network::new(grammar(), right.clone(), documents.clone()).is_err());
    }
    // Parts without anything in them are parts.
    let mut with_empty = right;
    with_empty.insert(1, part(2..2, 1..1));
    assert!(Network::new(grammar(), with_empty, vec![3, 9]).is_ok());
}

/// Counts have 64 bits: what could pass them is refused, also where there is hardly a word.
#[test]
fn networks_with_counts_beyond_64_bits_are_refused() {
    // Each rule is the next one twice, and the last one is `last`.
    let doubled = |times: u32, last: &[u32]| {
        let mut symbols = vec![0, 1];
        let mut starts = vec![2];
        for rule in 0..times {
            symbols.extend([2 + rule, 2 + rule]);
            starts.push(symbols.len() as u32);
        }
        symbols.extend(last);
        starts.push(symbols.len() as u32);
        let grammar = Grammar::new(1, symbols, starts, vec![0, 2]).unwrap();
        Network::new(grammar, vec![part(0..2, 0..times + 1)], vec![0])
    };
    assert!(doubled(56, &[0]).is_ok());
    for (times, last) in [(57, &[0][..]), (63, &[0]), (80, &[0]), (1, &[]), (33, &[]), (80, &[])] {
        assert!(doubled(times, last).is_err(), "{times} {last:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..Default::default() })]

    /// Whatever parts are made of it, a network is refused or can be asked anything.
    #[test]
    fn any_parts_are_refused_or_work(
        cuts in prop::collection::vec((0..6_u32, 0..4_u32), 0..4),
        documents in prop::collection::vec(0..4_u32, 0..4),
    ) {
        let mut parts = Vec::new();
        let mut before = (0, 0);
        for cut in cuts {
            parts.push(part(before.0..cut.0, before.1..cut.1));
            before = cut;
        }
        if let Ok(network) = Network::new(grammar(), parts, documents) {
            let view = View::new(terms(2), network).unwrap();
            for question in some_questions() {
                let answered = question.ask(&view, &Limits::default()).unwrap();
                let names: [&[u8]; 4] = [b"0", b"1", b"2", b"3"];
                prop_assert!(!rows(&*answered.answer, &view, &names).is_empty());
            }
        }
    }

    #[test]
    fn any_terms_are_refused_or_in_order(
        bytes in prop::collection::vec(0..3_u8, 0..8),
        ends in prop::collection::vec(prop_oneof![0..9_u64, Just(u64::MAX)], 0..6),
    ) {
        if let Ok(terms) = Terms::new(bytes, ends) {
            let all: Vec<&[u8]> = (0..terms.len()).map(|term| terms.get(term)).collect();
            prop_assert!(all.is_sorted_by(|one, other| one < other));
            for (number, term) in all.iter().enumerate() {
                prop_assert_eq!(terms.find(term), Some(number as u32));
            }
        }
    }

    /// Documents that are not there, not in order or asked for twice are refused.
    #[test]
    fn any_documents_are_refused_or_chosen(
        chosen in prop::collection::vec(prop_oneof![0..7_u32, Just(u32::MAX)], 0..6),
    ) {
        let view = CORPUS.with(|corpus| {
            tadoc_engine::view::make(&[corpus, corpus], &Analyzer::new(), Some(&chosen), &())
        });
        let right = chosen.is_sorted_by(|one, other| one < other)
            && chosen.iter().all(|&number| number < 6);
        match view {
            Ok(view) => {
                prop_assert!(right);
                prop_assert_eq!(&view.network().documents()[..], chosen);
            }
            Err(error) => {
                let refused = matches!(error, Error::BadChoice { .. });
                prop_assert!(!right && refused, "{}", error);
            }
        }
    }
}

thread_local! {
    /// Three documents, in as many segments.
    static CORPUS: Corpus = {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("three.tdc");
        let documents = numbered([b"a b".to_vec(), b"b c".to_vec(), b"c a".to_vec()]);
        let least = match compress(&[], &path, Lexer::Words, Builder::RePair, Some(0)) {
            Err(Error::TooLittleMemory { least, .. }) => least,
            other => panic!("{other:?}"),
        };
        let segments = compress(&documents, &path, Lexer::Words, Builder::RePair, Some(least));
        assert_eq!(segments.unwrap(), 3);
        Corpus::open(&path).unwrap()
    };
}

#[test]
fn views_of_other_terms_are_refused() {
    let network =
        || Network::new(grammar(), vec![part(0..2, 0..1), part(2..4, 1..2)], vec![0, 1]).unwrap();
    assert!(View::new(terms(2), network()).is_ok());
    for count in [0, 1, 3] {
        assert!(View::new(terms(count), network()).is_err());
    }
}

#[test]
fn lengths_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.tdc");
    let documents = numbered([b"to be or not to be".to_vec()]);
    compress(&documents, &path, Lexer::Words, Builder::RePair, None).unwrap();
    let view = plain_view(&path);
    let limits = Limits::default();
    for n in [0, 9, 1000, usize::MAX] {
        for task in [
            Task::SequenceCount { n },
            Task::SequenceCountPerDocument { n },
            Task::RankedInvertedIndex { n },
        ] {
            let refused = Question::Task(task).ask(&view, &limits);
            assert!(matches!(refused, Err(Error::BadLength { given, .. }) if given == n));
            assert!(tadoc_engine::analytics::CpuBackend.answer(&view, task, &limits).is_err());
        }
    }
    for window in [0, 65, usize::MAX] {
        for question in [
            Question::Cooccurrence { window, ordered: true },
            Question::Collocations { window, measure: Measure::Pmi },
        ] {
            assert!(matches!(question.ask(&view, &limits), Err(Error::BadLength { .. })));
        }
    }
    // The longest of each are answered, though no document is so long.
    let names = names(&documents);
    for question in [
        Question::Task(Task::SequenceCount { n: 8 }),
        Question::Task(Task::RankedInvertedIndex { n: 8 }),
        Question::Task(Task::SequenceCountPerDocument { n: 8 }),
    ] {
        assert!(rows(&*question.ask(&view, &limits).unwrap().answer, &view, &names).is_empty());
    }
}
