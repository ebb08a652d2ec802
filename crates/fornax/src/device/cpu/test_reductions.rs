//! Rows, columns and reductions over any axes.

use super::reference::{Number, get, put};
use super::tests::*;
use crate::dtype::DType;
use crate::graph::{Binary, Reduce};
use crate::kernel::*;
use crate::view::View;
use crate::{Device, Result, Tensor};

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
fn long_rows_are_whole_wherever_their_halves_meet() -> Result<()> {
    for n in [4095, 4096, 4101, 8192, 12_345, 40_007] {
        let x = Tensor::randn(&[2, n], DType::F32, &Device::cpu())?;
        x.eval()?;
        let found =
            [x.sum(&[1], false)?, x.max(&[1], false)?, x.min(&[1], false)?, x.argmax(Some(1), false)?];
        for (i, tensor) in found.iter().enumerate() {
            let (want, have) = (tensor.reference()?, tensor.to_bytes()?);
            close(tensor.dtype(), &have, &want, 1e-4, &format!("reduction {i} of {n}"));
        }
    }
    Ok(())
}
