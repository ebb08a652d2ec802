//! Autograd: a pass from graph to graph. It walks from a loss towards its leaves and records, for every op
//! on the way, the ops of its gradient. Gradients are tensors like others, so they can be differentiated
//! again.
//!
//! [`backward`](Tensor::backward) and [`grad`] are the doors; `sources` is the table of formulas.

use super::recompute::Recompute;
use super::{AttentionSpec, Binary, Op, Reduce, Side, Unary};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::tensor::raw::{self, Amounts, Ranges};
use crate::tensor::{Sources, Tensor, attention_composite, recording};
use crate::view::{Dims, Range};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;
use std::f64::consts::{FRAC_2_SQRT_PI, LN_2};

/// The gradients of a loss for its leaves (see [`Tensor::variable`]).
///
/// ```
/// # use fornax::*;
/// let x = Tensor::from_slice(&[1f32, 2.0, 3.0], &[3], &Device::cpu())?.variable()?;
/// let gradients = x.sqr()?.sum_all()?.backward()?;
/// assert_eq!(gradients.get(&x).unwrap().to_vec::<f32>()?, [2.0, 4.0, 6.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct Gradients {
    root: Tensor,
    leaves: BTreeMap<u64, Tensor>,
    /// Whether fusion stops between the gradients and what is made of them.
    fenced: bool,
}

impl Gradients {
    /// The gradient of a leaf; `None` if the loss does not depend on it.
    pub fn get(&self, leaf: &Tensor) -> Option<&Tensor> {
        self.leaves.get(&leaf.id())
    }

    /// The tensor that was differentiated.
    pub fn root(&self) -> &Tensor {
        &self.root
    }

    /// The ids of the leaves and their gradients, oldest leaf first.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Tensor)> {
        self.leaves.iter().map(|(&id, gradient)| (id, gradient))
    }

    /// The same with every gradient replaced by `f(id of the leaf, gradient)`.
    pub fn map(&self, mut f: impl FnMut(u64, &Tensor) -> Result<Tensor>) -> Result<Gradients> {
        let leaves = self.iter().map(|(id, gradient)| Ok((id, f(id, gradient)?))).collect::<Result<_>>()?;
        Ok(Gradients { root: self.root.clone(), leaves, fenced: self.fenced })
    }

    /// The gradients of `root`, which is the sum of both losses.
    pub(crate) fn plus(&self, other: &Gradients, root: &Tensor) -> Result<Gradients> {
        let mut leaves = self.leaves.clone();
        for (id, gradient) in other.iter() {
            let sum = match leaves.get(&id) {
                Some(known) => known.add(gradient)?,
                None => gradient.clone(),
            };
            leaves.insert(id, sum);
        }
        Ok(Gradients { root: root.clone(), leaves, fenced: false })
    }

    /// The same under another root: what a step evaluates as its loss.
    pub(crate) fn with_root(self, root: Tensor) -> Gradients {
        Gradients { root, ..self }
    }

    /// The gradients as values in memory: clipping and updates are kernels of their own, the same program for
    /// every parameter, instead of epilogues of as many products.
    pub(crate) fn fenced(&self) -> Gradients {
        let fence = |(&id, g): (&u64, &Tensor)| (id, if self.fenced { g.clone() } else { g.fence() });
        Gradients { root: self.root.clone(), leaves: self.leaves.iter().map(fence).collect(), fenced: true }
    }
}

impl Tensor {
    /// The gradients of this tensor of one element for every leaf that it depends on.
    pub fn backward(&self) -> Result<Gradients> {
        self.backward_with(&one(self)?)
    }

    /// As [`Tensor::backward`] of any tensor, given the gradient of something for it.
    pub fn backward_with(&self, seed: &Tensor) -> Result<Gradients> {
        let mut leaves = BTreeMap::new();
        walk(self, seed, &[], |tensor, gradient, is_leaf| {
            if is_leaf {
                leaves.insert(tensor.id(), gradient.clone());
            }
        })?;
        Ok(Gradients { root: self.clone(), leaves, fenced: false })
    }
}

