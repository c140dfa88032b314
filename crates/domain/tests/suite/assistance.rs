//! Calls for help, as those who have a part in them see them and as rows (R16, R28, R30, R32).

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

/// What somebody reads of a thread.
async fn heard(town: &Town, name: &str, thread: &ThreadId) -> Result<Vec<String>, Code> {
    let (caller, page) = (town.caller(name), page(100));
    let messages = town.assistance().messages(&caller, thread, Ascending, &page).await;
    messages.map(texts).map_err(|error| error.code())
}

/// The calls for help that somebody is shown, in pages of a size.
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

async fn asked(town: &Town, name: &str, helpers: &[&str]) -> Code {
    let helpers: Vec<UserId> = helpers.iter().map(|helper| town.id(helper)).collect();
    town.assistance().ask(&town.caller(name), &helpers, None).await.unwrap_err().code()
}

async fn refused(town: &Town, name: &str, thread: &ThreadId) -> Code {
    let sent = town.assistance().send(&town.caller(name), thread, "hello?", None).await;
    sent.unwrap_err().code()
}

/// R16: whoever asks and those who were asked talk, and the rows are as the layout has them.
#[tokio::test]
async fn somebody_asks_and_helpers_answer() {
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
        assert_eq!(heard(&town, name, id).await.unwrap(), ["my knee hurts", "rest it"]);
        let found = town.assistance().thread(&town.caller(name), id).await.unwrap();
        assert_eq!(
            (found.user_id, found.helper_ids),
            (thread.user_id.clone(), thread.helper_ids.clone())
        );
    }
}

