//! The archives of `tadoc query`, asked as one corpus.
//!
//! An operation on a document runs in the archive that has it. One on all documents runs in each archive, and what comes
//! of it is merged: offsets in the order of the archives, counts summed, words drawn over all of them.

use std::sync::Arc;

use tadoc_engine::Error;
use tadoc_engine::access::{Access, Operation, Outcome, Sampled, Scope, sample};
use tadoc_engine::backend::{Backends, Reads};
use tadoc_engine::text::{escape, unescape};
use tadoc_engine::update::Operation as Named;

use super::Opened;
use crate::failure::message;

/// The documents of archives.
#[derive(Clone, Copy)]
pub struct Documents<'q, 'c> {
    opened: &'q [Opened<'c>],
}

/// Archives, each with what runs operations on it.
pub struct Joined<'q, 'c> {
    pub documents: Documents<'q, 'c>,
    reads: Vec<Reads>,
}

/// An operation, and the archive that it is about; `None` for all of them.
pub struct Located {
    archive: Option<usize>,
    pub operation: Operation,
}

impl Located {
    /// The operation that counts what a search finds.
    pub fn counted(&self) -> Self {
        let operation = match self.operation.clone() {
            Operation::Search { document, phrase } => Operation::Count { document, phrase },
            other => other,
        };
        Self { archive: self.archive, operation }
    }
}

/// A document: its archive, and its number in it.
pub type Numbered = (usize, u32);

/// What came of an operation.
pub enum Answer {
    Bytes(Vec<u8>),
    Offsets(Vec<(Numbered, Vec<u64>)>),
    Count(u64),
    Words(Vec<Sampled>),
}

impl<'q> Documents<'q, '_> {
    /// The archive of a document.
    pub fn archive(&self, (archive, _): Numbered) -> &'q [u8] {
        self.opened[archive].path().as_os_str().as_encoded_bytes()
    }

    /// The name of a document.
    pub fn name(&self, (archive, document): Numbered) -> &'q [u8] {
        self.opened[archive].name(document)
    }

    /// How long the document is that an operation is about; `None` if it is about all of them.
    pub fn bytes(&self, located: &Located) -> Option<u64> {
        let document = match located.operation {
            Operation::Extract { document, .. } => Some(document),
            Operation::Search { document, .. }
            | Operation::Count { document, .. }
            | Operation::Sample { document, .. } => document,
        };
        Some(self.opened[located.archive?].bytes(document?))
    }

    /// The operation with its document by number.
    pub fn locate(&self, operation: Named) -> Result<Located, String> {
        let find = |name: Option<Vec<u8>>| match name {
            Some(name) => {
                self.find(&name).map(|(archive, document)| (Some(archive), Some(document)))
            }
            None => Ok((None, None)),
        };
        Ok(match operation {
            Named::Extract { document, offset, length } => {
                let (archive, document) = self.find(&document)?;
                let operation = Operation::Extract { document, offset, length };
                Located { archive: Some(archive), operation }
            }
            Named::Search { document, phrase } => {
                let (archive, document) = find(document)?;
                Located { archive, operation: Operation::Search { document, phrase } }
            }
            Named::Count { document, phrase } => {
                let (archive, document) = find(document)?;
                Located { archive, operation: Operation::Count { document, phrase } }
            }
            Named::Sample { document, count, seed } => {
                let (archive, document) = find(document)?;
                Located { archive, operation: Operation::Sample { document, count, seed } }
            }
            edit => unreachable!("{edit:?} is no read"),
        })
    }

    /// The document of a name, as it is or as `tadoc list` prints it.
    fn find(&self, name: &[u8]) -> Result<Numbered, String> {
        let with_name = |name: &[u8]| -> Vec<Numbered> {
            let archives = self.opened.iter().enumerate();
            let found = archives.filter_map(|(archive, opened)| {
                let documents = opened.documents;
                let place = documents.binary_search_by(|document| document.name[..].cmp(name));
                Some((archive, place.ok()? as u32))
            });
            found.collect()
        };
        let mut found = with_name(name);
        if found.is_empty()
            && let Some(unescaped) = std::str::from_utf8(name).ok().and_then(unescape)
        {
            found = with_name(&unescaped);
        }
        match found[..] {
            [only] => Ok(only),
            [] => Err(message(&Error::NoSuchDocument { name: name.to_vec() })),
            ref several => {
                let archives = several
                    .iter()
                    .map(|&(archive, _)| self.opened[archive].path().display().to_string());
                let archives = archives.collect::<Vec<_>>().join(" and in ");
                Err(format!("{:?} is in {archives}, and one document is wanted", escape(name)))
            }
        }
    }
}

