//! Trust mode: runs a plan kernel by kernel next to the reference interpreter, on the real inputs, and names the
//! first kernel that differs, with its IR and its worst element.

use crate::asked::Asked;
use crate::device::{Device, Launch, Memory};
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::interpret::{self, Array, Data};
use crate::graph::{Graph, NodeId, Op};
use crate::schedule::{Plan, Step};
use crate::tensor::Tensor;
use rustc_hash::FxHashMap;

/// Launches a plan and compares every result of every kernel.
pub(crate) fn launch(device: &Device, plan: &Plan, batch: &[Launch<'_>], scalars: &[Scalar]) -> Result<()> {
    let numbers: FxHashMap<NodeId, Scalar> =
        plan.scalars.iter().zip(scalars).filter_map(|(id, value)| id.map(|id| (id, *value))).collect();
    for (step, launch) in plan.steps.iter().zip(batch) {
        let mut known: FxHashMap<NodeId, Array> = FxHashMap::default();
        for ((id, memory), port) in step.read_nodes.iter().zip(launch.reads).zip(&step.kernel.reads) {
            known.insert(*id, download(device, &plan.graph, *id, *memory, port.len)?);
        }
        device.0.backend.launch(std::slice::from_ref(launch))?;
        for ((id, memory), port) in step.write_nodes.iter().zip(launch.writes).zip(&step.kernel.writes) {
            let got = download(device, &plan.graph, *id, *memory, port.len)?;
            let want = evaluate(&plan.graph, *id, &mut known, &numbers)?;
            // Sums that cancel leave the rounding errors of their terms, however small the result.
            let noise = known.values().map(magnitude).fold(0.0, f64::max) * 1e-3;
            compare(step, plan.graph.node(*id).dtype, &got, &want, noise)?;
        }
    }
    Ok(())
}

/// The value of a node that lies in a memory of `len` elements: more than it has, if its rows are longer.
fn download(device: &Device, graph: &Graph, id: NodeId, memory: &dyn Memory, len: usize) -> Result<Array> {
    let node = graph.node(id);
    let mut bytes = vec![0; len * node.dtype.size()];
    device.0.backend.download(memory, &mut bytes)?;
    if len > node.numel() {
        let row = node.shape.last().map_or(0, |&n| n * node.dtype.size());
        let longer = row * len / node.numel();
        bytes = bytes.chunks_exact(longer).flat_map(|line| &line[..row]).copied().collect();
    }
    Ok(Array::from_bytes(&bytes, &node.shape, node.dtype))
}

/// The value of a node from what the kernel read, by the interpreter.
fn evaluate(
    graph: &Graph,
    id: NodeId,
    known: &mut FxHashMap<NodeId, Array>,
    numbers: &FxHashMap<NodeId, Scalar>,
) -> Result<Array> {
    let mut stack = vec![id];
    while let Some(&next) = stack.last() {
        if known.contains_key(&next) {
            stack.pop();
            continue;
        }
        let node = graph.node(next);
        // What only orders evaluation is not a value the kernel knows.
        let sources = if node.op == Op::After { &node.src[..1] } else { &node.src[..] };
        let missing: Vec<NodeId> = sources.iter().copied().filter(|s| !known.contains_key(s)).collect();
        if !missing.is_empty() {
            stack.extend(missing);
            continue;
        }
        let arrays: Vec<&Array> = sources.iter().map(|s| &known[s]).collect();
        let value = interpret::node(node, &arrays, numbers.get(&next).copied())?;
        known.insert(next, value);
        stack.pop();
    }
    Ok(known[&id].clone())
}

/// How far a fused kernel may be from the op-by-op reference, relative to the largest of the element, the value's
/// root mean square, and a thousandth of that of anything computed on the way.
fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => 1e-9,
        DType::F32 => 2e-4,
        DType::F16 => 2e-2,
        DType::BF16 => 8e-2,
        _ => 0.0,
    }
}

fn floats(array: &Array) -> Vec<f64> {
    match &array.data {
        Data::Float(data) => data.clone(),
        Data::Int(data) => data.iter().map(|&v| v as f64).collect(),
    }
}

/// The root mean square of the finite elements.
fn magnitude(array: &Array) -> f64 {
    let values = floats(array);
    let finite = values.iter().filter(|v| v.is_finite());
    (finite.map(|v| v * v).sum::<f64>() / values.len().max(1) as f64).sqrt()
}

