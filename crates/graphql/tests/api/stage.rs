//! A town, asked and listened to through the API.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_graphql::{Request, Response, Variables};
use futures::{FutureExt, Stream, StreamExt};
use roundtable_domain::Caller;
use roundtable_graphql::{Asked, Client, Limits, Schema, Services};
use roundtable_model::Role;
use roundtable_model::table::Recorder;
use roundtable_testkit::Town;
use serde_json::Value;
use tokio::task::{unconstrained, yield_now};
use tokio::time::timeout;

use crate::services::{services, shown};

/// How long to wait for what must come.
const PATIENCE: Duration = Duration::from_secs(20);
/// Turns that others get before there is nothing to be told.
const TURNS: usize = 200;

/// Who can ask: a client, or somebody who has no more than a name.
pub(crate) trait Asks {
    fn client(self) -> Client;
}

impl Asks for Client {
    fn client(self) -> Client {
        self
    }
}

impl Asks for Option<Caller> {
    fn client(self) -> Client {
        Client { caller: self, ..Client::default() }
    }
}

/// How many operations an answer took, by the question they answer.
pub(crate) type Cost = BTreeMap<&'static str, usize>;

/// A town, asked through the API.
pub(crate) struct Stage {
    pub(crate) town: Town,
    pub(crate) services: Services,
    schema: Schema,
}

impl Stage {
    /// A town of these people.
    pub(crate) async fn of<const N: usize>(names: [&str; N]) -> Self {
        Self::over(Town::of(names).await)
    }

    /// This town.
    pub(crate) fn over(town: Town) -> Self {
        let services = services(&town);
        Self { town, services, schema: Limits::default().on(roundtable_graphql::schema()) }
    }

    /// The same town, asked in another process that knows nothing yet.
    pub(crate) fn again(self) -> Self {
        Self::over(self.town)
    }

    fn request(&self, client: Client, document: &str) -> Request {
        Request::new(document).data(Arc::new(Asked::new(client, self.services.clone())))
    }

    /// Somebody asks; the whole answer.
    pub(crate) async fn answer(&self, who: impl Asks, document: &str, variables: Value) -> Value {
        let request = self.request(who.client(), document);
        shown(&self.schema.execute(request.variables(Variables::from_json(variables))).await)
    }

    /// Somebody of the town asks; what they get, and nothing went wrong.
    pub(crate) async fn ask(&self, name: &str, document: &str) -> Value {
        self.ask_as(self.client(name), document).await
    }

    /// Somebody asks; what they get, and nothing went wrong.
    pub(crate) async fn ask_as(&self, who: impl Asks, document: &str) -> Value {
        let mut answer = self.answer(who, document, Value::Null).await;
        assert_eq!(answer["errors"], Value::Null, "{document}");
        answer["data"].take()
    }

    /// Somebody of the town asks and is refused; the code.
    pub(crate) async fn refused(&self, name: &str, document: &str) -> String {
        self.refused_as(self.client(name), document).await
    }

    /// Somebody asks and is refused; the code.
    pub(crate) async fn refused_as(&self, who: impl Asks, document: &str) -> String {
        code(&self.answer(who, document, Value::Null).await, document)
    }

    /// Somebody of the town, signed in.
    pub(crate) fn client(&self, name: &str) -> Client {
        Some(self.town.caller(name)).client()
    }

    /// Somebody with a role, signed in.
    pub(crate) fn staff(&self, name: &str, role: Role) -> Client {
        Some(self.town.staff(name, role)).client()
    }

    /// The operations an answer takes, once everything is remembered that is between two answers.
    pub(crate) async fn cost(&self, name: &str, document: &str) -> Cost {
        self.cost_as(self.town.caller(name), document).await
    }

    /// The same, for somebody with a role.
    pub(crate) async fn cost_as(&self, caller: Caller, document: &str) -> Cost {
        let client = Some(caller).client();
        self.ask_as(client.clone(), document).await;
        let recorder = Arc::new(Recorder::default());
        let services = self.services.on(&self.town.ground().observed(recorder.clone()));
        let asked = Asked::new(client, services);
        let request = Request::new(document).data(Arc::new(asked));
        let answer = shown(&self.schema.execute(request).await);
        assert_eq!(answer["errors"], Value::Null, "{document}");
        let mut cost = Cost::new();
        for operation in recorder.take() {
            *cost.entry(operation.pattern.unwrap_or(operation.name)).or_default() += 1;
        }
        cost
    }

    /// Somebody of the town listens.
    pub(crate) async fn listen(&self, name: &str, document: &str) -> Ear {
        self.listen_as(self.client(name), document).await
    }

    /// A client listens.
    pub(crate) async fn listen_as(&self, client: Client, document: &str) -> Ear {
        self.services.live.catch_up().await.unwrap();
        let request = self.request(client, document);
        let mut ear = Ear(Box::pin(self.schema.execute_stream(request)), None);
        // It listens once it was looked at.
        ear.1 = ear.glance().await.flatten();
        ear
    }

    /// Lets processors work and listeners hear of all that has happened.
    pub(crate) async fn settle(&self) {
        self.town.settle().await;
        self.services.notifications.catch_up().await.unwrap();
        self.services.feeds.catch_up().await.unwrap();
        self.services.live.catch_up().await.unwrap();
    }
}

/// Somebody who listens.
pub(crate) struct Ear(Pin<Box<dyn Stream<Item = Response> + Send>>, Option<Response>);

impl Ear {
    /// The next they are told; waits for it.
    pub(crate) async fn told(&mut self) -> Value {
        let response = match self.1.take() {
            Some(response) => response,
            None => timeout(PATIENCE, self.0.next()).await.expect("nothing is told").expect("over"),
        };
        shown(&response)
    }

    /// A field of the next they are told; waits for it.
    pub(crate) async fn hears(&mut self, field: &str) -> Value {
        let told = self.told().await;
        assert_eq!(told["errors"], Value::Null, "{told}");
        let event = told["data"].as_object().unwrap().values().next().unwrap();
        event[field].clone()
    }

    /// The code of the error they are told next; waits for it.
    pub(crate) async fn refused(&mut self) -> String {
        code(&self.told().await, "what was told")
    }

    /// Whether nothing is there to be told now. It means something only of what needs no loading.
    pub(crate) async fn is_silent(&mut self) -> bool {
        self.1.is_none() && self.glance().await.is_none()
    }

    /// Whether they are told nothing more, ever.
    pub(crate) async fn is_over(&mut self) -> bool {
        self.1.is_none() && matches!(self.glance().await, Some(None))
    }

    /// What is there once everything that is under way has had its turns; `None` when nothing is.
    async fn glance(&mut self) -> Option<Option<Response>> {
        for _ in 0..TURNS {
            let next = unconstrained(self.0.next()).now_or_never();
            if next.is_some() {
                return next;
            }
            yield_now().await;
        }
        None
    }
}

fn code(answer: &Value, of: &str) -> String {
    let error = &answer["errors"][0];
    assert_eq!(error["errorType"], error["extensions"]["code"], "{answer}");
    error["errorType"].as_str().unwrap_or_else(|| panic!("{of}: {answer}")).to_owned()
}

/// A field of every item of a list.
pub(crate) fn each<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item[field].as_str().unwrap()).collect()
}
