//! The blocked product against a triple loop in f64: sizes around those of tiles and blocks, every layout, every
//! conversion, every kind of machine that this one can play; and the same bits however it is run.

use super::gemm::{Block, Cut, Gemm, Operand};
use super::lanes::Lanes;
use super::micro::{self, ACROSS, Float, Kernels, Pack, Part, Strips};
use super::panel::Real;
use super::reference::{get, put};
use super::simd::{Level, level};
use super::tests::{Dice, numbers};
use super::threads::Shared;
use crate::dtype::DType;

/// Sixteen lanes and twelve rows in plain Rust: the way of AVX-512 on machines without it.
#[derive(Clone, Copy)]
struct Wide([f32; 16]);

// SAFETY: plain Rust, but for `turn`, which looks for AVX2.
unsafe impl Lanes for Wide {
    type Item = f32;
    const W: usize = 16;
    const ROWS: usize = 12;
    unsafe fn splat(x: f32) -> Wide {
        Wide([x; 16])
    }
    unsafe fn load(p: *const f32) -> Wide {
        Wide(unsafe { p.cast::<[f32; 16]>().read_unaligned() })
    }
    unsafe fn store(self, p: *mut f32) {
        unsafe { p.cast::<[f32; 16]>().write_unaligned(self.0) }
    }
    unsafe fn add(self, o: Wide) -> Wide {
        Wide(std::array::from_fn(|i| self.0[i] + o.0[i]))
    }
    unsafe fn mul(self, o: Wide) -> Wide {
        Wide(std::array::from_fn(|i| self.0[i] * o.0[i]))
    }
    unsafe fn fma(self, b: Wide, c: Wide) -> Wide {
        Wide(std::array::from_fn(|i| self.0[i] * b.0[i] + c.0[i]))
    }
    #[cfg(target_arch = "x86_64")]
    unsafe fn turn(from: *const f32, rs: isize, rows: usize, to: *mut f32, ts: usize) {
        if level() > Level::Plain {
            return unsafe { super::simd_x86::turn16(from, rs, rows, to, ts) };
        }
        for e in 0..16 * rows {
            let (c, r) = (e % 16, e / 16);
            unsafe { *to.add(c * ts + r) = *from.offset(r as isize * rs + c as isize) };
        }
    }
}

static WIDE: Kernels<f32> = Kernels {
    mr: 12,
    nr: ACROSS * 16,
    tiles: micro::tiles::<Wide>,
    strips: micro::strips::<Wide>,
    pack_left: micro::pack::<Wide, false>,
    pack_right: micro::pack::<Wide, true>,
};

/// The kernels to test.
trait Tested: Float + Into<f64> {
    fn all() -> Vec<(String, &'static Kernels<Self>)> {
        levels().into_iter().map(|l| (format!("{l:?}"), Self::kernels(l))).collect()
    }
}

impl Tested for f64 {}

impl Tested for f32 {
    fn all() -> Vec<(String, &'static Kernels<f32>)> {
        let own = levels().into_iter().map(|l| (format!("{l:?}"), f32::kernels(l)));
        own.chain([("wide".into(), &WIDE)]).collect()
    }
}

/// What the machine can run.
fn levels() -> Vec<Level> {
    let all = [
        Level::Plain,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2,
        #[cfg(target_arch = "x86_64")]
        Level::Avx512,
    ];
    all.into_iter().filter(|l| *l <= level()).collect()
}

/// A matrix and its place in memory.
struct Laid {
    bytes: Vec<u8>,
    offset: isize,
    rs: isize,
    cs: isize,
    memory: DType,
    dtype: DType,
}

impl Laid {
    /// Ways to lie: 0 rows contiguous, 1 columns contiguous, 2 every third element, 3 backwards and turned.
    fn new(values: &[u8], rows: usize, cols: usize, how: usize, memory: DType, dtype: DType) -> Laid {
        let (r, c) = (rows as isize, cols as isize);
        let (rs, cs, offset) = match how {
            0 => (c, 1, 0),
            1 => (1, r, 0),
            2 => (3 * c + 5, 3, 0),
            _ => (-1, -r - 2, (r - 1) + (c - 1) * (r + 2)),
        };
        let end = offset + rs.max(0) * (r - 1) + cs.max(0) * (c - 1) + 1;
        let mut bytes = vec![0xFF; end as usize * memory.size()];
        for i in 0..rows {
            for j in 0..cols {
                let at = (offset + i as isize * rs + j as isize * cs) as usize;
                put(memory, &mut bytes, at, get(memory, values, i * cols + j));
            }
        }
        Laid { bytes, offset, rs, cs, memory, dtype }
    }

