//! The cost of a page on DynamoDB: requests and read units at 200 followees, in a new process and in one
//! that has read the feed before.

mod server;

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use roundtable_domain::{
    Caller, Context, ContextParts, Entropy, Feeds, LiveBus, PageInput, Settings,
};
use roundtable_model::IdGenerator;
use roundtable_table::{Recorder, Store, SystemClock, TableOperation};
use roundtable_test_client::median;
use tokio::runtime::Builder;

use self::server::Server;
use super::town::{Scale, Town};
use super::{PAGE, items};
use crate::report::{Better, Report};

const FOLLOWEES: usize = 200;
/// Concurrent batches; the server executes them one after the other.
const BATCHES_AT_ONCE: usize = 4;
/// The most read units of a page that was read before.
const WARM_UNITS_MAX: f64 = 60.0;

#[derive(Clone, Debug)]
struct Cost {
    requests: f64,
    units: f64,
    /// Read units by access pattern.
    spent: BTreeMap<&'static str, f64>,
}

pub(super) fn run(report: &mut Report) -> Result<()> {
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let pages = runtime.block_on(async {
        let server = Server::start().await?;
        let town = Town::of(&Scale::small(FOLLOWEES));
        items::write(context(&server).await?.core().table(), &town, BATCHES_AT_ONCE).await?;
        let (_, readers) = town.readers.first().context("there are no readers")?;
        let mut pages = Vec::new();
        for reader in readers {
            let caller = Caller::user(town.person(*reader).id.clone());
            pages.push(cold_and_warm(&server, &caller).await?);
        }
        anyhow::Ok(pages)
    })?;
    let of = |cost: fn(&[Cost; 3]) -> f64| [median(pages.iter().map(cost))];
    let lines: [(&str, [f64; 1]); 6] = [
        ("requests of a new process' first page", of(|[cold, ..]| cold.requests)),
        ("  its read units", of(|[cold, ..]| cold.units)),
        ("requests of the same page again", of(|[_, warm, _]| warm.requests)),
        ("  its read units", of(|[_, warm, _]| warm.units)),
        ("requests of the page after it", of(|[.., second]| second.requests)),
        ("  its read units", of(|[.., second]| second.units)),
    ];
    for (label, figure) in lines {
        let label = format!("DynamoDB, {FOLLOWEES} followees: {}", label.trim_start());
        report.figure(label, Better::Lower, figure);
    }
    if let Some([cold, warm, _]) = pages.first() {
        report.note(format!("the first page's units: {}", cold.summary()));
        report.note(format!("those of the second read: {}", warm.summary()));
    }
    let [warm] = of(|[_, warm, _]| warm.units);
    report.under("dynamo-warm", warm, WARM_UNITS_MAX, " units");
    Ok(())
}

/// Reads the first page in a new process, the same page again, and the next one.
async fn cold_and_warm(server: &Server, reader: &Caller) -> Result<[Cost; 3]> {
    let recorder = Arc::new(Recorder::default());
    let context = context(server).await?.observed(recorder.clone());
    let feeds = Feeds::new(context.clone(), &LiveBus::new(context));
    let first = PageInput { limit: Some(PAGE), after: None };
    let (mut costs, mut requests) = (Vec::new(), first.clone());
    for nth in 0..3 {
        recorder.take();
        let before = server.requests();
        let page = Box::pin(feeds.home(reader, &requests)).await?;
        costs.push(Cost::of(server.requests() - before, &recorder.take()));
        if nth == 1 {
            requests = PageInput { after: page.next, ..first.clone() };
        }
    }
    <[Cost; 3]>::try_from(costs).ok().context("expected three pages")
}

impl Cost {
    #[expect(clippy::cast_precision_loss, reason = "counts here stay far below 2^52")]
    fn of(requests: u64, operations: &[TableOperation]) -> Self {
        let mut spent: BTreeMap<&'static str, f64> = BTreeMap::new();
        for operation in operations {
            let units = operation.capacity.read_halves as f64 / 2.0;
            *spent.entry(operation.pattern.unwrap_or(operation.name)).or_default() += units;
        }
        Self { requests: requests as f64, units: spent.values().sum(), spent }
    }

    /// Lists access patterns, most expensive first.
    fn summary(&self) -> String {
        let mut spent: Vec<_> = self.spent.iter().collect();
        spent.sort_by(|one, other| other.1.total_cmp(one.1));
        let each = spent.into_iter().map(|(question, units)| format!("{question} {units}"));
        each.collect::<Vec<_>>().join(", ")
    }
}

/// Simulates a new process: the same tables with empty caches.
async fn context(server: &Server) -> Result<Context> {
    let clock = Arc::new(SystemClock);
    let parts = ContextParts {
        store: Store::new(server.connect()),
        clock: clock.clone(),
        ids: IdGenerator::from_os(clock)?,
        entropy: Entropy::from_os()?,
        settings: Settings::default(),
        fingerprint_key: [9; 32],
    };
    Ok(Context::open(parts).await?)
}
