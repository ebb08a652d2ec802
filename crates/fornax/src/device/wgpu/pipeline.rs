//! Compiled kernels: WGSL -> wgpu pipelines, with the bind groups of the memories they have met. A kernel has a
//! variant for each way in which its reads and writes share memory, made when that way is first seen.

use super::memory::GpuMemory;
use super::print::{self, Binding, Form};
use super::{Wgpu, checked, lock, own};
use crate::device::{Backend, Launch, Pipeline};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::span::{self, Phase};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::num::NonZeroU64;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};
use web_time::Instant;

/// Bind groups that a dispatch keeps.
const GROUPS: usize = 512;

/// Bind groups by the ids of their memories.
pub(super) type Groups = Mutex<FxHashMap<SmallVec<[u64; 12]>, wgpu::BindGroup>>;

/// One dispatch, ready to be encoded.
pub(super) struct Ready {
    pub pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    bindings: Vec<Binding>,
    pub grid: [u32; 2],
    /// Whether the launch arguments are immediates.
    pub immediates: bool,
    args_bytes: u64,
    groups: Arc<Groups>,
}

/// A kernel compiled for one way of sharing memory.
pub(super) struct Variant {
    aliased: Vec<bool>,
    pub dispatches: Vec<Ready>,
    scratch: Vec<wgpu::Buffer>,
    /// The variant that was needed after this one: a list that only grows, so that a launch takes no lock.
    next: OnceLock<Box<Variant>>,
}

pub(super) struct GpuPipeline {
    kernel: Kernel,
    /// Of a product: how it is computed, if that was measured.
    form: Option<Form>,
    first: Variant,
}

impl Pipeline for GpuPipeline {}

impl GpuPipeline {
    /// Compiles the variant that a steady training step will ask for: everything that can be in place is.
    pub fn new(gpu: &Wgpu, kernel: &Kernel, form: Option<Form>) -> Result<GpuPipeline> {
        let first = Variant::new(gpu, kernel, form, vec![true; kernel.in_place.len()])?;
        Ok(GpuPipeline { kernel: kernel.clone(), form, first })
    }

    /// The variant for the memories of a launch.
    pub fn variant(&self, gpu: &Wgpu, launch: &Launch<'_>) -> Result<&Variant> {
        let mut aliased = SmallVec::<[bool; 16]>::new();
        for &(write, read) in &self.kernel.in_place {
            let (w, r) = (
                own::<GpuMemory>(launch.writes[write], "memory")?,
                own::<GpuMemory>(launch.reads[read], "memory")?,
            );
            aliased.push(w.id == r.id);
        }
        let mut variant = &self.first;
        while variant.aliased[..] != aliased[..] {
            variant = match variant.next.get() {
                Some(next) => next,
                None => {
                    let _phase = span::enter(Phase::Compile);
                    let made = Box::new(Variant::new(gpu, &self.kernel, self.form, aliased.to_vec())?);
                    gpu.kept.settle();
                    // Where another thread was faster, its variant comes next and may be another one.
                    variant.next.get_or_init(|| made)
                }
            };
        }
        Ok(variant)
    }
}

impl Variant {
    fn new(gpu: &Wgpu, kernel: &Kernel, form: Option<Form>, aliased: Vec<bool>) -> Result<Variant> {
        let printed = print::print(kernel, &aliased, form, &gpu.caps)?;
        let dispatches =
            printed.dispatches.into_iter().map(|d| Ready::new(gpu, kernel, d)).collect::<Result<Vec<_>>>()?;
        let scratch = printed.scratch.iter().map(|&bytes| gpu.scratch(bytes)).collect::<Result<Vec<_>>>()?;
        Ok(Variant { aliased, dispatches, scratch, next: OnceLock::new() })
    }

