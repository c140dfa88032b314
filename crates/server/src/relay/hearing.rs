//! Hearing the workers, and knowing whether these are all of them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::header::AUTHORIZATION;
use hyper::{Request, Response, Uri};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::{PATH, WORKER, line};
use crate::configuration::Misconfigured;
use crate::outgoing::{self, Client};
use crate::sharing::Census;
use crate::stopping::Stopping;
use crate::tap::Taps;
use crate::tokens::Tokens;

/// Before the next try to connect.
const PAUSE: Duration = Duration::from_secs(1);
/// Between two looks for workers that nobody has told of.
const LOOK: Duration = Duration::from_secs(5);
/// A worker that says nothing for so long is not there.
const SILENCE: Duration = Duration::from_secs(15);
/// Bytes of one line: a batch of changes, both images of each.
const LINE_BYTES_MAX: usize = 256 << 20;

/// Hears what the workers tell.
#[derive(Debug)]
pub(crate) struct Hearing {
    workers: Vec<Uri>,
    client: Client<Empty<Bytes>>,
    tokens: Arc<Tokens>,
    taps: Taps,
    census: Census,
    /// Whether this process is a worker itself.
    works: bool,
    state: Mutex<State>,
    /// Somebody is heard, or no longer.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The names of those that are heard.
    heard: HashMap<Uri, String>,
    everything: bool,
    /// Whether somebody is heard again since everybody was last compared.
    has_joined: bool,
    /// Those at work that nobody has told of, as they were last complained about.
    unknown: Vec<String>,
}

impl Hearing {
    /// Of these workers; `works` where this process is one, too.
    pub(crate) fn of(
        workers: &[String],
        works: bool,
        tokens: Arc<Tokens>,
        taps: Taps,
        census: Census,
    ) -> Result<Self, Misconfigured> {
        let key = "live.workers";
        let client = outgoing::client(workers.iter().map(String::as_str))
            .map_err(|why| Misconfigured::together(key, why))?;
        let uri = |worker: &String| {
            let wrong =
                || Misconfigured::together(key, format!("{worker:?} is no address of a worker"));
            let at = format!("{}{PATH}", worker.trim_end_matches('/'));
            let uri: Uri = at.parse().map_err(|_| wrong())?;
            if uri.scheme().is_some() && uri.authority().is_some() { Ok(uri) } else { Err(wrong()) }
        };
        let mut workers: Vec<Uri> = workers.iter().map(uri).collect::<Result<_, _>>()?;
        workers.sort_by_key(ToString::to_string);
        workers.dedup();
        let (state, changed) = (Mutex::default(), Notify::new());
        Ok(Self { workers, client, tokens, taps, census, works, state, changed })
    }

    /// Whether everything is heard that happens.
    pub(crate) fn is_complete(&self) -> bool {
        self.state.lock().everything
    }

    /// Hears all of them, until it is told to stop.
    pub(crate) async fn run(&self, stopping: &Stopping) {
        self.taps.hears(false);
        let all = futures::future::join_all(self.workers.iter().map(|worker| self.follow(worker)));
        stopping.unless(futures::future::join(all, self.look())).await;
    }

    /// Looks again and again whether everybody is heard who is at work.
    async fn look(&self) {
        loop {
            match self.census.workers().await {
                Ok(at_work) => self.compare(&at_work),
                // Whoever cannot reach the table hears of nothing new from it, either.
                Err(error) => tracing::warn!(%error, "cannot see who is at work"),
            }
            let _ = timeout(LOOK, self.changed.notified()).await;
        }
    }

    /// Compares those at work with those that are heard.
    fn compare(&self, at_work: &[String]) {
        let mut state = self.state.lock();
        let is_heard = |name: &&String| {
            self.works && ***name == *self.census.me || state.heard.values().any(|it| it == *name)
        };
        let unheard: Vec<String> = at_work.iter().filter(|it| !is_heard(it)).cloned().collect();
        let everything = unheard.is_empty() && state.heard.len() == self.workers.len();
        // As long as one of those that are known is away, it may be any of these.
        let is_strange = state.heard.len() == self.workers.len() && !unheard.is_empty();
        if is_strange && state.unknown != unheard {
            tracing::error!(
                workers = ?unheard,
                "live.workers: others work on the same tables and are not listed, or have just \
                 stopped; until all are heard, feeds are read from the table and listeners hear less"
            );
        }
        state.unknown = if is_strange { unheard } else { Vec::new() };
        // Whoever has come to listen since one fell silent has missed what that one told others.
        if std::mem::take(&mut state.has_joined) || state.everything != everything {
            self.set(&mut state, everything);
        }
    }

