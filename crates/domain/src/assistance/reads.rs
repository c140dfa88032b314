//! What those who have a part in a call for help see of it (R28).

use std::collections::HashSet;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{AssistMsg, AssistThread, User};
use roundtable_model::table::Order;
use roundtable_model::{AssistEntry, At, MessageId, ThreadId, UserId};

use super::{AssistError, Assistance, is_shown, may_assist};
use crate::pages::{PAGE_ITEMS_MAX, fill};
use crate::{Caller, Failure, Page, PageInput, Sight};

/// Messages of a page, unless asked otherwise.
const MESSAGES: usize = 50;
/// Threads looked at for one page: somebody whom everybody who asked them has blocked does not read all
/// of them at once.
const LOOKED_THREADS_MAX: usize = 1_000;

#[boxed]
impl Assistance {
    /// A call for help, for whoever asks and those who were asked; each sees only the helpers they may
    /// see at all.
    pub async fn thread(
        &self,
        caller: &Caller,
        id: &ThreadId,
    ) -> Result<AssistThread, AssistError> {
        let me = self.ground.reader(caller).await?;
        let (thread, sight) = self.open(caller, &me, id).await?;
        Ok(shown(&sight, &me.id, thread))
    }

    /// Calls for help by their ids, each in its place; `None` where there is none for the caller.
    pub async fn threads(
        &self,
        caller: &Caller,
        ids: &[ThreadId],
    ) -> Result<Vec<Option<AssistThread>>, AssistError> {
        let me = self.ground.reader(caller).await?;
        Ok(self.seen(caller, &me, ids).await?)
    }

    /// The calls for help that the caller has a part in, asking or asked, the latest first.
    pub async fn mine(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<AssistThread>, AssistError> {
        let me = self.ground.reader(caller).await?;
        let wanted = page.size()?;
        let (mut items, mut after) = (Vec::with_capacity(wanted), page.after.clone());
        // One more than a page, to know whether another one follows.
        let (mut at_once, mut looked) = ((wanted + 1).min(PAGE_ITEMS_MAX), 0);
        loop {
            let listing = self.ground.core().assists(&me.id).limit(at_once);
            let found = listing.after(after.take()).page().await?;
            looked += found.entries.len();
            let id = |(entry, cursor): (AssistEntry, _)| (entry.thread_id().clone(), cursor);
            let (ids, cursors): (Vec<_>, Vec<_>) = found.entries.into_iter().map(id).unzip();
            for (seen, cursor) in self.seen(caller, &me, &ids).await?.into_iter().zip(cursors) {
                items.extend(seen.map(|thread| (thread, cursor)));
            }
            if items.len() > wanted {
                items.truncate(wanted);
                let next = items.last().map(|(_, cursor)| cursor.clone());
                return Ok(Page { items, next });
            }
            if found.next.is_none() || looked >= LOOKED_THREADS_MAX {
                return Ok(Page { items, next: found.next });
            }
            (after, at_once) = (found.next, PAGE_ITEMS_MAX);
        }
    }

    /// Threads as they are now, each in its place: those that the caller has a part in and may see.
    async fn seen(
        &self,
        caller: &Caller,
        me: &User,
        ids: &[ThreadId],
    ) -> Result<Vec<Option<AssistThread>>, Failure> {
        let threads = self.ground.core().assist_threads(ids).get().await?;
        let there = threads.iter().flatten();
        let people: Vec<&UserId> =
            there.flat_map(|thread| thread.helper_ids.iter().chain([&thread.user_id])).collect();
        let sight = self.ground.sight_of(caller, me, people, []).await?;
        let is_open = |thread: &AssistThread| may_assist(&sight, &me.id, thread);
        let each = threads.into_iter().map(|thread| thread.filter(is_open));
        Ok(each.map(|thread| thread.map(|thread| shown(&sight, &me.id, thread))).collect())
    }

    /// What was said in calls for help, by their threads and ids, each in its place: `None` where the
    /// caller may not see the thread or who said it. An id tells when it was said.
    pub async fn said(
        &self,
        caller: &Caller,
        places: &[(ThreadId, MessageId)],
    ) -> Result<Vec<Option<AssistMsg>>, AssistError> {
        let me = self.ground.reader(caller).await?;
        let threads: Vec<ThreadId> = places.iter().map(|(thread, _)| thread.clone()).collect();
        let threads = self.seen(caller, &me, &threads).await?.into_iter().flatten();
        let threads: HashSet<ThreadId> = threads.map(|thread| thread.thread_id).collect();
        let at = |(thread, id): &(ThreadId, MessageId)| {
            let is_open = threads.contains(thread);
            id.time().filter(|_| is_open).map(|at| AssistMsg::at(thread, &at, id))
        };
        let at: Vec<Option<At<AssistMsg>>> = places.iter().map(at).collect();
        let is_asked: Vec<bool> = at.iter().map(Option::is_some).collect();
        let said = self.ground.at("assist_message", at.into_iter().flatten()).await?;
        let people = said.iter().flatten().map(|message| &message.user_id);
        let sight = self.ground.sight_of(caller, &me, people, []).await?;
        let seen = |message: &AssistMsg| is_shown(&sight, &me.id, &message.user_id);
        let mut said = said.into_iter().map(|message| message.filter(seen));
        Ok(is_asked.into_iter().map(|is| if is { said.next()? } else { None }).collect())
    }

    /// What was said in a call for help, by those the caller may see.
    pub async fn messages(
        &self,
        caller: &Caller,
        id: &ThreadId,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<AssistMsg>, AssistError> {
        let me = self.ground.reader(caller).await?;
        self.open(caller, &me, id).await?;
        let page = PageInput { limit: Some(page.size_or(MESSAGES)?), after: page.after.clone() };
        fill(
            &page,
            async |limit, after| {
                let listing = self.ground.core().assist_messages(id).order(order);
                listing.limit(limit).after(after).page().await
            },
            async |messages: Vec<AssistMsg>| {
                let people = messages.iter().map(|message| &message.user_id);
                let sight = self.ground.sight_of(caller, &me, people, []).await?;
                let seen = |message: &AssistMsg| is_shown(&sight, &me.id, &message.user_id);
                Ok(messages.into_iter().map(|message| Some(message).filter(seen)).collect())
            },
        )
        .await
    }
}

/// A thread without the helpers who are not there for `me`.
fn shown(sight: &Sight, me: &UserId, mut thread: AssistThread) -> AssistThread {
    thread.helper_ids.retain(|helper| is_shown(sight, me, helper));
    thread
}
