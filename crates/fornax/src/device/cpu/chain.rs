//! Chains: runs of f32 instructions that are carried out together, a block of a row at a time. The value at
//! hand stays in the machine's registers, others that are needed again in a few lines of the nearest cache, so
//! that an instruction costs little more than its arithmetic. `link` makes them; `native` compiles them to machine code
//! where it can, and what is left of a row (or all of it elsewhere) is carried out here, link by link.

use super::native::Native;
use super::ops::{Add, Div, Loops, Max, Min, Mul, Op2, Slot, Sub, Tile};
use super::reduce::{fold_lanes, join};
use super::simd::Simd;
use super::tile::Operand;
use crate::dtype::DType;
use crate::graph::{Binary, Reduce, Unary};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;

/// The most operands that lie outside a chain.
pub(super) const OUTSIDE: usize = 32;
/// The most values that a chain remembers at a time.
pub(super) const REMEMBERED: usize = 32;
/// The most reductions in a chain.
pub(super) const FOLDS: usize = 8;
/// Elements of the longest block.
const BLOCK: usize = 64;

/// What happens to the value at hand, with the operand `y` of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Do {
    /// Takes y in hand.
    Load,
    /// Writes the value to y.
    Store,
    /// As `Store`, past the caches.
    Stream,
    Add,
    Sub,
    /// y - value.
    SubFrom,
    Mul,
    Div,
    /// y / value.
    Divide,
    Max,
    /// As `Max` with y first: the two differ where zeros of both signs meet.
    MaxFrom,
    Min,
    MinFrom,
    /// The value where the mask holds, else y.
    Keep,
    /// y where the mask holds, else the value.
    Replace,
    Unary(Unary),
    /// To the nearest value of a 16-bit float.
    Round(DType),
    /// Takes the value into fold number y.
    Fold,
    /// Adds the row to the sums of the columns, which are y; the first row is written there.
    SumRows,
}

impl Do {
    /// A function with two operands, if chains have it: with the first at hand, and with the second.
    pub fn binary(op: Binary) -> Option<(Do, Do)> {
        Some(match op {
            Binary::Add => (Do::Add, Do::Add),
            Binary::Sub => (Do::Sub, Do::SubFrom),
            Binary::Mul => (Do::Mul, Do::Mul),
            Binary::Div => (Do::Div, Do::Divide),
            Binary::Max => (Do::Max, Do::MaxFrom),
            Binary::Min => (Do::Min, Do::MinFrom),
            _ => return None,
        })
    }
}

/// One instruction of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Link {
    pub what: Do,
    /// The operand: first those outside, then those remembered.
    pub y: u8,
    /// The operand with the truth values, of `Keep` and `Replace`.
    pub mask: u8,
    /// Whether y is one number for the whole row.
    pub one: bool,
}

/// A run of instructions.
#[derive(Debug, Default)]
pub(super) struct Chain {
    pub links: Vec<Link>,
    pub outside: Vec<Operand>,
    pub remembered: usize,
    /// Reductions along the columns: which, and where the result of each row goes.
    pub folds: Vec<(Reduce, Operand)>,
    /// The first operand that is written past the caches.
    pub streamed: Option<u8>,
    /// The operands outside that are truth values, a bit each.
    pub masks: u32,
    pub native: Option<Arc<Native>>,
    /// Operands whose memory is asked for that many bytes ahead of where it is read.
    pub ahead: Vec<(u8, i32)>,
}

/// A chain's work on one tile.
pub(super) struct Work<'a> {
    pub chain: &'a Chain,
    pub rows: usize,
    pub cols: usize,
    /// The operands outside.
    pub slots: &'a [Slot],
    /// Where the results of the folds go, an element a row.
    pub results: &'a [*mut f32],
    /// The loops over a tile, for what needs the registers for itself.
    pub loops: &'a Loops,
}

