//! Calls for help: somebody asks a few others, and only they talk about it (R16).
//!
//! Staff have no say here, and see no more than anybody else: a thread is between one person and their
//! helpers. A helper sees it while they and whoever asks can hear each other; whoever asks, always.
//! Each helper has an item of their own beside the thread, by which they find it.
//!
//! There is no head as rooms have one. The thread itself knows when its newest message was sent, and
//! every message's transaction raises that from what it has read: of two who speak at once one looks
//! again, so the order of messages is that of their commits, also where clocks differ.

mod reads;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{AssistHelper, AssistMsg, AssistThread, Block, User};
use roundtable_model::table::Check;
use roundtable_model::{Entity, MessageId, RequestId, ThreadId, UserId, UserStatus};
use serde::{Deserialize, Serialize};

use crate::access::{Act, Standing, allows};
use crate::account::live;
use crate::limits::{ASSIST_CHARS_MAX, HELPERS_MAX, check_count, check_filled};
use crate::once::Tried;
use crate::turns::turn_of;
use crate::{Caller, Failure, Ground, Sight, refusals};

refusals! {
    /// Why nobody was asked for help, or nothing said about it.
    AssistError {
        NoHelpers: BadRequest = "somebody must be asked for help",
        Yourself: BadRequest = "nobody can ask themselves for help",
        Twice: BadRequest = "everybody can be asked only once",
        NoSuchUser: NotFound = "there is no such person",
        NoSuchThread: NotFound = "there is no such call for help",
        NoSuchMessage: NotFound = "there is no such message",
        NobodyListens: Forbidden = "nobody who was asked can hear you any more",
    }
}

/// The calls for help of everybody.
#[derive(Clone, Debug)]
pub struct Assistance {
    ground: Ground,
}

/// What a request led to.
#[derive(Debug, Serialize, Deserialize)]
struct Said {
    thread: ThreadId,
    id: MessageId,
}

#[boxed]
impl Assistance {
    /// The calls for help on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// Asks people for help whom the caller sees, and who see the caller.
    pub async fn ask(
        &self,
        caller: &Caller,
        helpers: &[UserId],
        request: Option<&RequestId>,
    ) -> Result<AssistThread, AssistError> {
        let me = self.ground.account(caller).await?;
        if !allows(Act::AskForHelp, Standing::SIGNED_IN) {
            return Err(Failure::Forbidden.into());
        }
        check(&me.id, helpers)?;
        let request = self.ground.request(&me.id, request, "createAssistThread", &helpers)?;
        self.ground
            .once(
                request.as_ref(),
                async |id: ThreadId| self.thread(caller, &id).await,
                async || {
                    let sight = self.ground.sight_of(caller, &me, helpers, []).await?;
                    if !helpers.iter().all(|helper| hears(&sight, helper)) {
                        return Err(AssistError::NoSuchUser);
                    }
                    let thread = self.new_thread(&me.id, helpers);
                    let commit = self
                        .ground
                        .commit()
                        .with("thread", thread.create())
                        .with_any("edge", edges(&thread).map(|edge| edge.create()))
                        .with("person", live(&me.id))
                        .with_any("helper", helpers.iter().flat_map(|it| in_touch(&me.id, it)))
                        .remembering(request.as_ref(), &thread.thread_id)?;
                    self.unless_gone(caller, commit.done(thread).await?).await
                },
            )
            .await
    }

    /// Says something in a call for help: whoever asks, while somebody is left who hears it, or one of
    /// the helpers.
    pub async fn send(
        &self,
        caller: &Caller,
        thread: &ThreadId,
        text: &str,
        request: Option<&RequestId>,
    ) -> Result<AssistMsg, AssistError> {
        let me = self.ground.account(caller).await?;
        check_filled("text", text, ASSIST_CHARS_MAX)?;
        let request = self.ground.request(&me.id, request, "sendAssistMessage", &(thread, text))?;
        let is_late = AtomicBool::new(false);
        self.ground
            .once(
                request.as_ref(),
                async |said: Said| self.again(caller, said).await,
                async || {
                    let is_late = is_late.swap(true, Relaxed);
                    let _turn = if is_late { turn_of(&thread.to_string()).await } else { None };
                    let (found, sight) = self.open(caller, &me, thread).await?;
                    let listener = listener(&sight, &found, &me.id)?;
                    let message = self.new_message(&found, &me.id, text);
                    let at = message.created_at;
                    let raised = found
                        .key()
                        .patch()
                        .set(AssistThread::LAST_TS, &at)
                        .when(AssistThread::LAST_TS.is(&found.last_ts));
                    let said = Said { thread: thread.clone(), id: message.id.clone() };
                    let commit = self
                        .ground
                        .commit()
                        .with("message", message.create())
                        .with("thread", raised)
                        .with("person", live(&me.id))
                        .with_any("listener", in_touch(&me.id, listener))
                        .remembering(request.as_ref(), &said)?;
                    self.unless_gone(caller, commit.done(message).await?).await
                },
            )
            .await
    }

