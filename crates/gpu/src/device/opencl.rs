//! Devices by OpenCL: GPUs of AMD, Intel, NVIDIA and edge machines, and processors (PoCL), on which the tests run.
//!
//! The loader is looked for at run time. A driver does not say how much memory is free, so what was taken is counted here. On devices that share
//! their memory with the processor it is taken where both reach it, so that copies are not transfers.

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use opencl3::command_queue as queue;
use opencl3::context::context;
use opencl3::device as cl_device;
use opencl3::error_codes::{self, ClError};
use opencl3::event;
use opencl3::kernel;
use opencl3::memory;
use opencl3::platform::platform;
use opencl3::program;
use opencl3::types::{
    CL_BLOCKING, cl_command_queue, cl_context, cl_device_id, cl_event, cl_int, cl_kernel, cl_mem,
    cl_platform_id, cl_program,
};

use super::cache;
use super::driver::{Driver, Handle, Value};
use super::{Api, DeviceInfo, GROUP};
use crate::error::{Error, Result};

/// Bytes of memory that groups of all kernels get along with.
const LOCAL_MEMORY: u64 = 32 << 10;

/// What kernels need beyond OpenCL 1.2.
const EXTENSION: &str = "cl_khr_int64_base_atomics";

/// The devices of all drivers; an error says why there is none.
pub(super) fn list() -> Result<Vec<DeviceInfo>, String> {
    Ok(devices()?.into_iter().enumerate().map(|(number, device)| info(number, device)).collect())
}

/// All devices with their drivers.
fn devices() -> Result<Vec<(cl_platform_id, cl_device_id)>, String> {
    let platforms = platform::get_platform_ids().map_err(|code| match code {
        error_codes::DLOPEN_RUNTIME_LOAD_FAILED => "no OpenCL: libOpenCL was not found".to_owned(),
        // What the loader says when there is no driver.
        -1001 => "no OpenCL driver is installed".to_owned(),
        code => format!("OpenCL does not answer: {}", text(code)),
    })?;
    let mut found = Vec::new();
    for platform in platforms {
        // A driver without devices says that it has found none.
        let devices = cl_device::get_device_ids(platform, cl_device::CL_DEVICE_TYPE_ALL);
        found.extend(devices.unwrap_or_default().into_iter().map(|device| (platform, device)));
    }
    Ok(found)
}

fn text(code: cl_int) -> String {
    format!("{} ({code})", ClError(code))
}

/// A property that is a text; empty if the driver does not know it.
fn string(device: cl_device_id, which: u32) -> String {
    let value = cl_device::get_device_data(device, which).unwrap_or_default();
    String::from_utf8_lossy(&value).trim_end_matches('\0').trim().to_owned()
}

/// A property that is a number of any width; 0 if the driver does not know it.
fn number(device: cl_device_id, which: u32) -> u64 {
    let mut bytes = [0; 8];
    if let Ok(value) = cl_device::get_device_data(device, which) {
        let length = value.len().min(8);
        bytes[..length].copy_from_slice(&value[..length]);
    }
    u64::from_le_bytes(bytes)
}

fn info(place: usize, (platform, device): (cl_platform_id, cl_device_id)) -> DeviceInfo {
    let kind = number(device, cl_device::CL_DEVICE_TYPE);
    let platform = platform::get_platform_data(platform, platform::CL_PLATFORM_NAME);
    let platform =
        String::from_utf8_lossy(&platform.unwrap_or_default()).trim_end_matches('\0').to_owned();
    let driver = string(device, cl_device::CL_DRIVER_VERSION);
    let local = number(device, cl_device::CL_DEVICE_LOCAL_MEM_SIZE);
    let lanes = number(device, cl_device::CL_DEVICE_MAX_WORK_GROUP_SIZE);
    let extensions = string(device, cl_device::CL_DEVICE_EXTENSIONS);
    let unusable = if number(device, cl_device::CL_DEVICE_AVAILABLE) == 0 {
        Some("its driver says that it is not available".to_owned())
    } else if number(device, cl_device::CL_DEVICE_COMPILER_AVAILABLE) == 0 {
        Some("its driver has no compiler".to_owned())
    } else if number(device, cl_device::CL_DEVICE_ENDIAN_LITTLE) == 0 {
        Some("it is big-endian".to_owned())
    } else if local < LOCAL_MEMORY {
        Some(format!("its groups have {local} bytes of memory, and {LOCAL_MEMORY} are needed"))
    } else if lanes < u64::from(GROUP) {
        Some(format!("its groups have {lanes} lanes, and {GROUP} are needed"))
    } else if !extensions.split_whitespace().any(|name| name == EXTENSION) {
        Some(format!("it has no {EXTENSION}"))
    } else {
        None
    };
    DeviceInfo {
        api: Api::OpenCl,
        number: place,
        name: string(device, cl_device::CL_DEVICE_NAME),
        driver: format!("{platform} {driver}"),
        memory: number(device, cl_device::CL_DEVICE_GLOBAL_MEM_SIZE),
        units: number(device, cl_device::CL_DEVICE_MAX_COMPUTE_UNITS) as u32,
        unified: number(device, cl_device::CL_DEVICE_HOST_UNIFIED_MEMORY) != 0,
        is_processor: kind & cl_device::CL_DEVICE_TYPE_CPU != 0,
        unusable,
    }
}

