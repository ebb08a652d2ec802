//! Formulas: what was recorded of a function of tensors, to be used again for other operands. An optimizer does the same for
//! every parameter, with dozens of ops; those of parameters of one shape are recorded once a step. A use is one tensor, and so
//! is each of its results; only [`crate::asked`] sees that, and in a graph there are the nodes alone.

use super::read::reads;
use super::{Sources, State, Tensor, next_id};
use crate::asked::mix;
use crate::error::{Error, Result};
use crate::graph::{self, Node, NodeId, Op};
use crate::scope::Scope;
use rustc_hash::FxHashMap;
use smallvec::smallvec;
use std::sync::Arc;

/// Ops between sources and results. Its ids count the sources and then the nodes.
pub(crate) struct Formula {
    sources: usize,
    nodes: Vec<(Node, Scope)>,
    results: Vec<NodeId>,
    /// Equal for formulas of one structure.
    hash: u64,
}

/// What a tensor is where a formula is used.
#[derive(Clone)]
pub(crate) enum Part {
    /// The use; its sources are those of the formula.
    Use(Arc<Formula>),
    /// The result with this number, of the use that is its source.
    Result(u32),
}

impl Part {
    /// Its share of a structural key.
    pub fn hash(&self) -> u64 {
        match self {
            Part::Use(formula) => formula.hash,
            Part::Result(number) => *number as u64,
        }
    }
}

impl Formula {
    /// The ops between sources and results, all of them recorded since `first`. None if there is something else among them: a
    /// number or data may be meant for these results alone.
    fn between(sources: &[&Tensor], results: &[Tensor], first: u64) -> Option<Formula> {
        let mut known: FxHashMap<u64, NodeId> = FxHashMap::default();
        for (i, source) in sources.iter().enumerate() {
            // Other sources need not be the same tensor twice.
            if known.insert(source.id(), NodeId(i as u32)).is_some() {
                return None;
            }
        }
        let mut formula = Formula { sources: sources.len(), nodes: vec![], results: vec![], hash: 0 };
        let mut open: Vec<(Tensor, Option<Sources>)> = vec![];
        for result in results {
            open.push((result.clone(), None));
            while let Some((tensor, src)) = open.pop() {
                if known.contains_key(&tensor.id()) {
                    continue;
                }
                if let Some(src) = src {
                    known.insert(tensor.id(), formula.push(&tensor, &src, &known));
                    continue;
                }
                let plain = tensor.id() > first && !tensor.requires_grad() && tensor.0.region == 0;
                let State::Lazy(src) = &*tensor.state() else { return None };
                if !plain {
                    return None;
                }
                open.push((tensor.clone(), Some(src.clone())));
                open.extend(src.iter().map(|s| (s.clone(), None)));
            }
            let id = known[&result.id()];
            formula.hash = mix(formula.hash, !(id.0 as u64));
            formula.results.push(id);
        }
        Some(formula).filter(|formula| !formula.results.is_empty())
    }

    /// Adds the op of a tensor whose sources are known.
    fn push(&mut self, tensor: &Tensor, src: &[Tensor], known: &FxHashMap<u64, NodeId>) -> NodeId {
        let id = NodeId((self.sources + self.nodes.len()) as u32);
        let inner = &*tensor.0;
        let src: graph::Sources = src.iter().map(|s| known[&s.id()]).collect();
        self.hash = src.iter().fold(mix(self.hash, inner.hash), |hash, s| mix(hash, s.0 as u64 + 1));
        let (op, shape, dtype) = (inner.op.clone(), inner.shape.clone(), inner.dtype);
        self.nodes.push((Node { op, src, shape, dtype }, inner.scope));
        id
    }

    /// The results for other sources of the same shapes and dtypes.
    fn of(self: &Arc<Self>, sources: &[&Tensor]) -> Vec<Tensor> {
        let device = sources[0].device();
        let all = sources.iter().map(|&source| source.clone()).collect();
        let state = State::Part(Part::Use(self.clone()), all);
        // It has no value, only results.
        let used = Tensor::make(Op::Input, state, &[], sources[0].dtype(), device.clone(), false);
        let result = |(number, &id): (usize, &NodeId)| match id.index().checked_sub(self.sources) {
            None => sources[id.index()].clone(),
            Some(at) => {
                let (Node { op, shape, dtype, .. }, _) = &self.nodes[at];
                let state = State::Part(Part::Result(number as u32), smallvec![used.clone()]);
                Tensor::make(op.clone(), state, shape, *dtype, device.clone(), false)
            }
        };
        self.results.iter().enumerate().map(result).collect()
    }

