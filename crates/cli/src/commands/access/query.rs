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
use tadoc::Error;
use tadoc::access::{Operation, Outcome as Answer};
use tadoc::backend::{Backends, Choice, Reads};
use tadoc::text::unescape;
use tadoc::update::Operation as Named;

use super::Opened;
use super::arguments::WorkArguments;
use crate::arguments::examples;
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
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = examples!(
    "tadoc query corpus.tdc -f operations.jsonl > results.jsonl"
    "echo '{\"op\":\"count\",\"word\":\"gauge\"}' | tadoc query corpus.tdc -f -"
))]
pub struct Query {
    /// The archive
    #[arg(value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    archive: PathBuf,

    /// The operations; - is standard input, whose results are printed as they come
    #[arg(short, long, value_name = "OPS.jsonl", value_hint = ValueHint::FilePath)]
    file: PathBuf,

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
        self.reading.open(std::slice::from_ref(&self.archive), in_pool, quiet, |opened| {
            let opened = &opened[0];
            let reads = Reads::new(&opened.access, &backends, bytes / LINE_BYTES);
            let reads = opened.told(reads)?;
            let mut output = Output::new();
            let mut chunks = Chunks::start(from, LONGEST_LINE)?;
            let mut tally = Tally::default();
            let answered = loop {
                match chunks.next() {
                    Ok(None) => break Ok(()),
                    Ok(Some(lines)) => {
                        if let Err(error) = answer(opened, &reads, &lines, &mut output, &mut tally)
                        {
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
            Ok(tally.outcome())
        })
    }
}

/// Runs the operations of some lines, and writes their results.
fn answer(
    opened: &Opened<'_>,
    reads: &Reads<'_, '_>,
    lines: &[Line],
    output: &mut Output,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let operations: Vec<Result<Operation, String>> = lines
        .par_iter()
        .map(|line| numbered(opened, operation::parse(line.bytes()?, Taken::Reads)?))
        .collect();
    let sizes = sizes(opened, reads, &operations);
    let mut start = 0;
    while start < operations.len() {
        let mut bytes = 0_u64;
        let fitting = sizes[start..].iter().take_while(|&&size| {
            bytes = bytes.saturating_add(size);
            bytes <= PACK_BYTES
        });
        // At least one, however large it is.
        let end = start + fitting.count().max(1);
        write(opened, reads, &operations[start..end], output, tally)?;
        start = end;
    }
    Ok(output.flush()?)
}

/// The operation with its document by number.
fn numbered(opened: &Opened<'_>, operation: Named) -> Result<Operation, String> {
    let find = |name: Option<Vec<u8>>| name.map(|name| find(opened, &name)).transpose();
    Ok(match operation {
        Named::Extract { document, offset, length } => {
            Operation::Extract { document: self::find(opened, &document)?, offset, length }
        }
        Named::Search { document, phrase } => {
            Operation::Search { document: find(document)?, phrase }
        }
        Named::Count { document, phrase } => Operation::Count { document: find(document)?, phrase },
        Named::Sample { document, count, seed } => {
            Operation::Sample { document: find(document)?, count, seed }
        }
        edit => unreachable!("{edit:?} is no read"),
    })
}

/// The document of a name, as it is or as `tadoc list` prints it.
fn find(opened: &Opened<'_>, name: &[u8]) -> Result<u32, String> {
    let found = |name: &[u8]| {
        opened.documents.binary_search_by(|document| document.name[..].cmp(name)).ok()
    };
    let escaped = || found(&unescape(std::str::from_utf8(name).ok()?)?);
    found(name)
        .or_else(escaped)
        .map(|place| place as u32)
        .ok_or_else(|| Error::NoSuchDocument { name: name.to_vec() }.to_string())
}

/// About how many bytes of memory the answer of each operation takes.
fn sizes(
    opened: &Opened<'_>,
    reads: &Reads<'_, '_>,
    operations: &[Result<Operation, String>],
) -> Vec<u64> {
    let mut sizes: Vec<u64> =
        operations.iter().map(|operation| most_bytes(opened, operation)).collect();
    let uncertain: Vec<usize> = (0..operations.len())
        .filter(|&place| {
            sizes[place] > SMALL_BYTES && matches!(operations[place], Ok(Operation::Search { .. }))
        })
        .collect();
    let counts: Vec<Operation> = uncertain
        .iter()
        .filter_map(|&place| match &operations[place] {
            Ok(Operation::Search { document, phrase }) => {
                Some(Operation::Count { document: *document, phrase: phrase.clone() })
            }
            _ => None,
        })
        .collect();
    for (&place, counted) in uncertain.iter().zip(reads.run(&counts)) {
        // One that fails has no offsets.
        let count = if let Ok(Answer::Count(count)) = counted { count } else { 0 };
        let in_all = matches!(operations[place], Ok(Operation::Search { document: None, .. }));
        sizes[place] = sizes[place].min(bytes_of_offsets(count, in_all));
    }
    sizes
}

/// Runs operations together, and writes their results.
fn write(
    opened: &Opened<'_>,
    reads: &Reads<'_, '_>,
    operations: &[Result<Operation, String>],
    output: &mut Output,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let good: Vec<Operation> =
        operations.iter().filter_map(|operation| operation.as_ref().ok()).cloned().collect();
    let mut outcomes = reads.run(&good).into_iter();
    let outcomes: Vec<Result<(&Operation, Answer), String>> = operations
        .iter()
        .map(|operation| match operation {
            Ok(operation) => match outcomes.next() {
                Some(Ok(outcome)) => Ok((operation, outcome)),
                Some(Err(error)) => Err(error.to_string()),
                None => Err("it was not run".into()),
            },
            Err(wrong) => Err(wrong.clone()),
        })
        .collect();
    tally.operations += outcomes.len() as u64;
    tally.failed += outcomes.iter().filter(|outcome| outcome.is_err()).count() as u64;
    let written: Vec<Vec<u8>> = outcomes
        .into_par_iter()
        .with_min_len(64)
        .fold(Vec::new, |mut to, outcome| {
            write_result(opened, outcome, &mut to);
            to
        })
        .collect();
    for piece in written {
        output.json_lines(&piece)?;
    }
    Ok(())
}

/// How many bytes of memory the answer to an operation may take.
fn most_bytes(opened: &Opened<'_>, operation: &Result<Operation, String>) -> u64 {
    match operation {
        // In memory and as text.
        Ok(Operation::Extract { document, length, .. }) => {
            (*length).min(opened.bytes(*document)).saturating_mul(3)
        }
        // There is something between words.
        Ok(Operation::Search { document: Some(document), .. }) => {
            bytes_of_offsets(opened.bytes(*document) / 2 + 1, false)
        }
        Ok(Operation::Search { document: None, .. }) => u64::MAX,
        Ok(Operation::Sample { count, .. }) => count * DRAWN_BYTES,
        Ok(Operation::Count { .. }) => OFFSET_BYTES,
        Err(wrong) => wrong.len() as u64,
    }
}

/// About how many bytes offsets take; `in_all` with the names of documents.
fn bytes_of_offsets(count: u64, in_all: bool) -> u64 {
    count.saturating_mul(OFFSET_BYTES + if in_all { NAME_BYTES } else { 0 })
}

/// Writes the result of an operation on a line of its own.
fn write_result(
    opened: &Opened<'_>,
    outcome: Result<(&Operation, Answer), String>,
    to: &mut Vec<u8>,
) {
    match outcome {
        Ok((_, Answer::Bytes(bytes))) => result::bytes(to, &bytes),
        Ok((Operation::Search { document: None, .. }, Answer::Offsets(documents))) => {
            result::offsets_in_all(to, &documents, |&document| opened.name(document));
        }
        Ok((_, Answer::Offsets(documents))) => result::offsets(to, &documents),
        Ok((_, Answer::Count(count))) => result::count(to, count),
        Ok((_, Answer::Words(words))) => result::words(
            to,
            words.iter().map(|drawn| (opened.name(drawn.document), drawn.offset, &drawn.word[..])),
        ),
        Err(wrong) => result::error(to, &wrong),
    }
}
