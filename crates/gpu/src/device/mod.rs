//! Devices, their memory, and kernels on them, the same through CUDA and through OpenCL.
//!
//! A [`Device`] runs what it is given in order: copies and launches are queued, and only reading back waits. Kernels are
//! compiled when they are first launched, file by file, and kept in a cache on disk. Arguments of a launch are checked against
//! the kernel's own declaration, as neither driver would.

pub(crate) mod cache;
mod cuda;
mod driver;
mod faulty;
mod opencl;
mod profile;
mod signature;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytemuck::Pod;
use rayon::prelude::*;

use self::driver::{Driver, Handle, Value};
use self::profile::Profile;
use self::signature::Signature;
use crate::error::{Error, Result};
use crate::measure::Measured;

#[doc(hidden)]
pub use self::faulty::Faults;
pub use self::profile::KernelTime;

/// Lanes of a group, in every kernel.
pub const GROUP: u32 = 256;

/// Bytes of new memory that a thread touches at a time.
const TOUCHED_AT_ONCE: usize = 1 << 20;

/// How a device is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Api {
    /// NVIDIA's driver, with kernels compiled by NVRTC.
    Cuda,
    /// Any OpenCL driver.
    OpenCl,
}

impl Api {
    /// The name that users see, and that chooses devices.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::OpenCl => "opencl",
        }
    }
}

/// What is known of a device before it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// How it is spoken to.
    pub api: Api,
    /// Its number among those of the same [`Api`].
    pub number: usize,
    /// Its name, by its driver.
    pub name: String,
    /// Its driver, with version.
    pub driver: String,
    /// Bytes of memory.
    pub memory: u64,
    /// Multiprocessors or compute units.
    pub units: u32,
    /// Whether it shares its memory with the processor.
    pub unified: bool,
    /// Whether it is a processor, and not a GPU.
    pub is_processor: bool,
    /// Why it cannot be used, if so.
    pub unusable: Option<String>,
}

impl DeviceInfo {
    /// What chooses this device: `cuda:0`, `opencl:1`.
    pub fn selector(&self) -> String {
        format!("{}:{}", self.api.name(), self.number)
    }

    /// All devices that the drivers of this machine name, and what was wrong with drivers that do
    /// not answer.
    pub fn list() -> (Vec<Self>, Vec<String>) {
        // PoCL makes its devices when they are first asked for, and two threads that do so at once
        // see them half made.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut devices, mut problems) = (Vec::new(), Vec::new());
        for found in [cuda::list(), opencl::list()] {
            match found {
                Ok(found) => devices.extend(found),
                Err(problem) => problems.push(problem),
            }
        }
        (devices, problems)
    }

    /// Opens the device and measures what it does in a second.
    ///
    /// # Errors
    /// What the driver says if the device cannot be used.
    pub fn measure(&self) -> Result<Measured> {
        crate::measure(&Device::open(Some(&self.selector()))?)
    }
}

/// A kernel file: compiled as a whole, with `portable.h` before it.
#[derive(Debug, PartialEq, Eq)]
pub struct Module {
    /// Its name, without an extension.
    pub name: &'static str,
    /// Its text.
    pub source: &'static str,
}

/// A kernel of a file.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    /// The file.
    pub module: &'static Module,
    /// Its name in the file.
    pub name: &'static str,
}

/// A device that is open: memory is taken from it, and kernels run on it.
pub struct Device {
    info: DeviceInfo,
    driver: Box<dyn Driver>,
    kernels: Mutex<HashMap<&'static str, Arc<Loaded>>>,
    profile: Mutex<Option<Profile>>,
}

/// The kernels of a compiled file.
struct Loaded {
    program: Handle,
    kernels: HashMap<String, (Signature, Handle)>,
}

/// A row of values in a device's memory.
pub struct Buffer<T> {
    device: Arc<Device>,
    memory: Handle,
    length: usize,
    values: PhantomData<T>,
}

/// An argument of a launch: `&buffer`, a `u32` or a `u64`.
pub struct Argument(Value);

