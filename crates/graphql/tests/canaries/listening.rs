//! Everything that can be listened to, while everything that ever happened is told again.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures::stream::{SelectAll, select_all};
use futures::{Stream, StreamExt};
use roundtable_model::table::{Change, StreamRead, StreamStart};
use roundtable_testkit::Hidden;
use serde_json::Value;
use tokio::task::yield_now;

use crate::documents::Documents;
use crate::services::shown;
use crate::stage::Viewer;

/// Changes at a time: whoever listens to one thing has little room.
const AT_ONCE: usize = 32;

/// What is told by which of the documents.
type Ear = Pin<Box<dyn Stream<Item = (usize, Value)> + Send>>;

/// Whether anything can go on.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

async fn changes(hidden: &Hidden) -> Vec<Change> {
    let table = hidden.town.ground().core().table();
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

/// All that is told until nobody can go on before something else happens.
async fn heard(ears: &mut SelectAll<Ear>) -> Vec<(usize, Value)> {
    let (woken, mut heard) = (Arc::new(Woken::default()), Vec::new());
    let waker = Waker::from(Arc::clone(&woken));
    loop {
        woken.0.store(false, Ordering::SeqCst);
        let mut context = Context::from_waker(&waker);
        while let Poll::Ready(Some(told)) = ears.poll_next_unpin(&mut context) {
            heard.push(told);
        }
        // Nothing here waits for a clock or another thread: what can go on is woken by then.
        yield_now().await;
        if !woken.0.load(Ordering::SeqCst) {
            return heard;
        }
    }
}

impl Viewer<'_> {
    /// Listens to all there is; how often they were told something.
    pub(crate) async fn listen_to_all(&mut self, documents: &Documents) -> usize {
        let documents = &documents.subscriptions;
        let mut ears = select_all(documents.iter().enumerate().map(|(number, document)| {
            let stream = self.schema.execute_stream(self.request(document));
            Box::pin(stream.map(move |response| (number, shown(&response)))) as Ear
        }));
        let mut told = heard(&mut ears).await;
        for changes in changes(self.hidden).await.chunks(AT_ONCE) {
            self.services.live.apply(changes);
            self.services.notifications.apply(changes);
            told.extend(heard(&mut ears).await);
        }
        for (number, answer) in &told {
            let document = &documents[*number];
            assert_ne!(answer["errors"][0]["extensions"]["code"], "RATE_LIMITED", "{answer}");
            self.told.note(document.field, &document.text, answer);
        }
        told.len()
    }
}
