//! Calls for help, companies and offers of a deleted account.

use std::collections::BTreeSet;

use roundtable_model::entities::{AssistThread, Offer};
use roundtable_model::table::{Error, Key};
use roundtable_model::{Entity, EntityKind, SubjectId, ThreadId, UserId};

use super::Purge;
use super::sweep::{PAGE_ITEMS, remove, sweep};
use crate::Failure;

/// Threads, companies or offers of one page.
const AT_ONCE: usize = 10;

impl Purge {
    /// Takes away pages of the account's calls for help, with what everybody said in them; whether
    /// there were any. The thread's key is behind those of its messages, so it goes last.
    pub(super) async fn remove_threads(&self, id: &UserId) -> Result<bool, Failure> {
        let threads = self.ground.core().assists_of(id).limit(AT_ONCE).page().await?.items;
        for thread in &threads {
            sweep(&self.ground, thread.key(), &[]).await?;
        }
        Ok(!threads.is_empty())
    }

    /// Takes away what the account said to others who asked for help; whether there was anything. Who
    /// was asked and said nothing stays in the list of helpers, where nobody is shown them.
    pub(super) async fn remove_advice(&self, id: &UserId) -> Result<bool, Failure> {
        let said = self.ground.core().assist_messages_by(id).limit(PAGE_ITEMS).page().await?.items;
        let mut threads: BTreeSet<&ThreadId> =
            said.iter().map(|message| &message.thread_id).collect();
        for thread in threads.clone() {
            if !self.dismiss(thread, id).await? {
                threads.remove(thread);
            }
        }
        let gone = said.iter().filter(|message| threads.contains(&message.thread_id));
        remove(&self.ground, gone.map(|message| message.key().into()).collect()).await?;
        Ok(!said.is_empty())
    }

    /// Takes somebody off the helpers of a thread; not if another helper went at the same time: then
    /// the next page looks at it again.
    async fn dismiss(&self, thread: &ThreadId, helper: &UserId) -> Result<bool, Failure> {
        let core = self.ground.core();
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

    /// Takes away some of what the account's companies offer, and at last the companies; whether there
    /// were any.
    pub(super) async fn remove_companies(&self, id: &UserId) -> Result<bool, Failure> {
        let core = self.ground.core();
        let companies = core.companies_of(id).limit(AT_ONCE).page().await?.items;
        for company in &companies {
            let offers = core.offers_of(&company.id).limit(AT_ONCE).page().await?.items;
            for offer in &offers {
                self.remove_offer(offer).await?;
            }
            if offers.is_empty() {
                remove(&self.ground, vec![company.key().into()]).await?;
            }
        }
        Ok(!companies.is_empty())
    }

    /// Takes an offer away, after the references that lead to it.
    async fn remove_offer(&self, offer: &Offer) -> Result<(), Failure> {
        let (id, shards) = (SubjectId::from(&offer.id), self.ground.settings().shards.tags.0);
        let core = self.ground.core();
        let found = core.tag_refs(&offer.tags, shards, &EntityKind::Offer, &id).get().await?;
        let keys: Vec<Key> = found.iter().flatten().map(|found| found.key().into()).collect();
        remove(&self.ground, keys).await?;
        remove(&self.ground, vec![offer.key().into()]).await
    }
}
