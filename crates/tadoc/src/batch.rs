//! Many reads at once, over all archives of a corpus.
//!
//! A read of a document runs in the archive that has it. One of all documents runs in each archive,
//! and what comes of it is merged: offsets in the order of the archives, counts summed, words drawn
//! over all of them.

use std::sync::Arc;

use tadoc_engine::access::{self, Access, Operation, Scope};
use tadoc_engine::backend::Reads;

use crate::{Corpus, Document, DocumentId, Result};

/// A read of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Read {
    /// At most `length` bytes of a document from `offset` on.
    Extract {
        /// The document.
        document: DocumentId,
        /// Where they start.
        offset: u64,
        /// How many.
        length: u64,
    },
    /// Where a word or phrase is.
    Search {
        /// The document, or all of them.
        document: Option<DocumentId>,
        /// The word or phrase.
        phrase: Vec<u8>,
    },
    /// How often a word or phrase occurs.
    Count {
        /// The document, or all of them.
        document: Option<DocumentId>,
        /// The word or phrase.
        phrase: Vec<u8>,
    },
    /// Words drawn at random.
    Sample {
        /// The document, or all of them.
        document: Option<DocumentId>,
        /// How many.
        count: u64,
        /// What the draw depends on.
        seed: u64,
    },
}

/// What came of a [`Read`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ReadResult {
    /// Of [`Read::Extract`].
    Bytes(Vec<u8>),
    /// Of [`Read::Search`]: documents in order, each with its offsets, ascending.
    Offsets(Vec<(DocumentId, Vec<u64>)>),
    /// Of [`Read::Count`].
    Count(u64),
    /// Of [`Read::Sample`], in the order drawn.
    Words(Vec<Sampled>),
}

/// A word that was drawn at random.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Sampled {
    /// The document.
    pub document: Document,
    /// Where the word starts in it.
    pub offset: u64,
    /// The word.
    pub word: Vec<u8>,
}

impl Sampled {
    pub(crate) fn new(corpus: &Corpus, drawn: access::Sampled) -> Self {
        let id = DocumentId(corpus.parts()[drawn.archive].first + drawn.document);
        let document = corpus.get(id).expect("it was drawn from");
        Self { document, offset: drawn.offset, word: drawn.word }
    }
}

/// A corpus that runs batches of reads: on a GPU, if the corpus was opened for that or an estimate
/// prefers it, else on the processor.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// use tadoc::{Read, ReadResult};
///
/// let corpus = tadoc::Corpus::open(&path)?;
/// let reader = corpus.batches(1)?;
/// let count = Read::Count { document: None, phrase: b"to be".to_vec() };
/// assert!(matches!(reader.run(&[count])[0], Ok(ReadResult::Count(2))));
/// # Ok(())
/// # }
/// ```
pub struct Batches {
    corpus: Corpus,
    reads: Vec<Reads>,
}

/// An operation on one archive, or on all of them.
enum Located {
    In(usize, Operation),
    InAll(Operation),
}

impl Corpus {
    /// Makes the corpus ready for batches of about so many reads in all.
    ///
    /// # Errors
    /// What reading the archives gives, and what is wrong with a GPU that was asked for.
    pub fn batches(&self, reads: u64) -> Result<Batches> {
        let of_part = |part: &crate::corpus::Part| {
            part.named(Reads::new(Arc::clone(part.access()?), self.backends(), reads))
        };
        let reads = self.parts().iter().map(of_part).collect::<Result<_>>()?;
        Ok(Batches { corpus: self.clone(), reads })
    }

