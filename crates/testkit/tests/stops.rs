//! A crash between any two steps of a mutation or a processor leaves nothing half done (I1 to I6),
//! and a repeated request takes effect once (I8): every mutation and every processor is stopped at
//! each of its await points, before and after each operation of the store.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

#[path = "stops/complete.rs"]
mod complete;
#[path = "stops/goals.rs"]
mod goals;
#[path = "stops/media.rs"]
mod media;
#[path = "stops/mutations.rs"]
mod mutations;
#[path = "stops/notifications.rs"]
mod notifications;
#[path = "stops/processors.rs"]
mod processors;
#[path = "stops/quests.rs"]
mod quests;
#[path = "stops/rooms.rs"]
mod rooms;
#[path = "stops/stage.rs"]
mod stage;
#[path = "stops/trade.rs"]
mod trade;
#[path = "stops/webhooks.rs"]
mod webhooks;

use goals::goal_mutations;
use media::media_mutations;
use mutations::{Mutation, account_mutations, content_mutations, new_password, user_mutations};
use notifications::notification_mutations;
use quests::quest_mutations;
use rooms::room_mutations;
use roundtable_domain::{Code, PageInput};
use roundtable_model::table::Order;
use roundtable_model::{PostId, RequestId, UserId};
use roundtable_testkit::{ActionOutcome, Town, UserAction, stop_at};
use stage::{Stage, assert_clean};

/// More await points than any mutation or processor has.
const STOPS_MAX: usize = 2_000;

#[tokio::test]
async fn follows_and_groups_survive_a_stop_at_any_point() {
    survives_a_stop_at_any_point(user_mutations).await;
}

#[tokio::test]
async fn posts_and_comments_survive_a_stop_at_any_point() {
    survives_a_stop_at_any_point(content_mutations).await;
}

#[tokio::test]
async fn accounts_survive_a_stop_at_any_point() {
    survives_a_stop_at_any_point(account_mutations).await;
}

#[tokio::test]
async fn goals_survive_a_stop_at_any_point() {
    survives_a_stop_at_any_point(goal_mutations).await;
}

#[tokio::test]
async fn quests_survive_a_stop_at_any_point() {
    survives_a_stop_at_any_point(quest_mutations).await;
}

#[tokio::test]
async fn messages_survive_a_stop_at_any_point() {
    survives_a_stop_at_any_point(room_mutations).await;
}

#[tokio::test]
async fn notifications_survive_a_stop_at_any_point() {
    survives_a_stop_at_any_point(notification_mutations).await;
}

#[tokio::test]
async fn uploads_survive_a_stop_at_any_point() {
    survives_a_stop_at_any_point(media_mutations).await;
}

#[tokio::test]
async fn webhooks_survive_a_stop_at_any_point() {
    survives_a_stop_at_any_point(webhooks::webhook_mutations).await;
}

#[tokio::test]
async fn help_and_offers_survive_a_stop_at_any_point() {
    survives_a_stop_at_any_point(trade::trade_mutations).await;
}

async fn survives_a_stop_at_any_point(mutations: impl Fn(&Stage, &Town) -> Vec<Mutation>) {
    let first = Stage::set().await;
    let count = mutations(&first, &first.town_store.town(1).await).len();
    let once: RequestId = "once".parse().unwrap();
    let mut stopped = 0;
    for number in 0..count {
        for stops in 0..STOPS_MAX {
            let stage = first.fork();
            let slow = stage.town_store.slow_town(1).await;
            let mutation = mutations(&stage, &slow).swap_remove(number);
            let answer = stop_at(stops, mutation.perform(&slow, &once)).await;
            let what = format!("{mutation:?} stopped after {stops}");
            let town = stage.town_store.town(2).await;
            town.settle().await;
            assert_clean(&town, &what).await;
            if let Some(answer) = answer {
                assert!(answer.is_ok(), "{mutation:?}: {answer:?}");
                break;
            }
            stopped += 1;
            let repeated = mutation.perform(&town, &once).await;
            assert!(
                repeated.is_ok() || mutation.may_be_refused_again(),
                "{what}, then again: {repeated:?}"
            );
            assert_happened_once(&town, &mutation, &repeated, &what).await;
            town.settle().await;
            assert_clean(&town, &format!("{what}, then again")).await;
            assert!(stops + 1 < STOPS_MAX, "{mutation:?} has more await points than expected");
        }
    }
    assert!(stopped > 5 * count, "only {stopped} stops of {count} mutations");
}

/// A mutation that was stopped and repeated took effect once, and no user is locked out.
async fn assert_happened_once(
    town: &Town,
    mutation: &Mutation,
    repeated: &Result<ActionOutcome, Code>,
    what: &str,
) {
    match (mutation, repeated) {
        (Mutation::Media(_, sending), _) => sending.assert_happened_once(town, what).await,
        (Mutation::Act(caller, UserAction::Post { .. }), Ok(ActionOutcome::Post(post))) => {
            let page = PageInput::first();
            let posts = town.posts();
            let mine = posts.by(Some(caller), &caller.user_id, Order::Descending, &page);
            let mine = mine.await.unwrap().into_items();
            let texts = mine.iter().filter(|post| post.content.contains("#tag")).count();
            assert_eq!((texts, mine.iter().any(|other| other.id == *post)), (1, true), "{what}");
        }
        (Mutation::Quests(_, mutation), _) => mutation.assert_happened_once(town, what).await,
        (Mutation::Goals(caller, mutation), _) => {
            mutation.assert_happened_once(town, caller, what).await;
        }
        (Mutation::Room(_, mutation), _) => mutation.assert_happened_once(town, what).await,
        (Mutation::MarkRead(caller), _) => notifications::is_read(town, caller, what).await,
        (Mutation::Trade(_, trade), _) => trade.assert_happened_once(town, what).await,
        (Mutation::Toggle(caller, post), _) => {
            let liked = likes(town, &caller.user_id, post).await;
            assert_eq!(liked, caller.user_id != town.id("bo"), "{what}");
        }
        (Mutation::ChangePassword(..), _) => {
            let email = town.email("sue");
            town.accounts().login(&email, &new_password(), None).await.unwrap();
            town.accounts().login(&email, &town.password("sue"), None).await.unwrap_err();
        }
        (Mutation::Refresh(_), _) => {
            let (email, password) = (town.email("sue"), town.password("sue"));
            town.accounts().login(&email, &password, None).await.unwrap();
        }
        (Mutation::Logout(_) | Mutation::LogoutEverywhere(_) | Mutation::LogoutSession(..), _) => {
            let core = town.context().core();
            let lock = core.nick_lock(&"sue".parse().unwrap()).get().await.unwrap().unwrap();
            let sessions = core.sessions(&lock.user_id).all().await.unwrap();
            assert!(sessions.is_empty(), "{what}");
        }
        _ => {}
    }
}

async fn likes(town: &Town, user: &UserId, post: &PostId) -> bool {
    let core = town.context().core();
    let like = core.liked(std::slice::from_ref(post), user).get().await.unwrap();
    like.iter().any(Option::is_some)
}
