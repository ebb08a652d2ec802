//! Chains: runs of f32 instructions that are carried out together, a block of a row at a time. The value at
//! hand stays in the machine's registers, others that are needed again in a few lines of the nearest cache, so
//! that an instruction costs little more than its arithmetic. `link` makes them.

use super::ops::*;
use super::simd::Simd;
use super::tile::Operand;
use crate::graph::{Binary, Reduce, Unary};
use std::mem::MaybeUninit;

/// The most operands that lie outside a chain.
pub(super) const OUTSIDE: usize = 32;
/// The most values that a chain remembers at a time.
pub(super) const REMEMBERED: usize = 32;
/// The most reductions in a chain.
pub(super) const FOLDS: usize = 8;
/// Elements of the longest block.
pub(super) const BLOCK: usize = 64;

/// What happens to the value at hand, with the operand `y` of the link.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    Neg,
    Abs,
    Sign,
    Recip,
    Sqrt,
    Rsqrt,
    Exp,
    Log,
    Tanh,
    Erf,
    RoundF16,
    RoundBf16,
    /// Takes the value into fold number y.
    Fold,
    /// Adds the row to the sums of the columns, which are y; the first row is written there.
    SumRows,
}

impl Do {
    /// A function with one operand, if chains have it.
    pub fn unary(op: Unary) -> Option<Do> {
        Some(match op {
            Unary::Neg => Do::Neg,
            Unary::Abs => Do::Abs,
            Unary::Sign => Do::Sign,
            Unary::Recip => Do::Recip,
            Unary::Sqrt => Do::Sqrt,
            Unary::Rsqrt => Do::Rsqrt,
            Unary::Exp => Do::Exp,
            Unary::Log => Do::Log,
            Unary::Tanh => Do::Tanh,
            Unary::Erf => Do::Erf,
            _ => return None,
        })
    }

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
#[derive(Clone, Copy, Debug)]
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
    pub known: Option<Known>,
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
    /// [`other`] for this machine.
    pub other: unsafe fn(&Link, &mut [f32; BLOCK], usize, &Other),
}

/// Where the operands of a row lie, and what has been folded of it.
struct Row<S> {
    at: [*mut u8; OUTSIDE + REMEMBERED],
    /// All ones where the operand goes along with the columns.
    along: [usize; OUTSIDE + REMEMBERED],
    folded: [S; FOLDS],
    first: bool,
}

impl<S: Simd> Row<S> {
    /// The operand at a column.
    #[inline(always)]
    fn f32(&self, operand: u8, col: usize) -> *mut f32 {
        // Masked, so that nothing need be checked.
        let i = operand as usize & (OUTSIDE + REMEMBERED - 1);
        self.at[i].cast::<f32>().wrapping_add(col & self.along[i])
    }

    /// The truth values at a column, a byte each, and whether there is more than one.
    #[inline(always)]
    fn mask(&self, operand: u8, col: usize) -> (*const u8, bool) {
        let i = operand as usize;
        (self.at[i].wrapping_add(col & self.along[i]), self.along[i] != 0)
    }
}

