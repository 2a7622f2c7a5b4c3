//! Where a task runs: on the processor, on a GPU if there is one and it wins, or in a pool.
//!
//! [`Backends`] answers with the backend that is asked for. [`Choice::Auto`] takes the GPU where an estimate (`cost`) says that
//! it is done first, the way of the data to it and back included, and takes the processor for everything else: small
//! questions, machines without a GPU or without a driver, a GPU that has too little memory, or one that fails in the
//! middle of the work. Which one it was and why is told with the answer, which is the same. [`Reads`] does so for batches of
//! random access. [`Choice::Pool`] is never chosen by itself: a pool is a file, which the caller names.
//!
//! The estimate costs nothing once a device is measured. Looking for a GPU starts its driver, and measuring it takes a fraction of
//! a second, once for each device and driver; neither is done where the processor would be done before the fastest of GPUs.

#[cfg(feature = "gpu")]
mod cost;
#[cfg(feature = "pool")]
mod pool;
mod reads;

use std::fmt;
use std::str::FromStr;
#[cfg(feature = "gpu")]
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tadoc_core::{Answered, Backend, Limits, Task, View};
use tadoc_tasks::{CpuBackend, CustomTask};

use crate::analyzer::Analyzer;
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::progress::Observer;
use crate::view::{self, Detail, Origin};

#[cfg(feature = "gpu")]
use self::cost::DeviceCosts;
#[cfg(feature = "pool")]
pub(crate) use self::pool::open_pool;
#[cfg(feature = "pool")]
pub use self::pool::{PoolFile, notes};
pub use self::reads::Reads;

/// Which backend is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Choice {
    /// The one that is done first.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// A GPU, and nothing else.
    Gpu,
    /// The processor, in a pool: a file that has the view and all that is made of it.
    Pool,
}

impl Choice {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Cpu, Self::Gpu, Self::Pool];

    /// The name that the command uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::Pool => "pool",
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|choice| choice.name() == name);
        found.ok_or_else(|| format!("expected auto, cpu, gpu or pool, found `{name}`"))
    }
}

/// An answer, and where it was found.
pub struct Run {
    /// The answer.
    pub answered: Answered,
    /// The backend that it was found by, which is not [`Choice::Auto`].
    pub backend: Choice,
    /// The device or the pool that it was found in; `None` for the processor and its memory.
    pub device: Option<String>,
    /// Why it was found there; empty if that was asked for.
    pub reason: String,
    /// What was done in a pool, if it was found in one.
    pub pool: Option<PoolReport>,
}

/// What was done in a pool for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolReport {
    /// How the pool is mapped.
    pub medium: &'static str,
    /// Bytes that it has now.
    pub bytes: u64,
    /// Phases whose tables were made, and how long that took; those that were there already are not among them.
    pub phases: Vec<(String, Duration)>,
}

/// The backends of a process: a GPU is opened when it is first needed, and what was loaded to it stays there.
pub struct Backends {
    choice: Choice,
    /// The device that is asked for.
    selector: Option<String>,
    /// The GPU, or why there is none.
    #[cfg(feature = "gpu")]
    gpu: OnceLock<Result<tadoc_gpu::GpuBackend, tadoc_gpu::Error>>,
    /// What its work costs, or why that is not known.
    #[cfg(feature = "gpu")]
    costs: OnceLock<Result<DeviceCosts, tadoc_gpu::Error>>,
    #[cfg(feature = "pool")]
    pool: Option<PoolFile>,
}

impl Backends {
    /// Backends of which the one that is wanted is chosen from; `selector` names a device as `tadoc devices` does. One that is
    /// named is taken by [`Choice::Auto`] without an estimate.
    pub fn new(choice: Choice, selector: Option<String>) -> Self {
        Self {
            choice,
            selector,
            #[cfg(feature = "gpu")]
            gpu: OnceLock::new(),
            #[cfg(feature = "gpu")]
            costs: OnceLock::new(),
            #[cfg(feature = "pool")]
            pool: None,
        }
    }

    /// [`Choice::Pool`], in this file.
    #[cfg(feature = "pool")]
    pub fn with_pool(pool: PoolFile) -> Self {
        Self { pool: Some(pool), ..Self::new(Choice::Pool, None) }
    }

