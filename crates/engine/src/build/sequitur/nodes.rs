//! The symbols of a growing grammar as doubly linked lists in one array.
//!
//! A node costs 12 bytes. Each list is a ring through a barrier: the root through its first border, a
//! rule through its guard. Freed nodes are chained and used again, so that the array grows with the
//! grammar and not with the text.

/// Symbols from here on are barriers: guards (`BARRIER + rule`) and the border.
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
}

impl Nodes {
    /// The empty root.
    pub(super) fn new() -> Self {
        Self { nodes: vec![Node { symbol: BORDER, previous: ROOT, next: ROOT }], free: ROOT }
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
        if self.free == ROOT {
            let node = self.nodes.len() as u32;
            self.nodes.push(Node { symbol, previous: node, next: node });
            node
        } else {
            let node = self.free;
            self.free = self.next(node);
            self.nodes[node as usize] = Node { symbol, previous: node, next: node };
            node
        }
    }

    /// Gives back a node that is in no list.
    pub(super) fn release(&mut self, node: u32) {
        self.nodes[node as usize] = Node { symbol: BORDER, previous: node, next: self.free };
        self.free = node;
    }
}
