//! What leads to any place of a segment without expanding it: its rules, packed, and lengths.
//!
//! A *place* is the number of a symbol in the root. Cost for each rule: its symbols in as many bits as a symbol needs,
//! where they start, and a byte each (mostly) for the bytes, words and newlines of its text; for each token a byte; for the root
//! a sample of the bytes before every [`BYTES_EVERY`]th place, and of words and newlines before fewer.
//! What it buys: the way from an offset, a word's number or a line to its place is a look at the samples and a
//! walk over a few symbols' lengths, and then down the rules.

use crate::usize_of;
use rayon::prelude::*;

use crate::archive::SegmentInfo;
use crate::error::{Error, Result};
use crate::packed::{Numbers, Packed};

/// Places between two samples of bytes.
pub const BYTES_EVERY: usize = 32;
/// Places between two samples of words.
pub const WORDS_EVERY: usize = 64;
/// Places between two samples of newlines.
pub const NEWLINES_EVERY: usize = 128;

/// Bits of a length at the most: sums of a few of them never pass 64 bits.
pub const WIDEST_LENGTH: u32 = 48;

/// Rules or symbols that a thread checks at a time.
const CHECKED_AT_ONCE: usize = 1 << 14;

/// The rules of a segment and the lengths of everything in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Navigation {
    /// Bytes of each token.
    pub token_bytes: Numbers,
    /// Newlines of each token that has no word; these are behind those that have one.
    pub separator_newlines: Numbers,
    /// Bytes of each rule's text.
    pub rule_bytes: Numbers,
    /// Words of each rule.
    pub rule_words: Numbers,
    /// Newlines of each rule.
    pub rule_newlines: Numbers,
    /// Where each rule starts in `bodies`, and the end behind the last.
    pub rule_starts: Packed,
    /// The symbols of all rules.
    pub bodies: Packed,
    /// Where each document starts in the root, and the end behind the last.
    pub document_starts: Packed,
    /// Bytes before every [`BYTES_EVERY`]th place of the root, the first and the end included.
    pub root_bytes: Packed,
    /// Words before every [`WORDS_EVERY`]th place.
    pub root_words: Packed,
    /// Newlines before every [`NEWLINES_EVERY`]th place.
    pub root_newlines: Packed,
}

impl Navigation {
    /// How many tokens there are.
    #[expect(clippy::cast_possible_truncation, reason = "`check` has seen that it is 32 bits")]
    pub fn token_count(&self) -> u32 {
        self.token_bytes.len() as u32
    }

    /// How many rules there are.
    #[expect(clippy::cast_possible_truncation, reason = "`check` has seen that it is 32 bits")]
    pub fn rule_count(&self) -> u32 {
        self.rule_bytes.len() as u32
    }

    /// How many symbols the root has.
    pub fn root_length(&self) -> usize {
        match self.document_starts.len() {
            0 => 0,
            documents => usize_of(self.document_starts.get(documents - 1)),
        }
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        let packed = [
            &self.rule_starts,
            &self.bodies,
            &self.document_starts,
            &self.root_bytes,
            &self.root_words,
            &self.root_newlines,
        ];
        self.lengths().iter().map(|row| row.bytes()).sum::<usize>()
            + packed.iter().map(|row| row.as_bytes().len()).sum::<usize>()
    }

    /// Bytes of that which are derived, and on the heap wherever it lies.
    pub fn derived_bytes(&self) -> usize {
        self.lengths().iter().map(|row| row.derived_bytes()).sum()
    }

    fn lengths(&self) -> [&Numbers; 5] {
        [
            &self.token_bytes,
            &self.separator_newlines,
            &self.rule_bytes,
            &self.rule_words,
            &self.rule_newlines,
        ]
    }

    /// Bits of the widest length.
    fn widest(&self) -> u32 {
        let samples = [&self.root_bytes, &self.root_words, &self.root_newlines];
        let of_lengths = self.lengths().into_iter().map(|row| row.parts().2.width());
        of_lengths.chain(samples.iter().map(|row| row.width())).max().unwrap_or(0)
    }