    fn locate(&self, read: &Read) -> Located {
        // A document that is not there has no archive, and the first one says so.
        let place = |id: DocumentId| {
            let part = self.parts().partition_point(|part| part.first <= id.0).saturating_sub(1);
            (part, id.0 - self.parts().get(part).map_or(0, |part| part.first))
        };
        let located =
            |document: Option<DocumentId>, make: &dyn Fn(Option<u32>) -> Operation| match document
                .map(place)
            {
                Some((part, place)) => Located::In(part, make(Some(place))),
                None => Located::InAll(make(None)),
            };
        match read {
            &Read::Extract { document, offset, length } => {
                let (part, document) = place(document);
                Located::In(part, Operation::Extract { document, offset, length })
            }
            Read::Search { document, phrase } => located(*document, &|document| {
                Operation::Search { document, phrase: phrase.clone() }
            }),
            Read::Count { document, phrase } => located(*document, &|document| Operation::Count {
                document,
                phrase: phrase.clone(),
            }),
            &Read::Sample { document, count, seed } => {
                located(document, &|document| Operation::Sample { document, count, seed })
            }
        }
    }
}

impl Batches {
    /// Runs reads on all threads, and gives what came of each, in order; one that fails does not
    /// stop the others.
    pub fn run(&self, reads: &[Read]) -> Vec<Result<ReadResult>> {
        let located: Vec<Located> = reads.iter().map(|read| self.corpus.locate(read)).collect();
        let mut results: Vec<Option<Result<ReadResult>>> =
            located.iter().map(|located| self.drawn_from_all(located)).collect();
        let drawn: Vec<bool> = results.iter().map(Option::is_some).collect();
        for (number, own_reads) in self.reads.iter().enumerate() {
            let (mut places, mut operations) = (Vec::new(), Vec::new());
            for (place, located) in located.iter().enumerate().filter(|(place, _)| !drawn[*place]) {
                match located {
                    Located::In(part, operation) if *part == number => {
                        places.push(place);
                        operations.push(operation.clone());
                    }
                    Located::In(..) => {}
                    Located::InAll(operation) => {
                        places.push(place);
                        operations.push(operation.clone());
                    }
                }
            }
            for (place, outcome) in places.into_iter().zip(own_reads.run(&operations)) {
                let own = self.corpus.parts()[number]
                    .named(outcome)
                    .map(|outcome| self.result(number, outcome));
                results[place] = Some(match results[place].take() {
                    None => own,
                    Some(before) => before.and_then(|before| Ok(before.and(own?))),
                });
            }
        }
        let results = results.into_iter();
        results.map(|result| result.expect("each read is of an archive or of all")).collect()
    }

    /// Words that are drawn from several archives: their numbers are drawn over all of them.
    fn drawn_from_all(&self, located: &Located) -> Option<Result<ReadResult>> {
        let Located::InAll(Operation::Sample { count, seed, .. }) = located else { return None };
        if self.reads.len() == 1 {
            return None;
        }
        let accesses = self.corpus.parts().iter().map(|part| part.access());
        let drawn = accesses.collect::<Result<Vec<_>>>().and_then(|accesses| {
            let archives: Vec<(&Access, &Scope)> =
                accesses.into_iter().map(|access| (&**access, &Scope::All)).collect();
            access::sample(&archives, *count, *seed)
        });
        let words = drawn
            .map(|words| words.into_iter().map(|word| Sampled::new(&self.corpus, word)).collect());
        Some(words.map(ReadResult::Words))
    }

    /// An outcome of one of the archives.
    fn result(&self, part: usize, outcome: access::Outcome) -> ReadResult {
        let first = self.corpus.parts()[part].first;
        match outcome {
            access::Outcome::Bytes(bytes) => ReadResult::Bytes(bytes),
            access::Outcome::Offsets(documents) => {
                let documents = documents.into_iter();
                let documents = documents.map(|(place, all)| (DocumentId(first + place), all));
                ReadResult::Offsets(documents.collect())
            }
            access::Outcome::Count(count) => ReadResult::Count(count),
            access::Outcome::Words(words) => {
                let words = words.into_iter();
                let drawn = words
                    .map(|word| access::Sampled { archive: part, ..word })
                    .map(|word| Sampled::new(&self.corpus, word));
                ReadResult::Words(drawn.collect())
            }
        }
    }
}

impl ReadResult {
    /// The result of archives before, and that of the next one.
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
