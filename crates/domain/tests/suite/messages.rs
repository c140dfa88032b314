//! Messages, as members read and receive them (R15, R28, R31 to R33, I1, I15).

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::join_all;
use roundtable_conformance::Reference;
use roundtable_domain::{
    Code, LiveRoom, LiveSource as _, Messages, NewMessage, PageInput, Refusal, RoomError,
    room_of_two,
};
use roundtable_model::entities::Message;
use roundtable_model::table::Order::{self, Ascending, Descending};
use roundtable_model::table::{ManualClock, Store};
use roundtable_model::{RequestId, RoomId, Span, UserStatus};
use roundtable_testkit::{Town, YieldingBackend};
use tokio::time::timeout;

fn code<T: std::fmt::Debug>(answer: Result<T, RoomError>) -> Code {
    answer.unwrap_err().code()
}

async fn sent(town: &Town, name: &str, room: &RoomId, text: &str) -> Result<Message, RoomError> {
    let message = NewMessage::text(room.clone(), text);
    town.messages().send(&town.caller(name), &message, None).await
}

/// The texts of a room, read in pages of this size.
async fn texts(town: &Town, name: &str, room: &RoomId, order: Order, size: usize) -> Vec<String> {
    let (messages, caller) = (town.messages(), town.caller(name));
    let (mut texts, mut after) = (Vec::new(), None);
    loop {
        let input = PageInput { limit: Some(size), after: after.take() };
        let page = messages.list(&caller, room, order, &input).await.unwrap();
        after.clone_from(&page.next);
        texts.extend(page.into_items().into_iter().map(|message| message.text));
        if after.is_none() {
            return texts;
        }
    }
}

/// All messages of a room as stored, oldest first.
async fn stored(town: &Town, room: &RoomId) -> Vec<Message> {
    let listing = town.context().core().messages(room, Span::ALL).order(Ascending);
    listing.all().await.unwrap()
}

/// I15: numbers have no gaps, and times rise with the numbers.
fn assert_in_order(messages: &[Message]) {
    let numbers: Vec<u64> = messages.iter().map(|message| message.seq).collect();
    assert_eq!(numbers, (1..=messages.len() as u64).collect::<Vec<_>>());
    assert!(messages.is_sorted_by(|one, next| one.created_at < next.created_at));
    assert!(messages.iter().all(|message| message.id.time() == Some(message.created_at)));
}

/// R28, R30: pages meet exactly in either order.
#[tokio::test]
async fn history_is_the_same_in_both_orders() {
    let town = Town::of(["ana", "bo"]).await;
    let room = town.room_with("ana", "bo").await;
    let mut sent: Vec<String> = (1..=7).map(|number| format!("message {number}")).collect();
    for (number, text) in sent.iter().enumerate() {
        town.send_message(if number % 2 == 0 { "ana" } else { "bo" }, &room, text).await;
    }
    for size in [1, 2, 7, 100] {
        assert_eq!(texts(&town, "ana", &room, Ascending, size).await, sent);
    }
    sent.reverse();
    for size in [1, 3, 100] {
        assert_eq!(texts(&town, "bo", &room, Descending, size).await, sent);
    }
}

/// R30: messages sent while a user pages are neither skipped nor repeated.
#[tokio::test]
async fn pages_continue_where_the_last_one_ended() {
    let town = Town::of(["ana", "bo"]).await;
    let room = town.room_with("ana", "bo").await;
    for text in ["one", "two", "three"] {
        town.send_message("ana", &room, text).await;
    }
    let (messages, bo) = (town.messages(), town.caller("bo"));
    let first = PageInput { limit: Some(2), after: None };
    let newest = messages.list(&bo, &room, Descending, &first).await.unwrap();
    town.send_message("ana", &room, "four").await;
    let older = PageInput { limit: Some(2), after: newest.next.clone() };
    let older = messages.list(&bo, &room, Descending, &older).await.unwrap();
    let texts = |page: roundtable_domain::Page<Message>| {
        page.into_items().into_iter().map(|message| message.text).collect::<Vec<_>>()
    };
    assert_eq!(
        (texts(newest), texts(older)),
        (vec!["three".into(), "two".into()], vec!["one".into()])
    );
}

