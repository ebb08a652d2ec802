//! What is timed: the same cases, shapes and names as the PyTorch script that the figures are compared with.

use fornax::nn::{Linear, Module, Visitor};
use fornax::optim::{AdamW, Optimizer};
use fornax::{DType, Device, Result, Tensor, eval, grad};
use fornax_models::{Gpt2, Gpt2Config};

/// A case by name. `prepare` makes its data, which is not timed.
pub struct Case {
    pub name: String,
    pub clock: Clock,
    /// About how many seconds the timed calls may take together.
    pub budget: f64,
    pub prepare: Prepare,
}

/// Whose time is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// From the call to its end.
    Wall,
    /// What a GPU's timestamps say; the wall on the CPU.
    Device,
}

type Prepare = Box<dyn Fn(&Device) -> Result<Prepared>>;

/// What one timed call does.
pub struct Prepared {
    pub call: Box<dyn FnMut() -> Result<()>>,
    /// Bytes that must move.
    pub bytes: Option<f64>,
    /// Operations of its matrix products.
    pub operations: Option<f64>,
    /// The call's time is divided by this many parts.
    pub calls_are: u64,
}

impl Prepared {
    fn new(call: impl FnMut() -> Result<()> + 'static) -> Prepared {
        Prepared { call: Box::new(call), bytes: None, operations: None, calls_are: 1 }
    }

    fn floats(self, moved: usize) -> Prepared {
        Prepared { bytes: Some(4.0 * moved as f64), ..self }
    }

    fn operations(self, operations: f64) -> Prepared {
        Prepared { operations: Some(operations), ..self }
    }
}

fn case(name: &str, prepare: impl Fn(&Device) -> Result<Prepared> + 'static) -> Case {
    Case { name: name.into(), clock: Clock::Device, budget: 1.5, prepare: Box::new(prepare) }
}

/// A case that is timed by the wall's clock on every device.
fn wall(name: &str, prepare: impl Fn(&Device) -> Result<Prepared> + 'static) -> Case {
    Case { clock: Clock::Wall, ..case(name, prepare) }
}

fn randn(shape: &[usize], device: &Device) -> Result<Tensor> {
    randn_of(shape, DType::F32, device)
}

fn randn_of(shape: &[usize], dtype: DType, device: &Device) -> Result<Tensor> {
    let x = Tensor::randn(shape, DType::F32, device)?.to_dtype(dtype)?;
    x.eval()?;
    Ok(x)
}

fn randint(high: usize, shape: &[usize], device: &Device) -> Result<Tensor> {
    let x = Tensor::randint(0, high as i64, shape, DType::I64, device)?;
    x.eval()?;
    Ok(x)
}

const MILLIONS: usize = 1 << 24;
const DISTILGPT2: Gpt2Config = Gpt2Config::new(50257, 128, 6, 768, 12);

/// All cases, in the order in which they run.
pub fn all() -> Vec<Case> {
    vec![
        case("matmul_f32_512", |d| matmul([512; 3], DType::F32, d)),
        case("matmul_f32_1024", |d| matmul([1024; 3], DType::F32, d)),
        case("matmul_f32_2048", |d| matmul([2048; 3], DType::F32, d)),
        case("add_f32_16M", |d| map(3, |x, y| x.add(y), d)),
        // PyTorch writes into a tensor that exists. Fornax has no such form: the pool hands the memory of the last
        // result to the next, so this is the same evaluation as above.
        case("add_out_f32_16M", |d| map(3, |x, y| x.add(y), d)),
        case("sum_f32_16M", |d| map(1, |x, _| x.sum_all(), d)),
        case("gelu_f32_16M", |d| map(2, |x, _| x.gelu(), d)),
        case("chain_f32_16M", |d| map(3, |x, y| x.mul(1.5)?.add(y)?.gelu()?.mul(y)?.add(x), d)),
        case("layer_norm_4096x768", layer_norm),
        case("layer_norm_train_4096x768", layer_norm_train),
        case("softmax_4096x1024", softmax),
        case("cross_entropy_train_512x50257", cross_entropy_train),
        wall("tiny_ops_2000x64", tiny_ops),
        wall("mlp_train_128", mlp_train),
        Case {
            budget: 6.0,
            ..wall("gpt_train_4x256_B8_T128_V256", |d| gpt_train(Gpt2Config::new(256, 128, 4, 256, 4), 8, d))
        },
        Case { budget: 6.0, ..wall("distilgpt2_train_B1_T128", |d| gpt_train(DISTILGPT2, 1, d)) },
        wall("plan_lookup_ns_per_node", plan_lookup),
    ]
}

/// `[m, n, k]`.
fn matmul([m, n, k]: [usize; 3], dtype: DType, device: &Device) -> Result<Prepared> {
    let operand = |shape: &[usize]| randn_of(shape, dtype, device);
    let (x, y) = (operand(&[m, k])?, operand(&[k, n])?);
    let bytes = dtype.size() as f64 * (m * k + k * n + m * n) as f64;
    let operations = 2.0 * (m * n * k) as f64;
    Ok(Prepared { bytes: Some(bytes), ..Prepared::new(move || x.matmul(&y)?.eval()).operations(operations) })
}

