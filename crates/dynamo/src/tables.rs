//! Creates, describes and deletes tables. Waits by polling, up to the configured timeout.

use std::time::{Duration, Instant};

use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, GlobalSecondaryIndexDescription,
    IndexStatus, KeySchemaElement, KeyType, Projection, ProjectionType, ScalarAttributeType,
    StreamSpecification, StreamViewType, TableDescription, TableStatus, TimeToLiveSpecification,
    TimeToLiveStatus,
};
use roundtable_table::{
    Error, IndexDefinition, IndexProjection, KeyAttribute, KeyDefinition, KeyKind, Result,
    TableDefinition,
};

use crate::Dynamo;
use crate::errors::{build_error, code, code_of, to_error};
use crate::retry::deadline;

const POLL_FIRST: Duration = Duration::from_millis(20);
const POLL_MAX: Duration = Duration::from_secs(2);

impl Dynamo {
    pub(crate) async fn make_table(&self, definition: &TableDefinition) -> Result<()> {
        let wanted = normalized(definition.clone());
        // Existing tables are opened without the permission to create some.
        let requested = match self.description(&definition.name).await {
            Ok(_) => Err(CreateTableError::Exists),
            Err(Error::TableNotFound { .. }) => self.request_table(definition).await,
            Err(error) => Err(error.into()),
        };
        match requested {
            Ok(()) => self.await_active(&definition.name).await?,
            Err(CreateTableError::Other(error)) => return Err(error),
            Err(CreateTableError::Exists) => {
                self.await_active(&definition.name).await?;
                let mut found = self.definition_of(&definition.name).await?;
                if found.ttl.is_none() {
                    // The process that created the table may have stopped before it enabled expiry.
                    found.ttl.clone_from(&wanted.ttl);
                }
                if normalized(found) != wanted {
                    return Err(Error::TableExists { table: definition.name.clone() });
                }
            }
        }
        match &definition.ttl {
            Some(attribute) => self.turn_expiry_on(&definition.name, attribute).await,
            None => Ok(()),
        }
    }

    async fn request_table(&self, definition: &TableDefinition) -> Result<(), CreateTableError> {
        let stream = StreamSpecification::builder()
            .stream_enabled(true)
            .stream_view_type(StreamViewType::NewAndOldImages)
            .build()
            .map_err(build_error)?;
        let indexes = definition.indexes.iter().map(|index| to_index(definition, index));
        let indexes = indexes.collect::<Result<Vec<_>>>()?;
        let response = self
            .client
            .create_table()
            .table_name(&definition.name)
            .billing_mode(BillingMode::PayPerRequest)
            .set_key_schema(Some(to_schema(&definition.key)?))
            .set_attribute_definitions(Some(to_attributes(definition)?))
            .set_global_secondary_indexes((!indexes.is_empty()).then_some(indexes))
            .set_stream_specification(definition.stream.then_some(stream))
            .send()
            .await;
        match response {
            Ok(_) => Ok(()),
            Err(error) if code_of(&error) == Some(code::TABLE_IN_USE) => {
                Err(CreateTableError::Exists)
            }
            Err(error) => Err(CreateTableError::Other(to_error(&error, &definition.name))),
        }
    }

    async fn turn_expiry_on(&self, table: &str, attribute: &str) -> Result<()> {
        if self.ttl_of(table).await?.as_deref() == Some(attribute) {
            return Ok(());
        }
        let specification = TimeToLiveSpecification::builder()
            .enabled(true)
            .attribute_name(attribute)
            .build()
            .map_err(build_error)?;
        let request = self
            .client
            .update_time_to_live()
            .table_name(table)
            .time_to_live_specification(specification);
        let Err(error) = request.send().await else { return Ok(()) };
        // Another process may have done it meanwhile, and DynamoDB accepts it only once.
        match self.ttl_of(table).await {
            Ok(Some(found)) if found == attribute => Ok(()),
            _ => Err(to_error(&error, table)),
        }
    }

    pub(crate) async fn definition_of(&self, name: &str) -> Result<TableDefinition> {
        let table = self.description(name).await?;
        let ttl = self.ttl_of(name).await?;
        from_description(&table, ttl)
    }

