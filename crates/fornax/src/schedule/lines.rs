//! Rows that begin at whole lines of memory: a temporary whose rows would begin anywhere, such as 50257 halves each, gets
//! rows a little longer. Devices then read and write them in vectors. What lies between the rows is nobody's.

use super::lower::Lowered;
use crate::graph::{Graph, NodeId};
use crate::kernel::{Body, Inst, Kernel, Loop, Source};
use crate::view::View;
use rustc_hash::{FxHashMap, FxHashSet};

/// Rows whose bytes are a multiple of this are vectors already.
const VECTOR: usize = 16;
/// Rows have so many lines at least, so that memory grows by less than one part in as many.
const LINES: usize = 16;

/// Lengthens rows to multiples of `line` bytes where all kernels that touch a temporary can say so and it has no more than
/// `largest` bytes then.
pub(super) fn lengthen(graph: &Graph, kernels: &mut [Lowered], line: usize, largest: usize) {
    let outputs: FxHashSet<NodeId> = graph.outputs.iter().copied().collect();
    let mut touched: FxHashMap<NodeId, Vec<usize>> = FxHashMap::default();
    for (at, kernel) in kernels.iter().enumerate() {
        for &id in kernel.reads.iter().chain(&kernel.writes) {
            touched.entry(id).or_default().push(at);
        }
    }
    let mut written: Vec<NodeId> = kernels.iter().flat_map(|k| k.writes.iter().copied()).collect();
    written.retain(|id| !outputs.contains(id));
    for id in written {
        let node = graph.node(id);
        let (size, row) = (node.dtype.size(), node.shape.last().copied().unwrap_or(1));
        let worth = !(row * size).is_multiple_of(VECTOR) && row * size >= LINES * line && node.numel() > row;
        if !worth {
            continue;
        }
        let rows = Rows { row, pitch: row.next_multiple_of(line / size) };
        if node.numel() / row * rows.pitch * size > largest {
            continue;
        }
        let changed: Option<Vec<(usize, Lowered)>> =
            touched[&id].iter().map(|&at| Some((at, rows.apart_in(&kernels[at], id)?))).collect();
        let Some(changed) = changed else { continue };
        changed.into_iter().for_each(|(at, kernel)| kernels[at] = kernel);
    }
}

/// Elements of a row, and from the beginning of a row to that of the next.
struct Rows {
    row: usize,
    pitch: usize,
}

impl Rows {
    /// The kernel with the rows of a value this far apart, if it addresses them by views that know where a row ends.
    fn apart_in(&self, kernel: &Lowered, id: NodeId) -> Option<Lowered> {
        let mut out = kernel.clone();
        // A kernel that others were joined to can read a value by several numbers.
        let is_read = |n: usize| kernel.reads[n] == id;
        let is_write = |n: usize| kernel.writes[n] == id;
        let Kernel { body, reads, writes, in_place, .. } = &mut out.kernel;
        if in_place.iter().any(|&(w, r)| is_write(w) || is_read(r)) {
            return None;
        }
        match body {
            Body::Loop(body) => self.apart_in_loop(body, &is_read, &is_write)?,
            Body::MatMul(body) => {
                for matrix in [&mut body.left, &mut body.right] {
                    if is_read(matrix.read) {
                        matrix.view = self.apart(&matrix.view, None)?;
                    }
                }
                self.apart_in_loop(&mut body.epilogue, &is_read, &is_write)?;
            }
            _ => return None,
        }
        let reads = reads.iter_mut().enumerate().filter(|(n, _)| is_read(*n));
        let writes = writes.iter_mut().enumerate().filter(|(n, _)| is_write(*n));
        reads.chain(writes).for_each(|(_, port)| port.len = port.len / self.row * self.pitch);
        Some(out)
    }

