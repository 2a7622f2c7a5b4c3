//! For each word of a segment the documents that it is in, and how often it is in each.
//!
//! A list has the gaps between document numbers in Rice's code and the counts in Elias' gamma code, so that a document
//! costs a few bits more than the logarithm of the gap. Lists of more than [`BLOCK`] documents begin with a table of
//! their blocks, so that one document is found in a binary search and a walk over one block. Every
//! [`LISTS`]th list has its start recorded; the others are reached by passing over those before them.

use super::bits::{BitReader, BitWriter};
use crate::Array;
use crate::error::{Error, Result};
use crate::packed::{Packed, width_of};
use crate::spill::{Spill, SpillVec};

/// Lists between two whose starts are recorded.
const LISTS: usize = 8;
/// Documents of a block.
const BLOCK: u64 = 64;

fn malformed() -> Error {
    Error::malformed("section DOCW: a list of documents cannot be read")
}

/// Bits of the lower part of a gap, where so many of all documents are in a list.
fn low_bits(documents: u64, in_list: u64) -> u32 {
    (documents / in_list.max(1)).max(1).ilog2()
}

/// Takes lists, in the order of words.
#[derive(Debug)]
pub struct WordDocumentsBuilder {
    documents: u64,
    words: u64,
    starts: SpillVec<u64>,
    writer: BitWriter,
}

impl WordDocumentsBuilder {
    /// For a segment of so many documents.
    pub fn new(documents: u64) -> Self {
        Self::spilling(documents, &Spill::default())
    }

    /// The same, where `spill` says.
    pub fn spilling(documents: u64, spill: &Spill) -> Self {
        Self { documents, words: 0, starts: spill.row(), writer: BitWriter::spilling(spill) }
    }

    /// The documents of the next word, ascending, with counts of at least 1.
    pub fn push(&mut self, list: &[(u32, u64)]) {
        if self.words.is_multiple_of(LISTS as u64) {
            self.starts.push(self.writer.position());
        }
        self.words += 1;
        let (length, total) =
            (list.len() as u64, list.iter().map(|&(_, count)| count).sum::<u64>());
        self.writer.put_gamma(length + 1);
        if length == 0 {
            return;
        }
        self.writer.put_gamma(total - length + 1);
        let low = low_bits(self.documents, length);
        let mut entries = BitWriter::default();
        let mut blocks = Vec::new();
        let mut next = 0_u64;
        for (index, &(document, count)) in list.iter().enumerate() {
            if index > 0 && (index as u64).is_multiple_of(BLOCK) {
                blocks.push((next, entries.position()));
            }
            entries.put_rice(u64::from(document) - next, low);
            if total > length {
                entries.put_gamma(count);
            }
            next = u64::from(document) + 1;
        }
        let bits = entries.position();
        if length > BLOCK {
            self.writer.put_gamma(bits);
            for (first, position) in blocks {
                self.writer.put(first, width_of(self.documents));
                self.writer.put(position, width_of(bits));
            }
        }
        let bytes = entries.finish();
        let mut reader = BitReader::new(&bytes, 0);
        let mut left = bits;
        while left > 0 {
            let taken = left.min(48) as u32;
            self.writer.put(reader.take(taken), taken);
            left -= u64::from(taken);
        }
    }

    /// All lists.
    pub fn finish(self) -> Result<WordDocuments> {
        let most = self.writer.position();
        let starts = Packed::spilling(self.starts.iter().copied(), most, self.starts.spill());
        WordDocuments::new(self.words, self.documents, starts, self.writer.finish().into_array())
    }
}

/// The documents of the words of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordDocuments {
    words: u64,
    documents: u64,
    starts: Packed,
    lists: Array<u8>,
}

/// What stands at the start of a list.
#[derive(Debug, Clone, Copy)]
struct Head {
    length: u64,
    total: u64,
    low: u32,
}

impl WordDocuments {
    /// Lists that were built before.
    pub(super) fn new(
        words: u64,
        documents: u64,
        starts: Packed,
        lists: Array<u8>,
    ) -> Result<Self> {
        if starts.len() as u64 != words.div_ceil(LISTS as u64) {
            return Err(malformed());
        }
        Ok(Self { words, documents, starts, lists })
    }

    pub(super) fn starts(&self) -> &Packed {
        &self.starts
    }