/// R33: the message, the head and the sender's read position are one transaction.
#[tokio::test]
async fn a_message_raises_the_head_and_is_read_by_its_sender() {
    let town = Town::of(["ana", "bo"]).await;
    let room = town.room_with("ana", "bo").await;
    town.send_message("bo", &room, "hello").await;
    let message = town.send_message("ana", &room, "hello yourself").await;
    let rows = town.rows(&format!("ROOM#{room}"), "").await;
    assert_eq!(rows[..3], ["HEAD seq=2", "MEMBER#ana readSeq=2", "MEMBER#bo readSeq=1"]);
    assert_eq!(message.seq, 2);
    assert_eq!(town.unread("ana", &room).await, 0, "sending reads what came before");
    assert_eq!(town.unread("bo", &room).await, 1);
}

/// R28, I15: history is in commit order even where clocks differ.
#[tokio::test]
async fn a_clock_that_steps_back_changes_no_order() {
    let town = Town::of(["ana", "bo"]).await;
    let room = town.room_with("ana", "bo").await;
    town.send_message("ana", &room, "first").await;
    town.clock().set_ms(town.now().ms() - 1_500);
    town.send_message("bo", &room, "second").await;
    town.send_message("ana", &room, "third").await;
    assert_eq!(town.message_texts("bo", &room).await, ["first", "second", "third"]);
    assert_in_order(&stored(&town, &room).await);
}

/// R28, I1, I15: concurrent senders in two processes lose nothing and keep one order; each unread
/// count is the number of messages after the member's own last one.
#[tokio::test]
async fn concurrent_senders_keep_one_order() {
    const NAMES: [&str; 5] = ["ana", "bo", "cleo", "dora", "eve"];
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let backend = Arc::new(Reference::new(clock.clone()));
    let town = Town::on(Store::shared(backend.clone()), clock.clone(), Town::settings(), 0).await;
    for name in NAMES {
        town.add_user(name, |_| {}).await;
    }
    let group = town.create_group("ana", "runners").await;
    for name in ["bo", "cleo", "dora", "eve"] {
        town.join(name, &group).await;
    }
    let room = town.room_of("ana", &group).await;
    let mut processes = Vec::new();
    for process in 1..=2 {
        let store = Store::new(YieldingBackend::shared(backend.clone()));
        processes.push(Town::on(store, clock.clone(), Town::settings(), process).await);
    }
    let senders = NAMES[..4].iter().flat_map(|name| {
        let (processes, room) = (&processes, &room);
        processes.iter().enumerate().map(move |(number, process)| async move {
            for round in 0..5 {
                let text = format!("{name} {number} {round}");
                sent(process, name, room, &text).await.unwrap();
            }
        })
    });
    join_all(senders).await;
    let messages = stored(&town, &room).await;
    assert_eq!(messages.len(), 40);
    assert_in_order(&messages);
    for name in NAMES {
        let own = messages.iter().rposition(|message| message.user_id == town.id(name));
        let unread = own.map_or(messages.len(), |own| messages.len() - own - 1);
        assert_eq!(town.unread(name, &room).await, unread as u64, "{name}");
    }
}

/// R15, I1, I10: an expired message is gone and no longer counted; an expiry in the past is refused.
#[tokio::test]
async fn an_expired_message_is_not_unread() {
    let town = Town::of(["ana", "bo"]).await;
    let room = town.room_with("ana", "bo").await;
    let soon = town.now().plus_ms(60_000);
    let message = town.send_expiring_message("ana", &room, "for a minute", Some(soon)).await;
    assert_eq!(message.ttl.unwrap().time(), soon);
    town.send_message("ana", &room, "for ever").await;
    assert_eq!(town.unread("bo", &room).await, 2);
    town.advance_ms(60_000);
    assert_eq!(town.unread("bo", &room).await, 1);
    assert_eq!(town.message_texts("bo", &room).await, ["for ever"]);
    let late = NewMessage { expires_at: Some(soon), ..NewMessage::text(room.clone(), "late") };
    let answer = town.messages().send(&town.caller("ana"), &late, None).await;
    assert_eq!(code(answer), Code::BadRequest);
    let next = town.send_message("bo", &room, "still here").await;
    assert_eq!(next.seq, 3, "numbers are not given twice");
}

