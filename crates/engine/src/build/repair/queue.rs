//! Pairs waiting to be replaced, the most frequent first.
//!
//! Counts only fall, so a pair may wait under a count that is too high: whoever takes it counts again
//! and puts it back lower. Counts below a limit have a list each; the few above are in a heap.

use std::collections::BinaryHeap;

/// Counts from here on wait in the heap.
const LIMIT: usize = 4096;

pub(super) struct Queue {
    lists: Vec<List>,
    heap: BinaryHeap<(u32, std::cmp::Reverse<u32>)>,
    highest: usize,
}

/// First in, first out: pairs come in order of their first place in the text, and taking them in that
/// order walks through memory instead of jumping.
#[derive(Default, Clone)]
struct List {
    waiting: Vec<u32>,
    taken: usize,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self { lists: vec![List::default(); LIMIT], heap: BinaryHeap::new(), highest: 0 }
    }

    pub(super) fn push(&mut self, count: u32, pair: u32) {
        if (count as usize) < LIMIT {
            self.lists[count as usize].waiting.push(pair);
            self.highest = self.highest.max(count as usize);
        } else {
            self.heap.push((count, std::cmp::Reverse(pair)));
        }
    }

    /// The next pair and the count it waited under.
    pub(super) fn pop(&mut self) -> Option<(u32, u32)> {
        if let Some((count, std::cmp::Reverse(pair))) = self.heap.pop() {
            return Some((count, pair));
        }
        while self.highest > 0 {
            let list = &mut self.lists[self.highest];
            if let Some(&pair) = list.waiting.get(list.taken) {
                list.taken += 1;
                return Some((self.highest as u32, pair));
            }
            *list = List::default();
            self.highest -= 1;
        }
        None
    }
}
