//! The moderation queue and the audit log.

use roundtable_domain::{
    ModerationMode, Page, PageInput, ReviewedCase, Settings, ShardCount, ShardSettings,
};
use roundtable_model::entities::Audit;
use roundtable_model::{
    CaseId, Day, ModerationStatus as Status, Role, Shards, SubjectId, UserStatus,
};
use roundtable_testkit::Town;

use super::{code, comment, comments, post, posts};

const HOUR_MS: u64 = 60 * 60 * 1000;

/// A town with several shards for cases and audit entries.
async fn sharded_town<const N: usize>(moderation: ModerationMode, names: [&str; N]) -> Town {
    let three = ShardCount(Shards::new(3).unwrap());
    let shards = ShardSettings { cases: three, audit: three, ..ShardSettings::default() };
    Town::with(Settings { moderation, shards, ..Settings::default() }, names).await
}

fn ids(page: &Page<ReviewedCase>) -> Vec<CaseId> {
    page.items.iter().map(|(subject, _)| subject.case.id.clone()).collect()
}

/// R26, R30, I13: newest first over days and shards, in full pages, during concurrent changes.
#[tokio::test]
async fn the_queue_is_paged_newest_first() {
    let town = sharded_town(ModerationMode::Before, ["ana", "mo"]).await;
    let mut written = Vec::new();
    for number in 0..24 {
        written.push(post(&town, "ana", &format!("number {number}")).await);
        town.advance_ms(7 * HOUR_MS);
    }
    let (moderation, mo) = (town.moderation(), town.mo());
    let mut page = PageInput { limit: Some(5), after: None };
    let mut visible = Vec::new();
    for number in 0.. {
        let found = moderation.queue(&mo, None, &page).await.unwrap();
        assert!(found.items.len() == 5 || found.next.is_none(), "page {number} is short");
        visible.extend(ids(&found));
        // The last case of each page is decided before the next page is read.
        if let Some((subject, _)) = found.items.last() {
            town.moderate(&subject.content().unwrap().post.id, Status::Rejected).await;
        }
        page.after = found.next;
        if page.after.is_none() {
            break;
        }
    }
    let newest_first: Vec<CaseId> = written.iter().rev().map(|post| (&post.id).into()).collect();
    assert_eq!(visible, newest_first);
    assert_eq!(town.queue(Status::Rejected).await.len(), 5);
    assert_eq!(town.queue(Status::Pending).await.len(), 19);
    assert!(town.queue(Status::Flagged).await.is_empty());
}

/// Cases come with their posts and comments; deleted content is omitted.
#[tokio::test]
async fn the_queue_shows_the_content_of_cases() {
    let town = sharded_town(ModerationMode::Off, ["ana", "bo", "mo"]).await;
    let (one, two) = (post(&town, "ana", "one").await, post(&town, "ana", "two").await);
    let (moderation, bo) = (town.moderation(), town.caller("bo"));
    let mut sent = Vec::new();
    for on in [&one, &two, &two] {
        town.advance_ms(1);
        let comment = comment(&town, "ana", on, "hm").await;
        moderation.report_comment(&bo, &comment.id, "rude", None).await.unwrap();
        sent.push(comment);
    }
    town.advance_ms(1);
    town.report("bo", &two.id, "spam").await;
    let page = moderation.queue(&town.mo(), None, &PageInput::first()).await.unwrap();
    let contents: Vec<_> =
        page.into_items().into_iter().map(|subject| subject.content().cloned().unwrap()).collect();
    assert_eq!(
        contents.iter().map(|it| &it.post.id).collect::<Vec<_>>(),
        [&two.id, &two.id, &two.id, &one.id]
    );
    let comments_of: Vec<_> = contents.into_iter().filter_map(|content| content.comment).collect();
    assert_eq!(comments_of, [sent[2].clone(), sent[1].clone(), sent[0].clone()]);

    comments(&town).delete(&town.caller("ana"), &sent[0].id, None).await.unwrap();
    assert_eq!(town.queue(Status::Pending).await.len(), 3);
    posts(&town).delete(&town.caller("ana"), &two.id, None).await.unwrap();
    assert!(town.queue(Status::Pending).await.is_empty());
    let deleted = moderation.case(&town.mo(), &(&two.id).into()).await;
    assert_eq!(code(deleted), "NOT_FOUND");
}

/// All reports are visible to moderators.
#[tokio::test]
async fn moderators_read_every_report() {
    let town = Town::of(["ana", "bo", "cleo", "mo"]).await;
    let post = post(&town, "ana", "hello").await;
    town.report("bo", &post.id, "spam").await;
    town.report("cleo", &post.id, "rude").await;
    let (moderation, case) = (town.moderation(), CaseId::from(&post.id));
    let reports = moderation.reports(&town.mo(), &case, &PageInput::first()).await.unwrap();
    let reasons: Vec<String> = reports.into_items().into_iter().map(|it| it.reason).collect();
    assert_eq!(reasons, ["spam", "rude"]);
    let refused = moderation.reports(&town.caller("bo"), &case, &PageInput::first()).await;
    assert_eq!(code(refused), "FORBIDDEN");
}

