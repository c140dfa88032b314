//! A scheduler whose seed decides which of the ready tasks runs next.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures::future::LocalBoxFuture;
use futures::task::AtomicWaker;
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom as _;

/// Polls between two returns to the runtime, which moves timers.
const POLLS_MAX: usize = 64;

/// Tasks on one thread. Completes when all of them have.
pub(super) struct SeededTasks<'a> {
    tasks: Vec<SeededTask<'a>>,
    random: SmallRng,
    waker: Arc<AtomicWaker>,
}

struct SeededTask<'a> {
    future: LocalBoxFuture<'a, ()>,
    readiness: Arc<Readiness>,
}

#[derive(Debug)]
struct Readiness {
    is_ready: AtomicBool,
    waker: Arc<AtomicWaker>,
}

impl Wake for Readiness {
    fn wake(self: Arc<Self>) {
        self.is_ready.store(true, Ordering::SeqCst);
        self.waker.wake();
    }
}

impl<'a> SeededTasks<'a> {
    pub(super) fn new(random: SmallRng) -> Self {
        Self { tasks: Vec::new(), random, waker: Arc::default() }
    }

    pub(super) fn spawn(&mut self, task: impl Future<Output = ()> + 'a) {
        let readiness = Readiness { is_ready: true.into(), waker: Arc::clone(&self.waker) };
        let (future, readiness) = (Box::pin(task), Arc::new(readiness));
        self.tasks.push(SeededTask { future, readiness });
    }
}

impl Future for SeededTasks<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Self { tasks, random, waker } = &mut *self;
        waker.register(context.waker());
        for _ in 0..POLLS_MAX {
            if tasks.is_empty() {
                return Poll::Ready(());
            }
            let is_ready = |number: &usize| {
                let task = tasks.get(*number);
                task.is_some_and(|task| task.readiness.is_ready.load(Ordering::SeqCst))
            };
            let ready: Vec<usize> = (0..tasks.len()).filter(is_ready).collect();
            let Some(number) = ready.choose(random).copied() else { return Poll::Pending };
            let Some(task) = tasks.get_mut(number) else { return Poll::Pending };
            task.readiness.is_ready.store(false, Ordering::SeqCst);
            let own = Waker::from(Arc::clone(&task.readiness));
            if task.future.as_mut().poll(&mut Context::from_waker(&own)).is_ready() {
                drop(tasks.swap_remove(number));
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
