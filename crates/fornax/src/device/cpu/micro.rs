//! The innermost part of matrix products: a small tile of the result in vector registers, over packed panels of
//! both operands. Written once over [`Lanes`] and compiled for each kind of machine and both floats.

use super::lanes::*;
use super::numeric::Number;
use super::simd::{Level, level};

/// Vectors across a tile; a panel of the right operand is this many vectors wide.
pub(super) const ACROSS: usize = 2;

/// Panels to be packed: `to[panel][p][i]` is element (panel * width + i, p) of the source, for `rows` rows of
/// the source in panels of `width` and `k` columns.
pub(super) struct Pack<T> {
    pub from: *const T,
    /// From row to row of the source, and from column to column.
    pub rs: isize,
    pub ks: isize,
    pub rows: usize,
    pub k: usize,
    pub to: *mut T,
}

/// A block of a product over one stretch of the inner axis: `c = scale * a b`, or added to `c`.
pub(super) struct Tiles<T> {
    pub rows: usize,
    pub cols: usize,
    pub k: usize,
    /// Packed panels.
    pub a: *const T,
    pub b: *const T,
    pub c: *mut T,
    pub rs: isize,
    pub cs: isize,
    pub add: bool,
    pub scale: T,
}

/// Which part there is of a product with a triangle: row i of the scores of attention has columns up to i plus this
/// offset.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    All,
    /// The result is the triangle; beyond it, tiles are left out.
    Result(isize),
    /// The left operand is, and beyond it is zero as far as a tile reaches.
    Left(isize),
    /// The left operand is the transposed triangle.
    LeftTurned(isize),
}

/// A product whose left operand is read where it lies: `c = scale * a b`, or added to `c`.
pub(super) struct Strips<T> {
    pub rows: usize,
    /// The result has room for whole panels of columns.
    pub cols: usize,
    pub k: usize,
    pub a: *const T,
    /// From row to row of the left operand, and along the inner axis; one of them is 1.
    pub rs: isize,
    pub ks: isize,
    /// Packed panels of at least `k` lines, and how many.
    pub b: *const T,
    pub lines: usize,
    pub c: *mut T,
    pub crs: isize,
    pub add: bool,
    pub scale: T,
    pub part: Part,
}

/// The kernels of one kind of machine.
pub(super) struct Kernels<T> {
    /// Width of the left operand's panels, and of the right one's.
    pub mr: usize,
    pub nr: usize,
    pub tiles: unsafe fn(&Tiles<T>),
    pub strips: unsafe fn(&Strips<T>),
    pub pack_left: unsafe fn(&Pack<T>),
    pub pack_right: unsafe fn(&Pack<T>),
}

/// Packs one operand's panels.
#[inline(always)]
pub(super) unsafe fn pack<L: Lanes, const RIGHT: bool>(p: &Pack<L::Item>) {
    let width = if RIGHT { ACROSS * L::W } else { L::ROWS };
    // Lines side by side are read along the memory, a few of them at a time.
    const LINES: usize = 8;
    let mut done = 0;
    if p.rs == 1 {
        // Where the vectors are wider than a panel, more is read than it holds; it must be there.
        let beyond = width.next_multiple_of(L::W) - width;
        done = p.rows.saturating_sub(beyond) / width * width;
        for k in (0..p.k).step_by(LINES) {
            for row in (0..done).step_by(width) {
                // SAFETY: the caller's.
                unsafe {
                    pack_lines::<L>(
                        p.from.add(row),
                        p.ks,
                        k..(k + LINES).min(p.k),
                        p.k,
                        width,
                        p.to.add(row * p.k),
                    )
                };
            }
        }
    }
    for row in (done..p.rows).step_by(width) {
        // SAFETY: the caller's.
        unsafe {
            let (from, to) = (p.from.offset(row as isize * p.rs), p.to.add(row * p.k));
            let rows = width.min(p.rows - row);
            if p.ks == 1 {
                pack_turned::<L>(from, p.rs, rows, p.k, width, to);
            } else {
                pack_any::<L>(from, p.rs, p.ks, rows, 0..p.k, width, to);
            }
        }
    }
}

