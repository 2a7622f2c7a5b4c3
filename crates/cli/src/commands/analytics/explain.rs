//! `--explain`: what was chosen for a question, and what each step of it cost: how long it took, on how
//! many threads, and how near to the bandwidth of memory it was.

use std::fmt::Write;
use std::fs;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use tadoc::{Explanation, Origin, Step};

use crate::failure::printable;
use crate::units;

/// How long each step took. An answer may be made part by part while it is written: making is the
/// task's time and writing the output's, however they alternate.
#[derive(Debug, Default)]
pub struct Costs {
    /// Opening archives and output, and choosing documents.
    pub open: Duration,
    /// Loading the grammar and making terms of its words; beside that, loading the names of documents.
    pub view: Duration,
    /// Finding the answer.
    pub task: Duration,
    /// Formatting and writing it.
    pub output: Duration,
    /// Rows written.
    pub rows: u64,
}

/// The report, for people.
pub fn report(answer: &Explanation, costs: &Costs) -> String {
    let mut lines = String::new();
    let mut line = |title: &str, value: &str| {
        writeln!(lines, "{title:<9} {}", printable(value)).expect("a string takes all");
    };
    let threads = units::counted(rayon::current_num_threads() as u64, "thread");
    let backend = match &answer.device {
        None => format!("{}, {threads}", answer.backend),
        Some(device) => format!("{}, {device}", answer.backend),
    };
    match answer.backend_reason.as_str() {
        "" => line("backend", &backend),
        reason => line("backend", &format!("{backend}: {reason}")),
    }
    let why = match answer.strategy_reason.as_str() {
        "" => "as asked for",
        reason => reason,
    };
    line("strategy", &format!("{}: {why}", answer.strategy));
    let origin = match answer.origin {
        Origin::Archive => "decoded from the archive",
        Origin::Stored => "stored beside the archive",
        Origin::Refused(_) => "decoded from the archive, as the stored view cannot be used",
        Origin::Pool => "in the pool from an earlier question",
    };
    // Counts of words alone come from the archive.
    let grammar = match (answer.symbols, answer.words) {
        (0, 1..) => "not needed: the archive has the counts of its words".to_string(),
        _ => format!("{origin}, {} in memory", units::size(answer.memory)),
    };
    line("grammar", &grammar);
    for (count, noun) in [
        (answer.documents, "document"),
        (answer.words, "word"),
        (answer.terms, "term"),
        (answer.rules, "rule"),
        (answer.symbols, "symbol"),
        (costs.rows, "row"),
    ] {
        line(&format!("{noun}s"), &units::count(count));
    }
    for (step, took) in [
        ("open", costs.open),
        ("view", costs.view),
        ("task", costs.task),
        ("output", costs.output),
        ("total", costs.open + costs.view + costs.task + costs.output),
    ] {
        line(step, &milliseconds(took));
    }
    // Before memory is taken to measure its bandwidth.
    let peak = peak_memory();
    let bandwidth = bandwidth();
    if let Some(bandwidth) = bandwidth {
        line("bandwidth", &format!("{}/s of memory, copying on {threads}", units::size(bandwidth)));
    }
    for steps in &answer.steps {
        for step in by_name(steps) {
            line("step", &told(&step, bandwidth));
        }
    }
    if let Some(pool) = &answer.pool {
        line("pool", &format!("{}, {}", pool.medium, units::size(pool.bytes)));
        for (phase, took) in &pool.phases {
            line("phase", &format!("{phase}, {}", milliseconds(*took)));
        }
    }
    if let Some(bytes) = peak {
        line("memory", &format!("{} at most", units::size(bytes)));
    }
    lines
}

/// Steps of one name as one, in the order in which they ended first.
fn by_name(steps: &[Step]) -> Vec<Step> {
    let mut sums: Vec<Step> = Vec::new();
    for step in steps {
        match sums.iter_mut().find(|sum| sum.name == step.name) {
            Some(sum) => {
                sum.wall += step.wall;
                sum.processor += step.processor;
                sum.bytes += step.bytes;
            }
            None => sums.push(step.clone()),
        }
    }
    sums
}

/// A step in a line.
fn told(step: &Step, bandwidth: Option<u64>) -> String {
    let seconds = step.wall.as_secs_f64().max(1e-9);
    let threads = step.processor.as_secs_f64() / seconds;
    let mut told = format!("{}, {}, {threads:.1} threads", step.name, milliseconds(step.wall));
    if step.bytes > 0 {
        write!(told, ", {}", units::size(step.bytes)).expect("a string takes all");
        if let Some(bandwidth) = bandwidth {
            let share = 100.0 * step.bytes as f64 / seconds / bandwidth.max(1) as f64;
            write!(told, ", {share:.0}% of bandwidth").expect("a string takes all");
        }
    }
    told
}

/// Bytes that are copied to see how fast memory is; more than most caches hold.
const COPIED: usize = 64 << 20;
/// Of these, what a thread copies at a time.
const COPIED_AT_ONCE: usize = 1 << 20;

/// Bytes a second that all threads together read and write when they copy; `None` where there is no
/// memory to try it.
fn bandwidth() -> Option<u64> {
    let row = |byte: u8| {
        let mut row = Vec::new();
        row.try_reserve_exact(COPIED).ok()?;
        row.resize(COPIED, byte);
        Some(row)
    };
    let (from, mut to) = (row(1)?, row(0)?);
    let mut copy = || {
        let start = Instant::now();
        let chunks = to.par_chunks_mut(COPIED_AT_ONCE).zip(from.par_chunks(COPIED_AT_ONCE));
        chunks.for_each(|(to, from)| to.copy_from_slice(from));
        start.elapsed().as_nanos()
    };
    let nanoseconds = copy().min(copy()).min(copy()).max(1);
    let a_second = 2 * COPIED as u128 * 1_000_000_000 / nanoseconds;
    Some(u64::try_from(a_second).unwrap_or(u64::MAX))
}

/// Short durations to the microsecond, since opening an archive takes not much more.
fn milliseconds(duration: Duration) -> String {
    match duration.as_secs_f64() * 1000.0 {
        short if short < 100.0 => format!("{short:.3} ms"),
        _ => units::duration(duration),
    }
}

/// The most memory that the process has had, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(milliseconds(Duration::from_micros(1234)), "1.234 ms");
        assert_eq!(milliseconds(Duration::from_micros(234_567)), "235 ms");
    }

    #[test]
    fn bandwidth_is_measured() {
        assert!(bandwidth().is_some_and(|bandwidth| bandwidth > 1 << 20));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_is_known() {
        assert!(peak_memory().unwrap() > 1 << 20);
    }
}
