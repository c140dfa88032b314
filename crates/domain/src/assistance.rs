//! Assistance threads: a user asks a few helpers, and only they take part (R16).
//!
//! Staff have no special access: a thread is between one user and their helpers. A helper sees it
//! while they and its owner can see each other; the owner always does. Each helper has an item of
//! their own beside the thread, by which they find it.
//!
//! Unlike rooms, threads have no head item. The thread stores the time of its newest message, and
//! every message's transaction raises it on the condition that it is unchanged. Of two concurrent
//! messages one retries, so message order is commit order even where clocks differ.

mod reads;

use std::collections::BTreeSet;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{AssistHelper, AssistMsg, AssistThread, User};
use roundtable_model::{Entity, MessageId, RequestId, ThreadId, UserId};
use serde::{Deserialize, Serialize};

use crate::access::{Permission, Relations, allows, require};
use crate::account::active_account_check;
use crate::contact::contact_checks;
use crate::limits::{ASSIST_CHARS_MAX, HELPERS_MAX, check_count, check_filled};
use crate::{Caller, Context, ViewerAccess, refusals};

refusals! {
    AssistError {
        NoHelpers: BadRequest = "name at least one helper",
        Yourself: BadRequest = "you cannot ask yourself for help",
        DuplicateHelper: BadRequest = "each helper can be named only once",
        NoSuchUser: NotFound = "there is no such user",
        NoSuchThread: NotFound = "there is no such assistance thread",
        NoSuchMessage: NotFound = "there is no such message",
        NoReachableHelper: Forbidden = "none of the helpers can be reached any more",
    }
}

#[derive(Clone, Debug)]
pub struct Assistance {
    context: Context,
}

#[derive(Debug, Serialize, Deserialize)]
struct AssistMessageOutcome {
    thread: ThreadId,
    id: MessageId,
}

#[boxed]
impl Assistance {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Opens a thread with helpers; they and the caller must be able to see each other.
    pub async fn ask(
        &self,
        caller: &Caller,
        helpers: &[UserId],
        request: Option<&RequestId>,
    ) -> Result<AssistThread, AssistError> {
        let mutation = self.context.mutation(caller).await?;
        require(Permission::AskForHelp, Relations::SIGNED_IN)?;
        check(&mutation.account.id, helpers)?;
        mutation
            .once("createAssistThread", &helpers, request)?
            .replay(async |id: ThreadId| self.thread(caller, &id).await)
            .run(async |me, attempt| {
                let access = self.context.viewer_access_of(caller, &me, helpers, []).await?;
                if !helpers.iter().all(|helper| access.addressable(helper).is_some()) {
                    return Err(AssistError::NoSuchUser);
                }
                let thread = self.new_thread(&me.id, helpers);
                attempt
                    .commit()
                    .with("thread", thread.create())
                    .with_all("edge", helper_items(&thread).map(|edge| edge.create()))
                    .with("user", active_account_check(&me.id))
                    .with_all("helper", helpers.iter().flat_map(|it| contact_checks(&me.id, it)))
                    .finish(thread.thread_id.clone(), thread)
                    .await
            })
            .await
    }

    /// Sends a message: the owner, while a helper can be reached, or one of the helpers.
    pub async fn send(
        &self,
        caller: &Caller,
        thread: &ThreadId,
        text: &str,
        request: Option<&RequestId>,
    ) -> Result<AssistMsg, AssistError> {
        let mutation = self.context.mutation(caller).await?;
        check_filled("text", text, ASSIST_CHARS_MAX)?;
        mutation
            .once("sendAssistMessage", &(thread, text), request)?
            .replay(|outcome| self.replayed_message(caller, outcome))
            .run(async |me, attempt| {
                let _lock = attempt.lock_on_retry(&thread.to_string()).await;
                let (found, access) = self.open_thread(caller, &me, thread).await?;
                let recipient = recipient(&access, &found, &me.id)?;
                let message = self.new_message(&found, &me.id, text);
                let at = message.created_at;
                let raised = found
                    .key()
                    .patch()
                    .set(AssistThread::LAST_TS, &at)
                    .when(AssistThread::LAST_TS.is(&found.last_ts));
                let outcome =
                    AssistMessageOutcome { thread: thread.clone(), id: message.id.clone() };
                attempt
                    .commit()
                    .with("message", message.create())
                    .with("thread", raised)
                    .with("user", active_account_check(&me.id))
                    .with_all("recipient", contact_checks(&me.id, recipient))
                    .finish(outcome, message)
                    .await
            })
            .await
    }

