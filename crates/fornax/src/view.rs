//! Views: how the elements of a tensor lie in a linear memory. All movement ops are arithmetic on views, so
//! that a kernel can read a transposed, sliced, broadcast or padded tensor where it lies.

use smallvec::SmallVec;

/// Sizes of the axes.
pub type Dims = SmallVec<[usize; 6]>;
/// Distances in elements.
pub type Strides = SmallVec<[isize; 6]>;

/// One axis of a slice: elements `start, start + step, ...`, `len` of them. `step` may be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    /// The first element.
    pub start: usize,
    /// How many elements.
    pub len: usize,
    /// Distance between them, never 0.
    pub step: isize,
}

/// Element `c` of the view lies at `offset + sum(strides[i] * c[i])`, if every `c[i]` is inside `mask[i]`;
/// otherwise it is zero and memory is not touched.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// Sizes of the axes.
    pub shape: Dims,
    /// Distance in elements from one index to the next, per axis.
    pub strides: Strides,
    /// Where element `[0, 0, ..]` lies.
    pub offset: isize,
    /// Per axis the half-open range of indices that exist in memory; `None` when all do.
    pub mask: Option<SmallVec<[(usize, usize); 6]>>,
}

/// The number of elements of a shape.
pub fn numel(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// Row-major strides of a shape.
pub fn row_major(shape: &[usize]) -> Strides {
    let mut strides: Strides = SmallVec::from_elem(0, shape.len());
    let mut acc = 1isize;
    for i in (0..shape.len()).rev() {
        strides[i] = acc;
        acc *= shape[i].max(1) as isize;
    }
    strides
}

impl View {
    /// The row-major view of a whole memory.
    pub fn contiguous(shape: &[usize]) -> View {
        View { shape: shape.into(), strides: row_major(shape), offset: 0, mask: None }
    }

    /// How many elements the view has.
    pub fn numel(&self) -> usize {
        numel(&self.shape)
    }

    /// Whether the view is the row-major order of a memory from its first element on.
    pub fn is_contiguous(&self) -> bool {
        self.offset == 0 && self.mask.is_none() && self.is_linear()
    }

    /// Whether the elements lie row-major without gaps, from `offset` on.
    pub fn is_linear(&self) -> bool {
        let want = row_major(&self.shape);
        self.numel() == 0 || (0..self.shape.len()).all(|i| self.shape[i] == 1 || self.strides[i] == want[i])
    }

    /// Axis `i` of the result is axis `axes[i]` of this view.
    pub fn permute(&self, axes: &[usize]) -> View {
        View {
            shape: axes.iter().map(|&a| self.shape[a]).collect(),
            strides: axes.iter().map(|&a| self.strides[a]).collect(),
            offset: self.offset,
            mask: self.mask.as_ref().map(|m| axes.iter().map(|&a| m[a]).collect()),
        }
    }

    /// Repeats axes of size 1; `shape` has the same rank, or this view has one element and no axes.
    pub fn expand(&self, shape: &[usize]) -> View {
        let mut out = self.clone();
        if self.shape.is_empty() {
            out.shape = shape.into();
            out.strides = SmallVec::from_elem(0, shape.len());
            return out;
        }
        for i in 0..shape.len() {
            if self.shape[i] != shape[i] {
                out.shape[i] = shape[i];
                out.strides[i] = 0;
                if let Some(mask) = &mut out.mask {
                    let full = mask[i].0 < mask[i].1;
                    mask[i] = if full { (0, shape[i]) } else { (0, 0) };
                }
            }
        }
        out
    }

    /// Takes a range of every axis.
    pub fn slice(&self, ranges: &[Range]) -> View {
        let mut out = self.clone();
        for (i, r) in ranges.iter().enumerate() {
            out.shape[i] = r.len;
            out.strides[i] = self.strides[i] * r.step;
            out.offset += self.strides[i] * r.start as isize;
            if let Some(mask) = &mut out.mask {
                // Index j of the result is index start + j * step of this view; keep the j that are inside.
                let inside = |j: usize| {
                    let at = r.start as isize + j as isize * r.step;
                    at >= mask[i].0 as isize && at < mask[i].1 as isize
                };
                let lo = (0..r.len).find(|&j| inside(j)).unwrap_or(0);
                let hi = (lo..r.len).find(|&j| !inside(j)).unwrap_or(r.len);
                mask[i] = (lo, hi);
            }
        }
        out.tidy()
    }

    /// Adds `before` and `after` zeros to every axis.
    pub fn pad(&self, amounts: &[(usize, usize)]) -> View {
        let mut out = self.clone();
        let mut mask: SmallVec<[(usize, usize); 6]> = match &self.mask {
            Some(mask) => mask.clone(),
            None => self.shape.iter().map(|&n| (0, n)).collect(),
        };
        for (i, &(before, after)) in amounts.iter().enumerate() {
            out.shape[i] += before + after;
            out.offset -= self.strides[i] * before as isize;
            mask[i] = (mask[i].0 + before, mask[i].1 + before);
        }
        out.mask = Some(mask);
        out.tidy()
    }

    /// The same elements in row-major order under another shape, where strides can say so; otherwise `None`.
    pub fn reshape(&self, shape: &[usize]) -> Option<View> {
        debug_assert_eq!(self.numel(), numel(shape));
        if self.shape[..] == *shape {
            return Some(self.clone());
        }
        if numel(shape) == 0 {
            return Some(View::contiguous(shape));
        }
        // Axes of size 1 that exist carry no information; one that is masked away makes everything zero.
        let keep: Vec<usize> = (0..self.shape.len())
            .filter(|&i| self.shape[i] != 1 || self.mask.as_ref().is_some_and(|m| m[i] != (0, 1)))
            .collect();
        let mut out = View {
            shape: shape.into(),
            strides: SmallVec::from_elem(0, shape.len()),
            offset: self.offset,
            mask: None,
        };
        let mut mask: SmallVec<[(usize, usize); 6]> = shape.iter().map(|&n| (0, n)).collect();
        let (mut old, mut new) = (0, 0);
        while old < keep.len() {
            // Take the shortest runs of old and new axes with equal products.
            let first_old = old;
            let mut have = self.shape[keep[old]];
            old += 1;
            while new < shape.len() && shape[new] == 1 && have != 1 {
                new += 1;
            }
            let first_new = new;
            if new == shape.len() {
                return None;
            }
            let mut want = shape[new];
            new += 1;
            while have != want {
                if have < want {
                    have *= self.shape[keep[old]];
                    old += 1;
                } else {
                    want *= shape[new];
                    new += 1;
                }
            }
            // The old axes of the run must be one axis in memory.
            for pair in keep[first_old..old].windows(2) {
                let (a, b) = (pair[0], pair[1]);
                if self.strides[a] != self.strides[b] * self.shape[b] as isize {
                    return None;
                }
            }
            let mut stride = self.strides[keep[old - 1]];
            for i in (first_new..new).rev() {
                out.strides[i] = stride;
                stride *= shape[i] as isize;
            }
            if let Some(m) = &self.mask {
                let full = keep[first_old..old].iter().all(|&i| m[i] == (0, self.shape[i]));
                if !full {
                    if old - first_old != 1 {
                        return None;
                    }
                    let (lo, hi) = m[keep[first_old]];
                    // One new axis takes the mask as it is; several only if it falls on whole steps of the first.
                    let inner: usize = shape[first_new + 1..new].iter().product();
                    if lo >= hi {
                        mask[first_new] = (0, 0);
                    } else if lo % inner == 0 && hi % inner == 0 {
                        mask[first_new] = (lo / inner, hi / inner);
                    } else {
                        return None;
                    }
                }
            }
        }
        out.mask = Some(mask);
        Some(out.tidy())
    }

    /// Drops a mask that hides nothing, and gives axes of size 1 the stride 0.
    fn tidy(mut self) -> View {
        if self.mask.as_ref().is_some_and(|m| m.iter().zip(&self.shape).all(|(&r, &n)| r == (0, n))) {
            self.mask = None;
        }
        self
    }

    /// The address of a coordinate, or `None` where the mask hides it.
    pub fn at(&self, coord: &[usize]) -> Option<usize> {
        let outside = |(&c, &(lo, hi)): (&usize, &(usize, usize))| c < lo || c >= hi;
        if self.mask.as_ref().is_some_and(|mask| coord.iter().zip(mask).any(outside)) {
            return None;
        }
        let at: isize = coord.iter().zip(&self.strides).map(|(&c, &s)| c as isize * s).sum();
        Some((self.offset + at) as usize)
    }
}

/// Calls `f` with every coordinate of a shape, in row-major order.
pub fn each_coord(shape: &[usize], mut f: impl FnMut(&[usize])) {
    if numel(shape) == 0 {
        return;
    }
    let mut coord: Dims = SmallVec::from_elem(0, shape.len());
    loop {
        f(&coord);
        let mut axis = shape.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            coord[axis] += 1;
            if coord[axis] < shape[axis] {
                break;
            }
            coord[axis] = 0;
        }
    }
}

