//! Numbers for the distinct words that one thread meets, in order of first appearance.
//!
//! A table of 16-byte entries. A word of up to seven bytes is its own key and its own copy; a longer one is
//! keyed by its hash and kept in an arena, padded to whole integers behind its length, so that comparing
//! is a few integers and no call. Words are looked up by the batch: first all keys, then all probes, which
//! do not wait for each other and so overlap their cache misses.
//!
//! Cost: O(1) a word, O(bytes) for one longer than seven bytes.

/// The longest word that is its own key: seven bytes and, in the eighth, the length.
const LONGEST_SHORT: usize = 7;
/// Set in the codes and keys of long words and in no others.
const LONG: u64 = 1 << 63;
const EMPTY: Entry = Entry { key: 0, id: 0, place: 0 };
/// How many words are looked up together: their keys stay in the first-level cache.
pub const BATCH: usize = 256;

#[derive(Clone, Copy)]
struct Entry {
    /// 0 in an empty entry; no word has it, since a short one has its length in it.
    key: u64,
    id: u32,
    /// Where in the arena a long word is.
    place: u32,
}

/// Distinct words and their numbers.
pub struct Interner {
    entries: Vec<Entry>,
    /// For each word its key if it is short, else its place in the arena and `LONG`.
    codes: Vec<u64>,
    /// Long words: the length, then the bytes, padded with zeros.
    arena: Vec<u64>,
}

impl Default for Interner {
    fn default() -> Self {
        Self { entries: vec![EMPTY; 1 << 14], codes: Vec::new(), arena: Vec::new() }
    }
}

/// A word of an interner, ready to be compared.
#[derive(Clone, Copy)]
pub struct Word<'i> {
    /// The first eight bytes as a number that orders like them.
    pub prefix: u64,
    /// Bytes.
    pub length: usize,
    /// All bytes of a long word in little-endian integers, padded with zeros; empty for a short one.
    chunks: &'i [u64],
}

impl Word<'_> {
    /// Byte order of what is behind equal prefixes.
    pub fn compare_rest(self, other: Self) -> std::cmp::Ordering {
        let rest = |word: Self| word.chunks.iter().skip(1).map(|chunk| chunk.swap_bytes());
        rest(self).cmp(rest(other)).then(self.length.cmp(&other.length))
    }

    /// Appends the bytes to `bytes`.
    pub fn write(self, bytes: &mut Vec<u8>) {
        let end = bytes.len() + self.length;
        if self.chunks.is_empty() {
            bytes.extend_from_slice(&self.prefix.to_be_bytes());
        } else {
            for chunk in self.chunks {
                bytes.extend_from_slice(&chunk.to_le_bytes());
            }
        }
        bytes.truncate(end);
    }
}

impl Interner {
    /// How many distinct words there are.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// A word by its number.
    pub fn word(&self, id: u32) -> Word<'_> {
        let code = self.codes[id as usize];
        if code & LONG == 0 {
            Word { prefix: code.swap_bytes() & !0xFF, length: (code >> 56) as usize, chunks: &[] }
        } else {
            let place = (code & !LONG) as usize;
            let length = self.arena[place] as usize;
            let chunks = &self.arena[place + 1..place + 1 + length.div_ceil(8)];
            Word { prefix: chunks[0].swap_bytes(), length, chunks }
        }
    }

    /// Appends to `ids` the numbers of the words at these places of `text`; new words get new numbers.
    /// At most [`BATCH`] at once.
    pub fn intern(&mut self, text: &[u8], words: &[(u32, u32)], ids: &mut Vec<u32>) {
        let mut keys = [0_u64; BATCH];
        for (key, &(start, end)) in keys.iter_mut().zip(words) {
            *key = key_of(text, start as usize, end as usize);
        }
        for (&key, &(start, end)) in keys.iter().zip(words) {
            ids.push(self.find(key, text, start as usize, end as usize));
        }
    }

    #[inline(always)]
    fn find(&mut self, key: u64, text: &[u8], start: usize, end: usize) -> u32 {
        let mask = self.entries.len() - 1;
        let mut slot = slot(key) & mask;
        loop {
            let entry = self.entries[slot];
            if entry.key == key
                && (key & LONG == 0 || self.is_at(entry.place as usize, text, start, end))
            {
                return entry.id;
            }
            if entry.key == 0 {
                return self.add(slot, key, &text[start..end]);
            }
            slot = (slot + 1) & mask;
        }
    }

    #[inline(always)]
    fn is_at(&self, place: usize, text: &[u8], start: usize, end: usize) -> bool {
        let length = end - start;
        let Some(kept) = self.arena.get(place..place + 1 + length.div_ceil(8)) else {
            return false;
        };
        if kept[0] != length as u64 {
            return false;
        }
        let mut position = start;
        for &chunk in &kept[1..kept.len() - 1] {
            if chunk != load(text, position) {
                return false;
            }
            position += 8;
        }
        kept[kept.len() - 1] == masked(text, position, end - position)
    }

    #[cold]
    fn add(&mut self, slot: usize, key: u64, bytes: &[u8]) -> u32 {
        let id = u32::try_from(self.codes.len()).expect("fewer than 2^32 distinct words");
        let mut place = 0;
        if key & LONG == 0 {
            self.codes.push(key);
        } else {
            place = u32::try_from(self.arena.len()).expect("less than 32 GiB of distinct words");
            self.codes.push(u64::from(place) | LONG);
            self.arena.push(bytes.len() as u64);
            for chunk in bytes.chunks(8) {
                self.arena.push(masked(chunk, 0, chunk.len()));
            }
        }
        self.entries[slot] = Entry { key, id, place };
        if self.codes.len() * 2 > self.entries.len() {
            self.grow();
        }
        id
    }

    fn grow(&mut self) {
        // Four times: growing rarely costs less than the pages of a table that is larger than it need be.
        let larger = vec![EMPTY; self.entries.len() * 4];
        let old = std::mem::replace(&mut self.entries, larger);
        let mask = self.entries.len() - 1;
        for entry in old.into_iter().filter(|entry| entry.key != 0) {
            let mut slot = slot(entry.key) & mask;
            while self.entries[slot].key != 0 {
                slot = (slot + 1) & mask;
            }
            self.entries[slot] = entry;
        }
    }
}

