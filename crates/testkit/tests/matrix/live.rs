//! Who may listen to what, and who is told of it when it happens.

use futures::FutureExt;
use roundtable_domain::{Caller, Event, Live, LiveError, Matter};
use roundtable_model::table::{Change, StreamRead, StreamStart};
use roundtable_testkit::Town;
use tokio::task::unconstrained;

use super::acts::person;
use super::asks::{Answer, shows};
use super::stage::{Stage, owner};

/// As in the large table: whether somebody may listen, and whether they are told of it.
#[rustfmt::skip]
pub(crate) const TABLE: &str = "
object                   | operations                                                           | anon owner follower stranger blocked member former gadmin moder admin susp

public post              | live.listen                                                          | -    ok   ok   ok   404  ok   ok   ok   ok   ok   403
public post              | live.next                                                            | -    ok   ok   ok   no   ok   ok   ok   ok   ok   403
followers' post          | live.listen                                                          | -    ok   ok   404  404  404  404  404  ok   ok   403
followers' post          | live.next                                                            | -    ok   ok   no   no   no   no   no   ok   ok   403
private post             | live.listen                                                          | -    ok   404  404  404  404  404  404  ok   ok   403
private post             | live.next                                                            | -    ok   no   no   no   no   no   no   ok   ok   403
private account's post   | live.listen                                                          | -    ok   ok   404  404  404  404  404  ok   ok   403
private account's post   | live.next                                                            | -    ok   ok   no   no   no   no   no   ok   ok   403
group's post             | live.listen                                                          | -    ok   ok   ok   404  ok   ok   ok   ok   ok   403
group's post             | live.next                                                            | -    ok   ok   ok   no   ok   ok   ok   ok   ok   403
private group's post     | live.listen                                                          | -    ok   404  404  404  ok   404  ok   ok   ok   403
private group's post     | live.next                                                            | -    ok   no   no   no   ok   no   ok   ok   ok   403
pending post             | live.listen                                                          | -    ok   404  404  404  404  404  404  ok   ok   403
pending post             | live.next                                                            | -    no   no   no   no   no   no   no   no   no   403
flagged post             | live.listen                                                          | -    ok   404  404  404  404  404  404  ok   ok   403
flagged post             | live.next                                                            | -    ok   no   no   no   no   no   no   ok   ok   403
rejected post            | live.listen                                                          | -    ok   404  404  404  404  404  404  ok   ok   403
rejected post            | live.next                                                            | -    ok   no   no   no   no   no   no   ok   ok   403
deleted post             | live.listen                                                          | -    404  404  404  404  404  404  404  404  404  403
deleted post             | live.next                                                            | -    no   no   no   no   no   no   no   no   no   403
suspended account's post | live.listen                                                          | -    403  404  404  404  404  404  404  ok   ok   403
suspended account's post | live.next                                                            | -    403  no   no   no   no   no   no   ok   ok   403
deleted account's post   | live.listen                                                          | -    401  404  404  404  404  404  404  404  404  403
deleted account's post   | live.next                                                            | -    401  no   no   no   no   no   no   no   no   403

comment                  | live.next                                                            | -    ok   ok   ok   404  ok   ok   ok   ok   ok   403
hidden comment           | live.next                                                            | -    ok   no   no   404  no   no   no   ok   ok   403
deleted comment          | live.next                                                            | -    no   no   no   404  no   no   no   no   no   403
comment for followers    | live.next                                                            | -    ok   ok   404  404  404  404  404  ok   ok   403
comment in private group | live.next                                                            | -    ok   404  404  404  ok   404  ok   ok   ok   403

profile                  | live.listen                                                          | -    ok   ok   ok   404  ok   ok   ok   ok   ok   403
private profile          | live.listen                                                          | -    ok   ok   ok   404  ok   ok   ok   ok   ok   403
suspended profile        | live.listen                                                          | -    403  404  404  404  404  404  404  ok   ok   403
deleted profile          | live.listen                                                          | -    401  404  404  404  404  404  404  404  404  403
request                  | live.next                                                            | -    ok   no   no   404  no   no   no   no   no   403
group                    | live.listen live.next                                                | -    ok   ok   ok   ok   ok   ok   ok   ok   ok   403
private group            | live.listen                                                          | -    ok   ok   ok   ok   ok   ok   ok   ok   ok   403
private group            | live.next                                                            | -    ok   no   no   no   ok   no   ok   ok   ok   403
private group's request  | live.next                                                            | -    ok   no   no   no   no   no   ok   no   no   403
quest                    | live.listen live.next                                                | -    ok   404  404  404  404  404  404  404  404  403
audit                    | live.listen                                                          | -    403  403  403  403  403  403  403  ok   ok   403
";

/// Does what a row says as somebody, who hears of everything that has ever happened.
pub(crate) async fn answer(
    stage: &Stage,
    town: &Town,
    (operation, object): (&str, &str),
    viewer: Option<&Caller>,
) -> Answer {
    let Some(caller) = viewer else { return "-" };
    let live = Live::new(town.ground().clone());
    let matter = matter(stage, operation, object);
    let mut listener = match live.listen(caller, matter).await {
        Ok(listener) if operation == "live.next" => listener,
        other => return shows(other, |_| true),
    };
    let mut all: Result<Vec<Event>, LiveError> = Ok(Vec::new());
    // A few at a time: whoever listens to one thing has little room. Unconstrained, because nothing here
    // waits, and a listener of a task that never waits is kept waiting in the end.
    for changes in changes(town).await.chunks(32) {
        live.apply(changes);
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

/// What is listened to: to each post on its own, and to all of them.
fn matter(stage: &Stage, operation: &str, object: &str) -> Matter {
    match object {
        "audit" => Matter::Decisions(None),
        "quest" => Matter::Quests(person(object)),
        "group" | "private group" | "private group's request" => {
            Matter::Members(stage.groups[object].clone())
        }
        _ if stage.comments.contains_key(object) => Matter::Comments(stage.post_of(object)),
        _ if stage.posts.contains_key(object) && operation == "live.next" => Matter::NewPosts(None),
        _ => match stage.posts.get(object) {
            Some(post) => Matter::Post(post.clone()),
            None => Matter::Followers(owner(object).parse().unwrap()),
        },
    }
}

/// Whether somebody was told of the thing of a row.
fn is_it(stage: &Stage, object: &str, event: &Event) -> bool {
    match event {
        Event::Post(post) => Some(&post.id) == stage.posts.get(object),
        Event::Comment(comment) => Some(&comment.id) == stage.comments.get(object),
        Event::Follow(follow) => follow.follower_id == person(object),
        Event::Membership(member) if object == "private group's request" => {
            member.user_id.to_string() == "tia"
        }
        Event::Membership(member) => member.user_id == person(object),
        Event::Quest(quest) => quest.user_id == person(object),
        Event::Activity(_) | Event::Like { .. } => false,
    }
}

/// Everything that has happened.
async fn changes(town: &Town) -> Vec<Change> {
    let table = town.ground().core().table();
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
