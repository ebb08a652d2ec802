//! The text that ships in the binary: Fornax's own sources, so that the first run needs no file.

macro_rules! sources {
    ($($path:literal,)*) => {
        [$(include_str!(concat!("../../../fornax/src/", $path))),*]
    };
}

/// Rooms of the engine, a file each.
const SOURCES: &[&str] = &sources![
    "kernel/mod.rs",
    "graph/mod.rs",
    "graph/autograd.rs",
    "graph/recompute.rs",
    "graph/interpret/mod.rs",
    "graph/interpret/array.rs",
    "tensor/mod.rs",
    "tensor/attention.rs",
    "tensor/autocast.rs",
    "tensor/axes.rs",
    "tensor/create.rs",
    "tensor/einsum.rs",
    "tensor/elementwise.rs",
    "tensor/index.rs",
    "tensor/loss.rs",
    "tensor/matmul.rs",
    "tensor/norm.rs",
    "tensor/raw.rs",
    "tensor/reduce.rs",
    "tensor/sort.rs",
    "schedule/mod.rs",
    "schedule/edges.rs",
    "schedule/fuse.rs",
    "schedule/lower.rs",
    "schedule/memory.rs",
    "schedule/plan.rs",
    "schedule/batch.rs",
    "schedule/simplify.rs",
    "schedule/space.rs",
    "dtype.rs",
    "error.rs",
    "realize.rs",
    "asked.rs",
    "random.rs",
    "scope.rs",
    "verify.rs",
    "nn/attention.rs",
    "nn/dropout.rs",
    "nn/embedding.rs",
    "nn/layer_norm.rs",
    "nn/linear.rs",
    "nn/mlp.rs",
    "nn/mod.rs",
    "nn/module.rs",
    "nn/parameter.rs",
    "nn/rms_norm.rs",
    "nn/transformer.rs",
    "io/mod.rs",
    "io/npy.rs",
    "io/safetensors.rs",
    "io/checkpoint.rs",
    "optim/accumulate.rs",
    "optim/adam.rs",
    "optim/clip.rs",
    "optim/lion.rs",
    "optim/optimizer.rs",
    "optim/rule.rs",
    "optim/scaler.rs",
    "optim/schedule.rs",
    "view.rs",
    "tensor/views.rs",
];

/// All of it. Tests are left out: they repeat themselves.
pub fn own_sources() -> String {
    let code = |file: &&str| file.split("\n#[cfg(test)]").next().unwrap_or_default().trim_end().to_string();
    SOURCES.iter().map(code).collect::<Vec<_>>().join("\n\n")
}
