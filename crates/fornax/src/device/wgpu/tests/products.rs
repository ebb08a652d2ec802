//! Products in every form, compared with the interpreter.

use super::super::lock;
use super::super::print::tests::printed;
use super::super::print::{Form, Shape, Tile};
use super::*;

/// A product of rows of which it takes only a part; what follows there is no number.
fn ends_inside_a_vector(rows: [usize; 2], dtype: DType, device: &Device) -> Result<Tensor> {
    let part = |rows: usize, pace: f32| -> Result<Tensor> {
        let nothing = Tensor::full(&[rows, 29], f64::NAN, dtype, device)?;
        let whole = Tensor::cat(&[&wave(&[rows, 131], pace, dtype, device)?, &nothing], 1)?;
        whole.eval()?;
        whole.narrow(1, 0, 131)
    };
    part(rows[0], 0.37)?.matmul(&part(rows[1], 0.71)?.t()?)
}

#[test]
fn cooperative_products_compute_the_same() -> Result<()> {
    let Some((gpu, _)) = limited(|caps| Caps { cooperative: caps.f16, ..caps }) else { return Ok(()) };
    if !gpu.caps.cooperative {
        println!("no halves: matrices of them can be neither had nor played");
        return Ok(());
    }
    // Small sizes: software has little workgroup memory, and takes seconds to compile a text. Those of depth 128 load four
    // halves at a time, the last one four of the right side and eight of the left, others eight.
    let shape = |[rows, columns, depth]: [usize; 3], [down, across, layers]: [usize; 3]| Shape {
        rows,
        columns,
        depth,
        down,
        across,
        layers,
    };
    let forms = [
        (shape([64, 64, 32], [1, 2, 1]), 1),
        (shape([64, 64, 32], [1, 2, 1]), 2),
        (shape([32, 32, 128], [1, 1, 4]), 1),
        (shape([64, 32, 64], [4, 1, 2]), 2),
    ]
    .map(|(shape, parts)| Form::Cooperative(shape, parts));
    // Whole tiles, and parts of a sum, of three slices and more in every form; rows that begin anywhere, at every fourth or
    // every eighth half; sums that end inside a slice.
    let sizes = [[64, 128, 512], [40, 51, 131], [33, 66, 140], [40, 72, 136], [3, 72, 136]];
    for (size, [m, n, k]) in sizes.into_iter().enumerate() {
        for turned in [false, true] {
            let product = |device: &Device| {
                let operand = |shape, pace| operand(shape, turned, pace, DType::F16, device);
                let bias = wave(&[n], 0.3, DType::F16, device)?;
                let rest = wave(&[m, n], 0.23, DType::F16, device)?;
                operand([m, k], 0.37)?.matmul(&operand([k, n], 0.71)?)?.add(&bias)?.mul(&rest)
            };
            for (i, form) in forms.into_iter().enumerate() {
                // On software every form meets every size, but either as it is or turned.
                if gpu.software && (i + size + turned as usize) % 2 == 1 {
                    continue;
                }
                *lock(&gpu.tuner.forced) = Some(form);
                let fresh = Device::with_backend(gpu.clone());
                check(&format!("{m}x{n}x{k}, turned: {turned}, {form}"), product(&fresh))?;
            }
        }
    }
    for form in forms {
        *lock(&gpu.tuner.forced) = Some(form);
        let fresh = Device::with_backend(gpu.clone());
        check(
            &format!("a sum that ends inside a vector, {form}"),
            ends_inside_a_vector([40, 56], DType::F16, &fresh),
        )?;
    }
    // Both operands and the epilogue read one memory, by eights, fours and words.
    *lock(&gpu.tuner.forced) = Some(forms[0]);
    let x = wave(&[72, 72], 0.37, DType::F16, &Device::with_backend(gpu.clone()))?;
    check("of itself", x.matmul(&x.t()?)?.add(&x))?;
    check("of a part of itself", x.narrow(1, 4, 64)?.matmul(&x.narrow(0, 8, 64)?)?.add(&x))?;
    Ok(())
}

#[test]
fn lanes_of_sixteen_rows_compute_the_same() -> Result<()> {
    let Some((gpu, _)) = limited(|caps| caps) else { return Ok(()) };
    let tile = Tile { rows: 32, columns: 32, depth: 8, lane_rows: 16, lane_columns: 8 };
    // Whole tiles, whose loads share an address, and others; three slices and more of each part, or fewer in the last one.
    for ([m, n, k], turned, parts, dtype) in [
        ([64, 96, 64], false, 2, DType::F32),
        ([64, 96, 64], true, 1, DType::F16),
        ([64, 96, 64], false, 3, DType::F32),
        ([32, 32, 72], false, 3, DType::BF16),
        ([33, 51, 70], true, 1, DType::F32),
    ] {
        *lock(&gpu.tuner.forced) = Some(Form::Tile(tile, parts));
        let fresh = Device::with_backend(gpu.clone());
        let operand = |shape, pace| operand(shape, turned, pace, dtype, &fresh);
        let product = operand([m, k], 0.37)?.matmul(&operand([k, n], 0.71)?)?.gelu();
        check(&format!("{m}x{n}x{k}, turned: {turned}, parts: {parts}, {dtype}"), product)?;
        check("a sum that ends inside a vector", ends_inside_a_vector([40, 56], dtype, &fresh))?;
    }
    Ok(())
}

