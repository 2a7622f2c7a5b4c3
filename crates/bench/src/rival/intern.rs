//! Numbers for the distinct words that one thread meets, in order of first appearance.
//!
//! A table of 24-byte entries. A word of up to fifteen bytes is its own key and its own copy, so that a look-up
//! compares one integer and no branch depends on its length; a longer one is keyed by its hash and kept in
//! an arena, padded to whole integers behind its length. Words are looked up by the batch: first all keys,
//! then all probes, which do not wait for each other and so overlap their cache misses.
//!
//! Cost: O(1) a word, O(bytes) for one longer than fifteen bytes.

use super::huge;

/// The longest word that is its own key: fifteen bytes and, in the sixteenth, the length.
const LONGEST_SHORT: usize = 15;
/// The highest byte of the keys and codes of long words, and of no others.
const LONG: u64 = 0xFF << 56;
/// How many words are looked up together, about: their keys stay in the first-level cache.
pub const BATCH: usize = 256;
/// A block of text may add some words to a batch before it is looked up.
const LONGEST_BATCH: usize = BATCH + 64;

/// What a word is found by: its first eight bytes, and the next seven with its length above them; of a long
/// word its hash, and some more of it with `LONG` above. Zero is no key, as a short one has its length in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key {
    low: u64,
    high: u64,
}

impl Key {
    const EMPTY: Self = Self { low: 0, high: 0 };

    #[inline(always)]
    fn is_long(self) -> bool {
        self.high >= LONG
    }

    #[inline(always)]
    fn slot(self) -> usize {
        fold(self.low ^ 0x9E37_79B9_7F4A_7C15, self.high ^ 0xD6E8_FEB8_6659_FD93) as usize
    }
}

/// Key and number; a plain array, so that the system can give a table of zeros.
type Entry = [u64; 3];

const EMPTY: Entry = [0; 3];

#[inline(always)]
fn key(entry: Entry) -> Key {
    Key { low: entry[0], high: entry[1] }
}

/// Distinct words and their numbers.
pub struct Interner {
    entries: Vec<Entry>,
    /// For each word its key if it is short, else its place in the arena and `LONG`.
    codes: Vec<Key>,
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
    /// The first sixteen bytes as a number that orders like them.
    pub prefix: u128,
    /// Bytes.
    pub length: usize,
    /// All bytes of a long word in little-endian integers, padded with zeros; empty for a short one.
    chunks: &'i [u64],
}

