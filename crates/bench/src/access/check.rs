//! `--check`: answers of an archive compared with those of plain text, operation by operation.
//!
//! Of extracts, lines, counts, searches and words drawn there are as many as asked for, of the questions that go over
//! all documents each time (counts by document, ranks, other analyzers) a hundredth. Words that occur very often are
//! looked for now and then only, for their occurrences would be nearly all of the work.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use rayon::prelude::*;
use tadoc_engine::access::{Access, Index, Operation, Outcome, Scope};
use tadoc_engine::{Analyzer, Corpus as Opened, Lexer};
use tadoc_oracle::Random;

use super::plain::Plain;
use super::prepare;
use crate::corpus::Corpus;
use crate::paths;

/// Operations of a batch.
const BATCH: usize = 10_000;
/// Words of more occurrences are looked for once in so many times.
const FREQUENT: (usize, u64) = (5_000, 200);
/// So many times something else is drawn, where words are frequent.
const DRAWN_AGAIN: usize = 4;
/// One in so many operations goes over all documents.
const RARE: u64 = 100;
/// BM25.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Checks an archive with each of these indexes.
pub fn run(
    archive: &Path,
    folder: &Path,
    indexes: &[(&str, Index)],
    operations: u64,
    seed: u64,
) -> Result<()> {
    let corpus = Corpus::open(folder)?;
    let copy = paths::work("access")?.join("check.tdc");
    prepare::copy(archive, &copy)?;
    let lexer = match Opened::open(&copy)?.info().lexer.as_str() {
        name if name == Lexer::Words.name() => tadoc_oracle::Lexer::Words,
        _ => tadoc_oracle::Lexer::Whitespace,
    };
    let start = Instant::now();
    let plain = Plain::read(&corpus, lexer)?;
    ensure!(!plain.words.is_empty(), "there is no word in {}", folder.display());
    println!(
        "{}: {} documents, {} words, {} different; read in {:.0} s",
        corpus.name,
        plain.texts.len(),
        plain.words.len(),
        plain.vocabulary.len(),
        start.elapsed().as_secs_f64()
    );
    for &(name, index) in indexes {
        prepare::index(&copy, index)?;
        let opened = Opened::open(&copy)?;
        let access = Access::open(&opened, index)?;
        ensure!(access.index() == index, "the index {name} was not stored");
        let names = access.documents().iter().map(|document| &document.name[..]);
        ensure!(names.eq(plain.names.iter().map(|name| &name[..])), "these are other documents");
        let check = Check { plain: &plain, access: &access, operations };
        check.all(name, &mut Random::new(seed))?;
    }
    std::fs::remove_file(&copy).with_context(|| format!("removing {}", copy.display()))
}

/// What is checked, and how; gives how many operations that were.
type Kind<'c> = (&'static str, fn(&Check<'c>, &mut Random) -> Result<u64>);

/// An archive and its text.
struct Check<'c> {
    plain: &'c Plain,
    access: &'c Access,
    operations: u64,
}

impl<'c> Check<'c> {
    fn all(&self, index: &str, random: &mut Random) -> Result<()> {
        let kinds: [Kind<'c>; 8] = [
            ("extract", Check::extracts),
            ("lines", Check::lines),
            ("count and search, in a document", Check::in_documents),
            ("count and search, in all", Check::in_all),
            ("sample", Check::samples),
            ("count by document", Check::by_document),
            ("count and search, ignoring case", Check::folded),
            ("find", Check::finds),
        ];
        for (name, kind) in kinds {
            let start = Instant::now();
            let count = kind(self, random).with_context(|| format!("index {index}, {name}"))?;
            let seconds = start.elapsed().as_secs_f64();
            println!("index {index}, {name}: {count} operations are right ({seconds:.1} s)");
        }
        Ok(())
    }

    /// A document that has words, drawn by its words.
    fn document(&self, random: &mut Random) -> usize {
        self.plain.document(random.below(self.plain.words.len() as u64) as usize)
    }