/// R31: empty and overlong messages are refused, and so are users outside the room.
#[tokio::test]
async fn invalid_messages_are_refused() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let room = town.room_with("ana", "bo").await;
    for text in [String::from(" \n"), "x".repeat(4_001)] {
        assert_eq!(code(sent(&town, "ana", &room, &text).await), Code::BadRequest);
    }
    assert_eq!(code(sent(&town, "cleo", &room, "let me in").await), Code::NotFound);
    let (messages, cleo, page) = (town.messages(), town.caller("cleo"), PageInput::first());
    assert_eq!(code(messages.list(&cleo, &room, Descending, &page).await), Code::NotFound);
    assert_eq!(code(messages.live(&town.new_bus(), &cleo, &room, None).await), Code::NotFound);
    town.set_status("ana", UserStatus::Suspended).await;
    assert_eq!(code(sent(&town, "ana", &room, "hello?").await), Code::Forbidden);
    assert_eq!(code(sent(&town, "bo", &room, "hello?").await), Code::NotFound, "ana is away");
    assert!(stored(&town, &room).await.is_empty());
}

/// R32, I8: a repeated request sends one message.
#[tokio::test]
async fn a_repeated_request_sends_one_message() {
    let town = Town::of(["ana", "bo"]).await;
    let room = town.room_with("ana", "bo").await;
    let (messages, ana): (_, _) = (town.messages(), town.caller("ana"));
    let once: RequestId = "once".parse().unwrap();
    let hello = NewMessage::text(room.clone(), "hello");
    let first = messages.send(&ana, &hello, Some(&once)).await.unwrap();
    assert_eq!(messages.send(&ana, &hello, Some(&once)).await.unwrap(), first);
    assert_eq!(stored(&town, &room).await.len(), 1);
    let bye = NewMessage::text(room.clone(), "bye");
    assert_eq!(code(messages.send(&ana, &bye, Some(&once)).await), Code::IdempotencyMismatch);
}

/// R15, I9: after a block, neither user can write to the other or see their messages.
#[tokio::test]
async fn a_block_closes_a_direct_room() {
    let town = Town::of(["ana", "bo"]).await;
    let room = town.room_with("ana", "bo").await;
    town.send_message("ana", &room, "from ana").await;
    town.send_message("bo", &room, "from bo").await;
    town.block("ana", "bo").await;
    for (name, own) in [("ana", "from ana"), ("bo", "from bo")] {
        assert_eq!(code(sent(&town, name, &room, "and").await), Code::NotFound, "{name}");
        assert_eq!(town.message_texts(name, &room).await, [own]);
        assert_eq!(town.unread(name, &room).await, 0, "what is hidden is not counted");
    }
    town.blocks().unblock(&town.caller("ana"), &town.id("bo"), None).await.unwrap();
    town.send_message("bo", &room, "sorry").await;
    assert_eq!(town.message_texts("ana", &room).await, ["from ana", "from bo", "sorry"]);
}

