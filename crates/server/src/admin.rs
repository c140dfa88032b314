//! Administration without an account: the same commands, whether a running server receives them through
//! its socket or the command line opens the store itself.

mod disabled_media_store;
mod identities;
mod sign_in_locks;

use roundtable_domain_macros::boxed;
use std::path::PathBuf;
use std::sync::Arc;

use roundtable_domain::{
    Accounts, Context, ContextParts, DeadLetterName, Entropy, Promotions, Settings,
};
use roundtable_engine::{Engine, StreamHold};
use roundtable_model::entities::DeadLetter;
use roundtable_model::{ActorId, IdGenerator, Nickname, Role};
use roundtable_streams::{
    DeadLetterSubject, DeadLetters, Runner, ShapeUpgrader, UpgradeProgress, UpgradeState,
};
use roundtable_table::{Clock, Store, SystemClock, essential};
use serde::{Deserialize, Serialize};

use self::disabled_media_store::DisabledMediaStore;
pub use self::identities::IdentitySummary;
pub use self::sign_in_locks::SignInLockSummary;
use crate::backups;
use crate::change_forwarding::ChangeForwarder;
use crate::stream_holds::is_known;
use crate::wiring::{StartError, processors};

const DEAD_LETTERS_LISTED_MAX: usize = 500;

/// An administrative command, as the socket carries it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AdminCommand {
    Grant {
        nickname: String,
        role: String,
    },
    /// Lists dead letters, the oldest of each queue first.
    #[serde(rename = "letters")]
    ListDeadLetters,
    #[serde(rename = "letter")]
    ShowDeadLetter {
        /// As listed: `QUEUE/TIME/ID`.
        name: String,
    },
    /// Retries one dead letter, or up to `max` of all.
    Redrive {
        name: Option<String>,
        max: usize,
    },
    /// Deletes a dead letter, whose change or job is then never processed.
    #[serde(rename = "discard")]
    DiscardDeadLetter {
        name: String,
    },
    /// Turns the fan-out of a user's or group's activities on or off.
    Promote {
        /// A user's nickname or id, or a group's id.
        subject: String,
        enabled: bool,
    },
    /// Lists the refusals of sign-ins that are in force.
    #[serde(rename = "locks")]
    ListLocks {
        /// An e-mail address or a network address [default: all].
        key: Option<String>,
    },
    /// Forgets the failed sign-ins of an e-mail address or network address.
    ClearLocks {
        key: String,
    },
    /// Lists the identities at external issuers that are linked to a user.
    #[serde(rename = "identities")]
    ListIdentities {
        nickname: String,
    },
    /// Links an identity to a user, or unlinks it.
    LinkIdentity {
        nickname: String,
        /// The `iss` of its tokens.
        issuer: String,
        /// The `sub` of its tokens.
        subject: String,
        linked: bool,
    },
    /// Lists the consumers for which the log of the embedded store is kept.
    #[serde(rename = "holds")]
    ListHolds,
    /// No longer keeps the log for a consumer, until it reports its position again.
    DropHold {
        consumer: String,
    },
    /// Rewrites items of older shapes, or shows how far that is.
    Upgrade {
        start: bool,
    },
    /// Copies the embedded store while it is in use.
    Backup {
        /// The absolute path of an empty or missing directory.
        into: PathBuf,
    },
}

/// The result of an [`AdminCommand`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdminReply {
    Granted {
        roles: Vec<String>,
    },
    #[serde(rename = "letters")]
    DeadLetters {
        /// The first of them.
        #[serde(rename = "letters")]
        dead_letters: Vec<DeadLetterSummary>,
        total: usize,
    },
    #[serde(rename = "letter")]
    DeadLetter {
        #[serde(rename = "letter")]
        dead_letter: DeadLetterSummary,
        /// The change or job, for people to read.
        about: String,
    },
    Redriven {
        done: usize,
        failed: usize,
    },
    Discarded {
        name: String,
    },
    Promoted {
        subject: String,
        enabled: bool,
    },
    Locks {
        /// The first of them.
        locks: Vec<SignInLockSummary>,
        total: usize,
    },
    LocksCleared {
        /// The counts of failures that were forgotten.
        counts: usize,
    },
    Identities {
        identities: Vec<IdentitySummary>,
    },
    IdentityLinked {
        linked: bool,
    },
    Holds {
        /// The slowest first.
        holds: Vec<HoldSummary>,
    },
    HoldDropped {
        consumer: String,
    },
    Upgrade(UpgradeSummary),
    BackedUp {
        /// The last sequence in the copy.
        sequence: u64,
    },
}

