//! Reports.

use roundtable_domain::limits::{CASE_REPORTERS_MAX, REASON_CHARS_MAX};
use roundtable_domain::{ModerationError, NewPost};
use roundtable_model::{ModerationStatus as Status, RequestId, UserStatus, Visibility};
use roundtable_testkit::Town;

use super::{code, comment, comments, post, posts, sees};

/// R31: one report per user and post, one case for all of them, and the post stays visible.
#[tokio::test]
async fn reports_of_a_post_open_one_case() {
    let town = Town::of(["ana", "bo", "cleo", "mo"]).await;
    let post = post(&town, "ana", "buy my pills").await;
    town.report("bo", &post.id, "spam").await;
    town.report("cleo", &post.id, "so annoying").await;
    let id = &post.id;
    let reports = town.rows(&format!("POST#{id}"), "REPORT#").await;
    let expected = ["bo reason=spam", "cleo reason=so annoying"];
    assert_eq!(reports, expected.map(|reporter| format!("REPORT#{id}#{reporter}")));
    assert_eq!(
        town.rows(&format!("CASE#{id}"), "").await,
        [format!("CASE#{id} postId={id} reason=spam reporterIds=[bo,cleo] status=PENDING")]
    );
    assert_eq!(town.queue(Status::Pending).await, [id.into()]);
    assert_eq!(sees(&town, Some(&town.caller("cleo")), &post).await, [true; 3]);
    assert!(town.audit_trail().await.is_empty(), "nothing was decided");
}

/// R31: reports are idempotent.
#[tokio::test]
async fn repeated_reports_have_no_effect() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    let post = post(&town, "ana", "hello").await;
    let first = town.report("bo", &post.id, "rude").await;
    let second = town.report("bo", &post.id, "very rude").await;
    assert_eq!(first, second);
    assert_eq!(town.rows(&format!("POST#{}", post.id), "REPORT#").await.len(), 1);
    // Nor does it reopen a decided case.
    town.moderate(&post.id, Status::Approved).await;
    let third = town.report("bo", &post.id, "still rude").await;
    assert_eq!(third.status, Status::Approved);
    assert!(town.queue(Status::Pending).await.is_empty());
}

/// R31: comments have cases of their own.
#[tokio::test]
async fn comments_are_reported_like_posts() {
    let town = Town::of(["ana", "bo", "cleo", "mo"]).await;
    let post = post(&town, "ana", "hello").await;
    let comment = comment(&town, "bo", &post, "go away").await;
    let moderation = town.moderation();
    let case = moderation.report_comment(&town.caller("cleo"), &comment.id, "rude", None).await;
    assert_eq!(case.unwrap().status, Status::Pending);
    let (p, c) = (&post.id, &comment.id);
    assert_eq!(
        town.rows(&format!("POST#{p}"), "REPORT#").await,
        [format!("REPORT#{c}#cleo reason=rude")]
    );
    assert_eq!(
        town.rows(&format!("CASE#{c}"), "").await,
        [format!(
            "CASE#{c} postId={p} commentId={c} reason=rude reporterIds=[cleo] status=PENDING"
        )]
    );
    let subject = town.case(c).await;
    assert_eq!(subject.content.comment, Some(comment));
    assert_eq!(subject.content.post.id, *p);
}

/// I9: only moderators see the reporters and their reasons.
#[tokio::test]
async fn reporters_do_not_see_each_other() {
    let town = Town::of(["ana", "bo", "cleo", "mo"]).await;
    let post = post(&town, "ana", "hello").await;
    town.report("bo", &post.id, "bo's secret reason").await;
    let returned = town.report("cleo", &post.id, "mine").await;
    assert_eq!(
        (returned.reporter_ids, returned.reason.as_deref()),
        (vec![town.id("cleo")], Some("mine"))
    );
    let (moderation, mo) = (town.moderation(), town.mo());
    let decision = moderation.moderate_post(&mo, &post.id, Status::Approved, Some("fine"), None);
    decision.await.unwrap();
    let returned = town.report("cleo", &post.id, "again").await;
    assert_eq!((returned.status, returned.decided_by), (Status::Approved, None));
    assert_eq!(returned.reason.as_deref(), Some("mine"));
    let refused = moderation.case(&town.caller("cleo"), &(&post.id).into()).await;
    assert_eq!(code(refused), "FORBIDDEN");
}

