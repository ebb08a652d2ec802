//! Modules and optimizers: paths, switches, first values, resuming, loss scaling, wrong use.

mod on;

use fornax::nn::{
    Dropout, Embedding, Linear, Module, MultiHeadAttention, Parameter, TransformerBlock, Visitor,
};
use fornax::optim::{
    Adam, AdamW, GradScaler, Group, Lion, Moment, Optimizer, Rule, Sgd, clip_grad_norm, clip_grad_value,
};
use fornax::{DType, Error, Result, Tensor, manual_seed};
use std::cell::Cell;

struct Tied {
    first: Linear,
    dropout: Dropout,
    last: Linear,
}

impl Tied {
    fn new() -> Result<Tied> {
        let device = on::device();
        let first = Linear::new(4, 4, &device)?;
        let last = Linear { weight: first.weight.clone(), bias: None };
        Ok(Tied { first, dropout: Dropout::new(0.5)?, last })
    }

    fn loss(&self, x: &Tensor) -> Result<Tensor> {
        let hidden = self.dropout.forward(&self.first.forward(x)?.tanh()?)?;
        self.last.forward(&hidden)?.sub(1.0)?.sqr()?.mean_all()
    }
}

impl Module for Tied {
    fn visit(&self, v: &mut Visitor) {
        v.module("first", &self.first);
        v.module("dropout", &self.dropout);
        v.module("last", &self.last);
    }
}

fn input() -> Result<Tensor> {
    let x = Tensor::randn(&[8, 4], DType::F32, &on::device())?;
    x.eval()?;
    Ok(x)
}

#[test]
fn paths_switches_and_shared_parameters() -> Result<()> {
    let model = Tied::new()?;
    let names: Vec<String> = model.named_parameters().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["first.weight", "first.bias"]);
    assert_eq!(model.parameter_count(), 20);
    let block = TransformerBlock::new(8, 2, true, &on::device())?;
    let names: Vec<String> = block.named_parameters().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names[4], "attn.c_proj.weight");

    let x = Tensor::ones(&[1000], DType::F32, &on::device())?;
    let zeros = |y: Tensor| -> Result<usize> { Ok(y.to_vec::<f32>()?.iter().filter(|&&v| v == 0.0).count()) };
    assert!((400..600).contains(&zeros(model.dropout.forward(&x)?)?));
    model.train(false);
    assert_eq!(zeros(model.dropout.forward(&x)?)?, 0);
    model.train(true);
    assert!(zeros(model.dropout.forward(&x)?)? > 0);
    Ok(())
}

#[test]
fn a_shared_parameter_gets_one_gradient_and_one_update() -> Result<()> {
    manual_seed(2);
    let (model, x) = (Tied::new()?, input()?);
    model.train(false);
    let mut optimizer = Optimizer::new(AdamW::default(), 0.02, model.named_parameters())?;
    let mut losses = vec![];
    for _ in 0..30 {
        let loss = model.loss(&x)?;
        let gradients = loss.backward()?;
        assert_eq!(gradients.iter().count(), 2);
        optimizer.step(&gradients)?;
        losses.push(loss.item::<f32>()?);
    }
    assert!(losses[29] < 0.7 * losses[0], "{losses:?}");
    assert!(model.first.weight.is(&model.last.weight));
    Ok(())
}

#[test]
fn first_values_are_those_of_pytorch_in_distribution() -> Result<()> {
    manual_seed(3);
    let linear = Linear::new(64, 100, &on::device())?;
    for parameter in linear.parameters() {
        let values = parameter.tensor().to_vec::<f32>()?;
        let most = values.iter().fold(0f32, |most, v| most.max(v.abs()));
        assert!(most <= 0.125 && most > 0.11, "{most}");
    }
    let embedding = Embedding::new(100, 64, &on::device())?.weight.tensor().to_vec::<f32>()?;
    let (n, sum) = (embedding.len() as f32, embedding.iter().sum::<f32>());
    let variance = embedding.iter().map(|v| v * v).sum::<f32>() / n;
    assert!((sum / n).abs() < 0.05 && (variance - 1.0).abs() < 0.05, "{sum} {variance}");
    Ok(())
}