/// R34: the audit log is read by days.
#[tokio::test]
async fn the_audit_is_read_by_days() {
    let town = sharded_town(ModerationMode::Off, ["ana", "mo"]).await;
    let post = post(&town, "ana", "hello").await;
    let mut days: Vec<Day> = Vec::new();
    for number in 0..6 {
        let status = if number % 2 == 0 { Status::Rejected } else { Status::Approved };
        town.moderate(&post.id, status).await;
        days.push(town.now().day());
        town.advance_ms(24 * HOUR_MS);
    }
    let (moderation, mo) = (town.moderation(), town.mo());
    let read = async |newest, oldest, page: &PageInput| {
        moderation.audit(&mo, newest, oldest, page).await.unwrap()
    };
    let all = read(None, None, &PageInput::first()).await.into_items();
    let read_days: Vec<Day> = all.iter().map(|entry| entry.created_at.day()).collect();
    assert_eq!(read_days, days.iter().copied().rev().collect::<Vec<_>>());
    let some = read(Some(days[4]), Some(days[2]), &PageInput::first()).await.into_items();
    assert_eq!(some, all[1..4]);
    let first = read(None, None, &PageInput { limit: Some(4), after: None }).await;
    let rest = read(None, None, &PageInput { limit: Some(4), after: first.next.clone() }).await;
    assert_eq!((first.items.len(), rest.items.len(), rest.next), (4, 2, None));
}

/// R56: the audit log is read by the user who acted, and by the user or object that was concerned.
#[tokio::test]
async fn the_audit_is_read_by_actor_and_by_subject() {
    let town = sharded_town(ModerationMode::Off, ["ana", "bo", "mo", "mia"]).await;
    let (first, second) = (post(&town, "ana", "one").await, post(&town, "ana", "two").await);
    let (moderation, mo) = (town.moderation(), town.mo());
    let mia = town.grant_role("mia", Role::Moderator).await;
    for (caller, post, status) in [
        (&mo, &first, Status::Rejected),
        (&mia, &second, Status::Flagged),
        (&mia, &first, Status::Approved),
    ] {
        moderation.moderate_post(caller, &post.id, status, None, None).await.unwrap();
        town.advance_ms(1_000);
    }
    town.accounts().suspend(&mo, &town.id("bo"), "spam", None).await.unwrap();
    let by = async |name: &str, limit| {
        let page = PageInput { limit, after: None };
        let found = moderation.audit_by(&mo, &town.id(name), &page).await.unwrap();
        found.into_items().into_iter().map(|entry| entry.subject.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(by("mo", None).await, ["bo", first.id.to_string().as_str()]);
    assert_eq!(by("mia", None).await, [first.id.to_string(), second.id.to_string()]);
    assert_eq!(by("mia", Some(1)).await, [first.id.to_string()]);
    assert!(by("ana", None).await.is_empty());
    let of = async |subject: SubjectId| {
        let found = moderation.audit_of(&mo, &subject, &PageInput::first()).await.unwrap();
        let line = |entry: Audit| format!("{} {}", entry.actor.unwrap(), entry.action);
        found.into_items().into_iter().map(line).collect::<Vec<_>>()
    };
    assert_eq!(of((&first.id).into()).await, ["mia moderatePost", "mo moderatePost"]);
    assert_eq!(of(town.id("bo").into()).await, ["mo suspendUser"]);
    let (ana, page) = (town.caller("ana"), PageInput::first());
    assert_eq!(code(moderation.audit_by(&ana, &mo.user_id, &page).await), "FORBIDDEN");
    assert_eq!(code(moderation.audit_of(&ana, &town.id("bo").into(), &page).await), "FORBIDDEN");
}

/// Only moderators may read them.
#[tokio::test]
async fn only_moderators_read_the_queue_and_the_audit() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    let post = post(&town, "ana", "hello").await;
    town.report("bo", &post.id, "spam").await;
    let (moderation, first) = (town.moderation(), PageInput::first());
    let case = CaseId::from(&post.id);
    for caller in [town.caller("ana"), town.caller("bo"), town.caller("mo")] {
        assert_eq!(code(moderation.queue(&caller, None, &first).await), "FORBIDDEN");
        assert_eq!(code(moderation.case(&caller, &case).await), "FORBIDDEN");
        assert_eq!(code(moderation.audit(&caller, None, None, &first).await), "FORBIDDEN");
    }
    for role in [Role::Moderator, Role::Admin] {
        let mo = town.grant_role("mo", role).await;
        let page = moderation.queue(&mo, None, &first).await.unwrap();
        assert_eq!(ids(&page), std::slice::from_ref(&case));
        assert!(moderation.audit(&mo, None, None, &first).await.is_ok());
    }
    let stranger = town.staff("stranger", Role::Admin);
    assert_eq!(code(moderation.queue(&stranger, None, &first).await), "UNAUTHENTICATED");
    let large = PageInput { limit: Some(101), after: None };
    let mo = town.grant_role("mo", Role::Moderator).await;
    assert_eq!(code(moderation.queue(&mo, None, &large).await), "BAD_REQUEST");
    town.set_status("mo", UserStatus::Suspended).await;
    assert_eq!(code(moderation.queue(&mo, None, &first).await), "FORBIDDEN");
}

/// A cursor is valid for its own list only.
#[tokio::test]
async fn a_cursor_of_the_queue_is_refused_by_the_audit() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    for text in ["one", "two"] {
        let post = post(&town, "ana", text).await;
        town.report("bo", &post.id, "spam").await;
    }
    let (moderation, mo) = (town.moderation(), town.mo());
    let one = PageInput { limit: Some(1), after: None };
    let after = moderation.queue(&mo, None, &one).await.unwrap().next;
    assert!(after.is_some());
    let wrong = moderation.audit(&mo, None, None, &PageInput { limit: None, after }).await;
    assert_eq!(code(wrong), "BAD_REQUEST");
}
