//! Random operations, with what must come of them.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::Path;

use tadoc_engine::access::{Access, Index, Scope};
use tadoc_engine::update::{BatchOptions, Operation, Outcome, Transactions};
use tadoc_engine::{Builder, Corpus, Durability, Editor, Level, Offsets};
use tadoc_oracle::{Random, words};

use super::access_support::oracle_lexer;
use super::archives::Setup;
use super::model::{Expected, Model};
use super::texts::Kind;

/// Gives the next batch, and what must come of it.
type NextBatch<'n> = dyn FnMut(&mut Script) -> Option<Vec<(Operation, Expected)>> + 'n;

/// Who writes operations, and knows what must come of them.
pub struct Script {
    pub random: Random,
    pub model: Model,
    pub kind: Kind,
    /// A document that would become longer is not made longer any more.
    pub longest: usize,
    /// One operation of so many is a sample.
    pub samples: u64,
    /// A folder for archives in between.
    work: tempfile::TempDir,
}

impl Script {
    pub fn new(seed: u64, model: Model, kind: Kind) -> Self {
        let work = tempfile::tempdir().unwrap();
        Self { random: Random::new(seed), model, kind, longest: 1500, samples: 150, work }
    }

    /// Runs about so many operations in batches; gives how many there were.
    pub fn run(&mut self, editor: &Editor, operations: usize, what: &str) -> usize {
        let options = BatchOptions {
            offsets: *self.random.choose(&[
                Offsets::Sequence,
                Offsets::Sequence,
                Offsets::Snapshot,
            ]),
            // Syncing is slow, and nothing is seen of it here.
            durability: match self.random.below(20) {
                0 => Durability::Sync,
                _ => Durability::None,
            },
            transactions: match self.random.below(20) {
                0 => Transactions::Edit,
                _ => Transactions::Batch,
            },
        };
        let mut made = 0;
        self.run_batches(editor, options, what, &mut |script| {
            let batch = (made < operations).then(|| script.batch(options.offsets))?;
            made += batch.len();
            Some(batch)
        });
        made
    }

    /// Runs batches, and compares what comes of them.
    fn run_batches(
        &mut self,
        editor: &Editor,
        options: BatchOptions,
        what: &str,
        next: &mut NextBatch<'_>,
    ) {
        let waiting = RefCell::new(VecDeque::<(Operation, Expected)>::new());
        let mut batches = || {
            let Some(batch) = next(self) else { return Ok(None) };
            waiting.borrow_mut().extend(batch.iter().cloned());
            Ok(Some(batch.into_iter().map(|(operation, _)| operation).collect()))
        };
        let mut outcomes = |results: Vec<tadoc_engine::Result<Outcome>>| {
            for found in results {
                let next = waiting.borrow_mut().pop_front();
                let (operation, expected) = next.expect("no more than was asked");
                let is_right = match (&expected, &found) {
                    (Expected::Outcome(expected), Ok(found)) => expected == found,
                    (Expected::Refused(refusal), Err(error)) => refusal.is(error),
                    _ => false,
                };
                assert!(
                    is_right,
                    "{what}: {operation:?}\n  gave     {found:?}\n  expected {expected:?}"
                );
            }
            Ok(())
        };
        editor.run(&mut batches, options, &mut outcomes).unwrap();
        assert!(waiting.borrow().is_empty(), "operations without an outcome");
    }

    /// The same, with so many edits in the middle and no read among them.
    pub fn run_with_edits(&mut self, editor: &Editor, operations: usize, edits: usize, what: &str) {
        let options = BatchOptions { durability: Durability::None, ..Default::default() };
        let mut left = 3;
        self.run_batches(editor, options, what, &mut |script| {
            left -= 1;
            match left {
                2 | 0 => {
                    let mut batch = Vec::new();
                    while batch.len() < operations {
                        batch.extend(script.batch(Offsets::Sequence));
                    }
                    Some(batch)
                }
                1 => Some((0..edits).map(|_| script.edit_in_sequence()).collect()),
                _ => None,
            }
        });
    }

    /// The same, where now and then a large part of a document goes.
    pub fn run_with_large_deletes(&mut self, editor: &Editor, operations: usize, what: &str) {
        let options = BatchOptions { durability: Durability::None, ..Default::default() };
        let mut left = operations;
        self.run_batches(editor, options, what, &mut |script| {
            left = left.checked_sub(1)?;
            if left % 40 != 39 {
                return Some(script.batch(Offsets::Sequence));
            }
            let document = script.document();
            let bytes = script.bytes_of(&document);
            let offset = script.random.below(bytes / 2 + 1);
            let delete = Operation::Delete { document, offset, length: (bytes - offset) / 2 };
            let expected = script.model.edit(&delete);
            Some(vec![(delete, expected)])
        });
    }

    /// An edit, and what must come of it; the model has made it.
    pub fn edit_in_sequence(&mut self) -> (Operation, Expected) {
        let edit = self.edit();
        let expected = self.model.edit(&edit);
        (edit, expected)
    }

    /// A batch, and what must come of it.
    fn batch(&mut self, offsets: Offsets) -> Vec<(Operation, Expected)> {
        let most = if self.random.below(4) == 0 { 60 } else { 12 };
        let length = 1 + self.random.below(most);
        // Batches of edits or of reads alone, and of both.
        let reads = *self.random.choose(&[0, 5, 5, 9, 10]);
        let mut batch = Vec::new();
        let mut edits = Vec::new();
        for _ in 0..length {
            if self.random.below(10) < reads {
                let read = self.read();
                let expected = match &read {
                    Operation::Sample { .. } => self.sample(&read),
                    _ => self.model.answer(&read),
                };
                batch.push((read, expected));
                continue;
            }
            let edit = self.edit();
            let expected = match offsets {
                Offsets::Sequence => self.model.edit(&edit),
                Offsets::Snapshot => {
                    edits.push((batch.len(), edit.clone()));
                    Expected::Outcome(Outcome::Done)
                }
            };
            batch.push((edit, expected));
        }
        let (places, edits): (Vec<usize>, Vec<Operation>) = edits.into_iter().unzip();
        for (place, expected) in places.into_iter().zip(self.model.edit_together(&edits)) {
            batch[place].1 = expected;
        }
        batch
    }

