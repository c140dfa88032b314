//! One WebSocket connection: a task that writes queued messages, one that reads the client's, and one
//! per subscription.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use futures::future::BoxFuture;
use futures::stream::SplitSink;
use futures::{SinkExt as _, StreamExt as _};
use parking_lot::Mutex;
use roundtable_domain::Code;
use roundtable_graphql::{Answer, Request};
use roundtable_interface::ApiError;
use roundtable_model::Secret;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::{Instant, timeout};
use tracing::Instrument as _;

use super::protocol::{ClientMessage, CloseReason, ack, complete, error, next, ping, pong};
use crate::answer_budget::{AnswerReservation, ReservedAnswer};
use crate::authentication::ClientIdentity;
use crate::http::AppState;
use crate::http::client_json::{self, JsonError};
use crate::http::credentials::{CredentialEnd, bearer};
use crate::http::live_connection::LiveConnection;
use crate::request_policy::AllowedOperations;

/// Time to send the close frame.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// A subscription that has ended leaves a task until its last message is queued. A client that does not
/// read these messages would leave a task with each of its own, so at this many per permitted
/// subscription, no more of them are read.
const TASKS_PER_SUBSCRIPTION: usize = 2;
/// Keys of the init payload under which clients send their credential.
const CREDENTIAL_KEYS: [&str; 6] =
    ["authorization", "Authorization", "accessToken", "token", "apiKey", "x-api-key"];

/// Serves a client until it disconnects or is disconnected.
pub(super) async fn serve(
    app: &AppState,
    socket: WebSocket,
    address: Option<IpAddr>,
    live: &LiveConnection,
) {
    let settings = &app.process.settings.live;
    let (sink, mut messages) = socket.split();
    let (out, queue) = mpsc::channel(settings.buffer_max.max(1));
    let limit = Duration::from_secs(settings.slow_seconds.max(1));
    let mut writer = tokio::spawn(write(sink, queue, limit));
    let mut session = WebSocketSession::new(app, address, live, out.clone());
    let reason = session.read_messages(&mut messages).await;
    session.subscriptions.abort_all();
    drop(session);
    let mut closing_limit = limit + CLOSE_TIMEOUT;
    if let Some(reason) = reason {
        if reason == CloseReason::Displaced {
            app.metrics.record_displaced_live_connection();
            // The connection that has got the place is open already.
            closing_limit = CLOSE_TIMEOUT;
        }
        let _ = timeout(CLOSE_TIMEOUT, out.send(reason.frame().into())).await;
    }
    drop(out);
    match timeout(closing_limit, &mut writer).await {
        Ok(Ok(WriterExit::TooSlow)) => app.metrics.record_slow_client(),
        Ok(_) => {}
        // Messages queued for a client that does not read are dropped.
        Err(_) => writer.abort(),
    }
}

/// A message for the client, and the bytes reserved for the answer in it.
struct QueuedMessage {
    message: Message,
    reservation: Option<AnswerReservation>,
}

impl From<Message> for QueuedMessage {
    fn from(message: Message) -> Self {
        Self { message, reservation: None }
    }
}

enum WriterExit {
    Finished,
    TooSlow,
}

/// Writes queued messages as long as the client reads them.
async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    mut queue: mpsc::Receiver<QueuedMessage>,
    limit: Duration,
) -> WriterExit {
    // An answer's bytes stay reserved until it is written.
    while let Some(QueuedMessage { message, reservation: _reserved }) = queue.recv().await {
        let is_last = matches!(message, Message::Close(_));
        match timeout(limit, sink.send(message)).await {
            Ok(Ok(())) if !is_last => {}
            Ok(_) => return WriterExit::Finished,
            Err(_) => {
                let _ = timeout(CLOSE_TIMEOUT, sink.send(CloseReason::TooSlow.frame())).await;
                return WriterExit::TooSlow;
            }
        }
    }
    WriterExit::Finished
}

/// Running subscriptions by the client's ids.
type SubscriptionTasks = Arc<Mutex<HashMap<String, AbortHandle>>>;

