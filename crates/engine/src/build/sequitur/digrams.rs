//! Where each digram (two neighbouring symbols) stands: a hash table of node numbers alone.
//!
//! Open addressing, linear probing, 4 bytes a slot, at most 5/8 full. The key of an entry is read
//! from the nodes. The bits of a slot that no node number needs hold a part of the key's hash, so that
//! most other keys are told apart without touching their nodes, which would be a cache miss each, and
//! removing an entry touches no node but its own.
//!
//! A removed entry becomes empty where the run of slots ends behind it, otherwise a tombstone;
//! tombstones are reused by insertions and swept when the table is rebuilt.

use super::nodes::Nodes;

/// No entry. Node 0 is the root's border, which starts no digram.
const EMPTY: u32 = 0;
/// An entry was removed here, and probing goes on behind it. No node has so high a number.
const TOMBSTONE: u32 = u32::MAX;
const SMALLEST: usize = 64;

pub(super) struct Digrams {
    slots: Vec<u32>,
    /// The hash shifted by this is the slot where probing starts.
    shift: u32,
    /// The bits of a slot that hold the node's number.
    node_mask: u32,
    entries: usize,
    tombstones: usize,
}

impl Digrams {
    /// An empty table for nodes with numbers below `node_limit`, at most 2^31.
    pub(super) fn new(node_limit: u32) -> Self {
        Self {
            slots: vec![EMPTY; SMALLEST],
            shift: shift_of(SMALLEST),
            // One more than the limit, so that not even without spare bits an entry is a tombstone.
            node_mask: (node_limit + 1).next_power_of_two() - 1,
            entries: 0,
            tombstones: 0,
        }
    }

    /// The entry with the digram that starts at `node`; where there is none, `node` becomes it.
    pub(super) fn find_or_insert(&mut self, nodes: &Nodes, node: u32) -> Option<u32> {
        debug_assert!(node != EMPTY && node < self.node_mask);
        let digram = nodes.digram(node);
        let hash = hash(digram);
        let tag = hash as u32 & !self.node_mask;
        let last = self.slots.len() - 1;
        let mut position = (hash >> self.shift) as usize;
        let mut grave = None;
        loop {
            let entry = self.slots[position & last];
            if entry == EMPTY {
                break;
            }
            if entry == TOMBSTONE {
                grave = grave.or(Some(position & last));
            } else if entry & !self.node_mask == tag {
                let other = entry & self.node_mask;
                if nodes.digram(other) == digram {
                    return Some(other);
                }
            }
            position += 1;
        }
        self.entries += 1;
        if let Some(grave) = grave {
            self.slots[grave] = tag | node;
            self.tombstones -= 1;
        } else {
            self.slots[position & last] = tag | node;
            if (self.entries + self.tombstones) * 8 > self.slots.len() * 5 {
                self.rebuild(nodes);
            }
        }
        None
    }

    /// Removes the entry `node`; whether it was one. Must come before its digram changes.
    pub(super) fn remove(&mut self, nodes: &Nodes, node: u32) -> bool {
        let hash = hash(nodes.digram(node));
        let wanted = (hash as u32 & !self.node_mask) | node;
        let last = self.slots.len() - 1;
        let mut position = (hash >> self.shift) as usize & last;
        loop {
            let entry = self.slots[position];
            if entry == wanted {
                break;
            }
            if entry == EMPTY {
                return false;
            }
            position = (position + 1) & last;
        }
        self.entries -= 1;
        self.slots[position] = TOMBSTONE;
        self.tombstones += 1;
        if self.slots[(position + 1) & last] == EMPTY {
            while self.slots[position] == TOMBSTONE {
                self.slots[position] = EMPTY;
                self.tombstones -= 1;
                position = position.wrapping_sub(1) & last;
            }
        }
        true
    }

    /// Sweeps the tombstones, and doubles the table where entries alone fill half of what they may.
    fn rebuild(&mut self, nodes: &Nodes) {
        let crowded = self.entries * 16 > self.slots.len() * 5;
        let length = if crowded { self.slots.len() * 2 } else { self.slots.len() };
        let old = std::mem::replace(&mut self.slots, vec![EMPTY; length]);
        self.shift = shift_of(length);
        self.tombstones = 0;
        for entry in old {
            if entry != EMPTY && entry != TOMBSTONE {
                let hash = hash(nodes.digram(entry & self.node_mask));
                let mut position = (hash >> self.shift) as usize;
                while self.slots[position & (length - 1)] != EMPTY {
                    position += 1;
                }
                self.slots[position & (length - 1)] = entry;
            }
        }
    }
}

fn shift_of(length: usize) -> u32 {
    u64::BITS - length.trailing_zeros()
}

/// Folded multiplication: its high half picks the slot, its low half the tag.
fn hash((first, second): (u32, u32)) -> u64 {
    let key = (u64::from(first) << 32 | u64::from(second)) ^ 0x9E37_79B9_7F4A_7C15;
    let product = u128::from(key) * 0xD6E8_FEB8_6659_FD93;
    (product >> 64) as u64 ^ product as u64
}