/// An open device.
pub(super) struct OpenCl {
    info: DeviceInfo,
    device: cl_device_id,
    context: cl_context,
    queue: cl_command_queue,
    /// Bytes that were taken, and of which memory.
    taken: AtomicU64,
    sizes: Mutex<HashMap<u64, u64>>,
    /// Arguments of a kernel are set one by one before it is queued, by one thread at a time.
    launching: Mutex<()>,
}

// SAFETY: OpenCL may be called from any thread, but for the arguments of a kernel, which `launching` guards.
unsafe impl Send for OpenCl {}
// SAFETY: as above.
unsafe impl Sync for OpenCl {}

impl OpenCl {
    /// Opens a device that [`list`] named.
    pub(super) fn open(info: &DeviceInfo) -> Result<Self> {
        let failed =
            |what: String| Error::Device { device: info.name.clone(), call: "opening", what };
        let found = devices().map_err(failed)?;
        let Some(&(_, device)) = found.get(info.number) else {
            return Err(failed("it is gone".to_owned()));
        };
        let context = context::create_context(&[device], ptr::null(), None, ptr::null_mut())
            .map_err(|code| failed(text(code)))?;
        // SAFETY: the context is of this device; the queue runs in order, as no property says otherwise.
        let queue = unsafe {
            queue::create_command_queue(context, device, queue::CL_QUEUE_PROFILING_ENABLE)
        }
        .map_err(|code| failed(text(code)))?;
        Ok(Self {
            info: info.clone(),
            device,
            context,
            queue,
            taken: AtomicU64::new(0),
            sizes: Mutex::default(),
            launching: Mutex::default(),
        })
    }

    fn failed(&self, call: &'static str) -> impl Fn(cl_int) -> Error + '_ {
        move |code| match code {
            // Some drivers find out at the first use that memory which they gave is not there.
            error_codes::CL_MEM_OBJECT_ALLOCATION_FAILURE => {
                self.too_little(self.taken.load(Ordering::Relaxed))
            }
            code => Error::Device { device: self.info.name.clone(), call, what: text(code) },
        }
    }

    fn too_little(&self, needed: u64) -> Error {
        let free = self.info.memory.saturating_sub(self.taken.load(Ordering::Relaxed));
        Error::TooLittleMemory { device: self.info.name.clone(), needed, free }
    }

    /// Lets go of the event that every queued command makes.
    fn queued(&self, call: &'static str, event: Result<cl_event, cl_int>) -> Result<()> {
        let event = event.map_err(self.failed(call))?;
        // SAFETY: the event was just made for us, and is let go of once.
        unsafe { event::release_event(event) }.map_err(self.failed(call))
    }

    /// Builds a program of its source, or of what was kept of it.
    fn build(&self, made: Result<cl_program, cl_int>) -> Result<cl_program, (cl_program, cl_int)> {
        let made = made.map_err(|code| (ptr::null_mut(), code))?;
        let options = c"-cl-std=CL1.2";
        program::build_program(made, &[self.device], options, None, ptr::null_mut())
            .map(|()| made)
            .map_err(|code| (made, code))
    }

    fn build_source(&self, module: &'static str, source: &str) -> Result<cl_program> {
        let made = program::create_program_with_source(self.context, &[source]);
        self.build(made).map_err(|(made, code)| {
            let mut log = text(code);
            if !made.is_null() {
                let which = program::CL_PROGRAM_BUILD_LOG;
                if let Ok(said) = program::get_program_build_info(made, self.device, which) {
                    log = format!("{log}: {said}");
                }
                // SAFETY: the program is ours and is let go of once.
                let _ = unsafe { program::release_program(made) };
            }
            Error::Compile { device: self.info.name.clone(), module, log }
        })
    }
}

impl Driver for OpenCl {
    fn free_memory(&self) -> Result<u64> {
        Ok(self.info.memory.saturating_sub(self.taken.load(Ordering::Relaxed)))
    }