struct WebSocketSession<'a> {
    app: &'a AppState,
    address: Option<IpAddr>,
    live: &'a LiveConnection,
    out: mpsc::Sender<QueuedMessage>,
    identity: Option<ClientIdentity>,
    /// Checked again with every operation.
    credential: Option<Secret>,
    subscriptions: JoinSet<()>,
    tasks: SubscriptionTasks,
    last_message: Instant,
    /// The time at which the last operation ended, or the connection was opened.
    last_operation: Instant,
}

impl<'a> WebSocketSession<'a> {
    fn new(
        app: &'a AppState,
        address: Option<IpAddr>,
        live: &'a LiveConnection,
        out: mpsc::Sender<QueuedMessage>,
    ) -> Self {
        let (subscriptions, tasks) = (JoinSet::new(), SubscriptionTasks::default());
        let now = Instant::now();
        Self {
            app,
            address,
            live,
            out,
            identity: None,
            credential: None,
            subscriptions,
            tasks,
            last_message: now,
            last_operation: now,
        }
    }

    /// Reads messages; returns why to close the connection, or `None` if it is gone.
    async fn read_messages(
        &mut self,
        messages: &mut (impl futures::Stream<Item = Result<Message, axum::Error>> + Unpin),
    ) -> Option<CloseReason> {
        let settings = &self.app.process.settings.live;
        let interval = Duration::from_secs(settings.keepalive_seconds.max(1));
        let opened = Instant::now();
        let init = opened + Duration::from_secs(settings.init_seconds.max(1));
        let mut keepalive = tokio::time::interval_at(opened + interval, interval);
        let mut credential_end: BoxFuture<'_, CredentialEnd> = Box::pin(std::future::pending());
        let idle = Duration::from_secs(settings.idle_seconds.max(1));
        let (out, live) = (self.out.clone(), self.live);
        let displaced = live.displaced();
        tokio::pin!(displaced);
        let tasks_max = settings.subscriptions_max.max(1).saturating_mul(TASKS_PER_SUBSCRIPTION);
        loop {
            let was_identified = self.identity.is_some();
            let message = tokio::select! {
                () = self.app.shutdown.clone().triggered() => return Some(CloseReason::ShuttingDown),
                // The client disconnected, or was too slow.
                () = out.closed() => return None,
                () = &mut displaced => return Some(CloseReason::Displaced),
                end = &mut credential_end => return Some(end.into()),
                () = tokio::time::sleep_until(init), if !was_identified => {
                    return Some(CloseReason::InitTimeout);
                }
                () = tokio::time::sleep_until(self.last_operation + idle),
                    if was_identified && self.subscriptions.is_empty() =>
                {
                    return Some(CloseReason::Idle);
                }
                Some(ended) = self.subscriptions.join_next_with_id() => {
                    let id = ended.map_or_else(|error| error.id(), |(id, ())| id);
                    remove_task(&self.tasks, id);
                    self.last_operation = Instant::now();
                    continue;
                }
                _ = keepalive.tick() => {
                    if self.last_message.elapsed() > interval * 3 {
                        return Some(CloseReason::Unresponsive);
                    }
                    self.queue(ping()).await?;
                    continue;
                }
                message = messages.next(), if self.subscriptions.len() < tasks_max => message,
            };
            self.last_message = Instant::now();
            live.finish_message();
            let text = match message {
                None | Some(Ok(Message::Close(_))) => return None,
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                Some(Ok(Message::Binary(_))) => return Some(CloseReason::InvalidMessage),
                Some(Err(_)) => return Some(CloseReason::MessageTooLong),
            };
            let handled = match parse_message(&text) {
                Ok(message) => self.handle(message).await,
                Err(reason) => Err(Some(reason)),
            };
            if let Err(reason) = handled {
                return reason;
            }
            if let Some(identity) = self.identity.as_ref().filter(|_| !was_identified) {
                let (app, identity) = (self.app, identity.clone());
                credential_end = Box::pin(async move { app.credential_end(&identity).await });
            }
        }
    }

