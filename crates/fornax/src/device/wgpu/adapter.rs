//! Adapters: which GPUs there are, which one a name means, and what it can do.

use super::memory::whole_lines_below;
use super::print::Caps;
use crate::device::Clock;
use crate::error::{Error, Result};

/// A GPU of this machine, as `fornax info` shows it.
#[derive(Clone, Debug)]
pub struct AdapterReport {
    /// The name that [`crate::Device::open`] takes.
    pub device: String,
    /// The name that the driver gives.
    pub name: String,
    /// discrete, integrated, virtual, cpu (software) or other.
    pub kind: String,
    /// Vulkan, Metal, Dx12, ..
    pub backend: String,
    /// The driver and its version.
    pub driver: String,
    /// What printed kernels may use.
    pub caps: Caps,
    /// The largest buffer, in bytes.
    pub buffer_bytes: u64,
    /// Whether launches can be timed by the GPU's clock.
    pub timestamps: bool,
    /// Whether compiled pipelines can be kept on disk.
    pub pipeline_cache: bool,
    /// Whether it is a program that plays a GPU.
    pub software: bool,
}

pub(super) fn instance() -> wgpu::Instance {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    // No validation layers; and the flag that would clamp buffers to 4 GiB stays off.
    descriptor.flags = wgpu::InstanceFlags::empty();
    wgpu::Instance::new(descriptor)
}

/// All adapters, real ones first. A browser has one.
async fn all(instance: &wgpu::Instance) -> Vec<wgpu::Adapter> {
    use wgpu::Backends as B;
    let backends = B::VULKAN | B::METAL | B::DX12 | B::BROWSER_WEBGPU;
    let mut adapters = instance.enumerate_adapters(backends).await;
    let rank = |a: &wgpu::Adapter| match a.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    };
    adapters.sort_by_key(rank);
    adapters
}

pub(super) fn is_software(adapter: &wgpu::Adapter) -> bool {
    adapter.get_info().device_type == wgpu::DeviceType::Cpu
}

/// What an adapter is called; a browser need not say.
fn title(adapter: &wgpu::Adapter) -> String {
    let info = adapter.get_info();
    if info.name.is_empty() { format!("{:?}", info.backend) } else { info.name }
}

/// The adapter that a name means: "wgpu" (the best one), "wgpu:1" (by number), "wgpu:name" (part of its name).
pub(super) async fn find(instance: &wgpu::Instance, name: &str) -> Result<(usize, wgpu::Adapter)> {
    let adapters = all(instance).await;
    let missing = |detail: String| Error::NoDevice { name: name.into(), detail };
    let titles: Vec<String> = adapters.iter().map(title).collect();
    let found = position(name, &titles);
    let adapter = found.and_then(|at| adapters.into_iter().nth(at).map(|adapter| (at, adapter)));
    adapter.ok_or_else(|| {
        missing(match titles.len() {
            0 if cfg!(target_family = "wasm") => {
                "the browser offers no WebGPU adapter; is WebGPU switched on? Use the cpu device".into()
            }
            0 => {
                "no Vulkan, Metal or DX12 adapter was found; is a driver installed? Use the cpu device".into()
            }
            1 => format!("there is one adapter, wgpu:0: {}", titles[0]),
            count => format!("there are {count} adapters, wgpu:0 and so on: {}", titles.join(", ")),
        })
    })
}

/// Which of these adapters a name means.
fn position(name: &str, titles: &[String]) -> Option<usize> {
    let Some((_, part)) = name.split_once(':') else { return (!titles.is_empty()).then_some(0) };
    // Longer numbers are those of models.
    if let Some(number) = part.parse().ok().filter(|_| part.len() <= 2) {
        return (number < titles.len()).then_some(number);
    }
    let part = part.to_lowercase();
    titles.iter().position(|title| title.to_lowercase().contains(&part))
}

/// Whether kernels can do with what an adapter has at most.
pub(super) fn suffices(name: &str, adapter: &wgpu::Adapter) -> Result<()> {
    /// What WebGPU promises of every adapter.
    const LANES: u32 = 256;
    match caps(adapter).lanes {
        LANES.. => Ok(()),
        lanes => {
            let detail =
                format!("its workgroups have {lanes} lanes, and kernels need {LANES}; use the cpu device");
            Err(Error::NoDevice { name: name.into(), detail })
        }
    }
}

/// The features that Fornax asks for where they exist.
pub(super) fn features(adapter: &wgpu::Adapter) -> wgpu::Features {
    use wgpu::Features as F;
    adapter.features()
        & (F::SHADER_F16
            | F::SHADER_INT64
            | F::SUBGROUP
            | F::IMMEDIATES
            | F::TIMESTAMP_QUERY
            | F::TIMESTAMP_QUERY_INSIDE_ENCODERS
            | F::TIMESTAMP_QUERY_INSIDE_PASSES
            | F::PIPELINE_CACHE
            | F::EXPERIMENTAL_COOPERATIVE_MATRIX)
}

/// The closest clock that these features offer.
pub(super) fn clock(features: wgpu::Features) -> Clock {
    use wgpu::Features as F;
    if !features.contains(F::TIMESTAMP_QUERY) {
        Clock::Submits
    } else if !features.contains(F::TIMESTAMP_QUERY_INSIDE_PASSES) {
        Clock::Passes
    } else {
        Clock::Timestamps
    }
}

/// Lanes that surely share a subgroup: those of the smallest that a driver may choose. Metal names no sizes; all of
/// Apple's own GPUs have 32.
fn subgroup(info: &wgpu::AdapterInfo) -> Option<u32> {
    let own = info.name.starts_with("Apple") && !info.name.contains("Paravirtual");
    let apple = info.backend == wgpu::Backend::Metal && own;
    let lanes = if apple { 32 } else { info.subgroup_min_size };
    (lanes.is_power_of_two() && lanes >= 4).then_some(lanes)
}

