//! `cargo xtask bench edit`: how fast an archive is edited, what edits cost those who read it afterwards, and what compressing it
//! again costs and brings back.
//!
//! Edits are made in this process by one thread, as a program that keeps an archive open would make them; every batch is synced. Tasks are
//! asked of three archives in turns: as it was, edited, and compressed again. What is compressed anew, for comparison, is the edited text. Streaming
//! is measured as a command, with its input through a pipe. Batches of reads and edits are measured by the processor's time that they take,
//! opening included.

mod ingest;
mod mixed;
mod render;
mod tasks;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::Serialize;
use tadoc_engine::update::RecompressOptions;
use tadoc_engine::{CompressOptions, Durability, Edit, Editor, Input, Source, Transaction};
use tadoc_oracle::Random;

use self::ingest::Ingest;
use self::mixed::Mixed;
use self::tasks::TaskTimes;
use crate::analytics::prepare::Preparation;
use crate::bars::Bar;
use crate::corpus::{self, Corpus};
use crate::machine::{self, Machine};
use crate::{paths, run, units};

/// Bytes of an edit.
const EDIT_BYTES: usize = 64;

/// Text that edits are drawn from: so much of the corpus.
const DRAWN_FROM: usize = 64 << 20;

/// Editing an archive: inserts, appends, tasks before and after, compressing again, streaming
#[derive(Debug, Args)]
pub struct EditBench {
    /// Folders, each a corpus, or small, medium or large for all that `cargo xtask corpus` made of
    /// that name [default: medium]
    #[arg(value_name = "CORPUS")]
    corpora: Vec<PathBuf>,

    /// Inserts of 64 bytes, each at a place drawn at random from all text
    #[arg(long, value_name = "N", default_value_t = 400_000)]
    inserts: u64,

    /// Appends of 64 bytes, to documents drawn at random
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    appends: u64,

    /// Edits that are committed and synced together
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    batch: u64,

    /// How often tasks are asked, archives compressed, and batches of reads and edits run
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// Bytes that are streamed in, of the second half of the corpus at most
    #[arg(long, value_name = "SIZE", default_value = "512MB", value_parser = units::parse_size)]
    ingest: u64,

    /// Measure the first so many bytes of each corpus
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size, conflicts_with = "archives")]
    first: Option<u64>,

    /// Measure the batches of reads and edits alone
    #[arg(long)]
    mixed_only: bool,

    /// Stream nothing
    #[arg(long)]
    no_ingest: bool,

    /// Places and texts follow from this
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// A folder of archives that are made already, NAME.tdc for the corpus NAME
    #[arg(long, value_name = "DIR")]
    archives: Option<PathBuf>,

    /// Write the run to crates/bench/runs, to be committed
    #[arg(long)]
    write: bool,
}

/// All that was measured.
#[derive(Debug, Serialize)]
struct EditRun {
    date: String,
    command: String,
    machine: Machine,
    load: Option<f64>,
    corpora: Vec<CorpusResult>,
    bars: Vec<Bar>,
}

/// What was measured on one corpus. Times are in seconds.
#[derive(Debug, Serialize)]
struct CorpusResult {
    name: String,
    text_bytes: u64,
    archive_bytes: u64,
    mixed: Vec<Mixed>,
    /// Where more than those was measured.
    #[serde(flatten)]
    edited: Option<EditedResult>,
}

/// An archive that was edited, and what it costs afterwards.
#[derive(Debug, Serialize)]
struct EditedResult {
    inserts: Edits,
    appends: Edits,
    /// Opening the archive with all inserts behind it, and making all its grammars.
    open_seconds: f64,
    tasks: Vec<TaskTimes>,
    again: Again,
    ingest: Option<Ingest>,
}

/// Edits of one kind.
#[derive(Debug, Serialize)]
struct Edits {
    count: u64,
    batch: u64,
    seconds: f64,
    /// Of single edits, without the commits.
    latency: Percentiles,
    commits: Percentiles,
    journal_bytes: u64,
}

/// Times in microseconds.
#[derive(Debug, Serialize)]
struct Percentiles {
    median: f64,
    p99: f64,
    p999: f64,
    most: f64,
}

/// Compressing the edited archive again, and the edited text anew.
#[derive(Debug, Serialize)]
struct Again {
    again_seconds: Vec<f64>,
    anew_seconds: Vec<f64>,
    edited_bytes: u64,
    again_bytes: u64,
    anew_bytes: u64,
}

