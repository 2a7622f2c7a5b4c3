//! What a task costs on the processor and on a GPU, estimated from the sizes of a view before
//! anything is done.
//!
//! The processor's figures are medians over the eight corpora of the run
//! `crates/bench/runs/2026-11-15-analytics`: the first answer on a view, its threads' time divided by
//! the symbols of the view. A GPU's follow from what [`tadoc_gpu::measured`] says of it; how, was
//! fitted to the run `2026-11-15-gpu`. Corpora differ from each other by a factor of several, so the
//! estimate is good enough to see that a GPU wins by far or not at all, and not for more.

use std::time::Duration;

use tadoc_core::{Network, Task};
use tadoc_gpu::Measured;

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

/// What starting a GPU takes, kernels loaded from the cache: the least that was seen.
const START: Duration = Duration::from_millis(220);
/// Bytes that a device reads and writes for every byte of a view that is loaded.
const LOAD_TRAFFIC: f64 = 1100.0;
/// Bytes that a device reads and writes in the time in which one thread of the processor does a
/// nanosecond's work.
const WORK_TRAFFIC: f64 = 40.0;
/// Seconds of the host for every byte of an answer, beside the copy.
const ANSWER: f64 = 0.35e-9;
/// Launches of a task or a batch, whatever its size, and values that the host waits for.
const LAUNCHES: (u32, u32) = (150, 30);

/// What a GPU takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceCosts(Measured);

impl DeviceCosts {
    /// The fastest device that was measured, an NVIDIA H200 in the run `2026-11-15-gpu`: a lower
    /// bound, good enough to leave a device alone that could not win.
    pub const FASTEST: Self = Self(Measured {
        upload: 7.0e9,
        download: 3.2e9,
        copy: 4034e9,
        launch: Duration::from_nanos(4_700),
        read: Duration::from_nanos(10_600),
    });

    /// By what a device does.
    pub fn of(measured: Measured) -> Self {
        Self(measured)
    }

    fn load(&self, bytes: f64) -> f64 {
        bytes * (1.0 / self.0.upload + LOAD_TRAFFIC / self.0.copy)
    }

    /// The same work as so many seconds of the processor.
    fn work(&self, processor: f64) -> f64 {
        processor * 1e9 * WORK_TRAFFIC / self.0.copy
    }

    /// What everything takes, however small it is.
    fn waits(&self) -> Duration {
        self.0.launch * LAUNCHES.0 + self.0.read * LAUNCHES.1
    }

    /// What a task takes on a device that is started; to a network that `is_loaded` nothing is
    /// copied.
    pub fn estimate(&self, network: &Network, task: Task, is_loaded: bool) -> Duration {
        let per_symbol = per_symbol(task);
        let symbols = symbols(network);
        let load = if is_loaded { 0.0 } else { self.load(network.memory() as f64) };
        let work = self.work(symbols * per_symbol.processor * 1e-9);
        let answer = symbols * per_symbol.answer * (1.0 / self.0.download + ANSWER);
        self.waits() + seconds(load + work + answer)
    }

    /// What operations of random access take on a text that is not loaded yet.
    pub fn batch_estimate(&self, operations: u64, text_bytes: u64) -> Duration {
        let work = self.work(operations as f64 * OPERATION);
        self.waits() + seconds(self.load(text_bytes as f64) + work)
    }
}

/// The least that something takes on any GPU, if it takes so long on the fastest that is started.
pub fn with_start(is_started: bool, fastest: Duration) -> Duration {
    if is_started { fastest } else { START + fastest }
}

/// Both estimates, for people.
pub fn compared(processor: Duration, gpu: Duration, which: &str) -> String {
    let milliseconds = |duration: Duration| duration.as_secs_f64() * 1e3;
    format!(
        "by estimate {:.1} ms on the processor, {:.1} ms on {which}",
        milliseconds(processor),
        milliseconds(gpu)
    )
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use tadoc_core::{Grammar, Part};

    /// A document of so many items, each by itself.
    pub(in super::super) fn network(items: u32) -> Network {
        let grammar = Grammar::new(1, vec![0; items as usize], vec![items], vec![0, items]);
        let parts = vec![Part { root: 0..items, rules: 0..0 }];
        Network::new(grammar.unwrap(), parts, vec![0]).unwrap()
    }

    /// A device that copies to itself so many times as slowly as the fastest.
    fn slower(by: f64) -> DeviceCosts {
        let fastest = DeviceCosts::FASTEST.0;
        DeviceCosts::of(Measured { copy: fastest.copy / by, ..fastest })
    }

    #[test]
    fn small_tasks_are_the_processor_s() {
        let (small, large) = (network(1000), network(10_000_000));
        let fastest = DeviceCosts::FASTEST;
        let task = Task::SequenceCount { n: 3 };
        assert!(on_processor(&small, task, 1) < fastest.estimate(&small, task, true));
        assert!(on_processor(&large, task, 1) > fastest.estimate(&large, task, true));
        assert!(fastest.estimate(&large, task, true) < fastest.estimate(&large, task, false));
    }

    #[test]
    fn slow_devices_lose() {
        let (network, task) = (network(10_000_000), Task::RankedInvertedIndex { n: 3 });
        let on_cpu = on_processor(&network, task, 1);
        let on = |by| slower(by).estimate(&network, task, false);
        assert!(on(1.0) < on(10.0) && on(10.0) < on_cpu && on_cpu < on(400.0));
        assert_eq!(on(1.0), DeviceCosts::FASTEST.estimate(&network, task, false));
    }

    #[test]
    fn small_batches_are_the_processor_s() {
        let on_gpu =
            |operations, by| with_start(false, slower(by).batch_estimate(operations, 1 << 20));
        for operations in [0, 1000, 100_000] {
            assert!(batch_on_processor(operations, 1) < on_gpu(operations, 1.0));
        }
        let many = batch_on_processor(100_000_000, 1);
        assert!(many > on_gpu(100_000_000, 1.0) && many < on_gpu(100_000_000, 400.0));
    }

    #[test]
    fn threads_share_the_work() {
        let network = network(1_000_000);
        let one = on_processor(&network, Task::TermVector, 1);
        assert_eq!(on_processor(&network, Task::TermVector, 4), one / 4);
    }
}
