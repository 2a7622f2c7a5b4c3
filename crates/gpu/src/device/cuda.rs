//! NVIDIA devices: the driver's own interface, and kernels compiled by NVRTC for the very architecture.
//!
//! Both libraries are looked for at run time. Memory is taken from the driver's pool in the order of the queue, so that taking and giving
//! back costs next to nothing once the pool has grown; on devices that share their memory with the processor it is managed memory, which
//! is copied to without a detour. Other copies go through two pinned pieces in turn: one is filled by the
//! processor while the other one is on its way.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_void};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cudarc::driver::result::{self as cu, DriverError};
use cudarc::driver::sys;
use cudarc::nvrtc;

use super::cache;
use super::driver::{Driver, Handle, Value};
use super::{Api, DeviceInfo, GROUP};
use crate::error::{Error, Result};

/// Bytes of a pinned piece.
const STAGED: usize = 8 << 20;

/// Copies of at most so many bytes are not worth a pinned piece of their own: the driver copies them aside itself.
const SMALL: usize = 64 << 10;

/// The first version of the driver whose events can be timed by the call that is bound here; with an older one the host's clock is read when
/// the queue is empty.
const EVENTS_ARE_TIMED: i32 = 12_080;

/// The oldest architecture that kernels are written for: what is compiled if the compiler does not know the device's.
const OLDEST: &str = "compute_75";

/// The devices of the driver; an error says why there is none.
pub(super) fn list() -> Result<Vec<DeviceInfo>, String> {
    // SAFETY: looks for a library and loads it, as any program that uses CUDA does; nothing in it is called.
    if !unsafe { sys::is_culib_present() } {
        return Err("no CUDA driver: libcuda was not found".to_owned());
    }
    let said = |error: DriverError| format!("the CUDA driver does not answer: {}", text(error));
    cu::init().map_err(said)?;
    let unusable = compiler().err();
    let version = version().map_err(said)?;
    let version = format!("CUDA {}.{}", version / 1000, version % 1000 / 10);
    let count = cu::device::get_count().map_err(said)?;
    (0..count)
        .map(|number| {
            let device = cu::device::get(number).map_err(said)?;
            // SAFETY: the device is one that the driver has just named.
            let (memory, units, integrated) = unsafe {
                let attribute = |which| cu::device::get_attribute(device, which).map_err(said);
                (
                    cu::device::total_mem(device).map_err(said)?,
                    attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
                    attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED)?,
                )
            };
            Ok(DeviceInfo {
                api: Api::Cuda,
                number: number as usize,
                name: cu::device::get_name(device).map_err(said)?,
                driver: version.clone(),
                memory: memory as u64,
                units: units as u32,
                unified: integrated != 0,
                is_processor: false,
                unusable: unusable.clone(),
            })
        })
        .collect()
}

/// The version of the driver, a thousand for each whole one.
fn version() -> Result<i32, DriverError> {
    let mut version = 0;
    // SAFETY: whoever asks has found that the driver is there; it writes one number.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result()?;
    Ok(version)
}

/// Whether NVRTC is there. Without it the library that speaks to it would panic.
fn compiler() -> Result<(), String> {
    // SAFETY: looks for a library and loads it; nothing in it is called.
    if unsafe { nvrtc::sys::is_culib_present() } {
        return Ok(());
    }
    let what = "kernels cannot be compiled: libnvrtc was not found; it comes with the CUDA toolkit, or with the Python package \
                nvidia-cuda-nvrtc, whose folder must then be in LD_LIBRARY_PATH";
    Err(what.to_owned())
}

fn text(error: DriverError) -> String {
    let say = |said: Result<&CStr, DriverError>| {
        said.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
    };
    format!("{} ({})", say(error.error_string()), say(error.error_name()))
}