    fn operand(&self) -> Operand {
        let ptr = self.bytes.as_ptr().cast_mut();
        let ptr = ptr.wrapping_offset(self.offset * self.memory.size() as isize);
        Operand { block: Block { ptr, rs: self.rs, cs: self.cs }, memory: self.memory, dtype: self.dtype }
    }
}

fn rounded(dtype: DType, x: f64) -> f64 {
    match dtype {
        DType::F16 => half::f16::from_f64(x).to_f64(),
        DType::BF16 => half::bf16::from_f64(x).to_f64(),
        _ => x,
    }
}

/// The product by a triple loop.
fn plain(values: [&[u8]; 2], (m, n, k): (usize, usize, usize), memory: DType, dtype: DType) -> Vec<f64> {
    let [a, b] = values.map(|v| {
        let n = v.len() / memory.size();
        (0..n).map(|i| rounded(dtype, get(memory, v, i).f())).collect::<Vec<_>>()
    });
    let mut out = vec![0.0; m * n];
    for i in 0..m {
        for p in 0..k {
            for j in 0..n {
                out[i * n + j] += a[i * k + p] * b[p * n + j];
            }
        }
    }
    out
}

/// Multiplies on this thread or on all, with the result's rows or columns contiguous, or neither.
fn run<T: Float>(gemm: &Gemm<T>, to: usize, together: bool) -> Vec<T> {
    let (m, n) = (gemm.cut.m, gemm.cut.n);
    let (rs, cs) = [(n, 1), (1, m), (2 * n + 1, 2)][to];
    let mut memory = vec![T::ONE; (m - 1) * rs + (n - 1) * cs + 1];
    let place = Shared(memory.as_mut_ptr());
    let block = |i: usize, j: usize| {
        let ptr = place.at((i * rs + j * cs) as isize).cast();
        Block { ptr, rs: rs as isize, cs: cs as isize }
    };
    if together {
        gemm.parallel(|rows, cols, multiply, _| multiply(block(rows.start, cols.start)));
    } else {
        gemm.serial(block(0, 0));
    }
    (0..m * n).map(|e| memory[e / n * rs + e % n * cs]).collect()
}

fn check<T: Tested>(
    sizes: (usize, usize, usize),
    hows: &[(usize, usize)],
    (memory, dtype): (DType, DType),
    small: bool,
) {
    let (m, n, k) = sizes;
    let mut dice = Dice((m * 31 + n * 17 + k) as u64);
    let (a, b) = (numbers(memory, m * k, &mut dice), numbers(memory, k * n, &mut dice));
    let want = plain([&a, &b], sizes, memory, dtype);
    let pools = [1, 2].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap());
    for (level, kernels) in T::all() {
        let mut cut = Cut::together(kernels, m, n, k, false);
        if small {
            // As a large product is cut, in little.
            (cut.kc, cut.slab, cut.bm, cut.bn) = (12, 24, 2 * kernels.mr, 2 * kernels.nr);
        }
        for &(left, right) in hows {
            let l = Laid::new(&a, m, k, left, memory, dtype);
            let r = Laid::new(&b, k, n, right, memory, dtype);
            let mut gemm =
                Gemm { kernels, cut, left: l.operand(), right: r.operand(), scale: T::ONE, add: false };
            for to in 0..3 {
                gemm.add = to == 1;
                let have = run(&gemm, to, false);
                for (e, (&x, want)) in have.iter().zip(&want).enumerate() {
                    let (x, want): (f64, f64) = (x.into(), want + if gemm.add { 1.0 } else { 0.0 });
                    let tolerance = if size_of::<T>() == 8 { 1e-12 } else { 1e-5 };
                    assert!(
                        (x - want).abs() <= tolerance * (k as f64 + 1.0),
                        "{sizes:?} {level} lies {left} {right} to {to} {memory}->{dtype}: element {e} is {x}, \
                         should be {want}",
                    );
                }
                for pool in &pools {
                    let again = pool.install(|| run(&gemm, to, true));
                    let same = have.iter().zip(&again).all(|(&x, &y)| Into::<f64>::into(x) == y.into());
                    assert!(same, "{sizes:?} {level} lies {left} {right} to {to}: threads change the result");
                }
            }
        }
    }
}

const HOWS: [(usize, usize); 6] = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 3), (3, 2)];