#[inline(always)]
fn slot(key: u64) -> usize {
    fold(key, 0x9E37_79B9_7F4A_7C15) as usize
}

/// What a word is found by.
#[inline(always)]
fn key_of(text: &[u8], start: usize, end: usize) -> u64 {
    let length = end - start;
    if length <= LONGEST_SHORT {
        return masked(text, start, length) | (length as u64) << 56;
    }
    let mut hash = length as u64;
    let mut position = start;
    while position + 8 < end {
        hash = fold(hash ^ load(text, position), 0xD6E8_FEB8_6659_FD93);
        position += 8;
    }
    // The last eight bytes, overlapping those before: no loop over the rest.
    fold(hash ^ load(text, end - 8), 0xA076_1D64_78BD_642F) | LONG
}

/// Eight bytes that are all in the text.
#[inline(always)]
fn load(text: &[u8], position: usize) -> u64 {
    u64::from_le_bytes(text[position..position + 8].try_into().expect("eight bytes"))
}

/// Up to eight bytes, with zeros above them.
#[inline(always)]
fn masked(text: &[u8], position: usize, length: usize) -> u64 {
    match text.get(position..position + 8) {
        Some(eight) => {
            let word = u64::from_le_bytes(eight.try_into().expect("eight bytes"));
            word & (u64::MAX >> (64 - 8 * length as u32))
        }
        None => {
            let mut eight = [0; 8];
            eight[..length].copy_from_slice(&text[position..position + length]);
            u64::from_le_bytes(eight)
        }
    }
}

/// The two halves of a product, folded: the mixing step of wyhash and its kin.
#[inline(always)]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intern(interner: &mut Interner, text: &[u8], words: &[(u32, u32)]) -> Vec<u32> {
        let mut ids = Vec::new();
        for batch in words.chunks(BATCH) {
            interner.intern(text, batch, &mut ids);
        }
        ids
    }

    fn bytes(interner: &Interner, id: u32) -> Vec<u8> {
        let mut bytes = b"kept ".to_vec();
        interner.word(id).write(&mut bytes);
        bytes.split_off(5)
    }

    #[test]
    fn words_come_back_and_equal_ones_have_equal_numbers() {
        let words: Vec<Vec<u8>> = (0..40_000_u32)
            .map(|index| vec![b'a' + (index % 7) as u8; (index % 300) as usize + 1])
            .collect();
        let text = words.concat();
        let mut end = 0;
        let places: Vec<(u32, u32)> = words
            .iter()
            .map(|word| {
                end += word.len() as u32;
                (end - word.len() as u32, end)
            })
            .collect();
        let mut interner = Interner::default();
        let ids = intern(&mut interner, &text, &places);
        assert_eq!(interner.len(), 7 * 300);
        for (word, &id) in words.iter().zip(&ids) {
            assert_eq!(bytes(&interner, id), *word);
        }
        assert_eq!(ids, intern(&mut interner, &text, &places));
    }

    #[test]
    fn order_is_that_of_bytes() {
        let words: [&[u8]; 8] =
            [b"a", b"a\0", b"abcdefgh", b"abcdefgh\0", b"abcdefgh\0\0", b"abcdefgi", b"b", b"\xff"];
        let mut interner = Interner::default();
        for word in words {
            intern(&mut interner, word, &[(0, word.len() as u32)]);
        }
        for left in 0..8 {
            for right in 0..8 {
                let (a, b) = (interner.word(left), interner.word(right));
                let order = a.prefix.cmp(&b.prefix).then_with(|| a.compare_rest(b));
                assert_eq!(order, left.cmp(&right), "{left} {right}");
            }
        }
    }
}