/// Three steps, state to a file, three more; the same as six.
fn resumes<R: Rule + Copy>(rule: R) -> Result<()> {
    let values = |model: &Linear| model.weight.tensor().to_vec::<f32>();
    manual_seed(5);
    let (model, x) = (Linear::new(4, 2, &on::device())?, input()?);
    let train = |model: &Linear, optimizer: &mut Optimizer<R>, steps: usize| -> Result<()> {
        for _ in 0..steps {
            optimizer.step(&model.forward(&x)?.sub(1.0)?.sqr()?.mean_all()?.backward()?)?;
        }
        Ok(())
    };
    let mut optimizer = Optimizer::new(rule, 0.05, model.named_parameters())?;
    train(&model, &mut optimizer, 3)?;
    let path = std::env::temp_dir().join(format!("fornax-test-{}-resume.safetensors", std::process::id()));
    fornax::io::safetensors::save(&path, &optimizer.state()?)?;
    let state = fornax::io::safetensors::load(&path, &on::device())?;
    std::fs::remove_file(&path).unwrap();

    let again = Linear::new(4, 2, &on::device())?;
    for (new, old) in again.parameters().iter().zip(model.parameters()) {
        new.set(&Tensor::from_bytes(&old.tensor().to_bytes()?, &old.shape(), DType::F32, &on::device())?)?;
    }
    let mut resumed = Optimizer::new(rule, 0.05, again.named_parameters())?;
    resumed.load_state(&state)?;
    train(&model, &mut optimizer, 3)?;
    train(&again, &mut resumed, 3)?;
    assert_eq!(values(&model)?, values(&again)?);

    let mut extra = state.clone();
    extra.insert("other.step".into(), state["weight.step"].clone());
    assert!(matches!(resumed.load_state(&extra), Err(Error::Parameter { name, .. }) if name == "other.step"));
    let mut short = state;
    short.remove("bias.step");
    assert!(matches!(resumed.load_state(&short), Err(Error::Parameter { name, .. }) if name == "bias.step"));
    Ok(())
}

#[test]
fn optimizer_state_resumes() -> Result<()> {
    resumes(AdamW::default())?;
    resumes(Adam::default())?;
    resumes(Lion::default())?;
    resumes(Sgd { momentum: 0.9, dampening: 0.1, ..Sgd::default() })
}

#[test]
fn scaled_steps_equal_plain_ones_and_overflow_is_skipped() -> Result<()> {
    manual_seed(11);
    let device = on::device();
    let (plain, scaled, x) = (Linear::new(4, 2, &device)?, Linear::new(4, 2, &device)?, input()?);
    for (new, old) in scaled.parameters().iter().zip(plain.parameters()) {
        new.set(&Tensor::from_bytes(&old.tensor().to_bytes()?, &old.shape(), DType::F32, &device)?)?;
    }
    let mut plain_optimizer = Optimizer::new(AdamW::default(), 0.01, plain.named_parameters())?;
    let mut optimizer = Optimizer::new(AdamW::default(), 0.01, scaled.named_parameters())?;
    let mut scaler = GradScaler::with_scale(1024.0, &device)?;
    scaler.growth_interval = 3;
    let loss = |model: &Linear, x: &Tensor| model.forward(x)?.sub(1.0)?.sqr()?.mean_all();
    let huge = x.mul(f32::INFINITY)?;
    let mut scales = vec![];
    for step in 0..6 {
        // Steps 0 and 3 overflow: they change nothing, and do not count in the bias correction either.
        let bad = step % 3 == 0;
        let data = if bad { &huge } else { &x };
        let scaled_loss = loss(&scaled, data)?;
        let (gradients, overflow) = scaler.unscale(&scaler.scale(&scaled_loss)?.backward()?)?;
        scaler.step(&mut optimizer, &gradients, &overflow, &[&scaled_loss])?;
        assert_eq!(overflow.item::<bool>()?, bad);
        scales.push(scaler.current().item::<f32>()?);
        if !bad {
            plain_optimizer.step(&loss(&plain, &x)?.backward()?)?;
        }
        let (a, b) = (plain.weight.tensor().to_vec::<f32>()?, scaled.weight.tensor().to_vec::<f32>()?);
        assert_eq!(a, b, "step {step}");
    }
    assert_eq!(scales, [512.0, 512.0, 512.0, 256.0, 256.0, 256.0]);
    for _ in 0..2 {
        let (gradients, overflow) = scaler.unscale(&scaler.scale(&loss(&scaled, &x)?)?.backward()?)?;
        scaler.step(&mut optimizer, &gradients, &overflow, &[])?;
        scales.push(scaler.current().item::<f32>()?);
    }
    assert_eq!(scales[6..], [512.0, 512.0]);
    Ok(())
}