    /// Backends with a device that is open already, as if it had been named.
    #[cfg(feature = "gpu")]
    pub fn with_device(choice: Choice, device: Arc<tadoc_gpu::Device>) -> Self {
        let selector = Some(device.info().selector());
        let gpu = OnceLock::from(Ok(tadoc_gpu::GpuBackend::new(device)));
        Self { selector, gpu, ..Self::new(choice, None) }
    }

    /// Which one is wanted.
    pub fn choice(&self) -> Choice {
        self.choice
    }

    /// Whether the processor may answer, and nobody has named a device for [`Choice::Auto`].
    pub fn may_choose_the_processor(&self) -> bool {
        match self.choice {
            Choice::Cpu => true,
            Choice::Auto => self.selector.is_none(),
            Choice::Gpu | Choice::Pool => false,
        }
    }

    /// The view to run tasks on, as [`view::open`] gives it; that of a pool lies in the pool, where it is put if it is not there yet.
    ///
    /// # Errors
    /// As [`view::open`], and what a pool gives if it cannot be used.
    pub fn view(
        &self,
        corpora: &[&Corpus],
        analyzer: &Analyzer,
        documents: Option<&[u32]>,
        detail: Detail,
        observer: &dyn Observer,
    ) -> Result<(View, Origin)> {
        #[cfg(feature = "pool")]
        if let Some(pool) = &self.pool {
            return pool.view(corpora, analyzer, documents, detail, observer);
        }
        view::open(corpora, analyzer, documents, detail, observer)
    }

    /// What is to be told of the work so far: where it was resumed, and what was done again and why. Only a pool has something to tell.
    pub fn notes(&self) -> Vec<String> {
        #[cfg(feature = "pool")]
        if let Some(pool) = &self.pool {
            return pool.notes();
        }
        Vec::new()
    }

    /// Runs a task on a view; in a pool only on the one that [`Backends::view`] gave.
    pub fn answer(&self, view: &View, task: Task, limits: &Limits) -> Result<Run> {
        let over_all = matches!(task, Task::WordCount | Task::Sort);
        let (choice, reason) = match self.choice {
            // GPUs answer questions about documents by their root.
            Choice::Auto if !view.network().has_root() && !over_all => {
                (Choice::Cpu, "the counts of its words are the answer".into())
            }
            Choice::Auto => self.first_done(view, task),
            choice => (choice, String::new()),
        };
        match self.run(choice, reason, view, task, limits) {
            #[cfg(feature = "gpu")]
            Err(Error::Gpu(error)) if self.choice == Choice::Auto => {
                self.run(Choice::Cpu, error.to_string(), view, task, limits)
            }
            run => run,
        }
    }

    /// Runs a task of your own on a view, within so many bytes of memory: in the pool if one was chosen, on the
    /// view that [`Backends::view`] gave; else on the processor, since GPUs have no tasks of your own.
    ///
    /// # Errors
    /// What the task and the pool give, and [`Error::Gpu`] if nothing but a GPU may be used.
    pub fn run_custom<T: CustomTask>(
        &self,
        view: &View,
        task: &T,
        memory: u64,
    ) -> Result<T::Answer> {
        match self.choice {
            Choice::Auto | Choice::Cpu => Ok(CpuBackend.run(view, task, memory)?),
            #[cfg(feature = "gpu")]
            Choice::Gpu => {
                let what = format!("the task {}", task.name());
                Err(tadoc_gpu::Error::Unsupported { what }.into())
            }
            #[cfg(not(feature = "gpu"))]
            Choice::Gpu => Err(Error::NoGpuBackend),
            #[cfg(feature = "pool")]
            Choice::Pool => Ok(self.pool.as_ref().ok_or(Error::NoPool)?.run(view, task, memory)?),
            #[cfg(not(feature = "pool"))]
            Choice::Pool => Err(Error::NoPoolBackend),
        }
    }

    fn run(
        &self,
        choice: Choice,
        reason: String,
        view: &View,
        task: Task,
        limits: &Limits,
    ) -> Result<Run> {
        let answered = self.backend(choice)?.answer(view, task, limits)?;
        let (device, pool) = match choice {
            #[cfg(feature = "gpu")]
            Choice::Gpu => (self.device_name(), None),
            #[cfg(feature = "pool")]
            Choice::Pool => {
                let pool = self.pool.as_ref();
                let path = pool.map(|pool| pool.path().display().to_string());
                (path, pool.and_then(PoolFile::report))
            }
            _ => (None, None),
        };
        Ok(Run { answered, backend: choice, device, reason, pool })
    }