impl Work<'_> {
    /// All of it, link by link.
    pub fn whole(&self) -> Part {
        Part { rows: 0..self.rows, done: None }
    }

    /// Bytes between the rows of an operand.
    pub fn step(&self, i: usize) -> isize {
        self.slots[i].rs * if self.chain.masks & (1 << i) != 0 { 1 } else { 4 }
    }

    /// Columns of a row before those that can be written past the caches, which only whole, aligned vectors are.
    pub fn head(&self, row: usize) -> usize {
        let Some(s) = self.chain.streamed else { return 0 };
        let at = self.slots[s as usize].ptr.wrapping_offset(row as isize * self.step(s as usize));
        (at.addr().wrapping_neg() % 64 / 4).min(self.cols)
    }
}

/// Which part of a tile is carried out link by link.
pub(super) struct Part {
    pub rows: Range<usize>,
    /// The column up to which machine code was there before, from the head on.
    pub done: Option<usize>,
}

/// Where the operands of a row lie, and what has been folded of it.
struct Line<S> {
    at: [*mut u8; OUTSIDE + REMEMBERED],
    /// All ones where the operand goes along with the columns.
    along: [usize; OUTSIDE + REMEMBERED],
    folded: [S; FOLDS],
    first: bool,
}

impl<S: Simd> Line<S> {
    /// The operand at a column.
    #[inline(always)]
    fn f32(&self, operand: u8, col: usize) -> *mut f32 {
        // Masked, so that nothing need be checked.
        let i = operand as usize & (OUTSIDE + REMEMBERED - 1);
        self.at[i].cast::<f32>().wrapping_add(col & self.along[i])
    }

    /// The truth values at a column, a byte each.
    fn mask(&self, operand: u8, col: usize) -> Slot {
        let i = operand as usize;
        Slot { ptr: self.at[i].wrapping_add(col & self.along[i]), rs: 0, each: self.along[i] != 0 }
    }
}

/// Runs a chain over a part of a tile in blocks of N vectors.
///
/// # Safety
/// Operands cover the tile, with one number a row where the link says so; the machine has the instructions.
#[inline(always)]
pub(super) unsafe fn run<S: Simd, const N: usize>(w: &Work, part: &Part) {
    debug_assert!(N * S::W <= BLOCK && w.slots.len() <= OUTSIDE && w.chain.remembered <= REMEMBERED);
    let mut memory = MaybeUninit::<[[f32; BLOCK]; REMEMBERED]>::uninit();
    let outside = w.slots.len();
    unsafe {
        let nothing = S::splat(0.0);
        let mut row = Line {
            at: [std::ptr::null_mut(); OUTSIDE + REMEMBERED],
            along: [0; OUTSIDE + REMEMBERED],
            folded: [nothing; FOLDS],
            first: true,
        };
        for i in 0..w.chain.remembered {
            row.at[outside + i] = memory.as_mut_ptr().cast::<[f32; BLOCK]>().add(i).cast();
        }
        for r in part.rows.clone() {
            for (i, slot) in w.slots.iter().enumerate() {
                row.at[i] = slot.ptr.wrapping_offset(r as isize * w.step(i));
                row.along[i] = if slot.each { usize::MAX } else { 0 };
            }
            for (i, (op, _)) in w.chain.folds.iter().enumerate() {
                row.folded[i] = S::splat(unit(*op));
            }
            row.first = r == 0 && part.done.is_none();
            let head = w.head(r);
            for col in (0..head).step_by(S::W) {
                block::<S, 1, true>(w, &mut row, col, S::W.min(head - col));
            }
            let mut col = part.done.unwrap_or(head);
            while col + N * S::W <= w.cols {
                block::<S, N, false>(w, &mut row, col, N * S::W);
                col += N * S::W;
            }
            while col < w.cols {
                let n = S::W.min(w.cols - col);
                block::<S, 1, true>(w, &mut row, col, n);
                col += n;
            }
            for (i, (op, _)) in w.chain.folds.iter().enumerate() {
                let result = w.results[i].add(r);
                let mine = fold_lanes(row.folded[i], &|a, b| join(*op, a, b));
                *result = if part.done.is_some() { join(*op, *result, mine) } else { mine };
            }
        }
    }
}