/// The three products of a linear layer of `rows` rows: `[rows, k] x [k, n]` and its gradients.
fn layer_matmul(which: &str, [rows, n, k]: [usize; 3], dtype: DType, device: &Device) -> Result<Prepared> {
    let operand = |shape: &[usize]| randn_of(shape, dtype, device);
    let (x, w, g) = (operand(&[rows, k])?, operand(&[k, n])?, operand(&[rows, n])?);
    let call: Box<dyn FnMut() -> Result<()>> = match which {
        "forward" => Box::new(move || x.matmul(&w)?.eval()),
        "input" => Box::new(move || g.matmul(&w.t()?)?.eval()),
        _ => Box::new(move || x.t()?.matmul(&g)?.eval()),
    };
    Ok(Prepared::new(call).operations(2.0 * (rows * n * k) as f64))
}

/// An expression of two vectors that reads and writes `passes` of them; the result is dropped.
fn map(passes: usize, f: fn(&Tensor, &Tensor) -> Result<Tensor>, device: &Device) -> Result<Prepared> {
    long_map(MILLIONS, passes, f, device)
}

fn long_map(
    n: usize,
    passes: usize,
    f: fn(&Tensor, &Tensor) -> Result<Tensor>,
    device: &Device,
) -> Result<Prepared> {
    let (x, y) = (randn(&[n], device)?, randn(&[n], device)?);
    Ok(Prepared::new(move || f(&x, &y)?.eval()).floats(passes * n))
}

/// What only a GPU has the memory and the speed for.
pub fn gpu() -> Vec<Case> {
    const LONG: usize = 1 << 28;
    let mut all = vec![
        case("add_f32_256M", |d| long_map(LONG, 3, |x, y| x.add(y), d)),
        case("gelu_f32_256M", |d| long_map(LONG, 2, |x, _| x.gelu(), d)),
        case("chain_f32_256M", |d| long_map(LONG, 3, |x, y| x.mul(1.5)?.add(y)?.gelu()?.mul(y)?.add(x), d)),
        case("sum_f32_256M", |d| long_map(LONG, 1, |x, _| x.sum_all(), d)),
        case("layer_norm_8192x768", |d| {
            let (x, w, b) = (randn(&[8192, 768], d)?, randn(&[768], d)?, randn(&[768], d)?);
            let numel = x.numel();
            Ok(Prepared::new(move || x.layer_norm(1, Some(&w), Some(&b), 1e-5)?.eval()).floats(2 * numel))
        }),
        case("softmax_4096x4096", |d| {
            let x = randn(&[4096, 4096], d)?;
            Ok(Prepared::new(move || x.softmax(-1)?.eval()).floats(2 << 24))
        }),
        case("cross_entropy_4096x50257", |d| {
            let (x, t) = (randn(&[4096, 50257], d)?, randint(50257, &[4096], d)?);
            Ok(Prepared::new(move || x.cross_entropy(&t)?.eval()).floats(4096 * 50257))
        }),
        case("launches_1000", |d| launches(1000, d)),
        wall("launches_1000_cpu", |d| launches(1000, d)),
    ];
    for dtype in [DType::F32, DType::F16] {
        // The smaller one of f32 is among the cases of all devices.
        for n in if dtype == DType::F32 { vec![4096] } else { vec![2048, 4096] } {
            all.push(case(&format!("matmul_{dtype}_{n}"), move |d| matmul([n; 3], dtype, d)));
        }
        for (n, k) in [(768, 768), (3072, 768), (768, 3072), (50257, 768)] {
            for which in ["forward", "input", "weight"] {
                let name = format!("linear_{which}_{dtype}_512x{n}x{k}");
                all.push(case(&name, move |d| layer_matmul(which, [512, n, k], dtype, d)));
            }
        }
    }
    for batch in [1, 8] {
        let config = Gpt2Config { context: 512, ..DISTILGPT2 };
        all.push(wall(&format!("distilgpt2_train_B{batch}_T512"), move |d| gpt_train(config, batch, d)));
    }
    all.into_iter().map(|case| Case { budget: 0.3, ..case }).collect()
}

/// A chain of dependent tiny kernels in one plan; per launch.
fn launches(count: usize, device: &Device) -> Result<Prepared> {
    let x = randn(&[64], device)?;
    let call = move || {
        let mut u = x.clone();
        for _ in 0..count {
            u = u.add(1.0)?.fence();
        }
        u.eval()
    };
    Ok(Prepared { calls_are: count as u64, ..Prepared::new(call) })
}

