//! The grammar while it grows: rules over linked nodes, and the two properties kept after each token.
//!
//! Whatever makes two nodes neighbours puts the left one on a list of digrams to look at, and the
//! list is worked off before the next token: no recursion, and a node that was freed or changed in
//! between does no harm, since looking at a digram twice changes nothing.

use super::digrams::Digrams;
use super::nodes::{BARRIER, BORDER, Nodes, ROOT};

/// The guard of a rule number that is not in use. The root's border is no rule's guard.
const NO_GUARD: u32 = ROOT;

#[derive(Clone, Copy)]
struct Rule {
    /// The barrier that closes the ring of the rule's body.
    guard: u32,
    uses: u32,
}

/// The finished grammar in flat arrays, as [`super::into_grammar`] takes them.
pub(super) struct Flat {
    pub(super) root: Vec<u32>,
    pub(super) document_starts: Vec<u32>,
    pub(super) body_symbols: Vec<u32>,
    pub(super) body_starts: Vec<u32>,
}

pub(super) struct WorkingGrammar {
    token_count: u32,
    nodes: Nodes,
    rules: Vec<Rule>,
    free_rules: Vec<u32>,
    digrams: Digrams,
    /// Nodes whose digram is new and not looked at yet.
    unchecked: Vec<u32>,
}

impl WorkingGrammar {
    /// The empty grammar, for so many tokens in so many documents.
    ///
    /// # Panics
    /// If 31 bits are too few for them.
    pub(super) fn new(token_count: u32, length: usize, document_count: usize) -> Self {
        // The grammar is never longer than the text, and each rule has two symbols and a guard. Eight
        // more, for what exists for a moment only while a rule is made.
        let rule_limit = length as u64 / 2 + 8;
        let node_limit = length as u64 + document_count as u64 + rule_limit;
        let limit = u64::from(BARRIER);
        assert!(
            node_limit < limit && u64::from(token_count) + rule_limit < limit,
            "{length} tokens ({token_count} different ones) are more than Sequitur can number"
        );
        Self {
            token_count,
            nodes: Nodes::new(),
            rules: Vec::new(),
            free_rules: Vec::new(),
            digrams: Digrams::new(node_limit as u32),
            unchecked: Vec::new(),
        }
    }

    /// Ends the current document: what comes is in no digram with what was.
    pub(super) fn start_document(&mut self) {
        let border = self.nodes.allocate(BORDER);
        self.nodes.insert_behind(self.nodes.previous(ROOT), border);
    }

    /// Adds a token to the current document. O(1), amortised.
    pub(super) fn append(&mut self, token: u32) {
        let node = self.nodes.allocate(token);
        let last = self.nodes.previous(ROOT);
        self.nodes.insert_behind(last, node);
        self.check(last);
        while let Some(node) = self.unchecked.pop() {
            self.check(node);
        }
    }

    /// Makes the digram at `node` unique: enters it, or merges it with the one that stands elsewhere.
    fn check(&mut self, node: u32) {
        let (first, second) = self.nodes.digram(node);
        if first >= BARRIER || second >= BARRIER {
            return;
        }
        let Some(other) = self.digrams.find_or_insert(&self.nodes, node) else { return };
        if other == node {
            return;
        }
        // In a run `a a a` two equal digrams overlap and cannot both be replaced; in `a a a a` the
        // outer ones can, where the entry is the one in the middle.
        if self.nodes.next(other) == node {
            let before = self.nodes.previous(other);
            if self.nodes.symbol(before) == first {
                self.merge(node, before);
            }
        } else if self.nodes.next(node) == other {
            let behind = self.nodes.next(other);
            if self.nodes.digram(behind) == (first, second) {
                self.merge(node, behind);
            }
        } else {
            self.merge(node, other);
        }
    }

