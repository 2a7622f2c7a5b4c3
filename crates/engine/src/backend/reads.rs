//! Batches of reads on the backend that is chosen for them.

use std::sync::Arc;

#[cfg(feature = "gpu")]
use crate::access::DeviceAccess;
use crate::access::{Access, Operation, Outcome};
use crate::error::Result;

use super::Backends;
#[cfg(feature = "gpu")]
use super::Choice;

/// An archive whose operations run on a GPU or on the processor. By choice alone, what a GPU fails at is done by the processor.
pub struct Reads {
    access: Arc<Access>,
    #[cfg(feature = "gpu")]
    device: Option<DeviceAccess>,
    #[cfg(feature = "gpu")]
    choice: Choice,
}

impl Reads {
    /// Chooses where operations run, if there will be about so many in all, and brings the archive there.
    ///
    /// # Errors
    /// [`Error::Gpu`](crate::Error::Gpu) if a GPU is asked for and cannot be used.
    pub fn new(access: Arc<Access>, backends: &Backends, operations: u64) -> Result<Self> {
        #[cfg(feature = "gpu")]
        {
            let bytes = access.documents().iter().map(|document| document.bytes).sum();
            let device = backends.device_for_batches(operations, bytes)?;
            Self::on(access, device, backends.choice())
        }
        #[cfg(not(feature = "gpu"))]
        {
            backends.no_device_for_batches(operations)?;
            Ok(Self::on_processor(access))
        }
    }

    /// All operations run on the processor.
    #[cfg(not(feature = "gpu"))]
    pub(crate) fn on_processor(access: Arc<Access>) -> Self {
        Self { access }
    }

    /// Brings an archive to a device if there is one.
    ///
    /// # Errors
    /// [`Error::Gpu`](crate::Error::Gpu) if it fails and was asked for.
    #[cfg(feature = "gpu")]
    pub(crate) fn on(
        access: Arc<Access>,
        device: Option<Arc<tadoc_gpu::Device>>,
        choice: Choice,
    ) -> Result<Self> {
        let loaded =
            device.map(|device| DeviceAccess::new(Arc::clone(&access), device)).transpose();
        let device = match loaded {
            Err(crate::Error::Gpu { .. }) if choice == Choice::Auto => None,
            loaded => loaded?,
        };
        Ok(Self { access, device, choice })
    }

    /// The same as [`Access::run`].
    pub fn run(&self, operations: &[Operation]) -> Vec<Result<Outcome>> {
        #[cfg(feature = "gpu")]
        if let Some(device) = &self.device {
            let mut outcomes = device.run(operations);
            if self.choice == Choice::Auto {
                self.mend(operations, &mut outcomes);
            }
            return outcomes;
        }
        self.access.run(operations)
    }

    /// Runs what the device failed at on the processor.
    #[cfg(feature = "gpu")]
    fn mend(&self, operations: &[Operation], outcomes: &mut [Result<Outcome>]) {
        let failed: Vec<usize> = (0..operations.len())
            .filter(|&place| matches!(outcomes[place], Err(crate::Error::Gpu { .. })))
            .collect();
        let again: Vec<Operation> = failed.iter().map(|&place| operations[place].clone()).collect();
        for (place, outcome) in failed.into_iter().zip(self.access.run(&again)) {
            outcomes[place] = outcome;
        }
    }
}
