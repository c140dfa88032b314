//! GraphQL documents against the schema. Without libFuzzer, `documents [MINUTES]` tries changed seeds.

#![cfg_attr(feature = "libfuzzer", no_main)]
#![recursion_limit = "256"]

#[cfg(feature = "libfuzzer")]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    roundtable_fuzz::documents(bytes);
});

#[cfg(not(feature = "libfuzzer"))]
fn main() {
    roundtable_fuzz::drive("documents", roundtable_fuzz::documents);
}
