//! Stop 1 of the path: tensors. A [`Tensor`] is a handle to a value that may not have been computed yet. Ops
//! check shapes and dtypes and record; work happens when a value is read or [`crate::eval`] is called.
//! Composite ops are written here in plain ops; nothing here knows how a device works.
//!
//! This file holds the handle and its life: lazy, ready, or overwritten by an optimizer.

mod attention;
pub(crate) mod autocast;
mod axes;
mod create;
mod einsum;
mod elementwise;
pub(crate) mod formula;
mod index;
mod loss;
mod matmul;
mod norm;
mod operators;
pub(crate) mod raw;
mod read;
mod reduce;
mod sort;
mod views;

pub use attention::AttentionOptions;
pub(crate) use attention::composite as attention_composite;
pub use autocast::autocast;
pub use elementwise::Operand;
pub use loss::{CrossEntropy, Reduction};
pub use read::Pending;

use crate::device::{Buffer, Device};
use crate::dtype::{DType, Element, Scalar};
use crate::error::{Error, Result};
use crate::graph::Op;
use crate::scope::Scope;
use crate::span::{self, Phase};
use crate::view::{Dims, numel};
use formula::Part;
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// The sources of a lazy tensor.
pub(crate) type Sources = SmallVec<[Tensor; 3]>;

/// The life of a value.
pub(crate) enum State {
    /// Not computed yet; what it is computed from.
    Lazy(Sources),
    /// Not computed yet; in the place of ops that were recorded for others.
    Part(Part, Sources),
    /// A number that becomes a launch argument.
    Scalar(Scalar),
    /// In memory. The sources are kept only where a gradient may ask for them, and are none otherwise.
    Ready(Arc<Buffer>, Sources),
    /// Its memory went to the result of an optimizer step.
    Moved,
}

pub(crate) struct Inner {
    /// Unique for the life of the process.
    pub id: u64,
    pub shape: Dims,
    pub dtype: DType,
    pub device: Device,
    pub requires_grad: bool,
    pub scope: Scope,
    /// Which recomputed region the tensor was made in; 0 for none.
    pub region: u32,
    /// What computes the value, or did.
    pub op: Op,
    /// Hash of op, shape and dtype: the tensor's share of a structural key.
    pub hash: u64,
    state: Mutex<State>,
}

/// A lazily computed array of numbers. Cheap to clone, `Send` and `Sync`.
///
/// ```
/// # use fornax::*;
/// let device = Device::cpu();
/// let x = Tensor::from_slice(&[1f32, 2.0, 3.0, 4.0], &[2, 2], &device)?;
/// let y = x.matmul(&x)?.add(1.0)?;               // nothing has run yet
/// assert_eq!(y.to_vec::<f32>()?, [8.0, 11.0, 16.0, 23.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct Tensor(pub(crate) Arc<Inner>);

thread_local! {
    static GRAD: Cell<bool> = const { Cell::new(true) };
    static REGION: Cell<u32> = const { Cell::new(0) };
}

/// Runs `f` without recording gradients: what it makes does not require any.
pub fn no_grad<R>(f: impl FnOnce() -> R) -> R {
    recording(false, f)
}

/// Runs `f` with the recording of gradients on or off.
pub(crate) fn recording<R>(on: bool, f: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            GRAD.set(self.0);
        }
    }
    let _restore = Restore(GRAD.replace(on));
    f()
}

/// Runs `f` so that what it records is computed again in the backward pass instead of being kept: less
/// memory for more work. Regions do not nest; an inner one belongs to the outer.
pub fn checkpoint<R>(f: impl FnOnce() -> R) -> R {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    struct Restore(u32);
    impl Drop for Restore {
        fn drop(&mut self) {
            REGION.set(self.0);
        }
    }
    let outer = REGION.get();
    let region = if outer != 0 { outer } else { NEXT.fetch_add(1, Ordering::Relaxed) as u32 };
    let _restore = Restore(REGION.replace(region));
    f()
}

fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn structure_hash(op: &Op, shape: &[usize], dtype: DType) -> u64 {
    let mut hasher = FxHasher::default();
    op.hash(&mut hasher);
    shape.hash(&mut hasher);
    dtype.hash(&mut hasher);
    hasher.finish()
}

impl Inner {
    /// The tensor's share of a structural key once it is data.
    pub(crate) fn data_hash(&self) -> u64 {
        structure_hash(&Op::Input, &self.shape, self.dtype)
    }
}

