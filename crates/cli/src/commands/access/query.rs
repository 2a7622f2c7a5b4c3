//! `tadoc query`: any number of operations from a file or standard input, one result a line and in order.
//!
//! A thread of its own reads lines ([`super::super::batch`]); what has come in the meantime is a chunk, so that a client that waits for
//! an answer gets it, and a long file is worked on in large pieces. Of a chunk, as many operations are run at a time
//! as have answers of about [`PACK_BYTES`] together: memory is bounded by that and the largest single answer.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueHint};
use rayon::prelude::*;
use tadoc::edit::Operation;
use tadoc::{Batches, Corpus, Document, DocumentId, OpenOptions, Read, ReadResult};

use super::arguments::WorkArguments;
use crate::arguments::examples;
use crate::commands::archives::{ArchiveArguments, WithArchive};
use crate::commands::backend::TaskBackendArguments;
use crate::commands::batch::input::{Chunks, Line};
use crate::commands::batch::operation::{self, Taken};
use crate::commands::batch::{self, PACK_BYTES, Tally, result};
use crate::failure::Outcome;
use crate::output::Output;

/// About how many bytes a line of operations has.
const LINE_BYTES: u64 = 64;
/// The longest line of operations.
const LONGEST_LINE: usize = 1 << 20;
/// Searches whose answers cannot be longer than this are not counted before they are run.
const SMALL_BYTES: u64 = 64 << 10;
/// About how many bytes an offset takes, in memory and as text; beside the document's name, where that is told.
const OFFSET_BYTES: u64 = 20;
const NAME_BYTES: u64 = 60;
/// About how many bytes a drawn word takes.
const DRAWN_BYTES: u64 = 160;

/// Run operations from a file, one JSON object a line
///
/// The result of each is one line, in order; an operation that fails does not stop the others.
///
///   {"op":"extract","document":"a.txt","offset":5,"length":64}
///     gives {"text":"…"}, or {"base64":"…"} where the bytes are not UTF-8
///
///   {"op":"search","word":"to be","document":"a.txt"}
///     gives {"offsets":[…]}; without document of all documents, with {"documents":[…]} beside: one for each offset
///
///   {"op":"count","word":"to be","document":"a.txt"}
///     gives {"count":…}; without document of all documents
///
///   {"op":"sample","k":3,"seed":7,"document":"a.txt"}
///     gives {"words":[{"document":"…","offset":…,"word":"…"}]}; without document from all documents
///
/// What is wrong with an operation is told as {"error":"…"}; the exit code is then 1, and standard error says
/// how many failed. Names of documents are as `tadoc list` prints them. Empty lines are skipped.
///
/// Several archives are asked as one corpus. A document that is in two of them is an error. With
/// --with-archive, {"archives":[…]} is beside "documents", and words have an "archive".
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = examples!(
    "tadoc query corpus.tdc -f operations.jsonl > results.jsonl"
    "tadoc query 2023.tdc 2024.tdc --with-archive -f operations.jsonl"
    "echo '{\"op\":\"count\",\"word\":\"gauge\"}' | tadoc query corpus.tdc -f -"
))]
pub struct Query {
    #[command(flatten)]
    archives: ArchiveArguments,

    /// The operations; - is standard input, whose results are printed as they come
    #[arg(short, long, value_name = "OPS.jsonl", value_hint = ValueHint::FilePath)]
    file: PathBuf,

    #[command(flatten)]
    with_archive: WithArchive,

    #[command(flatten)]
    reading: WorkArguments,

    #[command(flatten)]
    backend: TaskBackendArguments,
}

