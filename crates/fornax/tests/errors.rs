//! Bad input gives a typed error that says what was wrong, never a panic.

mod on;

use fornax::*;

fn f(shape: &[usize]) -> Tensor {
    Tensor::ones(shape, DType::F32, &on::device()).unwrap()
}

fn i(data: &[i64], shape: &[usize]) -> Tensor {
    Tensor::from_slice(data, shape, &on::device()).unwrap()
}

/// Each row: an expression and the variant it must fail with.
macro_rules! fails {
    ($($call:expr => $variant:ident;)*) => {$(
        match $call {
            Err(error) => {
                assert!(matches!(error, Error::$variant { .. }), "{}: {error:?}", stringify!($call));
                assert!(error.to_string().len() > 12, "{}: {error}", stringify!($call));
            }
            Ok(_) => panic!("{} did not fail", stringify!($call)),
        }
    )*};
}

const HUGE: usize = usize::MAX / 2;

#[test]
fn creation() {
    let d = &on::device();
    fails! {
        Tensor::zeros(&[HUGE, 3], DType::F32, d) => Shape;
        Tensor::ones(&[usize::MAX], DType::F32, d) => Shape;
        Tensor::ones(&[0, HUGE, HUGE], DType::F32, d) => Shape;
        Tensor::full(&[1 << 40, 1 << 40], 1.0, DType::F32, d) => Shape;
        Tensor::rand(&[HUGE, 5], DType::F32, d) => Shape;
        Tensor::rand(&[2], DType::I64, d) => DType;
        Tensor::randn(&[2], DType::Bool, d) => DType;
        Tensor::bernoulli(1.5, &[2], DType::F32, d) => Argument;
        Tensor::bernoulli(f64::NAN, &[2], DType::F32, d) => Argument;
        Tensor::randint(3, 3, &[2], DType::I64, d) => Argument;
        Tensor::randint(i64::MIN, i64::MAX, &[2], DType::I64, d) => Argument;
        Tensor::arange(0, 10, 0, DType::I64, d) => Argument;
        Tensor::arange(0, 10, -1, DType::I64, d) => Argument;
        Tensor::arange(0.0, f64::INFINITY, 1.0, DType::F32, d) => Argument;
        Tensor::arange(0.0, f64::NAN, 1.0, DType::F32, d) => Argument;
        Tensor::arange(i64::MIN, i64::MAX, 1, DType::I64, d) => Shape;
        Tensor::arange(0, 2, 1, DType::Bool, d) => DType;
        Tensor::linspace(0.0, 1.0, usize::MAX, DType::F32, d) => Shape;
        Tensor::linspace(0.0, 1.0, 3, DType::I32, d) => DType;
        Tensor::eye(HUGE, DType::F32, d) => Shape;
        Tensor::from_slice(&[1f32, 2.0], &[3], d) => Shape;
        Tensor::from_bytes(&[0; 7], &[2], DType::F32, d) => Shape;
        f(&[2]).one_hot(3, DType::F32) => DType;
        i(&[1], &[1]).one_hot(usize::MAX, DType::F32) => Shape;
        f(&[2]).tril(0) => Shape;
        f(&[]).triu(0) => Shape;
        i(&[1], &[1]).variable() => DType;
    }
}

#[test]
fn elementwise() {
    let other = on::fresh();
    let far = Tensor::ones(&[2], DType::F32, &other).unwrap();
    let bools = f(&[2]).gt(0.0).unwrap();
    fails! {
        f(&[2]).add(&f(&[3])) => Shape;
        f(&[2, 3]).mul(&f(&[2])) => Shape;
        f(&[2]).eq(&f(&[3])) => Shape;
        f(&[0]).add(&f(&[2])) => Shape;
        f(&[1 << 35, 1]).add(&f(&[1 << 35])) => Shape;
        f(&[2]).add(&far) => DeviceMismatch;
        f(&[2]).matmul(&far) => DeviceMismatch;
        Tensor::cat(&[&f(&[2]), &far], 0) => DeviceMismatch;
        bools.where_(&far, 0.0) => DeviceMismatch;
        bools.sub(&bools) => DType;
        bools.neg() => DType;
        bools.relu() => DType;
        f(&[2]).where_(1.0, 2.0) => DType;
        bools.where_(&f(&[3]), 0.0) => Shape;
        f(&[2]).clamp(&f(&[3]), 1.0) => Shape;
        f(&[2]).dropout(-0.1, true) => Argument;
        f(&[2]).dropout(1.1, false) => Argument;
    }
}

