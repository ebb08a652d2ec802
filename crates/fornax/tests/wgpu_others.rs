//! Attention, its gradients, scatter-add, sort and running sums on wgpu against the reference interpreter. A
//! machine without any adapter, not even a software one, skips them and says so.

use fornax::graph::interpret::{Array, Data};
use fornax::{AttentionOptions, DType, Device, Tensor, grad};

fn gpu() -> Option<Device> {
    let device = Device::open("wgpu").ok();
    if device.is_none() {
        println!("no wgpu adapter: nothing was tested");
    }
    device
}

fn data(shape: &[usize], dtype: DType, salt: u32, device: &Device) -> Tensor {
    let n: usize = shape.iter().product();
    let word = |i: usize| fornax::random::threefry(salt, 5, i as u64).0;
    let data = match dtype.is_float() {
        true => Data::Float((0..n).map(|i| word(i) as f64 / u32::MAX as f64 * 4.0 - 2.0).collect()),
        false => Data::Int((0..n).map(|i| (word(i) % 13) as i64).collect()),
    };
    let bytes = Array { shape: shape.into(), dtype, data }.to_bytes();
    Tensor::from_bytes(&bytes, shape, dtype, device).unwrap()
}

fn values(bytes: &[u8], tensor: &Tensor) -> Vec<f64> {
    match Array::from_bytes(bytes, tensor.shape(), tensor.dtype()).data {
        Data::Float(v) => v,
        Data::Int(v) => v.iter().map(|&i| i as f64).collect(),
    }
}

fn check(what: &str, tensor: &Tensor) {
    check_together(&[(what, tensor)]);
}

/// Checks results of one evaluation.
fn check_together(results: &[(&str, &Tensor)]) {
    let reference = |&(what, tensor): &(&str, &Tensor)| {
        tensor.reference().unwrap_or_else(|e| panic!("{what}: reference: {e}"))
    };
    let wanted: Vec<Vec<u8>> = results.iter().map(reference).collect();
    let tensors: Vec<&Tensor> = results.iter().map(|(_, tensor)| *tensor).collect();
    fornax::eval(&tensors).unwrap_or_else(|e| panic!("{}: {e}", results[0].0));
    results.iter().zip(&wanted).for_each(|((what, tensor), want)| compare(what, tensor, want));
}

fn compare(what: &str, tensor: &Tensor, want: &[u8]) {
    let want = values(want, tensor);
    let got = values(&tensor.to_bytes().unwrap_or_else(|e| panic!("{what}: {e}")), tensor);
    let rtol = match tensor.dtype() {
        DType::F32 => 2e-5,
        DType::F16 => 4e-3,
        DType::BF16 => 3e-2,
        _ => 0.0,
    };
    assert_eq!(got.len(), want.len(), "{what}");
    let finite: Vec<f64> = want.iter().copied().filter(|v| v.is_finite()).collect();
    let scale = (finite.iter().map(|v| v * v).sum::<f64>() / finite.len().max(1) as f64).sqrt();
    for (i, (g, w)) in got.iter().zip(&want).enumerate() {
        let close = g == w || (g.is_nan() && w.is_nan()) || (g - w).abs() <= rtol * (w.abs() + scale) + 1e-30;
        assert!(close, "{what}: element {i} of {:?} is {g}, not {w}", tensor.shape());
    }
}

struct Case {
    b: usize,
    h: usize,
    hk: usize,
    tq: usize,
    tk: usize,
    d: usize,
    dv: usize,
    causal: bool,
    dtype: DType,
}

const PLAIN: Case = Case { b: 1, h: 2, hk: 2, tq: 9, tk: 9, d: 16, dv: 16, causal: false, dtype: DType::F32 };

impl Case {
    fn name(&self) -> String {
        let c = if self.causal { " causal" } else { "" };
        format!(
            "{} b{} h{}/{} {}x{} d{}/{}{c}",
            self.dtype, self.b, self.h, self.hk, self.tq, self.tk, self.d, self.dv
        )
    }

    fn operands(&self, device: &Device) -> [Tensor; 3] {
        [
            data(&[self.b, self.h, self.tq, self.d], self.dtype, 1, device),
            data(&[self.b, self.hk, self.tk, self.d], self.dtype, 2, device),
            data(&[self.b, self.hk, self.tk, self.dv], self.dtype, 3, device),
        ]
    }

