//! Kernels built by hand, run on the device and by the plain evaluator, and compared.

use super::reference::{self, Number, get, put};
use super::*;
use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, Random, Reduce, Unary};
use crate::kernel::*;
use crate::view::{Range, View, numel};

/// A source of numbers that are the same every time.
pub(super) struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) ^ (self.0 >> 7)
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    pub fn unit(&mut self) -> f64 {
        (self.next() % (1 << 24)) as f64 / (1 << 23) as f64 - 1.0
    }
}

/// Memory with numbers of a dtype.
pub(super) fn numbers(dtype: DType, n: usize, dice: &mut Dice) -> Vec<u8> {
    let mut bytes = vec![0; n * dtype.size()];
    for i in 0..n {
        let x = match dtype {
            d if d.is_float() => Number::F(dice.unit() * 3.0),
            DType::Bool => Number::I((dice.next() % 2) as i64),
            DType::U8 => Number::I((dice.next() % 256) as i64),
            DType::U32 => Number::I((dice.next() % 1000) as i64),
            _ => Number::I((dice.next() % 2001) as i64 - 1000),
        };
        put(dtype, &mut bytes, i, x);
    }
    bytes
}

/// Builds a program.
#[derive(Default)]
pub(super) struct Maker {
    pub program: Vec<Instr>,
}

impl Maker {
    pub fn push(&mut self, inst: Inst, dtype: DType, level: Level) -> Val {
        self.program.push(Instr { inst, dtype, level });
        Val(self.program.len() as u32 - 1)
    }
    fn level(&self, v: &[Val]) -> Level {
        v.iter().map(|v| self.program[v.index()].level).max().unwrap_or(Level::Uniform)
    }
    fn dtype(&self, v: Val) -> DType {
        self.program[v.index()].dtype
    }
    pub fn load(&mut self, n: usize, dtype: DType) -> Val {
        self.push(Inst::Load(n), dtype, Level::Element)
    }
    pub fn kept(&mut self, n: usize, dtype: DType) -> Val {
        self.push(Inst::Load(n), dtype, Level::Kept)
    }
    pub fn literal(&mut self, x: f64, dtype: DType) -> Val {
        self.push(Inst::Literal(Scalar::Float(x).to_bits(dtype)), dtype, Level::Uniform)
    }
    pub fn unary(&mut self, op: Unary, a: Val) -> Val {
        self.push(Inst::Unary(op, a), self.dtype(a), self.level(&[a]))
    }
    pub fn binary(&mut self, op: Binary, a: Val, b: Val) -> Val {
        let dtype = if op.is_comparison() { DType::Bool } else { self.dtype(a) };
        self.push(Inst::Binary(op, a, b), dtype, self.level(&[a, b]))
    }
    pub fn cast(&mut self, a: Val, dtype: DType) -> Val {
        self.push(Inst::Cast(a), dtype, self.level(&[a]))
    }
    pub fn reduce(&mut self, op: Reduce, a: Val) -> Val {
        let arg = matches!(op, Reduce::ArgMax | Reduce::ArgMin);
        self.push(Inst::Reduce(op, a), if arg { DType::I64 } else { self.dtype(a) }, Level::Kept)
    }
}

