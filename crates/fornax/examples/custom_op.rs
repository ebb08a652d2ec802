//! An op of one's own: written in ops that exist, it has a gradient for free and the scheduler fuses it.

use fornax::{DType, Device, Result, Tensor, manual_seed};

/// Mish (Misra, 2019): `x tanh(log(1 + exp x))`.
fn mish(x: &Tensor) -> Result<Tensor> {
    x.mul(&x.softplus()?.tanh()?)
}

/// A normalisation that no library has: by the largest magnitude of each row.
fn peak_norm(x: &Tensor) -> Result<Tensor> {
    x.div(&x.abs()?.max(&[-1], true)?.add(1e-6)?)
}

fn main() -> Result<()> {
    manual_seed(0);
    let device = Device::best()?;
    let x = Tensor::randn(&[256, 512], DType::F32, &device)?;
    x.eval()?;
    let x = x.variable()?;

    let y = peak_norm(&mish(&x)?)?;
    println!("The plan of peak_norm(mish(x)):\n{}", y.plan()?);

    let gradients = y.sqr()?.sum_all()?.backward()?;
    let gradient = gradients.get(&x).expect("x is a variable that y depends on");
    println!("The plan of its gradient:\n{}", gradient.plan()?);

    // A finite difference along one coordinate says whether the gradient is right.
    let (row, step) = (x.narrow(0, 0, 1)?.detach(), 1e-2f32);
    let value = |shift: f32| -> Result<f32> {
        let mut values = row.to_vec::<f32>()?;
        values[3] += shift;
        let moved = Tensor::from_slice(&values, &[1, 512], &device)?;
        peak_norm(&mish(&moved)?)?.sqr()?.sum_all()?.item()
    };
    let difference = (value(step)? - value(-step)?) / (2.0 * step);
    println!("gradient {:.5}, finite difference {difference:.5}", gradient.to_vec::<f32>()?[3]);
    Ok(())
}
