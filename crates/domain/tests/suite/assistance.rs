//! Assistance threads, through the service and as rows (R16, R28, R30, R32).

use std::collections::HashSet;

use futures::future::join_all;
use roundtable_domain::limits::{ASSIST_CHARS_MAX, HELPERS_MAX};
use roundtable_domain::{Assistance, Code, Page, PageInput, Refusal};
use roundtable_model::entities::{AssistMsg, AssistThread};
use roundtable_model::table::Order::{self, Ascending, Descending};
use roundtable_model::{MessageId, RequestId, Role, ThreadId, UserId, UserStatus};
use roundtable_testkit::Town;

fn page(limit: usize) -> PageInput {
    PageInput { limit: Some(limit), after: None }
}

fn texts(page: Page<AssistMsg>) -> Vec<String> {
    page.into_items().into_iter().map(|message| message.text).collect()
}

/// The messages that a user reads in a thread.
async fn messages_read(town: &Town, name: &str, thread: &ThreadId) -> Result<Vec<String>, Code> {
    let (caller, page) = (town.caller(name), page(100));
    let messages = town.assistance().messages(&caller, thread, Ascending, &page).await;
    messages.map(texts).map_err(|error| error.code())
}

/// The threads listed for a user, read in pages of a size.
async fn listed(town: &Town, name: &str, size: usize) -> Vec<ThreadId> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = PageInput { limit: Some(size), after: after.take() };
        let mine = town.assistance().mine(&town.caller(name), &page).await.unwrap();
        after.clone_from(&mine.next);
        found.extend(mine.into_items().into_iter().map(|thread| thread.thread_id));
        if after.is_none() {
            return found;
        }
    }
}

async fn refused_to_ask(town: &Town, name: &str, helpers: &[&str]) -> Code {
    let helpers: Vec<UserId> = helpers.iter().map(|helper| town.id(helper)).collect();
    town.assistance().ask(&town.caller(name), &helpers, None).await.unwrap_err().code()
}

async fn refused_to_send(town: &Town, name: &str, thread: &ThreadId) -> Code {
    let sent = town.assistance().send(&town.caller(name), thread, "hello?", None).await;
    sent.unwrap_err().code()
}

/// R16: the owner and the helpers exchange messages, and the rows have the documented layout.
#[tokio::test]
async fn owner_and_helpers_exchange_messages() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let thread = town.ask_for_help("ana", &["bo", "cleo"]).await;
    let id = &thread.thread_id;
    let first = town.help("ana", id, "my knee hurts").await;
    let second = town.help("bo", id, "rest it").await;
    assert_eq!(
        town.rows(&format!("ASSIST#{id}"), "").await,
        [
            String::from("HELPER#bo"),
            String::from("HELPER#cleo"),
            format!("MSG#{}#{} userId=ana text=my knee hurts", first.created_at, first.id),
            format!("MSG#{}#{} userId=bo text=rest it", second.created_at, second.id),
            String::from("THREAD userId=ana helperIds=[bo,cleo]"),
        ]
    );
    assert_eq!(first.id.time(), Some(first.created_at));
    for name in ["ana", "bo", "cleo"] {
        assert_eq!(messages_read(&town, name, id).await.unwrap(), ["my knee hurts", "rest it"]);
        let found = town.assistance().thread(&town.caller(name), id).await.unwrap();
        assert_eq!(
            (found.user_id, found.helper_ids),
            (thread.user_id.clone(), thread.helper_ids.clone())
        );
    }
}

