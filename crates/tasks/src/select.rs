//! Which strategy costs less for tasks that ask of each document: estimated from a sample of the documents.
//!
//! Both ways are tried on the sample, counting steps and not doing the work: top-down visits the bodies of all rules that a document uses,
//! bottom-up the entries of the tables that it meets, after all tables have been made. For tasks over the whole corpus there is nothing to weigh:
//! weights visit every symbol once, tables no fewer.

use tadoc_core::{Limits, Network, Strategy, Task};

use crate::Result;
use crate::bounds::Bound;
use crate::queue::{Queue, QueueRow};
use crate::tables::limit;
use crate::work::Work;

/// Documents are sampled until they have so many symbols, or this part of all.
const SAMPLED_SYMBOLS: u64 = 1 << 14;
const SAMPLED_PART: u64 = 64;

/// Why what is asked of the whole corpus goes top-down.
pub const OVER_ALL: &str = "weights visit every symbol once, tables no fewer";

/// What a step costs, in the same unit: a symbol looked at, a rule gone into, a table gone into, an entry of it read, and one made. Only the
/// proportions matter.
const SYMBOL: f64 = 1.0;
const RULE: f64 = 2.5;
const TABLE: f64 = 1.0;
const ENTRY_READ: f64 = 1.0;
const ENTRY_MADE: f64 = 1.5;

/// What either strategy would cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// By weights of every document.
    pub top_down: f64,
    /// By tables of rules.
    pub bottom_up: f64,
}

impl Estimate {
    /// The strategy that costs less.
    pub fn cheaper(&self) -> Strategy {
        if self.bottom_up < self.top_down { Strategy::BottomUp } else { Strategy::TopDown }
    }

    /// Why it is.
    pub fn reason(&self) -> String {
        format!(
            "top-down by estimate {:.1}, bottom-up {:.1} million steps",
            self.top_down / 1e6,
            self.bottom_up / 1e6
        )
    }
}

/// The strategy that was asked for; else top-down for tasks that have nothing to weigh, and what
/// `estimate` finds for those that ask of each document. With the reason for it.
///
/// # Errors
/// What `estimate` gives.
pub fn choose(
    task: Task,
    limits: &Limits,
    estimate: impl FnOnce() -> Result<(Strategy, String)>,
) -> Result<(Strategy, String)> {
    if let Some(strategy) = limits.strategy {
        return Ok((strategy, String::new()));
    }
    let reason = match task {
        Task::InvertedIndex | Task::TermVector | Task::TfIdf(_) => return estimate(),
        Task::RankedInvertedIndex { .. } => {
            "a sequence has few places, and the documents of a rule are known"
        }
        Task::SequenceCountPerDocument { .. } => {
            "a sequence is in few rules, so tables save little"
        }
        _ => OVER_ALL,
    };
    Ok((Strategy::TopDown, reason.to_string()))
}

/// Estimates what it costs to visit the terms of every document; `bounds` are those of rules.
pub fn per_document(work: &Work<'_>, network: &Network, bounds: &[Bound]) -> Result<Estimate> {
    let (limit, made) = limit(bounds);
    let grammar = network.grammar();
    let documents = grammar.document_count();
    let total = grammar.root().len() as u64;
    let wanted = (total / SAMPLED_PART).max(SAMPLED_SYMBOLS).min(total);
    let mut row = QueueRow::new(work, bounds.len())?;
    let steps = Steps { network, bounds, limit };
    let (mut sampled, mut top_down, mut bottom_up) = (0_u64, 0.0, 0.0);
    // Documents in a scattered order that meets each once: steps of a number that is prime to theirs.
    let step = (documents as f64 * 0.618) as usize | 1;
    let step = (step..).find(|&step| are_coprime(step, documents)).unwrap_or(1);
    let mut document = 0;
    for _ in 0..documents {
        if sampled >= wanted {
            break;
        }
        let symbols = grammar.document(document);
        sampled += symbols.len() as u64;
        let queue = &mut row.queue();
        top_down += steps.top_down(symbols, queue);
        bottom_up += steps.bottom_up(symbols, queue);
        document = (document + step) % documents;
    }
    let scale = total as f64 / sampled.max(1) as f64;
    let bottom_up = bottom_up * scale + made as f64 * ENTRY_MADE;
    Ok(Estimate { top_down: top_down * scale, bottom_up })
}

fn are_coprime(one: usize, other: usize) -> bool {
    let (mut one, mut other) = (one, other);
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one == 1
}

struct Steps<'a> {
    network: &'a Network,
    bounds: &'a [Bound],
    /// The largest bound that gets a table.
    limit: u32,
}

impl Steps<'_> {
    fn top_down(&self, symbols: &[u32], queue: &mut Queue<'_>) -> f64 {
        let grammar = self.network.grammar().slices();
        let mut steps = symbols.len() as f64 * SYMBOL;
        symbols
            .iter()
            .filter_map(|&symbol| grammar.rule_of(symbol))
            .for_each(|rule| queue.put(rule));
        queue.drain(|rule, queue| {
            let body = grammar.body(rule);
            steps += RULE + body.len() as f64 * SYMBOL;
            let sub_rules = body.iter().filter_map(|&symbol| grammar.rule_of(symbol));
            sub_rules.for_each(|sub_rule| queue.put(sub_rule));
        });
        steps
    }

    /// A table is read as often as its rule is met; a rule without one, once.
    fn bottom_up(&self, symbols: &[u32], queue: &mut Queue<'_>) -> f64 {
        let grammar = self.network.grammar().slices();
        let meet = |rule: u32, queue: &mut Queue<'_>| match self.bounds[rule as usize][0] {
            entries if entries <= self.limit => TABLE + f64::from(entries) * ENTRY_READ,
            _ => {
                queue.put(rule);
                0.0
            }
        };
        let mut steps = symbols.len() as f64 * SYMBOL;
        for rule in symbols.iter().filter_map(|&symbol| grammar.rule_of(symbol)) {
            steps += meet(rule, queue);
        }
        queue.drain(|rule, queue| {
            let body = grammar.body(rule);
            steps += RULE + body.len() as f64 * SYMBOL;
            for sub_rule in body.iter().filter_map(|&symbol| grammar.rule_of(symbol)) {
                steps += meet(sub_rule, queue);
            }
        });
        steps
    }
}
