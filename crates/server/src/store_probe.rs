//! Probes of the tables on DynamoDB and of the media store: at start, and for `/readyz`. What does not
//! work is named, with what to do about it.
//!
//! An embedded store needs no probe of its tables: opening it shows everything.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use roundtable_domain::{MediaStore, MediaStoreProblem, TableNames};
use roundtable_model::{Core, LoginAttempts, Ops};
use roundtable_table::{
    BatchGet, BatchWrite, Check, Condition, Delete, Error, Get, ItemBuilder, Key, Put, Query,
    Store, Table, TableDefinition, Transaction, Update, exists,
};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::configuration::StoreSettings;

/// Time that the probes may take when the server starts.
const START_TIMEOUT: Duration = Duration::from_mins(1);
/// Time that they may take later.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Time for which a failed probe is not repeated.
const FAILURE_AGE_MAX: Duration = Duration::from_secs(2);
/// A partition that no item is ever in: the schema has none without a `#` that is named so.
const PARTITION: &str = "readiness-probe";

/// Something that does not work, for operators.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{problem} ({detail})")]
pub struct ProbeFailure {
    /// Everything that does not work, and what to do about it.
    problem: String,
    /// For the log.
    detail: String,
}

/// The tables of an installation.
#[derive(Clone, Debug)]
pub(crate) struct TableProbes {
    store: Store,
    definitions: Vec<TableDefinition>,
    /// The place in which the tables are looked for.
    place: String,
}

/// The parts of an installation that are probed while it runs.
#[derive(Debug)]
pub(crate) struct Readiness {
    tables: Option<TableProbes>,
    media: Arc<dyn MediaStore>,
    /// The name of this process in the media store.
    name: String,
    /// Time after which a successful probe is repeated.
    interval: Duration,
    /// The last probe.
    last: Mutex<ProbeResult>,
}

/// The time of a probe, and what did not work.
#[derive(Debug)]
struct ProbeResult {
    at: Instant,
    problems: Vec<String>,
}

impl TableProbes {
    pub(crate) fn new(store: &Store, names: &TableNames, settings: &StoreSettings) -> Self {
        let definitions = vec![
            Core::SHAPE.definition(&names.core),
            LoginAttempts::SHAPE.definition(&names.logins),
            Ops::SHAPE.definition(&names.ops),
        ];
        let place = match (&settings.endpoint, &settings.region) {
            (Some(endpoint), _) => format!("at {endpoint}"),
            (None, Some(region)) => format!("in the region {region}"),
            (None, None) => String::from("in the region of the environment"),
        };
        Self { store: store.clone(), definitions, place }
    }

    /// Fails if a table is missing, or this process may not use it.
    pub(crate) async fn check_at_start(&self) -> Result<(), ProbeFailure> {
        let checks = async {
            for definition in &self.definitions {
                let found = self.store.table(&definition.name).await;
                let action = "dynamodb:DescribeTable and dynamodb:DescribeTimeToLive";
                found.map_err(|error| self.failure(definition, action, &error))?;
                self.exercise(definition).await?;
            }
            Ok::<(), ProbeFailure>(())
        };
        timeout(START_TIMEOUT, checks).await.unwrap_or_else(|_| Err(silent("the tables")))
    }

    async fn check(&self) -> Vec<ProbeFailure> {
        let checks = join_all(self.definitions.iter().map(|definition| self.exercise(definition)));
        match timeout(TIMEOUT, checks).await {
            Ok(checked) => checked.into_iter().filter_map(Result::err).collect(),
            Err(_) => vec![silent("the tables")],
        }
    }

    /// Does once what services do, on items that do not exist. Nothing is written.
    async fn exercise(&self, definition: &TableDefinition) -> Result<(), ProbeFailure> {
        let table = self.store.table_as(definition.clone());
        let failed =
            |action: &'static str| move |error: Error| self.failure(definition, action, &error);
        table.get(Get::new(key(0)).strong()).await.map_err(failed("dynamodb:GetItem"))?;
        let batch = BatchGet { keys: vec![key(0)], strong: true, projection: Vec::new() };
        table.batch_get(batch).await.map_err(failed("dynamodb:BatchGetItem"))?;
        let indexes = definition.indexes.iter().map(|index| Some(index.name.as_str()));
        for index in std::iter::once(None).chain(indexes) {
            let query = Query::new(PARTITION).limit(1);
            let query = match index {
                Some(index) => query.index(index),
                None => query,
            };
            let action = "dynamodb:Query on the table and its indexes";
            table.query(query).await.map_err(failed(action))?;
        }
        match self.store.transact(refused_transaction(&table)).await {
            Ok(_) | Err(Error::Cancelled { .. }) => {}
            Err(error) => {
                let action =
                    "one of dynamodb:PutItem, UpdateItem, DeleteItem and ConditionCheckItem";
                return Err(self.failure(definition, action, &error));
            }
        }
        let deletion = vec![BatchWrite::Delete(key(0))];
        table.batch_write(deletion).await.map_err(failed("dynamodb:BatchWriteItem"))?;
        if definition.stream {
            let action = "dynamodb:ListStreams or dynamodb:DescribeStream";
            table.stream_shards().await.map_err(failed(action))?;
        }
        Ok(())
    }

