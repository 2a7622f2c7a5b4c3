//! The analytics: questions that are answered over whole corpora, with rows.
//!
//! A command is its arguments and a [`Question`]; [`ask`] is the way from the archives to the rows, the same for all.

mod arguments;
mod by_archive;
mod explain;
mod pairs;
mod sequences;
mod words;

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Subcommand;
use tadoc::{Answer, Column, Corpus, OpenOptions, Origin, Position, Rows, Task};

use self::arguments::{Shared, Strategy};
use self::by_archive::Numbered;
use self::explain::Costs;
use super::archives::{WithArchive, warn_of_lexers};
use super::backend::TaskBackendArguments;
use crate::failure::{Outcome, message, print_line, print_note, print_warning};
use crate::memory;
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
        let shared = question.shared();
        let options = question.backend().options(memory::limit(OpenOptions::new()))?;
        let watch = Stopwatch(Instant::now());
        shared
            .reading
            .open(&shared.archives.archives, options, |corpus| ask(question, corpus, watch, quiet))
    }
}

/// What one of the commands asks.
trait Question: Sync {
    /// What it has in common with the others.
    fn shared(&self) -> &Shared;

    /// What is asked.
    fn task(&self) -> Task;

    /// Rows, or rows of each group, at the most.
    fn top(&self) -> Option<usize>;

    /// Which way to go through the grammar.
    fn strategy(&self) -> Strategy;

    /// Where it is to be answered.
    fn backend(&self) -> &TaskBackendArguments;

    /// Whether rows tell their archives, for answers by document.
    fn with_archive(&self) -> Option<&WithArchive> {
        None
    }
}

/// A question whose fields are named as those of all others: its task, and whether it has `--with-archive`.
macro_rules! question {
    ($question:ident, $task:expr $(, $with_archive:ident)?) => {
        impl super::Question for $question {
            fn shared(&self) -> &Shared {
                &self.shared
            }

            fn task(&self) -> Task {
                let task: fn(&Self) -> Task = $task;
                task(self)
            }

            fn top(&self) -> Option<usize> {
                self.top
            }

            fn strategy(&self) -> super::arguments::Strategy {
                self.strategy.strategy
            }

            fn backend(&self) -> &TaskBackendArguments {
                &self.backend
            }

            $(
                fn with_archive(&self) -> Option<&WithArchive> {
                    Some(&self.$with_archive)
                }
            )?
        }
    };
}
use question;

/// Answers a question, in the rayon pool that it is called in. `watch` was started before the archives
/// were opened.
fn ask(
    question: &dyn Question,
    corpus: Corpus,
    mut watch: Stopwatch,
    quiet: bool,
) -> anyhow::Result<Outcome> {
    let mut costs = Costs::default();
    let shared = question.shared();
    // The columns are told before there is an answer, so that what cannot be written is refused before the work.
    let columns = question.task().columns();
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
    let can_be_matrix = matches!(question.task(), Task::TermVector | Task::TfIdf(_));
    if is_matrix && can_be_matrix && question.top().is_some() {
        bail!(
            "--format mtx numbers terms as `tadoc sort` lists them, and --top leaves some of them out; \
             choose one of the two"
        );
    }
    warn_of_lexers(&corpus);
    let query = corpus.query().analyzer(shared.terms.analyzer()?);
    let Some(query) = shared.documents.of(query)? else { return Ok(Outcome::Negative) };
    let mut writer = match can_be_matrix {
        true => RowWriter::open_matrix(&shared.format, columns)?,
        false => RowWriter::open(&shared.format, columns)?,
    };
    if question.top().is_some() {
        writer.show_all();
    }
    costs.open = watch.lap();

    let progress = Progress::new(quiet);
    let asked = shared.limited(query.task(question.task()), question.top(), question.strategy());
    let answer = asked.run_observed(&progress);
    progress.finish();
    let answer = answer?;
    if let Origin::Refused(error) = &answer.explanation().origin {
        print_warning(&format!("{}; the archive itself is read", message(error.as_ref())));
    }
    (costs.view, costs.task) = (answer.explanation().reading, answer.explanation().task);
    watch.lap();
    if !quiet {
        corpus.notes().iter().for_each(|note| print_note(note));
    }

    let numbered = with_archive.map(|_| Numbered::new(&corpus)).transpose()?;
    let answer = match &numbered {
        Some(numbered) => answer.with_names(numbered.labels()),
        None => answer,
    };
    let mut destination = Destination { is_matrix, columns, numbered, writer };
    write(&answer, &mut destination, &mut costs)?;
    let writer = destination.writer;
    // What is not writing is making parts of the answer.
    costs.task += watch.lap().saturating_sub(costs.output);
    writer.finish()?;
    costs.output += watch.lap();

    if shared.work.explain {
        print_line(explain::report(answer.explanation(), &costs).trim_end());
    }
    // The process ends here; to give back gigabytes piece by piece would only delay that.
    std::mem::forget((answer, query, corpus));
    Ok(Outcome::Done)
}

/// Where an answer goes, and how.
struct Destination {
    is_matrix: bool,
    columns: &'static [Column],
    /// The documents, if rows tell their archives.
    numbered: Option<Numbered>,
    writer: RowWriter,
}

impl Destination {
    fn write(&mut self, rows: &dyn Rows) -> anyhow::Result<()> {
        match &self.numbered {
            Some(numbered) => self.writer.write(&numbered.rows(self.columns, rows)),
            None => self.writer.write(rows),
        }
    }
}

/// Writes an answer, part by part.
fn write(answer: &Answer, to: &mut Destination, costs: &mut Costs) -> anyhow::Result<()> {
    let mut note = |started: Instant, rows: u64| {
        costs.output += started.elapsed();
        costs.rows += rows;
    };
    if to.is_matrix {
        let matrix = answer.matrix();
        let entries = matrix.context("this answer is no matrix of documents and terms")??;
        let started = Instant::now();
        let written = to.writer.write_entries(&*entries);
        note(started, entries.len());
        return written;
    }
    let mut at = Position::default();
    while let Some(rows) = answer.next_part(&mut at)? {
        let started = Instant::now();
        let written = to.write(&*rows);
        note(started, rows.len());
        written?;
    }
    Ok(())
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