/// A kernel of one loop.
pub(super) fn kernel(
    reduced: &[bool],
    program: Vec<Instr>,
    stores: &[Val],
    segments: Vec<Segment>,
) -> Kernel {
    // Ports are as large as the views need.
    let mut reads: Vec<Port> = vec![];
    let mut writes: Vec<Port> = vec![];
    let end = |view: &View| {
        let far: isize =
            view.strides.iter().zip(&view.shape).map(|(&s, &n)| s.max(0) * (n as isize - 1)).sum();
        (view.offset + far + 1).max(1) as usize
    };
    for segment in &segments {
        for (n, load) in segment.loads.iter().enumerate() {
            let Source::Memory(r) = load.source else { continue };
            let dtype = program
                .iter()
                .find(|i| matches!(i.inst, Inst::Load(m) | Inst::Gather { load: m, .. } if m == n))
                .map_or(DType::F32, |i| i.dtype);
            let extra = program.iter().find_map(|i| match i.inst {
                Inst::Gather { load, stride, len, .. } if load == n => Some(stride as usize * (len - 1)),
                _ => None,
            });
            reads.resize(reads.len().max(r + 1), Port { dtype, len: 1 });
            let len = reads[r].len.max(end(&load.view) + extra.unwrap_or(0));
            reads[r] = Port { dtype, len };
        }
        for (v, store) in stores.iter().zip(&segment.stores) {
            let dtype = program[v.index()].dtype;
            writes.resize(writes.len().max(store.write + 1), Port { dtype, len: 1 });
            writes[store.write] = Port { dtype, len: writes[store.write].len.max(end(&store.view)) };
        }
    }
    let body = Loop { reduced: reduced.to_vec(), program, stores: stores.to_vec(), segments };
    let body = Body::Loop(body);
    bare(body, reads, writes)
}

pub(super) fn bare(body: Body, reads: Vec<Port>, writes: Vec<Port>) -> Kernel {
    Kernel {
        label: "test".into(),
        scope: Default::default(),
        body,
        reads,
        writes,
        in_place: vec![],
        args: vec![],
        work: Work::default(),
    }
}

/// Runs a kernel over bytes; `shared[w] = Some(r)` gives write w the memory of read r.
pub(super) fn launch(kernel: &Kernel, reads: &[Vec<u8>], args: &[Scalar]) -> Result<Vec<Vec<u8>>> {
    let cpu = Cpu::new();
    let memory = |bytes: usize| cpu.allocate(bytes).unwrap();
    let pipeline = cpu.compile(kernel)?;
    let reads: Vec<_> = reads
        .iter()
        .map(|bytes| {
            let m = memory(bytes.len());
            cpu.upload(&*m, bytes).unwrap();
            m
        })
        .collect();
    let writes: Vec<_> = kernel
        .writes
        .iter()
        .enumerate()
        .map(|(w, port)| match kernel.in_place.iter().find(|(i, _)| *i == w) {
            Some(&(_, r)) => reads[r].clone(),
            None => memory(port.len * port.dtype.size()),
        })
        .collect();
    cpu.launch(&[Launch {
        kernel,
        pipeline: &*pipeline,
        reads: &reads.iter().map(|m| &**m).collect::<Vec<_>>(),
        writes: &writes.iter().map(|m| &**m).collect::<Vec<_>>(),
        args,
    }])?;
    Ok(kernel
        .writes
        .iter()
        .zip(&writes)
        .map(|(port, m)| {
            let mut bytes = vec![0; port.len * port.dtype.size()];
            cpu.download(&**m, &mut bytes).unwrap();
            bytes
        })
        .collect())
}

pub(super) fn close(dtype: DType, have: &[u8], want: &[u8], tolerance: f64, what: &str) {
    for i in 0..have.len() / dtype.size() {
        let (h, w) = (get(dtype, have, i), get(dtype, want, i));
        let same = match (h, w) {
            (Number::F(h), Number::F(w)) => {
                h == w || (h.is_nan() && w.is_nan()) || (h - w).abs() <= tolerance * (1.0 + w.abs())
            }
            _ => h == w,
        };
        assert!(same, "{what}: element {i} is {h:?}, should be {w:?}");
    }
}

fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2e-3,
        DType::BF16 => 2e-2,
        DType::F64 => 1e-12,
        _ => 3e-6,
    }
}

/// Runs a loop both ways on random numbers.
fn check(kernel: &Kernel, args: &[Scalar], seed: u64, what: &str) {
    let mut dice = Dice(seed);
    let reads: Vec<Vec<u8>> = kernel.reads.iter().map(|p| numbers(p.dtype, p.len, &mut dice)).collect();
    check_on(kernel, &reads, args, what);
}

