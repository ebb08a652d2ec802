//! Stop 3 of the path, the conductor: what is asked for -> structural key -> plan (found or built) -> launch.

use crate::asked::Asked;
use crate::device::{Buffer, Device, Launch, Memory, Ran, Times, size_class_within};
use crate::dtype::Scalar;
use crate::error::{Error, Result};
use crate::schedule::{Output, Place, Plan, Request, schedule};
use crate::span::{self, Phase};
use crate::tensor::Tensor;
use crate::verify;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Computes tensors together, in one plan. Those that are computed already cost nothing.
///
/// ```
/// # use fornax::*;
/// let x = Tensor::arange(0, 4, 1, DType::F32, &Device::cpu())?;
/// let (sum, max) = (x.sum_all()?, x.max_all()?);
/// eval(&[&sum, &max])?;
/// assert_eq!((sum.item::<f32>()?, max.item::<f32>()?), (6.0, 3.0));
/// # Ok::<(), Error>(())
/// ```
pub fn eval(targets: &[&Tensor]) -> Result<()> {
    eval_donating(targets, &[])
}

/// Computes tensors together; the new tensor of a pair `(new, old)` takes over the memory of `old` where its kernel can
/// work in place. `old` is then gone: who still holds a handle and uses it gets [`Error::Stale`].
///
/// ```
/// # use fornax::*;
/// let old = Tensor::from_slice(&[1f32, 2.0], &[2], &Device::cpu())?;
/// let new = old.add(1.0)?;
/// eval_replacing(&[], &[(&new, &old)])?;
/// assert_eq!(new.to_vec::<f32>()?, [2.0, 3.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn eval_replacing(targets: &[&Tensor], pairs: &[(&Tensor, &Tensor)]) -> Result<()> {
    let all: Vec<&Tensor> = targets.iter().copied().chain(pairs.iter().map(|(new, _)| *new)).collect();
    let donations: Vec<_> = pairs.iter().enumerate().map(|(i, (_, old))| (targets.len() + i, *old)).collect();
    eval_donating(&all, &donations)
}

/// Computes tensors; target `i` of a pair `(i, old)` may overwrite the memory of `old`, which is then gone. It
/// does so only if nobody else holds `old`: the caller may hold two handles, itself and through a parameter.
pub(crate) fn eval_donating(targets: &[&Tensor], donations: &[(usize, &Tensor)]) -> Result<()> {
    let Some(device) = one_device(targets)? else { return Ok(()) };
    if targets.iter().all(|target| target.is_ready()) {
        return Ok(());
    }
    let lookup = span::enter(Phase::Lookup);
    let (lazy, asked, offers) = ask(targets, donations)?;
    let handles = if donations.is_empty() { vec![] } else { asked.handles() };
    let plan = find_or_build(&device, &asked, &offers)?;
    drop(lookup);

    let _phase = span::enter(Phase::Encode);
    let mut free = vec![false; asked.inputs.len()];
    for (_, input, old) in &offers {
        // Nobody else may hold the tensor, nor another tensor its memory.
        free[*input] = Arc::strong_count(&old.0) <= handles[*input] + 2
            && Arc::strong_count(&asked.inputs[*input].1) <= 2;
    }
    let inputs: Vec<&Arc<Buffer>> = asked.inputs.iter().map(|(_, buffer)| buffer).collect();
    let scalars: Vec<Scalar> = asked.scalars.iter().map(|(_, value)| *value).collect();
    let outputs = launch(&device, &plan, &inputs, &scalars, &free)?;
    for (target, &answer) in lazy.iter().zip(&plan.answers) {
        target.set_ready(outputs[answer].clone());
    }
    if !offers.is_empty() {
        let mut taken = vec![false; free.len()];
        plan.outputs.iter().filter_map(|output| output.takes).for_each(|input| taken[input] = free[input]);
        offers.iter().filter(|(_, input, _)| taken[*input]).for_each(|(_, _, old)| old.set_moved());
    }
    Ok(())
}

/// The plan that would compute these tensors together.
pub fn plan(targets: &[&Tensor]) -> Result<Arc<Plan>> {
    let device = one_device(targets)?.ok_or_else(|| Error::Argument {
        op: "plan",
        detail: "no tensor was given; name at least one".into(),
    })?;
    find_or_build(&device, &Asked::collect(targets, 0)?, &[])
}

/// The plan that [`eval_donating`] would run.
pub(crate) fn plan_donating(targets: &[&Tensor], donations: &[(usize, &Tensor)]) -> Result<Arc<Plan>> {
    let nothing = || Error::Argument { op: "plan", detail: "there is nothing to compute".into() };
    let device = one_device(targets)?.ok_or_else(nothing)?;
    let (_, asked, offers) = ask(targets, donations)?;
    find_or_build(&device, &asked, &offers)
}

