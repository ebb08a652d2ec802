//! Fornax against PyTorch: layers, functions, optimizers and a small transformer, forward and backward. The
//! numbers come from fixtures/make_fixtures.py; PyTorch itself is not needed.

mod on;

use fornax::io::safetensors;
use fornax::nn::{
    Embedding, LayerNorm, Linear, Mlp, Module, MultiHeadAttention, Parameter, RmsNorm, TransformerBlock,
    Visitor,
};
use fornax::optim::{Adam, AdamW, Group, Lion, Optimizer, Rule, Schedule, Sgd, Warmup, clip_grad_norm};
use fornax::{AttentionOptions, CrossEntropy, DType, Reduction, Result, Tensor, eval};
use std::collections::BTreeMap;

/// The tensors of one fixture file.
struct Fixture(BTreeMap<String, Tensor>);

impl Fixture {
    fn open(name: &str) -> Fixture {
        let path = format!("{}/tests/fixtures/{name}.safetensors", env!("CARGO_MANIFEST_DIR"));
        Fixture(safetensors::load(path, &on::device()).unwrap())
    }

    fn get(&self, name: &str) -> &Tensor {
        self.0.get(name).unwrap_or_else(|| panic!("the fixture has no {name:?}"))
    }

    /// Sets a module's parameters from "prefix.PATH"; names must agree exactly.
    fn fill(&self, prefix: &str, module: &dyn Module) {
        let theirs = self.0.keys().filter_map(|name| name.strip_prefix(prefix)).collect::<Vec<_>>();
        let mut ours = module.named_parameters();
        ours.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(ours.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), theirs, "{prefix}");
        for (name, parameter) in ours {
            parameter.set(self.get(&format!("{prefix}{name}"))).unwrap();
        }
    }

    /// Compares the output of `f` on the case's float inputs, and the gradients of inputs and parameters.
    fn check(
        &self,
        case: &str,
        inputs: &[&str],
        parameters: Vec<(String, Parameter)>,
        f: impl Fn(&[Tensor]) -> Result<Tensor>,
    ) {
        let mut wanted: Vec<(String, Tensor)> = vec![];
        let mut values = vec![];
        for name in inputs {
            let value = self.get(&format!("{case}.in.{name}"));
            let value = if value.dtype().is_float() { value.variable().unwrap() } else { value.clone() };
            if value.requires_grad() {
                wanted.push((format!("{case}.grad.in.{name}"), value.clone()));
            }
            values.push(value);
        }
        for (name, parameter) in parameters {
            wanted.push((format!("{case}.grad.param.{name}"), parameter.tensor()));
        }
        let out = f(&values).unwrap_or_else(|error| panic!("{case}: {error}"));
        let loss = out.mul(self.get(&format!("{case}.seed"))).unwrap().sum_all().unwrap();
        let gradients = loss.backward().unwrap();
        let mut pairs = vec![(format!("{case}.out"), out)];
        for (name, leaf) in wanted {
            let gradient = gradients.get(&leaf).unwrap_or_else(|| panic!("{name}: no gradient")).clone();
            pairs.push((name, gradient));
        }
        eval(&pairs.iter().map(|(_, tensor)| tensor).collect::<Vec<_>>()).unwrap();
        for (name, tensor) in &pairs {
            close(name, tensor, self.get(name), 1e-5);
        }
    }

    fn module(&self, case: &str, module: &dyn Module, f: impl Fn(&Tensor) -> Result<Tensor>) {
        self.fill(&format!("{case}.param."), module);
        self.check(case, &["x"], module.named_parameters(), |x| f(&x[0]));
    }
}

/// Asserts that two f32 tensors agree to `tolerance`, relative to the largest element where that is over 1.
fn close(name: &str, got: &Tensor, want: &Tensor, tolerance: f32) {
    assert_eq!(got.shape(), want.shape(), "{name}");
    let (got, want) = (got.to_vec::<f32>().unwrap(), want.to_vec::<f32>().unwrap());
    let size = want.iter().fold(1f32, |most, v| most.max(v.abs()));
    for (i, (g, w)) in got.iter().zip(&want).enumerate() {
        assert!((g - w).abs() <= tolerance * size, "{name}[{i}]: {g}, PyTorch has {w}");
    }
}

#[test]
fn layers() -> Result<()> {
    let (fixture, device) = (Fixture::open("layers"), on::device());
    let layer = Linear::new(5, 7, &device)?;
    fixture.module("linear", &layer, |x| layer.forward(x));
    let layer = Linear::without_bias(6, 3, &device)?;
    fixture.module("linear_no_bias", &layer, |x| layer.forward(x));
    let layer = Embedding::new(11, 4, &device)?;
    fixture.module("embedding", &layer, |ids| layer.forward(ids));
    let layer = LayerNorm::new(33, &device)?;
    fixture.module("layer_norm", &layer, |x| layer.forward(x));
    let layer = RmsNorm::new(33, &device)?;
    fixture.module("rms_norm", &layer, |x| layer.forward(x));
    let layer = Mlp::new(6, 24, &device)?;
    fixture.module("mlp", &layer, |x| layer.forward(x));
    let layer = TransformerBlock::new(12, 2, true, &device)?;
    fixture.module("block", &layer, |x| layer.forward(x));
    Ok(())
}

