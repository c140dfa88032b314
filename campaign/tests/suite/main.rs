//! The campaign's members at the size of a test.

mod document;
mod planted;
mod simulation;