impl Query {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let (name, from) = batch::open(&self.file)?;
        // Of what comes by a pipe, nobody knows how much it will be.
        let bytes = std::fs::metadata(&self.file).map_or(0, |file| file.len());
        let in_pool = self.backend.pool_of_reads()?;
        // In a pool it is the processor that reads.
        let options = match in_pool {
            Some(_) => OpenOptions::new(),
            None => self.backend.options(OpenOptions::new())?,
        };
        self.reading.open(&self.archives.archives, in_pool, options, quiet, |corpus| {
            let mut run = Run {
                corpus,
                batches: corpus.batches(bytes / LINE_BYTES)?,
                with_archive: self.with_archive.with_archive,
                tally: Tally::default(),
            };
            let mut output = Output::new();
            let mut chunks = Chunks::start(from, LONGEST_LINE)?;
            let answered = loop {
                match chunks.next() {
                    Ok(None) => break Ok(()),
                    Ok(Some(lines)) => {
                        if let Err(error) = run.answer(&lines, &mut output) {
                            break Err(error);
                        }
                    }
                    Err(error) => {
                        break Err(error).with_context(|| format!("cannot read {name}"));
                    }
                }
            };
            match answered {
                Ok(()) => output.finish(anyhow::Ok(()))?,
                Err(error) => {
                    // What was answered before is complete.
                    let _ = output.flush();
                    output.finish(Err(error))?;
                }
            }
            Ok(run.tally.outcome())
        })
    }
}

/// Operations on their way.
struct Run<'q> {
    corpus: &'q Corpus,
    batches: Batches,
    with_archive: bool,
    tally: Tally,
}

impl Run<'_> {
    /// Runs the operations of some lines, and writes their results.
    fn answer(&mut self, lines: &[Line], output: &mut Output) -> anyhow::Result<()> {
        let reads: Vec<Result<Read, String>> = lines
            .par_iter()
            .map(|line| self.locate(operation::parse(line.bytes()?, Taken::Reads)?))
            .collect();
        let sizes = self.sizes(&reads);
        let mut start = 0;
        while start < reads.len() {
            let mut bytes = 0_u64;
            let fitting = sizes[start..].iter().take_while(|&&size| {
                bytes = bytes.saturating_add(size);
                bytes <= PACK_BYTES
            });
            // At least one, however large it is.
            let end = start + fitting.count().max(1);
            self.write(&reads[start..end], output)?;
            start = end;
        }
        Ok(output.flush()?)
    }

    /// The operation with its document by place.
    fn locate(&self, operation: Operation) -> Result<Read, String> {
        let find = |name: Vec<u8>| match self.corpus.document(&name) {
            Ok(document) => Ok(document.id()),
            Err(error) => Err(error.to_string()),
        };
        Ok(match operation {
            Operation::Extract { document, offset, length } => {
                Read::Extract { document: find(document)?, offset, length }
            }
            Operation::Search { document, phrase } => {
                Read::Search { document: document.map(find).transpose()?, phrase }
            }
            Operation::Count { document, phrase } => {
                Read::Count { document: document.map(find).transpose()?, phrase }
            }
            Operation::Sample { document, count, seed } => {
                Read::Sample { document: document.map(find).transpose()?, count, seed }
            }
            edit => unreachable!("{edit:?} is no read"),
        })
    }

    /// About how many bytes of memory the answer of each operation takes.
    fn sizes(&self, reads: &[Result<Read, String>]) -> Vec<u64> {
        let mut sizes: Vec<u64> = reads.iter().map(|read| self.most_bytes(read)).collect();
        let uncertain: Vec<(usize, Read)> = (0..reads.len())
            .filter(|&place| sizes[place] > SMALL_BYTES)
            .filter_map(|place| match reads[place].as_ref().ok()? {
                Read::Search { document, phrase } => {
                    Some((place, Read::Count { document: *document, phrase: phrase.clone() }))
                }
                _ => None,
            })
            .collect();
        let (places, counts): (Vec<usize>, Vec<Read>) = uncertain.into_iter().unzip();
        for (place, counted) in places.into_iter().zip(self.batches.run(&counts)) {
            // One that fails has no offsets.
            let count = if let Ok(ReadResult::Count(count)) = counted { count } else { 0 };
            let in_all = reads[place].as_ref().is_ok_and(is_of_all);
            sizes[place] = sizes[place].min(bytes_of_offsets(count, in_all));
        }
        sizes
    }

    /// Runs operations together, and writes their results.
    fn write(&mut self, reads: &[Result<Read, String>], output: &mut Output) -> anyhow::Result<()> {
        let good: Vec<Read> = reads.iter().filter_map(|read| read.as_ref().ok().cloned()).collect();
        let mut answers = self.batches.run(&good).into_iter();
        let answers: Vec<Result<(&Read, ReadResult), String>> = reads
            .iter()
            .map(|read| match read {
                Ok(read) => match answers.next() {
                    Some(Ok(answer)) => Ok((read, answer)),
                    Some(Err(error)) => Err(error.innermost().to_string()),
                    None => Err("it was not run".into()),
                },
                Err(wrong) => Err(wrong.clone()),
            })
            .collect();
        self.tally.operations += answers.len() as u64;
        self.tally.failed += answers.iter().filter(|answer| answer.is_err()).count() as u64;
        let (corpus, with_archive) = (self.corpus, self.with_archive);
        let written: Vec<Vec<u8>> = answers
            .into_par_iter()
            .with_min_len(64)
            .fold(Vec::new, |mut to, answer| {
                write_result(corpus, with_archive, answer, &mut to);
                to
            })
            .collect();
        for piece in written {
            output.json_lines(&piece)?;
        }
        Ok(())
    }

    /// How many bytes of memory the answer to an operation may take.
    fn most_bytes(&self, read: &Result<Read, String>) -> u64 {
        let bytes = |id: DocumentId| self.corpus.get(id).map_or(0, |document| document.bytes());
        match read {
            Err(wrong) => wrong.len() as u64,
            // In memory and as text.
            Ok(Read::Extract { document, length, .. }) => {
                (*length).min(bytes(*document)).saturating_mul(3)
            }
            // There is something between words.
            Ok(Read::Search { document: Some(id), .. }) => {
                bytes_of_offsets(bytes(*id) / 2 + 1, false)
            }
            Ok(Read::Search { document: None, .. }) => u64::MAX,
            Ok(Read::Sample { count, .. }) => count.saturating_mul(DRAWN_BYTES),
            Ok(_) => OFFSET_BYTES,
        }
    }
}