fn check_on(kernel: &Kernel, reads: &[Vec<u8>], args: &[Scalar], what: &str) {
    let have = launch(kernel, reads, args).unwrap();
    let Body::Loop(body) = &kernel.body else { panic!() };
    let mut want: Vec<Vec<u8>> = have.clone();
    reference::evaluate(kernel, body, reads, &mut want, args);
    for (w, port) in kernel.writes.iter().enumerate() {
        close(port.dtype, &have[w], &want[w], tolerance(port.dtype), &format!("{what}, write {w}\n{kernel}"));
    }
}

pub(super) fn memory(n: usize, view: View) -> Load {
    Load { source: Source::Memory(n), view }
}

fn segment(dims: &[usize], loads: Vec<Load>, stores: Vec<View>) -> Segment {
    let stores = stores.into_iter().enumerate().map(|(write, view)| Store { write, view }).collect();
    Segment { dims: dims.into(), loads, stores }
}

/// The view of a kept value: row-major over the kept axes, expanded over the others.
fn kept_view(dims: &[usize], reduced: &[bool]) -> View {
    let kept: Vec<usize> = dims.iter().zip(reduced).map(|(&n, &r)| if r { 1 } else { n }).collect();
    View::contiguous(&kept).expand(dims)
}

const SIZES: [usize; 12] = [1, 2, 3, 7, 16, 31, 33, 64, 257, 2048, 2049, 5000];

#[test]
fn every_unary_function_of_every_dtype() {
    use Unary::*;
    let all = [
        Neg, Abs, Sign, Recip, Sqrt, Rsqrt, Exp, Exp2, Expm1, Log, Log2, Log1p, Sin, Cos, Tan, Asin, Acos,
        Atan, Sinh, Cosh, Tanh, Erf, Floor, Ceil, Round, Trunc,
    ];
    for op in all {
        for dtype in [DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32, DType::I64, DType::U32] {
            if !dtype.is_float() && !matches!(op, Neg | Abs | Sign) {
                continue;
            }
            for n in [1, 5, 37, 3000] {
                let mut m = Maker::default();
                let a = m.load(0, dtype);
                let y = m.unary(op, a);
                let view = View::contiguous(&[n]);
                let s = segment(&[n], vec![memory(0, view.clone())], vec![view]);
                let k = kernel(&[false], m.program, &[y], vec![s]);
                check(&k, &[], n as u64, &format!("{op:?} {dtype} {n}"));
            }
        }
    }
    let mut m = Maker::default();
    let a = m.load(0, DType::Bool);
    let y = m.unary(Not, a);
    let view = View::contiguous(&[77]);
    let k =
        kernel(&[false], m.program, &[y], vec![segment(&[77], vec![memory(0, view.clone())], vec![view])]);
    check(&k, &[], 1, "not");
}

#[test]
fn every_binary_function_of_every_dtype_and_broadcast() {
    use Binary::*;
    let all = [Add, Sub, Mul, Div, Rem, Pow, Max, Min, Atan2, Eq, Ne, Lt, Le, And, Or, Xor];
    let (r, c) = (5, 37);
    let full = View::contiguous(&[r, c]);
    let forms = [
        full.clone(),
        View::contiguous(&[r, 1]).expand(&[r, c]),
        View::contiguous(&[1, c]).expand(&[r, c]),
        View::contiguous(&[1, 1]).expand(&[r, c]),
        View::contiguous(&[c, r]).permute(&[1, 0]),
    ];
    for op in all {
        for dtype in crate::dtype::ALL_DTYPES {
            let bits = matches!(op, And | Or | Xor);
            let bool_only = bits || matches!(op, Max | Min | Eq | Ne);
            if (bits && dtype.is_float()) || (dtype == DType::Bool && !bool_only) {
                continue;
            }
            if matches!(op, Pow | Atan2) && !dtype.is_float() {
                continue;
            }
            for (i, left) in forms.iter().enumerate() {
                for (j, right) in forms.iter().enumerate() {
                    if dtype != DType::F32 && i > 0 && j > 0 && i != j {
                        continue;
                    }
                    let mut m = Maker::default();
                    let a = m.load(0, dtype);
                    let b = m.load(1, dtype);
                    let y = m.binary(op, a, b);
                    let s = segment(
                        &[r, c],
                        vec![memory(0, left.clone()), memory(1, right.clone())],
                        vec![full.clone()],
                    );
                    let k = kernel(&[false, false], m.program, &[y], vec![s]);
                    check(&k, &[], 7, &format!("{op:?} {dtype} forms {i} {j}"));
                }
            }
        }
    }
}