/// R34: a new report reopens a decided case, and the audit log records it.
#[tokio::test]
async fn a_new_report_opens_a_decided_case_again() {
    let town = Town::of(["ana", "bo", "cleo", "mo"]).await;
    let (first, second) = (post(&town, "ana", "one").await, post(&town, "ana", "two").await);
    town.report("bo", &first.id, "spam").await;
    town.moderate(&first.id, Status::Approved).await;
    town.advance_ms(3 * 24 * 60 * 60 * 1000);
    town.report("bo", &second.id, "spam").await;
    town.advance_ms(1);
    town.report("cleo", &first.id, "it was changed").await;
    // It counts as new.
    assert_eq!(town.queue(Status::Pending).await, [(&first.id).into(), (&second.id).into()]);
    assert!(town.queue(Status::Approved).await.is_empty());
    let case = town.case(&first.id).await.case;
    assert_eq!((case.decided_by, case.decided_at), (None, None));
    assert_eq!(case.reason.as_deref(), Some("it was changed"));
    assert_eq!(case.reporter_ids, [town.id("bo"), town.id("cleo")]);
    let trail = [
        r#"mo moderatePost {"from":"PENDING","to":"APPROVED"}"#,
        r#"cleo reportPost {"from":"APPROVED","to":"PENDING","reason":"it was changed"}"#,
    ];
    assert_eq!(town.audit_trail().await, trail);
}

/// A case names a limited number of reporters, and stores all reports.
#[tokio::test]
async fn a_case_names_a_limited_number_of_reporters() {
    let town = Town::of(["ana", "mo"]).await;
    let post = post(&town, "ana", "hello").await;
    let people: Vec<String> = (0..CASE_REPORTERS_MAX + 2).map(|n| format!("p{n:02}")).collect();
    for name in &people {
        town.add_user(name, |_| {}).await;
    }
    let (last, others) = people.split_last().unwrap();
    for name in others {
        town.report(name, &post.id, "spam").await;
    }
    assert_eq!(town.case(&post.id).await.case.reporter_ids.len(), CASE_REPORTERS_MAX);
    assert_eq!(
        town.rows(&format!("POST#{}", post.id), "REPORT#").await.len(),
        CASE_REPORTERS_MAX + 1
    );
    // A reporter who is not named reopens it all the same.
    town.moderate(&post.id, Status::Approved).await;
    assert_eq!(town.report(last, &post.id, "spam").await.status, Status::Pending);
    let case = town.case(&post.id).await.case;
    assert_eq!((case.status, case.reporter_ids.len()), (Status::Pending, CASE_REPORTERS_MAX));
}

/// R32, I8: requests are idempotent.
#[tokio::test]
async fn a_repeated_report_has_the_effect_of_one() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    let (post, other) = (post(&town, "ana", "one").await, post(&town, "ana", "two").await);
    let (moderation, bo) = (town.moderation(), town.caller("bo"));
    let request: RequestId = "request-1".parse().unwrap();
    let once = moderation.report_post(&bo, &post.id, "spam", Some(&request)).await.unwrap();
    let again = moderation.report_post(&bo, &post.id, "spam", Some(&request)).await.unwrap();
    assert_eq!(once, again);
    // As it is now.
    town.moderate(&post.id, Status::Approved).await;
    let now = moderation.report_post(&bo, &post.id, "spam", Some(&request)).await.unwrap();
    assert_eq!(now.status, Status::Approved);
    let mismatch = moderation.report_post(&bo, &other.id, "spam", Some(&request)).await;
    assert_eq!(code(mismatch), "IDEMPOTENCY_MISMATCH");
    // A report that changed nothing is recorded, too.
    let request: RequestId = "request-2".parse().unwrap();
    moderation.report_post(&bo, &post.id, "more", Some(&request)).await.unwrap();
    let mismatch = moderation.report_post(&bo, &post.id, "other", Some(&request)).await;
    assert_eq!(code(mismatch), "IDEMPOTENCY_MISMATCH");
}