/// Descent whose steps become shorter at the third.
struct Late;

impl Rule for Late {
    fn states(&self) -> &[&'static str] {
        &[]
    }
    fn numbers(&self, at: Moment) -> Vec<f64> {
        vec![if at.step < 3 { at.lr } else { at.lr / 4.0 }]
    }
    fn update(&self, p: &Tensor, g: &Tensor, _: &[Tensor], n: &[Tensor]) -> Result<(Tensor, Vec<Tensor>)> {
        Ok((p.sub(&g.mul(&n[0])?)?, vec![]))
    }
}

#[test]
fn numbers_that_change_late_go_by_the_steps_that_counted() -> Result<()> {
    let device = on::device();
    let parameter = Parameter::new(&Tensor::zeros(&[2], DType::F32, &device)?)?;
    let mut optimizer = Optimizer::new(Late, 1.0, vec![("p".into(), parameter.clone())])?;
    let mut scaler = GradScaler::with_scale(2.0, &device)?;
    let (one, infinite) = (Tensor::ones(&[2], DType::F32, &device)?, f32::INFINITY);
    let mut expected = 0.0;
    for (bad, step) in
        [(false, 1.0), (true, 0.0), (false, 1.0), (true, 0.0), (true, 0.0), (false, 0.25), (false, 0.25)]
    {
        let x = if bad { one.mul(infinite)? } else { one.clone() };
        let loss = parameter.tensor().mul(&x)?.sum_all()?;
        let (gradients, overflow) = scaler.unscale(&scaler.scale(&loss)?.backward()?)?;
        scaler.step(&mut optimizer, &gradients, &overflow, &[])?;
        expected -= step;
        assert_eq!(parameter.tensor().to_vec::<f32>()?, [expected; 2]);
    }
    Ok(())
}

#[test]
fn a_learning_rate_of_zero_is_the_same_plan() -> Result<()> {
    let device = on::fresh();
    let model = Linear::new(4, 2, &device)?;
    let x = Tensor::ones(&[3, 4], DType::F32, &device)?;
    let mut optimizer = Optimizer::new(AdamW::default(), 0.1, model.named_parameters())?;
    let mut scaler = GradScaler::new(&device)?;
    for (step, lr) in [0.1, 0.05, 0.02, 0.0, 0.01, 0.0].into_iter().enumerate() {
        optimizer.set_lr(lr)?;
        device.reset_stats();
        let loss = model.forward(&x)?.sqr()?.mean_all()?;
        let (gradients, overflow) = scaler.unscale(&scaler.scale(&loss)?.backward()?)?;
        scaler.step(&mut optimizer, &gradients, &overflow, &[&loss])?;
        assert!(step < 2 || device.stats().plans_built == 0, "step {step} built a plan");
    }
    Ok(())
}

#[test]
fn narrow_parameters_have_wide_state() -> Result<()> {
    let device = on::device();
    let parameter = Parameter::new(&Tensor::ones(&[3], DType::BF16, &device)?)?;
    let mut optimizer = Optimizer::new(Adam::default(), 0.25, vec![("p".into(), parameter.clone())])?;
    for _ in 0..2 {
        optimizer.step(&parameter.tensor().to_dtype(DType::F32)?.sum_all()?.backward()?)?;
    }
    assert_eq!(parameter.dtype(), DType::BF16);
    assert_eq!(parameter.tensor().to_dtype(DType::F32)?.to_vec::<f32>()?, [0.5; 3]);
    assert!(optimizer.state()?.iter().all(|(name, state)| name == "p.step" || state.dtype() == DType::F32));
    Ok(())
}

