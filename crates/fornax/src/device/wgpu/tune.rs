//! Tuning: which form of a product is fastest here. When a plan with new products is compiled, the candidates of each
//! class of sizes are compiled together, checked against the form that a rule would choose, and timed, all within a
//! budget; the fastest is used, and remembered on disk. A class that has been measured is never measured again.

use super::memory::GpuMemory;
use super::pipeline::GpuPipeline;
use super::print::{Form, candidates};
use super::{Wgpu, checked, lock};
use crate::device::{Launch, Memory, Way};
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::kernel::{Body, Kernel, MatMul, Port, Source};
use crate::store;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use web_time::Instant;

/// The number rises when there are new forms: what was measured without them is measured again.
const KIND: &str = "tuning-10";
/// Products with fewer operations end too soon for a choice to matter.
const WORTH: u64 = 50_000_000;
/// How many of a product's forms are measured when a plan is compiled, and how many for somebody who asks.
const MOST: usize = 5;
const ASKED: usize = 20;
/// How long a candidate runs in one measurement, in seconds, and how many launches that may be.
const RUN: f64 = 1e-3;
const MOST_LAUNCHES: usize = 100;

/// What has been measured, by class of sizes.
pub(super) struct Tuner {
    /// Names the adapter, the driver and the version.
    key: String,
    /// Candidates of a plan are compiled for half of it, those of one class measured for a tenth; none if it is zero.
    budget: Mutex<Duration>,
    known: Mutex<FxHashMap<String, String>>,
    /// Held while candidates are timed.
    measuring: Mutex<()>,
    /// What fills memories, by dtype.
    fills: Mutex<FxHashMap<DType, wgpu::ComputePipeline>>,
    /// The form that a test wants of all products.
    #[cfg(test)]
    pub forced: Mutex<Option<Form>>,
}

impl Tuner {
    pub fn open(key: &str, budget: Duration) -> Tuner {
        let stored = store::load(KIND, key).and_then(|bytes| String::from_utf8(bytes).ok());
        Tuner {
            key: key.into(),
            budget: Mutex::new(budget),
            known: Mutex::new(stored.as_deref().map(parse).unwrap_or_default()),
            measuring: Mutex::default(),
            fills: Mutex::default(),
            #[cfg(test)]
            forced: Mutex::default(),
        }
    }

    pub fn set_budget(&self, budget: Duration) {
        *lock(&self.budget) = budget;
    }

    /// The form measured for a class, if it is still one of the candidates.
    fn recall(&self, class: &str, candidates: &[Form]) -> Option<Form> {
        let known = lock(&self.known);
        let name = known.get(class)?;
        candidates.iter().copied().find(|form| form.to_string() == *name)
    }

    /// Adds what was found to what other processes may have found meanwhile.
    fn remember(&self, found: &[(String, Form)]) {
        let mut known = lock(&self.known);
        if let Some(stored) = store::load(KIND, &self.key).and_then(|bytes| String::from_utf8(bytes).ok()) {
            for (class, form) in parse(&stored) {
                known.entry(class).or_insert(form);
            }
        }
        known.extend(found.iter().map(|(class, form)| (class.clone(), form.to_string())));
        let mut lines: Vec<String> =
            known.iter().map(|(class, form)| format!("{class} = {form}\n")).collect();
        lines.sort();
        store::save(KIND, &self.key, lines.concat().as_bytes());
    }
}

fn parse(text: &str) -> FxHashMap<String, String> {
    let pair = |line: &str| line.split_once(" = ").map(|(class, form)| (class.into(), form.into()));
    text.lines().filter_map(pair).collect()
}

