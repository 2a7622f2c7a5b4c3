//! Every task with both strategies, held against documents that are written out.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tadoc_core::answer::tables::{Keys, Table};
use tadoc_core::{Limits, Network, Strategy, Task};

use super::*;
use crate::testing::device;
use tadoc_testing::networks::{chain, counts_only, frequent, index, shapes};

/// A row of an answer: a key, a document where there is one, and a count where there is one.
type Row = (Vec<u32>, Option<u32>, Option<u64>);

fn key(keys: &Keys, place: usize) -> Vec<u32> {
    match keys {
        Keys::Terms(terms) => vec![terms[place]],
        Keys::Sequences(sequences) => {
            let packed = sequences.packed(place);
            let digit = |shift, bits| (packed >> shift & ((1_u128 << bits) - 1)) as u32;
            let mut terms: Vec<u32> = sequences.packing.terms(digit).collect();
            terms.reverse();
            terms
        }
    }
}

fn shown(table: Table) -> Vec<Row> {
    let mut rows = Vec::new();
    match table {
        Table::Counts(table) => {
            let counts = table.counts.iter().enumerate();
            rows.extend(counts.map(|(place, &count)| (key(&table.keys, place), None, Some(count))));
        }
        Table::Documents(table) => {
            let mut start = 0;
            for (place, &end) in table.ends.iter().enumerate() {
                for at in start..end as usize {
                    let count = table.counts.as_ref().map(|counts| u64::from(counts[at]));
                    rows.push((key(&table.keys, place), Some(table.documents[at]), count));
                }
                start = end as usize;
            }
        }
        Table::Vectors(table) => {
            let keys = table.sequences.map(Keys::Sequences);
            let mut start = 0;
            for (document, &end) in table.ends.iter().enumerate() {
                for at in start..end as usize {
                    let item = table.items[at];
                    let key = keys.as_ref().map_or(vec![item], |keys| key(keys, item as usize));
                    rows.push((key, Some(document as u32), Some(table.counts[at].into())));
                }
                start = end as usize;
            }
        }
    }
    rows
}

/// At most `top` rows of each group of rows that follow each other.
fn cut<G: PartialEq>(rows: Vec<Row>, top: Option<usize>, group: impl Fn(&Row) -> G) -> Vec<Row> {
    let top = top.unwrap_or(usize::MAX);
    rows.chunk_by(|one, other| group(one) == group(other))
        .flat_map(|rows| rows.iter().take(top).cloned())
        .collect()
}

fn wanted(network: &Network, task: Task, limits: &Limits) -> Vec<Row> {
    let mut found = index(network, task.terms_of_a_key());
    let total = |documents: &BTreeMap<u32, u32>| documents.values().copied().map(u64::from).sum();
    found.retain(|_, documents| total(documents) >= limits.least);
    let totals = found.iter().map(|(key, documents)| (key.clone(), None, Some(total(documents))));
    let entries = found.iter().flat_map(|(key, documents)| {
        let of_key = documents.iter();
        of_key.map(|(&document, &count)| (key.clone(), Some(document), Some(u64::from(count))))
    });
    let count = |row: &Row| std::cmp::Reverse(row.2);
    match task {
        Task::WordCount | Task::SequenceCount { .. } => {
            let mut rows: Vec<Row> = totals.collect();
            rows.sort_by_key(count);
            cut(rows, limits.top, |_| ())
        }
        Task::Sort => cut(totals.collect(), limits.top, |_| ()),
        Task::InvertedIndex => {
            let rows = entries.map(|(key, document, _)| (key, document, None));
            cut(rows.collect(), limits.top, |row| row.0.clone())
        }
        Task::TermVector | Task::SequenceCountPerDocument { .. } => {
            let mut rows: Vec<Row> = entries.collect();
            rows.sort_by_key(|row| (row.1, count(row)));
            cut(rows, limits.top, |row| row.1)
        }
        Task::RankedInvertedIndex { .. } => {
            let mut rows: Vec<Row> = entries.collect();
            rows.sort_by(|one, other| (&one.0, count(one)).cmp(&(&other.0, count(other))));
            cut(rows, limits.top, |row| row.0.clone())
        }
        task => panic!("GPUs do not have {task:?}"),
    }
}

fn check(network: &Network, resident: &ResidentNetwork, task: Task, limits: &Limits) {
    let found = shown(run(resident, task, limits).unwrap().download().unwrap());
    let wanted = wanted(network, task, limits);
    let differ = found.iter().zip(&wanted).position(|(found, wanted)| found != wanted);
    let at = differ.unwrap_or(found.len().min(wanted.len()));
    let part = |rows: &[Row]| rows[at..rows.len().min(at + 5)].to_vec();
    assert_eq!(
        (at, part(&found), found.len()),
        (at, part(&wanted), wanted.len()),
        "{task:?} {limits:?}"
    );
}

fn tasks(n: usize) -> [Task; 7] {
    [
        Task::WordCount,
        Task::Sort,
        Task::InvertedIndex,
        Task::TermVector,
        Task::SequenceCount { n },
        Task::SequenceCountPerDocument { n },
        Task::RankedInvertedIndex { n },
    ]
}

fn check_all(network: &Network, n: usize, least: u64, top: Option<usize>) {
    let Some(device) = device() else { return };
    let resident = ResidentNetwork::new(&device, network).unwrap();
    for strategy in Strategy::ALL {
        let limits = Limits { strategy: Some(strategy), least, top, ..Limits::default() };
        tasks(n).into_iter().for_each(|task| check(network, &resident, task, &limits));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn tasks_are_those_of_the_text(
        shape in shapes(),
        n in 1..6_usize,
        least in prop_oneof![Just(1_u64), 1..6_u64],
        top in proptest::option::of(0..4_usize),
    ) {
        check_all(&shape.network(), n, least, top);
    }
}

#[test]
fn deep_and_frequent() {
    check_all(&chain(200, 4), 3, 1, None);
    check_all(&chain(60, 300), 5, 2, Some(3));
    check_all(&frequent(3000, 1), 2, 1, None);
    check_all(&frequent(3000, 4), 3, 1, None);
    check_all(&frequent(700, 300), 2, 1, Some(7));
    check_all(&frequent(300, 20_000), 2, 1, None);
}

#[test]
fn counts_need_no_root() {
    let Some(device) = device() else { return };
    let network = chain(20, 3);
    let resident = ResidentNetwork::new(&device, &counts_only(&network)).unwrap();
    for strategy in Strategy::ALL {
        let limits = Limits { strategy: Some(strategy), ..Limits::default() };
        check(&network, &resident, Task::WordCount, &limits);
        check(&network, &resident, Task::Sort, &limits);
        for task in &tasks(2)[2..] {
            assert!(matches!(run(&resident, *task, &limits), Err(Error::Unsupported { .. })));
        }
    }
}
