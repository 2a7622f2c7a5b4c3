//! `cargo xtask bench grep`: `tadoc grep` beside ripgrep on the files, and on the output of zstd.
//!
//! What is measured are whole commands: from a file in the page cache to the last line printed; beside the
//! time, that of processors in the programs, which says more on a machine that does other things too. The promises are
//! about `zstd -dc | rg`. `--check` compares what is printed byte by byte, for patterns of all kinds with
//! flags of all kinds.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;
use tadoc_engine::access::Index;

use crate::analytics::prepare::Preparation;
use crate::bars::Bar;
use crate::corpus::{self, Corpus};
use crate::machine::Machine;
use crate::measure::Job;
use crate::statistics::median;
use crate::table::Table;
use crate::{paths, render, run, units, zstd};

/// The patterns that are measured: words, literals and expressions rich in classes.
const MEASURED: [&str; 6] = [
    "memory",
    "segmentation fault",
    r"[A-Z][a-z]+_[0-9]{2,}",
    r"\b[a-z]{3}[0-9]+\.[a-z]+\b",
    r"(?i)warning|error",
    r"\w+ing the \w+",
];

/// The patterns and flags that are checked, each with each.
const CHECKED: [&str; 16] = [
    "memory",
    "segmentation fault",
    "the",
    r"[A-Z][a-z]+_[0-9]{2,}",
    r"\b[a-z]{3}[0-9]+\.[a-z]+\b",
    "^$",
    r"^\s+\S+$",
    r"\d{4}-\d{2}-\d{2}",
    r"\w+ing the \w+",
    r"(?i)WARNING|error",
    r"[^\x00-\x7f]{2}",
    r"\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+",
    r"\.$",
    r"https?://[^\s/]+/",
    r"\bof\b.*\bof\b.*\bof\b",
    "no such line anywhere",
];
const FLAGS: [&[&str]; 10] = [
    &[],
    &["-n"],
    &["-i", "-w", "-c"],
    &["-c", "-v"],
    &["--count-matches"],
    &["-l"],
    &["-o", "-b"],
    &["-C", "1", "-n"],
    &["-m", "3", "-n", "--column"],
    &["-x"],
];

/// The most that `tadoc grep` may take of the time of `zstd -dc | rg`, for every pattern and corpus: on an
/// archive as it is, and with the fast index.
const OF_PIPE: f64 = 1.0;
const OF_PIPE_INDEXED: f64 = 0.7;

/// Bytes of names that a command line takes.
const NAME_BYTES: usize = 1 << 20;

/// `tadoc grep` beside ripgrep, whole commands
///
/// Contenders: `tadoc grep` on the archive, and on one with the fast index; `rg` in the folder; and
/// `zstd -dc | rg` on a tar of it.
#[derive(Debug, Args)]
pub struct Grep {
    /// Folders of text, or sets of `cargo xtask corpus`
    #[arg(value_name = "CORPUS", default_value = "medium")]
    corpora: Vec<PathBuf>,

    /// A folder of archives that are made already: NAME.tdc
    #[arg(long, value_name = "DIR")]
    archives: Option<PathBuf>,

    /// A folder of tars that are made already: NAME.tar.zst
    #[arg(long, value_name = "DIR")]
    tars: Option<PathBuf>,

    /// zstd's level for tars that are not
    #[arg(long, default_value_t = 19)]
    zstd_level: u8,

    /// How often each is measured
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Compare what is printed with ripgrep's
    #[arg(long)]
    check: bool,

    /// Measure nothing
    #[arg(long)]
    no_times: bool,

    /// Write the run to crates/bench/runs, to be committed
    #[arg(long)]
    write: bool,
}

/// All that was measured.
#[derive(Debug, Serialize)]
struct GrepRun {
    date: String,
    command: String,
    machine: Machine,
    rows: Vec<Row>,
    bars: Vec<Bar>,
    /// How many answers were compared, and found the same.
    checked: usize,
}

/// One pattern in one corpus; times are medians in seconds.
#[derive(Debug, Serialize)]
struct Row {
    corpus: String,
    pattern: String,
    lines: usize,
    tadoc: f64,
    tadoc_indexed: f64,
    ripgrep: f64,
    zstd_ripgrep: f64,
    /// Time of processors in the programs, of the four in the same order.
    processor: [f64; 4],
}

/// What the contenders read.
struct Files {
    folder: PathBuf,
    archive: PathBuf,
    indexed: PathBuf,
    tar: PathBuf,
}

