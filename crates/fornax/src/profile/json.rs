//! Profiles as JSON, and back.

use super::Profile;
use crate::error::{Error, Result};

/// Names the schema; the number goes up when the meaning of a field changes.
pub(super) const FORMAT: &str = "fornax-profile 2";

impl Profile {
    /// The profile as JSON: an object with the fields of [`Profile`], times in seconds, enums as words in snake_case,
    /// and `null` for what could not be measured. `docs/profile-schema.md` describes it.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|e| Error::Internal(format!("a profile as JSON: {e}")))
    }

    /// A profile from [`Profile::to_json`]; `path` names it in errors.
    pub fn from_json(text: &str, path: &str) -> Result<Profile> {
        let wrong = |detail: String| Error::Format { path: path.into(), detail };
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|e| wrong(format!("not a profile: {e}")))?;
        match value.get("format").and_then(|f| f.as_str()) {
            Some(FORMAT) => {}
            Some(other) => {
                return Err(wrong(format!(
                    "a profile of the format {other:?}, this version reads {FORMAT:?}"
                )));
            }
            None => return Err(wrong("not a profile; `fornax profile .. --json FILE` writes one".into())),
        }
        serde_json::from_value(value).map_err(|e| wrong(format!("not a whole profile: {e}")))
    }
}
