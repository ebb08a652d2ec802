//! Throwaway timings.
use super::tests::*;
use super::*;
use crate::dtype::{DType, Scalar};
use crate::graph::{AttentionSpec, Binary, Reduce, Unary};
use crate::kernel::*;
use crate::view::View;
use std::time::Instant;

fn cpu_time() -> f64 {
    let s = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    s.split(' ').next().unwrap().parse::<f64>().unwrap() * 1e-9
}

/// Wall time, or with BENCH_CPU the thread's processor time on a pool of one.
pub(super) fn best(n: usize, mut f: impl FnMut() + Send) -> f64 {
    f();
    let mut best = f64::MAX;
    if std::env::var("BENCH_CPU").is_ok() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        return pool.install(|| {
            for _ in 0..n.min(40) {
                let t = cpu_time();
                f();
                best = best.min(cpu_time() - t);
            }
            best * 1e3
        });
    }
    for _ in 0..n {
        let t = Instant::now();
        f();
        best = best.min(t.elapsed().as_secs_f64());
    }
    best * 1e3
}

fn time(name: &str, kernel: &Kernel, args: &[Scalar]) -> f64 {
    let cpu = Cpu::new();
    let pipeline = cpu.compile(kernel).unwrap();
    let mut dice = Dice(3);
    let base: Vec<f32> = (0..4096).map(|_| dice.unit() as f32).collect();
    let reads: Vec<_> = kernel
        .reads
        .iter()
        .map(|p| {
            let m = cpu.allocate(p.len * p.dtype.size()).unwrap();
            let bytes: Vec<u8> = if p.dtype == DType::I64 {
                vec![0; p.len * 8]
            } else {
                bytemuck::cast_slice(&base).iter().copied().cycle().take(p.len * p.dtype.size()).collect()
            };
            cpu.upload(&*m, &bytes).unwrap();
            m
        })
        .collect();
    let writes: Vec<_> = kernel
        .writes
        .iter()
        .enumerate()
        .map(|(w, p)| match kernel.in_place.iter().find(|x| x.0 == w) {
            Some(x) => reads[x.1].clone(),
            None => cpu.allocate(p.len * p.dtype.size()).unwrap(),
        })
        .collect();
    let launches = [Launch {
        kernel,
        pipeline: &*pipeline,
        reads: reads.iter().map(|m| &**m).collect(),
        writes: writes.iter().map(|m| &**m).collect(),
        args: args.iter().copied().collect(),
    }];
    let t = Instant::now();
    cpu.launch(&launches).unwrap();
    let reps = (2.0 / t.elapsed().as_secs_f64()).clamp(5.0, 100_000.0) as usize;
    let ms = best(reps, || cpu.launch(&launches).unwrap());
    println!("{name}: {ms:.4} ms, {:.3} ns/elem", ms * 1e6 / kernel.reads[0].len as f64);
    ms
}

fn seg(dims: &[usize], loads: Vec<View>, stores: Vec<View>) -> Segment {
    Segment {
        dims: dims.into(),
        loads: loads.into_iter().enumerate().map(|(i, v)| memory(i, v)).collect(),
        stores: stores.into_iter().enumerate().map(|(write, view)| Store { write, view }).collect(),
    }
}

fn n() -> usize {
    std::env::var("BENCH_N").map_or(1 << 24, |s| s.parse().unwrap())
}

fn filter(name: &str) -> bool {
    std::env::var("BENCH").map_or(true, |b| b.split(',').any(|b| name.contains(b)))
}

