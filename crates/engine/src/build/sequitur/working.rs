//! The grammar while it grows: rules over linked nodes, and the two properties kept after each token.
//!
//! A symbol below the token count is a token; others are the token count plus the guard of a rule.
//!
//! Whatever makes two nodes neighbours puts the left one on a list of digrams to look at, and the
//! list is worked off before the next token: no recursion, and a node that was freed or changed in
//! between does no harm, since looking at a digram twice changes nothing.

use super::digrams::Digrams;
use super::nodes::{BARRIER, BORDER, Nodes, ROOT};

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
        // more, for what exists for a moment only.
        let in_use = length as u64 / 2 * 3 + document_count as u64 + 8;
        let node_limit = Nodes::limit(in_use);
        assert!(
            u64::from(token_count) + node_limit < u64::from(BARRIER),
            "{length} tokens ({token_count} different ones) are more than Sequitur can number"
        );
        Self {
            token_count,
            nodes: Nodes::new(),
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
        // In a run `a a a` two equal digrams overlap and cannot both be replaced.
        let overlapping = self.nodes.next(other) == node || self.nodes.next(node) == other;
        if other != node && !overlapping {
            self.merge(node, other);
        }
    }

    /// Makes one of two equal digrams that do not overlap. The one at `node` is no entry.
    fn merge(&mut self, node: u32, other: u32) {
        if self.guard_around(node).is_some() {
            // A rule of one symbol must not be. No text is known to lead here: a body is looked at when
            // it is made, and then it is the entry itself.
            return;
        }
        let first = self.guard_of(self.nodes.symbol(node));
        let guard = if let Some(guard) = self.guard_around(other) {
            self.replace(node, guard);
            guard
        } else if let Some(guard) = first.filter(|&guard| self.nodes.uses(guard) == 2) {
            self.extend(guard, node, other);
            guard
        } else {
            self.make_rule(node, other)
        };
        self.dissolve_if_used_once(self.nodes.next(guard));
        self.dissolve_if_used_once(self.nodes.previous(guard));
    }

    /// The guard of the rule whose whole body is the digram at `node`.
    fn guard_around(&self, node: u32) -> Option<u32> {
        let before = self.nodes.previous(node);
        let behind = self.nodes.next(self.nodes.next(node));
        let symbol = self.nodes.symbol(before);
        (before == behind && symbol >= BARRIER && symbol != BORDER).then_some(before)
    }

    /// The guard of the rule that a symbol stands for.
    fn guard_of(&self, symbol: u32) -> Option<u32> {
        symbol.checked_sub(self.token_count)
    }

    /// Makes a rule of the digram at `node` and `other`, and puts it in their places.
    fn make_rule(&mut self, node: u32, other: u32) -> u32 {
        let (first, second) = self.nodes.digram(node);
        let guard = self.nodes.allocate_rule(first, second);
        for symbol in [first, second] {
            if let Some(child) = self.guard_of(symbol) {
                self.nodes.add_use(child);
            }
        }
        self.forget(other);
        self.replace(node, guard);
        self.replace(other, guard);
        self.unchecked.push(self.nodes.next(guard));
        guard
    }

    /// Puts a rule in the place of the digram at `node`, which is no entry.
    fn replace(&mut self, node: u32, guard: u32) {
        let before = self.nodes.previous(node);
        let second = self.nodes.next(node);
        self.forget(before);
        self.forget(second);
        for symbol in [self.nodes.symbol(node), self.nodes.symbol(second)] {
            if let Some(child) = self.guard_of(symbol) {
                self.nodes.remove_use(child);
            }
        }
        self.nodes.unlink(second);
        self.nodes.release(second);
        self.nodes.set_symbol(node, self.token_count + guard);
        self.nodes.add_use(guard);
        self.unchecked.push(node);
        self.unchecked.push(before);
    }

    /// Takes the symbols behind `node` and `other`, the only two uses of a rule, into the rule.
    ///
    /// The same as to make a rule of the digram and dissolve the shorter rule in it, for less.
    fn extend(&mut self, guard: u32, node: u32, other: u32) {
        let spare = self.nodes.next(node);
        let kept = self.nodes.next(other);
        self.forget(other);
        self.forget(spare);
        self.forget(kept);
        if let Some(child) = self.guard_of(self.nodes.symbol(kept)) {
            self.nodes.remove_use(child);
        }
        self.nodes.unlink(spare);
        self.nodes.unlink(kept);
        self.nodes.release(spare);
        let last = self.nodes.previous(guard);
        self.nodes.insert_behind(last, kept);
        self.unchecked.extend([node, other, last]);
    }

    /// Puts the body of the rule at `node` in its place, if there is a rule and this its only use.
    fn dissolve_if_used_once(&mut self, node: u32) {
        let Some(guard) = self.guard_of(self.nodes.symbol(node)) else { return };
        if self.nodes.uses(guard) != 1 {
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
        self.nodes.release(guard);
        self.unchecked.extend([last, before]);
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

    /// The grammar in flat arrays, without borders.
    pub(super) fn flatten(self, document_count: usize) -> Flat {
        let Self { token_count, mut nodes, digrams, .. } = self;
        drop(digrams);
        // The guards' counts of uses make room for the numbers of the rules.
        let mut guards = Vec::new();
        for node in nodes.numbers() {
            if nodes.symbol(node) >= BARRIER && nodes.symbol(node) != BORDER {
                nodes.set_symbol(node, BARRIER + guards.len() as u32);
                guards.push(node);
            }
        }
        let numbered = |symbol: u32| match symbol.checked_sub(token_count) {
            None => symbol,
            Some(guard) => token_count + (nodes.symbol(guard) - BARRIER),
        };

        let mut root = Vec::new();
        let mut document_starts = Vec::with_capacity(document_count + 1);
        if document_count > 0 {
            document_starts.push(0);
        }
        let mut node = nodes.next(ROOT);
        while node != ROOT {
            match nodes.symbol(node) {
                BORDER => document_starts.push(root.len() as u32),
                symbol => root.push(numbered(symbol)),
            }
            node = nodes.next(node);
        }
        document_starts.push(root.len() as u32);

        let mut body_symbols = Vec::new();
        let mut body_starts = Vec::with_capacity(guards.len() + 1);
        for &guard in &guards {
            body_starts.push(body_symbols.len() as u32);
            let mut node = nodes.next(guard);
            while node != guard {
                body_symbols.push(numbered(nodes.symbol(node)));
                node = nodes.next(node);
            }
        }
        body_starts.push(body_symbols.len() as u32);
        Flat { root, document_starts, body_symbols, body_starts }
    }
}
