//! The order of rules: children first while they are worked on, and at the last, as a grammar has them,
//! parents first.
//!
//! O(symbols) time over flat arrays; besides the grammar itself 12 bytes a rule.

use rayon::prelude::*;
use tadoc_core::Grammar;
use tadoc_core::parallel::split;

use super::prune::Bodies;

/// Marks a rule that has no number yet, and in the end one that nothing uses.
const UNNUMBERED: u32 = u32::MAX;

/// Rules whose bodies are put in their place by a thread, before the next ones.
const RULES_AT_A_TIME: usize = 1 << 13;

/// Numbers rules so that parents come before children, drops those that the root does not reach, and
/// puts the grammar together.
///
/// The symbol `token_count + r` stands for rule `r`, whose body is
/// `body_symbols[body_starts[r]..body_starts[r + 1]]`; `body_starts` has one entry more than there
/// are rules. `document_starts` cuts the root, with its length as the last entry.
///
/// The root is read first, and a rule gets the next number when its last use has been read; then the
/// bodies are read in the order of their numbers (Kahn's order). It depends on the grammar's shape
/// alone and not on the numbers that the rules came with.
///
/// # Panics
/// If a rule contains itself, a symbol does not exist, or the boundaries are wrong.
pub fn into_grammar(
    token_count: u32,
    root: &[u32],
    document_starts: &[u32],
    body_symbols: &[u32],
    body_starts: &[u32],
) -> Grammar {
    let rule_count = body_starts.len().saturating_sub(1);
    let body = |rule: u32| {
        let rule = rule as usize;
        &body_symbols[body_starts[rule] as usize..body_starts[rule + 1] as usize]
    };

    let mut uses = vec![0_u32; rule_count];
    for_each_rule(token_count, root, |rule| uses[rule as usize] += 1);
    for_each_rule(token_count, body_symbols, |rule| uses[rule as usize] += 1);

    // A rule that nothing uses takes its own uses of others with it.
    let mut unused: Vec<u32> =
        (0..rule_count as u32).filter(|&rule| uses[rule as usize] == 0).collect();
    while let Some(parent) = unused.pop() {
        for_each_rule(token_count, body(parent), |rule| {
            uses[rule as usize] -= 1;
            if uses[rule as usize] == 0 {
                unused.push(rule);
            }
        });
    }

    // `order` is both the queue and the result: a rule's place in it is its number.
    let mut numbers = vec![UNNUMBERED; rule_count];
    let mut order: Vec<u32> = Vec::with_capacity(rule_count);
    let mut symbol_count = root.len();
    let mut read = 0;
    let mut current = root;
    loop {
        for_each_rule(token_count, current, |rule| {
            uses[rule as usize] -= 1;
            if uses[rule as usize] == 0 {
                numbers[rule as usize] = order.len() as u32;
                order.push(rule);
            }
        });
        let Some(&rule) = order.get(read) else { break };
        read += 1;
        current = body(rule);
        symbol_count += current.len();
    }
    assert!(uses.iter().all(|&uses| uses == 0), "a rule contains itself");

    let renumbered = |&symbol: &u32| match symbol.checked_sub(token_count) {
        None => symbol,
        Some(rule) => token_count + numbers[rule as usize],
    };
    let mut rule_starts = Vec::with_capacity(order.len() + 1);
    rule_starts.push(root.len() as u32);
    for &rule in &order {
        rule_starts.push(rule_starts[rule_starts.len() - 1] + body(rule).len() as u32);
    }
    let mut symbols = vec![0_u32; symbol_count];
    let (new_root, new_bodies) = symbols.split_at_mut(root.len());
    let groups = order.chunks(RULES_AT_A_TIME);
    let length = |group: &[u32]| group.iter().map(|&rule| body(rule).len()).sum();
    let stretches = split(new_bodies, groups.clone().map(length));
    let fill = |place: &mut u32, symbol: &u32| *place = renumbered(symbol);
    new_root.par_iter_mut().zip(root).for_each(|(place, symbol)| fill(place, symbol));
    stretches.into_par_iter().zip(groups.collect::<Vec<_>>()).for_each(|(stretch, group)| {
        let bodies = group.iter().flat_map(|&rule| body(rule));
        stretch.iter_mut().zip(bodies).for_each(|(place, symbol)| fill(place, symbol));
    });
    Grammar::new(token_count, symbols, rule_starts, document_starts.to_vec())
        .unwrap_or_else(|error| panic!("a builder made a wrong grammar: {error}"))
}

/// Numbers rules so that children come before parents: rule `r` then uses only rules below `r`; those that
/// the root does not reach are dropped. The symbol `token_count + r` stands for rule `r`, in the root and in
/// the bodies; symbols beyond the rules stay.
///
/// # Panics
/// If a rule contains itself or a symbol does not exist.
pub fn children_first(token_count: u32, root: &mut [u32], bodies: Bodies) -> Bodies {
    let rule_count = bodies.len();
    let rule_of = |symbol: u32| {
        symbol.checked_sub(token_count).map(|rule| rule as usize).filter(|&rule| rule < rule_count)
    };
    let mut numbers = vec![UNNUMBERED; rule_count];
    let mut order: Vec<u32> = Vec::with_capacity(rule_count);
    // Rules that are being read, with what is left of their bodies.
    let mut open: Vec<(usize, &[u32])> = Vec::new();
    for rule in root.iter().filter_map(|&symbol| rule_of(symbol)) {
        if numbers[rule] == UNNUMBERED {
            open.push((rule, bodies.body(rule)));
        }
        while let Some((rule, rest)) = open.last_mut() {
            let unread = |symbol: u32| rule_of(symbol).filter(|&rule| numbers[rule] == UNNUMBERED);
            match rest.iter().position(|&symbol| unread(symbol).is_some()) {
                Some(place) => {
                    let child = unread(rest[place]).expect("it was just found");
                    *rest = &rest[place..];
                    open.push((child, bodies.body(child)));
                    assert!(open.len() <= rule_count, "a rule contains itself");
                }
                None => {
                    numbers[*rule] = order.len() as u32;
                    order.push(*rule as u32);
                    open.pop();
                }
            }
        }
    }
    let renumbered = |symbol: u32| match rule_of(symbol) {
        None => symbol,
        Some(rule) => token_count + numbers[rule],
    };
    let mut sorted = Bodies {
        symbols: Vec::with_capacity(bodies.symbols.len()),
        starts: Vec::with_capacity(order.len() + 1),
    };
    sorted.starts.push(0);
    for &rule in &order {
        sorted.symbols.extend(bodies.body(rule as usize).iter().map(|&symbol| renumbered(symbol)));
        sorted.close();
    }
    root.par_iter_mut().for_each(|symbol| *symbol = renumbered(*symbol));
    sorted
}

/// Calls `visit` with each rule among the symbols.
fn for_each_rule(token_count: u32, symbols: &[u32], mut visit: impl FnMut(u32)) {
    for &symbol in symbols {
        if let Some(rule) = symbol.checked_sub(token_count) {
            visit(rule);
        }
    }
}