#[test]
fn parameters_without_gradient_stay_and_clipping_by_value() -> Result<()> {
    let device = on::device();
    let (used, idle) = (Linear::new(2, 1, &device)?, Linear::new(2, 1, &device)?);
    let mut named = used.named_parameters();
    named.extend(idle.named_parameters().into_iter().map(|(name, p)| (format!("idle.{name}"), p)));
    let mut optimizer = Optimizer::new(AdamW::default(), 0.1, named)?;
    let before = idle.weight.tensor().to_vec::<f32>()?;
    let x = Tensor::ones(&[3, 2], DType::F32, &device)?;
    let gradients = used.forward(&x)?.mul(100.0)?.sum_all()?.backward()?;
    let clipped = clip_grad_value(&gradients, &used.parameters(), 0.5)?;
    assert_eq!(clipped.get(&used.weight.tensor()).unwrap().to_vec::<f32>()?, [0.5, 0.5]);
    let (clipped, norm) = clip_grad_norm(&gradients, &idle.parameters(), 1.0)?;
    assert_eq!(norm.item::<f32>()?, 0.0);
    optimizer.step_with(&clipped, &[&norm])?;
    assert_eq!(idle.weight.tensor().to_vec::<f32>()?, before);
    Ok(())
}

#[test]
fn wrong_use_is_an_error() -> Result<()> {
    let device = on::device();
    let linear = Linear::new(3, 2, &device)?;
    let x = Tensor::ones(&[4, 5], DType::F32, &device)?;
    assert!(matches!(linear.forward(&x), Err(Error::Shape { .. })));
    let scalar = Tensor::ones(&[], DType::F32, &device)?;
    assert!(matches!(linear.forward(&scalar), Err(Error::Shape { .. })));
    assert!(matches!(MultiHeadAttention::new(10, 3, true, &device), Err(Error::Argument { .. })));
    assert!(matches!(MultiHeadAttention::grouped(12, 4, 3, true, &device), Err(Error::Argument { .. })));
    assert!(matches!(MultiHeadAttention::new(12, 0, true, &device), Err(Error::Argument { .. })));
    let attention = MultiHeadAttention::new(4, 2, true, &device)?;
    assert!(matches!(attention.forward(&x), Err(Error::Shape { .. })));
    assert!(matches!(Dropout::new(1.5), Err(Error::Argument { .. })));
    assert!(matches!(Dropout::new(f64::NAN), Err(Error::Argument { .. })));
    let whole = Tensor::ones(&[2], DType::I64, &device)?;
    assert!(matches!(Parameter::new(&whole), Err(Error::DType { .. })));
    assert!(matches!(linear.weight.set(&x), Err(Error::Shape { .. })));
    let wide = Tensor::ones(&[2, 3], DType::F64, &device)?;
    assert!(matches!(linear.weight.set(&wide), Err(Error::DType { .. })));
    let elsewhere = Tensor::ones(&[2, 3], DType::F32, &on::fresh())?;
    assert!(matches!(linear.weight.set(&elsewhere), Err(Error::DeviceMismatch { .. })));

    assert!(matches!(Optimizer::new(Sgd::default(), 0.1, vec![]), Err(Error::Argument { .. })));
    let named = linear.named_parameters();
    assert!(matches!(Optimizer::new(Sgd::default(), f64::NAN, named.clone()), Err(Error::Argument { .. })));
    let twice = vec![Group::new(named.clone()), Group::new(named.clone())];
    assert!(matches!(Optimizer::with_groups(Sgd::default(), 0.1, twice), Err(Error::Parameter { .. })));
    let elsewhere = Parameter::new(&elsewhere)?;
    let mixed = vec![named[0].clone(), ("other".into(), elsewhere)];
    assert!(matches!(Optimizer::new(Sgd::default(), 0.1, mixed), Err(Error::DeviceMismatch { .. })));
    let gradients = linear.weight.tensor().sum_all()?.backward()?;
    assert!(matches!(clip_grad_norm(&gradients, &[], -1.0), Err(Error::Argument { .. })));
    assert!(matches!(clip_grad_value(&gradients, &[], f64::NAN), Err(Error::Argument { .. })));
    assert!(matches!(GradScaler::with_scale(0.0, &device), Err(Error::Argument { .. })));
    Ok(())
}

