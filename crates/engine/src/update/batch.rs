//! Batches of reads and edits, in which each read sees exactly the edits before it.
//!
//! Reads are answered on a *base*: the corpus as it was before the first batch with any of them, opened for random access. Documents that were edited since
//! are read through their pieces (`recent`); all reads of documents that were not are put together and answered as one batch of
//! random access. When very much was edited since, a new base is made.
//!
//! Cost: an edit alone costs what [`Transaction::edit`] costs. The first read of all costs opening
//! the archive for random access; a read of an edited document what it costs in the base, and a
//! little for each edit of it since.

use std::mem;
use std::sync::Arc;

use tadoc_core::archive::journal::Edit;

use super::editor::{Durability, Editor, Offsets};
use super::offsets::sequence_of;
use super::recent::{Asked, Question, Recent};
use super::transaction::Transaction;
use crate::Timestamp;
use crate::access::{Access, Index};
use crate::error::Result;

/// One operation of a batch. Documents are given by their names; `None` means all of them.
#[expect(missing_docs, reason = "fields are those of edits and of reads")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// At most `length` bytes of a document from `offset` on.
    Extract { document: Vec<u8>, offset: u64, length: u64 },
    /// Where a word or phrase is, as [`Access::phrase`] takes it.
    Search { document: Option<Vec<u8>>, phrase: Vec<u8> },
    /// How often a word or phrase occurs, as [`Access::phrase`] takes it.
    Count { document: Option<Vec<u8>>, phrase: Vec<u8> },
    /// So many words drawn at random; the draw depends on `seed`.
    Sample { document: Option<Vec<u8>>, count: u64, seed: u64 },
    /// Puts bytes into a document, before the byte at `offset`.
    Insert { document: Vec<u8>, offset: u64, text: Vec<u8> },
    /// Puts bytes at the end of a document.
    Append { document: Vec<u8>, text: Vec<u8> },
    /// Takes `length` bytes out of a document from `offset` on.
    Delete { document: Vec<u8>, offset: u64, length: u64 },
    /// Puts bytes in the place of `length` others from `offset` on.
    Replace { document: Vec<u8>, offset: u64, length: u64, text: Vec<u8> },
    /// A new document: its name, when its file was last modified and its permission bits.
    Add { document: Vec<u8>, modified: Option<Timestamp>, mode: Option<u32>, text: Vec<u8> },
    /// Takes a document away.
    Remove { document: Vec<u8> },
    /// Gives a document another name.
    Rename { document: Vec<u8>, name: Vec<u8> },
}

/// What came of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Of [`Operation::Extract`].
    Bytes(Vec<u8>),
    /// Of [`Operation::Search`]: the names of documents in which it is, in byte order, with offsets, ascending.
    Offsets(Vec<(Vec<u8>, Vec<u64>)>),
    /// Of [`Operation::Count`].
    Count(u64),
    /// Of [`Operation::Sample`], in the order drawn: the name of the document, the offset and the word.
    Words(Vec<(Vec<u8>, u64, Vec<u8>)>),
    /// Of an edit: it is made, and as durable as was asked for.
    Done,
}

/// How batches are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BatchOptions {
    /// What offsets mean.
    pub offsets: Offsets,
    /// What the edits survive when their outcomes are given.
    pub durability: Durability,
    /// What is a transaction.
    pub transactions: Transactions,
}

/// What of a batch is committed, and acknowledged, together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Transactions {
    /// All edits of the batch.
    #[default]
    Batch,
    /// Each edit.
    Edit,
}

/// Where batches come from: each call gives the next one, and `None` is the end.
pub type Batches<'b> = dyn FnMut() -> Result<Option<Vec<Operation>>> + 'b;

/// Where outcomes go: those of some operations in a row, in order.
pub type Outcomes<'o> = dyn FnMut(Vec<Result<Outcome>>) -> Result<()> + 'o;

impl Operation {
    /// Whether it changes nothing.
    pub fn is_read(&self) -> bool {
        matches!(
            self,
            Self::Extract { .. } | Self::Search { .. } | Self::Count { .. } | Self::Sample { .. }
        )
    }
}

