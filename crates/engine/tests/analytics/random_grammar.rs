//! Grammars as no builder makes them: rules of one symbol, of none, and rules that nothing uses; several parts, with
//! documents that go over their borders, and documents without symbols.

use proptest::prelude::*;
use tadoc_core::{Grammar, Network, Part, Terms, View};
use tadoc_oracle::{Document, Random};

/// What a random grammar looks like. Proptest makes it smaller where a test fails; all the rest follows from it.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub seed: u64,
    pub terms: u32,
    pub parts: usize,
    /// Rules of a part, at most.
    pub rules: u32,
    /// Symbols of a rule, at most.
    pub body: u64,
    /// Symbols of a part's root, at most.
    pub root: u64,
    pub documents: usize,
    /// Of a hundred symbols, so many are rules where there are any.
    pub rule_share: u64,
    /// Items that a rule may expand to.
    pub longest: u64,
}

pub fn shapes() -> impl Strategy<Value = Shape> {
    // Terms around powers of two fill the bits of their keys.
    let terms = prop_oneof![1..6_u32, 6..40_u32, Just(128), Just(129), Just(256), 250..260_u32];
    let sizes = (1..4_usize, 0..40_u32, 0..7_u64, 0..60_u64, 0..12_usize, 0..95_u64, 1..200_u64);
    (any::<u64>(), terms, sizes).prop_map(|(seed, terms, sizes)| {
        let (parts, rules, body, root, documents, rule_share, longest) = sizes;
        Shape { seed, terms, parts, rules, body, root, documents, rule_share, longest }
    })
}

/// A grammar with its parts, and for each document its number in a corpus of `corpus` documents.
#[derive(Debug, Clone)]
pub struct Made {
    pub network: Network,
    /// Documents that the corpus has; some are not in the network.
    pub corpus: usize,
}

impl Shape {
    pub fn network(&self) -> Made {
        let mut random = Random::new(self.seed);
        let (mut root, mut bodies, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        let mut first_rule = 0;
        for _ in 0..self.parts {
            let rules = random.below(u64::from(self.rules) + 1) as u32;
            let of_part = self.bodies(&mut random, first_rule, rules);
            let lengths = of_part.iter().map(|(_, length)| *length).collect::<Vec<_>>();
            let length = if self.documents == 0 { 0 } else { random.below(self.root + 1) };
            let start = root.len() as u32;
            for _ in 0..length {
                root.push(self.symbol(&mut random, first_rule, 0, &lengths, u64::MAX).0);
            }
            bodies.extend(of_part.into_iter().map(|(body, _)| body));
            let rules = first_rule..first_rule + rules;
            first_rule = rules.end;
            parts.push(Part { root: start..root.len() as u32, rules });
        }
        let documents = self.document_starts(&mut random, root.len() as u64);
        let mut rule_starts = vec![root.len() as u32];
        let mut symbols = root;
        for body in bodies {
            symbols.extend(body);
            rule_starts.push(symbols.len() as u32);
        }
        let mut numbers = Vec::new();
        let mut corpus = random.below(3) as u32;
        for _ in 1..documents.len() {
            numbers.push(corpus);
            corpus += 1 + u32::from(random.below(4) == 0) * random.below(3) as u32;
        }
        let grammar = Grammar::new(self.terms, symbols, rule_starts, documents).unwrap();
        let network = Network::new(grammar, parts, numbers).unwrap();
        Made { network, corpus: corpus as usize }
    }

    /// The bodies of a part's rules with their lengths in items, the last rule first made.
    fn bodies(&self, random: &mut Random, first_rule: u32, rules: u32) -> Vec<(Vec<u32>, u64)> {
        let mut bodies = vec![(Vec::new(), 0); rules as usize];
        let mut lengths = vec![0; rules as usize];
        for rule in (0..rules).rev() {
            let size = random.below(self.body + 1);
            let (mut body, mut sum) = (Vec::new(), 0);
            for _ in 0..size {
                let room = self.longest.saturating_sub(sum);
                let (symbol, length) = self.symbol(random, first_rule, rule + 1, &lengths, room);
                body.push(symbol);
                sum += length;
            }
            lengths[rule as usize] = sum;
            bodies[rule as usize] = (body, sum);
        }
        bodies
    }

    /// A symbol, and its length: a term, or one of the part's rules from `least` on that has room.
    fn symbol(
        &self,
        random: &mut Random,
        first_rule: u32,
        least: u32,
        lengths: &[u64],
        room: u64,
    ) -> (u32, u64) {
        let rules = lengths.len() as u64 - u64::from(least);
        if rules > 0 && random.below(100) < self.rule_share {
            // Few rules are used often, many seldom or never.
            let rank =
                if random.below(2) == 0 { random.rank() % rules } else { random.below(rules) };
            let rule = least + rank as u32;
            let length = lengths[rule as usize];
            // What expands to nothing may be there, but not be used.
            if (1..=room).contains(&length) {
                return (self.terms + first_rule + rule, length);
            }
        }
        ((random.rank() % u64::from(self.terms)) as u32, 1)
    }

    fn document_starts(&self, random: &mut Random, root: u64) -> Vec<u32> {
        let mut starts = vec![0];
        if self.documents > 0 {
            starts.extend((1..self.documents).map(|_| random.below(root + 1) as u32));
            starts.push(root as u32);
        }
        starts.sort_unstable();
        starts
    }
}

/// So many terms in byte order, of several lengths.
pub fn terms(count: u32) -> Terms {
    let digits = |number: u32| {
        let mut number = number;
        let mut digits = Vec::new();
        while number > 0 {
            digits.push(b'a' + (number % 3) as u8);
            number /= 3;
        }
        digits.push(b'x');
        digits
    };
    let mut words: Vec<Vec<u8>> = (0..count).map(digits).collect();
    words.sort();
    let ends = words.iter().scan(0, |end, word| {
        *end += word.len() as u64;
        Some(*end)
    });
    let ends: Vec<u64> = ends.collect();
    Terms::new(words.concat(), ends).unwrap()
}

impl Made {
    pub fn view(&self) -> View {
        View::new(terms(self.network.grammar().token_count()), self.network.clone()).unwrap()
    }

    /// The items of every document of the network.
    pub fn expanded(&self) -> Vec<Vec<u32>> {
        let grammar = self.network.grammar();
        let documents = 0..grammar.document_count();
        documents.map(|place| grammar.expand(grammar.document(place)).collect()).collect()
    }

    /// The corpus as text, in which documents that are not in the network have words too.
    pub fn documents(&self) -> Vec<Document> {
        let terms = terms(self.network.grammar().token_count());
        let mut texts = vec![b"not asked for".to_vec(); self.corpus];
        for (&number, items) in self.network.documents().iter().zip(self.expanded()) {
            let words: Vec<&[u8]> = items.iter().map(|&item| terms.get(item)).collect();
            texts[number as usize] = words.join(&b" "[..]);
        }
        tadoc_testing::numbered(texts)
    }

    /// Which documents of the corpus are in the network.
    pub fn chosen(&self) -> Vec<usize> {
        self.network.documents().iter().map(|&number| number as usize).collect()
    }
}
