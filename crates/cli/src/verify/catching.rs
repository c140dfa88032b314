//! Letting the processors catch up before a look: what they have not dealt with is not derived yet.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use roundtable_domain::{Chance, Ground, Parts, Settings};
use roundtable_model::Ids;
use roundtable_streams::{Setup, Snapshot};
use roundtable_table::{Clock, Store, SystemClock};
use roundtable_verify::Progress;
use tokio::time::timeout;

use crate::failure::Failure;
use crate::progress::Shown;

/// Between two looks at how far they have come.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Looks without anything done in between, before it is given up: a store that takes no writes would
/// keep them waiting for ever.
const IDLE_LOOKS_MAX: u32 = 60;
/// Nobody else reads the stream of a quiet store: there are no waits to tell apart.
const SEED: [u8; 32] = [0; 32];

/// What the processors stand on. The tables are there.
pub(super) async fn ground(store: Store, settings: Settings) -> Result<Ground, Failure> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let parts = Parts {
        store,
        ids: Ids::from_os(Arc::clone(&clock)).map_err(Failure::Start)?,
        chance: Chance::from_os().map_err(Failure::Start)?,
        clock,
        settings,
        // No requests are made.
        fingerprint_key: [0; 32],
    };
    Ok(Ground::open(parts).await?)
}

/// Lets every processor read the stream to its end, and does the work that is due; how many changes
/// were applied.
pub(super) async fn catch_up(ground: Ground, progress: Arc<Shown>) -> Result<u64, String> {
    let runner = Setup::everything(&ground, SEED).build();
    let mut drained = pin!(runner.drain());
    let mut patience = Patience::default();
    loop {
        if let Ok(done) = timeout(LOOK_EVERY, drained.as_mut()).await {
            return done.map(|()| applied(&runner.figures())).map_err(|why| why.to_string());
        }
        let now = runner.figures();
        progress.advance(applied(&now) - applied(&patience.last));
        if patience.is_over(now) {
            let seconds = LOOK_EVERY.as_secs() * u64::from(IDLE_LOOKS_MAX);
            return Err(format!("nothing could be done for {seconds} seconds"));
        }
    }
}

fn applied(figures: &Snapshot) -> u64 {
    figures.lanes.iter().map(|lane| lane.processed).sum()
}

/// Notices when nothing is done any more; to try the same again is nothing.
#[derive(Debug, Default)]
struct Patience {
    last: Snapshot,
    idle_looks: u32,
}

impl Patience {
    fn is_over(&mut self, now: Snapshot) -> bool {
        let lanes = |figures: &Snapshot| -> Vec<_> {
            let lanes = figures.lanes.iter();
            lanes.map(|lane| (lane.sequence.clone(), lane.processed, lane.parked)).collect()
        };
        let queues = |figures: &Snapshot| -> Vec<_> {
            let queues = figures.queues.iter();
            queues.map(|queue| (queue.pages, queue.finished, queue.parked)).collect()
        };
        let same = lanes(&now) == lanes(&self.last) && queues(&now) == queues(&self.last);
        self.idle_looks = if same { self.idle_looks + 1 } else { 0 };
        self.last = now;
        self.idle_looks >= IDLE_LOOKS_MAX
    }
}

#[cfg(test)]
mod tests {
    use roundtable_streams::{LaneFigures, QueueFigures};

    use super::*;

    fn figures(retried: u64, processed: u64, pages: u64) -> Snapshot {
        let lane = LaneFigures { retried, processed, ..LaneFigures::default() };
        let queue = QueueFigures { pages, ..QueueFigures::default() };
        Snapshot { lanes: vec![lane], queues: vec![queue] }
    }

    #[test]
    fn who_only_tries_again_is_given_up() {
        let mut patience = Patience::default();
        let looks = (1..).take_while(|look| !patience.is_over(figures(*look, 7, 1)));
        assert_eq!(looks.count(), IDLE_LOOKS_MAX as usize);
    }

    #[test]
    fn who_gets_on_may_take_as_long_as_it_takes() {
        let mut patience = Patience::default();
        for look in 0..u64::from(IDLE_LOOKS_MAX) * 4 {
            assert!(!patience.is_over(figures(0, look / 50, look / 20)));
        }
    }
}