    fn failure(&self, table: &TableDefinition, action: &str, error: &Error) -> ProbeFailure {
        let place = &self.place;
        let advice = match error {
            Error::TableNotFound { .. } => format!(
                "there is no such table {place}: create it with `roundtable table create`, or correct \
                 `store.region`, `store.endpoint` or `[tables]`"
            ),
            Error::Denied { .. } => format!(
                "{action} is denied {place}: allow it for the credentials of this process, or use others"
            ),
            _ => format!(
                "{action} fails {place}: check the network, `store.region` and `store.endpoint`, and see \
                 the log"
            ),
        };
        ProbeFailure {
            problem: format!("table {}: {advice}", table.name),
            detail: error.to_string(),
        }
    }
}

/// A key that no item has.
fn key(number: u8) -> Key {
    Key::new(PARTITION, number.to_string())
}

/// A transaction with every kind of write, none of which can happen.
fn refused_transaction(table: &Table) -> Transaction {
    let partition = &table.definition().key.partition.name;
    let is_there = || -> Condition { exists(partition.as_str()) };
    let mut item = ItemBuilder::new();
    for (attribute, value) in
        table.definition().key.attributes().zip([String::from(PARTITION), String::from("1")])
    {
        item.slot(attribute.name.as_str()).text(&value);
    }
    Transaction::new()
        .with(table, Check::new(key(0), is_there()))
        .with(table, Put::new(item.build()).when(is_there()))
        .with(table, Update::new(key(2)).set("probe", 1).when(is_there()))
        .with(table, Delete::new(key(3)).when(is_there()))
}

fn silent(what: &str) -> ProbeFailure {
    let problem =
        format!("{what}: no answer in time: check the network, `store.endpoint` and `media.s3`");
    ProbeFailure { problem, detail: String::from("timed out") }
}

impl Readiness {
    /// Probes the media store, and fails if it cannot be used. The tables have been probed before.
    pub(crate) async fn open(
        tables: Option<TableProbes>,
        media: Arc<dyn MediaStore>,
        name: String,
        interval: Duration,
    ) -> Result<Self, ProbeFailure> {
        let last = Mutex::new(ProbeResult { at: Instant::now(), problems: Vec::new() });
        let readiness = Self { tables, media, name, interval, last };
        readiness.check_media(START_TIMEOUT).await?;
        Ok(readiness)
    }

    /// Returns what does not work. Repeats a successful probe after a while, and a failed one sooner;
    /// concurrent callers share a probe.
    pub(crate) async fn problems(&self) -> Vec<String> {
        let mut last = self.last.lock().await;
        let age_max = if last.problems.is_empty() { self.interval } else { FAILURE_AGE_MAX };
        if last.at.elapsed() < age_max {
            return last.problems.clone();
        }
        let tables = async {
            match &self.tables {
                Some(tables) => tables.check().await,
                None => Vec::new(),
            }
        };
        let (mut failures, media) = futures::join!(tables, self.check_media(TIMEOUT));
        failures.extend(media.err());
        for ProbeFailure { problem, detail } in &failures {
            if !last.problems.contains(problem) {
                tracing::warn!(problem, detail, "readiness check failed");
            }
        }
        let problems: Vec<String> = failures.into_iter().map(|failure| failure.problem).collect();
        *last = ProbeResult { at: Instant::now(), problems: problems.clone() };
        problems
    }

    async fn check_media(&self, limit: Duration) -> Result<(), ProbeFailure> {
        match timeout(limit, self.media.probe(&self.name)).await {
            Ok(probed) => probed
                .map_err(|MediaStoreProblem { problem, detail }| ProbeFailure { problem, detail }),
            Err(_) => Err(silent("files")),
        }
    }
}
