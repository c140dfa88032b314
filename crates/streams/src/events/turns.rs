//! Whose turn it is with an endpoint, in this process: one errand at a time, and none for a while after
//! it has failed, however many come.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use roundtable_model::{Time, WebhookId};

/// How it stands with every endpoint; clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns(Arc<Mutex<HashMap<WebhookId, State>>>);

#[derive(Clone, Copy, Debug, Default)]
struct State {
    busy: bool,
    /// Somebody came while it was busy: there may be more to send than who is at it has seen.
    again: bool,
    /// It has failed, and is left alone until then.
    rests_until: Option<Time>,
    /// An errand waits for the end of that.
    waited_for: bool,
}

/// What an errand may do.
#[derive(Debug)]
pub(super) enum Turn {
    /// Go on.
    Yours(Held),
    /// Nothing: somebody else does, or waits to.
    Others,
    /// Come back then.
    Rest(Duration),
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub(super) struct Held {
    turns: Turns,
    webhook: WebhookId,
    ended: bool,
}

/// How an errand comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comes {
    /// For the first time.
    First,
    /// After it was told to come back.
    Rested,
    /// Because it failed: it has waited long enough.
    Retrying,
}

impl Turns {
    pub(super) fn take(&self, webhook: &WebhookId, comes: Comes, now: Time) -> Turn {
        let mut states = self.0.lock();
        let state = states.entry(webhook.clone()).or_default();
        if state.busy {
            state.again = true;
            return Turn::Others;
        }
        let rest = state.rests_until.map_or(0, |until| until.ms().saturating_sub(now.ms()));
        match comes {
            Comes::First if rest > 0 && state.waited_for => return Turn::Others,
            Comes::First | Comes::Rested if rest > 0 => {
                state.waited_for = true;
                return Turn::Rest(Duration::from_millis(rest));
            }
            Comes::First | Comes::Retrying => {}
            Comes::Rested => state.waited_for = false,
        }
        (state.busy, state.again) = (true, false);
        Turn::Yours(Held { turns: self.clone(), webhook: webhook.clone(), ended: false })
    }
}

impl Held {
    /// Leaves the endpoint alone until then, or not any longer.
    pub(super) fn rest(&self, until: Option<Time>) {
        if let Some(state) = self.turns.0.lock().get_mut(&self.webhook) {
            state.rests_until = until;
        }
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

    fn take(turns: &Turns, comes: Comes, now: Time) -> Turn {
        turns.take(&"hook".parse().unwrap(), comes, now)
    }

    #[test]
    fn one_at_a_time_and_who_comes_meanwhile_is_not_forgotten() {
        let turns = Turns::default();
        let Turn::Yours(mut held) = take(&turns, Comes::First, NOW) else { panic!() };
        assert!(matches!(take(&turns, Comes::First, NOW), Turn::Others));
        assert!(!held.end(), "somebody came");
        assert!(held.end());
        drop(held);
        assert!(matches!(take(&turns, Comes::First, NOW), Turn::Yours(_)));
    }

    #[test]
    fn after_a_failure_one_waits_for_all_and_who_failed_goes_on() {
        let turns = Turns::default();
        let Turn::Yours(held) = take(&turns, Comes::First, NOW) else { panic!() };
        held.rest(Some(NOW.plus_ms(500)));
        drop(held);
        let Turn::Rest(rest) = take(&turns, Comes::First, NOW) else { panic!() };
        assert_eq!(rest, Duration::from_millis(500));
        assert!(matches!(take(&turns, Comes::First, NOW), Turn::Others));
        assert!(matches!(take(&turns, Comes::Rested, NOW), Turn::Rest(_)));
        assert!(matches!(take(&turns, Comes::Retrying, NOW), Turn::Yours(_)));
        assert!(matches!(take(&turns, Comes::Rested, NOW.plus_ms(500)), Turn::Yours(_)));
    }
}
