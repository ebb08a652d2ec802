//! Tuned products: whatever form wins computes the same, and a second start measures nothing.

use fornax::{DType, Device, Result, Tensor, manual_seed, set_cache_dir};
use std::time::Duration;

fn product(device: &Device, dtype: DType) -> Result<Tensor> {
    manual_seed(3);
    let x = Tensor::randn(&[260, 320], DType::F32, device)?.to_dtype(dtype)?;
    let w = Tensor::randn(&[384, 320], DType::F32, device)?.to_dtype(dtype)?;
    let bias = Tensor::randn(&[384], DType::F32, device)?.to_dtype(dtype)?;
    fornax::eval(&[&x, &w, &bias])?;
    x.matmul(&w.t()?)?.add(&bias)?.gelu()
}

#[test]
fn a_form_is_measured_once_and_computes_the_same() -> Result<()> {
    if fornax::device::wgpu::adapters().is_empty() {
        println!("no wgpu adapter: nothing was tested");
        return Ok(());
    }
    let dir = std::env::temp_dir().join(format!("fornax-tuning-{}", std::process::id()));
    set_cache_dir(Some(&dir));
    let tunings = || {
        let names = std::fs::read_dir(&dir).into_iter().flatten().flatten().map(|e| e.file_name());
        names.filter(|n| n.to_string_lossy().starts_with("tuning")).count()
    };
    let (plain, tuned) = (Device::open("wgpu")?, Device::open("wgpu")?);
    plain.set_tuning(Duration::ZERO);
    tuned.set_tuning(Duration::from_secs(120));
    for (dtype, near) in [(DType::F32, 1e-5), (DType::F16, 1e-3)] {
        let right = product(&plain, dtype)?.to_dtype(DType::F32)?.to_vec::<f32>()?;
        let made = |device: &Device| -> Result<(Vec<f32>, u64)> {
            let y = product(device, dtype)?;
            device.reset_stats();
            let values = y.eval().and_then(|()| y.to_dtype(DType::F32)?.to_vec::<f32>())?;
            let stats = device.stats();
            Ok((values, stats.pipelines_compiled + stats.pipelines_found))
        };
        let (first, measured) = made(&tuned)?;
        assert!(measured > 4, "{dtype}: {measured} pipelines are too few to choose from");
        assert_eq!(tunings(), 1, "what was measured is remembered");
        let again = Device::open("wgpu")?;
        again.set_tuning(Duration::from_secs(120));
        let (second, compiled) = made(&again)?;
        assert!(compiled <= 3, "{dtype}: {compiled} pipelines for one product and one cast");
        assert_eq!(first, second, "{dtype}: the form that was remembered is the one that won");
        let largest = right.iter().fold(0.0f32, |m, x| m.max(x.abs()));
        let worst = right.iter().zip(&first).map(|(a, b)| (a - b).abs()).fold(0.0f32, f32::max);
        assert!(worst <= near * largest, "{dtype}: {worst} of {largest}");
        let ways = again.alternatives(&*product(&again, dtype)?.plan()?, false)?;
        assert_eq!(ways.len(), 1);
        // Of many, software may not come to the last.
        let first = &ways[0].1[..4];
        assert!(first.iter().all(|way| way.seconds.is_some()), "{first:?}");
    }
    std::fs::remove_dir_all(&dir).ok();
    Ok(())
}
