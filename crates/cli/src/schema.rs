//! `roundtable schema`: prints what can be asked, in the language of GraphQL.

use std::io::Write;

use crate::Outcome;
use crate::failure::Failure;

pub(crate) fn run(out: &mut impl Write) -> Result<Outcome, Failure> {
    out.write_all(roundtable_server::sdl().as_bytes())?;
    Ok(Outcome::Well)
}
