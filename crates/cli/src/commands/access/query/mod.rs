//! `tadoc query`: any number of operations from a file or standard input, one result a line and in order.
//!
//! A thread of its own reads lines ([`input`]); what has come in the meantime is a chunk, so that a client that waits for
//! an answer gets it, and a long file is worked on in large pieces. Of a chunk, as many operations are run at a time
//! as have answers of about [`PACK_BYTES`] together: memory is bounded by that and the largest single answer.

mod input;
mod operation;
mod result;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueHint};
use rayon::prelude::*;
use tadoc::access::{Operation, Outcome as Answer};

use self::input::{Chunks, Line};
use super::Opened;
use super::arguments::ReadArguments;
use crate::arguments::examples;
use crate::failure::Outcome;
use crate::output::Output;

/// Answers of about so many bytes are in memory at a time.
const PACK_BYTES: u64 = 64 << 20;
/// Searches whose answers cannot be longer than this are not counted before they are run.
const SMALL_BYTES: u64 = 64 << 10;

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
/// What is wrong with an operation is told as {"error":"…"}. Names of documents are as `tadoc list` prints them.
/// Empty lines are skipped.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = examples!(
    "tadoc query corpus.tdc -f operations.jsonl > results.jsonl"
    "echo '{\"op\":\"count\",\"word\":\"gauge\"}' | tadoc query corpus.tdc -f -"
))]
pub struct Query {
    /// The archive
    #[arg(value_name = "CORPUS", value_hint = ValueHint::FilePath)]
    archive: PathBuf,

    /// The operations; - is standard input, whose results are printed as they come
    #[arg(short, long, value_name = "OPS.jsonl", value_hint = ValueHint::FilePath)]
    file: PathBuf,

    #[command(flatten)]
    reading: ReadArguments,
}

impl Query {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let (name, from): (String, Box<dyn Read + Send>) = match self.file.as_os_str() == "-" {
            true => ("standard input".into(), Box::new(io::stdin())),
            false => {
                let file = File::open(&self.file);
                let file = file.with_context(|| format!("cannot read {}", self.file.display()))?;
                (self.file.display().to_string(), Box::new(file))
            }
        };
        self.reading.open(&self.archive, |opened| {
            let mut output = Output::new();
            let mut chunks = Chunks::start(from);
            let answered = loop {
                match chunks.next() {
                    Ok(None) => break Ok(()),
                    Ok(Some(lines)) => {
                        if let Err(error) = answer(opened, &lines, &mut output) {
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
            Ok(Outcome::Done)
        })
    }
}

/// Runs the operations of some lines, and writes their results.
fn answer(opened: &Opened<'_>, lines: &[Line], output: &mut Output) -> anyhow::Result<()> {
    let operations: Vec<Result<Operation, String>> = lines
        .par_iter()
        .map(|line| match line {
            Line::Bytes(bytes) => operation::parse(opened, bytes),
            Line::TooLong => Err(input::too_long()),
        })
        .collect();
    let sizes = sizes(opened, &operations);
    let mut start = 0;
    while start < operations.len() {
        let mut bytes = 0_u64;
        let fitting = sizes[start..].iter().take_while(|&&size| {
            bytes = bytes.saturating_add(size);
            bytes <= PACK_BYTES
        });
        // At least one, however large it is.
        let end = start + fitting.count().max(1);
        write(opened, &operations[start..end], output)?;
        start = end;
    }
    Ok(output.flush()?)
}

/// About how many bytes of memory the answer of each operation takes.
fn sizes(opened: &Opened<'_>, operations: &[Result<Operation, String>]) -> Vec<u64> {
    let mut sizes: Vec<u64> =
        operations.iter().map(|operation| result::most_bytes(opened, operation)).collect();
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
    for (&place, counted) in uncertain.iter().zip(opened.access.run(&counts)) {
        // One that fails has no offsets.
        let count = if let Ok(Answer::Count(count)) = counted { count } else { 0 };
        let in_all = matches!(operations[place], Ok(Operation::Search { document: None, .. }));
        sizes[place] = sizes[place].min(result::bytes_of_offsets(count, in_all));
    }
    sizes
}

/// Runs operations together, and writes their results.
fn write(
    opened: &Opened<'_>,
    operations: &[Result<Operation, String>],
    output: &mut Output,
) -> anyhow::Result<()> {
    let good: Vec<Operation> =
        operations.iter().filter_map(|operation| operation.as_ref().ok()).cloned().collect();
    let mut outcomes = opened.access.run(&good).into_iter();
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
    let written: Vec<Vec<u8>> = outcomes
        .into_par_iter()
        .with_min_len(64)
        .fold(Vec::new, |mut to, outcome| {
            result::write(opened, outcome, &mut to);
            to
        })
        .collect();
    for piece in written {
        output.write_all(&piece)?;
    }
    Ok(())
}