#[test]
fn casts_between_all_dtypes() {
    for from in crate::dtype::ALL_DTYPES {
        for to in crate::dtype::ALL_DTYPES {
            let mut m = Maker::default();
            let a = m.load(0, from);
            let y = m.cast(a, to);
            let n = 100;
            let view = View::contiguous(&[n]);
            let s = segment(&[n], vec![memory(0, view.clone())], vec![view]);
            let k = kernel(&[false], m.program, &[y], vec![s]);
            let mut reads = vec![numbers(from, n, &mut Dice(3))];
            if from.is_float() {
                for (i, x) in [1e30, -1e30, f64::NAN, f64::INFINITY, 300.7, -5.5].into_iter().enumerate() {
                    put(from, &mut reads[0], i, Number::F(x));
                }
            }
            check_on(&k, &reads, &[], &format!("{from} to {to}"));
        }
    }
}

#[test]
fn maps_over_all_kinds_of_views() {
    for (seed, &n) in SIZES.iter().enumerate() {
        for rows in [1, 3, 70] {
            if n * rows > 20_000 {
                continue;
            }
            let full = View::contiguous(&[rows, n]);
            let views = [
                full.clone(),
                View::contiguous(&[n, rows]).permute(&[1, 0]),
                View::contiguous(&[rows, 1]).expand(&[rows, n]),
                View::contiguous(&[1, n]).expand(&[rows, n]),
                View::contiguous(&[rows, 2 * n])
                    .slice(&[Range { start: 0, len: rows, step: 1 }, Range { start: 1, len: n, step: 2 }]),
                full.slice(&[
                    Range { start: rows - 1, len: rows, step: -1 },
                    Range { start: n - 1, len: n, step: -1 },
                ]),
            ];
            let mut m = Maker::default();
            let mut sum = m.load(0, DType::F32);
            for i in 1..views.len() {
                let x = m.load(i, DType::F32);
                let t = m.unary(Unary::Tanh, x);
                let p = m.binary(Binary::Mul, t, x);
                sum = m.binary(if i % 2 == 0 { Binary::Add } else { Binary::Sub }, sum, p);
            }
            let h = m.cast(sum, DType::F16);
            let loads = views.iter().cloned().enumerate().map(|(i, v)| memory(i, v)).collect();
            let transposed = View::contiguous(&[n, rows]).permute(&[1, 0]);
            let s = segment(&[rows, n], loads, vec![full.clone(), full.clone(), transposed]);
            let k = kernel(&[false, false], m.program, &[sum, h, sum], vec![s]);
            check(&k, &[], seed as u64, &format!("map {rows} x {n}"));
        }
    }
}

#[test]
fn masked_loads_are_zero_outside() {
    for n in [1, 5, 40, 2100] {
        let inner = View::contiguous(&[6, n]);
        let padded = inner.pad(&[(1, 2), (3, 1)]);
        let dims = [9, n + 4];
        let mut m = Maker::default();
        let a = m.load(0, DType::F32);
        let i = m.push(Inst::Load(1), DType::I64, Level::Element);
        let row = m.load(2, DType::F32);
        let y = m.binary(Binary::Add, a, row);
        let f = m.cast(i, DType::F32);
        let z = m.binary(Binary::Mul, f, y);
        let rows = View::contiguous(&[6, 1]).pad(&[(2, 1), (0, 0)]).expand(&dims);
        let loads =
            vec![memory(0, padded.clone()), Load { source: Source::Index, view: padded }, memory(2, rows)];
        let full = View::contiguous(&dims);
        let s = segment(&dims, loads, vec![full.clone(), full]);
        let k = kernel(&[false, false], m.program, &[y, z], vec![s]);
        // Load 1 has no memory: reads are 0 and 2.
        check(&k, &[], 5, &format!("mask {n}"));
    }
}

