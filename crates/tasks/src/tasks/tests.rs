use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::{
    Just, Strategy as Generator, any, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use tadoc_core::{Measure, Norm, Strategy, TfIdfOptions};

use super::*;
use crate::reference::sizes;
use crate::score::{divisor, inverse_document_frequency, term_frequency};
use tadoc_testing::networks::{counts_only, deep, made, rows, shapes, texts, view};

const WORDS: [Task; 4] = [Task::WordCount, Task::Sort, Task::InvertedIndex, Task::TermVector];

/// What a plain program over the text says.
fn expected(network: &Network, task: Task, limits: &Limits) -> Vec<String> {
    let texts = texts(network);
    let top = limits.top.unwrap_or(usize::MAX);
    let mut totals: BTreeMap<u32, u64> = BTreeMap::new();
    texts.iter().flatten().for_each(|&term| *totals.entry(term).or_default() += 1);
    totals.retain(|_, count| *count >= limits.least);
    let count_rows = |rows: Vec<(u32, u64)>| {
        let rows = rows.into_iter().take(top);
        rows.map(|(term, count)| format!("{term:06},{count}")).collect::<Vec<_>>()
    };
    let by_count = |counts: BTreeMap<u32, u64>| {
        let mut rows: Vec<(u32, u64)> = counts.into_iter().collect();
        rows.sort_by_key(|&(_, count)| Reverse(count));
        rows
    };
    let name = |document: usize| format!("d{}", network.documents()[document]);
    match task {
        Task::WordCount => count_rows(by_count(totals)),
        Task::Sort => count_rows(totals.into_iter().collect()),
        Task::InvertedIndex => {
            let mut rows = Vec::new();
            for term in totals.into_keys() {
                let have = (0..texts.len()).filter(|&document| texts[document].contains(&term));
                rows.extend(have.take(top).map(|document| format!("{term:06},{}", name(document))));
            }
            rows
        }
        _ => {
            let mut rows = Vec::new();
            for (document, text) in texts.iter().enumerate() {
                let mut counts = BTreeMap::new();
                let kept = text.iter().filter(|term| totals.contains_key(term));
                kept.for_each(|&term| *counts.entry(term).or_default() += 1);
                let shown = by_count(counts).into_iter().take(top);
                rows.extend(
                    shown.map(|(term, count)| format!("{},{term:06},{count}", name(document))),
                );
            }
            rows
        }
    }
}

/// The rows of TF-IDF that a plain program gives, with the weights of the formulae.
fn expected_weights(network: &Network, options: TfIdfOptions, limits: &Limits) -> Vec<String> {
    let texts = texts(network);
    let (mut totals, mut with_term) = (BTreeMap::<u32, u64>::new(), BTreeMap::<u32, u64>::new());
    for text in &texts {
        text.iter().for_each(|&term| *totals.entry(term).or_default() += 1);
        let different: BTreeSet<u32> = text.iter().copied().collect();
        different.into_iter().for_each(|term| *with_term.entry(term).or_default() += 1);
    }
    let mut rows = Vec::new();
    for (document, text) in texts.iter().enumerate() {
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        let kept = text.iter().filter(|term| totals[term] >= limits.least);
        kept.for_each(|&term| *counts.entry(term).or_default() += 1);
        let weights = counts.into_iter().map(|(term, count)| {
            let factor = match options.use_idf {
                true => {
                    let documents = texts.len() as u64;
                    let with_term = with_term[&term];
                    inverse_document_frequency(documents, with_term, options.smooth_idf)
                }
                false => 1.0,
            };
            (term, term_frequency(count, options.sublinear_tf) * factor)
        });
        let mut weights: Vec<(u32, f64)> = weights.collect();
        let norm = divisor(options.norm, weights.iter().map(|&(_, weight)| weight));
        weights.iter_mut().for_each(|(_, weight)| *weight /= norm);
        if let Some(top) = limits.top {
            weights.sort_by(|one, other| other.1.total_cmp(&one.1));
            weights.truncate(top);
        }
        let number = network.documents()[document];
        let row = |(term, weight)| format!("d{number},{term:06},{weight}");
        rows.extend(weights.into_iter().map(row));
    }
    rows
}

fn options() -> impl Generator<Value = TfIdfOptions> {
    let norm = prop_oneof![Just(Norm::None), Just(Norm::L1), Just(Norm::L2)];
    (norm, any::<[bool; 3]>()).prop_map(|(norm, [use_idf, smooth_idf, sublinear_tf])| {
        TfIdfOptions { norm, use_idf, smooth_idf, sublinear_tf }
    })
}

fn answered(view: &View, task: Task, limits: &Limits, sizes: Sizes) -> Vec<String> {
    let mut work = Work::volatile(limits.memory);
    let answered = answer_in(&mut work, view, task, limits, sizes).unwrap();
    assert!(limits.strategy.is_none_or(|strategy| strategy == answered.strategy));
    assert_eq!(limits.strategy.is_some(), answered.reason.is_empty());
    rows(view, &*answered.answer)
}

fn limits() -> impl Generator<Value = Limits> {
    let strategy =
        prop_oneof![Just(None), Just(Some(Strategy::TopDown)), Just(Some(Strategy::BottomUp))];
    let top = prop_oneof![Just(None), (0..5_usize).prop_map(Some), (0..100_usize).prop_map(Some)];
    let least = prop_oneof![Just(0_u64), Just(1), 1..30_u64];
    (strategy, least, top).prop_map(|(strategy, least, top)| Limits {
        strategy,
        least,
        top,
        memory: 1 << 20,
    })
}

proptest! {
    #[test]
    fn answers_are_those_of_the_text(shape in shapes(), limits in limits(), sizes in sizes()) {
        let view = view(shape.network());
        for task in WORDS {
            let expected = expected(view.network(), task, &limits);
            prop_assert_eq!(answered(&view, task, &limits, sizes), expected, "{}", task.name());
        }
    }

    #[test]
    fn weights_are_those_of_the_text(
        shape in shapes(), limits in limits(), sizes in sizes(), options in options()
    ) {
        let view = view(shape.network());
        let expected = expected_weights(view.network(), options, &limits);
        let found = answered(&view, Task::TfIdf(options), &limits, sizes);
        prop_assert_eq!(found, expected, "{:?}", options);
    }

    #[test]
    fn counts_are_enough_for_word_count_and_sort(shape in shapes(), limits in limits()) {
        let network = shape.network();
        let bare = view(counts_only(&network));
        for task in [Task::WordCount, Task::Sort] {
            let expected = expected(&network, task, &limits);
            prop_assert_eq!(answered(&bare, task, &limits, Sizes::default()), expected);
        }
        let mut work = Work::volatile(1 << 20);
        let pairs = Task::Cooccurrence { window: 2, ordered: true };
        let of_documents = [Task::InvertedIndex, Task::TermVector];
        let weights = Task::TfIdf(TfIdfOptions::default());
        // Of one document they have all that there is to know.
        let refuses = if network.documents().len() == 1 {
            for task in of_documents {
                let expected = expected(&network, task, &limits);
                prop_assert_eq!(answered(&bare, task, &limits, Sizes::default()), expected);
            }
            let expected = expected_weights(&network, TfIdfOptions::default(), &limits);
            prop_assert_eq!(answered(&bare, weights, &limits, Sizes::default()), expected);
            vec![pairs]
        } else {
            [&of_documents[..], &[weights, pairs]].concat()
        };
        for task in refuses {
            let refused = answer_with(&mut work, &bare, task, &limits);
            prop_assert!(matches!(refused, Err(Error::CountsOnly)));
        }
    }
}

#[test]
fn one_huge_document() {
    // Stretches of it are walked on their own: more symbols than one has, of more terms than are hashed.
    let root: Vec<u32> = (0..3_000_000_u64).map(|place| (place * place % 50_021) as u32).collect();
    let length = root.len() as u32;
    let parts = vec![tadoc_core::Part { root: 0..length, rules: 0..0 }];
    let view =
        view(made(50_021, root, Vec::new(), parts, vec![0, 0, length, length], vec![0, 1, 2]));
    let limits = Limits::default();
    for task in WORDS {
        let found = answered(&view, task, &limits, Sizes::default());
        if task == Task::InvertedIndex {
            assert!(found.iter().all(|row| row.ends_with(",d1")));
            assert_eq!(found.len(), answered(&view, Task::Sort, &limits, Sizes::default()).len());
        } else {
            assert!(found == expected(view.network(), task, &limits));
        }
    }
}

#[test]
fn counts_beyond_32_bits() {
    let network = deep(41);
    let mut counts = [0_u64, 1, 1];
    let mut halfway = counts;
    for next in (1..41).rev() {
        if next == 20 {
            halfway = counts;
        }
        counts = counts.map(|count| 2 * count);
        counts[next % 3] += 1;
    }
    let totals =
        [2 * counts[0] + halfway[0] + 1, 2 * counts[1] + halfway[1], 2 * counts[2] + halfway[2]];
    assert!(totals[0] > 1 << 32);
    let view = view(network);
    for strategy in Strategy::ALL {
        let limits = Limits { strategy: Some(strategy), ..Limits::default() };
        let sorted = answered(&view, Task::Sort, &limits, Sizes::default());
        let expected: Vec<String> =
            (0..3).map(|term| format!("{term:06},{}", totals[term])).collect();
        assert_eq!(sorted, expected);
        let mut by_count = answered(&view, Task::WordCount, &limits, Sizes::default());
        by_count.sort();
        assert_eq!(by_count, expected);
        let vectors = answered(&view, Task::TermVector, &limits, Sizes::default());
        assert_eq!(vectors.len(), 6);
        assert!(vectors.contains(&format!("d0,000000,{}", counts[0] + 1)));
        assert!(vectors.contains(&format!("d1,000001,{}", counts[1] + halfway[1])));
        assert_eq!(answered(&view, Task::InvertedIndex, &limits, Sizes::default()).len(), 6);
    }
}

#[test]
fn lengths_out_of_range_are_refused() {
    let view = view(deep(3));
    for (task, what) in [
        (Task::SequenceCount { n: 0 }, "a sequence"),
        (Task::RankedInvertedIndex { n: Task::LONGEST_SEQUENCE + 1 }, "a sequence"),
        (Task::Cooccurrence { window: 0, ordered: true }, "a window"),
        (Task::Collocations { window: Task::WIDEST_WINDOW + 1, measure: Measure::Pmi }, "a window"),
    ] {
        let refused = check(&view, task);
        assert!(
            matches!(refused, Err(Error::BadLength { what: of, .. }) if of == what),
            "{task:?}"
        );
    }
    assert!(
        check(&view, Task::Cooccurrence { window: Task::WIDEST_WINDOW, ordered: true }).is_ok()
    );
}