/// R15, I9: members of a group see all others except those they block or are blocked by.
#[tokio::test]
async fn blocked_members_are_hidden_in_a_group_room() {
    let town = Town::of(["ana", "bo", "cleo", "sid"]).await;
    let group = town.create_group("ana", "runners").await;
    for name in ["bo", "cleo", "sid"] {
        town.join(name, &group).await;
    }
    let room = town.room_of("ana", &group).await;
    for name in ["ana", "bo", "cleo", "sid"] {
        town.send_message(name, &room, name).await;
    }
    town.block("ana", "bo").await;
    town.set_status("sid", UserStatus::Suspended).await;
    assert_eq!(town.message_texts("ana", &room).await, ["ana", "cleo"]);
    assert_eq!(town.unread("ana", &room).await, 1);
    assert_eq!(town.message_texts("bo", &room).await, ["bo", "cleo"]);
    assert_eq!(town.message_texts("cleo", &room).await, ["ana", "bo", "cleo"]);
    let (messages, sid, page) = (town.messages(), town.caller("sid"), PageInput::first());
    assert_eq!(code(messages.list(&sid, &room, Descending, &page).await), Code::Forbidden);
}

/// R15, I15: a member removed from a group at any moment sends nothing after it and gets no
/// membership in the room.
#[tokio::test]
async fn a_removed_member_cannot_send() {
    for operations in 1.. {
        let town = Town::of(["ana", "bo"]).await;
        let group = town.create_group("ana", "runners").await;
        town.join("bo", &group).await;
        let room = town.room_of("ana", &group).await;
        let (groups, ana, bo) = (town.groups(), town.caller("ana"), town.id("bo"));
        let remove = async move || drop(groups.remove(&ana, &group, &bo, None).await.unwrap());
        let (context, meanwhile) = town.interleave(operations, remove);
        let message = NewMessage::text(room.clone(), "hello");
        let answer = Messages::new(context).send(&town.caller("bo"), &message, None).await;
        let sent = stored(&town, &room).await.len();
        assert_eq!(sent, usize::from(answer.is_ok()), "after {operations}");
        if !meanwhile.happened() {
            answer.unwrap();
            assert!(operations > 3, "too few gaps");
            return;
        }
        let memberships = town.rows(&format!("ROOM#{room}"), "MEMBER#bo").await;
        assert!(memberships.is_empty(), "after {operations}: {memberships:?}");
    }
}

/// R15, I9: a deleted user's messages are hidden at once and purged later; the other user keeps the
/// room and their own messages until they leave, too.
#[tokio::test]
async fn a_direct_room_outlives_one_of_its_users() {
    let town = Town::of(["ana", "bo"]).await;
    let group = town.create_group("bo", "runners").await;
    town.join("ana", &group).await;
    let (room, runners) = (town.room_with("ana", "bo").await, town.room_of("bo", &group).await);
    for room in [&room, &runners] {
        town.send_message("ana", room, "from ana").await;
        town.send_message("bo", room, "from bo").await;
        town.send_message("ana", room, "ana again").await;
    }
    town.groups().leave(&town.caller("ana"), &group, None).await.unwrap();
    let accounts = town.accounts();
    accounts.delete_account(&town.caller("ana"), &"ana".parse().unwrap()).await.unwrap();
    for _ in 0..2 {
        for room in [&room, &runners] {
            assert_eq!(town.message_texts("bo", room).await, ["from bo"]);
            assert_eq!(town.unread("bo", room).await, 0);
        }
        assert_eq!(code(sent(&town, "bo", &room, "ana?").await), Code::NotFound);
        town.settle().await;
    }
    for room in [&room, &runners] {
        let left = stored(&town, room).await;
        assert_eq!(left.len(), 1, "the purge has been: {left:?}");
        assert_eq!(town.rows(&format!("ROOM#{room}"), "MEMBER#").await.len(), 1);
    }
    accounts.delete_account(&town.caller("bo"), &"bo".parse().unwrap()).await.unwrap();
    town.settle().await;
    for room in [&room, &runners] {
        let left = town.rows(&format!("ROOM#{room}"), "").await;
        assert!(left.is_empty(), "{left:?}");
    }
}