    fn options(&self) -> AttentionOptions<'static> {
        AttentionOptions { causal: self.causal, ..Default::default() }
    }
}

/// Shapes around tiles, widths, groups of heads, decoding.
fn cases() -> Vec<Case> {
    let mut out = vec![];
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        out.push(Case { dtype, ..PLAIN });
    }
    for (tq, tk, causal) in
        [(1, 1, false), (7, 33, false), (65, 63, false), (31, 200, false), (140, 140, true)]
    {
        out.push(Case { tq, tk, causal, ..PLAIN });
    }
    // Few queries: large tiles take software adapters long to compile.
    for (d, dv, causal) in [(64, 64, true), (5, 3, false), (6, 10, true), (80, 24, false), (128, 128, false)]
    {
        out.push(Case { tq: 12, tk: 40, d, dv, causal, ..PLAIN });
    }
    for (h, hk, tq, causal) in [(4, 2, 5, true), (6, 1, 20, true), (8, 2, 1, false)] {
        out.push(Case { b: 2, h, hk, tq, tk: 70, causal, ..PLAIN });
    }
    out.push(Case { dtype: DType::F16, d: 3, dv: 5, tq: 10, tk: 20, causal: true, ..PLAIN });
    for tq in [1, 8] {
        out.push(Case { tq, tk: 700, d: 64, dv: 64, ..PLAIN });
    }
    out.push(Case { h: 1, hk: 1, tq: 12, tk: 20, d: 256, dv: 256, ..PLAIN });
    // Several large tiles, and workgroups that share a sum.
    let one = Case { h: 1, hk: 1, causal: true, ..PLAIN };
    out.push(Case { tq: 513, tk: 513, ..one });
    for (b, hk, tq, tk, d, causal, dtype) in [
        (1, 1, 200, 200, 64, true, DType::F32),
        (2, 2, 130, 70, 64, true, DType::F32),
        (1, 1, 70, 130, 64, false, DType::F16),
        (2, 1, 100, 100, 80, true, DType::F32),
        (1, 1, 90, 90, 128, true, DType::BF16),
    ] {
        out.push(Case { b, h: 2 * hk, hk, tq, tk, d, dv: d, causal, dtype });
    }
    out
}

#[test]
fn attention_of_many_shapes() {
    let Some(device) = gpu() else { return };
    for case in cases() {
        let [q, k, v] = case.operands(&device);
        check(&case.name(), &q.scaled_dot_product_attention(&k, &v, &case.options()).unwrap());
    }
}

#[test]
fn attention_where_operands_lie() {
    let Some(device) = gpu() else { return };
    // One projection of [B, T, 3, H, D], as models have it.
    let (b, t, h, d) = (2, 37, 3, 8);
    for dtype in [DType::F32, DType::F16] {
        let qkv = data(&[b, t, 3, h, d], dtype, 4, &device);
        let part = |i: usize| {
            let one = qkv.narrow(2, i, 1).unwrap().squeeze(2).unwrap();
            one.permute(&[0, 2, 1, 3]).unwrap()
        };
        let options = AttentionOptions { causal: true, scale: Some(0.3), ..Default::default() };
        check("sliced", &part(0).scaled_dot_product_attention(&part(1), &part(2), &options).unwrap());
    }
    let q = data(&[1, 2, 8, 33], DType::F32, 1, &device).permute(&[0, 1, 3, 2]).unwrap();
    let k = data(&[1, 2, 33, 8], DType::F32, 2, &device).flip(&[2]).unwrap();
    let v = data(&[1, 1, 33, 8], DType::F32, 3, &device).expand(&[1, 2, 33, 8]).unwrap();
    check("turned", &q.scaled_dot_product_attention(&k, &v, &Default::default()).unwrap());
}

#[test]
fn attention_with_masks() {
    let Some(device) = gpu() else { return };
    let case = Case { b: 2, tq: 20, tk: 70, ..PLAIN };
    let [q, k, v] = case.operands(&device);
    for shape in [&[2, 2, 20, 70][..], &[20, 70], &[2, 1, 1, 70], &[1, 1, 20, 1]] {
        let added = data(shape, DType::F32, 9, &device);
        let options = AttentionOptions { mask: Some(&added), ..Default::default() };
        check("added", &q.scaled_dot_product_attention(&k, &v, &options).unwrap());
        // Some rows of the last shape see nothing at all.
        let seen = data(shape, DType::I32, 9, &device).to_dtype(DType::Bool).unwrap();
        let options = AttentionOptions { mask: Some(&seen), causal: true, ..Default::default() };
        check("seen", &q.scaled_dot_product_attention(&k, &v, &options).unwrap());
    }
}