    /// Handles a message. `Err(None)` means that the connection is gone.
    async fn handle(&mut self, message: ClientMessage) -> Result<(), Option<CloseReason>> {
        let reply = match message {
            ClientMessage::Ping => pong(),
            ClientMessage::Pong => return Ok(()),
            ClientMessage::ConnectionInit { payload } => {
                if self.identity.is_some() {
                    return Err(Some(CloseReason::InitRepeated));
                }
                let credential = payload.as_ref().and_then(find_credential);
                let credential = credential
                    .map(bearer)
                    .transpose()
                    .map_err(|_| Some(CloseReason::CredentialExpired))?;
                self.credential = credential.map(Secret::new);
                let identity = self.authenticate().await?;
                let kept = self.live.sign_in(&identity.client);
                kept.map_err(|_| Some(CloseReason::TooManyConnections))?;
                self.identity = Some(identity);
                ack()
            }
            ClientMessage::Complete { id } => {
                if let Some(task) = self.tasks.lock().remove(&id) {
                    task.abort();
                }
                return Ok(());
            }
            ClientMessage::Subscribe { id, payload } => return self.subscribe(id, *payload).await,
        };
        self.queue(reply).await.ok_or(None)
    }

    /// Authenticates again: a key may have been revoked since, or a role withdrawn.
    async fn authenticate(&self) -> Result<ClientIdentity, Option<CloseReason>> {
        let credential = self.credential.as_ref().map(Secret::expose);
        let identity = self.app.process.authenticator.authenticate(credential, self.address).await;
        identity.map_err(|error| match error.code() {
            Code::Unauthenticated => Some(CloseReason::CredentialExpired),
            _ => Some(CloseReason::CredentialUnchecked),
        })
    }

    async fn subscribe(&mut self, id: String, request: Request) -> Result<(), Option<CloseReason>> {
        if self.identity.is_none() {
            return Err(Some(CloseReason::NotInitialised));
        }
        if self.tasks.lock().contains_key(&id) {
            return Err(Some(CloseReason::DuplicateId));
        }
        let max = self.app.process.settings.live.subscriptions_max;
        let running = self.tasks.lock().len();
        if running >= max {
            let message = format!("a connection has at most {max} subscriptions; end one first");
            let refused = Answer::refused(&ApiError::new(Code::TooComplex, message).into());
            return self.queue(error(&id, &refused)).await.ok_or(None);
        }
        let identity = self.authenticate().await?;
        let (app, out, tasks) = (self.app.clone(), self.out.clone(), Arc::clone(&self.tasks));
        let (name, work) = (id.clone(), self.live.work());
        // Held while spawning: the task may end before its id is inserted.
        let mut running = self.tasks.lock();
        let run = async move {
            let _work = work;
            let last = send_events(&app, request, &identity, &id, &out).await;
            // Before the client learns of the end: it may reuse the id at once.
            remove_task(&tasks, tokio::task::id());
            if let Some(last) = last {
                let _ = out.send(last.into()).await;
            }
        };
        let task = self.subscriptions.spawn(run.in_current_span());
        running.insert(name, task);
        Ok(())
    }

    /// Queues a message; `None` when the connection is gone.
    async fn queue(&self, message: Message) -> Option<()> {
        self.out.send(message.into()).await.ok()
    }
}

/// Removes by task, because the id may belong to a newer subscription.
fn remove_task(tasks: &SubscriptionTasks, ended: Id) {
    tasks.lock().retain(|_, task| task.id() != ended);
}

/// Sends the events of one subscription; returns its last message.
async fn send_events(
    app: &AppState,
    request: Request,
    identity: &ClientIdentity,
    id: &str,
    out: &mpsc::Sender<QueuedMessage>,
) -> Option<Message> {
    let mut stream = app.executor.execute_stream(request, &identity.client, AllowedOperations::All);
    while let Some(ReservedAnswer { answer, reservation }) = stream.next().await {
        if answer.is_refused() {
            return Some(error(id, &answer));
        }
        let message = next(id, &answer);
        drop(answer);
        // Waits while the queue is full: nothing is buffered for a client that does not read.
        out.send(QueuedMessage { message, reservation }).await.ok()?;
    }
    Some(complete(id))
}

fn parse_message(text: &str) -> Result<ClientMessage, CloseReason> {
    client_json::parse_checked(text.as_bytes()).map_err(|error| match error {
        JsonError::Invalid => CloseReason::InvalidMessage,
        JsonError::TooManyValues(_) => CloseReason::MessageTooComplex,
    })
}

fn find_credential(payload: &serde_json::Value) -> Option<&str> {
    CREDENTIAL_KEYS.into_iter().find_map(|name| payload.get(name)?.as_str())
}