    /// The bind groups of its dispatches for the memories of a launch.
    pub fn groups<'a>(
        &'a self,
        gpu: &'a Wgpu,
        launch: &'a Launch<'_>,
        args: Option<&'a GpuMemory>,
    ) -> impl Iterator<Item = Result<wgpu::BindGroup>> + 'a {
        self.dispatches.iter().map(move |ready| self.group(gpu, ready, launch, args))
    }

    fn group(
        &self,
        gpu: &Wgpu,
        ready: &Ready,
        launch: &Launch<'_>,
        args: Option<&GpuMemory>,
    ) -> Result<wgpu::BindGroup> {
        let memory = |binding: &Binding| -> Result<(&wgpu::Buffer, Option<&GpuMemory>)> {
            let memory = match *binding {
                Binding::Read(n) => own::<GpuMemory>(launch.reads[n], "memory")?,
                Binding::Write(n) => own::<GpuMemory>(launch.writes[n], "memory")?,
                // Always the same.
                Binding::Scratch(n) => return Ok((&self.scratch[n], None)),
                Binding::Status | Binding::Reported => return Ok((&gpu.reader.status, None)),
                Binding::Args => {
                    args.ok_or_else(|| Error::Internal("a launch without its arguments".into()))?
                }
            };
            Ok((&memory.buffer, Some(memory)))
        };
        let mut key = SmallVec::new();
        for binding in &ready.bindings {
            key.push(memory(binding)?.1.map_or(0, |memory| memory.id));
        }
        let mut groups = lock(&ready.groups);
        if let Some(group) = groups.get(&key) {
            return Ok(group.clone());
        }
        let mut entries = Vec::with_capacity(ready.bindings.len());
        for (i, binding) in ready.bindings.iter().enumerate() {
            let (buffer, memory) = memory(binding)?;
            memory.into_iter().for_each(|memory| memory.bind_in(&ready.groups));
            let size = match binding {
                Binding::Args => ready.args_bytes,
                _ => buffer.size().min(gpu.largest() as u64),
            };
            let size = NonZeroU64::new(size);
            let resource = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset: 0, size });
            entries.push(wgpu::BindGroupEntry { binding: i as u32, resource });
        }
        let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &ready.layout,
            entries: &entries,
        });
        gpu.groups.fetch_add(1, Ordering::Relaxed);
        if groups.len() >= GROUPS {
            groups.clear();
        }
        groups.insert(key, group.clone());
        Ok(group)
    }
}

impl Ready {
    fn new(gpu: &Wgpu, kernel: &Kernel, dispatch: print::Dispatch) -> Result<Ready> {
        // Where tests pretend that the adapter has cooperative matrices, loops play them.
        #[cfg(test)]
        let dispatch = super::tests::without_cooperative(gpu, dispatch);
        let entry = |(i, binding): (usize, &Binding)| wgpu::BindGroupLayoutEntry {
            binding: i as u32,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: match binding {
                Binding::Args => wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Uniform,
                    has_dynamic_offset: true,
                    min_binding_size: None,
                },
                _ => wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Storage {
                        read_only: matches!(binding, Binding::Read(_) | Binding::Reported),
                    },
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
            },
            count: None,
        };
        let entries: Vec<_> = dispatch.bindings.iter().enumerate().map(entry).collect();
        let immediates = dispatch.text.contains("var<immediate>");
        let size = if immediates { (kernel.args.len() as u32 * 8).next_multiple_of(16) } else { 0 };
        let start = Instant::now();
        let make = || {
            let layout = gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: None,
                entries: &entries,
            });
            let pipeline_layout = gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(&layout)],
                immediate_size: size,
            });
            let source = wgpu::ShaderSource::Wgsl(dispatch.text.as_str().into());
            let module = wgpu::ShaderModuleDescriptor { label: Some(&kernel.label), source };
            // SAFETY: the printers address only what the views of a kernel address, which the schedule keeps inside its
            // memories (gathers clamp their index), and their loops end; tests compare all of it with the reference.
            let module = unsafe {
                gpu.device.create_shader_module_trusted(module, wgpu::ShaderRuntimeChecks::unchecked())
            };
            let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(&kernel.label),
                layout: Some(&pipeline_layout),
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: false,
                    ..Default::default()
                },
                cache: gpu.kept.driver.as_ref(),
            });
            (layout, pipeline)
        };
        let made = checked(&gpu.device, make);
        let refused =
            |e| Error::Device { device: gpu.name.clone(), detail: format!("{}: {e}", kernel.label) };
        let (layout, pipeline) = made.map_err(refused)?;
        let found = gpu.kept.note(&dispatch.text, start.elapsed());
        if found { &gpu.found } else { &gpu.compiled }.fetch_add(1, Ordering::Relaxed);
        Ok(Ready {
            pipeline,
            layout,
            bindings: dispatch.bindings,
            grid: dispatch.grid,
            immediates,
            args_bytes: (kernel.args.len() as u64 * 8).next_multiple_of(16),
            groups: Arc::default(),
        })
    }

    /// Whether the launch arguments come in a uniform buffer.
    pub fn uniform(&self) -> bool {
        self.bindings.contains(&Binding::Args)
    }
}