/// What the printers may use.
pub(super) fn caps(adapter: &wgpu::Adapter) -> Caps {
    use wgpu::Features as F;
    let (features, limits, info) = (features(adapter), adapter.limits(), adapter.get_info());
    let subgroup = if features.contains(F::SUBGROUP) { subgroup(&info) } else { None };
    let cooperative = features.contains(F::EXPERIMENTAL_COOPERATIVE_MATRIX)
        && features.contains(F::SHADER_F16)
        && subgroup == Some(32)
        && info.subgroup_max_size == 32
        && adapter.cooperative_matrix_properties().iter().any(|p| {
            (p.m_size, p.n_size, p.k_size) == (16, 16, 16)
                && p.ab_type == wgpu::CooperativeScalarType::F16
                && p.cr_type == wgpu::CooperativeScalarType::F32
        });
    let lanes = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x);
    // Reductions halve them.
    let lanes = 1 << lanes.clamp(1, 1024).ilog2();
    Caps {
        f16: features.contains(F::SHADER_F16),
        int64: features.contains(F::SHADER_INT64),
        subgroup,
        immediates: features.contains(F::IMMEDIATES) && limits.max_immediate_size >= 128,
        cooperative,
        exp_keeps_nan: !is_software(adapter),
        // Part of WGSL: naga writes the hardware's instruction where there is one. Browsers need not know it.
        packed: !cfg!(target_family = "wasm"),
        lanes,
        workgroup: lanes.min(256),
        workgroup_bytes: limits.max_compute_workgroup_storage_size,
        buffers: limits.max_storage_buffers_per_shader_stage.min(limits.max_bindings_per_bind_group),
        groups: limits.max_compute_workgroups_per_dimension.min(65_535),
        // A buffer is bound whole, and is whole lines long; texts count bytes in 32 bits.
        binding_bytes: whole_lines_below(limits.max_storage_buffer_binding_size.min(u32::MAX as u64)),
        // No API tells the number of cores; a software adapter has few, a GPU up to a couple of hundred.
        parallel: if is_software(adapter) { 8 } else { 512 },
    }
}

/// How long the forms of new products may be measured when a plan is compiled. Software is too slow to be worth it, and a
/// browser cannot wait for a measurement.
pub(super) fn tuning_budget(adapter: &wgpu::Adapter) -> std::time::Duration {
    let none = is_software(adapter) || cfg!(target_family = "wasm");
    std::time::Duration::from_secs(if none { 0 } else { 2 })
}

/// What `fornax info` shows of every adapter. Nothing in a browser: see [`adapters_async`].
pub fn adapters() -> Vec<AdapterReport> {
    super::wait(adapters_async()).unwrap_or_default()
}

/// As [`adapters`], for those who must not wait.
pub async fn adapters_async() -> Vec<AdapterReport> {
    let instance = instance();
    let report = |(i, adapter): (usize, &wgpu::Adapter)| {
        let info = adapter.get_info();
        AdapterReport {
            device: format!("wgpu:{i}"),
            name: title(adapter),
            kind: format!("{:?}", info.device_type).to_lowercase().replace("gpu", ""),
            backend: format!("{:?}", info.backend),
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_string(),
            caps: caps(adapter),
            buffer_bytes: adapter.limits().max_buffer_size,
            timestamps: features(adapter).contains(wgpu::Features::TIMESTAMP_QUERY),
            pipeline_cache: features(adapter).contains(wgpu::Features::PIPELINE_CACHE),
            software: is_software(adapter),
        }
    };
    all(&instance).await.iter().enumerate().map(report).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_a_number_or_a_part_of_a_title() {
        let titles =
            ["NVIDIA GeForce RTX 4090", "AMD Radeon 780M", "llvmpipe (LLVM 15.0.6)"].map(String::from);
        let cases = [
            ("wgpu", Some(0)),
            ("wgpu:1", Some(1)),
            ("wgpu:radeon", Some(1)),
            ("wgpu:4090", Some(0)),
            ("wgpu:780", Some(1)),
            ("wgpu:15", None),
            ("wgpu:3", None),
            ("wgpu:9999", None),
            ("wgpu:intel", None),
            ("wgpu:-1", None),
        ];
        for (name, at) in cases {
            assert_eq!(position(name, &titles), at, "{name}");
        }
        assert_eq!(position("wgpu", &[]), None);
    }

    #[test]
    fn lanes_of_a_subgroup_are_those_of_the_smallest() {
        let of = |backend, name: &str, smallest, largest| {
            let mut info = wgpu::AdapterInfo::new(wgpu::DeviceType::DiscreteGpu, backend);
            (info.name, info.subgroup_min_size, info.subgroup_max_size) = (name.into(), smallest, largest);
            subgroup(&info)
        };
        use wgpu::Backend as B;
        assert_eq!(of(B::Vulkan, "NVIDIA H200", 32, 32), Some(32));
        assert_eq!(of(B::Vulkan, "AMD Radeon RX 7900 XTX", 32, 64), Some(32));
        assert_eq!(of(B::Vulkan, "Intel Arc A770", 8, 32), Some(8));
        assert_eq!(of(B::Metal, "Apple M3 Pro", 4, 64), Some(32));
        assert_eq!(of(B::Metal, "Apple Paravirtual device", 4, 64), Some(4));
        assert_eq!(of(B::Metal, "AMD Radeon Pro 5500M", 4, 64), Some(4));
        assert_eq!(of(B::Dx12, "without shuffles", 0, 0), None);
    }
}
