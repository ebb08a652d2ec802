//! Attention on cooperative matrices.

use super::super::print::print;
use super::*;
use crate::kernel::Body;
use crate::{AttentionOptions, Error};

/// Computes attention with its gradients on matrices, played ones where there are none, and compares it. Batch, heads, key
/// heads, queries, keys and widths.
fn attention_on_matrices(
    (gpu, device): (&Wgpu, &Device),
    [b, h, hk, tq, tk, d, dv]: [usize; 7],
    causal: bool,
    masked: bool,
) -> Result<()> {
    device.set_verify(true);
    let able = gpu.caps.subgroup.is_some_and(|size| size >= 8);
    // Rows lie between those of other heads, as a fused projection leaves them.
    let rows = |t: usize, heads: usize, width: usize, pace: f32| {
        wave(&[b, t, heads, width], pace, DType::F16, device)?.transpose(1, 2)
    };
    // Later keys score much higher, so that what was summed before must be corrected.
    let rising = wave(&[1, 1, tk, 1], 1.5 / tk as f32, DType::F16, device)?;
    // Values go with keys and do not cancel: what is left of their rounding would be all there is.
    let (q, v) = (rows(tq, h, d, 0.37)?, rows(tk, hk, dv, 0.37)?.add(1.0)?);
    let k = rows(tk, hk, d, 0.37)?;
    let rising = k.mul(&rising)?.mul(4.0)?;
    crate::eval(&[&rising, &v])?;
    let mask = wave(&[tq, tk], 0.9, DType::F16, device)?;
    let options = AttentionOptions { causal, mask: masked.then_some(&mask), ..Default::default() };
    let risen = q.scaled_dot_product_attention(&rising, &v, &options)?;
    let (q, k, v) = (q.variable()?, k.variable()?, v.variable()?);
    let out = q.scaled_dot_product_attention(&k, &v, &options)?;
    let what = format!("{:?}, causal: {causal}, mask: {masked}", [b, h, hk, tq, tk, d, dv]);
    let seed = wave(&[b, h, tq, dv], 0.23, DType::F16, device)?;
    let (one, all) = (out.backward_with(&seed)?, out.backward_with(&seed)?);
    let gradient = |of: &Tensor| all.get(of).cloned().ok_or(Error::Internal(what.clone()));
    let all = [gradient(&q)?, gradient(&k)?, gradient(&v)?];
    for plan in [risen.plan()?, crate::realize::plan(&[&all[0], &all[1], &all[2]])?] {
        for step in plan.steps.iter().filter(|_| able) {
            if matches!(step.kernel.body, Body::Attention(_) | Body::AttentionGrad(_)) {
                let printed = print(&step.kernel, &[], None, &gpu.caps)?;
                let cooperative = printed.dispatches.iter().any(|d| d.text.contains("coopMultiplyAdd"));
                assert!(cooperative, "{what}: {}", step.kernel);
            }
        }
    }
    check(&format!("{what}: rising"), Ok(risen))?;
    check(&format!("{what}: out"), Ok(out))?;
    check(&format!("{what}: dv"), one.get(&v).cloned().ok_or(Error::Internal(what.clone())))?;
    // The others follow the output, of which two roundings may differ in the last bit. What verifies their kernel on
    // its own inputs says more of it than a comparison from end to end.
    crate::eval(&[&all[0], &all[1], &all[2]])?;
    Ok(())
}

#[test]
fn cooperative_attention_computes_the_same() -> Result<()> {
    let real = std::cell::Cell::new(false);
    let able = |caps: Caps| {
        real.set(caps.cooperative);
        Caps { cooperative: caps.f16, ..caps }
    };
    let Some((gpu, device)) = limited(able) else { return Ok(()) };
    // Whole tiles and parts of them; heads that share keys, packed and not; keys in parts; rows that pass through workgroup
    // memory in pieces. Software gives up on a text after 65535 rounds of its loops, which more keys would take.
    let cases = [
        ([1, 1, 1, 128, 128, 16, 16], true, false),
        ([1, 4, 2, 17, 65, 32, 16], false, true),
        ([1, 1, 1, 130, 130, 16, 16], true, false),
        ([2, 2, 1, 64, 128, 64, 48], false, false),
        ([1, 2, 2, 192, 192, 64, 64], true, false),
        ([1, 1, 1, 33, 300, 16, 32], false, false),
        ([2, 2, 1, 65, 65, 64, 64], true, true),
        ([1, 4, 2, 17, 65, 80, 16], false, true),
        ([1, 1, 1, 17, 1, 16, 128], false, false),
        ([1, 1, 1, 130, 130, 128, 128], true, false),
    ];
    // Software takes a minute to compile the texts of a case.
    let cases = &cases[..if real.get() { cases.len() } else { 2 }];
    cases.iter().try_for_each(|&(sizes, causal, masked)| {
        attention_on_matrices((&gpu, &device), sizes, causal, masked)
    })
}

#[test]
fn cooperative_attention_computes_the_same_in_little_memory() -> Result<()> {
    let little = |caps: Caps| Caps { cooperative: caps.f16, workgroup_bytes: 8 << 10, ..caps };
    let Some((gpu, device)) = limited(little) else { return Ok(()) };
    // Fewer own rows than pass by at a time.
    attention_on_matrices((&gpu, &device), [1, 1, 1, 64, 64, 16, 16], true, false)
}
