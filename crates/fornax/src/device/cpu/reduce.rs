//! Reductions of a tile along its columns (a row kernel) or its rows (a column kernel), and the combination
//! of what several tiles gave.

use super::numeric::{Castable, Number, larger, smaller, with_register};
use super::ops::{Add, Max, Min, Mul, Op2, Row, Tile};
use super::simd::Simd;
use crate::dtype::DType;
use crate::graph::Reduce;

/// Reduces `a` into the vector `dst`: along the columns one element
/// a row, else one element a column. Positions go to the i64 vector `c`.
#[inline(always)]
pub(super) unsafe fn reduce_f32<S: Simd>(op: Reduce, columns: bool, t: &Tile) {
    unsafe {
        match (op, columns) {
            (Reduce::Sum, true) => fold_row::<S, Add>(t, 0.0, |a, b| a + b),
            (Reduce::Prod, true) => fold_row::<S, Mul>(t, 1.0, |a, b| a * b),
            (Reduce::Max, true) => fold_row::<S, Max>(t, f32::NEG_INFINITY, larger),
            (Reduce::Min, true) => fold_row::<S, Min>(t, f32::INFINITY, smaller),
            (Reduce::ArgMax, true) => {
                fold_row::<S, Max>(t, f32::NEG_INFINITY, larger);
                find_rows::<S>(t);
            }
            (Reduce::ArgMin, true) => {
                fold_row::<S, Min>(t, f32::INFINITY, smaller);
                find_rows::<S>(t);
            }
            (Reduce::Sum, false) => sum_columns::<S>(t),
            (Reduce::Max, false) => fold_columns::<S, Max>(t),
            (Reduce::Min, false) => fold_columns::<S, Min>(t),
            (Reduce::Prod, false) => fold_columns::<S, Mul>(t),
            (Reduce::ArgMax | Reduce::ArgMin, false) => reduce_any::<f32>(op, false, t),
        }
    }
}

/// Rows from this length on are read at two places, so that memory works on two pages at a time.
const LONG: usize = 4096;

/// Four vectors of running values for each row, so that additions do not wait for each other.
#[inline(always)]
unsafe fn fold_row<S: Simd, F: Op2>(t: &Tile, unit: f32, join: impl Fn(f32, f32) -> f32) {
    unsafe {
        for row in 0..t.rows {
            let mut a = Row::<f32>::new::<S>(&t.a, row);
            let mut pa = a.start();
            let mut s = [S::splat(unit); 4];
            let mut i = 0;
            if t.a.each && t.cols >= LONG {
                let half = t.cols / 2 / (2 * S::W) * (2 * S::W);
                let (low, high): (*const f32, *const f32) = (t.a.row(row), t.a.row::<f32>(row).add(half));
                while i < half {
                    s[0] = F::apply(s[0], S::load(low.add(i)));
                    s[1] = F::apply(s[1], S::load(low.add(i + S::W)));
                    s[2] = F::apply(s[2], S::load(high.add(i)));
                    s[3] = F::apply(s[3], S::load(high.add(i + S::W)));
                    i += 2 * S::W;
                }
                i = 2 * half;
                pa = low.add(i);
            }
            while i + 4 * S::W <= t.cols {
                for s in &mut s {
                    *s = F::apply(*s, S::load(a.next(&mut pa)));
                }
                i += 4 * S::W;
            }
            while i + S::W <= t.cols {
                s[0] = F::apply(s[0], S::load(a.next(&mut pa)));
                i += S::W;
            }
            let mut rest = unit;
            if i < t.cols {
                let part = a.part(pa, t.cols - i);
                (0..t.cols - i).for_each(|j| rest = join(rest, *part.add(j)));
            }
            let all = F::apply(F::apply(s[0], s[1]), F::apply(s[2], s[3]));
            *t.dst.ptr.cast::<f32>().add(row) = join(fold_lanes::<S>(all, &join), rest);
        }
    }
}

/// The lanes folded pairwise.
#[inline(always)]
pub(super) unsafe fn fold_lanes<S: Simd>(x: S, join: &impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = unsafe { x.lanes() };
    let mut n = S::W;
    while n > 1 {
        n /= 2;
        for i in 0..n {
            lanes[i] = join(lanes[i], lanes[i + n]);
        }
    }
    lanes[0]
}