/// The coarsest shape of which both shapes are coarsenings (axes of size 1 dropped), or `None` if their
/// boundaries do not divide each other. Both must have the same number of elements.
pub fn refine(a: &[usize], b: &[usize]) -> Option<Dims> {
    debug_assert_eq!(numel(a), numel(b));
    let mut out = Dims::new();
    let (mut i, mut j) = (a.len(), b.len());
    let (mut left, mut right) = (1usize, 1usize);
    loop {
        while left == 1 && i > 0 {
            i -= 1;
            left = a[i];
        }
        while right == 1 && j > 0 {
            j -= 1;
            right = b[j];
        }
        if left == 1 && right == 1 {
            break;
        }
        if left == 0 || right == 0 {
            return None;
        }
        let step = left.min(right);
        if left % step != 0 || right % step != 0 {
            return None;
        }
        out.push(step);
        left /= step;
        right /= step;
    }
    out.reverse();
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(view: &View) -> Vec<Option<usize>> {
        let mut out = vec![];
        each_coord(&view.shape, |c| out.push(view.at(c)));
        out
    }

    #[test]
    fn reshape_agrees_with_row_major_order_whenever_it_succeeds() {
        let base = View::contiguous(&[4, 6, 2]);
        let views = [
            base.clone(),
            base.permute(&[1, 0, 2]),
            base.slice(&[
                Range { start: 1, len: 2, step: 2 },
                Range { start: 5, len: 6, step: -1 },
                Range { start: 0, len: 2, step: 1 },
            ]),
            base.pad(&[(2, 2), (0, 0), (0, 0)]),
            base.pad(&[(0, 0), (1, 1), (0, 0)]),
            View::contiguous(&[4, 1, 2]).expand(&[4, 3, 2]),
        ];
        let mut succeeded = 0;
        for view in &views {
            let n = view.numel();
            for a in 1..=n {
                for b in (1..=n).filter(|b| n % a == 0 && (n / a) % b == 0) {
                    if let Some(r) = view.reshape(&[a, b, n / a / b]) {
                        assert_eq!(elements(view), elements(&r), "{view:?} -> {r:?}");
                        succeeded += 1;
                    }
                }
            }
        }
        assert!(succeeded > 50, "{succeeded}");
    }

    #[test]
    fn slices_of_padded_views_keep_the_zeros() {
        let view = View::contiguous(&[3]).pad(&[(2, 2)]);
        let flipped = view.slice(&[Range { start: 6, len: 4, step: -2 }]);
        assert_eq!(elements(&flipped), [None, Some(2), Some(0), None]);
        assert_eq!(elements(&view.pad(&[(1, 0)])).iter().filter(|e| e.is_none()).count(), 5);
    }

    #[test]
    fn refinement() {
        assert_eq!(refine(&[6, 4], &[2, 3, 4]).unwrap()[..], [2, 3, 4]);
        assert_eq!(refine(&[24], &[2, 1, 12]).unwrap()[..], [2, 12]);
        assert_eq!(refine(&[6, 4], &[4, 6]), None);
        assert_eq!(refine(&[1], &[]).unwrap().len(), 0);
    }
}
