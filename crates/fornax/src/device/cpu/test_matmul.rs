//! Products of every kind, compared with sums in f64.

use super::reference::{self, Number, get, put};
use super::tests::*;
use crate::dtype::DType;
use crate::graph::{Binary, Unary};
use crate::kernel::*;
use crate::view::{Range, View, each_coord, numel};

/// The shape of one test: the operand views, and what becomes of the product.
struct Case {
    batch: Vec<usize>,
    m: usize,
    n: usize,
    k: usize,
    left: View,
    right: View,
    memory: DType,
    dtype: DType,
    /// 0: stored as it is; 1: gelu-like with a bias; 2: stored twice; 3: rounded to f16; 4: transposed store;
    /// 5: added to an operand in place.
    epilogue: usize,
}

fn run(case: &Case, what: &str) {
    let (b, m, n, k) = (&case.batch, case.m, case.n, case.k);
    let dims: Vec<usize> = b.iter().copied().chain([m, n]).collect();
    let compute = if case.dtype.is_float() { case.dtype.compute() } else { case.dtype };
    let full = View::contiguous(&dims);
    let mut maker = Maker::default();
    let product = maker.load(0, compute);
    let mut loads = vec![Load { source: Source::Product, view: full.clone() }];
    let mut stores = vec![(product, full.clone())];
    let end = |v: &View| {
        (v.offset
            + v.strides.iter().zip(&v.shape).map(|(&s, &n)| s.max(0) * (n as isize - 1)).sum::<isize>()
            + 1) as usize
    };
    let mut reads = vec![
        Port { dtype: case.memory, len: end(&case.left) },
        Port { dtype: case.memory, len: end(&case.right) },
    ];
    let mut in_place = vec![];
    match case.epilogue {
        1 | 2 => {
            let bias = maker.load(1, compute);
            let mut shape = vec![1; dims.len()];
            shape[dims.len() - 1] = n;
            loads.push(memory(2, View::contiguous(&shape).expand(&dims)));
            reads.push(Port { dtype: compute, len: n });
            let sum = maker.binary(Binary::Add, product, bias);
            let act = maker.unary(Unary::Tanh, sum);
            let out = maker.binary(Binary::Mul, act, sum);
            stores = if case.epilogue == 1 {
                vec![(out, full)]
            } else {
                vec![(out, full.clone()), (product, full)]
            };
        }
        3 => {
            let half = maker.cast(product, DType::F16);
            stores = vec![(half, full)];
        }
        4 => {
            let mut order: Vec<usize> = (0..dims.len()).collect();
            order.swap(dims.len() - 1, dims.len() - 2);
            let turned: Vec<usize> = order.iter().map(|&i| dims[i]).collect();
            let negative = maker.unary(Unary::Neg, product);
            stores = vec![(negative, View::contiguous(&turned).permute(&order))];
        }
        5 => {
            let other = maker.load(1, compute);
            loads.push(memory(2, full.clone()));
            reads.push(Port { dtype: compute, len: numel(&dims) });
            let sum = maker.binary(Binary::Add, product, other);
            stores = vec![(sum, full)];
            in_place.push((0, 2));
        }
        _ => {}
    }
    let writes: Vec<Port> = stores
        .iter()
        .map(|(v, view)| Port { dtype: maker.program[v.index()].dtype, len: numel(&view.shape) })
        .collect();
    let segment = Segment {
        dims: dims.as_slice().into(),
        loads,
        stores: stores
            .iter()
            .enumerate()
            .map(|(write, (_, view))| Store { write, view: view.clone(), spare: 0 })
            .collect(),
    };
    let epilogue = Loop {
        reduced: vec![false; dims.len()],
        program: maker.program,
        stores: stores.iter().map(|s| s.0).collect(),
        segments: vec![segment],
    };
    let matrix = |read: usize, view: &View| Matrix { read, dtype: case.dtype, view: view.clone() };
    let body = MatMul {
        batch: b.as_slice().into(),
        m,
        n,
        k,
        left: matrix(0, &case.left),
        right: matrix(1, &case.right),
        epilogue: epilogue.clone(),
    };
    let mut kernel = bare(Body::MatMul(Box::new(body)), reads, writes);
    kernel.in_place = in_place;
    let mut dice = Dice(5);
    let reads: Vec<Vec<u8>> = kernel.reads.iter().map(|p| numbers(p.dtype, p.len, &mut dice)).collect();
    let have = launch(&kernel, &reads, &[]).unwrap();
    // The reference: the product as one more memory, then the epilogue by the evaluator.
    let round = |x: f64| match case.dtype {
        DType::F16 => half::f16::from_f64(x).to_f64(),
        DType::BF16 => half::bf16::from_f64(x).to_f64(),
        _ => x,
    };
    let mut bytes = vec![0; numel(&dims) * compute.size()];
    let mut at = 0;
    each_coord(&dims, |c| {
        let (batch, i, j) = (&c[..b.len()], c[b.len()], c[b.len() + 1]);
        let (mut sum, mut whole) = (0.0, 0i64);
        for p in 0..k {
            let l: Vec<usize> = batch.iter().copied().chain([i, p]).collect();
            let r: Vec<usize> = batch.iter().copied().chain([p, j]).collect();
            let x = get(case.memory, &reads[0], case.left.at(&l).unwrap());
            let y = get(case.memory, &reads[1], case.right.at(&r).unwrap());
            sum += round(x.f()) * round(y.f());
            whole = whole.wrapping_add(x.i().wrapping_mul(y.i()));
        }
        let x = if compute.is_float() { Number::F(sum) } else { Number::I(whole) };
        put(compute, &mut bytes, at, x);
        at += 1;
    });
    let mut with_product = kernel.clone();
    with_product.reads.push(Port { dtype: compute, len: at });
    let mut plain = epilogue;
    let last = with_product.reads.len() - 1;
    plain.segments[0].loads[0].source = Source::Memory(last);
    let mut all = reads.clone();
    all.push(bytes);
    let mut want: Vec<Vec<u8>> = have.clone();
    reference::evaluate(&with_product, &plain, &all, &mut want, &[]);
    for (w, port) in kernel.writes.iter().enumerate() {
        let tolerance = match port.dtype {
            DType::F64 => 1e-12,
            DType::F16 => 2e-3,
            _ => 2e-4,
        };
        close(port.dtype, &have[w], &want[w], tolerance, &format!("{what}, write {w}"));
    }
}