#[test]
fn attention_layers() -> Result<()> {
    let (fixture, device) = (Fixture::open("layers"), on::device());
    let layer = MultiHeadAttention::new(12, 3, false, &device)?;
    fixture.module("attention", &layer, |x| layer.forward(x));
    let mask = fixture.get("attention_masked.in.mask");
    fixture.module("attention_masked", &layer, |x| layer.forward_masked(x, Some(mask)));
    let layer = MultiHeadAttention::new(12, 3, true, &device)?;
    fixture.module("attention_causal", &layer, |x| layer.forward(x));
    let layer = MultiHeadAttention::grouped(16, 4, 2, true, &device)?;
    fixture.module("attention_grouped", &layer, |x| layer.forward(x));
    Ok(())
}

#[test]
fn attention_functions() {
    let fixture = Fixture::open("functions");
    let attention = |case: &str, causal: bool, scale: Option<f64>, mask: Option<&Tensor>| {
        fixture.check(case, &["q", "k", "v"], vec![], |qkv| {
            let options = AttentionOptions { causal, scale, mask };
            qkv[0].scaled_dot_product_attention(&qkv[1], &qkv[2], &options)
        });
    };
    attention("sdpa", false, None, None);
    attention("sdpa_causal", true, None, None);
    attention("sdpa_scale", false, Some(0.3), None);
    attention("sdpa_bias", false, None, Some(fixture.get("sdpa_bias.mask")));
    attention("sdpa_bool", false, None, Some(fixture.get("sdpa_bool.mask")));
    attention("sdpa_grouped", true, None, None);
}

#[test]
fn cross_entropy() {
    let fixture = Fixture::open("functions");
    let case = |name: &str, ignore: bool, label_smoothing: f64, reduction: Reduction| {
        let case = format!("cross_entropy_{name}");
        let target = fixture.get(&format!("{case}.target"));
        fixture.check(&case, &["z"], vec![], |z| {
            let ignore_index = ignore.then_some(-100);
            z[0].cross_entropy_with(target, CrossEntropy { ignore_index, label_smoothing, reduction })
        });
    };
    case("mean", false, 0.0, Reduction::Mean);
    case("sum", false, 0.0, Reduction::Sum);
    case("none", false, 0.0, Reduction::None);
    case("ignore", true, 0.0, Reduction::Mean);
    case("ignore_none", true, 0.0, Reduction::None);
    case("smooth", false, 0.1, Reduction::Mean);
    case("smooth_ignore", true, 0.2, Reduction::Mean);
    case("smooth_ignore_sum", true, 0.2, Reduction::Sum);
    let target = fixture.get("cross_entropy_mean.target");
    fixture.check("cross_entropy_mean", &["z"], vec![], |z| z[0].cross_entropy(target));
}

#[test]
fn functions() {
    let fixture = Fixture::open("functions");
    let one =
        |case: &str, f: fn(&Tensor) -> Result<Tensor>| fixture.check(case, &["x"], vec![], |x| f(&x[0]));
    one("gelu", |x| x.gelu());
    one("gelu_erf", |x| x.gelu_erf());
    one("silu", |x| x.silu());
    one("softplus", |x| x.softplus());
    one("softmax", |x| x.softmax(0));
    one("log_softmax", |x| x.log_softmax(1));
    one("std", |x| x.std(&[1], 1, false));
    one("logsumexp", |x| x.logsumexp(&[0, 1], false));
    one("cumsum", |x| x.cumsum(0));
    fixture.check("mse", &["x", "y"], vec![], |v| v[0].mse_loss(&v[1]));
    fixture.check("group_norm", &["x", "weight", "bias"], vec![], |v| {
        v[0].group_norm(3, Some(&v[1]), Some(&v[2]), 1e-5)
    });
}

/// The three parameters of the optimizer fixture, and a loss whose gradients are those of step t.
fn start(fixture: &Fixture) -> Result<Vec<(String, Parameter)>> {
    (0..3).map(|i| Ok((i.to_string(), Parameter::new(fixture.get(&format!("start.{i}")))?))).collect()
}

fn loss(fixture: &Fixture, parameters: &[(String, Parameter)], t: usize) -> Result<Tensor> {
    let mut terms = vec![];
    for (i, (_, parameter)) in parameters.iter().enumerate() {
        let gradient = fixture.get(&format!("grads.{i}")).select(0, t as isize)?;
        terms.push(parameter.tensor().mul(&gradient)?.sum_all()?);
    }
    terms[0].add(&terms[1])?.add(&terms[2])
}