    /// Adds the nodes to a graph that has the sources, and says which of them the results are.
    pub fn expand(
        &self,
        sources: impl Iterator<Item = NodeId>,
        mut add: impl FnMut(Node, Scope) -> NodeId,
    ) -> Vec<NodeId> {
        let mut ids: Vec<NodeId> = sources.collect();
        for (node, scope) in &self.nodes {
            let src = node.src.iter().map(|s| ids[s.index()]).collect();
            ids.push(add(Node { src, ..node.clone() }, *scope));
        }
        self.results.iter().map(|result| ids[result.index()]).collect()
    }
}

/// What was recorded so far, by the shapes and dtypes of operands.
pub(crate) struct Formulas {
    /// What the function may use beside its operands.
    common: Vec<Tensor>,
    known: Vec<Known>,
}

struct Known {
    operands: Vec<Tensor>,
    /// None where every use has to be recorded.
    formula: Option<Arc<Formula>>,
}

impl Formulas {
    pub fn new<'a>(common: impl IntoIterator<Item = &'a Tensor>) -> Formulas {
        Formulas { common: common.into_iter().cloned().collect(), known: vec![] }
    }

    /// The results of `f` for these operands, of which there is at least one; `f` is called only where no formula serves.
    /// What it records must follow from the shapes and dtypes of the operands, or from values that it reads. The first use
    /// is one of the formula too: kernels list their ops in the order in which a walk meets them, and only equal lists
    /// become one launch.
    pub fn results<R>(&mut self, operands: &[&Tensor], f: impl FnOnce() -> Result<R>) -> Result<R>
    where
        R: AsRef<[Tensor]> + TryFrom<Vec<Tensor>>,
    {
        let same = |(a, b): (&Tensor, &&Tensor)| a.shape() == b.shape() && a.dtype() == b.dtype();
        let alike = |known: &&Known| {
            known.operands.len() == operands.len() && known.operands.iter().zip(operands).all(same)
        };
        let sources: Vec<&Tensor> = operands.iter().copied().chain(&self.common).collect();
        let formula = match self.known.iter().find(alike) {
            Some(Known { formula: None, .. }) => return f(),
            Some(Known { formula: Some(formula), .. }) => formula.clone(),
            None => {
                let (since, before) = (next_id(), reads());
                let results = f()?;
                // Other values may lead to other ops.
                let is_one = reads() == before;
                let formula = is_one.then(|| Formula::between(&sources, results.as_ref(), since)).flatten();
                let (formula, operands) =
                    (formula.map(Arc::new), operands.iter().map(|&o| o.clone()).collect());
                self.known.push(Known { operands, formula: formula.clone() });
                let Some(formula) = formula else { return Ok(results) };
                formula
            }
        };
        formula.of(&sources).try_into().map_err(|_| Error::Internal("a formula of other results".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, Device, Pending, eval};
    use std::cell::{Cell, RefCell};

    fn data(values: [f32; 3]) -> Tensor {
        Tensor::from_slice(&values, &[3], &Device::cpu()).expect("three elements")
    }

    #[test]
    fn what_was_recorded_serves_other_operands() -> Result<()> {
        let factor = Tensor::from_slice(&[3f32], &[], &Device::cpu())?;
        let calls = Cell::new(0);
        let f = |x: &Tensor, y: &Tensor| -> Result<[Tensor; 4]> {
            calls.set(calls.get() + 1);
            let scaled = x.mul(&factor)?.add(y)?;
            Ok([scaled.clone(), scaled.exp()?.sum_all()?, y.clone(), factor.clone()])
        };
        let mut formulas = Formulas::new([&factor]);
        let operands = [([1.0, 2.0, 3.0], [0.5, 0.0, 0.5]), ([0.1, 0.2, 0.3], [1.0, 2.0, 3.0])];
        let mut both = vec![];
        for (x, y) in operands.iter().cycle().take(4) {
            let (x, y) = (data(*x), data(*y));
            both.push((f(&x, &y)?, formulas.results(&[&x, &y], || f(&x, &y))?));
        }
        assert_eq!(calls.get(), 4 + 1);
        for (plain, results) in &both {
            eval(&results.iter().collect::<Vec<_>>())?;
            for (plain, result) in plain.iter().zip(results) {
                assert_eq!((plain.shape(), plain.dtype()), (result.shape(), result.dtype()));
                assert_eq!(plain.to_vec::<f32>()?, result.to_vec::<f32>()?);
            }
        }
        Ok(())
    }

    #[test]
    fn only_what_follows_from_the_operands_is_shared() -> Result<()> {
        let foreign = data([1.0, 1.0, 2.0]);
        let parameter = foreign.variable()?;
        type Function<'a> = &'a dyn Fn(&Tensor, &Tensor) -> Result<Tensor>;
        let pending = RefCell::new(vec![]);
        let cases: [(&str, Function<'_>, bool); 9] = [
            ("operands", &|x, y| x.exp()?.mul(y), true),
            ("a number", &|x, y| x.mul(2.0)?.mul(y), false),
            ("random numbers", &|x, _| x.dropout(0.5, true), false),
            (
                "a choice by a value",
                &|x, y| if x.sum_all()?.item::<f32>()? > 5.0 { x.mul(y) } else { x.add(y) },
                false,
            ),
            (
                "a choice by a value that is there",
                &|x, y| if x.to_vec::<f32>()?[0] > 0.0 { x.mul(y) } else { x.add(y) },
                false,
            ),
            (
                "a choice by a value that was on its way",
                &|x, y| {
                    let value: Pending<f32> = pending.borrow_mut().pop().expect("one for every use");
                    if value.wait()? > 0.0 { x.mul(y) } else { x.add(y) }
                },
                false,
            ),
            ("data", &|x, _| x.add(&data([1.0, 2.0, 3.0])), false),
            ("another tensor", &|x, y| x.add(&foreign)?.mul(y), false),
            ("what requires a gradient", &|x, _| x.mul(&parameter), false),
        ];
        for _ in 0..3 {
            pending.borrow_mut().push(Tensor::scalar(1.0, DType::F32, &Device::cpu())?.item_later()?);
        }
        for (name, f, shared) in cases {
            let (mut formulas, mut calls) = (Formulas::new([]), 0);
            for _ in 0..3 {
                let (x, y) = (data([1.0, 2.0, 3.0]), data([3.0, 2.0, 1.0]));
                formulas.results(&[&x, &y], || {
                    calls += 1;
                    Ok([f(&x, &y)?])
                })?;
            }
            assert_eq!(calls, if shared { 1 } else { 3 }, "{name}");
        }
        // One tensor in two places says nothing about two.
        let (x, y) = (data([1.0, 2.0, 3.0]), data([3.0, 2.0, 1.0]));
        let mut formulas = Formulas::new([]);
        let difference = |formulas: &mut Formulas, x: &Tensor, y: &Tensor| {
            formulas.results(&[x, y], || Ok([x.sub(y)?])).map(|[difference]| difference)
        };
        let (none, some) = (difference(&mut formulas, &x, &x)?, difference(&mut formulas, &x, &y)?);
        assert_eq!((none.to_vec::<f32>()?, some.to_vec::<f32>()?), (vec![0.0; 3], vec![-2.0, 0.0, 2.0]));
        Ok(())
    }

    #[test]
    fn results_that_nobody_asks_for_are_not_computed() -> Result<()> {
        let factor = data([2.0, 3.0, 4.0]);
        let mut formulas = Formulas::new([&factor]);
        let mut of = |x: &Tensor| {
            formulas.results(&[x], || {
                let scaled = x.mul(&factor)?;
                Ok([scaled.exp()?, scaled.fence().sum_all()?])
            })
        };
        let (first, second) = (of(&data([0.0, 1.0, 2.0]))?, of(&data([0.0, 1.0, 2.0]))?);
        for (plain, shared) in first.iter().zip(&second) {
            assert_eq!(plain.plan()?.to_string(), shared.plan()?.to_string());
        }
        // They are results like any others.
        let [exp, sum] = of(&data([0.0, 0.0, 1.0]))?;
        assert_eq!(exp.mul(&sum)?.to_vec::<f32>()?, [4.0, 4.0, 4.0 * exp.to_vec::<f32>()?[2]]);
        Ok(())
    }
}
