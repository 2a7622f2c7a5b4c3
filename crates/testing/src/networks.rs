//! Random and awkward networks, and what plain programs say of them: every document is written out.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tadoc_core::answer::columns::{TERM_VECTORS, TERM_WEIGHTS};
use tadoc_core::answer::{Answer, Labels, Names, Position, Value};
use tadoc_core::{Array, Grammar, Network, Part, Terms, View};
use tadoc_oracle::Random;

/// What a random network looks like; all the rest follows from it.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Makes networks differ.
    pub seed: u64,
    /// How many items there are.
    pub items: u32,
    /// Parts, each with rules of its own.
    pub parts: u32,
    /// Rules of a part.
    pub rules: u32,
    /// Symbols of a rule, at most.
    pub body: u32,
    /// Symbols of a part's root.
    pub root: u32,
    /// Documents; some are empty.
    pub documents: u32,
    /// Of a hundred symbols, so many are rules where there are any.
    pub rule_share: u32,
    /// Items that a rule may expand to.
    pub longest: u64,
    /// A rule uses one of so many that follow it: few make a deep network.
    pub reach: u32,
}

/// Shapes of small networks, with all that is awkward.
pub fn shapes() -> impl Strategy<Value = Shape> {
    let documents = prop_oneof![Just(0_u32), Just(1), Just(4), Just(300), 2..20_u32];
    let sizes = (1..60_u32, 1..4_u32, 0..60_u32, 0..9_u32, 0..300_u32, 0..95_u32, 1..300_u64);
    let reach = prop_oneof![1..4_u32, Just(1000)];
    (any::<u64>(), documents, sizes, reach).prop_map(|(seed, documents, sizes, reach)| {
        let (items, parts, rules, body, root, rule_share, longest) = sizes;
        Shape { seed, items, parts, rules, body, root, documents, rule_share, longest, reach }
    })
}

/// A number below a limit, which may be zero.
fn below(random: &mut Random, limit: u32) -> u32 {
    random.below(u64::from(limit.max(1))) as u32
}

impl Shape {
    /// A rule that has room among those from `least` on, or an item; with its length. Small numbers
    /// come often.
    fn symbol(
        &self,
        random: &mut Random,
        least: u32,
        reach: u32,
        room: u64,
        lengths: &[u64],
    ) -> (u32, u64) {
        let rules = (lengths.len() as u32 - least).min(reach);
        if rules > 0 && below(random, 100) < self.rule_share {
            let limit = 1 + below(random, rules);
            let rule = least + below(random, limit);
            let length = lengths[rule as usize];
            if (1..=room).contains(&length) {
                return (self.items + rule, length);
            }
        }
        let limit = 1 + below(random, self.items);
        (below(random, limit), 1)
    }

