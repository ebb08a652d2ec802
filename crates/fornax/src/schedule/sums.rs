//! What a sum is without computing all its terms: deviations from a mean add up to nothing, and a factor that all
//! terms have in common is multiplied once. With both, the gradient of a layer norm sums what its forward pass has at hand
//! anyway, and needs no pass of its own for it.

use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, Graph, NodeId, Op, Reduce, Unary};

/// How deep formulas are looked at.
const DEPTH: usize = 6;

/// What has to be summed in place of a node, and the factor of the sum, if there is one.
pub(super) struct Terms {
    pub of: NodeId,
    pub factor: Option<NodeId>,
}

/// The terms of a sum of floats over axes. `shared` says that what is summed is also wanted itself: then a NaN in terms that
/// are left out is still seen.
pub(super) fn terms(graph: &Graph, of: NodeId, axes: &[usize], shared: bool) -> Terms {
    let node = graph.node(of);
    match node.op {
        // Without its factor a sum could leave the range of a narrow type.
        _ if !matches!(node.dtype, DType::F32 | DType::F64) => Terms { of, factor: None },
        Op::Binary(Binary::Add) if shared => {
            let balanced = |s: &NodeId| balanced(graph, *s, axes, DEPTH);
            let [a, b] = [node.src[0], node.src[1]];
            match (balanced(&a), balanced(&b)) {
                // A sum that is zero but for rounding is left to be computed.
                (true, true) | (false, false) => Terms { of, factor: None },
                (true, false) => terms(graph, b, axes, shared),
                (false, true) => terms(graph, a, axes, shared),
            }
        }
        Op::Binary(Binary::Mul) => {
            let common = |k: NodeId| same_along(graph, k, axes) && reduces(graph, k, DEPTH);
            match [node.src[0], node.src[1]] {
                [a, k] | [k, a] if common(k) && !common(a) => {
                    Terms { of: a, factor: graph.node(k).src.first().copied() }
                }
                _ => Terms { of, factor: None },
            }
        }
        _ => Terms { of, factor: None },
    }
}

/// Whether a node is one value repeated along the axes.
fn same_along(graph: &Graph, id: NodeId, axes: &[usize]) -> bool {
    let node = graph.node(id);
    node.op == Op::Expand && {
        let from = &graph.node(node.src[0]).shape;
        axes.iter().all(|&a| from.get(a).is_none_or(|&n| n == 1))
    }
}

/// Whether a node comes from a reduction, so that it exists only after a pass over what it reduces.
fn reduces(graph: &Graph, id: NodeId, depth: usize) -> bool {
    let node = graph.node(id);
    matches!(node.op, Op::Reduce(..))
        || (depth > 0
            && (node.op.is_elementwise() || node.op.is_view())
            && node.src.iter().any(|&s| reduces(graph, s, depth - 1)))
}

/// Whether elements add up to zero along the axes, whatever their operands are.
fn balanced(graph: &Graph, id: NodeId, axes: &[usize], depth: usize) -> bool {
    let node = graph.node(id);
    let again = |s: NodeId| depth > 0 && balanced(graph, s, axes, depth - 1);
    match node.op {
        Op::Unary(Unary::Neg) => again(node.src[0]),
        Op::Binary(Binary::Add) => again(node.src[0]) && again(node.src[1]),
        Op::Binary(Binary::Mul) => {
            let [a, b] = [node.src[0], node.src[1]];
            same_along(graph, a, axes) && again(b) || same_along(graph, b, axes) && again(a)
        }
        Op::Binary(Binary::Sub) => is_mean(graph, node.src[1], node.src[0], axes),
        _ => false,
    }
}