impl EditBench {
    pub fn run(self) -> Result<()> {
        let preparation = Preparation {
            tadoc: paths::tadoc()?,
            archives: self.archives.clone(),
            ..Preparation::default()
        };
        let load = machine::load();
        let mut corpora = Vec::new();
        for folder in corpus::find(&self.corpora, &paths::corpora())? {
            let mut corpus = Corpus::open(&folder)?;
            if let Some(bytes) = self.first {
                let first = paths::work("edit/first")?.join(&corpus.name);
                corpus = corpus.beginning(bytes, &first)?;
            }
            let archive = preparation.archive(&corpus)?;
            corpus.warm_up(std::slice::from_ref(&archive))?;
            let result = self.measure(&corpus, &archive)?;
            eprintln!("{}", render::corpus(&result));
            corpora.push(result);
        }
        let (date, command) = (units::today(), paths::command());
        let bars = mixed::bars(&corpora);
        let run = EditRun { date, command, machine: Machine::ask(), load, corpora, bars };
        let text = render::markdown(&run);
        println!("{text}");
        if self.write {
            let path = run::write(&paths::runs(), &run.date, "edit", &text, &run)?;
            println!("written to {}", path.display());
        }
        Ok(())
    }

    fn measure(&self, corpus: &Corpus, archive: &Path) -> Result<CorpusResult> {
        let work = paths::work("edit")?;
        let drawn = Drawn::new(corpus)?;
        eprintln!("{}: reads and edits", corpus.name);
        let mixed = mixed::measure(archive, &drawn, &work, self.seed, self.rounds)?;
        let edited = match self.mixed_only {
            true => None,
            false => Some(self.measure_edited(corpus, archive, &drawn, &work)?),
        };
        Ok(CorpusResult {
            name: corpus.name.clone(),
            text_bytes: corpus.bytes(),
            archive_bytes: fs::metadata(archive)?.len(),
            mixed,
            edited,
        })
    }

    fn measure_edited(
        &self,
        corpus: &Corpus,
        archive: &Path,
        drawn: &Drawn,
        work: &Path,
    ) -> Result<EditedResult> {
        let copy = |name: &str| -> Result<PathBuf> {
            let path = work.join(name);
            fs::copy(archive, &path).context("copying the archive")?;
            Ok(path)
        };
        let appended = copy("appended.tdc")?;
        eprintln!("{}: {} appends", corpus.name, self.appends);
        let appends = self.edit(&appended, drawn, self.appends, |editor, random, text| {
            let document = random.below(editor.document_count() as u64) as u32;
            Ok(editor.edit(&Edit::Append { document, text })?)
        })?;
        fs::remove_file(&appended)?;
        let edited = copy("edited.tdc")?;
        eprintln!("{}: {} inserts", corpus.name, self.inserts);
        let places = Places::new(archive)?;
        let inserts = self.edit(&edited, drawn, self.inserts, |editor, random, text| {
            let (document, offset) = places.draw(random);
            Ok(editor.edit(&Edit::Insert { document, offset, text })?)
        })?;
        let (again, recompressed) = self.compress_again(corpus, &edited, work)?;
        eprintln!("{}: tasks", corpus.name);
        let start = Instant::now();
        let opened = tadoc_engine::Corpus::open(&edited)?;
        tadoc_engine::access::Access::open(&opened, tadoc_engine::access::Index::None)?;
        let open_seconds = start.elapsed().as_secs_f64();
        drop(opened);
        let tasks = tasks::measure([archive, &edited, &recompressed], self.rounds as usize)?;
        let ingest = match self.no_ingest {
            true => None,
            false => {
                eprintln!("{}: streaming", corpus.name);
                Some(Ingest::measure(corpus, self.ingest, work)?)
            }
        };
        Ok(EditedResult { inserts, appends, open_seconds, tasks, again, ingest })
    }