/// Checks the gradients of a weighted sum of a result, all of them in one plan or each on its own.
fn check_gradients(what: &str, out: &Tensor, of: &[&Tensor], together: bool) {
    let weights = data(out.shape(), DType::F32, 77, out.device());
    let loss = out.to_dtype(DType::F32).unwrap().mul(&weights).unwrap().sum_all().unwrap();
    let gradients = grad(&loss, of).unwrap();
    if together {
        let flat: Vec<Tensor> = gradients.iter().map(|g| g.flatten(0, -1).unwrap()).collect();
        return check(what, &Tensor::cat(&flat.iter().collect::<Vec<_>>(), 0).unwrap());
    }
    for (i, gradient) in gradients.iter().enumerate() {
        check(&format!("{what}: gradient {i}"), gradient);
    }
}

#[test]
fn attention_gradients() {
    let Some(device) = gpu() else { return };
    for (i, case) in cases().iter().enumerate().filter(|(_, c)| c.tk < 600) {
        let [q, k, v] = case.operands(&device).map(|x| x.variable().unwrap());
        let out = q.scaled_dot_product_attention(&k, &v, &case.options()).unwrap();
        check_gradients(&case.name(), &out, &[&q, &k, &v], i != 0);
    }
}

#[test]
fn attention_gradients_with_masks() {
    let Some(device) = gpu() else { return };
    let case = Case { b: 2, tq: 20, tk: 70, ..PLAIN };
    let [q, k, v] = case.operands(&device).map(|x| x.variable().unwrap());
    for shape in [&[2, 2, 20, 70][..], &[1, 1, 20, 1]] {
        let seen = data(shape, DType::I32, 9, &device).to_dtype(DType::Bool).unwrap();
        let options = AttentionOptions { mask: Some(&seen), causal: true, ..Default::default() };
        let out = q.scaled_dot_product_attention(&k, &v, &options).unwrap();
        check_gradients("masked", &out, &[&q, &k, &v], true);
    }
}

/// Rows that a workgroup passes over, whose maximum and sum of exponentials are found together.
#[test]
fn exponentials_of_long_rows() {
    let Some(device) = gpu() else { return };
    for dtype in [DType::F32, DType::F16] {
        for width in [20_000, 20_001, 20_007] {
            let rows = 140;
            let x = data(&[rows, width], dtype, 1, &device).to_dtype(DType::F32).unwrap();
            let mut values: Vec<f32> = x.mul(3.0).unwrap().to_vec().unwrap();
            // Rows that rise and fall, a large value at an end, and what is not finite: one, some, all of a row.
            for (i, row) in values.chunks_mut(width).enumerate() {
                match i {
                    0 => row.iter_mut().enumerate().for_each(|(j, v)| *v = j as f32 / 100.0),
                    1 => row.iter_mut().enumerate().for_each(|(j, v)| *v = -(j as f32) / 100.0),
                    2 => row[width - 1] = 60.0,
                    3 => row[0] = f32::NEG_INFINITY,
                    4 => row[..width - 1].fill(f32::NEG_INFINITY),
                    5 => row.fill(f32::NEG_INFINITY),
                    6 => row[width / 2] = f32::INFINITY,
                    7 => row[width - 1] = f32::NAN,
                    _ => {}
                }
            }
            let x = Tensor::from_slice(&values, &[rows, width], &device).unwrap().to_dtype(dtype).unwrap();
            x.eval().unwrap();
            let wide = x.to_dtype(DType::F32).unwrap();
            check(&format!("{dtype} {width}: log of the sum"), &wide.logsumexp(&[-1], false).unwrap());
            let ids = ids(&[rows], width as u32, &device);
            check(
                &format!("{dtype} {width}: softmax"),
                &wide.softmax(-1).unwrap().sqr().unwrap().sum(&[-1], false).unwrap(),
            );
            let finite = wide.narrow(0, 8, rows - 8).unwrap();
            let loss = finite.cross_entropy(&ids.narrow(0, 8, rows - 8).unwrap()).unwrap();
            check(&format!("{dtype} {width}: cross-entropy"), &loss);
            if width != 20_001 {
                continue;
            }
            // A temporary, whose rows may end inside a vector.
            let (left, right) = (data(&[rows, 8], dtype, 2, &device), data(&[8, width], dtype, 3, &device));
            let product = left.matmul(&right).unwrap().to_dtype(DType::F32).unwrap();
            check(&format!("{dtype} {width}: of a product"), &product.logsumexp(&[-1], false).unwrap());
        }
    }
}