/// A panel element by element.
#[inline(always)]
unsafe fn pack_any<L: Lanes>(
    from: *const L::Item,
    rs: isize,
    ks: isize,
    rows: usize,
    ps: std::ops::Range<usize>,
    width: usize,
    to: *mut L::Item,
) {
    // SAFETY: the caller's.
    unsafe {
        for p in ps {
            let (from, to) = (from.offset(p as isize * ks), to.add(p * width));
            (0..rows).for_each(|i| *to.add(i) = *from.offset(i as isize * rs));
            // Lanes that nobody stores; still not what memory happened to hold.
            (rows..width).for_each(|i| *to.add(i) = *from);
        }
    }
}

/// Some lines of a whole panel whose source lies side by side.
#[inline(always)]
unsafe fn pack_lines<L: Lanes>(
    from: *const L::Item,
    ks: isize,
    ps: std::ops::Range<usize>,
    k: usize,
    width: usize,
    to: *mut L::Item,
) {
    // Where the last vector is wider than the panel, it writes over the start of the next line, so lines are
    // written in order, and the very last one with care.
    let whole = if width.is_multiple_of(L::W) { ps.end } else { ps.end.min(k - 1) };
    // SAFETY: the caller's.
    unsafe {
        for p in ps.start..whole {
            let (from, to) = (from.offset(p as isize * ks), to.add(p * width));
            for w in (0..width).step_by(L::W) {
                L::load(from.add(w)).store(to.add(w));
            }
        }
        pack_any::<L>(from, 1, ks, width, whole..ps.end, width, to);
    }
}

/// A panel whose source's columns lie side by side.
#[inline(always)]
unsafe fn pack_turned<L: Lanes>(
    from: *const L::Item,
    rs: isize,
    rows: usize,
    k: usize,
    width: usize,
    to: *mut L::Item,
) {
    let mut whole = k - k % L::W;
    if whole == k && !width.is_multiple_of(L::W) {
        // As in `pack_lines`.
        whole -= L::W;
    }
    // SAFETY: the caller's.
    unsafe {
        for p in (0..whole).step_by(L::W) {
            // The last first: what it writes beyond the panel is the start of the next line, in this or the next turn.
            for w in (0..width).step_by(L::W).rev() {
                // Rows that are not there are filled with others.
                let (at, n) = if w < rows { (w, rows - w) } else { (0, rows) };
                L::turn(
                    from.offset(at as isize * rs + p as isize),
                    rs,
                    n.min(L::W),
                    to.add(p * width + w),
                    width,
                );
            }
        }
        pack_any::<L>(from, rs, 1, rows, whole..k, width, to);
    }
}

/// Computes a block, tile by tile.
#[inline(always)]
pub(super) unsafe fn tiles<L: Lanes>(t: &Tiles<L::Item>) {
    let (nr, packed) = (ACROSS * L::W, (1, L::ROWS as isize));
    for col in (0..t.cols).step_by(nr) {
        let cols = nr.min(t.cols - col);
        // SAFETY: the caller's.
        unsafe {
            let b = t.b.add(col * t.k);
            for row in (0..t.rows).step_by(L::ROWS) {
                let a = t.a.add(row * t.k);
                let c = t.c.offset(row as isize * t.rs + col as isize * t.cs);
                let rows = L::ROWS.min(t.rows - row);
                if cols == nr && t.cs == 1 {
                    any_rows::<L>(rows, t.k, a, packed, b, c, t.rs, t.add, t.scale);
                } else {
                    // 12 rows of 32 floats at most.
                    let mut room = [L::splat(t.scale); 12 * ACROSS];
                    let room: *mut L::Item = room.as_mut_ptr().cast();
                    any_rows::<L>(rows, t.k, a, packed, b, room, nr as isize, false, t.scale);
                    spread::<L>(room, rows, cols, c, t);
                }
            }
        }
    }
}

