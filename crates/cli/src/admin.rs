//! `roundtable admin …`: what whoever runs an installation can do to it without an account.

use std::io::Write;

use clap::{Args, Subcommand, ValueEnum};
use roundtable_server::{Answer, Letter, Order};

use crate::Outcome;
use crate::failure::Failure;
use crate::reach::Reach;
use crate::settings::named;

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Gives somebody a role: the first admin has no other way to become one
    #[command(after_help = "\
It takes effect at once; a token from before is good for the old roles until it is renewed.

Examples:
  roundtable admin grant ana admin
  roundtable admin grant ana moderator --store dynamodb --config roundtable.toml")]
    Grant(Grant),
    /// Looks after dead letters: changes and jobs that failed too often
    #[command(subcommand)]
    Dlq(Dlq),
    /// Has somebody's activities copied into the feeds of their followers
    ///
    /// What feeds show does not depend on it, only what it costs. It stays so until it is taken back.
    #[command(after_help = "Examples:\n  \
                            roundtable admin promote ana\n  \
                            roundtable admin promote ana --data /var/lib/roundtable")]
    Promote(About),
    /// Has somebody's activities copied no more: their followers look them up
    #[command(after_help = "Example:\n  roundtable admin demote ana")]
    Demote(About),
}

/// Who gets which role.
#[derive(Args, Debug)]
pub(crate) struct Grant {
    /// What they are called
    nickname: String,
    /// Which role
    #[arg(value_enum)]
    role: Role,
    #[command(flatten)]
    reach: Reach,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Role {
    /// Decides about content
    Moderator,
    /// May do everything
    Admin,
}

/// Whom it is about.
#[derive(Args, Debug)]
pub(crate) struct About {
    /// The nickname or id of a person, or the id of a group
    subject: String,
    #[command(flatten)]
    reach: Reach,
}

/// What can be done about dead letters.
#[derive(Debug, Subcommand)]
pub(crate) enum Dlq {
    /// Lists them, the oldest of each queue first
    #[command(after_help = "\
Exit status: 0 there are none, 1 there are some, or it failed.

Example:
  roundtable admin dlq list")]
    List(Reach),
    /// Shows one, with what it is about
    #[command(after_help = "\
Example, with a name from the list:
  roundtable admin dlq show fan-out/2026-01-31T12:00:00.000Z/01KG…")]
    Show(Named),
    /// Tries one of them again, or all
    #[command(after_help = "\
Exit status: 0 all are gone, 1 some failed again and are still there.

Examples:
  roundtable admin dlq redrive
  roundtable admin dlq redrive fan-out/2026-01-31T12:00:00.000Z/01KG…")]
    Redrive(Redrive),
}

/// Which letter.
#[derive(Args, Debug)]
pub(crate) struct Named {
    /// Its name, as `list` has it
    name: String,
    #[command(flatten)]
    reach: Reach,
}

/// Which letters.
#[derive(Args, Debug)]
pub(crate) struct Redrive {
    /// The name of one, as `list` has it [default: all]
    name: Option<String>,
    /// Of all, at most so many
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    max: usize,
    #[command(flatten)]
    reach: Reach,
}

/// Carries a command out; what it has to say goes to `out`.
pub(crate) fn run(command: Command, out: &mut impl Write) -> Result<Outcome, Failure> {
    let (reach, order) = match command {
        Command::Grant(Grant { nickname, role, reach }) => {
            (reach, Order::Grant { nickname, role: named(role) })
        }
        Command::Promote(About { subject, reach }) => {
            (reach, Order::Promote { subject, enabled: true })
        }
        Command::Demote(About { subject, reach }) => {
            (reach, Order::Promote { subject, enabled: false })
        }
        Command::Dlq(Dlq::List(reach)) => (reach, Order::Letters),
        Command::Dlq(Dlq::Show(Named { name, reach })) => (reach, Order::Letter { name }),
        Command::Dlq(Dlq::Redrive(Redrive { name, max, reach })) => {
            (reach, Order::Redrive { name, max })
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let carried_out = reach.installation()?.carry_out(order);
    let answer = runtime.map_err(Failure::Start)?.block_on(carried_out)?;
    tell(&answer, out)
}

fn tell(answer: &Answer, out: &mut impl Write) -> Result<Outcome, Failure> {
    match answer {
        Answer::Granted { roles } => writeln!(out, "roles: {}", roles.join(", "))?,
        Answer::Letters { letters, total } => {
            for Letter { name, error, attempts } in letters {
                writeln!(out, "{name}\n    after {attempts} tries: {error}")?;
            }
            match total - letters.len().min(*total) {
                0 => writeln!(out, "{total} dead letters")?,
                more => writeln!(out, "… and {more} more; {total} dead letters")?,
            }
            if *total > 0 {
                return Ok(Outcome::Found);
            }
        }
        Answer::Letter { letter, about } => {
            let Letter { name, error, attempts } = letter;
            writeln!(out, "{name}\nafter {attempts} tries: {error}\n\n{about}")?;
        }
        Answer::Redriven { done, failed } => {
            writeln!(out, "{done} are gone, {failed} failed again")?;
            if *failed > 0 {
                return Ok(Outcome::Found);
            }
        }
        Answer::Promoted { subject, enabled: true } => writeln!(out, "{subject} is promoted")?,
        Answer::Promoted { subject, enabled: false } => writeln!(out, "{subject} is demoted")?,
        Answer::BackedUp { sequence } => writeln!(out, "copied up to change {sequence}")?,
    }
    Ok(Outcome::Well)
}