/// The gradients of a tensor of one element for the given tensors, leaves or not; zeros for those that it
/// does not depend on. The results can be differentiated again.
///
/// ```
/// # use fornax::*;
/// let x = Tensor::from_slice(&[2f64], &[1], &Device::cpu())?.variable()?;
/// let first = &grad(&x.pow(3.0)?, &[&x])?[0];
/// let second = &grad(first, &[&x])?[0];
/// assert_eq!(second.item::<f64>()?, 12.0);
/// # Ok::<(), Error>(())
/// ```
pub fn grad(loss: &Tensor, wrt: &[&Tensor]) -> Result<Vec<Tensor>> {
    if let Some(other) = wrt.iter().find(|t| !t.requires_grad()) {
        return Err(Error::Gradient { detail: format!("{other:?} requires no gradient; see variable()") });
    }
    let mut found = vec![None; wrt.len()];
    walk(loss, &one(loss)?, &[], |tensor, gradient, _| {
        for (slot, _) in found.iter_mut().zip(wrt).filter(|(_, t)| t.id() == tensor.id()) {
            *slot = Some(gradient.clone());
        }
    })?;
    Ok(found.into_iter().zip(wrt).map(|(g, t)| g.unwrap_or_else(|| raw::full_like(t, 0))).collect())
}

/// The gradient of a loss for itself.
fn one(loss: &Tensor) -> Result<Tensor> {
    if loss.numel() != 1 {
        let detail = format!(
            "{:?} has {} elements; reduce it to one (sum_all(), mean_all()) or give its gradient to \
             backward_with(..)",
            loss.shape(),
            loss.numel()
        );
        return Err(Error::Gradient { detail });
    }
    Ok(raw::full_like(loss, 1))
}

/// What a tensor was computed from, if a gradient goes further. A reshape to the same shape is a leaf: only
/// `variable` and `detach` make those.
fn history(tensor: &Tensor) -> Option<Sources> {
    let src = tensor.sources()?;
    let is_leaf = *tensor.op() == Op::Reshape && src[0].shape() == tensor.shape();
    (!is_leaf && src.iter().any(|s| s.requires_grad())).then_some(src)
}