/// A consumer for which the log is kept, for people to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldSummary {
    pub consumer: String,
    /// The log after this change is kept for it.
    pub sequence: u64,
    /// Changes since then.
    pub behind: u64,
    /// False if this version has no such consumer.
    pub is_known: bool,
}

/// The state of an upgrade of older items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpgradeSummary {
    NothingToUpgrade,
    Idle,
    UnderWay { read: u64, rewritten: u64, failed: u64 },
}

impl From<UpgradeState> for UpgradeSummary {
    fn from(state: UpgradeState) -> Self {
        match state {
            UpgradeState::NothingToUpgrade => Self::NothingToUpgrade,
            UpgradeState::Idle => Self::Idle,
            UpgradeState::UnderWay(UpgradeProgress { read, rewritten, failed, .. }) => {
                Self::UnderWay { read, rewritten, failed }
            }
        }
    }
}

/// A dead letter, for people to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetterSummary {
    /// `QUEUE/TIME/ID`, by which it is shown and retried.
    pub name: String,
    /// The last failure.
    pub error: String,
    pub attempts: u64,
}

impl DeadLetterSummary {
    fn of(letter: &DeadLetter) -> Self {
        Self {
            name: DeadLetterName::from(letter).to_string(),
            error: letter.error.clone(),
            attempts: letter.attempts,
        }
    }
}

/// Executes administrative commands.
#[derive(Clone, Debug)]
pub struct AdminService {
    context: Context,
    runner: Runner,
    /// The embedded store and its directory.
    embedded: Option<(Engine, PathBuf)>,
}

#[boxed]
impl AdminService {
    pub(crate) fn new(
        context: &Context,
        runner: &Runner,
        embedded: Option<(Engine, PathBuf)>,
    ) -> Self {
        Self { context: context.clone(), runner: runner.clone(), embedded }
    }