/// The first position of each row that holds the row's extreme value, which `dst` has.
#[inline(always)]
unsafe fn find_rows<S: Simd>(t: &Tile) {
    unsafe {
        for row in 0..t.rows {
            let extreme = *t.dst.ptr.cast::<f32>().add(row);
            let a: *const f32 = t.a.row(row);
            let step = t.a.each as usize;
            let mut i = 0;
            if t.a.each {
                let wanted = S::splat(extreme);
                while i + S::W <= t.cols {
                    let x = S::load(a.add(i));
                    let found = if extreme.is_nan() { S::any(x.ne(x)) } else { S::any(x.eq(wanted)) };
                    if found {
                        break;
                    }
                    i += S::W;
                }
            }
            let hit = |x: f32| x == extreme || (x.is_nan() && extreme.is_nan());
            while i < t.cols && !hit(*a.add(i * step)) {
                i += 1;
            }
            *t.c.ptr.cast::<i64>().add(row) = i as i64;
        }
    }
}

/// The columns' sums, eight rows at a time: short chains of additions, and few passes over the sums.
#[inline(always)]
unsafe fn sum_columns<S: Simd>(t: &Tile) {
    unsafe {
        let dst: *mut f32 = t.dst.ptr.cast();
        let mut row = 0;
        if t.a.each {
            while row + 8 <= t.rows {
                let p: [*const f32; 8] = std::array::from_fn(|k| t.a.row(row + k) as *const f32);
                let whole = t.cols - t.cols % S::W;
                for i in (0..whole).step_by(S::W) {
                    let mut x = [S::splat(0.0); 8];
                    for k in 0..8 {
                        x[k] = S::load(p[k].add(i));
                    }
                    let left = x[0].add(x[1]).add(x[2].add(x[3]));
                    let sum = left.add(x[4].add(x[5]).add(x[6].add(x[7])));
                    let sum = if row == 0 { sum } else { sum.add(S::load(dst.add(i))) };
                    sum.store(dst.add(i));
                }
                for i in whole..t.cols {
                    let x = |k: usize| *p[k].add(i);
                    let sum = ((x(0) + x(1)) + (x(2) + x(3))) + ((x(4) + x(5)) + (x(6) + x(7)));
                    *dst.add(i) = if row == 0 { sum } else { sum + *dst.add(i) };
                }
                row += 8;
            }
        }
        while row < t.rows {
            let mut a = Row::<f32>::new::<S>(&t.a, row);
            let mut pa = a.start();
            let mut i = 0;
            while i + S::W <= t.cols {
                let old = if row == 0 { S::splat(0.0) } else { S::load(dst.add(i)) };
                S::load(a.next(&mut pa)).add(old).store(dst.add(i));
                i += S::W;
            }
            if i < t.cols {
                let n = t.cols - i;
                let old = if row == 0 { S::splat(0.0) } else { S::load_part(dst.add(i), n) };
                S::load(a.part(pa, n)).add(old).store_part(dst.add(i), n);
            }
            row += 1;
        }
    }
}

#[inline(always)]
unsafe fn fold_columns<S: Simd, F: Op2>(t: &Tile) {
    unsafe {
        let dst: *mut f32 = t.dst.ptr.cast();
        for row in 0..t.rows {
            let mut a = Row::<f32>::new::<S>(&t.a, row);
            let mut pa = a.start();
            let mut i = 0;
            while i + S::W <= t.cols {
                let x = S::load(a.next(&mut pa));
                (if row == 0 { x } else { F::apply(S::load(dst.add(i)), x) }).store(dst.add(i));
                i += S::W;
            }
            if i < t.cols {
                let n = t.cols - i;
                let x = S::load(a.part(pa, n));
                (if row == 0 { x } else { F::apply(S::load_part(dst.add(i), n), x) })
                    .store_part(dst.add(i), n);
            }
        }
    }
}

/// Whether `new` replaces `old` as the extreme: NaN wins, the first wins.
#[inline(always)]
fn beats<T: Number>(op: Reduce, new: T, old: T) -> bool {
    if old.is_nan() {
        return false;
    }
    new.is_nan() || if op == Reduce::ArgMax { new > old } else { new < old }
}

#[inline(always)]
pub(super) fn join<T: Number>(op: Reduce, a: T, b: T) -> T {
    match op {
        Reduce::Sum => a.add(b),
        Reduce::Prod => a.mul(b),
        Reduce::Max | Reduce::ArgMax => larger(a, b),
        Reduce::Min | Reduce::ArgMin => smaller(a, b),
    }
}

