//! Fuzzes the server with HTTP requests: `bodies [MINUTES [SEED]]`.

#![recursion_limit = "256"]

fn main() {
    roundtable_fuzz::run("bodies", roundtable_fuzz::bodies);
}
