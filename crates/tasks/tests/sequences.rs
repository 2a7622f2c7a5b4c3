//! All tasks over sequences and pairs against plain expansion: random grammars and hand-made ones.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::Strategy as Generator;
use tadoc_core::{Limits, Measure, Network, Part, Strategy, Task, View};
use tadoc_oracle::Random;
use tadoc_tasks::score::{PairCounts, log_dice, log_likelihood, pmi, score, t_score};
use tadoc_tasks::{Work, answer_with};
use tadoc_testing::networks::{made, rows, view};

/// Parts of a network: rules as rows of symbols, and the root's symbols.
#[derive(Debug, Clone)]
struct Shape {
    items: u32,
    /// For every part: rules (by numbers that are theirs alone, each using higher ones), and root. A symbol is an item, or a rule from
    /// `items` on.
    parts: Vec<(Vec<Vec<u32>>, Vec<u32>)>,
    /// Where documents end in the root, in thousandths.
    cuts: Vec<usize>,
}

impl Shape {
    fn network(&self) -> Network {
        let mut root = Vec::new();
        let mut bodies: Vec<Vec<u32>> = Vec::new();
        let mut parts = Vec::new();
        for (rules, own_root) in &self.parts {
            let first = bodies.len() as u32;
            let moved = |row: &[u32]| -> Vec<u32> {
                row.iter()
                    .map(|&symbol| if symbol < self.items { symbol } else { symbol + first })
                    .collect()
            };
            let start = root.len() as u32;
            root.extend(moved(own_root));
            bodies.extend(rules.iter().map(|body| moved(body)));
            parts.push(Part { root: start..root.len() as u32, rules: first..bodies.len() as u32 });
        }
        let mut starts: Vec<u32> =
            self.cuts.iter().map(|&cut| (cut * root.len() / 1000) as u32).collect();
        starts.extend([0, root.len() as u32]);
        starts.sort_unstable();
        let documents = (0..starts.len() as u32 - 1).map(|document| 2 * document).collect();
        made(self.items, root, bodies, parts, starts, documents)
    }
}

fn shapes() -> impl Generator<Value = Shape> {
    let part = (
        prop::collection::vec(prop::collection::vec(any::<u32>(), 1..5), 0..9),
        prop::collection::vec(any::<u32>(), 0..40),
    );
    (
        1_u32..6,
        0_u32..3,
        prop::collection::vec(part, 1..4),
        prop::collection::vec(0_usize..=1000, 0..6),
    )
        .prop_map(|(kinds, width, parts, cuts)| {
            // Few different items, of which some have high numbers, for keys of all widths.
            let items = [kinds, 1 << 10, 1 << 18][width as usize];
            let item = |number: u32| (number % kinds) * (items / kinds);
            let parts = parts.into_iter().map(|(rules, root)| {
                let count = rules.len() as u32;
                let symbol = |number: u32, above: u32| match number % 3 {
                    0 if above < count => items + above + number / 3 % (count - above),
                    _ => item(number / 3),
                };
                let rules = (1..).zip(rules).map(|(above, body)| {
                    body.into_iter().map(|number| symbol(number, above)).collect()
                });
                (rules.collect(), root.into_iter().map(|number| symbol(number, 0)).collect())
            });
            Shape { items, parts: parts.collect(), cuts }
        })
}

fn shown(sequence: &[u32]) -> String {
    sequence.iter().map(|term| format!("{term:06}")).collect::<Vec<_>>().join(" ")
}

