//! Kernels built by hand, run on the device and by the plain evaluator, and compared: what the other tests share.

use super::reference::{self, Number, get, put};
use super::*;
use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, Reduce, Unary};
use crate::kernel::*;
use crate::view::View;
use crate::{Device, Tensor};

/// An operand of a layer norm, its gain and its bias.
pub(super) fn leaves(rows: usize, cols: usize) -> Result<[Tensor; 3]> {
    let device = Device::cpu();
    let leaf = |shape: &[usize]| Tensor::randn(shape, DType::F32, &device)?.variable();
    let leaves = [leaf(&[rows, cols])?, leaf(&[cols])?, leaf(&[cols])?];
    crate::eval(&[&leaves[0], &leaves[1], &leaves[2]])?;
    Ok(leaves)
}

/// A layer norm and its gradients: a row loop, and the sums of columns that read what it has read.
pub(super) fn norm(leaves: &[Tensor; 3]) -> Result<Vec<Tensor>> {
    let [x, gain, bias] = leaves;
    let y = x.layer_norm(1, Some(gain), Some(bias), 1e-5)?;
    let gradients = y.backward_with(&x.detach())?;
    Ok([y].into_iter().chain(leaves.iter().filter_map(|leaf| gradients.get(leaf).cloned())).collect())
}

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
    pub fn level(&self, v: &[Val]) -> Level {
        v.iter().map(|v| self.program[v.index()].level).max().unwrap_or(Level::Uniform)
    }
    pub fn dtype(&self, v: Val) -> DType {
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
        beside: 1,
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

pub(super) fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2e-3,
        DType::BF16 => 2e-2,
        DType::F64 => 1e-12,
        _ => 3e-6,
    }
}

/// Runs a loop both ways on random numbers.
pub(super) fn check(kernel: &Kernel, args: &[Scalar], seed: u64, what: &str) {
    let mut dice = Dice(seed);
    let reads: Vec<Vec<u8>> = kernel.reads.iter().map(|p| numbers(p.dtype, p.len, &mut dice)).collect();
    check_on(kernel, &reads, args, what);
}

pub(super) fn check_on(kernel: &Kernel, reads: &[Vec<u8>], args: &[Scalar], what: &str) {
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

pub(super) fn segment(dims: &[usize], loads: Vec<Load>, stores: Vec<View>) -> Segment {
    let stores =
        stores.into_iter().enumerate().map(|(write, view)| Store { write, view, spare: 0 }).collect();
    Segment { dims: dims.into(), loads, stores }
}

/// The view of a kept value: row-major over the kept axes, expanded over the others.
pub(super) fn kept_view(dims: &[usize], reduced: &[bool]) -> View {
    let kept: Vec<usize> = dims.iter().zip(reduced).map(|(&n, &r)| if r { 1 } else { n }).collect();
    View::contiguous(&kept).expand(dims)
}

pub(super) const SIZES: [usize; 12] = [1, 2, 3, 7, 16, 31, 33, 64, 257, 2048, 2049, 5000];

/// Softmax, the variance, and their by-products, over any space.
pub(super) fn statistics(dtype: DType) -> (Vec<Instr>, Vec<Val>) {
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

#[test]
fn memories_begin_apart_and_have_their_size() {
    let sizes = [1, 64, APART - 1, APART, 3 * APART + 1, 5 * HUGE_PAGE];
    let memories: Vec<HostMemory> = sizes.iter().map(|&bytes| HostMemory::new(bytes).unwrap()).collect();
    for (memory, bytes) in memories.iter().zip(sizes) {
        assert!(memory.bytes() >= bytes && memory.pointer().addr().is_multiple_of(64), "{bytes}");
        // SAFETY: the memory is that large, and nobody else has it.
        unsafe { std::ptr::write_bytes(memory.pointer(), 7, bytes) };
    }
    let places: Vec<usize> = memories.iter().map(|m| m.skipped).collect();
    assert!(places[..3].iter().all(|&place| place == 0), "{places:?}");
    // Other tests take places, too: at least these are multiples of one.
    assert!(places[3..].iter().all(|place| place.is_multiple_of(PLACE)), "{places:?}");
    let two = [HostMemory::new(5 * HUGE_PAGE), HostMemory::new(5 * HUGE_PAGE)].map(Option::unwrap);
    assert!(two.iter().all(|m| (m.pointer().addr() - m.skipped).is_multiple_of(HUGE_PAGE)));
}
