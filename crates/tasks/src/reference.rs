//! Networks for tests, and what plain programs say of them: every document is written out.

use proptest::prelude::*;
use tadoc_core::answer::columns::{TERM_VECTORS, TERM_WEIGHTS};
use tadoc_core::answer::{Answer, Labels, Names, Position, Value};
use tadoc_core::{Array, Grammar, Network, Part, Terms, View};

use crate::plan::Sizes;

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

/// Numbers without a pattern that could matter.
struct Noise(u64);

impl Noise {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 % limit.max(1)
    }
}

impl Shape {
    /// A rule that has room among those from `least` on, or an item; with its length. Small numbers come often.
    fn symbol(
        &self,
        noise: &mut Noise,
        least: u32,
        reach: u32,
        room: u64,
        lengths: &[u64],
    ) -> (u32, u64) {
        let rules = (lengths.len() as u32 - least).min(reach);
        if rules > 0 && noise.below(100) < self.rule_share {
            let limit = 1 + noise.below(rules);
            let rule = least + noise.below(limit);
            let length = lengths[rule as usize];
            if (1..=room).contains(&length) {
                return (self.items + rule, length);
            }
        }
        let limit = 1 + noise.below(self.items);
        (noise.below(limit), 1)
    }

    /// The network.
    pub fn network(&self) -> Network {
        let mut noise = Noise(self.seed);
        let (mut root, mut bodies, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        for part in 0..self.parts {
            let first = part * self.rules;
            let mut lengths = vec![0_u64; self.rules as usize];
            let mut of_part = vec![Vec::new(); self.rules as usize];
            // Symbols are of this part, as if it were alone, and are moved to its rules.
            let moved = |symbol: u32| if symbol < self.items { symbol } else { symbol + first };
            for rule in (0..self.rules).rev() {
                for _ in 0..noise.below(self.body + 1) {
                    let room = self.longest.saturating_sub(lengths[rule as usize]);
                    let (symbol, length) =
                        self.symbol(&mut noise, rule + 1, self.reach, room, &lengths);
                    of_part[rule as usize].push(moved(symbol));
                    lengths[rule as usize] += length;
                }
            }
            let start = root.len() as u32;
            let length = if self.documents == 0 { 0 } else { self.root };
            for _ in 0..length {
                let (symbol, _) = self.symbol(&mut noise, 0, u32::MAX, u64::MAX, &lengths);
                root.push(moved(symbol));
            }
            bodies.extend(of_part);
            parts.push(Part { root: start..root.len() as u32, rules: first..first + self.rules });
        }
        let end = root.len() as u32;
        let mut starts: Vec<u32> = (0..self.documents).map(|_| noise.below(end + 1)).collect();
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

/// Sizes that cut small networks into many operations, and into hash tables and counters.
pub fn sizes() -> impl Strategy<Value = Sizes> {
    let size = || prop_oneof![1..5_u32, 5..80_u32, Just(u32::MAX)];
    let some = (size(), size(), size(), size(), any::<bool>());
    some.prop_map(|(symbols, stretch, keys, hashed, dense)| Sizes {
        symbols,
        stretch,
        keys,
        dense,
        hashed,
    })
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
fn names(network: &Network) -> Vec<String> {
    let count = network.documents().last().map_or(0, |&last| last + 1);
    (0..count).map(|number| format!("d{number}")).collect()
}

/// All rows, by part and by range; and as a matrix, which must have the same counts.
pub fn rows(view: &View, answer: &dyn Answer) -> Vec<String> {
    let names = names(view.network());
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
