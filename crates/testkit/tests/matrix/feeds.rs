//! Who gets which answer about home feeds, and about whose activities are copied into them.

use futures::FutureExt;
use roundtable_domain::{Caller, FeedEntry, FeedError, Feeds, NewPromotion, Promotions};
use roundtable_model::{ActorId, PostId, PromotionReason};
use roundtable_testkit::Town;

use super::acts::person;
use super::asks::{Answer, lists, page, shows};

/// As in the large table: whether somebody's own feed shows it.
#[rustfmt::skip]
pub(crate) const TABLE: &str = "
object                   | operations                                                           | anon owner follower stranger blocked member former gadmin moder admin susp

public post              | feeds.home feeds.next                                                | -    ok   ok   no   no   no   no   no   no   no   403
followers' post          | feeds.home feeds.next                                                | -    ok   ok   no   no   no   no   no   no   no   403
private post             | feeds.home feeds.next                                                | -    ok   no   no   no   no   no   no   no   no   403
private account's post   | feeds.home feeds.next                                                | -    ok   ok   no   no   no   no   no   no   no   403
group's post             | feeds.home feeds.next                                                | -    ok   no   no   no   ok   no   ok   no   no   403
private group's post     | feeds.home feeds.next                                                | -    ok   no   no   no   ok   no   ok   no   no   403
flagged post             | feeds.home feeds.next                                                | -    ok   no   no   no   no   no   no   no   no   403
rejected post            | feeds.home feeds.next                                                | -    ok   no   no   no   no   no   no   no   no   403
deleted post             | feeds.home feeds.next                                                | -    no   no   no   no   no   no   no   no   no   403
suspended account's post | feeds.home feeds.next                                                | -    403  no   no   no   no   no   no   no   no   403
public post              | feeds.live                                                           | -    ok   ok   ok   ok   ok   ok   ok   ok   ok   403
profile                  | promotions.get promotions.set                                        | -    403  403  403  403  403  403  403  403  ok   403
";

pub(crate) async fn answer(
    (town, post): (&Town, Option<&PostId>),
    (operation, object): (&str, &str),
    viewer: Option<&Caller>,
) -> Answer {
    let Some(caller) = viewer else { return "-" };
    let feeds = Feeds::new(town.ground().clone());
    let promotions = Promotions::new(town.ground().clone());
    let subject_id = ActorId::from(&person(object));
    let is = |entry: &FeedEntry| entry.post.as_ref().map(|shown| &shown.id) == post;
    match operation {
        "feeds.home" => lists(feeds.home(caller, &page()).await, is),
        "feeds.live" => shows(feeds.live(caller, None).await, |_| true),
        "feeds.next" => shows(heard(&feeds, caller).await, |all| all.iter().any(is)),
        "promotions.get" => shows(promotions.get(caller, &subject_id).await, |_| true),
        "promotions.set" => {
            let (reason, thresholds) = (PromotionReason::Manual, None);
            let input = NewPromotion { subject_id, fanout_enabled: true, reason, thresholds };
            shows(promotions.set(caller, &input, None).await, |_| true)
        }
        other => panic!("nobody knows how to ask {other} of {object}"),
    }
}

/// Everything that somebody is told who listens from the beginning on.
async fn heard(feeds: &Feeds, caller: &Caller) -> Result<Vec<FeedEntry>, FeedError> {
    let beginning = "00000000000000000000000000".parse().unwrap();
    let mut live = feeds.live(caller, Some(&beginning)).await?;
    let mut all = Vec::new();
    while let Some(entry) = live.next().now_or_never() {
        all.push(entry?);
    }
    Ok(all)
}