impl Editor {
    /// Runs batches of operations, and gives their outcomes in order; one that fails does not stop the others.
    ///
    /// In sequence, each operation sees exactly the edits before it, and the edits of a batch are a
    /// transaction, or each of them is one. In a snapshot, all offsets mean the text before the
    /// batch, and that is the text that reads see; those edits that are possible are made together
    /// at its end. Outcomes are given when edits are as durable as was asked for.
    ///
    /// # Errors
    /// What `batches` and `outcomes` give, and what makes all further work impossible. What was
    /// acknowledged stays; what was not is rolled back.
    pub fn run(
        &self,
        batches: &mut Batches<'_>,
        options: BatchOptions,
        outcomes: &mut Outcomes<'_>,
    ) -> Result<()> {
        self.begin()?.run(batches, options, outcomes)
    }
}

impl Transaction {
    fn run(
        &mut self,
        batches: &mut Batches<'_>,
        options: BatchOptions,
        outcomes: &mut Outcomes<'_>,
    ) -> Result<()> {
        let mut work = Work {
            batches,
            outcomes,
            options,
            batch: Vec::new(),
            next: 0,
            results: Vec::new(),
            given: 0,
            questions: Vec::new(),
        };
        if !Self::start_batch(&mut work)? {
            return Ok(());
        }
        loop {
            // Edits alone need no base. One from before them is as good, and better if nothing was edited before.
            if !work.has_reads() && self.advance(&mut work, None)? == Stopped::AtTheEnd {
                return Ok(());
            }
            let corpus = self.corpus()?;
            let access = Arc::new(Access::open(&corpus, Index::Fast)?);
            let mut recent = Recent::new(access.clone(), self.reads(access)?, self.ledger());
            if self.advance(&mut work, Some(&mut recent))? == Stopped::AtTheEnd {
                return Ok(());
            }
        }
    }

    /// Runs operations until there are no more, or a read needs a new base.
    fn advance(
        &mut self,
        work: &mut Work<'_, '_>,
        mut recent: Option<&mut Recent>,
    ) -> Result<Stopped> {
        loop {
            let Some(operation) = work.batch.get(work.next) else {
                self.end_batch(work, recent.as_deref_mut())?;
                if !Self::start_batch(work)? {
                    return Ok(Stopped::AtTheEnd);
                }
                continue;
            };
            if operation.is_read() {
                let Some(recent) = recent.as_deref_mut() else { return Ok(Stopped::AtARead) };
                match recent.ask(operation, self.ledger()) {
                    Asked::Waits(question) => work.questions.push((work.next, question)),
                    Asked::Answered(result) => work.results[work.next] = Some(result),
                    Asked::TooMuchIsNew => {
                        work.answer(recent);
                        return Ok(Stopped::AtARead);
                    }
                }
                work.next += 1;
                continue;
            }
            if work.options.offsets == Offsets::Snapshot {
                // Made together, at the end of the batch.
                work.next += 1;
                continue;
            }
            let edit = self.edit_of(operation);
            let made = edit.and_then(|edit| self.make(&edit, recent.as_deref_mut()));
            self.check()?;
            work.results[work.next] = Some(made.map(|()| Outcome::Done));
            work.next += 1;
            if work.options.transactions == Transactions::Edit {
                self.commit_and_go_on(work.options.durability)?;
                work.give(recent.as_deref_mut())?;
            }
        }
    }

    /// Makes one edit.
    fn make(&mut self, edit: &Edit<'_>, recent: Option<&mut Recent>) -> Result<()> {
        self.edit(edit)?;
        if let Some(recent) = recent {
            recent.apply(edit, self.ledger());
        }
        Ok(())
    }