    /// Makes one of two equal digrams that do not overlap.
    fn merge(&mut self, node: u32, other: u32) {
        let rule = match (self.rule_with_body(other), self.rule_with_body(node)) {
            (Some(rule), Some(twin)) => self.unite(rule, twin),
            (Some(rule), None) => {
                self.replace(node, rule);
                rule
            }
            (None, Some(rule)) => {
                self.replace(other, rule);
                self.unchecked.push(node);
                rule
            }
            (None, None) => {
                let first = self.rule_of(self.nodes.symbol(node));
                match first.filter(|&first| self.rules[first as usize].uses == 2) {
                    Some(first) => self.extend(first, node, other),
                    None => self.make_rule(node, other),
                }
            }
        };
        let guard = self.rules[rule as usize].guard;
        self.dissolve_if_used_once(self.nodes.next(guard));
        self.dissolve_if_used_once(self.nodes.previous(guard));
    }

    /// The rule whose whole body is the digram at `node`.
    fn rule_with_body(&self, node: u32) -> Option<u32> {
        let before = self.nodes.previous(node);
        let guard = self.nodes.symbol(before);
        let behind = self.nodes.next(self.nodes.next(node));
        (guard >= BARRIER && guard != BORDER && before == behind).then(|| guard - BARRIER)
    }

    fn rule_of(&self, symbol: u32) -> Option<u32> {
        symbol.checked_sub(self.token_count)
    }

    /// Makes a rule of the digram at `node` and `other`, and puts it in their places.
    fn make_rule(&mut self, node: u32, other: u32) -> u32 {
        let (first, second) = self.nodes.digram(node);
        let rule = self.free_rules.pop().unwrap_or_else(|| {
            self.rules.push(Rule { guard: NO_GUARD, uses: 0 });
            self.rules.len() as u32 - 1
        });
        let guard = self.nodes.allocate(BARRIER + rule);
        self.rules[rule as usize] = Rule { guard, uses: 0 };
        self.replace(node, rule);
        self.replace(other, rule);
        for symbol in [first, second] {
            let copy = self.nodes.allocate(symbol);
            self.nodes.insert_behind(self.nodes.previous(guard), copy);
            if let Some(child) = self.rule_of(symbol) {
                self.rules[child as usize].uses += 1;
            }
        }
        self.unchecked.push(self.nodes.next(guard));
        rule
    }

    /// Puts `rule` in the place of the digram at `node`.
    fn replace(&mut self, node: u32, rule: u32) {
        let before = self.nodes.previous(node);
        let second = self.nodes.next(node);
        self.forget(before);
        self.forget(node);
        self.forget(second);
        for symbol in [self.nodes.symbol(node), self.nodes.symbol(second)] {
            if let Some(child) = self.rule_of(symbol) {
                self.rules[child as usize].uses -= 1;
            }
        }
        self.nodes.unlink(second);
        self.nodes.release(second);
        self.nodes.set_symbol(node, self.token_count + rule);
        self.rules[rule as usize].uses += 1;
        self.unchecked.push(node);
        self.unchecked.push(before);
    }

    /// Takes the symbols behind `node` and `other`, the only two uses of `rule`, into the rule.
    ///
    /// The same as to make a rule and dissolve `rule` in it, for less: a passage that comes again
    /// grows by this step with each token.
    fn extend(&mut self, rule: u32, node: u32, other: u32) -> u32 {
        for start in [node, other] {
            self.forget(start);
            self.forget(self.nodes.next(start));
        }
        let kept = self.nodes.next(other);
        let spare = self.nodes.next(node);
        if let Some(child) = self.rule_of(self.nodes.symbol(kept)) {
            self.rules[child as usize].uses -= 1;
        }
        self.nodes.unlink(kept);
        self.nodes.unlink(spare);
        self.nodes.release(spare);
        let last = self.nodes.previous(self.rules[rule as usize].guard);
        self.nodes.insert_behind(last, kept);
        self.unchecked.push(node);
        self.unchecked.push(other);
        self.unchecked.push(last);
        rule
    }

