//! The CPU device: kernels become block programs that run a tile at a time through SIMD loops, on all
//! threads.
//!
//! The way of a loop: `space` lays out the axes, `compile` and `emit` turn a segment into a program of
//! `tile`, in which `link` joins runs of f32 instructions, `fused` cuts it into tasks, `exec` walks the tiles, and
//! `chain`, `ops`, `numeric` and `reduce` are the loops, written over the vectors of `simd` with the functions
//! of `math`.
//!
//! The way of a product: `matmul` says where it goes and what follows, `gemm` cuts and packs it, `micro` multiplies
//! in registers, over the vectors of `lanes`. Attention hands its blocks to `micro` too: `panel` holds its matrices,
//! `softmax` the loops between its products.

// Lanes, rows and axes of several arrays are walked together, by index.
#![allow(clippy::needless_range_loop)]

mod again;
mod attention;
mod attention_grad;
mod chain;
mod compile;
mod emit;
mod exec;
mod fused;
mod gemm;
mod indexed;
mod lanes;
mod link;
mod math;
mod matmul;
mod micro;
#[cfg(all(unix, target_arch = "x86_64"))]
mod native;
#[cfg(not(all(unix, target_arch = "x86_64")))]
#[path = "native/absent.rs"]
mod native;
mod numeric;
mod ops;
mod panel;
mod reduce;
#[cfg(test)]
mod reference;
mod rows;
mod simd;
#[cfg(target_arch = "x86_64")]
mod simd_x86;
mod softmax;
mod space;
mod strided;
#[cfg(test)]
mod test_gemm;
#[cfg(test)]
mod test_maps;
#[cfg(test)]
mod test_matmul;
#[cfg(test)]
mod test_others;
#[cfg(test)]
mod test_reductions;
#[cfg(test)]
mod tests;
mod threads;
mod tile;

use super::{Backend, Launch, Memory, Pipeline, host_seconds};
use crate::error::{Error, Result};
use crate::kernel::{Body, Kernel};
use crate::span::{self, Phase};
use attention::Flash;
use attention_grad::FlashGrad;
use exec::Context;
use fused::Fused;
use indexed::{Running, Scattered, Sorted};
use matmul::Product;
use std::alloc::{Layout, alloc, dealloc};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The size of the pages that large memories are put on, where the system has them.
const HUGE_PAGE: usize = 2 << 20;

