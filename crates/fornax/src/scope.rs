//! Module paths: which part of a model made a node. Autograd gives a gradient the scope of its forward node,
//! so plans and profiles can say "h.3/attn" for both.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

/// An interned path such as "h.3/attn"; the root is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scope(u32);

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
        names().paths[self.0 as usize].clone()
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

/// Runs `f` with `name` added to the module path of every op it records.
///
/// ```
/// # use fornax::*;
/// let x = Tensor::ones(&[2], DType::F32, &Device::cpu())?;
/// let y = scope("h.0", || scope("mlp", || x.exp()))?;
/// # Ok::<(), Error>(())
/// ```
pub fn scope<R>(name: &str, f: impl FnOnce() -> R) -> R {
    let parent = Scope::current().path();
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
    Scope(id).enter(f)
}
