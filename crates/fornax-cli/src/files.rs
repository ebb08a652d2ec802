//! Results in files that the user names.

use crate::Failure;
use fornax::{Error, Result};
use std::path::Path;

/// Says now rather than after minutes that a file cannot be written. What is in it stays until there is something new.
pub fn check_writable(path: &Path) -> std::result::Result<(), Failure> {
    let opened = std::fs::OpenOptions::new().create(true).append(true).open(path);
    opened.map(|_| ()).map_err(|source| Failure::Usage(failed(path, source).to_string()))
}

pub fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|source| failed(path, source))
}

fn failed(path: &Path, source: std::io::Error) -> Error {
    Error::Io { path: path.display().to_string(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_whether_a_file_can_be_written_keeps_what_it_holds() {
        let path = std::env::temp_dir().join(format!("fornax-files-{}", std::process::id()));
        assert!(check_writable(&path).is_ok());
        assert!(write(&path, "old").is_ok() && check_writable(&path).is_ok());
        assert_eq!(std::fs::read_to_string(&path).ok().as_deref(), Some("old"));
        assert!(std::fs::remove_file(&path).is_ok());
        assert!(matches!(check_writable(Path::new("/no/such/folder/x")), Err(Failure::Usage(_))));
    }
}
