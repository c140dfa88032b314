//! Relay's global ids, which encode a type and the ids needed to load an object of it.

use std::fmt::{Display, Write as _};

use data_encoding::BASE64URL_NOPAD;

/// Returns a global id of type `kind`; `parts` are the ids that loading it needs.
pub(crate) fn node_id(kind: &str, parts: &[&dyn Display]) -> String {
    let mut text = kind.to_owned();
    for part in parts {
        // Writing to memory does not fail.
        let _ = write!(text, ":{part}");
    }
    BASE64URL_NOPAD.encode(text.as_bytes())
}
