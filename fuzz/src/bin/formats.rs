//! Fuzzes what is read from outside the process: `formats TARGET [MINUTES [SEED]]`.

#![recursion_limit = "256"]

use roundtable_fuzz::{cursors, exports, records, run_target, tokens, values};

fn main() {
    let target = std::env::args().nth(1).unwrap_or_default();
    match target.as_str() {
        "cursors" => run_target("cursors", cursors, 2),
        "exports" => run_target("exports", exports, 2),
        "records" => run_target("records", records, 2),
        "tokens" => run_target("tokens", tokens, 2),
        "values" => run_target("values", values, 2),
        _ => panic!("name a target: cursors, exports, records, tokens or values"),
    }
}
