//! What CUDA and OpenCL have in common.

use std::time::Duration;

use crate::error::Result;

/// Something that a driver owns: memory, a program, a kernel, an event. What it is, only the driver knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Handle(pub(super) u64);

/// An argument of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// Memory, with the bytes of one of its values.
    Memory { memory: Handle, width: usize },
    /// A number of 32 bits.
    U32(u32),
    /// A number of 64 bits.
    U64(u64),
}

/// A way to speak to one device. Everything is queued in order; `read`, `write`, `finish` and `elapsed` wait.
///
/// Handles given to it must be of its own making, of the kind that the call is about, and not freed; offsets and lengths must be
/// inside the memory. [`super::Device`] sees to that: its handles never leave it.
pub(super) trait Driver: Send + Sync {
    fn free_memory(&self) -> Result<u64>;
    fn allocate(&self, bytes: usize) -> Result<Handle>;
    fn free(&self, memory: Handle);
    fn write(&self, to: Handle, offset: usize, bytes: &[u8]) -> Result<()>;
    fn read(&self, from: Handle, offset: usize, bytes: &mut [u8]) -> Result<()>;
    fn fill(&self, to: Handle, offset: usize, length: usize, byte: u8) -> Result<()>;
    fn copy(&self, from: (Handle, usize), to: (Handle, usize), bytes: usize) -> Result<()>;
    fn compile(&self, module: &'static str, source: &str) -> Result<Handle>;
    fn drop_program(&self, program: Handle);
    fn kernel(&self, program: Handle, name: &str) -> Result<Handle>;
    fn drop_kernel(&self, kernel: Handle);
    fn launch(&self, kernel: Handle, groups: u32, arguments: &[Value]) -> Result<()>;
    fn finish(&self) -> Result<()>;
    fn mark(&self) -> Result<Handle>;
    fn elapsed(&self, from: Handle, to: Handle) -> Result<Duration>;
    fn drop_mark(&self, mark: Handle);
}
