//! The GPU backend: the same tasks and batches as on the processor, with the same answers.
//!
//! Kernels are in `kernels/`, in a subset of C that compiles as CUDA and as OpenCL; `device` compiles them at run
//! time, launches them and owns memory. Nothing of CUDA or OpenCL is needed to build or to start: drivers are
//! looked for when a device is asked for.

pub mod access;
mod backend;
pub mod device;
mod error;
pub mod lists;
mod measure;
pub mod network;
mod pieces;
pub mod primitives;
#[cfg(test)]
mod reference;
pub mod sequences;
pub mod tasks;
#[doc(hidden)]
pub mod testing;
pub mod traverse;
mod tuning;
pub mod weights;

pub use backend::GpuBackend;
pub use device::{Device, DeviceInfo};
pub use error::{Error, Result};
pub use measure::{Measured, measure};
