//! `cargo xtask bench compress`: sizes, speeds and memory of all contenders.
//!
//! Contenders take turns on a corpus, and in every further run another one begins, so that a machine that
//! gets slower or faster over time does so for all of them.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use crate::contenders::{Contender, Level, Paths, ensure_installed};
use crate::corpus::{self, Corpus};
use crate::machine::Machine;
use crate::measure::{Job, Measurement};
use crate::run::{self, Compressed, CorpusResult, Run};
use crate::segments::Segments;
use crate::statistics::median;
use crate::{bars, paths, render, units};

/// How often what takes little time is measured.
const SHORT_RUNS: usize = 5;
/// What takes longer is measured once.
const SHORT_SECONDS: f64 = 2.0;

/// Sizes, speeds and memory beside zstd and xz
///
/// Each corpus is compressed by zstd -3, zstd -19 -T2 --long=27, xz -6 -T2 (all of a tar) and tadoc, in the
/// same run. Then the archives are decompressed, loaded and asked for their info. With the level fast,
/// an archive made with 1 GiB of memory is compared with one of a single segment.
#[derive(Debug, Args)]
pub struct Compress {
    /// Folders, each a corpus, or small, medium or large for all that `cargo xtask corpus` made of
    /// that name [default: medium]
    #[arg(long, value_name = "DIR|NAME", num_args = 1..)]
    corpora: Vec<PathBuf>,

    /// Levels of tadoc
    #[arg(long, value_enum, value_delimiter = ',', default_value = "fast,dense")]
    levels: Vec<Level>,

    /// How often each corpus is compressed by each
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Write the run to crates/bench/runs, to be committed
    #[arg(long)]
    write: bool,
}

impl Compress {
    pub fn run(self) -> Result<()> {
        ensure_installed()?;
        let tadoc = paths::tadoc()?;
        let mut corpora = Vec::new();
        for folder in corpus::find(&self.corpora, &paths::corpora())? {
            let corpus = Corpus::open(&folder)?;
            let result = self.measure(&corpus, tadoc.clone())?;
            println!("{}\n{}", render::title(&result), render::corpus(&result).text());
            println!("{}", render::segments(&result));
            corpora.push(result);
        }
        let run = Run {
            date: units::today(),
            command: paths::command(),
            machine: Machine::ask(),
            means: run::means(&corpora),
            bars: bars::check(&corpora),
            corpora,
        };
        print!("{}", render::ending(&run));
        if self.write {
            let text = render::markdown(&run);
            let path = run::write(&paths::runs(), &run.date, "compress", &text, &run)?;
            println!("\nwritten to {}", path.display());
        }
        Ok(())
    }

    fn measure(&self, corpus: &Corpus, tadoc: PathBuf) -> Result<CorpusResult> {
        let contenders = Contender::all(&self.levels);
        let tar = corpus.tar(&paths::work("tar")?)?;
        let outputs = paths::work("outputs")?;
        let paths = Paths { tadoc, folder: corpus.folder.clone(), tar, outputs };
        corpus.warm_up(std::slice::from_ref(&paths.tar))?;

        let jobs: Vec<Job> = contenders.iter().map(|one| one.compress(&paths)).collect();
        let names: Vec<String> = contenders.iter().map(|one| one.name()).collect();
        let compressed = take_turns(&jobs, self.runs as usize, |index| {
            eprintln!("{}: {}", corpus.name, names[index]);
        })?;
        let mut results = Vec::new();
        for (&contender, measured) in contenders.iter().zip(&compressed) {
            let output = contender.output(&paths);
            let bytes = fs::metadata(&output)
                .with_context(|| format!("reading {}", output.display()))?
                .len();
            results.push(Compressed {
                contender,
                bytes,
                seconds: seconds(measured),
                all_seconds: measured.iter().map(|one| one.seconds).collect(),
                peak_bytes: peak(measured),
                decompress_seconds: None,
                load_seconds: None,
                load_peak_bytes: None,
                info_seconds: None,
            });
        }
        eprintln!("{}: decompressing and loading", corpus.name);
        self.measure_reading(&mut results, &paths)?;
        for contender in contenders {
            let _ = fs::remove_file(contender.output(&paths));
        }
        let segments = match self.levels.contains(&Level::Fast) {
            true => {
                eprintln!("{}: segments", corpus.name);
                let output = paths.outputs.join("segments.tdc");
                Some(Segments::measure(&paths.tadoc, &paths.folder, &output)?)
            }
            false => None,
        };
        Ok(CorpusResult {
            name: corpus.name.clone(),
            files: corpus.files.len(),
            text_bytes: corpus.bytes(),
            results,
            segments,
        })
    }

    /// Decompressing, loading and `info`, of all contenders that can, taking turns.
    fn measure_reading(&self, results: &mut [Compressed], paths: &Paths) -> Result<()> {
        let mut jobs = Vec::new();
        let mut meant = Vec::new();
        for (index, result) in results.iter().enumerate() {
            let contender = result.contender;
            let reading = [
                (Reading::Decompress, contender.decompress(paths)),
                (Reading::Load, contender.load(paths)?),
                (Reading::Info, contender.info(paths)),
            ];
            for (reading, job) in reading {
                if let Some(job) = job {
                    jobs.push(job);
                    meant.push((index, reading));
                }
            }
        }
        let mut measured = take_turns(&jobs, 1, |_| {})?;
        // What is over soon is repeated; what takes long is not much noisier once.
        let short: Vec<usize> =
            (0..jobs.len()).filter(|&index| measured[index][0].seconds < SHORT_SECONDS).collect();
        let again: Vec<Job> = short.iter().map(|&index| jobs[index].clone()).collect();
        for (index, more) in short.into_iter().zip(take_turns(&again, SHORT_RUNS - 1, |_| {})?) {
            measured[index].extend(more);
        }
        for ((index, reading), measured) in meant.into_iter().zip(&measured) {
            let result = &mut results[index];
            match reading {
                Reading::Decompress => result.decompress_seconds = Some(seconds(measured)),
                Reading::Load => {
                    result.load_seconds = Some(seconds(measured));
                    result.load_peak_bytes = Some(peak(measured));
                }
                Reading::Info => result.info_seconds = Some(seconds(measured)),
            }
        }
        Ok(())
    }
}

/// What is done with a compressed file.
#[derive(Clone, Copy)]
enum Reading {
    Decompress,
    Load,
    Info,
}

fn seconds(measured: &[Measurement]) -> f64 {
    median(&measured.iter().map(|one| one.seconds).collect::<Vec<_>>())
}

fn peak(measured: &[Measurement]) -> u64 {
    measured.iter().map(|one| one.peak_bytes).max().unwrap_or(0)
}

/// Measures each job so many times, in turns; calls `begin` before each with its place in the list.
fn take_turns(jobs: &[Job], runs: usize, begin: impl Fn(usize)) -> Result<Vec<Vec<Measurement>>> {
    let mut measured = vec![Vec::with_capacity(runs); jobs.len()];
    for run in 0..runs {
        for turn in 0..jobs.len() {
            let index = (run + turn) % jobs.len();
            begin(index);
            measured[index].push(jobs[index].measure()?);
        }
    }
    Ok(measured)
}