    fn allocate(&self, bytes: usize) -> Result<Handle> {
        if bytes as u64 > self.free_memory()? {
            return Err(self.too_little(bytes as u64));
        }
        let place = if self.info.unified { memory::CL_MEM_ALLOC_HOST_PTR } else { 0 };
        // SAFETY: the context lives as long as `self`; no memory of ours is given to it.
        let made = unsafe {
            memory::create_buffer(
                self.context,
                memory::CL_MEM_READ_WRITE | place,
                bytes,
                ptr::null_mut(),
            )
        };
        let made = made.map_err(|code| match code {
            error_codes::CL_INVALID_BUFFER_SIZE
            | error_codes::CL_MEM_OBJECT_ALLOCATION_FAILURE
            | error_codes::CL_OUT_OF_RESOURCES
            | error_codes::CL_OUT_OF_HOST_MEMORY => self.too_little(bytes as u64),
            code => self.failed("taking memory")(code),
        })?;
        self.taken.fetch_add(bytes as u64, Ordering::Relaxed);
        let mut sizes = self.sizes.lock().unwrap_or_else(PoisonError::into_inner);
        sizes.insert(made as u64, bytes as u64);
        Ok(Handle(made as u64))
    }

    fn free(&self, memory: Handle) {
        let mut sizes = self.sizes.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = sizes.remove(&memory.0).unwrap_or(0);
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
        // SAFETY: the memory came from `allocate` and is let go of once; the driver keeps it for what is queued.
        let _ = unsafe { memory::release_mem_object(memory.0 as cl_mem) };
    }

    fn write(&self, to: Handle, offset: usize, bytes: &[u8]) -> Result<()> {
        // SAFETY: the memory has so many bytes from there on; the call returns when it has taken them.
        let event = unsafe {
            queue::enqueue_write_buffer(
                self.queue,
                to.0 as cl_mem,
                CL_BLOCKING,
                offset,
                bytes.len(),
                bytes.as_ptr().cast(),
                0,
                ptr::null(),
            )
        };
        self.queued("copying to it", event)
    }

    fn read(&self, from: Handle, offset: usize, bytes: &mut [u8]) -> Result<()> {
        // SAFETY: the memory has so many bytes from there on; the call returns when they are here.
        let event = unsafe {
            queue::enqueue_read_buffer(
                self.queue,
                from.0 as cl_mem,
                CL_BLOCKING,
                offset,
                bytes.len(),
                bytes.as_mut_ptr().cast(),
                0,
                ptr::null(),
            )
        };
        self.queued("copying from it", event)
    }

    fn fill(&self, to: Handle, offset: usize, length: usize, byte: u8) -> Result<()> {
        // Patterns of four bytes are filled in faster than single ones, where they fit.
        let pattern = [byte; 4];
        let width = if offset.is_multiple_of(4) && length.is_multiple_of(4) { 4 } else { 1 };
        // SAFETY: the memory has so many bytes from there on; the driver copies the pattern before it returns.
        let event = unsafe {
            queue::enqueue_fill_buffer(
                self.queue,
                to.0 as cl_mem,
                pattern.as_ptr().cast(),
                width,
                offset,
                length,
                0,
                ptr::null(),
            )
        };
        self.queued("filling", event)
    }

    fn copy(&self, from: (Handle, usize), to: (Handle, usize), bytes: usize) -> Result<()> {
        // SAFETY: both have so many bytes from there on.
        let event = unsafe {
            queue::enqueue_copy_buffer(
                self.queue,
                from.0.0 as cl_mem,
                to.0.0 as cl_mem,
                from.1,
                to.1,
                bytes,
                0,
                ptr::null(),
            )
        };
        self.queued("copying", event)
    }