/// Runs a chain over a tile in blocks of N vectors.
///
/// # Safety
/// Operands cover the tile, with one number a row where the link says so; the machine has the instructions.
#[inline(always)]
pub(super) unsafe fn run<S: Simd, const N: usize>(w: &Work) {
    debug_assert!(N * S::W <= BLOCK && w.slots.len() <= OUTSIDE && w.chain.remembered <= REMEMBERED);
    let mut memory = MaybeUninit::<[[f32; BLOCK]; REMEMBERED]>::uninit();
    let outside = w.slots.len();
    unsafe {
        let nothing = S::splat(0.0);
        let mut row = Row {
            at: [std::ptr::null_mut(); OUTSIDE + REMEMBERED],
            along: [0; OUTSIDE + REMEMBERED],
            folded: [nothing; FOLDS],
            first: true,
        };
        for i in 0..w.chain.remembered {
            row.at[outside + i] = memory.as_mut_ptr().cast::<[f32; BLOCK]>().add(i).cast();
        }
        for r in 0..w.rows {
            for (i, slot) in w.slots.iter().enumerate() {
                let size = if w.chain.masks & (1 << i) != 0 { 1 } else { 4 };
                row.at[i] = slot.ptr.wrapping_offset(r as isize * slot.rs * size);
                row.along[i] = if slot.each { usize::MAX } else { 0 };
            }
            for (i, (op, _)) in w.chain.folds.iter().enumerate() {
                row.folded[i] = S::splat(unit(*op));
            }
            row.first = r == 0;
            let mut col = 0;
            if let Some(s) = w.chain.streamed {
                // Only whole, aligned vectors go past the caches.
                let bytes = row.at[s as usize].addr() % (4 * S::W);
                let head = ((4 * S::W - bytes) % (4 * S::W) / 4).min(w.cols);
                if head > 0 {
                    block::<S, 1, true>(w, &mut row, 0, head);
                }
                col = head;
            }
            if let Some(known) = w.chain.known {
                col = known.blocks::<S, N>(w, &mut row, col);
            }
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
                let lanes = row.folded[i].lanes();
                *w.results[i].add(r) = fold_lanes(*op, &lanes[..S::W]);
            }
        }
    }
}

/// N vectors of a row from a column on; or, with `PART`, a vector with only `n` elements.
#[inline(always)]
unsafe fn block<S: Simd, const N: usize, const PART: bool>(w: &Work, row: &mut Row<S>, col: usize, n: usize) {
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
    unsafe fn fold<S: Simd, const N: usize>(&self, row: &mut Row<S>, link: Link, x: &[S; N]) {
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
        row: &mut Row<S>,
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
                // Long functions need the registers for themselves, and would take them from the others here.
                _ => {
                    let mut memory = [0f32; BLOCK];
                    for k in 0..N {
                        x[k].store(memory.as_mut_ptr().add(k * S::W));
                    }
                    let with = Other { y: y.at, mask: row.mask(link.mask, self.col), n };
                    (self.w.other)(&link, &mut memory, N * S::W, &with);
                    for k in 0..N {
                        x[k] = S::load(memory.as_ptr().add(k * S::W));
                    }
                }
            }
        }
    }
}