    /// The network.
    pub fn network(&self) -> Network {
        let mut random = Random::new(self.seed);
        let (mut root, mut bodies, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        for part in 0..self.parts {
            let first = part * self.rules;
            let mut lengths = vec![0_u64; self.rules as usize];
            let mut of_part = vec![Vec::new(); self.rules as usize];
            // Symbols are of this part, as if it were alone, and are moved to its rules.
            let moved = |symbol: u32| if symbol < self.items { symbol } else { symbol + first };
            for rule in (0..self.rules).rev() {
                for _ in 0..below(&mut random, self.body + 1) {
                    let room = self.longest.saturating_sub(lengths[rule as usize]);
                    let (symbol, length) =
                        self.symbol(&mut random, rule + 1, self.reach, room, &lengths);
                    of_part[rule as usize].push(moved(symbol));
                    lengths[rule as usize] += length;
                }
            }
            let start = root.len() as u32;
            let length = if self.documents == 0 { 0 } else { self.root };
            for _ in 0..length {
                let (symbol, _) = self.symbol(&mut random, 0, u32::MAX, u64::MAX, &lengths);
                root.push(moved(symbol));
            }
            bodies.extend(of_part);
            parts.push(Part { root: start..root.len() as u32, rules: first..first + self.rules });
        }
        let end = root.len() as u32;
        let mut starts: Vec<u32> =
            (0..self.documents).map(|_| below(&mut random, end + 1)).collect();
        starts.sort_unstable();
        match starts.first_mut() {
            Some(first) => *first = 0,
            None => starts.push(0),
        }
        if self.documents > 0 {
            starts.push(end);
        }
        let documents = (0..self.documents).map(|document| 2 * document + 1).collect();
        made(self.items, root, bodies, parts, starts, documents)
    }
}

/// Puts a network together.
pub fn made(
    items: u32,
    root: Vec<u32>,
    bodies: Vec<Vec<u32>>,
    parts: Vec<Part>,
    document_starts: Vec<u32>,
    documents: Vec<u32>,
) -> Network {
    let mut symbols = root;
    let mut rule_starts = vec![symbols.len() as u32];
    for body in bodies {
        symbols.extend(body);
        rule_starts.push(symbols.len() as u32);
    }
    let grammar = Grammar::new(items, symbols, rule_starts, document_starts).unwrap();
    Network::new(grammar, parts, documents).unwrap()
}

/// Rules that each are the next one twice, below two documents: 2^40 items and more of few symbols.
pub fn deep(depth: u32) -> Network {
    let items = 3;
    let mut bodies: Vec<Vec<u32>> =
        (1..depth).map(|next| vec![items + next, next % items, items + next]).collect();
    bodies.push(vec![2, 1]);
    let root = vec![items, 0, items + depth / 2, items];
    let parts = vec![Part { root: 0..4, rules: 0..depth }];
    made(items, root, bodies, parts, vec![0, 2, 4], vec![0, 1])
}

/// The same network with counts instead of a root.
pub fn counts_only(network: &Network) -> Network {
    let grammar = network.grammar();
    let mut counts = vec![0_u32; (grammar.token_count() + grammar.rule_count()) as usize];
    grammar.root().iter().for_each(|&symbol| counts[symbol as usize] += 1);
    let first = grammar.rule_starts()[0];
    let starts: Vec<u32> = grammar.rule_starts().iter().map(|start| start - first).collect();
    let symbols = grammar.symbols()[first as usize..].to_vec();
    let documents = vec![0; grammar.document_starts().len()];
    let bare = Grammar::new(grammar.token_count(), symbols, starts, documents).unwrap();
    let parts = network.parts().iter().map(|part| Part { root: 0..0, rules: part.rules.clone() });
    let numbers = network.documents().to_vec();
    Network::of_counts(bare, parts.collect(), numbers, Array::from(counts)).unwrap()
}

/// A view of a network: its terms are their numbers.
pub fn view(network: Network) -> View {
    let names: Vec<String> =
        (0..network.grammar().token_count()).map(|term| format!("{term:06}")).collect();
    let ends: Vec<u64> = (1..=names.len() as u64).map(|end| 6 * end).collect();
    View::new(Terms::new(names.concat().into_bytes(), ends).unwrap(), network).unwrap()
}

/// The items of every document, written out.
pub fn texts(network: &Network) -> Vec<Vec<u32>> {
    let grammar = network.grammar();
    (0..grammar.document_count())
        .map(|document| grammar.expand(grammar.document(document)).collect())
        .collect()
}

/// A chain of rules, each with the next one and an item, below documents of a few symbols.
pub fn chain(depth: u32, documents: u32) -> Network {
    let items = 7;
    let bodies = (0..depth)
        .map(|rule| {
            let next = if rule + 1 < depth { items + rule + 1 } else { 0 };
            vec![rule % items, next, (rule / 3) % items]
        })
        .collect();
    let root: Vec<u32> = (0..3 * documents).map(|place| items + place * 31 % depth).collect();
    let parts = vec![Part { root: 0..root.len() as u32, rules: 0..depth }];
    let starts = (0..=documents).map(|document| 3 * document).collect();
    made(items, root, bodies, parts, starts, (0..documents).collect())
}

/// Rules that all use one rule and one item, each in several documents: rows of very many edges.
pub fn frequent(rules: u32, documents: u32) -> Network {
    let items = 50;
    let last = items + rules - 1;
    let mut bodies: Vec<Vec<u32>> =
        (0..rules - 1).map(|rule| vec![3, last, rule % items, 3]).collect();
    bodies.push(vec![5, 6]);
    let root: Vec<u32> =
        (0..4 * documents.max(rules)).map(|place| items + (place * 7) % rules).collect();
    let parts = vec![Part { root: 0..root.len() as u32, rules: 0..rules }];
    let length = root.len() as u32;
    let starts = (0..=documents)
        .map(|document| (u64::from(length) * u64::from(document) / u64::from(documents)) as u32)
        .collect();
    made(items, root, bodies, parts, starts, (0..documents).collect())
}

/// For every sequence of `n` items the documents that have it, with how often; ascending.
pub fn index(network: &Network, n: usize) -> BTreeMap<Vec<u32>, BTreeMap<u32, u32>> {
    let mut index: BTreeMap<Vec<u32>, BTreeMap<u32, u32>> = BTreeMap::new();
    for (document, text) in texts(network).iter().enumerate() {
        for window in text.windows(n) {
            *index.entry(window.to_vec()).or_default().entry(document as u32).or_default() += 1;
        }
    }
    index
}

fn shown(values: &[Value<'_>]) -> String {
    let one = |value: &Value<'_>| match value {
        Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
        Value::Terms(terms) => String::from_utf8(terms.join(&b' ')).unwrap(),
        Value::Count(count) => count.to_string(),
        Value::Real(real) => real.to_string(),
        Value::Time(_) => panic!("no times here"),
    };
    values.iter().map(one).collect::<Vec<_>>().join(",")
}

/// The names of all documents of the corpus.
fn document_names(network: &Network) -> Vec<String> {
    let count = network.documents().last().map_or(0, |&last| last + 1);
    (0..count).map(|number| format!("d{number}")).collect()
}

/// All rows, by part and by range; and as a matrix, which must have the same counts.
pub fn rows(view: &View, answer: &dyn Answer) -> Vec<String> {
    let names = document_names(view.network());
    let names = Names::from_iter(&names);
    let labels = Labels { terms: view.terms().texts(), documents: names.texts() };
    let mut all = Vec::new();
    let mut at = Position::default();
    while let Some(rows) = answer.next_part(&mut at, labels).unwrap() {
        assert_eq!(rows.columns(), answer.columns());
        let before = all.len();
        rows.visit(0..rows.len(), &mut |values| {
            assert_eq!(values.len(), rows.columns().len());
            all.push(shown(values));
        });
        assert_eq!(rows.len() as usize, all.len() - before);
        let step = 1 + rows.len() / 5;
        let mut part = Vec::new();
        for start in (0..rows.len()).step_by(step as usize) {
            let end = rows.len().min(start + step);
            rows.visit(start..end, &mut |values| part.push(shown(values)));
        }
        assert_eq!(part, all[before..]);
    }
    assert!(answer.next_part(&mut at, labels).unwrap().is_none());
    let matrix = answer.entries(labels);
    let is_matrix = [TERM_VECTORS, TERM_WEIGHTS].contains(&answer.columns());
    assert_eq!(matrix.is_some(), is_matrix);
    if let Some(entries) = matrix.transpose().unwrap() {
        let (documents, terms) = entries.shape();
        assert_eq!(documents as usize, view.network().documents().len());
        assert_eq!(entries.len() as usize, all.len());
        let mut place = 0;
        entries.visit_entries(0..entries.len(), &mut |document, term, count| {
            let number = view.network().documents()[document as usize];
            assert!(term < terms && all[place].starts_with(&format!("d{number},")));
            assert!(all[place].ends_with(&format!(",{}", shown(&[count]))));
            place += 1;
        });
        assert_eq!(place, all.len());
    }
    all
}