    /// The edit that an operation is, with its document by number.
    fn edit_of<'o>(&self, operation: &'o Operation) -> Result<Edit<'o>> {
        Ok(match operation {
            Operation::Insert { document, offset, text } => {
                Edit::Insert { document: self.find(document)?, offset: *offset, text }
            }
            Operation::Append { document, text } => {
                Edit::Append { document: self.find(document)?, text }
            }
            Operation::Delete { document, offset, length } => {
                Edit::Delete { document: self.find(document)?, offset: *offset, length: *length }
            }
            Operation::Replace { document, offset, length, text } => Edit::Replace {
                document: self.find(document)?,
                offset: *offset,
                length: *length,
                text,
            },
            Operation::Add { document, modified, mode, text } => {
                Edit::Add { name: document, modified: *modified, mode: *mode, text }
            }
            Operation::Remove { document } => Edit::Remove { document: self.find(document)? },
            Operation::Rename { document, name } => {
                Edit::Rename { document: self.find(document)?, name }
            }
            Operation::Extract { .. }
            | Operation::Search { .. }
            | Operation::Count { .. }
            | Operation::Sample { .. } => unreachable!("a read is no edit"),
        })
    }

    /// Takes the next batch; tells whether there is one.
    fn start_batch(work: &mut Work<'_, '_>) -> Result<bool> {
        let Some(batch) = (work.batches)()? else { return Ok(false) };
        work.results = batch.iter().map(|_| None).collect();
        work.batch = batch;
        work.next = 0;
        work.given = 0;
        Ok(true)
    }

    /// Makes what is made at the end of a batch, and gives its outcomes.
    fn end_batch(
        &mut self,
        work: &mut Work<'_, '_>,
        mut recent: Option<&mut Recent>,
    ) -> Result<()> {
        if work.options.offsets == Offsets::Snapshot {
            self.make_together(work, recent.as_deref_mut())?;
        }
        self.commit_and_go_on(work.options.durability)?;
        work.give(recent)
    }

    /// Makes the edits of a snapshot that are possible.
    fn make_together(
        &mut self,
        work: &mut Work<'_, '_>,
        mut recent: Option<&mut Recent>,
    ) -> Result<()> {
        let mut together = Vec::new();
        for (operation, result) in work.batch.iter().zip(&mut work.results) {
            if operation.is_read() {
                continue;
            }
            let edit = self.edit_of(operation).and_then(|edit| {
                sequence_of(&[edit], self.ledger())?;
                Ok(edit)
            });
            *result = Some(edit.map(|edit| {
                together.push(edit);
                Outcome::Done
            }));
        }
        let mut sequence = self.sequence(&together)?.into_iter();
        sequence.try_for_each(|edit| self.make(&edit, recent.as_deref_mut()))
    }
}

/// Why operations are not run any further for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stopped {
    AtTheEnd,
    AtARead,
}

/// A batch on its way.
struct Work<'w, 'f> {
    batches: &'w mut Batches<'f>,
    outcomes: &'w mut Outcomes<'f>,
    options: BatchOptions,
    batch: Vec<Operation>,
    /// The operation that is next.
    next: usize,
    results: Vec<Option<Result<Outcome>>>,
    /// How many results were given.
    given: usize,
    /// Reads that wait for an answer of the base, by their places in the batch.
    questions: Vec<(usize, Question)>,
}

impl Work<'_, '_> {
    /// Whether there are reads among the operations of the batch that are left.
    fn has_reads(&self) -> bool {
        self.batch[self.next..].iter().any(Operation::is_read)
    }

    /// Answers all reads that wait.
    fn answer(&mut self, recent: &Recent) {
        let (places, questions): (Vec<usize>, Vec<Question>) =
            mem::take(&mut self.questions).into_iter().unzip();
        for (place, answer) in places.into_iter().zip(recent.answer(questions)) {
            self.results[place] = Some(answer);
        }
    }

    /// Gives the results of all operations before the next one.
    fn give(&mut self, recent: Option<&mut Recent>) -> Result<()> {
        if let Some(recent) = recent {
            self.answer(recent);
        }
        let results = self.results[self.given..self.next].iter_mut();
        let results = results.map(|result| result.take().expect("all before were run")).collect();
        self.given = self.next;
        (self.outcomes)(results)
    }
}
