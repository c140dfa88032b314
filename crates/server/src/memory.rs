//! What becomes of memory that was freed.

use std::ffi::c_long;

use libmimalloc_sys::{mi_option_set_default, mi_option_t};

/// What the allocator calls `purge_delay`: its crate has no name for it.
const PURGE_DELAY: mi_option_t = 15;
/// The allocator's own is a second.
const KEPT_MS: c_long = 10_000;

/// Has the allocator keep what was freed for ten seconds, unless `MIMALLOC_PURGE_DELAY` says otherwise.
///
/// Under load the store gives up a run every few seconds, and fills another one as large. What the system
/// was given back in between it has to clear and hand out again, page by page.
pub fn keep_freed_memory() {
    #[expect(unsafe_code, reason = "a number is set that any thread may read at any time")]
    unsafe {
        mi_option_set_default(PURGE_DELAY, KEPT_MS);
    }
}

#[cfg(test)]
mod tests {
    use libmimalloc_sys::mi_option_get;

    use super::*;

    /// In another version of the allocator the number could be another option's.
    #[test]
    fn it_is_the_option_that_it_is_taken_for() {
        #[expect(unsafe_code, reason = "a number is read")]
        let get = || unsafe { mi_option_get(PURGE_DELAY) };
        assert_eq!(get(), 1_000, "what the allocator begins with");
        keep_freed_memory();
        assert_eq!(get(), KEPT_MS);
    }
}