    /// Puts `rule` in the place of its `twin`, which has the same body, everywhere.
    ///
    /// O(nodes): uses are not chained, because two rules hardly ever become equal (both must have been
    /// parsed differently and one of them be changed inside).
    fn unite(&mut self, rule: u32, twin: u32) -> u32 {
        for node in self.nodes.numbers() {
            if self.nodes.symbol(node) == self.token_count + twin {
                let before = self.nodes.previous(node);
                self.forget(before);
                self.forget(node);
                self.nodes.set_symbol(node, self.token_count + rule);
                self.rules[rule as usize].uses += 1;
                self.unchecked.push(node);
                self.unchecked.push(before);
            }
        }
        let guard = self.rules[twin as usize].guard;
        let first = self.nodes.next(guard);
        let second = self.nodes.next(first);
        self.forget(first);
        for node in [first, second] {
            if let Some(child) = self.rule_of(self.nodes.symbol(node)) {
                self.rules[child as usize].uses -= 1;
            }
            self.nodes.release(node);
        }
        self.release_rule(twin);
        self.unchecked.push(self.nodes.next(self.rules[rule as usize].guard));
        rule
    }

    /// Puts the body of the rule at `node` in its place, if there is a rule and this its only use.
    fn dissolve_if_used_once(&mut self, node: u32) {
        let Some(rule) = self.rule_of(self.nodes.symbol(node)) else { return };
        let Rule { guard, uses } = self.rules[rule as usize];
        if uses != 1 {
            return;
        }
        let before = self.nodes.previous(node);
        let behind = self.nodes.next(node);
        let first = self.nodes.next(guard);
        let last = self.nodes.previous(guard);
        self.forget(before);
        self.forget(node);
        self.nodes.join(before, first);
        self.nodes.join(last, behind);
        self.nodes.release(node);
        self.release_rule(rule);
        self.unchecked.push(last);
        self.unchecked.push(before);
    }

    /// Frees the number and the guard of a rule whose body is gone.
    fn release_rule(&mut self, rule: u32) {
        self.nodes.release(self.rules[rule as usize].guard);
        self.rules[rule as usize] = Rule { guard: NO_GUARD, uses: 0 };
        self.free_rules.push(rule);
    }

    /// Takes the digram at `node` out of the table, because it is about to change.
    fn forget(&mut self, node: u32) {
        let (first, second) = self.nodes.digram(node);
        if first >= BARRIER || second >= BARRIER {
            return;
        }
        if self.digrams.remove(&self.nodes, node) && first == second {
            // In a run `a a a` the entry stood for an overlapping digram as well.
            self.unchecked.push(self.nodes.previous(node));
            self.unchecked.push(self.nodes.next(node));
        }
    }

    /// The grammar in flat arrays, without borders; unused rule numbers have empty bodies.
    pub(super) fn flatten(self, document_count: usize) -> Flat {
        let Self { nodes, rules, digrams, .. } = self;
        drop(digrams);
        let mut root = Vec::new();
        let mut document_starts = Vec::with_capacity(document_count + 1);
        if document_count > 0 {
            document_starts.push(0);
        }
        let mut node = nodes.next(ROOT);
        while node != ROOT {
            match nodes.symbol(node) {
                BORDER => document_starts.push(root.len() as u32),
                symbol => root.push(symbol),
            }
            node = nodes.next(node);
        }
        document_starts.push(root.len() as u32);

        let mut body_symbols = Vec::new();
        let mut body_starts = Vec::with_capacity(rules.len() + 1);
        for rule in &rules {
            body_starts.push(body_symbols.len() as u32);
            if rule.guard != NO_GUARD {
                let mut node = nodes.next(rule.guard);
                while node != rule.guard {
                    body_symbols.push(nodes.symbol(node));
                    node = nodes.next(node);
                }
            }
        }
        body_starts.push(body_symbols.len() as u32);
        Flat { root, document_starts, body_symbols, body_starts }
    }
}
