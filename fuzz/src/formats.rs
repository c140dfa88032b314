//! Fuzzes what is read back from outside the process: log records and tree values, cursors, tokens and
//! exports. Changed bytes may be refused, never trusted; nothing may panic.

mod base_store;
mod cursors;
mod edits;
mod exports;
mod records;
mod tokens;
mod values;

pub use cursors::cursors;
pub use exports::exports;
pub use records::records;
pub use tokens::tokens;
pub use values::values;
