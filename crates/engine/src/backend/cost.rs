//! What a task costs on the processor and on a GPU, estimated from the sizes of a view before anything is done.
//!
//! The processor's figures are medians over the eight corpora of the run `crates/bench/runs/2026-11-15-analytics`: the first
//! answer on a view, its threads' time divided by the symbols of the view. A GPU's are [`DEVICE`]'s; `tadoc devices --measure`
//! shows those of another one. Corpora differ from each other by a factor of several, so the estimate is good enough to see
//! that a GPU wins by far or not at all, and not for more.

use std::time::Duration;

use tadoc_core::{Network, Task};

/// What a task costs, for every symbol of a view.
struct PerSymbol {
    /// Nanoseconds of one thread of the processor.
    processor: f64,
    /// Bytes of the answer.
    answer: f64,
}

/// By task. Sequences were of three terms. TF-IDF and pairs were not in that run; they are taken for
/// what they are made of, term vectors and as many sequences of two as the window is wide.
fn per_symbol(task: Task) -> PerSymbol {
    let (processor, answer) = match task {
        Task::WordCount => (2.4, 0.7),
        Task::Sort => (1.8, 0.7),
        Task::InvertedIndex => (22.0, 1.2),
        Task::TermVector => (20.0, 2.4),
        Task::SequenceCount { n } => (60.0 * n as f64 / 3.0, 11.4),
        Task::SequenceCountPerDocument { n } => (87.0 * n as f64 / 3.0, 14.9),
        Task::RankedInvertedIndex { n } => (87.0 * n as f64 / 3.0, 14.9),
        Task::TfIdf(_) => (40.0, 3.6),
        Task::Cooccurrence { window, .. } | Task::Collocations { window, .. } => {
            (40.0 * window as f64, 7.6 * window as f64)
        }
    };
    PerSymbol { processor, answer }
}

fn symbols(network: &Network) -> f64 {
    // A view of counts has no root, but its counts stand for one.
    let counts = if network.has_root() { 0 } else { network.grammar().token_count() as usize };
    (network.grammar().symbols().len() + counts) as f64
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// What a task takes on so many threads of the processor.
pub fn on_processor(network: &Network, task: Task, threads: usize) -> Duration {
    let nanoseconds = symbols(network) * per_symbol(task).processor;
    seconds(nanoseconds * 1e-9 / threads.max(1) as f64)
}

/// Seconds of one thread for an operation of random access: about what extracting and counting take with an index, by the run
/// `2026-11-15-access`. Searches take longer, the more the more they find.
const OPERATION: f64 = 1e-6;

/// What operations of random access take on so many threads of the processor.
pub fn batch_on_processor(operations: u64, threads: usize) -> Duration {
    seconds(operations as f64 * OPERATION / threads.max(1) as f64)
}

/// What a GPU takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceCosts {
    /// To start its driver, and to load compiled kernels from the cache.
    pub start: Duration,
    /// For every byte of a view, from the host's arrays to what traversals work on.
    pub load: f64,
    /// Bytes of an answer that come back in a second.
    pub download: f64,
    /// For every task, whatever its size: launches and waiting.
    pub task: Duration,
    /// How many times as fast as one thread of the processor a task is on a network that is loaded.
    pub speed: f64,
}

/// The GPU that estimates are for: an NVIDIA H200, by the run `crates/bench/runs/2026-11-15-gpu` (first answers with a warm cache of kernels;
/// views as loaded; what answers took beyond their device time; the tasks' times against one thread, rounded down). One that is slower in everything by a factor of two moves the border between the
/// backends, and not by much: where the processor would be done in less than the start, it is taken, and for longer tasks the
/// speed decides.
pub const DEVICE: DeviceCosts = DeviceCosts {
    start: Duration::from_millis(220),
    load: 0.4e-9,
    download: 1.5e9,
    task: Duration::from_millis(1),
    speed: 100.0,
};

/// What has been done before a task is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// The device is open.
    pub started: bool,
    /// The view is on it.
    pub loaded: bool,
}

impl DeviceCosts {
    /// What a task takes.
    pub fn estimate(&self, network: &Network, task: Task, state: State) -> Duration {
        let per_symbol = per_symbol(task);
        let symbols = symbols(network);
        let start = if state.started { 0.0 } else { self.start.as_secs_f64() };
        let load = if state.loaded { 0.0 } else { network.memory() as f64 * self.load };
        let work = symbols * per_symbol.processor * 1e-9 / self.speed;
        let download = symbols * per_symbol.answer / self.download;
        seconds(start + load + self.task.as_secs_f64() + work + download)
    }

    /// What operations of random access take on a text that is not loaded yet.
    pub fn batch_estimate(&self, operations: u64, text_bytes: u64) -> Duration {
        let load = text_bytes as f64 * self.load;
        let work = operations as f64 * OPERATION / self.speed;
        seconds(self.start.as_secs_f64() + load + work)
    }
}

/// Both estimates, for people.
pub fn compared(processor: Duration, gpu: Duration, what: &str) -> String {
    let milliseconds = |duration: Duration| duration.as_secs_f64() * 1e3;
    format!(
        "by estimate {:.1} ms on the processor, {:.1} ms on a GPU {what}",
        milliseconds(processor),
        milliseconds(gpu)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use tadoc_core::{Grammar, Part};

    /// A document of so many items, each by itself.
    fn network(items: u32) -> Network {
        let grammar = Grammar::new(1, vec![0; items as usize], vec![items], vec![0, items]);
        let parts = vec![Part { root: 0..items, rules: 0..0 }];
        Network::new(grammar.unwrap(), parts, vec![0]).unwrap()
    }

    #[test]
    fn small_tasks_are_the_processor_s() {
        let (small, large) = (network(1000), network(10_000_000));
        let cold = State { started: false, loaded: false };
        let warm = State { started: true, loaded: true };
        let task = Task::SequenceCount { n: 3 };
        assert!(on_processor(&small, task, 1) < DEVICE.estimate(&small, task, cold));
        assert!(on_processor(&small, task, 1) < DEVICE.estimate(&small, task, warm));
        assert!(on_processor(&large, task, 1) > DEVICE.estimate(&large, task, warm));
        assert!(DEVICE.estimate(&large, task, warm) < DEVICE.estimate(&large, task, cold));
    }

    #[test]
    fn small_batches_are_the_processor_s() {
        for operations in [0, 1000, 100_000] {
            assert!(batch_on_processor(operations, 1) < DEVICE.batch_estimate(operations, 1 << 20));
        }
        let many = 100_000_000;
        assert!(batch_on_processor(many, 1) > DEVICE.batch_estimate(many, 1 << 20));
    }

    #[test]
    fn threads_share_the_work() {
        let network = network(1_000_000);
        let one = on_processor(&network, Task::TermVector, 1);
        assert_eq!(on_processor(&network, Task::TermVector, 4), one / 4);
    }
}
