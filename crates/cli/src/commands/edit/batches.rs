//! `tadoc edit`: any number of reads and edits from a file or standard input, one result a line and in order.
//!
//! Lines are read by a thread of their own and parsed on all threads. What has come in the meantime is a batch, as far as its answers
//! are of about [`PACK_BYTES`]; with snapshot offsets, all of the input is one. Memory is bounded by a batch and its answers.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum, ValueHint};
use rayon::prelude::*;
use tadoc::edit::{BatchOptions, Operation, Outcome as Answer, Transactions};
use tadoc::text::escape;
use tadoc::{DocumentInfo, OpenOptions};

use super::arguments::{Durability, EditArguments};
use super::{Session, weight};
use crate::arguments::{Threads, examples};
use crate::commands::backend::BackendArguments;
use crate::commands::batch::input::{Chunks, Line};
use crate::commands::batch::operation::{self, Taken};
use crate::commands::batch::{self, PACK_BYTES, Tally, result};
use crate::failure::{Outcome, is_broken_pipe, message};
use crate::output::Output;

/// The longest line of operations: some add whole documents.
const LONGEST_LINE: usize = 512 << 20;
/// About how many bytes the answer of a search takes, before it is known; in one document, and in all.
const SEARCH_BYTES: u64 = 64 << 10;
const SEARCH_ALL_BYTES: u64 = 1 << 20;
/// About how many bytes a drawn word takes.
const DRAWN_BYTES: u64 = 160;
/// About how many bytes an edit without text takes in the journal.
const EDIT_BYTES: u64 = 8;

/// Run reads and edits from a file, one JSON object a line
///
/// The result of each is one line, in order; an operation that fails does not stop the others.
/// Each read sees exactly the edits before it. Beside the operations of `tadoc query` there are:
///
///   {"op":"insert","document":"a.txt","offset":5,"text":"…"}
///   {"op":"append","document":"a.txt","text":"…"}
///   {"op":"delete","document":"a.txt","offset":5,"length":64}
///   {"op":"replace","document":"a.txt","offset":5,"length":64,"text":"…"}
///   {"op":"add","document":"a.txt","text":"…"}
///   {"op":"remove","document":"a.txt"}
///   {"op":"rename","document":"a.txt","name":"b.txt"}
///     give {"ok":true}; bytes that are not UTF-8 are in "base64" instead of "text"
///
/// What is wrong with an operation is told as {"error":"…"}; the exit code is then 1, and standard
/// error says how many failed. The result of an edit is printed when
/// the edit is as durable as --durability says. Names of documents are as `tadoc list` prints them;
/// new ones are taken as they are. Empty lines are skipped.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = examples!(
    "tadoc edit corpus.tdc -f operations.jsonl > results.jsonl"
    "tadoc edit corpus.tdc -f changes.jsonl --offsets snapshot"
    "make-edits | tadoc edit corpus.tdc -f - --durability operation"
))]
pub struct Batches {
    /// The archive
    #[arg(value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    archive: PathBuf,

    /// The operations; - is standard input, whose results are printed as they come
    #[arg(short, long, value_name = "OPS.jsonl", value_hint = ValueHint::FilePath)]
    file: PathBuf,

    /// What offsets mean
    #[arg(long, value_enum, default_value_t = Offsets::Sequence)]
    offsets: Offsets,

    #[command(flatten)]
    editing: EditArguments,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    backend: BackendArguments,
}

/// `--offsets`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Offsets {
    /// The text as the operations before have left it
    Sequence,
    /// The text before the first operation: all edits are made together at the end of the input, and reads do not see them
    Snapshot,
}

