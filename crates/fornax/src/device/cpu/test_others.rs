//! Attention with its gradients, scatter-add, sort and running sums, compared with plain loops.

use super::reference::{Number, get, put};
use super::tests::*;
use crate::dtype::DType;
use crate::error::Error;
use crate::graph::AttentionSpec;
use crate::kernel::*;
use crate::view::{View, each_coord, numel};

struct Case {
    sizes: [usize; 7],
    causal: bool,
    /// 0: none; 1: a bias for all; 2: one for each head; 3: some rows see nothing.
    mask: usize,
    dtype: DType,
}

/// All of attention in f64: out, lse, and the gradients for the gradient of out.
#[allow(clippy::type_complexity)]
fn plain(
    c: &Case,
    scale: f64,
    q: &dyn Fn(usize, usize, usize, usize) -> f64,
    k: &dyn Fn(usize, usize, usize, usize) -> f64,
    v: &dyn Fn(usize, usize, usize, usize) -> f64,
    mask: &dyn Fn(usize, usize, usize, usize) -> f64,
    grad: &dyn Fn(usize, usize, usize, usize) -> f64,
) -> [Vec<f64>; 5] {
    let [b, h, hk, tq, tk, d, dv] = c.sizes;
    let mut out = vec![0.0; b * tq * h * dv];
    let mut lse = vec![f64::NEG_INFINITY; b * h * tq];
    let (mut gq, mut gk, mut gv) =
        (vec![0.0; b * tq * h * d], vec![0.0; b * tk * hk * d], vec![0.0; b * tk * hk * dv]);
    for (bi, hi, i) in (0..b).flat_map(|x| (0..h).flat_map(move |y| (0..tq).map(move |z| (x, y, z)))) {
        let kv = hi / (h / hk);
        let s: Vec<f64> = (0..tk)
            .map(|j| {
                let dot: f64 = (0..d).map(|e| q(bi, hi, i, e) * k(bi, kv, j, e)).sum();
                if c.causal && j > i { f64::NEG_INFINITY } else { dot * scale + mask(bi, hi, i, j) }
            })
            .collect();
        let top = s.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if top == f64::NEG_INFINITY {
            continue;
        }
        let total: f64 = s.iter().map(|x| (x - top).exp()).sum();
        lse[(bi * h + hi) * tq + i] = top + total.ln();
        let p: Vec<f64> = s.iter().map(|x| (x - top).exp() / total).collect();
        let at = |e: usize| ((bi * tq + i) * h + hi) * dv + e;
        for e in 0..dv {
            out[at(e)] = (0..tk).map(|j| p[j] * v(bi, kv, j, e)).sum();
        }
        let delta: f64 = (0..dv).map(|e| grad(bi, hi, i, e) * out[at(e)]).sum();
        for j in 0..tk {
            let dp: f64 = (0..dv).map(|e| grad(bi, hi, i, e) * v(bi, kv, j, e)).sum();
            let ds = p[j] * (dp - delta) * scale;
            for e in 0..dv {
                gv[((bi * tk + j) * hk + kv) * dv + e] += p[j] * grad(bi, hi, i, e);
            }
            for e in 0..d {
                gq[((bi * tq + i) * h + hi) * d + e] += ds * k(bi, kv, j, e);
                gk[((bi * tk + j) * hk + kv) * d + e] += ds * q(bi, hi, i, e);
            }
        }
    }
    [out, lse, gq, gk, gv]
}