/// Products of one class take the same form: sizes rounded up to quarters of an octave, dtypes, which way the operands lie,
/// how many memories the epilogue reads and writes, and how much runs beside them.
fn class(body: &MatMul, kernel: &Kernel) -> String {
    let round = |n: usize| {
        let shift = n.max(1).ilog2().saturating_sub(2);
        n.div_ceil(1 << shift) << shift
    };
    let side = |matrix: &crate::kernel::Matrix| {
        let rank = matrix.view.strides.len();
        let way = if matrix.view.strides[rank - 1] == 1 { "rows" } else { "columns" };
        format!("{} of {} {way}", matrix.dtype, kernel.reads[matrix.read].dtype)
    };
    let batch: usize = body.batch.iter().product();
    let [b, m, n, k] = [batch, body.m, body.n, body.k].map(round);
    let segment = &body.epilogue.segments[0];
    let read = segment.loads.iter().filter(|load| matches!(load.source, Source::Memory(_))).count();
    let (left, right, written) = (side(&body.left), side(&body.right), segment.stores.len());
    let beside = if kernel.beside > 1 { format!(", one of {}", kernel.beside) } else { String::new() };
    format!("{b}x{m}x{n}x{k}, {left}, {right}, epilogue {read} to {written}{beside}")
}

/// Work that keeps a GPU busy for some milliseconds and means nothing.
pub(super) struct Busy {
    pipeline: wgpu::ComputePipeline,
    memory: GpuMemory,
}

impl Busy {
    const GROUPS: u32 = 4096;
    const TEXT: &str = "
@group(0) @binding(0) var<storage, read_write> w: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  var x = w[id.x];
  for (var i = 0u; i < 8192u; i++) { x = fma(x, 0.999, 0.001); }
  w[id.x] = x;
}";

    pub fn new(gpu: &Wgpu) -> Result<Busy> {
        let memory = gpu.memory(Busy::GROUPS as usize * 64 * 4)?;
        Ok(Busy { pipeline: gpu.helper("busy", Busy::TEXT)?, memory })
    }

    pub fn run(&self, gpu: &Wgpu) -> Result<()> {
        gpu.submits.submit_uncounted(gpu.over(&self.memory, &self.pipeline, Busy::GROUPS, 8));
        gpu.drain()
    }
}

/// A product to be measured, for all of its class.
struct Subject<'a> {
    class: String,
    kernel: &'a Kernel,
    forms: Vec<Form>,
}

/// A form, and the seconds that it takes if there was time to measure it and it computes what it should.
struct Measured {
    form: Form,
    seconds: Option<f64>,
    /// The seconds that it takes on an idle device, if somebody asked.
    alone: Option<f64>,
}

/// The fastest form. Of those that differ by less than times do from run to run, the most promising one.
fn fastest(measured: &[Measured]) -> Option<Form> {
    const ALIKE: f64 = 1.02;
    let timed = || measured.iter().filter_map(|m| m.seconds.map(|seconds| (seconds, m.form)));
    let least = timed().map(|(seconds, _)| seconds).min_by(f64::total_cmp)?;
    timed().find(|(seconds, _)| *seconds <= least * ALIKE).map(|(_, form)| form)
}

impl Wgpu {
    /// The forms that the products among the kernels should take, measuring those that are new.
    pub(super) fn tuned(&self, kernels: &[&Kernel]) -> Vec<Option<Form>> {
        #[cfg(test)]
        if let Some(form) = *lock(&self.tuner.forced) {
            return kernels.iter().map(|k| matches!(k.body, Body::MatMul(_)).then_some(form)).collect();
        }
        let budget = *lock(&self.tuner.budget);
        let mut subjects: Vec<Subject<'_>> = vec![];
        let mut answers: Vec<(Option<Form>, Option<usize>)> = vec![];
        for &kernel in kernels {
            let Body::MatMul(body) = &kernel.body else {
                answers.push((None, None));
                continue;
            };
            let (class, mut forms) = (class(body, kernel), candidates(body, kernel.beside, &self.caps));
            let sizes = body.batch.iter().chain([&body.m, &body.n, &body.k]);
            let work = sizes.fold(2u64, |work, &n| work.saturating_mul(n as u64));
            let recalled = self.tuner.recall(&class, &forms);
            if recalled.is_some() || forms.len() == 1 || work < WORTH || budget.is_zero() {
                answers.push((recalled, None));
                continue;
            }
            forms.truncate(MOST);
            let at = subjects.iter().position(|s| s.class == class).unwrap_or_else(|| {
                subjects.push(Subject { class, kernel, forms });
                subjects.len() - 1
            });
            answers.push((None, Some(at)));
        }
        if subjects.is_empty() {
            return answers.into_iter().map(|(form, _)| form).collect();
        }
        let best = self.sweep(&subjects, budget);
        let pairs = subjects.iter().zip(&best);
        let found: Vec<(String, Form)> =
            pairs.filter_map(|(s, best)| best.map(|form| (s.class.clone(), form))).collect();
        self.tuner.remember(&found);
        answers.into_iter().map(|(form, at)| form.or_else(|| at.and_then(|at| best[at]))).collect()
    }

