//! The six tasks on an archive as it was, edited, and compressed again, in turns.

use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use crate::analytics::inside::Loaded;
use crate::analytics::turns::take_turns;
use crate::statistics::median;
use crate::task::TaskName;

/// A task on the three archives: medians in seconds.
#[derive(Debug, Serialize)]
pub struct TaskTimes {
    pub task: TaskName,
    pub before: f64,
    pub edited: f64,
    pub again: f64,
    pub command_before: f64,
    pub command_edited: f64,
    pub command_again: f64,
}

/// Measures all tasks on loaded archives, and as commands that open the archive first.
pub fn measure(archives: [&Path; 3], rounds: usize) -> Result<Vec<TaskTimes>> {
    let threads = std::thread::available_parallelism()?.get();
    let loaded: Vec<Loaded> = archives
        .iter()
        .map(|archive| Loaded::open(archive, None, threads))
        .collect::<Result<_>>()?;
    let tadoc = crate::paths::tadoc()?;
    TaskName::ALL
        .into_iter()
        .map(|task| {
            let mut asks: Vec<Box<dyn FnMut() -> Result<f64>>> = Vec::new();
            for one in &loaded {
                asks.push(Box::new(move || one.seconds(task)));
            }
            for archive in archives {
                let job = crate::measure::Job::new(&tadoc)
                    .arg(task.name())
                    .arg(archive)
                    .args(["--format", "tsv"]);
                asks.push(Box::new(move || Ok(job.measure()?.seconds)));
            }
            let mut turns: Vec<&mut dyn FnMut() -> Result<f64>> =
                asks.iter_mut().map(|ask| &mut **ask as _).collect();
            let given = take_turns(&mut turns, rounds)?;
            Ok(TaskTimes {
                task,
                before: median(&given[0]),
                edited: median(&given[1]),
                again: median(&given[2]),
                command_before: median(&given[3]),
                command_edited: median(&given[4]),
                command_again: median(&given[5]),
            })
        })
        .collect()
}
