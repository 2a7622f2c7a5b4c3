//! The ways over a grammar, each against the plain expansion of random grammars, and of one that is large enough for
//! what goes on many threads.

use std::collections::BTreeMap;
use std::ops::Range;

use proptest::prelude::*;
use tadoc_core::{Grammar, Network, Part};
use tadoc_engine::traverse::{
    Borders, DocumentLists, Postings, Tables, Walker, fold, map_documents, map_documents_in,
    occurrences,
};
use tadoc_oracle::Random;

use super::random_grammar::shapes;
use tadoc_testing::archives::thread_pool;

/// How often each rule and item comes when a row of symbols is expanded: every use is gone into.
fn plain_occurrences(grammar: &Grammar, row: &[u32]) -> (Vec<u64>, Vec<u64>) {
    let mut rules = vec![0; grammar.rule_count() as usize];
    let mut items = vec![0; grammar.token_count() as usize];
    let mut open = vec![row];
    while let Some(row) = open.pop() {
        for &symbol in row {
            match grammar.rule_of(symbol) {
                None => items[symbol as usize] += 1,
                Some(rule) => {
                    rules[rule as usize] += 1;
                    open.push(grammar.body(rule));
                }
            }
        }
    }
    (rules, items)
}

/// Counts that are not zero, by number.
fn counted(counts: Vec<u64>) -> Vec<(u32, u64)> {
    (0..).zip(counts).filter(|&(_, count)| count > 0).collect()
}

fn check_occurrences(network: &Network, stretch: Range<u32>) {
    let grammar = network.grammar();
    let row = &grammar.root()[stretch.start as usize..stretch.end as usize];
    let (rules, items) = plain_occurrences(grammar, row);
    let found = occurrences(network, stretch.clone());
    assert!(found.items == items && found.rules == rules, "{stretch:?}");
}

/// Items of documents, by walkers and as lists, with tables and without.
fn check_documents(network: &Network, tables: Option<&Tables>) {
    let grammar = network.grammar();
    let count = grammar.document_count();
    let expected: Vec<(Vec<u64>, Vec<u64>)> =
        (0..count).map(|place| plain_occurrences(grammar, grammar.document(place))).collect();
    let lists = map_documents(network, tables, |walker, documents| {
        let mut lists = DocumentLists::new(documents.start);
        for document in documents {
            let rules: Vec<(u32, u64)> = walker.rules(document).iter().collect();
            assert_eq!(rules, counted(expected[document].0.clone()));
            let found = walker.document(document);
            let items: Vec<(u32, u64)> = found.iter().collect();
            assert_eq!(items, counted(expected[document].1.clone()));
            lists.items.extend_from_slice(found.items);
            lists.counts.extend_from_slice(found.counts);
            lists.close();
        }
        lists
    });
    let seen: Vec<usize> =
        lists.iter().flat_map(|list| list.documents().map(|(document, _)| document)).collect();
    assert!(seen.iter().copied().eq(0..count), "documents are met once, in order");
    // A walker can go anywhere, and again.
    let mut walker = Walker::new(network, tables);
    for document in (0..count).rev().chain(0..count.min(2)) {
        let items: Vec<(u32, u64)> = walker.document(document).iter().collect();
        assert_eq!(items, counted(expected[document].1.clone()));
    }
    let some = count / 3..count - count / 4;
    let ranges = map_documents_in(network, tables, some.clone(), |_, documents| documents);
    assert!(ranges.into_iter().flatten().eq(some));
    let postings = Postings::new(&lists, grammar.token_count());
    let mut by_item: BTreeMap<u32, (Vec<u32>, Vec<u64>)> = BTreeMap::new();
    for (document, (_, items)) in expected.into_iter().enumerate() {
        for (item, count) in counted(items) {
            let (documents, counts) = by_item.entry(item).or_default();
            documents.push(document as u32);
            counts.push(count);
        }
    }
    for item in 0..grammar.token_count() {
        let (documents, counts) = by_item.remove(&item).unwrap_or_default();
        assert_eq!(postings.get(item), (&documents[..], &counts[..]));
    }
}

fn check_tables(network: &Network, memory: u64) -> Tables {
    let grammar = network.grammar();
    let tables = Tables::new(network, memory);
    for rule in 0..grammar.rule_count() {
        let table = tables.slices().get(rule);
        let length = network.lengths()[rule as usize];
        if table.is_empty() {
            // The longest rules have none, however much memory there is.
            assert!(memory < u64::MAX || length == 0 || length > 64, "rule {rule} has no table");
        } else {
            assert!(table.iter().copied().eq(grammar.expand(grammar.body(rule))), "rule {rule}");
        }
    }
    tables
}

