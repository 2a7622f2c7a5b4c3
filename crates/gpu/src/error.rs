//! What can go wrong on a device.

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a device did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No device that can be used, or none of the name asked for.
    #[error(
        "no GPU can be used: {why}; `tadoc devices` lists what there is, `--backend cpu` does without"
    )]
    NoDevice {
        /// What was looked for, and what was found.
        why: String,
    },
    /// More memory than is free.
    #[error(
        "{device} has {free} bytes of memory free and {needed} are needed; give it less, or take `--backend cpu`"
    )]
    TooLittleMemory {
        /// The device's name.
        device: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// The network is larger than the device, and what its pieces answer is more than may be held to be merged.
    #[error(
        "--memory {given} is too little: the grammar is larger than the GPU's memory, and merging what its pieces answer takes \
         {needed} bytes or more; allow more, or take `--backend cpu`"
    )]
    TooMuchToMerge {
        /// Bytes allowed.
        given: u64,
        /// Bytes needed so far.
        needed: u64,
    },
    /// What was asked is beyond what the kernels do, though not beyond the processor's.
    #[error("{what} is more than the GPU backend does; take `--backend cpu`")]
    Unsupported {
        /// What was asked.
        what: String,
    },
    /// The device's compiler refused a kernel.
    #[error("{device} cannot compile the kernels of `{module}`: {log}")]
    Compile {
        /// The device's name.
        device: String,
        /// The kernel file.
        module: &'static str,
        /// What the compiler said.
        log: String,
    },
    /// A call of the driver failed: the device was lost, or is in a bad state.
    #[error(
        "{device} failed in {call}: {what}; it may have been reset or taken away, `--backend cpu` does without it"
    )]
    Device {
        /// The device's name.
        device: String,
        /// What was being done.
        call: &'static str,
        /// What the driver said.
        what: String,
    },
}