    /// Does something, mostly compiling, while the GPU is kept at work, so that its clocks are up afterwards: one that was idle
    /// takes a third of a second for that, and at low clocks other forms are the fastest. Software has no clocks.
    fn awake<R>(&self, budget: Duration, f: impl FnOnce() -> R) -> R {
        const LEAST: Duration = Duration::from_millis(400);
        if self.software {
            return f();
        }
        let (start, done) = (Instant::now(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let work = || {
                // A device that cannot do this will say so where it matters.
                let Ok(work) = Busy::new(self) else { return };
                while !done.load(Ordering::Relaxed) || start.elapsed() < LEAST.min(budget) {
                    if work.run(self).is_err() {
                        return;
                    }
                }
            };
            // Where no thread can be had, clocks are what they are.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            let result = f();
            done.store(true, Ordering::Relaxed);
            result
        })
    }

    /// The fastest form of each product that could be compiled and measured within the budget.
    fn sweep(&self, subjects: &[Subject<'_>], budget: Duration) -> Vec<Option<Form>> {
        let start = Instant::now();
        // The most promising forms of all subjects first, so that none goes without.
        let mut tasks: Vec<(usize, usize)> = subjects
            .iter()
            .enumerate()
            .flat_map(|(at, subject)| (0..subject.forms.len()).map(move |rank| (rank, at)))
            .collect();
        tasks.sort_unstable();
        let compile = || -> Vec<(usize, Form, GpuPipeline)> {
            let tasks = tasks.par_iter().with_max_len(1);
            let tasks = tasks.filter(|(rank, _)| *rank == 0 || start.elapsed() < budget / 2);
            let compiled = tasks.filter_map(|&(rank, at)| {
                let form = subjects[at].forms[rank];
                let pipeline = GpuPipeline::new(self, subjects[at].kernel, Some(form)).ok()?;
                Some((at, form, pipeline))
            });
            compiled.collect()
        };
        let compiled = self.awake(budget / 2, compile);
        let winner = |(at, subject): (usize, &Subject<'_>)| {
            let deadline = Instant::now() + budget.mul_f64(0.1);
            let own = compiled.iter().filter(|c| c.0 == at).map(|(_, form, pipeline)| (*form, pipeline));
            let measured = self.measure(subject.kernel, &own.collect::<Vec<_>>(), deadline, false).ok()?;
            fastest(&measured)
        };
        subjects.iter().enumerate().map(winner).collect()
    }

    /// Every form of a product with the seconds that it takes; with `keep` the fastest is remembered.
    pub(super) fn all_forms(&self, kernel: &Kernel, keep: bool) -> Result<Vec<Way>> {
        let Body::MatMul(body) = &kernel.body else { return Ok(vec![]) };
        let mut forms = candidates(body, kernel.beside, &self.caps);
        forms.truncate(ASKED);
        // A form that the driver refuses is none.
        let compile = |&form: &Form| Some((form, GpuPipeline::new(self, kernel, Some(form)).ok()?));
        const BUDGET: Duration = Duration::from_secs(10);
        let compiled: Vec<(Form, GpuPipeline)> =
            self.awake(BUDGET, || forms.par_iter().filter_map(compile).collect());
        let borrowed: Vec<(Form, &GpuPipeline)> = compiled.iter().map(|(form, p)| (*form, p)).collect();
        let measured = self.measure(kernel, &borrowed, Instant::now() + BUDGET, true)?;
        if let Some(form) = fastest(&measured).filter(|_| keep) {
            self.tuner.remember(&[(class(body, kernel), form)]);
        }
        self.kept.settle();
        let way = |m: Measured| Way { name: m.form.to_string(), seconds: m.seconds, alone: m.alone };
        Ok(measured.into_iter().map(way).collect())
    }

    /// Runs forms of one kernel on made-up operands, with `alone` also on an idle device. The first is taken to be right;
    /// one that computes something else has no time.
    fn measure(
        &self,
        kernel: &Kernel,
        forms: &[(Form, &GpuPipeline)],
        deadline: Instant,
        alone: bool,
    ) -> Result<Vec<Measured>> {
        let _alone = lock(&self.tuner.measuring);
        let memory = |port: &Port| self.memory(port.len * port.dtype.size());
        let reads: Vec<GpuMemory> = kernel.reads.iter().map(memory).collect::<Result<_>>()?;
        let writes: Vec<GpuMemory> = kernel.writes.iter().map(memory).collect::<Result<_>>()?;
        let read: Vec<&dyn Memory> = reads.iter().map(|m| m as &dyn Memory).collect();
        let written: Vec<&dyn Memory> = writes.iter().map(|m| m as &dyn Memory).collect();
        // A launch whose memories were not used before in its batch does not wait for the launches before it.
        let set = |_| kernel.writes.iter().map(memory).collect::<Result<_>>().ok();
        let unused: Vec<Vec<GpuMemory>> = (0..unused(kernel)).map_while(set).collect();
        // Their first use would zero them, which no form shall be charged for.
        if !unused.is_empty() {
            let mut encoder = self.device.create_command_encoder(&Default::default());
            unused.iter().flatten().for_each(|memory| encoder.clear_buffer(&memory.buffer, 0, None));
            self.submits.submit([encoder.finish()]);
        }
        let unused: Vec<Vec<&dyn Memory>> =
            unused.iter().map(|set| set.iter().map(|m| m as &dyn Memory).collect()).collect();
        let args = vec![Scalar::Int(0); kernel.args.len()];
        let batch = |of: usize, times: usize| -> Vec<Launch<'_>> {
            let mut unused = unused.iter();
            let mut launch = |i: usize| {
                let waits = i.is_multiple_of(kernel.beside);
                let writes = if waits { &written } else { unused.next().unwrap_or(&written) };
                Launch { kernel, pipeline: forms[of].1, reads: &read, writes, args: &args }
            };
            (0..times).map(&mut launch).collect()
        };
        let most = match unused.len() {
            0 => MOST_LAUNCHES,
            unused => unused * kernel.beside / (kernel.beside - 1),
        };
        let seconds = |of: usize, times: usize| -> Result<f64> {
            let times = times.min(most);
            let ends = self.timed(&batch(of, times), &[0, times])?;
            Ok((ends[1] - ends[0]) / times as f64)
        };
        let mut operands = kernel.reads.iter().zip(&reads);
        operands.try_for_each(|(port, memory)| self.fill(port.dtype, memory))?;
        let mut right: Option<Vec<Vec<f32>>> = None;
        let mut measured: Vec<Measured> = vec![];
        for (of, &(form, _)) in forms.iter().enumerate() {
            // The first is used if there is no time to compare it with others.
            if of > 0 && Instant::now() > deadline {
                measured.push(Measured { form, seconds: None, alone: None });
                continue;
            }
            self.encode(&batch(of, 1), None)?;
            let ports = kernel.writes.iter().zip(&writes).enumerate();
            let samples = ports
                .map(|(n, (port, memory))| self.sample(port, memory, between_rows(kernel, n)))
                .collect::<Result<Vec<_>>>()?;
            let right = right.get_or_insert_with(|| samples.clone());
            let pairs = kernel.writes.iter().zip(right.iter().zip(&samples));
            let agree = pairs.into_iter().all(|(port, (x, y))| agree(port.dtype, x, y));
            let seconds = if agree { Some(seconds(of, 1)?) } else { None };
            measured.push(Measured { form, seconds, alone: None });
        }
        // Clocks are up by now: longer runs of all, then again of those that came near the first. A form for which there
        // was no time cannot win.
        let mut best = f64::INFINITY;
        for round in 0..3 {
            let limit = 1.3 * best;
            for (of, m) in measured.iter_mut().enumerate() {
                let Some(before) = m.seconds.filter(|&s| round == 0 || s <= limit) else { continue };
                if round == 0 && of > 0 && Instant::now() > deadline {
                    m.seconds = None;
                } else if round == 0 || Instant::now() < deadline {
                    let times = (RUN / before.max(1e-6)).ceil().clamp(1.0, MOST_LAUNCHES as f64) as usize;
                    let now = seconds(of, times)?;
                    m.seconds = Some(if round == 0 { now } else { before.min(now) });
                    best = best.min(now);
                }
            }
        }
        for (of, m) in measured.iter_mut().enumerate().filter(|(_, m)| alone && m.seconds.is_some()) {
            if Instant::now() < deadline {
                let mut times = (0..5).map(|_| seconds(of, 1)).collect::<Result<Vec<f64>>>()?;
                times.sort_by(f64::total_cmp);
                m.alone = Some(times[2]);
            }
        }
        Ok(measured)
    }