/// R15: nothing remains of a room that both users have left, however many messages it had, and
/// nothing else is removed.
#[tokio::test]
async fn a_direct_room_is_purged_with_its_last_user() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (room, cleos) = (town.room_with("ana", "bo").await, town.room_with("bo", "cleo").await);
    for number in 0..120 {
        town.send_message(if number % 3 == 0 { "ana" } else { "bo" }, &room, "and so on").await;
    }
    town.send_message("cleo", &cleos, "hello").await;
    for name in ["ana", "bo"] {
        let (accounts, caller) = (town.accounts(), town.caller(name));
        accounts.delete_account(&caller, &name.parse().unwrap()).await.unwrap();
    }
    town.settle().await;
    let left = town.rows(&format!("ROOM#{room}"), "").await;
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(town.message_texts("cleo", &cleos).await, ["hello"]);
}

/// R15: a deleted group's room disappears for readers at once and is then purged.
#[tokio::test]
async fn a_room_is_purged_with_its_group() {
    let town = Town::of(["ana", "bo"]).await;
    let group = town.create_group("ana", "runners").await;
    town.join("bo", &group).await;
    let room = town.room_of("bo", &group).await;
    town.send_message("bo", &room, "hello").await;
    town.groups().delete(&town.caller("ana"), &group, None).await.unwrap();
    for _ in 0..2 {
        assert_eq!(code(sent(&town, "bo", &room, "hello?").await), Code::NotFound);
        assert_eq!(code(town.rooms().room(&town.caller("ana"), &room).await), Code::NotFound);
        let mine = town.rooms().mine(&town.caller("bo"), &PageInput::first()).await.unwrap();
        assert!(mine.items.is_empty());
        town.settle().await;
    }
    assert!(town.rows(&format!("ROOM#{room}"), "").await.is_empty());
}

/// R28: a page has fifty messages by default.
#[tokio::test]
async fn a_page_has_fifty_messages() {
    let town = Town::of(["ana", "bo"]).await;
    let room = town.room_with("ana", "bo").await;
    for number in 0..60 {
        town.send_message("ana", &room, &format!("{number}")).await;
    }
    let (messages, bo) = (town.messages(), town.caller("bo"));
    let first = messages.list(&bo, &room, Descending, &PageInput::first()).await.unwrap();
    assert_eq!(first.items.len(), 50);
    let second = PageInput { limit: None, after: first.next };
    let second = messages.list(&bo, &room, Descending, &second).await.unwrap();
    assert_eq!((second.items.len(), second.next), (10, None));
    let none = PageInput { limit: Some(0), after: None };
    let none = messages.list(&bo, &room, Descending, &none).await.map(|page| page.items.len());
    assert_eq!(code(none), Code::BadRequest);
}

/// R15, I9: a message is found only by members of its room who may see it.
#[tokio::test]
async fn a_message_is_found_by_members_of_its_room() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let room = room_of_two(&town.id("ana"), &town.id("bo")).unwrap();
    assert_eq!(town.room_with("ana", "bo").await, room, "its id is known before it is opened");
    let elsewhere = town.room_with("ana", "cleo").await;
    let sent = town.send_message("ana", &room, "hello").await;
    let end = town.now().plus_ms(1_500);
    let brief = town.send_expiring_message("ana", &room, "psst", Some(end)).await;
    let messages = town.messages();
    let found = async |name: &str, room: &RoomId, message: &Message| {
        let place = (room.clone(), message.id.clone());
        messages.messages(&town.caller(name), &[place]).await.unwrap().remove(0)
    };
    assert_eq!(found("bo", &room, &sent).await.as_ref(), Some(&sent));
    assert_eq!(found("bo", &room, &brief).await.as_ref(), Some(&brief));
    assert_eq!(found("cleo", &room, &sent).await, None);
    assert_eq!(found("cleo", &elsewhere, &sent).await, None);
    town.advance_ms(2_000);
    assert_eq!(found("bo", &room, &brief).await, None, "it has expired");
    town.block("ana", "bo").await;
    assert_eq!(found("bo", &room, &sent).await, None);
    assert_eq!(found("ana", &room, &sent).await, Some(sent));
}

/// The text a subscription delivers without waiting.
fn next_text(live: &mut LiveRoom) -> Option<String> {
    live.next().now_or_never().map(|message| message.unwrap().text)
}

