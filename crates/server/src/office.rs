//! What those who run an installation ask of it from the command line: the same whether a server is
//! asked through its socket, or the store is opened for it.

mod no_files;

use std::path::PathBuf;
use std::sync::Arc;

use roundtable_domain::{Accounts, Chance, Ground, Parts, Promotions, Settings};
use roundtable_engine::Engine;
use roundtable_model::entities::DeadLetter;
use roundtable_model::{ActorId, Ids, JobId, Nickname, Queue, Role, Time};
use roundtable_streams::{DeadLetters, Runner, Subject};
use roundtable_table::{Clock, Store, SystemClock};
use serde::{Deserialize, Serialize};

use self::no_files::NoFiles;
use crate::copies;
use crate::tap::Tap;
use crate::wiring::{StartError, processors};

/// Letters that are shown at once.
const LETTERS_MAX: usize = 500;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Order {
    /// Gives somebody a role.
    Grant {
        /// What they are called.
        nickname: String,
        /// Which role.
        role: String,
    },
    /// Lists what could not be done, the oldest of each queue first.
    Letters,
    /// Shows one of these.
    Letter {
        /// By its name, as the list has it.
        name: String,
    },
    /// Tries them again: one, or as many as this.
    Redrive {
        /// By its name, as the list has it; without one, all.
        name: Option<String>,
        /// Of all, so many at most.
        max: usize,
    },
    /// Has somebody's activities copied to their followers, or no longer.
    Promote {
        /// The nickname or the id of a person, or the id of a group.
        subject: String,
        /// Whether they are.
        enabled: bool,
    },
    /// Writes a copy of the store, while it is in use.
    Backup {
        /// Into a directory that is empty or not there yet; its whole path.
        into: PathBuf,
    },
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Somebody has these roles now.
    Granted {
        /// Which.
        roles: Vec<String>,
    },
    /// What could not be done.
    Letters {
        /// Some of it.
        letters: Vec<Letter>,
        /// How many there are.
        total: usize,
    },
    /// One of these, with what it is about.
    Letter {
        /// The letter.
        letter: Letter,
        /// What it is about, for people to read.
        about: String,
    },
    /// They were tried again.
    Redriven {
        /// With success.
        done: usize,
        /// Without.
        failed: usize,
    },
    /// Somebody's activities are copied, or are not.
    Promoted {
        /// Whose.
        subject: String,
        /// Whether they are.
        enabled: bool,
    },
    /// There is a copy.
    BackedUp {
        /// The last sequence in it.
        sequence: u64,
    },
}

/// Something that could not be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// What it is asked for by.
    pub name: String,
    /// Why it failed the last time.
    pub error: String,
    /// How often it was tried.
    pub attempts: u64,
}

impl Letter {
    fn of(letter: &DeadLetter) -> Self {
        Self {
            name: format!("{}/{}/{}", letter.queue.as_str(), letter.failed_at, letter.id),
            error: letter.error.clone(),
            attempts: letter.attempts,
        }
    }
}

/// Carries orders out.
#[derive(Clone, Debug)]
pub struct Office {
    ground: Ground,
    runner: Runner,
    /// The embedded store and its directory, if it is one.
    embedded: Option<(Engine, PathBuf)>,
}

impl Office {
    pub(crate) fn new(
        ground: &Ground,
        runner: &Runner,
        embedded: Option<(Engine, PathBuf)>,
    ) -> Self {
        Self { ground: ground.clone(), runner: runner.clone(), embedded }
    }

