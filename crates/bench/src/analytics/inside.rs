//! What is measured in this process: tasks on a loaded archive (a), and the same on text in memory (c).
//!
//! Both sides end with the complete answer and its rows in order; nothing is printed, and giving back memory is
//! not counted.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use rayon::ThreadPool;
use tadoc_engine::answer::{Labels, Names, Position};
use tadoc_engine::{Analyzer, Lexer, Limits, Strategy, View};

use super::limit::Lengths;
use super::result::{Cost, Limit, StrategyResult, ViewResult};
use super::turns::take_turns;
use crate::rival::{self, Text};
use crate::statistics::median;
use crate::task::{SEQUENCE_TERMS, TaskName};

/// How often a view is made.
const VIEWS: usize = 3;

/// A corpus in memory, as a view and as text.
pub struct Loaded {
    view: View,
    view_seconds: f64,
    names: Vec<Vec<u8>>,
    text: Option<Text>,
    pool: ThreadPool,
}

/// What both sides took on a task.
pub struct Inside {
    pub rows: u64,
    pub first_seconds: f64,
    pub archive: Cost,
    pub text: Cost,
}

/// One answer on a loaded archive.
struct Answered {
    seconds: f64,
    rows: u64,
    strategy: Strategy,
}

impl Loaded {
    /// Makes the view of an archive; the text is read if a folder is given.
    pub fn open(archive: &Path, folder: Option<&Path>, threads: usize) -> Result<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.context("starting threads")?;
        pool.install(|| -> Result<_> {
            let mut made = Vec::new();
            for _ in 0..VIEWS {
                let start = Instant::now();
                let corpus = tadoc_engine::Corpus::open(archive)?;
                let view = tadoc_engine::view::make(&[&corpus], &Analyzer::new(), None, &())?;
                let seconds = start.elapsed().as_secs_f64();
                // Only the last one is kept.
                made.iter_mut().for_each(|(_, kept)| *kept = None);
                made.push((seconds, Some((corpus, view))));
            }
            let seconds: Vec<f64> = made.iter().map(|(seconds, _)| *seconds).collect();
            let (corpus, view) = made.pop().and_then(|(_, made)| made).context("a view is made")?;
            let lexer = corpus.info().lexer;
            ensure!(lexer == "words", "the archive is of the lexer {lexer}, the rival of words");
            let names = corpus.documents()?.iter().map(|document| document.name.to_vec()).collect();
            let text = folder.map(|folder| Text::open(folder)?.load()).transpose()?;
            Ok((view, median(&seconds), names, text))
        })
        .map(|(view, view_seconds, names, text)| Self {
            view,
            view_seconds,
            names,
            text,
            pool,
        })
    }

    /// The view in figures.
    pub fn view(&self) -> ViewResult {
        let lengths = Lengths::of(&self.view);
        ViewResult {
            seconds: self.view_seconds,
            bytes: self.view.memory(),
            terms: lengths.terms,
            rules: lengths.rules,
            root_symbols: lengths.root_symbols,
            body_symbols: lengths.body_symbols,
            words: self.view.network().length(),
        }
    }

    /// Asks a view, and goes through all rows.
    fn ask(&self, view: &View, task: TaskName, strategy: Option<Strategy>) -> Result<Answered> {
        let names: Vec<&[u8]> = self.names.iter().map(|name| &name[..]).collect();
        let names = Names::from_iter(names.iter());
        let labels = Labels { terms: view.terms().texts(), documents: names.texts() };
        let limits = Limits { strategy, ..Limits::default() };
        let start = Instant::now();
        let (answered, rows) = self.pool.install(|| -> Result<_> {
            let task = task.of_archive(SEQUENCE_TERMS);
            let answered = tadoc_engine::analytics::answer(view, task, &limits)?;
            let mut rows = 0;
            let mut at = Position::default();
            while let Some(part) = answered.answer.next_part(&mut at, labels)? {
                rows += part.len();
            }
            Ok((answered, rows))
        })?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Answered { seconds, rows, strategy: answered.strategy })
    }

    /// How long a task takes.
    pub fn seconds(&self, task: TaskName) -> Result<f64> {
        Ok(self.ask(&self.view, task, None)?.seconds)
    }

    /// A task on both sides, in turns. The view is a fresh one, so that the first answer has to count the
    /// root.
    pub fn compare(&self, task: TaskName, rounds: usize) -> Result<Inside> {
        let text = self.text.as_ref().context("the text was not read")?;
        let threads = self.pool.current_num_threads();
        let view = self.view.clone();
        let Answered { seconds: first_seconds, rows, .. } = self.ask(&view, task, None)?;
        let mut archive = || {
            let answered = self.ask(&view, task, None)?;
            Ok((answered.seconds, answered.rows))
        };
        let mut plain = || {
            let start = Instant::now();
            let (answer, _) =
                rival::run(task.of_text(SEQUENCE_TERMS), text, Lexer::Words, threads)?;
            Ok((start.elapsed().as_secs_f64(), answer.rows.len()))
        };
        let mut given = take_turns(&mut [&mut archive, &mut plain], rounds)?;
        for (_, other) in given.iter().flatten() {
            ensure!(*other == rows, "{} has {rows} rows, or {other}", task.name());
        }
        let mut cost = || -> Result<Cost> {
            let taken = given.pop().context("both sides were measured")?;
            Ok(Cost::of_calls(taken.into_iter().map(|(seconds, _)| seconds).collect()))
        };
        let text = cost()?;
        Ok(Inside { rows, first_seconds, archive: cost()?, text })
    }

    /// Both strategies and auto on a task, in turns.
    pub fn strategies(&self, task: TaskName, rounds: usize) -> Result<StrategyResult> {
        let view = self.view.clone();
        let chosen = self.ask(&view, task, None)?.strategy;
        let ask = |strategy| Ok(self.ask(&view, task, strategy)?.seconds);
        let mut top_down = || ask(Some(Strategy::TopDown));
        let mut bottom_up = || ask(Some(Strategy::BottomUp));
        let mut auto = || ask(None);
        let given = take_turns(&mut [&mut top_down, &mut bottom_up, &mut auto], rounds)?;
        let [top_down, bottom_up, auto] = given
            .into_iter()
            .map(Cost::of_calls)
            .collect::<Vec<_>>()
            .try_into()
            .map_err(|_| anyhow::anyhow!("three were measured"))?;
        Ok(StrategyResult { task, top_down, bottom_up, auto, chosen: chosen.name().into() })
    }

    /// What a task with so many rows must read and write.
    pub fn limit(&self, task: TaskName, rows: u64) -> Result<Limit> {
        let sequences = match task {
            TaskName::RankedInvertedIndex => {
                self.ask(&self.view, TaskName::SequenceCount, None)?.rows
            }
            _ => 0,
        };
        Ok(Lengths { rows, sequences, ..Lengths::of(&self.view) }.limit(task))
    }
}