fn ids(shape: &[usize], below: u32, device: &Device) -> Tensor {
    let n: usize = shape.iter().product();
    let ids: Vec<i64> = (0..n).map(|i| (fornax::random::threefry(3, 8, i as u64).0 % below) as i64).collect();
    Tensor::from_slice(&ids, shape, device).unwrap()
}

#[test]
fn scatter_add_of_all_shapes() {
    let Some(device) = gpu() else { return };
    let dtypes = [DType::F32, DType::F16, DType::BF16, DType::I32, DType::I64, DType::U32, DType::U8];
    for dtype in dtypes {
        for (shape, axis, count) in [
            (&[9, 5][..], 0, 30),
            (&[9, 5], 1, 7),
            (&[300], 0, 500),
            (&[3, 20, 16], 1, 40),
            (&[2, 3, 4], 2, 9),
        ] {
            let mut from = shape.to_vec();
            from[axis] = count;
            let index = ids(&from, shape[axis] as u32, &device);
            let (base, value) = (data(shape, dtype, 1, &device), data(&from, dtype, 2, &device));
            let what = format!("{dtype} {shape:?} axis {axis}");
            check(&what, &base.scatter_add(axis as isize, &index, &value).unwrap());
            // One index for whole rows.
            let mut thin = from.clone();
            thin[axis + 1..].fill(1);
            let index = ids(&thin, shape[axis] as u32, &device).expand(&from).unwrap();
            check(&what, &base.scatter_add(axis as isize, &index, &value).unwrap());
        }
    }
}

/// More often than a workgroup looks at positions at a time. (Halves would be rounded less often than by the reference.)
#[test]
fn an_index_met_a_thousand_times() {
    let Some(device) = gpu() else { return };
    for dtype in [DType::F32, DType::I32, DType::I64, DType::U8] {
        for (rows, width) in [(2, 16), (7, 33), (1, 64)] {
            let from = [2500, width];
            let index = ids(&[2500, 1], rows as u32, &device).expand(&from).unwrap();
            let (base, value) = (data(&[rows, width], dtype, 1, &device), data(&from, dtype, 2, &device));
            check(&format!("{dtype} {rows}x{width}"), &base.scatter_add(0, &index, &value).unwrap());
        }
    }
}

#[test]
fn gradients_of_tables() {
    let Some(device) = gpu() else { return };
    for dtype in [DType::F32, DType::F16] {
        for (rows, width, n) in [(10, 32, 300), (50, 17, 140), (3, 768, 129), (1000, 4, 20)] {
            let table = data(&[rows, width], dtype, 1, &device).variable().unwrap();
            let out = Tensor::embedding(&table, &ids(&[n], rows as u32, &device)).unwrap();
            check_gradients(&format!("{dtype} {rows}x{width} of {n}"), &out, &[&table], true);
        }
    }
}

#[test]
fn a_bad_index_is_an_error() {
    let Some(device) = gpu() else { return };
    for width in [1, 32] {
        let base = data(&[4, width], DType::F32, 1, &device);
        let index = Tensor::from_slice(&[1i64, 4], &[2, 1], &device).unwrap().expand(&[2, width]).unwrap();
        let value = data(&[2, width], DType::F32, 2, &device);
        let sum = base.scatter_add(0, &index, &value).unwrap();
        assert!(matches!(sum.to_bytes(), Err(fornax::Error::Index { .. })), "{:?}", sum.to_bytes().err());
    }
}