/// I9: hidden content looks like missing content.
#[tokio::test]
async fn hidden_content_cannot_be_reported() {
    let town = Town::of(["ana", "bo", "cleo", "mo"]).await;
    let (moderation, bo) = (town.moderation(), town.caller("bo"));
    let private = NewPost { visibility: Some(Visibility::Private), ..NewPost::text("my diary") };
    let private = posts(&town).create(&town.caller("ana"), &private, None).await.unwrap();
    let rejected = post(&town, "ana", "rejected").await;
    town.moderate(&rejected.id, Status::Rejected).await;
    let deleted = post(&town, "ana", "deleted").await;
    posts(&town).delete(&town.caller("ana"), &deleted.id, None).await.unwrap();
    let blocked = post(&town, "cleo", "blocked").await;
    let said = comment(&town, "cleo", &blocked, "blocked, too").await;
    town.block("cleo", "bo").await;
    let group = town.create_private_group("ana", "gardeners").await;
    let inside = NewPost { group_id: Some(group), ..NewPost::text("roses") };
    let inside = posts(&town).create(&town.caller("ana"), &inside, None).await.unwrap();
    let nothing = "nothing".parse().unwrap();
    for id in [&private.id, &rejected.id, &deleted.id, &blocked.id, &inside.id, &nothing] {
        let refused = moderation.report_post(&bo, id, "spam", None).await.unwrap_err();
        assert!(matches!(refused, ModerationError::NoSuchPost), "{refused}");
    }
    let public = post(&town, "ana", "hello").await;
    let hidden = comment(&town, "ana", &public, "hidden").await;
    let mo = town.mo();
    moderation.moderate_comment(&mo, &hidden.id, Status::Flagged, None, None).await.unwrap();
    let removed = comment(&town, "ana", &public, "gone").await;
    comments(&town).delete(&town.caller("ana"), &removed.id, None).await.unwrap();
    for id in [&said.id, &hidden.id, &removed.id, &"nothing".parse().unwrap()] {
        let refused = moderation.report_comment(&bo, id, "spam", None).await.unwrap_err();
        assert!(matches!(refused, ModerationError::NoSuchComment), "{refused}");
    }
    assert!(town.queue(Status::Pending).await.is_empty());
}

#[tokio::test]
async fn invalid_reports_are_refused() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    let moderation = town.moderation();
    let post = post(&town, "ana", "hello").await;
    let said = comment(&town, "ana", &post, "hello?").await;
    let (ana, bo) = (town.caller("ana"), town.caller("bo"));
    let own = moderation.report_post(&ana, &post.id, "spam", None).await;
    assert!(matches!(own, Err(ModerationError::OwnContent)));
    let own = moderation.report_comment(&ana, &said.id, "spam", None).await;
    assert!(matches!(own, Err(ModerationError::OwnContent)));
    assert_eq!(code(own), "BAD_REQUEST");
    for reason in ["", "  \n", &"x".repeat(REASON_CHARS_MAX + 1)] {
        assert_eq!(code(moderation.report_post(&bo, &post.id, reason, None).await), "BAD_REQUEST");
    }
    let stranger = moderation.report_post(&town.caller("stranger"), &post.id, "spam", None).await;
    assert_eq!(code(stranger), "UNAUTHENTICATED");
    town.set_status("bo", UserStatus::Suspended).await;
    assert_eq!(code(moderation.report_post(&bo, &post.id, "spam", None).await), "FORBIDDEN");
    // Moderators see hidden content; they decide about it instead of reporting it.
    town.moderate(&post.id, Status::Flagged).await;
    let hidden = moderation.report_post(&town.mo(), &post.id, "?", None).await;
    assert!(matches!(hidden, Err(ModerationError::AlreadyHidden)));
    assert_eq!(town.case(&post.id).await.case.status, Status::Flagged);
}
