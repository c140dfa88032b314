//! GraphQL documents against the schema. `documents [MINUTES]` tries changed seeds.

#![recursion_limit = "256"]

fn main() {
    roundtable_fuzz::drive("documents", roundtable_fuzz::documents);
}
