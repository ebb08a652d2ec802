//! A plain evaluator of loops, one point at a time, that the tests compare with. Floats are carried in f64
//! and rounded to their dtype after every instruction.

use super::math::erf64;
use super::numeric::{floor_rem, unary_f64};
use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, Random, Reduce, Unary};
use crate::kernel::{Inst, Kernel, Level, Loop, Segment, Source, Val};
use crate::random::{threefry, unit};
use crate::view::each_coord;
use half::{bf16, f16};

/// A number of any dtype.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    F(f64),
    I(i64),
}
use Number::{F, I};

impl Number {
    pub fn f(self) -> f64 {
        match self {
            F(x) => x,
            I(x) => x as f64,
        }
    }
    pub fn i(self) -> i64 {
        match self {
            F(x) => x as i64,
            I(x) => x,
        }
    }
}

pub(super) fn get(dtype: DType, bytes: &[u8], at: usize) -> Number {
    let b = &bytes[at * dtype.size()..(at + 1) * dtype.size()];
    match dtype {
        DType::F32 => F(f32::from_ne_bytes(b.try_into().unwrap()) as f64),
        DType::F16 => F(f16::from_ne_bytes(b.try_into().unwrap()).to_f64()),
        DType::BF16 => F(bf16::from_ne_bytes(b.try_into().unwrap()).to_f64()),
        DType::F64 => F(f64::from_ne_bytes(b.try_into().unwrap())),
        DType::I32 => I(i32::from_ne_bytes(b.try_into().unwrap()) as i64),
        DType::I64 => I(i64::from_ne_bytes(b.try_into().unwrap())),
        DType::U32 => I(u32::from_ne_bytes(b.try_into().unwrap()) as i64),
        DType::U8 | DType::Bool => I(b[0] as i64),
    }
}

pub(super) fn put(dtype: DType, bytes: &mut [u8], at: usize, x: Number) {
    let b = &mut bytes[at * dtype.size()..(at + 1) * dtype.size()];
    match dtype {
        DType::F32 => b.copy_from_slice(&(x.f() as f32).to_ne_bytes()),
        DType::F16 => b.copy_from_slice(&f16::from_f64(x.f()).to_ne_bytes()),
        DType::BF16 => b.copy_from_slice(&bf16::from_f64(x.f()).to_ne_bytes()),
        DType::F64 => b.copy_from_slice(&x.f().to_ne_bytes()),
        DType::I32 => b.copy_from_slice(&(x.i() as i32).to_ne_bytes()),
        DType::I64 => b.copy_from_slice(&x.i().to_ne_bytes()),
        DType::U32 => b.copy_from_slice(&(x.i() as u32).to_ne_bytes()),
        DType::U8 | DType::Bool => b[0] = x.i() as u8,
    }
}

/// What a register of the dtype would hold.
fn hold(dtype: DType, x: Number) -> Number {
    match dtype {
        DType::F32 | DType::F16 | DType::BF16 => F(x.f() as f32 as f64),
        DType::F64 => F(x.f()),
        DType::I32 => I(x.i() as i32 as i64),
        DType::I64 => I(x.i()),
        DType::U32 => I(x.i() as u32 as i64),
        DType::U8 | DType::Bool => I(x.i() as u8 as i64),
    }
}

fn cast(to: DType, x: Number) -> Number {
    match (to, x) {
        (DType::Bool, x) => I((x.f() != 0.0) as i64),
        (DType::F16, x) => F(f16::from_f32(x.f() as f32).to_f64()),
        (DType::BF16, x) => F(bf16::from_f32(x.f() as f32).to_f64()),
        (DType::I32, F(v)) => I(v as i32 as i64),
        (DType::I64, F(v)) => I(v as i64),
        (DType::U32, F(v)) => I(v as u32 as i64),
        (DType::U8, F(v)) => I(v as u8 as i64),
        (to, x) => hold(to, x),
    }
}

fn unary(op: Unary, x: Number) -> Number {
    match x {
        F(v) if op == Unary::Erf => F(erf64(v)),
        F(v) => F(unary_f64(v, op)),
        I(v) => match op {
            Unary::Neg => I(v.wrapping_neg()),
            Unary::Abs => I(v.wrapping_abs()),
            Unary::Sign => I(v.signum()),
            Unary::Not => I((v == 0) as i64),
            _ => I(v),
        },
    }
}