    /// The first and the last elements of a memory, zero for those that are nobody's.
    fn sample(
        &self,
        port: &Port,
        memory: &GpuMemory,
        is_nobodys: impl Fn(usize) -> bool,
    ) -> Result<Vec<f32>> {
        const MOST: u64 = 1 << 18;
        let bytes = ((port.len * port.dtype.size()) as u64).next_multiple_of(4);
        let part = bytes.min(MOST);
        let both = self.memory(2 * part as usize)?;
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&memory.buffer, 0, &both.buffer, 0, part);
        encoder.copy_buffer_to_buffer(&memory.buffer, bytes - part, &both.buffer, part, part);
        self.submits.submit([encoder.finish()]);
        let mut values: Vec<f32> =
            self.read(&both.buffer, 0..2 * part as usize)?.take(|bytes| match port.dtype {
                DType::F16 => {
                    bytes.chunks_exact(2).map(|b| half::f16::from_le_bytes([b[0], b[1]]).to_f32()).collect()
                }
                DType::BF16 => {
                    bytes.chunks_exact(2).map(|b| half::bf16::from_le_bytes([b[0], b[1]]).to_f32()).collect()
                }
                DType::F32 => {
                    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
                }
                _ => bytes.iter().map(|&b| b as f32).collect(),
            })?;
        let (half, size) = (values.len() / 2, port.dtype.size() as u64);
        let skipped = ((bytes - part) / size) as usize;
        for (i, value) in values.iter_mut().enumerate() {
            let at = if i < half { i } else { skipped + i - half };
            if is_nobodys(at) {
                *value = 0.0;
            }
        }
        Ok(values)
    }

    /// Fills a memory of floats with numbers from -0.5 to 0.5; others stay zero.
    fn fill(&self, dtype: DType, memory: &GpuMemory) -> Result<()> {
        let word = match dtype {
            DType::F32 => "bitcast<u32>(x)",
            DType::F16 => "pack2x16float(vec2<f32>(x, y))",
            DType::BF16 => "(bitcast<u32>(x) & 0xffff0000u) | (bitcast<u32>(y) >> 16u)",
            _ => return Ok(()),
        };
        let mut fills = lock(&self.tuner.fills);
        let pipeline = match fills.entry(dtype) {
            Entry::Occupied(made) => made.into_mut(),
            Entry::Vacant(place) => place.insert(self.helper("fill", &FILL.replace("WORD", word))?),
        };
        self.submits.submit([self.over(memory, pipeline, 1024, 1)]);
        Ok(())
    }

    /// A pipeline of the tuner's own, whose text works on one memory.
    fn helper(&self, label: &str, text: &str) -> Result<wgpu::ComputePipeline> {
        let source = wgpu::ShaderSource::Wgsl(text.into());
        let module = wgpu::ShaderModuleDescriptor { label: Some(label), source };
        let make = || {
            self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(label),
                layout: None,
                module: &self.device.create_shader_module(module),
                entry_point: Some("main"),
                compilation_options: Default::default(),
                cache: self.kept.driver.as_ref(),
            })
        };
        let refused = |e| Error::Device { device: self.name.clone(), detail: format!("{label}: {e}") };
        checked(&self.device, make).map_err(refused)
    }

    /// Such a pipeline at work on a memory, so many times.
    fn over(
        &self,
        memory: &GpuMemory,
        pipeline: &wgpu::ComputePipeline,
        groups: u32,
        times: usize,
    ) -> wgpu::CommandBuffer {
        let entry = wgpu::BindGroupEntry { binding: 0, resource: memory.buffer.as_entire_binding() };
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[entry],
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &group, &[]);
        (0..times).for_each(|_| pass.dispatch_workgroups(groups, 1, 1));
        drop(pass);
        encoder.finish()
    }
}

