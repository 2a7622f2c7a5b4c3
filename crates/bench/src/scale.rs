//! `cargo xtask bench scale`: whether time grows with the length alone, and memory stays in its bounds.

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;

use crate::bars::Bar;
use crate::contenders::Level;
use crate::corpus::Corpus;
use crate::machine::Machine;
use crate::measure::Job;
use crate::statistics::median;
use crate::table::Table;
use crate::units::{self, MB, MIB, parse_size};
use crate::{paths, render, run};

/// How much slower a MB of the longer text may be.
const MOST_GROWTH: f64 = 0.20;

/// Time per MB of a shorter and a longer text, and memory under a budget
///
/// The texts are the first bytes of the same corpus. Each is compressed with the memory that tadoc takes by
/// itself; then the longer one once more with --memory.
#[derive(Debug, Args)]
pub struct Scale {
    /// A folder of text, at least as long as the longer text
    #[arg(long, value_name = "DIR")]
    corpus: PathBuf,

    /// The shorter and the longer text
    #[arg(long, num_args = 2, value_names = ["SHORTER", "LONGER"], value_parser = parse_size, default_values = ["100MB", "1GB"])]
    sizes: Vec<u64>,

    /// The budget
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "1GiB")]
    memory: u64,

    /// Level of tadoc
    #[arg(long, value_enum, default_value = "fast")]
    level: Level,

    /// How often each is measured
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Write the run to crates/bench/runs, to be committed
    #[arg(long)]
    write: bool,
}

/// All that was measured.
#[derive(Debug, Serialize)]
struct ScaleRun {
    date: String,
    command: String,
    machine: Machine,
    corpus: String,
    level: &'static str,
    rows: Vec<Row>,
    bars: Vec<Bar>,
}

/// One length under one budget.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Row {
    text_bytes: u64,
    /// None: what tadoc takes by itself.
    memory: Option<u64>,
    archive_bytes: u64,
    seconds: f64,
    all_seconds: Vec<f64>,
    peak_bytes: u64,
}

impl Row {
    fn seconds_per_megabyte(&self) -> f64 {
        self.seconds / (self.text_bytes as f64 / MB)
    }
}

impl Scale {
    pub fn run(self) -> Result<()> {
        let whole = Corpus::open(&self.corpus)?;
        let (shorter, longer) = (self.sizes[0], self.sizes[1]);
        if shorter >= longer {
            bail!("the first of --sizes is the shorter one");
        }
        if whole.bytes() < longer {
            bail!(
                "{} has {:.0} MB of text, fewer than the {:.0} MB to measure; `cargo xtask corpus large` \
                 makes longer ones",
                self.corpus.display(),
                whole.bytes() as f64 / MB,
                longer as f64 / MB
            );
        }
        let work = paths::work("scale")?;
        let parts = [
            whole.beginning(shorter, &work.join("shorter"))?,
            whole.beginning(longer, &work.join("longer"))?,
        ];
        let rows = self.measure(&parts)?;
        fs::remove_dir_all(&work)?;
        let run = ScaleRun {
            date: units::today(),
            command: paths::command(),
            machine: Machine::ask(),
            corpus: whole.name,
            level: self.level.name(),
            bars: check(&rows),
            rows,
        };
        println!("{}\n{}", table(&run.rows).text(), render::bars(&run.bars).text());
        if self.write {
            let path = run::write(&paths::runs(), &run.date, "scale", &markdown(&run), &run)?;
            println!("written to {}", path.display());
        }
        Ok(())
    }