/// Writes the result of an operation on a line of its own.
fn write_result(
    of: &Corpus,
    with_archive: bool,
    answer: Result<(&Read, ReadResult), String>,
    to: &mut Vec<u8>,
) {
    let name = |id: &DocumentId| of.get(*id).map_or(Vec::new(), |of| of.name().to_vec());
    let archive = |id: &DocumentId| of.get(*id).map_or(Vec::new(), |of| archive_of(&of).to_vec());
    match answer {
        Ok((_, ReadResult::Bytes(bytes))) => result::bytes(to, &bytes),
        Ok((read, ReadResult::Offsets(documents))) if is_of_all(read) => {
            let told: [result::Names<'_, DocumentId>; 2] =
                [("documents", &name), ("archives", &archive)];
            let told = &told[..1 + usize::from(with_archive)];
            result::offsets_in_all(to, &documents, told);
        }
        Ok((_, ReadResult::Offsets(documents))) => result::offsets(to, &documents),
        Ok((_, ReadResult::Count(count))) => result::count(to, count),
        Ok((_, ReadResult::Words(words))) => result::words(
            to,
            words.iter().map(|drawn| result::Word {
                archive: with_archive.then(|| archive_of(&drawn.document)),
                document: drawn.document.name(),
                offset: drawn.offset,
                word: &drawn.word,
            }),
        ),
        Ok((_, other)) => unreachable!("{other:?} is of no operation"),
        Err(wrong) => result::error(to, &wrong),
    }
}

/// The path of a document's archive, as it was given.
fn archive_of(document: &Document) -> &[u8] {
    document.archive().0.as_os_str().as_encoded_bytes()
}

/// Whether an operation is a search in all documents.
fn is_of_all(read: &Read) -> bool {
    matches!(read, Read::Search { document: None, .. })
}

/// About how many bytes offsets take; `in_all` with the names of documents.
fn bytes_of_offsets(count: u64, in_all: bool) -> u64 {
    count.saturating_mul(OFFSET_BYTES + if in_all { NAME_BYTES } else { 0 })
}