impl Batches {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        self.threads.pool()?.install(|| self.run_in_pool(quiet))
    }

    fn run_in_pool(&self, quiet: bool) -> anyhow::Result<Outcome> {
        let (name, from) = batch::open(&self.file)?;
        let options = self.backend.options(OpenOptions::new());
        let session = Session::open_with(&self.archive, options, &self.editing, quiet)?;
        let mut output = Output::new();
        let mut source = Source {
            name: name.into(),
            chunks: Chunks::start(from, LONGEST_LINE)?,
            parsed: VecDeque::new(),
            is_snapshot: self.offsets == Offsets::Snapshot,
            has_ended: false,
        };
        let mut tally = Tally::default();
        let ended = self.run_all(&session, &mut source, &mut output, &mut tally);
        if ended.is_err() {
            // What was told before is complete.
            let _ = output.flush();
        }
        match output.finish(ended) {
            // Not as for what only prints: the rest of the edits was not made.
            Err(error) if is_broken_pipe(&error) => bail!(
                "standard output: nobody reads the results any more; operations whose results were printed were \
                 run, and those of the batch after them, but no others"
            ),
            ended => ended.map(|()| tally.outcome()),
        }
    }

    /// Runs all that comes, and compresses again in between.
    fn run_all(
        &self,
        session: &Session,
        source: &mut Source,
        output: &mut Output,
        tally: &mut Tally,
    ) -> anyhow::Result<()> {
        let options = BatchOptions {
            offsets: match self.offsets {
                Offsets::Sequence => tadoc::edit::Offsets::Sequence,
                Offsets::Snapshot => tadoc::edit::Offsets::Snapshot,
            },
            durability: self.editing.durability.into(),
            transactions: match self.editing.durability {
                Durability::Operation => Transactions::Edit,
                Durability::Batch | Durability::None => Transactions::Batch,
            },
        };
        while !source.has_ended {
            let transaction = session.begin()?;
            let names = Names::of(transaction.documents());
            let pending = weight(transaction.pending());
            drop(transaction);
            let mut room = self.editing.recompress.map(|most| most.saturating_sub(pending) + 1);
            let waiting = RefCell::new(VecDeque::new());
            let run = session.editor.run(
                &mut || source.next(&names, &mut waiting.borrow_mut(), &mut room),
                options,
                &mut |answers| write(&mut waiting.borrow_mut(), answers, output, tally),
            );
            run.map_err(|error| session.about(error))?;
            session.recompress_if_due()?;
        }
        Ok(())
    }
}

/// Where operations come from.
struct Source {
    name: PathBuf,
    chunks: Chunks,
    /// What was read, and is not part of a batch yet.
    parsed: VecDeque<Result<Operation, String>>,
    is_snapshot: bool,
    has_ended: bool,
}

/// An operation whose result was not told yet.
enum Waiting {
    /// It was not run, for this is wrong with it.
    Wrong(String),
    /// It was given to the editor; whether its result has the documents of offsets.
    Given { with_documents: bool },
}

impl Source {
    /// The next batch; `None` at the end, or when edits have used up the `room` that is left.
    fn next(
        &mut self,
        names: &Names,
        waiting: &mut VecDeque<Waiting>,
        room: &mut Option<u64>,
    ) -> tadoc::Result<Option<Vec<Operation>>> {
        if *room == Some(0) {
            return Ok(None);
        }
        while self.parsed.is_empty() || self.is_snapshot {
            let chunk = self.chunks.next();
            let chunk =
                chunk.map_err(|source| tadoc::Error::Io { path: self.name.clone(), source })?;
            let Some(lines) = chunk else {
                self.has_ended = true;
                break;
            };
            self.parsed.extend(parse(&lines));
        }
        if self.parsed.is_empty() {
            return Ok(None);
        }
        let mut operations = Vec::with_capacity(self.parsed.len());
        let mut bytes = 0_u64;
        while let Some(parsed) = self.parsed.pop_front() {
            match parsed {
                Ok(mut operation) => {
                    let with_documents =
                        matches!(operation, Operation::Search { document: None, .. });
                    waiting.push_back(Waiting::Given { with_documents });
                    names.resolve(&mut operation);
                    bytes = bytes.saturating_add(answer_bytes(&operation));
                    if let Some(room) = room {
                        *room = room.saturating_sub(journal_bytes(&operation));
                    }
                    operations.push(operation);
                }
                Err(wrong) => waiting.push_back(Waiting::Wrong(wrong)),
            }
            let is_full = bytes > PACK_BYTES || *room == Some(0);
            if is_full && !self.is_snapshot {
                break;
            }
        }
        Ok(Some(operations))
    }
}

fn parse(lines: &[Line]) -> Vec<Result<Operation, String>> {
    let lines = lines.par_iter().with_min_len(64);
    lines.map(|line| operation::parse(line.bytes()?, Taken::All)).collect()
}

/// About how many bytes of memory the answer to an operation takes.
fn answer_bytes(operation: &Operation) -> u64 {
    match operation {
        // In memory and as text.
        Operation::Extract { length, .. } => length.saturating_mul(3),
        Operation::Search { document: Some(_), .. } => SEARCH_BYTES,
        Operation::Search { document: None, .. } => SEARCH_ALL_BYTES,
        Operation::Sample { count, .. } => count * DRAWN_BYTES,
        _ => 0,
    }
}

