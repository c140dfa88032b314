//! Whatever HTTP can carry, against the server. Without libFuzzer, `bodies [MINUTES]` tries changed seeds.

#![cfg_attr(feature = "libfuzzer", no_main)]
#![recursion_limit = "256"]

#[cfg(feature = "libfuzzer")]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    roundtable_fuzz::bodies(bytes);
});

#[cfg(not(feature = "libfuzzer"))]
fn main() {
    roundtable_fuzz::drive("bodies", roundtable_fuzz::bodies);
}
