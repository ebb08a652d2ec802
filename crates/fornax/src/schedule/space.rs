//! Iteration spaces of kernels in the making: which axes, which of them reduced, and how the values of a
//! group lie in them.

use crate::view::{Dims, View, numel, refine, row_major};
use smallvec::SmallVec;

/// The axes over which a group of nodes is computed. A value of the group has either one element for each
/// point of the space (*element*) or one for each point of the kept axes (*kept*).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Space {
    pub dims: Dims,
    pub reduced: SmallVec<[bool; 6]>,
}

/// Which of the two a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Element,
    Kept,
}

impl Space {
    /// A space without reduced axes. Axes of size 1 are dropped.
    pub fn map(shape: &[usize]) -> Space {
        let dims: Dims = shape.iter().copied().filter(|&n| n != 1).collect();
        Space { reduced: SmallVec::from_elem(false, dims.len()), dims }
    }

    /// The space of a reduction of `shape` over `axes`.
    pub fn reduction(shape: &[usize], axes: &[usize]) -> Space {
        let kept = |&(_, &n): &(usize, &usize)| n != 1;
        Space {
            dims: shape.iter().enumerate().filter(kept).map(|(_, &n)| n).collect(),
            reduced: shape.iter().enumerate().filter(kept).map(|(a, _)| axes.contains(&a)).collect(),
        }
    }

    /// The space of a matrix product, whose axes must stay as they are.
    pub fn exact(shape: &[usize]) -> Space {
        Space { dims: shape.into(), reduced: SmallVec::from_elem(false, shape.len()) }
    }

    pub fn has_reduced(&self) -> bool {
        self.reduced.contains(&true)
    }

    pub fn numel(&self) -> usize {
        numel(&self.dims)
    }

    fn kept_dims(&self) -> Dims {
        self.dims.iter().zip(&self.reduced).filter(|(_, r)| !**r).map(|(n, _)| *n).collect()
    }

    pub fn kept_numel(&self) -> usize {
        numel(&self.kept_dims())
    }

    /// What a value of that many elements is here, if anything.
    pub fn role(&self, count: usize) -> Option<Role> {
        if count == self.numel() {
            Some(Role::Element)
        } else if self.has_reduced() && count == self.kept_numel() {
            Some(Role::Kept)
        } else {
            None
        }
    }

    /// A space in which the values of both can be computed together, if there is one.
    pub fn merge(&self, other: &Space) -> Option<Space> {
        if self == other {
            return Some(self.clone());
        }
        match (self.has_reduced(), other.has_reduced()) {
            (false, true) => return other.merge(self),
            (true, false) if self.numel() != other.numel() && self.kept_numel() == other.numel() => {
                return self.refine_kept(&other.dims);
            }
            _ => {}
        }
        if self.numel() != other.numel() {
            return None;
        }
        let dims = refine(&self.dims, &other.dims)?;
        let reduced = self.spread(&dims);
        if other.has_reduced() && other.spread(&dims) != reduced {
            return None;
        }
        Some(Space { dims, reduced })
    }

    /// For each axis of a refinement of this space, whether it is part of a reduced axis.
    fn spread(&self, dims: &[usize]) -> SmallVec<[bool; 6]> {
        let mut flags = SmallVec::new();
        let mut axes = self.dims.iter().zip(&self.reduced).filter(|(n, _)| **n != 1);
        let (mut left, mut flag) = (1, false);
        for &n in dims {
            if left == 1
                && let Some((&size, &reduced)) = axes.next()
            {
                (left, flag) = (size, reduced);
            }
            flags.push(flag);
            left /= n;
        }
        flags
    }

    /// This space with its kept axes split as finely as `shape` needs.
    fn refine_kept(&self, shape: &[usize]) -> Option<Space> {
        let finer = refine(&self.kept_dims(), shape)?;
        let mut finer = finer.into_iter();
        let mut out = Space { dims: Dims::new(), reduced: SmallVec::new() };
        for (&n, &reduced) in self.dims.iter().zip(&self.reduced) {
            if reduced {
                out.dims.push(n);
                out.reduced.push(true);
                continue;
            }
            let mut left = n;
            while left != 1 {
                let part = finer.next()?;
                out.dims.push(part);
                out.reduced.push(false);
                left /= part;
            }
        }
        Some(out)
    }

    /// A view over a value's own shape as a view over this space, or `None` if strides cannot say it.
    pub fn fit(&self, view: &View, role: Role) -> Option<View> {
        if role == Role::Element {
            return view.reshape(&self.dims);
        }
        let kept = view.reshape(&self.kept_dims())?;
        let mut out = View {
            shape: self.dims.clone(),
            strides: SmallVec::new(),
            offset: kept.offset,
            mask: kept.mask.as_ref().map(|_| SmallVec::new()),
        };
        let mut at = 0;
        for (&n, &reduced) in self.dims.iter().zip(&self.reduced) {
            out.strides.push(if reduced { 0 } else { kept.strides[at] });
            if let (Some(mask), Some(from)) = (&mut out.mask, &kept.mask) {
                mask.push(if reduced { (0, n) } else { from[at] });
            }
            at += !reduced as usize;
        }
        Some(out)
    }

    /// Where a value of the group lies in memory of its own, as a view over this space.
    pub fn own(&self, role: Role) -> View {
        match role {
            Role::Element => View::contiguous(&self.dims),
            Role::Kept => {
                let strides = row_major(&self.kept_dims());
                let mut next = strides.iter();
                let strides =
                    self.reduced.iter().map(|&r| if r { 0 } else { *next.next().unwrap_or(&0) }).collect();
                View { shape: self.dims.clone(), strides, offset: 0, mask: None }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_merge_by_refinement_and_keep_their_reduced_axes() {
        let row = Space::reduction(&[6, 4], &[1]);
        let merged = row.merge(&Space::map(&[2, 3, 4])).unwrap();
        assert_eq!((&merged.dims[..], &merged.reduced[..]), (&[2, 3, 4][..], &[false, false, true][..]));
        let kept = row.merge(&Space::map(&[3, 2])).unwrap();
        assert_eq!(&kept.dims[..], [3, 2, 4]);
        assert_eq!(&kept.own(Role::Kept).strides[..], [2, 1, 0]);
        assert_eq!(row.merge(&Space::reduction(&[6, 4], &[0])), None);
        assert_eq!(row.merge(&Space::map(&[5])), None);
    }
}
