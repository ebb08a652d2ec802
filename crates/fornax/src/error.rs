//! What can go wrong, as one typed enum. Messages name the op, the operands and what would have been right.

use crate::dtype::DType;

/// The result of every fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong. No public function panics on bad input; it returns one of these.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Shapes that do not fit together, or a shape that cannot be.
    #[error("{op}: {detail}")]
    Shape {
        /// The op that was called.
        op: &'static str,
        /// The operands and the likely fix.
        detail: String,
    },
    /// An element type the op does not take.
    #[error("{op}: {detail}")]
    DType {
        /// The op that was called.
        op: &'static str,
        /// The operands and the likely fix.
        detail: String,
    },
    /// An axis outside the tensor's rank, or named twice.
    #[error("{op}: {detail}")]
    Axis {
        /// The op that was called.
        op: &'static str,
        /// The axis, the rank and the range that would be right.
        detail: String,
    },
    /// An index or range outside the tensor.
    #[error("{op}: {detail}")]
    Index {
        /// The op that was called.
        op: &'static str,
        /// The index and the size it must be under.
        detail: String,
    },
    /// A value of an argument that makes no sense for the op.
    #[error("{op}: {detail}")]
    Argument {
        /// The op that was called.
        op: &'static str,
        /// The argument, its value and what would be right.
        detail: String,
    },
    /// Operands that live on different devices.
    #[error("{op}: operands are on {left} and {right}; move one with .to_device(..)")]
    DeviceMismatch {
        /// The op that was called.
        op: &'static str,
        /// The first operand's device.
        left: String,
        /// The other operand's device.
        right: String,
    },
    /// A value asked for as another Rust type than it holds.
    #[error("{op}: the tensor holds {have}, {want} was asked for; cast it with .to_dtype(..)")]
    WrongType {
        /// The op that was called.
        op: &'static str,
        /// The tensor's dtype.
        have: DType,
        /// The dtype of the Rust type that was asked for.
        want: DType,
    },
    /// `backward` on something that has no gradient.
    #[error("backward: {detail}")]
    Gradient {
        /// What is missing.
        detail: String,
    },
    /// A lazy tensor whose input was overwritten by an optimizer step before it was evaluated.
    #[error(
        "{op}: an input was overwritten by an optimizer step before this tensor was evaluated; evaluate it before \
         the step, or name it in step_with(..)"
    )]
    Stale {
        /// The op that was called.
        op: &'static str,
    },
    /// The device has no room left.
    #[error("out of memory: {requested} bytes were asked for on {device}, {live} are in use")]
    OutOfMemory {
        /// The device's name.
        device: String,
        /// The size of the allocation that failed.
        requested: usize,
        /// Bytes in use by live tensors.
        live: usize,
    },
    /// A plan that would not fit the memory budget; nothing has run.
    #[error(
        "memory budget: the plan peaks at {peak} bytes, the budget is {budget}; the largest live tensors: {largest}"
    )]
    Budget {
        /// Bytes at the plan's peak, inputs included.
        peak: usize,
        /// The budget that was set.
        budget: usize,
        /// The largest tensors alive at the peak, with label and size.
        largest: String,
    },
    /// A device that does not exist here.
    #[error("device {name:?}: {detail}")]
    NoDevice {
        /// What was asked for.
        name: String,
        /// What exists.
        detail: String,
    },
    /// `verify` found a kernel that disagrees with the reference interpreter.
    #[error("verify: kernel {kernel} differs from the reference: {detail}")]
    Verify {
        /// The kernel's label.
        kernel: String,
        /// The worst element and the kernel's IR.
        detail: String,
    },
    /// A named parameter that is missing, doubled or of another shape.
    #[error("parameter {name:?}: {detail}")]
    Parameter {
        /// The parameter's path.
        name: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A file that is not what its name says.
    #[error("{path}: {detail}")]
    Format {
        /// The file.
        path: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The operating system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The operating system's word.
        source: std::io::Error,
    },
    /// The device failed or went away.
    #[error("device {device}: {detail}")]
    Device {
        /// The device's name.
        device: String,
        /// What it said.
        detail: String,
    },
    /// A defect in Fornax itself.
    #[error("internal error, please report it: {0}")]
    Internal(String),
}
