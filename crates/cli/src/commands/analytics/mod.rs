//! The analytics: questions that are answered over whole corpora, with rows.
//!
//! A command is its arguments and a [`Question`]; [`ask`] is the way from the archives to the rows, the same for all.

mod arguments;
mod explain;
mod pairs;
mod sequences;
mod words;

use std::io;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Subcommand;
use tadoc::answer::{Answer, Column, Labels};
use tadoc::backend::{Backends, Choice, Run};
use tadoc::view::{Detail, Origin};
use tadoc::{Answered, Corpus, Document, Limits, View};

use self::arguments::Shared;
use self::explain::Costs;
use super::backend::TaskBackendArguments;
use super::{about, documents, open, pool};
use crate::failure::{Outcome, print_error, print_note, print_warning};
use crate::progress::Progress;
use crate::rows::{Format, RowWriter};
use crate::{interrupt, select};

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
        pool(question.shared().work.threads)?.install(|| ask(question, &backends, quiet))
    }
}

/// What one of the commands asks.
trait Question: Sync {
    /// What it has in common with the others.
    fn shared(&self) -> &Shared;

    /// The columns of the answer. They are told before there is one, so that what cannot be written is
    /// refused before the work.
    fn columns(&self) -> &'static [Column];

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
    ) -> tadoc::Result<Run<'v>>;
}

/// An answer to a question that only the processor answers.
fn on_processor(answered: Answered<'_>) -> Run<'_> {
    Run { answered, backend: Choice::Cpu, device: None, reason: String::new(), pool: None }
}

/// Answers a question, in the rayon pool that it is called in.
fn ask(question: &dyn Question, backends: &Backends, quiet: bool) -> anyhow::Result<Outcome> {
    let mut watch = Stopwatch(Instant::now());
    let mut costs = Costs::default();
    let shared = question.shared();
    let (columns, limits) = (question.columns(), question.limits());
    let is_matrix = shared.format.format() == Format::Mtx;
    if is_matrix && question.is_matrix() && limits.top.is_some() {
        bail!(
            "--format mtx numbers terms as `tadoc sort` lists them, and --top leaves some of them out; \
             choose one of the two"
        );
    }
    let analyzer = shared.terms.analyzer()?;
    let corpora = open_all(shared)?;

    let chosen = match shared.documents.is_empty() {
        true => None,
        false => Some(select::find_all(&tables(&corpora, shared)?, &shared.documents)?),
    };
    if chosen.as_ref().is_some_and(Vec::is_empty) {
        print_error("no document matches; `tadoc list` shows what an archive has");
        return Ok(Outcome::Negative);
    }
    let chosen: Option<Vec<u32>> =
        chosen.map(|places| places.into_iter().map(|place| place as u32).collect());
    let mut writer = match question.is_matrix() {
        true => RowWriter::open_matrix(&shared.format, columns)?,
        false => RowWriter::open(&shared.format, columns)?,
    };
    if limits.top.is_some() {
        writer.show_all();
    }
    costs.open = watch.lap();

    // A task has no steps to end it between.
    let at_once = interrupt::at_once()?;
    let progress = Progress::new(quiet);
    let corpora_asked: Vec<&Corpus> = corpora.iter().collect();
    // Reading names takes time: it is done beside the rest, and only for answers that show them.
    let shows_names = !is_matrix && columns.iter().any(|column| column.name == "document");
    let (names, made) = rayon::join(
        || if shows_names { names(&corpora, shared) } else { Ok(Vec::new()) },
        || {
            let (chosen, detail) = (chosen.as_deref(), question.detail());
            backends.view(&corpora_asked, &analyzer, chosen, detail, &progress)
        },
    );
    progress.finish();
    let names = names?;
    let (view, origin) = made.map_err(|error| match &shared.archives[..] {
        [archive] => about(archive, error),
        _ => error.into(),
    })?;
    if let Origin::Refused(reason) = &origin {
        print_warning(&format!("{reason}; the archive itself is read"));
    }
    costs.view = watch.lap();

    let run = question.answer(backends, &view, &limits)?;
    costs.task = watch.lap();
    if !quiet {
        backends.notes().iter().for_each(|note| print_note(note));
    }

    let labels = Labels { terms: view.terms().texts(), documents: &names };
    write(&*run.answered.answer, labels, is_matrix, &mut writer, &mut costs)?;
    // What is not writing is making parts of the answer.
    costs.task += watch.lap().saturating_sub(costs.output);
    drop(at_once);
    writer.finish()?;
    costs.output += watch.lap();

    if shared.work.explain {
        eprint!("{}", explain::report(&view, &origin, &run, &costs));
    }
    // The process ends here; to give back gigabytes piece by piece would only delay that.
    std::mem::forget((run, names));
    std::mem::forget((view, corpora));
    Ok(Outcome::Done)
}

fn open_all(shared: &Shared) -> anyhow::Result<Vec<Corpus>> {
    let corpora: Vec<Corpus> =
        shared.archives.iter().map(|archive| open(archive)).collect::<anyhow::Result<_>>()?;
    if corpora.len() > 1 {
        let lexers: Vec<String> = corpora.iter().map(|corpus| corpus.info().lexer).collect();
        if let Some(other) = lexers.iter().position(|lexer| *lexer != lexers[0]) {
            print_warning(&format!(
                "words are not the same thing in all archives: {} was compressed with --lexer {}, {} with {}",
                shared.archives[0].display(),
                lexers[0],
                shared.archives[other].display(),
                lexers[other]
            ));
        }
    }
    Ok(corpora)
}

/// The documents of each corpus.
fn tables<'c>(corpora: &'c [Corpus], shared: &Shared) -> anyhow::Result<Vec<&'c [Document]>> {
    let corpora = corpora.iter().zip(&shared.archives);
    corpora.map(|(corpus, archive)| documents(corpus, archive)).collect()
}

/// The names of all documents, by their numbers.
fn names<'c>(corpora: &'c [Corpus], shared: &Shared) -> anyhow::Result<Vec<&'c [u8]>> {
    let tables = tables(corpora, shared)?;
    Ok(tables.into_iter().flatten().map(|document| &document.name[..]).collect())
}

/// Writes an answer. What goes wrong in writing is kept apart from what goes wrong in making parts, since the
/// one is told with the output's name and may be a reader that has seen enough, or the wish to stop.
fn write(
    answer: &dyn Answer,
    labels: Labels<'_>,
    is_matrix: bool,
    writer: &mut RowWriter,
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
    let given = match is_matrix {
        true => answer
            .with_entries(labels, &mut |entries| {
                let started = Instant::now();
                let written = writer.write_entries(entries);
                note(started, entries.len(), written)
            })
            .context("this answer is no matrix of documents and terms")?,
        false => answer.for_each_part(labels, &mut |rows| {
            let started = Instant::now();
            let written = writer.write(rows);
            note(started, rows.len(), written)
        }),
    };
    match (failed, given) {
        (Some(error), _) => Err(error),
        (None, Err(source)) => {
            Err(tadoc::Error::Io { path: "a temporary file".into(), source }.into())
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
