//! Maps: every function of every dtype, views, segments, gathers, random numbers.

use super::reference::{Number, put};
use super::tests::*;
use super::*;
use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, Random, Reduce, Unary};
use crate::kernel::*;
use crate::view::{Range, View, numel};

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
                Store { write: 2 * i, view: view.clone(), spare: 0 },
                Store { write: 2 * i + 1, view: view.clone(), spare: 0 },
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
