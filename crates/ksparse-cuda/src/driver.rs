//! The one file that calls CUDA: the driver, found when the program runs, and cuBLAS for products of matrices.
//!
//! One stream does everything in order, in the primary context of the device, which CuPy and PyTorch use too: their
//! memory can be read as it is. Vectors travel through a piece of locked memory.
#![allow(unsafe_code)]

use crate::device::{Device, Task};
use crate::fault::{Fault, Result};
use crate::launch::{kernels, launch};
use cudarc::cublas::{result as blas, sys as blas_sys};
use cudarc::driver::{result as cuda, sys};
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The kernels, for the driver to translate: `kernels/design.cu`, made by `kernels/compile`.
pub(crate) const KERNELS: &str = include_str!("../kernels/design.ptx");

/// Bytes of locked memory that copies go through, half of it at a time.
const STAGING: usize = 32 << 20;

/// A CUDA device.
struct Cuda {
    name: String,
    ordinal: i32,
    context: sys::CUcontext,
    functions: HashMap<String, sys::CUfunction>,
    queue: Mutex<Queue>,
}

/// What must be used by one thread at a time.
struct Queue {
    stream: sys::CUstream,
    blas: blas_sys::cublasHandle_t,
    staging: *mut u8,
    /// Bytes of it that a copy may still read.
    filled: usize,
}

// SAFETY: the handles belong to the driver, which takes calls from any thread; `Queue` is used under its lock.
unsafe impl Send for Cuda {}
// SAFETY: as above.
unsafe impl Sync for Cuda {}

/// A call of the driver that failed.
fn lost(call: &'static str) -> impl Fn(cuda::DriverError) -> Fault {
    move |error| Fault::Lost { call, code: format!("{:?}", error.0) }
}

fn blas_lost(error: blas::CublasError) -> Fault {
    Fault::Lost { call: "cuBLAS", code: format!("{:?}", error.0) }
}

/// The device of this number, opened once and for all: that takes some 50 ms. [`Fault::NoDevice`] where there is none.
pub fn open(ordinal: usize) -> Result<Arc<dyn Device>> {
    static OPENED: Mutex<Vec<(usize, Arc<Cuda>)>> = Mutex::new(Vec::new());
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, device)) = opened.iter().find(|(number, _)| *number == ordinal) {
        return Ok(device.clone());
    }
    let device = Arc::new(Cuda::open(ordinal)?);
    opened.push((ordinal, device.clone()));
    Ok(device)
}

impl Cuda {
    fn open(ordinal: usize) -> Result<Self> {
        // SAFETY: looks for a library and runs its constructors, as linking to it would.
        if !unsafe { sys::is_culib_present() } {
            let message = "NVIDIA's driver (libcuda) was not found; install it, or use the processor";
            return Err(Fault::NoDevice(message.to_string()));
        }
        let none = |error: cuda::DriverError| {
            Fault::NoDevice(format!("the driver answers {:?}; nvidia-smi says what it sees", error.0))
        };
        cuda::init().map_err(none)?;
        let count = cuda::device::get_count().map_err(none)?;
        if ordinal >= count as usize {
            return Err(Fault::NoDevice(format!("number {ordinal} was asked for, and there are {count}, from 0 on")));
        }
        let ordinal = ordinal as i32;
        let handle = cuda::device::get(ordinal).map_err(none)?;
        let name = cuda::device::get_name(handle).map_err(none)?;
        // SAFETY: as above.
        if !unsafe { blas_sys::is_culib_present() } {
            return Err(Fault::NoLibrary("cuBLAS (libcublas)"));
        }
        // SAFETY: the device is there; the context is held as long as the program runs.
        let context = unsafe { cuda::primary_ctx::retain(handle) }.map_err(lost("opening the device"))?;
        let functions = load(context)?;
        let queue = Mutex::new(Queue::new(&functions)?);
        Ok(Self { name, ordinal, context, functions, queue })
    }