fn binary(op: Binary, a: Number, b: Number) -> Number {
    let truth = |x: bool| I(x as i64);
    match (op, a, b) {
        (Binary::Eq, F(a), F(b)) => truth(a == b),
        (Binary::Eq, ..) => truth(a.i() == b.i()),
        (Binary::Ne, F(a), F(b)) => truth(a != b),
        (Binary::Ne, ..) => truth(a.i() != b.i()),
        (Binary::Lt, F(a), F(b)) => truth(a < b),
        (Binary::Lt, ..) => truth(a.i() < b.i()),
        (Binary::Le, F(a), F(b)) => truth(a <= b),
        (Binary::Le, ..) => truth(a.i() <= b.i()),
        (_, F(a), F(b)) => F(match op {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            Binary::Div => a / b,
            Binary::Rem => floor_rem(a, b),
            Binary::Pow => a.powf(b),
            Binary::Atan2 => a.atan2(b),
            Binary::Max if a.is_nan() || b.is_nan() => f64::NAN,
            Binary::Min if a.is_nan() || b.is_nan() => f64::NAN,
            Binary::Max => a.max(b),
            _ => a.min(b),
        }),
        _ => {
            let (a, b) = (a.i(), b.i());
            I(match op {
                Binary::Add => a.wrapping_add(b),
                Binary::Sub => a.wrapping_sub(b),
                Binary::Mul => a.wrapping_mul(b),
                Binary::Div if b == 0 => 0,
                Binary::Div => (a as i128).div_euclid(b as i128).wrapping_sub(
                    // Floor: one less than Euclid's where the divisor is negative and does not divide.
                    (b < 0 && (a as i128).rem_euclid(b as i128) != 0) as i128,
                ) as i64,
                Binary::Rem if b == 0 => 0,
                Binary::Rem => ((a as i128 % b as i128 + b as i128) % b as i128) as i64,
                Binary::Pow => a.wrapping_pow(b as u32),
                Binary::Max => a.max(b),
                Binary::Min => a.min(b),
                Binary::And => a & b,
                Binary::Or => a | b,
                _ => a ^ b,
            })
        }
    }
}

fn beats(op: Reduce, new: Number, old: Number) -> bool {
    match (new, old) {
        (F(n), F(o)) => {
            !o.is_nan()
                && (n.is_nan() || if matches!(op, Reduce::Max | Reduce::ArgMax) { n > o } else { n < o })
        }
        _ if matches!(op, Reduce::Max | Reduce::ArgMax) => new.i() > old.i(),
        _ => new.i() < old.i(),
    }
}

struct Evaluator<'a> {
    kernel: &'a Kernel,
    body: &'a Loop,
    segment: &'a Segment,
    reads: &'a [Vec<u8>],
    args: &'a [Scalar],
    /// Values of reductions for the kept point at hand.
    reduced: Vec<Option<Number>>,
}

