//! Throwaway timings.
use gemm::Parallelism;
use std::time::Instant;

pub(super) fn best(n: usize, mut f: impl FnMut()) -> f64 {
    f();
    let mut best = f64::MAX;
    for _ in 0..n {
        let t = Instant::now();
        f();
        best = best.min(t.elapsed().as_secs_f64());
    }
    best * 1e3
}

#[test]
#[ignore]
fn gemm_ways() {
    use rayon::prelude::*;
    for (m, k, n) in [(512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (128, 768, 3072), (128, 768, 50257), (50257, 128, 768), (1024, 256, 1024), (64, 64, 64), (8, 768, 3072)] {
        let a = vec![0.5f32; m * k];
        let b = vec![0.25f32; k * n];
        let mut c = vec![0f32; m * n];
        for tb in [false, true] {
            let (bcs, brs) = if tb { (k as isize, 1) } else { (1, n as isize) };
            let reps = if m * n * k > 1 << 30 { 5 } else { 20 };
            let one = |par: Parallelism, m0: usize, m1: usize, n0: usize, n1: usize, c: *mut f32, a: *const f32, b: *const f32| unsafe {
                gemm::gemm(m1 - m0, n1 - n0, k, c.add(m0 * n + n0), 1, n as isize, false, a.add(m0 * k), 1, k as isize, b.offset(n0 as isize * bcs), bcs, brs, 0.0, 1.0, false, false, false, par);
            };
            let single = best(reps, || one(Parallelism::None, 0, m, 0, n, c.as_mut_ptr(), a.as_ptr(), b.as_ptr()));
            let rayon = best(reps, || one(Parallelism::Rayon(0), 0, m, 0, n, c.as_mut_ptr(), a.as_ptr(), b.as_ptr()));
            let gf = |ms: f64| 2.0 * (m * n * k) as f64 / ms / 1e6;
            print!("{m}x{k}x{n} tb {tb}: one {single:.3} ms {:.0} GF, rayon {rayon:.3} {:.0} GF,", gf(single), gf(rayon));
            for (mc, nc) in [(256, 256), (512, 512), (128, 1024), (1024, 128), (256, 1024), (1024, 1024)] {
                let (mt, nt) = (m.div_ceil(mc), n.div_ceil(nc));
                let (mc, nc) = (m.div_ceil(mt).next_multiple_of(16), n.div_ceil(nt).next_multiple_of(16));
                let (mt, nt) = (m.div_ceil(mc), n.div_ceil(nc));
                let (cp, ap, bp) = (c.as_mut_ptr() as usize, a.as_ptr() as usize, b.as_ptr() as usize);
                let split = best(reps, || {
                    (0..mt * nt).into_par_iter().with_max_len(1).for_each(|t| {
                        let (i, j) = (t / nt * mc, t % nt * nc);
                        one(Parallelism::None, i, (i + mc).min(m), j, (j + nc).min(n), cp as *mut f32, ap as *const f32, bp as *const f32)
                    })
                });
                print!(" {mc}x{nc} {split:.3} {:.0}", gf(split));
            }
            println!();
        }
    }
}