    fn backend(&self, choice: Choice) -> Result<&dyn Backend> {
        match choice {
            Choice::Auto | Choice::Cpu => Ok(&CpuBackend),
            #[cfg(feature = "gpu")]
            Choice::Gpu => Ok(self.gpu().map_err(Clone::clone)?),
            #[cfg(not(feature = "gpu"))]
            Choice::Gpu => Err(Error::NoGpuBackend),
            #[cfg(feature = "pool")]
            Choice::Pool => Ok(self.pool.as_ref().ok_or(Error::NoPool)?),
            #[cfg(not(feature = "pool"))]
            Choice::Pool => Err(Error::NoPoolBackend),
        }
    }
}

#[cfg(not(feature = "gpu"))]
impl Backends {
    fn first_done(&self, _: &View, _: Task) -> (Choice, String) {
        (Choice::Cpu, "this build has no GPU backend".into())
    }

    /// Batches run on the processor; an error if a GPU is asked for.
    fn no_device_for_batches(&self, _: u64) -> Result<()> {
        match self.choice {
            Choice::Gpu => Err(Error::NoGpuBackend),
            Choice::Pool => Err(Error::NoReadsInPool),
            Choice::Auto | Choice::Cpu => Ok(()),
        }
    }
}

#[cfg(feature = "gpu")]
impl Backends {
    /// The GPU, which is looked for at the first call.
    fn gpu(&self) -> Result<&tadoc_gpu::GpuBackend, &tadoc_gpu::Error> {
        let opened = self.gpu.get_or_init(|| {
            tadoc_gpu::Device::open(self.selector.as_deref()).map(tadoc_gpu::GpuBackend::new)
        });
        opened.as_ref()
    }

    fn device_name(&self) -> Option<String> {
        let info = self.gpu().ok()?.device().info();
        Some(format!("{} ({})", info.name, info.selector()))
    }

    /// What the GPU's work costs, which is measured if that was not done before.
    fn costs(&self) -> Result<&DeviceCosts, &tadoc_gpu::Error> {
        let device = self.gpu()?.device();
        let costs = || tadoc_gpu::measured(device).map(DeviceCosts::of);
        self.costs.get_or_init(costs).as_ref()
    }

    /// The backend that is done first, if the processor takes so long and a GPU what `on_gpu`
    /// makes of its costs: with the bound on all GPUs before any is looked for.
    fn faster(
        &self,
        on_cpu: Duration,
        on_gpu: impl Fn(&DeviceCosts) -> Duration,
    ) -> (Choice, String) {
        let is_started = self.gpu.get().is_some();
        let least = cost::with_start(is_started, on_gpu(&DeviceCosts::FASTEST));
        if on_cpu <= least {
            return (Choice::Cpu, cost::compared(on_cpu, least, "the fastest of GPUs"));
        }
        match self.costs() {
            Ok(costs) => {
                let on_gpu = on_gpu(costs);
                let choice = if on_cpu <= on_gpu { Choice::Cpu } else { Choice::Gpu };
                (choice, cost::compared(on_cpu, on_gpu, "the GPU with all copies"))
            }
            Err(error) => (Choice::Cpu, error.to_string()),
        }
    }

    /// The device for about so many operations of random access on so many bytes of text; `None` for the processor.
    ///
    /// # Errors
    /// [`Error::Gpu`] if a GPU is asked for and cannot be used, [`Error::NoReadsInPool`] if a pool is.
    pub fn device_for_batches(
        &self,
        operations: u64,
        text_bytes: u64,
    ) -> Result<Option<Arc<tadoc_gpu::Device>>> {
        let is_tried = match self.choice {
            Choice::Cpu => false,
            Choice::Auto => {
                self.selector.is_some() || {
                    let on_cpu = cost::batch_on_processor(operations, rayon::current_num_threads());
                    let on_gpu = |costs: &DeviceCosts| costs.batch_estimate(operations, text_bytes);
                    self.faster(on_cpu, on_gpu).0 == Choice::Gpu
                }
            }
            Choice::Gpu => true,
            Choice::Pool => return Err(Error::NoReadsInPool),
        };
        if !is_tried {
            return Ok(None);
        }
        match self.gpu() {
            Ok(gpu) => Ok(Some(Arc::clone(gpu.device()))),
            Err(_) if self.choice == Choice::Auto => Ok(None),
            Err(error) => Err(error.clone().into()),
        }
    }