/// Whether a node is the mean of another over the axes, repeated along them.
fn is_mean(graph: &Graph, id: NodeId, of: NodeId, axes: &[usize]) -> bool {
    let node = graph.node(id);
    if !same_along(graph, id, axes) || node.shape != graph.node(of).shape {
        return false;
    }
    let mean = graph.node(node.src[0]);
    let Op::Binary(Binary::Mul) = mean.op else { return false };
    let sum = graph.node(mean.src[0]);
    let count: usize = axes.iter().map(|&a| node.shape[a]).product();
    matches!(&sum.op, Op::Reduce(Reduce::Sum, over) if over[..] == *axes)
        && sum.src[0] == of
        && number(graph, mean.src[1]) == Some(Scalar::Float(1.0 / count as f64).to_bits(mean.dtype))
}

/// The bits of a constant, repeated or not.
fn number(graph: &Graph, id: NodeId) -> Option<u64> {
    let node = graph.node(id);
    match node.op {
        Op::Literal(bits) => Some(bits),
        Op::Expand | Op::Reshape => number(graph, node.src[0]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::kernel::{Body, Inst};
    use crate::{DType, Device, Result, Tensor};

    /// How many reductions wait for each other in the kernels of some tensors.
    fn in_a_row(tensors: &[&Tensor]) -> Result<usize> {
        let mut most = 0;
        for step in &crate::realize::plan(tensors)?.steps {
            let Body::Loop(body) = &step.kernel.body else { continue };
            let mut before: Vec<usize> = vec![];
            for instr in &body.program {
                let reduces = matches!(instr.inst, Inst::Reduce(..)) as usize;
                let operands = instr.inst.operands();
                before.push(reduces + operands.iter().map(|v| before[v.index()]).max().unwrap_or(0));
            }
            most = before.into_iter().fold(most, usize::max);
        }
        Ok(most)
    }

    /// Checks a sum over an axis of something that is wanted itself, or is not.
    fn check(what: &str, of: &Tensor, axis: isize, shared: bool, count: usize) -> Result<()> {
        let sum = of.sum(&[axis], false)?;
        let wanted = if shared { vec![&sum, of] } else { vec![&sum] };
        assert_eq!(in_a_row(&wanted)?, count, "{what}");
        let want: Vec<f32> = bytemuck::pod_collect_to_vec(&sum.reference()?);
        crate::eval(&wanted)?;
        for (got, want) in sum.to_vec::<f32>()?.into_iter().zip(want) {
            assert!((got - want).abs() <= 1e-5 * (1.0 + want.abs()), "{what}: {got}, not {want}");
        }
        Ok(())
    }

    #[test]
    fn sums_of_deviations_and_common_factors() -> Result<()> {
        let device = Device::cpu();
        let x = Tensor::randn(&[5, 33], DType::F32, &device)?.add(3.0)?;
        let y = Tensor::randn(&[5, 33], DType::F32, &device)?;
        crate::eval(&[&x, &y])?;
        let (mean, top) = (x.mean(&[1], true)?, y.max(&[1], true)?);
        let apart = || x.sub(&mean);
        let scaled = || apart()?.mul(&top)?.add(&apart()?);
        check("deviations", &scaled()?.add(&y)?, 1, true, 1)?;
        check("a factor", &y.mul(&top)?, 1, false, 1)?;
        check("both", &scaled()?.add(&y.mul(&top)?)?, 1, true, 1)?;
        check("deviations that nobody else would see", &scaled()?.add(&y)?, 1, false, 2)?;
        // A kernel of its own, which sums everything.
        check("deviations along the other axis", &scaled()?.add(&y)?, 0, true, 1)?;
        check("deviations from another's mean", &y.sub(&mean)?.add(&y)?, 1, true, 2)?;
        Ok(())
    }

    #[test]
    fn a_row_without_a_mean_has_no_sum() -> Result<()> {
        let device = Device::cpu();
        let x = Tensor::from_slice(&[1.0f32, f32::INFINITY, 2.0], &[1, 3], &device)?;
        let y = x.sub(&x.mean(&[1], true)?)?.add(1.0)?;
        assert!(y.sum(&[1], false)?.to_vec::<f32>()?[0].is_nan());
        Ok(())
    }
}
