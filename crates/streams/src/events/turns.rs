//! Whose turn it is with an endpoint, in this process: one errand at a time, and one that waits while the
//! endpoint is left alone, however many come.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use roundtable_model::{JobId, Time, WebhookId};

/// How it stands with every endpoint; clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns(Arc<Mutex<HashMap<WebhookId, State>>>);

#[derive(Clone, Debug, Default)]
struct State {
    busy: bool,
    /// Somebody came while it was busy: there may be more to send than who is at it has seen.
    again: bool,
    /// The errand that comes back for all of them, and when. It may have ended elsewhere: nobody counts
    /// on it any longer than that.
    waiter: Option<(JobId, Time)>,
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub(super) struct Held {
    turns: Turns,
    webhook: WebhookId,
    ended: bool,
}

impl Turns {
    /// A turn with an endpoint; `None` while somebody else has it, who then looks once more.
    pub(super) fn take(&self, webhook: &WebhookId) -> Option<Held> {
        let mut states = self.0.lock();
        let state = states.entry(webhook.clone()).or_default();
        if state.busy {
            state.again = true;
            return None;
        }
        (state.busy, state.again) = (true, false);
        Some(Held { turns: self.clone(), webhook: webhook.clone(), ended: false })
    }
}

impl Held {
    /// Whether this errand is the one to come back at `until`; otherwise another one comes until then.
    pub(super) fn waits(&self, errand: &JobId, now: Time, until: Time) -> bool {
        let mut states = self.turns.0.lock();
        let state = states.entry(self.webhook.clone()).or_default();
        let by_others = state
            .waiter
            .as_ref()
            .is_some_and(|(waiter, at)| waiter != errand && now < *at && *at <= until);
        if !by_others {
            state.waiter = Some((errand.clone(), until));
        }
        !by_others
    }

    /// Ends the turn, unless somebody came meanwhile; whether it has ended.
    pub(super) fn end(&mut self) -> bool {
        let mut states = self.turns.0.lock();
        let Some(state) = states.get_mut(&self.webhook) else { return true };
        let again = std::mem::take(&mut state.again);
        if !again {
            // From here on, whoever comes looks for themselves.
            states.remove(&self.webhook);
            self.ended = true;
        }
        !again
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.ended
            && let Some(state) = self.turns.0.lock().get_mut(&self.webhook)
        {
            state.busy = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_ms(1_000);

    fn take(turns: &Turns) -> Option<Held> {
        turns.take(&"hook".parse().unwrap())
    }

    #[test]
    fn one_at_a_time_and_who_comes_meanwhile_is_not_forgotten() {
        let turns = Turns::default();
        let mut held = take(&turns).unwrap();
        assert!(take(&turns).is_none());
        assert!(!held.end(), "somebody came");
        assert!(held.end());
        drop(held);
        assert!(take(&turns).is_some());
    }

    #[test]
    fn one_waits_for_all_and_nobody_waits_for_one_who_is_late() {
        let (turns, until) = (Turns::default(), NOW.plus_ms(500));
        let [one, other]: [JobId; 2] = ["one", "other"].map(|id| id.parse().unwrap());
        let waits = |errand: &JobId, now: Time, until: Time| {
            take(&turns).unwrap().waits(errand, now, until)
        };
        assert!(waits(&one, NOW, until));
        assert!(!waits(&other, NOW, until));
        assert!(waits(&one, NOW, until), "it came too early, and is still the one");
        assert!(!waits(&other, NOW, until.plus_ms(1)), "it comes in time to wait on");
        assert!(waits(&other, NOW, NOW.plus_ms(1)), "the other would come too late");
        assert!(waits(&one, until, until.plus_ms(500)), "the other should have been there");
    }
}
