//! A run's folder, which is also a model's folder in Hugging Face's layout:
//!
//! ```text
//! run.json                 what the run is
//! config.json              the model's sizes
//! metrics.jsonl            a line a step, a line an evaluation
//! loss.svg                 the same as a picture
//! checkpoints/step-*       the newest few
//! model.safetensors        the trained weights, at the end
//! tokenizer.json
//! ```

use super::arguments::Settings;
use super::metrics::Line;
use fornax::io::checkpoint::Checkpoints;
use fornax::io::write_file;
use fornax::{Error, Result};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

pub struct Folder {
    pub path: PathBuf,
}

fn io_error(path: &Path, source: std::io::Error) -> Error {
    Error::Io { path: path.display().to_string(), source }
}

impl Folder {
    pub fn at(path: &Path) -> Folder {
        Folder { path: path.to_path_buf() }
    }

    /// A folder for a new run: the one that was asked for if nothing is in it, or the next free number.
    pub fn free(asked: Option<&Path>, name: &str) -> std::result::Result<Folder, String> {
        let Some(path) = asked else {
            let path = (1..).map(|n| Path::new("runs").join(format!("{name}-{n}"))).find(|p| !p.exists());
            return path.map(|path| Folder { path }).ok_or("no number is free".into());
        };
        let shown = path.display();
        // Hidden files may be what a run left that was killed as it began.
        let visible = |entry: std::io::Result<fs::DirEntry>| {
            entry.is_ok_and(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        };
        match fs::read_dir(path).map(|mut entries| entries.any(visible)) {
            Ok(_) if path.join("run.json").exists() => Err(format!(
                "{shown} holds another run; go on with that one (--resume), or name another folder"
            )),
            Ok(true) => Err(format!("{shown} is not empty; name a new folder")),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(format!("{shown}: {error}")),
            _ => Ok(Folder::at(path)),
        }
    }

    /// The settings of the run in a folder.
    pub fn settings(path: &Path) -> Result<Settings> {
        let file = path.join("run.json");
        let bytes = fs::read(&file).map_err(|source| io_error(&file, source))?;
        serde_json::from_slice(&bytes).map_err(|error| {
            let detail = format!("not the settings of a run: {error}");
            Error::Format { path: file.display().to_string(), detail }
        })
    }

    /// Makes the folder if it is not there, and writes what the run is.
    pub fn begin(&self, settings: &Settings) -> Result<()> {
        fs::create_dir_all(&self.path).map_err(|source| io_error(&self.path, source))?;
        let text = serde_json::to_vec_pretty(settings).map_err(|error| Error::Internal(error.to_string()))?;
        write_file(&self.path.join("run.json"), &[&text, b"\n"])
    }

    pub fn checkpoints(&self, keep: usize) -> Checkpoints {
        Checkpoints::new(self.path.join("checkpoints"), keep)
    }

    pub fn write_curve(&self, svg: &str) -> Result<()> {
        write_file(&self.path.join("loss.svg"), &[svg.as_bytes()])
    }

    /// The log, with the lines up to `step`: what a run wrote after its last checkpoint will be written again.
    pub fn log(&self, step: u64) -> Result<(Log, Vec<Line>)> {
        let path = self.path.join("metrics.jsonl");
        let text = match fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => vec![],
            text => text.map_err(|source| io_error(&path, source))?,
        };
        // A line that a kill has cut is no JSON and belongs to a step that is done again.
        let lines: Vec<Line> = String::from_utf8_lossy(&text)
            .lines()
            .filter_map(|line| serde_json::from_str::<Line>(line).ok())
            .filter(|line| line.step() <= step)
            .collect();
        let kept: String = lines.iter().map(|line| line.text() + "\n").collect();
        write_file(&path, &[kept.as_bytes()])?;
        let file = fs::OpenOptions::new().append(true).open(&path);
        let file = file.map_err(|source| io_error(&path, source))?;
        Ok((Log { file, path }, lines))
    }
}

/// The log of metrics, a JSON object a line.
pub struct Log {
    file: File,
    path: PathBuf,
}

impl Log {
    pub fn write(&mut self, line: &Line) -> Result<()> {
        let text = line.text() + "\n";
        self.file.write_all(text.as_bytes()).map_err(|source| io_error(&self.path, source))
    }
}