impl<T: Pod> From<&Buffer<T>> for Argument {
    fn from(buffer: &Buffer<T>) -> Self {
        Self(Value::Memory { memory: buffer.memory, width: size_of::<T>() })
    }
}

impl From<u32> for Argument {
    fn from(value: u32) -> Self {
        Self(Value::U32(value))
    }
}

impl From<u64> for Argument {
    fn from(value: u64) -> Self {
        Self(Value::U64(value))
    }
}

/// A moment in the device's queue.
pub struct Mark {
    device: Arc<Device>,
    handle: Handle,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Device").field(&self.info).finish()
    }
}

impl Device {
    /// Opens the device that a selector names: `cuda`, `opencl`, `cuda:0`, a part of a name; or the best one, which is a GPU
    /// by CUDA, else a GPU by OpenCL. A processor is taken only if it is asked for.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if there is none that can be used, which names what there is.
    pub fn open(selector: Option<&str>) -> Result<Arc<Self>> {
        let (info, driver) = Self::driver(selector)?;
        Ok(Self::new(info, driver))
    }

    /// As [`Device::open`], with so many bytes of memory at the most, and with faults that are made while it is used.
    #[doc(hidden)]
    pub fn open_faulty(selector: Option<&str>, memory: u64) -> Result<(Arc<Self>, Arc<Faults>)> {
        let (mut info, driver) = Self::driver(selector)?;
        info.memory = info.memory.min(memory);
        let faults = Arc::new(Faults::default());
        faults.set_memory(info.memory);
        let driver = Box::new(faulty::Faulty::new(driver, &info, Arc::clone(&faults)));
        Ok((Self::new(info, driver), faults))
    }

    /// What [`Device::open`] opens.
    fn driver(selector: Option<&str>) -> Result<(DeviceInfo, Box<dyn Driver>)> {
        let (devices, problems) = DeviceInfo::list();
        let fits = |info: &&DeviceInfo| match selector {
            None => !info.is_processor,
            Some(selector) => {
                selector == info.api.name()
                    || selector == info.selector()
                    || (!selector.is_empty()
                        && info.name.to_lowercase().contains(&selector.to_lowercase()))
            }
        };
        let fitting: Vec<&DeviceInfo> = devices.iter().filter(fits).collect();
        let usable = fitting.iter().copied().filter(|info| info.unusable.is_none());
        // Of several that fit, a GPU comes before a processor.
        let Some(info) = usable.min_by_key(|info| info.is_processor) else {
            let mut why = match selector {
                Some(selector) => format!("none is called `{selector}`"),
                None => "there is none".to_owned(),
            };
            if let Some((info, reason)) =
                fitting.iter().find_map(|info| Some((info, info.unusable.as_ref()?)))
            {
                why = format!("{} ({}): {reason}", info.name, info.selector());
            }
            if !problems.is_empty() {
                why = format!("{why} ({})", problems.join("; "));
            }
            return Err(Error::NoDevice { why });
        };
        let driver: Box<dyn Driver> = match info.api {
            Api::Cuda => Box::new(cuda::Cuda::open(info)?),
            Api::OpenCl => Box::new(opencl::OpenCl::open(info)?),
        };
        Ok((info.clone(), driver))
    }

    fn new(info: DeviceInfo, driver: Box<dyn Driver>) -> Arc<Self> {
        Arc::new(Self { info, driver, kernels: Mutex::default(), profile: Mutex::default() })
    }

    /// What is known of it.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Bytes that are free.
    pub fn free_memory(&self) -> Result<u64> {
        self.driver.free_memory()
    }

    /// Room for values, with whatever was there before.
    ///
    /// # Errors
    /// [`Error::TooLittleMemory`] if there is not that much free.
    pub fn allocate<T: Pod>(self: &Arc<Self>, length: usize) -> Result<Buffer<T>> {
        // Drivers know no memory of no bytes.
        let memory = self.driver.allocate((length * size_of::<T>()).max(8))?;
        Ok(Buffer { device: Arc::clone(self), memory, length, values: PhantomData })
    }

