//! A small generator of pseudo-random numbers: the same numbers from the same seed on every
//! machine and for ever, which no library promises. One draw costs three shifts.

/// The xorshift64* generator of Vigna, "An experimental exploration of Marsaglia's xorshift
/// generators, scrambled" (2016).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator that repeats for the same seed.
    pub fn new(seed: u64) -> Random {
        // Zero is the one state that never changes; a seed is also spread over all bits.
        Random((seed ^ 0x9E37_79B9_7F4A_7C15).max(1))
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `bound`, which is not zero. The bias is below `bound` / 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// One of `items`, which are not empty.
    pub fn choose<'items, T>(&mut self, items: &'items [T]) -> &'items T {
        &items[self.below(items.len() as u64) as usize]
    }

    /// A rank of at least 1 where rank r comes with a probability near 1 / r^2: few ranks are
    /// most of what is drawn, and new ones keep coming, as with the words of a text.
    pub fn rank(&mut self) -> u64 {
        u64::from(u32::MAX) / (self.next_u64() >> 32).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_for_a_seed_and_stays_in_bounds() {
        let mut one = Random::new(7);
        let mut two = Random::new(7);
        let mut seen = [0; 5];
        for _ in 0..1000 {
            let drawn = one.below(5);
            assert_eq!(drawn, two.below(5));
            seen[drawn as usize] += 1;
        }
        assert!(seen.iter().all(|&times| times > 150), "{seen:?}");
        assert!((0..1000).all(|_| one.rank() >= 1));
    }
}
