//! Random documents: few words or many, passages that come again, and what stands between words of
//! all kinds.

use proptest::prelude::*;
use tadoc_oracle::{Document, Random};

use crate::numbered;

/// What random documents look like; all of it follows from this.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Makes texts differ.
    pub seed: u64,
    /// Different words, about.
    pub words: u64,
    /// Passages that come again and again.
    pub passages: u64,
    /// How many documents there are.
    pub documents: usize,
    /// Words of a document, at most.
    pub length: u64,
}

/// One large document, many tiny ones, or some of all lengths.
pub fn kinds() -> impl Strategy<Value = Kind> {
    let words = prop_oneof![1..4_u64, 3..60_u64, 500..4000_u64];
    let shapes = prop_oneof![
        (Just(1_usize), 300..900_u64),
        (20..90_usize, 0..6_u64),
        (2..9_usize, 1..200_u64)
    ];
    (any::<u64>(), words, 0..8_u64, shapes).prop_map(
        |(seed, words, passages, (documents, length))| Kind {
            seed,
            words,
            passages,
            documents,
            length,
        },
    )
}

impl Kind {
    /// The documents, with numbers as names.
    pub fn documents(&self) -> Vec<Document> {
        let mut random = Random::new(self.seed);
        let passages: Vec<Vec<u8>> = (0..self.passages)
            .map(|_| {
                let mut passage = Vec::new();
                (0..2 + random.below(25)).for_each(|_| self.word(&mut random, &mut passage));
                passage
            })
            .collect();
        let texts = (0..self.documents).map(|_| {
            let mut text = Vec::new();
            let length = random.below(self.length + 1);
            let mut words = 0;
            while words < length {
                if !passages.is_empty() && random.below(3) == 0 {
                    text.extend_from_slice(&random.choose(&passages)[..]);
                    words += 10;
                } else {
                    self.word(&mut random, &mut text);
                    words += 1;
                }
            }
            text
        });
        numbered(texts.collect::<Vec<_>>())
    }

    /// Appends a word, every other time one of the first few, and what stands behind it.
    fn word(&self, random: &mut Random, text: &mut Vec<u8>) {
        let number = if random.below(2) == 0 {
            random.rank() % self.words
        } else {
            random.below(self.words)
        };
        let word = match number % 7 {
            0 => format!("w{number}"),
            1 => format!("W{number}"),
            2 => format!("É{number}"),
            3 => format!("é{number}"),
            4 => format!("{number}"),
            5 => format!("a_{number}"),
            _ => "語".to_owned(),
        };
        text.extend_from_slice(word.as_bytes());
        const BEHIND: [&[u8]; 10] =
            [b" ", b" ", b" ", b"\n", b"\r\n", b", ", b". ", b"\xff", "の".as_bytes(), b"  \n\n"];
        text.extend_from_slice(random.choose::<&[u8]>(&BEHIND));
    }
}