#[test]
fn views() {
    let x = f(&[2, 3]);
    fails! {
        x.reshape(&[4]) => Shape;
        x.reshape(&[-1, -1]) => Shape;
        x.reshape(&[-1, 4]) => Shape;
        x.reshape(&[-2, 3]) => Shape;
        x.reshape(&[isize::MAX, isize::MAX]) => Shape;
        f(&[0]).reshape(&[-1, 0]) => Shape;
        x.permute(&[0]) => Axis;
        x.permute(&[0, 0]) => Axis;
        x.permute(&[0, 2]) => Axis;
        x.transpose(0, 2) => Axis;
        x.transpose(-3, 0) => Axis;
        f(&[2]).t() => Shape;
        x.narrow(2, 0, 1) => Axis;
        x.narrow(0, 1, 2) => Index;
        x.narrow(0, usize::MAX, usize::MAX) => Index;
        x.slice(0, 0, 1, 0) => Argument;
        x.slice(isize::MIN, 0, 1, 1) => Axis;
        x.select(0, 2) => Index;
        x.select(0, isize::MIN) => Index;
        x.expand(&[2, 4]) => Shape;
        x.expand(&[1, 2, 3]) => Shape;
        x.broadcast_to(&[3]) => Shape;
        f(&[1]).broadcast_to(&[usize::MAX]) => Shape;
        x.flip(&[0, 0]) => Axis;
        x.squeeze(0) => Shape;
        x.unsqueeze(4) => Axis;
        x.flatten(1, 0) => Axis;
        f(&[]).squeeze(0) => Axis;
        x.split(0, 0) => Argument;
        x.chunk(0, 0) => Argument;
        x.chunk(2, 5) => Axis;
        x.pad(&[(1, 1)], 0.0) => Shape;
        x.pad(&[(usize::MAX, 1), (0, 0)], 0.0) => Shape;
        x.pad(&[(HUGE, 0), (0, 0)], 1.0) => Shape;
        Tensor::cat(&[], 0) => Argument;
        Tensor::cat(&[&x, &f(&[2, 3, 1])], 0) => Shape;
        Tensor::cat(&[&x, &f(&[3, 2])], 0) => Shape;
        Tensor::cat(&[&f(&[])], 0) => Axis;
        Tensor::stack(&[], 0) => Argument;
        Tensor::stack(&[&x, &f(&[3, 2])], 0) => Shape;
    }
}

#[test]
fn reductions_and_sorting() {
    let x = f(&[2, 3]);
    fails! {
        x.sum(&[2], false) => Axis;
        x.sum(&[0, -2], false) => Axis;
        f(&[2, 0]).max(&[1], false) => Shape;
        f(&[0]).argmin(None, false) => Shape;
        f(&[0]).min_all() => Shape;
        x.mean(&[-3], false) => Axis;
        x.norm(f64::NAN, &[], false) => Argument;
        f(&[0]).norm(f64::INFINITY, &[], false) => Shape;
        x.cumsum(2) => Axis;
        x.softmax(7) => Axis;
        f(&[]).softmax(0) => Axis;
        x.sort(2, false) => Axis;
        x.argsort(-3, false) => Axis;
        x.topk(4, 1, true) => Argument;
        x.topk(1, 2, true) => Axis;
    }
}