/// The rows that a plain program gives.
fn expected(network: &Network, task: Task, limits: &Limits) -> Vec<String> {
    let n = task.terms_of_a_key();
    let grammar = network.grammar();
    let mut all: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
    let mut documents: Vec<BTreeMap<Vec<u32>, u64>> = Vec::new();
    for document in 0..grammar.document_count() {
        let items: Vec<u32> = grammar.expand(grammar.document(document)).collect();
        let mut own = BTreeMap::new();
        for window in items.windows(n) {
            *own.entry(window.to_vec()).or_insert(0) += 1;
            *all.entry(window.to_vec()).or_insert(0) += 1;
        }
        documents.push(own);
    }
    let kept = |sequence: &Vec<u32>| all[sequence] >= limits.least;
    let top = limits.top.unwrap_or(usize::MAX);
    let by_count = |counts: &BTreeMap<Vec<u32>, u64>| {
        let mut rows: Vec<(Vec<u32>, u64)> = counts
            .iter()
            .filter(|(sequence, _)| kept(sequence))
            .map(|(sequence, &count)| (sequence.clone(), count))
            .collect();
        rows.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        rows.truncate(top);
        rows
    };
    let mut rows = Vec::new();
    match task {
        Task::SequenceCount { .. } => {
            for (sequence, count) in by_count(&all) {
                rows.push(format!("{},{count}", shown(&sequence)));
            }
        }
        Task::SequenceCountPerDocument { .. } => {
            for (own, number) in documents.iter().zip(&network.documents()[..]) {
                for (sequence, count) in by_count(own) {
                    rows.push(format!("{},d{number},{count}", shown(&sequence)));
                }
            }
        }
        _ => {
            for sequence in all.keys().filter(|sequence| kept(sequence)) {
                let mut of_sequence: Vec<(u32, u64)> = documents
                    .iter()
                    .zip(&network.documents()[..])
                    .filter_map(|(own, &number)| Some((number, *own.get(sequence)?)))
                    .collect();
                of_sequence.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
                of_sequence.truncate(top);
                for (number, count) in of_sequence {
                    rows.push(format!("{},d{number},{count}", shown(sequence)));
                }
            }
        }
    }
    rows
}

/// The pairs of each document's items that are at most so far apart, with how often they come.
fn pairs_of(network: &Network, window: usize, ordered: bool) -> BTreeMap<[u32; 2], u64> {
    let grammar = network.grammar();
    let mut pairs = BTreeMap::new();
    for document in 0..grammar.document_count() {
        let items: Vec<u32> = grammar.expand(grammar.document(document)).collect();
        for (place, &first) in items.iter().enumerate() {
            for &second in items[place + 1..].iter().take(window) {
                let is_swapped = !ordered && second < first;
                let pair = if is_swapped { [second, first] } else { [first, second] };
                *pairs.entry(pair).or_insert(0) += 1;
            }
        }
    }
    pairs
}

/// The rows of co-occurrence that a plain program gives.
fn expected_pairs(network: &Network, window: usize, ordered: bool, limits: &Limits) -> Vec<String> {
    let pairs = pairs_of(network, window, ordered).into_iter();
    let mut rows: Vec<([u32; 2], u64)> = pairs.filter(|row| row.1 >= limits.least).collect();
    rows.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    rows.truncate(limits.top.unwrap_or(usize::MAX));
    rows.iter().map(|([first, second], count)| format!("{first:06},{second:06},{count}")).collect()
}

/// The rows of collocations that a plain program gives, with the scores of the formulae.
fn expected_scores(
    network: &Network,
    window: usize,
    measure: Measure,
    limits: &Limits,
) -> Vec<String> {
    let grammar = network.grammar();
    let mut totals: BTreeMap<u32, u64> = BTreeMap::new();
    for document in 0..grammar.document_count() {
        let items = grammar.expand(grammar.document(document));
        items.for_each(|item| *totals.entry(item).or_default() += 1);
    }
    let words = totals.values().sum();
    let pairs = pairs_of(network, window, true).into_iter();
    let rows = pairs.filter(|row| row.1 >= limits.least).map(|(pair, count)| {
        let [first, second] = pair.map(|term| totals[&term]);
        (pair, count, PairCounts::within(window + 1, count, first, second, words))
    });
    let mut rows: Vec<([u32; 2], u64, PairCounts)> = rows.collect();
    rows.sort_by(|one, other| score(measure, &other.2).total_cmp(&score(measure, &one.2)));
    rows.truncate(limits.top.unwrap_or(usize::MAX));
    let row = |([first, second], count, counts): &([u32; 2], u64, PairCounts)| {
        let scores = [pmi(counts), log_likelihood(counts), t_score(counts), log_dice(counts)];
        let scores = scores.map(|score| score.to_string()).join(",");
        format!("{first:06},{second:06},{count},{scores}")
    };
    rows.iter().map(row).collect()
}

fn answered(view: &View, task: Task, strategy: Strategy, limits: &Limits) -> Vec<String> {
    let mut work = Work::volatile(limits.memory);
    let limits = Limits { strategy: Some(strategy), ..*limits };
    rows(view, &*answer_with(&mut work, view, task, &limits).unwrap().answer)
}

fn tasks(n: usize) -> [Task; 3] {
    [
        Task::SequenceCount { n },
        Task::SequenceCountPerDocument { n },
        Task::RankedInvertedIndex { n },
    ]
}

