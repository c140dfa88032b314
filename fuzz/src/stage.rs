//! A town with something of everything in it, asked and listened to through the API by all kinds of
//! viewers.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;

use async_graphql::{Request, Response, Variables};
use futures::{FutureExt as _, Stream, StreamExt as _};
use roundtable_domain::{NewPost, NewQuest};
use roundtable_graphql::{Asked, Client, Limits, Schema, Services};
use roundtable_model::{GroupRole, ModerationStatus, Role, UserStatus, Visibility};
use roundtable_testkit::Town;
use serde_json::Value;
use tokio::task::{unconstrained, yield_now};

use crate::pool::Pool;
use crate::services::{services, shown};
use crate::writing::Document;

/// What only those may read whom it is for.
pub(crate) const CANARY: &str = "canary";
/// Who asks. The first is nobody in particular; the first two know nobody.
pub(crate) const VIEWERS: [&str; 9] = ["", "dee", "ana", "bo", "cy", "pia", "eve", "mo", "ada"];
/// Those who listen at the same time.
const EARS: usize = 6;
/// Turns that others get before there is nothing to be told.
const TURNS: usize = 30;

/// Somebody who listens, and what they asked for.
type Ear = (String, Pin<Box<dyn Stream<Item = Response> + Send>>);

/// A town, asked through the API.
pub(crate) struct Stage {
    town: Town,
    services: Services,
    schema: Schema,
    ears: VecDeque<Ear>,
    /// How often something was asked.
    pub(crate) asked: usize,
}

impl Stage {
    /// A fresh one, with what there is to ask about.
    pub(crate) async fn new(schema: Schema) -> (Self, Pool) {
        let (town, pool) = peopled().await;
        let services = services(&town);
        (Self { town, services, schema, ears: VecDeque::new(), asked: 0 }, pool)
    }

    fn client(&self, viewer: &str) -> Client {
        let caller = match viewer {
            "" => None,
            "mo" => Some(self.town.staff("mo", Role::Moderator)),
            "ada" => Some(self.town.staff("ada", Role::Admin)),
            name => Some(self.town.caller(name)),
        };
        Client { caller, session: None, address: Some(self.town.address()) }
    }

    fn request(&self, viewer: &str, document: &Document) -> Request {
        let asked = Asked::new(self.client(viewer), self.services.clone());
        Request::new(&document.text)
            .variables(Variables::from_json(document.variables.clone()))
            .data(Arc::new(asked))
    }

    /// Somebody asks.
    pub(crate) async fn ask(&mut self, viewer: &str, document: &Document) -> Value {
        self.asked += 1;
        self.town.pass_ms(37);
        shown(&self.schema.execute(self.request(viewer, document)).await)
    }

    /// Somebody listens; what they are told at once.
    pub(crate) async fn listen(&mut self, viewer: &str, document: &Document) -> Option<Value> {
        let mut ear = Box::pin(self.schema.execute_stream(self.request(viewer, document)));
        let told = glance(&mut ear).await;
        if self.ears.len() == EARS {
            self.ears.pop_front();
        }
        self.ears.push_back((document.text.clone(), ear));
        told
    }

    /// Lets everything follow that follows from what was done; what those are told who listen, with what
    /// they asked for.
    pub(crate) async fn settle(&mut self) -> Vec<(String, Value)> {
        let runner = self.town.runner();
        runner.drain().await.unwrap();
        let parked: u64 = runner.figures().lanes.iter().map(|lane| lane.parked).sum();
        assert_eq!(parked, 0, "some changes could not be processed: {:?}", runner.figures());
        self.services.notifications.catch_up().await.unwrap();
        self.services.feeds.catch_up().await.unwrap();
        self.services.live.catch_up().await.unwrap();
        let mut all = Vec::new();
        for (asked, ear) in &mut self.ears {
            if let Some(told) = glance(ear).await {
                all.push((asked.clone(), told));
            }
        }
        all
    }
}

/// What is there to be told.
async fn glance(ear: &mut (impl Stream<Item = Response> + Unpin)) -> Option<Value> {
    for _ in 0..TURNS {
        if let Some(next) = unconstrained(ear.next()).now_or_never() {
            return next.as_ref().map(shown);
        }
        yield_now().await;
    }
    None
}

/// The schema, as it is served.
pub(crate) fn schema() -> Schema {
    Limits::default().on(roundtable_graphql::schema())
}

/// A town with something of everything in it.
async fn peopled() -> (Town, Pool) {
    let town = Town::of(["ana", "bo", "cy", "dee", "eve", "mo", "ada"]).await;
    town.move_in("pia", |pia| pia.is_private = true).await;
    let mut pool = Pool::default();
    VIEWERS.iter().skip(1).for_each(|name| pool.id(*name));
    town.employ("mo", Role::Moderator).await;
    town.employ("ada", Role::Admin).await;
    for (one, other) in [("bo", "ana"), ("ana", "bo"), ("mo", "ana"), ("ana", "pia")] {
        town.follow(one, other).await;
    }
    written(&town, &mut pool).await;
    shared(&town, &mut pool).await;
    pursued(&town, &mut pool).await;
    town.block("ana", "cy").await;
    town.set_status("eve", UserStatus::Suspended).await;
    town.settle().await;
    (town, pool)
}

/// Posts, and what people said to them.
async fn written(town: &Town, pool: &mut Pool) {
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
    pool.id(picture.s3_key.to_string());
    for id in [&post.id, &other.id, &hidden.id, &pia.id] {
        pool.id(id.to_string());
    }
    pool.id(comment.id.to_string());
    pool.id(reply.id.to_string());
}

/// Groups, rooms, calls for help, companies.
async fn shared(town: &Town, pool: &mut Pool) {
    let open = town.found("ana", "Runners").await;
    town.join("bo", &open).await;
    town.appoint("ana", &open, "bo", GroupRole::Admin).await;
    town.post_into("bo", &open, "tomorrow at six?").await;
    let closed = town.found_private("ana", "Bakers").await;
    town.join("bo", &closed).await;
    town.post_into("ana", &closed, &format!("{CANARY} among bakers")).await;
    let room = town.room_with("ana", "bo").await;
    let said = town.say("ana", &room, &format!("{CANARY} between two")).await;
    let thread = town.ask_for_help("ana", &["bo"]).await;
    town.help("bo", &thread.thread_id, &format!("{CANARY} for ana")).await;
    let company = town.company("ana", "Shoes and Sons").await;
    let offer = town.offer("ana", &company, "a tenth off", &["running"]).await;
    for id in [open.to_string(), closed.to_string(), room.to_string(), said.id.to_string()] {
        pool.id(id);
    }
    for id in [thread.thread_id.to_string(), company.to_string(), offer.id.to_string()] {
        pool.id(id);
    }
}

/// Goals, tasks, quests.
async fn pursued(town: &Town, pool: &mut Pool) {
    let goal = town.set_goal("ana", "Half marathon").await;
    let task = town.add_task("ana", &goal.id, "Ten kilometres").await;
    let milestone = town.add_milestone("ana", &goal.id, 50, "Half of the half").await;
    town.mark_done(&task, true).await;
    let quest = town.set_quest("ana", NewQuest::tasks("Three this week", 3)).await;
    for id in [goal.id.to_string(), task.id.to_string(), milestone.id.to_string()] {
        pool.id(id);
    }
    pool.id(quest.id.to_string());
}