impl Tensor {
    #[inline]
    fn make(
        op: Op,
        state: State,
        shape: &[usize],
        dtype: DType,
        device: Device,
        requires_grad: bool,
    ) -> Tensor {
        let hash = structure_hash(&op, shape, dtype);
        Tensor(Arc::new(Inner {
            id: next_id(),
            shape: Dims::from_slice(shape),
            dtype,
            device,
            requires_grad,
            scope: Scope::current(),
            region: REGION.get(),
            op,
            hash,
            state: Mutex::new(state),
        }))
    }

    /// Records an op whose operands were checked. The device is the first source's.
    pub(crate) fn record(op: Op, src: Sources, shape: &[usize], dtype: DType) -> Tensor {
        let device = src[0].device().clone();
        Tensor::lazy(op, src, shape, dtype, device)
    }

    /// Records an op that may have no sources.
    pub(crate) fn record_on(op: Op, src: Sources, shape: &[usize], dtype: DType, device: &Device) -> Tensor {
        Tensor::lazy(op, src, shape, dtype, device.clone())
    }

    #[inline]
    fn lazy(op: Op, src: Sources, shape: &[usize], dtype: DType, device: Device) -> Tensor {
        let requires_grad = dtype.is_float() && GRAD.get() && src.iter().any(|s| s.0.requires_grad);
        Tensor::make(op, State::Lazy(src), shape, dtype, device, requires_grad)
    }

    /// A launch argument, the same everywhere.
    pub(crate) fn argument(value: Scalar, shape: &[usize], dtype: DType, device: &Device) -> Tensor {
        Tensor::make(Op::Scalar, State::Scalar(value), shape, dtype, device.clone(), false)
    }

    /// A tensor over memory that holds its value.
    pub(crate) fn ready(buffer: Arc<Buffer>, shape: &[usize], dtype: DType, device: &Device) -> Tensor {
        let state = State::Ready(buffer, Sources::new());
        Tensor::make(Op::Input, state, shape, dtype, device.clone(), false)
    }

