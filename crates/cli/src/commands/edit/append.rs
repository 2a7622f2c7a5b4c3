//! `tadoc append`: bytes at the end of a document, as they come.

use std::ffi::OsString;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use tadoc::edit::{Edit, Transaction};
use tadoc::text::unescape;

use super::Session;
use super::arguments::{DocumentArguments, Durability, EditArguments};
use super::stream::Stream;
use crate::arguments::examples;
use crate::commands::summary;
use crate::failure::Outcome;
use crate::interrupt::{self, Hold};
use crate::units;

/// What comes within this time after the first bytes is one transaction with them.
const GATHER: Duration = Duration::from_millis(100);
/// So long is waited after a signal for what was sent before it, and so often as long as something comes.
const LAST: Duration = Duration::from_millis(50);
const MOST_LAST: usize = 4;
/// So many bytes are one edit.
const PIECE: usize = 4 << 20;

/// Append bytes to a document, as they come
///
/// Standard input is read to its end. What has come is committed ten times a second, or more often when much comes, and
/// is there for readers from then on; lines need not be complete. A document that is not there is added. At a signal
/// (Ctrl-C, SIGTERM, SIGHUP), what has come is committed, and the command ends.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tail -F server.log | tadoc append corpus.tdc server.log -"
    "tail -F server.log | tadoc append corpus.tdc server.log - --recompress 256M"
    "tadoc append corpus.tdc notes/todo.txt --text '- buy bread'"
))]
pub struct Append {
    #[command(flatten)]
    which: DocumentArguments,

    /// Standard input, which is read without this too
    #[arg(value_name = "-", value_parser = ["-"], hide_possible_values = true, conflicts_with = "text")]
    input: Option<String>,

    /// Append these bytes, and not those of standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    text: Option<OsString>,

    #[command(flatten)]
    editing: EditArguments,
}

impl Append {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let session = Session::open(&self.which.archive, &self.editing, quiet)?;
        let mut transaction = session.begin()?;
        let name = self.name(&session, &mut transaction)?;
        if let Some(text) = &self.text {
            append(&session, transaction, &name, text.as_encoded_bytes())?;
            session.recompress_if_due()?;
            return Ok(Outcome::Done);
        }
        // From here on a signal ends the command in order: what was read is not lost.
        let _hold = Hold::new();
        // Without anything to read, too, the document is there.
        session.commit(transaction)?;
        let start = Instant::now();
        let mut bytes = 0;
        let ended = ingest(&session, &name, &mut bytes);
        let told = format!(
            "{}: {} appended, {}",
            self.which.archive.display(),
            units::size(bytes),
            units::duration(start.elapsed())
        );
        summary(quiet, &told);
        ended.map(|()| Outcome::Done)
    }

    /// The name of the document, which is added if it is not there.
    fn name(&self, session: &Session, transaction: &mut Transaction) -> anyhow::Result<Vec<u8>> {
        let asked = &self.which.document;
        if let Ok(document) = session.find(transaction, asked) {
            return Ok(transaction.name(document).to_vec());
        }
        // What was asked for may be what `tadoc list` will print.
        let unescaped = asked.to_str().and_then(unescape);
        let name = unescaped.unwrap_or_else(|| asked.as_encoded_bytes().to_vec());
        let add = Edit::Add { name: &name, modified: None, mode: None, text: &[] };
        session.edit(transaction, &add)?;
        Ok(name)
    }
}

/// Appends what comes, until it ends.
fn ingest(session: &Session, name: &[u8], bytes: &mut u64) -> anyhow::Result<()> {
    let stream = Stream::start(io::stdin())?;
    let gather = match session.durability {
        Durability::Operation => Duration::ZERO,
        Durability::Batch | Durability::None => GATHER,
    };
    let mut text = Vec::new();
    while !interrupt::requested() {
        if !stream.next(gather, &mut text).context("cannot read standard input")? {
            return Ok(());
        }
        append(session, session.begin()?, name, &text)?;
        *bytes += text.len() as u64;
        match session.recompress_if_due() {
            // What has come until now is still to be committed.
            Err(_) if interrupt::requested() => {}
            done => done?,
        }
    }
    for _ in 0..MOST_LAST {
        sleep(LAST);
        if stream.next(Duration::ZERO, &mut text).is_err() || text.is_empty() {
            break;
        }
        append(session, session.begin()?, name, &text)?;
        *bytes += text.len() as u64;
    }
    Err(tadoc::Error::Cancelled.into())
}

/// Appends bytes, and commits.
fn append(
    session: &Session,
    mut transaction: Transaction,
    name: &[u8],
    text: &[u8],
) -> anyhow::Result<()> {
    // Numbers change when the archive is compressed again.
    let document = transaction.find(name)?;
    for text in text.chunks(PIECE) {
        session.edit(&mut transaction, &Edit::Append { document, text })?;
    }
    session.commit(transaction)
}