fn check_fold(network: &Network) {
    let grammar = network.grammar();
    // A value that depends on the order of symbols, and on all of them.
    let mix = |sum: u64, more: u64| sum.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(7) ^ more;
    let values = fold(network, |body, of_rule| {
        body.iter().fold(1_u64, |sum, &symbol| {
            mix(sum, grammar.rule_of(symbol).map_or(symbol.into(), of_rule))
        })
    });
    let mut expected = vec![0_u64; grammar.rule_count() as usize];
    for rule in (0..grammar.rule_count()).rev() {
        expected[rule as usize] = grammar.body(rule).iter().fold(1_u64, |sum, &symbol| {
            mix(sum, grammar.rule_of(symbol).map_or(symbol.into(), |rule| expected[rule as usize]))
        });
    }
    assert!(values == expected);
}

fn check_borders(network: &Network, reach: usize) {
    let grammar = network.grammar();
    let borders = Borders::new(network, reach);
    let items = |row: &[u32]| grammar.expand(row).collect::<Vec<u32>>();
    let last = |items: &[u32]| items[items.len().saturating_sub(reach)..].to_vec();
    let first = |items: &[u32]| items[..items.len().min(reach)].to_vec();
    for rule in 0..grammar.rule_count() {
        let items = items(grammar.body(rule));
        assert_eq!(borders.head(rule), first(&items));
        assert_eq!(borders.tail(rule), last(&items));
    }
    for place in 0..grammar.document_count() {
        let document = grammar.document(place);
        for cut in [0, document.len() / 2, document.len()] {
            let (before, row) = document.split_at(cut);
            let mut at = cut;
            borders.visit(before, row, |passed, head| {
                assert_eq!(passed, last(&items(&document[..at])));
                assert_eq!(head, first(&items(&document[at..=at])));
                at += 1;
            });
            assert_eq!(at, document.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..Default::default() })]

    #[test]
    fn all_ways_equal_the_expansion(
        shape in shapes(),
        threads in 1..=8_usize,
        ends in (0..=100_u32, 0..=100_u32),
        memory in prop_oneof![Just(0), 0..3000_u64, Just(u64::MAX)],
        reach in 0..10_usize,
    ) {
        let network = shape.network().network;
        let root = network.grammar().root().len() as u32;
        let (one, other) = (root * ends.0 / 100, root * ends.1 / 100);
        thread_pool(threads).install(|| {
            check_occurrences(&network, 0..root);
            check_occurrences(&network, one.min(other)..one.max(other));
            prop_assert_eq!(occurrences(&network, ..), occurrences(&network, 0..root));
            check_documents(&network, None);
            check_documents(&network, Some(&check_tables(&network, memory)));
            check_fold(&network);
            check_borders(&network, reach);
            Ok(())
        })?;
    }
}

/// Rules in layers, each of which uses the next one: few levels, of many rules each.
struct Layered {
    parts: u32,
    layers: u32,
    /// Rules of a layer.
    width: u32,
    terms: u32,
    /// Symbols of a part's root.
    root: u32,
    document_starts: Vec<u32>,
}

impl Layered {
    fn network(&self) -> Network {
        let mut random = Random::new(17);
        let rules = self.layers * self.width;
        let (mut root, mut bodies) = (Vec::new(), Vec::new());
        let mut parts = Vec::new();
        for part in 0..self.parts {
            let first = part * rules;
            let mut symbol = |layer: u32| {
                let rule = layer < self.layers && random.below(3) > 0;
                if rule {
                    let place = random.below(self.width.into()) as u32;
                    self.terms + first + layer * self.width + place
                } else {
                    random.below(self.terms.into()) as u32
                }
            };
            let start = root.len() as u32;
            root.extend((0..self.root).map(|_| symbol(0)));
            for rule in 0..rules {
                let layer = rule / self.width;
                bodies.push((0..2 + rule % 3).map(|_| symbol(layer + 1)).collect::<Vec<u32>>());
            }
            parts.push(Part { root: start..root.len() as u32, rules: first..first + rules });
        }
        let mut symbols = root;
        let mut rule_starts = vec![symbols.len() as u32];
        for body in bodies {
            symbols.extend(body);
            rule_starts.push(symbols.len() as u32);
        }
        let documents = 0..self.document_starts.len() as u32 - 1;
        let grammar =
            Grammar::new(self.terms, symbols, rule_starts, self.document_starts.clone()).unwrap();
        let network = Network::new(grammar, parts, documents.collect()).unwrap();
        // As few levels as layers: a level has enough rules for several threads.
        assert!(network.levels().len() as u32 <= self.parts * self.layers + 1);
        network
    }
}