/// Computes a product tile by tile, with the left operand where it lies. The triangle's tiles depend on where its
/// rows are, its sums do not: what they leave out is zero.
#[inline(always)]
pub(super) unsafe fn strips<L: Lanes>(s: &Strips<L::Item>) {
    let nr = ACROSS * L::W;
    let below = |offset: isize, n: usize| n.saturating_add_signed(-offset);
    for col in (0..s.cols).step_by(nr) {
        let first =
            if let Part::Result(offset) = s.part { below(offset, col) / L::ROWS * L::ROWS } else { 0 };
        for row in (first..s.rows).step_by(L::ROWS) {
            let rows = L::ROWS.min(s.rows - row);
            let (from, to) = match s.part {
                Part::All | Part::Result(_) => (0, s.k),
                Part::Left(offset) => (0, s.k.min((row + rows).saturating_add_signed(offset))),
                Part::LeftTurned(offset) => (s.k.min(below(offset, row)), s.k),
            };
            // SAFETY: the caller's.
            unsafe {
                let a = s.a.offset(row as isize * s.rs + from as isize * s.ks);
                let b = s.b.add(col * s.lines + from * nr);
                let c = s.c.offset(row as isize * s.crs).add(col);
                // Two loops, so that the stride of one is a constant in each.
                if s.ks == 1 {
                    any_rows::<L>(rows, to - from, a, (s.rs, 1), b, c, s.crs, s.add, s.scale);
                } else {
                    any_rows::<L>(rows, to - from, a, (1, s.ks), b, c, s.crs, s.add, s.scale);
                }
            }
        }
    }
}

/// Copies the part of a tile that there is to its place.
#[inline(always)]
unsafe fn spread<L: Lanes>(
    room: *const L::Item,
    rows: usize,
    cols: usize,
    c: *mut L::Item,
    t: &Tiles<L::Item>,
) {
    for i in 0..rows {
        for j in 0..cols {
            // SAFETY: the caller's.
            unsafe {
                let to = c.offset(i as isize * t.rs + j as isize * t.cs);
                let x = *room.add(i * ACROSS * L::W + j);
                *to = if t.add { x.add(*to) } else { x };
            }
        }
    }
}

macro_rules! by_rows {
    ($rows:expr, $($n:literal)*, $call:ident $args:tt) => {
        match $rows {
            $($n if $n <= L::ROWS => $call::<L, $n> $args,)*
            _ => {}
        }
    };
}

/// A tile with a constant number of rows; there are no others than these.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn any_rows<L: Lanes>(
    rows: usize,
    k: usize,
    a: *const L::Item,
    strides: (isize, isize),
    b: *const L::Item,
    c: *mut L::Item,
    rs: isize,
    add: bool,
    scale: L::Item,
) {
    // SAFETY: the caller's.
    unsafe { by_rows!(rows, 1 2 3 4 5 6 7 8 9 10 11 12, tile(k, a, strides, b, c, rs, add, scale)) }
}

/// `R` rows of a tile: all sums stay in registers while `k` lines of both panels go by.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn tile<L: Lanes, const R: usize>(
    k: usize,
    mut a: *const L::Item,
    (ars, aks): (isize, isize),
    mut b: *const L::Item,
    c: *mut L::Item,
    rs: isize,
    add: bool,
    scale: L::Item,
) {
    const UNROLL: usize = 4;
    // SAFETY: the caller's.
    unsafe {
        let mut sums = [[L::splat(L::Item::ZERO); ACROSS]; R];
        // The result's lines arrive while the sums are made.
        for i in 0..R {
            let row = c.wrapping_offset(i as isize * rs);
            prefetch(row);
            prefetch(row.wrapping_add(ACROSS * L::W - 1));
        }
        for _ in 0..k / UNROLL {
            for u in 0..UNROLL {
                line::<L, R>(a.offset(u as isize * aks), ars, b.add(u * ACROSS * L::W), &mut sums);
            }
            a = a.offset(UNROLL as isize * aks);
            b = b.add(UNROLL * ACROSS * L::W);
        }
        for _ in 0..k % UNROLL {
            line::<L, R>(a, ars, b, &mut sums);
            a = a.offset(aks);
            b = b.add(ACROSS * L::W);
        }
        let scale = L::splat(scale);
        for i in 0..R {
            for j in 0..ACROSS {
                let to = c.offset(i as isize * rs).add(j * L::W);
                let x = sums[i][j].mul(scale);
                if add { L::load(to).add(x).store(to) } else { x.store(to) }
            }
        }
    }
}