/// R45, I15: each message is delivered once, in order, from where the subscriber left off.
#[tokio::test]
async fn a_subscription_delivers_each_message_once() {
    let town = Town::of(["ana", "bo"]).await;
    let room = town.room_with("ana", "bo").await;
    town.send_message("ana", &room, "before").await;
    let (messages, bo, bus) = (town.messages(), town.caller("bo"), town.new_bus());
    let mut live = messages.live(&bus, &bo, &room, None).await.unwrap();
    assert_eq!(next_text(&mut live), None);
    let one = town.send_message("ana", &room, "one").await;
    town.send_message("bo", &room, "two").await;
    let received = [next_text(&mut live), next_text(&mut live), next_text(&mut live)];
    assert_eq!(received, [Some("one".into()), Some("two".into()), None]);
    let mut again = messages.live(&bus, &bo, &room, Some(&one.id)).await.unwrap();
    assert_eq!((next_text(&mut again), next_text(&mut again)), (Some("two".into()), None));
}

/// R45: a waiting subscription is woken by a new message, long before it looks by itself.
#[tokio::test(start_paused = true)]
async fn a_waiting_subscription_is_woken() {
    let town = Town::of(["ana", "bo"]).await;
    let room = town.room_with("ana", "bo").await;
    let (messages, bus) = (town.messages(), town.new_bus());
    let mut live = messages.live(&bus, &town.caller("bo"), &room, None).await.unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let send = async {
        tokio::task::yield_now().await;
        let message = NewMessage::text(room.clone(), "hello");
        messages.send(&town.caller("ana"), &message, None).await.unwrap()
    };
    let receive = async {
        let received = timeout(Duration::from_secs(2), live.next()).await.unwrap();
        stop.send(()).unwrap();
        received
    };
    let run = bus.run(async { drop(stopped.await) });
    let (received, sent, ()) = tokio::join!(receive, send, run);
    assert_eq!(received.unwrap(), sent);
}

/// R45: a gap in the relayed changes wakes a waiting subscription, which may have missed a message.
#[tokio::test(start_paused = true)]
async fn a_gap_wakes_a_waiting_subscription() {
    let town = Town::of(["ana", "bo"]).await;
    let room = town.room_with("ana", "bo").await;
    let (messages, bus) = (town.messages(), town.new_bus());
    let mut live = messages.live(&bus, &town.caller("bo"), &room, None).await.unwrap();
    for text in ["one", "two"] {
        let send = async {
            tokio::task::yield_now().await;
            town.send_message("ana", &room, text).await;
            bus.set_complete(true);
        };
        let receive = timeout(Duration::from_secs(2), live.next());
        let (received, ()) = tokio::join!(receive, send);
        assert_eq!(received.unwrap().unwrap().text, text);
    }
}

/// I9, I15: access is checked for every message.
#[tokio::test]
async fn a_removed_member_receives_no_more_messages() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let group = town.create_group("ana", "runners").await;
    for name in ["bo", "cleo"] {
        town.join(name, &group).await;
    }
    let room = town.room_of("ana", &group).await;
    let (messages, bus) = (town.messages(), town.new_bus());
    let mut live = messages.live(&bus, &town.caller("bo"), &room, None).await.unwrap();
    for text in ["one", "two"] {
        town.send_message("ana", &room, text).await;
    }
    town.send_message("cleo", &room, "three").await;
    town.send_message("ana", &room, "four").await;
    assert_eq!(next_text(&mut live), Some("one".into()));
    town.block("cleo", "bo").await;
    assert_eq!(next_text(&mut live), Some("two".into()));
    assert_eq!(next_text(&mut live), Some("four".into()), "without cleo's message");
    town.send_message("ana", &room, "five").await;
    town.send_message("ana", &room, "six").await;
    assert_eq!(next_text(&mut live), Some("five".into()));
    town.groups().remove(&town.caller("ana"), &group, &town.id("bo"), None).await.unwrap();
    let ended = live.next().now_or_never().unwrap();
    assert_eq!(ended.unwrap_err().code(), Code::NotFound);
}
