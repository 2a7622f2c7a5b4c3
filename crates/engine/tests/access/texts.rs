//! Random texts of many kinds, through archives of both lexers and builders and every index.

use proptest::prelude::*;
use tadoc_engine::{Analyzer, Builder, Lexer};
use tadoc_oracle::{Document, Random};

use super::support::{Questions, compress, for_each_index, numbered, pool};

/// What a random text looks like; all of it follows from this.
#[derive(Debug, Clone, Copy)]
struct Kind {
    seed: u64,
    /// Different words, about.
    words: u64,
    /// Passages that come again and again.
    passages: u64,
    documents: usize,
    /// Words of a document, at most.
    length: u64,
}

fn kinds() -> impl Strategy<Value = Kind> {
    let words = prop_oneof![1..3_u64, 3..12_u64, 500..2000_u64];
    let shapes = prop_oneof![
        (Just(1_usize), 300..900_u64),
        (20..60_usize, 0..6_u64),
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
    fn documents(&self) -> Vec<Document> {
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

    /// Appends a word and what stands behind it.
    fn word(&self, random: &mut Random, text: &mut Vec<u8>) {
        let number = random.rank() % self.words;
        let word = match number % 4 {
            0 => format!("w{number}"),
            1 => format!("É{number}"),
            2 => format!("{number}"),
            _ => "語".to_owned(),
        };
        text.extend_from_slice(word.as_bytes());
        let behind: [&[u8]; 9] =
            [b" ", b" ", b" ", b"\n", b"\r\n", b", ", b"\xff", "の".as_bytes(), b"  \n\n"];
        text.extend_from_slice(random.choose::<&[u8]>(&behind));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..Default::default() })]

    #[test]
    fn every_operation_equals_the_oracle(kind in kinds(), threads in 1..=3_usize) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text.tdc");
        let documents = kind.documents();
        for lexer in [Lexer::Words, Lexer::Whitespace] {
            let questions = Questions::new(lexer, &documents, &Analyzer::new(), kind.seed, 16);
            for builder in [Builder::RePair, Builder::Sequitur] {
                compress(&documents, &path, lexer, builder, None).unwrap();
                pool(threads).install(|| {
                    for_each_index(&path, |access, what| {
                        questions.check(access, &format!("{kind:?} {lexer:?} {builder:?} {what}"));
                    });
                });
            }
        }
    }
}