/// How many more memories for results it takes to run a product among as many as it may run. None if it runs alone and where
/// they would take too much memory: such products are measured one after another.
fn unused(kernel: &Kernel) -> usize {
    const MOST_BYTES: usize = 64 << 20;
    if kernel.beside == 1 {
        return 0;
    }
    let bytes: usize = kernel.writes.iter().map(|port| port.len * port.dtype.size()).sum();
    let sets = (MOST_LAUNCHES - MOST_LAUNCHES / kernel.beside).min(MOST_BYTES / bytes.max(1));
    // Fewer make a measurement too short.
    if sets < kernel.beside { 0 } else { sets }
}

/// Which elements of a product's result lie between its rows: forms may leave there what they like.
fn between_rows(kernel: &Kernel, write: usize) -> impl Fn(usize) -> bool {
    let store = match &kernel.body {
        Body::MatMul(body) => body.epilogue.segments[0].stores.iter().find(|s| s.write == write),
        _ => None,
    };
    let row = store.and_then(|s| s.view.shape.last()).copied().unwrap_or(1);
    let spare = store.map_or(0, |s| s.spare);
    move |at| spare > 0 && at % (row + spare) >= row
}

/// Whether two samples differ by no more than the order of a sum explains. What is no number in both is equal.
fn agree(dtype: DType, right: &[f32], other: &[f32]) -> bool {
    let share = match dtype {
        DType::F32 => 1e-4,
        DType::F16 => 4e-3,
        DType::BF16 => 2e-2,
        _ => 0.0,
    };
    let largest = right.iter().filter(|x| x.is_finite()).fold(0.0f32, |m, x| m.max(x.abs()));
    let near = |(x, y): (&f32, &f32)| x == y || (x - y).abs() <= share * largest || x.is_nan() && y.is_nan();
    right.len() == other.len() && right.iter().zip(other).all(near)
}