fn run(c: Case, turned: bool) {
    let [b, h, hk, tq, tk, d, dv] = c.sizes;
    let what = format!("{:?} causal {} mask {} {} turned {turned}", c.sizes, c.causal, c.mask, c.dtype);
    let scale = 1.0 / (d as f64).sqrt();
    // Operands as views of [b, t, h, d], or with the width not innermost.
    let view = |heads: usize, t: usize, w: usize| match turned {
        false => View::contiguous(&[b, t, heads, w]).permute(&[0, 2, 1, 3]),
        true => View::contiguous(&[b, w, heads, t]).permute(&[0, 2, 3, 1]),
    };
    let (qv, kv, vv) = (view(h, tq, d), view(hk, tk, d), view(hk, tk, dv));
    let gv = View::contiguous(&[b, tq, h, dv]);
    let lv = View::contiguous(&[b, h, tq]);
    let mv = match c.mask {
        2 => View::contiguous(&[1, h, tq, tk]).expand(&[b, h, tq, tk]),
        3 => View::contiguous(&[1, 1, tq, 1]).expand(&[b, h, tq, tk]),
        _ => View::contiguous(&[1, 1, tk, tq]).permute(&[0, 1, 3, 2]).expand(&[b, h, tq, tk]),
    };
    let mask_len = [0, tq * tk, h * tq * tk, tq][c.mask];
    let float = if c.dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let port = |dtype, len| Port { dtype, len };
    let reads = vec![
        port(c.dtype, b * h * tq * d),
        port(c.dtype, b * hk * tk * d),
        port(c.dtype, b * hk * tk * dv),
        port(float, mask_len.max(1)),
        port(c.dtype, b * tq * h * dv),
        port(float, b * h * tq),
        port(c.dtype, b * tq * h * dv),
    ];
    let mut dice = Dice(21);
    let mut data: Vec<Vec<u8>> = reads.iter().map(|p| numbers(p.dtype, p.len, &mut dice)).collect();
    if c.mask == 3 {
        for i in 0..tq {
            let x = if i % 3 == 1 { f64::NEG_INFINITY } else { 0.5 };
            put(float, &mut data[3], i, Number::F(x));
        }
    }
    let spec = AttentionSpec { causal: c.causal, scale: scale.to_bits(), mask: c.mask > 0 };
    let mask = (c.mask > 0).then(|| (3, mv.clone()));
    let forward = Attention {
        spec,
        q: (0, qv.clone()),
        k: (1, kv.clone()),
        v: (2, vv.clone()),
        mask: mask.clone(),
        out: Some(0),
        lse: Some(1),
    };
    let writes = vec![port(c.dtype, b * tq * h * dv), port(float, b * h * tq)];
    let kernel = bare(Body::Attention(Box::new(forward)), reads[..4].to_vec(), writes);
    let have = launch(&kernel, &data[..4], &[]).unwrap();
    let read =
        |n: usize, view: &View, at: [usize; 4]| get(reads[n].dtype, &data[n], view.at(&at).unwrap()).f();
    let want = plain(
        &c,
        scale,
        &|b, h, t, e| read(0, &qv, [b, h, t, e]),
        &|b, h, t, e| read(1, &kv, [b, h, t, e]),
        &|b, h, t, e| read(2, &vv, [b, h, t, e]),
        &|b, h, i, j| if c.mask > 0 { read(3, &mv, [b, h, i, j]) } else { 0.0 },
        &|b, h, t, e| read(6, &gv, [b, t, h, e]),
    );
    let tolerance = match c.dtype {
        DType::F64 => 1e-12,
        DType::F32 => 3e-5,
        DType::BF16 => 2e-1,
        _ => 3e-2,
    };
    let compare = |dtype: DType, have: &[u8], want: &[f64], name: &str| {
        let mut bytes = vec![0; want.len() * dtype.size()];
        want.iter().enumerate().for_each(|(i, &x)| put(dtype, &mut bytes, i, Number::F(x)));
        close(dtype, have, &bytes, tolerance, &format!("{name} {what}"));
    };
    compare(c.dtype, &have[0], &want[0], "out");
    compare(float, &have[1], &want[1], "lse");
    data[4] = have[0].clone();
    data[5] = have[1].clone();
    let backward = AttentionGrad {
        spec,
        q: (0, qv),
        k: (1, kv),
        v: (2, vv),
        out: (4, gv.clone()),
        lse: (5, lv),
        grad: (6, gv),
        mask,
        dq: Some(0),
        dk: Some(1),
        dv: Some(2),
    };
    let writes =
        vec![port(c.dtype, b * tq * h * d), port(c.dtype, b * tk * hk * d), port(c.dtype, b * tk * hk * dv)];
    let kernel = bare(Body::AttentionGrad(Box::new(backward)), reads.clone(), writes);
    let have = launch(&kernel, &data, &[]).unwrap();
    for (i, name) in ["dq", "dk", "dv"].into_iter().enumerate() {
        compare(c.dtype, &have[i], &want[2 + i], name);
    }
}