fn sides(batch: &[usize], m: usize, n: usize, k: usize, how: usize) -> (View, View) {
    let with = |tail: &[usize]| View::contiguous(&batch.iter().chain(tail).copied().collect::<Vec<_>>());
    let rank = batch.len() + 2;
    let turn = |v: View| {
        let mut order: Vec<usize> = (0..rank).collect();
        order.swap(rank - 1, rank - 2);
        v.permute(&order)
    };
    let left = if how & 1 == 0 { with(&[m, k]) } else { turn(with(&[k, m])) };
    let right = if how & 2 == 0 { with(&[k, n]) } else { turn(with(&[n, k])) };
    (left, right)
}

#[test]
fn products_of_every_layout_and_odd_size() {
    for (m, n, k) in [
        (1, 1, 1),
        (1, 70, 33),
        (3, 129, 65),
        (70, 2, 40),
        (4, 4, 4),
        (5, 7, 9),
        (65, 66, 67),
        (130, 20, 300),
    ] {
        for how in 0..4 {
            let (left, right) = sides(&[], m, n, k, how);
            for epilogue in 0..6 {
                for (memory, dtype) in [
                    (DType::F32, DType::F32),
                    (DType::F16, DType::F16),
                    (DType::F32, DType::BF16),
                    (DType::BF16, DType::F32),
                    (DType::F64, DType::F64),
                    (DType::I64, DType::I64),
                ] {
                    if memory != DType::F32 && epilogue > 1 || !dtype.is_float() && epilogue > 0 {
                        continue;
                    }
                    let case = Case {
                        batch: vec![],
                        m,
                        n,
                        k,
                        left: left.clone(),
                        right: right.clone(),
                        memory,
                        dtype,
                        epilogue,
                    };
                    run(&case, &format!("{m}x{n}x{k} layout {how} {memory}->{dtype} epilogue {epilogue}"));
                }
            }
        }
    }
}

#[test]
fn batches_broadcasts_and_strided_operands() {
    for epilogue in 0..6 {
        for how in 0..4 {
            let (left, right) = sides(&[3, 2], 17, 9, 12, how);
            let case = |left: View, right: View| Case {
                batch: vec![3, 2],
                m: 17,
                n: 9,
                k: 12,
                left,
                right,
                memory: DType::F32,
                dtype: DType::F32,
                epilogue,
            };
            run(&case(left.clone(), right.clone()), "batch");
            let one = View::contiguous(&[1, 1, 12, 9]).expand(&[3, 2, 12, 9]);
            run(&case(left, one), "one right operand for all");
            let full = |len| Range { start: 0, len, step: 1 };
            let sparse = View::contiguous(&[3, 2, 34, 24]).slice(&[
                full(3),
                full(2),
                Range { start: 33, len: 17, step: -2 },
                Range { start: 1, len: 12, step: 2 },
            ]);
            run(&case(sparse, right), "every other element, backwards");
        }
    }
}

#[test]
fn large_products_are_cut_into_blocks() {
    for (m, n, k, epilogue) in
        [(300, 500, 200, 1), (260, 130, 1000, 3), (700, 300, 128, 5), (2, 3000, 700, 1)]
    {
        for how in [0, 3] {
            let (left, right) = sides(&[], m, n, k, how);
            let (memory, dtype) = (DType::F32, DType::F32);
            let case = Case { batch: vec![], m, n, k, left, right, memory, dtype, epilogue };
            run(&case, &format!("{m}x{n}x{k} layout {how} epilogue {epilogue}"));
        }
    }
}
