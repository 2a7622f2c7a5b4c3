//! A run of `bench scale` in figures, the promises and the table.

use serde::Serialize;

use crate::bars::Bar;
use crate::machine::Machine;
use crate::measure::Measurement;
use crate::render;
use crate::table::Table;
use crate::task::TaskName;
use crate::units::{MB, MIB, counted};

/// How much more time a MB of the longest text may take than one of the shortest.
const MOST_GROWTH: f64 = 0.20;

/// All that was measured.
#[derive(Debug, Serialize)]
pub struct ScaleRun {
    pub date: String,
    pub command: String,
    pub machine: Machine,
    pub load: Option<f64>,
    pub corpora: Vec<String>,
    pub level: &'static str,
    pub threads: usize,
    pub rows: Vec<Row>,
    pub bars: Vec<Bar>,
}

/// What is done with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// With so much memory, or as tadoc does by itself.
    Compress(Option<u64>),
    Load,
    Task(TaskName),
}

impl Step {
    pub fn name(self) -> String {
        match self {
            Self::Compress(None) => "compress".into(),
            Self::Compress(Some(memory)) => format!("compress --memory {}", mebibytes(memory)),
            Self::Load => "load".into(),
            Self::Task(task) => task.name().into(),
        }
    }
}

/// A step on a text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    pub step: Step,
    pub text_bytes: u64,
    /// Of the archive that was made.
    pub archive_bytes: Option<u64>,
    /// The least of all.
    pub seconds: Option<f64>,
    pub all_seconds: Vec<f64>,
    pub user_seconds: f64,
    pub peak_bytes: u64,
    /// How often it failed.
    pub failed: u32,
}

impl Row {
    /// A step that was not measured yet.
    pub fn new(step: Step, text_bytes: u64) -> Self {
        Self {
            step,
            text_bytes,
            archive_bytes: None,
            seconds: None,
            all_seconds: Vec::new(),
            user_seconds: f64::INFINITY,
            peak_bytes: 0,
            failed: 0,
        }
    }

    pub fn note(&mut self, measured: &Measurement) {
        self.all_seconds.push(measured.seconds);
        self.seconds =
            Some(self.seconds.map_or(measured.seconds, |least| least.min(measured.seconds)));
        self.user_seconds = self.user_seconds.min(measured.user_seconds);
        self.peak_bytes = self.peak_bytes.max(measured.peak_bytes);
    }

    fn seconds_per_megabyte(&self) -> Option<f64> {
        Some(self.seconds? / (self.text_bytes as f64 / MB))
    }

    /// How much more time a MB takes than in another row.
    fn growth(&self, from: &Self) -> Option<f64> {
        Some(self.seconds_per_megabyte()? / from.seconds_per_megabyte()? - 1.0)
    }
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.0} MiB", bytes as f64 / MIB)
}

/// The rows of each step.
fn by_step(rows: &[Row]) -> impl Iterator<Item = &[Row]> {
    rows.chunk_by(|one, other| one.step == other.step)
}

/// Growth of the time of each step, and the peak against the budget.
pub fn bars(rows: &[Row]) -> Vec<Bar> {
    let mut bars = Vec::new();
    for rows in by_step(rows) {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { continue };
        let growth = last.growth(first);
        bars.push(Bar {
            what: format!(
                "{}: growth of the time per MB from {:.0} to {:.0} MB",
                first.step.name(),
                first.text_bytes as f64 / MB,
                last.text_bytes as f64 / MB
            ),
            limit: format!("≤ {:.0}%", MOST_GROWTH * 100.0),
            found: growth.map_or("failed".into(), |growth| format!("{:+.1}%", growth * 100.0)),
            met: growth.is_some_and(|growth| growth <= MOST_GROWTH),
        });
        let peak = rows.iter().map(|row| row.peak_bytes).max().unwrap_or(0);
        if let Step::Compress(Some(memory)) = first.step {
            bars.push(Bar {
                what: "compress: peak memory under --memory".into(),
                limit: format!("≤ {}", mebibytes(memory)),
                found: mebibytes(peak),
                met: peak <= memory,
            });
        }
    }
    bars
}

