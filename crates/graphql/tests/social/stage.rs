//! A town, asked through the API.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_graphql::{Request, Variables};
use async_trait::async_trait;
use roundtable_domain::{Caller, Feeds, Live, Messages, Notifications, SignedIn};
use roundtable_graphql::{
    Answer, Asked, Backstage, BackstageFigures, Client, Cursors, Issuer, Limits, Refused, Schema,
    Services,
};
use roundtable_model::table::Recorder;
use roundtable_testkit::Town;
use serde_json::Value;

/// Signs nobody in.
#[derive(Debug)]
struct NoIssuer;

#[async_trait]
impl Issuer for NoIssuer {
    async fn access_token(&self, _: &SignedIn) -> Result<(String, u32), Refused> {
        Err(Refused::unauthenticated())
    }
}

/// Has three dead letters, and redrives as many as it may.
#[derive(Debug)]
struct ThreeLetters;

#[async_trait]
impl Backstage for ThreeLetters {
    async fn redrive(&self, max: usize) -> Result<usize, Refused> {
        Ok(max.min(3))
    }

    async fn figures(&self) -> Result<BackstageFigures, Refused> {
        Ok(BackstageFigures { dlq_depth: 3, ..BackstageFigures::default() })
    }
}

/// A town, asked through the API.
pub(crate) struct Stage {
    pub(crate) town: Town,
    schema: Schema,
    services: Services,
}

fn services(town: &Town) -> Services {
    let ground = town.ground();
    Services {
        ground: ground.clone(),
        feeds: Feeds::new(ground.clone()),
        messages: Messages::new(ground.clone()),
        notifications: Notifications::new(ground.clone()),
        live: Live::new(ground.clone()),
        media: town.media(),
        issuer: Arc::new(NoIssuer),
        backstage: Arc::new(ThreeLetters),
        cursors: Arc::new(Cursors::new(&[4; 32]).unwrap()),
    }
}

impl Stage {
    /// A town of these people.
    pub(crate) async fn of<const N: usize>(names: [&str; N]) -> Self {
        Self::over(Town::of(names).await)
    }

    /// This town.
    pub(crate) fn over(town: Town) -> Self {
        let services = services(&town);
        let schema = Limits::default().on(roundtable_graphql::schema());
        Self { town, schema, services }
    }

    /// Somebody asks; the whole answer.
    pub(crate) async fn answer(
        &self,
        caller: Option<Caller>,
        document: &str,
        variables: Value,
    ) -> Value {
        self.answer_with(&self.services, caller, document, variables).await
    }

    async fn answer_with(
        &self,
        services: &Services,
        caller: Option<Caller>,
        document: &str,
        variables: Value,
    ) -> Value {
        let client = Client { caller, ..Client::default() };
        let request = Request::new(document)
            .variables(Variables::from_json(variables))
            .data(Arc::new(Asked::new(client, services.clone())));
        let response = self.schema.execute(request).await;
        serde_json::to_value(Answer(&response)).unwrap()
    }

    /// Somebody of the town asks; what they get, and nothing went wrong.
    pub(crate) async fn ask(&self, name: &str, document: &str) -> Value {
        self.ask_as(Some(self.town.caller(name)), document).await
    }

    /// Somebody asks; what they get, and nothing went wrong.
    pub(crate) async fn ask_as(&self, caller: Option<Caller>, document: &str) -> Value {
        let mut answer = self.answer(caller, document, Value::Null).await;
        assert_eq!(answer["errors"], Value::Null, "{document}");
        answer["data"].take()
    }

    /// Somebody of the town asks and is refused; the code.
    pub(crate) async fn refused(&self, name: &str, document: &str) -> String {
        self.refused_as(Some(self.town.caller(name)), document).await
    }

    /// Somebody asks and is refused; the code.
    pub(crate) async fn refused_as(&self, caller: Option<Caller>, document: &str) -> String {
        let answer = self.answer(caller, document, Value::Null).await;
        let error = &answer["errors"][0];
        assert_eq!(error["errorType"], error["extensions"]["code"], "{answer}");
        error["errorType"].as_str().unwrap_or_else(|| panic!("{document}: {answer}")).to_owned()
    }

    /// The operations an answer takes, by the question they answer, once everything is remembered that
    /// is between two answers.
    pub(crate) async fn cost(&self, name: &str, document: &str) -> Cost {
        self.ask(name, document).await;
        let recorder = Arc::new(Recorder::default());
        let services = self.services.on(&self.town.ground().observed(recorder.clone()));
        let caller = Some(self.town.caller(name));
        let answer = self.answer_with(&services, caller, document, Value::Null).await;
        assert_eq!(answer["errors"], Value::Null, "{document}");
        let mut cost = Cost::new();
        for operation in recorder.take() {
            *cost.entry(operation.pattern.unwrap_or(operation.name)).or_default() += 1;
        }
        cost
    }
}

/// How many operations an answer took, by the question they answer.
pub(crate) type Cost = BTreeMap<&'static str, usize>;

/// A field of every item of a list.
pub(crate) fn each<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item[field].as_str().unwrap()).collect()
}
