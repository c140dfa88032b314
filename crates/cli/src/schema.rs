//! `roundtable schema`: prints the GraphQL schema.

use std::io::Write;

use crate::CommandOutcome;
use crate::error::CommandError;

pub(crate) fn run(out: &mut impl Write) -> Result<CommandOutcome, CommandError> {
    out.write_all(roundtable_server::SDL.as_bytes())?;
    Ok(CommandOutcome::Success)
}