/// Walks from `root` to its leaves, or to the tensors with the ids in `stop`, and tells `found` of every
/// tensor on the way with its gradient. A tensor is older than its users, so descending ids are a
/// topological order.
fn walk(
    root: &Tensor,
    seed: &Tensor,
    stop: &[u64],
    mut found: impl FnMut(&Tensor, &Tensor, bool),
) -> Result<()> {
    if !root.requires_grad() {
        let detail = format!("{root:?} depends on nothing that requires a gradient; see variable()");
        return Err(Error::Gradient { detail });
    }
    if seed.shape() != root.shape() || seed.device() != root.device() {
        let detail = format!("a gradient of {:?} for {:?}", seed.shape(), root.shape());
        return Err(Error::Gradient { detail });
    }
    let mut pending: BTreeMap<u64, (Tensor, SmallVec<[Tensor; 2]>)> = BTreeMap::new();
    pending.insert(root.id(), (root.clone(), smallvec![raw::cast(seed, root.dtype())]));
    let mut recompute = Recompute::default();
    while let Some((id, (tensor, parts))) = pending.pop_last() {
        tensor.0.scope.backward().enter(|| -> Result<()> {
            let gradient = combine(parts);
            let src = if stop.contains(&id) { None } else { history(&tensor) };
            found(&tensor, &gradient, src.is_none());
            let Some(src) = src else { return Ok(()) };
            let contributions = match recompute.node(&tensor, &src, &gradient) {
                Some((copy, src)) => sources(tensor.op(), &copy, &src, &gradient)?,
                None => sources(tensor.op(), &tensor, &src, &gradient)?,
            };
            for (source, part) in src.iter().zip(contributions) {
                if let Some(part) = part.filter(|_| source.requires_grad()) {
                    let entry = pending.entry(source.id());
                    entry.or_insert_with(|| (source.clone(), SmallVec::new())).1.push(part);
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// The sum of the contributions to one gradient; there is at least one.
fn combine(mut parts: SmallVec<[Tensor; 2]>) -> Tensor {
    if parts.len() == 1 {
        return parts.remove(0);
    }
    if let Some(joined) = join_slices(&parts) {
        return joined;
    }
    // What was to be scattered into zeros is scattered into the other contributions instead: a table that
    // is both embedding and output layer then costs no zeros and no sum.
    parts.sort_by_key(|part| scattered_into_zeros(part).is_some());
    let first = parts.remove(0);
    parts.iter().fold(first, |sum, part| match scattered_into_zeros(part) {
        Some((axis, index, value)) => raw::scatter_add(&sum, axis, &index, &value),
        None => raw::add(&sum, part),
    })
}

/// If the contributions are slices of one axis with zeros around that together cover it: their `cat`.
fn join_slices(parts: &[Tensor]) -> Option<Tensor> {
    let mut slices: Vec<(usize, usize, Tensor)> = vec![];
    for part in parts {
        let src = part.sources()?;
        let Op::Pad(amounts) = part.op() else { return None };
        let mut padded = amounts.iter().enumerate().filter(|(_, amount)| **amount != (0, 0));
        let (axis, &(before, _)) = padded.next()?;
        if padded.next().is_some() {
            return None;
        }
        slices.push((axis, before, src[0].clone()));
    }
    slices.sort_by_key(|&(_, before, _)| before);
    let axis = slices[0].0;
    let mut covered = 0;
    for (a, before, slice) in &slices {
        if *a != axis || *before != covered {
            return None;
        }
        covered += slice.shape()[axis];
    }
    let slices: Vec<Tensor> = slices.into_iter().map(|(_, _, slice)| slice).collect();
    (covered == parts[0].shape()[axis]).then(|| raw::cat(&slices, axis))
}

/// Axis, index and value of a scatter into constant zeros.
fn scattered_into_zeros(part: &Tensor) -> Option<(usize, Tensor, Tensor)> {
    let (Op::ScatterAdd(axis), src) = (part.op(), part.sources()?) else { return None };
    let mut base = src[0].clone();
    let mut below = base.sources()?;
    while matches!(base.op(), Op::Expand | Op::Reshape) {
        base = below.remove(0);
        below = base.sources()?;
    }
    (*base.op() == Op::Literal(0)).then(|| (*axis, src[1].clone(), src[2].clone()))
}

/// Whether a tensor is a leaf, or a leaf seen in another order.
fn is_parameter(tensor: &Tensor) -> bool {
    match history(tensor) {
        None => true,
        Some(src) => matches!(tensor.op(), Op::Reshape | Op::Permute(_)) && is_parameter(&src[0]),
    }
}

/// One entry for each source; `None` where no gradient goes.
type Parts = SmallVec<[Option<Tensor>; 3]>;

/// The table: what the gradient `g` of a node means for its sources. In the formulas x (or a, b) are the
/// sources, y is the node, and dx the contribution to the gradient of x.
fn sources(op: &Op, y: &Tensor, src: &Sources, g: &Tensor) -> Result<Parts> {
    use raw::{div, full_like};
    let need = |i: usize| src[i].requires_grad();
    let zero = || full_like(g, 0);
    let only = |dx: Tensor| -> Parts { smallvec![Some(dx)] };
    Ok(match op {
        // Leaves, and functions with steps, whose slope is 0 wherever it exists.
        Op::Input | Op::Scalar | Op::Literal(_) | Op::Iota | Op::Random(_) => smallvec![],
        Op::ArgSort { .. } | Op::Reduce(Reduce::ArgMax | Reduce::ArgMin, _) => smallvec![None],
        Op::Unary(op) => match unary(*op, &src[0], y, g) {
            Some(dx) => only(dx),
            None => smallvec![None],
        },
        Op::Binary(op) => binary(*op, &src[0], &src[1], y, g),
        // da = condition ? g : 0, db = condition ? 0 : g
        Op::Where => smallvec![
            None,
            need(1).then(|| raw::select(&src[0], g, &zero())),
            need(2).then(|| raw::select(&src[0], &zero(), g)),
        ],
        // The gradient of a parameter is kept as it was summed; others are read again, in fewer bytes.
        Op::Cast if is_parameter(&src[0]) => only(raw::cast_product(g, src[0].dtype())),
        Op::Cast => only(raw::cast(g, src[0].dtype())),

        // Views: every element of g goes back to where its element came from.
        Op::Reshape => only(raw::reshape(g, src[0].shape())),
        Op::Permute(axes) => {
            let mut inverse: Dims = axes.clone();
            axes.iter().enumerate().for_each(|(i, &a)| inverse[a] = i);
            only(raw::permute(g, &inverse))
        }
        // An element that was repeated gets the sum.
        Op::Expand if src[0].rank() == 0 => {
            let all: Dims = (0..g.rank()).collect();
            only(raw::reshape(&raw::sum(g, &all), &[]))
        }
        Op::Expand => {
            let repeated: Dims = (0..g.rank()).filter(|&i| src[0].shape()[i] != g.shape()[i]).collect();
            only(raw::sum(g, &repeated))
        }
        Op::Slice(ranges) => only(unslice(g, ranges, src[0].shape())),
        Op::Pad(amounts) => {
            let inside = |(a, &len): (&(usize, usize), &usize)| Range { start: a.0, len, step: 1 };
            only(raw::slice(g, amounts.iter().zip(src[0].shape()).map(inside).collect::<Ranges>()))
        }
        Op::After => smallvec![Some(g.clone()), None],

        // dx = g, repeated
        Op::Reduce(Reduce::Sum, _) => only(raw::expand(g, src[0].shape())),
        // dx = g / n for the n elements that are equal to y, 0 for the others
        Op::Reduce(Reduce::Max | Reduce::Min, axes) => {
            let x = &src[0];
            let chosen = raw::binary(Binary::Eq, x, &raw::expand(y, x.shape()));
            let wide = x.dtype().compute();
            let count = raw::sum(&raw::cast(&chosen, wide), axes);
            let share = raw::cast(&div(&raw::cast(g, wide), &count), x.dtype());
            only(raw::select(&chosen, &raw::expand(&share, x.shape()), &full_like(x, 0)))
        }
        Op::Reduce(Reduce::Prod, axes) => only(product(&src[0], axes, g)),
        // dx_i = sum of g_j for j >= i
        Op::Cumsum(axis) => only(raw::flip(&raw::cumsum(&raw::flip(g, *axis), *axis), *axis)),
        // da = g b^T, db = a^T g
        Op::MatMul => {
            let g = &raw::cast(g, src[0].dtype());
            smallvec![
                need(0).then(|| raw::matmul(g, &raw::transpose(&src[1]))),
                need(1).then(|| raw::matmul(&raw::transpose(&src[0]), g)),
            ]
        }
        Op::Gather(axis) => smallvec![Some(ungather(&src[0], *axis, &src[1], g)), None],
        // dbase = g, dvalue = g at the index
        Op::ScatterAdd(axis) => {
            smallvec![Some(g.clone()), None, need(2).then(|| raw::gather(g, *axis, &src[1]))]
        }
        Op::Cat(axis) => {
            let mut start = 0;
            let part = |x: &Tensor| {
                let range = Range { start, len: x.shape()[*axis], step: 1 };
                start += range.len;
                x.requires_grad().then(|| raw::narrow(g, *axis, range))
            };
            src.iter().map(part).collect()
        }
        Op::Attention(spec) => attention(*spec, src, y, g),
        // Only AttentionGrad reads it, and what it says is said to q, k and v there.
        Op::AttentionLse(_) => src.iter().map(|_| None).collect(),
        Op::AttentionGrad(spec, side) => recording(true, || attention_again(*spec, *side, src, g))?,
    })
}

fn unary(op: Unary, x: &Tensor, y: &Tensor, g: &Tensor) -> Option<Tensor> {
    use raw::{div, exp, mul, neg, offset, recip, scale};
    let f = raw::unary;
    let square = |v: &Tensor| mul(v, v);
    Some(match op {
        Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Round | Unary::Trunc | Unary::Not => return None,
        Unary::Neg => neg(g),
        // g sign(x)
        Unary::Abs => mul(g, &f(Unary::Sign, x)),
        // -g y^2
        Unary::Recip => neg(&mul(g, &square(y))),
        // g / (2 y)
        Unary::Sqrt => scale(&div(g, y), 0.5),
        // -g y^3 / 2
        Unary::Rsqrt => scale(&mul(g, &mul(y, &square(y))), -0.5),
        Unary::Exp => mul(g, y),
        // g y log(2)
        Unary::Exp2 => scale(&mul(g, y), LN_2),
        // g (y + 1)
        Unary::Expm1 => mul(g, &offset(y, 1.0)),
        Unary::Log => div(g, x),
        // g / (x log(2))
        Unary::Log2 => scale(&div(g, x), 1.0 / LN_2),
        // g / (1 + x)
        Unary::Log1p => div(g, &offset(x, 1.0)),
        Unary::Sin => mul(g, &f(Unary::Cos, x)),
        Unary::Cos => neg(&mul(g, &f(Unary::Sin, x))),
        // g (1 + y^2)
        Unary::Tan => mul(g, &offset(&square(y), 1.0)),
        // g / sqrt(1 - x^2)
        Unary::Asin => mul(g, &f(Unary::Rsqrt, &offset(&neg(&square(x)), 1.0))),
        Unary::Acos => neg(&mul(g, &f(Unary::Rsqrt, &offset(&neg(&square(x)), 1.0)))),
        // g / (1 + x^2)
        Unary::Atan => mul(g, &recip(&offset(&square(x), 1.0))),
        Unary::Sinh => mul(g, &f(Unary::Cosh, x)),
        Unary::Cosh => mul(g, &f(Unary::Sinh, x)),
        // g (1 - y^2)
        Unary::Tanh => mul(g, &raw::sub(&raw::full_like(y, 1), &square(y))),
        // g 2/sqrt(pi) exp(-x^2)
        Unary::Erf => scale(&mul(g, &exp(&neg(&square(x)))), FRAC_2_SQRT_PI),
    })
}

fn binary(op: Binary, a: &Tensor, b: &Tensor, y: &Tensor, g: &Tensor) -> Parts {
    use raw::{add, binary, div, full_like, log, mul, neg, offset, scale, select};
    let zero = || full_like(g, 0);
    // For the operands that need it.
    let parts = |da: &dyn Fn() -> Tensor, db: &dyn Fn() -> Tensor| -> Parts {
        smallvec![a.requires_grad().then(da), b.requires_grad().then(db)]
    };
    match op {
        Binary::Add => parts(&|| g.clone(), &|| g.clone()),
        Binary::Sub => parts(&|| g.clone(), &|| neg(g)),
        Binary::Mul => parts(&|| mul(g, b), &|| mul(g, a)),
        // g / b, -g y / b
        Binary::Div => parts(&|| div(g, b), &|| neg(&mul(&div(g, b), y))),
        // a - b floor(a / b): g, -g floor(a / b)
        Binary::Rem => parts(&|| g.clone(), &|| neg(&mul(g, &raw::unary(Unary::Floor, &div(a, b))))),
        // g b a^(b - 1), and 0 where b is; g y log(a), and 0 where a is and y is not infinite
        Binary::Pow => parts(
            &|| {
                let slope = mul(b, &binary(Binary::Pow, a, &offset(b, -1.0)));
                select(&binary(Binary::Eq, b, &zero()), &zero(), &mul(g, &slope))
            },
            &|| {
                let flat =
                    binary(Binary::And, &binary(Binary::Eq, a, &zero()), &binary(Binary::Le, &zero(), b));
                let base = select(&flat, &full_like(a, 1), a);
                select(&flat, &zero(), &mul(g, &mul(y, &log(&base))))
            },
        ),
        // All of g to the winner, half to each where they are equal.
        Binary::Max | Binary::Min => {
            let share = |own: &Tensor, other: &Tensor| {
                let (low, high) = if op == Binary::Max { (other, own) } else { (own, other) };
                let tie = select(&binary(Binary::Eq, own, other), &scale(g, 0.5), &zero());
                select(&binary(Binary::Lt, low, high), g, &tie)
            };
            parts(&|| share(a, b), &|| share(b, a))
        }
        // g b / (a^2 + b^2), -g a / (a^2 + b^2)
        Binary::Atan2 => {
            let over = || div(g, &add(&mul(a, a), &mul(b, b)));
            parts(&|| mul(&over(), b), &|| neg(&mul(&over(), a)))
        }
        Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::And | Binary::Or | Binary::Xor => {
            smallvec![None, None]
        }
    }
}

/// Puts the elements of a slice's gradient back among zeros: flipped where the step was negative, spread
/// where it was larger than 1, padded to the source's shape.
fn unslice(g: &Tensor, ranges: &[Range], shape: &[usize]) -> Tensor {
    if ranges.iter().any(|r| r.len == 0) {
        return raw::full(0, shape, g.dtype(), g.device());
    }
    let mut x = g.clone();
    let mut amounts = Amounts::new();
    for (axis, r) in ranges.iter().enumerate() {
        let step = r.step.unsigned_abs();
        let extent = (r.len - 1) * step + 1;
        let start = if r.step < 0 { r.start + 1 - extent } else { r.start };
        if r.step < 0 {
            x = raw::flip(&x, axis);
        }
        if step > 1 && r.len > 1 {
            let mut spread = x.0.shape.clone();
            spread.insert(axis + 1, 1);
            let mut zeros: Amounts = SmallVec::from_elem((0, 0), spread.len());
            zeros[axis + 1] = (0, step - 1);
            let mut joined = x.0.shape.clone();
            joined[axis] = r.len * step;
            x = raw::reshape(&raw::pad(&raw::reshape(&x, &spread), zeros), &joined);
            x = raw::narrow(&x, axis, Range { start: 0, len: extent, step: 1 });
        }
        amounts.push((start, shape[axis] - start - extent));
    }
    raw::pad(&x, amounts)
}

/// The gradient of a product is the product of all others: y / x without zeros; with one zero it reaches only
/// that one, with more none.
fn product(x: &Tensor, axes: &[usize], g: &Tensor) -> Tensor {
    let (zero, one) = (raw::full_like(x, 0), raw::full_like(x, 1));
    let is_zero = raw::binary(Binary::Eq, x, &zero);
    let safe = raw::select(&is_zero, &one, x);
    let rest = raw::expand(&raw::reduce(Reduce::Prod, &safe, axes), x.shape());
    let zeros = raw::sum(&raw::cast(&is_zero, x.dtype()), axes);
    let holds =
        |count: f64| raw::expand(&raw::binary(Binary::Eq, &zeros, &raw::full_like(&zeros, count)), x.shape());
    let at_zero = raw::select(&holds(1.0), &rest, &zero);
    let elsewhere = raw::select(&holds(0.0), &raw::div(&rest, &safe), &zero);
    raw::mul(&raw::expand(g, x.shape()), &raw::select(&is_zero, &at_zero, &elsewhere))
}

/// Adds the elements of a gather's gradient up where they were taken from. If only one was taken along the
/// axis that is a comparison, which fuses with its neighbours; else a scatter.
fn ungather(x: &Tensor, axis: usize, index: &Tensor, g: &Tensor) -> Tensor {
    if index.shape()[axis] != 1 {
        return raw::scatter_add(&raw::full_like(x, 0), axis, index, g);
    }
    // In 32 bits where they suffice: comparing every element is most of the work.
    let dtype = if x.shape()[axis] <= i32::MAX as usize { DType::I32 } else { DType::I64 };
    let positions = raw::cast(&raw::positions(x.shape()[axis], axis, x.rank(), x.device()), dtype);
    let index = raw::cast(index, dtype);
    let taken = raw::binary(Binary::Eq, &raw::expand(&positions, x.shape()), &raw::expand(&index, x.shape()));
    raw::select(&taken, &raw::expand(g, x.shape()), &raw::full_like(x, 0))
}

/// With p = softmax(scale q k^T + mask): dv = p^T g, ds = p (g v^T - sum(g y)), dq = scale ds k, dk = scale
/// ds^T q; p comes again from the log-sum-exp.
fn attention(spec: AttentionSpec, src: &Sources, y: &Tensor, g: &Tensor) -> Parts {
    let (q, k, v) = (&src[0], &src[1], &src[2]);
    let dtype = if q.dtype() == DType::F64 { DType::F64 } else { DType::F32 };
    let lse = Tensor::record(Op::AttentionLse(spec), src.clone(), &q.shape()[..3], dtype);
    let mut operands: Sources = smallvec![q.clone(), k.clone(), v.clone(), y.clone(), lse, g.clone()];
    operands.extend(src.get(3).cloned());
    let sides = [Side::Q, Side::K, Side::V].iter().zip(src);
    let mut parts: Parts = sides
        .map(|(&side, x)| {
            let swapped = [0, 2, 1, 3];
            let shape = swapped.map(|a| x.shape()[a]);
            let dx = || Tensor::record(Op::AttentionGrad(spec, side), operands.clone(), &shape, x.dtype());
            x.requires_grad().then(|| raw::permute(&dx(), &swapped))
        })
        .collect();
    parts.resize(src.len(), None);
    parts
}

/// The gradient of attention's gradient, by differentiating the plain ops that define attention twice.
/// `out` and `lse` are functions of q, k and v, which get all of it.
fn attention_again(spec: AttentionSpec, side: Side, src: &Sources, c: &Tensor) -> Result<Parts> {
    // Under names of their own, so that the walks below end here even if one operand comes from another.
    let own: SmallVec<[Tensor; 4]> = [0, 1, 2, 5].iter().map(|&i| raw::after(&src[i], c)).collect();
    let stop: SmallVec<[u64; 4]> = own.iter().map(Tensor::id).collect();
    let out = attention_composite(&own[0], &own[1], &own[2], src.get(6), spec);
    let mut first = None;
    walk(&out, &own[3], &stop, |tensor, gradient, _| {
        if tensor.id() == stop[side as usize] {
            first = Some(gradient.clone());
        }
    })?;
    let mut parts: Parts = smallvec![None; src.len()];
    let Some(first) = first.map(|g| raw::permute(&g, &[0, 2, 1, 3])).filter(Tensor::requires_grad) else {
        return Ok(parts);
    };
    walk(&first, c, &stop, |tensor, gradient, _| {
        if let Some(i) = stop.iter().position(|&id| id == tensor.id()) {
            parts[[0, 1, 2, 5][i]] = Some(gradient.clone());
        }
    })?;
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, checkpoint, no_grad};

    fn ones(shape: &[usize]) -> Result<Tensor> {
        Tensor::ones(shape, DType::F32, &Device::cpu())?.variable()
    }

    fn op(tensor: &Tensor) -> Op {
        tensor.op().clone()
    }

    #[test]
    fn slices_that_cover_an_axis_are_joined() -> Result<()> {
        let x = ones(&[2, 6])?;
        let parts = x.chunk(3, 1)?;
        let loss = parts[2].exp()?.add(&parts[0])?.mul(&parts[1])?.sum_all()?;
        assert_eq!(op(&grad(&loss, &[&x])?[0]), Op::Cat(1));
        let loss = parts[0].mul(&parts[2])?.sum_all()?;
        assert_eq!(op(&grad(&loss, &[&x])?[0]), Op::Binary(Binary::Add));
        Ok(())
    }

    #[test]
    fn a_tied_embedding_scatters_into_the_other_gradient() -> Result<()> {
        let table = ones(&[5, 3])?;
        let ids = Tensor::from_slice(&[1i64, 4], &[2], &Device::cpu())?;
        let loss = Tensor::embedding(&table, &ids)?.matmul(&table.t()?)?.sum_all()?;
        let gradient = &grad(&loss, &[&table])?[0];
        assert_eq!(op(gradient), Op::ScatterAdd(0));
        assert!(matches!(op(&gradient.sources().unwrap()[0]), Op::Permute(_)));
        Ok(())
    }

    #[test]
    fn one_gathered_element_is_a_comparison() -> Result<()> {
        let x = ones(&[2, 6])?;
        let target = Tensor::from_slice(&[1i64, 4], &[2, 1], &Device::cpu())?;
        let gradient = &grad(&x.gather(1, &target)?.sum_all()?, &[&x])?[0];
        assert_eq!(op(gradient), Op::Where);
        Ok(())
    }

    #[test]
    fn a_region_is_computed_again_behind_its_gradient() -> Result<()> {
        let x = ones(&[2])?;
        let inside = std::cell::RefCell::new(vec![]);
        let y = checkpoint(|| {
            let a = x.exp()?;
            let b = a.sin()?;
            inside.borrow_mut().extend([a.id(), b.id()]);
            b.exp()
        })?;
        let loss = y.sqr()?.sum_all()?;
        for backward in [|loss: &Tensor| loss.backward(), |loss: &Tensor| no_grad(|| loss.backward())] {
            let gradients = backward(&loss)?;
            let (mut stack, mut waits) = (vec![gradients.get(&x).unwrap().clone()], 0);
            while let Some(tensor) = stack.pop() {
                let Some(src) = tensor.sources() else { continue };
                if *tensor.op() == Op::After {
                    waits += 1;
                    assert_eq!(src[0].id(), x.id());
                } else {
                    // Only y itself, which the loss needs anyway, is used as it was computed first.
                    assert!(!inside.borrow().contains(&tensor.id()) || tensor.id() == y.id());
                    stack.extend(src.iter().filter(|s| s.id() != y.id()).cloned());
                }
            }
            assert!(waits > 0);
        }
        Ok(())
    }

    #[test]
    fn gradients_carry_the_scope_of_the_forward_op() -> Result<()> {
        let x = ones(&[2])?;
        let y = crate::scope("h.0", || x.exp())?;
        let gradient = &grad(&y.sum_all()?, &[&x])?[0];
        assert_eq!(gradient.0.scope.path(), "h.0");
        assert!(gradient.0.scope.is_backward() && !y.0.scope.is_backward());
        assert_eq!(gradient.0.scope.to_string(), "h.0 (backward)");
        Ok(())
    }
}
