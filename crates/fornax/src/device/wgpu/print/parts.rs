//! Parts of sums that several workgroups make, in scratch memories. Adapters may have only eight bindings, so the parts of
//! all reductions that are kept in one dtype share a memory.

use super::lanes::{as_before, as_word};
use super::module::{Binding, Module};
use crate::dtype::DType;

/// Where the parts of some reductions lie.
pub(super) struct Parts {
    /// The number of the first memory.
    pub first: usize,
    /// The memories: their dtypes, and how many reductions each has.
    pub kinds: Vec<(DType, usize)>,
    /// The memory of each reduction, and how many reductions come before it there.
    places: Vec<(usize, usize)>,
}

impl Parts {
    /// Of reductions of values of these dtypes, in memories from `first` on.
    pub fn of(dtypes: impl IntoIterator<Item = DType>, first: usize) -> Parts {
        let (mut kinds, mut places): (Vec<(DType, usize)>, _) = (vec![], vec![]);
        for dtype in dtypes.into_iter().map(kept_as) {
            let kind = kinds.iter().position(|kind| kind.0 == dtype).unwrap_or_else(|| {
                kinds.push((dtype, 0));
                kinds.len() - 1
            });
            places.push((kind, kinds[kind].1));
            kinds[kind].1 += 1;
        }
        Parts { first, kinds, places }
    }

    /// The memory of a reduction.
    pub fn memory(&self, reduction: usize) -> usize {
        self.first + self.places[reduction].0
    }

    /// Where a reduction's part with some number lies among all of its memory.
    pub fn number(&self, reduction: usize, part: &str) -> String {
        let (kind, before) = self.places[reduction];
        match self.kinds[kind].1 {
            1 => part.to_string(),
            count => format!("(({part}) * {count}u + {before}u)"),
        }
    }

    /// Bytes of the memories if there are so many parts of every reduction.
    pub fn bytes(&self, parts: usize) -> impl Iterator<Item = usize> {
        self.kinds.iter().map(move |(dtype, count)| parts * count * dtype.size())
    }
}

/// Partial results are kept in the compute type; bools as words.
fn kept_as(dtype: DType) -> DType {
    match dtype.compute() {
        DType::Bool | DType::U8 => DType::U32,
        other => other,
    }
}

/// Bytes of an element in which a partial result of a dtype is kept.
pub(super) fn bytes_kept(dtype: DType) -> usize {
    kept_as(dtype).size()
}

/// The partial result at an address of a scratch memory.
pub(super) fn kept(m: &mut Module<'_>, scratch: usize, dtype: DType, at: &str) -> String {
    let value = m.elements(Binding::Scratch(scratch), kept_as(dtype), at, 1).remove(0);
    as_before(dtype, &value)
}

/// Stores a partial result.
pub(super) fn keep(m: &mut Module<'_>, scratch: usize, dtype: DType, at: &str, value: &str) {
    m.store(Binding::Scratch(scratch), kept_as(dtype), at, &[as_word(dtype, value)]);
}
