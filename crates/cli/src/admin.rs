//! `roundtable admin …`: administration of an installation without an account.

use std::io::Write;

use clap::{Args, Subcommand, ValueEnum};
use roundtable_server::{
    AdminCommand, AdminReply, DeadLetterSummary, HoldSummary, IdentitySummary, SignInLockSummary,
    UpgradeSummary,
};

use crate::CommandOutcome;
use crate::config_args::choice_name;
use crate::error::CommandError;
use crate::installation::InstallationArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum AdminSubcommand {
    /// Gives a user a role; the only way to make the first admin
    #[command(after_help = "\
The role is stored at once; a user who is signed in gets it with the next access token.

Examples:
  roundtable admin grant ana admin
  roundtable admin grant ana moderator --store dynamodb --config roundtable.toml")]
    Grant(GrantArgs),
    /// Lists, shows and retries dead letters: changes and jobs that failed too often
    #[command(subcommand)]
    Dlq(DlqSubcommand),
    /// Lists and clears pauses and locks after failed sign-ins
    #[command(subcommand)]
    Locks(LocksSubcommand),
    /// Lists, links and unlinks users' identities at an external issuer (OIDC)
    #[command(subcommand)]
    Identity(IdentitySubcommand),
    /// Lists and drops holds: the consumers for which the embedded store keeps its log
    #[command(subcommand)]
    Holds(HoldsSubcommand),
    /// Turns fan-out on for a user or group: activities are copied into followers' feeds
    ///
    /// Feeds show the same with or without it; only the cost differs. It stays on until `demote`.
    #[command(after_help = "Examples:\n  \
                            roundtable admin promote ana\n  \
                            roundtable admin promote ana --data /var/lib/roundtable")]
    Promote(PromoteArgs),
    /// Turns fan-out off for a user or group: followers look activities up
    #[command(after_help = "Example:\n  roundtable admin demote ana")]
    Demote(PromoteArgs),
    /// Rewrites items that an earlier version has stored in an older shape
    #[command(after_help = "\
The server does it in the background; until then such items are upgraded whenever they are read. Repeating
the command is harmless.

Examples:
  roundtable admin upgrade
  roundtable admin upgrade --status")]
    Upgrade(UpgradeArgs),
}