/// Tensors to be computed, what they need, and the offers of memory: (output number, input number, old tensor).
type Wanted<'a> = (Vec<&'a Tensor>, Asked, Vec<(usize, usize, &'a Tensor)>);

fn ask<'a>(targets: &[&'a Tensor], donations: &[(usize, &'a Tensor)]) -> Result<Wanted<'a>> {
    let mut lazy: Vec<&Tensor> = Vec::with_capacity(targets.len());
    let mut position = vec![usize::MAX; targets.len()];
    for (i, target) in targets.iter().enumerate() {
        if !target.is_ready() {
            position[i] = lazy.len();
            lazy.push(target);
        }
    }
    let salt =
        donations.iter().fold(donations.len() as u64, |h, (i, _)| h.rotate_left(5) ^ position[*i] as u64);
    let asked = Asked::collect(&lazy, salt)?;
    let inputs = if donations.is_empty() { Default::default() } else { asked.input_ids() };
    let offers: Vec<(usize, usize, &Tensor)> = donations
        .iter()
        .filter(|(i, _)| position[*i] != usize::MAX)
        .filter_map(|(i, old)| inputs.get(&old.id()).map(|&input| (position[*i], input, *old)))
        .collect();
    Ok((lazy, asked, offers))
}

fn one_device(targets: &[&Tensor]) -> Result<Option<Device>> {
    let Some(first) = targets.first() else { return Ok(None) };
    match targets.iter().find(|t| t.device() != first.device()) {
        None => Ok(Some(first.device().clone())),
        Some(other) => Err(Error::DeviceMismatch {
            op: "eval",
            left: first.device().name(),
            right: other.device().name(),
        }),
    }
}

/// Key, cache, and on a miss: schedule.
fn find_or_build(device: &Device, asked: &Asked, offers: &[(usize, usize, &Tensor)]) -> Result<Arc<Plan>> {
    let settings = &device.0.settings;
    let (fusion, reuse) = (settings.fusion.load(Relaxed), settings.plan_reuse.load(Relaxed));
    let key = asked.key ^ fusion as u128;
    if reuse && let Some(plan) = device.plans().get(key) {
        device.0.counters.plans_reused.fetch_add(1, Relaxed);
        return Ok(plan);
    }
    let _phase = span::enter(Phase::Schedule);
    let form = asked.graph();
    let donations: Vec<(usize, usize)> = offers.iter().map(|(output, input, _)| (*output, *input)).collect();
    let mut plan = schedule(&Request {
        graph: &form.graph,
        inputs: &form.inputs,
        scalars: &form.scalars,
        donations: &donations,
        fusion,
        memories: device.0.backend.memories(),
        side_by_side: device.0.backend.side_by_side(),
        line: device.0.backend.line(),
        largest: device.0.backend.largest(),
    })?;
    plan.device = device.0.id;
    device.0.counters.plans_built.fetch_add(1, Relaxed);
    let plan = Arc::new(plan);
    if reuse {
        device.plans().insert(key, plan.clone());
    }
    Ok(plan)
}

/// Compiles what is new, gives every place its memory and runs the kernels.
fn launch(
    device: &Device,
    plan: &Arc<Plan>,
    inputs: &[&Arc<Buffer>],
    scalars: &[Scalar],
    free: &[bool],
) -> Result<Vec<Arc<Buffer>>> {
    let taken = |input: Option<usize>| input.filter(|&i| free[i]);
    check_budget(device, plan)?;
    let pipelines = device.compiled(plan)?;
    let results = || -> Result<Vec<Arc<Buffer>>> {
        let memory = |output: &Output| match taken(output.takes) {
            Some(input) => Ok(inputs[input].clone()),
            None => device.allocate(output.bytes),
        };
        plan.outputs.iter().map(memory).collect()
    };
    let mut outputs = vec![results()?];
    let slots = plan.slots.iter().map(|&bytes| device.allocate(bytes)).collect::<Result<Vec<_>>>()?;
    let verifies = device.0.settings.verify.load(Relaxed);
    let timed = if verifies { None } else { device.marks(plan.steps.len()) };
    let repeats = timed.as_ref().map_or(1, |(_, repeats)| *repeats);
    if repeats > 1 {
        // Evaluations in a row have results of their own, as those that somebody keeps; as far as there is memory for them.
        let own = plan.outputs.iter().filter(|output| taken(output.takes).is_none());
        let own = own.map(|output| size_class_within(output.bytes, device.0.backend.largest()));
        let most = (KEPT.min(left(device)) / own.sum::<usize>().max(1)).clamp(1, repeats);
        outputs.extend((1..most).map_while(|_| results().ok()));
    }
    let mut memories: Vec<&dyn Memory> = Vec::with_capacity(4 * plan.steps.len() * outputs.len());
    for outputs in &outputs {
        let memory = |place: &Place| match *place {
            Place::Input(i) => inputs[i].memory(),
            Place::Output(i) => outputs[i].memory(),
            Place::Slot(i) => slots[i].memory(),
        };
        plan.steps.iter().for_each(|step| memories.extend(step.reads.iter().chain(&step.writes).map(memory)));
    }
    let args: Vec<Scalar> = plan.steps.iter().flat_map(|step| &step.args).map(|&a| scalars[a]).collect();
    let mut memories = &memories[..];
    let mut batch: Vec<Launch<'_>> = Vec::with_capacity(plan.steps.len() * outputs.len());
    for _ in &outputs {
        let mut args = &args[..];
        for (step, pipeline) in plan.steps.iter().zip(pipelines) {
            batch.push(Launch {
                kernel: &step.kernel,
                pipeline: &**pipeline,
                reads: first(&mut memories, step.reads.len()),
                writes: first(&mut memories, step.writes.len()),
                args: first(&mut args, step.args.len()),
            });
        }
    }
    // Those that the last evaluation writes.
    let last = (repeats - 1) % outputs.len();
    if verifies {
        verify::launch(device, plan, &batch, scalars)?;
    } else {
        let memories =
            || inputs.iter().copied().chain(&outputs[last]).chain(&slots).map(|b| b.id()).collect();
        run(device, plan, &batch, timed, memories)?;
    }
    device.0.counters.launches.fetch_add(plan.steps.len() as u64, Relaxed);
    // The last one first: the pool then gives them to the next launch in the same order.
    slots.into_iter().rev().for_each(drop);
    Ok(outputs.swap_remove(last))
}

/// Takes the first `count` of a slice.
fn first<'a, T>(slice: &mut &'a [T], count: usize) -> &'a [T] {
    let (first, rest) = slice.split_at(count);
    *slice = rest;
    first
}