const FILL: &str = "
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  for (var i = id.x; i < arrayLength(&words); i += 262144u) {
    var h = i * 747796405u + 2891336453u;
    h = ((h >> ((h >> 28u) + 4u)) ^ h) * 277803737u;
    h = (h >> 22u) ^ h;
    let x = f32(h & 0xffffu) / 65536.0 - 0.5;
    let y = f32(h >> 16u) / 65536.0 - 0.5;
    words[i] = WORD;
  }
}";

#[cfg(test)]
mod tests {
    use super::super::print::Tile;
    use super::super::tests::limited;
    use super::*;
    use crate::device::Backend;
    use crate::{Device, Tensor};

    #[test]
    fn forms_that_are_alike_keep_their_order() {
        let tile = Tile { rows: 32, columns: 32, depth: 8, lane_rows: 4, lane_columns: 4 };
        let winner = |times: &[Option<f64>]| {
            let measured =
                |(parts, &seconds)| Measured { form: Form::Tile(tile, parts), seconds, alone: None };
            let found = fastest(&times.iter().enumerate().map(measured).collect::<Vec<_>>())?;
            (0..times.len()).position(|parts| found == Form::Tile(tile, parts))
        };
        assert_eq!(winner(&[Some(1.01), Some(1.0)]), Some(0));
        assert_eq!(winner(&[Some(1.05), Some(1.0), Some(0.99)]), Some(1));
        assert_eq!(winner(&[None, Some(2.0), Some(1.0)]), Some(2));
        assert_eq!(winner(&[None]), None);
    }

