//! Decisions.

use roundtable_domain::limits::REASON_CHARS_MAX;
use roundtable_domain::{Caller, ModerationError, PageInput};
use roundtable_model::table::Order;
use roundtable_model::{ModerationStatus as Status, PostId, RequestId, Role, UserStatus};
use roundtable_testkit::Town;

use super::{code, comment, comments, post, posts, sees};

/// R34, I9: visibility of each status to the author, strangers and moderators.
#[tokio::test]
async fn a_status_decides_who_sees_a_post() {
    let town = Town::of(["ana", "bo", "mo", "ada"]).await;
    let post = post(&town, "ana", "a canary").await;
    town.follow("bo", "ana").await;
    let (ana, bo) = (town.caller("ana"), town.caller("bo"));
    let admin = town.staff("ada", Role::Admin);
    for (status, shown) in
        [(Status::Flagged, false), (Status::Rejected, false), (Status::Approved, true)]
    {
        let decided = town.moderate(&post.id, status).await;
        assert_eq!((decided.moderation_status, decided.published_at), (status, post.published_at));
        // The public list shows approved posts only, also to viewers who may see more.
        assert_eq!(sees(&town, Some(&ana), &post).await, [true, true, shown], "{status}");
        assert_eq!(sees(&town, Some(&town.mo()), &post).await, [true, true, shown], "{status}");
        assert_eq!(sees(&town, Some(&admin), &post).await, [true, true, shown], "{status}");
        assert_eq!(sees(&town, Some(&bo), &post).await, [shown; 3], "{status}");
        assert_eq!(sees(&town, None, &post).await, [shown; 3], "{status}");
    }
}

/// R34, I9: likewise for comments.
#[tokio::test]
async fn a_status_decides_who_sees_a_comment() {
    let town = Town::of(["ana", "bo", "cleo", "mo"]).await;
    let post = post(&town, "ana", "hello").await;
    let sent = comment(&town, "bo", &post, "a canary").await;
    let moderation = town.moderation();
    let (comments, first, mo) = (comments(&town), PageInput::first(), town.mo());
    let [ana, bo, cleo] = ["ana", "bo", "cleo"].map(|name| town.caller(name));
    let listed = async |viewer: Option<&Caller>| {
        let page = comments.on(viewer, &post.id, Order::Descending, &first).await.unwrap();
        let listed = !page.items.is_empty();
        assert_eq!(comments.comment(viewer, &sent.id).await.is_ok(), listed);
        listed
    };
    for (status, shown) in
        [(Status::Rejected, false), (Status::Flagged, false), (Status::Approved, true)]
    {
        let decision = moderation.moderate_comment(&mo, &sent.id, status, None, None);
        assert_eq!(decision.await.unwrap().moderation_status, status);
        assert!(listed(Some(&bo)).await && listed(Some(&mo)).await);
        assert_eq!(listed(Some(&ana)).await, shown, "{status}");
        assert_eq!(listed(Some(&cleo)).await, shown, "{status}");
        assert_eq!(listed(None).await, shown, "{status}");
        assert_eq!(town.case(&sent.id).await.case.status, status);
    }
}

/// R26: the list of a status contains the posts that have it.
#[tokio::test]
async fn hidden_posts_are_listed_by_their_status() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    let (flagged, reported) = (post(&town, "ana", "one").await, post(&town, "ana", "two").await);
    town.moderate(&flagged.id, Status::Flagged).await;
    town.report("bo", &reported.id, "spam").await;
    let (posts, mo, first) = (posts(&town), town.mo(), PageInput::first());
    let listed = async |status| {
        let page = posts.global(Some(&mo), None, Some(status), Order::Descending, &first);
        page.await.unwrap().into_items().into_iter().map(|post| post.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(Status::Flagged).await, [flagged.id]);
    assert_eq!(listed(Status::Approved).await, [reported.id]);
    assert!(listed(Status::Pending).await.is_empty() && listed(Status::Rejected).await.is_empty());
}

/// R33, R34: case, post and audit change together, also without an earlier case.
#[tokio::test]
async fn a_decision_writes_a_case_and_an_audit_entry() {
    let town = Town::of(["ana", "mo"]).await;
    let post = post(&town, "ana", "hello").await;
    let (moderation, mo, id) = (town.moderation(), town.mo(), &post.id);
    let decision = moderation.moderate_post(&mo, id, Status::Rejected, Some("off topic"), None);
    decision.await.unwrap();
    assert_eq!(
        town.rows(&format!("CASE#{id}"), "").await,
        [format!(
            "CASE#{id} postId={id} reason=off topic reporterIds=[] status=REJECTED decidedBy=mo"
        )]
    );
    assert_eq!(town.case(id).await.case.decided_at, Some(town.now()));
    // Another decision about the same case keeps the reason.
    town.advance_ms(1);
    town.moderate(id, Status::Approved).await;
    let trail = [
        r#"mo moderatePost {"from":"APPROVED","to":"REJECTED","reason":"off topic"}"#,
        r#"mo moderatePost {"from":"REJECTED","to":"APPROVED"}"#,
    ];
    assert_eq!(town.audit_trail().await, trail);
    let day = town.now().day();
    let rows = town.rows(&format!("AUDIT#{day}"), "").await;
    assert_eq!(rows.len(), 2);
    assert!(
        rows.iter().all(|row| row.contains(&format!("actor=mo action=moderatePost subject={id}")))
    );
}

