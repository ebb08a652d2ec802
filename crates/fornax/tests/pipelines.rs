//! Pipelines between runs: a second start compiles nothing new, and whatever lies on disk instead of what was saved
//! changes nothing but the time.

use fornax::nn::{Linear, Module};
use fornax::optim::{AdamW, Optimizer};
use fornax::{DType, Device, Result, Stats, Tensor, manual_seed, set_cache_dir};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The directory that a second process is given.
const DIR: &str = "FORNAX_TEST_CACHE_DIR";

/// The cache directory belongs to the process: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// A fresh device's statistics after some steps of training, and the last loss.
fn train() -> Result<(Stats, f32)> {
    let device = Device::open("wgpu")?;
    manual_seed(5);
    let (up, down) = (Linear::new(8, 32, &device)?, Linear::new(32, 4, &device)?);
    let all = [up.named_parameters(), down.named_parameters()].concat();
    let named = all.into_iter().enumerate().map(|(i, (_, p))| (i.to_string(), p)).collect();
    let mut optimizer = Optimizer::new(AdamW::default(), 1e-2, named)?;
    let x = Tensor::randn(&[16, 8], DType::F32, &device)?;
    let y = Tensor::randint(0, 4, &[16], DType::I64, &device)?;
    let mut last = 0.0;
    for _ in 0..3 {
        let loss = down.forward(&up.forward(&x)?.gelu()?)?.cross_entropy(&y)?;
        optimizer.step(&loss.backward()?)?;
        last = loss.item::<f32>()?;
    }
    Ok((device.stats(), last))
}

/// Statistics of the device that lives as long as the process after many plans, each small.
fn many_plans() -> Result<Stats> {
    let device = Device::best()?;
    let x = Tensor::ones(&[16], DType::F32, &device)?;
    for plan in 0..40 {
        let mut y = x.clone();
        for bit in 0..6 {
            y = if plan >> bit & 1 == 0 { y.sin()? } else { y.exp()? };
        }
        y.eval()?;
    }
    device.synchronize()?;
    Ok(device.stats())
}

fn adapter() -> Option<fornax::device::wgpu::AdapterReport> {
    let first = fornax::device::wgpu::adapters().into_iter().next();
    if first.is_none() {
        println!("no wgpu adapter: nothing was tested");
    }
    first
}

/// The file in which pipelines are kept.
fn file(dir: &Path) -> PathBuf {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|p| p.file_name().unwrap().to_string_lossy().starts_with("pipelines")).last().unwrap()
}

#[test]
fn a_second_start_compiles_nothing_new() -> Result<()> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(adapter) = adapter() else { return Ok(()) };
    if let Some(dir) = std::env::var_os(DIR) {
        // The second process.
        set_cache_dir(Some(Path::new(&dir)));
        let (stats, _) = train()?;
        assert_eq!(stats.pipelines_compiled, 0, "{stats:?}");
        assert!(stats.pipelines_found > 0, "{stats:?}");
        return Ok(());
    }
    let dir = std::env::temp_dir().join(format!("fornax-pipelines-{}", std::process::id()));
    set_cache_dir(Some(&dir));
    let (cold, loss) = train()?;
    assert!(cold.pipelines_compiled > 0 && cold.pipelines_found == 0, "{cold:?}");
    if !adapter.pipeline_cache {
        println!("{} keeps no pipelines: only that was tested", adapter.name);
        assert!(!dir.exists());
        return Ok(());
    }
    let warm = || -> Result<()> {
        let (stats, again) = train()?;
        assert_eq!(again, loss);
        assert_eq!((stats.pipelines_compiled, stats.pipelines_found), (0, cold.pipelines_compiled));
        Ok(())
    };
    warm()?;

    let mut second = Command::new(std::env::current_exe().unwrap());
    let output =
        second.args(["--exact", "a_second_start_compiles_nothing_new"]).env(DIR, &dir).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));

    let path = file(&dir);
    let whole = std::fs::read(&path).unwrap();
    let mut turned = whole.clone();
    let middle = whole.len() / 2;
    turned[middle] ^= 1;
    for (what, bytes) in [
        ("empty", &[][..]),
        ("torn", &whole[..whole.len() - 7]),
        ("turned", &turned),
        ("foreign", b"something else altogether, and long enough to hold a header"),
    ] {
        std::fs::write(&path, bytes).unwrap();
        let (stats, again) = train()?;
        assert_eq!(again, loss, "{what}");
        assert_eq!((stats.pipelines_compiled, stats.pipelines_found), (cold.pipelines_compiled, 0), "{what}");
        // And it was saved again.
        warm()?;
    }

    // Where nothing can be kept, nothing is.
    set_cache_dir(None);
    assert_eq!(train()?.0.pipelines_found, 0);
    // A directory that cannot be made.
    set_cache_dir(Some(&path.join("below a file")));
    assert_eq!(train()?.1, loss);
    std::fs::remove_dir_all(&dir).unwrap();
    Ok(())
}

