//! Which strategy costs less: estimated from the view, before anything is done.
//!
//! For tasks that ask of each document, both ways are tried on a sample of the documents, counting steps and
//! not doing the work: top-down visits the symbols of all rules that a document uses, bottom-up the entries of the
//! tables that it meets, after all tables have been made. For tasks over the whole corpus there is
//! nothing to weigh: weights visit every symbol once, tables no fewer.

use tadoc_core::{Network, Strategy};

use crate::traverse::{OrderedSet, is_dense, table_limit};

/// Documents are sampled until they have so many symbols, or this part of all.
const SAMPLED_SYMBOLS: u64 = 1 << 14;
const SAMPLED_PART: u64 = 64;

/// What a step costs, in the same unit: a symbol looked at, a rule gone into, a table gone into, an entry of it read,
/// and one made. Only the proportions matter; `cargo xtask bench analytics --strategies` shows whether they choose well.
const SYMBOL: f64 = 1.0;
const RULE: f64 = 2.5;
const TABLE: f64 = 1.0;
const ENTRY_READ: f64 = 0.3;
const ENTRY_MADE: f64 = 0.5;

/// What either strategy would cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub(super) top_down: f64,
    pub(super) bottom_up: f64,
}

impl Estimate {
    pub(super) fn cheaper(&self) -> Strategy {
        if self.bottom_up < self.top_down { Strategy::BottomUp } else { Strategy::TopDown }
    }

    pub(super) fn reason(&self) -> String {
        format!(
            "top-down by estimate {:.1}, bottom-up {:.1} million steps",
            self.top_down / 1e6,
            self.bottom_up / 1e6
        )
    }
}

/// Estimates what it costs to visit the items of every document.
pub(super) fn per_document(network: &Network, memory: u64) -> Estimate {
    let (limit, made) = table_limit(network, memory);
    let grammar = network.grammar();
    let starts = grammar.document_starts();
    let documents = starts.len() - 1;
    let total = grammar.root().len() as u64;
    let wanted = (total / SAMPLED_PART).max(SAMPLED_SYMBOLS).min(total);
    let mut seen = OrderedSet::new(grammar.rule_count() as usize);
    let (mut sampled, mut top_down, mut bottom_up) = (0_u64, 0.0, 0.0);
    // Documents in a scattered order that meets each once: steps of a number that is prime to theirs.
    let step = (documents as f64 * 0.618) as usize | 1;
    let step = (step..).find(|&step| coprime(step, documents)).unwrap_or(1);
    let mut document = 0;
    for _ in 0..documents {
        if sampled >= wanted {
            break;
        }
        let symbols = grammar.document(document);
        sampled += symbols.len() as u64;
        let (down, up) = steps(network, symbols, limit, &mut seen);
        top_down += down;
        bottom_up += up;
        document = (document + step) % documents;
    }
    let scale = total as f64 / sampled.max(1) as f64;
    Estimate { top_down: top_down * scale, bottom_up: bottom_up * scale + made as f64 * ENTRY_MADE }
}

fn coprime(one: usize, other: usize) -> bool {
    let (mut one, mut other) = (one, other);
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one == 1
}

/// The steps of both strategies for one document.
fn steps(network: &Network, symbols: &[u32], limit: u64, seen: &mut OrderedSet) -> (f64, f64) {
    let grammar = network.grammar().slices();
    let rules_of = |symbols: &[u32], seen: &mut OrderedSet| {
        symbols
            .iter()
            .filter_map(|&symbol| grammar.rule_of(symbol))
            .for_each(|rule| seen.insert(rule));
    };
    let own = symbols.len() as f64 * SYMBOL;
    if is_dense(network, symbols.len()) {
        // Counted in the same way with tables and without.
        return (own, own);
    }
    let (mut top_down, mut bottom_up, mut bottom_up_rules) = (own, own, 0.0);
    rules_of(symbols, seen);
    seen.drain(|rule, seen| {
        top_down += RULE + grammar.body(rule).len() as f64 * SYMBOL;
        rules_of(grammar.body(rule), seen);
    });
    // Bottom-up, a table is read as often as its rule is met; a rule without one, once.
    let mut meet = |row: &[u32], seen: &mut OrderedSet| {
        for rule in row.iter().filter_map(|&symbol| grammar.rule_of(symbol)) {
            let length = network.lengths()[rule as usize];
            if length <= limit {
                bottom_up += TABLE + length as f64 * ENTRY_READ;
            } else {
                seen.insert(rule);
            }
        }
    };
    meet(symbols, seen);
    seen.drain(|rule, seen| {
        let body = grammar.body(rule);
        meet(body, seen);
        bottom_up_rules += RULE + body.len() as f64 * SYMBOL;
    });
    bottom_up += bottom_up_rules;
    (top_down, bottom_up)
}