/// Softmax, the variance, and their by-products, over any space.
fn statistics(dtype: DType) -> (Vec<Instr>, Vec<Val>) {
    let mut m = Maker::default();
    let x = m.load(0, dtype);
    let bias = m.kept(1, dtype);
    let max = m.reduce(Reduce::Max, x);
    let shifted = m.binary(Binary::Sub, x, max);
    let e = m.unary(Unary::Exp, shifted);
    let sum = m.reduce(Reduce::Sum, e);
    let soft = m.binary(Binary::Div, e, sum);
    let square = m.binary(Binary::Mul, shifted, shifted);
    let squares = m.reduce(Reduce::Sum, square);
    let biased = m.binary(Binary::Add, squares, bias);
    let out = m.binary(Binary::Add, soft, biased);
    let arg = m.reduce(Reduce::ArgMin, out);
    let min = m.reduce(Reduce::Min, soft);
    (m.program, vec![soft, out, biased, arg, min])
}

fn run_statistics(dims: &[usize], reduced: &[bool], x: View, dtype: DType) {
    let (program, stores) = statistics(dtype);
    let full = View::contiguous(dims);
    let kept = kept_view(dims, reduced);
    let loads = vec![memory(0, x), memory(1, kept.clone())];
    let s = segment(dims, loads, vec![full.clone(), full, kept.clone(), kept.clone(), kept]);
    let k = kernel(reduced, program, &stores, vec![s]);
    let mut dice = Dice(11);
    let mut reads: Vec<Vec<u8>> = k.reads.iter().map(|p| numbers(p.dtype, p.len, &mut dice)).collect();
    // A coarse grid, so that the first of several equal elements has to be found.
    for i in 0..k.reads[0].len {
        let x = get(dtype, &reads[0], i).f();
        put(dtype, &mut reads[0], i, Number::F((x * 4.0).round() / 4.0));
    }
    check_on(&k, &reads, &[], &format!("statistics {dims:?} {reduced:?} {dtype}"));
}

#[test]
fn row_kernels_short_and_long() {
    for &n in &[1usize, 2, 9, 33, 700, 2048, 8192, 8193, 9001] {
        for rows in [1, 2, 5] {
            run_statistics(&[rows, n], &[false, true], View::contiguous(&[rows, n]), DType::F32);
        }
    }
    run_statistics(&[40, 17], &[false, true], View::contiguous(&[40, 17]), DType::F64);
    run_statistics(&[3, 9000], &[false, true], View::contiguous(&[3, 9000]), DType::F64);
}

#[test]
fn column_kernels_narrow_and_wide() {
    for &n in &[1usize, 3, 8, 33, 512, 513, 700] {
        for rows in [1, 2, 8, 9, 100, 600] {
            if n * rows <= 60_000 {
                run_statistics(&[rows, n], &[true, false], View::contiguous(&[rows, n]), DType::F32);
            }
        }
    }
    run_statistics(&[600, 17], &[true, false], View::contiguous(&[600, 17]), DType::F64);
}

#[test]
fn reductions_over_any_axes() {
    let dims = [3, 5, 4, 6];
    for bits in 0..16 {
        let reduced: Vec<bool> = (0..4).map(|i| bits >> i & 1 == 1).collect();
        if !reduced.contains(&true) {
            continue;
        }
        run_statistics(&dims, &reduced, View::contiguous(&dims), DType::F32);
        run_statistics(&dims, &reduced, View::contiguous(&[6, 4, 3, 5]).permute(&[2, 3, 1, 0]), DType::F32);
    }
    // Long ones, pass by pass.
    run_statistics(&[20, 3, 500], &[true, false, true], View::contiguous(&[20, 3, 500]), DType::F32);
    run_statistics(&[900, 3, 20], &[true, false, true], View::contiguous(&[900, 3, 20]), DType::F32);
    let turned = View::contiguous(&[9000, 3]).permute(&[1, 0]);
    run_statistics(&[3, 9000], &[false, true], turned, DType::F32);
}