    pub(super) fn lists(&self) -> &[u8] {
        &self.lists
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        self.starts.as_bytes().len() + self.lists.len()
    }

    /// How many words there are.
    pub fn word_count(&self) -> u64 {
        self.words
    }

    fn head(&self, reader: &mut BitReader<'_>) -> Result<Head> {
        let length = reader.gamma().ok_or_else(malformed)? - 1;
        let total = match length {
            0 => 0,
            _ => {
                let above = reader.gamma().ok_or_else(malformed)? - 1;
                length.checked_add(above).ok_or_else(malformed)?
            }
        };
        if length > self.documents {
            return Err(malformed());
        }
        Ok(Head { length, total, low: low_bits(self.documents, length) })
    }

    /// The head of a word's list, and the reader behind it.
    fn find(&self, word: u32) -> Result<(Head, BitReader<'_>)> {
        assert!(u64::from(word) < self.words, "word {word} of {}", self.words);
        let mut reader = BitReader::new(&self.lists, self.starts.get(word as usize / LISTS));
        for _ in 0..word as usize % LISTS {
            let head = self.head(&mut reader)?;
            self.pass_over(head, &mut reader)?;
        }
        Ok((self.head(&mut reader)?, reader))
    }

    fn pass_over(&self, head: Head, reader: &mut BitReader<'_>) -> Result<()> {
        if head.length > BLOCK {
            let bits = reader.gamma().ok_or_else(malformed)?;
            reader.skip(self.table_bits(head, bits).saturating_add(bits));
        } else {
            for _ in 0..head.length {
                read_entry(head, reader)?;
            }
        }
        Ok(())
    }

    fn entry_of_table(&self, bits: u64) -> [u32; 2] {
        [width_of(self.documents), width_of(bits)]
    }

    fn table_bits(&self, head: Head, bits: u64) -> u64 {
        let entry: u32 = self.entry_of_table(bits).iter().sum();
        (head.length - 1) / BLOCK * u64::from(entry)
    }

    /// How often a word occurs in the segment.
    ///
    /// # Panics
    /// If there is no such word.
    pub fn total(&self, word: u32) -> Result<u64> {
        Ok(self.find(word)?.0.total)
    }

    /// How many documents a word is in.
    ///
    /// # Panics
    /// If there is no such word.
    pub fn document_count(&self, word: u32) -> Result<u64> {
        Ok(self.find(word)?.0.length)
    }

    /// How often a word is in a document. O(log of the list's length).
    ///
    /// # Panics
    /// If there is no such word.
    pub fn count(&self, word: u32, document: u32) -> Result<u64> {
        let (head, mut reader) = self.find(word)?;
        let document = u64::from(document);
        let mut next = 0;
        let mut left = head.length;
        if head.length > BLOCK {
            let bits = reader.gamma().ok_or_else(malformed)?;
            let [first_bits, position_bits] = self.entry_of_table(bits);
            if position_bits > 56 {
                return Err(malformed());
            }
            let table = reader;
            let entry = |number: u64| {
                let mut reader = table;
                reader.skip((number - 1) * u64::from(first_bits + position_bits));
                (reader.take(first_bits), reader.take(position_bits))
            };
            // The last block whose documents do not all come behind the one that is looked for.
            let (mut low, mut high) = (0, (head.length - 1) / BLOCK + 1);
            while low + 1 < high {
                let middle = low.midpoint(high);
                if entry(middle).0 <= document { low = middle } else { high = middle }
            }
            reader.skip(self.table_bits(head, bits));
            if low > 0 {
                let (first, position) = entry(low);
                next = first;
                reader.skip(position);
            }
            left = (head.length - low * BLOCK).min(BLOCK);
        }
        for _ in 0..left {
            let (gap, count) = read_entry(head, &mut reader)?;
            next = next.saturating_add(gap);
            if next >= document {
                return Ok(if next == document { count } else { 0 });
            }
            next = next.saturating_add(1);
        }
        Ok(0)
    }

    /// All documents of a word, ascending, with counts.
    ///
    /// # Panics
    /// If there is no such word.
    pub fn documents(&self, word: u32) -> Result<DocumentsOfWord<'_>> {
        let (head, mut reader) = self.find(word)?;
        if head.length > BLOCK {
            let bits = reader.gamma().ok_or_else(malformed)?;
            reader.skip(self.table_bits(head, bits));
        }
        Ok(DocumentsOfWord { head, reader, next: 0, left: head.length, documents: self.documents })
    }
}