/// R16: who cannot be asked is told from the beginning, and nothing tells who is there.
#[tokio::test]
async fn only_people_one_sees_can_be_asked() {
    let town = Town::of(["ana", "bo", "cleo", "dan", "sid", "mo"]).await;
    town.employ("mo", Role::Moderator).await;
    town.block("ana", "bo").await;
    town.block("cleo", "ana").await;
    town.set_status("dan", UserStatus::Deleted).await;
    town.set_status("sid", UserStatus::Suspended).await;
    for helpers in [["mo", "bo"], ["mo", "cleo"], ["mo", "dan"], ["mo", "sid"], ["mo", "zoe"]] {
        assert_eq!(asked(&town, "ana", &helpers).await, Code::NotFound, "{helpers:?}");
    }
    let mo = town.mo();
    let suspended = town.assistance().ask(&mo, &[town.id("sid")], None).await.unwrap_err();
    assert_eq!(suspended.code(), Code::NotFound, "also by staff, who see that they are there");
    assert_eq!(asked(&town, "ana", &[]).await, Code::BadRequest);
    assert_eq!(asked(&town, "ana", &["ana"]).await, Code::BadRequest);
    assert_eq!(asked(&town, "ana", &["mo", "mo"]).await, Code::BadRequest);
    let many: Vec<String> = (0..=HELPERS_MAX).map(|n| format!("p{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(asked(&town, "ana", &many).await, Code::BadRequest);
    assert_eq!(asked(&town, "sid", &["mo"]).await, Code::Forbidden);
    assert_eq!(asked(&town, "dan", &["mo"]).await, Code::Unauthenticated);
    let mine = town.assistance().mine(&town.caller("ana"), &page(9)).await.unwrap();
    assert!(mine.items.is_empty());
}

/// R16: as many as may be asked at once fit into one transaction.
#[tokio::test]
async fn as_many_as_the_limit_can_be_asked() {
    let town = Town::of(["ana"]).await;
    let names: Vec<String> = (0..HELPERS_MAX).map(|n| format!("helper{n}")).collect();
    for name in &names {
        town.move_in(name, |_| {}).await;
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let thread = town.ask_for_help("ana", &names).await;
    assert_eq!(thread.helper_ids.len(), HELPERS_MAX);
}

/// R16: nobody else has a part in it, not even staff.
#[tokio::test]
async fn a_call_for_help_is_nobody_elses() {
    let town = Town::of(["ana", "bo", "cleo", "mo", "ada"]).await;
    town.employ("mo", Role::Moderator).await;
    town.employ("ada", Role::Admin).await;
    let thread = town.ask_for_help("ana", &["bo"]).await.thread_id;
    town.help("ana", &thread, "between us").await;
    let others = [town.caller("cleo"), town.mo(), town.staff("ada", Role::Admin)];
    let assistance = town.assistance();
    for other in &others {
        let seen = assistance.thread(other, &thread).await.unwrap_err();
        let read = assistance.messages(other, &thread, Ascending, &page(9)).await.unwrap_err();
        let sent = assistance.send(other, &thread, "hello?", None).await.unwrap_err();
        for error in [seen, read, sent] {
            assert_eq!(error.code(), Code::NotFound);
        }
    }
    let nowhere: ThreadId = "nowhere".parse().unwrap();
    assert_eq!(refused(&town, "ana", &nowhere).await, Code::NotFound);
    for text in ["", "  ", &"x".repeat(ASSIST_CHARS_MAX + 1)] {
        let sent = assistance.send(&town.caller("ana"), &thread, text, None).await.unwrap_err();
        assert_eq!(sent.code(), Code::BadRequest);
    }
}

/// R16, I9: a block ends it between the two, whoever blocks; others go on.
#[tokio::test]
async fn a_block_ends_it_for_the_two() {
    for (blocker, blocked) in [("ana", "bo"), ("bo", "ana")] {
        let town = Town::of(["ana", "bo", "cleo"]).await;
        let thread = town.ask_for_help("ana", &["bo", "cleo"]).await.thread_id;
        town.help("bo", &thread, "bo was here").await;
        town.help("ana", &thread, "thank you").await;
        town.block(blocker, blocked).await;
        assert_eq!(refused(&town, "bo", &thread).await, Code::NotFound);
        assert_eq!(heard(&town, "bo", &thread).await, Err(Code::NotFound));
        town.help("ana", &thread, "cleo?").await;
        town.help("cleo", &thread, "yes").await;
        assert_eq!(heard(&town, "ana", &thread).await.unwrap(), ["thank you", "cleo?", "yes"]);
        let cleos = ["bo was here", "thank you", "cleo?", "yes"];
        assert_eq!(heard(&town, "cleo", &thread).await.unwrap(), cleos);
        let seen = town.assistance().thread(&town.caller("ana"), &thread).await.unwrap();
        assert_eq!(seen.helper_ids, [town.id("cleo")]);
        town.block("cleo", "ana").await;
        assert_eq!(refused(&town, "ana", &thread).await, Code::Forbidden, "nobody is left");
        let own = heard(&town, "ana", &thread).await.unwrap();
        assert_eq!(own, ["thank you", "cleo?"], "what one said oneself stays");
    }
}

/// R16, I9: helpers who have blocked each other do not read each other.
#[tokio::test]
async fn helpers_who_blocked_each_other_do_not_read_each_other() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let thread = town.ask_for_help("ana", &["bo", "cleo"]).await.thread_id;
    town.help("bo", &thread, "says bo").await;
    town.help("cleo", &thread, "says cleo").await;
    town.block("bo", "cleo").await;
    assert_eq!(heard(&town, "ana", &thread).await.unwrap(), ["says bo", "says cleo"]);
    assert_eq!(heard(&town, "bo", &thread).await.unwrap(), ["says bo"]);
    assert_eq!(heard(&town, "cleo", &thread).await.unwrap(), ["says cleo"]);
}

/// R16, I9: whoever is suspended or gone says nothing, and what they said is hidden.
#[tokio::test]
async fn whoever_is_gone_is_not_heard() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let thread = town.ask_for_help("ana", &["bo", "cleo"]).await.thread_id;
    town.help("bo", &thread, "says bo").await;
    town.help("cleo", &thread, "says cleo").await;
    town.set_status("bo", UserStatus::Suspended).await;
    assert_eq!(refused(&town, "bo", &thread).await, Code::Forbidden);
    assert_eq!(heard(&town, "bo", &thread).await, Err(Code::Forbidden));
    assert_eq!(heard(&town, "ana", &thread).await.unwrap(), ["says cleo"]);
    town.set_status("cleo", UserStatus::Deleted).await;
    assert!(heard(&town, "ana", &thread).await.unwrap().is_empty());
    assert_eq!(refused(&town, "ana", &thread).await, Code::Forbidden);
    town.set_status("bo", UserStatus::Active).await;
    town.set_status("ana", UserStatus::Suspended).await;
    assert_eq!(heard(&town, "bo", &thread).await, Err(Code::NotFound));
    assert_eq!(refused(&town, "bo", &thread).await, Code::NotFound);
}

/// Everything, page by page.
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

/// R28, R30: the history in both orders, each message once, in full pages, while others write and some
/// is hidden.
#[tokio::test]
async fn the_history_is_read_in_both_orders() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let thread = town.ask_for_help("ana", &["bo", "cleo"]).await.thread_id;
    let mut said = Vec::new();
    for n in 0..12 {
        town.help("cleo", &thread, "nonsense").await;
        let text = format!("{n}");
        town.help(if n % 2 == 0 { "ana" } else { "bo" }, &thread, &text).await;
        said.push(text);
    }
    town.block("ana", "cleo").await;
    for size in [1, 5, 100] {
        assert_eq!(run(&town, &thread, Ascending, size).await, said);
        let mut reversed = run(&town, &thread, Descending, size).await;
        reversed.reverse();
        assert_eq!(reversed, said);
    }
    let (assistance, ana) = (town.assistance(), town.caller("ana"));
    let first = assistance.messages(&ana, &thread, Descending, &page(5)).await.unwrap();
    town.help("bo", &thread, "late").await;
    let rest = PageInput { limit: Some(100), after: first.next.clone() };
    let rest = assistance.messages(&ana, &thread, Descending, &rest).await.unwrap();
    let both: Vec<String> = texts(first).into_iter().chain(texts(rest)).rev().collect();
    assert_eq!(both, said);
    let all = assistance.messages(&ana, &thread, Ascending, &PageInput::first()).await.unwrap();
    assert_eq!(all.items.len(), 13, "fifty are a page");
    let too_many = assistance.messages(&ana, &thread, Ascending, &page(101)).await.unwrap_err();
    assert_eq!(too_many.code(), Code::BadRequest);
}

