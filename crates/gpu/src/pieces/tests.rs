//! Networks cut in every way, answered by a plain program piece by piece, against the same program on the whole.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tadoc_core::answer::tables::{
    CountTable, DocumentTable, Keys, Sequences, Table, TableAnswer, VectorTable,
};
use tadoc_core::answer::{Answer, Labels, Names, Position, Value};
use tadoc_core::{Grammar, Limits, Network, Part, Task, Terms};

use super::*;

/// A simple source of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound.max(1)
    }
}

const TERMS: u32 = 5;

/// A network of several parts: rules of terms and later rules, documents over the borders of parts, empty ones too.
fn network(seed: u64, parts: usize, documents: usize) -> Network {
    let mut numbers = Numbers(seed);
    let (mut root, mut bodies, mut made) = (Vec::new(), Vec::<Vec<u32>>::new(), Vec::new());
    for _ in 0..parts {
        let first = bodies.len() as u32;
        let rules = numbers.below(5) as u32;
        for rule in 0..rules {
            let body = (0..1 + numbers.below(4)).map(|_| {
                let later = u64::from(rules - rule - 1);
                match later > 0 && numbers.below(2) == 0 {
                    true => TERMS + first + rule + 1 + numbers.below(later) as u32,
                    false => numbers.below(TERMS.into()) as u32,
                }
            });
            bodies.push(body.collect());
        }
        let start = root.len() as u32;
        // With no documents nothing can be in the root.
        for _ in 0..if documents == 0 { 0 } else { numbers.below(7) } {
            let symbol = numbers.below(u64::from(TERMS + rules)) as u32;
            root.push(if symbol < TERMS { symbol } else { symbol + first });
        }
        made.push(Part { root: start..root.len() as u32, rules: first..first + rules });
    }
    let length = root.len() as u32;
    let mut starts: Vec<u32> =
        (1..documents).map(|_| numbers.below(u64::from(length) + 1) as u32).collect();
    starts.sort_unstable();
    let starts = match documents {
        0 => vec![0],
        _ => [vec![0], starts, vec![length]].concat(),
    };
    let mut rule_starts = vec![length];
    let mut symbols = root;
    for body in bodies {
        symbols.extend(body);
        rule_starts.push(symbols.len() as u32);
    }
    let grammar = Grammar::new(TERMS, symbols, rule_starts, starts).unwrap();
    let documents = (0..documents as u32).map(|place| 2 * place + 1).collect();
    Network::new(grammar, made, documents).unwrap()
}