#[test]
fn products_and_indexing() {
    let x = f(&[2, 3]);
    let bools = x.gt(0.0).unwrap();
    fails! {
        x.matmul(&x) => Shape;
        x.matmul(&f(&[])) => Shape;
        f(&[2, 2, 3]).matmul(&f(&[3, 3, 2])) => Shape;
        f(&[2, 3]).matmul_add(&f(&[3, 4]), &f(&[3])) => Shape;
        f(&[2, 3]).matmul_add(&f(&[2, 3]), &f(&[3])) => Shape;
        bools.matmul(&bools.t().unwrap()) => DType;
        Tensor::einsum("ij,jk->ik", &[&x]) => Argument;
        Tensor::einsum("ij,jk->ik", &[&x, &x]) => Shape;
        Tensor::einsum("ijk->i", &[&x]) => Shape;
        Tensor::einsum("ij->z", &[&x]) => Argument;
        Tensor::einsum("ii->i", &[&f(&[2, 2])]) => Argument;
        Tensor::einsum("i1->i", &[&x]) => Argument;
        Tensor::einsum("...i->i", &[&x]) => Argument;
        Tensor::einsum("i,i,i->i", &[&f(&[2]), &f(&[2]), &f(&[2])]) => Argument;
        Tensor::einsum("", &[]) => Argument;
        x.gather(1, &x) => DType;
        x.gather(1, &i(&[0], &[1])) => Shape;
        x.gather(1, &i(&[0; 3], &[3, 1])) => Shape;
        x.gather(2, &i(&[0], &[1, 1])) => Axis;
        f(&[2, 0]).gather(1, &i(&[0, 0], &[2, 1])) => Index;
        x.index_select(0, &i(&[0], &[1, 1])) => Shape;
        x.index_select(0, &f(&[1])) => DType;
        Tensor::embedding(&f(&[2]), &i(&[0], &[1])) => Shape;
        Tensor::embedding(&x, &f(&[1])) => DType;
        Tensor::embedding(&f(&[0, 3]), &i(&[0], &[1])) => Index;
        x.scatter_add(1, &i(&[0, 0], &[2, 1]), &f(&[2, 2])) => Shape;
        x.scatter_add(1, &i(&[0, 0], &[2, 1]), &i(&[0, 0], &[2, 1])) => DType;
        // Out of range is found when it is evaluated.
        x.gather(1, &i(&[0, 3], &[2, 1])).unwrap().to_bytes() => Index;
        x.gather(1, &i(&[0, -1], &[2, 1])).unwrap().to_bytes() => Index;
        Tensor::embedding(&x, &i(&[2], &[1])).unwrap().to_vec::<f32>() => Index;
        x.scatter_add(1, &i(&[0, 9], &[2, 1]), &f(&[2, 1])).unwrap().to_bytes() => Index;
        x.cross_entropy(&i(&[0, 3], &[2])).unwrap().to_bytes() => Index;
    }
    let text = x.matmul(&x).unwrap_err().to_string();
    assert_eq!(text, "matmul: [2, 3] x [2, 3]: inner sizes 3 and 2 differ (did you mean b.t()?)");
}

#[test]
fn layers_and_gradients() {
    let x = f(&[2, 3]);
    let v = x.variable().unwrap();
    let (q, ints) = (f(&[1, 2, 4, 8]), i(&[1], &[1]));
    let o = AttentionOptions::default();
    let smooth = |label_smoothing| CrossEntropy { label_smoothing, ..Default::default() };
    fails! {
        x.layer_norm(0, None, None, 1e-5) => Argument;
        x.layer_norm(3, None, None, 1e-5) => Argument;
        x.layer_norm(1, Some(&f(&[2])), None, 1e-5) => Shape;
        x.rms_norm(1, Some(&f(&[1])), 1e-5) => Shape;
        x.group_norm(2, None, None, 1e-5) => Argument;
        x.group_norm(0, None, None, 1e-5) => Argument;
        f(&[2]).group_norm(1, None, None, 1e-5) => Shape;
        x.cross_entropy(&x) => DType;
        x.cross_entropy(&i(&[0; 3], &[3])) => Shape;
        f(&[]).cross_entropy(&i(&[0], &[])) => Shape;
        f(&[2, 0]).cross_entropy(&i(&[0, 0], &[2])) => Shape;
        x.cross_entropy_with(&i(&[0, 0], &[2]), smooth(2.0)) => Argument;
        x.cross_entropy_with(&i(&[0, 0], &[2]), smooth(f64::NAN)) => Argument;
        x.mse_loss(&f(&[3])) => Shape;
        q.scaled_dot_product_attention(&x, &q, &o) => Shape;
        q.scaled_dot_product_attention(&f(&[1, 2, 4, 6]), &q, &o) => Shape;
        q.scaled_dot_product_attention(&f(&[2, 2, 4, 8]), &f(&[2, 2, 4, 8]), &o) => Shape;
        q.scaled_dot_product_attention(&f(&[1, 3, 4, 8]), &f(&[1, 3, 4, 8]), &o) => Shape;
        q.scaled_dot_product_attention(&q, &f(&[1, 2, 5, 8]), &o) => Shape;
        q.scaled_dot_product_attention(&q, &q, &AttentionOptions { mask: Some(&x), ..o }) => Shape;
        q.scaled_dot_product_attention(&q, &q, &AttentionOptions { mask: Some(&ints), ..o }) => DType;
        v.backward() => Gradient;
        x.sum_all().unwrap().backward() => Gradient;
        v.backward_with(&f(&[3])) => Gradient;
        grad(&v.sum_all().unwrap(), &[&x]) => Gradient;
        grad(&v, &[&v]) => Gradient;
        x.item::<f32>() => Shape;
        x.to_vec::<f64>() => WrongType;
        x.sum_all().unwrap().item::<i64>() => WrongType;
        Device::open("tpu") => NoDevice;
    }
}