    /// The message as the caller sees it now.
    async fn replayed_message(
        &self,
        caller: &Caller,
        outcome: AssistMessageOutcome,
    ) -> Result<AssistMsg, AssistError> {
        let messages = self.messages_by_id(caller, &[(outcome.thread, outcome.id)]).await?;
        messages.into_iter().flatten().next().ok_or(AssistError::NoSuchMessage)
    }

    /// Returns a thread the caller takes part in and may see, with their access to the others.
    async fn open_thread(
        &self,
        caller: &Caller,
        me: &User,
        id: &ThreadId,
    ) -> Result<(AssistThread, ViewerAccess), AssistError> {
        let thread = self.context.core().assist_thread(id).get().await?;
        let thread = thread.ok_or(AssistError::NoSuchThread)?;
        let people = thread.helper_ids.iter().chain([&thread.user_id]);
        let access = self.context.viewer_access_of(caller, me, people, []).await?;
        if !may_assist(&access, &me.id, &thread) {
            return Err(AssistError::NoSuchThread);
        }
        Ok((thread, access.into_access()))
    }

    fn new_thread(&self, me: &UserId, helpers: &[UserId]) -> AssistThread {
        let now = self.context.now();
        AssistThread {
            thread_id: self.context.ids().next_at(now),
            user_id: me.clone(),
            helper_ids: helpers.to_vec(),
            last_ts: now,
            created_at: now,
        }
    }

    /// A message later than every earlier one in the thread.
    fn new_message(&self, thread: &AssistThread, me: &UserId, text: &str) -> AssistMsg {
        let at = self.context.now().max(thread.last_ts.plus_ms(1));
        AssistMsg {
            thread_id: thread.thread_id.clone(),
            id: self.context.ids().next_at(at),
            user_id: me.clone(),
            text: text.to_owned(),
            created_at: at,
        }
    }
}

/// The items by which helpers find their thread.
fn helper_items(thread: &AssistThread) -> impl Iterator<Item = AssistHelper> {
    let AssistThread { thread_id, created_at, .. } = thread;
    thread.helper_ids.iter().map(|helper| AssistHelper {
        thread_id: thread_id.clone(),
        user_id: helper.clone(),
        created_at: *created_at,
    })
}

/// Refuses an empty list, too many helpers, duplicates, and the caller.
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
        return Err(AssistError::DuplicateHelper);
    }
    Ok(())
}

/// Returns whether a user and their messages are shown in a thread; staff get no exception.
fn is_visible_to(access: &ViewerAccess, me: &UserId, user: &UserId) -> bool {
    me == user || access.addressable(user).is_some()
}

/// Returns whether `me` takes part in a thread and may see it.
fn may_assist(access: &ViewerAccess, me: &UserId, thread: &AssistThread) -> bool {
    let relations = Relations::SIGNED_IN
        .with_if(thread.user_id == *me, Relations::OWNER)
        .with_if(thread.helper_ids.contains(me), Relations::MEMBER)
        .with_if(is_visible_to(access, me, &thread.user_id), Relations::CAN_SEE);
    allows(Permission::Assist, relations)
}

/// Returns a participant who receives what `me` sends: for the owner any reachable helper, for a
/// helper the owner.
fn recipient<'a>(
    access: &ViewerAccess,
    thread: &'a AssistThread,
    me: &UserId,
) -> Result<&'a UserId, AssistError> {
    if thread.user_id == *me {
        let recipient = thread.helper_ids.iter().find(|it| access.addressable(it).is_some());
        return recipient.ok_or(AssistError::NoReachableHelper);
    }
    access.addressable(&thread.user_id).map(|_| &thread.user_id).ok_or(AssistError::NoSuchThread)
}