/// R16: invalid helpers are refused up front, without revealing which users exist.
#[tokio::test]
async fn only_visible_users_can_be_asked() {
    let town = Town::of(["ana", "bo", "cleo", "dan", "sid", "mo"]).await;
    town.grant_role("mo", Role::Moderator).await;
    town.block("ana", "bo").await;
    town.block("cleo", "ana").await;
    town.set_status("dan", UserStatus::Deleted).await;
    town.set_status("sid", UserStatus::Suspended).await;
    for helpers in [["mo", "bo"], ["mo", "cleo"], ["mo", "dan"], ["mo", "sid"], ["mo", "zoe"]] {
        assert_eq!(refused_to_ask(&town, "ana", &helpers).await, Code::NotFound, "{helpers:?}");
    }
    let mo = town.mo();
    let suspended = town.assistance().ask(&mo, &[town.id("sid")], None).await.unwrap_err();
    assert_eq!(suspended.code(), Code::NotFound, "also by staff, who see that they are there");
    assert_eq!(refused_to_ask(&town, "ana", &[]).await, Code::BadRequest);
    assert_eq!(refused_to_ask(&town, "ana", &["ana"]).await, Code::BadRequest);
    assert_eq!(refused_to_ask(&town, "ana", &["mo", "mo"]).await, Code::BadRequest);
    let many: Vec<String> = (0..=HELPERS_MAX).map(|n| format!("p{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(refused_to_ask(&town, "ana", &many).await, Code::BadRequest);
    assert_eq!(refused_to_ask(&town, "sid", &["mo"]).await, Code::Forbidden);
    assert_eq!(refused_to_ask(&town, "dan", &["mo"]).await, Code::Unauthenticated);
    let mine = town.assistance().mine(&town.caller("ana"), &page(9)).await.unwrap();
    assert!(mine.items.is_empty());
}

/// R16: the maximum number of helpers fits into one transaction.
#[tokio::test]
async fn as_many_as_the_limit_can_be_asked() {
    let town = Town::of(["ana"]).await;
    let names: Vec<String> = (0..HELPERS_MAX).map(|n| format!("helper{n}")).collect();
    for name in &names {
        town.add_user(name, |_| {}).await;
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let thread = town.ask_for_help("ana", &names).await;
    assert_eq!(thread.helper_ids.len(), HELPERS_MAX);
}

/// R16: other users have no access, not even staff.
#[tokio::test]
async fn a_thread_is_private_to_its_participants() {
    let town = Town::of(["ana", "bo", "cleo", "mo", "ada"]).await;
    town.grant_role("mo", Role::Moderator).await;
    town.grant_role("ada", Role::Admin).await;
    let thread = town.ask_for_help("ana", &["bo"]).await.thread_id;
    town.help("ana", &thread, "between us").await;
    let others = [town.caller("cleo"), town.mo(), town.staff("ada", Role::Admin)];
    let assistance = town.assistance();
    for other in &others {
        let visible = assistance.thread(other, &thread).await.unwrap_err();
        let read = assistance.messages(other, &thread, Ascending, &page(9)).await.unwrap_err();
        let sent = assistance.send(other, &thread, "hello?", None).await.unwrap_err();
        for error in [visible, read, sent] {
            assert_eq!(error.code(), Code::NotFound);
        }
    }
    let nowhere: ThreadId = "nowhere".parse().unwrap();
    assert_eq!(refused_to_send(&town, "ana", &nowhere).await, Code::NotFound);
    for text in ["", "  ", &"x".repeat(ASSIST_CHARS_MAX + 1)] {
        let sent = assistance.send(&town.caller("ana"), &thread, text, None).await.unwrap_err();
        assert_eq!(sent.code(), Code::BadRequest);
    }
}

/// R16, I9: a block by either side ends the thread between the two; the others go on.
#[tokio::test]
async fn a_block_ends_the_thread_between_two_users() {
    for (blocker, blocked) in [("ana", "bo"), ("bo", "ana")] {
        let town = Town::of(["ana", "bo", "cleo"]).await;
        let thread = town.ask_for_help("ana", &["bo", "cleo"]).await.thread_id;
        town.help("bo", &thread, "bo was here").await;
        town.help("ana", &thread, "thank you").await;
        town.block(blocker, blocked).await;
        assert_eq!(refused_to_send(&town, "bo", &thread).await, Code::NotFound);
        assert_eq!(messages_read(&town, "bo", &thread).await, Err(Code::NotFound));
        town.help("ana", &thread, "cleo?").await;
        town.help("cleo", &thread, "yes").await;
        assert_eq!(
            messages_read(&town, "ana", &thread).await.unwrap(),
            ["thank you", "cleo?", "yes"]
        );
        let cleos = ["bo was here", "thank you", "cleo?", "yes"];
        assert_eq!(messages_read(&town, "cleo", &thread).await.unwrap(), cleos);
        let visible = town.assistance().thread(&town.caller("ana"), &thread).await.unwrap();
        assert_eq!(visible.helper_ids, [town.id("cleo")]);
        town.block("cleo", "ana").await;
        assert_eq!(
            refused_to_send(&town, "ana", &thread).await,
            Code::Forbidden,
            "no helper is left"
        );
        let own = messages_read(&town, "ana", &thread).await.unwrap();
        assert_eq!(own, ["thank you", "cleo?"], "own messages stay visible");
    }
}

/// R16, I9: helpers who have blocked each other do not see each other's messages.
#[tokio::test]
async fn helpers_who_blocked_each_other_do_not_read_each_other() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let thread = town.ask_for_help("ana", &["bo", "cleo"]).await.thread_id;
    town.help("bo", &thread, "says bo").await;
    town.help("cleo", &thread, "says cleo").await;
    town.block("bo", "cleo").await;
    assert_eq!(messages_read(&town, "ana", &thread).await.unwrap(), ["says bo", "says cleo"]);
    assert_eq!(messages_read(&town, "bo", &thread).await.unwrap(), ["says bo"]);
    assert_eq!(messages_read(&town, "cleo", &thread).await.unwrap(), ["says cleo"]);
}

/// R16, I9: suspended and deleted users cannot write, and their messages are hidden.
#[tokio::test]
async fn messages_of_suspended_and_deleted_users_are_hidden() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let thread = town.ask_for_help("ana", &["bo", "cleo"]).await.thread_id;
    town.help("bo", &thread, "says bo").await;
    town.help("cleo", &thread, "says cleo").await;
    town.set_status("bo", UserStatus::Suspended).await;
    assert_eq!(refused_to_send(&town, "bo", &thread).await, Code::Forbidden);
    assert_eq!(messages_read(&town, "bo", &thread).await, Err(Code::Forbidden));
    assert_eq!(messages_read(&town, "ana", &thread).await.unwrap(), ["says cleo"]);
    town.set_status("cleo", UserStatus::Deleted).await;
    assert!(messages_read(&town, "ana", &thread).await.unwrap().is_empty());
    assert_eq!(refused_to_send(&town, "ana", &thread).await, Code::Forbidden);
    town.set_status("bo", UserStatus::Active).await;
    town.set_status("ana", UserStatus::Suspended).await;
    assert_eq!(messages_read(&town, "bo", &thread).await, Err(Code::NotFound));
    assert_eq!(refused_to_send(&town, "bo", &thread).await, Code::NotFound);
}

async fn run(town: &Town, thread: &ThreadId, order: Order, size: usize) -> Vec<String> {
    let (mut all, mut after, ana) = (Vec::new(), None, town.caller("ana"));
    loop {
        let page = PageInput { limit: Some(size), after: after.take() };
        let found = town.assistance().messages(&ana, thread, order, &page).await.unwrap();
        assert!(found.items.len() == size || found.next.is_none(), "pages are full");
        after.clone_from(&found.next);
        all.extend(texts(found));
        if after.is_none() {
            return all;
        }
    }
}

/// R28, R30: the history in both orders, each message once, in full pages, during concurrent writes
/// and with hidden messages.
#[tokio::test]
async fn the_history_is_read_in_both_orders() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let thread = town.ask_for_help("ana", &["bo", "cleo"]).await.thread_id;
    let mut posted = Vec::new();
    for n in 0..12 {
        town.help("cleo", &thread, "nonsense").await;
        let text = format!("{n}");
        town.help(if n % 2 == 0 { "ana" } else { "bo" }, &thread, &text).await;
        posted.push(text);
    }
    town.block("ana", "cleo").await;
    for size in [1, 5, 100] {
        assert_eq!(run(&town, &thread, Ascending, size).await, posted);
        let mut reversed = run(&town, &thread, Descending, size).await;
        reversed.reverse();
        assert_eq!(reversed, posted);
    }
    let (assistance, ana) = (town.assistance(), town.caller("ana"));
    let first = assistance.messages(&ana, &thread, Descending, &page(5)).await.unwrap();
    town.help("bo", &thread, "late").await;
    let rest = PageInput { limit: Some(100), after: first.next.clone() };
    let rest = assistance.messages(&ana, &thread, Descending, &rest).await.unwrap();
    let both: Vec<String> = texts(first).into_iter().chain(texts(rest)).rev().collect();
    assert_eq!(both, posted);
    let all = assistance.messages(&ana, &thread, Ascending, &PageInput::first()).await.unwrap();
    assert_eq!(all.items.len(), 13, "fifty are a page");
    let too_many = assistance.messages(&ana, &thread, Ascending, &page(101)).await.unwrap_err();
    assert_eq!(too_many.code(), Code::BadRequest);
}

