//! Measured peaks: plausible, remembered, and true only of the device that they were measured on.

use fornax::{Device, Peaks, set_cache_dir};

fn plausible(peaks: &Peaks) {
    let figures = [peaks.copy, peaks.read, peaks.f32, peaks.upload, peaks.readback];
    for figure in figures.into_iter().chain(peaks.f16).chain(peaks.cooperative) {
        assert!(figure.value.is_finite() && figure.value > 1e6, "{peaks:?}");
        assert!(figure.spread >= 0.0 && figure.spread <= figure.value, "{peaks:?}");
    }
    assert!(peaks.launch.value >= 0.0 && peaks.launch.value < 1.0, "{peaks:?}");
}

#[test]
fn peaks_are_remembered_for_the_device_that_they_are_of() {
    let dir = std::env::temp_dir().join(format!("fornax-peaks-{}", std::process::id()));
    set_cache_dir(Some(&dir));
    let device = Device::open("cpu").unwrap();
    assert_eq!(device.remembered_peaks(), None);
    device.reset_stats();
    let peaks = device.peaks().unwrap();
    plausible(&peaks);
    assert_eq!(device.stats(), Default::default(), "measuring leaves no trace on the device");

    let another = Device::open("cpu").unwrap();
    let remembered = another.remembered_peaks().unwrap();
    assert_eq!(remembered.f32, peaks.f32);
    assert_eq!(remembered.cooperative, peaks.cooperative);
    for name in Device::names().iter().filter(|name| *name != "cpu") {
        assert_eq!(Device::open(name).unwrap().remembered_peaks(), None, "{name} is not the cpu");
    }

    // Whoever cannot find them on disk still has them; a new handle does not.
    std::fs::remove_dir_all(&dir).unwrap();
    assert!(another.remembered_peaks().is_some());
    assert_eq!(Device::open("cpu").unwrap().remembered_peaks(), None);
}