    pub(crate) async fn description(&self, name: &str) -> Result<TableDescription> {
        let response = self.client.describe_table().table_name(name).send().await;
        let response = response.map_err(|error| to_error(&error, name))?;
        response.table.ok_or_else(|| unexpected(name, "has no description"))
    }

    async fn ttl_of(&self, name: &str) -> Result<Option<String>> {
        let response = self.client.describe_time_to_live().table_name(name).send().await;
        let response = response.map_err(|error| to_error(&error, name))?;
        let ttl = response.time_to_live_description.filter(|ttl| {
            matches!(
                ttl.time_to_live_status,
                Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling)
            )
        });
        Ok(ttl.and_then(|ttl| ttl.attribute_name))
    }

    pub(crate) async fn table_names(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        let mut after = None;
        loop {
            let request = self.client.list_tables().set_exclusive_start_table_name(after);
            let page = request.send().await.map_err(|error| to_error(&error, "all"))?;
            names.extend(page.table_names.unwrap_or_default());
            after = page.last_evaluated_table_name;
            if after.is_none() {
                names.sort_unstable();
                return Ok(names);
            }
        }
    }

    pub(crate) async fn drop_table(&self, name: &str) -> Result<()> {
        let response = self.client.delete_table().table_name(name).send().await;
        response.map_err(|error| to_error(&error, name))?;
        self.streams.forget(name);
        let mut poll = TablePoll::new(self.config.table_timeout);
        loop {
            match self.description(name).await {
                Err(Error::TableNotFound { .. }) => return Ok(()),
                Err(error) => return Err(error),
                Ok(_) => poll.pause(name).await?,
            }
        }
    }

    async fn await_active(&self, name: &str) -> Result<()> {
        let mut poll = TablePoll::new(self.config.table_timeout);
        loop {
            match self.description(name).await {
                Ok(table) if is_ready(&table) => return Ok(()),
                // A new table may not be visible on all servers yet.
                Ok(_) | Err(Error::TableNotFound { .. }) => poll.pause(name).await?,
                Err(error) => return Err(error),
            }
        }
    }
}

fn is_ready(table: &TableDescription) -> bool {
    let ready = |index: &GlobalSecondaryIndexDescription| {
        index.index_status.as_ref().is_none_or(|status| *status == IndexStatus::Active)
    };
    table.table_status == Some(TableStatus::Active)
        && table.global_secondary_indexes().iter().all(ready)
}

enum CreateTableError {
    Exists,
    Other(Error),
}

impl From<Error> for CreateTableError {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

struct TablePoll {
    deadline: Instant,
    next: Duration,
}

impl TablePoll {
    fn new(wait: Duration) -> Self {
        Self { deadline: deadline(wait), next: POLL_FIRST }
    }