/// R28, R30: the threads of the owner and of helpers, latest first, in pages of any size.
#[tokio::test]
async fn threads_are_listed_for_all_participants() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (mut anas, mut cleos) = (Vec::new(), Vec::new());
    for number in 0..5 {
        anas.push(town.ask_for_help("ana", &["bo"]).await.thread_id);
        anas.push(town.ask_for_help("bo", &["ana", "cleo"]).await.thread_id);
        cleos.extend(anas.last().cloned());
        if number % 2 == 0 {
            cleos.push(town.ask_for_help("cleo", &["bo"]).await.thread_id);
        }
    }
    anas.reverse();
    cleos.reverse();
    for (name, expected) in [("ana", &anas), ("cleo", &cleos)] {
        for size in [1, 2, 3, 100] {
            assert_eq!(listed(&town, name, size).await, *expected, "{name} by {size}");
        }
    }
    let (ana, cleo) = (town.caller("ana"), town.caller("cleo"));
    let first = town.assistance().mine(&ana, &page(1)).await.unwrap();
    let foreign = PageInput { limit: Some(1), after: first.next };
    let refused = town.assistance().mine(&cleo, &foreign).await.unwrap_err();
    assert_eq!(refused.code(), Code::BadRequest, "a cursor of another user's list");
}