    fn set(&self, state: &mut State, everything: bool) {
        state.everything = everything;
        self.taps.hears(everything);
        tracing::info!(everything, "hearing of changes");
    }

    /// One is heard.
    fn join(&self, worker: &Uri, name: String) {
        let mut state = self.state.lock();
        state.heard.insert(worker.clone(), name);
        state.has_joined = true;
        self.changed.notify_one();
    }

    /// One is not heard any more; whether it was.
    fn lose(&self, worker: &Uri) -> bool {
        let mut state = self.state.lock();
        let was_heard = state.heard.remove(worker).is_some();
        if was_heard {
            self.set(&mut state, false);
        }
        was_heard
    }

    async fn follow(&self, worker: &Uri) {
        let mut complaint = Complaint::default();
        loop {
            let why = self.hear(worker).await.unwrap_or_else(|why| why);
            if complaint.is_new(self.lose(worker), &why) {
                tracing::warn!(worker = %worker, why, "a worker is not heard; trying on");
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Hears one until it ends; why it did.
    async fn hear(&self, worker: &Uri) -> Result<String, String> {
        let token = self.tokens.internal().ok_or("no token could be signed")?;
        let request = Request::get(worker).header(AUTHORIZATION, format!("Bearer {token}"));
        let request = request.body(Empty::new()).map_err(|error| error.to_string())?;
        let answer = timeout(SILENCE, self.client.request(request)).await;
        let answer = answer.map_err(|_| "no answer")?.map_err(|error| error.to_string())?;
        if !answer.status().is_success() {
            return Err(format!("it answered {}", answer.status()));
        }
        let name = answer.headers().get(WORKER).and_then(|name| name.to_str().ok());
        let name = name.ok_or("it does not say what it is called")?.to_owned();
        let is_me = name == *self.census.me;
        tracing::info!(worker = %worker, name, "a worker is heard");
        self.join(worker, name);
        if is_me {
            // What this process reads itself it hears without a detour.
            drop(answer);
            return std::future::pending().await;
        }
        self.listen(answer).await
    }

    async fn listen(&self, answer: Response<Incoming>) -> Result<String, String> {
        let (mut body, mut rest) = (answer.into_body(), BytesMut::new());
        loop {
            let part = timeout(SILENCE, body.frame()).await;
            let Some(part) = part.map_err(|_| "it fell silent")? else {
                return Ok(String::from("it hung up"));
            };
            let part = part.map_err(|error| error.to_string())?;
            // What was there before has no end of a line in it.
            let mut from = rest.len();
            rest.extend_from_slice(part.data_ref().map_or(&[], |data| data));
            while let Some(end) = rest.iter().skip(from).position(|byte| *byte == b'\n') {
                let line = rest.split_to(from + end + 1);
                self.taps.hear(&line::read(&line).ok_or("it cannot be understood")?);
                from = 0;
            }
            if rest.len() > LINE_BYTES_MAX {
                return Err(String::from("it cannot be understood"));
            }
        }
    }
}

/// Why a worker is not heard, as it was last said: a worker that is away for long is tried often.
#[derive(Debug, Default)]
struct Complaint(Option<String>);

impl Complaint {
    /// Whether this has to be said.
    fn is_new(&mut self, was_heard: bool, why: &str) -> bool {
        let is_new = was_heard || self.0.as_deref() != Some(why);
        self.0 = Some(why.to_owned());
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_stays_away_is_complained_about_once() {
        let mut complaint = Complaint::default();
        let said = [
            (false, "refused"),
            (false, "refused"),
            (false, "no answer"),
            (false, "no answer"),
            (true, "no answer"),
            (false, "no answer"),
        ]
        .map(|(was_heard, why)| complaint.is_new(was_heard, why));
        assert_eq!(said, [true, false, true, false, true, false]);
    }
}