#[test]
#[ignore]
#[allow(non_snake_case)]
fn bench_loops() {
    let N = n();
    let R = N / 4096;
    let f = DType::F32;
    for n in [2usize, 1000, N] {
        if filter("add") {
            let mut m = Maker::default();
            let (a, b) = (m.load(0, f), m.load(1, f));
            let y = m.binary(Binary::Add, a, b);
            let v = View::contiguous(&[n]);
            let k = kernel(&[false], m.program, &[y], vec![seg(&[n], vec![v.clone(), v.clone()], vec![v])]);
            time(&format!("add {n}"), &k, &[]);
        }
    }
    if filter("plain") {
        use rayon::prelude::*;
        let a = vec![1f32; N];
        let b = vec![1f32; N];
        let mut c = vec![1f32; N];
        let ms = best(20, || {
            c.par_chunks_mut(65536)
                .zip(a.par_chunks(65536))
                .zip(b.par_chunks(65536))
                .for_each(|((c, a), b)| c.iter_mut().zip(a).zip(b).for_each(|((c, a), b)| *c = a + b))
        });
        println!("plain add: {ms:.3} ms");
        let ms = best(20, || {
            let s: f32 = a
                .par_chunks(65536)
                .map(|a| {
                    let mut s = [0f32; 32];
                    for c in a.chunks_exact(32) {
                        for i in 0..32 {
                            s[i] += c[i];
                        }
                    }
                    s.iter().sum::<f32>()
                })
                .sum();
            std::hint::black_box(s);
        });
        println!("plain sum: {ms:.3} ms");
    }
    if filter("sum") {
        let mut m = Maker::default();
        let a = m.load(0, f);
        let y = m.reduce(Reduce::Sum, a);
        let v = View::contiguous(&[N]);
        let k = kernel(
            &[true],
            m.program,
            &[y],
            vec![seg(&[N], vec![v.clone()], vec![View::contiguous(&[1]).expand(&[N])])],
        );
        time("sum 16M", &k, &[]);
    }
    if filter("colsum") {
        let mut m = Maker::default();
        let a = m.load(0, f);
        let y = m.reduce(Reduce::Sum, a);
        let d = [R, 768];
        let k = kernel(
            &[true, false],
            m.program,
            &[y],
            vec![seg(&d, vec![View::contiguous(&d)], vec![View::contiguous(&[1, 768]).expand(&d)])],
        );
        time("colsum 4096x768", &k, &[]);
    }
    if filter("gelu") {
        let mut m = Maker::default();
        let x = m.load(0, f);
        let x2 = m.binary(Binary::Mul, x, x);
        let x3 = m.binary(Binary::Mul, x2, x);
        let c = m.literal(0.044715, f);
        let t = m.binary(Binary::Mul, x3, c);
        let s = m.binary(Binary::Add, x, t);
        let c2 = m.literal(0.7978845608, f);
        let u = m.binary(Binary::Mul, s, c2);
        let th = m.unary(Unary::Tanh, u);
        let one = m.literal(1.0, f);
        let p = m.binary(Binary::Add, th, one);
        let half = m.literal(0.5, f);
        let hx = m.binary(Binary::Mul, x, half);
        let y = m.binary(Binary::Mul, hx, p);
        let v = View::contiguous(&[N]);
        let k = kernel(&[false], m.program, &[y], vec![seg(&[N], vec![v.clone()], vec![v])]);
        time("gelu 16M", &k, &[]);
    }
    for op in [Unary::Exp, Unary::Tanh, Unary::Erf, Unary::Log, Unary::Sin] {
        if filter("unary") {
            let mut m = Maker::default();
            let x = m.load(0, f);
            let y = m.unary(op, x);
            let v = View::contiguous(&[N]);
            let k = kernel(&[false], m.program, &[y], vec![seg(&[N], vec![v.clone()], vec![v])]);
            time(&format!("{op:?} 16M"), &k, &[]);
        }
    }
    if filter("layernorm") {
        let d = [R, 768];
        let mut m = Maker::default();
        let x = m.load(0, f);
        let w = m.load(1, f);
        let b = m.load(2, f);
        let r = m.literal(1.0 / 768.0, f);
        let eps = m.literal(1e-5, f);
        let s = m.reduce(Reduce::Sum, x);
        let mean = m.binary(Binary::Mul, s, r);
        let c = m.binary(Binary::Sub, x, mean);
        let sq = m.binary(Binary::Mul, c, c);
        let v = m.reduce(Reduce::Sum, sq);
        let var = m.binary(Binary::Mul, v, r);
        let var = m.binary(Binary::Add, var, eps);
        let is = m.unary(Unary::Rsqrt, var);
        let n = m.binary(Binary::Mul, c, is);
        let y = m.binary(Binary::Mul, n, w);
        let y = m.binary(Binary::Add, y, b);
        let full = View::contiguous(&d);
        let col = View::contiguous(&[1, 768]).expand(&d);
        let k = kernel(
            &[false, true],
            m.program,
            &[y],
            vec![seg(&d, vec![full.clone(), col.clone(), col], vec![full])],
        );
        time("layernorm 4096x768", &k, &[]);
    }
    for d in [[R, 1024], [N / 32768, 50257]] {
        if filter("softmax") {
            let mut m = Maker::default();
            let x = m.load(0, f);
            let mx = m.reduce(Reduce::Max, x);
            let s = m.binary(Binary::Sub, x, mx);
            let e = m.unary(Unary::Exp, s);
            let t = m.reduce(Reduce::Sum, e);
            let y = m.binary(Binary::Div, e, t);
            let full = View::contiguous(&d);
            let k = kernel(&[false, true], m.program, &[y], vec![seg(&d, vec![full.clone()], vec![full])]);
            time(&format!("softmax {d:?}"), &k, &[]);
        }
    }
    if filter("entropy") {
        let B = N / 32768;
        let d = [B, 50257];
        let mut m = Maker::default();
        let x = m.load(0, f);
        let t = m.kept(1, DType::I64);
        let iota = m.push(Inst::Load(2), DType::I64, Level::Element);
        let mx = m.reduce(Reduce::Max, x);
        let s = m.binary(Binary::Sub, x, mx);
        let e = m.unary(Unary::Exp, s);
        let sum = m.reduce(Reduce::Sum, e);
        let l = m.unary(Unary::Log, sum);
        let lse = m.binary(Binary::Add, l, mx);
        let q = m.binary(Binary::Sub, x, lse);
        let p = m.unary(Unary::Exp, q);
        let hit = m.binary(Binary::Eq, iota, t);
        let hot = m.cast(hit, f);
        let y = m.binary(Binary::Sub, p, hot);
        let full = View::contiguous(&d);
        let mut s = seg(
            &d,
            vec![
                full.clone(),
                View::contiguous(&[B, 1]).expand(&d),
                View::contiguous(&[1, 50257]).expand(&d),
            ],
            vec![full, View::contiguous(&[B, 1]).expand(&d)],
        );
        s.loads[2].source = Source::Index;
        let k = kernel(&[false, true], m.program, &[y, lse], vec![s]);
        time("entropy 512x50257", &k, &[]);
    }
    if filter("transpose") {
        let d = [4096, 4096];
        let mut m = Maker::default();
        let x = m.load(0, f);
        let full = View::contiguous(&d);
        let k =
            kernel(&[false, false], m.program, &[x], vec![seg(&d, vec![full.permute(&[1, 0])], vec![full])]);
        time("transpose 4096", &k, &[]);
    }
}

