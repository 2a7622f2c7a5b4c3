//! What is measured on a GPU, in figures; times are in seconds.

use serde::Serialize;
use tadoc_engine::gpu::device::Device;

use crate::bars::Bar;
use crate::machine::Machine;
use crate::statistics::{geometric_mean, median};
use crate::task::TaskName;

/// How many times as fast as one thread of the processor the six tasks are in the geometric mean, and as all threads.
const ONE_THREAD: f64 = 60.0;
const ALL_THREADS: f64 = 8.0;
/// How many times as fast as one thread batches are in the geometric mean.
const BATCHES: f64 = 100.0;
/// Bytes a second that the top-down pass over ten million edges moves.
const TOP_DOWN: f64 = 1e12;

/// All that was measured.
#[derive(Debug, Serialize)]
pub struct GpuRun {
    pub date: String,
    pub command: String,
    pub machine: Machine,
    pub load: Option<f64>,
    pub device: DeviceResult,
    /// Numbers of threads of the processor.
    pub threads: Vec<usize>,
    pub rounds: u32,
    pub archives: Vec<ArchiveResult>,
    pub synthetic: Vec<SyntheticResult>,
    pub bars: Vec<Bar>,
}

/// The device, and what it does in a second.
#[derive(Debug, Clone, Serialize)]
pub struct DeviceResult {
    pub selector: String,
    pub name: String,
    pub driver: String,
    pub memory_bytes: u64,
    pub units: u32,
    pub upload_bytes_per_second: f64,
    pub download_bytes_per_second: f64,
    pub copy_bytes_per_second: f64,
    pub launch_seconds: f64,
    pub read_seconds: f64,
}

impl DeviceResult {
    /// Measures a device.
    pub fn new(device: &std::sync::Arc<Device>) -> anyhow::Result<Self> {
        let (info, measured) = (device.info(), tadoc_engine::gpu::measure(device)?);
        Ok(Self {
            selector: info.selector(),
            name: info.name.clone(),
            driver: info.driver.clone(),
            memory_bytes: info.memory,
            units: info.units,
            upload_bytes_per_second: measured.upload,
            download_bytes_per_second: measured.download,
            copy_bytes_per_second: measured.copy,
            launch_seconds: measured.launch.as_secs_f64(),
            read_seconds: measured.read.as_secs_f64(),
        })
    }
}

/// One archive.
#[derive(Debug, Serialize)]
pub struct ArchiveResult {
    pub name: String,
    pub view: ViewResult,
    pub tasks: Vec<TaskResult>,
    pub kernels: Vec<KernelResult>,
    pub first: Vec<FirstResult>,
    pub batches: Vec<BatchResult>,
}

/// The view that was asked.
#[derive(Debug, Clone, Serialize)]
pub struct ViewResult {
    pub documents: usize,
    pub words: u64,
    pub terms: u32,
    pub rules: u32,
    pub root_symbols: usize,
    pub body_symbols: usize,
    pub bytes: u64,
    /// To make it of the archive, on the processor.
    pub make_seconds: f64,
    /// To load it to the device.
    pub load_seconds: f64,
    /// Bytes that it has there.
    pub device_bytes: u64,
}

/// One task.
#[derive(Debug, Serialize)]
pub struct TaskResult {
    pub task: TaskName,
    pub rows: u64,
    /// By the device's clock, of each round.
    pub device_seconds: Vec<f64>,
    /// By the host's clock, with the answer in the host's memory, of each round.
    pub whole_seconds: Vec<f64>,
    /// Of the processor, for each number of threads the times of each round.
    pub processor_seconds: Vec<Vec<f64>>,
    /// Whether the rows were compared with the processor's, and are the same.
    pub checked: Option<bool>,
}

impl TaskResult {
    /// The median on the device.
    pub fn device(&self) -> f64 {
        median(&self.device_seconds)
    }

    /// The median with the answer on the host.
    pub fn whole(&self) -> f64 {
        median(&self.whole_seconds)
    }

    /// The median on the processor, for one of the numbers of threads.
    pub fn processor(&self, place: usize) -> f64 {
        median(&self.processor_seconds[place])
    }

    /// How many times as fast as the processor the device is.
    pub fn ratio(&self, place: usize) -> f64 {
        self.processor(place) / self.device()
    }
}

/// The launches of a kernel in one run of a task.
#[derive(Debug, Serialize)]
pub struct KernelResult {
    pub task: TaskName,
    pub file: String,
    pub kernel: String,
    pub launches: u64,
    pub seconds: f64,
}

/// A first answer: a process that starts, loads and asks once.
#[derive(Debug, Serialize)]
pub struct FirstResult {
    pub task: TaskName,
    /// With no compiled kernels, and with those of the process before.
    pub cold: FirstTimes,
    pub warm: FirstTimes,
}

/// A batch of random access, from its operations to all outcomes on the host.
#[derive(Debug, Serialize)]
pub struct BatchResult {
    pub kind: String,
    pub operations: u64,
    /// By the device's clock.
    pub device_seconds: Vec<f64>,
    /// By the host's, with requests on their way there and results on their way back.
    pub host_seconds: Vec<f64>,
    /// On one thread.
    pub processor_seconds: f64,
    /// Whether outcomes were compared with the processor's, and are the same.
    pub checked: Option<bool>,
}

impl BatchResult {
    /// The median on the device.
    pub fn device(&self) -> f64 {
        median(&self.device_seconds)
    }

    /// The median from operations to outcomes, by the host's clock.
    pub fn host(&self) -> f64 {
        median(&self.host_seconds)
    }

    /// How many times as fast as one thread the device is.
    pub fn ratio(&self) -> f64 {
        self.processor_seconds / self.device()
    }
}