#[test]
fn sizes_around_the_tiles() {
    for sizes in
        [(1, 1, 1), (5, 15, 3), (6, 16, 4), (7, 17, 5), (12, 32, 8), (13, 33, 9), (11, 31, 16), (50, 20, 37)]
    {
        check::<f32>(sizes, &HOWS, (DType::F32, DType::F32), false);
        check::<f64>(sizes, &HOWS, (DType::F64, DType::F64), false);
        check::<f32>(sizes, &HOWS, (DType::F32, DType::F32), true);
    }
}

#[test]
fn sizes_around_the_blocks() {
    for sizes in [(191, 66, 255), (193, 65, 257), (390, 40, 513), (20, 530, 260)] {
        check::<f32>(sizes, &HOWS[1..3], (DType::F32, DType::F32), false);
    }
    check::<f32>((61, 150, 130), &HOWS, (DType::F32, DType::F32), true);
    check::<f64>((61, 70, 130), &HOWS, (DType::F64, DType::F64), true);
}

#[test]
fn conversions_on_the_way() {
    for (memory, dtype) in [
        (DType::F16, DType::F16),
        (DType::BF16, DType::F32),
        (DType::F32, DType::BF16),
        (DType::F64, DType::F32),
        (DType::F64, DType::F16),
    ] {
        check::<f32>((40, 70, 50), &HOWS, (memory, dtype), false);
        check::<f32>((40, 70, 50), &HOWS[..4], (memory, dtype), true);
    }
}

/// Products whose left operand lies as it is, and those with a triangle, whose hidden part is zero as far as tiles
/// reach and NaN beyond.
fn check_strips<T: Tested + Real>((m, n, k): (usize, usize, usize), offset: isize) {
    let value = |x: f64| T::from_f64(x);
    for (level, kernels) in T::all() {
        let (mr, nr) = (kernels.mr as isize, kernels.nr);
        let (wide, b): (usize, Vec<T>) =
            (n.next_multiple_of(nr), (0..k * n).map(|e| value((e * 7 % 11) as f64 - 5.0)).collect());
        let mut packed = vec![T::ZERO; wide * k];
        let (from, to) = (b.as_ptr(), packed.as_mut_ptr());
        unsafe { (kernels.pack_right)(&Pack { from, rs: 1, ks: n as isize, rows: n, k, to }) };
        let parts = [Part::All, Part::Result(offset), Part::Left(offset), Part::LeftTurned(offset)];
        for (part, turned) in parts.into_iter().flat_map(|part| [(part, false), (part, true)]) {
            // How far element (i, p) of the left operand is beyond the diagonal.
            let beyond = |i: usize, p: usize| match part {
                Part::Left(offset) => p as isize - i as isize - offset,
                Part::LeftTurned(offset) => i as isize - p as isize - offset,
                _ => 0,
            };
            let left = |i: usize, p: usize| match beyond(i, p) {
                ..=0 => (i * 5 + p * 3) as f64 % 7.0 - 3.0,
                x if x < mr => 0.0,
                _ => f64::NAN,
            };
            let at = |e: usize| if turned { left(e % m, e / m) } else { left(e / k, e % k) };
            let a: Vec<T> = (0..m * k).map(|e| value(at(e))).collect();
            let (rs, ks) = if turned { (1, m as isize) } else { (k as isize, 1) };
            for add in [false, true] {
                let mut c = vec![T::ONE; m * wide];
                let (a, b, lines, scale) = (a.as_ptr(), packed.as_ptr(), k, value(0.5));
                let (crs, out) = (wide as isize, c.as_mut_ptr());
                let s = Strips { rows: m, cols: n, k, a, rs, ks, b, lines, c: out, crs, add, scale, part };
                unsafe { (kernels.strips)(&s) };
                for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    if matches!(part, Part::Result(offset) if j as isize > i as isize + offset) {
                        continue;
                    }
                    let seen = (0..k).filter(|&p| beyond(i, p) <= 0);
                    let sum: f64 =
                        seen.map(|p| left(i, p) * ((p * n + j) * 7 % 11) as f64 - 5.0 * left(i, p)).sum();
                    let want = sum * 0.5 + if add { 1.0 } else { 0.0 };
                    let have: f64 = c[i * wide + j].into();
                    assert_eq!(have, want, "{level} {m} {n} {k} {part:?} turned {turned} add {add}: {i} {j}");
                }
            }
        }
    }
}

#[test]
fn left_operands_where_they_lie() {
    for sizes in [(1, 1, 1), (6, 16, 4), (7, 17, 5), (13, 33, 40), (25, 20, 25), (40, 70, 33)] {
        for offset in [0, 5, 50] {
            check_strips::<f32>(sizes, offset);
            check_strips::<f64>(sizes, offset);
        }
    }
}