/// About how many bytes an operation adds to what [`weight`] gives.
fn journal_bytes(operation: &Operation) -> u64 {
    match operation {
        Operation::Insert { text, .. }
        | Operation::Append { text, .. }
        | Operation::Replace { text, .. }
        | Operation::Add { text, .. } => (text.len() as u64).max(EDIT_BYTES),
        Operation::Delete { .. } | Operation::Remove { .. } | Operation::Rename { .. } => {
            EDIT_BYTES
        }
        _ => 0,
    }
}

/// Writes the answers to the operations that wait first, and what was wrong with those in between.
fn write(
    waiting: &mut VecDeque<Waiting>,
    answers: Vec<tadoc::Result<Answer>>,
    output: &mut Output,
    tally: &mut Tally,
) -> tadoc::Result<()> {
    let mut answers = answers.into_iter();
    let mut lines = Vec::new();
    while let Some(first) = waiting.pop_front() {
        let with_documents = match first {
            Waiting::Wrong(wrong) => {
                tally.operations += 1;
                tally.failed += 1;
                result::error(&mut lines, &wrong);
                continue;
            }
            Waiting::Given { with_documents } => with_documents,
        };
        let Some(answer) = answers.next() else {
            waiting.push_front(Waiting::Given { with_documents });
            break;
        };
        tally.operations += 1;
        tally.failed += u64::from(answer.is_err());
        match answer {
            Ok(Answer::Bytes(bytes)) => result::bytes(&mut lines, &bytes),
            Ok(Answer::Offsets(documents)) if with_documents => {
                let names: result::Names<'_, Vec<u8>> = ("documents", &|name| name.clone());
                result::offsets_in_all(&mut lines, &documents, &[names]);
            }
            Ok(Answer::Offsets(documents)) => result::offsets(&mut lines, &documents),
            Ok(Answer::Count(count)) => result::count(&mut lines, count),
            Ok(Answer::Words(words)) => result::words(
                &mut lines,
                words.iter().map(|(document, offset, word)| result::Word {
                    archive: None,
                    document,
                    offset: *offset,
                    word,
                }),
            ),
            Ok(Answer::Done) => result::done(&mut lines),
            Err(error) => result::error(&mut lines, &message(&error)),
        }
    }
    let written = output.json_lines(&lines).and_then(|()| output.flush());
    written.map_err(|source| tadoc::Error::Io { path: "standard output".into(), source })
}

/// The names of documents that `tadoc list` prints in another way than they are.
struct Names {
    by_printed: HashMap<String, Vec<u8>>,
    /// Those with a backslash, which could be taken for what is printed.
    with_backslash: HashSet<Vec<u8>>,
}

impl Names {
    fn of(documents: Vec<DocumentInfo>) -> Self {
        let mut names = Self { by_printed: HashMap::new(), with_backslash: HashSet::new() };
        for document in documents {
            let is_plain = |&byte: &u8| (b' '..0x7f).contains(&byte) && byte != b'\\';
            if document.name.iter().all(is_plain) {
                continue;
            }
            if document.name.contains(&b'\\') {
                names.with_backslash.insert(document.name.clone());
            }
            names.by_printed.insert(escape(&document.name).to_string(), document.name);
        }
        names
    }

    /// Gives an operation the name that its document has, where it was given as it is printed. New names are taken as they are.
    fn resolve(&self, operation: &mut Operation) {
        let name = match operation {
            Operation::Extract { document, .. }
            | Operation::Insert { document, .. }
            | Operation::Append { document, .. }
            | Operation::Delete { document, .. }
            | Operation::Replace { document, .. }
            | Operation::Remove { document }
            | Operation::Rename { document, .. }
            | Operation::Search { document: Some(document), .. }
            | Operation::Count { document: Some(document), .. }
            | Operation::Sample { document: Some(document), .. } => document,
            _ => return,
        };
        if !name.contains(&b'\\') || self.with_backslash.contains(name) {
            return;
        }
        let printed = std::str::from_utf8(name).ok();
        if let Some(found) = printed.and_then(|printed| self.by_printed.get(printed)) {
            name.clone_from(found);
        }
    }
}
