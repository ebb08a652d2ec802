//! What the engine costs around its kernels: launches, plans, memory and the way to and from the host.

use super::steps::DISTILGPT2;
use super::{Case, Prepared, Roof, case, randint, randn, wall};
use crate::timing::Clock;
use fornax::{DType, Device, Result, Tensor};
use fornax_models::Gpt2;

pub fn all() -> Vec<Case> {
    vec![
        wall("tiny_ops_2000x64", tiny_ops),
        case("launches_1000", |d| launches(1000, d)),
        wall("upload_64MiB", upload),
        wall("read_back_64MiB", read_back),
        wall("pool_allocation", pool_allocation),
        wall("allocation_reused_64MiB", |d| allocation(false, d)),
        wall("allocation_fresh_64MiB", |d| allocation(true, d)),
        wall("plan_lookup_ns_per_node", plan_lookup),
    ]
}

pub fn gpu() -> Vec<Case> {
    vec![
        wall("launches_1000_wall", |d| launches(1000, d)),
        Case { clock: Clock::Host, ..wall("launches_1000_cpu", |d| launches(1000, d)) },
        wall("evaluations_1000_wall", |d| evaluations(1000, d)),
        Case { clock: Clock::Host, ..wall("evaluations_1000_cpu", |d| evaluations(1000, d)) },
        wall("upload_4KiB", uploads),
        Case { clock: Clock::Host, ..wall("upload_4KiB_evaluated_cpu", uploads_evaluated) },
    ]
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
    Ok(Prepared::new(call).needs(Roof::Launch, count as f64).in_parts(count as u64))
}

/// As [`launches`], but every kernel is a plan that is evaluated by itself; per evaluation.
fn evaluations(count: usize, device: &Device) -> Result<Prepared> {
    let x = randn(&[64], device)?;
    let call = move || {
        let mut u = x.clone();
        for _ in 0..count {
            u = u.add(1.0)?;
            u.eval()?;
        }
        Ok(())
    };
    Ok(Prepared::new(call).needs(Roof::Launch, count as f64).in_parts(count as u64))
}

const BYTES: usize = 64 << 20;

fn upload(device: &Device) -> Result<Prepared> {
    let (data, device) = (vec![1u8; BYTES], device.clone());
    let call = move || Tensor::from_bytes(&data, &[BYTES], DType::U8, &device).map(|_| ());
    Ok(Prepared::new(call).needs(Roof::Upload, BYTES as f64))
}

fn read_back(device: &Device) -> Result<Prepared> {
    let x = Tensor::from_bytes(&vec![1u8; BYTES], &[BYTES], DType::U8, device)?;
    let call = move || {
        std::hint::black_box(x.to_bytes()?);
        Ok(())
    };
    Ok(Prepared::new(call).needs(Roof::ReadBack, BYTES as f64))
}

/// Allocations of many sizes, all of them from the pool; per allocation.
fn pool_allocation(device: &Device) -> Result<Prepared> {
    let device = device.clone();
    let call = move || {
        // Some are held while others are asked for, as in a step.
        for _ in 0..125 {
            let held = (0..8).map(|i| device.allocate(4096 << i)).collect::<Result<Vec<_>>>()?;
            drop(held);
        }
        Ok(())
    };
    Ok(Prepared::new(call).in_parts(1000))
}

/// Small tensors made of the host's data; per tensor.
fn uploads(device: &Device) -> Result<Prepared> {
    let (device, data) = (device.clone(), vec![1f32; 1024]);
    let call = move || (0..100).try_for_each(|_| Tensor::from_slice(&data, &[1024], &device).map(|_| ()));
    Ok(Prepared::new(call).in_parts(100))
}

/// The same, each of them evaluated in an op, so that uploads and launches come by turns.
fn uploads_evaluated(device: &Device) -> Result<Prepared> {
    let (device, data) = (device.clone(), vec![1f32; 1024]);
    let call =
        move || (0..100).try_for_each(|_| Tensor::from_slice(&data, &[1024], &device)?.add(1.0)?.eval());
    Ok(Prepared::new(call).in_parts(100))
}

/// A map whose result goes into memory that was used before, or that the system must give.
fn allocation(fresh: bool, device: &Device) -> Result<Prepared> {
    let (x, device) = (randn(&[BYTES / 4], device)?, device.clone());
    let call = move || {
        if fresh {
            device.trim();
        }
        x.add(1.0)?.eval()
    };
    Ok(Prepared::new(call).needs(Roof::Memory, 2.0 * BYTES as f64))
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
    Ok(Prepared::new(call).in_parts(nodes))
}