#[test]
fn running_sums() {
    let Some(device) = gpu() else { return };
    for dtype in [DType::F32, DType::F16, DType::BF16, DType::I32, DType::I64, DType::U32, DType::U8] {
        for (shape, axis) in [
            (&[5][..], 0),
            (&[33, 3], 0),
            (&[3, 1025], 1),
            (&[2, 70, 3], 1),
            (&[4100, 1], 0),
            (&[2, 9000], 1),
        ] {
            // Wrapping bytes and halves need no long sums.
            if matches!(dtype, DType::F16 | DType::BF16) && shape.iter().product::<usize>() > 4000 {
                continue;
            }
            let x = data(shape, dtype, 1, &device);
            check(&format!("{dtype} {shape:?} axis {axis}"), &x.cumsum(axis).unwrap());
        }
    }
    let x = data(&[40, 50], DType::F32, 1, &device);
    check("transposed", &x.t().unwrap().cumsum(1).unwrap());
    check("flipped", &x.flip(&[0]).unwrap().cumsum(0).unwrap());
    check("padded", &x.pad(&[(1, 2), (3, 0)], 0.0).unwrap().cumsum(0).unwrap());
}

#[test]
fn sorts() {
    let Some(device) = gpu() else { return };
    let dtypes =
        [DType::F32, DType::F16, DType::BF16, DType::I32, DType::I64, DType::U32, DType::U8, DType::Bool];
    for dtype in dtypes {
        for (shape, axis) in [(&[1][..], 0), (&[7], 0), (&[50, 3], 0), (&[3, 129], 1), (&[2, 5, 3], 1)] {
            let x = data(shape, dtype, 1, &device);
            for descending in [false, true] {
                let what = format!("{dtype} {shape:?} axis {axis} {descending}");
                check(&what, &x.argsort(axis, descending).unwrap());
            }
        }
    }
    // Past a run, in one, two and three merges; many ties.
    for n in [2049, 5000, 9000] {
        for dtype in [DType::F32, DType::I64, DType::U8] {
            check(&format!("{dtype} {n}"), &data(&[2, n], dtype, 1, &device).argsort(1, true).unwrap());
        }
    }
    let odd = [f32::NAN, 1.0, -0.0, 0.0, f32::INFINITY, -f32::NAN, f32::NEG_INFINITY, 1.0, -1.5, 0.0];
    let odd = Tensor::from_slice(&odd, &[10], &device).unwrap();
    for descending in [false, true] {
        check("odd", &odd.argsort(0, descending).unwrap());
        check("sorted", &odd.sort(0, descending).unwrap().0);
        check("top", &data(&[3, 200], DType::F32, 4, &device).topk(5, 1, descending).unwrap().0);
    }
    check("turned", &data(&[60, 70], DType::F32, 4, &device).t().unwrap().argsort(1, false).unwrap());
    check("padded", &odd.pad(&[(2, 3)], 0.0).unwrap().argsort(0, false).unwrap());
}

/// A row that ends inside a vector: nothing may be read where its missing elements would lie.
#[test]
fn short_rows_read_backwards() {
    let Some(device) = gpu() else { return };
    for dtype in [DType::F32, DType::F16, DType::I32, DType::U8] {
        for n in [1, 3, 5, 7, 9, 4099] {
            let x = data(&[n], dtype, 3, &device);
            let y = x.flip(&[0]).and_then(|y| y.add(&y)).unwrap();
            check(&format!("{n} of {dtype:?}"), &y);
        }
    }
}

#[test]
fn what_may_find_a_bad_index_overwrites_nothing() {
    let Some(device) = gpu() else { return };
    let table = Tensor::arange(0, 100, 1, DType::F32, &device).unwrap();
    let index = ids(&[64], 100, &device);
    let old = data(&[64], DType::F32, 1, &device);
    let found = table.gather(0, &index).unwrap();
    let new = old.sub(&found).unwrap();
    let want = values(&new.reference().unwrap(), &new);
    fornax::eval_replacing(&[], &[(&new, &old)]).unwrap();
    assert_eq!(new.to_vec::<f32>().unwrap().iter().map(|&v| v as f64).collect::<Vec<_>>(), want);
    // A bad index leaves what would have been overwritten as it was.
    let before = new.to_vec::<f32>().unwrap();
    let mut bad = vec![1i64; 64];
    bad[63] = 100;
    let bad = Tensor::from_slice(&bad, &[64], &device).unwrap();
    let next = new.sub(&table.gather(0, &bad).unwrap()).unwrap();
    fornax::eval_replacing(&[], &[(&next, &new)]).unwrap();
    assert!(matches!(next.to_vec::<f32>(), Err(fornax::Error::Index { .. })));
    assert_eq!(new.to_vec::<f32>().unwrap(), before);
}

