//! The analytics: questions that are answered over whole corpora, with rows.
//!
//! A command is its arguments and a [`Question`]; [`ask`] is the way from the archives to the rows, the same for all.

mod arguments;
mod by_archive;
mod explain;
mod pairs;
mod sequences;
mod words;

use std::io;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Subcommand;
use tadoc_engine::answer::{Answer, Column, Labels, Rows};
use tadoc_engine::backend::{Backends, Choice, Run};
use tadoc_engine::view::{Detail, Origin};
use tadoc_engine::{Answered, Corpus, Limits, View};

use self::arguments::Shared;
use self::by_archive::Numbered;
use self::explain::Costs;
use super::about;
use super::archives::{Archives, Chosen, WithArchive};
use super::backend::TaskBackendArguments;
use crate::failure::{Outcome, message, print_line, print_note, print_warning};
use crate::progress::Progress;
use crate::rows::{Format, RowWriter};

/// The commands, in the order in which help lists them.
#[derive(Debug, Subcommand)]
pub enum Analytics {
    WordCount(words::WordCount),
    Sort(words::Sort),
    InvertedIndex(words::InvertedIndex),
    TermVector(words::TermVector),
    SequenceCount(sequences::SequenceCount),
    RankedInvertedIndex(sequences::RankedInvertedIndex),
    #[command(name = "tfidf")]
    TfIdf(words::TfIdf),
    Cooccurrence(pairs::Cooccurrence),
    Collocations(pairs::Collocations),
}

impl Analytics {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let question: &dyn Question = match &self {
            Self::WordCount(question) => question,
            Self::Sort(question) => question,
            Self::InvertedIndex(question) => question,
            Self::TermVector(question) => question,
            Self::SequenceCount(question) => question,
            Self::RankedInvertedIndex(question) => question,
            Self::TfIdf(question) => question,
            Self::Cooccurrence(question) => question,
            Self::Collocations(question) => question,
        };
        let backends = match question.backend() {
            Some(backend) => backend.backends()?,
            None => Backends::new(Choice::Cpu, None),
        };
        #[cfg(feature = "pool")]
        if let Some(path) = question.backend().and_then(TaskBackendArguments::pool) {
            crate::heap::spill_beside(path)?;
        }
        let watch = Stopwatch(Instant::now());
        let shared = question.shared();
        shared.reading.open(&shared.archives.archives, |archives| {
            ask(question, archives, &backends, watch, quiet)
        })
    }
}

/// What one of the commands asks.
trait Question: Sync {
    /// What it has in common with the others.
    fn shared(&self) -> &Shared;

    /// The columns of the answer. They are told before there is one, so that what cannot be written is
    /// refused before the work.
    fn columns(&self) -> &'static [Column];

    /// Whether rows tell their archives, for answers by document.
    fn with_archive(&self) -> Option<&WithArchive> {
        None
    }

    /// Whether the answer is a matrix of documents and terms.
    fn is_matrix(&self) -> bool {
        false
    }

    /// How much of the corpus it needs to know.
    fn detail(&self) -> Detail {
        Detail::Whole
    }

    /// What is wanted of the answer, and what it may take.
    fn limits(&self) -> Limits;

    /// Where it is to be answered, if there is a choice.
    fn backend(&self) -> Option<&TaskBackendArguments> {
        None
    }

    /// Finds the answer.
    fn answer<'v>(
        &self,
        backends: &Backends,
        view: &'v View,
        limits: &Limits,
    ) -> tadoc_engine::Result<Run<'v>>;
}