fn check(network: &Network, n: usize, limits: &Limits) {
    let view = view(network.clone());
    for task in tasks(n) {
        let expected = expected(network, task, limits);
        for strategy in Strategy::ALL {
            let found = answered(&view, task, strategy, limits);
            assert_eq!(found, expected, "{task:?} {strategy} {limits:?}");
        }
    }
}

/// The same for tasks over pairs.
fn check_pairs(network: &Network, window: usize, limits: &Limits) {
    let view = view(network.clone());
    for strategy in Strategy::ALL {
        for ordered in [false, true] {
            let task = Task::Cooccurrence { window, ordered };
            let found = answered(&view, task, strategy, limits);
            let expected = expected_pairs(network, window, ordered, limits);
            assert_eq!(found, expected, "{task:?} {strategy} {limits:?}");
        }
        for measure in Measure::ALL {
            let task = Task::Collocations { window, measure };
            let found = answered(&view, task, strategy, limits);
            let expected = expected_scores(network, window, measure, limits);
            assert_eq!(found, expected, "{task:?} {strategy} {limits:?}");
        }
    }
}

proptest! {
    #[test]
    fn random_grammars_have_these_pairs(
        shape in shapes(),
        window in prop_oneof![1_usize..6, 1_usize..=64],
        least in prop_oneof![Just(1), 2_u64..5],
        top in prop_oneof![Just(None), (0_usize..4).prop_map(Some)],
        memory in prop_oneof![Just(1 << 30), Just(1 << 12), Just(0)],
    ) {
        let limits = Limits { strategy: None, least, top, memory };
        check_pairs(&shape.network(), window, &limits);
    }

    #[test]
    fn random_grammars(
        shape in shapes(),
        n in 1_usize..=8,
        least in prop_oneof![Just(1), 2_u64..5],
        top in prop_oneof![Just(None), (0_usize..4).prop_map(Some)],
        memory in prop_oneof![Just(1 << 30), Just(1 << 12), Just(0)],
    ) {
        let limits = Limits { strategy: None, least, top, memory };
        check(&shape.network(), n, &limits);
    }
}

/// A network of one part.
fn of_rules(items: u32, root: Vec<u32>, bodies: Vec<Vec<u32>>, starts: Vec<u32>) -> Network {
    let parts = vec![Part { root: 0..root.len() as u32, rules: 0..bodies.len() as u32 }];
    let documents = (0..starts.len() as u32 - 1).collect();
    made(items, root, bodies, parts, starts, documents)
}

#[test]
fn documents_go_on_in_the_next_part_and_end_between_symbols() {
    // Rule 0 is `a b`; it belongs to the first part, as rule 1 (`b a`) to the second.
    let parts = vec![Part { root: 0..3, rules: 0..1 }, Part { root: 3..7, rules: 1..2 }];
    let root = vec![2, 2, 0, 3, 1, 3, 0];
    let network =
        made(2, root, vec![vec![0, 1], vec![1, 0]], parts, vec![0, 5, 5, 6, 7], vec![1, 2, 5, 8]);
    for n in 1..=8 {
        for memory in [0, 1 << 30] {
            check(&network, n, &Limits { memory, ..Limits::default() });
        }
    }
    for window in [1, 2, 5, 64] {
        for memory in [0, 1 << 30] {
            check_pairs(&network, window, &Limits { memory, ..Limits::default() });
        }
    }
}

#[test]
fn the_first_row_of_one_document() {
    let network = of_rules(2, vec![0, 1, 0], Vec::new(), vec![0, 3]);
    check(&network, 1, &Limits { top: Some(1), memory: 0, ..Limits::default() });
}

#[test]
fn answers_of_several_parts() {
    // More pairs than a part of an answer has rows.
    let mut random = Random::new(3);
    let items = 1500;
    let root: Vec<u32> = (0..60_000).map(|_| random.below(items) as u32).collect();
    let end = root.len() as u32;
    let network = of_rules(items as u32, root, Vec::new(), vec![0, 30_000, end]);
    let task = Task::Collocations { window: 5, measure: Measure::Pmi };
    for top in [None, Some(270_000)] {
        let limits = Limits { top, ..Limits::default() };
        let found = answered(&view(network.clone()), task, Strategy::TopDown, &limits);
        assert!(found.len() > 1 << 18);
        assert!(found == expected_scores(&network, 5, Measure::Pmi, &limits));
    }
}