#[test]
fn products_of_few_rows() {
    let Some(device) = gpu() else { return };
    // Sums that stay in registers, that do not, of one and of several workgroups, that end inside a vector; rows of which
    // eight, four, two or no columns are summed together, on devices that are kept busy by few and by many.
    let sizes = [
        (8, 300, 1024),
        (3, 140, 516),
        (6, 130, 258),
        (1, 24, 40),
        (2, 700, 44),
        (3, 70, 42),
        (5, 1100, 41),
        (8, 2100, 16),
        (9, 40, 24),
        (2, 33000, 8),
        (2, 33000, 1),
        (8, 2000, 1),
    ];
    for dtype in [DType::F32, DType::F16, DType::BF16, DType::I32] {
        for (m, k, n) in sizes {
            // Large sums of halves round away what they should show.
            if matches!(dtype, DType::F16 | DType::BF16) && k > 2100 {
                continue;
            }
            for turned in [false, true] {
                let left = data(&[m, k], dtype, 1, &device);
                let right = match turned {
                    true => data(&[n, k], dtype, 2, &device).t().unwrap(),
                    false => data(&[k, n], dtype, 2, &device),
                };
                let (bias, rest) = (data(&[n], dtype, 3, &device), data(&[m, n], dtype, 4, &device));
                let product = left.matmul(&right).unwrap().add(&bias).unwrap();
                let product = product.mul(&rest).unwrap();
                check(&format!("{dtype} {m}x{n}x{k}, turned: {turned}"), &product);
            }
        }
    }
    // Several matrices; one whose inner axis lies along memory on both sides, backwards, or behind a mask.
    let (left, right) =
        (data(&[3, 4, 300], DType::F32, 1, &device), data(&[3, 300, 24], DType::F32, 2, &device));
    check("batched", &left.matmul(&right).unwrap());
    let turned = data(&[3, 24, 300], DType::F32, 2, &device).transpose(1, 2).unwrap();
    check("batched, turned", &left.matmul(&turned).unwrap());
    check("one matrix for all", &left.matmul(&turned.narrow(0, 1, 1).unwrap()).unwrap());
    let backwards = left.flip(&[1]).and_then(|left| left.matmul(&turned.flip(&[2])?)).unwrap();
    check("backwards", &backwards);
    let product = left.matmul(&turned).unwrap();
    check("part of a larger one", &Tensor::cat(&[&product, &product.mul(2.0).unwrap()], 2).unwrap());
    check("behind a mask", &product.pad(&[(0, 0), (1, 1), (0, 3)], 0.5).unwrap());
    let (kept, sum) = (product.exp().unwrap(), product.add(1.0).unwrap());
    check_together(&[("two results", &kept), ("the other one", &sum)]);
}

