//! One WebSocket from its opening to its end: a task that writes what waits, one that reads what is said,
//! and one for each subscription.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use async_graphql::Request;
use axum::extract::ws::{Message, WebSocket};
use futures::stream::SplitSink;
use futures::{SinkExt as _, StreamExt as _};
use parking_lot::Mutex;
use roundtable_domain::Code;
use roundtable_graphql::{Refused, is_unasked};
use roundtable_model::Secret;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::{Instant, timeout};

use super::protocol::{Closing, Said, ack, complete, error, next, ping, pong};
use crate::gate::Allows;
use crate::http::App;
use crate::http::asking::bearer;
use crate::identity::Known;

/// How long a farewell may take.
const FAREWELL: Duration = Duration::from_secs(1);
/// Names under which clients send a proof when they open a connection.
const PROOFS: [&str; 6] =
    ["authorization", "Authorization", "accessToken", "token", "apiKey", "x-api-key"];

/// Serves a client until it leaves or has to.
pub(super) async fn serve(app: &App, socket: WebSocket, address: Option<IpAddr>) {
    let settings = &app.process.settings.live;
    let (sink, mut said) = socket.split();
    let (out, waiting) = mpsc::channel(settings.buffer_max.max(1));
    let slow = Duration::from_secs(settings.slow_seconds.max(1));
    let mut writing = tokio::spawn(write(sink, waiting, slow));
    let mut session = Session::new(app, address, out.clone());
    let closing = session.listen(&mut said).await;
    session.subscriptions.abort_all();
    drop(session);
    if let Some(closing) = closing {
        let _ = timeout(FAREWELL, out.send(closing.frame())).await;
    }
    drop(out);
    match timeout(slow + FAREWELL, &mut writing).await {
        Ok(Ok(Written::Slow)) => app.meters.slow(),
        Ok(_) => {}
        // Whatever still waits for a client that does not read is given up.
        Err(_) => writing.abort(),
    }
}

/// How writing ended.
enum Written {
    Done,
    Slow,
}

/// Writes what waits, as long as the client takes it.
async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    mut waiting: mpsc::Receiver<Message>,
    slow: Duration,
) -> Written {
    while let Some(message) = waiting.recv().await {
        let last = matches!(message, Message::Close(_));
        match timeout(slow, sink.send(message)).await {
            Ok(Ok(())) if !last => {}
            Ok(_) => return Written::Done,
            Err(_) => {
                let _ = timeout(FAREWELL, sink.send(Closing::Slow.frame())).await;
                return Written::Slow;
            }
        }
    }
    Written::Done
}

/// The subscriptions under way, by what the client calls them.
type Names = Arc<Mutex<HashMap<String, AbortHandle>>>;

struct Session<'a> {
    app: &'a App,
    address: Option<IpAddr>,
    out: mpsc::Sender<Message>,
    known: Option<Known>,
    /// What was shown to be known, and is looked at again whenever something is asked.
    proof: Option<Secret>,
    subscriptions: JoinSet<()>,
    names: Names,
    heard: Instant,
}

impl<'a> Session<'a> {
    fn new(app: &'a App, address: Option<IpAddr>, out: mpsc::Sender<Message>) -> Self {
        let (subscriptions, names) = (JoinSet::new(), Names::default());
        let heard = Instant::now();
        Self { app, address, out, known: None, proof: None, subscriptions, names, heard }
    }

    /// Hears what the client says; why it has to go, if it has to.
    async fn listen(
        &mut self,
        said: &mut (impl futures::Stream<Item = Result<Message, axum::Error>> + Unpin),
    ) -> Option<Closing> {
        let settings = &self.app.process.settings.live;
        let every = Duration::from_secs(settings.keepalive_seconds.max(1));
        let opened = Instant::now();
        let init = opened + Duration::from_secs(settings.init_seconds.max(1));
        let mut quiet = tokio::time::interval_at(opened + every, every);
        let mut over: futures::future::BoxFuture<'_, ()> = Box::pin(std::future::pending());
        let out = self.out.clone();
        loop {
            let was_known = self.known.is_some();
            let message = tokio::select! {
                () = self.app.stopping.clone().wished() => return Some(Closing::Stopping),
                // The client has gone, or was too slow.
                () = out.closed() => return None,
                () = &mut over => return Some(Closing::Over),
                () = tokio::time::sleep_until(init), if !was_known => {
                    return Some(Closing::InitLate);
                }
                Some(ended) = self.subscriptions.join_next_with_id() => {
                    let id = ended.map_or_else(|broken| broken.id(), |(id, ())| id);
                    forget(&self.names, id);
                    continue;
                }
                _ = quiet.tick() => {
                    if self.heard.elapsed() > every * 3 {
                        return Some(Closing::Away);
                    }
                    self.say(ping()).await?;
                    continue;
                }
                message = said.next() => message,
            };
            self.heard = Instant::now();
            let text = match message {
                None | Some(Ok(Message::Close(_))) => return None,
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                Some(Ok(Message::Binary(_))) => return Some(Closing::Nonsense),
                Some(Err(_)) => return Some(Closing::TooLong),
            };
            let Ok(said) = serde_json::from_str::<Said>(text.as_str()) else {
                return Some(Closing::Nonsense);
            };
            if let Err(closing) = self.answer(said).await {
                return closing;
            }
            if let Some(known) = self.known.as_ref().filter(|_| !was_known) {
                let (app, known) = (self.app, known.clone());
                over = Box::pin(async move { app.until(&known).await });
            }
        }
    }