/// One line of both panels: an outer product added to the sums.
#[inline(always)]
unsafe fn line<L: Lanes, const R: usize>(
    a: *const L::Item,
    rs: isize,
    b: *const L::Item,
    sums: &mut [[L; ACROSS]; R],
) {
    // SAFETY: the caller's.
    unsafe {
        let right = [L::load(b), L::load(b.add(L::W))];
        for i in 0..R {
            let left = L::splat(*a.offset(i as isize * rs));
            for j in 0..ACROSS {
                sums[i][j] = left.fma(right[j], sums[i][j]);
            }
        }
    }
}

#[inline(always)]
fn prefetch<T>(p: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which no address can make fault.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(p.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}

macro_rules! machine {
    ($module:ident, $single:ty, $double:ty $(, $features:literal)?) => {
        mod $module {
            use super::*;
            machine!(@one SINGLE, single, f32, $single $(, $features)?);
            machine!(@one DOUBLE, double, f64, $double $(, $features)?);
        }
    };
    (@one $table:ident, $module:ident, $item:ty, $lanes:ty $(, $features:literal)?) => {
        mod $module {
            use super::*;
            $(#[target_feature(enable = $features)])?
            pub(super) unsafe fn tiles(t: &Tiles<$item>) {
                unsafe { super::super::tiles::<$lanes>(t) }
            }
            $(#[target_feature(enable = $features)])?
            pub(super) unsafe fn strips(s: &Strips<$item>) {
                unsafe { super::super::strips::<$lanes>(s) }
            }
            $(#[target_feature(enable = $features)])?
            pub(super) unsafe fn pack_left(p: &Pack<$item>) {
                unsafe { super::super::pack::<$lanes, false>(p) }
            }
            $(#[target_feature(enable = $features)])?
            pub(super) unsafe fn pack_right(p: &Pack<$item>) {
                unsafe { super::super::pack::<$lanes, true>(p) }
            }
        }
        pub(super) static $table: Kernels<$item> = Kernels {
            mr: <$lanes as Lanes>::ROWS,
            nr: ACROSS * <$lanes as Lanes>::W,
            tiles: $module::tiles,
            strips: $module::strips,
            pack_left: $module::pack_left,
            pack_right: $module::pack_right,
        };
    };
}

machine!(plain, Plain, PlainDouble);
#[cfg(target_arch = "x86_64")]
machine!(avx2, Avx2, Avx2Double, "avx2,fma,f16c,bmi1,bmi2");
#[cfg(target_arch = "x86_64")]
machine!(avx512, Avx512, Avx512Double, "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2");

/// The floats that products are computed in.
pub(super) trait Float: Number + Send + Sync + 'static {
    const ZERO: Self;
    /// The kernels of a kind of machine, which must be this one or less.
    fn kernels(level: Level) -> &'static Kernels<Self>;
}

macro_rules! float {
    ($item:ty, $table:ident) => {
        impl Float for $item {
            const ZERO: $item = 0.0;
            fn kernels(level: Level) -> &'static Kernels<$item> {
                match level {
                    Level::Plain => &plain::$table,
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => &avx2::$table,
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 => &avx512::$table,
                }
            }
        }
    };
}

float!(f32, SINGLE);
float!(f64, DOUBLE);

/// The kernels for this machine.
pub(super) fn kernels<T: Float>() -> &'static Kernels<T> {
    T::kernels(level())
}
