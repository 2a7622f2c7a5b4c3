//! Rules that do not pay are written out where they are used.
//!
//! A rule used once is no repetition; a rule that saves fewer symbols than the least gain costs more
//! (a number, a length, a cache line at every query) than it saves. Writing them out flattens the
//! grammar: chains of thousands of rules become bodies of many symbols, some twenty levels deep.
//!
//! Cost: O(symbols), with 9 bytes a rule; writing is on all threads.

use tadoc_core::parallel::map_chunks;

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
    pub fn body(&self, rule: usize) -> &[u32] {
        &self.symbols[self.starts[rule] as usize..self.starts[rule + 1] as usize]
    }

    /// Puts other rules behind these.
    pub fn append(&mut self, others: &Self) {
        let before = self.symbols.len() as u32;
        self.symbols.extend_from_slice(&others.symbols);
        self.starts.extend(others.starts[1..].iter().map(|start| before + start));
    }

    /// Ends the rule whose symbols were pushed last.
    pub fn close(&mut self) {
        self.starts.push(self.symbols.len() as u32);
    }
}

/// Writes out what does not pay. `first_rule + r` stands for rule `r`, and a rule uses only rules of
/// lower numbers. Rules written out keep their number with an empty body. Root symbols from
/// `first_rule + rules` on (barriers) are left as they are.
///
/// A rule of `length` symbols and `uses` uses saves `(uses - 1) * (length - 1)` symbols where its first
/// use is its definition; it stays if that is at least `least_gain`.
pub fn prune(
    root: &[u32],
    bodies: &Bodies,
    first_rule: u32,
    least_gain: u64,
) -> (Vec<u32>, Bodies) {
    let rules = bodies.len();
    let rule_of = |symbol: u32| {
        symbol.checked_sub(first_rule).map(|rule| rule as usize).filter(|&rule| rule < rules)
    };
    let mut uses = vec![0_u32; rules];
    for rule in root.iter().chain(&bodies.symbols).filter_map(|&symbol| rule_of(symbol)) {
        uses[rule] += 1;
    }
    // First what is used once: that changes lengths, but no number of uses.
    let mut written_out: Vec<bool> = uses.iter().map(|&uses| uses < 2).collect();
    let mut lengths = vec![0_u32; rules];
    for rule in 0..rules {
        lengths[rule] = bodies.body(rule).iter().fold(0_u32, |sum, &symbol| {
            sum.saturating_add(match rule_of(symbol) {
                Some(child) if written_out[child] => lengths[child],
                _ => 1,
            })
        });
        written_out[rule] |= lengths[rule] < 2;
    }
    // Then, parents first, what gains too little: that changes the number of uses of its children.
    let mut below = Vec::new();
    for rule in (0..rules).rev() {
        if written_out[rule] && lengths[rule] >= 2 {
            continue;
        }
        let gain =
            u64::from(uses[rule].saturating_sub(1)) * u64::from(lengths[rule].saturating_sub(1));
        if gain >= least_gain {
            continue;
        }
        written_out[rule] = true;
        // Its once-used children are part of its body already.
        below.push(rule);
        while let Some(part) = below.pop() {
            for child in bodies.body(part).iter().filter_map(|&symbol| rule_of(symbol)) {
                if uses[child] == 1 {
                    below.push(child);
                } else {
                    uses[child] += uses[rule] - 1;
                }
            }
        }
    }
    let write = |symbols: &[u32], into: &mut Vec<u32>| {
        Writer { bodies, first_rule, written_out: &written_out, above: Vec::new() }
            .write(symbols, into)
    };
    let parts = map_chunks(&written_out, RULES_AT_A_TIME, &|part, written_out: &[bool]| {
        let mut pruned = Bodies::new();
        for (rule, written) in (part * RULES_AT_A_TIME..).zip(written_out) {
            if !written {
                write(bodies.body(rule), &mut pruned.symbols);
            }
            pruned.close();
        }
        pruned
    });
    let mut pruned = Bodies::new();
    pruned.symbols.reserve_exact(parts.iter().map(|part| part.symbols.len()).sum());
    pruned.starts.reserve_exact(rules);
    parts.iter().for_each(|part| pruned.append(part));
    let new_root = map_chunks(root, SYMBOLS_AT_A_TIME, &|_, symbols: &[u32]| {
        let mut written = Vec::with_capacity(symbols.len());
        write(symbols, &mut written);
        written
    });
    (new_root.concat(), pruned)
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
