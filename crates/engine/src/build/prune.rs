//! Rules that do not pay are written out where they are used.
//!
//! A rule used once is no repetition, and one of a single symbol says nothing. Writing them out flattens the
//! grammar: chains of thousands of rules become bodies of many symbols, some twenty levels deep.
//!
//! Cost: O(symbols) on all threads, with 5 bytes a rule.

use rayon::prelude::*;
use tadoc_core::parallel::{map_chunks, map_concat, split, tally};

/// Rules that a thread writes before the next ones.
const RULES_AT_A_TIME: usize = 1 << 13;
/// Symbols of the root that a thread writes before the next ones.
const SYMBOLS_AT_A_TIME: usize = 1 << 16;

/// The bodies of rules in one array; rule `r` is `symbols[starts[r]..starts[r + 1]]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bodies {
    /// All bodies, one after the other.
    pub symbols: Vec<u32>,
    /// Where each rule starts, with the end behind the last.
    pub starts: Vec<u32>,
}

impl Bodies {
    /// No rules yet.
    pub fn new() -> Self {
        Self { symbols: Vec::new(), starts: vec![0] }
    }

    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The body of a rule.
    #[inline]
    pub fn body(&self, rule: usize) -> &[u32] {
        &self.symbols[self.starts[rule] as usize..self.starts[rule + 1] as usize]
    }

    /// Puts other rules behind these.
    pub fn append(&mut self, others: &Self) {
        let before = self.symbols.len() as u32;
        self.symbols.extend_from_slice(&others.symbols);
        self.starts.extend(others.starts[1..].iter().map(|start| before + start));
    }

    /// Rules of several parts one after the other, on all threads.
    pub(crate) fn concat(parts: &[Self]) -> Self {
        let rows: Vec<&[u32]> = parts.iter().map(|part| &part.symbols[..]).collect();
        let symbols = map_concat(&rows, |_, symbol| symbol);
        let mut starts = vec![0_u32; parts.iter().map(Self::len).sum::<usize>() + 1];
        let stretches = split(&mut starts[1..], parts.iter().map(Self::len));
        let mut before = 0;
        let offsets = parts.iter().map(|part| {
            before += part.symbols.len() as u32;
            before - part.symbols.len() as u32
        });
        let offsets: Vec<u32> = offsets.collect();
        stretches.into_par_iter().zip(parts).zip(offsets).for_each(|((stretch, part), before)| {
            for (place, start) in stretch.iter_mut().zip(&part.starts[1..]) {
                *place = before + start;
            }
        });
        Self { symbols, starts }
    }

    /// Ends the rule whose symbols were pushed last.
    pub fn close(&mut self) {
        self.starts.push(self.symbols.len() as u32);
    }
}

/// Writes out what does not pay: rules that are used once, and those of one symbol. `first_rule + r` stands for rule `r`; rules
/// may use each other in any order as long as none contains itself, and none that is used is empty. Rules written out, and those that nothing uses, keep their
/// number with an empty body. Root symbols from `first_rule + rules` on (barriers) are left as they are.
///
/// A rule of `length` symbols and `uses` uses saves `(uses - 1) * (length - 1)` symbols where its first
/// use is its definition; it stays if that is more than none.
pub fn prune(root: &[u32], bodies: &Bodies, first_rule: u32) -> (Vec<u32>, Bodies) {
    let rules = bodies.len();
    let rule_of = |symbol: u32| {
        symbol.checked_sub(first_rule).map(|rule| rule as usize).filter(|&rule| rule < rules)
    };
    let mut uses = vec![0_u32; rules];
    tally(&mut uses, first_rule, &[root, &bodies.symbols], 0, |uses, _| *uses += 1);
    // A rule that nothing uses takes its own uses of others with it.
    let mut unused: Vec<usize> = (0..rules).filter(|&rule| uses[rule] == 0).collect();
    while let Some(parent) = unused.pop() {
        for child in bodies.body(parent).iter().filter_map(|&symbol| rule_of(symbol)) {
            uses[child] -= 1;
            if uses[child] == 0 {
                unused.push(child);
            }
        }
    }
    // Whoever uses a rule of one symbol uses that one as often: no other rule is used less for it.
    let is_short = |rule: usize| {
        let mut body = bodies.body(rule);
        loop {
            match body {
                &[symbol] => match rule_of(symbol) {
                    Some(child) if uses[child] < 2 => body = bodies.body(child),
                    _ => return true,
                },
                _ => return false,
            }
        }
    };
    let written_out: Vec<bool> =
        (0..rules).into_par_iter().map(|rule| uses[rule] < 2 || is_short(rule)).collect();
    drop(uses);
    let write = |symbols: &[u32], into: &mut Vec<u32>| {
        Writer { bodies, first_rule, written_out: &written_out, above: Vec::new() }
            .write(symbols, into)
    };
    let pruned = map_chunks(&written_out, RULES_AT_A_TIME, &|part, written_out: &[bool]| {
        let mut pruned = Bodies::new();
        for (rule, written) in (part * RULES_AT_A_TIME..).zip(written_out) {
            if !written {
                write(bodies.body(rule), &mut pruned.symbols);
            }
            pruned.close();
        }
        pruned
    });
    let new_root = map_chunks(root, SYMBOLS_AT_A_TIME, &|_, symbols: &[u32]| {
        let mut written = Vec::with_capacity(symbols.len());
        write(symbols, &mut written);
        written
    });
    let new_root: Vec<&[u32]> = new_root.iter().map(|part| &part[..]).collect();
    (map_concat(&new_root, |_, symbol| symbol), Bodies::concat(&pruned))
}

struct Writer<'b> {
    bodies: &'b Bodies,
    first_rule: u32,
    written_out: &'b [bool],
    above: Vec<&'b [u32]>,
}

impl<'b> Writer<'b> {
    /// Appends the symbols with the rules to be written out replaced by their bodies, to any depth.
    fn write(&mut self, symbols: &'b [u32], into: &mut Vec<u32>) {
        let mut current = symbols;
        loop {
            match current.split_first() {
                None => match self.above.pop() {
                    Some(rest) => current = rest,
                    None => return,
                },
                Some((&symbol, rest)) => {
                    let rule = symbol.wrapping_sub(self.first_rule) as usize;
                    if symbol >= self.first_rule && self.written_out.get(rule) == Some(&true) {
                        if !rest.is_empty() {
                            self.above.push(rest);
                        }
                        current = self.bodies.body(rule);
                    } else {
                        into.push(symbol);
                        current = rest;
                    }
                }
            }
        }
    }
}