/// The gap before a document, and the count in it.
#[inline]
fn read_entry(head: Head, reader: &mut BitReader<'_>) -> Result<(u64, u64)> {
    let gap = reader.rice(head.low).ok_or_else(malformed)?;
    let count = if head.total > head.length { reader.gamma().ok_or_else(malformed)? } else { 1 };
    Ok((gap, count))
}

/// The documents of a word; see [`WordDocuments::documents`].
#[derive(Debug)]
pub struct DocumentsOfWord<'w> {
    head: Head,
    reader: BitReader<'w>,
    next: u64,
    left: u64,
    documents: u64,
}

impl Iterator for DocumentsOfWord<'_> {
    type Item = Result<(u32, u64)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        Some(read_entry(self.head, &mut self.reader).and_then(|(gap, count)| {
            let document = self.next.saturating_add(gap);
            self.next = document.saturating_add(1);
            match u32::try_from(document) {
                Ok(number) if document < self.documents => Ok((number, count)),
                _ => Err(malformed()),
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Lists = Vec<Vec<(u32, u64)>>;

    fn build(documents: u64, lists: &Lists) -> WordDocuments {
        let mut builder = WordDocumentsBuilder::new(documents);
        lists.iter().for_each(|list| builder.push(list));
        builder.finish().unwrap()
    }

    fn check(documents: u64, lists: &Lists) {
        let built = build(documents, lists);
        for (word, list) in (0..).zip(lists) {
            let read: Vec<(u32, u64)> =
                built.documents(word).unwrap().collect::<Result<_>>().unwrap();
            assert_eq!(read, *list);
            assert_eq!(
                built.total(word).unwrap(),
                list.iter().map(|&(_, count)| count).sum::<u64>()
            );
            assert_eq!(built.document_count(word).unwrap(), list.len() as u64);
            for document in 0..documents as u32 {
                let expected = list.iter().find(|&&(other, _)| other == document);
                let expected = expected.map_or(0, |&(_, count)| count);
                assert_eq!(built.count(word, document).unwrap(), expected, "{word} {document}");
            }
        }
    }

    proptest! {
        #[test]
        fn lists_come_back(documents in 1..400_u64, lists in prop::collection::vec((any::<u64>(), 1..9_u64), 1..30)) {
            // A word is in a document by the bits of a number, and as often as another one has it.
            let lists: Lists = lists.into_iter().map(|(seed, of)| {
                (0..documents as u32)
                    .filter(|&document| (seed ^ u64::from(document)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 & 7 < of - 1)
                    .map(|document| (document, 1 + (seed >> 7) % of * u64::from(document % 3)))
                    .collect()
            }).collect();
            check(documents, &lists);
        }
    }

    #[test]
    fn long_and_short_lists_come_back() {
        let all: Vec<(u32, u64)> =
            (0..1000).map(|document| (document, 1 + u64::from(document) % 5)).collect();
        check(1000, &vec![all, vec![], vec![(999, u64::from(u32::MAX))], vec![(0, 1), (999, 1)]]);
        check(1, &vec![vec![(0, 7)]; 20]);
    }

    #[test]
    fn bytes_that_are_no_lists_give_errors() {
        let all: Vec<(u32, u64)> = (0..1000).map(|document| (document, 1)).collect();
        let built = build(1000, &vec![all; 9]);
        let starts = built.starts().clone();
        for bytes in [vec![], vec![0; 20], vec![0xFF; 3], vec![0x55; 200]] {
            let other = WordDocuments::new(9, 1000, starts.clone(), bytes.into()).unwrap();
            for word in 0..9 {
                // Any answer but a panic or an endless loop; ones that cannot be are errors.
                let documents =
                    other.documents(word).and_then(|list| list.collect::<Result<Vec<_>>>());
                assert!(
                    documents.is_err()
                        || documents.unwrap().iter().all(|&(document, _)| document < 1000)
                );
                let _ = other.count(word, 500);
            }
        }
        assert!(WordDocuments::new(17, 1000, starts, Array::default()).is_err());
    }
}
