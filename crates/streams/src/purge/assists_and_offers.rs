//! Removes the assist threads, companies and offers of a deleted account.

use std::collections::BTreeSet;

use roundtable_model::entities::{AssistThread, Offer};
use roundtable_model::table::{Error, Key};
use roundtable_model::{Entity, EntityKind, SubjectId, ThreadId, UserId};

use super::Purge;
use super::account::PurgePass;
use super::sweep::{PAGE_ITEMS, remove, remove_belongings};
use crate::Result;

const AT_ONCE: usize = 10;

impl Purge {
    /// Removes a page of each of the account's assist threads, and threads without further items.
    /// Returns whether there were any.
    pub(super) async fn remove_threads(&self, id: &UserId) -> Result<bool> {
        let threads = self.context.core().assists_of(id).limit(AT_ONCE).page().await?.items;
        for thread in &threads {
            let id = &thread.thread_id;
            if !remove_belongings(&self.context, id, &[]).await? {
                remove(&self.context, vec![thread.key().into()]).await?;
            }
        }
        Ok(!threads.is_empty())
    }

    /// Removes the account from other users' assist threads, with its messages. Returns whether
    /// there was anything.
    pub(super) async fn remove_advice(&self, id: &UserId) -> Result<bool> {
        let core = self.context.core();
        let messages = core.assist_messages_by(id).limit(PAGE_ITEMS).page().await?.items;
        let helping = core.helping(id).limit(PAGE_ITEMS).page().await?.items;
        let mut threads: BTreeSet<&ThreadId> =
            messages.iter().map(|message| &message.thread_id).collect();
        threads.extend(helping.iter().map(|helper| &helper.thread_id));
        for thread in threads.clone() {
            if !self.remove_helper(thread, id).await? {
                threads.remove(thread);
            }
        }
        // A thread that could not be left yet is tried again.
        let any = !messages.is_empty() || !helping.is_empty();
        let messages = messages.iter().filter(|message| threads.contains(&message.thread_id));
        let mut keys: Vec<Key> = messages.map(|message| message.key().into()).collect();
        let helping = helping.iter().filter(|helper| threads.contains(&helper.thread_id));
        keys.extend(helping.map(|helper| Key::from(helper.key())));
        remove(&self.context, keys).await?;
        Ok(any)
    }

    /// Removes a user from the helpers of a thread. Returns `false` if another helper left at the
    /// same time: the next page tries again.
    async fn remove_helper(&self, thread: &ThreadId, helper: &UserId) -> Result<bool> {
        let core = self.context.core();
        let Some(thread) = core.assist_thread(thread).get().await? else { return Ok(true) };
        let others = thread.helper_ids.iter().filter(|other| *other != helper).cloned();
        let others: Vec<UserId> = others.collect();
        if others.len() == thread.helper_ids.len() {
            return Ok(true);
        }
        let patch = thread
            .key()
            .patch()
            .set(AssistThread::HELPER_IDS, &others)
            .when(AssistThread::HELPER_IDS.is(&thread.helper_ids));
        match core.table().update(patch.into()).await {
            Ok(_) => Ok(true),
            Err(Error::ConditionFailed { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes some offers of the account's companies and, once these are certainly gone, the
    /// companies. Returns whether there were any. The first pass keeps the companies: an index may
    /// not show the newest offers yet, and an offer cannot be found without its company. The second
    /// pass runs once the index has caught up.
    pub(super) async fn remove_companies(&self, id: &UserId, pass: PurgePass) -> Result<bool> {
        let core = self.context.core();
        let mut after = None;
        loop {
            let listing = core.companies_of(id).limit(AT_ONCE).after(after.take());
            let page = listing.page().await?;
            let mut any = false;
            for company in &page.items {
                let offers = core.offers_of(&company.id).limit(AT_ONCE).page().await?.items;
                for offer in &offers {
                    self.remove_offer(offer).await?;
                }
                let more =
                    remove_belongings(&self.context, &company.id, &[Offer::SHAPE.name]).await?;
                let is_empty = offers.is_empty() && !more && pass == PurgePass::Again;
                if is_empty {
                    remove(&self.context, vec![company.key().into()]).await?;
                }
                any |= is_empty || more || !offers.is_empty();
            }
            after = page.next;
            if any || after.is_none() {
                return Ok(any);
            }
        }
    }

    /// Removes an offer after the references that lead to it.
    async fn remove_offer(&self, offer: &Offer) -> Result<()> {
        let (id, shards) = (SubjectId::from(&offer.id), self.context.settings().shards.tags.0);
        let core = self.context.core();
        let found = core.tag_refs(&offer.tags, shards, &EntityKind::Offer, &id).get().await?;
        let keys: Vec<Key> = found.iter().flatten().map(|found| found.key().into()).collect();
        remove(&self.context, keys).await?;
        remove(&self.context, vec![offer.key().into()]).await
    }
}
