//! Threads and their scratch memory. How work is cut never depends on how many threads there are, so neither
//! do results.

use rayon::prelude::*;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::RefCell;

/// Calls `f` with 0..n, in any order, on as many threads as there are.
pub(super) fn each(n: usize, f: impl Fn(usize) + Send + Sync) {
    if n <= 1 {
        (0..n).for_each(f);
    } else {
        (0..n).into_par_iter().with_max_len(1).for_each(f);
    }
}

/// Runs `f` among the threads, so that what it hands to [`each`] finds them awake.
pub(super) fn among<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    if rayon::current_thread_index().is_some() { f() } else { rayon::scope(|_| f()) }
}

/// Memory of a thread, aligned to cache lines, that grows to the largest need.
struct Scratch {
    pointer: *mut u8,
    bytes: usize,
}

impl Scratch {
    fn layout(bytes: usize) -> Layout {
        // A size that was allocated before is valid, and sizes come from compiled kernels.
        Layout::from_size_align(bytes, 64).unwrap_or(Layout::new::<[u64; 8]>())
    }

    fn reserve(&mut self, bytes: usize) {
        if bytes > self.bytes {
            self.free();
            let bytes = bytes.next_power_of_two().max(64 * 1024);
            // SAFETY: the size is not zero.
            self.pointer = unsafe { alloc(Self::layout(bytes)) };
            if self.pointer.is_null() {
                handle_alloc_error(Self::layout(bytes));
            }
            self.bytes = bytes;
        }
    }

    fn free(&mut self) {
        if self.bytes > 0 {
            // SAFETY: allocated in `reserve` with this layout.
            unsafe { dealloc(self.pointer, Self::layout(self.bytes)) };
            self.bytes = 0;
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.free();
    }
}

thread_local! {
    static FREE: RefCell<Vec<Scratch>> = const { RefCell::new(vec![]) };
}

/// Calls `f` with at least that much memory of the thread, contents undefined. Calls may nest.
pub(super) fn with_scratch<R>(bytes: usize, f: impl FnOnce(*mut u8) -> R) -> R {
    let taken = FREE.with(|free| free.borrow_mut().pop());
    let mut scratch = taken.unwrap_or(Scratch { pointer: std::ptr::null_mut(), bytes: 0 });
    scratch.reserve(bytes.max(64));
    let result = f(scratch.pointer);
    FREE.with(|free| free.borrow_mut().push(scratch));
    result
}

/// A pointer that threads may share; who touches what is the user's promise.
#[derive(Clone, Copy)]
pub(super) struct Shared<T>(pub *mut T);

// SAFETY: see the type's text; every use says why its elements are disjoint.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The pointer, moved by elements.
    pub fn at(self, offset: isize) -> *mut T {
        self.0.wrapping_offset(offset)
    }
}