/// The steps of a first answer.
#[derive(Debug, Clone, Copy, Serialize, serde::Deserialize)]
pub struct FirstTimes {
    /// Finding and opening the device.
    pub open: f64,
    /// Loading the view, with the kernels that this needs.
    pub load: f64,
    /// The task, with its kernels, and the answer on the host.
    pub answer: f64,
}

impl FirstTimes {
    /// All of it.
    pub fn total(&self) -> f64 {
        self.open + self.load + self.answer
    }
}

/// The top-down pass on a network that was made for it.
#[derive(Debug, Serialize)]
pub struct SyntheticResult {
    pub shape: &'static str,
    pub rules: u32,
    pub items: u32,
    pub levels: usize,
    pub edges: u64,
    /// Bytes that the pass must move.
    pub bytes: u64,
    pub seconds: Vec<f64>,
    pub processor_seconds: f64,
}

impl SyntheticResult {
    /// Bytes a second.
    pub fn bandwidth(&self) -> f64 {
        self.bytes as f64 / median(&self.seconds)
    }
}

/// The geometric mean of the ratios to the processor on one of the numbers of threads, over all tasks of all archives.
pub fn mean_ratio(archives: &[ArchiveResult], place: usize) -> Option<f64> {
    let tasks = archives.iter().flat_map(|archive| &archive.tasks);
    geometric_mean(&tasks.map(|task| task.ratio(place)).collect::<Vec<_>>())
}

/// What was promised, checked on a run.
pub fn bars(
    archives: &[ArchiveResult],
    synthetic: &[SyntheticResult],
    threads: &[usize],
) -> Vec<Bar> {
    let mut bars = Vec::new();
    let most = threads.iter().copied().max().unwrap_or(1);
    for (place, &threads) in threads.iter().enumerate() {
        let limit = match threads {
            1 => ONE_THREAD,
            threads if threads == most => ALL_THREADS,
            _ => continue,
        };
        let Some(found) = mean_ratio(archives, place) else { continue };
        let threads = crate::units::counted(threads, "thread", "threads");
        let what = format!("six tasks against {threads}, geometric mean");
        bars.push(Bar::at_least(&what, found, limit));
    }
    let batches = archives.iter().flat_map(|archive| &archive.batches);
    let ratios: Vec<f64> = batches.map(BatchResult::ratio).collect();
    if let Some(found) = geometric_mean(&ratios) {
        bars.push(Bar::at_least("batches against 1 thread, geometric mean", found, BATCHES));
    }
    for synthetic in synthetic {
        let found = synthetic.bandwidth();
        bars.push(Bar {
            what: format!(
                "top-down pass over {:.1} million edges, {}",
                synthetic.edges as f64 / 1e6,
                synthetic.shape
            ),
            limit: format!("≥ {:.2} TB/s", TOP_DOWN / 1e12),
            found: format!("{:.2} TB/s", found / 1e12),
            met: found >= TOP_DOWN,
        });
    }
    let mut checks: Vec<bool> = Vec::new();
    for archive in archives {
        checks.extend(archive.tasks.iter().filter_map(|task| task.checked));
        checks.extend(archive.batches.iter().filter_map(|batch| batch.checked));
    }
    if !checks.is_empty() {
        let equal = checks.iter().filter(|&&equal| equal).count();
        bars.push(Bar {
            what: "answers that are the processor's".into(),
            limit: format!("{} of {}", checks.len(), checks.len()),
            found: format!("{equal} of {}", checks.len()),
            met: equal == checks.len(),
        });
    }
    bars
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn archive(device: f64, processor: [f64; 2], checked: Option<bool>) -> ArchiveResult {
        let task = TaskResult {
            task: TaskName::Sort,
            rows: 7,
            device_seconds: vec![device],
            whole_seconds: vec![2.0 * device],
            processor_seconds: processor.map(|seconds| vec![seconds]).to_vec(),
            checked,
        };
        let view = ViewResult {
            documents: 1,
            words: 2,
            terms: 3,
            rules: 4,
            root_symbols: 5,
            body_symbols: 6,
            bytes: 7,
            make_seconds: 0.1,
            load_seconds: 0.2,
            device_bytes: 8,
        };
        let kernel = KernelResult {
            task: TaskName::Sort,
            file: "weights".into(),
            kernel: "add_rows".into(),
            launches: 3,
            seconds: device / 2.0,
        };
        let times = FirstTimes { open: 0.1, load: 0.2, answer: 0.3 };
        let first = FirstResult { task: TaskName::Sort, cold: times, warm: times };
        let batch = BatchResult {
            kind: "extract".into(),
            operations: 100,
            device_seconds: vec![device],
            host_seconds: vec![device],
            processor_seconds: 3.0 * processor[0],
            checked,
        };
        ArchiveResult {
            name: "text".into(),
            view,
            tasks: vec![task],
            kernels: vec![kernel],
            first: vec![first],
            batches: vec![batch],
        }
    }

    #[test]
    fn promises_are_checked() {
        let good = [archive(0.001, [0.1, 0.02], Some(true)), archive(0.001, [0.05, 0.01], None)];
        let bars = bars(&good, &[], &[1, 16]);
        assert_eq!(bars.len(), 4);
        assert!(bars.iter().all(|bar| bar.met), "{bars:?}");
        assert_eq!(bars[0].found, "70.7x");
        let slow = [archive(0.001, [0.03, 0.007], Some(false))];
        let bars = super::bars(&slow, &[], &[1, 16]);
        assert!(bars.iter().all(|bar| !bar.met), "{bars:?}");
    }
}