#[test]
fn attention_and_its_gradients() {
    for sizes in [
        [1, 1, 1, 1, 1, 4, 4],
        [2, 4, 2, 5, 5, 8, 8],
        [1, 2, 1, 1, 300, 16, 8],
        [2, 2, 2, 70, 70, 16, 16],
        [1, 2, 2, 130, 290, 8, 12],
        [1, 1, 1, 90, 40, 8, 8],
    ] {
        for causal in [false, true] {
            for mask in 0..4 {
                for dtype in [DType::F32, DType::F64, DType::F16, DType::BF16] {
                    run(Case { sizes, causal, mask, dtype }, mask == 1);
                }
            }
        }
    }
}

/// Just below, at and above the blocks, with widths that fill panels and such that do not; with fewer keys than
/// queries and more.
#[test]
fn attention_around_its_blocks() {
    // Enough heads for blocks of full height, each pair with its keys.
    let many = |tq, tk, d, dv| [2, 8, 4, tq, tk, d, dv];
    for (tq, tk) in [(127, 127), (128, 128), (129, 129), (133, 128), (140, 100), (125, 257), (261, 261)] {
        for (causal, mask) in [(true, 0), (false, 0), (true, 3)] {
            run(Case { sizes: many(tq, tk, 4, 12), causal, mask, dtype: DType::F32 }, false);
        }
        run(Case { sizes: [1, 2, 1, tq, tk, 8, 32], causal: true, mask: 2, dtype: DType::F64 }, true);
        run(Case { sizes: [1, 1, 1, tq, tk, 32, 8], causal: true, mask: 0, dtype: DType::F16 }, true);
    }
    run(Case { sizes: many(130, 130, 32, 32), causal: true, mask: 0, dtype: DType::F32 }, false);
    run(Case { sizes: many(100, 140, 32, 64), causal: false, mask: 0, dtype: DType::F32 }, false);
}

/// Few heads: the queries of one are cut into parts.
#[test]
fn gradients_of_long_attention() {
    for (causal, mask, dtype) in [(true, 0, DType::F32), (false, 1, DType::F32), (true, 0, DType::F64)] {
        run(Case { sizes: [1, 2, 1, 520, 200, 16, 8], causal, mask, dtype }, false);
    }
}

#[test]
fn scatter_add_in_order_and_in_place() {
    for (shape, count, axis) in
        [(vec![50, 33], 700, 0), (vec![40], 5000, 0), (vec![3, 20, 4], 90, 1), (vec![6, 1000], 1300, 1)]
    {
        for dtype in [DType::F32, DType::F16, DType::F64, DType::I64] {
            for (rows, base) in [(true, false), (false, true), (false, false), (true, true)] {
                let mut from = shape.clone();
                from[axis] = count;
                let mut one = from.clone();
                one[axis + 1..].iter_mut().for_each(|n| *n = 1);
                let value = View::contiguous(&from);
                let index = if rows { View::contiguous(&one).expand(&from) } else { value.clone() };
                let target = View::contiguous(&shape);
                let n = numel(&shape);
                let reads = vec![
                    Port { dtype, len: n },
                    Port { dtype: DType::I64, len: numel(if rows { &one } else { &from }) },
                    Port { dtype, len: numel(&from) },
                ];
                let mut dice = Dice(6);
                let mut data: Vec<Vec<u8>> =
                    reads.iter().map(|p| numbers(p.dtype, p.len, &mut dice)).collect();
                for i in 0..reads[1].len {
                    put(DType::I64, &mut data[1], i, Number::I(dice.below(shape[axis]) as i64));
                }
                let body = ScatterAdd {
                    axis,
                    shape: shape.as_slice().into(),
                    base: base.then(|| (0, target.clone())),
                    index: (1, index.clone()),
                    value: (2, value.clone()),
                };
                let mut kernel = bare(Body::ScatterAdd(Box::new(body)), reads, vec![Port { dtype, len: n }]);
                let mut want: Vec<Number> = (0..n)
                    .map(|i| match (base, dtype) {
                        (true, _) => get(dtype, &data[0], i),
                        (_, DType::I64) => Number::I(0),
                        _ => Number::F(0.0),
                    })
                    .collect();
                each_coord(&from, |c| {
                    let mut to = c.to_vec();
                    to[axis] = get(DType::I64, &data[1], index.at(c).unwrap()).i() as usize;
                    let at = target.at(&to).unwrap();
                    want[at] = match (want[at], get(dtype, &data[2], value.at(c).unwrap())) {
                        (Number::I(a), Number::I(b)) => Number::I(a + b),
                        (a, b) => Number::F(a.f() + b.f()),
                    };
                });
                let mut bytes = vec![0; n * dtype.size()];
                want.iter().enumerate().for_each(|(i, &x)| put(dtype, &mut bytes, i, x));
                let tolerance = if dtype == DType::F16 { 1e-1 } else { 1e-4 };
                let what = format!("{shape:?} {axis} {dtype} rows {rows} base {base}");
                let have = launch(&kernel, &data, &[]).unwrap();
                close(dtype, &have[0], &bytes, tolerance, &what);
                if base {
                    kernel.in_place = vec![(0, 0)];
                    close(dtype, &launch(&kernel, &data, &[]).unwrap()[0], &bytes, tolerance, &what);
                }
                put(DType::I64, &mut data[1], 2, Number::I(shape[axis] as i64));
                assert!(matches!(launch(&kernel, &data, &[]), Err(Error::Index { op: "scatter_add", .. })));
            }
        }
    }
}