/// One part on eight threads: the root is counted in several tables, weights go down level by level, a large
/// document is counted densely.
#[test]
fn one_large_part_on_many_threads() {
    let layered = Layered {
        parts: 1,
        layers: 2,
        width: 10_000,
        terms: 50,
        root: 180_000,
        document_starts: vec![0, 5, 100_000, 100_000, 100_300, 180_000],
    };
    let network = layered.network();
    thread_pool(8).install(|| {
        check_occurrences(&network, 0..180_000);
        check_occurrences(&network, 17..99_999);
        check_occurrences(&network, 500..600);
        check_documents(&network, None);
        check_documents(&network, Some(&check_tables(&network, u64::MAX)));
        check_fold(&network);
    });
}

/// Two parts on eight threads, so that each has several; a document goes from one to the other.
#[test]
fn two_large_parts_on_many_threads() {
    let layered = Layered {
        parts: 2,
        layers: 2,
        width: 9_000,
        terms: 40,
        root: 90_000,
        document_starts: vec![0, 10_000, 170_000, 180_000],
    };
    let network = layered.network();
    thread_pool(8).install(|| {
        check_occurrences(&network, 0..180_000);
        check_occurrences(&network, 80_000..95_000);
        check_occurrences(&network, 90_000..90_000);
        check_documents(&network, None);
        check_fold(&network);
    });
}

/// Where one document has a large part of all symbols, a walker counts it densely and is still empty for the next one.
#[test]
fn dense_and_other_documents_in_turn() {
    let layered = Layered {
        parts: 1,
        layers: 1,
        width: 300,
        terms: 30,
        root: 150_000,
        document_starts: vec![0, 70_000, 70_010, 149_990, 150_000],
    };
    let network = layered.network();
    for threads in [1, 8] {
        thread_pool(threads).install(|| check_documents(&network, None));
    }
}

/// Documents of more symbols than are worked on at a time: an answer of several parts.
#[test]
fn an_answer_of_several_groups_of_documents() {
    use super::support::{Cell, Question, rows, text};
    use tadoc_core::{Limits, Task, View};
    // Every document is a run of one term and ends with another one.
    let length = 2_200_000_u32;
    let documents = 5_u32;
    let mut symbols = Vec::new();
    for document in 0..documents {
        symbols.extend(std::iter::repeat_n(document, length as usize - 1));
        symbols.push(documents);
    }
    let end = length * documents;
    let starts: Vec<u32> = (0..=documents).map(|document| document * length).collect();
    let grammar = Grammar::new(documents + 1, symbols, vec![end], starts).unwrap();
    let parts = vec![Part { root: 0..end, rules: 0..0 }];
    let network = Network::new(grammar, parts, (0..documents).collect()).unwrap();
    let view = View::new(super::random_grammar::terms(documents + 1), network).unwrap();
    let names = [&b"0"[..], b"1", b"2", b"3", b"4"];
    let question = Question::Task(Task::TermVector);
    let answered = question.ask(&view, &Limits::default()).unwrap();
    let expected: Vec<Vec<Cell>> = (0..documents)
        .flat_map(|document| {
            let row = |term: u32, count: u32| {
                let term = text(view.terms().get(term));
                vec![text(names[document as usize]), term, Cell::Count(count.into())]
            };
            [row(document, length - 1), row(documents, 1)]
        })
        .collect();
    assert_eq!(rows(&*answered.answer, &view, &names), expected);
}

/// Rows so long that what has passed is let go now and then.
#[test]
fn borders_of_long_rows() {
    for reach in [1, 3, 5] {
        let shape = super::random_grammar::Shape {
            seed: reach,
            terms: 20,
            parts: 1,
            rules: 30,
            body: 4,
            root: 1200,
            documents: 2,
            rule_share: 50,
            longest: 9,
        };
        check_borders(&shape.network().network, reach as usize);
    }
}
