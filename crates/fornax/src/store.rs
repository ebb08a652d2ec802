//! What a machine remembers between runs: compiled pipelines, tuned tile sizes, measured peaks. One small file a
//! thing, in the user's cache directory, with its key and a checksum inside: a torn file, a foreign one, or one of
//! another version, adapter or driver reads as nothing. Losing any of it costs time, never a result.

use crate::io::{TEMPORARY, write_file};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// Begins every file; the number goes up when the meaning of what follows changes.
const MAGIC: &[u8; 16] = b"fornax store  1\n";

static CHOSEN: OnceLock<Mutex<Option<Option<PathBuf>>>> = OnceLock::new();

fn chosen() -> std::sync::MutexGuard<'static, Option<Option<PathBuf>>> {
    let cell = CHOSEN.get_or_init(Default::default);
    cell.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Chooses the directory in which Fornax remembers compiled pipelines, tuning and measured peaks; `None` remembers
/// nothing. Without a call it is `fornax` in the user's cache directory.
pub fn set_cache_dir(dir: Option<&Path>) {
    *chosen() = Some(dir.map(Path::to_path_buf));
}

/// The directory in which Fornax remembers, if there is one.
pub fn cache_dir() -> Option<PathBuf> {
    chosen().clone().unwrap_or_else(|| Some(user_cache()?.join("fornax")))
}

fn user_cache() -> Option<PathBuf> {
    let var = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    if cfg!(windows) {
        var("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        Some(var("HOME")?.join("Library/Caches"))
    } else {
        var("XDG_CACHE_HOME").or_else(|| Some(var("HOME")?.join(".cache")))
    }
}

/// A 64-bit checksum (FNV-1a over words of eight bytes).
fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325u64 ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0u8; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01b3);
        sum ^= sum >> 29;
    }
    sum
}

fn path(dir: &Path, kind: &str, key: &str) -> PathBuf {
    dir.join(format!("{kind}-{:016x}", checksum(key.as_bytes())))
}

/// What was saved under a key, if it is there and whole.
pub(crate) fn load(kind: &str, key: &str) -> Option<Vec<u8>> {
    load_from(&cache_dir()?, kind, key)
}

/// Saves bytes under a key, whole or not at all. Failing is no error: the next run has to do the work again.
pub(crate) fn save(kind: &str, key: &str, payload: &[u8]) {
    if let Some(dir) = cache_dir() {
        save_to(&dir, kind, key, payload);
    }
}

fn load_from(dir: &Path, kind: &str, key: &str) -> Option<Vec<u8>> {
    let file = std::fs::read(path(dir, kind, key)).ok()?;
    let rest = file.strip_prefix(MAGIC)?;
    let (sum, rest) = rest.split_first_chunk::<8>()?;
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (own, payload) = rest.split_at_checked(length)?;
    (checksum(rest) == u64::from_le_bytes(*sum) && own == key.as_bytes()).then(|| payload.to_vec())
}

fn save_to(dir: &Path, kind: &str, key: &str, payload: &[u8]) {
    let body = [key.as_bytes(), payload].concat();
    let (sum, length) = (checksum(&body).to_le_bytes(), (key.len() as u64).to_le_bytes());
    if std::fs::create_dir_all(dir).is_ok() {
        sweep(dir, kind);
        let _ = write_file(&path(dir, kind, key), &[MAGIC, &sum, &length, &body]);
    }
}

/// Removes what processes that ended in the middle of saving have left. A young file may be another process's, at work.
fn sweep(dir: &Path, kind: &str) {
    const OLD: Duration = Duration::from_secs(3600);
    let begins = format!(".{kind}-");
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_old = || entry.metadata().ok()?.modified().ok()?.elapsed().ok().map(|age| age > OLD);
        if name.starts_with(&begins) && name.ends_with(TEMPORARY) && is_old() == Some(true) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn what_is_torn_or_foreign_reads_as_nothing() {
        let dir = std::env::temp_dir().join(format!("fornax-store-{}", std::process::id()));
        assert_eq!(load_from(&dir, "kind", "key"), None);
        let payload: Vec<u8> = (0..1000).map(|i| (i % 251) as u8).collect();
        save_to(&dir, "kind", "key", &payload);
        assert_eq!(load_from(&dir, "kind", "key").as_deref(), Some(&payload[..]));
        assert_eq!(load_from(&dir, "kind", "other"), None);
        let file = path(&dir, "kind", "key");
        let whole = std::fs::read(&file).expect("it was saved");
        for cut in [0, 5, 16, 24, 30, 500, whole.len() - 1] {
            std::fs::write(&file, &whole[..cut]).expect("written");
            assert_eq!(load_from(&dir, "kind", "key"), None, "cut at {cut}");
        }
        for at in [3, 20, 28, 34, 700] {
            let mut wrong = whole.clone();
            wrong[at] ^= 0x10;
            std::fs::write(&file, &wrong).expect("written");
            assert_eq!(load_from(&dir, "kind", "key"), None, "changed at {at}");
        }
        save_to(&dir, "kind", "key", b"new");
        assert_eq!(load_from(&dir, "kind", "key").as_deref(), Some(&b"new"[..]));
        assert_eq!(std::fs::read_dir(&dir).expect("there").count(), 1, "no temporary stays");
        // Nor what other processes left long ago; what they may be writing does.
        for (name, age) in [(".kind-1.5-0.tmp", 7200), (".kind-2.6-0.tmp", 60), (".other-1.5-0.tmp", 7200)] {
            let left = std::fs::File::create(dir.join(name)).expect("created");
            left.set_modified(SystemTime::now() - Duration::from_secs(age)).expect("set");
        }
        save_to(&dir, "kind", "key", b"newer");
        let there = |name: &str| dir.join(name).exists();
        assert_eq!(
            (there(".kind-1.5-0.tmp"), there(".kind-2.6-0.tmp"), there(".other-1.5-0.tmp")),
            (false, true, true)
        );
        std::fs::remove_dir_all(&dir).expect("removed");
    }
}