fn layer_norm_data(device: &Device) -> Result<[Tensor; 4]> {
    let weight = Tensor::ones(&[768], DType::F32, device)?;
    let bias = Tensor::zeros(&[768], DType::F32, device)?;
    eval(&[&weight, &bias])?;
    let (x, seed) = (randn(&[4096, 768], device)?, randn(&[4096, 768], device)?);
    Ok([x.variable()?, weight.variable()?, bias.variable()?, seed])
}

fn layer_norm(device: &Device) -> Result<Prepared> {
    let [x, weight, bias, _] = layer_norm_data(device)?;
    let numel = x.numel();
    Ok(Prepared::new(move || x.layer_norm(1, Some(&weight), Some(&bias), 1e-5)?.eval()).floats(2 * numel))
}

/// PyTorch computes the output too, so it is asked for here.
fn layer_norm_train(device: &Device) -> Result<Prepared> {
    let [x, weight, bias, seed] = layer_norm_data(device)?;
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

fn softmax(device: &Device) -> Result<Prepared> {
    let x = randn(&[4096, 1024], device)?;
    let numel = x.numel();
    Ok(Prepared::new(move || x.softmax(-1)?.eval()).floats(2 * numel))
}

fn cross_entropy_train(device: &Device) -> Result<Prepared> {
    let logits = randn(&[512, 50257], device)?.variable()?;
    let targets = randint(50257, &[512], device)?;
    let numel = logits.numel();
    let call = move || {
        let loss = logits.cross_entropy(&targets)?;
        let gradients = grad(&loss, &[&logits])?;
        eval(&[&loss, &gradients[0]])
    };
    Ok(Prepared::new(call).floats(2 * numel))
}

fn tiny_ops(device: &Device) -> Result<Prepared> {
    let x = randn(&[64], device)?;
    Ok(Prepared::new(move || {
        let mut u = x.clone();
        for _ in 0..1000 {
            u = u.mul(1.0001)?.add(0.5)?;
        }
        u.eval()
    }))
}

struct Classifier([Linear; 3]);

impl Module for Classifier {
    fn visit(&self, v: &mut Visitor) {
        v.modules("layers", &self.0);
    }
}

fn mlp_train(device: &Device) -> Result<Prepared> {
    let layer = |inputs, outputs| Linear::new(inputs, outputs, device);
    let model = Classifier([layer(784, 512)?, layer(512, 512)?, layer(512, 10)?]);
    let (x, targets) = (randn(&[128, 784], device)?, randint(10, &[128], device)?);
    let mut optimizer = Optimizer::new(AdamW::default(), 1e-3, model.named_parameters())?;
    let call = move || {
        let [first, second, last] = &model.0;
        let hidden = second.forward(&first.forward(&x)?.relu()?)?.relu()?;
        optimizer.step(&last.forward(&hidden)?.cross_entropy(&targets)?.backward()?)
    };
    // Forward, the weights' gradients, and the inputs' gradients of all layers but the first.
    let (all, first) = ((784 * 512 + 512 * 512 + 512 * 10) as f64, (784 * 512) as f64);
    Ok(Prepared::new(call).operations(2.0 * 128.0 * (3.0 * all - first)))
}

fn gpt_train(config: Gpt2Config, batch: usize, device: &Device) -> Result<Prepared> {
    let model = Gpt2::new(config, device)?;
    let drawn = || randint(config.vocabulary, &[batch, config.context], device);
    let (ids, targets) = (drawn()?, drawn()?);
    let mut optimizer = Optimizer::new(AdamW::default(), 1e-3, model.named_parameters())?;
    let call = move || optimizer.step(&model.loss(&ids, &targets)?.backward()?);
    // Three products a weight and token; causal attention counts half its square.
    let [vocabulary, time, layers, width] =
        [config.vocabulary, config.context, config.layers, config.width].map(|n| n as f64);
    let tokens = batch as f64 * time;
    let weights = 12.0 * layers * width * width + vocabulary * width;
    Ok(Prepared::new(call).operations(6.0 * tokens * weights + 6.0 * layers * tokens * time * width))
}

/// Records loss and gradients of a distilgpt2 step and finds their plan, without running it; per node recorded.
fn plan_lookup(device: &Device) -> Result<Prepared> {
    let model = Gpt2::new(DISTILGPT2, device)?;
    let ids = randint(DISTILGPT2.vocabulary, &[1, DISTILGPT2.context], device)?;
    let call = move || -> Result<()> {
        let loss = model.loss(&ids, &ids)?;
        let gradients = loss.backward()?;
        let mut targets = vec![&loss];
        targets.extend(gradients.iter().map(|(_, gradient)| gradient));
        fornax::realize::plan(&targets).map(|_| ())
    };
    // Every tensor has the next number, so two of them tell how many nodes were made between.
    let number = || Tensor::zeros(&[], DType::F32, device).map(|tensor| tensor.id());
    let before = number()?;
    call()?;
    let nodes = number()? - before;
    Ok(Prepared { calls_are: nodes, ..Prepared::new(call) })
}
