//! A view on the device and on the processor, and the tasks on both.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use rayon::ThreadPool;
use tadoc_core::Backend;
use tadoc_engine::answer::{Labels, Names, Position};
use tadoc_engine::gpu::{GpuBackend, tasks};
use tadoc_engine::{Analyzer, Corpus, Limits, View, analytics};

use super::check;
use super::result::{TaskResult, ViewResult};
use crate::task::{SEQUENCE_TERMS, TaskName};

/// A view that is loaded to the device.
pub struct Opened<'g> {
    view: View,
    names: Vec<Vec<u8>>,
    gpu: &'g GpuBackend,
    result: ViewResult,
}

impl<'g> Opened<'g> {
    /// Makes the view of an archive, and loads it.
    pub fn new(archive: &Path, gpu: &'g GpuBackend) -> Result<Self> {
        let start = Instant::now();
        let corpus =
            Corpus::open(archive).with_context(|| format!("opening {}", archive.display()))?;
        let view = tadoc_engine::view::make(&[&corpus], &Analyzer::new(), None, &())?;
        let make_seconds = start.elapsed().as_secs_f64();
        let names = corpus.documents()?.iter().map(|document| document.name.to_vec()).collect();
        // Once for the kernels, and once for the time.
        gpu.load(view.network())?;
        gpu.forget();
        let start = Instant::now();
        let resident = gpu.load(view.network())?;
        gpu.device().finish()?;
        let load_seconds = start.elapsed().as_secs_f64();
        let (network, grammar) = (view.network(), view.network().grammar());
        let result = ViewResult {
            documents: network.documents().len(),
            words: network.length(),
            terms: view.terms().len(),
            rules: grammar.rule_count(),
            root_symbols: grammar.root().len(),
            body_symbols: grammar.symbols().len() - grammar.root().len(),
            bytes: view.memory(),
            make_seconds,
            load_seconds,
            device_bytes: resident.memory(),
        };
        Ok(Self { view, names, gpu, result })
    }

    /// The view in figures.
    pub fn result(&self) -> ViewResult {
        self.result.clone()
    }

    /// The view's network.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// The backend that it is loaded to.
    pub fn gpu(&self) -> &GpuBackend {
        self.gpu
    }

    /// A task on both sides.
    pub fn measure(
        &self,
        name: TaskName,
        rounds: usize,
        pools: &[ThreadPool],
        processor_rounds: usize,
        check: bool,
    ) -> Result<TaskResult> {
        let task = name.of_archive(SEQUENCE_TERMS);
        let (limits, network) = (Limits::default(), self.view.network());
        let resident = self.gpu.load(network)?;
        let device = self.gpu.device();
        // One for the kernels; and it says how many rows there are.
        let mut rows = tasks::run(&resident, task, &limits)?.download()?.rows() as u64;
        let (mut device_seconds, mut whole_seconds) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            device.finish()?;
            let start = device.mark()?;
            let answer = tasks::run(&resident, task, &limits)?;
            let end = device.mark()?;
            device_seconds.push(end.since(&start)?.as_secs_f64());
            drop(answer);
        }
        for _ in 0..rounds {
            device.finish()?;
            let start = Instant::now();
            let table = tasks::run(&resident, task, &limits)?.download()?;
            whole_seconds.push(start.elapsed().as_secs_f64());
            drop(table);
        }
        let mut processor_seconds = Vec::new();
        for pool in pools {
            let mut times = Vec::new();
            // One more, which is not counted: the first one on a view counts its root.
            for round in 0..=processor_rounds {
                let (seconds, found) = self.on_processor(name, pool)?;
                ensure!(found == rows || check, "{}: {rows} rows, not {found}", name.name());
                rows = rows.max(found);
                if round > 0 {
                    times.push(seconds);
                }
            }
            processor_seconds.push(times);
        }
        let checked = match (check, pools.last()) {
            (true, Some(pool)) => Some(pool.install(|| self.check(name))?),
            _ => None,
        };
        Ok(TaskResult {
            task: name,
            rows,
            device_seconds,
            whole_seconds,
            processor_seconds,
            checked,
        })
    }

    /// The time of a task on the processor, with all rows made; and how many there are.
    fn on_processor(&self, name: TaskName, pool: &ThreadPool) -> Result<(f64, u64)> {
        let names: Vec<&[u8]> = self.names.iter().map(|name| &name[..]).collect();
        let names = Names::from_iter(names.iter());
        let labels = Labels { terms: self.view.terms().texts(), documents: names.texts() };
        let start = Instant::now();
        let (answered, rows) = pool.install(|| -> Result<_> {
            let task = name.of_archive(SEQUENCE_TERMS);
            let answered = analytics::answer(&self.view, task, &Limits::default())?;
            let mut rows = 0;
            let mut at = Position::default();
            while let Some(part) = answered.answer.next_part(&mut at, labels)? {
                rows += part.len();
            }
            Ok((answered, rows))
        })?;
        let seconds = start.elapsed().as_secs_f64();
        drop(answered);
        Ok((seconds, rows))
    }

    /// Whether both sides have the same rows; a line tells the first that differs.
    fn check(&self, name: TaskName) -> Result<bool> {
        let names: Vec<&[u8]> = self.names.iter().map(|name| &name[..]).collect();
        let names = Names::from_iter(names.iter());
        let labels = Labels { terms: self.view.terms().texts(), documents: names.texts() };
        let (task, limits) = (name.of_archive(SEQUENCE_TERMS), Limits::default());
        let found = self.gpu.answer(&self.view, task, &limits)?;
        let expected = analytics::answer(&self.view, task, &limits)?;
        let difference = check::difference(&*found.answer, &*expected.answer, labels)?;
        if let Some(difference) = &difference {
            eprintln!("{}: {difference}", name.name());
        }
        Ok(difference.is_none())
    }
}
