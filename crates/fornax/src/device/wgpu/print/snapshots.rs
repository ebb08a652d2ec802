//! The WGSL of a few telling kernels, word for word, beside this file. After a deliberate change run the tests once
//! with UPDATE_SNAPSHOTS=1 and read the difference.

use super::tests::{LARGE, printed, validate};
use super::{Caps, Dispatch, print};
use crate::dtype::DType;
use crate::error::Result;
use crate::{AttentionOptions, Device, Tensor, grad};
use std::path::Path;

/// Prints the kernels that compute some tensors and compares them with the file of that name.
fn check(name: &str, caps: &Caps, targets: &[&Tensor]) -> Result<()> {
    let part = |(label, d): (String, Dispatch)| format!("// {label}: {:?} workgroups\n{}\n", d.grid, d.text);
    let text: String = printed(targets, caps)?.into_iter().map(part).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/device/wgpu/print/snapshots")
        .join(format!("{name}.wgsl"));
    if std::env::var("UPDATE_SNAPSHOTS").is_ok() {
        std::fs::write(&path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == text,
        "{name} changed; if it should have, run with UPDATE_SNAPSHOTS=1 and read the difference"
    );
    Ok(())
}

fn data(shape: &[usize], dtype: DType) -> Result<Tensor> {
    let x = Tensor::zeros(shape, dtype, &Device::cpu())?;
    x.eval()?;
    Ok(x)
}

#[test]
fn texts_stay_what_they_were() -> Result<()> {
    let x = data(&[64, 768], DType::F32)?;
    let (w, b) = (data(&[768], DType::F32)?, data(&[768], DType::F32)?);
    check("map_add", &LARGE, &[&x.add(&w)?])?;
    check("map_transposed", &LARGE, &[&x.t()?.exp()?])?;
    check("map_bool", &LARGE, &[&x.gt(0.5)?])?;
    check("map_bf16", &LARGE, &[&data(&[100], DType::BF16)?.mul(2.0)?])?;
    check("map_segments", &LARGE, &[&Tensor::cat(&[&w, &b, &w], 0)?])?;
    check("map_embedding", &LARGE, &[&Tensor::embedding(&x, &data(&[16], DType::I64)?)?])?;
    check("map_normal", &LARGE, &[&Tensor::randn(&[64], DType::F32, &Device::cpu())?])?;
    check("row_layer_norm", &LARGE, &[&x.layer_norm(1, Some(&w), Some(&b), 1e-5)?])?;
    check("row_softmax_streaming", &LARGE, &[&data(&[600, 50257], DType::F32)?.softmax(1)?])?;
    check("row_argmax", &Caps { subgroup: None, ..LARGE }, &[&x.argmax(Some(1), false)?])?;
    check("row_split_sum", &LARGE, &[&data(&[1 << 20], DType::F32)?.sum_all()?])?;
    check("column_sum", &LARGE, &[&data(&[4096, 768], DType::F32)?.sum(&[0], false)?])?;
    let (left, right) = (data(&[512, 768], DType::F32)?, data(&[768, 3072], DType::F32)?);
    let bias = data(&[3072], DType::F32)?;
    check("matmul_gelu", &LARGE, &[&left.matmul(&right)?.add(&bias)?.gelu()?])?;
    check("matmul_one_row", &LARGE, &[&left.narrow(0, 0, 1)?.matmul(&right)?])?;
    let weights = data(&[3074, 768], DType::F32)?.t()?;
    check("matmul_few_rows_turned", &LARGE, &[&left.narrow(0, 0, 2)?.matmul(&weights)?])?;
    let (left, right) = (data(&[2048, 2048], DType::F16)?, data(&[2048, 2048], DType::F16)?);
    check("matmul_cooperative", &Caps { cooperative: true, ..LARGE }, &[&left.matmul(&right)?])?;
    check(
        "matmul_cooperative_transposed",
        &Caps { cooperative: true, ..LARGE },
        &[&left.t()?.matmul(&right.t()?)?],
    )?;
    // Rows of two matrices show all there is; those of four would make thousands of lines.
    let rows = || data(&[2, 96, 3, 32], DType::F16)?.transpose(1, 2);
    let options = AttentionOptions { causal: true, ..Default::default() };
    let attended = rows()?.scaled_dot_product_attention(&rows()?, &rows()?, &options)?.transpose(1, 2)?;
    check("attention_cooperative", &Caps { cooperative: true, ..LARGE }, &[&attended])?;
    let [q, k, v] = [rows()?.variable()?, rows()?.variable()?, rows()?.variable()?];
    let attended = q.scaled_dot_product_attention(&k, &v, &options)?;
    let gradients = grad(&attended.mul(&rows()?)?.sum_all()?, &[&q, &k, &v])?;
    let [dq, dk, dv] = [&gradients[0], &gradients[1], &gradients[2]];
    check("attention_grad_cooperative", &Caps { cooperative: true, ..LARGE }, &[dq, dk, dv])
}

#[test]
fn every_form_of_a_product_is_valid() -> Result<()> {
    let cooperative = Caps { cooperative: true, ..LARGE };
    let little =
        Caps { f16: false, int64: false, subgroup: None, lanes: 256, workgroup_bytes: 16 << 10, ..LARGE };
    let mut forms = std::collections::BTreeSet::new();
    let sizes = [(512, 768, 3072), (130, 77, 51), (4096, 4096, 4096), (33, 2304, 768), (96, 96, 40)];
    for (m, n, k) in sizes.into_iter().chain([(1, 768, 3072), (4, 77, 51), (8, 4096, 768)]) {
        for dtype in [DType::F32, DType::F16, DType::BF16, DType::I32, DType::I64, DType::U8] {
            let bias = data(&[n], dtype)?;
            for (left, right) in [
                (data(&[m, k], dtype)?, data(&[k, n], dtype)?),
                (data(&[k, m], dtype)?.t()?, data(&[n, k], dtype)?.t()?),
            ] {
                let plan = crate::realize::plan(&[&left.matmul(&right)?.add(&bias)?])?;
                let kernel = &plan.steps[0].kernel;
                let crate::kernel::Body::MatMul(body) = &kernel.body else { panic!("{kernel}") };
                for caps in [&LARGE, &cooperative, &little] {
                    for form in super::candidates(body, kernel.beside, caps).into_iter().take(20) {
                        forms.insert(form.to_string());
                        for dispatch in print(kernel, &[], Some(form), caps)?.dispatches {
                            validate(&format!("{} as {form}", kernel.label), &dispatch.text, caps);
                        }
                    }
                }
            }
        }
    }
    assert!(forms.len() > 30, "{forms:?}");
    Ok(())
}