/// The answer to a task by expanding everything.
fn plain(network: &Network, task: Task, limits: &Limits) -> Table {
    let (n, grammar) = (task.terms_of_a_key(), network.grammar());
    let packing = Packing::new(n, grammar.token_count());
    // Counts by key and document.
    let mut found: BTreeMap<u128, BTreeMap<u32, u32>> = BTreeMap::new();
    for document in 0..grammar.document_count() {
        let items: Vec<u32> = grammar.expand(grammar.document(document)).collect();
        for window in items.windows(n) {
            let key = packing.pack(window);
            *found.entry(key).or_default().entry(document as u32).or_default() += 1;
        }
    }
    let total = |documents: &BTreeMap<u32, u32>| documents.values().map(|&c| u64::from(c)).sum();
    found.retain(|_, documents| total(documents) >= limits.least);
    let top = limits.top.unwrap_or(usize::MAX);
    let is_sequence = matches!(
        task,
        Task::SequenceCount { .. }
            | Task::SequenceCountPerDocument { .. }
            | Task::RankedInvertedIndex { .. }
    );
    let mut keys = match is_sequence {
        true => Keys::Sequences(Sequences::new(packing)),
        false => Keys::Terms(Vec::new()),
    };
    match task {
        Task::WordCount | Task::Sort | Task::SequenceCount { .. } => {
            let mut rows: Vec<(u128, u64)> =
                found.iter().map(|(&key, documents)| (key, total(documents))).collect();
            if task != Task::Sort {
                rows.sort_by_key(|&(key, count)| (std::cmp::Reverse(count), key));
            }
            rows.truncate(top);
            rows.iter().for_each(|&(key, _)| keys.push(key));
            Table::Counts(CountTable { keys, counts: rows.iter().map(|row| row.1).collect() })
        }
        Task::InvertedIndex | Task::RankedInvertedIndex { .. } => {
            let (mut ends, mut places, mut counts) = (Vec::new(), Vec::new(), Vec::new());
            for (key, documents) in found {
                let mut documents: Vec<(u32, u32)> = documents.into_iter().collect();
                if is_sequence {
                    documents.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
                }
                documents.truncate(top);
                keys.push(key);
                places.extend(documents.iter().map(|document| document.0));
                counts.extend(documents.iter().map(|document| document.1));
                ends.push(places.len() as u64);
            }
            let counts = is_sequence.then_some(counts);
            Table::Documents(DocumentTable { keys, ends, documents: places, counts })
        }
        Task::TermVector | Task::SequenceCountPerDocument { .. } => {
            let mut rows = vec![Vec::new(); grammar.document_count()];
            for (number, (&key, documents)) in found.iter().enumerate() {
                keys.push(key);
                let item = if is_sequence { number as u32 } else { key as u32 };
                for (&document, &count) in documents {
                    rows[document as usize].push((std::cmp::Reverse(count), item));
                }
            }
            let (mut ends, mut items, mut counts) = (Vec::new(), Vec::new(), Vec::new());
            for row in &mut rows {
                row.sort();
                row.truncate(top);
                items.extend(row.iter().map(|entry| entry.1));
                counts.extend(row.iter().map(|entry| entry.0.0));
                ends.push(items.len() as u64);
            }
            let sequences = match keys {
                Keys::Sequences(sequences) if is_sequence => Some(sequences),
                _ => None,
            };
            Table::Vectors(VectorTable { ends, items, counts, sequences })
        }
        task => panic!("GPUs do not have {task:?}"),
    }
}