/// Compiles a source for an architecture: `sm_90` gives machine code, `compute_90` PTX. An error is the compiler's log.
pub(super) fn compile(name: &str, source: &str, architecture: &str) -> Result<Vec<u8>, String> {
    compiler()?;
    let source = CString::new(source).map_err(|error| error.to_string())?;
    let name = CString::new(format!("{name}.cu")).map_err(|error| error.to_string())?;
    let said = |error: nvrtc::result::NvrtcError| format!("NVRTC: {error}");
    let program = nvrtc::result::create_program(&source, Some(&name)).map_err(said)?;
    let options = [format!("--gpu-architecture={architecture}"), "--std=c++17".to_owned()];
    // SAFETY: the program was just made and is destroyed last; the sizes that the compiler gives are those of what it
    // then writes, into vectors of that length.
    unsafe {
        let compiled = nvrtc::result::compile_program(program, &options);
        let result = match compiled {
            Err(error) => {
                let log = nvrtc::result::get_program_log(program).unwrap_or_default();
                let log: Vec<u8> = log.iter().map(|&byte| byte as u8).collect();
                let log = String::from_utf8_lossy(&log);
                Err(format!("{} {}", said(error), log.trim_end_matches('\0').trim()))
            }
            Ok(()) if architecture.starts_with("sm_") => {
                let mut size = 0;
                nvrtc::sys::nvrtcGetCUBINSize(program, &raw mut size)
                    .result()
                    .and_then(|()| {
                        let mut code = vec![0_u8; size];
                        nvrtc::sys::nvrtcGetCUBIN(program, code.as_mut_ptr().cast()).result()?;
                        Ok(code)
                    })
                    .map_err(said)
            }
            Ok(()) => nvrtc::result::get_ptx(program)
                .map(|ptx| ptx.iter().map(|&byte| byte as u8).collect())
                .map_err(said),
        };
        let _ = nvrtc::result::destroy_program(program);
        result
    }
}

/// An open device.
pub(super) struct Cuda {
    name: String,
    device: sys::CUdevice,
    context: sys::CUcontext,
    stream: sys::CUstream,
    /// The pool that memory is taken from, if the device has one.
    pool: Option<sys::CUmemoryPool>,
    /// Managed memory is taken instead.
    unified: bool,
    architecture: String,
    driver: String,
    /// Marks are this old by the host's clock, and no events.
    marks_by_host: Option<Instant>,
    staging: Mutex<Staging>,
}

/// Two pinned pieces, each with the moment when the copy from or to it is over.
struct Staging {
    pieces: [(*mut u8, sys::CUevent); 2],
    next: usize,
}

// SAFETY: the handles are the driver's, which may be called from any thread; the context is made current before every
// call. The pinned pieces are reached under a lock only.
unsafe impl Send for Cuda {}
// SAFETY: as above.
unsafe impl Sync for Cuda {}

