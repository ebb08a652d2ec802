//! The optimizer: applies a rule to groups of parameters and evaluates the step as one plan.

use super::rule::{Moment, Rule};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::autograd::Gradients;
use crate::nn::Parameter;
use crate::schedule::Plan;
use crate::scope::scope;
use crate::tensor::formula::Formulas;
use crate::tensor::{Pending, Tensor, no_grad};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Parameters that are treated alike.
#[derive(Clone, Debug)]
pub struct Group {
    /// The parameters with their paths.
    pub parameters: Vec<(String, Parameter)>,
    /// The optimizer's learning rate times this is the group's.
    pub lr_factor: f64,
    /// How strongly weights are pulled to zero; `None` for the rule's own.
    pub weight_decay: Option<f64>,
}

impl Group {
    /// A group at the optimizer's learning rate and the rule's weight decay.
    pub fn new(parameters: Vec<(String, Parameter)>) -> Group {
        Group { parameters, lr_factor: 1.0, weight_decay: None }
    }

    /// The same with this weight decay.
    pub fn weight_decay(self, weight_decay: f64) -> Group {
        Group { weight_decay: Some(weight_decay), ..self }
    }

    /// The same with this factor on the learning rate.
    pub fn lr_factor(self, lr_factor: f64) -> Group {
        Group { lr_factor, ..self }
    }
}

/// A parameter with what the optimizer remembers of it. States of f16 and bf16 parameters are f32.
struct Slot {
    name: String,
    parameter: Parameter,
    states: Vec<Tensor>,
    steps: u64,
    /// Whether the last of the steps counts only if the optimizer's verdict says so.
    uncertain: bool,
}

/// Parameters of a group whose updates take the same numbers: their dtype, how many steps they have behind them, and whether
/// the last of these is uncertain.
struct Alike {
    key: (DType, u64, bool),
    numbers: Vec<Tensor>,
    formulas: Formulas,
}

struct Slots {
    lr_factor: f64,
    weight_decay: Option<f64>,
    slots: Vec<Slot>,
}

/// Changes parameters by their gradients, as its [`Rule`] says.
pub struct Optimizer<R> {
    rule: R,
    lr: f64,
    device: Device,
    groups: Vec<Slots>,
    /// Whether the last step was skipped, while nobody has looked yet: on the device and on its way to the host.
    verdict: Option<(Tensor, Pending<bool>)>,
}

/// One parameter's share of a step that is being recorded.
struct Update {
    at: (usize, usize),
    old: Tensor,
    new: Tensor,
    states: Vec<Tensor>,
}

impl<R: Rule> Optimizer<R> {
    /// An optimizer of one group.
    pub fn new(rule: R, lr: f64, parameters: Vec<(String, Parameter)>) -> Result<Optimizer<R>> {
        Optimizer::with_groups(rule, lr, vec![Group::new(parameters)])
    }

    /// An optimizer of several groups. Every parameter belongs to one group, under one path.
    pub fn with_groups(rule: R, lr: f64, groups: Vec<Group>) -> Result<Optimizer<R>> {
        let mut all = groups.iter().flat_map(|group| &group.parameters);
        let Some(device) = all.next().map(|(_, parameter)| parameter.device()) else {
            return Err(Error::Argument {
                op: "Optimizer",
                detail: "there is no parameter to optimize".into(),
            });
        };
        let (mut names, mut seen) = (FxHashSet::default(), FxHashSet::default());
        let mut made = vec![];
        for group in groups {
            let mut slots = vec![];
            for (name, parameter) in group.parameters {
                if parameter.device() != device {
                    let (left, right) = (device.to_string(), parameter.device().to_string());
                    return Err(Error::DeviceMismatch { op: "Optimizer", left, right });
                }
                if !seen.insert(parameter.identity()) || !names.insert(name.clone()) {
                    return Err(Error::Parameter {
                        name,
                        detail: "it was given to the optimizer twice".into(),
                    });
                }
                let states =
                    rule.states().iter().map(|_| zeros(&parameter.tensor())).collect::<Result<_>>()?;
                slots.push(Slot { name, parameter, states, steps: 0, uncertain: false });
            }
            made.push(Slots { lr_factor: group.lr_factor, weight_decay: group.weight_decay, slots });
        }
        let mut optimizer = Optimizer { rule, lr: 0.0, device, groups: made, verdict: None };
        optimizer.set_lr(lr)?;
        Ok(optimizer)
    }

    /// The learning rate.
    pub fn lr(&self) -> f64 {
        self.lr
    }

    /// Sets the learning rate of the next steps. Plans are replayed all the same.
    pub fn set_lr(&mut self, lr: f64) -> Result<()> {
        if !lr.is_finite() {
            let detail = format!("the learning rate {lr} is not a finite number");
            return Err(Error::Argument { op: "Optimizer::set_lr", detail });
        }
        self.lr = lr;
        Ok(())
    }

    /// The rule, whose numbers may be changed between steps.
    pub fn rule_mut(&mut self) -> &mut R {
        &mut self.rule
    }

