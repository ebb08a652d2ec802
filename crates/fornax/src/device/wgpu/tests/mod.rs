//! The device with less than its adapter has: every feature forced off in turn, small limits, and a device that goes away.
//! Where there is no adapter, not even a software one, nothing is tested and the run says so.

mod attention;
mod launching;
mod limits;
mod played;
mod products;
mod sums;

pub(crate) use played::without_cooperative;

use super::{Caps, Wgpu};
use crate::graph::interpret::{Array, Data};
use crate::{DType, Device, Result, Tensor};
use std::sync::Arc;

/// A device that uses what `limit` leaves of an adapter. None where there is no adapter, or none that has so much.
pub(super) fn limited(limit: impl FnOnce(Caps) -> Caps) -> Option<(Arc<Wgpu>, Device)> {
    let mut less = false;
    let limit = |caps: Caps| {
        let (lanes, buffers) = (caps.lanes, caps.buffers);
        let limited = limit(caps);
        less = lanes < limited.lanes.max(limited.workgroup) || buffers < limited.buffers;
        limited
    };
    if super::adapters().is_empty() {
        println!("no wgpu adapter: nothing was tested");
        return None;
    }
    let gpu = Wgpu::open_with("wgpu", limit).expect("an adapter that is listed can be opened");
    if less {
        println!("the adapter has less than that: nothing was tested");
        return None;
    }
    let gpu = Arc::new(gpu);
    Some((gpu.clone(), Device::with_backend(gpu)))
}

fn wave(shape: &[usize], pace: f32, dtype: DType, device: &Device) -> Result<Tensor> {
    let n: usize = shape.iter().product();
    let values = (0..n).map(|i| (i as f32 * pace).sin() as f64 * 2.0);
    let data = match dtype.is_float() {
        true => Data::Float(values.collect()),
        false => Data::Int(values.map(|v| (v * 5.0).abs() as i64).collect()),
    };
    Tensor::from_bytes(&Array { shape: shape.into(), dtype, data }.to_bytes(), shape, dtype, device)
}

/// As [`wave`], of one sign: in a sum terms do not cancel, so its error is small beside it.
fn positive(shape: &[usize], pace: f32, dtype: DType, device: &Device) -> Result<Tensor> {
    let x = wave(shape, pace, dtype, device)?.abs()?.add(0.5)?;
    x.eval()?;
    Ok(x.detach())
}

/// An operand of a product, as it is or turned.
fn operand(shape: [usize; 2], turned: bool, pace: f32, dtype: DType, device: &Device) -> Result<Tensor> {
    let [rows, columns] = shape;
    match turned {
        false => wave(&[rows, columns], pace, dtype, device),
        true => wave(&[columns, rows], pace, dtype, device)?.t(),
    }
}

fn values(bytes: &[u8], tensor: &Tensor) -> Vec<f64> {
    match Array::from_bytes(bytes, tensor.shape(), tensor.dtype()).data {
        Data::Float(v) => v,
        Data::Int(v) => v.iter().map(|&i| i as f64).collect(),
    }
}

fn check(what: &str, tensor: Result<Tensor>) -> Result<()> {
    check_together(&[(what.to_string(), tensor?)])
}

/// Checks results of one evaluation.
fn check_together(results: &[(String, Tensor)]) -> Result<()> {
    let wanted = results.iter().map(|(_, tensor)| tensor.reference()).collect::<Result<Vec<_>>>()?;
    crate::eval(&results.iter().map(|(_, tensor)| tensor).collect::<Vec<_>>())?;
    results.iter().zip(wanted).try_for_each(|((what, tensor), want)| compare(what, tensor, &want))
}

fn compare(what: &str, tensor: &Tensor, want: &[u8]) -> Result<()> {
    let (want, got) = (values(want, tensor), values(&tensor.to_bytes()?, tensor));
    let tolerance = match tensor.dtype() {
        DType::F16 => 5e-3,
        DType::BF16 => 3e-2,
        dtype if dtype.is_float() => 2e-5,
        _ => 0.0,
    };
    let scale = (want.iter().map(|w| w * w).sum::<f64>() / want.len().max(1) as f64).sqrt();
    for (i, (g, w)) in got.iter().zip(&want).enumerate() {
        assert!((g - w).abs() <= tolerance * w.abs().max(scale), "{what}: element {i} is {g}, not {w}");
    }
    Ok(())
}
