//! What is asked: places drawn by length, words drawn from the vocabularies of documents that are drawn, as in the
//! papers. Drawing words reads every document that is drawn once.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use tadoc_engine::access::{Access, Index, Operation, Outcome};
use tadoc_engine::build::lexer::TokenKind;
use tadoc_engine::{Corpus, Lexer};
use tadoc_oracle::Random;

/// Bytes that are extracted at a time.
pub const EXTRACTED: u64 = 64;
/// Searches over all documents give at most so many offsets in one batch: as they are all in memory.
pub const MOST_OFFSETS: u64 = 30_000_000;
/// Words that are drawn by one operation.
pub const SAMPLED: u64 = 1000;

/// Operations that were drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drawn {
    /// Documents and offsets in them.
    pub places: Vec<(u32, u64)>,
    /// Documents and words of theirs.
    pub words: Vec<(u32, String)>,
    /// So many of the words are searched for in all documents.
    pub capped: usize,
}

/// What an operation does, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Extract,
    CountInDocument,
    CountInAll,
    SearchInDocument,
    SearchInAll,
    Sample,
}

impl Kind {
    pub const ALL: [Self; 6] = [
        Self::Extract,
        Self::CountInDocument,
        Self::CountInAll,
        Self::SearchInDocument,
        Self::SearchInAll,
        Self::Sample,
    ];

    /// As tables have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Extract => "extract 64 bytes",
            Self::CountInDocument => "count in a document",
            Self::CountInAll => "count in all",
            Self::SearchInDocument => "search in a document",
            Self::SearchInAll => "search in all",
            Self::Sample => "sample a word",
        }
    }
}

impl Drawn {
    /// Draws so many operations on an archive.
    pub fn of(archive: &Path, count: u64, seed: u64) -> Result<Self> {
        let corpus = Corpus::open(archive)?;
        let lexer = corpus.info().lexer;
        ensure!(lexer == Lexer::Words.name(), "words are drawn for the lexer words, not {lexer}");
        let access = Access::open(&corpus, Index::Fast)?;
        let documents = access.documents();
        let mut random = Random::new(seed);
        let ends: Vec<u64> = documents
            .iter()
            .scan(0, |end, document| {
                *end += document.bytes;
                Some(*end)
            })
            .collect();
        let total = ends.last().copied().filter(|&total| total > 0);
        let total = total.context("there is no text in the archive")?;
        let places = (0..count).map(|_| {
            let place = random.below(total);
            let document = ends.partition_point(|&end| end <= place);
            (document as u32, place - (ends[document] - documents[document].bytes))
        });
        let places = places.collect();
        let words = words(&access, &mut random, count)?;
        let capped = capped(&access, &words)?;
        Ok(Self { places, words, capped })
    }

    /// The operations of a kind.
    pub fn batch(&self, kind: Kind) -> Vec<Operation> {
        let words = |kind: fn(Option<u32>, Vec<u8>) -> Operation, in_all: bool, most: usize| {
            let words = self.words.iter().take(most);
            words
                .map(|(document, word)| {
                    kind((!in_all).then_some(*document), word.as_bytes().to_vec())
                })
                .collect()
        };
        let count = |document, phrase| Operation::Count { document, phrase };
        let search = |document, phrase| Operation::Search { document, phrase };
        match kind {
            Kind::Extract => {
                let places = self.places.iter();
                let extract = |&(document, offset)| Operation::Extract {
                    document,
                    offset,
                    length: EXTRACTED,
                };
                places.map(extract).collect()
            }
            Kind::CountInDocument => words(count, false, usize::MAX),
            Kind::CountInAll => words(count, true, usize::MAX),
            Kind::SearchInDocument => words(search, false, usize::MAX),
            Kind::SearchInAll => words(search, true, self.capped),
            Kind::Sample => (0..(self.places.len() as u64).div_ceil(SAMPLED))
                .map(|seed| Operation::Sample { document: None, count: SAMPLED, seed })
                .collect(),
        }
    }
}

/// Words, each drawn from the vocabulary of a document that is drawn; documents without words are drawn again.
fn words(access: &Access, random: &mut Random, count: u64) -> Result<Vec<(u32, String)>> {
    let documents = access.documents().len() as u64;
    let mut words: Vec<(u32, String)> = Vec::new();
    // Twice in a row without a word: there are hardly any.
    let mut before = usize::MAX;
    while (words.len() as u64) < count {
        ensure!(words.len() != before, "there is no word in the archive");
        before = words.len();
        let left = count - words.len() as u64;
        let mut drawn: Vec<u32> = (0..left).map(|_| random.below(documents) as u32).collect();
        drawn.sort_unstable();
        for same in drawn.chunk_by(|one, other| one == other) {
            let text = access.extract(same[0], 0, u64::MAX)?;
            let vocabulary = vocabulary(&text)?;
            if !vocabulary.is_empty() {
                let draw = |_| (same[0], (*random.choose(&vocabulary)).to_owned());
                words.extend((0..same.len()).map(draw));
            }
        }
    }
    // In no order, as they would come.
    for place in (1..words.len()).rev() {
        words.swap(place, random.below(place as u64 + 1) as usize);
    }
    Ok(words)
}

/// The different words of a text, in order.
fn vocabulary(text: &[u8]) -> Result<Vec<&str>> {
    let mut words = BTreeSet::new();
    let mut start = 0;
    Lexer::Words.tokens(text, |end, kind| {
        match kind {
            TokenKind::Word => drop(words.insert(&text[start..end])),
            TokenKind::SpacedWord => drop(words.insert(&text[start + 1..end])),
            TokenKind::Separator => {}
        }
        start = end;
    });
    words.into_iter().map(|word| Ok(std::str::from_utf8(word)?)).collect()
}

/// How many of the words have no more than [`MOST_OFFSETS`] occurrences in all documents together.
fn capped(access: &Access, words: &[(u32, String)]) -> Result<usize> {
    let counts: Vec<Operation> = words
        .iter()
        .map(|(_, word)| Operation::Count { document: None, phrase: word.as_bytes().to_vec() })
        .collect();
    let mut offsets = 0;
    for (place, counted) in access.run(&counts).into_iter().enumerate() {
        if let Outcome::Count(count) = counted? {
            offsets += count;
        }
        if offsets > MOST_OFFSETS {
            return Ok(place.max(1));
        }
    }
    Ok(words.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vocabularies_have_each_word_once() {
        assert_eq!(vocabulary(b"to be, or not to be").unwrap(), ["be", "not", "or", "to"]);
        assert!(vocabulary(b" ..").unwrap().is_empty());
    }

    #[test]
    fn batches_are_of_what_was_drawn() {
        let words = vec![(1, "be".to_owned()), (0, "to".to_owned()), (1, "or".to_owned())];
        let drawn = Drawn { places: vec![(0, 5), (1, 0)], words, capped: 2 };
        let lengths = Kind::ALL.map(|kind| drawn.batch(kind).len());
        assert_eq!(lengths, [2, 3, 3, 3, 2, 1]);
        let word = |document| Operation::Count { document, phrase: b"be".to_vec() };
        assert_eq!(drawn.batch(Kind::CountInDocument)[0], word(Some(1)));
        assert_eq!(drawn.batch(Kind::CountInAll)[0], word(None));
        let extract = Operation::Extract { document: 0, offset: 5, length: EXTRACTED };
        assert_eq!(drawn.batch(Kind::Extract)[0], extract);
    }
}
