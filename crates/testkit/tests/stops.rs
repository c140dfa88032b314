//! A crash between any two steps of a mutation or a processor leaves nothing half done (I1 to I6), and
//! its repetition has the effect of one (I8): every mutation and every processor is stopped at each of
//! its await points, in front of each operation of the store and behind it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

#[path = "stops/complete.rs"]
mod complete;
#[path = "stops/deeds.rs"]
mod deeds;
#[path = "stops/goals.rs"]
mod goals;
#[path = "stops/media.rs"]
mod media;
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

use deeds::{Deed, among_people, another_password, with_accounts, with_content};
use goals::with_goals;
use media::with_files;
use notifications::with_notifications;
use quests::with_quests;
use rooms::with_rooms;
use roundtable_domain::{Code, PageInput};
use roundtable_model::table::Order;
use roundtable_model::{PostId, RequestId, UserId};
use roundtable_testkit::{Act, Done, Town, stop_at};
use stage::{Stage, is_clean};

/// More await points than any mutation or processor has.
const STOPS_MAX: usize = 2_000;

/// R32, R33, I1, I2, I3, I5, I8
#[tokio::test]
async fn what_people_do_to_each_other_can_be_stopped_anywhere() {
    can_be_stopped_anywhere(among_people).await;
}

/// R32, R33, I1, I2, I3, I5, I8
#[tokio::test]
async fn what_people_write_can_be_stopped_anywhere() {
    can_be_stopped_anywhere(with_content).await;
}

/// R32, R33, I1, I2, I3, I5, I8
#[tokio::test]
async fn what_happens_to_accounts_can_be_stopped_anywhere() {
    can_be_stopped_anywhere(with_accounts).await;
}

/// R10, R32, R33, I1, I2, I3, I5, I8
#[tokio::test]
async fn what_people_want_to_reach_can_be_stopped_anywhere() {
    can_be_stopped_anywhere(with_goals).await;
}

/// R11, R31, R32, R33, I1, I3, I5, I8
#[tokio::test]
async fn what_people_challenge_themselves_to_can_be_stopped_anywhere() {
    can_be_stopped_anywhere(with_quests).await;
}

/// R15, R31, R32, R33, I1, I3, I5, I8
#[tokio::test]
async fn what_people_say_to_each_other_can_be_stopped_anywhere() {
    can_be_stopped_anywhere(with_rooms).await;
}

/// R32, R33, R38, I1, I3, I5, I8
#[tokio::test]
async fn what_people_were_told_can_be_marked_and_stopped_anywhere() {
    can_be_stopped_anywhere(with_notifications).await;
}

/// R32, R33, R43, I1, I3, I5, I8
#[tokio::test]
async fn what_people_send_can_be_stopped_anywhere() {
    can_be_stopped_anywhere(with_files).await;
}

/// R32, R33, R44, I1, I3, I5, I8
#[tokio::test]
async fn what_admins_do_with_webhooks_can_be_stopped_anywhere() {
    can_be_stopped_anywhere(webhooks::with_webhooks).await;
}

/// R16, R17, R32, R33, I1, I2, I3, I5, I8
#[tokio::test]
async fn what_people_ask_and_offer_can_be_stopped_anywhere() {
    can_be_stopped_anywhere(trade::with_trade).await;
}

async fn can_be_stopped_anywhere(deeds: impl Fn(&Stage, &Town) -> Vec<Deed>) {
    let first = Stage::set().await;
    let count = deeds(&first, &first.place.town(1).await).len();
    let once: RequestId = "once".parse().unwrap();
    let mut stopped = 0;
    for number in 0..count {
        for stops in 0..STOPS_MAX {
            let stage = first.again();
            let slow = stage.place.slow_town(1).await;
            let deed = deeds(&stage, &slow).swap_remove(number);
            let answer = stop_at(stops, deed.be_done(&slow, &once)).await;
            let what = format!("{deed:?} stopped after {stops}");
            let town = stage.place.town(2).await;
            town.settle().await;
            is_clean(&town, &what).await;
            if let Some(answer) = answer {
                assert!(answer.is_ok(), "{deed:?}: {answer:?}");
                break;
            }
            stopped += 1;
            let again = deed.be_done(&town, &once).await;
            assert!(again.is_ok() || deed.is_for_once(), "{what}, then again: {again:?}");
            happened_once(&town, &deed, &again, &what).await;
            town.settle().await;
            is_clean(&town, &format!("{what}, then again")).await;
            assert!(stops + 1 < STOPS_MAX, "{deed:?} has more await points than expected");
        }
    }
    assert!(stopped > 5 * count, "only {stopped} stops of {count} mutations");
}

/// What was stopped and done again is there once, and nobody is locked out.
async fn happened_once(town: &Town, deed: &Deed, again: &Result<Done, Code>, what: &str) {
    match (deed, again) {
        (Deed::Sending(_, sending), _) => sending.happened_once(town, what).await,
        (Deed::Act(caller, Act::Post { .. }), Ok(Done::Post(post))) => {
            let page = PageInput::first();
            let posts = town.posts();
            let mine = posts.by(Some(caller), &caller.user_id, Order::Descending, &page);
            let mine = mine.await.unwrap().into_items();
            let texts = mine.iter().filter(|post| post.content.contains("#tag")).count();
            assert_eq!((texts, mine.iter().any(|other| other.id == *post)), (1, true), "{what}");
        }
        (Deed::Quests(_, deed), _) => deed.happened_once(town, what).await,
        (Deed::Goals(caller, deed), _) => deed.happened_once(town, caller, what).await,
        (Deed::Talk(_, deed), _) => deed.happened_once(town, what).await,
        (Deed::MarkRead(caller), _) => notifications::is_read(town, caller, what).await,
        (Deed::Trade(_, trade), _) => trade.happened_once(town, what).await,
        (Deed::Toggle(caller, post), _) => {
            let liked = likes(town, &caller.user_id, post).await;
            assert_eq!(liked, caller.user_id != town.id("bo"), "{what}");
        }
        (Deed::ChangePassword(..), _) => {
            let email = town.email("sue");
            town.accounts().login(&email, &another_password(), None).await.unwrap();
            town.accounts().login(&email, &town.password("sue"), None).await.unwrap_err();
        }
        (Deed::Refresh(_), _) => {
            let (email, password) = (town.email("sue"), town.password("sue"));
            town.accounts().login(&email, &password, None).await.unwrap();
        }
        (Deed::Logout(_) | Deed::LogoutEverywhere(_) | Deed::LogoutSession(..), _) => {
            let core = town.ground().core();
            let lock = core.nick_lock(&"sue".parse().unwrap()).get().await.unwrap().unwrap();
            let sessions = core.sessions(&lock.user_id).all().await.unwrap();
            assert!(sessions.is_empty(), "{what}");
        }
        _ => {}
    }
}

async fn likes(town: &Town, user: &UserId, post: &PostId) -> bool {
    let core = town.ground().core();
    let like = core.liked(std::slice::from_ref(post), user).get().await.unwrap();
    like.iter().any(Option::is_some)
}