impl Word<'_> {
    /// Byte order of what is behind equal prefixes.
    pub fn compare_rest(self, other: Self) -> std::cmp::Ordering {
        let rest = |word: Self| word.chunks.iter().skip(2).map(|chunk| chunk.swap_bytes());
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
        let prefix = |low: u64, high: u64| {
            u128::from(low.swap_bytes()) << 64 | u128::from(high.swap_bytes())
        };
        if code.is_long() {
            let place = code.low as usize;
            let length = self.arena[place] as usize;
            let chunks = &self.arena[place + 1..place + 1 + length.div_ceil(8)];
            Word { prefix: prefix(chunks[0], chunks[1]), length, chunks }
        } else {
            let length = (code.high >> 56) as usize;
            Word { prefix: prefix(code.low, code.high & !LONG), length, chunks: &[] }
        }
    }

    /// Appends to `ids` the numbers of the words at these places of `text`; new words get new numbers.
    pub fn intern(&mut self, text: &[u8], words: &[(u32, u32)], ids: &mut Vec<u32>) {
        let mut keys = [Key::EMPTY; LONGEST_BATCH];
        for words in words.chunks(LONGEST_BATCH) {
            for (key, &(start, end)) in keys.iter_mut().zip(words) {
                *key = key_of(text, start as usize, end as usize);
            }
            for (&key, &(start, end)) in keys.iter().zip(words) {
                ids.push(self.find(key, text, start as usize, end as usize));
            }
        }
    }

    #[inline(always)]
    fn find(&mut self, key: Key, text: &[u8], start: usize, end: usize) -> u32 {
        let mask = self.entries.len() - 1;
        let mut slot = key.slot() & mask;
        loop {
            let entry = self.entries[slot];
            let found = self::key(entry);
            let id = entry[2] as u32;
            if found == key && (!key.is_long() || self.is(id, &text[start..end])) {
                return id;
            }
            if found == Key::EMPTY {
                return self.add(slot, key, &text[start..end]);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Whether a long word is the one of this number.
    fn is(&self, id: u32, word: &[u8]) -> bool {
        let place = self.codes[id as usize].low as usize;
        if self.arena[place] != word.len() as u64 {
            return false;
        }
        let (chunks, rest) = word.as_chunks::<8>();
        let kept = &self.arena[place + 1..];
        kept.iter().zip(chunks).all(|(&kept, &chunk)| kept == u64::from_le_bytes(chunk))
            && (rest.is_empty() || kept[chunks.len()] == padded(rest))
    }

    #[cold]
    fn add(&mut self, slot: usize, key: Key, bytes: &[u8]) -> u32 {
        let id = u32::try_from(self.codes.len()).expect("fewer than 2^32 distinct words");
        if key.is_long() {
            self.codes.push(Key { low: self.arena.len() as u64, high: LONG });
            self.arena.push(bytes.len() as u64);
            self.arena.extend(bytes.chunks(8).map(padded));
        } else {
            self.codes.push(key);
        }
        self.entries[slot] = [key.low, key.high, u64::from(id)];
        if self.codes.len() * 2 > self.entries.len() {
            self.grow();
        }
        id
    }

    fn grow(&mut self) {
        // Four times: growing rarely costs less than the pages of a table that is larger than it need be.
        let larger = huge::zeros(EMPTY, self.entries.len() * 4);
        let old = std::mem::replace(&mut self.entries, larger);
        let mask = self.entries.len() - 1;
        for entry in old.into_iter().filter(|entry| *entry != EMPTY) {
            let mut slot = key(entry).slot() & mask;
            while self.entries[slot] != EMPTY {
                slot = (slot + 1) & mask;
            }
            self.entries[slot] = entry;
        }
    }
}

/// Up to eight bytes, with zeros above them.
fn padded(bytes: &[u8]) -> u64 {
    let mut eight = [0; 8];
    eight[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(eight)
}

/// The lowest so many bytes set.
const MASKS: [u128; 16] = {
    let mut masks = [0; 16];
    let mut length = 1;
    while length < 16 {
        masks[length] = u128::MAX >> (128 - 8 * length);
        length += 1;
    }
    masks
};

/// What a word is found by.
#[inline(always)]
fn key_of(text: &[u8], start: usize, end: usize) -> Key {
    let length = end - start;
    if length > LONGEST_SHORT {
        return long_key(&text[start..end]);
    }
    let sixteen = match text[start..].first_chunk::<16>() {
        Some(&sixteen) => sixteen,
        None => {
            let mut sixteen = [0; 16];
            sixteen[..length].copy_from_slice(&text[start..end]);
            sixteen
        }
    };
    let bytes = u128::from_le_bytes(sixteen) & MASKS[length];
    Key { low: bytes as u64, high: (bytes >> 64) as u64 | (length as u64) << 56 }
}

fn long_key(word: &[u8]) -> Key {
    let mut hash = word.len() as u64;
    let (chunks, _) = word[..word.len() - 1].as_chunks::<8>();
    for &chunk in chunks {
        hash = fold(hash ^ u64::from_le_bytes(chunk), 0xD6E8_FEB8_6659_FD93);
    }
    // The last eight bytes, overlapping those before: no loop over the rest.
    let last = u64::from_le_bytes(*word.last_chunk().expect("a long word"));
    Key { low: fold(hash ^ last, 0xA076_1D64_78BD_642F), high: last | LONG }
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
        let words: [&[u8]; 8] = [
            b"a",
            b"a\0",
            b"abcdefghabcdefgh",
            b"abcdefghabcdefgh\0",
            b"abcdefghabcdefgh\0\0",
            b"abcdefghabcdefgi",
            b"b",
            b"\xff",
        ];
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
