//! What a machine may lack: devices that do not exist are typed errors, and the process goes on without them.

use fornax::{DType, Device, Error, Result, Tensor};
use std::process::Command;

/// Set for the process that has no driver.
const ALONE: &str = "FORNAX_TEST_NO_DRIVER";

fn missing(name: &str, says: &str) {
    match Device::open(name) {
        Err(Error::NoDevice { name: named, detail }) => {
            assert_eq!(named, name);
            assert!(detail.contains(says), "{name}: {detail}");
        }
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn devices_that_do_not_exist() -> Result<()> {
    for name in ["", "tpu", "cuda:0:1", "wgp", "CPU"] {
        missing(name, "cpu");
    }
    for name in ["wgpu:9999", "wgpu:no such card", "wgpu:-1"] {
        missing(name, "adapter");
    }
    assert_eq!(Tensor::ones(&[2], DType::F32, &Device::cpu())?.to_vec::<f32>()?, [1.0, 1.0]);
    Ok(())
}

#[test]
fn adapters_are_found_by_number_and_by_name() -> Result<()> {
    for adapter in fornax::device::wgpu::adapters() {
        let by_number = match Device::open(&adapter.device) {
            Err(Error::NoDevice { detail, .. }) => {
                println!("{} was not tested: {detail}", adapter.device);
                continue;
            }
            opened => opened?,
        };
        assert_eq!(by_number.name(), adapter.device);
        // Others may have the same name, and come first.
        let by_name = Device::open(&format!("wgpu:{}", adapter.name.to_uppercase()))?;
        let found = fornax::device::wgpu::adapters().into_iter().find(|a| a.device == by_name.name());
        assert_eq!(found.map(|found| found.name), Some(adapter.name));
    }
    Ok(())
}

#[test]
fn the_best_device_is_a_real_gpu_or_the_cpu() {
    if std::env::var_os(ALONE).is_none() {
        let mut alone = Command::new(std::env::current_exe().unwrap());
        alone.args(["--exact", "the_best_device_is_a_real_gpu_or_the_cpu"]).env(ALONE, "1");
        let output = alone.env_remove("FORNAX_DEVICE").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let real = fornax::device::wgpu::adapters().into_iter().find(|adapter| !adapter.software);
    let want = real.map_or("cpu".into(), |adapter| adapter.device);
    assert_eq!(Device::best().map(|device| device.name()).ok(), Some(want));
}

#[test]
fn a_machine_without_a_driver_uses_the_cpu() -> Result<()> {
    if std::env::var_os(ALONE).is_none() {
        let mut alone = Command::new(std::env::current_exe().unwrap());
        alone.args(["--exact", "a_machine_without_a_driver_uses_the_cpu"]).env(ALONE, "1");
        // The Vulkan loader then finds no driver.
        alone.env("VK_DRIVER_FILES", "/nonexistent").env("VK_ICD_FILENAMES", "/nonexistent");
        let output = alone.env_remove("FORNAX_DEVICE").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return Ok(());
    }
    if cfg!(target_os = "linux") {
        assert_eq!(Device::names(), ["cpu"]);
        missing("wgpu", "is a driver installed?");
        assert_eq!(Device::best()?.name(), "cpu");
    }
    assert_eq!(Tensor::ones(&[2], DType::F32, &Device::best()?)?.to_vec::<f32>()?, [1.0, 1.0]);
    Ok(())
}

#[test]
fn memory_that_is_not_there() -> Result<()> {
    for name in Device::names() {
        let device = Device::open(&name)?;
        let kept = Tensor::ones(&[1000], DType::F32, &device)?;
        kept.eval()?;
        // More than any machine has, whole and in a temporary.
        let huge = Tensor::rand(&[1 << 46], DType::F32, &device)?;
        // And a product of more terms than 64 bits count.
        let one = Tensor::ones(&[1, 1], DType::F32, &device)?;
        let product = one.expand(&[1 << 23, 1 << 20])?.matmul(&one.expand(&[1 << 20, 1 << 23])?)?;
        for tensor in [huge.clone(), huge.fence().sum_all()?, product] {
            match tensor.eval() {
                Err(Error::OutOfMemory { requested, .. }) => assert!(requested >= 1 << 46),
                Err(Error::Device { detail, .. }) if name != "cpu" => {
                    assert!(detail.contains("bytes"), "{name}: {detail}");
                }
                other => panic!("{name}: {other:?}"),
            }
        }
        drop(huge);
        assert_eq!(kept.sum_all()?.item::<f32>()?, 1000.0, "{name}");
    }
    Ok(())
}