    /// The queue, with the context current in this thread.
    fn queue(&self) -> Result<MutexGuard<'_, Queue>> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        self.enter()?;
        Ok(queue)
    }

    fn enter(&self) -> Result<()> {
        // SAFETY: the context is retained as long as this exists.
        unsafe { cuda::ctx::set_current(self.context) }.map_err(lost("entering the device"))
    }
}

/// The kernels, translated for the device.
fn load(context: sys::CUcontext) -> Result<HashMap<String, sys::CUfunction>> {
    let text = CString::new(KERNELS).unwrap_or_default();
    let refused = |error: cuda::DriverError| {
        let advice = "install a driver of CUDA 12.2 (535) or later";
        Fault::NoDevice(format!("its driver does not take the kernels ({:?}): {advice}", error.0))
    };
    // SAFETY: the context is retained; the text ends with a zero and is read during the call.
    let module = unsafe {
        cuda::ctx::set_current(context).map_err(lost("entering the device"))?;
        cuda::module::load_data(text.as_ptr().cast()).map_err(refused)?
    };
    let function = |name: String| {
        let c_name = CString::new(name.as_str()).unwrap_or_default();
        // SAFETY: the module stays loaded as long as the primary context lives.
        let function = unsafe { cuda::module::get_function(module, c_name) }.map_err(lost("loading a kernel"))?;
        Ok((name, function))
    };
    kernels().into_iter().map(function).collect()
}

impl Queue {
    fn new(_loaded: &HashMap<String, sys::CUfunction>) -> Result<Self> {
        let stream = cuda::stream::create(cuda::stream::StreamKind::NonBlocking).map_err(lost("making a stream"))?;
        let blas = blas::create_handle().map_err(blas_lost)?;
        // SAFETY: both were just made, in the context that is current.
        unsafe { blas::set_stream(blas, stream.cast()) }.map_err(blas_lost)?;
        // SAFETY: plain locked memory, held as long as the program runs.
        let staging = unsafe { cuda::malloc_host(STAGING, 0) }.map_err(lost("locking 32 MB of memory"))?.cast();
        Ok(Self { stream, blas, staging, filled: 0 })
    }

    /// Waits until everything is done.
    fn wait(&mut self) -> Result<()> {
        // SAFETY: the stream lives as long as this.
        unsafe { cuda::stream::synchronize(self.stream) }.map_err(lost("waiting for the device"))?;
        self.filled = 0;
        Ok(())
    }

    fn product(&self, task: &Task) -> Result<()> {
        let Task::Product { left, left_stride, m, right, right_stride, n, rows, batches, add, out } = *task else {
            return Ok(());
        };
        let (alpha, beta) = (1.0f64, f64::from(u8::from(add)));
        let number = |value: u64| value as i32;
        // SAFETY: addresses and sizes are those of pieces this crate holds; numbers of rows fit into 31 bits, which
        // designs check.
        unsafe {
            blas::dgemm_strided_batched(
                self.blas,
                blas_sys::cublasOperation_t::CUBLAS_OP_T,
                blas_sys::cublasOperation_t::CUBLAS_OP_N,
                number(m),
                number(n),
                number(rows),
                &alpha,
                left as *const f64,
                number(left_stride),
                rows as i64,
                right as *const f64,
                number(right_stride),
                rows as i64,
                &beta,
                out as *mut f64,
                number(m),
                (m * n) as i64,
                number(batches),
            )
        }
        .map_err(blas_lost)
    }
}

impl Device for Cuda {
    fn name(&self) -> &str {
        &self.name
    }

    fn memory(&self) -> Result<(u64, u64)> {
        self.enter()?;
        let (free, total) = cuda::mem_get_info().map_err(lost("asking for the memory"))?;
        Ok((free as u64, total as u64))
    }

