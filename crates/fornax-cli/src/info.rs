//! `fornax info`: what the machine has, and what each device was measured to do at most.

use crate::table::ago;
use fornax::profile::amounts::{bandwidth, rate, seconds};
use fornax::{Device, Measured, Peaks};

/// Prints what there is. Peaks of real devices that nobody has measured yet are measured now; with `measure` again,
/// and those of software adapters too.
pub fn run(measure: bool) {
    let device = match Device::best() {
        Ok(device) => device.to_string(),
        Err(error) => format!("none: {error}"),
    };
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    println!("fornax   {}", env!("CARGO_PKG_VERSION"));
    println!("device   {device}");
    println!("machine  {} {}", std::env::consts::ARCH, std::env::consts::OS);
    println!("threads  {threads}");
    println!("simd     {}", simd().join(" "));
    println!("\ncpu      this processor");
    print_peaks("cpu", false, measure);
    for gpu in fornax::device::wgpu::adapters() {
        let caps = &gpu.caps;
        println!("\n{:8} {} ({}, {}, {})", gpu.device, gpu.name, gpu.kind, gpu.backend, gpu.driver);
        let mut features = vec![];
        for (name, there) in [
            ("f16", caps.f16),
            ("int64", caps.int64),
            ("immediates", caps.immediates),
            ("cooperative matrices", caps.cooperative),
            ("timestamps", gpu.timestamps),
            ("pipeline cache", gpu.pipeline_cache),
        ] {
            if there {
                features.push(name.to_string());
            }
        }
        features.extend(caps.subgroup.map(|lanes| format!("subgroups of {lanes} or more")));
        println!(
            "         {}",
            if features.is_empty() { "no optional features".into() } else { features.join(", ") }
        );
        println!(
            "         buffers to {} MiB, bound to {} MiB; {} lanes and {} KiB of memory a workgroup; {} bindings",
            gpu.buffer_bytes >> 20,
            caps.binding_bytes >> 20,
            caps.lanes,
            caps.workgroup_bytes >> 10,
            caps.buffers,
        );
        if gpu.software {
            println!("         a program, not a GPU: used only if FORNAX_DEVICE or --device names it");
        }
        print_peaks(&gpu.device, gpu.software, measure);
    }
}

/// What cannot be opened is said, and the rest of the machine is shown.
fn print_peaks(name: &str, software: bool, measure: bool) {
    let device = match Device::open(name) {
        Ok(device) => device,
        Err(error) => {
            println!("         it cannot be used: {error}");
            return;
        }
    };
    let peaks = match (device.remembered_peaks(), measure, software) {
        (_, true, _) => device.measure_peaks(),
        (Some(peaks), ..) => Ok(peaks),
        (None, _, false) => device.measure_peaks(),
        (None, _, true) => {
            println!("         peaks not measured; --measure does");
            return;
        }
    };
    match peaks {
        Ok(peaks) => print!("{}", lines(&peaks)),
        // What cannot be measured is said, and the rest of the machine is shown.
        Err(error) => println!("         peaks could not be measured: {error}"),
    }
}

fn lines(peaks: &Peaks) -> String {
    let shown = |figure: Option<Measured>, unit: fn(f64) -> String| match figure {
        Some(m) if m.value > 0.0 => format!("{} ±{:.0}%", unit(m.value), 50.0 * m.spread / m.value),
        _ => "-".into(),
    };
    let mut out = format!("         peaks measured {}\n", ago(peaks.when));
    for (what, figure, unit) in [
        ("copy", Some(peaks.copy), bandwidth as fn(f64) -> String),
        ("read", Some(peaks.read), bandwidth),
        ("f32", Some(peaks.f32), rate),
        ("f16", peaks.f16, rate),
        ("f16 cooperative", peaks.cooperative, rate),
        ("one more launch", Some(peaks.launch), seconds),
        ("upload", Some(peaks.upload), bandwidth),
        ("read back", Some(peaks.readback), bandwidth),
    ] {
        out += &format!("           {what:16} {}\n", shown(figure, unit));
    }
    out
}

#[cfg(target_arch = "x86_64")]
fn simd() -> Vec<&'static str> {
    let known = [
        ("sse4.2", is_x86_feature_detected!("sse4.2")),
        ("avx", is_x86_feature_detected!("avx")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("f16c", is_x86_feature_detected!("f16c")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512bw", is_x86_feature_detected!("avx512bw")),
        ("avx512vnni", is_x86_feature_detected!("avx512vnni")),
        ("avx512bf16", is_x86_feature_detected!("avx512bf16")),
    ];
    known.into_iter().filter_map(|(name, here)| here.then_some(name)).collect()
}

#[cfg(target_arch = "aarch64")]
fn simd() -> Vec<&'static str> {
    let known = [
        ("neon", std::arch::is_aarch64_feature_detected!("neon")),
        ("fp16", std::arch::is_aarch64_feature_detected!("fp16")),
        ("dotprod", std::arch::is_aarch64_feature_detected!("dotprod")),
    ];
    known.into_iter().filter_map(|(name, here)| here.then_some(name)).collect()
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn simd() -> Vec<&'static str> {
    vec!["unknown"]
}
