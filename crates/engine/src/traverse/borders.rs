//! The first and last items of every rule, so that what lies across the border of two symbols can be seen
//! without expanding either.
//!
//! Cost: O(symbols of rules) and twice `reach` numbers a rule.

use rayon::prelude::*;
use tadoc_core::Network;

use super::RULES_AT_ONCE;

/// Heads and tails of rules.
#[derive(Debug, Clone)]
pub struct Borders<'n> {
    network: &'n Network,
    reach: usize,
    heads: Vec<u32>,
    tails: Vec<u32>,
}

impl<'n> Borders<'n> {
    /// The first and last `reach` items of every rule.
    pub fn new(network: &'n Network, reach: usize) -> Self {
        let room = network.grammar().rule_count() as usize * reach;
        let mut borders = Self { network, reach, heads: vec![0; room], tails: vec![0; room] };
        if reach > 0 {
            rayon::scope(|scope| {
                let (heads, tails) = (&mut borders.heads, &mut borders.tails);
                scope.spawn(|_| fill(network, reach, heads, false));
                scope.spawn(|_| fill(network, reach, tails, true));
            });
        }
        borders
    }

    /// How many items a head or tail has: `reach`, or all of a short rule.
    fn length(&self, rule: u32) -> usize {
        self.network.lengths()[rule as usize].min(self.reach as u64) as usize
    }

    /// The first items of a rule.
    pub fn head(&self, rule: u32) -> &[u32] {
        let start = rule as usize * self.reach;
        &self.heads[start..start + self.length(rule)]
    }

    /// The last items of a rule.
    pub fn tail(&self, rule: u32) -> &[u32] {
        let end = (rule as usize + 1) * self.reach;
        &self.tails[end - self.length(rule)..end]
    }

    /// For each symbol of a row (the body of a rule, or a stretch of one document), calls `each` with the
    /// last `reach` items before it (fewer at the start) and with its first `reach` items (fewer if it
    /// is shorter). `before` are symbols that stand before the row.
    pub fn visit(&self, before: &[u32], row: &[u32], mut each: impl FnMut(&[u32], &[u32])) {
        let reach = self.reach;
        // The items before a symbol are the last ones of this buffer, which is emptied now and then.
        let mut passed: Vec<u32> = self.last_items(before);
        for &symbol in row {
            let item = [symbol];
            let rule = self.network.grammar().rule_of(symbol);
            let head = rule.map_or(&item[..], |rule| self.head(rule));
            let head = &head[..head.len().min(reach)];
            each(&passed[passed.len().saturating_sub(reach)..], head);
            if passed.len() > 64 * (reach + 1) {
                passed.drain(..passed.len() - reach);
            }
            passed.extend_from_slice(rule.map_or(&item[..], |rule| self.tail(rule)));
        }
    }

    /// The last `reach` items of a row of symbols.
    fn last_items(&self, row: &[u32]) -> Vec<u32> {
        let mut first = row.len();
        let mut length = 0;
        while first > 0 && length < self.reach as u64 {
            first -= 1;
            length += self.network.length_of(row[first]);
        }
        let mut items = Vec::new();
        for &symbol in &row[first..] {
            match self.network.grammar().rule_of(symbol) {
                None => items.push(symbol),
                Some(rule) => items.extend_from_slice(self.tail(rule)),
            }
        }
        items
    }
}

/// Fills the heads of all rules, children first; or the tails, which end where their room ends.
fn fill(network: &Network, reach: usize, rows: &mut [u32], tails: bool) {
    let grammar = network.grammar().slices();
    for level in network.levels().windows(2).rev() {
        let (own, below) = rows.split_at_mut(level[1] as usize * reach);
        let own = &mut own[level[0] as usize * reach..];
        own.par_chunks_mut(reach).with_min_len(RULES_AT_ONCE).enumerate().for_each(
            |(place, own)| {
                let mut filled = 0;
                let mut take = |items: &[u32]| {
                    let count = items.len().min(reach - filled);
                    if tails {
                        let end = reach - filled;
                        own[end - count..end].copy_from_slice(&items[items.len() - count..]);
                    } else {
                        own[filled..filled + count].copy_from_slice(&items[..count]);
                    }
                    filled += count;
                    filled < reach
                };
                let mut take_symbol = |&symbol: &u32| match grammar.rule_of(symbol) {
                    None => take(&[symbol]),
                    Some(child) => {
                        let length = network.lengths()[child as usize].min(reach as u64) as usize;
                        let start = (child - level[1]) as usize * reach;
                        take(if tails {
                            &below[start + reach - length..start + reach]
                        } else {
                            &below[start..start + length]
                        })
                    }
                };
                let body = grammar.body(level[0] + place as u32);
                // Ends at the first symbol that finds no more room.
                if tails {
                    body.iter().rev().all(&mut take_symbol);
                } else {
                    body.iter().all(&mut take_symbol);
                }
            },
        );
    }
}
