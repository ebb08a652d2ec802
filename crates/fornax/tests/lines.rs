//! Temporaries whose rows would begin anywhere in a line of memory: a device may make the rows longer, and what lies
//! between them must reach no result.

mod on;

use fornax::{DType, Device, Result, Tensor, eval, grad, realize};

/// An odd number of elements, more than sixteen lines of f32 or f16.
const ROW: usize = 1031;

fn noise(shape: &[usize], dtype: DType, device: &Device) -> Result<Tensor> {
    let x = Tensor::randn(shape, DType::F32, device)?.mul(0.5)?.to_dtype(dtype)?;
    x.eval()?;
    Ok(x)
}

/// Leaves memories full of NaN in the pool, of the sizes that temporaries will have.
fn spoil(rows: usize, dtype: DType, device: &Device) -> Result<()> {
    let spoiled: Vec<Tensor> =
        (0..8).map(|_| Tensor::full(&[rows, 1088], f64::NAN, dtype, device)).collect::<Result<_>>()?;
    eval(&spoiled.iter().collect::<Vec<_>>())
}

/// What reads and writes such rows in every way: products of them as they lie and turned, reductions of rows and columns,
/// maps, and a loss with its gradients.
fn results(rows: usize, dtype: DType, device: &Device) -> Result<Vec<(&'static str, Tensor)>> {
    let (x, w) =
        (noise(&[rows, 24], dtype, device)?.variable()?, noise(&[24, ROW], dtype, device)?.variable()?);
    let back = noise(&[ROW, 16], dtype, device)?;
    let targets: Vec<i64> = (0..rows).map(|i| (i * 37 % ROW) as i64).collect();
    let targets = Tensor::from_slice(&targets, &[rows], device)?;
    let logits = x.matmul(&w)?;
    let loss = logits.cross_entropy(&targets)?;
    let gradients = grad(&loss, &[&x, &w])?;
    // Sums of columns that become such rows.
    let sums = noise(&[3, 40, ROW], dtype, device)?.sum(&[1], false)?;
    // Elements picked along a row, and across rows, from one place.
    let planes = noise(&[4, 8, 24], dtype, device)?.matmul(&w.detach())?;
    let pick = |axis, at: &[i64; 4]| planes.gather(axis, &Tensor::from_slice(at, &[4, 1, 1], device)?);
    let picked = pick(2, &[0, 1030, 7, 512])?.add(&pick(1, &[0, 7, 3, 5])?)?;
    let chances = logits.softmax(-1)?;
    let twice = logits.mul(2.0)?.add(1.0)?;
    Ok(vec![
        ("loss", loss),
        ("gradient of x", gradients[0].clone()),
        ("gradient of w", gradients[1].clone()),
        ("product along the rows", chances.matmul(&back)?),
        ("product across them", chances.t()?.matmul(&x.detach())?),
        ("rows", twice.sum(&[1], false)?),
        ("columns", twice.sum(&[0], false)?),
        ("positions", logits.argmax(Some(1), false)?),
        ("rows of columns", sums.softmax(-1)?.matmul(&back)?),
        ("part", logits.narrow(1, 500, 531)?.exp()?.sum(&[1], false)?),
        ("picked", picked),
        // Two that become one launch, which reads the rows twice.
        ("first half", logits.narrow(1, 0, 515)?.exp()?),
        ("second half", logits.narrow(1, 515, 515)?.exp()?),
    ])
}

fn values(bytes: &[u8], tensor: &Tensor) -> Vec<f64> {
    use fornax::graph::interpret::{Array, Data};
    match Array::from_bytes(bytes, tensor.shape(), tensor.dtype()).data {
        Data::Float(v) => v,
        Data::Int(v) => v.iter().map(|&i| i as f64).collect(),
    }
}

#[test]
fn what_lies_between_rows_reaches_no_result() -> Result<()> {
    let device = on::fresh();
    for dtype in [DType::F32, DType::F16] {
        for rows in [33, 130] {
            let results = results(rows, dtype, &device)?;
            let wanted: Vec<Vec<f64>> =
                results.iter().map(|(_, t)| Ok(values(&t.reference()?, t))).collect::<Result<_>>()?;
            spoil(rows, dtype, &device)?;
            eval(&results.iter().map(|(_, t)| t).collect::<Vec<_>>())?;
            for ((what, tensor), want) in results.iter().zip(&wanted) {
                let got = values(&tensor.to_bytes()?, tensor);
                let scale = (want.iter().map(|v| v * v).sum::<f64>() / want.len() as f64).sqrt();
                let close = if dtype == DType::F16 { 2e-2 } else { 2e-4 };
                for (i, (g, w)) in got.iter().zip(want).enumerate() {
                    assert!(
                        (g - w).abs() <= close * w.abs().max(scale),
                        "{what}, {rows} rows of {dtype}: element {i} is {g}, not {w}"
                    );
                }
            }
        }
    }
    Ok(())
}

#[test]
fn every_kernel_agrees_with_the_reference() -> Result<()> {
    let device = on::fresh();
    device.set_verify(true);
    for dtype in [DType::F32, DType::F16] {
        let results = results(33, dtype, &device)?;
        eval(&results.iter().map(|(_, t)| t).collect::<Vec<_>>())?;
    }
    Ok(())
}

#[test]
fn rows_are_longer_where_a_device_reads_lines() -> Result<()> {
    let device = on::fresh();
    let longer = |tensor: &Tensor| -> Result<usize> {
        let plan = realize::plan(&[tensor])?;
        let lens = plan.steps.iter().flat_map(|step| &step.kernel.writes).map(|port| port.len);
        Ok(lens.filter(|len| len.is_multiple_of(1056) || len.is_multiple_of(1088)).count())
    };
    let wanted = if on::name() == "cpu" { 0 } else { 1 };
    for dtype in [DType::F32, DType::F16] {
        let (x, w) = (noise(&[33, 24], dtype, &device)?, noise(&[24, ROW], dtype, &device)?);
        let logits = x.matmul(&w)?;
        assert_eq!(longer(&logits.softmax(-1)?.sum_all()?)?, wanted, "{dtype}");
        // What was asked for lies as it is.
        assert_eq!(longer(&logits)?, 0);
        // Who sees one long line does not know where rows end.
        assert_eq!(longer(&logits.reshape(&[-1])?.cumsum(0)?.sum_all()?)?, 0);
    }
    Ok(())
}
