//! Sending an endpoint what waits for it, in order, one event at a time.

use std::time::Duration;

use roundtable_domain::Undelivered;
use roundtable_model::entities::{Job, Webhook};
use roundtable_model::{Time, WebhookId};
use tokio::time::Instant;

use super::Events;
use super::parcel::{Progress, WAITS};
use super::turns::Held;
use super::watch::Happened;
use crate::Failure;
use crate::failure::Remedy;
use crate::jobs::Next;

/// Events of one page.
const PAGE_EVENTS_MAX: usize = 20;
/// No event is begun later than this in a page: a slow endpoint keeps nobody from stopping.
const PAGE_LONGEST: Duration = Duration::from_secs(10);
/// How long a parcel is its sender's. A page ends before: its last event takes a minute at most.
const CLAIM_MS: u64 = 75_000;
/// An endpoint that fails is tried again with growing waits in between: 1 s, 4 s, … 17 min, an hour.
const FIRST_WAIT_MS: u64 = 1_000;
const LONGEST_WAIT_MS: u64 = 60 * 60 * 1000;
/// How long an endpoint fails before it is given up, and how often at least: it is not its fault when
/// nobody tried.
const FAILING_MS_MAX: u64 = 24 * 60 * 60 * 1000;
const TRIES_MIN: u64 = 8;

/// How the sending of some events ended.
enum Sent {
    /// They were taken, so many of them since the beginning of the parcel.
    Upto(usize),
    /// The next one was not taken.
    Failed(usize, String),
    /// The endpoint wants nothing any more.
    Gone(usize),
    /// The next one cannot be told to anybody.
    Untold(usize, String),
}

impl Events {
    /// A page of what waits for an endpoint.
    pub(super) async fn send(&self, id: &WebhookId, errand: &Job) -> Result<Next, Failure> {
        let webhook = match self.ground.ops().webhook(id).get().await? {
            Some(webhook) if webhook.enabled => webhook,
            other => return self.clear(id, other.is_some()).await,
        };
        let Some(mut held) = self.turns.take(id) else { return Ok(Next::Done) };
        let Some(parcel) = self.parcels(id, 1).await?.into_iter().next() else {
            return Ok(if held.end() { Next::Done } else { again() });
        };
        if let Some((until, rest)) = Progress::of(&parcel).rest(self.ground.now()) {
            return Ok(self.wait(errand, &held, until, rest));
        }
        self.send_parcel(&webhook, &parcel, errand, &held).await
    }

    /// Sends a parcel, or some of it.
    async fn send_parcel(
        &self,
        webhook: &Webhook,
        parcel: &Job,
        errand: &Job,
        held: &Held,
    ) -> Result<Next, Failure> {
        let events: Vec<Happened> = match parcel.payload.to() {
            Ok(events) => events,
            Err(misfit) => return self.bury(&webhook.id, parcel, &misfit.to_string()).await,
        };
        let before = Progress::of(parcel);
        let claimed = Some(self.ground.now().plus_ms(CLAIM_MS));
        let claim = Progress { rests_until: claimed, ..before };
        let Some(parcel) = self.note(parcel, claim, parcel.attempts).await? else {
            return Ok(again());
        };
        match self.send_events(webhook, &events, before.sent).await? {
            Sent::Upto(sent) if sent >= events.len() => self.forget(&parcel).await?,
            Sent::Upto(sent) => {
                self.note(&parcel, Progress { sent, ..Progress::default() }, 0).await?;
            }
            Sent::Failed(sent, why) => {
                let since = before.failing_since.filter(|_| sent == before.sent);
                let failing_since = Some(since.unwrap_or_else(|| self.ground.now()));
                let failing = Progress { sent, failing_since, rests_until: None };
                let tries = if since.is_some() { parcel.attempts + 1 } else { 1 };
                return self.failed(webhook, &parcel, (failing, tries, why), errand, held).await;
            }
            Sent::Gone(sent) => {
                self.note(&parcel, Progress { sent, ..Progress::default() }, 0).await?;
                return self.give_up(webhook, "the endpoint said that it is gone").await;
            }
            Sent::Untold(sent, why) => {
                let stuck = Progress { sent, ..Progress::default() };
                return match self.note(&parcel, stuck, 0).await? {
                    Some(parcel) => self.bury(&webhook.id, &parcel, &why).await,
                    None => Ok(again()),
                };
            }
        }
        Ok(again())
    }