impl<'q, 'c> Joined<'q, 'c> {
    /// Chooses where operations run, if there will be about so many in all.
    pub fn new(
        opened: &'q [Opened<'c>],
        backends: &Backends,
        operations: u64,
    ) -> anyhow::Result<Self> {
        let reads = opened.iter().map(|opened| {
            opened.told(Reads::new(Arc::clone(&opened.access), backends, operations))
        });
        let reads = reads.collect::<anyhow::Result<_>>()?;
        Ok(Self { documents: Documents { opened }, reads })
    }

    /// Runs operations, and gives what came of each.
    pub fn run(&self, operations: &[&Located]) -> Vec<tadoc_engine::Result<Answer>> {
        let mut answers: Vec<Option<tadoc_engine::Result<Answer>>> =
            operations.iter().map(|located| self.drawn_from_all(located)).collect();
        for (archive, reads) in self.reads.iter().enumerate() {
            let own: Vec<usize> = (0..operations.len())
                .filter(|&place| {
                    operations[place].archive.is_none_or(|of| of == archive)
                        && !self.is_drawn_from_all(operations[place])
                })
                .collect();
            let run: Vec<Operation> =
                own.iter().map(|&place| operations[place].operation.clone()).collect();
            for (place, outcome) in own.into_iter().zip(reads.run(&run)) {
                let own = outcome.map(|outcome| Answer::of(archive, outcome));
                answers[place] = Some(match answers[place].take() {
                    None => own,
                    Some(before) => before.and_then(|before| Ok(before.and(own?))),
                });
            }
        }
        answers
            .into_iter()
            .map(|answer| answer.expect("each operation is of an archive or of all"))
            .collect()
    }

    /// Whether words are drawn from several archives.
    fn is_drawn_from_all(&self, located: &Located) -> bool {
        let is_sample = matches!(located.operation, Operation::Sample { .. });
        is_sample && located.archive.is_none() && self.reads.len() > 1
    }

    fn drawn_from_all(&self, located: &Located) -> Option<tadoc_engine::Result<Answer>> {
        match located.operation {
            Operation::Sample { count, seed, .. } if self.is_drawn_from_all(located) => {
                let opened = self.documents.opened.iter();
                let archives: Vec<(&Access, &Scope)> =
                    opened.map(|opened| (&*opened.access, &Scope::All)).collect();
                Some(sample(&archives, count, seed).map(Answer::Words))
            }
            _ => None,
        }
    }
}

impl Answer {
    /// An outcome of one of the archives.
    fn of(archive: usize, outcome: Outcome) -> Self {
        match outcome {
            Outcome::Bytes(bytes) => Self::Bytes(bytes),
            Outcome::Offsets(documents) => {
                let documents = documents.into_iter();
                Self::Offsets(
                    documents.map(|(document, offsets)| ((archive, document), offsets)).collect(),
                )
            }
            Outcome::Count(count) => Self::Count(count),
            Outcome::Words(words) => {
                Self::Words(words.into_iter().map(|word| Sampled { archive, ..word }).collect())
            }
        }
    }

    /// The answer of archives before, and that of the next one.
    fn and(self, next: Self) -> Self {
        match (self, next) {
            (Self::Offsets(mut documents), Self::Offsets(next)) => {
                documents.extend(next);
                Self::Offsets(documents)
            }
            (Self::Count(count), Self::Count(next)) => Self::Count(count.saturating_add(next)),
            (before, _) => before,
        }
    }
}
