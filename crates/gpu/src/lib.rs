//! The GPU backend: the same tasks and batches as on the processor, with the same answers.
//!
//! Kernels are in `kernels/`, in a subset of C that compiles as CUDA and as OpenCL; `device` compiles them at run
//! time, launches them and owns memory. Nothing of CUDA or OpenCL is needed to build or to start: drivers are
//! looked for when a device is asked for.

pub mod access;
pub mod device;
mod error;
pub mod lists;
pub mod network;
pub mod primitives;
#[cfg(test)]
mod reference;
pub mod sequences;
#[doc(hidden)]
pub mod testing;
mod tuning;
pub mod weights;

pub use device::{Device, DeviceInfo};
pub use error::{Error, Result};