/// Asks the system for huge pages: walking a large tensor then misses fewer address translations, and touching it for
/// the first time faults once in 2 MiB instead of once in 4 KiB. A refusal changes nothing.
#[cfg(target_os = "linux")]
fn ask_for_huge_pages(pointer: *mut u8, bytes: usize) {
    use std::ffi::{c_int, c_void};
    unsafe extern "C" {
        fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    const MADV_HUGEPAGE: c_int = 14;
    // SAFETY: advice about memory that was just allocated, from an aligned address and within its size.
    unsafe { madvise(pointer.cast(), bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages(_: *mut u8, _: usize) {}

/// From this size on memories begin at different places of a page: those that are walked together would otherwise
/// share sets of the caches, and throw each other out.
const APART: usize = 256 << 10;
/// How many such places there are, and the bytes from one to the next: four neighbours are a quarter of a page apart.
const PLACES: usize = 16;
const PLACE: usize = 1024 + 64;

/// Memory of the host, aligned to cache lines.
pub struct HostMemory {
    /// The allocation, and where in it the memory begins.
    allocated: *mut u8,
    skipped: usize,
    layout: Layout,
}

// SAFETY: the pointer is owned; who may write when is the launch's promise (see `Cpu::launch`).
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl Memory for HostMemory {}

impl HostMemory {
    fn new(bytes: usize) -> Option<HostMemory> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let (room, skipped) = match bytes >= APART {
            true => (PLACES * PLACE, NEXT.fetch_add(1, Ordering::Relaxed) % PLACES * PLACE),
            false => (0, 0),
        };
        let align = if bytes >= 4 * HUGE_PAGE { HUGE_PAGE } else { 64 };
        let size = bytes.max(64).checked_add(room)?;
        let layout = Layout::from_size_align(size, align).ok()?;
        // SAFETY: the layout's size is not zero.
        let allocated = unsafe { alloc(layout) };
        if !allocated.is_null() && align == HUGE_PAGE {
            ask_for_huge_pages(allocated, size);
        }
        (!allocated.is_null()).then_some(HostMemory { allocated, skipped, layout })
    }

    pub(super) fn pointer(&self) -> *mut u8 {
        self.allocated.wrapping_add(self.skipped)
    }

    pub(super) fn bytes(&self) -> usize {
        self.layout.size() - self.skipped
    }

    pub(super) fn of(memory: &dyn Memory) -> Result<&HostMemory> {
        (memory as &dyn Any)
            .downcast_ref()
            .ok_or_else(|| Error::Internal("a memory of another device reached the CPU".into()))
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout in `new`.
        unsafe { dealloc(self.allocated, self.layout) }
    }
}

/// The CPU backend.
pub struct Cpu {}

impl Cpu {
    /// Looks at the machine and starts nothing yet.
    pub fn new() -> Cpu {
        Cpu {}
    }
}

impl Default for Cpu {
    fn default() -> Cpu {
        Cpu::new()
    }
}

/// What the system calls the processor, where it says.
fn model() -> String {
    let known = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = known.lines().find(|line| line.starts_with("model name"));
    line.and_then(|line| line.split_once(':')).map_or("unnamed".into(), |(_, name)| name.trim().into())
}

impl Backend for Cpu {
    fn name(&self) -> String {
        "cpu".into()
    }

    fn identity(&self) -> String {
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        format!("cpu {}, {}, {:?}, {threads} threads", std::env::consts::ARCH, model(), simd::level())
    }

    fn allocate(&self, bytes: usize) -> Option<Arc<dyn Memory>> {
        HostMemory::new(bytes).map(|m| Arc::new(m) as Arc<dyn Memory>)
    }

    fn upload(&self, memory: &dyn Memory, bytes: &[u8]) -> Result<()> {
        let host = HostMemory::of(memory)?;
        if bytes.len() > host.bytes() {
            return Err(Error::Internal(format!("upload of {} bytes into {}", bytes.len(), host.bytes())));
        }
        // SAFETY: the range was checked; the caller owns the memory until a tensor over it exists.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), host.pointer(), bytes.len()) };
        Ok(())
    }

    fn download(&self, memory: &dyn Memory, bytes: &mut [u8]) -> Result<()> {
        let host = HostMemory::of(memory)?;
        if bytes.len() > host.bytes() {
            return Err(Error::Internal(format!("download of {} bytes from {}", bytes.len(), host.bytes())));
        }
        // SAFETY: the range was checked, and launches are synchronous: nobody writes a tensor's memory now.
        unsafe { std::ptr::copy_nonoverlapping(host.pointer(), bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn compile(&self, kernel: &Kernel) -> Result<Box<dyn Pipeline>> {
        Ok(Box::new(match &kernel.body {
            Body::Loop(body) => Compiled::Loop(Fused::compile(kernel, body)?),
            Body::MatMul(body) => Compiled::MatMul(Box::new(Product::compile(kernel, body)?)),
            Body::Attention(body) => Compiled::Attention(Box::new(Flash::compile(kernel, body)?)),
            Body::AttentionGrad(body) => Compiled::AttentionGrad(Box::new(FlashGrad::compile(kernel, body)?)),
            Body::ScatterAdd(body) => Compiled::ScatterAdd(Box::new(Scattered::compile(kernel, body)?)),
            Body::Sort(body) => Compiled::Sort(Sorted::compile(kernel, body)?),
            Body::Scan(body) => Compiled::Scan(Running::compile(kernel, body)?),
        }))
    }

    fn launch(&self, batch: &[Launch<'_>]) -> Result<()> {
        awake(batch, || run(batch))
    }

    /// The threads are woken once, as without measuring.
    fn launch_timed(&self, batch: &[Launch<'_>], marks: &[usize]) -> Result<Vec<f64>> {
        awake(batch, || {
            let mut times = vec![host_seconds()];
            for part in marks.windows(2) {
                run(&batch[part[0]..part[1]])?;
                times.push(host_seconds());
            }
            Ok(times)
        })
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }
}

/// A kernel as the CPU runs it.
enum Compiled {
    Loop(Fused),
    MatMul(Box<Product>),
    Attention(Box<Flash>),
    AttentionGrad(Box<FlashGrad>),
    ScatterAdd(Box<Scattered>),
    Sort(Sorted),
    Scan(Running),
}

impl Pipeline for Compiled {}

/// Runs a batch among the threads, unless all of it is so small that waking them would take longer.
fn awake<R: Send>(batch: &[Launch<'_>], f: impl FnOnce() -> R + Send) -> R {
    let _phase = span::enter(Phase::Wait);
    let small = |launch: &Launch<'_>| match (launch.pipeline as &dyn Any).downcast_ref() {
        Some(Compiled::Loop(fused)) => fused.is_small(),
        Some(Compiled::MatMul(product)) => product.is_small(),
        _ => false,
    };
    if batch.iter().all(small) { f() } else { threads::among(f) }
}

/// Runs launches in order; two loops that go together are one.
fn run(batch: &[Launch<'_>]) -> Result<()> {
    let mut ready = batch.first().map(Ready::new).transpose()?;
    let mut at = 0;
    while let Some(now) = ready.take() {
        at += 1;
        ready = batch.get(at).map(Ready::new).transpose()?;
        let next = ready.as_ref().map(|next| (next.compiled, &next.context));
        if let (Compiled::Loop(fused), Some((Compiled::Loop(then), its))) = (now.compiled, next)
            && fused.pairs(&now.context, then, its)
        {
            fused.launch_with(&now.context, then, its);
            now.check()?;
            ready.take().map_or(Ok(()), |next| next.check())?;
            at += 1;
            ready = batch.get(at).map(Ready::new).transpose()?;
        } else {
            now.launch();
            now.check()?;
        }
    }
    Ok(())
}

/// A launch with its memories at hand.
struct Ready<'a> {
    kernel: &'a Kernel,
    compiled: &'a Compiled,
    context: Context,
}

impl<'a> Ready<'a> {
    fn new(launch: &Launch<'a>) -> Result<Ready<'a>> {
        let compiled: &Compiled = (launch.pipeline as &dyn Any)
            .downcast_ref()
            .ok_or_else(|| Error::Internal("a pipeline of another device reached the CPU".into()))?;
        let kernel = launch.kernel;
        let mut context = Context {
            reads: Default::default(),
            writes: Default::default(),
            args: launch.args.into(),
            outside: Default::default(),
        };
        let ports = kernel.reads.iter().zip(launch.reads).chain(kernel.writes.iter().zip(launch.writes));
        for (i, (port, memory)) in ports.enumerate() {
            let host = HostMemory::of(*memory)?;
            if host.bytes() < port.len * port.dtype.size() {
                return Err(Error::Internal(format!("{}: a memory is smaller than its port", kernel.label)));
            }
            if i < kernel.reads.len() {
                context.reads.push(host.pointer());
            } else {
                context.writes.push(host.pointer());
            }
        }
        let counts = (context.reads.len(), context.writes.len(), context.args.len());
        if counts != (kernel.reads.len(), kernel.writes.len(), kernel.args.len()) {
            return Err(Error::Internal(format!("{}: launched with too few memories", kernel.label)));
        }
        Ok(Ready { kernel, compiled, context })
    }

    fn launch(&self) {
        let context = &self.context;
        match self.compiled {
            Compiled::Loop(fused) => fused.launch(context),
            Compiled::MatMul(product) => product.launch(context),
            Compiled::Attention(flash) => flash.launch(context),
            Compiled::AttentionGrad(grad) => grad.launch(context),
            Compiled::ScatterAdd(scattered) => scattered.launch(context),
            Compiled::Sort(sorted) => sorted.launch(context),
            Compiled::Scan(running) => running.launch(context),
        }
    }

    /// Whether all indices were inside.
    fn check(&self) -> Result<()> {
        let outside = *self.context.outside.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let Some((index, len)) = outside else { return Ok(()) };
        let op = if matches!(self.kernel.body, Body::ScatterAdd(_)) { "scatter_add" } else { "gather" };
        Err(Error::Index { op, detail: format!("{}: index {index} is outside 0..{len}", self.kernel.label) })
    }
}