    fn name(&mut self) -> Vec<u8> {
        format!("d{:02}", self.random.below(24)).into_bytes()
    }

    /// A document that is there, as a rule.
    fn document(&mut self) -> Vec<u8> {
        let names = self.model.names();
        match names.is_empty() || self.random.below(60) == 0 {
            true => self.name(),
            false => self.random.choose(&names).clone().into_bytes(),
        }
    }

    fn bytes_of(&self, document: &[u8]) -> u64 {
        let name = std::str::from_utf8(document).unwrap();
        self.model.documents.get(name).map_or(0, Vec::len) as u64
    }

    /// An offset and a length; past the end now and then, and often where something was edited or ends.
    fn range(&mut self, bytes: u64) -> (u64, u64) {
        let offset = match self.random.below(60) {
            0 => bytes + 1 + self.random.below(9),
            1..6 => 0,
            6..12 => bytes,
            _ => self.random.below(bytes + 1),
        };
        let left = bytes.saturating_sub(offset);
        let length = match self.random.below(60) {
            0 => left + 1 + self.random.below(3),
            1 => left,
            2..6 => self.random.below(left + 1),
            _ => self.random.below(left.min(12) + 1),
        };
        (offset, length)
    }

    fn edit(&mut self) -> Operation {
        let mut text = self.kind.text(&mut self.random, 6);
        if self.model.documents.len() < 2 || self.random.below(40) == 0 {
            let (document, modified, mode) = (self.name(), None, Some(0o644));
            return Operation::Add { document, modified, mode, text };
        }
        let document = self.document();
        let bytes = self.bytes_of(&document);
        let (offset, mut length) = self.range(bytes);
        if bytes as usize > self.longest {
            text.clear();
            length = length.max((bytes - offset.min(bytes)) / 2);
        }
        match self.random.below(40) {
            0 => Operation::Remove { document },
            1 => {
                let name = self.name();
                Operation::Rename { document, name }
            }
            2..12 => Operation::Delete { document, offset, length },
            12..20 => Operation::Replace { document, offset, length, text },
            20..26 => Operation::Append { document, text },
            _ => Operation::Insert { document, offset, text },
        }
    }

    fn read(&mut self) -> Operation {
        let document = self.document();
        if self.random.below(self.samples) == 0 {
            let document = (self.random.below(2) == 0).then_some(document);
            let (count, seed) = (self.random.below(20), self.random.next_u64());
            return Operation::Sample { document, count, seed };
        }
        if self.random.below(3) == 0 {
            let (offset, length) = self.range(self.bytes_of(&document));
            return Operation::Extract { document, offset, length };
        }
        let phrase = self.phrase(&document);
        let document = (self.random.below(3) > 0).then_some(document);
        match self.random.below(2) {
            0 => Operation::Search { document, phrase },
            _ => Operation::Count { document, phrase },
        }
    }

    /// Words in a row of a document, or words that come up by themselves.
    fn phrase(&mut self, document: &[u8]) -> Vec<u8> {
        let count = *self.random.choose(&[1, 1, 1, 2, 2, 3, 4, 5]);
        let other;
        let text = match self.model.documents.get(std::str::from_utf8(document).unwrap()) {
            Some(text) if self.random.below(10) > 0 => text,
            _ => {
                other = self.kind.text(&mut self.random, 4);
                &other
            }
        };
        let words = words(oracle_lexer(self.model.lexer), text);
        if words.is_empty() {
            return b" ".to_vec();
        }
        let first = self.random.below(words.len() as u64) as usize;
        let run = &words[first..words.len().min(first + count)];
        let run: Vec<&[u8]> = run.iter().map(|word| &text[word.clone()]).collect();
        run.join(&b" "[..])
    }

    /// What a fresh archive draws.
    fn sample(&mut self, sample: &Operation) -> Expected {
        let Operation::Sample { document, count, seed } = sample else { unreachable!() };
        if let Some(document) = document
            && !self.model.documents.contains_key(std::str::from_utf8(document).unwrap())
        {
            return Expected::Refused(super::model::Refusal::NoSuchDocument);
        }
        let path = self.work.path().join("fresh.tdc");
        self.fresh(&path);
        let corpus = Corpus::open(&path).unwrap();
        let access = Access::open(&corpus, Index::None).unwrap();
        let scope = match document {
            Some(document) => Scope::Documents(vec![corpus.find(document).unwrap() as u32]),
            None => Scope::All,
        };
        let drawn = access.sample(*count, *seed, &scope).unwrap();
        let names = access.documents();
        let words = drawn
            .into_iter()
            .map(|drawn| (names[drawn.document as usize].name.clone(), drawn.offset, drawn.word));
        Expected::Outcome(Outcome::Words(words.collect()))
    }

    /// Compresses the model's documents anew.
    fn fresh(&mut self, path: &Path) {
        let setup = Setup {
            lexer: self.model.lexer,
            builder: Builder::Sequitur,
            level: Level::Fast,
            index: Index::None,
            segments: 1,
        };
        setup.make(&self.model, path, &mut self.random);
    }
}
