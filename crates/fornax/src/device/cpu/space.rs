//! How a segment's space is walked: its axes are joined where memory allows, then two become the rows and
//! columns of a tile and the others are counted outside.

use crate::kernel::{Inst, Level, Loop, Segment, Source};
use crate::view::View;

/// How often a value differs inside a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Once.
    One,
    /// From row to row.
    Row,
    /// From column to column.
    Col,
    /// Everywhere.
    Full,
}

impl Class {
    pub fn join(self, other: Class) -> Class {
        match (self, other) {
            (a, b) if a == b => a,
            (Class::One, x) | (x, Class::One) => x,
            _ => Class::Full,
        }
    }
}

/// What an access touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Read(usize),
    Write(usize),
    /// The product of a matrix multiplication.
    Product,
    /// No memory: the address is the value.
    Index,
}

/// One load or store of a segment over the walked axes: the outer ones, then row and column.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub base: Base,
    pub offset: isize,
    pub strides: Vec<isize>,
    /// Per axis the indices that exist, where some do not.
    pub mask: Option<Vec<(usize, usize)>>,
    /// No element exists.
    pub empty: bool,
}

impl Access {
    pub fn row_stride(&self) -> isize {
        self.strides[self.strides.len() - 2]
    }
    pub fn col_stride(&self) -> isize {
        self.strides[self.strides.len() - 1]
    }
}

/// The walk over a segment. Outer axes come as kept ones, then reduced ones.
#[derive(Clone, Debug)]
pub(super) struct Space {
    pub outer: Vec<usize>,
    /// How many of the outer axes are kept.
    pub outer_kept: usize,
    pub rows: usize,
    pub cols: usize,
    pub row_reduced: bool,
    pub col_reduced: bool,
    /// Whether a load runs down the rows in memory, so that square tiles are better than long ones.
    pub transposed: bool,
    /// Loads, then stores.
    pub accesses: Vec<Access>,
}

#[derive(Clone)]
struct Axis {
    size: usize,
    reduced: bool,
    /// Position in the segment, which orders the reduced axes.
    position: usize,
    strides: Vec<isize>,
    masks: Vec<Option<(usize, usize)>>,
}

/// Joins neighbours that are one axis in every memory.
fn coalesce(axes: Vec<Axis>) -> Vec<Axis> {
    let mut out: Vec<Axis> = vec![];
    for axis in axes {
        if let Some(last) = out.last_mut() {
            let n = axis.size as isize;
            let joins = last.strides.iter().zip(&axis.strides).all(|(&o, &i)| o == i * n)
                && axis.masks.iter().all(|m| m.is_none());
            if joins {
                last.size *= axis.size;
                last.strides = axis.strides;
                last.position = axis.position;
                for (lo, hi) in last.masks.iter_mut().flatten() {
                    (*lo, *hi) = (*lo * axis.size, *hi * axis.size);
                }
                continue;
            }
        }
        out.push(axis);
    }
    out
}

fn views(segment: &Segment) -> impl Iterator<Item = &View> {
    segment.loads.iter().map(|l| &l.view).chain(segment.stores.iter().map(|s| &s.view))
}

