//! Autocast: mixed precision without touching the model. Inside, products take the narrow dtype and
//! everything that sums many terms is carried and handed on in f32.

use super::{Tensor, raw};
use crate::dtype::DType;
use std::cell::Cell;

thread_local! {
    static AUTOCAST: Cell<Option<DType>> = const { Cell::new(None) };
}

/// Runs `f` so that matmul, einsum and attention cast f32 operands to `dtype` (f16 or bf16), while losses,
/// norms, softmax and reductions of f16 and bf16 give f32. Applies to this thread; other dtypes switch it
/// off.
///
/// ```
/// # use fornax::*;
/// let x = Tensor::ones(&[2, 2], DType::F32, &Device::cpu())?;
/// let y = autocast(DType::BF16, || x.matmul(&x))?;
/// assert_eq!(y.dtype(), DType::BF16);
/// # Ok::<(), Error>(())
/// ```
pub fn autocast<R>(dtype: DType, f: impl FnOnce() -> R) -> R {
    struct Restore(Option<DType>);
    impl Drop for Restore {
        fn drop(&mut self) {
            AUTOCAST.set(self.0);
        }
    }
    let chosen = matches!(dtype, DType::F16 | DType::BF16).then_some(dtype);
    let _restore = Restore(AUTOCAST.replace(chosen));
    f()
}

/// The operand of a product.
pub(crate) fn factor(x: &Tensor) -> Tensor {
    match AUTOCAST.get() {
        Some(dtype) if x.dtype() == DType::F32 => raw::cast(x, dtype),
        _ => x.clone(),
    }
}

/// The dtype that a sum of elements of `dtype` is handed on in.
pub(crate) fn result(dtype: DType) -> DType {
    if AUTOCAST.get().is_some() { dtype.compute() } else { dtype }
}
