//! Rows about home feeds and promotions.

use futures::FutureExt;
use roundtable_domain::{
    Caller, FeedEntry, FeedError, Feeds, LiveSource as _, NewPromotion, Promotions,
};
use roundtable_model::entities::Activity;
use roundtable_model::{
    ActivityId, ActivityVerb, ActorId, GroupId, PostId, PromotionReason, Span, Time, UserId,
};
use roundtable_testkit::Town;
use tokio::task::unconstrained;

use super::operations::{Answer, lists, page, shows};
use super::user_actions::person;

/// Like the main table: `ok` if the viewer's own feed shows it.
#[rustfmt::skip]
pub(crate) const TABLE: &str = "
object                   | operations                                                           | anon owner follower stranger blocked member former gadmin moder admin susp

public post              | feeds.home feeds.top feeds.next feeds.at                             | -    ok   ok   no   no   no   no   no   no   no   403
followers' post          | feeds.home feeds.top feeds.next feeds.at                             | -    ok   ok   no   no   no   no   no   no   no   403
private post             | feeds.home feeds.top feeds.next feeds.at                             | -    ok   no   no   no   no   no   no   no   no   403
private account's post   | feeds.home feeds.top feeds.next feeds.at                             | -    ok   ok   no   no   no   no   no   no   no   403
group's post             | feeds.home feeds.top feeds.next feeds.at                             | -    ok   no   no   no   ok   no   ok   no   no   403
private group's post     | feeds.home feeds.top feeds.next feeds.at                             | -    ok   no   no   no   ok   no   ok   no   no   403
flagged post             | feeds.home feeds.top feeds.next feeds.at                             | -    ok   no   no   no   no   no   no   no   no   403
rejected post            | feeds.home feeds.top feeds.next feeds.at                             | -    ok   no   no   no   no   no   no   no   no   403
deleted post             | feeds.home feeds.top feeds.next feeds.at                             | -    no   no   no   no   no   no   no   no   no   403
suspended account's post | feeds.home feeds.top feeds.next feeds.at                             | -    403  no   no   no   no   no   no   no   no   403
public post              | feeds.live                                                           | -    ok   ok   ok   ok   ok   ok   ok   ok   ok   403
profile                  | promotions.promotions promotions.set                                 | -    403  403  403  403  403  403  403  403  ok   403
";

pub(crate) async fn answer(
    (town, post): (&Town, Option<&PostId>),
    group: Option<&GroupId>,
    (operation, object): (&str, &str),
    viewer: Option<&Caller>,
) -> Answer {
    let Some(caller) = viewer else { return "-" };
    let bus = town.new_bus();
    let feeds = Feeds::new(town.context().clone(), &bus);
    let promotions = Promotions::new(town.context().clone());
    let subject_id = ActorId::from(&person(object));
    let is = |entry: &FeedEntry| entry.post.as_ref().map(|shown| &shown.id) == post;
    match operation {
        "feeds.home" => lists(feeds.home(caller, &page()).await, is),
        "feeds.top" => lists(feeds.top(caller, &page()).await, is),
        "feeds.at" => {
            let place = place(town, &person(object), group, post.unwrap()).await;
            let found = feeds.at(caller, &[place]).await;
            shows(found, |found| found.iter().flatten().any(is))
        }
        "feeds.live" => shows(feeds.live(caller, None).await, |_| true),
        "feeds.next" => shows(heard(&feeds, caller).await, |all| all.iter().any(is)),
        "promotions.promotions" => {
            shows(promotions.promotions(caller, &[subject_id]).await, |_| true)
        }
        "promotions.set" => {
            let (reason, thresholds) = (PromotionReason::Manual, None);
            let input = NewPromotion { subject_id, fanout_enabled: true, reason, thresholds };
            shows(promotions.set(caller, &input, None).await, |_| true)
        }
        other => panic!("no row handler for {other} of {object}"),
    }
}

/// The key of the activity about a post.
pub(crate) async fn place(
    town: &Town,
    author: &UserId,
    group: Option<&GroupId>,
    post: &PostId,
) -> (ActorId, Time, ActivityId) {
    let home = group.map_or_else(|| author.into(), ActorId::from);
    let told = town.context().core().activities_of(&home, Span::ALL).all().await.unwrap();
    let is_it = |activity: &Activity| {
        (activity.verb, activity.object_id.recast()) == (ActivityVerb::Post, post.clone())
    };
    let activity = told.into_iter().find(is_it).unwrap();
    (home, activity.created_at, activity.activity_id)
}

/// Reads the live feed from the beginning.
async fn heard(feeds: &Feeds, caller: &Caller) -> Result<Vec<FeedEntry>, FeedError> {
    let beginning = "00000000000000000000000000".parse().unwrap();
    let mut live = feeds.live(caller, Some(&beginning)).await?;
    let mut all = Vec::new();
    while let Some(entry) = unconstrained(live.next()).now_or_never() {
        all.push(entry?);
    }
    Ok(all)
}
