//! A town that is used through the API.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt, Stream, StreamExt};
use roundtable_domain::Caller;
use roundtable_graphql::{Answer, QueryLimits, Request, RequestContext, Schema};
use roundtable_interface::{ClientInfo, Services};
use roundtable_model::Role;
use roundtable_model::table::Recorder;
use roundtable_testkit::Town;
use serde_json::Value;
use tokio::task::{unconstrained, yield_now};
use tokio::time::timeout;

use crate::services::{services, to_json};

/// The longest wait for an expected event.
const EVENT_TIMEOUT: Duration = Duration::from_secs(20);
/// Yields to other tasks before a subscriber counts as having no event.
const YIELDS: usize = 200;

/// A client, or an optional caller as one.
pub(crate) trait IntoClient {
    fn into_client(self) -> ClientInfo;
}

impl IntoClient for ClientInfo {
    fn into_client(self) -> ClientInfo {
        self
    }
}

impl IntoClient for Option<Caller> {
    fn into_client(self) -> ClientInfo {
        ClientInfo { caller: self, ..ClientInfo::default() }
    }
}

/// The number of table operations, by access pattern.
pub(crate) type Cost = BTreeMap<&'static str, usize>;

pub(crate) struct ApiTown {
    pub(crate) town: Town,
    pub(crate) services: Services,
    schema: Schema,
}

impl ApiTown {
    pub(crate) async fn of<const N: usize>(names: [&str; N]) -> Self {
        Self::over(Town::of(names).await)
    }

    pub(crate) fn over(town: Town) -> Self {
        let services = services(&town);
        Self { town, services, schema: Schema::new(QueryLimits::default(), true).unwrap() }
    }

    /// Returns the same town with the services of a new process.
    pub(crate) fn restarted(self) -> Self {
        Self::over(self.town)
    }

    async fn execute(&self, context: &RequestContext, request: Request) -> Value {
        to_json(&match self.schema.prepare(request) {
            Ok(prepared) => self.schema.execute(&prepared, context).await,
            Err(refused) => *refused,
        })
    }

    /// Executes a document and returns the whole response.
    pub(crate) async fn response(
        &self,
        client: impl IntoClient,
        document: &str,
        variables: Value,
    ) -> Value {
        let context = RequestContext::new(client.into_client(), self.services.clone());
        let request = serde_json::json!({ "query": document, "variables": variables });
        self.execute(&context, serde_json::from_value(request).unwrap()).await
    }

    /// Executes a document as a user of the town and returns the data; fails on errors.
    pub(crate) async fn run(&self, name: &str, document: &str) -> Value {
        self.run_as(self.client(name), document).await
    }

    pub(crate) async fn run_as(&self, client: impl IntoClient, document: &str) -> Value {
        let mut response = self.response(client, document, Value::Null).await;
        assert_eq!(response["errors"], Value::Null, "{document}");
        response["data"].take()
    }

    /// Executes a document as a user of the town and returns the error code.
    pub(crate) async fn error_code(&self, name: &str, document: &str) -> String {
        self.error_code_as(self.client(name), document).await
    }

    pub(crate) async fn error_code_as(&self, client: impl IntoClient, document: &str) -> String {
        code(&self.response(client, document, Value::Null).await, document)
    }

    pub(crate) fn client(&self, name: &str) -> ClientInfo {
        Some(self.town.caller(name)).into_client()
    }

    pub(crate) fn staff(&self, name: &str, role: Role) -> ClientInfo {
        Some(self.town.staff(name, role)).into_client()
    }

    /// Returns the cost of a document once all caches between requests are warm.
    pub(crate) async fn cost(&self, name: &str, document: &str) -> Cost {
        self.cost_as(self.town.caller(name), document).await
    }

    pub(crate) async fn cost_as(&self, caller: Caller, document: &str) -> Cost {
        let client = Some(caller).into_client();
        self.run_as(client.clone(), document).await;
        let recorder = Arc::new(Recorder::default());
        let services = self.services.with_context(&self.town.context().observed(recorder.clone()));
        let context = RequestContext::new(client, services);
        let response = self.execute(&context, document.into()).await;
        assert_eq!(response["errors"], Value::Null, "{document}");
        let mut cost = Cost::new();
        for operation in recorder.take() {
            *cost.entry(operation.pattern.unwrap_or(operation.name)).or_default() += 1;
        }
        cost
    }

    pub(crate) async fn subscribe(&self, name: &str, document: &str) -> Subscriber {
        self.subscribe_as(self.client(name), document).await
    }

    pub(crate) async fn subscribe_as(&self, client: ClientInfo, document: &str) -> Subscriber {
        self.services.bus.catch_up().await.unwrap();
        let context = Arc::new(RequestContext::new(client, self.services.clone()));
        let stream: Pin<Box<dyn Stream<Item = Answer> + Send>> =
            match self.schema.prepare(document.into()) {
                Ok(prepared) => self.schema.execute_stream(prepared, context),
                Err(refused) => Box::pin(futures::stream::iter([*refused])),
            };
        let mut subscriber = Subscriber(stream, None);
        // A stream subscribes when it is first polled.
        subscriber.1 = subscriber.poll_next().await.flatten();
        subscriber
    }

    /// Waits until processors and live subscriptions have handled all changes.
    pub(crate) async fn settle(&self) {
        self.town.settle().await;
        self.services.bus.catch_up().await.unwrap();
    }
}

/// A subscription, and its first response if that came at once.
pub(crate) struct Subscriber(Pin<Box<dyn Stream<Item = Answer> + Send>>, Option<Answer>);

impl Subscriber {
    /// Waits for the next response.
    pub(crate) async fn next_response(&mut self) -> Value {
        let response = match self.1.take() {
            Some(response) => response,
            None => timeout(EVENT_TIMEOUT, self.0.next())
                .await
                .expect("no event arrived")
                .expect("the stream ended"),
        };
        to_json(&response)
    }

    /// Waits for the next event and returns a field of it.
    pub(crate) async fn next_field(&mut self, field: &str) -> Value {
        let response = self.next_response().await;
        assert_eq!(response["errors"], Value::Null, "{response}");
        let event = response["data"].as_object().unwrap().values().next().unwrap();
        event[field].clone()
    }

    /// Waits for the next error and returns its code.
    pub(crate) async fn next_error_code(&mut self) -> String {
        code(&self.next_response().await, "subscription")
    }

    /// Returns whether no event is available now. Only reliable for events that need no loading.
    pub(crate) async fn has_no_event(&mut self) -> bool {
        self.1.is_none() && self.poll_next().await.is_none()
    }

    /// Returns whether the stream has ended.
    pub(crate) async fn has_ended(&mut self) -> bool {
        self.1.is_none() && matches!(self.poll_next().await, Some(None))
    }

    /// Polls for a response until other tasks have had time to produce one.
    async fn poll_next(&mut self) -> Option<Option<Answer>> {
        for _ in 0..YIELDS {
            let next = unconstrained(self.0.next()).now_or_never();
            if next.is_some() {
                return next;
            }
            yield_now().await;
        }
        None
    }
}

fn code(response: &Value, of: &str) -> String {
    let error = &response["errors"][0];
    assert_eq!(error["errorType"], error["extensions"]["code"], "{response}");
    error["errorType"].as_str().unwrap_or_else(|| panic!("{of}: {response}")).to_owned()
}

pub(crate) fn fields<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item[field].as_str().unwrap()).collect()
}
