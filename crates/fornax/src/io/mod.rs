//! Files: tensors by name ([`safetensors`]) and single arrays ([`npy`]). Files are written beside their place and
//! renamed, so a reader never sees half of one.

pub mod npy;
pub mod safetensors;

use crate::error::{Error, Result};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

fn io_error(path: &Path, source: std::io::Error) -> Error {
    Error::Io { path: path.display().to_string(), source }
}

fn format_error(path: &Path, detail: impl Into<String>) -> Error {
    Error::Format { path: path.display().to_string(), detail: detail.into() }
}

/// The bytes of a file.
pub fn read_file(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|source| io_error(path, source))
}

/// Writes all of `parts` to a temporary file in the same folder, then renames it to `path`: whoever reads it finds the
/// old content or the new, also after a crash.
pub fn write_file(path: &Path, parts: &[&[u8]]) -> Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let temporary: PathBuf = path.with_file_name(format!(".{name}.{}-{number}.tmp", std::process::id()));
    let write = || {
        let mut file = fs::File::create(&temporary)?;
        for part in parts {
            file.write_all(part)?;
        }
        file.sync_all()?;
        drop(file);
        fs::rename(&temporary, path)
    };
    write().map_err(|source| {
        let _ = fs::remove_file(&temporary);
        io_error(path, source)
    })
}

/// Swaps the bytes of every element on machines whose order differs from the file's.
fn reorder(bytes: &mut [u8], size: usize, file_is_little: bool) {
    if size > 1 && file_is_little != cfg!(target_endian = "little") {
        bytes.chunks_exact_mut(size).for_each(|element| element.reverse());
    }
}