    async fn pause(&mut self, table: &str) -> Result<()> {
        if Instant::now() >= self.deadline {
            let detail = format!("timed out waiting for table {table:?} to be created or deleted");
            return Err(Error::Unavailable { detail });
        }
        tokio::time::sleep(self.next).await;
        self.next = (self.next * 2).min(POLL_MAX);
        Ok(())
    }
}

/// Normalizes a definition: DynamoDB does not keep the order of indexes and included attributes.
fn normalized(mut definition: TableDefinition) -> TableDefinition {
    // DynamoDB keeps no order.
    definition.order = None;
    definition.indexes.sort_by(|a, b| a.name.cmp(&b.name));
    for index in &mut definition.indexes {
        index.projection = match std::mem::take(&mut index.projection) {
            IndexProjection::Include(names) => without_ttl(names, definition.ttl.as_deref()),
            other => other,
        };
    }
    definition
}

/// Removes the ttl from the included attributes. Every index includes it, so that expired items can be
/// recognized, but it is not part of the definition.
fn without_ttl(mut names: Vec<String>, ttl: Option<&str>) -> IndexProjection {
    names.retain(|name| ttl != Some(name));
    names.sort_unstable();
    names.dedup();
    if names.is_empty() { IndexProjection::KeysOnly } else { IndexProjection::Include(names) }
}

fn to_schema(key: &KeyDefinition) -> Result<Vec<KeySchemaElement>> {
    let kinds = [KeyType::Hash, KeyType::Range];
    let elements = key.attributes().zip(kinds).map(|(attribute, kind)| {
        let element = KeySchemaElement::builder().attribute_name(&attribute.name).key_type(kind);
        element.build().map_err(build_error)
    });
    elements.collect()
}

fn to_attributes(definition: &TableDefinition) -> Result<Vec<AttributeDefinition>> {
    let keys = std::iter::once(&definition.key).chain(definition.indexes.iter().map(|i| &i.key));
    let mut attributes: Vec<&KeyAttribute> = keys.flat_map(KeyDefinition::attributes).collect();
    attributes.sort_by(|a, b| a.name.cmp(&b.name));
    attributes.dedup_by(|a, b| a.name == b.name);
    let attributes = attributes.into_iter().map(|attribute| {
        AttributeDefinition::builder()
            .attribute_name(&attribute.name)
            .attribute_type(match attribute.kind {
                KeyKind::S => ScalarAttributeType::S,
                KeyKind::N => ScalarAttributeType::N,
                KeyKind::B => ScalarAttributeType::B,
            })
            .build()
            .map_err(build_error)
    });
    attributes.collect()
}

fn to_index(table: &TableDefinition, index: &IndexDefinition) -> Result<GlobalSecondaryIndex> {
    let keyed = |name: &str| table.key.contains(name) || index.key.contains(name);
    let included: &[String] = match &index.projection {
        IndexProjection::Include(names) => names,
        IndexProjection::All | IndexProjection::KeysOnly => &[],
    };
    let mut names: Vec<String> =
        included.iter().chain(&table.ttl).filter(|name| !keyed(name)).cloned().collect();
    names.sort_unstable();
    names.dedup();
    let projection = match index.projection {
        IndexProjection::All => Projection::builder().projection_type(ProjectionType::All),
        _ if names.is_empty() => Projection::builder().projection_type(ProjectionType::KeysOnly),
        _ => Projection::builder()
            .projection_type(ProjectionType::Include)
            .set_non_key_attributes(Some(names)),
    };
    GlobalSecondaryIndex::builder()
        .index_name(&index.name)
        .set_key_schema(Some(to_schema(&index.key)?))
        .projection(projection.build())
        .build()
        .map_err(build_error)
}

fn from_description(table: &TableDescription, ttl: Option<String>) -> Result<TableDefinition> {
    let name = table.table_name().unwrap_or_default();
    let kinds = table.attribute_definitions();
    let key = from_schema(name, table.key_schema(), kinds)?;
    let indexes = table.global_secondary_indexes().iter().map(|index| {
        let projection = index.projection();
        let included = || projection.map_or(&[][..], Projection::non_key_attributes).to_vec();
        Ok(IndexDefinition {
            name: index.index_name().unwrap_or_default().to_owned(),
            key: from_schema(name, index.key_schema(), kinds)?,
            projection: match projection.and_then(Projection::projection_type) {
                Some(ProjectionType::Include) => without_ttl(included(), ttl.as_deref()),
                Some(ProjectionType::KeysOnly) => IndexProjection::KeysOnly,
                _ => IndexProjection::All,
            },
        })
    });
    let indexes = indexes.collect::<Result<Vec<_>>>()?;
    let stream = table.stream_specification().is_some_and(|stream| {
        stream.stream_enabled && stream.stream_view_type == Some(StreamViewType::NewAndOldImages)
    });
    Ok(normalized(TableDefinition {
        name: name.to_owned(),
        key,
        indexes,
        order: None,
        ttl,
        stream,
    }))
}

fn from_schema(
    table: &str,
    schema: &[KeySchemaElement],
    kinds: &[AttributeDefinition],
) -> Result<KeyDefinition> {
    let attribute = |wanted: KeyType| {
        let element = schema.iter().find(|element| element.key_type == wanted)?;
        let name = element.attribute_name.clone();
        let kind = kinds.iter().find(|kind| kind.attribute_name == name)?;
        let kind = match kind.attribute_type {
            ScalarAttributeType::S => KeyKind::S,
            ScalarAttributeType::N => KeyKind::N,
            ScalarAttributeType::B => KeyKind::B,
            _ => return None,
        };
        Some(KeyAttribute { name, kind })
    };
    let partition = attribute(KeyType::Hash).ok_or_else(|| unexpected(table, "has no key"))?;
    Ok(KeyDefinition { partition, sort: attribute(KeyType::Range) })
}

fn unexpected(table: &str, what: &str) -> Error {
    Error::Unexpected { detail: format!("table {table:?} {what}") }
}
