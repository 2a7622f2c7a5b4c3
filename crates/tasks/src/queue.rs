//! The rules that wait for their weight: an ordered set of numbers that are taken out from the lowest up.
//!
//! A rule comes before all that it uses, so once it is the lowest that waits it has all its weight. The set is a bitmap with
//! two levels of bitmaps above it, each of which says which words of the one below have bits. Putting in is a bit on
//! each level; taking out is a few instructions for every number, and nothing for numbers that are not there but for
//! the words of the topmost level, one for 2^18 numbers. An eighth of a byte a number, in one row.

use crate::Result;
use crate::work::{Scratch, Work};

const LEVELS: usize = 3;

/// The row of a set.
#[derive(Debug)]
pub struct QueueRow {
    words: Scratch<u64>,
    starts: [usize; LEVELS + 1],
}

/// The set.
#[derive(Debug)]
pub struct Queue<'q> {
    words: &'q mut [u64],
    /// Where each level starts, the lowest first, and where the topmost ends.
    starts: [usize; LEVELS + 1],
}

impl QueueRow {
    /// A row for numbers below `limit`.
    pub fn new(work: &Work<'_>, limit: usize) -> Result<Self> {
        let mut starts = [0; LEVELS + 1];
        let mut length = limit;
        for level in 0..LEVELS {
            length = length.div_ceil(64);
            starts[level + 1] = starts[level] + length;
        }
        Ok(Self { words: work.scratch(starts[LEVELS])?, starts })
    }

    /// The set, which is empty, and must be [drained](Queue::drain) at the end.
    pub fn queue(&mut self) -> Queue<'_> {
        Queue { words: &mut self.words, starts: self.starts }
    }
}

impl Queue<'_> {
    /// Puts a number in. Without a branch, as it is hard to foresee whether a number, or its word, is
    /// in already.
    #[inline]
    pub fn put(&mut self, number: u32) {
        let mut place = number as usize;
        for level in 0..LEVELS {
            self.words[self.starts[level] + place / 64] |= 1 << (place % 64);
            place /= 64;
        }
    }

    /// Takes all numbers out, from the lowest up. `each` may put in numbers above the one that it is called with.
    #[inline]
    pub fn drain(&mut self, mut each: impl FnMut(u32, &mut Self)) {
        let [low, middle, top, end] = self.starts;
        for upper in 0..end - top {
            while self.words[top + upper] != 0 {
                let inner = upper * 64 + self.words[top + upper].trailing_zeros() as usize;
                while self.words[middle + inner] != 0 {
                    let word = inner * 64 + self.words[middle + inner].trailing_zeros() as usize;
                    while self.words[low + word] != 0 {
                        let bit = self.words[low + word].trailing_zeros();
                        each((word * 64) as u32 + bit, self);
                        // Nothing below was put in meanwhile, so this is the lowest bit still.
                        self.words[low + word] &= self.words[low + word] - 1;
                    }
                    self.words[middle + inner] &= self.words[middle + inner] - 1;
                }
                self.words[top + upper] &= self.words[top + upper] - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_in_order() {
        let work = Work::volatile(0);
        let mut row = QueueRow::new(&work, 1 << 20).unwrap();
        let mut queue = row.queue();
        for number in [9, 80_000, 9, 1, (1 << 20) - 1, 64, 4096] {
            queue.put(number);
        }
        let mut taken = Vec::new();
        queue.drain(|number, queue| {
            taken.push(number);
            if number == 64 {
                queue.put(65);
                queue.put(500_000);
            }
        });
        assert_eq!(taken, [1, 9, 64, 65, 4096, 80_000, 500_000, (1 << 20) - 1]);
        queue.drain(|_, _| panic!("it is empty"));
        QueueRow::new(&work, 0).unwrap().queue().drain(|_, _| panic!("it is empty"));
    }
}
