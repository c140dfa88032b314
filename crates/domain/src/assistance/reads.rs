//! Reads of assistance threads by their participants (R28).

use std::collections::HashSet;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{AssistMsg, AssistThread, User};
use roundtable_model::table::Order;
use roundtable_model::{AssistEntry, EntityKey, MessageId, ThreadId, UserId};

use super::{AssistError, Assistance, is_visible_to, may_assist};
use crate::pages::{fill_merged_page, fill_page};
use crate::{Caller, Page, PageInput, ServiceError, ViewerAccess};

const MESSAGES_PER_PAGE: usize = 50;

#[boxed]
impl Assistance {
    /// Returns a thread to its owner or a helper; each sees only the helpers they may see at all.
    pub async fn thread(
        &self,
        caller: &Caller,
        id: &ThreadId,
    ) -> Result<AssistThread, AssistError> {
        let me = self.context.authorize_read(caller).await?;
        let (thread, access) = self.open_thread(caller, &me, id).await?;
        Ok(without_hidden_helpers(&access, &me.id, thread))
    }

    /// Returns threads in the order of `ids`; `None` where the caller may not see one.
    pub async fn threads(
        &self,
        caller: &Caller,
        ids: &[ThreadId],
    ) -> Result<Vec<Option<AssistThread>>, AssistError> {
        let me = self.context.authorize_read(caller).await?;
        Ok(self.visible_threads(caller, &me, ids).await?)
    }

    /// Returns the threads the caller takes part in, latest first.
    pub async fn mine(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<AssistThread>, AssistError> {
        let me = self.context.authorize_read(caller).await?;
        fill_merged_page(
            page,
            async |limit, after| {
                self.context.core().assists(&me.id).limit(limit).after(after).page().await
            },
            async |found: Vec<AssistEntry>| {
                let ids = found.iter().map(|entry| entry.thread_id().clone());
                Ok(self.visible_threads(caller, &me, &ids.collect::<Vec<_>>()).await?)
            },
        )
        .await
    }

    /// Returns the current threads in the order of `ids`, with `None` for those the caller may not
    /// see.
    async fn visible_threads(
        &self,
        caller: &Caller,
        me: &User,
        ids: &[ThreadId],
    ) -> Result<Vec<Option<AssistThread>>, ServiceError> {
        let threads = self.context.core().assist_threads(ids).get().await?;
        let existing = threads.iter().flatten();
        let people: Vec<&UserId> =
            existing.flat_map(|thread| thread.helper_ids.iter().chain([&thread.user_id])).collect();
        let access = self.context.viewer_access_of(caller, me, people, []).await?;
        let is_open = |thread: &AssistThread| may_assist(&access, &me.id, thread);
        let each = threads.into_iter().map(|thread| thread.filter(is_open));
        Ok(each
            .map(|thread| thread.map(|thread| without_hidden_helpers(&access, &me.id, thread)))
            .collect())
    }

    /// Returns messages by thread and id, in the order given; `None` where the caller may not see
    /// the thread or the sender. The id contains the sending time.
    pub async fn messages_by_id(
        &self,
        caller: &Caller,
        item_keys: &[(ThreadId, MessageId)],
    ) -> Result<Vec<Option<AssistMsg>>, AssistError> {
        let me = self.context.authorize_read(caller).await?;
        let threads: Vec<ThreadId> = item_keys.iter().map(|(thread, _)| thread.clone()).collect();
        let threads = self.visible_threads(caller, &me, &threads).await?.into_iter().flatten();
        let threads: HashSet<ThreadId> = threads.map(|thread| thread.thread_id).collect();
        let at = |(thread, id): &(ThreadId, MessageId)| {
            let is_open = threads.contains(thread);
            id.time().filter(|_| is_open).map(|at| AssistMsg::at(thread, &at, id))
        };
        let at: Vec<Option<EntityKey<AssistMsg>>> = item_keys.iter().map(at).collect();
        let is_visible: Vec<bool> = at.iter().map(Option::is_some).collect();
        let messages = self.context.items_at("assist_message", at.into_iter().flatten()).await?;
        let people = messages.iter().flatten().map(|message| &message.user_id);
        let access = self.context.viewer_access_of(caller, &me, people, []).await?;
        let visible = |message: &AssistMsg| is_visible_to(&access, &me.id, &message.user_id);
        let mut messages = messages.into_iter().map(|message| message.filter(visible));
        Ok(is_visible.into_iter().map(|is| if is { messages.next()? } else { None }).collect())
    }

    /// Returns the messages of a thread whose senders the caller may see.
    pub async fn messages(
        &self,
        caller: &Caller,
        id: &ThreadId,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<AssistMsg>, AssistError> {
        let me = self.context.authorize_read(caller).await?;
        self.open_thread(caller, &me, id).await?;
        let page =
            PageInput { limit: Some(page.size_or(MESSAGES_PER_PAGE)?), after: page.after.clone() };
        fill_page(
            &page,
            async |limit, after| {
                let listing = self.context.core().assist_messages(id).order(order);
                listing.limit(limit).after(after).page().await
            },
            async |messages: Vec<AssistMsg>| {
                let people = messages.iter().map(|message| &message.user_id);
                let access = self.context.viewer_access_of(caller, &me, people, []).await?;
                let visible =
                    |message: &AssistMsg| is_visible_to(&access, &me.id, &message.user_id);
                Ok(messages.into_iter().map(|message| Some(message).filter(visible)).collect())
            },
        )
        .await
    }
}

/// Removes the helpers that are hidden from `me`.
fn without_hidden_helpers(
    access: &ViewerAccess,
    me: &UserId,
    mut thread: AssistThread,
) -> AssistThread {
    thread.helper_ids.retain(|helper| is_visible_to(access, me, helper));
    thread
}
