//! Maps, reductions, norms, losses, embedding and attention.

use super::{Case, Prepared, Roof, case, randint, randn, randn_of};
use fornax::{AttentionOptions, DType, Device, Result, Tensor, eval, grad};

const MILLIONS: usize = 1 << 24;
const VOCABULARY: usize = 50257;

pub fn all() -> Vec<Case> {
    vec![
        case("add_f32_16M", |d| map(MILLIONS, 3, |x, y| x.add(y), d)),
        // PyTorch writes into a tensor that exists. Fornax has no such form: the pool hands the memory of the last
        // result to the next, so this is the same evaluation as above.
        case("add_out_f32_16M", |d| map(MILLIONS, 3, |x, y| x.add(y), d)),
        case("sum_f32_16M", |d| sum(MILLIONS, d)),
        case("gelu_f32_16M", |d| map(MILLIONS, 2, |x, _| x.gelu(), d)),
        case("chain_f32_16M", |d| map(MILLIONS, 3, chain, d)),
        case("sum_rows_8192x4096", |d| reduction(|x| x.sum(&[1], false), d)),
        case("sum_columns_8192x4096", |d| reduction(|x| x.sum(&[0], false), d)),
        case("argmax_8192x4096", |d| reduction(|x| x.argmax(Some(1), false), d)),
        case("layer_norm_4096x768", |d| layer_norm(4096, d)),
        case("layer_norm_train_4096x768", layer_norm_train),
        // Beyond the caches of any device.
        case("layer_norm_32768x768", |d| layer_norm(32768, d)),
        case("softmax_4096x1024", |d| softmax([4096, 1024], d)),
        case("softmax_8192x4096", |d| softmax([8192, 4096], d)),
        case("cross_entropy_512x50257", |d| cross_entropy(512, d)),
        case("cross_entropy_train_512x50257", cross_entropy_train),
        case("attention_f32_4x12x1024x64", |d| attention(DType::F32, d)),
        case("attention_train_f32_4x12x1024x64", attention_train),
        case("embedding_16384x768_of_50257", embedding),
        case("embedding_train_4096x768_of_50257", embedding_train),
    ]
}

pub fn gpu() -> Vec<Case> {
    const LONG: usize = 1 << 28;
    vec![
        case("add_f32_256M", |d| map(LONG, 3, |x, y| x.add(y), d)),
        case("gelu_f32_256M", |d| map(LONG, 2, |x, _| x.gelu(), d)),
        case("chain_f32_256M", |d| map(LONG, 3, chain, d)),
        case("sum_f32_256M", |d| sum(LONG, d)),
        case("layer_norm_8192x768", |d| layer_norm(8192, d)),
        case("softmax_4096x4096", |d| softmax([4096, 4096], d)),
        case("cross_entropy_4096x50257", |d| cross_entropy(4096, d)),
        case("attention_f16_4x12x1024x64", |d| attention(DType::F16, d)),
    ]
}

fn chain(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    x.mul(1.5)?.add(y)?.gelu()?.mul(y)?.add(x)
}

/// An expression of two vectors that reads and writes `passes` of them; the result is dropped.
fn map(n: usize, passes: usize, f: fn(&Tensor, &Tensor) -> Result<Tensor>, d: &Device) -> Result<Prepared> {
    let (x, y) = (randn(&[n], d)?, randn(&[n], d)?);
    Ok(Prepared::new(move || f(&x, &y)?.eval()).floats(passes * n))
}

fn sum(n: usize, device: &Device) -> Result<Prepared> {
    let x = randn(&[n], device)?;
    Ok(Prepared::new(move || x.sum_all()?.eval()).floats(n))
}

fn reduction(f: fn(&Tensor) -> Result<Tensor>, device: &Device) -> Result<Prepared> {
    let x = randn(&[8192, 4096], device)?;
    let numel = x.numel();
    Ok(Prepared::new(move || f(&x)?.eval()).floats(numel))
}

fn layer_norm_data(rows: usize, device: &Device) -> Result<[Tensor; 4]> {
    let weight = Tensor::ones(&[768], DType::F32, device)?;
    let bias = Tensor::zeros(&[768], DType::F32, device)?;
    eval(&[&weight, &bias])?;
    let (x, seed) = (randn(&[rows, 768], device)?, randn(&[rows, 768], device)?);
    Ok([x.variable()?, weight.variable()?, bias.variable()?, seed])
}