fn matmul_kernel(m: usize, n: usize, k: usize, tb: bool, batch: Option<usize>, bias: bool) -> Kernel {
    let f = DType::F32;
    let b: Vec<usize> = batch.into_iter().collect();
    let dims: Vec<usize> = b.iter().copied().chain([m, n]).collect();
    let full = View::contiguous(&dims);
    let mut mk = Maker::default();
    let p = mk.load(0, f);
    let mut loads = vec![Load { source: Source::Product, view: full.clone() }];
    let mut y = p;
    let bn: usize = b.iter().product();
    let mut reads = vec![Port { dtype: f, len: bn * m * k }, Port { dtype: f, len: bn * k * n }];
    if bias {
        let c = mk.load(1, f);
        let mut s = vec![1; dims.len()];
        s[dims.len() - 1] = n;
        loads.push(memory(2, View::contiguous(&s).expand(&dims)));
        reads.push(Port { dtype: f, len: n });
        y = mk.binary(Binary::Add, p, c);
        y = mk.unary(Unary::Tanh, y);
    }
    let epilogue = Loop {
        reduced: vec![false; dims.len()],
        program: mk.program,
        stores: vec![y],
        segments: vec![Segment {
            dims: dims.as_slice().into(),
            loads,
            stores: vec![Store { write: 0, view: full.clone() }],
        }],
    };
    let shape = |a: usize, c: usize| b.iter().copied().chain([a, c]).collect::<Vec<_>>();
    let order: Vec<usize> = (0..b.len()).chain([b.len() + 1, b.len()]).collect();
    let right =
        if tb { View::contiguous(&shape(n, k)).permute(&order) } else { View::contiguous(&shape(k, n)) };
    bare(
        Body::MatMul(MatMul {
            batch: b.as_slice().into(),
            m,
            n,
            k,
            left: Matrix { read: 0, dtype: f, view: View::contiguous(&shape(m, k)) },
            right: Matrix { read: 1, dtype: f, view: right },
            epilogue,
        }),
        reads,
        vec![Port { dtype: f, len: bn * m * n }],
    )
}