#[test]
fn sort_is_stable_and_puts_nan_last() {
    for dims in [vec![7], vec![3, 50, 2], vec![2, 3000]] {
        for axis in 0..dims.len() {
            for descending in [false, true] {
                let n = numel(&dims);
                let view = View::contiguous(&dims);
                let mut dice = Dice(4);
                let values: Vec<f32> = (0..n)
                    .map(|_| match dice.below(12) {
                        0 => f32::NAN,
                        k => k as f32 - 5.0,
                    })
                    .collect();
                let body = Sort { axis, descending, value: (0, view.clone()) };
                let port = |dtype| vec![Port { dtype, len: n }];
                let kernel = bare(Body::Sort(body), port(DType::F32), port(DType::I64));
                let have = launch(&kernel, &[bytemuck::cast_slice(&values).to_vec()], &[]).unwrap();
                let mut lines = dims.clone();
                lines[axis] = 1;
                each_coord(&lines, |c| {
                    let at = |i: usize| {
                        let mut c = c.to_vec();
                        c[axis] = i;
                        view.at(&c).unwrap()
                    };
                    let mut want: Vec<usize> = (0..dims[axis]).collect();
                    let key = |i: usize| {
                        let x = values[at(i)];
                        if x.is_nan() { f32::INFINITY } else { x }
                    };
                    want.sort_by(|&i, &j| {
                        let by = key(i).partial_cmp(&key(j)).unwrap();
                        if descending { by.reverse() } else { by }
                    });
                    for (k, i) in want.into_iter().enumerate() {
                        assert_eq!(
                            get(DType::I64, &have[0], at(k)).i(),
                            i as i64,
                            "{dims:?} {axis} {descending}"
                        );
                    }
                });
            }
        }
    }
}

#[test]
fn running_sums() {
    for dims in [vec![7], vec![3, 50, 2], vec![2, 30_000]] {
        for axis in 0..dims.len() {
            for dtype in [DType::F32, DType::BF16, DType::I64] {
                let n = numel(&dims);
                let order: Vec<usize> = (0..dims.len()).rev().collect();
                let turned: Vec<usize> = order.iter().map(|&i| dims[i]).collect();
                let view = View::contiguous(&turned).permute(&order);
                let body = Scan { axis, value: (0, view.clone()) };
                let port = vec![Port { dtype, len: n }];
                let kernel = bare(Body::Scan(body), port.clone(), port);
                let data = numbers(dtype, n, &mut Dice(2));
                let have = launch(&kernel, std::slice::from_ref(&data), &[]).unwrap();
                let out = View::contiguous(&dims);
                let mut lines = dims.clone();
                lines[axis] = 1;
                each_coord(&lines, |c| {
                    let (mut sum, mut whole) = (0.0, 0);
                    for i in 0..dims[axis] {
                        let mut c = c.to_vec();
                        c[axis] = i;
                        let x = get(dtype, &data, view.at(&c).unwrap());
                        sum += x.f();
                        whole += x.i();
                        let y = get(dtype, &have[0], out.at(&c).unwrap());
                        let tolerance = if dtype == DType::BF16 { 1e-2 } else { 1e-5 };
                        match y {
                            Number::I(y) => assert_eq!(y, whole),
                            Number::F(y) => {
                                assert!((y - sum).abs() < tolerance * (sum.abs() + 30.0), "{y} {sum}")
                            }
                        }
                    }
                });
            }
        }
    }
}
