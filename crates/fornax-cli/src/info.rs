//! `fornax info`.

use crate::Failure;
use fornax::Device;

/// Prints what there is.
pub fn run() -> Result<(), Failure> {
    let device = Device::best()?;
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    println!("fornax   {}", env!("CARGO_PKG_VERSION"));
    println!("device   {device}");
    println!("machine  {} {}", std::env::consts::ARCH, std::env::consts::OS);
    println!("threads  {threads}");
    println!("simd     {}", simd().join(" "));
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
        features.extend(caps.subgroup.map(|lanes| format!("subgroups of {lanes}")));
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
    }
    Ok(())
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
