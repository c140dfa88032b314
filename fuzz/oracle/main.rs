//! Answers the documents of an oracle file with async-graphql, for the commit before our own execution. See
//! the README of the fuzz crate.

use std::collections::VecDeque;
use std::io::{BufRead as _, Write as _};
use std::pin::Pin;
use std::sync::Arc;

mod choices;
mod populated_town;
mod replay;
#[path = "../../tests/support/services.rs"]
mod services;
mod value_pool;

mod document_writer {
    #[derive(Default)]
    pub(crate) struct Document {
        pub(crate) text: String,
        pub(crate) variables: serde_json::Value,
        pub(crate) operation: Option<String>,
        pub(crate) lists: (),
    }
}

/// A town behind async-graphql: like the module of the same name of the fuzz crate.
mod api_town {
    use super::*;

    use async_graphql::{Request, Response, Variables};
    use futures::{FutureExt as _, Stream, StreamExt as _};
    use roundtable_graphql::{ClientInfo, QueryLimits, RequestContext, Schema, Services};
    use roundtable_model::Role;
    use roundtable_testkit::Town;
    use serde_json::Value;
    use tokio::task::{unconstrained, yield_now};

    use crate::document_writer::Document;
    use crate::services::{services, to_json};
    use crate::value_pool::ValuePool;

    const SUBSCRIPTIONS_MAX: usize = 6;
    const YIELDS: usize = 300;

    type Subscription = (String, Pin<Box<dyn Stream<Item = Response> + Send>>);

    pub(crate) struct ApiTown {
        town: Town,
        services: Services,
        schema: Schema,
        subscriptions: VecDeque<Subscription>,
    }

    impl ApiTown {
        pub(crate) async fn new(schema: Schema) -> (Self, ValuePool) {
            let (town, value_pool) = crate::populated_town::populated_town().await;
            let services = services(&town);
            (Self { town, services, schema, subscriptions: VecDeque::new() }, value_pool)
        }

        fn request(&self, viewer: &str, document: &Document) -> Request {
            let caller = match viewer {
                "" => None,
                "mo" => Some(self.town.staff("mo", Role::Moderator)),
                "ada" => Some(self.town.staff("ada", Role::Admin)),
                name => Some(self.town.caller(name)),
            };
            let client = ClientInfo { caller, session: None, address: Some(self.town.address()) };
            let context = RequestContext::new(client, self.services.clone());
            let request = Request::new(&document.text)
                .variables(Variables::from_json(document.variables.clone()))
                .data(Arc::new(context));
            match &document.operation {
                Some(name) => request.operation_name(name),
                None => request,
            }
        }

        pub(crate) async fn execute(&mut self, viewer: &str, document: &Document) -> Value {
            self.town.advance_ms(37);
            to_json(&self.schema.execute(self.request(viewer, document)).await)
        }

        pub(crate) async fn subscribe(&mut self, viewer: &str, document: &Document) -> Option<Value> {
            self.services.bus.catch_up().await.unwrap();
            let mut subscription =
                Box::pin(self.schema.execute_stream(self.request(viewer, document)));
            let first = poll_next(&mut subscription).await;
            if self.subscriptions.len() == SUBSCRIPTIONS_MAX {
                self.subscriptions.pop_front();
            }
            self.subscriptions.push_back((document.text.clone(), subscription));
            first
        }

        pub(crate) async fn settle(&mut self) -> Vec<(String, Value)> {
            self.town.runner().drain().await.unwrap();
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

    async fn poll_next(
        subscription: &mut (impl Stream<Item = Response> + Unpin),
    ) -> Option<Value> {
        for _ in 0..YIELDS {
            if let Some(next) = unconstrained(subscription.next()).now_or_never() {
                return next.as_ref().map(to_json);
            }
            yield_now().await;
        }
        None
    }

    pub(crate) fn schema() -> Schema {
        QueryLimits::default().apply(roundtable_graphql::schema_builder())
    }
}

/// Reads entries from standard input and writes them with their answers to standard output.
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (mut replay, _) = replay::Replay::new().await;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let mut entry: replay::OracleEntry = serde_json::from_str(&line.unwrap()).unwrap();
        replay.answer(&mut entry).await;
        serde_json::to_writer(&mut out, &entry).unwrap();
        out.write_all(b"\n").unwrap();
    }
    out.flush().unwrap();
}
