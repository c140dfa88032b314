//! Permits of one class of work, and the work that waits for them.

use std::collections::{HashMap, VecDeque};

use tokio::sync::oneshot;

use super::WorkPermit;
use crate::client_key::ClientKey;

/// Of this many permits, one goes to an anonymous client first, so that they are slow and not shut out.
const ANONYMOUS_SHARE: usize = 8;

/// Grants permits: to signed-in clients before anonymous ones, and among clients of a kind round-robin.
#[derive(Debug)]
pub(super) struct WorkQueue {
    free: usize,
    /// Permits that one client may have. The others are for everyone else.
    per_client_max: usize,
    running: HashMap<ClientKey, usize>,
    signed_in: ClientQueues,
    anonymous: ClientQueues,
    /// Permits granted to waiting work.
    granted: usize,
}

/// Work that waits for a permit.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) client: ClientKey,
    pub(super) permits: oneshot::Sender<WorkPermit>,
}

/// The waiting work of each client, and the order in which clients are served.
#[derive(Debug, Default)]
struct ClientQueues {
    order: VecDeque<ClientKey>,
    waiting: HashMap<ClientKey, VecDeque<oneshot::Sender<WorkPermit>>>,
}

impl WorkQueue {
    pub(super) fn new(permits: usize) -> Self {
        Self {
            free: permits,
            per_client_max: permits.div_ceil(2),
            running: HashMap::new(),
            signed_in: ClientQueues::default(),
            anonymous: ClientQueues::default(),
            granted: 0,
        }
    }

    /// Takes a permit if one is free for this client. Work that waits although a permit is free belongs
    /// to clients that have as many as they may.
    pub(super) fn try_start(&mut self, client: &ClientKey) -> bool {
        let may_start = self.free > 0 && self.may_run(client);
        if may_start {
            self.start(client);
        }
        may_start
    }

    pub(super) fn wait(&mut self, client: &ClientKey, permits: oneshot::Sender<WorkPermit>) {
        let queues = if client.is_signed_in() { &mut self.signed_in } else { &mut self.anonymous };
        queues.add(client, permits);
    }

    /// Returns the permit of a client, and the work to start next, which has taken a permit.
    pub(super) fn end(&mut self, client: &ClientKey) -> Option<Waiting> {
        self.free += 1;
        match self.running.get_mut(client) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(self.running.remove(client)),
        }
        let (running, max) = (&self.running, self.per_client_max);
        let may_run = |client: &ClientKey| running.get(client).is_none_or(|count| *count < max);
        let mut kinds = [&mut self.signed_in, &mut self.anonymous];
        if self.granted % ANONYMOUS_SHARE == ANONYMOUS_SHARE - 1 {
            kinds.reverse();
        }
        let next = kinds.into_iter().find_map(|queues| queues.next(may_run))?;
        self.granted = self.granted.wrapping_add(1);
        self.start(&next.client);
        Some(next)
    }

    fn may_run(&self, client: &ClientKey) -> bool {
        self.running.get(client).is_none_or(|count| *count < self.per_client_max)
    }

    fn start(&mut self, client: &ClientKey) {
        self.free -= 1;
        *self.running.entry(client.clone()).or_default() += 1;
    }

    #[cfg(test)]
    pub(super) const fn is_free(&self) -> bool {
        self.free > 0
    }
}

impl ClientQueues {
    fn add(&mut self, client: &ClientKey, permits: oneshot::Sender<WorkPermit>) {
        if !self.waiting.contains_key(client) {
            self.order.push_back(client.clone());
        }
        let waiting = self.waiting.entry(client.clone()).or_default();
        // Work that was given up while it waited.
        waiting.retain(|permits| !permits.is_closed());
        waiting.push_back(permits);
    }

    /// Removes the oldest work of the first client that may run, which is served last next time.
    fn next(&mut self, may_run: impl Fn(&ClientKey) -> bool) -> Option<Waiting> {
        let mut skipped = Vec::new();
        let mut found = None;
        while let Some(client) = self.order.pop_front() {
            if !may_run(&client) {
                skipped.push(client);
                continue;
            }
            let waiting = self.waiting.get_mut(&client);
            let permits = waiting.and_then(|waiting| {
                while let Some(permits) = waiting.pop_front() {
                    if !permits.is_closed() {
                        return Some((permits, waiting.is_empty()));
                    }
                }
                None
            });
            match permits {
                Some((permits, is_last)) => {
                    if is_last {
                        self.waiting.remove(&client);
                    } else {
                        self.order.push_back(client.clone());
                    }
                    found = Some(Waiting { client, permits });
                    break;
                }
                None => drop(self.waiting.remove(&client)),
            }
        }
        skipped.into_iter().rev().for_each(|client| self.order.push_front(client));
        found
    }
}
