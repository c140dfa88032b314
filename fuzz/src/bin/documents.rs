//! Fuzzes the schema with GraphQL documents: `documents [MINUTES [SEED]]`.

#![recursion_limit = "256"]

fn main() {
    roundtable_fuzz::run("documents", roundtable_fuzz::documents);
}
