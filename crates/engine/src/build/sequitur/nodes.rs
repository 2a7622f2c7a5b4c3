//! The symbols of a growing grammar as doubly linked lists in one array.
//!
//! A node costs 12 bytes. Each list is a ring through a barrier: the root through its first border, a
//! rule through its guard. A rule is known by its guard's number and counts its uses there, so that a
//! rule costs nothing but its nodes; and the three nodes of a new rule lie side by side, so that in a
//! large grammar a rule is one cache miss and not three.
//!
//! Freed nodes are chained and used again, so that the array grows with the grammar and not with the
//! text.

/// Symbols from here on are barriers: guards (`BARRIER + uses of the rule`) and the border.
pub(super) const BARRIER: u32 = 1 << 31;
/// Stands in front of each document, and marks freed nodes; no digram has it.
pub(super) const BORDER: u32 = u32::MAX;
/// The first node: the border in front of the first document.
pub(super) const ROOT: u32 = 0;

#[derive(Clone, Copy)]
struct Node {
    symbol: u32,
    previous: u32,
    next: u32,
}

pub(super) struct Nodes {
    nodes: Vec<Node>,
    /// The first of the freed nodes, chained by `next`; `ROOT` ends the chain.
    free: u32,
    free_count: usize,
}

impl Nodes {
    /// All numbers of nodes stay below this while so many nodes are in use.
    pub(super) fn limit(in_use: u64) -> u64 {
        // See `allocate_rule`: new nodes are taken while up to an eighth is free.
        in_use / 7 * 8 + 16
    }

    /// The empty root.
    pub(super) fn new() -> Self {
        let root = Node { symbol: BORDER, previous: ROOT, next: ROOT };
        Self { nodes: vec![root], free: ROOT, free_count: 0 }
    }

    pub(super) fn symbol(&self, node: u32) -> u32 {
        self.nodes[node as usize].symbol
    }

    pub(super) fn set_symbol(&mut self, node: u32, symbol: u32) {
        self.nodes[node as usize].symbol = symbol;
    }

    pub(super) fn next(&self, node: u32) -> u32 {
        self.nodes[node as usize].next
    }

    pub(super) fn previous(&self, node: u32) -> u32 {
        self.nodes[node as usize].previous
    }

    /// The symbols of `node` and of the one behind it.
    pub(super) fn digram(&self, node: u32) -> (u32, u32) {
        let node = self.nodes[node as usize];
        (node.symbol, self.nodes[node.next as usize].symbol)
    }

    /// The numbers of all nodes that ever were: those with the symbol [`BORDER`] may be freed ones.
    pub(super) fn numbers(&self) -> std::ops::Range<u32> {
        0..self.nodes.len() as u32
    }

    /// Makes `left` and `right` neighbours.
    pub(super) fn join(&mut self, left: u32, right: u32) {
        self.nodes[left as usize].next = right;
        self.nodes[right as usize].previous = left;
    }

    /// Puts `node` between `left` and the one behind it.
    pub(super) fn insert_behind(&mut self, left: u32, node: u32) {
        let right = self.next(left);
        self.join(left, node);
        self.join(node, right);
    }

    /// Takes `node` out of its list.
    pub(super) fn unlink(&mut self, node: u32) {
        let Node { previous, next, .. } = self.nodes[node as usize];
        self.join(previous, next);
    }

    /// A node that is in a ring with itself.
    pub(super) fn allocate(&mut self, symbol: u32) -> u32 {
        let node = if self.free == ROOT {
            self.nodes.push(Node { symbol, previous: ROOT, next: ROOT });
            self.nodes.len() as u32 - 1
        } else {
            let node = self.free;
            self.free = self.next(node);
            self.free_count -= 1;
            self.set_symbol(node, symbol);
            node
        };
        self.join(node, node);
        node
    }

    /// A rule that nothing uses yet: its guard, in a ring with the two symbols.
    pub(super) fn allocate_rule(&mut self, first: u32, second: u32) -> u32 {
        // Freed nodes lie anywhere: they are left to the tokens to come, unless there are many.
        let scattered = self.free_count > self.nodes.len() / 8;
        let [guard, first, second] = [BARRIER, first, second].map(|symbol| {
            if scattered {
                self.allocate(symbol)
            } else {
                self.nodes.push(Node { symbol, previous: ROOT, next: ROOT });
                self.nodes.len() as u32 - 1
            }
        });
        self.join(guard, first);
        self.join(first, second);
        self.join(second, guard);
        guard
    }

    /// Gives back a node that is in no list.
    pub(super) fn release(&mut self, node: u32) {
        self.nodes[node as usize] = Node { symbol: BORDER, previous: node, next: self.free };
        self.free = node;
        self.free_count += 1;
    }

    /// How often the rule with this guard is used.
    pub(super) fn uses(&self, guard: u32) -> u32 {
        self.symbol(guard) - BARRIER
    }

    pub(super) fn add_use(&mut self, guard: u32) {
        self.nodes[guard as usize].symbol += 1;
    }

    pub(super) fn remove_use(&mut self, guard: u32) {
        self.nodes[guard as usize].symbol -= 1;
    }
}