impl Space {
    /// The walk over a segment. With `fixed` the last two axes are rows and columns as they are.
    pub fn new(body: &Loop, segment: &Segment, fixed: bool) -> Space {
        let accesses = segment.loads.len() + segment.stores.len();
        let mut empty = vec![false; accesses];
        let mut axes = vec![];
        for (position, &size) in segment.dims.iter().enumerate() {
            let masks: Vec<_> = views(segment)
                .map(|v| v.mask.as_ref().map(|m| m[position]).filter(|&m| m != (0, size)))
                .collect();
            for (e, mask) in empty.iter_mut().zip(&masks) {
                *e |= mask.is_some_and(|(lo, hi)| lo >= hi);
            }
            if size == 1 && !fixed {
                continue;
            }
            let strides = views(segment).map(|v| if size == 1 { 0 } else { v.strides[position] }).collect();
            axes.push(Axis { size, reduced: body.reduced[position], position, strides, masks });
        }
        let one = |reduced| Axis {
            size: 1,
            reduced,
            position: 0,
            strides: vec![0; accesses],
            masks: vec![None; accesses],
        };
        while fixed && axes.len() < 2 {
            axes.insert(0, one(false));
        }
        let (mut reduced, mut kept): (Vec<_>, Vec<_>) = axes.into_iter().partition(|a| a.reduced);
        if reduced.is_empty() && body.reduced.contains(&true) {
            reduced.push(one(true));
        }
        let (row, col);
        let mut transposed = false;
        if fixed {
            col = kept.pop().unwrap_or_else(|| one(false));
            row = kept.pop().unwrap_or_else(|| one(false));
        } else {
            if reduced.is_empty() && !segment.stores.is_empty() {
                // A map may run in any order: the first store's memory is written forwards.
                let first = segment.loads.len();
                kept.sort_by_key(|a| std::cmp::Reverse(a.strides[first].abs()));
            }
            kept = coalesce(kept);
            reduced = coalesce(reduced);
            let last = |axes: &mut Vec<Axis>| axes.pop().unwrap_or_else(|| one(false));
            if reduced.is_empty() {
                col = last(&mut kept);
                // A load that runs along another axis in memory wants that axis in the tile.
                let wants = |a: &Axis| {
                    (0..segment.loads.len()).any(|i| {
                        a.strides[i].abs() == 1
                            && col.strides[i].abs() > 1
                            && segment.loads[i].source != Source::Index
                    })
                };
                let at = kept.iter().rposition(wants);
                transposed = at.is_some();
                row = match at {
                    Some(at) => kept.remove(at),
                    None => last(&mut kept),
                };
            } else if kept.is_empty() {
                (col, row) = (last(&mut reduced), one(false));
            } else {
                // The columns are the axis along which more memory is contiguous.
                let score = |a: &Axis| -> usize {
                    body.program.iter().map(|i| score_of(i, segment, a)).sum::<usize>()
                };
                let (k, r) = (score(&kept[kept.len() - 1]), score(&reduced[reduced.len() - 1]));
                let later = reduced[reduced.len() - 1].position > kept[kept.len() - 1].position;
                if r > k || (r == k && later) {
                    (col, row) = (last(&mut reduced), last(&mut kept));
                } else {
                    (col, row) = (last(&mut kept), last(&mut reduced));
                }
            }
        }
        let outer_kept = kept.len();
        kept.append(&mut reduced);
        let all: Vec<&Axis> = kept.iter().chain([&row, &col]).collect();
        let bases = segment
            .loads
            .iter()
            .map(|l| match l.source {
                Source::Memory(n) => Base::Read(n),
                Source::Index => Base::Index,
                Source::Product => Base::Product,
            })
            .chain(segment.stores.iter().map(|s| Base::Write(s.write)));
        let accesses = bases
            .zip(views(segment))
            .enumerate()
            .map(|(i, (base, view))| {
                let masked = all.iter().any(|a| a.masks[i].is_some());
                let mask = || all.iter().map(|a| a.masks[i].unwrap_or((0, a.size))).collect();
                Access {
                    base,
                    offset: view.offset,
                    strides: all.iter().map(|a| a.strides[i]).collect(),
                    mask: masked.then(mask),
                    empty: empty[i],
                }
            })
            .collect();
        Space {
            outer_kept,
            rows: row.size,
            cols: col.size,
            row_reduced: row.reduced,
            col_reduced: col.reduced,
            transposed,
            accesses,
            outer: kept.iter().map(|a| a.size).collect(),
        }
    }

    /// How an access differs inside a tile.
    pub fn class(&self, access: usize) -> Class {
        let a = &self.accesses[access];
        let n = a.strides.len();
        let varies = |axis: usize, size: usize| {
            a.strides[axis] != 0 || a.mask.as_ref().is_some_and(|m| m[axis] != (0, size))
        };
        match (varies(n - 2, self.rows), varies(n - 1, self.cols)) {
            (false, false) => Class::One,
            (true, false) => Class::Row,
            (false, true) => Class::Col,
            (true, true) => Class::Full,
        }
    }

    /// Whether anything is reduced.
    pub fn reduces(&self) -> bool {
        self.row_reduced || self.col_reduced || self.outer.len() > self.outer_kept
    }
}

/// How well an instruction's memory runs along an axis.
fn score_of(instr: &crate::kernel::Instr, segment: &Segment, axis: &Axis) -> usize {
    let load = match instr.inst {
        Inst::Load(n) => n,
        Inst::Gather { load, .. } => load,
        _ => return 0,
    };
    if instr.level != Level::Element || segment.loads[load].source == Source::Index {
        return 0;
    }
    match axis.strides[load].abs() {
        1 => 2,
        0 => 1,
        _ => 0,
    }
}
