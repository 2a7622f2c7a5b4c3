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
pub use measure::{Measured, measure, measured};

/// All kernel files, as they are compiled.
pub fn modules() -> Vec<&'static device::Module> {
    vec![
        &access::load::MODULE,
        &access::batch::MODULE,
        &access::pieces::MODULE,
        &lists::MODULE,
        &measure::MODULE,
        &network::MODULE,
        &primitives::scan::MODULE,
        &primitives::select::MODULE,
        &primitives::sort::MODULE,
        &sequences::MODULE,
        &tasks::MODULE,
        &weights::MODULE,
    ]
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn no_kernel_file_is_forgotten() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
        for file in folder.read_dir().unwrap() {
            let path = file.unwrap().path();
            let source = std::fs::read_to_string(&path).unwrap();
            let is_module = path.extension().is_some_and(|extension| extension == "c");
            let found = super::modules().into_iter().any(|module| module.source.ends_with(&source));
            assert_eq!(found, is_module, "{}", path.display());
        }
    }
}