impl Cuda {
    /// Opens a device that [`list`] named.
    pub(super) fn open(info: &DeviceInfo) -> Result<Self> {
        let failed = |call| {
            let device = info.name.clone();
            move |error| Error::Device { device, call, what: text(error) }
        };
        cu::init().map_err(failed("starting"))?;
        let device = cu::device::get(info.number as i32).map_err(failed("opening"))?;
        // SAFETY: the device exists; its primary context is retained until `drop` releases it, and is current when the stream, events
        // and pinned pieces are made, all of which are given back in `drop`.
        unsafe {
            let context = cu::primary_ctx::retain(device).map_err(failed("opening"))?;
            cu::ctx::set_current(context).map_err(failed("opening"))?;
            let stream = cu::stream::create(cu::stream::StreamKind::NonBlocking)
                .map_err(failed("making a queue"))?;
            let attribute = |which| {
                cu::device::get_attribute(device, which).map_err(failed("reading its properties"))
            };
            use sys::CUdevice_attribute as Attribute;
            let major = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
            let minor = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
            let pools = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)?;
            let pool = if pools != 0 && !info.unified {
                let pool =
                    cu::device::get_default_mem_pool(device).map_err(failed("taking its pool"))?;
                // Memory that was given back stays in the pool, for the next one that asks.
                let mut keep = u64::MAX;
                sys::cuMemPoolSetAttribute(
                    pool,
                    sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                    (&raw mut keep).cast(),
                )
                .result()
                .map_err(failed("taking its pool"))?;
                Some(pool)
            } else {
                None
            };
            let piece = || -> Result<(*mut u8, sys::CUevent)> {
                let memory = cu::malloc_host(STAGED, 0).map_err(failed("pinning memory"))?;
                let over = cu::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)
                    .map_err(failed("making an event"))?;
                Ok((memory.cast(), over))
            };
            let staging = Mutex::new(Staging { pieces: [piece()?, piece()?], next: 0 });
            Ok(Self {
                name: info.name.clone(),
                device,
                context,
                stream,
                pool,
                unified: info.unified,
                architecture: format!("{major}{minor}"),
                driver: info.driver.clone(),
                marks_by_host: (version().map_err(failed("asking for its version"))?
                    < EVENTS_ARE_TIMED)
                    .then(Instant::now),
                staging,
            })
        }
    }

    fn failed(&self, call: &'static str) -> impl Fn(DriverError) -> Error {
        let device = self.name.clone();
        move |error| Error::Device { device: device.clone(), call, what: text(error) }
    }

    /// Makes the context current on this thread.
    fn enter(&self, call: &'static str) -> Result<()> {
        // SAFETY: the context is retained as long as `self` lives.
        unsafe { cu::ctx::set_current(self.context) }.map_err(self.failed(call))
    }

    /// Bytes that the pool holds and nobody uses.
    fn idle_in_pool(&self, pool: sys::CUmemoryPool) -> u64 {
        let read = |which| {
            let mut value = 0_u64;
            // SAFETY: the pool is the device's own; these attributes are numbers of 64 bits.
            let read = unsafe { sys::cuMemPoolGetAttribute(pool, which, (&raw mut value).cast()) };
            read.result().map_or(0, |()| value)
        };
        use sys::CUmemPool_attribute as Attribute;
        read(Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
            .saturating_sub(read(Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT))
    }

    fn too_little(&self, needed: usize) -> Error {
        let free = self.free_memory().unwrap_or(0);
        Error::TooLittleMemory { device: self.name.clone(), needed: needed as u64, free }
    }
}

impl Driver for Cuda {
    fn free_memory(&self) -> Result<u64> {
        self.enter("asking for memory")?;
        let (free, _) = cu::mem_get_info().map_err(self.failed("asking for memory"))?;
        Ok(free as u64 + self.pool.map_or(0, |pool| self.idle_in_pool(pool)))
    }

    fn allocate(&self, bytes: usize) -> Result<Handle> {
        self.enter("taking memory")?;
        // Managed memory may be more than there is, and then the machine slows down or stops.
        if self.unified && bytes as u64 > self.free_memory()? {
            return Err(self.too_little(bytes));
        }
        // SAFETY: the context is current, and the stream is its own; what is given is freed by `free` alone.
        let memory = unsafe {
            match self.pool {
                _ if self.unified => {
                    cu::malloc_managed(bytes, sys::CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL)
                }
                Some(_) => cu::malloc_async(self.stream, bytes),
                None => cu::malloc_sync(bytes),
            }
        };
        match memory {
            Ok(memory) => Ok(Handle(memory)),
            Err(DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => {
                Err(self.too_little(bytes))
            }
            Err(error) => Err(self.failed("taking memory")(error)),
        }
    }

    fn free(&self, memory: Handle) {
        // An error here is one of earlier work on a lost device, which that work has told.
        let _ = self.enter("giving memory back").map(|()| {
            // SAFETY: the memory came from `allocate` and is freed once; in the order of the queue, or after waiting for it.
            unsafe {
                match self.pool {
                    Some(_) => cu::free_async(memory.0, self.stream),
                    None => {
                        cu::stream::synchronize(self.stream).and_then(|()| cu::free_sync(memory.0))
                    }
                }
            }
        });
    }

    fn write(&self, to: Handle, offset: usize, bytes: &[u8]) -> Result<()> {
        self.enter("copying to it")?;
        let failed = self.failed("copying to it");
        let to = to.0 + offset as u64;
        if self.unified {
            self.finish()?;
            // SAFETY: managed memory is the processor's, too, at the same address; nothing runs that uses it, and the caller
            // has seen to it that so many bytes are there.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to as *mut u8, bytes.len()) };
            return Ok(());
        }
        if bytes.len() <= SMALL {
            // SAFETY: the memory has room for the bytes. From memory that is not pinned the call returns when it has taken
            // the bytes over.
            return unsafe { cu::memcpy_htod_async(to, bytes, self.stream) }.map_err(failed);
        }
        let mut staging = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, chunk) in bytes.chunks(STAGED).enumerate() {
            let (piece, over) = staging.pieces[staging.next];
            staging.next ^= 1;
            // SAFETY: the piece has `STAGED` bytes, of which a chunk has no more; it is filled only when the copy before from it is
            // over, and the lock keeps others from it.
            unsafe {
                cu::event::synchronize(over).map_err(&failed)?;
                std::ptr::copy_nonoverlapping(chunk.as_ptr(), piece, chunk.len());
                let staged = std::slice::from_raw_parts(piece, chunk.len());
                let to = to + (number * STAGED) as u64;
                cu::memcpy_htod_async(to, staged, self.stream).map_err(&failed)?;
                cu::event::record(over, self.stream).map_err(&failed)?;
            }
        }
        Ok(())
    }