#[test]
fn products_of_bytes() -> Result<()> {
    let rule = |tensor: &Tensor, caps: &Caps| -> Result<bool> {
        Ok(printed(&[tensor], caps)?.iter().any(|(_, dispatch)| dispatch.text.contains("dot4U8Packed")))
    };
    let tile = |depth: usize| Tile { rows: 32, columns: 32, depth, lane_rows: 4, lane_columns: 4 };
    for packed in [true, false] {
        let Some((gpu, device)) = limited(|caps| Caps { packed, ..caps }) else { return Ok(()) };
        let bytes = |shape: &[usize]| {
            let n: usize = shape.iter().product();
            let data: Vec<u8> = (0..n).map(|i| (i * 89 + i / 7) as u8).collect();
            Tensor::from_slice(&data, shape, &device)
        };
        // Batch, m, n, k; whether four steps of k are in one word of both operands; how many workgroups share a sum; the
        // depth of a slice: in those of eight, one address serves all loads of whole tiles.
        for ([b, m, n, k], whole, parts, depth) in [
            ([1, 70, 50, 64], true, 1, 16),
            ([1, 33, 130, 1000], true, 1, 16),
            ([1, 33, 70, 1000], true, 3, 16),
            ([1, 300, 270, 64], true, 1, 16),
            ([3, 20, 20, 36], true, 1, 16),
            ([2, 64, 96, 128], true, 1, 8),
            ([1, 64, 64, 30], false, 1, 16),
        ] {
            *lock(&gpu.tuner.forced) = Some(Form::Tile(tile(depth), parts));
            let (x, y) = (bytes(&[b, m, k])?, bytes(&[b, n, k])?.transpose(1, 2)?);
            for dtype in [DType::U8, DType::U32, DType::I32] {
                let product = x.to_dtype(dtype)?.matmul(&y.to_dtype(dtype)?)?;
                let what = format!("{b}x{m}x{n}x{k} in {parts}, {dtype}, packed: {packed}");
                assert_eq!(rule(&product, &gpu.caps)?, whole && packed, "{what}");
                check(&what, Ok(product))?;
            }
            // The steps of k are rows of the right operand: they lie in different words.
            let product = x.matmul(&bytes(&[b, k, n])?)?;
            assert!(!rule(&product, &gpu.caps)?);
            check("rows", Ok(product))?;
        }
        // From the second element on, words hold other four bytes than those that are multiplied.
        *lock(&gpu.tuner.forced) = None;
        let product = bytes(&[40, 65])?.narrow(1, 1, 64)?.matmul(&bytes(&[40, 64])?.t()?)?;
        assert!(!rule(&product, &gpu.caps)?);
        check("not aligned", Ok(product))?;
    }
    Ok(())
}

#[test]
fn products_of_few_rows_are_right_in_every_geometry() -> Result<()> {
    // One column at a time, or up to eight, as a device has much or little to keep busy; sums shared by workgroups.
    for parallel in [8, 512] {
        let Some((_, device)) = limited(|caps| Caps { parallel, ..caps }) else { return Ok(()) };
        for [m, k, n] in [[8, 300, 1024], [5, 75, 514], [3, 64, 516], [7, 40, 24], [4, 33_000, 6]] {
            for turned in [false, true] {
                let right = match turned {
                    false => positive(&[k, n], 0.23, DType::F32, &device)?,
                    true => positive(&[n, k], 0.23, DType::F32, &device)?.t()?,
                };
                let product = positive(&[m, k], 0.17, DType::F32, &device)?.matmul(&right)?;
                let places = wave(&[m, n], 0.9, DType::F32, &device)?;
                let name = |what: &str| format!("{what} {m}x{n}x{k}, turned: {turned}, for {parallel}");
                let both = [("product", product.clone()), ("and more", product.mul(&places)?.add(1.0)?)];
                check_together(&both.map(|(what, result)| (name(what), result)))?;
            }
        }
        // A right side of one column that is repeated, rows of results behind a mask, and a long epilogue.
        let x = wave(&[8, 96], 0.17, DType::F32, &device)?;
        let repeated = wave(&[96, 1], 0.23, DType::F32, &device)?.expand(&[96, 512])?;
        check(&format!("repeated, for {parallel}"), x.matmul(&repeated))?;
        let product = x.matmul(&operand([96, 512], true, 0.23, DType::F32, &device)?)?;
        let rest = wave(&[7, 512], 0.9, DType::F32, &device)?.pad(&[(1, 0), (0, 0)], 0.0)?;
        check(&format!("masked, for {parallel}"), product.add(&rest))?;
        let ends = ends_inside_a_vector([5, 56], DType::F32, &device)?;
        check(&format!("a sum that ends inside a vector, for {parallel}"), Ok(ends))?;
        let long =
            (0..200).try_fold(product, |x, i| x.mul(0.9)?.add(&x.sin()?.mul(0.1 + i as f64 * 1e-3)?))?;
        check(&format!("long, for {parallel}"), Ok(long))?;
    }
    Ok(())
}