    /// What was said, as the caller sees it now.
    async fn again(&self, caller: &Caller, said: Said) -> Result<AssistMsg, AssistError> {
        let said = self.said(caller, &[(said.thread, said.id)]).await?;
        said.into_iter().flatten().next().ok_or(AssistError::NoSuchMessage)
    }

    /// A thread the caller has a part in and may see, with what they may see of the others.
    async fn open(
        &self,
        caller: &Caller,
        me: &User,
        id: &ThreadId,
    ) -> Result<(AssistThread, Sight), AssistError> {
        let thread = self.ground.core().assist_thread(id).get().await?;
        let thread = thread.ok_or(AssistError::NoSuchThread)?;
        let people = thread.helper_ids.iter().chain([&thread.user_id]);
        let sight = self.ground.sight_of(caller, me, people, []).await?;
        if !may_assist(&sight, &me.id, &thread) {
            return Err(AssistError::NoSuchThread);
        }
        Ok((thread, sight))
    }

    /// Before an attempt is made again, whether the caller still can: the account may be what has
    /// changed.
    async fn unless_gone<T>(
        &self,
        caller: &Caller,
        tried: Tried<T>,
    ) -> Result<Tried<T>, AssistError> {
        if matches!(tried, Tried::Again) {
            self.ground.reader(caller).await?;
        }
        Ok(tried)
    }

    fn new_thread(&self, me: &UserId, helpers: &[UserId]) -> AssistThread {
        let now = self.ground.now();
        AssistThread {
            thread_id: self.ground.ids().next_at(now),
            user_id: me.clone(),
            helper_ids: helpers.to_vec(),
            last_ts: now,
            created_at: now,
        }
    }

    /// What is said, later than everything that was said before.
    fn new_message(&self, thread: &AssistThread, me: &UserId, text: &str) -> AssistMsg {
        let at = self.ground.now().max(thread.last_ts.plus_ms(1));
        AssistMsg {
            thread_id: thread.thread_id.clone(),
            id: self.ground.ids().next_at(at),
            user_id: me.clone(),
            text: text.to_owned(),
            created_at: at,
        }
    }
}

/// What leads each helper to their thread.
fn edges(thread: &AssistThread) -> impl Iterator<Item = AssistHelper> {
    let AssistThread { thread_id, created_at, .. } = thread;
    thread.helper_ids.iter().map(|helper| AssistHelper {
        thread_id: thread_id.clone(),
        user_id: helper.clone(),
        created_at: *created_at,
    })
}

/// Refuses helpers who are none, too many, named twice, or the caller.
fn check(me: &UserId, helpers: &[UserId]) -> Result<(), AssistError> {
    check_count("helperIds", helpers.len(), HELPERS_MAX)?;
    if helpers.is_empty() {
        return Err(AssistError::NoHelpers);
    }
    if helpers.contains(me) {
        return Err(AssistError::Yourself);
    }
    let distinct: BTreeSet<&UserId> = helpers.iter().collect();
    if distinct.len() < helpers.len() {
        return Err(AssistError::Twice);
    }
    Ok(())
}

/// Whether somebody can be spoken to. Staff see who is suspended, or has blocked them, but can speak to
/// neither.
fn hears(sight: &Sight, user: &UserId) -> bool {
    let active = sight.person(user).is_some_and(|person| person.status == UserStatus::Active);
    active && !sight.is_blocked(user)
}

/// Whether somebody is shown in a thread, with what they say there: also to staff only who can hear
/// them.
fn is_shown(sight: &Sight, me: &UserId, user: &UserId) -> bool {
    me == user || hears(sight, user)
}

/// Whether `me` has a part in a thread, and may see it.
fn may_assist(sight: &Sight, me: &UserId, thread: &AssistThread) -> bool {
    let standing = Standing::SIGNED_IN
        .and_if(thread.user_id == *me, Standing::OWNER)
        .and_if(thread.helper_ids.contains(me), Standing::MEMBER)
        .and_if(is_shown(sight, me, &thread.user_id), Standing::SEES);
    allows(Act::Assist, standing)
}

/// Somebody who hears what `me` says in a thread: of a helper, whoever asks, without whom there is no
/// thread for them.
fn listener<'a>(
    sight: &Sight,
    thread: &'a AssistThread,
    me: &UserId,
) -> Result<&'a UserId, AssistError> {
    if thread.user_id == *me {
        let listener = thread.helper_ids.iter().find(|helper| hears(sight, helper));
        return listener.ok_or(AssistError::NobodyListens);
    }
    Some(&thread.user_id).filter(|owner| hears(sight, owner)).ok_or(AssistError::NoSuchThread)
}

/// The other one is there, and neither has blocked the other.
fn in_touch(me: &UserId, other: &UserId) -> [Check; 3] {
    [live(other), Block::at(me, other).absent(), Block::at(other, me).absent()]
}
