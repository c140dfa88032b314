//! HTTP clients of benchmarks and attacks, and what they measure of a server from outside: they share the
//! machine with it, so they must be cheap. They know its wire formats, and nothing of its code.

mod connection;
mod flood;
mod memory;
mod requests;
mod samples;
mod unread_streams;

pub use connection::{Connection, connect_from};
pub use flood::{FloodStats, is_answer, send_until};
pub use memory::{kib_field, resident_bytes};
pub use requests::{get, graphql};
pub use samples::{Samples, median, rate};
pub use unread_streams::{STREAMS_PER_CONNECTION, hold_unread};