/// R34: decisions are idempotent.
#[tokio::test]
async fn deciding_the_same_again_changes_nothing() {
    let town = Town::of(["ana", "bo", "mo", "mia"]).await;
    let post = post(&town, "ana", "hello").await;
    town.report("bo", &post.id, "spam").await;
    town.moderate(&post.id, Status::Approved).await;
    let (moderation, mia) = (town.moderation(), town.staff("mia", Role::Moderator));
    let again = moderation.moderate_post(&mia, &post.id, Status::Approved, None, None);
    assert_eq!(again.await.unwrap().published_at, post.published_at);
    assert_eq!(town.case(&post.id).await.case.decided_by, Some(town.id("mo")));
    assert_eq!(town.audit_trail().await.len(), 1);
    assert_eq!(town.rows("ACTIVITY#ana", "TS#").await.len(), 1);
    // With another reason, it is a new decision.
    let again = moderation.moderate_post(&mia, &post.id, Status::Approved, Some("funny"), None);
    again.await.unwrap();
    let case = town.case(&post.id).await.case;
    assert_eq!((case.decided_by, case.reason.as_deref()), (Some(town.id("mia")), Some("funny")));
    assert_eq!(town.audit_trail().await.len(), 2);
}

/// R32, I8: requests are idempotent.
#[tokio::test]
async fn a_repeated_decision_has_the_effect_of_one() {
    let town = Town::of(["ana", "mo"]).await;
    let post = post(&town, "ana", "hello").await;
    let sent = comment(&town, "ana", &post, "hello?").await;
    let (moderation, mo) = (town.moderation(), town.mo());
    let request: RequestId = "request-1".parse().unwrap();
    let reject =
        async |status| moderation.moderate_post(&mo, &post.id, status, None, Some(&request)).await;
    reject(Status::Rejected).await.unwrap();
    town.moderate(&post.id, Status::Approved).await;
    // The repetition hides nothing again.
    assert_eq!(reject(Status::Rejected).await.unwrap().moderation_status, Status::Approved);
    assert_eq!(town.audit_trail().await.len(), 2);
    assert_eq!(code(reject(Status::Flagged).await), "IDEMPOTENCY_MISMATCH");
    // Also when the first one changed nothing.
    let request: RequestId = "request-2".parse().unwrap();
    let approve = async || {
        moderation.moderate_post(&mo, &post.id, Status::Approved, None, Some(&request)).await
    };
    approve().await.unwrap();
    town.moderate(&post.id, Status::Rejected).await;
    assert_eq!(approve().await.unwrap().moderation_status, Status::Rejected);
    // Comments likewise; a former moderator gets no answer.
    let request: RequestId = "request-3".parse().unwrap();
    let flag = async |caller: &Caller| {
        moderation.moderate_comment(caller, &sent.id, Status::Flagged, None, Some(&request)).await
    };
    flag(&mo).await.unwrap();
    assert_eq!(flag(&mo).await.unwrap().moderation_status, Status::Flagged);
    assert_eq!(code(flag(&town.caller("mo")).await), "FORBIDDEN");
}

#[tokio::test]
async fn invalid_decisions_are_refused() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    let (moderation, mo) = (town.moderation(), town.mo());
    let existing = post(&town, "ana", "hello").await;
    let sent = comment(&town, "bo", &existing, "hello?").await;
    let decide = async |caller: &Caller, id: &PostId, status: Status, reason: Option<&str>| {
        moderation.moderate_post(caller, id, status, reason, None).await
    };
    for name in ["ana", "bo"] {
        // For existing and missing targets alike.
        let (caller, nothing) = (town.caller(name), "nothing".parse().unwrap());
        assert_eq!(code(decide(&caller, &existing.id, Status::Approved, None).await), "FORBIDDEN");
        assert_eq!(code(decide(&caller, &nothing, Status::Approved, None).await), "FORBIDDEN");
        let comment = moderation.moderate_comment(&caller, &sent.id, Status::Approved, None, None);
        assert_eq!(code(comment.await), "FORBIDDEN");
    }
    let pending = decide(&mo, &existing.id, Status::Pending, None).await;
    assert!(matches!(pending, Err(ModerationError::InvalidDecision)));
    assert_eq!(code(pending), "BAD_REQUEST");
    let long = "x".repeat(REASON_CHARS_MAX + 1);
    assert_eq!(code(decide(&mo, &existing.id, Status::Rejected, Some(&long)).await), "BAD_REQUEST");
    let nothing = decide(&mo, &"nothing".parse().unwrap(), Status::Approved, None).await;
    assert!(matches!(nothing, Err(ModerationError::NoSuchPost)));
    let nothing = "nothing".parse().unwrap();
    let nothing = moderation.moderate_comment(&mo, &nothing, Status::Approved, None, None).await;
    assert!(matches!(nothing, Err(ModerationError::NoSuchComment)));
    posts(&town).delete(&town.caller("ana"), &existing.id, None).await.unwrap();
    let deleted = decide(&mo, &existing.id, Status::Rejected, None).await;
    assert_eq!(code(deleted), "NOT_FOUND");
    let deleted = moderation.moderate_comment(&mo, &sent.id, Status::Rejected, None, None).await;
    assert_eq!(code(deleted), "NOT_FOUND");
    town.set_status("mo", UserStatus::Suspended).await;
    assert_eq!(code(decide(&mo, &existing.id, Status::Approved, None).await), "FORBIDDEN");
    let stranger = town.staff("stranger", Role::Admin);
    assert_eq!(
        code(decide(&stranger, &existing.id, Status::Approved, None).await),
        "UNAUTHENTICATED"
    );
}