#[test]
fn long_reductions_are_cut_and_accurate() {
    let n = 3_000_000;
    let mut m = Maker::default();
    let x = m.load(0, DType::F32);
    let sum = m.reduce(Reduce::Sum, x);
    let max = m.reduce(Reduce::Max, x);
    let arg = m.reduce(Reduce::ArgMax, x);
    let centred = m.binary(Binary::Sub, x, max);
    let square = m.binary(Binary::Mul, centred, centred);
    let squares = m.reduce(Reduce::Sum, square);
    let kept = View::contiguous(&[1]).expand(&[n]);
    let s = segment(
        &[n],
        vec![memory(0, View::contiguous(&[n]))],
        vec![kept.clone(), kept.clone(), kept.clone(), kept],
    );
    let k = kernel(&[true], m.program, &[sum, max, arg, squares], vec![s]);
    let mut dice = Dice(1);
    let values: Vec<f32> = (0..n).map(|_| dice.unit() as f32 + 0.7).collect();
    let out = launch(&k, &[bytemuck::cast_slice(&values).to_vec()], &[]).unwrap();
    let want: f64 = values.iter().map(|&x| x as f64).sum();
    let top = values.iter().copied().fold(f32::MIN, f32::max);
    let want_squares: f64 = values.iter().map(|&x| ((x - top) as f64).powi(2)).sum();
    let f = |i: usize| get(DType::F32, &out[i], 0).f();
    assert!((f(0) - want).abs() < 1e-6 * want, "{} {want}", f(0));
    assert_eq!(f(1), top as f64);
    assert_eq!(get(DType::I64, &out[2], 0).i(), values.iter().position(|&x| x == top).unwrap() as i64);
    assert!((f(3) - want_squares).abs() < 1e-6 * want_squares, "{} {want_squares}", f(3));
    // The same down long columns.
    let (rows, cols) = (200_000, 5);
    let mut m = Maker::default();
    let x = m.load(0, DType::F32);
    let sum = m.reduce(Reduce::Sum, x);
    let view = View::contiguous(&[rows, cols]);
    let kept = kept_view(&[rows, cols], &[true, false]);
    let s = segment(&[rows, cols], vec![memory(0, view)], vec![kept]);
    let k = kernel(&[true, false], m.program, &[sum], vec![s]);
    let out = launch(&k, &[bytemuck::cast_slice(&values[..rows * cols]).to_vec()], &[]).unwrap();
    for c in 0..cols {
        let want: f64 = values[..rows * cols].iter().skip(c).step_by(cols).map(|&x| x as f64).sum();
        let have = get(DType::F32, &out[0], c).f();
        assert!((have - want).abs() < 1e-6 * want, "{have} {want}");
    }
}

#[test]
fn nan_wins() {
    for (n, at) in [(40, 0), (40, 13), (40, 39), (9000, 8000)] {
        let mut values: Vec<f32> = (0..n).map(|i| (i as f32 * 0.37).sin()).collect();
        values[at] = f32::NAN;
        let mut m = Maker::default();
        let x = m.load(0, DType::F32);
        let all = [Reduce::Max, Reduce::Min, Reduce::ArgMax, Reduce::ArgMin].map(|op| m.reduce(op, x));
        let kept = View::contiguous(&[1]).expand(&[n]);
        let s = segment(&[n], vec![memory(0, View::contiguous(&[n]))], vec![kept; 4]);
        let k = kernel(&[true], m.program, &all, vec![s]);
        let out = launch(&k, &[bytemuck::cast_slice(&values).to_vec()], &[]).unwrap();
        assert!(get(DType::F32, &out[0], 0).f().is_nan() && get(DType::F32, &out[1], 0).f().is_nan());
        assert_eq!(
            (get(DType::I64, &out[2], 0).i(), get(DType::I64, &out[3], 0).i()),
            (at as i64, at as i64)
        );
    }
}