/// Bytes of results that are kept of evaluations in a row.
const KEPT: usize = 256 << 20;

/// Launches; measures what is `timed`, and keeps what ran if the device was told to. Of evaluations in a row the batch has
/// one or several.
fn run(
    device: &Device,
    plan: &Arc<Plan>,
    batch: &[Launch<'_>],
    timed: Option<(Vec<usize>, usize)>,
    memories: impl FnOnce() -> Vec<usize>,
) -> Result<()> {
    let recording = device.0.settings.recording.load(Relaxed);
    if !recording && timed.is_none() {
        return device.0.backend.launch(batch);
    }
    let times = match timed {
        Some((marks, 1)) => Times { seconds: device.0.backend.launch_timed(batch, &marks)?, marks },
        Some((marks, repeats)) => burst(device, batch, marks, repeats)?,
        None => {
            device.0.backend.launch(batch)?;
            Times::default()
        }
    };
    let memories = if recording { memories() } else { vec![] };
    device.ran().push(Ran { plan: plan.clone(), times, done: web_time::Instant::now(), memories });
    Ok(())
}

/// Evaluates a plan several times in a row, by turns as the batch does; the mean time of one.
fn burst(device: &Device, batch: &[Launch<'_>], marks: Vec<usize>, times: usize) -> Result<Times> {
    let all = times * marks[marks.len() - 1];
    let launches: Vec<Launch<'_>> = batch.iter().cycle().take(all).copied().collect();
    let ends = device.0.backend.launch_timed(&launches, &[0, all])?;
    Ok(Times { marks, seconds: vec![ends[0], ends[0] + (ends[1] - ends[0]) / times as f64] })
}

fn check_budget(device: &Device, plan: &Plan) -> Result<()> {
    let left = left(device);
    if left == usize::MAX {
        return Ok(());
    }
    let needed = plan.temporary_bytes() + plan.output_bytes();
    if needed > left {
        let peak = device.0.pool.stats().live_bytes as usize + needed;
        let budget = device.0.settings.budget.load(Relaxed);
        return Err(Error::Budget { peak, budget, largest: plan.largest() });
    }
    Ok(())
}

/// The bytes that the memory budget leaves.
fn left(device: &Device) -> usize {
    match device.0.settings.budget.load(Relaxed) {
        usize::MAX => usize::MAX,
        budget => budget.saturating_sub(device.0.pool.stats().live_bytes as usize),
    }
}