    /// Opens one on a store that no server of this process has.
    pub async fn open(
        store: Store,
        settings: Settings,
        embedded: Option<(Engine, PathBuf)>,
    ) -> Result<Self, StartError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let ground = Ground::open(Parts {
            store,
            ids: Ids::from_os(Arc::clone(&clock)).map_err(|_| StartError::Chance)?,
            chance: Chance::from_os().map_err(|_| StartError::Chance)?,
            clock,
            settings,
            // No order can be sent again.
            fingerprint_key: [0; 32],
        });
        let ground = ground.await?;
        // Nothing is delivered and no file is touched here: redriven jobs wait for a worker.
        let mut setup = processors(&ground, [0; 32], Arc::new(NoFiles))?;
        if !ground.store().capabilities().one_process {
            setup = setup.with(Tap::alone());
        }
        Ok(Self::new(&ground, &setup.build(), embedded))
    }

    /// Carries an order out, or says why not.
    pub async fn carry_out(&self, order: Order) -> Result<Answer, String> {
        match order {
            Order::Grant { nickname, role } => self.grant(&nickname, &role).await,
            Order::Letters => self.list().await,
            Order::Letter { name } => self.show(&name).await,
            Order::Redrive { name, max } => self.redrive(name.as_deref(), max).await,
            Order::Promote { subject, enabled } => self.promote(&subject, enabled).await,
            Order::Backup { into } => self.backup(into).await,
        }
    }

    /// Has every processor go on behind what is in the stream: for a store that was just filled with
    /// items and all that follows from them.
    pub async fn pass_over(&self) -> Result<(), String> {
        self.runner.pass_over().await.map_err(failed)
    }

    fn letters(&self) -> DeadLetters {
        self.runner.dead_letters()
    }

    async fn grant(&self, nickname: &str, role: &str) -> Result<Answer, String> {
        let nickname: Nickname = read("the nickname", nickname)?;
        let role: Role = read("the role", role)?;
        let accounts = Accounts::new(self.ground.clone());
        let user = accounts.grant(&nickname, role).await.map_err(|error| error.to_string())?;
        Ok(Answer::Granted { roles: user.roles.iter().map(ToString::to_string).collect() })
    }

    async fn list(&self) -> Result<Answer, String> {
        let mut letters = Vec::new();
        for queue in self.letters().queues() {
            let room = LETTERS_MAX.saturating_sub(letters.len()).max(1);
            let page = self.letters().list(&queue, Some(room), None).await.map_err(failed)?;
            letters.extend(page.items.iter().map(Letter::of));
        }
        letters.truncate(LETTERS_MAX);
        let total = self.letters().count().await.map_err(failed)?;
        Ok(Answer::Letters { letters, total })
    }

    async fn show(&self, name: &str) -> Result<Answer, String> {
        let (queue, at, id) = named(name)?;
        let found = self.letters().show(&queue, at, &id).await.map_err(failed)?;
        let (letter, subject) = found.ok_or_else(|| gone(name))?;
        let about = match subject {
            Subject::Change(parked) => {
                let (entity, change) = (&parked.entity, &parked.change);
                format!("{entity} {}: {:#?} -> {:#?}", change.key, change.old, change.new)
            }
            Subject::Job { payload, cursor } => {
                format!("{} from {}", payload.as_str(), cursor.as_deref().unwrap_or("the start"))
            }
        };
        Ok(Answer::Letter { letter: Letter::of(&letter), about })
    }

    async fn redrive(&self, name: Option<&str>, max: usize) -> Result<Answer, String> {
        let Some(name) = name else {
            let redriven = self.letters().redrive_all(max).await.map_err(failed)?;
            return Ok(Answer::Redriven { done: redriven.done, failed: redriven.failed });
        };
        let (queue, at, id) = named(name)?;
        if self.letters().redrive(&queue, at, &id).await.map_err(failed)? {
            Ok(Answer::Redriven { done: 1, failed: 0 })
        } else {
            Err(gone(name))
        }
    }

    async fn promote(&self, subject: &str, enabled: bool) -> Result<Answer, String> {
        let id = match subject.parse::<Nickname>() {
            Ok(nickname) => {
                let lock = self.ground.core().nick_lock(&nickname).get().await.map_err(failed)?;
                lock.map(|lock| ActorId::from(&lock.user_id))
            }
            Err(_) => None,
        };
        let id = match id {
            Some(id) => id,
            None => read("the subject", subject)?,
        };
        let promotions = Promotions::new(self.ground.clone());
        let promotion = promotions.order(&id, enabled).await.map_err(|error| error.to_string())?;
        let subject = promotion.subject_id.to_string();
        Ok(Answer::Promoted { subject, enabled: promotion.fanout_enabled })
    }

    async fn backup(&self, into: PathBuf) -> Result<Answer, String> {
        let Some((engine, data)) = self.embedded.clone() else {
            return Err(String::from("DynamoDB makes its own backups: see point-in-time recovery"));
        };
        if !into.is_absolute() {
            return Err(format!("{}: expected a whole path", into.display()));
        }
        let mut unfinished = Unfinished(Some(into.clone()));
        let copied = tokio::task::spawn_blocking(move || copies::backup(&engine, &data, &into));
        let copied = copied.await;
        unfinished.0 = None;
        let sequence = copied.map_err(failed)?.map_err(failed)?;
        Ok(Answer::BackedUp { sequence })
    }
}

/// A copy that is being made. Nobody can interrupt it, so a process that ends leaves it as it is.
struct Unfinished(Option<PathBuf>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(into) = &self.0 {
            tracing::warn!(path = %into.display(), "a copy was not finished: take it away");
        }
    }
}

fn failed(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn gone(name: &str) -> String {
    format!("there is no dead letter {name:?}")
}

fn read<T: std::str::FromStr<Err: std::fmt::Display>>(what: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|error| format!("{what}: {error}"))
}

/// A letter's name, as the list has it.
fn named(name: &str) -> Result<(Queue, Time, JobId), String> {
    let mut parts = name.rsplitn(3, '/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(id), Some(at), Some(queue)) => Ok((
            read("the queue", queue)?,
            Time::parse_lenient(at).map_err(failed)?,
            read("the id", id)?,
        )),
        _ => Err(format!("{name:?}: expected a name as `dlq list` has it: QUEUE/TIME/ID")),
    }
}
