//! Modules: things that own parameters, and the walk that gives every parameter its path.

use super::Parameter;
use rustc_hash::FxHashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A layer or a model: something with parameters. `visit` names what it owns; the rest follows from that.
///
/// ```
/// use fornax::nn::{Linear, Module, Visitor};
///
/// struct Head { fc: Linear }
/// impl Module for Head {
///     fn visit(&self, v: &mut Visitor) {
///         v.module("fc", &self.fc);
///     }
/// }
/// let head = Head { fc: Linear::new(2, 1, &fornax::Device::cpu())? };
/// assert_eq!(head.named_parameters()[0].0, "fc.weight");
/// # Ok::<(), fornax::Error>(())
/// ```
pub trait Module {
    /// Tells the visitor every parameter and module owned directly.
    fn visit(&self, v: &mut Visitor);

    /// All parameters with their dotted paths ("h.3.attn.c_proj.weight"), in the order of `visit`. A shared
    /// parameter appears once, under the first of its paths.
    fn named_parameters(&self) -> Vec<(String, Parameter)> {
        let mut visitor = Visitor::default();
        self.visit(&mut visitor);
        visitor.found
    }

    /// All parameters.
    fn parameters(&self) -> Vec<Parameter> {
        self.named_parameters().into_iter().map(|(_, parameter)| parameter).collect()
    }

    /// How many numbers the model learns.
    fn parameter_count(&self) -> usize {
        self.parameters().iter().map(|p| p.tensor().numel()).sum()
    }

    /// Switches what behaves differently while training (dropout). Layers start in training mode.
    fn train(&self, on: bool) {
        let mut visitor = Visitor::default();
        self.visit(&mut visitor);
        for switch in visitor.switches {
            switch.store(on, Ordering::Relaxed);
        }
    }
}

/// Collects what modules own, and keeps the path.
#[derive(Default)]
pub struct Visitor {
    path: String,
    found: Vec<(String, Parameter)>,
    seen: FxHashSet<usize>,
    switches: Vec<Arc<AtomicBool>>,
}

impl Visitor {
    /// A parameter of the module.
    pub fn parameter(&mut self, name: &str, parameter: &Parameter) {
        if self.seen.insert(parameter.identity()) {
            self.found.push((self.join(name), parameter.clone()));
        }
    }

    /// A parameter that may be absent.
    pub fn optional(&mut self, name: &str, parameter: Option<&Parameter>) {
        if let Some(parameter) = parameter {
            self.parameter(name, parameter);
        }
    }

    /// A module inside the module.
    pub fn module(&mut self, name: &str, module: &dyn Module) {
        let path = self.join(name);
        let outer = std::mem::replace(&mut self.path, path);
        module.visit(self);
        self.path = outer;
    }

    /// Modules in a row: "name.0", "name.1", ...
    pub fn modules<M: Module>(&mut self, name: &str, modules: &[M]) {
        for (i, module) in modules.iter().enumerate() {
            self.module(&format!("{name}.{i}"), module);
        }
    }

    /// A switch that [`Module::train`] sets.
    pub fn training(&mut self, switch: &Arc<AtomicBool>) {
        self.switches.push(switch.clone());
    }

    fn join(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_string() } else { format!("{}.{name}", self.path) }
    }
}