    /// Sends events, as many as fit into a page.
    async fn send_events(
        &self,
        webhook: &Webhook,
        events: &[Happened],
        before: usize,
    ) -> Result<Sent, Failure> {
        let mut sent = before;
        let begun = Instant::now();
        for event in events.iter().skip(before).take(PAGE_EVENTS_MAX) {
            if begun.elapsed() >= PAGE_LONGEST {
                break;
            }
            let message = match self.bodies.of(event).await {
                Ok(message) => message,
                Err(failure) if failure.remedy() == Remedy::None => {
                    return Ok(Sent::Untold(sent, failure.to_string()));
                }
                // What was sent is noted first: the next page meets the failure again.
                Err(_) if sent > before => break,
                Err(failure) => return Err(failure),
            };
            match self.deliver.deliver(webhook, &message).await {
                Ok(()) => sent += 1,
                Err(Undelivered::Gone) => return Ok(Sent::Gone(sent)),
                Err(Undelivered::Failed(why)) => return Ok(Sent::Failed(sent, why)),
            }
        }
        Ok(Sent::Upto(sent))
    }

    /// An endpoint has failed: it is tried again later, less and less often.
    async fn failed(
        &self,
        webhook: &Webhook,
        parcel: &Job,
        (failing, tries, why): (Progress, u64, String),
        errand: &Job,
        held: &Held,
    ) -> Result<Next, Failure> {
        tracing::warn!(webhook = %webhook.id, tries, why, "an endpoint takes no events");
        let now = self.ground.now();
        let for_a_day =
            failing.failing_since.is_some_and(|since| since.plus_ms(FAILING_MS_MAX) <= now);
        let wait_ms = wait_ms(tries);
        let until = now.plus_ms(wait_ms);
        let failing = Progress { rests_until: Some(until), ..failing };
        if self.note(parcel, failing, tries).await?.is_none() {
            return Ok(again());
        }
        if for_a_day && tries >= TRIES_MIN {
            return self.give_up(webhook, "the endpoint has failed for a day").await;
        }
        Ok(self.wait(errand, held, until, Duration::from_millis(wait_ms)))
    }

    /// Comes back later; one errand for all.
    fn wait(&self, errand: &Job, held: &Held, until: Time, rest: Duration) -> Next {
        if held.waits(&errand.id, self.ground.now(), until) {
            Next::Later(WAITS.to_owned(), rest)
        } else {
            Next::Done
        }
    }

    async fn give_up(&self, webhook: &Webhook, why: &str) -> Result<Next, Failure> {
        tracing::error!(webhook = %webhook.id, why, "an endpoint is given up");
        self.webhooks.give_up_as_read(webhook, why).await?;
        Ok(again())
    }
}

/// Looks again what waits.
fn again() -> Next {
    Next::Page(WAITS.to_owned())
}

/// How long to wait after so many failures.
fn wait_ms(tries: u64) -> u64 {
    let exponent = u32::try_from(tries.saturating_sub(1)).unwrap_or(u32::MAX);
    FIRST_WAIT_MS.saturating_mul(4u64.saturating_pow(exponent)).min(LONGEST_WAIT_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_an_hour() {
        let waits: Vec<u64> =
            [0, 1, 2, 3, 6, 7, 8, u64::MAX].map(|tries| wait_ms(tries) / 1000).into();
        assert_eq!(waits, [1, 1, 4, 16, 1_024, 3_600, 3_600, 3_600]);
    }
}
