//! Module paths: which part of a model made a node. Autograd gives a gradient the scope of its forward node, marked
//! as backward, so plans and profiles can say "h.3/attn" for both and tell them apart.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

/// An interned path such as "h.3/attn", and whether autograd recorded what is in it; the root is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scope(u32);

/// Set in scopes of gradients; the other bits number the path.
const BACKWARD: u32 = 1 << 31;

struct Names {
    paths: Vec<String>,
    ids: HashMap<String, u32>,
}

static NAMES: LazyLock<Mutex<Names>> = LazyLock::new(|| {
    Mutex::new(Names { paths: vec![String::new()], ids: HashMap::from([(String::new(), 0)]) })
});

thread_local! {
    static CURRENT: Cell<Scope> = const { Cell::new(Scope(0)) };
}

fn names() -> std::sync::MutexGuard<'static, Names> {
    NAMES.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Scope {
    /// The scope in force on this thread.
    pub fn current() -> Scope {
        CURRENT.get()
    }

    /// The path in words.
    pub fn path(self) -> String {
        names().paths[(self.0 & !BACKWARD) as usize].clone()
    }

    /// The same path, for gradients.
    pub fn backward(self) -> Scope {
        Scope(self.0 | BACKWARD)
    }

    /// Whether autograd recorded what is in it.
    pub fn is_backward(self) -> bool {
        self.0 & BACKWARD != 0
    }

    /// Runs `f` with this scope in force.
    pub fn enter<R>(self, f: impl FnOnce() -> R) -> R {
        struct Restore(Scope);
        impl Drop for Restore {
            fn drop(&mut self) {
                CURRENT.set(self.0);
            }
        }
        let _restore = Restore(CURRENT.replace(self));
        f()
    }
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.path();
        f.write_str(if path.is_empty() { "-" } else { &path })?;
        f.write_str(if self.is_backward() { " (backward)" } else { "" })
    }
}

/// Runs `f` with `name` added to the module path of every op it records.
///
/// ```
/// # use fornax::*;
/// let x = Tensor::ones(&[2], DType::F32, &Device::cpu())?;
/// let y = scope("h.0", || scope("mlp", || x.exp()))?;
/// # Ok::<(), Error>(())
/// ```
pub fn scope<R>(name: &str, f: impl FnOnce() -> R) -> R {
    let outer = Scope::current();
    let parent = outer.path();
    let path = if parent.is_empty() { name.to_string() } else { format!("{parent}/{name}") };
    let id = {
        let mut names = names();
        match names.ids.get(&path) {
            Some(&id) => id,
            None => {
                let id = names.paths.len() as u32;
                names.paths.push(path.clone());
                names.ids.insert(path, id);
                id
            }
        }
    };
    Scope(id | outer.0 & BACKWARD).enter(f)
}
