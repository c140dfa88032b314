//! What those who have a part in a call for help see of it (R28).

use roundtable_model::entities::{AssistMsg, AssistThread};
use roundtable_model::table::{Get, Order};
use roundtable_model::{Answer, ThreadId, UserId};

use super::{AssistError, Assistance, Said, is_shown};
use crate::pages::fill;
use crate::{Caller, Page, PageInput, Sight};

/// Messages of a page, unless asked otherwise.
const MESSAGES: usize = 50;

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

    /// The caller's own calls for help, the latest first. Those they were asked in are not listed: no
    /// question of the page finds them, and they are known by their ids.
    pub async fn mine(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<AssistThread>, AssistError> {
        let me = self.ground.reader(caller).await?;
        fill(
            page,
            async |limit, after| {
                self.ground.core().assists_of(&me.id).limit(limit).after(after).page().await
            },
            async |threads: Vec<AssistThread>| {
                let people = threads.iter().flat_map(|thread| &thread.helper_ids);
                let sight = self.ground.sight_of(caller, &me, people, []).await?;
                let shown = |thread| Some(shown(&sight, &me.id, thread));
                Ok(threads.into_iter().map(shown).collect())
            },
        )
        .await
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

    /// What somebody said, if they may still see where. No question of the page asks for one message:
    /// its key does.
    pub(super) async fn replayed(
        &self,
        caller: &Caller,
        said: Said,
    ) -> Result<AssistMsg, AssistError> {
        self.thread(caller, &said.thread).await?;
        let at = AssistMsg::at(&said.thread, &said.at, &said.id);
        let table = self.ground.core().table().for_pattern("assist_messages");
        let found =
            table.get(Get::new(at).strong()).await.map_err(roundtable_model::Error::from)?;
        let message = found.item.as_ref().map(AssistMsg::from_item).transpose()?;
        message.ok_or(AssistError::NoSuchThread)
    }
}

/// A thread without the helpers who are not there for `me`.
fn shown(sight: &Sight, me: &UserId, mut thread: AssistThread) -> AssistThread {
    thread.helper_ids.retain(|helper| is_shown(sight, me, helper));
    thread
}