#[test]
#[ignore]
fn bench_matmul() {
    for (m, n, k, batch) in [
        (512, 512, 512, None),
        (1024, 1024, 1024, None),
        (2048, 2048, 2048, None),
        (128, 3072, 768, None),
        (128, 50257, 768, None),
        (50257, 768, 128, None),
        (1024, 1024, 256, None),
        (64, 64, 64, Some(12)),
        (1, 50257, 768, None),
        (1, 3072, 768, None),
        (4, 50257, 768, None),
        (8, 3072, 768, None),
    ] {
        for tb in [false, true] {
            let name = format!("matmul {m}x{n}x{k} {batch:?} tb {tb}");
            if filter(&name) {
                let kernel = matmul_kernel(m, n, k, tb, batch, false);
                let ms = time(&name, &kernel, &[]);
                let work = (m * n * k * batch.unwrap_or(1)) as f64;
                println!("     {:.0} GF/s, {:.1} GB/s", 2.0 * work / ms / 1e6, (k * n * 4) as f64 / ms / 1e6);
            }
        }
    }
    if filter("bias") {
        time("matmul bias tanh 512x3072x768", &matmul_kernel(512, 3072, 768, true, None, true), &[]);
        time("matmul 512x3072x768", &matmul_kernel(512, 3072, 768, true, None, false), &[]);
    }
}

#[test]
#[ignore]
fn bench_attention() {
    let (b, h, t, d) = if std::env::var("SMALL").is_ok() { (1, 2, 1024, 64) } else { (4, 12, 1024, 64) };
    let f = DType::F32;
    let view = View::contiguous(&[b, t, h, d]).permute(&[0, 2, 1, 3]);
    let len = b * h * t * d;
    for causal in [true, false] {
        let spec = AttentionSpec { causal, scale: 0.125f64.to_bits(), mask: false };
        let body = Attention {
            spec,
            q: (0, view.clone()),
            k: (1, view.clone()),
            v: (2, view.clone()),
            mask: None,
            out: Some(0),
            lse: Some(1),
        };
        let k = bare(
            Body::Attention(body),
            vec![Port { dtype: f, len }; 3],
            vec![Port { dtype: f, len }, Port { dtype: f, len: b * h * t }],
        );
        time(&format!("attention causal {causal}"), &k, &[]);
        let out = View::contiguous(&[b, t, h, d]);
        let body = AttentionGrad {
            spec,
            q: (0, view.clone()),
            k: (1, view.clone()),
            v: (2, view.clone()),
            out: (3, out.clone()),
            lse: (4, View::contiguous(&[b, h, t])),
            grad: (5, out),
            mask: None,
            dq: Some(0),
            dk: Some(1),
            dv: Some(2),
        };
        let mut reads = vec![Port { dtype: f, len }; 6];
        reads[4].len = b * h * t;
        let k = bare(Body::AttentionGrad(body), reads, vec![Port { dtype: f, len }; 3]);
        time(&format!("attention grad causal {causal}"), &k, &[]);
    }
}
