//! Calls for help, companies and offers of a deleted account.

use std::collections::BTreeSet;

use roundtable_model::entities::{AssistThread, Offer};
use roundtable_model::table::{Error, Key};
use roundtable_model::{Entity, EntityKind, SubjectId, ThreadId, UserId};

use super::Purge;
use super::account::Pass;
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

    /// Takes the account off the calls for help of others, with what it said in them; whether there was
    /// anything.
    pub(super) async fn remove_advice(&self, id: &UserId) -> Result<bool, Failure> {
        let core = self.ground.core();
        let said = core.assist_messages_by(id).limit(PAGE_ITEMS).page().await?.items;
        let asked = core.helping(id).limit(PAGE_ITEMS).page().await?.items;
        let mut threads: BTreeSet<&ThreadId> = said.iter().map(|said| &said.thread_id).collect();
        threads.extend(asked.iter().map(|asked| &asked.thread_id));
        for thread in threads.clone() {
            if !self.dismiss(thread, id).await? {
                threads.remove(thread);
            }
        }
        // One that could not be left yet is looked at again.
        let any = !said.is_empty() || !asked.is_empty();
        let said = said.iter().filter(|said| threads.contains(&said.thread_id));
        let mut keys: Vec<Key> = said.map(|said| said.key().into()).collect();
        let asked = asked.iter().filter(|asked| threads.contains(&asked.thread_id));
        keys.extend(asked.map(|asked| Key::from(asked.key())));
        remove(&self.ground, keys).await?;
        Ok(any)
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

    /// Takes away some of what the account's companies offer, and, once that is gone for sure, the
    /// companies; whether there were any. The first pass leaves the companies where they are: an index
    /// may not tell yet of the newest offers, and without its company nobody finds an offer again. The
    /// second pass comes when it does.
    pub(super) async fn remove_companies(&self, id: &UserId, pass: Pass) -> Result<bool, Failure> {
        let core = self.ground.core();
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
                let is_empty = offers.is_empty() && pass == Pass::Again;
                if is_empty {
                    remove(&self.ground, vec![company.key().into()]).await?;
                }
                any |= is_empty || !offers.is_empty();
            }
            after = page.next;
            if any || after.is_none() {
                return Ok(any);
            }
        }
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