    /// The backend that is done first, processor or GPU, and why.
    fn first_done(&self, view: &View, task: Task) -> (Choice, String) {
        if !tadoc_gpu::GpuBackend::has_task(task) {
            return (Choice::Cpu, format!("GPUs do not have the task {}", task.name()));
        }
        if self.selector.is_some() {
            return match self.gpu() {
                Ok(_) => (Choice::Gpu, "the device was named".to_owned()),
                Err(error) => (Choice::Cpu, error.to_string()),
            };
        }
        let network = view.network();
        let on_cpu = cost::on_processor(network, task, rayon::current_num_threads());
        let is_loaded = || matches!(self.gpu.get(), Some(Ok(gpu)) if gpu.has(network));
        self.faster(on_cpu, |costs| costs.estimate(network, task, is_loaded()))
    }
}

#[cfg(all(test, feature = "gpu"))]
mod tests_of_choosing {
    use super::cost::tests::network;
    use super::*;
    use tadoc_core::Terms;
    use tadoc_gpu::testing::{Faults, open_faulty};
    use tadoc_gpu::{GpuBackend, Measured};

    const TASK: Task = Task::SequenceCount { n: 5 };

    fn view(items: u32) -> View {
        let terms = Terms::new(b"a".to_vec(), vec![1]).unwrap();
        View::new(terms, network(items)).unwrap()
    }

    /// Backends that have found a device, and its faults.
    fn found() -> Option<(Backends, Arc<Faults>)> {
        let (device, faults) = open_faulty(u64::MAX)?;
        let gpu = OnceLock::from(Ok(GpuBackend::new(device)));
        Some((Backends { gpu, ..Backends::new(Choice::Auto, None) }, faults))
    }

    /// What a device costs that does everything at so many bytes a second.
    fn costs(speed: f64) -> DeviceCosts {
        let [upload, download, copy] = [speed; 3];
        let [launch, read] = [Duration::from_micros(1); 2];
        DeviceCosts::of(Measured { upload, download, copy, launch, read })
    }

    #[test]
    fn a_device_is_measured_when_it_could_win() {
        let Some((backends, faults)) = found() else { return };
        let calls = faults.calls();
        let (choice, reason) = backends.first_done(&view(1000), TASK);
        assert!(choice == Choice::Cpu && reason.contains("the fastest of GPUs"), "{reason}");
        assert!(backends.device_for_batches(1000, 1000).unwrap().is_none());
        assert!(backends.costs.get().is_none() && faults.calls() == calls);
        let (_, reason) = backends.first_done(&view(4_000_000), TASK);
        assert!(reason.contains("the GPU with all copies"), "{reason}");
        assert!(backends.costs.get().unwrap().is_ok());
    }

    #[test]
    fn no_device_is_looked_for_where_the_processor_wins() {
        let backends = Backends::new(Choice::Auto, None);
        let (choice, reason) = backends.first_done(&view(1000), TASK);
        assert!(choice == Choice::Cpu && reason.contains("the fastest of GPUs"), "{reason}");
        assert!(backends.device_for_batches(1000, 1000).unwrap().is_none());
        assert!(backends.gpu.get().is_none());
    }

    #[test]
    fn its_own_costs_decide() {
        let lost = tadoc_gpu::Error::NoDevice { why: "it was lost".into() };
        let view = view(4_000_000);
        for (costs, expected, said) in [
            (Ok(costs(1e13)), Choice::Gpu, "the GPU with all copies"),
            (Ok(costs(1e9)), Choice::Cpu, "the GPU with all copies"),
            (Err(lost), Choice::Cpu, "it was lost"),
        ] {
            let Some((mut backends, _)) = found() else { return };
            backends.costs = costs.into();
            let (choice, reason) = backends.first_done(&view, TASK);
            assert!(choice == expected && reason.contains(said), "{choice}: {reason}");
            let device = backends.device_for_batches(1 << 40, 1000).unwrap();
            assert_eq!(device.is_some(), expected == Choice::Gpu);
        }
    }
}