/// Chains that are known beforehand: compiled as one, they need not look what comes next.
macro_rules! known {
    ($($(#[$doc:meta])* $name:ident: $($what:ident $(($one:ident))?),+;)+) => {
        /// The known chains.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(super) enum Known {
            $($(#[$doc])* $name,)+
        }

        impl Known {
            /// Which known chain these links are, if they are one.
            pub fn find(links: &[Link]) -> Option<Known> {
                $(
                    let script = [$((Do::$what, known!(@one $($one)?))),+];
                    let same = |(l, s): (&Link, &(Do, bool))| (l.what, l.one) == *s;
                    if links.len() == script.len() && links.iter().zip(&script).all(same) {
                        return Some(Known::$name);
                    }
                )+
                None
            }

            /// As [`block`], for all whole blocks from a column on; the column after them.
            #[inline(always)]
            unsafe fn blocks<S: Simd, const N: usize>(self, w: &Work, row: &mut Row<S>, col: usize) -> usize {
                let blocks = (w.cols - col) / (N * S::W);
                match self {
                    $(Known::$name => for k in 0..blocks {
                        let at = At { w, col: col + k * N * S::W, n: N * S::W };
                        let mut links = w.chain.links.iter();
                        let mut x = [unsafe { S::splat(0.0) }; N];
                        $(
                            if let Some(&link) = links.next() {
                                let one = known!(@one $($one)?);
                                let y = Y::<N> { at: row.f32(link.y, at.col), one, n: S::W };
                                unsafe { known!(@$what at, row, link, y, x) };
                            }
                        )+
                    })+
                }
                col + blocks * N * S::W
            }
        }
    };
    (@one) => { false };
    (@one one) => { true };
    (@Load $at:ident, $row:ident, $link:ident, $y:ident, $x:ident) => { $y.join::<S, Second>(&mut $x) };
    (@Add $at:ident, $row:ident, $link:ident, $y:ident, $x:ident) => { $y.join::<S, Add>(&mut $x) };
    (@Sub $at:ident, $row:ident, $link:ident, $y:ident, $x:ident) => { $y.join::<S, Sub>(&mut $x) };
    (@Mul $at:ident, $row:ident, $link:ident, $y:ident, $x:ident) => { $y.join::<S, Mul>(&mut $x) };
    (@Store $at:ident, $row:ident, $link:ident, $y:ident, $x:ident) => { $y.store(&$x) };
    (@Stream $at:ident, $row:ident, $link:ident, $y:ident, $x:ident) => { $y.stream(&$x) };
    (@SumRows $at:ident, $row:ident, $link:ident, $y:ident, $x:ident) => { $y.sum_rows($row.first, &$x) };
    (@Fold $at:ident, $row:ident, $link:ident, $y:ident, $x:ident) => {{ let _ = &$y; $at.fold($row, $link, &$x) }};
    (@Exp $at:ident, $row:ident, $link:ident, $y:ident, $x:ident) => {{ let _ = &$y; in_registers::<S, Exp, N>(&mut $x) }};
}

known! {
    /// The difference to the mean and the sum of its squares.
    Center: Load, Sub(one), Store, Mul, Fold;
    /// Normalised, with gain and bias.
    Normalise: Load, Mul(one), Mul, Add, Stream;
    /// As `Normalise`, to memory that is read soon.
    NormaliseNear: Load, Mul(one), Mul, Add, Store;
    /// `Center`, and the gradient times the gain and times the difference, for what goes back through a norm.
    CenterGrad: Load, Sub(one), Store, Mul, Fold, Load, Mul, Store, Mul, Fold;
    /// `Normalise`, and the gradient but for its mean.
    NormaliseGrad: Load, Mul(one), Mul, Add, Stream, Load(one), Mul, Store, Load, Mul(one), Add, Add, Store, Fold;
    /// The gradients of gain and bias.
    GainGrad: Load, Sub(one), Mul(one), Mul, SumRows;
    /// The exponentials of a softmax and their sum; and the sum alone.
    Exponentials: Load, Sub(one), Exp, Store, Fold;
    ExponentialSum: Load, Sub(one), Exp, Fold;
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

/// Applies a function in the registers.
#[inline(always)]
unsafe fn in_registers<S: Simd, F: Op1, const N: usize>(x: &mut [S; N]) {
    for k in 0..N {
        x[k] = unsafe { F::apply(x[k]) };
    }
}

/// What is left to the function that is called.
pub(super) struct Other {
    pub y: *const f32,
    pub mask: (*const u8, bool),
    /// The elements of y and of the mask that exist.
    pub n: usize,
}

/// What is done out of the loop, to `len` elements in memory.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
pub(super) unsafe fn other<S: Simd>(link: &Link, x: &mut [f32; BLOCK], len: usize, with: &Other) {
    unsafe {
        match link.what {
            Do::Neg => each::<S, Neg>(x, len),
            Do::Abs => each::<S, Abs>(x, len),
            Do::Sign => each::<S, Sign>(x, len),
            Do::Recip => each::<S, Recip>(x, len),
            Do::Sqrt => each::<S, Sqrt>(x, len),
            Do::Rsqrt => each::<S, Rsqrt>(x, len),
            Do::Exp => each::<S, Exp>(x, len),
            Do::Log => each::<S, Log>(x, len),
            Do::Tanh => each::<S, Tanh>(x, len),
            Do::Erf => each::<S, Erf>(x, len),
            Do::RoundF16 => each::<S, ToF16>(x, len),
            Do::RoundBf16 => each::<S, ToBf16>(x, len),
            Do::Keep | Do::Replace => {
                let (mut bytes, mut floats) = ([*with.mask.0; 16], [*with.y; 16]);
                for at in (0..len).step_by(S::W) {
                    let n = S::W.min(with.n - at);
                    if with.mask.1 {
                        std::ptr::copy_nonoverlapping(with.mask.0.add(at), bytes.as_mut_ptr(), n);
                    }
                    if !link.one {
                        std::ptr::copy_nonoverlapping(with.y.add(at), floats.as_mut_ptr(), n);
                    }
                    let (x, y) = (x.as_mut_ptr().add(at), S::load(floats.as_ptr()));
                    let (yes, no) = if link.what == Do::Keep { (S::load(x), y) } else { (y, S::load(x)) };
                    S::select(S::load_mask(bytes.as_ptr()), yes, no).store(x);
                }
            }
            _ => {}
        }
    }
}

#[inline(always)]
unsafe fn each<S: Simd, F: Op1>(x: &mut [f32; BLOCK], len: usize) {
    for at in (0..len).step_by(S::W) {
        unsafe { F::apply(S::load(x.as_ptr().add(at))).store(x.as_mut_ptr().add(at)) };
    }
}

/// What changes nothing in a reduction.
fn unit(op: Reduce) -> f32 {
    match op {
        Reduce::Max => f32::NEG_INFINITY,
        Reduce::Min => f32::INFINITY,
        _ => 0.0,
    }
}

/// The lanes folded pairwise.
fn fold_lanes(op: Reduce, lanes: &[f32]) -> f32 {
    match lanes {
        [x] => *x,
        _ => {
            let (a, b) = lanes.split_at(lanes.len() / 2);
            let (a, b) = (fold_lanes(op, a), fold_lanes(op, b));
            match op {
                Reduce::Max => super::numeric::larger(a, b),
                Reduce::Min => super::numeric::smaller(a, b),
                _ => a + b,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::space::Class;
    use super::*;

    /// Runs links over rows of an odd length and gives what lies in the six operands, and the folds.
    fn result(links: &[Link], known: Option<Known>, cols: usize) -> Vec<u32> {
        let rows = 3;
        let mut memory: Vec<Vec<f32>> = (0..6)
            .map(|i| (0..rows * cols).map(|k| ((k * 7 + i * 13) % 23) as f32 * 0.1 - 1.0).collect())
            .collect();
        let slot = |m: &mut Vec<f32>| Slot { ptr: m.as_mut_ptr().cast(), rs: cols as isize, each: true };
        let slots: Vec<Slot> = memory.iter_mut().map(slot).collect();
        let mut sums = vec![0f32; rows];
        let operand = Operand::scratch(0, Class::Full);
        let chain = Chain {
            links: links.to_vec(),
            outside: vec![operand; 6],
            folds: vec![(Reduce::Sum, operand)],
            known,
            ..Chain::default()
        };
        let (slots, results) = (&slots[..], &[sums.as_mut_ptr()][..]);
        let work = Work { chain: &chain, rows, cols, slots, results, other: loops().link };
        // SAFETY: the operands cover rows x cols.
        unsafe { (loops().chain)(&work) };
        memory.iter().flatten().chain(&sums).map(|x| x.to_bits()).collect()
    }

    #[test]
    fn known_chains_do_what_their_links_do() {
        let link = |what, y, one| Link { what, y, mask: 0, one };
        let (load, fold) = (link(Do::Load, 0, false), link(Do::Fold, 0, false));
        let chains = [
            vec![load, link(Do::Sub, 1, true), link(Do::Store, 2, false), link(Do::Mul, 2, false), fold],
            vec![load, link(Do::Mul, 1, true), link(Do::Mul, 2, false), link(Do::Add, 3, false)],
            vec![load, link(Do::Sub, 1, true), link(Do::Exp, 0, false), link(Do::Store, 4, false), fold],
            vec![load, link(Do::Sub, 1, true), link(Do::Exp, 0, false), fold],
        ];
        for mut links in chains {
            for last in [Do::Store, Do::Stream] {
                if links.last().is_some_and(|l| l.what != Do::Fold) {
                    links.truncate(4);
                    links.push(link(last, 5, false));
                }
                let known = Known::find(&links);
                assert!(known.is_some(), "{links:?}");
                for cols in [5, 64, 67, 200] {
                    assert_eq!(result(&links, known, cols), result(&links, None, cols), "{known:?} {cols}");
                }
            }
        }
    }
}
