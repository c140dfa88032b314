//! A town with objects of all types, used through the API by all kinds of viewers.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;

use futures::{FutureExt as _, Stream, StreamExt as _};
use roundtable_domain::{NewPost, NewQuest};
use roundtable_graphql::{Answer, PreparedRequest, QueryLimits, RequestContext, Schema};
use roundtable_interface::{ApiError, ClientInfo, Services};
use roundtable_model::{GroupRole, ModerationStatus, Role, UserStatus, Visibility};
use roundtable_testkit::Town;
use serde_json::Value;
use tokio::task::{unconstrained, yield_now};

use crate::document_writer::Document;
use crate::services::{services, to_json};
use crate::value_pool::ValuePool;

/// The content of everything that strangers may not see.
pub(crate) const CANARY: &str = "canary";
/// The viewers. The first is anonymous, and the first two are strangers to all others.
pub(crate) const VIEWERS: [&str; 9] = ["", "dee", "ana", "bo", "cy", "pia", "eve", "mo", "ada"];
/// Subscriptions that are open at the same time.
const SUBSCRIPTIONS_MAX: usize = 6;
/// Yields to other tasks before a subscription counts as having no event.
const YIELDS: usize = 30;

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
        ClientInfo { caller, session: None, address: Some(self.town.address()) }
    }

    fn context(&self, viewer: &str) -> RequestContext {
        RequestContext::new(self.client(viewer), self.services.clone())
    }

    fn prepare(&self, document: &Document) -> Result<PreparedRequest, Box<Answer>> {
        let Document { text, variables, .. } = document;
        let request = serde_json::json!({ "query": text, "variables": variables });
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

async fn populated_town() -> (Town, ValuePool) {
    let town = Town::of(["ana", "bo", "cy", "dee", "eve", "mo", "ada"]).await;
    town.add_user("pia", |pia| pia.is_private = true).await;
    let mut value_pool = ValuePool::default();
    VIEWERS.iter().skip(1).for_each(|name| value_pool.add_id(*name));
    town.grant_role("mo", Role::Moderator).await;
    town.grant_role("ada", Role::Admin).await;
    for (one, other) in [("bo", "ana"), ("ana", "bo"), ("mo", "ana"), ("ana", "pia")] {
        town.follow(one, other).await;
    }
    add_posts(&town, &mut value_pool).await;
    add_groups_and_rooms(&town, &mut value_pool).await;
    add_goals(&town, &mut value_pool).await;
    town.block("ana", "cy").await;
    town.set_status("eve", UserStatus::Suspended).await;
    town.settle().await;
    (town, value_pool)
}

async fn add_posts(town: &Town, value_pool: &mut ValuePool) {
    let post = town.post("ana", "hello @bo, a good run today #running").await;
    let other = town.post("bo", "bread #baking").await;
    let hidden = NewPost { visibility: Some(Visibility::Private), ..NewPost::text(CANARY) };
    let hidden = town.post_as("ana", hidden).await;
    let pia = town.post("pia", &format!("{CANARY} of pia")).await;
    let comment = town.comment("bo", &post.id, "well done @ana").await;
    let reply = town.reply("ana", &post.id, Some(&comment.id), "thank you").await;
    town.like("bo", &post.id).await;
    town.like("mo", &other.id).await;
    town.share("bo", &post.id).await;
    town.report("bo", &post.id, "rude").await;
    town.moderate(&other.id, ModerationStatus::Flagged).await;
    let picture = town.upload("ana").await;
    value_pool.add_id(picture.s3_key.to_string());
    for id in [&post.id, &other.id, &hidden.id, &pia.id] {
        value_pool.add_id(id.to_string());
    }
    value_pool.add_id(comment.id.to_string());
    value_pool.add_id(reply.id.to_string());
}

/// Adds groups, rooms, assist threads and companies.
async fn add_groups_and_rooms(town: &Town, value_pool: &mut ValuePool) {
    let open = town.create_group("ana", "Runners").await;
    town.join("bo", &open).await;
    town.set_group_role("ana", &open, "bo", GroupRole::Admin).await;
    town.post_into("bo", &open, "tomorrow at six?").await;
    let closed = town.create_private_group("ana", "Bakers").await;
    town.join("bo", &closed).await;
    town.post_into("ana", &closed, &format!("{CANARY} among bakers")).await;
    let room = town.room_with("ana", "bo").await;
    let message = town.send_message("ana", &room, &format!("{CANARY} between two")).await;
    let thread = town.ask_for_help("ana", &["bo"]).await;
    town.help("bo", &thread.thread_id, &format!("{CANARY} for ana")).await;
    let company = town.company("ana", "Shoes and Sons").await;
    let offer = town.offer("ana", &company, "a tenth off", &["running"]).await;
    for id in [open.to_string(), closed.to_string(), room.to_string(), message.id.to_string()] {
        value_pool.add_id(id);
    }
    for id in [thread.thread_id.to_string(), company.to_string(), offer.id.to_string()] {
        value_pool.add_id(id);
    }
}

async fn add_goals(town: &Town, value_pool: &mut ValuePool) {
    let goal = town.set_goal("ana", "Half marathon").await;
    let task = town.add_task("ana", &goal.id, "Ten kilometres").await;
    let milestone = town.add_milestone("ana", &goal.id, 50, "Half of the half").await;
    town.mark_done(&task, true).await;
    let quest = town.set_quest("ana", NewQuest::tasks("Three this week", 3)).await;
    for id in [goal.id.to_string(), task.id.to_string(), milestone.id.to_string()] {
        value_pool.add_id(id);
    }
    value_pool.add_id(quest.id.to_string());
}