/// The rows of a table as text.
fn rows(table: Table, network: &Network) -> Vec<String> {
    let terms = Terms::new(b"abcde".to_vec(), vec![1, 2, 3, 4, 5]).unwrap();
    let names: Vec<String> = (0..64).map(|number| format!("document {number}")).collect();
    let names: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
    let names = Names::from_iter(names.iter());
    let labels = Labels { terms: terms.texts(), documents: names.texts() };
    let mut shown = Vec::new();
    let answer = TableAnswer::new(table, network.documents().clone());
    let mut at = Position::default();
    while let Some(rows) = answer.next_part(&mut at, labels).unwrap() {
        rows.visit(0..rows.len(), &mut |values: &[Value<'_>]| shown.push(format!("{values:?}")));
    }
    shown
}

fn too_little() -> Error {
    Error::TooLittleMemory { device: "none".into(), needed: 2, free: 1 }
}

const TASKS: [Task; 10] = [
    Task::WordCount,
    Task::Sort,
    Task::InvertedIndex,
    Task::TermVector,
    Task::SequenceCount { n: 1 },
    Task::SequenceCount { n: 2 },
    Task::SequenceCount { n: 5 },
    Task::SequenceCountPerDocument { n: 3 },
    Task::RankedInvertedIndex { n: 2 },
    Task::RankedInvertedIndex { n: 5 },
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn pieces_answer_as_the_whole_does(
        seed in any::<u64>(),
        parts in 0..7_usize,
        documents in 0..5_usize,
        fitting in 1..4_usize,
        least in 1..4_u64,
        top in prop::option::of(1..4_usize),
    ) {
        let network = network(seed, parts, documents);
        let limits = Limits { least, top, ..Limits::default() };
        for task in TASKS {
            let mut pieces = 0;
            let mut run = |network: &Network, task: Task, limits: &Limits| {
                if network.parts().len() > fitting {
                    return Err(too_little());
                }
                pieces += 1;
                Ok(plain(network, task, limits))
            };
            let found = answer(&network, task, &limits, &mut run).unwrap();
            prop_assert!(pieces >= parts.div_ceil(fitting), "{pieces} pieces of {parts} parts");
            let expected = plain(&network, task, &limits);
            prop_assert_eq!(rows(found, &network), rows(expected, &network), "{:?}", task);
        }
    }
}

#[test]
fn a_part_that_does_not_fit_is_told() {
    let network = network(1, 4, 2);
    let mut run = |_: &Network, _: Task, _: &Limits| Err(too_little());
    let told = answer(&network, Task::Sort, &Limits::default(), &mut run);
    assert!(matches!(told, Err(Error::TooLittleMemory { .. })));
}

#[test]
fn more_than_the_memory_allowed_is_not_merged() {
    let network = network(3, 6, 3);
    let mut run = |network: &Network, task: Task, limits: &Limits| Ok(plain(network, task, limits));
    let limits = Limits { memory: 64, ..Limits::default() };
    let told = answer(&network, Task::TermVector, &limits, &mut run);
    assert!(matches!(told, Err(Error::TooMuchToMerge { given: 64, .. })), "{told:?}");
}

#[test]
fn counts_without_a_root_are_cut_too() {
    let whole = network(7, 5, 3);
    let grammar = whole.grammar();
    let mut counts = vec![0_u32; (TERMS + grammar.rule_count()) as usize];
    grammar.root().iter().for_each(|&symbol| counts[symbol as usize] += 1);
    let bodies = grammar.symbols()[grammar.root().len()..].to_vec();
    let moved = grammar.rule_starts().iter().map(|start| start - grammar.root().len() as u32);
    let starts = vec![0; whole.documents().len() + 1];
    let without_root = Grammar::new(TERMS, bodies, moved.collect::<Vec<_>>(), starts).unwrap();
    let parts = whole.parts().iter().map(|part| Part { root: 0..0, rules: part.rules.clone() });
    let documents = whole.documents().to_vec();
    let without_root =
        Network::of_counts(without_root, parts.collect(), documents, counts.into()).unwrap();
    // Every symbol as often as the root has it, expanded.
    let mut run = |network: &Network, _: Task, _: &Limits| {
        let mut counts = [0_u64; TERMS as usize];
        let of_root = network.root_counts_or(|| -> Vec<u32> { unreachable!("it has counts") });
        for (symbol, &times) in (0..).zip(of_root) {
            for item in network.grammar().expand(&[symbol]) {
                counts[item as usize] += u64::from(times);
            }
        }
        let keys = Keys::Terms((0..TERMS).collect());
        Ok(Table::Counts(CountTable { keys, counts: counts.to_vec() }))
    };
    let limits = Limits::default();
    let found = answer(&without_root, Task::WordCount, &limits, &mut run).unwrap();
    assert_eq!(rows(found, &whole), rows(plain(&whole, Task::WordCount, &limits), &whole));
}

#[test]
fn pieces_on_a_device_answer_as_the_whole_does() {
    let Some(device) = crate::testing::device() else { return };
    let backend = crate::GpuBackend::new(std::sync::Arc::clone(&device));
    for seed in 0..6 {
        let network = network(seed, 2 + seed as usize % 3, 1 + seed as usize % 4);
        for (least, top) in [(1, None), (2, Some(2))] {
            let limits = Limits { least, top, ..Limits::default() };
            for task in TASKS {
                let expected = rows(plain(&network, task, &limits), &network);
                let whole = backend.table(&network, task, &limits).unwrap();
                assert!(backend.has(&network));
                assert_eq!(rows(whole, &network), expected, "{task:?} as a whole");
                let mut run = |piece: &Network, task: Task, limits: &Limits| {
                    if piece.parts().len() > 1 {
                        return Err(too_little());
                    }
                    let resident = crate::network::ResidentNetwork::new(&device, piece)?;
                    crate::tasks::run(&resident, task, limits)?.download()
                };
                let found = answer(&network, task, &limits, &mut run).unwrap();
                assert_eq!(rows(found, &network), expected, "{task:?} in pieces");
            }
        }
    }
    backend.forget();
    assert!(!backend.has(&network(0, 2, 1)));
}
