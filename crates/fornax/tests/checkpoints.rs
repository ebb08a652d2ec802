//! Checkpoints: what goes on from one goes on as if it had never stopped, whatever happened to the files meanwhile.

mod on;

use fornax::io::checkpoint::{Checkpoints, Training};
use fornax::nn::{Dropout, Linear, Module, Visitor};
use fornax::optim::{AdamW, GradScaler, Group, Optimizer, clip_grad_norm};
use fornax::{DType, Error, Result, Tensor, autocast, manual_seed};
use std::path::PathBuf;

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        Scratch(std::env::temp_dir().join(format!("fornax-test-{}-{name}", std::process::id())))
    }

    fn files(&self) -> Vec<String> {
        let names =
            std::fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Model {
    up: Linear,
    dropout: Dropout,
    down: Linear,
}

impl Module for Model {
    fn visit(&self, v: &mut Visitor) {
        v.module("up", &self.up);
        v.module("dropout", &self.dropout);
        v.module("down", &self.down);
    }
}

struct Run {
    model: Model,
    optimizer: Optimizer<AdamW>,
    scaler: GradScaler,
}

impl Run {
    fn new(seed: u64, hidden: usize) -> Result<Run> {
        manual_seed(seed);
        let device = on::device();
        let model = Model {
            up: Linear::new(4, hidden, &device)?,
            dropout: Dropout::new(0.25)?,
            down: Linear::new(hidden, 2, &device)?,
        };
        // Groups that do not follow the order of the model.
        let (vectors, matrices) =
            model.named_parameters().into_iter().partition(|(_, p)| p.shape().len() == 1);
        let groups = vec![Group::new(vectors).weight_decay(0.0), Group::new(matrices)];
        let optimizer = Optimizer::with_groups(AdamW::default(), 0.02, groups)?;
        let mut scaler = GradScaler::with_scale(1024.0, &device)?;
        scaler.growth_interval = 2;
        Ok(Run { model, optimizer, scaler })
    }

    /// Dropout draws random numbers, and every fifth step overflows.
    fn step(&mut self, step: u64) -> Result<f32> {
        let huge = if step % 5 == 4 { f32::INFINITY } else { 1.0 };
        let x: Vec<f32> = (0..16).map(|i| huge * ((i * 7 + step) % 11) as f32 / 10.0).collect();
        let x = Tensor::from_slice(&x, &[4, 4], &on::device())?;
        let Run { model, optimizer, scaler } = self;
        let loss = autocast(DType::F16, || {
            let hidden = model.dropout.forward(&model.up.forward(&x)?.tanh()?)?;
            model.down.forward(&hidden)?.to_dtype(DType::F32)?.sub(1.0)?.sqr()?.mean_all()
        })?;
        let (gradients, overflow) = scaler.unscale(&scaler.scale(&loss)?.backward()?)?;
        let (gradients, _) = clip_grad_norm(&gradients, &model.parameters(), 0.1)?;
        scaler.step(optimizer, &gradients, &overflow, &[&loss])?;
        loss.item::<f32>()
    }

    fn training(&mut self) -> Training<'_, AdamW> {
        let Run { model, optimizer, scaler } = self;
        Training { module: model, optimizer, scaler: Some(scaler) }
    }
}

#[test]
fn a_resumed_run_is_the_same_run() -> Result<()> {
    let folder = Scratch::new("resume");
    let checkpoints = Checkpoints::new(&folder.0, 2);
    let mut run = Run::new(1, 8)?;
    let mut losses = vec![];
    for step in 0..24 {
        losses.push(run.step(step)?.to_bits());
        if step % 3 == 2 {
            let notes = [("position".to_string(), (step * 10).to_string())].into();
            checkpoints.save(step + 1, &mut run.training(), &notes)?;
        }
        if [9, 13, 17].contains(&step) {
            // Another run takes over: what was in memory is lost.
            run = Run::new(99, 8)?;
            let restored = checkpoints.load_newest(&mut run.training())?.expect("there is one");
            let back = restored.step;
            assert_eq!(restored.notes["position"], ((back - 1) * 10).to_string());
            assert!(restored.notes.len() == 1 && restored.broken.is_empty());
            for again in back..step + 1 {
                assert_eq!(run.step(again)?.to_bits(), losses[again as usize], "step {again}");
            }
        }
    }
    assert_eq!(checkpoints.steps()?, [21, 24]);

    let mut plain = Run::new(1, 8)?;
    for (step, loss) in losses.iter().enumerate() {
        assert_eq!(plain.step(step as u64)?.to_bits(), *loss, "step {step}, never stopped");
    }
    Ok(())
}

#[test]
fn torn_files_are_passed_over_and_leftovers_removed() -> Result<()> {
    let folder = Scratch::new("torn");
    let checkpoints = Checkpoints::new(&folder.0, 3);
    let mut run = Run::new(2, 8)?;
    assert!(checkpoints.load_newest(&mut run.training())?.is_none(), "no folder, no checkpoint");
    let notes = Default::default();
    for step in [2, 4, 6] {
        run.step(step)?;
        checkpoints.save(step, &mut run.training(), &notes)?;
    }
    let whole = std::fs::read(checkpoints.path(6)).unwrap();
    for cut in [0, 7, 100, whole.len() / 2, whole.len() - 1] {
        std::fs::write(checkpoints.path(6), &whole[..cut]).unwrap();
        let restored = checkpoints.load_newest(&mut run.training())?.expect("two are whole");
        assert_eq!((restored.step, restored.broken), (4, vec![checkpoints.path(6)]), "cut at {cut}");
    }
    std::fs::write(folder.0.join(".step-00000008.safetensors.1-0.tmp"), &whole[..50]).unwrap();
    checkpoints.remove_after(4)?;
    assert_eq!(checkpoints.steps()?, [2, 4]);
    checkpoints.save(5, &mut run.training(), &notes)?;
    checkpoints.save(6, &mut run.training(), &notes)?;
    assert_eq!(folder.files(), [4, 5, 6].map(|step| format!("step-{step:08}.safetensors")));

    for step in [4, 5, 6] {
        std::fs::write(checkpoints.path(step), b"torn").unwrap();
    }
    let error = checkpoints.load_newest(&mut run.training()).err().expect("none is whole");
    assert!(matches!(&error, Error::Format { path, .. } if path.contains("00000006")), "{error}");
    Ok(())
}

#[test]
fn a_checkpoint_of_something_else_is_refused_and_changes_nothing() -> Result<()> {
    let folder = Scratch::new("other");
    let checkpoints = Checkpoints::new(&folder.0, 3);
    let mut run = Run::new(3, 8)?;
    run.step(0)?;
    checkpoints.save(1, &mut run.training(), &Default::default())?;
    let mut other = Run::new(4, 9)?;
    let before = other.model.up.weight.tensor().to_vec::<f32>()?;
    let error = checkpoints.load_newest(&mut other.training()).err().expect("another size");
    assert!(matches!(&error, Error::Parameter { name, .. } if name == "up.weight"), "{error}");
    assert_eq!(other.model.up.weight.tensor().to_vec::<f32>()?, before);
    let Run { model, optimizer, .. } = &mut run;
    let mut unscaled = Training { module: &*model, optimizer, scaler: None };
    let error = checkpoints.load_newest(&mut unscaled).err().expect("no scaler");
    assert!(matches!(&error, Error::Parameter { name, .. } if name == "scaler"), "{error}");
    Ok(())
}