impl Evaluator<'_> {
    fn value(&self, v: Val, coord: &[usize]) -> Number {
        let instr = &self.body.program[v.index()];
        let load = |n: usize, extra: isize| {
            let load = &self.segment.loads[n];
            let mut at = coord.to_vec();
            if instr.level != Level::Element {
                (0..at.len()).filter(|&i| self.body.reduced[i]).for_each(|i| at[i] = 0);
            }
            let Some(address) = load.view.at(&at) else { return hold(instr.dtype, I(0)) };
            match load.source {
                Source::Memory(r) => {
                    get(self.kernel.reads[r].dtype, &self.reads[r], (address as isize + extra) as usize)
                }
                _ => hold(instr.dtype, I(address as i64)),
            }
        };
        let x = match instr.inst {
            Inst::Literal(bits) => match Scalar::from_bits(bits, instr.dtype) {
                Scalar::Float(x) => cast(instr.dtype, F(x)),
                Scalar::Int(x) => I(x),
            },
            Inst::Arg(n) => match instr.dtype.is_float() {
                true => cast(instr.dtype, F(self.args[n].as_f64())),
                false => I(self.args[n].as_i64()),
            },
            Inst::Load(n) => load(n, 0),
            Inst::Gather { load: n, index, stride, .. } => {
                load(n, self.value(index, coord).i() as isize * stride)
            }
            Inst::Unary(op, a) => unary(op, self.value(a, coord)),
            Inst::Binary(op, a, b) => binary(op, self.value(a, coord), self.value(b, coord)),
            Inst::Where(c, a, b) => self.value(if self.value(c, coord).i() != 0 { a } else { b }, coord),
            Inst::Cast(a) => cast(instr.dtype, self.value(a, coord)),
            Inst::Random { kind, seed, stream, index } => {
                let v = |v| self.value(v, coord).i();
                let (x, y) = threefry(v(seed) as u32, v(stream) as u32, v(index) as u64);
                match kind {
                    Random::Bits => I(x as i64),
                    Random::Uniform => F(unit(x) as f64),
                    Random::Normal => {
                        let radius = (-2.0 * (1.0 - unit(x) as f64).ln()).sqrt();
                        F(radius * (std::f64::consts::TAU * unit(y) as f64).cos())
                    }
                }
            }
            Inst::Reduce(..) => self.reduced[v.index()].expect("reductions come first"),
        };
        hold(instr.dtype, x)
    }

    fn reduce(&self, op: Reduce, a: Val, kept: &[usize]) -> Number {
        let reduced = &self.body.reduced;
        let dims: Vec<usize> =
            self.segment.dims.iter().zip(reduced).filter(|(_, r)| **r).map(|(&n, _)| n).collect();
        let mut out: Option<Number> = None;
        let (mut best, mut count) = (0, 0);
        each_coord(&dims, |c| {
            let mut coord = kept.to_vec();
            let mut next = c.iter();
            (0..coord.len()).filter(|&i| reduced[i]).for_each(|i| coord[i] = *next.next().unwrap());
            let x = self.value(a, &coord);
            out = Some(match (out, op) {
                (None, _) => x,
                (Some(old), Reduce::Sum) => match (old, x) {
                    (F(a), F(b)) => F(a + b),
                    (a, b) => I(a.i().wrapping_add(b.i())),
                },
                (Some(old), Reduce::Prod) => match (old, x) {
                    (F(a), F(b)) => F(a * b),
                    (a, b) => I(a.i().wrapping_mul(b.i())),
                },
                (Some(old), _) if beats(op, x, old) => {
                    best = count;
                    x
                }
                (Some(old), _) => old,
            });
            count += 1;
        });
        match op {
            Reduce::ArgMax | Reduce::ArgMin => I(best),
            _ => out.unwrap(),
        }
    }
}

/// Runs a loop over memories of bytes.
pub(super) fn evaluate(
    kernel: &Kernel,
    body: &Loop,
    reads: &[Vec<u8>],
    writes: &mut [Vec<u8>],
    args: &[Scalar],
) {
    for segment in &body.segments {
        let kept_dims: Vec<usize> =
            segment.dims.iter().zip(&body.reduced).map(|(&n, &r)| if r { 1 } else { n }).collect();
        let mut evaluator =
            Evaluator { kernel, body, segment, reads, args, reduced: vec![None; body.program.len()] };
        each_coord(&kept_dims, |kept| {
            for (i, instr) in body.program.iter().enumerate() {
                if let Inst::Reduce(op, a) = instr.inst {
                    evaluator.reduced[i] = Some(evaluator.reduce(op, a, kept));
                }
            }
            let rest: Vec<usize> =
                segment.dims.iter().zip(&body.reduced).map(|(&n, &r)| if r { n } else { 1 }).collect();
            for (v, store) in body.stores.iter().zip(&segment.stores) {
                let element = body.program[v.index()].level == Level::Element;
                let dims = if element { rest.clone() } else { vec![1; rest.len()] };
                each_coord(&dims, |c| {
                    let coord: Vec<usize> = kept.iter().zip(c).map(|(a, b)| a + b).collect();
                    let x = evaluator.value(*v, &coord);
                    let at = store.view.at(&coord).expect("stores are not masked");
                    put(kernel.writes[store.write].dtype, &mut writes[store.write], at, x);
                });
            }
        });
    }
}
