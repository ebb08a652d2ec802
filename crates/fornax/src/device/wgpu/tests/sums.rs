//! Sums that share dispatches or workgroups.

use super::super::print::print;
use super::*;

#[test]
fn sums_of_many_tensors_share_dispatches() -> Result<()> {
    // Long, short and odd ones; bindings for all, and for a few at a time.
    let lengths = [70_000, 300, 40_001, 1 << 16, 33_000, 57, 90_112, 768];
    for buffers in [32, 12] {
        let Some((gpu, device)) = limited(|caps| Caps { buffers, ..caps }) else { continue };
        let tensors = lengths.map(|n| wave(&[n], 0.1 + n as f32 * 1e-5, DType::F32, &device));
        let tensors = tensors.into_iter().collect::<Result<Vec<_>>>()?;
        let squares = tensors.iter().map(|x| x.sqr()?.sum_all()).collect::<Result<Vec<_>>>()?;
        let norm = Tensor::stack(&squares.iter().collect::<Vec<_>>(), 0)?.sum_all()?.sqrt()?;
        // As a step clips its gradients: what is summed is scaled afterwards.
        let mut results = tensors.iter().map(|x| x.mul(&norm)).collect::<Result<Vec<_>>>()?;
        let limit = Tensor::scalar(1.999, DType::F32, &device)?;
        for x in &tensors {
            results.push(x.abs()?.lt(&limit)?.min_all()?);
        }
        let wanted: Vec<&Tensor> = results.iter().collect();
        let plan = crate::realize::plan(&wanted)?;
        let kernel = &plan.steps[0].kernel;
        assert_eq!(kernel.label, "mul_sum_abs_lt_min f32 8 segments", "{plan}");
        let dispatches = print(kernel, &[], None, &gpu.caps)?.dispatches.len();
        assert!(dispatches <= if buffers > 12 { 2 } else { 8 }, "{buffers} buffers: {dispatches} dispatches");
        let named = |(i, result)| (format!("{buffers} buffers, result {i}"), result);
        check_together(&results.into_iter().enumerate().map(named).collect::<Vec<_>>())?;
    }
    Ok(())
}

#[test]
fn bytes_are_taken_out_of_their_words() -> Result<()> {
    let Some((_, device)) = limited(|caps| caps) else { return Ok(()) };
    // Addresses of which compilers know something: rows of every length, and columns that lie a few bytes apart.
    for dtype in [DType::U8, DType::Bool, DType::F16, DType::BF16] {
        for n in [2, 3, 4, 5, 6, 8, 10, 12, 34, 70] {
            let x = match dtype {
                DType::Bool => wave(&[5, n], 0.17, DType::F32, &device)?.gt(0.0)?,
                dtype => wave(&[5, n], 0.17, dtype, &device)?,
            };
            x.eval()?;
            let sum = |x: &Tensor| x.to_dtype(DType::I32)?.sum(&[1], false);
            let name = |what: &str| format!("{what} of 5x{n} {dtype}");
            check(&name("sums"), sum(&x))?;
            check(&name("sums backwards"), sum(&x.flip(&[1])?))?;
            check(&name("sums of a part"), sum(&x.narrow(1, 1, n - 1)?))?;
            for column in (0..n.min(4)).map(|at| x.narrow(1, at, 1)) {
                let column = column?;
                check(&name("a column"), column.to_dtype(DType::F32)?.add(1.0))?;
                check(&name("a column, stored"), Tensor::cat(&[&column, &x, &column], 1))?;
            }
        }
    }
    Ok(())
}

#[test]
fn many_short_sums_share_dispatches() -> Result<()> {
    let Some((gpu, device)) = limited(|caps| Caps { parallel: 512, buffers: 32, ..caps }) else {
        return Ok(());
    };
    let sums = (1..20).map(|n| wave(&[n * 37], 0.1 + n as f32 * 1e-3, DType::F32, &device)?.sqr()?.sum_all());
    let sums = sums.collect::<Result<Vec<_>>>()?;
    let wanted: Vec<&Tensor> = sums.iter().collect();
    let plan = crate::realize::plan(&wanted)?;
    assert_eq!(plan.launches(), 1, "{plan}");
    let dispatches = print(&plan.steps[0].kernel, &[], None, &gpu.caps)?.dispatches.len();
    // Two for all of them, or for half of them where there are no more bindings.
    assert!(dispatches <= 4, "{dispatches} dispatches");
    let named = |(i, sum)| (format!("sum {i}"), sum);
    check_together(&sums.into_iter().enumerate().map(named).collect::<Vec<_>>())
}

#[test]
fn sums_of_columns_are_right_in_every_geometry() -> Result<()> {
    // As many workgroups as a large device wants: strips in one dispatch, and sums of parts of long columns.
    let Some((_, device)) = limited(|caps| Caps { parallel: 512, ..caps }) else { return Ok(()) };
    for [rows, columns] in [[512, 768], [70, 12], [1000, 51], [1024, 64], [1025, 64], [5000, 96], [3000, 7]] {
        for dtype in [DType::F32, DType::F16] {
            let x = positive(&[rows, columns], 0.37, dtype, &device)?;
            let wide = x.to_dtype(DType::F32)?;
            let (sum, least) = (wide.sum(&[0], false)?, wide.min(&[0], false)?);
            let large = wide.gt(0.502)?.all(&[0], false)?;
            let named = |(name, result)| (format!("{name} of {rows}x{columns} {dtype}"), result);
            check_together(&[("sum", sum), ("min", least), ("all", large)].map(named))?;
        }
    }
    Ok(())
}