    /// Opens the service on a store that no server of this process has open.
    pub async fn open(
        store: Store,
        settings: Settings,
        embedded: Option<(Engine, PathBuf)>,
    ) -> Result<Self, StartError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let context = Context::open(ContextParts {
            store,
            ids: IdGenerator::from_os(Arc::clone(&clock)).map_err(|_| StartError::Entropy)?,
            entropy: Entropy::from_os().map_err(|_| StartError::Entropy)?,
            clock,
            settings,
            // No command is idempotent by request id.
            fingerprint_key: [0; 32],
        });
        let context = context.await?;
        // Nothing is delivered and no file is touched here: retried jobs wait for a worker.
        let mut setup = processors(&context, [0; 32], Arc::new(DisabledMediaStore))?;
        if !context.store().capabilities().single_process {
            setup = setup.with(ChangeForwarder::without_bus());
        }
        Ok(Self::new(&context, &setup.build(), embedded))
    }

    /// Executes a command, or returns why it was refused.
    pub async fn execute(&self, command: AdminCommand) -> Result<AdminReply, String> {
        essential(self.dispatch(command)).await
    }

    async fn dispatch(&self, command: AdminCommand) -> Result<AdminReply, String> {
        match command {
            AdminCommand::Grant { nickname, role } => self.grant(&nickname, &role).await,
            AdminCommand::ListDeadLetters => self.list().await,
            AdminCommand::ShowDeadLetter { name } => self.show(&name).await,
            AdminCommand::Redrive { name, max } => self.redrive(name.as_deref(), max).await,
            AdminCommand::DiscardDeadLetter { name } => self.discard(&name).await,
            AdminCommand::Promote { subject, enabled } => self.promote(&subject, enabled).await,
            AdminCommand::ListLocks { key } => self.list_locks(key.as_deref()).await,
            AdminCommand::ClearLocks { key } => self.clear_locks(&key).await,
            AdminCommand::ListIdentities { nickname } => self.list_identities(&nickname).await,
            AdminCommand::LinkIdentity { nickname, issuer, subject, linked } => {
                self.link_identity(&nickname, &issuer, &subject, linked).await
            }
            AdminCommand::ListHolds => self.holds(),
            AdminCommand::DropHold { consumer } => self.drop_hold(consumer).await,
            AdminCommand::Upgrade { start } => self.upgrade(start).await,
            AdminCommand::Backup { into } => self.backup(into).await,
        }
    }

    /// Moves every processor's checkpoint to the end of the stream, for a store just imported with all
    /// its derived items.
    pub async fn skip_existing_changes(&self) -> Result<(), String> {
        self.runner.skip_to_end().await.map_err(message)
    }

    fn dead_letters(&self) -> DeadLetters {
        self.runner.dead_letters()
    }

    async fn grant(&self, nickname: &str, role: &str) -> Result<AdminReply, String> {
        let nickname: Nickname = parse("the nickname", nickname)?;
        let role: Role = parse("the role", role)?;
        let accounts = Accounts::new(self.context.clone());
        let user = accounts.grant(&nickname, role).await.map_err(|error| error.to_string())?;
        Ok(AdminReply::Granted { roles: user.roles.iter().map(ToString::to_string).collect() })
    }

    async fn list(&self) -> Result<AdminReply, String> {
        let mut listed = Vec::new();
        for queue in self.dead_letters().queues() {
            let room = DEAD_LETTERS_LISTED_MAX.saturating_sub(listed.len()).max(1);
            let page = self.dead_letters().list(&queue, Some(room), None).await.map_err(message)?;
            listed.extend(page.items.iter().map(DeadLetterSummary::of));
        }
        listed.truncate(DEAD_LETTERS_LISTED_MAX);
        let total = self.dead_letters().count().await.map_err(message)?;
        Ok(AdminReply::DeadLetters { dead_letters: listed, total })
    }

    async fn show(&self, name: &str) -> Result<AdminReply, String> {
        let DeadLetterName { queue, failed_at: at, id } = parse_name(name)?;
        let dead_letter = self.dead_letters().get(&queue, at, &id).await.map_err(message)?;
        let (letter, subject) = dead_letter.ok_or_else(|| not_found(name))?;
        let about = match subject {
            DeadLetterSubject::Change(failed) => {
                let (entity, change) = (&failed.entity, &failed.change);
                format!("{entity} {}: {:#?} -> {:#?}", change.key, change.old, change.new)
            }
            DeadLetterSubject::Job { payload, cursor } => {
                format!("{} from {}", payload.as_str(), cursor.as_deref().unwrap_or("the start"))
            }
        };
        Ok(AdminReply::DeadLetter { dead_letter: DeadLetterSummary::of(&letter), about })
    }

    async fn redrive(&self, name: Option<&str>, max: usize) -> Result<AdminReply, String> {
        let Some(name) = name else {
            let redriven = self.dead_letters().redrive_all(max).await.map_err(message)?;
            return Ok(AdminReply::Redriven { done: redriven.done, failed: redriven.failed });
        };
        let DeadLetterName { queue, failed_at: at, id } = parse_name(name)?;
        if self.dead_letters().redrive(&queue, at, &id).await.map_err(message)? {
            Ok(AdminReply::Redriven { done: 1, failed: 0 })
        } else {
            Err(not_found(name))
        }
    }

    async fn discard(&self, name: &str) -> Result<AdminReply, String> {
        let DeadLetterName { queue, failed_at, id } = parse_name(name)?;
        if self.dead_letters().discard(&queue, failed_at, &id).await.map_err(message)? {
            Ok(AdminReply::Discarded { name: name.to_owned() })
        } else {
            Err(not_found(name))
        }
    }

    async fn promote(&self, subject: &str, enabled: bool) -> Result<AdminReply, String> {
        let id = match subject.parse::<Nickname>() {
            Ok(nickname) => {
                let lock = self.context.core().nick_lock(&nickname).get().await.map_err(message)?;
                lock.map(|lock| ActorId::from(&lock.user_id))
            }
            Err(_) => None,
        };
        let id = match id {
            Some(id) => id,
            None => parse("the subject", subject)?,
        };
        let promotions = Promotions::new(self.context.clone());
        let promotion =
            promotions.set_as_operator(&id, enabled).await.map_err(|error| error.to_string())?;
        let subject = promotion.subject_id.to_string();
        Ok(AdminReply::Promoted { subject, enabled: promotion.fanout_enabled })
    }

    /// Returns the engine, or why there is none.
    fn engine(&self) -> Result<&Engine, String> {
        let (engine, _) = self.embedded.as_ref().ok_or(
            "the store is DynamoDB, whose stream keeps every change for a day: there are no holds",
        )?;
        Ok(engine)
    }

    fn holds(&self) -> Result<AdminReply, String> {
        let engine = self.engine()?;
        let (end, processors) = (engine.metrics().sequence, self.runner.processor_names());
        let summary = |StreamHold { consumer, sequence }| HoldSummary {
            is_known: is_known(&processors, &consumer),
            behind: end.saturating_sub(sequence),
            consumer,
            sequence,
        };
        let mut holds: Vec<_> = engine.holds().into_iter().map(summary).collect();
        holds.sort_by_key(|hold| hold.sequence);
        Ok(AdminReply::Holds { holds })
    }

    async fn drop_hold(&self, consumer: String) -> Result<AdminReply, String> {
        let engine = self.engine()?;
        if consumer == Engine::ARCHIVE {
            return Err(String::from(
                "the log is kept until it is in the archive: to give the archive up, remove \
                 store.archive from the configuration and restart the server",
            ));
        }
        if !engine.holds().iter().any(|hold| hold.consumer == consumer) {
            return Err(format!("there is no hold {consumer:?}: see `holds list`"));
        }
        engine.hold(&consumer, None).await.map_err(message)?;
        Ok(AdminReply::HoldDropped { consumer })
    }

    async fn upgrade(&self, start: bool) -> Result<AdminReply, String> {
        let upgrader = ShapeUpgrader::new(&self.context);
        let state = if start { upgrader.start().await } else { upgrader.state().await };
        Ok(AdminReply::Upgrade(state.map_err(message)?.into()))
    }

    async fn backup(&self, into: PathBuf) -> Result<AdminReply, String> {
        let Some((engine, data)) = self.embedded.clone() else {
            return Err(String::from(
                "the store is DynamoDB: use its point-in-time recovery for backups",
            ));
        };
        if !into.is_absolute() {
            return Err(format!("{}: expected an absolute path", into.display()));
        }
        let mut unfinished = UnfinishedBackup(Some(into.clone()));
        let media = backups::media_directory(&data, &self.context.settings().media);
        let copied =
            tokio::task::spawn_blocking(move || backups::backup(&engine, &data, &media, &into));
        let copied = copied.await;
        unfinished.0 = None;
        let sequence = copied.map_err(message)?.map_err(message)?;
        Ok(AdminReply::BackedUp { sequence })
    }
}

/// Warns if the process ends during a backup, which cannot be interrupted and stays incomplete.
struct UnfinishedBackup(Option<PathBuf>);

impl Drop for UnfinishedBackup {
    fn drop(&mut self) {
        if let Some(into) = &self.0 {
            tracing::warn!(path = %into.display(), "a backup was not finished: delete this directory, and run the backup again");
        }
    }
}

fn message(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn not_found(name: &str) -> String {
    format!("there is no dead letter {name:?}: see `dlq list`")
}

fn parse<T: std::str::FromStr<Err: std::fmt::Display>>(
    what: &str,
    text: &str,
) -> Result<T, String> {
    text.parse().map_err(|error| format!("{what}: {error}"))
}

fn parse_name(name: &str) -> Result<DeadLetterName, String> {
    name.parse().map_err(message)
}