    /// A word of a document, or some words in a row. One of them is rare, or nearly always.
    fn phrase(&self, random: &mut Random, document: usize) -> Vec<u32> {
        let positions = self.plain.positions(document);
        let length = [1, 1, 1, 2, 3, 6][random.below(6) as usize].min(positions.len());
        let mut draw = || {
            let starts = (positions.len() - length + 1) as u64;
            let first = positions.start + random.below(starts) as usize;
            &self.plain.words[first..first + length]
        };
        let is_rare = |word: &u32| self.plain.postings(*word, None).len() <= FREQUENT.0;
        let first = draw();
        let others: Vec<&[u32]> = (0..DRAWN_AGAIN).map(|_| draw()).collect();
        let rare = others.into_iter().find(|words| words.iter().any(is_rare));
        match rare {
            Some(rare) if random.below(FREQUENT.1) > 0 => rare.to_vec(),
            _ if first.iter().any(is_rare) || random.below(FREQUENT.1) == 0 => first.to_vec(),
            // Any word of the vocabulary: most are rare.
            _ => vec![random.below(self.plain.vocabulary.len() as u64) as u32],
        }
    }

    fn text(&self, phrase: &[u32]) -> Vec<u8> {
        let words = phrase.iter().map(|&word| &self.plain.vocabulary[word as usize][..]);
        words.collect::<Vec<_>>().join(&b' ')
    }

    /// Runs operations in batches, and compares what comes of them.
    fn compare(&self, asked: Vec<(Operation, Outcome)>) -> Result<()> {
        for batch in asked.chunks(BATCH) {
            let operations: Vec<Operation> =
                batch.iter().map(|(operation, _)| operation.clone()).collect();
            let outcomes = self.access.run(&operations);
            ensure!(outcomes.len() == batch.len(), "{} results", outcomes.len());
            for ((operation, expected), outcome) in batch.iter().zip(outcomes) {
                let outcome = outcome.with_context(|| format!("{operation:?}"))?;
                if outcome != *expected {
                    bail!("{operation:?}\n{}", difference(&outcome, expected));
                }
            }
        }
        Ok(())
    }

    fn extracts(&self, random: &mut Random) -> Result<u64> {
        let texts = &self.plain.texts;
        let asked = (0..self.operations).map(|number| {
            let document = match number % 2 {
                0 => self.document(random),
                _ => random.below(texts.len() as u64) as usize,
            };
            let text = &texts[document];
            let offset = random.below(text.len() as u64 + 1);
            let length = if number % 10 == 0 { random.rank() } else { random.below(200) };
            let end = offset.saturating_add(length).min(text.len() as u64);
            let bytes = text[offset as usize..end as usize].to_vec();
            let document = document as u32;
            (Operation::Extract { document, offset, length }, Outcome::Bytes(bytes))
        });
        self.compare(asked.collect())?;
        Ok(self.operations)
    }

    fn lines(&self, random: &mut Random) -> Result<u64> {
        let plain = self.plain;
        let drawn: Vec<(usize, u64, u64)> = (0..self.operations)
            .map(|_| {
                let document = self.document(random);
                let line = random.below(plain.line_count(document) + 2);
                (document, line, random.below(plain.texts[document].len() as u64 + 1))
            })
            .collect();
        drawn.par_iter().try_for_each(|&(document, line, offset)| {
            let number = document as u32;
            let found = (
                self.access.line_count(number)?,
                self.access.line_start(number, line)?,
                self.access.line_of(number, offset)?,
            );
            let expected = (
                plain.line_count(document),
                plain.line_start(document, line),
                plain.line_of(document, offset),
            );
            ensure!(
                found == expected,
                "document {document}: lines, start of line {line} and line of {offset} are {found:?}, not \
                 {expected:?}"
            );
            Ok(())
        })?;
        Ok(3 * self.operations)
    }

    fn in_documents(&self, random: &mut Random) -> Result<u64> {
        let asked = (0..self.operations).map(|number| {
            let document = self.document(random);
            // Of itself, or of another one.
            let from = if number % 4 == 0 { self.document(random) } else { document };
            let words = self.phrase(random, from);
            let places = self.plain.search(&words, Some(document));
            let (document, phrase) = (Some(document as u32), self.text(&words));
            match number % 2 {
                0 => (Operation::Count { document, phrase }, Outcome::Count(places.len() as u64)),
                _ => (Operation::Search { document, phrase }, offsets(&places)),
            }
        });
        self.compare(asked.collect())?;
        Ok(self.operations)
    }