/// A rule that records numbers of its own, so that parameters of one shape share nothing of what is recorded.
struct Apart<R>(R);

impl<R: Rule> Rule for Apart<R> {
    fn weight_decay(&self) -> f64 {
        self.0.weight_decay()
    }

    fn states(&self) -> &[&'static str] {
        self.0.states()
    }

    fn numbers(&self, at: Moment) -> Vec<f64> {
        self.0.numbers(at)
    }

    fn update(&self, p: &Tensor, g: &Tensor, s: &[Tensor], n: &[Tensor]) -> Result<(Tensor, Vec<Tensor>)> {
        let (new, states) = self.0.update(p, g, s, n)?;
        Ok((new.mul(1.0)?, states))
    }
}

/// AdamW that counts how often it records an update.
struct Counted(AdamW, Cell<usize>);

impl Rule for Counted {
    fn weight_decay(&self) -> f64 {
        self.0.weight_decay()
    }

    fn states(&self) -> &[&'static str] {
        self.0.states()
    }

    fn numbers(&self, at: Moment) -> Vec<f64> {
        self.0.numbers(at)
    }

    fn update(&self, p: &Tensor, g: &Tensor, s: &[Tensor], n: &[Tensor]) -> Result<(Tensor, Vec<Tensor>)> {
        self.1.set(self.1.get() + 1);
        self.0.update(p, g, s, n)
    }
}

#[test]
fn an_update_is_recorded_once_for_a_shape() -> Result<()> {
    let device = on::fresh();
    let shapes: [&[usize]; 6] = [&[3], &[3], &[2, 2], &[3], &[2, 2], &[3]];
    let one = |shape: &[usize]| Parameter::new(&Tensor::ones(shape, DType::F32, &device)?);
    let parameters = shapes.iter().map(|shape| one(shape)).collect::<Result<Vec<_>>>()?;
    let named = parameters.iter().enumerate().map(|(i, p)| (i.to_string(), p.clone())).collect();
    let mut optimizer = Optimizer::new(Counted(AdamW::default(), Cell::default()), 0.1, named)?;
    let mut scaler = GradScaler::new(&device)?;
    for step in 1..=6 {
        let sums = parameters.iter().map(|p| p.tensor().sqr()?.sum_all()).collect::<Result<Vec<_>>>()?;
        let loss = Tensor::stack(&sums.iter().collect::<Vec<_>>(), 0)?.sum_all()?;
        if step % 2 == 0 {
            let (gradients, overflow) = scaler.unscale(&scaler.scale(&loss)?.backward()?)?;
            scaler.step(&mut optimizer, &gradients, &overflow, &[])?;
        } else {
            optimizer.step(&loss.backward()?)?;
        }
        assert_eq!(optimizer.rule_mut().1.get(), 2 * step);
    }
    Ok(())
}