#[test]
fn more_rules_than_items() {
    // Each rule is the next one alone, and the last one three items.
    let depth = 9;
    let bodies = (1..depth).map(|next| vec![3 + next]).chain([vec![0, 1, 2]]).collect();
    let network = of_rules(3, vec![3, 3, 4, 0, 5], bodies, vec![0, 1, 1, 3, 5]);
    for n in 1..=4 {
        for memory in [0, 1 << 30] {
            check(&network, n, &Limits { memory, ..Limits::default() });
            check_pairs(&network, n, &Limits { memory, ..Limits::default() });
        }
    }
}

#[test]
fn counts_above_32_bits() {
    // Every rule is the next one twice, and a document has the first one twice: 2^40 items, all the same.
    let depth = 40;
    let bodies = (1..=depth).map(|next| vec![1 + next; 2]).chain([vec![0]]).collect();
    let network = of_rules(1, vec![1, 1, 1 + depth, 1], bodies, vec![0, 2, 3, 4]);
    let view = view(network);
    for n in [1, 2, 8] {
        let sums = [(2_u64 << depth) + 1 - n, 2 - n.min(2), (1 << depth) + 1 - n];
        for strategy in Strategy::ALL {
            for memory in [0, 1 << 20, 1 << 30] {
                let limits = Limits { memory, ..Limits::default() };
                let asked = |task| answered(&view, task, strategy, &limits);
                let sequence = shown(&vec![0; n as usize]);
                let n = n as usize;
                let all = format!("{sequence},{}", sums.iter().sum::<u64>());
                assert_eq!(asked(Task::SequenceCount { n }), [all]);
                let rows = |document: usize| format!("{sequence},d{document},{}", sums[document]);
                let expected: Vec<String> =
                    (0..3).filter(|&document| sums[document] > 0).map(rows).collect();
                assert_eq!(asked(Task::SequenceCountPerDocument { n }), expected);
                let mut ranked = vec![rows(0), rows(2)];
                ranked.extend((sums[1] > 0).then(|| rows(1)));
                assert_eq!(asked(Task::RankedInvertedIndex { n }), ranked);
            }
        }
    }
    for strategy in Strategy::ALL {
        let pairs = Task::Cooccurrence { window: 3, ordered: false };
        let found = answered(&view, pairs, strategy, &Limits::default());
        // At each of three distances, of both long documents.
        let sum: u64 = (1..=3).map(|distance| (3_u64 << depth) - 2 * distance).sum();
        assert_eq!(found, [format!("000000,000000,{sum}")]);
    }
}

#[test]
fn skewed_keys_do_not_fit_memory_and_are_cut() {
    // Half of the root is one item, the rest has few kinds; all keys begin with the same bits.
    let mut noise = 1_u64;
    let mut next = |limit: u64| {
        noise =
            noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((noise >> 33) % limit) as u32
    };
    let items = 1 << 18;
    let symbols = (0..20_000).map(|place| match place % 2 {
        0 => 7,
        _ => 5 + next(6),
    });
    let mut root: Vec<u32> = symbols.collect();
    root.extend(vec![7; 20_000]);
    root.extend((0..3000).map(|_| items + next(3)));
    let bodies = vec![vec![items + 1, 7, 7], vec![items + 2; 9], vec![7, 7, 6]];
    let end = root.len() as u32;
    let network = of_rules(items, root, bodies, vec![0, 30_000, 30_001, 42_000, end]);
    for n in [1, 2, 3, 5, 8] {
        // An operation has room for some thousand records, or for some hundred.
        for memory in [1 << 21, 1 << 18] {
            check(&network, n, &Limits { memory, ..Limits::default() });
        }
        check(&network, n, &Limits { memory: 1 << 18, least: 700, top: Some(3), strategy: None });
    }
    let limits = Limits { memory: 1 << 18, ..Limits::default() };
    let pairs = Task::Cooccurrence { window: 2, ordered: false };
    let found = answered(&view(network.clone()), pairs, Strategy::TopDown, &limits);
    assert_eq!(found, expected_pairs(&network, 2, false, &limits));
    let few = Limits { least: 700, top: Some(3), ..limits };
    let scores = Task::Collocations { window: 2, measure: Measure::Pmi };
    let found = answered(&view(network.clone()), scores, Strategy::TopDown, &few);
    assert_eq!(found, expected_scores(&network, 2, Measure::Pmi, &few));
}