    /// Makes edits in batches, each of which is synced.
    fn edit(
        &self,
        archive: &Path,
        drawn: &Drawn,
        count: u64,
        mut edit: impl FnMut(&mut Transaction, &mut Random, &[u8]) -> Result<Option<u32>>,
    ) -> Result<Edits> {
        let mut random = Random::new(self.seed);
        let editor = Editor::open(archive)?;
        let mut transaction = editor.begin()?;
        let (mut single, mut commits) = (Vec::with_capacity(count as usize), Vec::new());
        let start = Instant::now();
        let mut before = start;
        for number in 1..=count {
            edit(&mut transaction, &mut random, drawn.text(number))?;
            let now = Instant::now();
            single.push((now - before).as_secs_f64() * 1e6);
            before = now;
            if number % self.batch == 0 || number == count {
                transaction.commit(Durability::Sync)?;
                transaction = editor.begin()?;
                let now = Instant::now();
                commits.push((now - before).as_secs_f64() * 1e6);
                before = now;
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        let journal_bytes = transaction.pending().journal_bytes;
        let (latency, commits) = (Percentiles::of(single), Percentiles::of(commits));
        Ok(Edits { count, batch: self.batch, seconds, latency, commits, journal_bytes })
    }

    /// Compresses an edited archive again and its text anew, in turns; gives where the first is.
    fn compress_again(
        &self,
        corpus: &Corpus,
        edited: &Path,
        work: &Path,
    ) -> Result<(Again, PathBuf)> {
        let folder = work.join("text");
        let _ = fs::remove_dir_all(&folder);
        let opened = tadoc_engine::Corpus::open(edited)?;
        let files = opened.files(true)?;
        opened.restore(&files, &folder, tadoc_engine::Existing::Refuse, &())?;
        let names: Vec<Vec<u8>> =
            opened.documents()?.iter().map(|document| document.name.clone()).collect();
        drop(opened);
        let (again_path, anew_path) = (work.join("again.tdc"), work.join("anew.tdc"));
        let mut again = Again {
            again_seconds: Vec::new(),
            anew_seconds: Vec::new(),
            edited_bytes: fs::metadata(edited)?.len(),
            again_bytes: 0,
            anew_bytes: 0,
        };
        for round in 0..self.rounds {
            eprintln!("{}: compressing, round {}", corpus.name, round + 1);
            fs::copy(edited, &again_path)?;
            let start = Instant::now();
            let report = RecompressOptions::default().recompress(&again_path, &())?;
            again.again_seconds.push(start.elapsed().as_secs_f64());
            again.again_bytes = report.archive_bytes;
            let inputs = names
                .iter()
                .map(|name| {
                    let path = Path::new(std::str::from_utf8(name).context("a name is not UTF-8")?);
                    Ok(Input::new(name.clone(), Source::File(folder.join(path))))
                })
                .collect::<Result<_>>()?;
            let options = CompressOptions { force: true, ..Default::default() };
            let start = Instant::now();
            let report = tadoc_engine::compress(inputs, &anew_path, &options, &())?;
            again.anew_seconds.push(start.elapsed().as_secs_f64());
            again.anew_bytes = report.archive_bytes;
        }
        fs::remove_dir_all(&folder)?;
        fs::remove_file(&anew_path)?;
        Ok((again, again_path))
    }
}

impl Percentiles {
    fn of(mut microseconds: Vec<f64>) -> Self {
        microseconds.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = (microseconds.len() as f64 * share) as usize;
            microseconds
                .get(place.min(microseconds.len().saturating_sub(1)))
                .copied()
                .unwrap_or(0.0)
        };
        Self { median: at(0.5), p99: at(0.99), p999: at(0.999), most: at(1.0) }
    }
}

/// Text like that of the corpus.
struct Drawn {
    text: Vec<u8>,
}

impl Drawn {
    fn new(corpus: &Corpus) -> Result<Self> {
        let mut text = Vec::new();
        // Files from all over the corpus.
        let step = (corpus.bytes() / DRAWN_FROM as u64 + 1) as usize;
        for (file, _) in corpus.files.iter().step_by(step) {
            text.extend(fs::read(file).with_context(|| format!("reading {}", file.display()))?);
            if text.len() > DRAWN_FROM {
                break;
            }
        }
        ensure!(text.len() > EDIT_BYTES, "the corpus is too short");
        Ok(Self { text })
    }

    /// The text of an edit.
    fn text(&self, number: u64) -> &[u8] {
        // An odd multiplier goes to all places before it comes to one again.
        let places = (self.text.len() - EDIT_BYTES) as u64;
        let start = (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % places) as usize;
        &self.text[start..start + EDIT_BYTES]
    }
}

/// Places of all text.
struct Places {
    /// Where each document starts in the text of all, and where the last ends.
    starts: Vec<u64>,
}

impl Places {
    fn new(archive: &Path) -> Result<Self> {
        let opened = tadoc_engine::Corpus::open(archive)?;
        let mut starts = vec![0];
        for document in opened.documents()? {
            starts.push(starts[starts.len() - 1] + document.bytes);
        }
        Ok(Self { starts })
    }

    /// A document and an offset in it, every byte of the text being as likely as any other. Documents only grow, so it stays one.
    fn draw(&self, random: &mut Random) -> (u32, u64) {
        let place = random.below(*self.starts.last().expect("the end of all"));
        let document = self.starts.partition_point(|&start| start <= place) - 1;
        (document as u32, place - self.starts[document])
    }
}