/// What follows a product of few rows is computed at the place of each of the elements that are summed together.
#[test]
fn epilogues_of_few_rows() -> fornax::Result<()> {
    let Some(device) = gpu() else { return Ok(()) };
    let all = |what: &str, results: &[&Tensor]| {
        let names: Vec<String> = results.iter().map(|result| format!("{what}, {}", result.dtype())).collect();
        let named: Vec<_> = names.iter().map(String::as_str).zip(results.iter().copied()).collect();
        check_together(&named);
    };
    // Eight columns at a time where the right side is turned, on devices that are kept busy by few and by many; two; one.
    for (m, n) in [(2, 16), (2, 1040), (5, 6), (3, 7)] {
        for turned in [false, true] {
            let name = |what: &str| format!("{what} {m}x{n}, turned: {turned}");
            let product = |dtype| -> fornax::Result<Tensor> {
                let left = data(&[m, 37], dtype, 1, &device);
                let right = match turned {
                    true => data(&[n, 37], dtype, 2, &device).t()?,
                    false => data(&[37, n], dtype, 2, &device),
                };
                left.matmul(&right)
            };
            let part = data(&[m - 1, n - 3], DType::F32, 3, &device).pad(&[(1, 0), (0, 3)], 0.0)?;
            let row = data(&[1, n], DType::F32, 3, &device).pad(&[(m - 1, 0), (0, 0)], 0.0)?;
            let ids = Tensor::from_slice(&[3i64, 0, 2, 1, 3][..m], &[m], &device)?;
            let gathered = Tensor::embedding(&data(&[4, n], DType::F32, 4, &device), &ids)?;
            let places = Tensor::arange(0, (m * n) as i64, 1, DType::F32, &device)?;
            let places = places.reshape(&[m as isize, n as isize])?;
            let sum = product(DType::F32)?.add(&part)?.add(&row)?.add(&gathered)?.add(&places)?;
            check(&name("zeros around"), &sum.tril(0)?);
            let sum = product(DType::F32)?.add(&gathered)?.add(&places)?;
            check(&name("places, a half"), &sum.tril(0)?);
            // Looked up where the product says.
            let (table, index) = (data(&[m, 13], DType::F32, 5, &device), product(DType::I64)?.rem(13)?);
            check(&name("found"), &table.gather(1, &index)?.add(&places)?);
            check(&name("random"), &product(DType::F32)?.dropout(0.5, true)?);
            let (x, size) = (product(DType::F32)?, product(DType::F32)?.abs()?);
            let [bytes, brain, half, long] =
                [DType::U8, DType::BF16, DType::F16, DType::I64].map(|dtype| size.to_dtype(dtype));
            all(&name("results"), &[&x.exp()?, &x.gt(0.0)?, &bytes?, &brain?, &half?, &long?]);
            for dtype in [DType::U8, DType::I64, DType::U32] {
                // Sums of bytes are more than a byte holds.
                let x = product(dtype)?;
                all(&name("integers"), &[&x, &x.to_dtype(DType::F32)?.add(0.5)?, &x.gt(100)?]);
            }
        }
    }
    // Sums of few terms; backwards; rows that begin anywhere, with something else behind them.
    for k in [1, 2, 3, 6] {
        let (left, right) = (data(&[8, k], DType::F32, 1, &device), data(&[16, k], DType::F32, 2, &device));
        check("few terms", &left.matmul(&right.t()?)?);
    }
    for dtype in [DType::F32, DType::F16] {
        let (left, right) = (data(&[8, 75], dtype, 1, &device), data(&[16, 75], dtype, 2, &device));
        check("backwards", &left.matmul(&right.flip(&[1])?.t()?)?);
        check("parts", &left.narrow(1, 3, 64)?.matmul(&right.narrow(1, 8, 64)?.t()?)?);
    }
    Ok(())
}

/// Bytes wrap before anything else is done with them, also in products as tiles and in parts.
#[test]
fn products_of_bytes_and_then() -> fornax::Result<()> {
    let Some(device) = gpu() else { return Ok(()) };
    for (m, n, k) in [(40, 36, 50), (64, 64, 4096)] {
        let (x, y) = (data(&[m, k], DType::U8, 1, &device), data(&[k, n], DType::U8, 2, &device));
        check("a number", &x.matmul(&y)?.to_dtype(DType::F32)?.mul(0.5)?);
        check("compared", &x.matmul(&y)?.gt(100)?);
        check("the larger one", &x.matmul(&y)?.maximum(&data(&[m, n], DType::U8, 3, &device))?);
    }
    Ok(())
}

/// Sums of columns by several workgroups and by one, of several dtypes in one kernel.
#[test]
fn columns_of_several_dtypes() -> fornax::Result<()> {
    let Some(device) = gpu() else { return Ok(()) };
    // Above it are some elements of a part of the columns.
    let bound = Tensor::arange(0, 40, 1, DType::F32, &device)?.mul(0.001)?.add(1.98)?;
    for rows in [3000, 1000] {
        let x = data(&[rows, 40], DType::F32, 1, &device);
        let any = x.gt(&bound)?.any(&[0], false)?;
        let found = any.to_vec::<bool>()?;
        assert!(found.contains(&true) && found.contains(&false), "{found:?}");
        let any = x.gt(&bound)?.any(&[0], false)?;
        let (sum, squares) = (x.sum(&[0], false)?, x.sqr()?.sum(&[0], false)?);
        // These take more workgroup memory than there is for as many lanes as one dtype takes.
        let whole = x.to_dtype(DType::I64)?.sum(&[0], false)?;
        check_together(&[("sum", &sum), ("any", &any), ("squares", &squares), ("whole", &whole)]);
    }
    Ok(())
}
