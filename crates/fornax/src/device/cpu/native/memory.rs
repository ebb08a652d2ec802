//! Memory that can be executed. It is written first and then made executable: never both at once.

use std::ptr::NonNull;

/// Pages of machine code.
#[derive(Debug)]
pub(super) struct Executable {
    pages: NonNull<u8>,
    bytes: usize,
}

// SAFETY: nobody writes to the pages any more.
unsafe impl Send for Executable {}
// SAFETY: as above.
unsafe impl Sync for Executable {}

impl Executable {
    /// Pages with a copy of the code; `None` where the system gives none.
    pub fn new(code: &[u8]) -> Option<Executable> {
        // SAFETY: fresh pages of our own, as large as the code that is copied there.
        unsafe {
            let (read_write, private) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
            let pages = libc::mmap(std::ptr::null_mut(), code.len(), read_write, private, -1, 0);
            if pages == libc::MAP_FAILED {
                return None;
            }
            let this = Executable { pages: NonNull::new(pages.cast())?, bytes: code.len() };
            std::ptr::copy_nonoverlapping(code.as_ptr(), this.pages.as_ptr(), code.len());
            let executable = libc::mprotect(pages, code.len(), libc::PROT_READ | libc::PROT_EXEC) == 0;
            executable.then_some(this)
        }
    }

    /// Where an offset of the code lies.
    pub fn at(&self, offset: usize) -> *const u8 {
        self.pages.as_ptr().wrapping_add(offset)
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`, with this size.
        unsafe { libc::munmap(self.pages.as_ptr().cast(), self.bytes) };
    }
}