/// R28, I9: a thread is not listed for helpers who can no longer see its owner, nor for removed
/// helpers.
#[tokio::test]
async fn hidden_threads_are_not_listed() {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    let thread = town.ask_for_help("ana", &["bo", "cleo", "dan"]).await.thread_id;
    let bos = town.ask_for_help("bo", &["cleo"]).await.thread_id;
    town.block("ana", "bo").await;
    assert_eq!(listed(&town, "bo", 5).await, std::slice::from_ref(&bos));
    assert_eq!(listed(&town, "cleo", 5).await, [bos, thread.clone()]);
    let left = vec![town.id("cleo")];
    let patch = AssistThread::at(&thread).patch().set(AssistThread::HELPER_IDS, &left);
    town.context().core().table().update(patch.into()).await.unwrap();
    assert!(listed(&town, "dan", 5).await.is_empty());
    town.set_status("ana", UserStatus::Deleted).await;
    assert_eq!(listed(&town, "cleo", 5).await.len(), 1);
}

/// R28: messages by id, for users who see them in their threads.
#[tokio::test]
async fn messages_are_read_by_their_ids() {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    let thread = town.ask_for_help("ana", &["bo", "cleo"]).await.thread_id;
    let other = town.ask_for_help("ana", &["bo"]).await.thread_id;
    let posted = town.help("bo", &thread, "rest it").await;
    let read = async |name: &str, thread: &ThreadId, id: &MessageId| {
        let nonsense: MessageId = "nonsense".parse().unwrap();
        let keys = [nonsense, id.clone()].map(|id| (thread.clone(), id));
        let found = town.assistance().messages_by_id(&town.caller(name), &keys).await.unwrap();
        assert_eq!((found.len(), &found[0]), (2, &None));
        found[1].clone()
    };
    for name in ["ana", "bo", "cleo"] {
        assert_eq!(read(name, &thread, &posted.id).await.as_ref(), Some(&posted));
    }
    assert_eq!(read("dan", &thread, &posted.id).await, None);
    assert_eq!(read("ana", &other, &posted.id).await, None);
    town.block("cleo", "bo").await;
    assert_eq!(read("cleo", &thread, &posted.id).await, None);
    assert_eq!(read("ana", &thread, &posted.id).await, Some(posted));
}

/// R16: order is commit order, also when a clock goes back: a reply is later than what it replies
/// to.
#[tokio::test]
async fn time_never_goes_back_in_a_thread() {
    let town = Town::of(["ana", "bo"]).await;
    let thread = town.ask_for_help("ana", &["bo"]).await.thread_id;
    let first = town.help("ana", &thread, "first").await;
    town.clock().set_ms(first.created_at.ms() - 60_000);
    let second = town.help("bo", &thread, "second").await;
    assert!(second.created_at > first.created_at);
    assert_eq!(second.id.time(), Some(second.created_at));
    assert_eq!(messages_read(&town, "ana", &thread).await.unwrap(), ["first", "second"]);
}

/// R16: for two concurrent messages in every interleaving, the first commit comes first.
#[tokio::test]
async fn message_order_is_commit_order() {
    let mut orders = Vec::new();
    for gap in 1.. {
        let town = Town::of(["ana", "bo"]).await;
        let thread = town.ask_for_help("ana", &["bo"]).await.thread_id;
        let (assistance, bo, to) = (town.assistance(), town.caller("bo"), thread.clone());
        let operation = async move || {
            for text in ["bo", "bo again"] {
                assistance.send(&bo, &to, text, None).await.unwrap();
            }
        };
        let (context, meanwhile) = town.interleave(gap, operation);
        let (assistance, ana) = (Assistance::new(context), town.caller("ana"));
        assistance.send(&ana, &thread, "ana", None).await.unwrap();
        if !meanwhile.happened() {
            break;
        }
        orders.push(messages_read(&town, "ana", &thread).await.unwrap());
    }
    let last = orders.pop().unwrap();
    assert_eq!(last, ["ana", "bo", "bo again"], "the gap behind the commit");
    assert!(orders.len() > 2);
    assert!(orders.iter().all(|order| *order == ["bo", "bo again", "ana"]), "{orders:?}");
}