#[test]
fn reductions_of_every_dtype() {
    for dtype in [DType::F64, DType::I32, DType::I64, DType::U32, DType::U8, DType::F16, DType::BF16] {
        for (dims, reduced) in
            [([7, 50], [false, true]), ([50, 7], [true, false]), ([2, 9000], [false, true])]
        {
            let mut m = Maker::default();
            let x = m.load(0, dtype);
            let ops = [Reduce::Sum, Reduce::Prod, Reduce::Max, Reduce::Min, Reduce::ArgMax, Reduce::ArgMin];
            let stores: Vec<Val> = ops
                .iter()
                .filter(|&&op| !(dtype.is_float() && op == Reduce::Prod))
                .map(|&op| m.reduce(op, x))
                .collect();
            let kept = kept_view(&dims, &reduced);
            let s = segment(&dims, vec![memory(0, View::contiguous(&dims))], vec![kept; stores.len()]);
            let k = kernel(&reduced, m.program, &stores, vec![s]);
            check(&k, &[], 2, &format!("reduce {dtype} {dims:?}"));
        }
    }
}

#[test]
fn several_segments_with_arguments_in_place() {
    // A step of momentum over tensors of several shapes, in place.
    let shapes: [&[usize]; 4] = [&[3, 5, 1], &[1, 1, 5000], &[40, 70, 2], &[1, 1, 1]];
    let mut m = Maker::default();
    let p = m.load(0, DType::F32);
    let g = m.load(1, DType::F32);
    let v = m.load(2, DType::F32);
    let rate = m.push(Inst::Arg(0), DType::F32, Level::Uniform);
    let decay = m.literal(0.9, DType::F32);
    let old = m.binary(Binary::Mul, v, decay);
    let new = m.binary(Binary::Add, old, g);
    let step = m.binary(Binary::Mul, new, rate);
    let next = m.binary(Binary::Sub, p, step);
    let mut segments = vec![];
    for (i, shape) in shapes.iter().enumerate() {
        let view = View::contiguous(shape);
        segments.push(Segment {
            dims: (*shape).into(),
            loads: (0..3).map(|k| memory(3 * i + k, view.clone())).collect(),
            stores: vec![
                Store { write: 2 * i, view: view.clone() },
                Store { write: 2 * i + 1, view: view.clone() },
            ],
        });
    }
    let mut k = kernel(&[false; 3], m.program, &[next, new], segments);
    k.reads.iter_mut().for_each(|p| p.dtype = DType::F32);
    k.args = vec![DType::F32];
    check(&k, &[Scalar::Float(0.1)], 4, "momentum");
    k.in_place = (0..4).flat_map(|i| [(2 * i, 3 * i), (2 * i + 1, 3 * i + 2)]).collect();
    check(&k, &[Scalar::Float(0.1)], 4, "momentum in place");
}

#[test]
fn in_place_never_overwrites_what_is_still_read() {
    // y = exp(x) goes over x, and x is still needed after: for z, and in later passes.
    for n in [10, 3000, 9000] {
        let mut m = Maker::default();
        let x = m.load(0, DType::F32);
        let y = m.unary(Unary::Exp, x);
        let sum = m.reduce(Reduce::Sum, y);
        let z = m.binary(Binary::Mul, x, sum);
        let w = m.binary(Binary::Div, y, sum);
        let full = View::contiguous(&[2, n]);
        let s = segment(&[2, n], vec![memory(0, full.clone())], vec![full.clone(), full.clone(), full]);
        let mut k = kernel(&[false, true], m.program, &[y, z, w], vec![s]);
        k.in_place = vec![(0, 0)];
        check(&k, &[], 4, &format!("in place {n}"));
    }
}