    /// Checks that it is of a segment, that no row leads out of another, and that rules use only rules of a higher number: what was read
    /// from a file may be anything. O(symbols of rules), on all threads.
    pub fn check(&self, segment: &SegmentInfo) -> Result<()> {
        let (tokens, rules, root) = (segment.token_types, segment.rules, segment.root_symbols);
        let bodies = segment.symbols.saturating_sub(root);
        let wrong = |what: &str| Err(Error::malformed(format!("the index: {what}")));
        let lengths = [
            (self.token_bytes.len(), tokens),
            (self.rule_bytes.len(), rules),
            (self.rule_words.len(), rules),
            (self.rule_newlines.len(), rules),
            (self.rule_starts.len(), rules.saturating_add(1)),
            (self.bodies.len(), bodies),
            (self.document_starts.len(), segment.documents.saturating_add(1)),
            (self.root_bytes.len(), samples(root, BYTES_EVERY)),
            (self.root_words.len(), samples(root, WORDS_EVERY)),
            (self.root_newlines.len(), samples(root, NEWLINES_EVERY)),
        ];
        if lengths.iter().any(|&(found, expected)| found as u64 != expected)
            || self.separator_newlines.len() > self.token_bytes.len()
        {
            return wrong("it is of other lengths than its segment");
        }
        if tokens.saturating_add(rules) > u64::from(u32::MAX)
            || segment.documents > u64::from(u32::MAX)
        {
            return wrong("it has more symbols or documents than 32 bits can number");
        }
        // Numbers of no bits take no bytes, and may be announced by the quintillion.
        let is_empty = |row: &Packed| row.width() == 0;
        if (bodies > 0 && is_empty(&self.bodies)) || (root > 0 && is_empty(&self.root_bytes)) {
            return wrong("symbols or lengths have no bits");
        }
        if !ascends(&self.document_starts, root) || !ascends(&self.rule_starts, bodies) {
            return wrong("documents or rules are out of order");
        }
        for samples in [&self.root_bytes, &self.root_words, &self.root_newlines] {
            let last = samples.len() - 1;
            if !ascends(samples, samples.get(last)) {
                return wrong("samples are out of order");
            }
        }
        if self.widest() > WIDEST_LENGTH {
            return wrong("lengths are too large");
        }
        let (starts, symbols) = (self.rule_starts.slice(), self.bodies.slice());
        let limit = tokens.saturating_add(rules);
        let rules = usize_of(rules);
        let holds = (0..rules.div_ceil(CHECKED_AT_ONCE)).into_par_iter().all(|chunk| {
            let chunk = chunk * CHECKED_AT_ONCE..rules.min((chunk + 1) * CHECKED_AT_ONCE);
            let mut at = usize_of(starts.get(chunk.start));
            chunk.into_iter().all(|rule| {
                let end = usize_of(starts.get(rule + 1));
                let own = tokens + rule as u64;
                let mut body = std::mem::replace(&mut at, end)..end;
                !body.is_empty()
                    && body.all(|place| {
                        let symbol = symbols.get(place);
                        symbol < tokens || (symbol > own && symbol < limit)
                    })
            })
        });
        if holds { Ok(()) } else { wrong("a rule uses what it cannot use") }
    }
}

/// Checks that all symbols of a root are among so many; what was read from a file may be anything.
pub fn check_root(root: &Packed, length: u64, symbols: u64) -> Result<()> {
    let wrong =
        || Error::malformed("the index: the documents' symbols are not those of the segment");
    if root.len() as u64 != length || (length > 0 && root.width() == 0) {
        return Err(wrong());
    }
    let places = root.slice();
    let chunks = root.len().div_ceil(CHECKED_AT_ONCE);
    let holds = (0..chunks).into_par_iter().all(|chunk| {
        let mut places_of_chunk =
            chunk * CHECKED_AT_ONCE..root.len().min((chunk + 1) * CHECKED_AT_ONCE);
        places_of_chunk.all(|place| places.get(place) < symbols)
    });
    if holds { Ok(()) } else { Err(wrong()) }
}

/// How many samples a root of that length has.
pub fn samples(root: u64, every: usize) -> u64 {
    root.div_ceil(every as u64) + 1
}

/// Whether boundaries start with 0, never go back, and end with `end`.
fn ascends(boundaries: &Packed, end: u64) -> bool {
    if boundaries.width() == 0 {
        // All are 0, and there may be any number of them.
        return !boundaries.is_empty() && end == 0;
    }
    let boundaries = boundaries.slice();
    let mut before = 0;
    let mut all = 0..boundaries.len();
    !boundaries.is_empty()
        && boundaries.get(0) == 0
        && all.all(|index| {
            boundaries.get(index) >= std::mem::replace(&mut before, boundaries.get(index))
        })
        && before == end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Array;

    #[test]
    fn documents_that_32_bits_cannot_number_are_refused_at_once() {
        let documents = 1 << 40;
        let zeros = |count| Packed::new(std::iter::repeat_n(0, count), 0);
        let padding = Array::from(zeros(0).as_bytes().to_vec());
        let navigation = Navigation {
            // Numbers of no bits take no bytes.
            document_starts: Packed::from_bytes(padding, documents + 1, 0).unwrap(),
            rule_starts: zeros(1),
            root_bytes: zeros(samples(0, BYTES_EVERY) as usize),
            root_words: zeros(samples(0, WORDS_EVERY) as usize),
            root_newlines: zeros(samples(0, NEWLINES_EVERY) as usize),
            ..Default::default()
        };
        let error = navigation.check(&SegmentInfo { documents, ..Default::default() });
        assert!(error.unwrap_err().to_string().contains("32 bits can number"));
    }
}