    fn apart_in_loop(
        &self,
        body: &mut Loop,
        is_read: &dyn Fn(usize) -> bool,
        is_write: &dyn Fn(usize) -> bool,
    ) -> Option<()> {
        for segment in &mut body.segments {
            for (n, load) in segment.loads.iter_mut().enumerate() {
                if !matches!(load.source, Source::Memory(read) if is_read(read)) {
                    continue;
                }
                let mut gathers = body.program.iter().filter_map(|instr| match instr.inst {
                    Inst::Gather { load, stride, len, .. } if load == n => Some((stride, len)),
                    _ => None,
                });
                load.view = self.apart(&load.view, gathers.next())?;
                if gathers.next().is_some() {
                    return None;
                }
            }
            for store in segment.stores.iter_mut().filter(|s| is_write(s.write)) {
                store.view = self.apart(&store.view, None)?;
                if (store.view.strides.last(), store.view.shape.last()) == (Some(&1), Some(&self.row)) {
                    store.spare = self.pitch - self.row;
                }
            }
        }
        Some(())
    }

    /// The view with the rows apart: every axis goes from row to row or stays inside one. So does what a gather adds, in
    /// steps of `gathered.0`, which can only be inside.
    fn apart(&self, view: &View, gathered: Option<(isize, usize)>) -> Option<View> {
        let row = self.row as isize;
        let mut out = view.clone();
        // The least and the largest distance along a row.
        let (mut least, mut most) = (0, 0);
        let mut along = |stride: isize, first: usize, last: usize| {
            let ends = [stride * first as isize, stride * last as isize];
            least += ends[0].min(ends[1]);
            most += ends[0].max(ends[1]);
        };
        for axis in 0..view.shape.len() {
            let stride = view.strides[axis];
            let (first, end) = view.mask.as_ref().map_or((0, view.shape[axis]), |mask| mask[axis]);
            if first >= end {
                return None;
            }
            match stride % row {
                0 => out.strides[axis] = stride / row * self.pitch as isize,
                _ => along(stride, first, end - 1),
            }
        }
        if let Some((stride, len)) = gathered {
            if len == 0 || stride % row == 0 {
                return None;
            }
            along(stride, 0, len - 1);
        }
        let first_row = (view.offset + least).div_euclid(row);
        let inside = view.offset - first_row * row;
        out.offset = first_row * self.pitch as isize + inside;
        (inside + most < row).then_some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Range, each_coord};

    const ROWS: Rows = Rows { row: 7, pitch: 10 };

    /// Every element must lie in the same row at the same place.
    fn check(view: &View) {
        let apart = ROWS.apart(view, None).unwrap();
        assert_eq!((&apart.shape, &apart.mask), (&view.shape, &view.mask));
        each_coord(&view.shape, |c| {
            assert_eq!(apart.at(c), view.at(c).map(|at| at / 7 * 10 + at % 7), "{view:?} at {c:?}");
        });
    }

    #[test]
    fn views_that_know_where_a_row_ends_keep_their_elements() {
        let whole = View::contiguous(&[2, 3, 7]);
        check(&whole);
        check(&whole.permute(&[2, 0, 1]));
        check(&whole.pad(&[(1, 0), (0, 2), (3, 1)]));
        let range = |start, len, step| Range { start, len, step };
        check(&whole.slice(&[range(1, 1, 1), range(2, 3, -1), range(6, 3, -2)]));
        check(&View::contiguous(&[3, 7, 1]).expand(&[3, 7, 5]));
        check(&whole.reshape(&[6, 7]).unwrap());
    }

    #[test]
    fn views_across_the_end_of_a_row_have_none() {
        let apart = |view: &View, gathered| ROWS.apart(view, gathered);
        assert_eq!(apart(&View::contiguous(&[21]), None), None);
        assert_eq!(apart(&View::contiguous(&[6, 7]).reshape(&[2, 21]).unwrap(), None), None);
        let mut late = View::contiguous(&[3, 7]);
        late.offset = 3;
        assert_eq!(apart(&late, None), None);
        // Elements of a row that an index picks, and rows that one picks.
        let first =
            View { shape: [3].as_slice().into(), strides: [7].as_slice().into(), offset: 0, mask: None };
        assert_eq!(apart(&first, Some((1, 7))).unwrap().strides[0], 10);
        assert_eq!(apart(&first, Some((1, 8))), None);
        assert_eq!(apart(&View::contiguous(&[7]), Some((7, 3))), None);
    }
}
