//! Rows about live subscriptions: who may subscribe, and who receives events.

use futures::FutureExt;
use roundtable_domain::{Caller, LiveError, LiveEvent, LiveSource as _, LiveUpdates, Topic};
use roundtable_model::table::{Change, StreamRead, StreamStart};
use roundtable_testkit::Town;
use tokio::task::unconstrained;

use super::operations::{Answer, shows};
use super::stage::{Stage, owner};
use super::user_actions::person;

/// Like the main table: `ok` if the viewer may subscribe and receives the event.
#[rustfmt::skip]
pub(crate) const TABLE: &str = "
object                   | operations                                                           | anon owner follower stranger blocked member former gadmin moder admin susp

public post              | live.subscribe                                                          | -    ok   ok   ok   404  ok   ok   ok   ok   ok   403
public post              | live.next                                                            | -    ok   ok   ok   no   ok   ok   ok   ok   ok   403
followers' post          | live.subscribe                                                          | -    ok   ok   404  404  404  404  404  ok   ok   403
followers' post          | live.next                                                            | -    ok   ok   no   no   no   no   no   ok   ok   403
private post             | live.subscribe                                                          | -    ok   404  404  404  404  404  404  ok   ok   403
private post             | live.next                                                            | -    ok   no   no   no   no   no   no   ok   ok   403
private account's post   | live.subscribe                                                          | -    ok   ok   404  404  404  404  404  ok   ok   403
private account's post   | live.next                                                            | -    ok   ok   no   no   no   no   no   ok   ok   403
group's post             | live.subscribe                                                          | -    ok   ok   ok   404  ok   ok   ok   ok   ok   403
group's post             | live.next                                                            | -    ok   ok   ok   no   ok   ok   ok   ok   ok   403
private group's post     | live.subscribe                                                          | -    ok   404  404  404  ok   404  ok   ok   ok   403
private group's post     | live.next                                                            | -    ok   no   no   no   ok   no   ok   ok   ok   403
pending post             | live.subscribe                                                          | -    ok   404  404  404  404  404  404  ok   ok   403
pending post             | live.next                                                            | -    no   no   no   no   no   no   no   no   no   403
flagged post             | live.subscribe                                                          | -    ok   404  404  404  404  404  404  ok   ok   403
flagged post             | live.next                                                            | -    ok   no   no   no   no   no   no   ok   ok   403
rejected post            | live.subscribe                                                          | -    ok   404  404  404  404  404  404  ok   ok   403
rejected post            | live.next                                                            | -    ok   no   no   no   no   no   no   ok   ok   403
deleted post             | live.subscribe                                                          | -    404  404  404  404  404  404  404  404  404  403
deleted post             | live.next                                                            | -    no   no   no   no   no   no   no   no   no   403
suspended account's post | live.subscribe                                                          | -    403  404  404  404  404  404  404  ok   ok   403
suspended account's post | live.next                                                            | -    403  no   no   no   no   no   no   ok   ok   403
deleted account's post   | live.subscribe                                                          | -    401  404  404  404  404  404  404  404  404  403
deleted account's post   | live.next                                                            | -    401  no   no   no   no   no   no   no   no   403

comment                  | live.next                                                            | -    ok   ok   ok   404  ok   ok   ok   ok   ok   403
hidden comment           | live.next                                                            | -    ok   no   no   404  no   no   no   ok   ok   403
deleted comment          | live.next                                                            | -    no   no   no   404  no   no   no   no   no   403
comment for followers    | live.next                                                            | -    ok   ok   404  404  404  404  404  ok   ok   403
comment in private group | live.next                                                            | -    ok   404  404  404  ok   404  ok   ok   ok   403