/// An answer to a question that only the processor answers.
fn on_processor(answered: Answered<'_>) -> Run<'_> {
    Run { answered, backend: Choice::Cpu, device: None, reason: String::new(), pool: None }
}

/// Answers a question, in the rayon pool that it is called in. `watch` was started before the archives
/// were opened.
fn ask(
    question: &dyn Question,
    archives: Archives,
    backends: &Backends,
    mut watch: Stopwatch,
    quiet: bool,
) -> anyhow::Result<Outcome> {
    let mut costs = Costs::default();
    let shared = question.shared();
    let (columns, limits) = (question.columns(), question.limits());
    let is_matrix = shared.format.format() == Format::Mtx;
    let by_document = columns.iter().any(|column| column.name == "document");
    let with_archive = question.with_archive().filter(|with| with.with_archive);
    if with_archive.is_some() && (is_matrix || !by_document) {
        bail!(
            "--with-archive is for rows that name a document, and there are none in this answer; leave \
             it out{}",
            if is_matrix { "" } else { ", or give --per-document" }
        );
    }
    let columns = with_archive.map_or(columns, |with| with.columns(columns));
    if is_matrix && question.is_matrix() && limits.top.is_some() {
        bail!(
            "--format mtx numbers terms as `tadoc sort` lists them, and --top leaves some of them out; \
             choose one of the two"
        );
    }
    let analyzer = shared.terms.analyzer()?;
    archives.warn_of_lexers();
    // Without names to look for, the documents are not read yet.
    let tables = match shared.documents.documents.is_empty() {
        true => Vec::new(),
        false => archives.tables()?,
    };
    let chosen: Option<Vec<u32>> = match shared.documents.choose(&tables)? {
        None => return Ok(Outcome::Negative),
        Some(Chosen::All) => None,
        Some(Chosen::Documents(places)) => {
            Some(places.into_iter().map(|place| place as u32).collect())
        }
    };
    let mut writer = match question.is_matrix() {
        true => RowWriter::open_matrix(&shared.format, columns)?,
        false => RowWriter::open(&shared.format, columns)?,
    };
    if limits.top.is_some() {
        writer.show_all();
    }
    costs.open = watch.lap();

    let progress = Progress::new(quiet);
    let corpora: Vec<&Corpus> = archives.iter().map(|archive| &archive.corpus).collect();
    // Reading names takes time: it is done beside the rest, and only for answers that show them.
    let shows_names = !is_matrix && by_document && with_archive.is_none();
    let (names, made) = rayon::join(
        || if shows_names { names(&archives) } else { Ok(Vec::new()) },
        || {
            let (chosen, detail) = (chosen.as_deref(), question.detail());
            backends.view(&corpora, &analyzer, chosen, detail, &progress)
        },
    );
    progress.finish();
    let names = names?;
    let (view, origin) = made.map_err(|error| match &archives[..] {
        [archive] => about(&archive.path, error),
        _ => error.into(),
    })?;
    if let Origin::Refused(error) = &origin {
        print_warning(&format!("{}; the archive itself is read", message(error)));
    }
    costs.view = watch.lap();

    let run = question.answer(backends, &view, &limits)?;
    costs.task = watch.lap();
    if !quiet {
        backends.notes().iter().for_each(|note| print_note(note));
    }

    let numbered = with_archive.map(|_| Numbered::new(&archives)).transpose()?;
    let numbers = numbered.as_ref().map_or(Vec::new(), Numbered::labels);
    let numbers: Vec<&[u8]> = numbers.iter().map(|label| &label[..]).collect();
    let documents = if numbered.is_some() { &numbers } else { &names };
    let labels = Labels { terms: view.terms().texts(), documents };
    let mut destination = Destination { is_matrix, columns, numbered, writer };
    write(&*run.answered.answer, labels, &mut destination, &mut costs)?;
    let writer = destination.writer;
    // What is not writing is making parts of the answer.
    costs.task += watch.lap().saturating_sub(costs.output);
    writer.finish()?;
    costs.output += watch.lap();

    if shared.work.explain {
        print_line(explain::report(&view, &origin, &run, &costs).trim_end());
    }
    // The process ends here; to give back gigabytes piece by piece would only delay that.
    std::mem::forget((run, names));
    std::mem::forget((view, corpora));
    std::mem::forget(archives);
    Ok(Outcome::Done)
}

/// The names of all documents, by their numbers.
fn names(archives: &Archives) -> anyhow::Result<Vec<&[u8]>> {
    let tables = archives.tables()?;
    Ok(tables.into_iter().flatten().map(|document| &document.name[..]).collect())
}

/// Where an answer goes, and how.
struct Destination<'d> {
    is_matrix: bool,
    columns: &'static [Column],
    /// The documents, if rows tell their archives.
    numbered: Option<Numbered<'d>>,
    writer: RowWriter,
}

impl Destination<'_> {
    fn write(&mut self, rows: &dyn Rows) -> anyhow::Result<()> {
        match &self.numbered {
            Some(numbered) => self.writer.write(&numbered.rows(self.columns, rows)),
            None => self.writer.write(rows),
        }
    }
}

/// Writes an answer. What goes wrong in writing is kept apart from what goes wrong in making parts, since the
/// one is told with the output's name and may be a reader that has seen enough, or the wish to stop.
fn write(
    answer: &dyn Answer,
    labels: Labels<'_>,
    to: &mut Destination<'_>,
    costs: &mut Costs,
) -> anyhow::Result<()> {
    let mut failed = None;
    let mut note = |started: Instant, rows: u64, written: anyhow::Result<()>| {
        costs.output += started.elapsed();
        costs.rows += rows;
        written.map_err(|error| {
            failed = Some(error);
            io::Error::other("the answer was not written")
        })
    };
    let given = match to.is_matrix {
        true => answer
            .with_entries(labels, &mut |entries| {
                let started = Instant::now();
                let written = to.writer.write_entries(entries);
                note(started, entries.len(), written)
            })
            .context("this answer is no matrix of documents and terms")?,
        false => answer.for_each_part(labels, &mut |rows| {
            let started = Instant::now();
            let written = to.write(rows);
            note(started, rows.len(), written)
        }),
    };
    match (failed, given) {
        (Some(error), _) => Err(error),
        (None, Err(source)) => {
            Err(tadoc_engine::Error::Io { path: "a temporary file".into(), source }.into())
        }
        (None, Ok(())) => Ok(()),
    }
}

/// Measures one step after the other.
struct Stopwatch(Instant);

impl Stopwatch {
    /// The time since the last call.
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut self.0, now))
    }
}