    /// Evaluates the loss and its gradients and replaces the parameters, all in one plan. Parameters without a
    /// gradient stay as they are.
    pub fn step(&mut self, gradients: &Gradients) -> Result<()> {
        self.step_with(gradients, &[])
    }

    /// The same, and evaluates `also` in the same plan: other values that depend on the old parameters.
    pub fn step_with(&mut self, gradients: &Gradients, also: &[&Tensor]) -> Result<()> {
        self.advance(gradients, also, None)
    }

    /// One step; where `skip` is true on the device, everything stays as it was and the step does not count. The host
    /// does not wait to learn whether the step before was skipped: it gives the numbers for both cases, the device
    /// chooses, and the answer is read when this step is under way.
    pub(super) fn advance(
        &mut self,
        gradients: &Gradients,
        also: &[&Tensor],
        skip: Option<&Tensor>,
    ) -> Result<()> {
        if skip.is_none() {
            self.settle()?;
        }
        let skips = match (skip, &self.verdict) {
            (Some(skip), Some((before, _))) => Some((skip, before.clone())),
            (Some(skip), None) => Some((skip, Tensor::from_slice(&[false], &[], &self.device)?)),
            (None, _) => None,
        };
        let gradients = &gradients.fenced();
        let mut updates = no_grad(|| scope("optim", || self.record(gradients, skips.as_ref())))?;
        let (targets, donated) = self.targets(gradients, &updates, also);
        crate::realize::eval_donating(&targets, &donated)?;
        let settled = self.settle();
        // New leaves in the order of the old ones: gradients go by it, so every step records the same.
        updates.sort_by_key(|update| update.old.id());
        for update in updates {
            let slot = &mut self.groups[update.at.0].slots[update.at.1];
            slot.parameter.set(&update.new)?;
            slot.states = update.states;
            slot.steps += 1;
            slot.uncertain = skip.is_some();
        }
        self.verdict = skip.map(|skip| Ok((skip.clone(), skip.item_later()?))).transpose()?;
        settled
    }

    /// The plan of [`Optimizer::step`]; [`crate::Device::prewarm`] compiles it ahead of the first step.
    pub fn plan(&self, gradients: &Gradients) -> Result<Arc<Plan>> {
        let gradients = &gradients.fenced();
        let updates = no_grad(|| scope("optim", || self.record(gradients, None)))?;
        let (targets, donated) = self.targets(gradients, &updates, &[]);
        crate::realize::plan_donating(&targets, &donated)
    }

