//! Files: tensors by name ([`safetensors`]), single arrays ([`npy`]), training runs ([`checkpoint`]). Files are written
//! beside their place and renamed, so a reader never sees half of one.

pub mod checkpoint;
pub mod npy;
pub mod safetensors;

use crate::error::{Error, Result};
use std::fs;
use std::io::{BufWriter, Write};
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

/// Writes all of `parts` to a file: whoever reads it finds the old content or the new, also after a crash.
pub fn write_file(path: &Path, parts: &[&[u8]]) -> Result<()> {
    write_whole(path, |file| {
        parts.iter().try_for_each(|part| file.write_all(part)).map_err(|source| io_error(path, source))
    })
}

/// Lets `write` fill a temporary file in the same folder, waits until it lies on the disk, and renames it to `path`.
fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let temporary: PathBuf =
        path.with_file_name(format!(".{name}.{}-{number}{TEMPORARY}", std::process::id()));
    let io = |source| io_error(path, source);
    let written = fs::File::create(&temporary).map_err(io).and_then(|file| {
        let mut buffered = BufWriter::with_capacity(1 << 20, file);
        write(&mut buffered)?;
        let file = buffered.into_inner().map_err(|error| io(error.into_error()))?;
        file.sync_all().map_err(io)?;
        drop(file);
        fs::rename(&temporary, path).map_err(io)
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// How the names of files end that are not finished yet.
pub(crate) const TEMPORARY: &str = ".tmp";

/// Swaps the bytes of every element on machines whose order differs from the file's.
fn reorder(bytes: &mut [u8], size: usize, file_is_little: bool) {
    if size > 1 && file_is_little != cfg!(target_endian = "little") {
        bytes.chunks_exact_mut(size).for_each(|element| element.reverse());
    }
}
