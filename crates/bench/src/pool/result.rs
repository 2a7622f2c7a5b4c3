//! The figures of a run in a pool, and what is promised of them.

use serde::Serialize;

use super::reads::Reads;
use crate::analytics::check::CheckResult;
use crate::bars::Bar;
use crate::machine::Machine;
use crate::measure::Measurement;
use crate::statistics::{geometric_mean, median};
use crate::task::TaskName;

/// The most that the pool may take of the in-memory backend's memory, in the mean of all tasks.
const MEMORY: f64 = 0.20;
/// The most that it may take of its time, if phases or operations are made durable.
const PHASE_TIME: f64 = 1.6;
const OPERATION_TIME: f64 = 2.5;
/// How many times as fast as plain text it must be, in the geometric mean.
const OVER_TEXT: f64 = 5.0;

/// All that was measured.
#[derive(Debug, Clone, Serialize)]
pub struct PoolRun {
    pub date: String,
    pub command: String,
    pub machine: Machine,
    pub load: Option<f64>,
    pub corpus: String,
    pub files: usize,
    pub text_bytes: u64,
    pub limit_bytes: u64,
    pub rounds: u32,
    pub tasks: Vec<TaskResult>,
    pub reads: Reads,
    pub checks: Vec<CheckResult>,
    pub bars: Vec<Bar>,
}

/// What a contender took: the median of its times, the most of its memory.
#[derive(Debug, Clone, Serialize)]
pub struct PoolCosts {
    pub seconds: f64,
    pub all_seconds: Vec<f64>,
    /// Memory of its own at its peak, without pages of files.
    pub anonymous_bytes: u64,
    /// All that was resident at its peak.
    pub peak_bytes: u64,
}

impl PoolCosts {
    /// The costs of some runs.
    pub fn new(measured: &[Measurement]) -> Self {
        let all_seconds: Vec<f64> = measured.iter().map(|one| one.seconds).collect();
        let most = |of: fn(&Measurement) -> u64| measured.iter().map(of).max().unwrap_or(0);
        Self {
            seconds: median(&all_seconds),
            all_seconds,
            anonymous_bytes: most(|one| one.anonymous_bytes),
            peak_bytes: most(|one| one.peak_bytes),
        }
    }
}

/// One task. Of two costs in a pool, the first are those of a new one, the second those of one that was made before.
#[derive(Debug, Clone, Serialize)]
pub struct TaskResult {
    pub task: TaskName,
    /// In memory, from the archive.
    pub archive: PoolCosts,
    /// In memory, from a stored view.
    pub stored: PoolCosts,
    /// The plain-text program.
    pub text: PoolCosts,
    /// Whether it ran under the same limit: it did if it can.
    pub text_is_limited: bool,
    pub phase: [PoolCosts; 2],
    pub operation: [PoolCosts; 2],
    /// The length of the pool with the answer in it.
    pub pool_bytes: u64,
}

impl TaskResult {
    /// The times of new and made pools against those of the in-memory backend that reads the same.
    pub fn times(&self, pool: &[PoolCosts; 2]) -> [f64; 2] {
        [pool[0].seconds / self.archive.seconds, pool[1].seconds / self.stored.seconds]
    }

    /// Memory of a new pool, which makes the view too, against the in-memory backend's.
    pub fn memory(&self) -> f64 {
        self.phase[0].anonymous_bytes as f64 / self.archive.anonymous_bytes as f64
    }

    /// How many times as fast as plain text new and made pools are.
    pub fn over_text(&self) -> [f64; 2] {
        [0, 1].map(|place: usize| self.text.seconds / self.phase[place].seconds)
    }
}

/// A figure of every task.
fn of_tasks(tasks: &[TaskResult], figure: impl Fn(&TaskResult) -> f64) -> Vec<f64> {
    tasks.iter().map(figure).collect()
}

/// The promises; none without tasks.
pub fn bars(tasks: &[TaskResult]) -> Vec<Bar> {
    if tasks.is_empty() {
        return Vec::new();
    }
    let geometric = |figures: Vec<f64>| geometric_mean(&figures).expect("there is a task");
    let memory = of_tasks(tasks, TaskResult::memory);
    let memory = memory.iter().sum::<f64>() / memory.len() as f64;
    let mut bars = vec![Bar::at_most("memory of its own, mean of all tasks", memory, MEMORY)];
    let levels = [("phase", PHASE_TIME), ("operation", OPERATION_TIME)];
    for (level, (name, limit)) in levels.into_iter().enumerate() {
        for (place, state) in ["new pool", "pool made before"].into_iter().enumerate() {
            let times =
                of_tasks(tasks, |task| task.times([&task.phase, &task.operation][level])[place]);
            let worst = times.iter().copied().fold(0.0, f64::max);
            let what = |which: &str| format!("time, {name}, {state}, {which}");
            bars.push(Bar::at_most(&what("geometric mean"), geometric(times), limit));
            bars.push(Bar::at_most(&what("slowest task"), worst, limit));
        }
    }
    for (place, state) in ["new pool", "pool made before"].into_iter().enumerate() {
        let over = geometric(of_tasks(tasks, |task| task.over_text()[place]));
        let what = format!("over plain text, phase, {state}, geometric mean");
        bars.push(Bar::at_least(&what, over, OVER_TEXT));
    }
    bars
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn costs(seconds: f64, anonymous_bytes: u64) -> PoolCosts {
        let all_seconds = vec![seconds];
        PoolCosts { seconds, all_seconds, anonymous_bytes, peak_bytes: 2 * anonymous_bytes }
    }

    /// A task that takes a second in memory and so many in a pool.
    pub fn task(in_pool: f64, anonymous_bytes: u64) -> TaskResult {
        TaskResult {
            task: TaskName::Sort,
            archive: costs(1.0, 1000 << 20),
            stored: costs(0.5, 500 << 20),
            text: costs(8.0, 100 << 20),
            text_is_limited: false,
            phase: [costs(in_pool, anonymous_bytes), costs(in_pool / 2.0, anonymous_bytes)],
            operation: [costs(2.0 * in_pool, anonymous_bytes), costs(in_pool, anonymous_bytes)],
            pool_bytes: 1 << 30,
        }
    }

    #[test]
    fn kept_and_missed() {
        let missed = |tasks: &[TaskResult]| bars(tasks).iter().filter(|bar| !bar.met).count();
        assert_eq!(bars(&[]), []);
        assert_eq!(missed(&[task(1.2, 100 << 20)]), 0);
        // Memory, phases in all four ways, operations, and a new pool over plain text.
        assert_eq!(missed(&[task(1.7, 300 << 20)]), 1 + 4 + 4 + 1);
        // The mean of memory is what counts, and of times the slowest too.
        let two = [task(1.0, 100 << 20), task(1.0, 290 << 20), task(1.7, 100 << 20)];
        assert_eq!(missed(&two), 2 + 2);
    }
}
