//! Random texts of many kinds, through archives of both lexers and builders.

use proptest::prelude::*;
use tadoc_core::Limits;
use tadoc_engine::{Builder, Lexer};
use tadoc_oracle::{Document, Oracle, Random};

use super::support::{
    all_tasks, check, compress, expected_of, numbered, oracle_lexer, plain_view, pool,
    some_questions,
};

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
    let words = prop_oneof![1..4_u64, 4..60_u64, 1000..4000_u64];
    let shapes = prop_oneof![
        // One document, large; many tiny ones; some of all lengths.
        (Just(1_usize), 400..900_u64),
        (30..90_usize, 0..5_u64),
        (2..9_usize, 1..200_u64),
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
            // Of every four documents one is empty, where they are short anyway.
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
        let number = if random.below(2) == 0 {
            random.rank() % self.words
        } else {
            random.below(self.words)
        };
        text.extend(
            match number % 5 {
                0 => format!("w{number}"),
                1 => format!("W{number}"),
                2 => format!("é{number}"),
                3 => format!("{number}"),
                _ => format!("a_{number}"),
            }
            .into_bytes(),
        );
        let behind: [&[u8]; 8] = [b" ", b" ", b" ", b"\n", b", ", b". ", b"\xff", "の".as_bytes()];
        let behind = *random.choose(&behind);
        text.extend_from_slice(behind);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..Default::default() })]

    #[test]
    fn every_task_equals_the_oracle(kind in kinds(), threads in 1..=4_usize) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text.tdc");
        let documents = kind.documents();
        for lexer in [Lexer::Words, Lexer::Whitespace] {
            let oracle = Oracle::new(oracle_lexer(lexer), &documents);
            let mut questions = all_tasks();
            questions.extend(some_questions());
            let expected = expected_of(&oracle, &documents, &questions, None);
            for builder in [Builder::RePair, Builder::Sequitur] {
                compress(&documents, &path, lexer, builder, None).unwrap();
                pool(threads).install(|| {
                    let what = || format!("{kind:?} {lexer:?} {builder:?}");
                    check(&plain_view(&path), &documents, &expected, Limits::default(), &what);
                });
            }
        }
    }
}