fn compare(step: &Step, dtype: DType, got: &Array, want: &Array, noise: f64) -> Result<()> {
    let scale = magnitude(want).max(noise);
    let (got, want) = (floats(got), floats(want));
    let mut worst = (0.0, 0);
    for (i, (g, w)) in got.iter().zip(&want).enumerate() {
        let same = g == w || (g.is_nan() && w.is_nan());
        let error = if same { 0.0 } else { (g - w).abs() / w.abs().max(scale).max(f64::MIN_POSITIVE) };
        let error = if error.is_nan() { f64::INFINITY } else { error };
        if error > worst.0 {
            worst = (error, i);
        }
    }
    if worst.0 <= tolerance(dtype) {
        return Ok(());
    }
    let (error, i) = worst;
    Err(Error::Verify {
        kernel: step.kernel.label.clone(),
        detail: format!(
            "element {i} of {} is {}, the reference says {} (relative error {error:.1e})\n{}",
            got.len(),
            got[i],
            want[i],
            step.kernel
        ),
    })
}

impl Tensor {
    /// The value by the reference interpreter, whatever the device would do, as row-major bytes. To be asked for before the
    /// value itself: what was computed is data, and would only be compared with itself.
    pub fn reference(&self) -> Result<Vec<u8>> {
        if self.is_ready() && *self.op() != Op::Input {
            let detail = "the value is computed already, and data has no other reference than itself; ask for the reference \
                          before anything evaluates the tensor";
            return Err(Error::Argument { op: "reference", detail: detail.into() });
        }
        let asked = Asked::collect(&[self], 0)?;
        let form = asked.graph();
        let mut inputs = vec![];
        for (&id, (_, buffer)) in form.inputs.iter().zip(&asked.inputs) {
            let len = form.graph.node(id).numel();
            inputs.push((id, download(self.device(), &form.graph, id, buffer.memory(), len)?.to_bytes()));
        }
        let scalars: Vec<_> =
            form.scalars.iter().zip(&asked.scalars).map(|(&id, (_, value))| (id, *value)).collect();
        let mut outputs = interpret::interpret(&form.graph, &inputs, &scalars)?;
        outputs.pop().ok_or_else(|| Error::Internal("the interpreter gave nothing".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu::Cpu;
    use crate::device::{Backend, Memory, Pipeline};
    use crate::kernel::Kernel;
    use std::sync::Arc;

    /// A CPU that gets one element of every sine wrong.
    struct Faulty(Cpu);

    impl Backend for Faulty {
        fn name(&self) -> String {
            "faulty".into()
        }
        fn allocate(&self, bytes: usize) -> Option<Arc<dyn Memory>> {
            self.0.allocate(bytes)
        }
        fn upload(&self, memory: &dyn Memory, bytes: &[u8]) -> Result<()> {
            self.0.upload(memory, bytes)
        }
        fn download(&self, memory: &dyn Memory, bytes: &mut [u8]) -> Result<()> {
            self.0.download(memory, bytes)
        }
        fn compile(&self, kernel: &Kernel) -> Result<Box<dyn Pipeline>> {
            self.0.compile(kernel)
        }
        fn launch(&self, batch: &[Launch<'_>]) -> Result<()> {
            for launch in batch {
                self.0.launch(std::slice::from_ref(launch))?;
                if launch.kernel.label.contains("sin") {
                    let mut bytes = vec![0; launch.kernel.writes[0].len * 4];
                    self.0.download(launch.writes[0], &mut bytes)?;
                    bytes[4 * 5..4 * 6].copy_from_slice(&7f32.to_ne_bytes());
                    self.0.upload(launch.writes[0], &bytes)?;
                }
            }
            Ok(())
        }
        fn synchronize(&self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_first_wrong_kernel_is_named_with_its_worst_element() -> Result<()> {
        let device = Device::with_backend(Arc::new(Faulty(Cpu::new())));
        device.set_verify(true);
        let x = Tensor::randn(&[4, 4], DType::F32, &device)?;
        let right = x.matmul(&x)?.softmax(-1)?;
        right.eval()?;
        let wrong = right.matmul(&x)?.softmax(0)?.matmul(&x)?.sin()?.matmul(&x)?.exp()?;
        match wrong.eval() {
            Err(Error::Verify { kernel, detail }) => {
                assert!(kernel.starts_with("matmul_sin f32 4x4x4"), "{kernel}");
                assert!(detail.starts_with("element 5 of 16 is 7, the reference says"), "{detail}");
                assert!(detail.contains("= sin v"), "{detail}");
            }
            other => panic!("{other:?}"),
        }
        device.set_verify(false);
        wrong.eval()
    }

    #[test]
    fn a_whole_training_step_is_verified() -> Result<()> {
        let device = Device::open("cpu")?;
        device.set_verify(true);
        let x = Tensor::randn(&[6, 9], DType::F32, &device)?.variable()?;
        let w = Tensor::randn(&[9, 9], DType::F32, &device)?.variable()?;
        let loss = x.matmul(&w)?.gelu()?.layer_norm(1, None, None, 1e-5)?.softmax(-1)?.sqr()?.mean_all()?;
        let grads = crate::grad(&loss, &[&x, &w])?;
        crate::eval(&[&loss, &grads[0], &grads[1]])
    }
}
