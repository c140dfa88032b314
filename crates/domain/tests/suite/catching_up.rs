//! Reading the stream to its end, for all readers.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use roundtable_conformance::Reference;
use roundtable_domain::{Feeds, PageInput};
use roundtable_model::table::{
    Backend, BackendDecorator, ManualClock, Store, StreamPage, StreamRead, StreamStart,
    TableDefinition,
};
use roundtable_testkit::Town;

/// A store that notes the threads on which its stream is read.
#[derive(Debug)]
struct ObservedStream {
    inner: Reference,
    readers: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl BackendDecorator for ObservedStream {
    fn inner(&self) -> &dyn Backend {
        &self.inner
    }

    async fn stream_read(
        &self,
        table: &TableDefinition,
        read: StreamRead,
    ) -> roundtable_model::table::Result<StreamPage> {
        if let StreamStart::After(_) = read.start {
            let name = std::thread::current().name().unwrap_or_default().to_owned();
            self.readers.lock().unwrap().push(name);
        }
        self.inner.stream_read(table, read).await
    }
}

/// A thread of low priority may be without a processor for long. If it read the stream, all callers would
/// wait until it has one again.
#[test]
fn threads_of_low_priority_do_not_read_the_stream_for_others() {
    let runtime = |name: &str| {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(1).thread_name(name).enable_all().build().unwrap()
    };
    let (home, background) = (runtime("home"), runtime("background"));
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let readers = Arc::default();
    let inner = Reference::new(clock.clone());
    let backend = ObservedStream { inner, readers: Arc::clone(&readers) };
    let opened = home.spawn(async move {
        let town = Town::on(Store::new(backend), clock, Town::settings(), 0).await;
        town.add_user("ana", |_| {}).await;
        let bus = town.new_bus();
        let feeds = Feeds::new(town.context().clone(), &bus);
        bus.catch_up().await.unwrap();
        town.post("ana", "hello").await;
        (town, feeds)
    });
    let (town, feeds) = home.block_on(opened).unwrap();
    readers.lock().unwrap().clear();
    let ana = town.caller("ana");
    let reading = background.spawn(async move {
        let page = feeds.home(&ana, &PageInput::first()).await.unwrap();
        assert_eq!(page.into_items().len(), 1);
    });
    background.block_on(reading).unwrap();
    let readers = readers.lock().unwrap();
    assert!(!readers.is_empty() && readers.iter().all(|name| name == "home"), "{readers:?}");
}
