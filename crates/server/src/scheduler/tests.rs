use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt as _;
use roundtable_domain::Caller;
use roundtable_graphql::{QueryLimits, Schema};

use super::*;
use crate::client_key::ClientNetwork;

fn scheduler(interactive: usize) -> Scheduler {
    Scheduler::with_permits(interactive, 1, 1, Arc::new(ServerMetrics::new())).unwrap()
}

fn account(name: &str) -> ClientKey {
    ClientKey::Account(name.parse().unwrap())
}

fn stranger(last: u8) -> ClientKey {
    ClientKey::Network(ClientNetwork::of(Some(IpAddr::from([192, 0, 2, last]))))
}

/// Starts waiting work of each client in this order, ends `first`, and returns the order in which they
/// get their permits.
async fn order_of_permits(
    scheduler: &Scheduler,
    first: WorkPermit,
    clients: &[ClientKey],
) -> Vec<ClientKey> {
    let order = Arc::new(Mutex::new(Vec::new()));
    let waiting = clients.iter().map(|client| {
        let order = Arc::clone(&order);
        async move {
            let permit = scheduler.acquire(WorkClass::Interactive, client).await;
            order.lock().push(client.clone());
            drop(permit);
        }
    });
    let end_first = async { drop(first) };
    // All futures are polled once, in this order, before the permit is returned.
    futures::join!(futures::future::join_all(waiting), end_first);
    Arc::into_inner(order).unwrap().into_inner()
}

/// Each list is a read of its own, even if it shows one field.
#[test]
fn many_short_lists_are_background_work() {
    let schema = Schema::new(QueryLimits::default(), true).unwrap();
    let caller = Some(Caller::user("ana".parse().unwrap()));
    let ana = ClientInfo { caller, ..ClientInfo::default() };
    let class = |posts: usize| {
        let lists = "comments(first: 1) { items { id } } likes(first: 1) { items { createdAt } }";
        let document = format!("{{ listGlobalFeed(first: {posts}) {{ items {{ {lists} }} }} }}");
        let prepared = schema.prepare(document.as_str().into()).unwrap();
        assert!(prepared.cost().fields <= CHEAP_FIELDS_MAX);
        WorkClass::of(&ana, &prepared)
    };
    assert_eq!(class(50), WorkClass::Interactive);
    assert_eq!(class(100), WorkClass::Background);
}

#[tokio::test]
async fn clients_are_served_round_robin_and_signed_in_ones_come_first() {
    let scheduler = scheduler(1);
    let first = scheduler.acquire(WorkClass::Interactive, &account("first")).await;
    let (ana, bo, one, two) = (account("ana"), account("bo"), stranger(1), stranger(2));
    let clients = [&one, &one, &two, &ana, &ana, &ana, &bo].map(Clone::clone);
    let order = order_of_permits(&scheduler, first, &clients).await;
    assert_eq!(order, [&ana, &bo, &ana, &ana, &one, &two, &one].map(Clone::clone));
}

#[tokio::test]
async fn one_client_cannot_take_all_permits() {
    let scheduler = scheduler(4);
    let class = WorkClass::Interactive;
    let (ana, bo) = (account("ana"), account("bo"));
    let held = [scheduler.acquire(class, &ana).await, scheduler.acquire(class, &ana).await];
    let mut third = std::pin::pin!(scheduler.acquire(class, &ana));
    assert!(third.as_mut().now_or_never().is_none());
    assert!(scheduler.acquire(class, &bo).now_or_never().is_some());
    drop(held);
    assert!(third.now_or_never().is_some());
}

#[tokio::test(start_paused = true)]
async fn work_that_waits_too_long_is_refused_and_its_permit_goes_to_others() {
    let scheduler = scheduler(1);
    let class = WorkClass::Interactive;
    let held = scheduler.acquire_all(class).await;
    let started = tokio::time::Instant::now();
    let refused = scheduler.run(class, &account("ana"), async { 7 }).await;
    assert_eq!((refused, started.elapsed()), (Err(Overloaded), WAIT_MAX));
    // The work of a client that is gone does not take the permit with it.
    let bo = account("bo");
    let mut gone = Box::pin(scheduler.acquire(class, &bo));
    assert!(gone.as_mut().now_or_never().is_none());
    drop(held);
    drop(gone);
    assert_eq!(scheduler.run(class, &account("cleo"), async { 7 }).await, Ok(7));
}

/// Tells when the work that owns it has ended.
struct Ended(Arc<AtomicBool>, Option<oneshot::Sender<()>>);
impl Drop for Ended {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
        drop(self.1.take());
    }
}

#[tokio::test]
async fn background_work_runs_on_other_threads_and_ends_with_its_caller() {
    let scheduler = scheduler(1);
    let (class, client) = (WorkClass::Background, stranger(1));
    let name = || std::thread::current().name().map(String::from);
    let there = scheduler.run(class, &client, async move { name() }).await.unwrap();
    assert_eq!(there.as_deref(), Some("background"));

    let (is_over, (tell, told)) = (Arc::new(AtomicBool::new(false)), oneshot::channel());
    let ended = Ended(Arc::clone(&is_over), Some(tell));
    let endless = async move {
        let _ended = ended;
        std::future::pending::<()>().await;
    };
    let mut endless = Box::pin(scheduler.run(class, &client, endless));
    assert!(endless.as_mut().now_or_never().is_none());
    drop(endless);
    told.await.unwrap_err();
    assert!(is_over.load(Ordering::SeqCst));
    assert_eq!(scheduler.run(class, &client, async { 7 }).await, Ok(7), "its permit is free");
}

#[tokio::test]
async fn a_panic_in_background_work_reaches_its_caller() {
    let scheduler = scheduler(1);
    let work = async { panic!("as planned") };
    let client = stranger(1);
    let done = scheduler.run::<()>(WorkClass::Background, &client, work);
    let panic = std::panic::AssertUnwindSafe(done).catch_unwind().await.unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"as planned"));
    let next = scheduler.run(WorkClass::Background, &client, async { 7 }).await;
    assert_eq!(next, Ok(7));
}
