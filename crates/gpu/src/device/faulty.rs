//! A device that fails when it is told to, and that has as little memory as it is told: for tests.
//!
//! Everything goes to another driver, which does the work. Memory is given back to it even when the device is lost, and what is
//! taken is counted, so that tests see what was forgotten.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::DeviceInfo;
use super::driver::{Driver, Handle, Value};
use crate::error::{Error, Result};

/// What goes wrong on a device, and what was asked of it.
#[derive(Debug)]
pub struct Faults {
    /// Calls so far, and those of them that failed.
    calls: AtomicU64,
    failed: AtomicU64,
    /// The first call that fails, and the first for which no memory is left.
    lost_at: AtomicU64,
    full_at: AtomicU64,
    /// Bytes that the device has, that are taken, and that were taken at any time.
    memory: AtomicU64,
    taken: AtomicU64,
    most_taken: AtomicU64,
}

impl Faults {
    /// Calls since the device is open.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Calls that failed because of a fault.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// After so many more calls, all fail: the device is lost.
    pub fn lose_after(&self, calls: u64) {
        self.lost_at.store(self.calls() + calls, Ordering::Relaxed);
    }

    /// After so many more calls, no memory can be taken: somebody else has it.
    pub fn fill_after(&self, calls: u64) {
        self.full_at.store(self.calls() + calls, Ordering::Relaxed);
    }

    /// The device has so many bytes from now on, whatever it said of itself.
    pub fn set_memory(&self, bytes: u64) {
        self.memory.store(bytes, Ordering::Relaxed);
    }

    /// Makes the device whole again, with the memory that it really has.
    pub fn mend(&self) {
        for fault in [&self.lost_at, &self.full_at, &self.memory] {
            fault.store(u64::MAX, Ordering::Relaxed);
        }
    }

    /// Bytes that are taken.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// The most bytes that were taken at once since this was last asked.
    pub fn most_taken(&self) -> u64 {
        self.most_taken.swap(self.taken(), Ordering::Relaxed)
    }

    /// Whether the next call is one of those from `first` on.
    fn is_past(&self, first: &AtomicU64) -> bool {
        self.calls() >= first.load(Ordering::Relaxed)
    }
}

impl Default for Faults {
    fn default() -> Self {
        let (zero, never) = (|| AtomicU64::new(0), || AtomicU64::new(u64::MAX));
        Self {
            calls: zero(),
            failed: zero(),
            lost_at: never(),
            full_at: never(),
            memory: never(),
            taken: zero(),
            most_taken: zero(),
        }
    }
}

/// A driver with faults.
pub(super) struct Faulty {
    driver: Box<dyn Driver>,
    device: String,
    faults: Arc<Faults>,
    /// Bytes of all memory that is taken.
    sizes: Mutex<HashMap<u64, u64>>,
}

impl Faulty {
    pub(super) fn new(driver: Box<dyn Driver>, info: &DeviceInfo, faults: Arc<Faults>) -> Self {
        Self { driver, device: info.name.clone(), faults, sizes: Mutex::default() }
    }

    /// Counts a call, which fails if the device is lost.
    fn call(&self, call: &'static str) -> Result<()> {
        let is_lost = self.faults.is_past(&self.faults.lost_at);
        self.faults.calls.fetch_add(1, Ordering::Relaxed);
        if is_lost {
            self.faults.failed.fetch_add(1, Ordering::Relaxed);
            let what = "the device was lost".to_owned();
            return Err(Error::Device { device: self.device.clone(), call, what });
        }
        Ok(())
    }

    /// Bytes that can be taken.
    fn free_bytes(&self) -> Result<u64> {
        if self.faults.is_past(&self.faults.full_at) {
            return Ok(0);
        }
        let left = self.faults.memory.load(Ordering::Relaxed).saturating_sub(self.faults.taken());
        Ok(left.min(self.driver.free_memory()?))
    }
}

impl Driver for Faulty {
    fn free_memory(&self) -> Result<u64> {
        self.call("asking for its memory")?;
        self.free_bytes()
    }

    fn allocate(&self, bytes: usize) -> Result<Handle> {
        self.call("taking memory")?;
        let (needed, free) = (bytes as u64, self.free_bytes()?);
        if needed > free {
            self.faults.failed.fetch_add(1, Ordering::Relaxed);
            return Err(Error::TooLittleMemory { device: self.device.clone(), needed, free });
        }
        let memory = self.driver.allocate(bytes)?;
        self.sizes.lock().unwrap_or_else(PoisonError::into_inner).insert(memory.0, needed);
        let before = self.faults.taken.fetch_add(needed, Ordering::Relaxed);
        self.faults.most_taken.fetch_max(before + needed, Ordering::Relaxed);
        Ok(memory)
    }

    fn free(&self, memory: Handle) {
        let mut sizes = self.sizes.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = sizes.remove(&memory.0).expect("it was taken and not given back");
        self.faults.taken.fetch_sub(bytes, Ordering::Relaxed);
        self.driver.free(memory);
    }

    fn write(&self, to: Handle, offset: usize, bytes: &[u8]) -> Result<()> {
        self.call("copying to it")?;
        self.driver.write(to, offset, bytes)
    }

    fn read(&self, from: Handle, offset: usize, bytes: &mut [u8]) -> Result<()> {
        self.call("copying from it")?;
        self.driver.read(from, offset, bytes)
    }

    fn fill(&self, to: Handle, offset: usize, length: usize, byte: u8) -> Result<()> {
        self.call("filling")?;
        self.driver.fill(to, offset, length, byte)
    }

    fn copy(&self, from: (Handle, usize), to: (Handle, usize), bytes: usize) -> Result<()> {
        self.call("copying")?;
        self.driver.copy(from, to, bytes)
    }

    fn compile(&self, module: &'static str, source: &str) -> Result<Handle> {
        self.call("loading kernels")?;
        self.driver.compile(module, source)
    }

    fn drop_program(&self, program: Handle) {
        self.driver.drop_program(program);
    }

    fn kernel(&self, program: Handle, name: &str) -> Result<Handle> {
        self.call("finding a kernel")?;
        self.driver.kernel(program, name)
    }

    fn drop_kernel(&self, kernel: Handle) {
        self.driver.drop_kernel(kernel);
    }

    fn launch(&self, kernel: Handle, groups: u32, arguments: &[Value]) -> Result<()> {
        self.call("launching")?;
        self.driver.launch(kernel, groups, arguments)
    }

    fn finish(&self) -> Result<()> {
        self.call("waiting")?;
        self.driver.finish()
    }

    fn mark(&self) -> Result<Handle> {
        self.call("marking")?;
        self.driver.mark()
    }

    fn elapsed(&self, from: Handle, to: Handle) -> Result<Duration> {
        self.call("timing")?;
        self.driver.elapsed(from, to)
    }

    fn drop_mark(&self, mark: Handle) {
        self.driver.drop_mark(mark);
    }
}
