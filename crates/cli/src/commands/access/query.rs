//! `tadoc query`: any number of operations from a file or standard input, one result a line and in order.
//!
//! A thread of its own reads lines ([`super::super::batch`]); what has come in the meantime is a chunk, so that a client that waits for
//! an answer gets it, and a long file is worked on in large pieces. Of a chunk, as many operations are run at a time
//! as have answers of about [`PACK_BYTES`] together: memory is bounded by that and the largest single answer. [`super::joined`]
//! has the archives.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueHint};
use rayon::prelude::*;
use tadoc_engine::access::Operation;
use tadoc_engine::backend::{Backends, Choice};

use super::arguments::WorkArguments;
use super::joined::{Answer, Documents, Joined, Located, Numbered};
use crate::arguments::examples;
use crate::commands::archives::{ArchiveArguments, WithArchive};
use crate::commands::backend::TaskBackendArguments;
use crate::commands::batch::input::{Chunks, Line};
use crate::commands::batch::operation::{self, Taken};
use crate::commands::batch::{self, PACK_BYTES, Tally, result};
use crate::failure::{Outcome, message};
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
        let backends = match in_pool {
            Some(_) => Backends::new(Choice::Cpu, None),
            None => self.backend.backends()?,
        };
        self.reading.open(&self.archives.archives, in_pool, quiet, |opened| {
            let joined = Joined::new(opened, &backends, bytes / LINE_BYTES)?;
            let mut run = Run {
                joined,
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
struct Run<'q, 'c> {
    joined: Joined<'q, 'c>,
    with_archive: bool,
    tally: Tally,
}

impl Run<'_, '_> {
    /// Runs the operations of some lines, and writes their results.
    fn answer(&mut self, lines: &[Line], output: &mut Output) -> anyhow::Result<()> {
        let documents = self.joined.documents;
        let operations: Vec<Result<Located, String>> = lines
            .par_iter()
            .map(|line| documents.locate(operation::parse(line.bytes()?, Taken::Reads)?))
            .collect();
        let sizes = self.sizes(&operations);
        let mut start = 0;
        while start < operations.len() {
            let mut bytes = 0_u64;
            let fitting = sizes[start..].iter().take_while(|&&size| {
                bytes = bytes.saturating_add(size);
                bytes <= PACK_BYTES
            });
            // At least one, however large it is.
            let end = start + fitting.count().max(1);
            self.write(&operations[start..end], output)?;
            start = end;
        }
        Ok(output.flush()?)
    }

    /// About how many bytes of memory the answer of each operation takes.
    fn sizes(&self, operations: &[Result<Located, String>]) -> Vec<u64> {
        let mut sizes: Vec<u64> =
            operations.iter().map(|operation| self.most_bytes(operation)).collect();
        let is_search = |located: &Located| matches!(located.operation, Operation::Search { .. });
        let uncertain: Vec<usize> = (0..operations.len())
            .filter(|&place| {
                sizes[place] > SMALL_BYTES && operations[place].as_ref().is_ok_and(is_search)
            })
            .collect();
        let counts: Vec<Located> = uncertain
            .iter()
            .filter_map(|&place| Some(operations[place].as_ref().ok()?.counted()))
            .collect();
        let counts: Vec<&Located> = counts.iter().collect();
        for (&place, counted) in uncertain.iter().zip(self.joined.run(&counts)) {
            // One that fails has no offsets.
            let count = if let Ok(Answer::Count(count)) = counted { count } else { 0 };
            let in_all = operations[place].as_ref().is_ok_and(is_of_all);
            sizes[place] = sizes[place].min(bytes_of_offsets(count, in_all));
        }
        sizes
    }

    /// Runs operations together, and writes their results.
    fn write(
        &mut self,
        operations: &[Result<Located, String>],
        output: &mut Output,
    ) -> anyhow::Result<()> {
        let good: Vec<&Located> =
            operations.iter().filter_map(|operation| operation.as_ref().ok()).collect();
        let mut answers = self.joined.run(&good).into_iter();
        let answers: Vec<Result<(&Located, Answer), String>> = operations
            .iter()
            .map(|operation| match operation {
                Ok(located) => match answers.next() {
                    Some(Ok(answer)) => Ok((located, answer)),
                    Some(Err(error)) => Err(message(&error)),
                    None => Err("it was not run".into()),
                },
                Err(wrong) => Err(wrong.clone()),
            })
            .collect();
        self.tally.operations += answers.len() as u64;
        self.tally.failed += answers.iter().filter(|answer| answer.is_err()).count() as u64;
        let (documents, with_archive) = (self.joined.documents, self.with_archive);
        let written: Vec<Vec<u8>> = answers
            .into_par_iter()
            .with_min_len(64)
            .fold(Vec::new, |mut to, answer| {
                write_result(documents, with_archive, answer, &mut to);
                to
            })
            .collect();
        for piece in written {
            output.json_lines(&piece)?;
        }
        Ok(())
    }

    /// How many bytes of memory the answer to an operation may take.
    fn most_bytes(&self, operation: &Result<Located, String>) -> u64 {
        let located = match operation {
            Ok(located) => located,
            Err(wrong) => return wrong.len() as u64,
        };
        let bytes = self.joined.documents.bytes(located);
        match (&located.operation, bytes) {
            // In memory and as text.
            (Operation::Extract { length, .. }, bytes) => {
                (*length).min(bytes.unwrap_or(0)).saturating_mul(3)
            }
            // There is something between words.
            (Operation::Search { .. }, Some(bytes)) => bytes_of_offsets(bytes / 2 + 1, false),
            (Operation::Search { .. }, None) => u64::MAX,
            (Operation::Sample { count, .. }, _) => count.saturating_mul(DRAWN_BYTES),
            (Operation::Count { .. }, _) => OFFSET_BYTES,
        }
    }
}

/// Writes the result of an operation on a line of its own.
fn write_result(
    of: Documents<'_, '_>,
    with_archive: bool,
    answer: Result<(&Located, Answer), String>,
    to: &mut Vec<u8>,
) {
    match answer {
        Ok((_, Answer::Bytes(bytes))) => result::bytes(to, &bytes),
        Ok((located, Answer::Offsets(documents))) if is_of_all(located) => {
            let told: [result::Names<'_, Numbered>; 2] = [
                ("documents", &|&document| of.name(document).to_vec()),
                ("archives", &|&document| of.archive(document).to_vec()),
            ];
            let told = &told[..1 + usize::from(with_archive)];
            result::offsets_in_all(to, &documents, told);
        }
        Ok((_, Answer::Offsets(documents))) => result::offsets(to, &documents),
        Ok((_, Answer::Count(count))) => result::count(to, count),
        Ok((_, Answer::Words(words))) => result::words(
            to,
            words.iter().map(|drawn| {
                let document = (drawn.archive, drawn.document);
                result::Word {
                    archive: with_archive.then(|| of.archive(document)),
                    document: of.name(document),
                    offset: drawn.offset,
                    word: &drawn.word,
                }
            }),
        ),
        Err(wrong) => result::error(to, &wrong),
    }
}

/// Whether an operation is a search in all documents.
fn is_of_all(located: &Located) -> bool {
    matches!(located.operation, Operation::Search { document: None, .. })
}

/// About how many bytes offsets take; `in_all` with the names of documents.
fn bytes_of_offsets(count: u64, in_all: bool) -> u64 {
    count.saturating_mul(OFFSET_BYTES + if in_all { NAME_BYTES } else { 0 })
}