    fn read(&self, from: Handle, offset: usize, bytes: &mut [u8]) -> Result<()> {
        self.enter("copying from it")?;
        let failed = self.failed("copying from it");
        let from = from.0 + offset as u64;
        if self.unified {
            self.finish()?;
            let (to, length) = (bytes.as_mut_ptr(), bytes.len());
            // SAFETY: as in `write`.
            unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to, length) };
            return Ok(());
        }
        let staging = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        // Queues the copy of a chunk into its piece.
        let queue = |number: usize, length: usize| -> Result<()> {
            let (piece, over) = staging.pieces[number % 2];
            // SAFETY: the chunk before the last one, which was in this piece, has been taken out; the memory has these bytes.
            unsafe {
                cu::event::synchronize(over).map_err(&failed)?;
                let staged = std::slice::from_raw_parts_mut(piece, length);
                let from = from + (number * STAGED) as u64;
                cu::memcpy_dtoh_async(staged, from, self.stream).map_err(&failed)?;
                cu::event::record(over, self.stream).map_err(&failed)
            }
        };
        let mut chunks: Vec<&mut [u8]> = bytes.chunks_mut(STAGED).collect();
        if let Some(first) = chunks.first() {
            queue(0, first.len())?;
        }
        for number in 0..chunks.len() {
            if let Some(next) = chunks.get(number + 1) {
                queue(number + 1, next.len())?;
            }
            let (piece, over) = staging.pieces[number % 2];
            let chunk = &mut *chunks[number];
            // SAFETY: the copy into the piece is over, and the piece has the bytes of the chunk.
            unsafe {
                cu::event::synchronize(over).map_err(&failed)?;
                chunk.copy_from_slice(std::slice::from_raw_parts(piece, chunk.len()));
            }
        }
        Ok(())
    }

    fn fill(&self, to: Handle, offset: usize, length: usize, byte: u8) -> Result<()> {
        self.enter("filling")?;
        // SAFETY: the memory has so many bytes from there on.
        unsafe { cu::memset_d8_async(to.0 + offset as u64, byte, length, self.stream) }
            .map_err(self.failed("filling"))
    }

    fn copy(&self, from: (Handle, usize), to: (Handle, usize), bytes: usize) -> Result<()> {
        self.enter("copying")?;
        let (from, to) = (from.0.0 + from.1 as u64, to.0.0 + to.1 as u64);
        // SAFETY: both have so many bytes from there on.
        unsafe { cu::memcpy_dtod_async(to, from, bytes, self.stream) }
            .map_err(self.failed("copying"))
    }

    fn compile(&self, module: &'static str, source: &str) -> Result<Handle> {
        self.enter("loading kernels")?;
        let failed = |log| Error::Compile { device: self.name.clone(), module, log };
        let key = [source, &self.architecture, &self.driver];
        let code = cache::get_or(module, &key, || {
            let native = compile(module, source, &format!("sm_{}", self.architecture));
            // A compiler older than the device does not know it; the driver then makes machine code of what is for all.
            native.or_else(|log| compile(module, source, OLDEST).map_err(|_| log))
        })
        .map_err(failed)?;
        // Text (PTX) must end with a zero.
        let code = [&code[..], &[0]].concat();
        // SAFETY: the image is whole: it has just been made, or comes from the cache, which keeps a digest of it.
        let module = unsafe { cu::module::load_data(code.as_ptr().cast()) }
            .map_err(self.failed("loading kernels"))?;
        Ok(Handle(module as u64))
    }

    fn drop_program(&self, program: Handle) {
        let _ = self.enter("unloading kernels").map(|()| {
            // SAFETY: the module came from `compile` and is unloaded once, when nothing runs any more.
            unsafe { cu::module::unload(program.0 as sys::CUmodule) }
        });
    }

    fn kernel(&self, program: Handle, name: &str) -> Result<Handle> {
        self.enter("finding a kernel")?;
        let name = CString::new(name).expect("names of kernels have no zeros");
        // SAFETY: the module came from `compile`.
        let function = unsafe { cu::module::get_function(program.0 as sys::CUmodule, name) }
            .map_err(self.failed("finding a kernel"))?;
        Ok(Handle(function as u64))
    }

    fn drop_kernel(&self, _kernel: Handle) {}

    fn launch(&self, kernel: Handle, groups: u32, arguments: &[Value]) -> Result<()> {
        self.enter("launching")?;
        let mut values: Vec<u64> = arguments
            .iter()
            .map(|value| match *value {
                Value::Memory { memory, .. } => memory.0,
                // Little endian, as every machine with such a device is: the low half comes first.
                Value::U32(value) => value.into(),
                Value::U64(value) => value,
            })
            .collect();
        let mut pointers: Vec<*mut c_void> =
            values.iter_mut().map(|value| std::ptr::from_mut(value).cast()).collect();
        // SAFETY: the kernel came from `kernel`; the arguments were checked against its declaration, and the driver copies them before it
        // returns. Memory among them is alive, and stays so: giving back is queued behind this. That kernels stay inside
        // that memory is what their tests, host references and the memory checker are for.
        unsafe {
            cu::launch_kernel(
                kernel.0 as sys::CUfunction,
                (groups, 1, 1),
                (GROUP, 1, 1),
                0,
                self.stream,
                &mut pointers,
            )
        }
        .map_err(self.failed("launching"))
    }

    fn finish(&self) -> Result<()> {
        self.enter("waiting")?;
        // SAFETY: the stream lives as long as `self`.
        unsafe { cu::stream::synchronize(self.stream) }.map_err(self.failed("waiting"))
    }

    fn mark(&self) -> Result<Handle> {
        if let Some(start) = self.marks_by_host {
            self.finish()?;
            return Ok(Handle(start.elapsed().as_nanos() as u64));
        }
        self.enter("marking")?;
        let failed = self.failed("marking");
        let event = cu::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).map_err(&failed)?;
        // SAFETY: event and stream are of this context.
        unsafe { cu::event::record(event, self.stream) }.map_err(failed)?;
        Ok(Handle(event as u64))
    }

    fn elapsed(&self, from: Handle, to: Handle) -> Result<Duration> {
        if self.marks_by_host.is_some() {
            return Ok(Duration::from_nanos(to.0.saturating_sub(from.0)));
        }
        self.enter("timing")?;
        let failed = self.failed("timing");
        // SAFETY: both events came from `mark`.
        let milliseconds = unsafe {
            cu::event::synchronize(to.0 as sys::CUevent).map_err(&failed)?;
            cu::event::elapsed(from.0 as sys::CUevent, to.0 as sys::CUevent).map_err(failed)?
        };
        Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1e3))
    }

    fn drop_mark(&self, mark: Handle) {
        if self.marks_by_host.is_some() {
            return;
        }
        let _ = self.enter("timing").map(|()| {
            // SAFETY: the event came from `mark` and is destroyed once.
            unsafe { cu::event::destroy(mark.0 as sys::CUevent) }
        });
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        let _ = self.finish();
        let staging = self.staging.get_mut().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: nothing runs any more; each is given back once, the context last.
        unsafe {
            for (piece, over) in staging.pieces {
                let _ = cu::event::destroy(over);
                let _ = cu::free_host(piece.cast());
            }
            let _ = cu::stream::destroy(self.stream);
            let _ = cu::primary_ctx::release(self.device);
        }
    }
}
