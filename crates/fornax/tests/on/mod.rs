//! The device that the tests run on: the one that `FORNAX_DEVICE` names, otherwise the CPU.

use fornax::Device;

/// Its name.
pub fn name() -> String {
    std::env::var("FORNAX_DEVICE").ok().filter(|name| !name.is_empty()).unwrap_or("cpu".into())
}

/// One device for all tests of a file.
#[allow(dead_code)]
pub fn device() -> Device {
    if name() == "cpu" { Device::cpu() } else { Device::best().unwrap() }
}

/// A device with a pool, plans and statistics of its own.
#[allow(dead_code)]
pub fn fresh() -> Device {
    Device::open(&name()).unwrap()
}
