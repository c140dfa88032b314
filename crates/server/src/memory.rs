//! Tuning of the allocator.

use std::ffi::c_long;

use libmimalloc_sys::{mi_option_set_default, mi_option_t};

/// The number of mimalloc's `purge_delay`, which its crate does not export.
const PURGE_DELAY: mi_option_t = 15;
/// The default is one second.
const PURGE_DELAY_MS: c_long = 10_000;

/// Makes the allocator keep freed memory for ten seconds, unless `MIMALLOC_PURGE_DELAY` overrides it.
///
/// Under load the store frees a memtable every few seconds and fills another of the same size. Memory
/// returned to the system in between has to be cleared and mapped again, page by page.
pub fn keep_freed_memory() {
    #[expect(unsafe_code, reason = "sets a number that any thread may read at any time")]
    unsafe {
        mi_option_set_default(PURGE_DELAY, PURGE_DELAY_MS);
    }
}

#[cfg(test)]
mod tests {
    use libmimalloc_sys::mi_option_get;

    use super::*;

    /// In another version of the allocator the number could mean another option.
    #[test]
    fn the_option_number_means_purge_delay() {
        #[expect(unsafe_code, reason = "reads a number")]
        let get = || unsafe { mi_option_get(PURGE_DELAY) };
        assert_eq!(get(), 1_000, "the allocator's default");
        keep_freed_memory();
        assert_eq!(get(), PURGE_DELAY_MS);
    }
}