    /// Zeros.
    pub fn zeroed<T: Pod>(self: &Arc<Self>, length: usize) -> Result<Buffer<T>> {
        let buffer = self.allocate(length)?;
        self.clear(&buffer)?;
        Ok(buffer)
    }

    /// A copy of values. Waits until they may be changed.
    pub fn upload<T: Pod>(self: &Arc<Self>, values: &[T]) -> Result<Buffer<T>> {
        let buffer = self.allocate(values.len())?;
        self.write(&buffer, 0, values)?;
        Ok(buffer)
    }

    /// Copies values into a part of a buffer, from place `start` on.
    ///
    /// # Panics
    /// If they do not fit in there.
    pub fn write<T: Pod>(&self, to: &Buffer<T>, start: usize, values: &[T]) -> Result<()> {
        assert!(values.len() <= to.length - start.min(to.length) && start <= to.length);
        match values {
            [] => Ok(()),
            _ => self.driver.write(to.memory, start * size_of::<T>(), bytemuck::cast_slice(values)),
        }
    }

    /// All values of a buffer. Waits for everything that was queued.
    pub fn download<T: Pod>(&self, from: &Buffer<T>) -> Result<Vec<T>> {
        self.download_part(from, 0..from.length)
    }

    /// Some values of a buffer. Waits for everything that was queued.
    ///
    /// # Panics
    /// If they are not in the buffer.
    pub fn download_part<T: Pod>(&self, from: &Buffer<T>, part: Range<usize>) -> Result<Vec<T>> {
        assert!(part.start <= part.end && part.end <= from.length);
        let mut values = vec![T::zeroed(); part.len()];
        if !values.is_empty() {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
            // Memory is slow to write to for the first time, and threads share that.
            bytes.par_chunks_mut(TOUCHED_AT_ONCE).for_each(|piece| piece.fill(0));
            self.driver.read(from.memory, part.start * size_of::<T>(), bytes)?;
        }
        Ok(values)
    }

    /// One value of a buffer.
    ///
    /// # Panics
    /// If there is none at that place.
    pub fn value<T: Pod>(&self, from: &Buffer<T>, place: usize) -> Result<T> {
        Ok(self.download_part(from, place..place + 1)?[0])
    }

    /// Makes all values zero.
    pub fn clear<T: Pod>(&self, buffer: &Buffer<T>) -> Result<()> {
        self.fill(buffer, 0..buffer.length, 0)
    }

    /// Sets every byte of some values.
    ///
    /// # Panics
    /// If they are not in the buffer.
    pub fn fill<T: Pod>(&self, buffer: &Buffer<T>, part: Range<usize>, byte: u8) -> Result<()> {
        assert!(part.start <= part.end && part.end <= buffer.length);
        let width = size_of::<T>();
        match part.len() {
            0 => Ok(()),
            length => self.driver.fill(buffer.memory, part.start * width, length * width, byte),
        }
    }

    /// Copies values from one buffer to another.
    ///
    /// # Panics
    /// If there are not so many from these places on.
    pub fn copy<T: Pod>(
        &self,
        from: &Buffer<T>,
        first: usize,
        to: &Buffer<T>,
        start: usize,
        length: usize,
    ) -> Result<()> {
        assert!(first + length <= from.length && start + length <= to.length);
        let width = size_of::<T>();
        match length {
            0 => Ok(()),
            _ => self.driver.copy(
                (from.memory, first * width),
                (to.memory, start * width),
                length * width,
            ),
        }
    }

    /// Runs a kernel in so many groups of [`GROUP`] lanes; in none, nothing happens.
    ///
    /// # Panics
    /// If the kernel takes other arguments than these.
    pub fn launch(&self, kernel: &Kernel, groups: u32, arguments: &[Argument]) -> Result<()> {
        if groups == 0 {
            return Ok(());
        }
        let loaded = self.load(kernel.module)?;
        let (signature, handle) = loaded
            .kernels
            .get(kernel.name)
            .unwrap_or_else(|| panic!("no kernel `{}` in {}", kernel.name, kernel.module.name));
        let values: Vec<Value> = arguments.iter().map(|argument| argument.0).collect();
        signature.check(kernel.name, &values);
        let mut profile = self.profile.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *profile {
            None => self.driver.launch(*handle, groups, &values),
            Some(profile) => {
                profile.time(kernel, &*self.driver, || self.driver.launch(*handle, groups, &values))
            }
        }
    }