fn layer_norm(rows: usize, device: &Device) -> Result<Prepared> {
    let [x, weight, bias, _] = layer_norm_data(rows, device)?;
    let numel = x.numel();
    Ok(Prepared::new(move || x.layer_norm(1, Some(&weight), Some(&bias), 1e-5)?.eval()).floats(2 * numel))
}

/// PyTorch computes the output too, so it is asked for here.
fn layer_norm_train(device: &Device) -> Result<Prepared> {
    let [x, weight, bias, seed] = layer_norm_data(4096, device)?;
    let numel = x.numel();
    let call = move || {
        let y = x.layer_norm(1, Some(&weight), Some(&bias), 1e-5)?;
        let gradients = y.backward_with(&seed)?;
        let mut wanted = vec![&y];
        wanted.extend([&x, &weight, &bias].into_iter().filter_map(|leaf| gradients.get(leaf)));
        eval(&wanted)
    };
    Ok(Prepared::new(call).floats(4 * numel))
}

fn softmax(shape: [usize; 2], device: &Device) -> Result<Prepared> {
    let x = randn(&shape, device)?;
    let numel = x.numel();
    Ok(Prepared::new(move || x.softmax(-1)?.eval()).floats(2 * numel))
}

fn cross_entropy(rows: usize, device: &Device) -> Result<Prepared> {
    let (x, t) = (randn(&[rows, VOCABULARY], device)?, randint(VOCABULARY, &[rows], device)?);
    let numel = x.numel();
    Ok(Prepared::new(move || x.cross_entropy(&t)?.eval()).floats(numel))
}

fn cross_entropy_train(device: &Device) -> Result<Prepared> {
    let logits = randn(&[512, VOCABULARY], device)?.variable()?;
    let targets = randint(VOCABULARY, &[512], device)?;
    let numel = logits.numel();
    let call = move || {
        let loss = logits.cross_entropy(&targets)?;
        let gradients = grad(&loss, &[&logits])?;
        eval(&[&loss, &gradients[0]])
    };
    Ok(Prepared::new(call).floats(2 * numel))
}

/// Batch, heads, positions and width of a head.
const HEADS: [usize; 4] = [4, 12, 1024, 64];
/// Operations of a product of queries and keys of which half are seen.
const SCORES: f64 = (HEADS[0] * HEADS[1] * HEADS[2] * HEADS[2] * HEADS[3]) as f64;

fn attention(dtype: DType, device: &Device) -> Result<Prepared> {
    let operand = || randn_of(&HEADS, dtype, device);
    let (q, k, v) = (operand()?, operand()?, operand()?);
    let options = || AttentionOptions { causal: true, ..Default::default() };
    let roof = if dtype == DType::F16 { Roof::F16 } else { Roof::F32 };
    let call = Prepared::new(move || q.scaled_dot_product_attention(&k, &v, &options())?.eval());
    Ok(call.needs(roof, 2.0 * SCORES))
}

fn attention_train(device: &Device) -> Result<Prepared> {
    let operand = || randn(&HEADS, device)?.variable();
    let (q, k, v, seed) = (operand()?, operand()?, operand()?, randn(&HEADS, device)?);
    let call = move || {
        let options = AttentionOptions { causal: true, ..Default::default() };
        let y = q.scaled_dot_product_attention(&k, &v, &options)?;
        let gradients = y.backward_with(&seed)?;
        let mut wanted = vec![&y];
        wanted.extend([&q, &k, &v].into_iter().filter_map(|leaf| gradients.get(leaf)));
        eval(&wanted)
    };
    // Two products forward; backward the scores again, and four more.
    Ok(Prepared::new(call).operations(7.0 * SCORES))
}

fn embedding(device: &Device) -> Result<Prepared> {
    let (weight, ids) = (randn(&[VOCABULARY, 768], device)?, randint(VOCABULARY, &[16384], device)?);
    Ok(Prepared::new(move || Tensor::embedding(&weight, &ids)?.eval()).floats(2 * 16384 * 768))
}

/// The gradient of the table: zeros, and rows added to it.
fn embedding_train(device: &Device) -> Result<Prepared> {
    let weight = randn(&[VOCABULARY, 768], device)?.variable()?;
    let (ids, seed) = (randint(VOCABULARY, &[4096], device)?, randn(&[4096, 768], device)?);
    let call = move || {
        let gradients = Tensor::embedding(&weight, &ids)?.backward_with(&seed)?;
        gradients.get(&weight).map_or(Ok(()), |gradient| gradient.eval())
    };
    Ok(Prepared::new(call).floats((VOCABULARY + 4096) * 768))
}