/// R28, R30: the calls for help that one has a part in, asking or asked, the latest first, in pages of
/// any size.
#[tokio::test]
async fn calls_are_listed_for_everybody_who_has_a_part_in_them() {
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
    assert_eq!(refused.code(), Code::BadRequest, "a cursor of somebody else's list");
}

/// R28, I9: a call for help is not listed for helpers who cannot hear whoever asks any more, nor for
/// those who have been taken off it.
#[tokio::test]
async fn calls_that_one_may_not_see_are_not_listed() {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    let thread = town.ask_for_help("ana", &["bo", "cleo", "dan"]).await.thread_id;
    let bos = town.ask_for_help("bo", &["cleo"]).await.thread_id;
    town.block("ana", "bo").await;
    assert_eq!(listed(&town, "bo", 5).await, std::slice::from_ref(&bos));
    assert_eq!(listed(&town, "cleo", 5).await, [bos, thread.clone()]);
    let left = vec![town.id("cleo")];
    let patch = AssistThread::at(&thread).patch().set(AssistThread::HELPER_IDS, &left);
    town.ground().core().table().update(patch.into()).await.unwrap();
    assert!(listed(&town, "dan", 5).await.is_empty());
    town.set_status("ana", UserStatus::Deleted).await;
    assert_eq!(listed(&town, "cleo", 5).await.len(), 1);
}

/// R28: messages by their ids, for those who see them in their threads.
#[tokio::test]
async fn messages_are_read_by_their_ids() {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    let thread = town.ask_for_help("ana", &["bo", "cleo"]).await.thread_id;
    let other = town.ask_for_help("ana", &["bo"]).await.thread_id;
    let said = town.help("bo", &thread, "rest it").await;
    let read = async |name: &str, thread: &ThreadId, id: &MessageId| {
        let nonsense: MessageId = "nonsense".parse().unwrap();
        let places = [nonsense, id.clone()].map(|id| (thread.clone(), id));
        let found = town.assistance().said(&town.caller(name), &places).await.unwrap();
        assert_eq!((found.len(), &found[0]), (2, &None));
        found[1].clone()
    };
    for name in ["ana", "bo", "cleo"] {
        assert_eq!(read(name, &thread, &said.id).await.as_ref(), Some(&said));
    }
    assert_eq!(read("dan", &thread, &said.id).await, None);
    assert_eq!(read("ana", &other, &said.id).await, None);
    town.block("cleo", "bo").await;
    assert_eq!(read("cleo", &thread, &said.id).await, None);
    assert_eq!(read("ana", &thread, &said.id).await, Some(said));
}

/// R16: order is commit order, also when a clock goes back: who answers is later than what they answer.
#[tokio::test]
async fn time_never_goes_back_in_a_thread() {
    let town = Town::of(["ana", "bo"]).await;
    let thread = town.ask_for_help("ana", &["bo"]).await.thread_id;
    let first = town.help("ana", &thread, "first").await;
    town.clock().set_ms(first.created_at.ms() - 60_000);
    let second = town.help("bo", &thread, "second").await;
    assert!(second.created_at > first.created_at);
    assert_eq!(second.id.time(), Some(second.created_at));
    assert_eq!(heard(&town, "ana", &thread).await.unwrap(), ["first", "second"]);
}

