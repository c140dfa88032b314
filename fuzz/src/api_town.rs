//! A town with objects of all types, used through the API by all kinds of viewers.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;

use futures::{FutureExt as _, Stream, StreamExt as _};
use roundtable_graphql::{Answer, PreparedRequest, QueryLimits, RequestContext, Schema};
use roundtable_interface::{ApiError, ClientInfo, Services};
use roundtable_model::Role;
use roundtable_testkit::Town;
use serde_json::Value;
use tokio::task::{unconstrained, yield_now};

use crate::document_writer::Document;
use crate::populated_town::populated_town;
use crate::services::{services, to_json};
use crate::value_pool::ValuePool;

/// Subscriptions that are open at the same time.
const SUBSCRIPTIONS_MAX: usize = 6;
/// Yields to other tasks before a subscription counts as having no event.
const YIELDS: usize = 300;

/// The document of a subscription and its responses.
type Subscription = (String, Pin<Box<dyn Stream<Item = Answer> + Send>>);

pub(crate) struct ApiTown {
    town: Town,
    services: Services,
    schema: Schema,
    subscriptions: VecDeque<Subscription>,
    pub(crate) requests: usize,
}

impl ApiTown {
    /// Returns a new town, and the ids of its objects.
    pub(crate) async fn new(schema: Schema) -> (Self, ValuePool) {
        let (town, value_pool) = populated_town().await;
        let services = services(&town);
        (Self { town, services, schema, subscriptions: VecDeque::new(), requests: 0 }, value_pool)
    }

    fn client(&self, viewer: &str) -> ClientInfo {
        let caller = match viewer {
            "" => None,
            "mo" => Some(self.town.staff("mo", Role::Moderator)),
            "ada" => Some(self.town.staff("ada", Role::Admin)),
            name => Some(self.town.caller(name)),
        };
        ClientInfo { caller, address: Some(self.town.address()) }
    }

    fn context(&self, viewer: &str) -> RequestContext {
        RequestContext::new(self.client(viewer), self.services.clone())
    }

    fn prepare(&self, document: &Document) -> Result<PreparedRequest, Box<Answer>> {
        let Document { text, variables, operation, .. } = document;
        let request = serde_json::json!({
            "query": text, "variables": variables, "operationName": operation,
        });
        match serde_json::from_value(request) {
            Ok(request) => self.schema.prepare(request),
            // Variables that are no object: the server refuses the body.
            Err(_) => Err(Box::new(Answer::refused(
                &ApiError::bad_request("the body is not the JSON of a GraphQL request").into(),
            ))),
        }
    }

    pub(crate) async fn execute(&mut self, viewer: &str, document: &Document) -> Value {
        self.requests += 1;
        self.town.advance_ms(37);
        to_json(&match self.prepare(document) {
            Ok(prepared) => self.schema.execute(&prepared, &self.context(viewer)).await,
            Err(refused) => *refused,
        })
    }

    /// Opens a subscription and returns its first response, if that comes at once.
    pub(crate) async fn subscribe(&mut self, viewer: &str, document: &Document) -> Option<Value> {
        // Only what happens from now on is an event.
        self.services.bus.catch_up().await.unwrap();
        let mut subscription = match self.prepare(document) {
            Ok(prepared) => self.schema.execute_stream(prepared, Arc::new(self.context(viewer))),
            Err(refused) => futures::stream::iter([*refused]).boxed(),
        };
        let first = poll_next(&mut subscription).await;
        if self.subscriptions.len() == SUBSCRIPTIONS_MAX {
            self.subscriptions.pop_front();
        }
        self.subscriptions.push_back((document.text.clone(), subscription));
        first
    }

    /// Runs all processors, and returns new responses of subscriptions with their documents.
    pub(crate) async fn settle(&mut self) -> Vec<(String, Value)> {
        let runner = self.town.runner();
        runner.drain().await.unwrap();
        let parked: u64 = runner.metrics().lanes.iter().map(|lane| lane.parked).sum();
        assert_eq!(parked, 0, "some changes could not be processed: {:?}", runner.metrics());
        self.services.bus.catch_up().await.unwrap();
        let mut responses = Vec::new();
        for (document, subscription) in &mut self.subscriptions {
            if let Some(response) = poll_next(subscription).await {
                responses.push((document.clone(), response));
            }
        }
        responses
    }
}

/// Returns a response that is available now.
async fn poll_next(subscription: &mut (impl Stream<Item = Answer> + Unpin)) -> Option<Value> {
    for _ in 0..YIELDS {
        if let Some(next) = unconstrained(subscription.next()).now_or_never() {
            return next.as_ref().map(to_json);
        }
        yield_now().await;
    }
    None
}

pub(crate) fn schema() -> Schema {
    Schema::new(QueryLimits::default(), true).unwrap()
}
