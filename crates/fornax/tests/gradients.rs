//! Gradients: every differentiable op against central differences in f64, second derivatives,
//! recomputation, and the shapes that the combination of contributions takes.

use fornax::*;

type Case = (&'static str, Vec<(Vec<usize>, f64, f64)>, Box<dyn Fn(&[Tensor]) -> Result<Tensor>>);

/// Reproducible numbers in `low..high`, no two equal.
fn numbers(shape: &[usize], low: f64, high: f64, salt: usize) -> Tensor {
    let n: usize = shape.iter().product();
    let value = |i: usize| ((i * 7919 + salt * 104_729 + 12_345) % 10_007) as f64 / 10_007.0;
    let data: Vec<f64> = (0..n).map(|i| low + (high - low) * value(i)).collect();
    Tensor::from_slice(&data, shape, &Device::cpu()).unwrap()
}

/// A weighted sum, so that every element of the result matters differently.
fn weighted(y: &Tensor) -> Result<Tensor> {
    y.mul(&numbers(y.shape(), 0.5, 1.5, 99))?.sum_all()
}

/// Compares the gradients of `f` with central differences.
fn check(name: &str, inputs: &[Tensor], f: &dyn Fn(&[Tensor]) -> Result<Tensor>) {
    let variables: Vec<Tensor> = inputs.iter().map(|x| x.variable().unwrap()).collect();
    let loss = f(&variables).and_then(|y| weighted(&y)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let gradients = loss.backward().unwrap_or_else(|e| panic!("{name}: {e}"));
    let step = 1e-5;
    for (i, x) in inputs.iter().enumerate() {
        let data = x.to_vec::<f64>().unwrap();
        let gradient = gradients.get(&variables[i]).unwrap_or_else(|| panic!("{name}: none for {i}"));
        let gradient = gradient.to_vec::<f64>().unwrap();
        for (j, analytic) in gradient.iter().enumerate() {
            let at = |delta: f64| {
                let mut moved = data.clone();
                moved[j] += delta;
                let mut inputs: Vec<Tensor> = inputs.to_vec();
                inputs[i] = Tensor::from_slice(&moved, x.shape(), &Device::cpu()).unwrap();
                weighted(&f(&inputs).unwrap()).unwrap().item::<f64>().unwrap()
            };
            let numeric = (at(step) - at(-step)) / (2.0 * step);
            let error = (analytic - numeric).abs() / (1.0 + numeric.abs());
            assert!(error < 2e-6, "{name}: input {i} element {j}: {analytic} against {numeric}");
        }
    }
}

/// A row of a table: a name, the inputs as shape and range of values, and the function.
macro_rules! case {
    ($name:expr, [$($shape:expr, $low:expr, $high:expr);*], |$x:ident| $body:expr) => {{
        let f: Box<dyn Fn(&[Tensor]) -> Result<Tensor>> = Box::new(|$x: &[Tensor]| $body);
        let inputs: Vec<(Vec<usize>, f64, f64)> =
            vec![$((<[usize]>::to_vec(&$shape), $low as f64, $high as f64)),*];
        ($name, inputs, f)
    }};
}

fn run(cases: Vec<Case>) {
    for (name, inputs, f) in cases {
        let inputs: Vec<Tensor> =
            inputs.iter().enumerate().map(|(i, (shape, low, high))| numbers(shape, *low, *high, i)).collect();
        check(name, &inputs, &*f);
    }
}

fn index(data: &[i64], shape: &[usize]) -> Tensor {
    Tensor::from_slice(data, shape, &Device::cpu()).unwrap()
}

#[test]
fn unary_ops() {
    run(vec![
        case!("neg", [[5], -2, 2], |x| x[0].neg()),
        case!("abs", [[5], -2, 2], |x| x[0].abs()),
        case!("recip", [[5], 1, 2], |x| x[0].recip()),
        case!("sqrt", [[5], 1, 2], |x| x[0].sqrt()),
        case!("rsqrt", [[5], 1, 2], |x| x[0].rsqrt()),
        case!("exp", [[5], -2, 2], |x| x[0].exp()),
        case!("exp2", [[5], -2, 2], |x| x[0].exp2()),
        case!("expm1", [[5], -2, 2], |x| x[0].expm1()),
        case!("log", [[5], 1, 2], |x| x[0].log()),
        case!("log2", [[5], 1, 2], |x| x[0].log2()),
        case!("log1p", [[5], 0, 2], |x| x[0].log1p()),
        case!("sin", [[5], -2, 2], |x| x[0].sin()),
        case!("cos", [[5], -2, 2], |x| x[0].cos()),
        case!("tan", [[5], -1, 1], |x| x[0].tan()),
        case!("asin", [[5], -0.8, 0.8], |x| x[0].asin()),
        case!("acos", [[5], -0.8, 0.8], |x| x[0].acos()),
        case!("atan", [[5], -2, 2], |x| x[0].atan()),
        case!("sinh", [[5], -2, 2], |x| x[0].sinh()),
        case!("cosh", [[5], -2, 2], |x| x[0].cosh()),
        case!("tanh", [[5], -2, 2], |x| x[0].tanh()),
        case!("erf", [[5], -2, 2], |x| x[0].erf()),
        case!("relu", [[5], -2, 2], |x| x[0].relu()),
        case!("leaky_relu", [[5], -2, 2], |x| x[0].leaky_relu(0.1)),
        case!("elu", [[5], -2, 2], |x| x[0].elu(1.3)),
        case!("gelu", [[7], -3, 3], |x| x[0].gelu()),
        case!("gelu_erf", [[7], -3, 3], |x| x[0].gelu_erf()),
        case!("silu", [[7], -3, 3], |x| x[0].silu()),
        case!("sigmoid", [[7], -3, 3], |x| x[0].sigmoid()),
        case!("softplus", [[7], -3, 3], |x| x[0].softplus()),
        case!("sqr", [[5], -2, 2], |x| x[0].sqr()),
        case!("scalar shape", [[], 1, 2], |x| x[0].exp()?.log1p()),
    ]);
}

#[test]
fn binary_ops_broadcast() {
    run(vec![
        case!("add", [[2, 3], -1, 1; [3], -1, 1], |x| x[0].add(&x[1])),
        case!("sub", [[2, 1], -1, 1; [3], -1, 1], |x| x[0].sub(&x[1])),
        case!("mul", [[2, 3], -1, 1; [], 1, 2], |x| x[0].mul(&x[1])),
        case!("div", [[2, 3], -1, 1; [2, 1], 1, 2], |x| x[0].div(&x[1])),
        case!("rem", [[4], 2.1, 2.9; [4], 1.1, 1.3], |x| x[0].rem(&x[1])),
        case!("pow", [[4], 0.5, 2; [4], -1, 2], |x| x[0].pow(&x[1])),
        case!("pow 2", [[4], -2, 2], |x| x[0].pow(2.0)),
        case!("pow 3", [[4], -2, 2], |x| x[0].pow(3)),
        case!("pow 4", [[4], -2, 2], |x| x[0].pow(4)),
        case!("pow 5", [[4], -2, 2], |x| x[0].pow(5.0)),
        case!("pow 0.3", [[4], 1, 2], |x| x[0].pow(0.3)),
        case!("pow -1", [[4], 1, 2], |x| x[0].pow(-1)),
        case!("maximum", [[6], -1, 1; [6], -1, 1], |x| x[0].maximum(&x[1])),
        case!("minimum", [[6], -1, 1; [6], -1, 1], |x| x[0].minimum(&x[1])),
        case!("atan2", [[4], 0.5, 1; [4], -1, -0.5], |x| x[0].atan2(&x[1])),
        case!("where", [[4], -1, 1; [4], -1, 1], |x| x[0].gt(0.0)?.where_(&x[0].sqr()?, &x[1])),
        case!("clamp", [[6], -2, 2], |x| x[0].clamp(-1.0, 0.5)),
        case!("operators", [[4], 1, 2], |x| {
            let rest: Tensor = (1.0 - &x[0])?;
            let y = (&rest * &x[0])?;
            &y / 3
        }),
        case!("shared", [[3], 1, 2], |x| x[0].mul(&x[0])?.add(&x[0])?.mul(&x[0])),
    ]);
}

#[test]
fn views() {
    run(vec![
        case!("reshape", [[2, 6], -1, 1], |x| x[0].reshape(&[3, -1])),
        case!("permute", [[2, 3, 4], -1, 1], |x| x[0].permute(&[2, 0, 1])),
        case!("transpose", [[2, 3], -1, 1], |x| x[0].t()),
        case!("expand", [[2, 1, 3], -1, 1], |x| x[0].expand(&[2, 4, 3])),
        case!("broadcast_to", [[3], -1, 1], |x| x[0].broadcast_to(&[2, 4, 3])),
        case!("narrow", [[5, 2], -1, 1], |x| x[0].narrow(0, 1, 3)),
        case!("slice step 2", [[7, 2], -1, 1], |x| x[0].slice(0, 1, 7, 2)),
        case!("slice step 3", [[8], -1, 1], |x| x[0].slice(0, 0, 8, 3)),
        case!("slice step -1", [[5], -1, 1], |x| x[0].slice(0, 3, 0, -1)),
        case!("slice step -2", [[2, 7], -1, 1], |x| x[0].slice(1, -1, -100, -2)),
        case!("empty slice", [[3], -1, 1], |x| x[0].slice(0, 2, 2, 1)?.sum(&[], false)?.add(&x[0])),
        case!("flip", [[2, 3], -1, 1], |x| x[0].flip(&[0, 1])),
        case!("pad", [[2, 3], -1, 1], |x| x[0].pad(&[(1, 0), (0, 2)], 0.0)),
        case!("pad with 2", [[2, 3], -1, 1], |x| x[0].pad(&[(1, 1), (0, 2)], 2.0)),
        case!("squeeze", [[2, 1, 3], -1, 1], |x| x[0].squeeze(1)?.unsqueeze(0)),
        case!("cat", [[2, 3], -1, 1; [2, 1], -1, 1], |x| Tensor::cat(&[&x[0], &x[1], &x[0]], 1)),
        case!("stack", [[2, 3], -1, 1; [2, 3], -1, 1], |x| Tensor::stack(&[&x[0], &x[1]], 1)),
        case!("chunks", [[2, 6], -1, 1], |x| {
            let parts = x[0].chunk(3, 1)?;
            parts[0].mul(&parts[1])?.add(&parts[2].exp()?)
        }),
        case!("overlapping slices", [[6], -1, 1], |x| x[0].narrow(0, 0, 4)?.mul(&x[0].narrow(0, 2, 4)?)),
        case!("tril", [[3, 3], -1, 1], |x| x[0].tril(0)?.add(&x[0].triu(1)?.sqr()?)),
        case!("cast", [[3], -1, 1], |x| x[0].to_dtype(DType::F64)),
    ]);
}

#[test]
fn reductions() {
    run(vec![
        case!("sum", [[2, 3, 2], -1, 1], |x| x[0].sum(&[0, 2], false)),
        case!("mean", [[2, 3], -1, 1], |x| x[0].mean(&[-1], true)),
        case!("max", [[2, 5], -1, 1], |x| x[0].max(&[1], false)),
        case!("min", [[2, 5], -1, 1], |x| x[0].min(&[0], false)),
        case!("prod", [[2, 4], 0.5, 1.5], |x| x[0].prod(&[1], false)),
        case!("prod with zeros", [[2, 3], -1, 1], |x| {
            // The first element of each row is exactly 0.
            x[0].narrow(1, 1, 2)?.pad(&[(0, 0), (1, 0)], 0.0)?.prod(&[1], false)
        }),
        case!("var", [[3, 4], -1, 1], |x| x[0].var(&[1], 1, false)),
        case!("std", [[3, 4], -1, 1], |x| x[0].std(&[0], 0, false)),
        case!("logsumexp", [[3, 4], -1, 1], |x| x[0].logsumexp(&[1], false)),
        case!("norm 2", [[3, 4], -1, 1], |x| x[0].norm(2.0, &[1], false)),
        case!("norm 1", [[3, 4], -1, 1], |x| x[0].norm(1.0, &[1], false)),
        case!("norm 3", [[3, 4], -1, 1], |x| x[0].norm(3.0, &[1], false)),
        case!("norm inf", [[3, 4], -1, 1], |x| x[0].norm(f64::INFINITY, &[1], false)),
        case!("cumsum", [[3, 4], -1, 1], |x| x[0].cumsum(1)),
        case!("softmax", [[3, 4], -1, 1], |x| x[0].softmax(1)),
        case!("softmax of axis 0", [[3, 4], -1, 1], |x| x[0].softmax(0)),
        case!("log_softmax", [[3, 4], -1, 1], |x| x[0].log_softmax(-1)),
    ]);
}

#[test]
fn products_and_indexing() {
    run(vec![
        case!("matmul", [[2, 3], -1, 1; [3, 4], -1, 1], |x| x[0].matmul(&x[1])),
        case!("matmul vectors", [[3], -1, 1; [3], -1, 1], |x| x[0].matmul(&x[1])),
        case!("matmul row", [[3], -1, 1; [2, 3, 2], -1, 1], |x| x[0].matmul(&x[1])),
        case!("matmul column", [[2, 2, 3], -1, 1; [3], -1, 1], |x| x[0].matmul(&x[1])),
        case!("matmul batch", [[2, 1, 2, 3], -1, 1; [4, 3, 2], -1, 1], |x| x[0].matmul(&x[1])),
        case!("matmul rows of batches", [[2, 2, 3], -1, 1; [3, 2], -1, 1], |x| x[0].matmul(&x[1])),
        case!("einsum", [[2, 3, 2], -1, 1; [2, 4, 2], -1, 1], |x| {
            Tensor::einsum("bij,bkj->kbi", &[&x[0], &x[1]])
        }),
        case!("einsum sums", [[2, 3], -1, 1; [4], -1, 1], |x| Tensor::einsum("ab,c->ca", &[&x[0], &x[1]])),
        case!("gather", [[3, 4], -1, 1], |x| x[0].gather(1, &index(&[0, 0, 3, 1, 2, 2], &[3, 2]))),
        case!("gather one", [[3, 4], -1, 1], |x| x[0].gather(1, &index(&[0, 3, 1], &[3, 1]))),
        case!("index_select", [[3, 4], -1, 1], |x| x[0].index_select(0, &index(&[2, 0, 2], &[3]))),
        case!("embedding", [[5, 2], -1, 1], |x| Tensor::embedding(&x[0], &index(&[4, 0, 4, 1], &[2, 2]))),
        case!("tied embedding", [[5, 2], -1, 1], |x| {
            Tensor::embedding(&x[0], &index(&[4, 0, 4], &[3]))?.matmul(&x[0].t()?)
        }),
        case!("scatter_add", [[3, 4], -1, 1; [3, 2], -1, 1], |x| {
            x[0].scatter_add(1, &index(&[0, 0, 3, 1, 2, 2], &[3, 2]), &x[1])
        }),
        case!("scatter_add of less", [[3, 4], -1, 1; [2, 2], -1, 1], |x| {
            x[0].scatter_add(1, &index(&[0, 0, 3, 1], &[2, 2]), &x[1])
        }),
        case!("sort", [[3, 4], -1, 1], |x| Ok(x[0].sort(1, true)?.0)),
        case!("topk", [[3, 4], -1, 1], |x| Ok(x[0].topk(2, 0, false)?.0)),
    ]);
}

#[test]
fn layers_and_losses() {
    run(vec![
        case!("layer_norm", [[3, 4], -1, 1; [4], 0.5, 1.5; [4], -1, 1], |x| {
            x[0].layer_norm(1, Some(&x[1]), Some(&x[2]), 1e-5)
        }),
        case!("layer_norm of two axes", [[2, 2, 3], -1, 1; [2, 3], 0.5, 1.5], |x| {
            x[0].layer_norm(2, Some(&x[1]), None, 1e-5)
        }),
        case!("rms_norm", [[3, 4], -1, 1; [4], 0.5, 1.5], |x| x[0].rms_norm(1, Some(&x[1]), 1e-5)),
        case!("group_norm", [[2, 4, 3], -1, 1; [4], 0.5, 1.5; [4], -1, 1], |x| {
            x[0].group_norm(2, Some(&x[1]), Some(&x[2]), 1e-5)
        }),
        case!("cross_entropy", [[3, 4], -1, 1], |x| x[0].cross_entropy(&index(&[0, 3, 1], &[3]))),
        case!("cross_entropy of choices", [[2, 2, 4], -1, 1], |x| {
            let options = CrossEntropy { ignore_index: Some(-1), label_smoothing: 0.1, ..Default::default() };
            x[0].cross_entropy_with(&index(&[0, 3, -1, 2], &[2, 2]), options)
        }),
        case!("mse_loss", [[3, 4], -1, 1; [3, 4], -1, 1], |x| x[0].mse_loss(&x[1])),
        case!("attention", [[1, 2, 3, 2], -1, 1; [1, 2, 3, 2], -1, 1; [1, 2, 3, 3], -1, 1], |x| {
            let options = AttentionOptions { causal: true, ..Default::default() };
            x[0].scaled_dot_product_attention(&x[1], &x[2], &options)
        }),
        case!("grouped attention", [[2, 4, 2, 2], -1, 1; [2, 2, 3, 2], -1, 1; [2, 2, 3, 2], -1, 1], |x| {
            let mask = index(&[1, 0, 1, 1, 1, 0], &[2, 3]).ne(0)?;
            let options = AttentionOptions { mask: Some(&mask), scale: Some(0.7), ..Default::default() };
            x[0].scaled_dot_product_attention(&x[1], &x[2], &options)
        }),
        case!("learned mask", [[1, 2, 2, 2], -1, 1; [1, 2, 3, 2], -1, 1; [2, 1, 3], -1, 1], |x| {
            let options = AttentionOptions { mask: Some(&x[2]), ..Default::default() };
            x[0].scaled_dot_product_attention(&x[1], &x[1], &options)
        }),
    ]);
}

/// A scalar function and its gradient's squared norm, differentiated: second derivatives.
#[test]
fn second_derivatives() {
    fn gradient_norm(f: impl Fn(&[Tensor]) -> Result<Tensor>, x: &[Tensor]) -> Result<Tensor> {
        let x: Vec<Tensor> =
            x.iter().map(|x| if x.requires_grad() { x.clone() } else { x.variable().unwrap() }).collect();
        let gradients = grad(&weighted(&f(&x)?)?, &x.iter().collect::<Vec<_>>())?;
        let mut total = Tensor::zeros(&[], DType::F64, &Device::cpu())?;
        for gradient in &gradients {
            total = total.add(&gradient.mul(&numbers(gradient.shape(), 0.5, 1.5, 7))?.sqr()?.sum_all()?)?;
        }
        Ok(total)
    }
    run(vec![
        case!("x^4", [[3], -1, 1], |x| gradient_norm(|x| x[0].pow(4), x)),
        case!("exp", [[3], -1, 1], |x| gradient_norm(|x| x[0].exp(), x)),
        case!("gelu", [[3], -1, 1], |x| gradient_norm(|x| x[0].gelu(), x)),
        case!("matmul", [[2, 2], -1, 1; [2, 2], -1, 1], |x| gradient_norm(|x| x[0].matmul(&x[1])?.tanh(), x)),
        case!("prod", [[3], 0.5, 1], |x| gradient_norm(|x| x[0].prod(&[], false), x)),
        case!("softmax", [[2, 3], -1, 1], |x| gradient_norm(|x| x[0].softmax(1), x)),
        case!("cross_entropy", [[2, 3], -1, 1], |x| {
            gradient_norm(|x| x[0].cross_entropy(&index(&[0, 2], &[2])), x)
        }),
        case!("layer_norm", [[2, 3], -1, 1; [3], 0.5, 1], |x| {
            gradient_norm(|x| x[0].layer_norm(1, Some(&x[1]), None, 1e-3), x)
        }),
        case!("attention", [[1, 2, 3, 2], -1, 1; [1, 1, 3, 2], -1, 1], |x| {
            let options = AttentionOptions { causal: true, ..Default::default() };
            gradient_norm(|x| x[0].scaled_dot_product_attention(&x[1], &x[1], &options)?.sqr(), x)
        }),
    ]);
}

#[test]
fn third_derivative_of_a_power() -> Result<()> {
    let x = Tensor::from_slice(&[1.5f64], &[], &Device::cpu())?.variable()?;
    let mut y = x.pow(5.0)?;
    for _ in 0..3 {
        y = grad(&y, &[&x])?.remove(0);
    }
    assert!((y.item::<f64>()? - 60.0 * 1.5 * 1.5).abs() < 1e-9);
    Ok(())
}

#[test]
fn ties_share_the_gradient_and_relu_is_flat_at_zero() -> Result<()> {
    let device = Device::cpu();
    let gradient = |data: &[f32], f: &dyn Fn(&Tensor) -> Result<Tensor>| -> Result<Vec<f32>> {
        let x = Tensor::from_slice(data, &[data.len()], &device)?.variable()?;
        let gradients = f(&x)?.sum_all()?.backward()?;
        gradients.get(&x).unwrap().to_vec()
    };
    assert_eq!(gradient(&[1.0, 3.0, 3.0], &|x| x.max_all())?, [0.0, 0.5, 0.5]);
    assert_eq!(gradient(&[2.0, 2.0, 5.0], &|x| x.maximum(2.0))?, [0.5, 0.5, 1.0]);
    assert_eq!(gradient(&[-1.0, 0.0, 2.0], &|x| x.relu())?, [0.0, 0.0, 1.0]);
    assert_eq!(gradient(&[-1.0, 0.5, 2.0], &|x| x.clamp(-1.0, 2.0))?, [1.0, 1.0, 1.0]);
    assert_eq!(gradient(&[0.0, 0.0], &|x| x.norm(2.0, &[], false))?, [0.0, 0.0]);
    assert_eq!(gradient(&[0.0, 3.0], &|x| x.pow(2.5))?[0], 0.0);
    assert_eq!(gradient(&[0.0, 2.0, 3.0], &|x| x.prod(&[], false))?, [6.0, 0.0, 0.0]);
    assert_eq!(gradient(&[0.0, 0.0, 3.0], &|x| x.prod(&[], false))?, [0.0, 0.0, 0.0]);
    assert_eq!(gradient(&[0.0], &|x| x.softplus())?, [0.5]);
    for steep in [-200.0, 200.0] {
        for f in [Tensor::sigmoid, Tensor::silu, Tensor::gelu, Tensor::softplus, Tensor::tanh] {
            let slope = gradient(&[steep], &f)?[0];
            assert!(slope.is_finite(), "{steep}: {slope}");
        }
    }
    Ok(())
}

#[test]
fn checkpoint_gives_the_same_gradients() -> Result<()> {
    let device = Device::cpu();
    let x = numbers(&[4, 6], -1.0, 1.0, 0);
    let w = [numbers(&[6, 8], -0.5, 0.5, 1), numbers(&[8, 6], -0.5, 0.5, 2)];
    let run = |recompute: bool, silent: bool| -> Result<Vec<Vec<f64>>> {
        manual_seed(7);
        let x = x.variable()?;
        let w = [w[0].variable()?, w[1].variable()?];
        let layer = |x: &Tensor| -> Result<Tensor> {
            let h = x.layer_norm(1, None, None, 1e-5)?.matmul(&w[0])?.gelu()?.dropout(0.3, true)?;
            let h = h.softmax(-1)?.matmul(&w[1])?;
            x.add(&h)?.add(&h.detach().mul(0.5)?)
        };
        let mut y = x.clone();
        for _ in 0..3 {
            y = if recompute { checkpoint(|| layer(&y))? } else { layer(&y)? };
        }
        let loss = y.sqr()?.mean_all()?;
        let gradients = if silent { no_grad(|| loss.backward())? } else { loss.backward()? };
        [&x, &w[0], &w[1]].iter().map(|t| gradients.get(t).unwrap().to_vec::<f64>()).collect()
    };
    let plain = run(false, false)?;
    assert_eq!(plain, run(true, false)?);
    assert_eq!(plain, run(true, true)?);
    assert_eq!(plain, run(false, true)?);
    let _ = device;
    Ok(())
}

#[test]
fn what_takes_part_and_what_does_not() -> Result<()> {
    let device = Device::cpu();
    let a = Tensor::ones(&[2], DType::F32, &device)?.variable()?;
    let b = Tensor::ones(&[2], DType::F32, &device)?.variable()?;
    let loss = a.mul(2.0)?.add(&b.detach())?.sum_all()?;
    let gradients = loss.backward()?;
    assert!(gradients.get(&a).is_some() && gradients.get(&b).is_none());
    assert_eq!(gradients.iter().count(), 1);
    assert_eq!(gradients.root().id(), loss.id());
    assert_eq!(grad(&loss, &[&b])?[0].to_vec::<f32>()?, [0.0, 0.0]);
    // A variable made of another is a leaf of its own.
    let c = a.exp()?.variable()?;
    let gradients = c.mul(3.0)?.sum_all()?.backward()?;
    assert!(gradients.get(&a).is_none());
    assert_eq!(gradients.get(&c).unwrap().to_vec::<f32>()?, [3.0, 3.0]);
    // Intermediate tensors can be asked for by name.
    let middle = a.exp()?;
    let loss = middle.sqr()?.sum_all()?;
    let slope = grad(&loss, &[&middle])?[0].to_vec::<f32>()?;
    assert!((slope[0] - 2.0 * 1f32.exp()).abs() < 1e-5);
    // Integers on the way carry no gradient; nor does what was made without recording.
    assert!(!a.to_dtype(DType::I64)?.requires_grad());
    assert!(!no_grad(|| a.exp())?.requires_grad());
    // A gradient of the caller's own.
    let seed = Tensor::from_slice(&[1f32, 10.0], &[2], &device)?;
    assert_eq!(a.mul(2.0)?.backward_with(&seed)?.get(&a).unwrap().to_vec::<f32>()?, [2.0, 20.0]);
    Ok(())
}

#[test]
fn a_loss_that_was_evaluated_can_still_be_differentiated() -> Result<()> {
    let x = numbers(&[3], 0.5, 1.0, 0).variable()?;
    let y = x.exp()?;
    let loss = y.sqr()?.sum_all()?;
    let want = loss.backward()?.get(&x).unwrap().to_vec::<f64>()?;
    y.eval()?;
    loss.eval()?;
    assert_eq!(loss.backward()?.get(&x).unwrap().to_vec::<f64>()?, want);
    Ok(())
}
