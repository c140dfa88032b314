//! Locks on endpoints within this process: one webhook job sends to an endpoint at a time, and one
//! job waits on behalf of all while the endpoint backs off.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use roundtable_model::{JobId, Time, WebhookId};

/// The locks of all endpoints. Clones share the same state.
#[derive(Clone, Debug, Default)]
pub(super) struct EndpointLocks(Arc<Mutex<HashMap<WebhookId, EndpointState>>>);

#[derive(Clone, Debug, Default)]
struct EndpointState {
    is_locked: bool,
    /// Another job tried to lock: there may be more to send than the holder has seen.
    was_contended: bool,
    /// The job that waits on behalf of all, and until when. It may have ended in another process,
    /// so it is not relied on after that time.
    waiter: Option<(JobId, Time)>,
}

/// A lock on an endpoint, released on drop.
#[derive(Debug)]
pub(super) struct EndpointLock {
    locks: EndpointLocks,
    webhook: WebhookId,
    released: bool,
}

impl EndpointLocks {
    /// Locks an endpoint. Returns `None` if another job holds the lock; that job then checks the
    /// outbox once more.
    pub(super) fn try_lock(&self, webhook: &WebhookId) -> Option<EndpointLock> {
        let mut states = self.0.lock();
        let state = states.entry(webhook.clone()).or_default();
        if state.is_locked {
            state.was_contended = true;
            return None;
        }
        (state.is_locked, state.was_contended) = (true, false);
        Some(EndpointLock { locks: self.clone(), webhook: webhook.clone(), released: false })
    }
}

impl EndpointLock {
    /// Returns whether `job` is the one that waits until `until`. Otherwise another job waits until
    /// then.
    pub(super) fn claim_wait(&self, job: &JobId, now: Time, until: Time) -> bool {
        let mut states = self.locks.0.lock();
        let state = states.entry(self.webhook.clone()).or_default();
        let is_covered = state
            .waiter
            .as_ref()
            .is_some_and(|(waiter, at)| waiter != job && now < *at && *at <= until);
        if !is_covered {
            state.waiter = Some((job.clone(), until));
        }
        !is_covered
    }

    /// Releases the lock unless another job tried to take it meanwhile. Returns whether it was
    /// released.
    pub(super) fn try_release(&mut self) -> bool {
        let mut states = self.locks.0.lock();
        let Some(state) = states.get_mut(&self.webhook) else { return true };
        let was_contended = std::mem::take(&mut state.was_contended);
        if !was_contended {
            // From here on, other jobs check the outbox themselves.
            states.remove(&self.webhook);
            self.released = true;
        }
        !was_contended
    }
}

impl Drop for EndpointLock {
    fn drop(&mut self) {
        if !self.released
            && let Some(state) = self.locks.0.lock().get_mut(&self.webhook)
        {
            state.is_locked = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_ms(1_000);

    fn try_lock(locks: &EndpointLocks) -> Option<EndpointLock> {
        locks.try_lock(&"hook".parse().unwrap())
    }

    #[test]
    fn a_contended_lock_is_not_released_at_once() {
        let locks = EndpointLocks::default();
        let mut lock = try_lock(&locks).unwrap();
        assert!(try_lock(&locks).is_none());
        assert!(!lock.try_release(), "another job tried to lock");
        assert!(lock.try_release());
        drop(lock);
        assert!(try_lock(&locks).is_some());
    }

    #[test]
    fn one_job_waits_for_all_unless_it_is_late() {
        let (locks, until) = (EndpointLocks::default(), NOW.plus_ms(500));
        let [one, other]: [JobId; 2] = ["one", "other"].map(|id| id.parse().unwrap());
        let waits = |job: &JobId, now: Time, until: Time| {
            try_lock(&locks).unwrap().claim_wait(job, now, until)
        };
        assert!(waits(&one, NOW, until));
        assert!(!waits(&other, NOW, until));
        assert!(waits(&one, NOW, until), "it is still the waiting job");
        assert!(!waits(&other, NOW, until.plus_ms(1)), "the waiting job ends in time");
        assert!(waits(&other, NOW, NOW.plus_ms(1)), "the waiting job would end too late");
        assert!(waits(&one, until, until.plus_ms(500)), "the waiting job is overdue");
    }
}