    #[test]
    fn only_the_first_form_runs_when_the_time_is_over() -> Result<()> {
        let Some((gpu, device)) = limited(|caps| caps) else { return Ok(()) };
        let operand =
            |shape: &[usize]| Tensor::ones(shape, DType::F32, &device).and_then(|x| x.eval().map(|()| x));
        let plan = crate::realize::plan(&[&operand(&[256, 64])?.matmul(&operand(&[64, 256])?)?])?;
        let kernel = &plan.steps[0].kernel;
        let Body::MatMul(body) = &kernel.body else { panic!("{plan}") };
        let forms = candidates(body, 1, &gpu.caps).into_iter().take(3);
        let forms = forms.map(|form| Ok((form, GpuPipeline::new(&gpu, kernel, Some(form))?)));
        let forms = forms.collect::<Result<Vec<_>>>()?;
        let forms: Vec<(Form, &GpuPipeline)> =
            forms.iter().map(|(form, pipeline)| (*form, pipeline)).collect();
        let run = |forms: &[(Form, &GpuPipeline)]| -> Result<(Vec<Measured>, u64)> {
            let before = gpu.counts().passes;
            let measured = gpu.measure(kernel, forms, Instant::now(), true)?;
            Ok((measured, gpu.counts().passes - before))
        };
        // What fills memories is compiled.
        run(&forms[..1])?;
        let ((alone, least), (measured, passes)) = (run(&forms[..1])?, run(&forms)?);
        assert!(alone[0].seconds.is_some() && measured[0].seconds.is_some());
        assert!(measured[1..].iter().all(|m| m.seconds.is_none() && m.alone.is_none()));
        assert_eq!((measured.len(), passes), (3, least), "no other form was launched");
        assert_eq!(fastest(&measured), Some(forms[0].0));
        Ok(())
    }

    #[test]
    fn products_of_like_sizes_with_like_epilogues_are_a_class() -> Result<()> {
        let zeros = |shape: &[usize]| {
            Tensor::zeros(shape, DType::F32, &Device::cpu()).and_then(|x| x.eval().map(|()| x))
        };
        let class = |tensor: Tensor| -> Result<String> {
            let plan = crate::realize::plan(&[&tensor])?;
            let found = plan.steps.iter().find_map(|step| match &step.kernel.body {
                Body::MatMul(body) => Some(class(body, &step.kernel)),
                _ => None,
            });
            Ok(found.unwrap_or_default())
        };
        let product = |m: usize| zeros(&[m, 64])?.matmul(&zeros(&[64, 96])?);
        let plain = class(product(60)?)?;
        assert_eq!(plain, class(product(64)?)?);
        assert_ne!(plain, class(product(65)?)?);
        assert_ne!(plain, class(product(64)?.add(&zeros(&[96])?)?)?);
        assert_ne!(plain, class(zeros(&[64, 64])?.t()?.matmul(&zeros(&[64, 96])?)?)?);
        Ok(())
    }
}