impl Grep {
    pub fn run(self) -> Result<()> {
        if Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_err() {
            bail!("ripgrep is not there; install the package ripgrep");
        }
        let tadoc = paths::tadoc()?;
        let preparation = Preparation {
            tadoc: tadoc.clone(),
            archives: self.archives.clone(),
            tars: self.tars.clone(),
            zstd_level: self.zstd_level,
            ..Preparation::default()
        };
        let (mut rows, mut checked) = (Vec::new(), 0);
        for folder in corpus::find(&self.corpora, &paths::corpora())? {
            let corpus = Corpus::open(&folder)?;
            let archive = preparation.archive(&corpus)?;
            if self.check {
                checked += check(&tadoc, &corpus, &archive)?;
            }
            if self.no_times {
                continue;
            }
            let indexed = paths::work("grep")?.join(format!("{}.tdc", corpus.name));
            fs::copy(&archive, &indexed).context("copying the archive")?;
            tadoc_engine::access::store(&indexed, Index::Fast, &())?;
            let tar = preparation.tar(&corpus)?;
            corpus.warm_up(&[archive.clone(), indexed.clone(), tar.clone()])?;
            let files = Files { folder, archive, indexed, tar };
            for pattern in MEASURED {
                rows.push(self.measure(&tadoc, &corpus.name, pattern, &files)?);
                eprintln!("{}", table(&rows[rows.len() - 1..]).text());
            }
        }
        let (date, command) = (units::today(), paths::command());
        let bars = bars(&rows);
        let run = GrepRun { date, command, machine: Machine::ask(), rows, bars, checked };
        println!("{}", markdown(&run));
        if self.write {
            let path = run::write(&paths::runs(), &run.date, "grep", &markdown(&run), &run)?;
            println!("written to {}", path.display());
        }
        Ok(())
    }

