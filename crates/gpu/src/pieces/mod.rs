//! Networks that are larger than a device: answered in pieces, whose answers are merged on the host.
//!
//! The parts of a [`Network`] are grammars of their own, so any run of them is a network again (`cut`). One that does not fit
//! is halved until its pieces do. What pieces count is added up (`merge`): a document that goes on in the next piece
//! is one document, and sequences that go over a border between pieces, which no piece sees, are counted here (`borders`), so
//! that answers are exact.
//!
//! Cost: what the pieces take, a copy of each, and a sort of all entries of their answers on the host, which are in memory
//! together (12 to 32 bytes each): as many as [`Limits::memory`] allows, else the work ends with an error.

mod borders;
mod cut;
mod merge;

use std::ops::Range;

use tadoc_core::answer::tables::{Keys, Sequences, Table};
use tadoc_core::{Limits, Network, Packing, Task};

use self::merge::{Merge, Packed};
use crate::error::{Error, Result};
use crate::sequences;

/// What answers a task on a network that may be too large for it, which it says as [`Error::TooLittleMemory`].
pub(crate) trait Runner {
    /// Runs a task.
    fn run(&mut self, network: &Network, task: Task, limits: &Limits) -> Result<Table>;
}

impl<F: FnMut(&Network, Task, &Limits) -> Result<Table>> Runner for F {
    fn run(&mut self, network: &Network, task: Task, limits: &Limits) -> Result<Table> {
        self(network, task, limits)
    }
}

/// Answers a task on a network in at least two pieces.
///
/// # Errors
/// [`Error::TooLittleMemory`] if not even a single part fits, and [`Error::TooMuchToMerge`] if the answers of the pieces are more
/// than the limits allow.
pub(crate) fn answer(
    network: &Network,
    task: Task,
    limits: &Limits,
    runner: &mut impl Runner,
) -> Result<Table> {
    if !matches!(task, Task::WordCount | Task::Sort) && network.length() > u32::MAX.into() {
        let what = format!("a text of {} words", network.length());
        return Err(Error::Unsupported { what });
    }
    let n = task.terms_of_a_key();
    match task {
        Task::WordCount | Task::Sort | Task::InvertedIndex | Task::TermVector => {
            let keys = Keys::Terms(Vec::new());
            Work::<u32>::new(network, task, limits, keys).answer(runner)
        }
        _ => {
            let packing = Packing::new(n, network.grammar().token_count());
            sequences::check(packing)?;
            let keys = Keys::Sequences(Sequences::new(packing));
            match packing.key_bits() {
                ..=64 => Work::<u64>::new(network, task, limits, keys).answer(runner),
                _ => Work::<u128>::new(network, task, limits, keys).answer(runner),
            }
        }
    }
}

/// A task that is being answered in pieces.
struct Work<'n, K> {
    network: &'n Network,
    task: Task,
    limits: &'n Limits,
    merge: Merge<K>,
    /// The parts of each piece that was answered, in order.
    done: Vec<Range<usize>>,
}

impl<'n, K: Packed> Work<'n, K> {
    fn new(network: &'n Network, task: Task, limits: &'n Limits, keys: Keys) -> Self {
        let merge = Merge::new(keys, limits.memory);
        Self { network, task, limits, merge, done: Vec::new() }
    }

    /// The task that pieces are asked, whose answer has all that is needed to put together the one that is wanted.
    fn of_a_piece(&self) -> Task {
        match self.task {
            Task::WordCount | Task::Sort => Task::Sort,
            Task::InvertedIndex | Task::TermVector => Task::TermVector,
            Task::SequenceCountPerDocument { n } | Task::RankedInvertedIndex { n } => {
                Task::RankedInvertedIndex { n }
            }
            task => task,
        }
    }

    fn answer(mut self, runner: &mut impl Runner) -> Result<Table> {
        self.halves(0..self.network.parts().len(), runner)?;
        let per_document =
            !matches!(self.task, Task::WordCount | Task::Sort | Task::SequenceCount { .. });
        let n = self.task.terms_of_a_key();
        if n > 1 {
            borders::for_each_window(self.network, &self.done, n, |document, items| {
                let packed = self.merge.pack(items);
                match per_document {
                    true => self.merge.add_entry(packed, document, 1),
                    false => self.merge.add_count(packed, 1),
                }
            })?;
        }
        let Self { task, limits, merge, network, .. } = self;
        let documents = network.documents().len();
        Ok(match task {
            Task::Sort => merge.counts(limits, false),
            Task::InvertedIndex => merge.documents(limits, false),
            Task::RankedInvertedIndex { .. } => merge.documents(limits, true),
            Task::TermVector | Task::SequenceCountPerDocument { .. } => {
                merge.vectors(limits, documents)
            }
            _ => merge.counts(limits, true),
        })
    }

    /// Answers both halves of a run of parts.
    fn halves(&mut self, parts: Range<usize>, runner: &mut impl Runner) -> Result<()> {
        let Some(last) = parts.clone().last() else { return Ok(()) };
        let starts = self.network.grammar().rule_starts();
        let size = |part: usize| {
            let part = &self.network.parts()[part];
            let bodies = starts[part.rules.end as usize] - starts[part.rules.start as usize];
            part.root.len() as u64 + u64::from(bodies)
        };
        let total: u64 = parts.clone().map(size).sum();
        let mut before = 0;
        let of_first = parts.clone().take_while(|&part| {
            before += size(part);
            2 * before <= total
        });
        // At least one part is on each side.
        let middle = (parts.start + of_first.count().max(1)).min(last);
        for half in [parts.start..middle, middle..parts.end] {
            if !half.is_empty() {
                self.piece(half, runner)?;
            }
        }
        Ok(())
    }

    /// Answers a run of parts, whole or in halves.
    fn piece(&mut self, parts: Range<usize>, runner: &mut impl Runner) -> Result<()> {
        let piece = cut::cut(self.network, parts.clone());
        let limits = Limits { least: 1, top: None, ..*self.limits };
        match runner.run(&piece.network, self.of_a_piece(), &limits) {
            Ok(table) => {
                self.done.push(parts);
                self.merge.add(&table, piece.first_document)
            }
            Err(Error::TooLittleMemory { .. }) if parts.len() > 1 => {
                drop(piece);
                self.halves(parts, runner)
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
