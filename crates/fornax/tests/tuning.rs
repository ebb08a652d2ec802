//! Tuned products: whatever form wins computes the same, and a second start measures nothing.

use fornax::{DType, Device, Result, Tensor, eval, manual_seed, set_cache_dir};
use std::sync::Mutex;
use std::time::Duration;

/// The folder of what is remembered belongs to the process, so one test at a time has its own.
static FOLDER: Mutex<()> = Mutex::new(());

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
    let _alone = FOLDER.lock();
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

#[test]
fn equal_products_side_by_side_are_measured_as_such() -> Result<()> {
    if fornax::device::wgpu::adapters().is_empty() {
        println!("no wgpu adapter: nothing was tested");
        return Ok(());
    }
    let _alone = FOLDER.lock();
    let dir = std::env::temp_dir().join(format!("fornax-beside-{}", std::process::id()));
    set_cache_dir(Some(&dir));
    let (plain, tuned) = (Device::open("wgpu")?, Device::open("wgpu")?);
    plain.set_tuning(Duration::ZERO);
    tuned.set_tuning(Duration::from_secs(120));
    let products = |device: &Device, count: usize| -> Result<Vec<Vec<f32>>> {
        manual_seed(4);
        let operand = |shape: &[usize]| Tensor::randn(shape, DType::F32, device);
        let pairs = (0..count).map(|_| Ok((operand(&[260, 320])?, operand(&[320, 384])?)));
        let pairs = pairs.collect::<Result<Vec<_>>>()?;
        eval(&pairs.iter().flat_map(|(x, w)| [x, w]).collect::<Vec<_>>())?;
        let made = pairs.iter().map(|(x, w)| x.matmul(w)).collect::<Result<Vec<_>>>()?;
        let targets: Vec<&Tensor> = made.iter().collect();
        assert_eq!(fornax::realize::plan(&targets)?.waits(), 0);
        // The third time everything is at its place.
        (0..2).try_for_each(|_| {
            let again = pairs.iter().map(|(x, w)| x.matmul(w)).collect::<Result<Vec<_>>>()?;
            eval(&again.iter().collect::<Vec<_>>())
        })?;
        eval(&targets)?;
        made.iter().map(Tensor::to_vec::<f32>).collect()
    };
    for count in [1, 5] {
        for (right, found) in products(&plain, count)?.iter().zip(&products(&tuned, count)?) {
            let largest = right.iter().fold(0.0f32, |m, x| m.max(x.abs()));
            let worst = right.iter().zip(found).map(|(a, b)| (a - b).abs()).fold(0.0f32, f32::max);
            assert!(worst <= 1e-5 * largest, "{worst} of {largest}");
        }
    }
    let files = std::fs::read_dir(&dir).into_iter().flatten().flatten();
    let tuning = files.filter(|file| file.file_name().to_string_lossy().starts_with("tuning"));
    let texts: Vec<u8> = tuning.filter_map(|file| std::fs::read(file.path()).ok()).flatten().collect();
    let texts = String::from_utf8_lossy(&texts);
    let classes: Vec<&str> = texts.lines().filter(|line| line.contains("epilogue 0 to 1")).collect();
    assert_eq!(classes.len(), 2, "{texts}");
    assert_eq!(classes.iter().filter(|class| class.contains("one of 4")).count(), 1, "{texts}");
    std::fs::remove_dir_all(&dir).ok();
    Ok(())
}
