//! A set of small numbers that gives them back in ascending order, and is empty then.
//!
//! Bits in words, and above them words that say which words below have bits. Adding costs one access
//! to a bit per number (and one more each time that a word was empty); taking all, a few instructions for
//! each number that is there and nothing for those that are not. An eighth of a byte a number.

/// Levels of words above each other; the topmost is scanned.
const LEVELS: usize = 3;

/// The set.
#[derive(Debug, Clone)]
pub(crate) struct OrderedSet {
    levels: [Vec<u64>; LEVELS],
}

impl OrderedSet {
    /// An empty set for numbers below `limit`.
    pub(crate) fn new(limit: usize) -> Self {
        let mut length = limit;
        let levels = std::array::from_fn(|_| {
            length = length.div_ceil(64);
            vec![0; length]
        });
        Self { levels }
    }

    /// Adds a number.
    #[inline]
    pub(crate) fn insert(&mut self, number: u32) {
        let mut place = number as usize;
        for level in &mut self.levels {
            let word = &mut level[place / 64];
            let before = *word;
            *word |= 1 << (place % 64);
            if before != 0 {
                return;
            }
            place /= 64;
        }
    }

    /// Takes out all numbers in ascending order. `each` may add numbers above the one that it is called
    /// with; it gets the set for that.
    #[inline]
    pub(crate) fn drain(&mut self, mut each: impl FnMut(u32, &mut Self)) {
        for top in 0..self.levels[2].len() {
            while self.levels[2][top] != 0 {
                let middle = top * 64 + self.levels[2][top].trailing_zeros() as usize;
                while self.levels[1][middle] != 0 {
                    let low = middle * 64 + self.levels[1][middle].trailing_zeros() as usize;
                    while self.levels[0][low] != 0 {
                        let bit = self.levels[0][low].trailing_zeros();
                        each((low * 64) as u32 + bit, self);
                        // Nothing below was added meanwhile, so this is the lowest bit still.
                        self.levels[0][low] &= self.levels[0][low] - 1;
                    }
                    self.levels[1][middle] &= self.levels[1][middle] - 1;
                }
                self.levels[2][top] &= self.levels[2][top] - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_in_order() {
        let mut set = OrderedSet::new(1 << 20);
        for number in [5, 70_000, 5, 0, 1_048_575, 64, 4096] {
            set.insert(number);
        }
        let mut found = Vec::new();
        set.drain(|number, set| {
            found.push(number);
            if number == 64 {
                set.insert(65);
                set.insert(300_000);
            }
        });
        assert_eq!(found, [0, 5, 64, 65, 4096, 70_000, 300_000, 1_048_575]);
        set.drain(|_, _| panic!("it is empty"));
        OrderedSet::new(0).drain(|_, _| panic!("it is empty"));
    }
}