    fn allocate(&self, bytes: u64) -> Result<u64> {
        self.enter()?;
        // SAFETY: what it gives is released once, by `release`.
        match unsafe { cuda::malloc_sync(bytes as usize) } {
            Ok(at) => Ok(at),
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                let (free, total) = self.memory()?;
                Err(Fault::Memory { what: "a design", needed: bytes, free, total })
            }
            Err(error) => Err(lost("taking memory")(error)),
        }
    }

    fn release(&self, at: u64) {
        if let Ok(mut queue) = self.queue()
            && queue.wait().is_ok()
        {
            // SAFETY: `allocate` gave it, nothing reads it any more. A failure would be of an earlier task.
            let _ = unsafe { cuda::free_sync(at) };
        }
    }

    fn check_foreign(&self, at: u64, bytes: u64) -> Result<()> {
        self.enter()?;
        for place in [at, at + bytes.max(1) - 1] {
            let mut ordinal = -1i32;
            let attribute = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
            // SAFETY: the answer is an int; any address may be asked about.
            let known = unsafe { sys::cuPointerGetAttribute((&raw mut ordinal).cast(), attribute, place) }.result();
            if known.is_err() || ordinal != self.ordinal {
                return Err(Fault::Foreign(format!(
                    "the {bytes} bytes at {at:#x} are not memory of device {}: move the array there first",
                    self.ordinal
                )));
            }
        }
        // Whoever wrote it may have done so on another stream.
        cuda::ctx::synchronize().map_err(lost("waiting for the device"))
    }

    fn upload(&self, from: &[u8], to: u64) -> Result<()> {
        let mut queue = self.queue()?;
        for (c, chunk) in from.chunks(STAGING / 2).enumerate() {
            if queue.filled + chunk.len() > STAGING {
                queue.wait()?;
            }
            // SAFETY: the part of the locked memory from `filled` on is read by no copy under way, and is large enough;
            // `to` is memory this crate holds.
            unsafe {
                let staged = std::slice::from_raw_parts_mut(queue.staging.add(queue.filled), chunk.len());
                staged.copy_from_slice(chunk);
                cuda::memcpy_htod_async(to + (c * STAGING / 2) as u64, staged, queue.stream)
            }
            .map_err(lost("copying to the device"))?;
            queue.filled += chunk.len().next_multiple_of(256);
        }
        Ok(())
    }

    fn download(&self, from: u64, to: &mut [u8]) -> Result<()> {
        let mut queue = self.queue()?;
        for (c, chunk) in to.chunks_mut(STAGING / 2).enumerate() {
            if queue.filled + chunk.len() > STAGING {
                queue.wait()?;
            }
            // SAFETY: as for `upload`; the copy is waited for before its target is read.
            let staged = unsafe { std::slice::from_raw_parts_mut(queue.staging.add(queue.filled), chunk.len()) };
            // SAFETY: as above.
            unsafe { cuda::memcpy_dtoh_async(staged, from + (c * STAGING / 2) as u64, queue.stream) }
                .map_err(lost("copying from the device"))?;
            queue.wait()?;
            chunk.copy_from_slice(staged);
        }
        Ok(())
    }

    fn clear(&self, at: u64, bytes: u64) -> Result<()> {
        let queue = self.queue()?;
        // SAFETY: memory this crate holds.
        unsafe { cuda::memset_d8_async(at, 0, bytes as usize, queue.stream) }.map_err(lost("clearing memory"))
    }

    fn run(&self, task: &Task) -> Result<()> {
        let queue = self.queue()?;
        let Some(launch) = launch(task) else { return queue.product(task) };
        let mut arguments: Vec<*mut c_void> =
            launch.arguments.iter().map(|argument| std::ptr::from_ref(argument).cast_mut().cast()).collect();
        let grid = (launch.grid.0 as u32, launch.grid.1 as u32, 1);
        // SAFETY: the kernel takes these arguments (a test compares their number with the text); addresses are those of
        // memory this crate holds or has checked.
        unsafe {
            let function = self.functions[&launch.kernel];
            cuda::launch_kernel(function, grid, (launch.threads, 1, 1), 0, queue.stream, &mut arguments)
        }
        .map_err(lost("starting a kernel"))
    }
}
