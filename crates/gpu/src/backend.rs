//! The GPU as a backend: a view is loaded once and asked any number of times.
//!
//! The network that was asked last stays on the device. One that does not fit beside what else is there, or whose work does
//! not, is answered in pieces ([`crate::pieces`]), each loaded and dropped again.

use std::sync::{Arc, Mutex, PoisonError};

use tadoc_core::answer::tables::{Table, TableAnswer};
use tadoc_core::{Answered, Backend, Limits, Network, Strategy, Task, View};

use crate::device::Device;
use crate::error::{Error, Result};
use crate::network::ResidentNetwork;
use crate::{pieces, tasks};

/// Answers on a device.
pub struct GpuBackend {
    device: Arc<Device>,
    /// The network that was asked last, by its identity.
    kept: Mutex<Option<(u64, Arc<ResidentNetwork>)>>,
}

impl GpuBackend {
    /// A backend on a device.
    pub fn new(device: Arc<Device>) -> Self {
        Self { device, kept: Mutex::default() }
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Whether a network is on the device already.
    pub fn has(&self, network: &Network) -> bool {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().is_some_and(|(identity, _)| *identity == network.identity())
    }

    /// The network on the device, which it is loaded to if it is not there yet, in the place of the one before.
    ///
    /// # Errors
    /// [`Error::TooLittleMemory`] if it does not fit.
    pub fn load(&self, network: &Network) -> Result<Arc<ResidentNetwork>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, resident)) =
            kept.as_ref().filter(|(identity, _)| *identity == network.identity())
        {
            return Ok(Arc::clone(resident));
        }
        *kept = None;
        let resident = Arc::new(self.resident(network)?);
        *kept = Some((network.identity(), Arc::clone(&resident)));
        Ok(resident)
    }

    /// Loads a network, if there is room for it.
    fn resident(&self, network: &Network) -> Result<ResidentNetwork> {
        let (needed, free) = (ResidentNetwork::needed(network), self.device.free_memory()?);
        if needed > free {
            let device = self.device.info().name.clone();
            return Err(Error::TooLittleMemory { device, needed, free });
        }
        ResidentNetwork::new(&self.device, network)
    }

    /// Gives back the memory of the network that was asked last.
    pub fn forget(&self) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Whether there are kernels for a task.
    pub fn has_task(task: Task) -> bool {
        !matches!(task, Task::TfIdf(_) | Task::Cooccurrence { .. } | Task::Collocations { .. })
    }

    /// Runs a task on a network: as a whole if it fits, else in pieces.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a task that GPUs do not have, before anything is loaded.
    pub fn table(&self, network: &Network, task: Task, limits: &Limits) -> Result<Table> {
        if !Self::has_task(task) {
            return Err(tasks::not_here(task));
        }
        let whole =
            self.load(network).and_then(|resident| tasks::run(&resident, task, limits)?.download());
        match whole {
            Err(Error::TooLittleMemory { .. }) if network.parts().len() > 1 => {
                self.forget();
                let mut run = |network: &Network, task: Task, limits: &Limits| {
                    tasks::run(&self.resident(network)?, task, limits)?.download()
                };
                pieces::answer(network, task, limits, &mut run)
            }
            Err(error @ Error::Device { .. }) => {
                // Nobody knows what a device that has failed has kept.
                self.forget();
                Err(error)
            }
            whole => whole,
        }
    }
}

impl Backend for GpuBackend {
    fn name(&self) -> &'static str {
        "gpu"
    }

    /// Runs a task. What is wrong with the device is the [`Error`] in a [`tadoc_core::Error::Backend`].
    fn answer(&self, view: &View, task: Task, limits: &Limits) -> tadoc_core::Result<Answered> {
        tadoc_tasks::check(view, task)?;
        let network = view.network();
        if !network.has_root() && !matches!(task, Task::WordCount | Task::Sort) {
            return Err(tadoc_core::Error::CountsOnly);
        }
        let (strategy, reason) = tadoc_tasks::choose(task, limits, || {
            let reason = "lists of documents are merged level by level";
            Ok((Strategy::TopDown, reason.into()))
        })?;
        let limits = Limits { strategy: Some(strategy), ..*limits };
        let table = self.table(network, task, &limits).map_err(tadoc_core::Error::backend)?;
        let answer = Box::new(TableAnswer::new(table, network.documents().clone()));
        Ok(Answered { answer, strategy, reason, steps: Vec::new() })
    }
}

#[cfg(test)]
mod tests;