    /// The same value under a new identity: without history, and requiring a gradient or not.
    pub(crate) fn leaf(&self, requires_grad: bool) -> Tensor {
        let (op, state) = match &*self.state() {
            State::Ready(buffer, _) => (Op::Input, State::Ready(buffer.clone(), Sources::new())),
            _ => (Op::Reshape, State::Lazy(smallvec::smallvec![self.clone()])),
        };
        let Inner { shape, dtype, device, .. } = &*self.0;
        Tensor::make(op, state, shape, *dtype, device.clone(), requires_grad)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// What computes this tensor, or did.
    pub(crate) fn op(&self) -> &Op {
        &self.0.op
    }

    /// What this tensor was computed from, if it still knows.
    pub(crate) fn sources(&self) -> Option<Sources> {
        match &*self.state() {
            State::Lazy(src) => Some(src.clone()),
            State::Ready(_, src) => Some(src.clone()).filter(|src| !src.is_empty()),
            State::Part(..) | State::Scalar(_) | State::Moved => None,
        }
    }

    /// Stores the computed value. History is dropped unless a gradient may ask for it.
    pub(crate) fn set_ready(&self, buffer: Arc<Buffer>) {
        let mut state = self.state();
        let old = std::mem::replace(&mut *state, State::Moved);
        let (kept, dropped) = match old {
            State::Lazy(src) if self.0.requires_grad => (src, Sources::new()),
            State::Lazy(src) | State::Part(_, src) => (Sources::new(), src),
            // Another thread was faster.
            State::Ready(_, src) => (src, Sources::new()),
            State::Scalar(_) | State::Moved => Default::default(),
        };
        *state = State::Ready(buffer, kept);
        drop(state);
        drop(dropped);
    }

    /// Takes the memory away; whoever evaluates this tensor later gets [`Error::Stale`].
    pub(crate) fn set_moved(&self) {
        *self.state() = State::Moved;
    }

    /// The memory, if the value is computed.
    pub(crate) fn buffer(&self) -> Option<Arc<Buffer>> {
        match &*self.state() {
            State::Ready(buffer, _) => Some(buffer.clone()),
            _ => None,
        }
    }

    /// The sizes of the axes.
    pub fn shape(&self) -> &[usize] {
        &self.0.shape
    }

    /// How many axes.
    pub fn rank(&self) -> usize {
        self.0.shape.len()
    }

    /// How many elements.
    pub fn numel(&self) -> usize {
        numel(&self.0.shape)
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// Where it lives.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// A number that no other tensor of this process has.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    /// Whether `backward` reaches this tensor.
    pub fn requires_grad(&self) -> bool {
        self.0.requires_grad
    }

    /// The same value as a leaf whose gradient `backward` will report.
    pub fn variable(&self) -> Result<Tensor> {
        if !self.dtype().is_float() {
            return Err(Error::DType {
                op: "variable",
                detail: format!("{} has no gradient; only floats do", self.dtype()),
            });
        }
        Ok(self.leaf(true))
    }

    /// The same value, cut off from its history.
    pub fn detach(&self) -> Tensor {
        self.leaf(false)
    }

    /// The same value where fusion stops: what uses it finds it in memory.
    pub fn fence(&self) -> Tensor {
        raw::after(self, self)
    }

    /// The same value, to be used only after another one was computed: an order within a plan, for the sake of
    /// memory.
    pub fn after(&self, other: &Tensor) -> Result<Tensor> {
        axes::same_device("after", self, other)?;
        Ok(raw::after(self, other))
    }

    /// Whether the value is in memory already.
    pub fn is_ready(&self) -> bool {
        matches!(&*self.state(), State::Ready(..))
    }

    /// Computes the value now, if it is not computed yet.
    pub fn eval(&self) -> Result<()> {
        crate::realize::eval(&[self])
    }

    /// The plan that would compute this value: kernels, memory, work. Prints readably.
    pub fn plan(&self) -> Result<Arc<crate::schedule::Plan>> {
        crate::realize::plan(&[self])
    }

    /// A tensor of these bytes (row-major, native endian).
    pub fn from_bytes(bytes: &[u8], shape: &[usize], dtype: DType, device: &Device) -> Result<Tensor> {
        let want = checked_numel("from_bytes", shape)?.checked_mul(dtype.size());
        if want != Some(bytes.len()) {
            return Err(Error::Shape {
                op: "from_bytes",
                detail: format!("{} bytes do not fill {shape:?} of {dtype}", bytes.len()),
            });
        }
        let buffer = device.allocate(bytes.len())?;
        let _phase = span::copying(Phase::Upload, bytes.len());
        device.upload(&buffer, bytes)?;
        Ok(Tensor::ready(buffer, shape, dtype, device))
    }

    /// A tensor of these elements, row-major.
    pub fn from_slice<T: Element>(data: &[T], shape: &[usize], device: &Device) -> Result<Tensor> {
        if checked_numel("from_slice", shape)? != data.len() {
            return Err(Error::Shape {
                op: "from_slice",
                detail: format!("{} elements do not fill {shape:?}", data.len()),
            });
        }
        Tensor::from_bytes(&T::to_bytes(data), shape, T::DTYPE, device)
    }
}

/// The number of elements of a shape that a user gave; too many to count is an error. Sizes of 0 hide
/// nothing: the others are multiplied too when strides are made.
pub(crate) fn checked_numel(op: &'static str, shape: &[usize]) -> Result<usize> {
    shape
        .iter()
        .try_fold(1usize, |n, &d| n.checked_mul(d.max(1)))
        .filter(|&n| n <= isize::MAX as usize / 8)
        .map(|n| if shape.contains(&0) { 0 } else { n })
        .ok_or_else(|| Error::Shape {
            op,
            detail: format!("{shape:?} has more elements than can be addressed"),
        })
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = match &*self.state() {
            State::Lazy(_) | State::Part(..) => format!("lazy {}", self.op().name()),
            State::Scalar(value) => format!("{value:?}"),
            State::Ready(..) => "ready".into(),
            State::Moved => "overwritten".into(),
        };
        write!(f, "Tensor({:?} {} on {}, {state})", self.shape(), self.dtype(), self.device())
    }
}

impl Drop for Inner {
    /// Long chains are taken apart in a loop; the default would recurse once per op and overflow the stack.
    fn drop(&mut self) {
        fn take(state: &mut Mutex<State>, stack: &mut Vec<Tensor>) {
            let state = state.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
            if let State::Lazy(src) | State::Part(_, src) | State::Ready(_, src) = state {
                stack.extend(src.drain(..));
            }
        }
        let mut stack = Vec::new();
        take(&mut self.state, &mut stack);
        while let Some(mut tensor) = stack.pop() {
            // Where another thread lets go of it at this moment, the last of both takes it apart.
            if let Some(inner) = Arc::get_mut(&mut tensor.0) {
                take(&mut inner.state, &mut stack);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_threads_computed_at_once_keeps_its_history() -> Result<()> {
        let x = Tensor::from_slice(&[1f32, 2.0], &[2], &Device::cpu())?.variable()?;
        let y = x.mul(3.0)?;
        y.eval()?;
        // The slower thread brings the same value again.
        y.set_ready(y.buffer().ok_or(Error::Stale { op: "test" })?);
        assert_eq!(crate::grad(&y.sum_all()?, &[&x])?[0].to_vec::<f32>()?, [3.0, 3.0]);
        Ok(())
    }
}
