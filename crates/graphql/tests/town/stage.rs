//! A town, asked and listened to through the API.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_graphql::{Request, Response, Variables};
use async_trait::async_trait;
use futures::{FutureExt, Stream, StreamExt};
use roundtable_domain::{Caller, Feeds, Live, Messages, Notifications, SignedIn};
use roundtable_graphql::{
    Answer, Asked, Backstage, BackstageFigures, Client, Cursors, Issuer, Limits, Refused, Schema,
    Services,
};
use roundtable_model::Role;
use roundtable_model::table::Recorder;
use roundtable_testkit::Town;
use serde_json::Value;
use tokio::task::{unconstrained, yield_now};
use tokio::time::timeout;

/// How long to wait for what must come.
const PATIENCE: Duration = Duration::from_secs(20);
/// Turns that others get before there is nothing to be told.
const TURNS: usize = 200;

/// Issues tokens that say whom they are for.
#[derive(Debug)]
struct Plain;

#[async_trait]
impl Issuer for Plain {
    async fn access_token(&self, signed_in: &SignedIn) -> Result<(String, u32), Refused> {
        Ok((format!("token of {}", signed_in.user.nickname), 900))
    }
}

/// Nothing is behind.
#[derive(Debug)]
struct Idle;

#[async_trait]
impl Backstage for Idle {
    async fn redrive(&self, _: usize) -> Result<usize, Refused> {
        Ok(0)
    }

    async fn figures(&self) -> Result<BackstageFigures, Refused> {
        Ok(BackstageFigures::default())
    }
}

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
        let ground = town.ground().clone();
        let services = Services {
            feeds: Feeds::new(ground.clone()),
            messages: Messages::new(ground.clone()),
            notifications: Notifications::new(ground.clone()),
            live: Live::new(ground.clone()),
            media: town.media(),
            issuer: Arc::new(Plain),
            backstage: Arc::new(Idle),
            cursors: Arc::new(Cursors::new(&[4; 32]).unwrap()),
            ground,
        };
        Self { town, services, schema: Limits::default().on(roundtable_graphql::schema()) }
    }

    /// The same town, asked in another process that knows nothing yet.
    pub(crate) fn again(self) -> Self {
        Self::over(self.town)
    }

    fn request(&self, client: Client, document: &str) -> Request {
        let asked = Asked::new(client, self.services.clone());
        Request::new(document).data(Arc::new(asked))
    }

    /// Somebody asks; the whole answer.
    pub(crate) async fn answer(&self, client: Client, document: &str, variables: Value) -> Value {
        let request = self.request(client, document).variables(Variables::from_json(variables));
        shown(&self.schema.execute(request).await)
    }

    /// Somebody of the town asks; what they get, and nothing went wrong.
    pub(crate) async fn ask(&self, name: &str, document: &str) -> Value {
        self.ask_as(self.client(name), document).await
    }

    /// A client asks; what they get, and nothing went wrong.
    pub(crate) async fn ask_as(&self, client: Client, document: &str) -> Value {
        let mut answer = self.answer(client, document, Value::Null).await;
        assert_eq!(answer["errors"], Value::Null, "{document}");
        answer["data"].take()
    }

    /// Somebody of the town asks and is refused; the code.
    pub(crate) async fn refused(&self, name: &str, document: &str) -> String {
        self.refused_as(self.client(name), document).await
    }

    /// A client asks and is refused; the code.
    pub(crate) async fn refused_as(&self, client: Client, document: &str) -> String {
        let answer = self.answer(client, document, Value::Null).await;
        code(&answer).unwrap_or_else(|| panic!("{document}: {answer}"))
    }

    /// Somebody of the town, signed in.
    pub(crate) fn client(&self, name: &str) -> Client {
        Client { caller: Some(self.town.caller(name)), ..Client::default() }
    }

    /// Somebody with a role, signed in.
    pub(crate) fn staff(&self, name: &str, role: Role) -> Client {
        let caller: Caller = self.town.staff(name, role);
        Client { caller: Some(caller), ..Client::default() }
    }

    /// How many operations an answer takes.
    pub(crate) async fn cost(&self, name: &str, document: &str) -> usize {
        let recorder = Arc::new(Recorder::default());
        let ground = self.town.ground().observed(recorder.clone());
        let asked = Asked::new(self.client(name), self.services.on(&ground));
        let request = Request::new(document).data(Arc::new(asked));
        let answer = shown(&self.schema.execute(request).await);
        assert_eq!(answer["errors"], Value::Null, "{document}");
        recorder.take().len()
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
        let told = self.told().await;
        code(&told).unwrap_or_else(|| panic!("{told}"))
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

fn shown(response: &Response) -> Value {
    serde_json::to_value(Answer(response)).unwrap()
}

fn code(answer: &Value) -> Option<String> {
    answer["errors"][0]["extensions"]["code"].as_str().map(str::to_owned)
}

/// A field of every item of a list.
pub(crate) fn each<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item[field].as_str().unwrap()).collect()
}