profile                  | live.subscribe                                                          | -    ok   ok   ok   404  ok   ok   ok   ok   ok   403
private profile          | live.subscribe                                                          | -    ok   ok   ok   404  ok   ok   ok   ok   ok   403
suspended profile        | live.subscribe                                                          | -    403  404  404  404  404  404  404  ok   ok   403
deleted profile          | live.subscribe                                                          | -    401  404  404  404  404  404  404  404  404  403
request                  | live.next                                                            | -    ok   no   no   404  no   no   no   no   no   403
group                    | live.subscribe live.next                                                | -    ok   ok   ok   ok   ok   ok   ok   ok   ok   403
private group            | live.subscribe                                                          | -    ok   ok   ok   ok   ok   ok   ok   ok   ok   403
private group            | live.next                                                            | -    ok   no   no   no   ok   no   ok   ok   ok   403
private group's request  | live.next                                                            | -    ok   no   no   no   no   no   ok   no   no   403
quest                    | live.subscribe live.next                                                | -    ok   404  404  404  404  404  404  404  404  403
audit                    | live.subscribe                                                          | -    403  403  403  403  403  403  403  ok   ok   403
";

/// Performs a row with a subscription that receives all past changes.
pub(crate) async fn answer(
    stage: &Stage,
    town: &Town,
    (operation, object): (&str, &str),
    viewer: Option<&Caller>,
) -> Answer {
    let Some(caller) = viewer else { return "-" };
    let bus = town.new_bus();
    let live = LiveUpdates::new(town.context().clone(), &bus);
    let topic = topic(stage, operation, object);
    let mut listener = match live.subscribe(caller, topic).await {
        Ok(listener) if operation == "live.next" => listener,
        other => return shows(other, |_| true),
    };
    let mut all: Result<Vec<LiveEvent>, LiveError> = Ok(Vec::new());
    // A few at a time, because the buffer of a subscription is small. Unconstrained, because
    // nothing here waits, and tokio's budget would make the subscription wait in the end.
    for changes in changes(town).await.chunks(32) {
        bus.apply(changes);
        while let (Ok(told), Some(next)) = (&mut all, unconstrained(listener.next()).now_or_never())
        {
            match next {
                Ok(event) => told.push(event),
                Err(error) => all = Err(error),
            }
        }
    }
    shows(all, |all| all.iter().any(|event| is_it(stage, object, event)))
}

/// The topic of a row: a single post, or all of them.
fn topic(stage: &Stage, operation: &str, object: &str) -> Topic {
    match object {
        "audit" => Topic::Decisions(None),
        "quest" => Topic::Quests(person(object)),
        "group" | "private group" | "private group's request" => {
            Topic::Members(stage.groups[object].clone())
        }
        _ if stage.comments.contains_key(object) => Topic::Comments(stage.post_of(object)),
        _ if stage.posts.contains_key(object) && operation == "live.next" => Topic::NewPosts(None),
        _ => match stage.posts.get(object) {
            Some(post) => Topic::Post(post.clone()),
            None => Topic::Followers(owner(object).parse().unwrap()),
        },
    }
}

/// Returns `true` if the event is about the object of a row.
fn is_it(stage: &Stage, object: &str, event: &LiveEvent) -> bool {
    match event {
        LiveEvent::Post(post) => Some(&post.id) == stage.posts.get(object),
        LiveEvent::Comment(comment) => Some(&comment.id) == stage.comments.get(object),
        LiveEvent::Follow(follow) => follow.follower_id == person(object),
        LiveEvent::Membership(member) if object == "private group's request" => {
            member.user_id.to_string() == "tia"
        }
        LiveEvent::Membership(member) => member.user_id == person(object),
        LiveEvent::Quest(quest) => quest.user_id == person(object),
        LiveEvent::Activity(_) | LiveEvent::Like { .. } => false,
    }
}

async fn changes(town: &Town) -> Vec<Change> {
    let table = town.context().core().table();
    let shard = table.stream_shards().await.unwrap().remove(0).id;
    let (mut all, mut start) = (Vec::new(), StreamStart::Oldest);
    loop {
        let page = table.stream_read(StreamRead::new(&shard, start)).await.unwrap();
        if page.changes.is_empty() {
            return all;
        }
        all.extend(page.changes);
        start = StreamStart::After(page.next.unwrap());
    }
}