/// The same for any type.
pub(super) unsafe fn reduce_any<T: Number>(op: Reduce, columns: bool, t: &Tile) {
    unsafe {
        let dst: *mut T = t.dst.ptr.cast();
        let positions: *mut i64 = t.c.ptr.cast();
        let step = t.a.each as usize;
        let arg = matches!(op, Reduce::ArgMax | Reduce::ArgMin);
        if columns {
            for row in 0..t.rows {
                let a: *const T = t.a.row(row);
                if arg {
                    let (mut best, mut at) = (*a, 0);
                    for i in 1..t.cols {
                        let x = *a.add(i * step);
                        if beats(op, x, best) {
                            (best, at) = (x, i);
                        }
                    }
                    *dst.add(row) = best;
                    *positions.add(row) = at as i64;
                    continue;
                }
                // Several running values: faster for all, more accurate for floats.
                let mut s = [*a; 8];
                let first = t.cols.min(8);
                (0..first).for_each(|k| s[k] = *a.add(k * step));
                let mut i = 8;
                while i + 8 <= t.cols {
                    (0..8).for_each(|k| s[k] = join(op, s[k], *a.add((i + k) * step)));
                    i += 8;
                }
                while i < t.cols {
                    s[i % 8] = join(op, s[i % 8], *a.add(i * step));
                    i += 1;
                }
                let mut all = s[0];
                (1..first).for_each(|k| all = join(op, all, s[k]));
                *dst.add(row) = all;
            }
        } else {
            for row in 0..t.rows {
                let a: *const T = t.a.row(row);
                for i in 0..t.cols {
                    let x = *a.add(i * step);
                    if row == 0 {
                        *dst.add(i) = x;
                        if arg {
                            *positions.add(i) = 0;
                        }
                    } else if arg {
                        if beats(op, x, *dst.add(i)) {
                            *dst.add(i) = x;
                            *positions.add(i) = row as i64;
                        }
                    } else {
                        *dst.add(i) = join(op, *dst.add(i), x);
                    }
                }
            }
        }
    }
}

/// Bytes of a running value of a reduction: sums and products of f32 run in f64 across tiles.
pub(super) fn running(op: Reduce, dtype: DType) -> DType {
    match op {
        Reduce::Sum | Reduce::Prod if dtype == DType::F32 => DType::F64,
        _ => dtype,
    }
}

/// A running reduction: `n` values, and positions for the arg ones.
#[derive(Clone, Copy)]
pub(super) struct Running {
    pub values: *mut u8,
    pub positions: *mut i64,
}

/// Takes the result of one tile into the running values; `first` when there are none yet. Positions of the
/// tile count from `base`.
pub(super) unsafe fn take_in(
    op: Reduce,
    dtype: DType,
    into: Running,
    tile: Running,
    n: usize,
    first: bool,
    base: i64,
) {
    unsafe {
        if running(op, dtype) != dtype {
            let (into, tile): (*mut f64, *const f32) = (into.values.cast(), tile.values.cast());
            // Each in a loop of its own, which the compiler makes vectors of.
            match op {
                _ if first => (0..n).for_each(|i| *into.add(i) = *tile.add(i) as f64),
                Reduce::Sum => (0..n).for_each(|i| *into.add(i) += *tile.add(i) as f64),
                _ => (0..n).for_each(|i| *into.add(i) = join(op, *into.add(i), *tile.add(i) as f64)),
            }
        } else {
            with_register!(dtype, join_all(op, into, tile, n, first, base))
        }
    }
}

/// Joins two runs of the same reduction, the second after the first.
pub(super) unsafe fn merge(op: Reduce, dtype: DType, into: Running, from: Running, n: usize, first: bool) {
    unsafe { with_register!(running(op, dtype), join_all(op, into, from, n, first, 0)) }
}

unsafe fn join_all<T: Number + Castable>(
    op: Reduce,
    into: Running,
    from: Running,
    n: usize,
    first: bool,
    base: i64,
) {
    unsafe {
        let (a, b): (*mut T, *const T) = (into.values.cast(), from.values.cast());
        let arg = matches!(op, Reduce::ArgMax | Reduce::ArgMin);
        for i in 0..n {
            if arg {
                if first || beats(op, *b.add(i), *a.add(i)) {
                    *a.add(i) = *b.add(i);
                    *into.positions.add(i) = *from.positions.add(i) + base;
                }
            } else {
                *a.add(i) = if first { *b.add(i) } else { join(op, *a.add(i), *b.add(i)) };
            }
        }
    }
}

/// The finished values, in the type of the instruction.
pub(super) unsafe fn finish(op: Reduce, dtype: DType, from: Running, dst: *mut u8, n: usize) {
    unsafe {
        if matches!(op, Reduce::ArgMax | Reduce::ArgMin) {
            std::ptr::copy_nonoverlapping(from.positions, dst.cast::<i64>(), n);
        } else if running(op, dtype) != dtype {
            let (from, dst): (*const f64, *mut f32) = (from.values.cast(), dst.cast());
            (0..n).for_each(|i| *dst.add(i) = *from.add(i) as f32);
        } else {
            std::ptr::copy_nonoverlapping(from.values, dst, n * dtype.size());
        }
    }
}
