//! The response to a GraphQL request, as the attacker sees it.

use anyhow::{Result, bail, ensure};
use serde_json::Value;

#[derive(Clone, Debug)]
pub(super) struct AttackAnswer {
    pub(super) status: u16,
    pub(super) body: Value,
}

impl AttackAnswer {
    /// Reads a body. One that is no JSON becomes a text.
    pub(super) fn new(status: u16, body: &[u8]) -> Self {
        let text = || Value::String(String::from_utf8_lossy(body).into_owned());
        Self { status, body: serde_json::from_slice(body).unwrap_or_else(|_| text()) }
    }

    /// Returns the codes of all errors.
    pub(super) fn codes(&self) -> Vec<&str> {
        let errors = self.body.get("errors").and_then(Value::as_array);
        let code = |error| Value::pointer(error, "/extensions/code").and_then(Value::as_str);
        errors.into_iter().flatten().filter_map(code).collect()
    }

    /// Returns the code of the first error; empty without one.
    pub(super) fn code(&self) -> &str {
        self.codes().first().copied().unwrap_or_default()
    }

    pub(super) fn at(&self, pointer: &str) -> &Value {
        self.body.pointer(pointer).unwrap_or(&Value::Null)
    }

    /// Returns a text of the data, which must be there.
    pub(super) fn text(&self, pointer: &str) -> Result<String> {
        match self.at(pointer) {
            Value::String(text) => Ok(text.clone()),
            _ => bail!("no text at {pointer}: {self}"),
        }
    }

    /// Fails unless the answer has data and no errors.
    pub(super) fn require_success(&self, what: &str) -> Result<()> {
        let is_success =
            self.status == 200 && self.codes().is_empty() && !self.at("/data").is_null();
        ensure!(is_success, "{what} failed: {self}");
        Ok(())
    }

    /// Fails unless the first error has one of these codes.
    pub(super) fn require_refusal(&self, what: &str, codes: &[&str]) -> Result<()> {
        ensure!(codes.contains(&self.code()), "{what} was not refused with {codes:?}: {self}");
        Ok(())
    }
}

impl std::fmt::Display for AttackAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const CHARS_MAX: usize = 600;
        let text: String = self.body.to_string().chars().take(CHARS_MAX).collect();
        write!(f, "status {}, {text}", self.status)
    }
}