    /// Measures the contenders in turns.
    fn measure(&self, tadoc: &Path, corpus: &str, pattern: &str, files: &Files) -> Result<Row> {
        let output = paths::work("grep")?.join("printed");
        let this = std::env::current_exe().context("finding this program")?;
        // Nothing found is no failure.
        let job = |script: &str, path: &Path| {
            Job::new("sh")
                .args(["-c", &format!("{script}; test $? -le 1")])
                .arg(&this)
                .arg(pattern)
                .arg(path)
                .arg(tadoc)
                .output(&output)
        };
        let jobs = [
            job(r#""$3" grep -e "$1" "$2""#, &files.archive),
            job(r#""$3" grep -e "$1" "$2""#, &files.indexed),
            job(r#"cd "$2" && rg --no-config --no-mmap -uu -e "$1""#, &files.folder),
            job(
                &format!(r#"{} "$2" | rg --no-config -a -e "$1""#, zstd::decompressing()),
                &files.tar,
            ),
        ];
        let mut times = vec![Vec::new(); jobs.len()];
        let mut processors = times.clone();
        let mut lines = 0;
        for _ in 0..self.runs {
            for (number, job) in jobs.iter().enumerate() {
                let measured = job.measure()?;
                times[number].push(measured.seconds);
                processors[number].push(measured.user_seconds);
                if number == 0 {
                    let printed = fs::read(&output).context("reading what was printed")?;
                    lines = memchr::memchr_iter(b'\n', &printed).count();
                }
            }
        }
        Ok(Row {
            corpus: corpus.to_owned(),
            pattern: pattern.to_owned(),
            lines,
            tadoc: median(&times[0]),
            tadoc_indexed: median(&times[1]),
            ripgrep: median(&times[2]),
            zstd_ripgrep: median(&times[3]),
            processor: [0, 1, 2, 3].map(|number| median(&processors[number])),
        })
    }
}

/// Compares what is printed for all patterns and flags; gives how many answers were the same.
fn check(tadoc: &Path, corpus: &Corpus, archive: &Path) -> Result<usize> {
    let opened = tadoc_engine::Corpus::open(archive)?;
    let names: Vec<String> = opened
        .documents()?
        .iter()
        .map(|document| String::from_utf8(document.name.clone()).context("a name is not UTF-8"))
        .collect::<Result<_>>()?;
    let work = paths::work("grep")?;
    let (ours, theirs) = (work.join("ours"), work.join("theirs"));
    let mut same = 0;
    for pattern in CHECKED {
        for flags in FLAGS {
            // What ripgrep prints of large binary files depends on the size of its buffers, so all are text.
            let status = Command::new(tadoc)
                .arg("grep")
                .args(flags)
                .args(["-a", "-e", pattern])
                .arg(archive)
                .stdout(File::create(&ours)?)
                .status()?;
            let found = ripgrep(&corpus.folder, flags, pattern, &names, &theirs)?;
            let is_same = fs::read(&ours)? == fs::read(&theirs)?;
            if !is_same || status.code() != Some(if found { 0 } else { 1 }) {
                bail!(
                    "{}: {flags:?} {pattern:?}: {} and {} are not the same",
                    corpus.name,
                    ours.display(),
                    theirs.display()
                );
            }
            same += 1;
        }
        eprintln!("{}: {same} answers are the same", corpus.name);
    }
    Ok(same)
}

/// What ripgrep prints for files in this order; tells whether it found anything.
fn ripgrep(
    folder: &Path,
    flags: &[&str],
    pattern: &str,
    names: &[String],
    output: &Path,
) -> Result<bool> {
    let mut all = Vec::new();
    let mut rest = names;
    while !rest.is_empty() {
        let mut bytes = 0;
        let count = rest.iter().take_while(|name| {
            bytes += name.len() + 9;
            bytes < NAME_BYTES
        });
        let (now, behind) = rest.split_at(count.count().max(1));
        rest = behind;
        let printed = Command::new("rg")
            .args(["--no-config", "--no-mmap", "--encoding", "none", "-H", "-j1", "-a"])
            .args(flags)
            .args(["-e", pattern, "--"])
            .args(now)
            .current_dir(folder)
            .stderr(Stdio::inherit())
            .output()?;
        if printed.status.code() == Some(2) {
            bail!("ripgrep failed for {pattern:?}");
        }
        if !all.is_empty() && !printed.stdout.is_empty() && flags.contains(&"-C") {
            all.extend_from_slice(b"--\n");
        }
        all.extend_from_slice(&printed.stdout);
    }
    fs::write(output, &all)?;
    Ok(!all.is_empty())
}

/// The promises: the row that is worst, and how many miss.
fn bars(rows: &[Row]) -> Vec<Bar> {
    let contenders =
        [("without an index", OF_PIPE, false), ("with index fast", OF_PIPE_INDEXED, true)];
    let bars = contenders.into_iter().filter_map(|(what, limit, indexed)| {
        let seconds = |row: &Row| if indexed { row.tadoc_indexed } else { row.tadoc };
        let ratio = |row: &Row| seconds(row) / row.zstd_ripgrep;
        let worst = rows.iter().max_by(|one, other| ratio(one).total_cmp(&ratio(other)))?;
        let missed = rows.iter().filter(|row| ratio(row) > limit).count();
        let row = format!("{} `{}`", worst.corpus, worst.pattern.replace('|', "\\|"));
        let what = format!("{what}, of `zstd -dc \\| rg` ({missed} of {} miss; {row})", rows.len());
        Some(Bar::at_most(&what, ratio(worst), limit))
    });
    bars.collect()
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        "corpus and pattern",
        "lines",
        "tadoc",
        "tadoc, indexed",
        "rg",
        "zstd, rg",
        "rg / tadoc",
        "zstd, rg / tadoc",
        "zstd, rg / indexed",
        "user time: tadoc, indexed, rg, zstd + rg",
    ]);
    let milliseconds = |seconds: f64| format!("{:.0} ms", seconds * 1000.0);
    for row in rows {
        table.row([
            // A bar would end the cell.
            format!("{} `{}`", row.corpus, row.pattern.replace('|', "\\|")),
            row.lines.to_string(),
            milliseconds(row.tadoc),
            milliseconds(row.tadoc_indexed),
            milliseconds(row.ripgrep),
            milliseconds(row.zstd_ripgrep),
            format!("{:.2}", row.ripgrep / row.tadoc),
            format!("{:.2}", row.zstd_ripgrep / row.tadoc),
            format!("{:.2}", row.zstd_ripgrep / row.tadoc_indexed),
            row.processor.map(milliseconds).join(", "),
        ]);
    }
    table
}

fn markdown(run: &GrepRun) -> String {
    let mut text =
        format!("# Grep, {}\n\n{}\n", run.date, render::machine(&run.machine, &run.command));
    if !run.rows.is_empty() {
        text += "Medians of whole commands, from files in the page cache; what they print goes to a file. `tadoc` reads \
                 the archive, `tadoc, indexed` one with the fast index, `rg` the files, and `zstd, rg` a tar through a pipe.\n\n";
        text += &table(&run.rows).markdown();
        text += "\n";
        text += &render::bars(&run.bars).markdown();
    }
    if run.checked > 0 {
        text +=
            &format!("\n{} answers were compared with ripgrep's, and are the same.\n", run.checked);
    }
    text
}