    fn in_all(&self, random: &mut Random) -> Result<u64> {
        let mut asked = Vec::with_capacity(BATCH);
        for number in 0..self.operations {
            let document = self.document(random);
            let words = self.phrase(random, document);
            let phrase = self.text(&words);
            asked.push(match (number % 2, &words[..]) {
                (0, [word]) => {
                    let count = self.plain.postings(*word, None).len() as u64;
                    (Operation::Count { document: None, phrase }, Outcome::Count(count))
                }
                (0, words) => {
                    let count = self.plain.search(words, None).len() as u64;
                    (Operation::Count { document: None, phrase }, Outcome::Count(count))
                }
                (_, words) => {
                    let places = self.plain.search(words, None);
                    (Operation::Search { document: None, phrase }, offsets(&places))
                }
            });
            if asked.len() == BATCH {
                self.compare(std::mem::take(&mut asked))?;
            }
        }
        self.compare(asked)?;
        Ok(self.operations)
    }

    fn samples(&self, random: &mut Random) -> Result<u64> {
        let mut drawn = 0;
        let mut left = self.operations;
        while left > 0 {
            let count = left.min(1000);
            let document = match random.below(2) {
                0 => None,
                _ => Some(self.document(random) as u32),
            };
            let operation = Operation::Sample { document, count, seed: random.next_u64() };
            let mut outcomes = self.access.run(std::slice::from_ref(&operation));
            let Some(Ok(Outcome::Words(words))) = outcomes.pop() else {
                bail!("{operation:?} gave no words");
            };
            ensure!(words.len() as u64 == count, "{operation:?} gave {} words", words.len());
            for word in words {
                let is_within = document.is_none_or(|document| document == word.document);
                let found = self.plain.word_at(word.document as usize, word.offset);
                ensure!(
                    is_within && found == Some(&word.word[..]),
                    "{operation:?} gave {word:?}; there is {found:?}"
                );
            }
            drawn += count;
            left -= count;
        }
        Ok(drawn)
    }

    fn by_document(&self, random: &mut Random) -> Result<u64> {
        let count = self.operations.div_ceil(RARE);
        for _ in 0..count {
            let document = self.document(random);
            let words = self.phrase(random, document);
            let text = self.text(&words);
            let phrase = self.access.phrase(&text, &Analyzer::new())?;
            let chosen: BTreeSet<u32> =
                (0..20).map(|_| self.document(random) as u32).chain([document as u32]).collect();
            let all = counted(&self.plain.search(&words, None));
            let of_chosen = all.iter().filter(|(document, _)| chosen.contains(document));
            let of_chosen: Vec<(u32, u64)> = of_chosen.copied().collect();
            let scope = Scope::Documents(chosen.into_iter().collect());
            for (scope, expected) in [(Scope::All, &all), (scope, &of_chosen)] {
                let found = self.access.count_by_document(&phrase, &scope)?;
                let text = String::from_utf8_lossy(&text);
                ensure!(found == *expected, "{text:?} in {scope:?}: {found:?}, not {expected:?}");
            }
        }
        Ok(count)
    }

