//! What can go wrong on a device: facts, and no advice, which depends on the program that asks.

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a device did not do what was asked.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No device that can be used, or none of the name asked for.
    #[error("no GPU can be used: {why}")]
    NoDevice {
        /// What was looked for, and what was found.
        why: String,
    },
    /// More memory than is free.
    #[error("{device} has {free} bytes of memory free, and {needed} are needed")]
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
        "too little memory: the grammar is larger than the GPU's, and merging the answers of its \
         pieces takes at least {needed} bytes, {given} are allowed"
    )]
    TooMuchToMerge {
        /// Bytes allowed.
        given: u64,
        /// Bytes needed so far.
        needed: u64,
    },
    /// What was asked is beyond what the kernels do, though not beyond the processor's.
    #[error("the GPU backend does not support {what}")]
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
    #[error("{device} failed in {call}: {what}")]
    Device {
        /// The device's name.
        device: String,
        /// What was being done.
        call: &'static str,
        /// What the driver said.
        what: String,
    },
}