/// R16: a concurrent block prevents a message, unless the message committed before.
#[tokio::test]
async fn a_concurrent_block_prevents_a_message() {
    for (speaker, blocker, blocked) in
        [("bo", "ana", "bo"), ("bo", "bo", "ana"), ("ana", "ana", "bo"), ("ana", "bo", "ana")]
    {
        let mut answers = Vec::new();
        for gap in 1.. {
            let town = Town::of(["ana", "bo"]).await;
            let thread = town.ask_for_help("ana", &["bo"]).await.thread_id;
            let (blocks, from, to) = (town.blocks(), town.caller(blocker), town.id(blocked));
            let operation = async move || drop(blocks.block(&from, &to, None).await.unwrap());
            let (context, meanwhile) = town.interleave(gap, operation);
            let speaker = town.caller(speaker);
            let sent = Assistance::new(context).send(&speaker, &thread, "well", None).await;
            if !meanwhile.happened() {
                break;
            }
            let rows = town.rows(&format!("ASSIST#{thread}"), "MSG#").await.len();
            assert_eq!(rows, usize::from(sent.is_ok()));
            answers.push(sent.is_ok());
        }
        assert_eq!(answers.pop(), Some(true), "the gap behind the commit");
        assert!(answers.len() > 2 && answers.iter().all(|answer| !answer), "{answers:?}");
    }
}

/// R16: a user suspended concurrently opens no thread.
#[tokio::test]
async fn a_concurrent_suspension_prevents_a_thread() {
    for suspended in ["ana", "bo"] {
        let mut answers = Vec::new();
        for gap in 1.. {
            let town = Town::of(["ana", "bo", "mo"]).await;
            let mo = town.grant_role("mo", Role::Moderator).await;
            let (accounts, recipient) = (town.accounts(), town.id(suspended));
            let operation =
                async move || drop(accounts.suspend(&mo, &recipient, "rude", None).await.unwrap());
            let (context, meanwhile) = town.interleave(gap, operation);
            let (ana, helpers) = (town.caller("ana"), [town.id("bo")]);
            let requested = Assistance::new(context).ask(&ana, &helpers, None).await;
            if !meanwhile.happened() {
                break;
            }
            answers.push(requested.is_ok());
        }
        assert_eq!(answers.pop(), Some(true), "the gap behind the commit");
        assert!(!answers.is_empty() && answers.iter().all(|answer| !answer), "{answers:?}");
    }
}

/// R16: concurrent messages are all stored once, with distinct times.
#[tokio::test]
async fn concurrent_messages_are_all_stored() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let thread = town.ask_for_help("ana", &["bo", "cleo"]).await.thread_id;
    let posted = (0..30).map(|n| {
        let (town, thread) = (&town, &thread);
        let name = ["ana", "bo", "cleo"][n % 3];
        async move {
            let text = format!("{n}");
            town.assistance().send(&town.caller(name), thread, &text, None).await.unwrap()
        }
    });
    let posted = join_all(posted).await;
    let times: HashSet<_> = posted.iter().map(|message| message.created_at).collect();
    assert_eq!(times.len(), 30);
    assert_eq!(messages_read(&town, "ana", &thread).await.unwrap().len(), 30);
}

/// R32, I8: a repeated request has the effect of one, and returns the current outcome.
#[tokio::test]
async fn requests_are_idempotent() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (assistance, ana, bo) = (town.assistance(), town.caller("ana"), town.caller("bo"));
    let [ask, say]: [RequestId; 2] = ["ask", "say"].map(|id| id.parse().unwrap());
    let helpers = [town.id("bo")];
    let thread = assistance.ask(&ana, &helpers, Some(&ask)).await.unwrap();
    assert_eq!(assistance.ask(&ana, &helpers, Some(&ask)).await.unwrap(), thread);
    let other = assistance.ask(&ana, &[town.id("cleo")], Some(&ask)).await.unwrap_err();
    assert_eq!(other.code(), Code::IdempotencyMismatch);
    let id = &thread.thread_id;
    let posted = assistance.send(&bo, id, "hello", Some(&say)).await.unwrap();
    assert_eq!(assistance.send(&bo, id, "hello", Some(&say)).await.unwrap(), posted);
    assert_eq!(messages_read(&town, "ana", id).await.unwrap(), ["hello"]);
    town.block("ana", "bo").await;
    let again = assistance.send(&bo, id, "hello", Some(&say)).await.unwrap_err();
    assert_eq!(again.code(), Code::NotFound, "under present permissions");
}