    /// Searches with an analyzer, against positions by the terms that it makes.
    fn folded(&self, random: &mut Random) -> Result<u64> {
        let analyzer = Analyzer::new().fold_case(true);
        let mut terms: HashMap<Vec<u8>, Vec<u32>> = HashMap::new();
        for (number, word) in self.plain.vocabulary.iter().enumerate() {
            if let Some(term) = analyzer.term(word) {
                terms.entry(term.into_owned()).or_default().push(number as u32);
            }
        }
        let count = self.operations.div_ceil(RARE);
        for _ in 0..count {
            let document = self.document(random);
            let positions = self.plain.positions(document);
            let length = (1 + random.below(2) as usize).min(positions.len());
            let first =
                positions.start + random.below((positions.len() - length + 1) as u64) as usize;
            let words = &self.plain.words[first..first + length];
            let alike: Vec<&Vec<u32>> = words
                .iter()
                .map(|&word| {
                    let term = analyzer.term(&self.plain.vocabulary[word as usize]);
                    term.and_then(|term| terms.get(&*term)).context("every word has a term")
                })
                .collect::<Result<_>>()?;
            let mut places: Vec<(u32, u64)> = Vec::new();
            for &one in alike[0] {
                match alike.get(1) {
                    Some(others) => places.extend(
                        others
                            .iter()
                            .flat_map(|&other| self.plain.search(&[one, other], Some(document))),
                    ),
                    None => places.extend(self.plain.search(&[one], Some(document))),
                }
            }
            places.sort_unstable();
            let text = self.text(words);
            let phrase = self.access.phrase(&text.to_ascii_uppercase(), &analyzer)?;
            let scope = Scope::Documents(vec![document as u32]);
            let mut found = Vec::new();
            self.access.search(&phrase, &scope, &mut |document, offsets| {
                found.extend(offsets.iter().map(|&offset| (document, offset)));
                ControlFlow::Continue(())
            })?;
            let text = String::from_utf8_lossy(&text);
            ensure!(found == places, "{text:?} in {document}: {found:?}, not {places:?}");
            let number = self.access.count(&phrase, &scope)?;
            ensure!(number == places.len() as u64, "{text:?} in {document}: {number}");
        }
        Ok(count)
    }

    fn finds(&self, random: &mut Random) -> Result<u64> {
        let count = self.operations.div_ceil(RARE * 10);
        for _ in 0..count {
            let document = self.document(random);
            let mut words = self.phrase(random, document);
            words.extend(self.phrase(random, document));
            let text = self.text(&words);
            let expected = self.ranked(&words);
            let found = self.access.find(&text, &Analyzer::new(), &Scope::All, 20)?;
            let shown = String::from_utf8_lossy(&text);
            ensure!(found.len() == expected.len().min(20), "{shown:?}: {} found", found.len());
            for (found, (_, score)) in found.iter().zip(&expected) {
                let own = expected.iter().find(|(document, _)| *document == found.document);
                let close = |score: f64| (found.score - score).abs() <= 1e-9 * score.max(1.0);
                let is_right = close(*score) && own.is_some_and(|own| close(own.1));
                ensure!(is_right, "{shown:?}: {found:?}, expected {score} and {own:?}");
            }
        }
        Ok(count)
    }

    /// All documents with one of the words, by their scores.
    fn ranked(&self, words: &[u32]) -> Vec<(u32, f64)> {
        let documents = self.plain.texts.len() as f64;
        let mean = self.plain.words.len() as f64 / documents;
        let mut scores: HashMap<u32, f64> = HashMap::new();
        for &word in words.iter().collect::<BTreeSet<_>>() {
            let counts = counted(&self.plain.search(&[word], None));
            let having = counts.len() as f64;
            let weight = (1.0 + (documents - having + 0.5) / (having + 0.5)).ln();
            for (document, times) in counts {
                let length = self.plain.positions(document as usize).len() as f64;
                let saturation = K1 * (1.0 - B + B * length / mean);
                let times = times as f64;
                *scores.entry(document).or_default() +=
                    weight * times * (K1 + 1.0) / (times + saturation);
            }
        }
        let mut ranked: Vec<(u32, f64)> = scores.into_iter().collect();
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        ranked
    }
}

/// Places as a search gives them.
fn offsets(places: &[(u32, u64)]) -> Outcome {
    let documents = places.chunk_by(|one, other| one.0 == other.0);
    let offsets = |places: &[(u32, u64)]| places.iter().map(|&(_, offset)| offset).collect();
    Outcome::Offsets(documents.map(|places| (places[0].0, offsets(places))).collect())
}

fn counted(places: &[(u32, u64)]) -> Vec<(u32, u64)> {
    let documents = places.chunk_by(|one, other| one.0 == other.0);
    documents.map(|places| (places[0].0, places.len() as u64)).collect()
}

/// What two outcomes look like, of which not all is shown.
fn difference(found: &Outcome, expected: &Outcome) -> String {
    let shown = |outcome: &Outcome| format!("{outcome:?}").chars().take(2000).collect::<String>();
    format!("gave {}\nnot  {}", shown(found), shown(expected))
}