    /// The shorter and the longer text as they are, then the longer one under the budget; in turns.
    fn measure(&self, parts: &[Corpus; 2]) -> Result<Vec<Row>> {
        let output = paths::work("scale")?.join("scale.tdc");
        let tadoc = paths::tadoc()?;
        let [shorter, longer] = parts;
        let cases = [(shorter, None), (longer, None), (longer, Some(self.memory))];
        let mut rows: Vec<Row> = cases
            .iter()
            .map(|(part, memory)| Row {
                text_bytes: part.bytes(),
                memory: *memory,
                archive_bytes: 0,
                seconds: 0.0,
                all_seconds: Vec::new(),
                peak_bytes: 0,
            })
            .collect();
        for part in parts {
            part.warm_up(&[])?;
        }
        for _ in 0..self.runs {
            for ((part, memory), row) in cases.iter().zip(&mut rows) {
                eprintln!("{:.0} MB, {}", row.text_bytes as f64 / MB, shown_memory(*memory));
                let mut job = Job::new(&tadoc)
                    .args(["compress", "--quiet", "--force", "--level", self.level.name()])
                    .arg(&part.folder)
                    .arg("-o")
                    .arg(&output);
                if let Some(memory) = memory {
                    job = job.arg("--memory").arg(memory.to_string());
                }
                let measured = job.measure()?;
                row.all_seconds.push(measured.seconds);
                row.peak_bytes = row.peak_bytes.max(measured.peak_bytes);
                row.archive_bytes = fs::metadata(&output)?.len();
            }
        }
        for row in &mut rows {
            row.seconds = median(&row.all_seconds);
        }
        Ok(rows)
    }
}

fn shown_memory(memory: Option<u64>) -> String {
    match memory {
        None => "default".into(),
        Some(bytes) => format!("{:.0} MiB", bytes as f64 / MIB),
    }
}

fn table(rows: &[Row]) -> Table {
    let headings =
        ["text", "--memory", "archive bytes", "seconds", "ms per MB", "growth", "peak MiB"];
    let mut table = Table::new(headings);
    for row in rows {
        let growth = row.seconds_per_megabyte() / rows[0].seconds_per_megabyte() - 1.0;
        table.row([
            format!("{:.0} MB", row.text_bytes as f64 / MB),
            shown_memory(row.memory),
            row.archive_bytes.to_string(),
            format!("{:.2}", row.seconds),
            format!("{:.2}", row.seconds_per_megabyte() * 1e3),
            if row == &rows[0] { "-".into() } else { format!("{:+.1}%", growth * 100.0) },
            format!("{:.0}", row.peak_bytes as f64 / MIB),
        ]);
    }
    table
}

/// Growth of the time, and the peak against the budget.
fn check(rows: &[Row]) -> Vec<Bar> {
    let mut bars = Vec::new();
    for row in &rows[1..] {
        let growth = row.seconds_per_megabyte() / rows[0].seconds_per_megabyte() - 1.0;
        let memory = shown_memory(row.memory);
        bars.push(Bar {
            what: format!("growth of the time per MB ({memory})"),
            limit: format!("< {:.0}%", MOST_GROWTH * 100.0),
            found: format!("{:+.1}%", growth * 100.0),
            met: growth < MOST_GROWTH,
        });
        if let Some(budget) = row.memory {
            bars.push(Bar {
                what: "peak memory under --memory".into(),
                limit: format!("≤ {memory}"),
                found: format!("{:.0} MiB", row.peak_bytes as f64 / MIB),
                met: row.peak_bytes <= budget,
            });
        }
    }
    bars
}

fn markdown(run: &ScaleRun) -> String {
    format!(
        "# Compressing more text, {}\n\n{}\nBeginnings of the corpus {}, compressed at level {}. Times are \
         medians, peak is resident memory.\n\n{}\n## Promises\n\n{}",
        run.date,
        render::machine(&run.machine, &run.command),
        run.corpus,
        run.level,
        table(&run.rows).markdown(),
        render::bars(&run.bars).markdown()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(megabytes: u64, memory: Option<u64>, seconds: f64, peak_bytes: u64) -> Row {
        Row {
            text_bytes: megabytes * 1_000_000,
            memory,
            archive_bytes: 1,
            seconds,
            all_seconds: vec![seconds],
            peak_bytes,
        }
    }

    #[test]
    fn growth_is_per_megabyte_and_the_peak_against_the_budget() {
        let rows = [
            row(100, None, 2.0, 1),
            row(1000, None, 23.0, 1),
            row(1000, Some(1 << 30), 25.0, (1 << 30) + 1),
        ];
        let bars = check(&rows);
        let told: Vec<_> = bars.iter().map(|bar| (&bar.found[..], bar.met)).collect();
        assert_eq!(told, [("+15.0%", true), ("+25.0%", false), ("1024 MiB", false)]);
        assert!(table(&rows).text().contains("+15.0%"));
    }
}
