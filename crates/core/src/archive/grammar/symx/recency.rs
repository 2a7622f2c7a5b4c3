//! The items of each group by how long ago they were introduced or referred to by frequency.
//!
//! A list has an entry for each introduction and each such reference, in order; an entry that a
//! later one of the same item replaces is dead. Finding the entry that is so many live ones from
//! the end passes over 64, 1,024 and 32,768 entries at a time. Memory: about five bytes an entry.

use crate::archive::grammar::FREQUENCY_CLASSES;

/// Groups: the frequency classes of tokens, then those of rules.
pub(super) const GROUPS: usize = 2 * FREQUENCY_CLASSES;
/// Entries in a word, words in a block, blocks in a superblock.
const WORD: usize = u64::BITS as usize;
const BLOCK: usize = 16;
const SUPERBLOCK: usize = 32;

/// The items of all groups in the order of their introduction.
pub(super) struct Introductions {
    /// Ordinals, those of a group beside each other.
    ordinals: Vec<u32>,
    starts: [usize; GROUPS + 1],
}

impl Introductions {
    /// `groups` are those of all items, in the order of their introduction.
    pub(super) fn new(groups: impl Iterator<Item = u8> + Clone) -> Self {
        let mut starts = [0; GROUPS + 1];
        for group in groups.clone() {
            starts[usize::from(group) + 1] += 1;
        }
        for group in 1..starts.len() {
            starts[group] += starts[group - 1];
        }
        let mut ends = starts;
        let mut ordinals = vec![0; starts[GROUPS]];
        for (group, ordinal) in groups.zip(0..) {
            let end = &mut ends[usize::from(group)];
            ordinals[*end] = ordinal;
            *end += 1;
        }
        Self { ordinals, starts }
    }

    /// The lists when so many items were introduced.
    pub(super) fn lists(&self, introduced: u32) -> Vec<List> {
        let group = |group: usize| &self.ordinals[self.starts[group]..self.starts[group + 1]];
        let list = |number| {
            let ordinals = group(number);
            List::new(&ordinals[..ordinals.partition_point(|&ordinal| ordinal < introduced)])
        };
        (0..GROUPS).map(list).collect()
    }
}

/// The entries of one group.
#[derive(Default)]
pub(super) struct List {
    ordinals: Vec<u32>,
    /// A bit for each entry that is alive, and how many of them are in each block and superblock.
    words: Vec<u64>,
    blocks: Vec<u16>,
    superblocks: Vec<u16>,
    alive: u32,
}

impl List {
    /// Bytes for so many entries, at the most.
    pub(super) fn bytes(entries: u64) -> u64 {
        // Vectors grow by doubling.
        2 * (4 * entries + entries / 4)
    }

    fn new(ordinals: &[u32]) -> Self {
        let mut list = Self { ordinals: ordinals.to_vec(), ..Self::default() };
        let full = |part: usize, whole: usize| -> Vec<usize> {
            (0..whole).step_by(part).map(|start| part.min(whole - start)).collect()
        };
        let count = ordinals.len();
        list.words = full(WORD, count).into_iter().map(|bits| u64::MAX >> (WORD - bits)).collect();
        list.blocks = full(WORD * BLOCK, count).into_iter().map(|count| count as u16).collect();
        list.superblocks =
            full(WORD * BLOCK * SUPERBLOCK, count).into_iter().map(|count| count as u16).collect();
        list.alive = count as u32;
        list
    }

    /// Appends a live entry; gives its place.
    pub(super) fn push(&mut self, ordinal: u32) -> usize {
        let place = self.ordinals.len();
        self.ordinals.push(ordinal);
        let (word, block) = (place / WORD, place / WORD / BLOCK);
        if word == self.words.len() {
            self.words.push(0);
        }
        if block == self.blocks.len() {
            self.blocks.push(0);
        }
        if block / SUPERBLOCK == self.superblocks.len() {
            self.superblocks.push(0);
        }
        self.words[word] |= 1 << (place % WORD);
        self.blocks[block] += 1;
        self.superblocks[block / SUPERBLOCK] += 1;
        self.alive += 1;
        place
    }

    /// The item of this live entry was referred to: the entry dies.
    pub(super) fn kill(&mut self, place: usize) {
        let (word, block) = (place / WORD, place / WORD / BLOCK);
        self.words[word] ^= 1 << (place % WORD);
        self.blocks[block] -= 1;
        self.superblocks[block / SUPERBLOCK] -= 1;
        self.alive -= 1;
    }

    /// The live entry that is `since`-th from the end: its place and ordinal.
    pub(super) fn find(&self, since: u32) -> Option<(usize, u32)> {
        if since == 0 || since > self.alive {
            return None;
        }
        let mut left = since;
        let mut superblock = self.superblocks.len() - 1;
        while u32::from(self.superblocks[superblock]) < left {
            left -= u32::from(self.superblocks[superblock]);
            superblock -= 1;
        }
        let mut block = ((superblock + 1) * SUPERBLOCK).min(self.blocks.len()) - 1;
        while u32::from(self.blocks[block]) < left {
            left -= u32::from(self.blocks[block]);
            block -= 1;
        }
        let mut word = ((block + 1) * BLOCK).min(self.words.len()) - 1;
        while self.words[word].count_ones() < left {
            left -= self.words[word].count_ones();
            word -= 1;
        }
        let mut bits = self.words[word];
        for _ in 1..left {
            bits ^= 1 << bits.ilog2();
        }
        let place = word * WORD + bits.ilog2() as usize;
        Some((place, self.ordinals[place]))
    }

    /// Which live entry from the end the one at a place is: the inverse of [`List::find`].
    pub(super) fn since(&self, place: usize) -> u32 {
        let (word, block) = (place / WORD, place / WORD / BLOCK);
        let superblock = block / SUPERBLOCK;
        let words_end = ((block + 1) * BLOCK).min(self.words.len());
        let blocks_end = ((superblock + 1) * SUPERBLOCK).min(self.blocks.len());
        let here = (self.words[word] >> (place % WORD)).count_ones();
        let words: u32 = self.words[word + 1..words_end].iter().map(|word| word.count_ones()).sum();
        let sum = |counts: &[u16]| counts.iter().map(|&count| u32::from(count)).sum::<u32>();
        let (blocks, superblocks) =
            (&self.blocks[block + 1..blocks_end], &self.superblocks[superblock + 1..]);
        here + words + sum(blocks) + sum(superblocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_as_in_a_plain_list() {
        let count = 3 * WORD * BLOCK + 17;
        let introductions = Introductions::new((0..2 * count).map(|item| (item % 2) as u8 * 5));
        let mut list = introductions.lists(2 * count as u32).swap_remove(5);
        let mut plain: Vec<(usize, u32)> = (0..count).map(|at| (at, 2 * at as u32 + 1)).collect();
        assert_eq!(introductions.lists(7)[5].alive, 3);
        let mut state = 1_u32;
        for step in 0..2 * WORD * BLOCK * SUPERBLOCK {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let since = 1 + (state >> 8) % plain.len() as u32;
            let wanted = plain.len() - since as usize;
            let found = list.find(since);
            assert_eq!(found, Some(plain[wanted]));
            let (place, ordinal) = plain.remove(wanted);
            assert_eq!(list.since(place), since);
            list.kill(place);
            if step % 9 > 0 || plain.len() < 2 {
                plain.push((list.push(ordinal), ordinal));
            }
            assert_eq!(list.find(plain.len() as u32 + 1), None);
        }
        assert_eq!(list.find(0), None);
    }
}