/// N vectors of a row from a column on; or, with `PART`, a vector with only `n` elements.
#[inline(always)]
unsafe fn block<S: Simd, const N: usize, const PART: bool>(
    w: &Work,
    row: &mut Line<S>,
    col: usize,
    n: usize,
) {
    unsafe {
        let mut x = [S::splat(0.0); N];
        let at = At { w, col, n };
        for link in &w.chain.links {
            at.step::<S, N, PART>(row, *link, &mut x);
        }
    }
}

/// A place in a row.
struct At<'a> {
    w: &'a Work<'a>,
    col: usize,
    n: usize,
}

impl At<'_> {
    /// Takes whole vectors into a fold.
    #[inline(always)]
    unsafe fn fold<S: Simd, const N: usize>(&self, row: &mut Line<S>, link: Link, x: &[S; N]) {
        let into = &mut row.folded[link.y as usize & (FOLDS - 1)];
        unsafe {
            *into = match self.w.chain.folds[link.y as usize].0 {
                Reduce::Max => Max::apply(*into, tree::<S, Max, N>(*x)),
                Reduce::Min => Min::apply(*into, tree::<S, Min, N>(*x)),
                _ => into.add(tree::<S, Add, N>(*x)),
            };
        }
    }

    /// Carries out one link.
    #[inline(always)]
    unsafe fn step<S: Simd, const N: usize, const PART: bool>(
        &self,
        row: &mut Line<S>,
        link: Link,
        x: &mut [S; N],
    ) {
        unsafe {
            let n = self.n;
            // What is remembered has room for whole vectors.
            let whole = !PART || n == S::W || link.y as usize >= self.w.slots.len();
            let n_of_y = if whole { S::W } else { n };
            let y = Y::<N> { at: row.f32(link.y, self.col), one: link.one, n: n_of_y };
            match link.what {
                Do::Load => y.join::<S, Second>(x),
                Do::Store => y.store(x),
                Do::Stream if !PART => y.stream(x),
                Do::Stream => y.store(x),
                Do::Add => y.join::<S, Add>(x),
                Do::Sub => y.join::<S, Sub>(x),
                Do::SubFrom => y.join::<S, Swapped<Sub>>(x),
                Do::Mul => y.join::<S, Mul>(x),
                Do::Div => y.join::<S, Div>(x),
                Do::Divide => y.join::<S, Swapped<Div>>(x),
                Do::Max => y.join::<S, Max>(x),
                Do::MaxFrom => y.join::<S, Swapped<Max>>(x),
                Do::Min => y.join::<S, Min>(x),
                Do::MinFrom => y.join::<S, Swapped<Min>>(x),
                Do::Fold => {
                    let mut x = *x;
                    if PART && n < S::W {
                        // Lanes that do not exist change nothing.
                        let mut lanes = [unit(self.w.chain.folds[link.y as usize].0); 16];
                        lanes[..n].copy_from_slice(&x[0].lanes()[..n]);
                        x[0] = S::load(lanes.as_ptr());
                    }
                    self.fold(row, link, &x);
                }
                Do::SumRows => y.sum_rows(row.first, x),
                Do::Unary(_) | Do::Round(_) | Do::Keep | Do::Replace => self.through_memory(row, link, &y, x),
            }
        }
    }

    /// Carries out a link that would take the registers from the others in the loop.
    #[inline(always)]
    unsafe fn through_memory<S: Simd, const N: usize>(
        &self,
        row: &Line<S>,
        link: Link,
        y: &Y<N>,
        x: &mut [S; N],
    ) {
        let mut memory = [0f32; BLOCK];
        let at = memory.as_mut_ptr();
        let value = Slot { ptr: at.cast(), rs: 0, each: true };
        let y = Slot { ptr: y.at.cast(), rs: 0, each: !y.one };
        let (loops, none) = (self.w.loops, Slot::NONE);
        unsafe {
            for k in 0..N {
                x[k].store(at.add(k * S::W));
            }
            let tile = Tile { rows: 1, cols: N * S::W, dst: value, a: value, b: none, c: none };
            match link.what {
                Do::Unary(op) => (loops.unary)(op, &tile),
                Do::Round(to) => (loops.round_to)(to, &tile),
                what => {
                    let (b, c) = if what == Do::Keep { (value, y) } else { (y, value) };
                    (loops.choose)(&Tile { cols: self.n, a: row.mask(link.mask, self.col), b, c, ..tile });
                }
            }
            for k in 0..N {
                x[k] = S::load(at.add(k * S::W));
            }
        }
    }
}

