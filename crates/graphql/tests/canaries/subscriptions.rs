//! All subscriptions of a viewer while all changes are replayed.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures::stream::{SelectAll, select_all};
use futures::{Stream, StreamExt};
use roundtable_model::table::{Change, StreamRead, StreamStart};
use roundtable_testkit::SecretTown;
use serde_json::Value;
use tokio::task::yield_now;

use crate::documents::Documents;
use crate::services::to_json;
use crate::viewer::Viewer;

/// Fewer than the buffer of one subscription.
const CHANGES_PER_STEP: usize = 32;

/// Responses, each with the index of its document.
type EventStream = Pin<Box<dyn Stream<Item = (usize, Value)> + Send>>;

/// Set when a task can continue.
#[derive(Default)]
struct WakeFlag(AtomicBool);

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

async fn changes(hidden: &SecretTown) -> Vec<Change> {
    let table = hidden.town.context().core().table();
    let shard = table.stream_shards().await.unwrap().remove(0).id;
    let (mut all, mut start) = (Vec::new(), StreamStart::Oldest);
    loop {
        let page = table.stream_read(StreamRead::new(&shard, start)).await.unwrap();
        if page.changes.is_empty() {
            return all;
        }
        all.extend(page.changes);
        start = StreamStart::After(page.next.unwrap());
    }
}

/// Returns all events until no stream can continue without further changes.
async fn drain(streams: &mut SelectAll<EventStream>) -> Vec<(usize, Value)> {
    let (flag, mut events) = (Arc::new(WakeFlag::default()), Vec::new());
    let waker = Waker::from(Arc::clone(&flag));
    loop {
        flag.0.store(false, Ordering::SeqCst);
        let mut context = Context::from_waker(&waker);
        while let Poll::Ready(Some(event)) = streams.poll_next_unpin(&mut context) {
            events.push(event);
        }
        // Nothing here waits for a timer or another thread, so a task that can continue has woken by then.
        yield_now().await;
        if !flag.0.load(Ordering::SeqCst) {
            return events;
        }
    }
}

impl Viewer<'_> {
    /// Executes all subscriptions and returns the number of events.
    pub(crate) async fn subscribe_to_all(&mut self, documents: &Documents) -> usize {
        // A bus of their own: replayed changes must not take the cache of feeds back in time.
        self.services.bus = self.hidden.town.new_bus();
        let documents = &documents.subscriptions;
        let mut streams = select_all(documents.iter().enumerate().map(|(number, document)| {
            let prepared = self.schema.prepare(document.text.as_str().into()).unwrap();
            let stream = self.schema.execute_stream(prepared, Arc::new(self.context()));
            Box::pin(stream.map(move |response| (number, to_json(&response)))) as EventStream
        }));
        let mut events = drain(&mut streams).await;
        for changes in changes(self.hidden).await.chunks(CHANGES_PER_STEP) {
            self.services.bus.apply(changes);
            events.extend(drain(&mut streams).await);
        }
        for (number, response) in &events {
            let document = &documents[*number];
            assert_ne!(response["errors"][0]["extensions"]["code"], "RATE_LIMITED", "{response}");
            self.observed.note(document.field, &document.text, response);
        }
        events.len()
    }
}
