//! One contract suite, run against every backend.