#[derive(Args, Debug)]
pub(crate) struct GrantArgs {
    /// The user's nickname
    nickname: String,
    /// The role to add
    #[arg(value_enum)]
    role: GrantedRole,
    #[command(flatten)]
    installation: InstallationArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum GrantedRole {
    /// Decides moderation cases
    Moderator,
    /// Has every permission
    Admin,
}

#[derive(Args, Debug)]
pub(crate) struct PromoteArgs {
    /// A user's nickname or id, or a group's id
    subject: String,
    #[command(flatten)]
    installation: InstallationArgs,
}

#[derive(Args, Debug)]
pub(crate) struct UpgradeArgs {
    /// Only shows how far it is
    #[arg(long)]
    status: bool,
    #[command(flatten)]
    installation: InstallationArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DlqSubcommand {
    /// Lists dead letters, the oldest of each queue first
    #[command(after_help = "\
Exit status: 0 no dead letters, 1 some dead letters, or an error.

Example:
  roundtable admin dlq list")]
    List(InstallationArgs),
    /// Shows one dead letter with the change or job that failed
    #[command(after_help = "\
Example, with a name from the list:
  roundtable admin dlq show fan-out/2026-01-31T12:00:00.000Z/01KG…")]
    Show(DlqShowArgs),
    /// Retries one dead letter, or all
    #[command(after_help = "\
Exit status: 0 all succeeded, 1 some failed again and remain.

Examples:
  roundtable admin dlq redrive
  roundtable admin dlq redrive fan-out/2026-01-31T12:00:00.000Z/01KG…")]
    Redrive(DlqRedriveArgs),
    /// Deletes one dead letter: its change or job is never processed
    ///
    /// If a change is discarded, `roundtable verify --repair` rebuilds what should have followed from it.
    #[command(after_help = "\
Example:
  roundtable admin dlq discard fan-out/2026-01-31T12:00:00.000Z/01KG…")]
    Discard(DlqShowArgs),
}

#[derive(Args, Debug)]
pub(crate) struct DlqShowArgs {
    /// The dead letter's name, as `list` prints it
    name: String,
    #[command(flatten)]
    installation: InstallationArgs,
}

#[derive(Args, Debug)]
pub(crate) struct DlqRedriveArgs {
    /// The dead letter's name, as `list` prints it [default: all]
    name: Option<String>,
    /// Retries at most N when no name is given
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    max: usize,
    #[command(flatten)]
    installation: InstallationArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HoldsSubcommand {
    /// Lists the consumers for which the log is kept, the slowest first
    #[command(after_help = "Example:\n  roundtable admin holds list")]
    List(InstallationArgs),
    /// No longer keeps the log for a consumer, which loses the changes it has not read
    ///
    /// For a processor that another version had, or to free the disk. A processor of this version is held
    /// for again as soon as it reports its position; if it has missed changes by then, run `verify --repair`.
    #[command(after_help = "Example:\n  roundtable admin holds drop counters")]
    Drop(HoldDropArgs),
}

#[derive(Args, Debug)]
pub(crate) struct HoldDropArgs {
    /// The consumer's name, as `list` prints it
    consumer: String,
    #[command(flatten)]
    installation: InstallationArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LocksSubcommand {
    /// Lists who cannot sign in now because of failed sign-ins
    ///
    /// Reads the whole table of failed sign-ins.
    #[command(after_help = "\
Examples:
  roundtable admin locks list
  roundtable admin locks list ana@example.com")]
    List(LocksListArgs),
    /// Forgets the failed sign-ins of an account or network, which can then sign in again
    ///
    /// A device that the user has signed in on before is never locked because of others.
    #[command(after_help = "\
Examples:
  roundtable admin locks clear ana@example.com
  roundtable admin locks clear 192.0.2.7")]
    Clear(LocksClearArgs),
}

#[derive(Args, Debug)]
pub(crate) struct LocksListArgs {
    /// An e-mail address or an IP address [default: all]
    key: Option<String>,
    #[command(flatten)]
    installation: InstallationArgs,
}

#[derive(Args, Debug)]
pub(crate) struct LocksClearArgs {
    /// An e-mail address or an IP address
    key: String,
    #[command(flatten)]
    installation: InstallationArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum IdentitySubcommand {
    /// Lists the identities that are linked to a user
    #[command(after_help = "Example:\n  roundtable admin identity list ana")]
    List(IdentityListArgs),
    /// Links an identity to a user; its tokens then authenticate that user
    ///
    /// Make sure that the user is the person whom the issuer identifies: whoever has such a token has the
    /// account.
    #[command(after_help = "\
Example:
  roundtable admin identity link ana https://login.example.org 248289761001")]
    Link(IdentityArgs),
    /// Unlinks an identity from a user
    #[command(after_help = "\
Example:
  roundtable admin identity unlink ana https://login.example.org 248289761001")]
    Unlink(IdentityArgs),
}

#[derive(Args, Debug)]
pub(crate) struct IdentityListArgs {
    /// The user's nickname
    nickname: String,
    #[command(flatten)]
    installation: InstallationArgs,
}

#[derive(Args, Debug)]
pub(crate) struct IdentityArgs {
    /// The user's nickname
    nickname: String,
    /// The issuer, as in the claim `iss` of its tokens
    issuer: String,
    /// The issuer's id of the person, as in the claim `sub` of its tokens
    subject: String,
    #[command(flatten)]
    installation: InstallationArgs,
}

impl IdentityArgs {
    fn command(self, linked: bool) -> (InstallationArgs, AdminCommand) {
        let Self { nickname, issuer, subject, installation } = self;
        (installation, AdminCommand::LinkIdentity { nickname, issuer, subject, linked })
    }
}

pub(crate) fn run(
    command: AdminSubcommand,
    out: &mut impl Write,
) -> Result<CommandOutcome, CommandError> {
    let (installation, command) = match command {
        AdminSubcommand::Grant(GrantArgs { nickname, role, installation }) => {
            (installation, AdminCommand::Grant { nickname, role: choice_name(role) })
        }
        AdminSubcommand::Promote(PromoteArgs { subject, installation }) => {
            (installation, AdminCommand::Promote { subject, enabled: true })
        }
        AdminSubcommand::Demote(PromoteArgs { subject, installation }) => {
            (installation, AdminCommand::Promote { subject, enabled: false })
        }
        AdminSubcommand::Locks(LocksSubcommand::List(LocksListArgs { key, installation })) => {
            (installation, AdminCommand::ListLocks { key })
        }
        AdminSubcommand::Locks(LocksSubcommand::Clear(LocksClearArgs { key, installation })) => {
            (installation, AdminCommand::ClearLocks { key })
        }
        AdminSubcommand::Identity(IdentitySubcommand::List(arguments)) => {
            let IdentityListArgs { nickname, installation } = arguments;
            (installation, AdminCommand::ListIdentities { nickname })
        }
        AdminSubcommand::Identity(IdentitySubcommand::Link(arguments)) => arguments.command(true),
        AdminSubcommand::Identity(IdentitySubcommand::Unlink(arguments)) => {
            arguments.command(false)
        }
        AdminSubcommand::Holds(HoldsSubcommand::List(installation)) => {
            (installation, AdminCommand::ListHolds)
        }
        AdminSubcommand::Holds(HoldsSubcommand::Drop(HoldDropArgs { consumer, installation })) => {
            (installation, AdminCommand::DropHold { consumer })
        }
        AdminSubcommand::Upgrade(UpgradeArgs { status, installation }) => {
            (installation, AdminCommand::Upgrade { start: !status })
        }
        AdminSubcommand::Dlq(DlqSubcommand::List(installation)) => {
            (installation, AdminCommand::ListDeadLetters)
        }
        AdminSubcommand::Dlq(DlqSubcommand::Show(DlqShowArgs { name, installation })) => {
            (installation, AdminCommand::ShowDeadLetter { name })
        }
        AdminSubcommand::Dlq(DlqSubcommand::Discard(DlqShowArgs { name, installation })) => {
            (installation, AdminCommand::DiscardDeadLetter { name })
        }
        AdminSubcommand::Dlq(DlqSubcommand::Redrive(DlqRedriveArgs {
            name,
            max,
            installation,
        })) => (installation, AdminCommand::Redrive { name, max }),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let execution = installation.resolve()?.execute(command);
    let reply = runtime.map_err(CommandError::Start)?.block_on(execution)?;
    print(&reply, out)
}

fn print_total(
    total: usize,
    listed: usize,
    things: &str,
    out: &mut impl Write,
) -> std::io::Result<()> {
    match total - listed.min(total) {
        0 => writeln!(out, "{total} {things}"),
        more => writeln!(out, "… and {more} more; {total} {things}"),
    }
}

fn print(reply: &AdminReply, out: &mut impl Write) -> Result<CommandOutcome, CommandError> {
    match reply {
        AdminReply::Granted { roles } => writeln!(out, "roles: {}", roles.join(", "))?,
        AdminReply::DeadLetters { dead_letters, total } => {
            for DeadLetterSummary { name, error, attempts } in dead_letters {
                writeln!(out, "{name}\n    after {attempts} attempts: {error}")?;
            }
            print_total(*total, dead_letters.len(), "dead letters", out)?;
            if *total > 0 {
                return Ok(CommandOutcome::Findings);
            }
        }
        AdminReply::DeadLetter { dead_letter, about } => {
            let DeadLetterSummary { name, error, attempts } = dead_letter;
            writeln!(out, "{name}\nafter {attempts} attempts: {error}\n\n{about}")?;
        }
        AdminReply::Redriven { done, failed } => {
            writeln!(out, "{done} succeeded, {failed} failed again")?;
            if *failed > 0 {
                return Ok(CommandOutcome::Findings);
            }
        }
        AdminReply::Discarded { name } => writeln!(out, "{name}: discarded")?,
        AdminReply::Promoted { subject, enabled: true } => {
            writeln!(out, "{subject}: fan-out is on")?;
        }
        AdminReply::Promoted { subject, enabled: false } => {
            writeln!(out, "{subject}: fan-out is off")?;
        }
        AdminReply::Locks { locks, total } => {
            for SignInLockSummary { refused, failures, until } in locks {
                writeln!(out, "{refused}\n    until {until}, after {failures} failures")?;
            }
            print_total(*total, locks.len(), "locks", out)?;
        }
        AdminReply::LocksCleared { counts } => {
            writeln!(out, "forgot {counts} counts of failed sign-ins")?;
        }
        AdminReply::Identities { identities } => {
            for IdentitySummary { issuer, subject, linked_at } in identities {
                writeln!(out, "{issuer} {subject}\n    linked at {linked_at}")?;
            }
            writeln!(out, "{} identities", identities.len())?;
        }
        AdminReply::IdentityLinked { linked: true } => writeln!(out, "linked")?,
        AdminReply::IdentityLinked { linked: false } => writeln!(out, "unlinked")?,
        AdminReply::Holds { holds } => {
            for HoldSummary { consumer, sequence, behind, is_known } in holds {
                let advice = if *is_known { "" } else { "; this version has no such consumer" };
                writeln!(out, "{consumer}: {behind} changes since change {sequence}{advice}")?;
            }
            writeln!(out, "{} holds", holds.len())?;
        }
        AdminReply::HoldDropped { consumer } => {
            writeln!(out, "{consumer}: the log is no longer kept for it")?;
        }
        AdminReply::Upgrade(UpgradeSummary::NothingToUpgrade) => {
            writeln!(out, "no item of this version has an older shape: there is nothing to do")?;
        }
        AdminReply::Upgrade(UpgradeSummary::Idle) => writeln!(out, "no upgrade is under way")?,
        AdminReply::Upgrade(UpgradeSummary::UnderWay { read, rewritten, failed }) => {
            writeln!(out, "under way: {read} items read, {rewritten} rewritten, {failed} failed")?;
        }
        AdminReply::BackedUp { sequence } => writeln!(out, "copied up to change {sequence}")?,
    }
    Ok(CommandOutcome::Success)
}