/// An operand of a block; `n` elements of its last vector exist.
struct Y<const N: usize> {
    at: *mut f32,
    one: bool,
    n: usize,
}

impl<const N: usize> Y<N> {
    /// `x = f(x, y)`.
    #[inline(always)]
    unsafe fn join<S: Simd, F: Op2>(&self, x: &mut [S; N]) {
        unsafe {
            if self.one {
                let y = S::splat(*self.at);
                for k in 0..N {
                    x[k] = F::apply(x[k], y);
                }
            } else if N == 1 && self.n < S::W {
                x[0] = F::apply(x[0], S::load_part(self.at, self.n));
            } else {
                for k in 0..N {
                    x[k] = F::apply(x[k], S::load(self.at.add(k * S::W)));
                }
            }
        }
    }

    /// `y = x`, past the caches where y is aligned; whole vectors.
    #[inline(always)]
    unsafe fn stream<S: Simd>(&self, x: &[S; N]) {
        unsafe {
            if !self.at.addr().is_multiple_of(4 * S::W) {
                return self.store(x);
            }
            for k in 0..N {
                x[k].stream(self.at.add(k * S::W));
            }
        }
    }

    /// `y += x`, or `y = x` in the first row.
    #[inline(always)]
    unsafe fn sum_rows<S: Simd>(&self, first: bool, x: &[S; N]) {
        let mut sum = *x;
        unsafe {
            if !first {
                self.join::<S, Add>(&mut sum);
            }
            self.store(&sum);
        }
    }

    /// `y = x`.
    #[inline(always)]
    unsafe fn store<S: Simd>(&self, x: &[S; N]) {
        unsafe {
            if N == 1 && self.n < S::W {
                x[0].store_part(self.at, self.n);
            } else {
                for k in 0..N {
                    x[k].store(self.at.add(k * S::W));
                }
            }
        }
    }
}

/// A function with its operands swapped.
struct Swapped<F>(std::marker::PhantomData<F>);

impl<F: Op2> Op2 for Swapped<F> {
    #[inline(always)]
    unsafe fn apply<S: Simd>(a: S, b: S) -> S {
        unsafe { F::apply(b, a) }
    }
}

/// Its second operand.
struct Second;

impl Op2 for Second {
    #[inline(always)]
    unsafe fn apply<S: Simd>(_: S, b: S) -> S {
        b
    }
}

/// All vectors folded to one, pairwise.
#[inline(always)]
unsafe fn tree<S: Simd, F: Op2, const N: usize>(mut x: [S; N]) -> S {
    let mut n = N;
    while n > 1 {
        n /= 2;
        for k in 0..n {
            x[k] = unsafe { F::apply(x[k], x[k + n]) };
        }
    }
    x[0]
}

/// What changes nothing in a reduction.
pub(super) fn unit(op: Reduce) -> f32 {
    match op {
        Reduce::Max => f32::NEG_INFINITY,
        Reduce::Min => f32::INFINITY,
        _ => 0.0,
    }
}