    fn compile(&self, module: &'static str, source: &str) -> Result<Handle> {
        // PoCL keeps what it has compiled itself.
        if self.info.is_processor {
            return Ok(Handle(self.build_source(module, source)? as u64));
        }
        let mut built = None;
        let key = [source, &self.info.name, &self.info.driver];
        let code = cache::get_or(module, &key, || {
            let made = self.build_source(module, source)?;
            built = Some(made);
            let binaries = program::get_program_info(made, program::CL_PROGRAM_BINARIES);
            let binaries = Vec::<Vec<u8>>::from(binaries.map_err(self.failed("keeping kernels"))?);
            Ok(binaries.into_iter().next().unwrap_or_default())
        })?;
        let program = match built {
            Some(program) => program,
            None => {
                // SAFETY: a driver checks what it is given; it is what it gave itself, by its digest.
                let made = unsafe {
                    program::create_program_with_binary(self.context, &[self.device], &[&code])
                };
                self.build(made).or_else(|_| self.build_source(module, source))?
            }
        };
        Ok(Handle(program as u64))
    }

    fn drop_program(&self, program: Handle) {
        // SAFETY: the program came from `compile` and is let go of once.
        let _ = unsafe { program::release_program(program.0 as cl_program) };
    }

    fn kernel(&self, program: Handle, name: &str) -> Result<Handle> {
        let name = CString::new(name).expect("names of kernels have no zeros");
        let made = kernel::create_kernel(program.0 as cl_program, &name)
            .map_err(self.failed("finding a kernel"))?;
        Ok(Handle(made as u64))
    }

    fn drop_kernel(&self, kernel: Handle) {
        // SAFETY: the kernel came from `kernel` and is let go of once.
        let _ = unsafe { kernel::release_kernel(kernel.0 as cl_kernel) };
    }

    fn launch(&self, kernel: Handle, groups: u32, arguments: &[Value]) -> Result<()> {
        let _alone = self.launching.lock().unwrap_or_else(PoisonError::into_inner);
        let kernel = kernel.0 as cl_kernel;
        for (place, argument) in (0..).zip(arguments) {
            let (width, value): (usize, *const c_void) = match argument {
                Value::Memory { memory, .. } => {
                    (size_of::<cl_mem>(), ptr::from_ref(&memory.0).cast())
                }
                Value::U32(value) => (4, ptr::from_ref(value).cast()),
                Value::U64(value) => (8, ptr::from_ref(value).cast()),
            };
            // SAFETY: the value has so many bytes, and is copied before the call returns. A handle of memory is the pointer
            // that OpenCL gave, in as many bits.
            unsafe { kernel::set_kernel_arg(kernel, place, width, value) }
                .map_err(self.failed("launching"))?;
        }
        let (lanes, group) = (groups as usize * GROUP as usize, GROUP as usize);
        // SAFETY: all arguments were set, after they were checked against the kernel's declaration. That kernels stay inside their
        // memory is what their tests, host references and the memory checker are for.
        let event = unsafe {
            queue::enqueue_nd_range_kernel(
                self.queue,
                kernel,
                1,
                ptr::null(),
                &raw const lanes,
                &raw const group,
                0,
                ptr::null(),
            )
        };
        self.queued("launching", event)
    }

    fn finish(&self) -> Result<()> {
        queue::finish(self.queue).map_err(self.failed("waiting"))
    }

    fn mark(&self) -> Result<Handle> {
        // SAFETY: the queue is ours; it runs in order, so that a marker comes when all before it has run.
        let event = unsafe { queue::enqueue_marker_with_wait_list(self.queue, 0, ptr::null()) };
        Ok(Handle(event.map_err(self.failed("marking"))? as u64))
    }

    fn elapsed(&self, from: Handle, to: Handle) -> Result<Duration> {
        let failed = self.failed("timing");
        event::wait_for_events(&[to.0 as cl_event]).map_err(&failed)?;
        let end = |mark: Handle| {
            let which = event::CL_PROFILING_COMMAND_END;
            event::get_event_profiling_info(mark.0 as cl_event, which).map(u64::from)
        };
        let (from, to) = (end(from).map_err(&failed)?, end(to).map_err(&failed)?);
        Ok(Duration::from_nanos(to.saturating_sub(from)))
    }

    fn drop_mark(&self, mark: Handle) {
        // SAFETY: the event came from `mark` and is let go of once.
        let _ = unsafe { event::release_event(mark.0 as cl_event) };
    }
}

impl Drop for OpenCl {
    fn drop(&mut self) {
        let _ = self.finish();
        // SAFETY: each is ours and let go of once.
        unsafe {
            let _ = queue::release_command_queue(self.queue);
            let _ = context::release_context(self.context);
        }
    }
}
