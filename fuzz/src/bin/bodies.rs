//! Whatever HTTP can carry, against the server. `bodies [MINUTES]` tries changed seeds.

#![recursion_limit = "256"]

fn main() {
    roundtable_fuzz::drive("bodies", roundtable_fuzz::bodies);
}