fn ten_steps<R: Rule>(
    case: &str,
    groups: impl Fn(Vec<(String, Parameter)>) -> Vec<Group>,
    rule: R,
) -> Result<()> {
    let fixture = Fixture::open("optimizers");
    let parameters = start(&fixture)?;
    let mut optimizer = Optimizer::with_groups(rule, 0.0, groups(parameters.clone()))?;
    for t in 0..10 {
        optimizer.set_lr(1e-2 * (1.0 + t as f64 / 10.0))?;
        optimizer.step(&loss(&fixture, &parameters, t)?.backward()?)?;
        for (name, parameter) in &parameters {
            let want = fixture.get(&format!("{case}.{name}")).select(0, t as isize)?;
            close(&format!("{case}.{name} after step {t}"), &parameter.tensor(), &want, 2e-6);
        }
    }
    Ok(())
}

#[test]
fn optimizers() -> Result<()> {
    let one = |parameters| vec![Group::new(parameters)];
    ten_steps("sgd", one, Sgd::default())?;
    ten_steps("sgd_momentum", one, Sgd { momentum: 0.9, weight_decay: 0.01, ..Sgd::default() })?;
    ten_steps("sgd_dampening", one, Sgd { momentum: 0.9, dampening: 0.5, ..Sgd::default() })?;
    let nesterov = Sgd { momentum: 0.8, nesterov: true, weight_decay: 0.1, ..Sgd::default() };
    ten_steps("sgd_nesterov", one, nesterov)?;
    ten_steps("adam", one, Adam { weight_decay: 0.05, ..Adam::default() })?;
    ten_steps("adamw", one, AdamW::default())?;
    ten_steps("lion", one, Lion { weight_decay: 0.1, ..Lion::default() })?;
    let two = |mut parameters: Vec<(String, Parameter)>| {
        let rest = parameters.split_off(1);
        vec![Group::new(parameters).weight_decay(0.3), Group::new(rest).weight_decay(0.0).lr_factor(0.1)]
    };
    ten_steps("adamw_groups", two, AdamW { betas: (0.8, 0.95), eps: 1e-6, ..AdamW::default() })
}

#[test]
fn clipping() -> Result<()> {
    let fixture = Fixture::open("optimizers");
    let named = start(&fixture)?;
    let parameters: Vec<Parameter> = named.iter().map(|(_, parameter)| parameter.clone()).collect();
    for limit in [1, 100] {
        let gradients = loss(&fixture, &named, 0)?.backward()?;
        let (clipped, norm) = clip_grad_norm(&gradients, &parameters, limit as f64)?;
        close("norm", &norm, fixture.get(&format!("clip_{limit}.norm")), 1e-5);
        for (i, parameter) in parameters.iter().enumerate() {
            let name = format!("clip_{limit}.{i}");
            close(&name, clipped.get(&parameter.tensor()).unwrap(), fixture.get(&name), 1e-6);
        }
    }
    Ok(())
}

/// Two blocks between an embedding and the same embedding again.
struct Gpt {
    wte: Embedding,
    wpe: Embedding,
    h: Vec<TransformerBlock>,
    ln_f: LayerNorm,
}

impl Gpt {
    fn forward(&self, ids: &Tensor) -> Result<Tensor> {
        let positions = self.wpe.weight.tensor().narrow(0, 0, ids.shape()[1])?;
        let mut x = self.wte.forward(ids)?.add(&positions)?;
        for block in &self.h {
            x = block.forward(&x)?;
        }
        self.ln_f.forward(&x)?.matmul(&self.wte.weight.tensor().t()?)
    }
}

impl Module for Gpt {
    fn visit(&self, v: &mut Visitor) {
        v.module("wte", &self.wte);
        v.module("wpe", &self.wpe);
        v.modules("h", &self.h);
        v.module("ln_f", &self.ln_f);
    }
}

#[test]
fn transformer_trains_as_in_pytorch() -> Result<()> {
    let (fixture, device) = (Fixture::open("transformer"), on::device());
    let model = Gpt {
        wte: Embedding::new(29, 32, &device)?,
        wpe: Embedding::new(12, 32, &device)?,
        h: (0..2).map(|_| TransformerBlock::new(32, 4, true, &device)).collect::<Result<_>>()?,
        ln_f: LayerNorm::new(32, &device)?,
    };
    fixture.fill("param.", &model);
    let ids = fixture.get("ids");
    let time = ids.shape()[1];
    close("logits", &model.forward(ids)?, fixture.get("logits"), 1e-5);
    let schedule = Warmup { lr: 3e-3, warmup: 5 };
    let mut optimizer = Optimizer::new(AdamW::default(), schedule.lr(0), model.named_parameters())?;
    for (step, want) in fixture.get("losses").to_vec::<f64>()?.into_iter().enumerate() {
        optimizer.set_lr(schedule.lr(step as u64))?;
        let logits = model.forward(ids)?.narrow(1, 0, time - 1)?;
        let loss = logits.cross_entropy(&ids.narrow(1, 1, time - 1)?)?;
        optimizer.step(&loss.backward()?)?;
        let got = loss.item::<f32>()? as f64;
        assert!((got - want).abs() <= 1e-5 * want, "step {step}: the loss is {got}, PyTorch has {want}");
    }
    assert_eq!(model.named_parameters()[2].0, "h.0.ln_1.weight");
    assert_eq!(model.parameters()[0].dtype(), DType::F32);
    Ok(())
}