#[test]
fn gathers_rows_and_elements_and_reports_what_is_outside() {
    let (n, width) = (700, 33);
    let mut m = Maker::default();
    let index = m.load(0, DType::I64);
    let row =
        m.push(Inst::Gather { load: 1, index, stride: width as isize, len: 50 }, DType::F32, Level::Element);
    let column = m.load(2, DType::I64);
    let one = m.push(Inst::Gather { load: 3, index: column, stride: 1, len: 20 }, DType::F16, Level::Element);
    let dims = [n, width];
    let loads = vec![
        memory(0, View::contiguous(&[n, 1]).expand(&dims)),
        memory(1, View::contiguous(&[1, width]).expand(&dims)),
        memory(2, View::contiguous(&dims)),
        memory(
            3,
            View {
                shape: dims.as_slice().into(),
                strides: smallvec::smallvec![20, 0],
                offset: 0,
                mask: None,
            },
        ),
    ];
    let full = View::contiguous(&dims);
    let s = segment(&dims, loads, vec![full.clone(), full]);
    let k = kernel(&[false, false], m.program, &[row, one], vec![s]);
    let mut dice = Dice(9);
    let mut reads: Vec<Vec<u8>> = k.reads.iter().map(|p| numbers(p.dtype, p.len, &mut dice)).collect();
    for i in 0..n {
        put(DType::I64, &mut reads[0], i, Number::I(dice.below(50) as i64));
    }
    for i in 0..n * width {
        put(DType::I64, &mut reads[2], i, Number::I(dice.below(20) as i64));
    }
    check_on(&k, &reads, &[], "gather");
    put(DType::I64, &mut reads[0], 100, Number::I(50));
    let error = launch(&k, &reads, &[]).unwrap_err().to_string();
    assert!(error.contains("50") && error.contains("test"), "{error}");
    put(DType::I64, &mut reads[0], 100, Number::I(-1));
    assert!(matches!(launch(&k, &reads, &[]), Err(Error::Index { op: "gather", .. })));
}

#[test]
fn random_numbers_iota_choice_and_constants() {
    let dims = [3, 1111];
    let mut m = Maker::default();
    let index = m.push(Inst::Load(0), DType::I64, Level::Element);
    let seed = m.push(Inst::Arg(0), DType::U32, Level::Uniform);
    let stream = m.push(Inst::Arg(1), DType::U32, Level::Uniform);
    let draw = |m: &mut Maker, kind| {
        let dtype = if kind == Random::Bits { DType::U32 } else { DType::F32 };
        m.push(Inst::Random { kind, seed, stream, index }, dtype, Level::Element)
    };
    let (bits, unit, normal) =
        (draw(&mut m, Random::Bits), draw(&mut m, Random::Uniform), draw(&mut m, Random::Normal));
    let half = m.literal(0.5, DType::F32);
    let low = m.binary(Binary::Lt, unit, half);
    let chosen = m.push(Inst::Where(low, normal, half), DType::F32, Level::Element);
    let constant = m.literal(2.5, DType::F16);
    let full = View::contiguous(&dims);
    let load = Load { source: Source::Index, view: full.clone() };
    let s = segment(&dims, vec![load], vec![full; 6]);
    let mut k = kernel(&[false; 2], m.program, &[bits, unit, normal, chosen, low, constant], vec![s]);
    k.args = vec![DType::U32; 2];
    check(&k, &[Scalar::Int(77), Scalar::Int(4_000_000_000)], 1, "random");
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (rows, n) = (40, 9000);
    let (program, stores) = statistics(DType::F32);
    let dims = [rows, n];
    let reduced = [true, true];
    let full = View::contiguous(&dims);
    let kept = kept_view(&dims, &reduced);
    let loads = vec![memory(0, full.clone()), memory(1, kept.clone())];
    let s = segment(&dims, loads, vec![full.clone(), full, kept.clone(), kept.clone(), kept]);
    let k = kernel(&reduced, program, &stores, vec![s]);
    let mut dice = Dice(8);
    let reads: Vec<Vec<u8>> = k.reads.iter().map(|p| numbers(p.dtype, p.len, &mut dice)).collect();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| launch(&k, &reads, &[]).unwrap())
    };
    let one = run(1);
    assert!(one == run(2) && one == run(5));
    assert_eq!(numel(&dims) * 4, one[0].len());
}