#[test]
fn parameters_of_one_shape_are_updated_as_by_themselves() -> Result<()> {
    fn trained<R: Rule>(rule: R, scaled: bool) -> Result<(u64, Vec<Vec<f32>>)> {
        let device = on::fresh();
        manual_seed(3);
        let mut layers = (0..8).map(|_| Linear::new(4, 4, &device)).collect::<Result<Vec<_>>>()?;
        let x = Tensor::randn(&[8, 4], DType::F32, &device)?;
        x.eval()?;
        // Two of each kind: as they are, in a group of their own, of few bits, and not used in every step.
        for layer in &mut layers[4..6] {
            let narrow = |p: &Parameter| Parameter::new(&p.tensor().to_dtype(DType::BF16)?);
            *layer =
                Linear { weight: narrow(&layer.weight)?, bias: layer.bias.as_ref().map(narrow).transpose()? };
        }
        let named = |(i, layer): (usize, &Linear)| {
            layer.named_parameters().into_iter().map(move |(name, p)| (format!("{i}.{name}"), p))
        };
        let named: Vec<_> = layers.iter().enumerate().flat_map(named).collect();
        let parameters: Vec<Parameter> = named.iter().map(|(_, p)| p.clone()).collect();
        let (own, rest): (Vec<_>, Vec<_>) =
            named.into_iter().partition(|(name, _)| name.starts_with('2') || name.starts_with('3'));
        let groups = vec![Group::new(rest), Group::new(own).lr_factor(0.5).weight_decay(0.1)];
        let mut optimizer = Optimizer::with_groups(rule, 0.1, groups)?;
        let mut scaler = GradScaler::new(&device)?;
        for step in 0..5 {
            let used = &layers[..if step == 1 { 6 } else { 8 }];
            let forward = |x: Tensor, layer: &Linear| {
                x.to_dtype(layer.weight.tensor().dtype()).and_then(|x| layer.forward(&x)?.tanh())
            };
            let hidden = used.iter().try_fold(x.clone(), forward)?.to_dtype(DType::F32)?;
            // One step overflows.
            let weight = if step == 2 { f64::INFINITY } else { step as f64 };
            let loss = hidden.sub(0.3)?.sqr()?.mean_all()?.mul(weight)?;
            let clip = |gradients| clip_grad_norm(gradients, &parameters, 0.05);
            match scaled {
                true => {
                    let (gradients, overflow) = scaler.unscale(&scaler.scale(&loss)?.backward()?)?;
                    scaler.step(&mut optimizer, &clip(&gradients)?.0, &overflow, &[])?;
                }
                false if step == 2 => (),
                false => optimizer.step(&clip(&loss.backward()?)?.0)?,
            }
        }
        let plans = device.stats().plans_built;
        let values = parameters.iter().map(|p| p.tensor().to_dtype(DType::F32)?.to_vec());
        Ok((plans, values.collect::<Result<_>>()?))
    }
    for scaled in [false, true] {
        let rule = AdamW { weight_decay: 0.3, ..AdamW::default() };
        let (shared, apart) = (trained(rule, scaled)?, trained(Apart(rule), scaled)?);
        assert_eq!(shared, apart, "scaled: {scaled}");
        let (plans, values) = shared;
        assert!(plans <= 8, "{plans}");
        assert!((0..14).all(|i| values[i] != values[i + 2]), "{values:?}");
        assert_eq!(trained(Lion::default(), scaled)?, trained(Apart(Lion::default()), scaled)?);
        let rule = Sgd { momentum: 0.9, weight_decay: 0.2, ..Sgd::default() };
        assert_eq!(trained(rule, scaled)?, trained(Apart(rule), scaled)?);
    }
    Ok(())
}

/// Descent with noise.
struct Noisy;

impl Rule for Noisy {
    fn states(&self) -> &[&'static str] {
        &[]
    }

    fn numbers(&self, at: Moment) -> Vec<f64> {
        vec![at.lr]
    }

    fn update(&self, p: &Tensor, g: &Tensor, _: &[Tensor], n: &[Tensor]) -> Result<(Tensor, Vec<Tensor>)> {
        let noise = Tensor::randn(p.shape(), p.dtype(), p.device())?;
        Ok((p.sub(&g.add(&noise)?.mul(&n[0])?)?, vec![]))
    }
}

#[test]
fn every_parameter_has_random_numbers_of_its_own() -> Result<()> {
    let device = on::device();
    let zeros = || Parameter::new(&Tensor::zeros(&[64], DType::F32, &device)?);
    let parameters = (0..4).map(|_| zeros()).collect::<Result<Vec<_>>>()?;
    let named = parameters.iter().enumerate().map(|(i, p)| (i.to_string(), p.clone())).collect();
    let mut optimizer = Optimizer::new(Noisy, 1.0, named)?;
    let mut seen: Vec<Vec<f32>> = vec![];
    for _ in 0..3 {
        let sums = parameters.iter().map(|p| p.tensor().sum_all()).collect::<Result<Vec<_>>>()?;
        let loss = Tensor::stack(&sums.iter().collect::<Vec<_>>(), 0)?.sum_all()?;
        optimizer.step(&loss.backward()?)?;
        for p in &parameters {
            let values = p.tensor().to_vec::<f32>()?;
            assert!(!seen.contains(&values));
            seen.push(values);
        }
    }
    Ok(())
}