    /// Answers what was said. `Err(None)`: nobody is there to be told.
    async fn answer(&mut self, said: Said) -> Result<(), Option<Closing>> {
        let answer = match said {
            Said::Ping => pong(),
            Said::Pong => return Ok(()),
            Said::ConnectionInit { payload } => {
                if self.known.is_some() {
                    return Err(Some(Closing::InitTwice));
                }
                let proof = payload.as_ref().and_then(proof);
                let proof = proof.map(bearer).transpose().map_err(|_| Some(Closing::Over))?;
                self.proof = proof.map(Secret::new);
                self.known = Some(self.identify().await?);
                ack()
            }
            Said::Complete { id } => {
                if let Some(task) = self.names.lock().remove(&id) {
                    task.abort();
                }
                return Ok(());
            }
            Said::Subscribe { id, payload } => return self.subscribe(id, *payload).await,
        };
        self.say(answer).await.ok_or(None)
    }

    /// Whoever this is, at this moment: a key may have been revoked since, and a role taken away.
    async fn identify(&self) -> Result<Known, Option<Closing>> {
        let proof = self.proof.as_ref().map(Secret::expose);
        let known = self.app.process.identity.of(proof, self.address).await;
        known.map_err(|_| Some(Closing::Over))
    }

    async fn subscribe(&mut self, id: String, request: Request) -> Result<(), Option<Closing>> {
        if self.known.is_none() {
            return Err(Some(Closing::Unknown));
        }
        if self.names.lock().contains_key(&id) {
            return Err(Some(Closing::SameId));
        }
        let max = self.app.process.settings.live.subscriptions_max;
        let under_way = self.names.lock().len();
        if under_way >= max {
            let sentence = format!("at most {max} subscriptions for one connection");
            let answer = Refused::new(Code::TooComplex, sentence).into();
            return self.say(error(&id, &answer)).await.ok_or(None);
        }
        let known = self.identify().await?;
        let (app, out, names) = (self.app.clone(), self.out.clone(), Arc::clone(&self.names));
        let name = id.clone();
        // Held meanwhile: it may be over before its name is there.
        let mut under_way = self.names.lock();
        let task = self.subscriptions.spawn(async move {
            let last = tell(&app, request, &known, &id, &out).await;
            // Before the client hears that it is over: it may use the name again at once.
            forget(&names, tokio::task::id());
            if let Some(last) = last {
                let _ = out.send(last).await;
            }
        });
        under_way.insert(name, task);
        Ok(())
    }

    /// Puts a message where it waits to be written; `None` when nobody is there any more.
    async fn say(&self, message: Message) -> Option<()> {
        self.out.send(message).await.ok()
    }
}

/// Its name may be another's by now.
fn forget(names: &Names, ended: Id) {
    names.lock().retain(|_, task| task.id() != ended);
}

/// Tells of one subscription until there is nothing more; what is to be said last.
async fn tell(
    app: &App,
    request: Request,
    known: &Known,
    id: &str,
    out: &mpsc::Sender<Message>,
) -> Option<Message> {
    let mut stream = app.execution.stream(request, &known.client, Allows::Everything);
    while let Some(answer) = stream.next().await {
        if is_unasked(&answer) {
            return Some(error(id, &answer));
        }
        // Waits while much waits already: nothing is kept for whoever does not read.
        out.send(next(id, &answer)).await.ok()?;
    }
    Some(complete(id))
}

/// What a client shows when it opens a connection, under any of the names that are in use.
fn proof(payload: &serde_json::Value) -> Option<&str> {
    PROOFS.into_iter().find_map(|name| payload.get(name)?.as_str())
}