#[test]
fn prewarming_compiles_and_runs_nothing() -> Result<()> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for name in Device::names() {
        let device = Device::open(&name)?;
        let (up, x) = (Linear::new(8, 32, &device)?, Tensor::ones(&[16, 8], DType::F32, &device)?);
        let mut optimizer = Optimizer::new(AdamW::default(), 1e-2, up.named_parameters())?;
        let gradients = |up: &Linear| up.forward(&x)?.sqr()?.mean_all()?.backward();
        let parameters: Vec<Tensor> = up.parameters().iter().map(|p| p.tensor()).collect();
        fornax::eval(&parameters.iter().collect::<Vec<_>>())?;
        drop(parameters);
        device.reset_stats();
        let plan = optimizer.plan(&gradients(&up)?)?;
        assert_eq!(device.stats().kernels_compiled, 0, "a plan compiles nothing");
        device.prewarm(&plan)?;
        let stats = device.stats();
        assert!(stats.kernels_compiled > 0 && stats.launches == 0, "{stats:?}");
        device.prewarm(&plan)?;
        optimizer.step(&gradients(&up)?)?;
        let after = device.stats();
        assert_eq!((after.kernels_compiled, after.plans_built), (stats.kernels_compiled, 1), "{name}");
        assert!(after.launches > 0);
        let other = Device::open(&name)?.prewarm(&plan);
        assert!(matches!(other, Err(fornax::Error::Argument { .. })), "{other:?}");
    }
    Ok(())
}

#[test]
fn a_device_that_is_never_closed_keeps_its_pipelines_too() -> Result<()> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    if !adapter().is_some_and(|adapter| adapter.pipeline_cache) {
        println!("no adapter that keeps pipelines: nothing was tested");
        return Ok(());
    }
    if let Some(dir) = std::env::var_os(DIR) {
        set_cache_dir(Some(Path::new(&dir)));
        let stats = many_plans()?;
        println!("compiled {} found {};", stats.pipelines_compiled, stats.pipelines_found);
        // What came too fast to be saved at once is saved when nothing more comes.
        std::thread::sleep(std::time::Duration::from_secs(2));
        return Ok(());
    }
    let dir = std::env::temp_dir().join(format!("fornax-best-{}", std::process::id()));
    for (compiled, found) in [(40, 0), (0, 40)] {
        let mut process = Command::new(std::env::current_exe().unwrap());
        process.args(["--exact", "a_device_that_is_never_closed_keeps_its_pipelines_too", "--nocapture"]);
        let output = process.env(DIR, &dir).env("FORNAX_DEVICE", "wgpu").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}");
        assert!(text.contains(&format!("compiled {compiled} found {found};")), "{text}");
    }
    std::fs::remove_dir_all(&dir).unwrap();
    Ok(())
}