/// Every step on every text a row.
pub fn table(rows: &[Row]) -> Table {
    let headings =
        ["", "text MB", "archive MB", "seconds", "CPU s", "ms per MB", "growth", "peak MiB"];
    let mut table = Table::new(headings);
    let or_dash = |text: Option<String>| text.unwrap_or("-".into());
    for rows in by_step(rows) {
        for (number, row) in rows.iter().enumerate() {
            let measured = row.seconds.is_some();
            table.row([
                row.step.name(),
                format!("{:.0}", row.text_bytes as f64 / MB),
                or_dash(row.archive_bytes.map(|bytes| format!("{:.1}", bytes as f64 / MB))),
                row.seconds.map_or("failed".into(), |seconds| format!("{seconds:.3}")),
                or_dash(measured.then(|| format!("{:.2}", row.user_seconds))),
                or_dash(row.seconds_per_megabyte().map(|each| format!("{:.3}", each * 1e3))),
                or_dash(
                    row.growth(&rows[0])
                        .filter(|_| number > 0)
                        .map(|growth| format!("{:+.1}%", growth * 100.0)),
                ),
                or_dash(measured.then(|| format!("{:.0}", row.peak_bytes as f64 / MIB))),
            ]);
        }
    }
    table
}

pub fn markdown(run: &ScaleRun) -> String {
    let load = run.load.map(|load| format!("- load of the machine before: {load:.2}\n"));
    format!(
        "# Scale, {}\n\n{}{}\nTexts of the same part of each of {}; {}, level {}. Whole processes, the least wall \
         times: `tadoc compress`, loading (every grammar decoded, every dictionary opened), and `tadoc TASK ARCHIVE \
         --format tsv -o /dev/null` with sequences of 3 terms, on the archive that was made without --memory. Peak is \
         resident memory.\n\n{}\n## Promises\n\n{}",
        run.date,
        render::machine(&run.machine, &run.command),
        load.unwrap_or_default(),
        run.corpora.join(", "),
        counted(run.threads, "thread", "threads"),
        run.level,
        table(&run.rows).markdown(),
        render::bars(&run.bars).markdown()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(step: Step, megabytes: u64, seconds: f64, peak_bytes: u64) -> Row {
        let mut row = Row::new(step, megabytes * 1_000_000);
        row.note(&Measurement { seconds, user_seconds: 1.0, peak_bytes, anonymous_bytes: 0 });
        row
    }

    #[test]
    fn growth_is_per_megabyte_and_the_peak_against_the_budget() {
        let budget = Step::Compress(Some(1 << 30));
        let sort = Step::Task(TaskName::Sort);
        let rows = [
            row(Step::Compress(None), 100, 2.0, 1),
            row(Step::Compress(None), 500, 100.0, 1),
            row(Step::Compress(None), 1000, 23.0, 1),
            row(sort, 100, 1.0, 1),
            row(sort, 500, 5.0, 1),
            Row { failed: 1, ..Row::new(sort, 1_000_000_000) },
            row(budget, 100, 2.0, 1),
            row(budget, 500, 2.0, (1 << 30) + 1),
            row(budget, 1000, 25.0, 1),
        ];
        let bars = bars(&rows);
        let told: Vec<_> = bars.iter().map(|bar| (&bar.found[..], bar.met)).collect();
        let expected =
            [("+15.0%", true), ("failed", false), ("+25.0%", false), ("1024 MiB", false)];
        assert_eq!(told, expected);
        assert_eq!(bars[0].what, "compress: growth of the time per MB from 100 to 1000 MB");
        let text = table(&rows).text();
        for part in ["+15.0%", "failed", "compress --memory 1024 MiB"] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }

    #[test]
    fn the_least_time_and_the_highest_peak_count() {
        let mut row = row(Step::Load, 100, 2.0, 7);
        for (seconds, peak_bytes) in [(1.0, 9), (3.0, 8)] {
            let user_seconds = 2.0;
            row.note(&Measurement { seconds, user_seconds, peak_bytes, anonymous_bytes: 0 });
        }
        assert_eq!((row.seconds, row.peak_bytes, row.all_seconds.len()), (Some(1.0), 9, 3));
    }
}
