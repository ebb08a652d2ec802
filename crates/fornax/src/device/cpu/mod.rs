//! The CPU device.

use super::{Backend, Launch, Memory, Pipeline};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use std::alloc::{Layout, alloc, dealloc};
use std::any::Any;
use std::sync::Arc;

/// Memory of the host, aligned to cache lines.
pub struct HostMemory {
    pointer: *mut u8,
    layout: Layout,
}

// SAFETY: the pointer is owned; who may write when is the launch's promise (see `Cpu::launch`).
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl Memory for HostMemory {}

impl HostMemory {
    fn new(bytes: usize) -> Option<HostMemory> {
        let layout = Layout::from_size_align(bytes.max(64), 64).ok()?;
        // SAFETY: the layout's size is not zero.
        let pointer = unsafe { alloc(layout) };
        (!pointer.is_null()).then_some(HostMemory { pointer, layout })
    }

    pub(super) fn pointer(&self) -> *mut u8 {
        self.pointer
    }

    pub(super) fn bytes(&self) -> usize {
        self.layout.size()
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
        unsafe { dealloc(self.pointer, self.layout) }
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

impl Backend for Cpu {
    fn name(&self) -> String {
        "cpu".into()
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

    fn compile(&self, _kernel: &Kernel) -> Result<Box<dyn Pipeline>> {
        struct Dummy;
        impl Pipeline for Dummy {}
        Ok(Box::new(Dummy))
    }

    fn launch(&self, _batch: &[Launch<'_>]) -> Result<()> {
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }
}