    /// Takes the time of every launch from now on, which makes them a little slower.
    pub fn start_profile(&self) {
        *self.profile.lock().unwrap_or_else(PoisonError::into_inner) = Some(Profile::default());
    }

    /// Ends what [`Device::start_profile`] began: the times of all kernels, longest first. Waits for them.
    pub fn take_profile(&self) -> Result<Vec<KernelTime>> {
        let profile = self.profile.lock().unwrap_or_else(PoisonError::into_inner).take();
        profile.map_or(Ok(Vec::new()), |profile| profile.times(&*self.driver))
    }

    /// Compiles a kernel file, if that was not done before.
    pub fn prepare(&self, module: &'static Module) -> Result<()> {
        self.load(module).map(|_| ())
    }

    fn load(&self, module: &'static Module) -> Result<Arc<Loaded>> {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = kernels.get(module.name) {
            return Ok(Arc::clone(loaded));
        }
        let source = source_of(module);
        let program = self.driver.compile(module.name, &source)?;
        let mut loaded = Loaded { program, kernels: HashMap::new() };
        for (name, signature) in signature::of_source(module.source) {
            let found = self.driver.kernel(program, &name);
            let handle = found.inspect_err(|_| self.drop_loaded(&loaded))?;
            loaded.kernels.insert(name, (signature, handle));
        }
        let loaded = Arc::new(loaded);
        kernels.insert(module.name, Arc::clone(&loaded));
        Ok(loaded)
    }

    fn drop_loaded(&self, loaded: &Loaded) {
        for (_, kernel) in loaded.kernels.values() {
            self.driver.drop_kernel(*kernel);
        }
        self.driver.drop_program(loaded.program);
    }

    /// Waits for everything that was queued.
    pub fn finish(&self) -> Result<()> {
        self.driver.finish()
    }

    /// Marks this moment of the queue.
    pub fn mark(self: &Arc<Self>) -> Result<Mark> {
        Ok(Mark { device: Arc::clone(self), handle: self.driver.mark()? })
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        kernels.values().for_each(|loaded| self.drop_loaded(loaded));
    }
}

/// What is compiled for a kernel file.
fn source_of(module: &Module) -> String {
    let header = include_str!("../../kernels/portable.h");
    format!("#define GROUP {GROUP}\n{header}\n{}", module.source)
}

/// Compiles a kernel file for a CUDA architecture (`compute_75`) without a device, for tests where there is none.
pub fn compile_for_cuda(module: &Module, architecture: &str) -> Result<Vec<u8>> {
    cuda::compile(module.name, &source_of(module), architecture).map_err(|log| Error::Compile {
        device: architecture.to_owned(),
        module: module.name,
        log,
    })
}

impl<T> Buffer<T> {
    /// How many values it has.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The device that it is on.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }
}

impl<T> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Buffer({} values)", self.length)
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        // The queue keeps the memory until what uses it has run.
        self.device.driver.free(self.memory);
    }
}

impl std::fmt::Debug for Mark {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Mark({})", self.handle.0)
    }
}

impl Mark {
    /// The time that the device took from an earlier mark to this one. Waits until it has come here.
    pub fn since(&self, earlier: &Self) -> Result<Duration> {
        self.device.driver.elapsed(earlier.handle, self.handle)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.device.driver.drop_mark(self.handle);
    }
}

/// How many groups it takes for one lane for each of so many.
pub fn groups_for(lanes: usize) -> u32 {
    u32::try_from(lanes.div_ceil(GROUP as usize)).expect("fewer than 2^40 lanes")
}