/// R16: two who speak at once, in every order in which their steps can meet: whoever commits first is
/// heard first.
#[tokio::test]
async fn whoever_commits_first_is_heard_first() {
    let mut orders = Vec::new();
    for gap in 1.. {
        let town = Town::of(["ana", "bo"]).await;
        let thread = town.ask_for_help("ana", &["bo"]).await.thread_id;
        let (assistance, bo, to) = (town.assistance(), town.caller("bo"), thread.clone());
        let deed = async move || {
            for text in ["bo", "bo again"] {
                assistance.send(&bo, &to, text, None).await.unwrap();
            }
        };
        let (ground, meanwhile) = town.meanwhile(gap, deed);
        let (assistance, ana) = (Assistance::new(ground), town.caller("ana"));
        assistance.send(&ana, &thread, "ana", None).await.unwrap();
        if !meanwhile.happened() {
            break;
        }
        orders.push(heard(&town, "ana", &thread).await.unwrap());
    }
    let last = orders.pop().unwrap();
    assert_eq!(last, ["ana", "bo", "bo again"], "the gap behind the commit");
    assert!(orders.len() > 2);
    assert!(orders.iter().all(|order| *order == ["bo", "bo again", "ana"]), "{orders:?}");
}

/// R16: a block in the middle of a sentence cuts it off, unless it was said before.
#[tokio::test]
async fn a_block_in_the_middle_counts() {
    for (speaker, blocker, blocked) in
        [("bo", "ana", "bo"), ("bo", "bo", "ana"), ("ana", "ana", "bo"), ("ana", "bo", "ana")]
    {
        let mut answers = Vec::new();
        for gap in 1.. {
            let town = Town::of(["ana", "bo"]).await;
            let thread = town.ask_for_help("ana", &["bo"]).await.thread_id;
            let (blocks, from, to) = (town.blocks(), town.caller(blocker), town.id(blocked));
            let deed = async move || drop(blocks.block(&from, &to, None).await.unwrap());
            let (ground, meanwhile) = town.meanwhile(gap, deed);
            let speaker = town.caller(speaker);
            let sent = Assistance::new(ground).send(&speaker, &thread, "well", None).await;
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

/// R16: whoever is suspended while they ask has not asked.
#[tokio::test]
async fn a_suspension_in_the_middle_counts() {
    for suspended in ["ana", "bo"] {
        let mut answers = Vec::new();
        for gap in 1.. {
            let town = Town::of(["ana", "bo", "mo"]).await;
            let mo = town.employ("mo", Role::Moderator).await;
            let (accounts, whom) = (town.accounts(), town.id(suspended));
            let deed =
                async move || drop(accounts.suspend(&mo, &whom, "rude", None).await.unwrap());
            let (ground, meanwhile) = town.meanwhile(gap, deed);
            let (ana, helpers) = (town.caller("ana"), [town.id("bo")]);
            let asked = Assistance::new(ground).ask(&ana, &helpers, None).await;
            if !meanwhile.happened() {
                break;
            }
            answers.push(asked.is_ok());
        }
        assert_eq!(answers.pop(), Some(true), "the gap behind the commit");
        assert!(!answers.is_empty() && answers.iter().all(|answer| !answer), "{answers:?}");
    }
}

/// R16: whoever speaks at once is heard once each, at times of their own.
#[tokio::test]
async fn all_who_speak_at_once_are_heard() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let thread = town.ask_for_help("ana", &["bo", "cleo"]).await.thread_id;
    let said = (0..30).map(|n| {
        let (town, thread) = (&town, &thread);
        let name = ["ana", "bo", "cleo"][n % 3];
        async move {
            let text = format!("{n}");
            town.assistance().send(&town.caller(name), thread, &text, None).await.unwrap()
        }
    });
    let said = join_all(said).await;
    let times: HashSet<_> = said.iter().map(|message| message.created_at).collect();
    assert_eq!(times.len(), 30);
    assert_eq!(heard(&town, "ana", &thread).await.unwrap().len(), 30);
}

/// R32, I8: the same request has the effect of one, and shows the outcome as it is now.
#[tokio::test]
async fn requests_are_done_once() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (assistance, ana, bo) = (town.assistance(), town.caller("ana"), town.caller("bo"));
    let [ask, say]: [RequestId; 2] = ["ask", "say"].map(|id| id.parse().unwrap());
    let helpers = [town.id("bo")];
    let thread = assistance.ask(&ana, &helpers, Some(&ask)).await.unwrap();
    assert_eq!(assistance.ask(&ana, &helpers, Some(&ask)).await.unwrap(), thread);
    let other = assistance.ask(&ana, &[town.id("cleo")], Some(&ask)).await.unwrap_err();
    assert_eq!(other.code(), Code::IdempotencyMismatch);
    let id = &thread.thread_id;
    let said = assistance.send(&bo, id, "hello", Some(&say)).await.unwrap();
    assert_eq!(assistance.send(&bo, id, "hello", Some(&say)).await.unwrap(), said);
    assert_eq!(heard(&town, "ana", id).await.unwrap(), ["hello"]);
    town.block("ana", "bo").await;
    let again = assistance.send(&bo, id, "hello", Some(&say)).await.unwrap_err();
    assert_eq!(again.code(), Code::NotFound, "under present permissions");
}