    /// What a step evaluates, and which of it may overwrite an old value.
    fn targets<'a>(
        &'a self,
        gradients: &'a Gradients,
        updates: &'a [Update],
        also: &[&'a Tensor],
    ) -> (Vec<&'a Tensor>, Vec<(usize, &'a Tensor)>) {
        let (mut targets, mut donated) = (vec![gradients.root()], vec![]);
        // The last layers first: their gradients are there first, and what they need can go.
        for update in updates.iter().rev() {
            donated.push((targets.len(), &update.old));
            targets.push(&update.new);
            for (old, new) in self.slot(update.at).states.iter().zip(&update.states) {
                donated.push((targets.len(), old));
                targets.push(new);
            }
        }
        targets.extend(also);
        (targets, donated)
    }

    /// `skips`: whether to skip this step, and whether the one before was skipped.
    fn record(&self, gradients: &Gradients, skips: Option<&(&Tensor, Tensor)>) -> Result<Vec<Update>> {
        let mut updates = vec![];
        for (g, group) in self.groups.iter().enumerate() {
            // Usually one entry: all parameters of a group have one dtype and were updated equally often.
            let mut alike: Vec<Alike> = vec![];
            for (s, slot) in group.slots.iter().enumerate() {
                let old = slot.parameter.tensor();
                let Some(gradient) = gradients.get(&old) else { continue };
                let key = (old.dtype().compute(), slot.steps, slot.uncertain);
                let at = match alike.iter().position(|known| known.key == key) {
                    Some(at) => at,
                    None => {
                        let numbers = self.numbers(group, key, skips)?;
                        let formulas = Formulas::new(numbers.iter().chain(skips.map(|(skip, _)| *skip)));
                        alike.push(Alike { key, numbers, formulas });
                        alike.len() - 1
                    }
                };
                let Alike { numbers, formulas, .. } = &mut alike[at];
                let update = || {
                    let (wide, gradient) = (old.to_dtype(key.0)?, gradient.to_dtype(key.0)?);
                    let (new, mut states) = self.rule.update(&wide, &gradient, &slot.states, numbers)?;
                    let mut new = new.to_dtype(old.dtype())?;
                    if let Some((skip, _)) = skips {
                        new = skip.where_(&old, &new)?;
                        for (new, old) in states.iter_mut().zip(&slot.states) {
                            *new = skip.where_(old, &*new)?;
                        }
                    }
                    states.insert(0, new);
                    Ok(states)
                };
                let operands: Vec<&Tensor> = [&old, gradient].into_iter().chain(&slot.states).collect();
                let mut states = formulas.results(&operands, update)?;
                let new = states.remove(0);
                updates.push(Update { at: (g, s), old, new, states });
            }
        }
        Ok(updates)
    }

    /// The numbers of the next step of parameters of a group that have this dtype and this many steps behind them.
    fn numbers(
        &self,
        group: &Slots,
        (dtype, steps, uncertain): (DType, u64, bool),
        skips: Option<&(&Tensor, Tensor)>,
    ) -> Result<Vec<Tensor>> {
        let lr = self.lr * group.lr_factor;
        let weight_decay = group.weight_decay.unwrap_or(self.rule.weight_decay());
        let at = |step| self.rule.numbers(Moment { lr, weight_decay, step });
        let tensor = |v| Tensor::scalar(v, dtype, &self.device);
        let Some((_, skipped_before)) = skips else {
            return at(steps + 1).into_iter().map(tensor).collect();
        };
        // Most numbers are the same at every step, so there is nothing to choose. Which these are must not depend on the
        // learning rate: it would be part of the structure.
        let typical = |step| self.rule.numbers(Moment { lr: 0.3, weight_decay: 0.7, step });
        let changes = typical(1).into_iter().zip(typical(2)).map(|(first, second)| first != second);
        let both = at(steps + 1).into_iter().zip(at(steps + 1 - uncertain as u64));
        let number = |((counted, skipped), changes): ((f64, f64), bool)| match changes || counted != skipped {
            true => skipped_before.where_(&tensor(skipped)?, &tensor(counted)?),
            false => tensor(counted),
        };
        both.zip(changes).map(number).collect()
    }

    /// Takes back the count of a step that turned out to be skipped.
    fn settle(&mut self) -> Result<()> {
        let Some((_, verdict)) = self.verdict.take() else { return Ok(()) };
        let skipped = verdict.wait()?;
        for slot in self.groups.iter_mut().flat_map(|group| &mut group.slots) {
            slot.steps -= (slot.uncertain && skipped) as u64;
            slot.uncertain = false;
        }
        Ok(())
    }

    fn slot(&self, (group, slot): (usize, usize)) -> &Slot {
        &self.groups[group].slots[slot]
    }

    /// What the optimizer remembers, by parameter path: "h.0.weight.exp_avg", and "h.0.weight.step".
    pub fn state(&mut self) -> Result<Vec<(String, Tensor)>> {
        self.settle()?;
        let mut all = vec![];
        for slot in self.groups.iter().flat_map(|group| &group.slots) {
            let steps = Tensor::from_slice(&[slot.steps as i64], &[], &self.device)?;
            all.push((format!("{}.step", slot.name), steps));
            for (name, state) in self.rule.states().iter().zip(&slot.states) {
                all.push((format!("{}.{name}", slot.name), state.detach()));
            }
        }
        Ok(all)
    }

    /// Restores what [`Optimizer::state`] gave, for the same parameters. On an error nothing has changed.
    pub fn load_state(&mut self, state: &BTreeMap<String, Tensor>) -> Result<()> {
        let find = |name: String, like: Option<&Tensor>| {
            let Some(tensor) = state.get(&name) else {
                return Err(Error::Parameter { name, detail: "the optimizer state does not have it".into() });
            };
            let shape = like.map_or(&[][..], |like| like.shape());
            if tensor.shape() != shape {
                let detail = format!("the state is {:?}, the optimizer needs {shape:?}", tensor.shape());
                return Err(Error::Parameter { name, detail });
            }
            Ok(tensor)
        };
        let mut loaded = vec![];
        for slot in self.groups.iter().flat_map(|group| &group.slots) {
            let steps = find(format!("{}.step", slot.name), None)?.to_dtype(DType::I64)?.item::<i64>()?;
            let mut states = vec![];
            for (name, old) in self.rule.states().iter().zip(&slot.states) {
                let tensor = find(format!("{}.{name}", slot.name), Some(old))?;
                // A copy of its own: the next step will overwrite it.
                let bytes = tensor.to_dtype(old.dtype())?.to_bytes()?;
                states.push(Tensor::from_bytes(&bytes, old.shape(), old.dtype(), &self.device)?);
            }
            loaded.push((steps.max(0) as u64, states));
        }
        let known = loaded.len() * (1 + self.rule.states().len());
        if state.len() > known {
            let expected: FxHashSet<String> = self.state()?.into_iter().map(|(name, _)| name).collect();
            if let Some(name) = state.keys().find(|name| !expected.contains(*name)) {
                let detail = "the optimizer has no such parameter or state".into();
                return Err(Error::Parameter { name: name.clone(), detail });
            }
        }
        let slots = self.groups.iter_mut().flat_map(|group| &mut group.slots);
        for (slot, (steps, states)) in slots.zip(loaded) {
            slot.steps = steps;
            slot.states = states;
            slot.uncertain = false;
        }
        self.verdict = None;
        Ok(())
    }
}

/// Zeros in memory of their own: equal lazy zeros might share one, and states are overwritten in place.
fn zeros(like: &Tensor) -> Result<Tensor> {
    let dtype = like.dtype().compute();
    Tensor::from_bytes(&vec![0; like.numel() * dtype.size()], like.shape(), dtype, like.device())
}
