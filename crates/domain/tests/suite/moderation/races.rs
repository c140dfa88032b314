//! Concurrent changes during reports and decisions.

use std::sync::Arc;

use roundtable_domain::{Comments, Moderation, ModerationError, ModerationMode, PostChange};
use roundtable_model::entities::User;
use roundtable_model::{ModerationStatus as Status, Role, UserStatus, rekey};
use roundtable_testkit::Town;

use super::{comment, comments, post, posts, town_with};

/// A mutation takes fewer operations than this.
const OPERATIONS_MAX: usize = 60;

/// R33: of two different concurrent decisions one wins, and the other caller is told.
#[tokio::test]
async fn of_two_concurrent_decisions_one_wins() {
    let mut overtaken = 0;
    for gap in 1..OPERATIONS_MAX {
        let town = town_with(ModerationMode::Before, ["ana", "mo", "mia"]).await;
        let post = post(&town, "ana", "hello").await;
        let (other, id) = (town.moderation(), post.id.clone());
        let mia = town.staff("mia", Role::Moderator);
        let (context, meanwhile) = town.interleave(gap, async move || {
            other.moderate_post(&mia, &id, Status::Rejected, None, None).await.unwrap();
        });
        let mine = Moderation::new(context)
            .moderate_post(&town.mo(), &post.id, Status::Approved, None, None)
            .await;
        let trail = town.audit_trail().await.len();
        let now = town.case(&post.id).await;
        assert_eq!(now.case.status, now.content.post.moderation_status);
        assert_eq!(now.content.post.published_at.is_some(), mine.is_ok());
        match mine {
            Err(ModerationError::ConcurrentDecision) => {
                overtaken += 1;
                assert_eq!((now.case.status, trail), (Status::Rejected, 1));
            }
            // Sequential: the second caller knew of the first, or there was no second.
            Ok(_) => {
                let both = meanwhile.happened();
                assert_eq!(trail, 1 + usize::from(both));
                if !both {
                    assert!(overtaken > 0, "they never met");
                    return;
                }
            }
            Err(other) => panic!("{other}"),
        }
    }
    panic!("a decision never ends");
}

/// R33, I8: two equal decisions are one.
#[tokio::test]
async fn two_equal_concurrent_decisions_are_one() {
    for gap in 1..OPERATIONS_MAX {
        let town = Town::of(["ana", "bo", "mo", "mia"]).await;
        let post = post(&town, "ana", "hello").await;
        town.report("bo", &post.id, "spam").await;
        let (other, id) = (town.moderation(), post.id.clone());
        let mia = town.staff("mia", Role::Moderator);
        let (context, meanwhile) = town.interleave(gap, async move || {
            other.moderate_post(&mia, &id, Status::Rejected, Some("hers"), None).await.unwrap();
        });
        let mine = Moderation::new(context)
            .moderate_post(&town.mo(), &post.id, Status::Rejected, None, None)
            .await;
        assert_eq!(mine.unwrap().moderation_status, Status::Rejected);
        if !meanwhile.happened() {
            return;
        }
        // She may have added a reason to an existing decision.
        let trail = town.audit_trail().await;
        let after = trail.first().is_some_and(|entry| entry.starts_with("mo"));
        assert_eq!(trail.len(), 1 + usize::from(after), "{trail:?}");
    }
    panic!("a decision never ends");
}

/// R33: concurrent approvals publish once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_approvals_publish_once() {
    let town = Arc::new(town_with(ModerationMode::Before, ["ana", "mo"]).await);
    let post = post(&town, "ana", "hello").await;
    let approvals: Vec<_> = (0..8)
        .map(|_| {
            let (moderation, mo, id) = (town.moderation(), town.mo(), post.id.clone());
            tokio::spawn(async move {
                moderation.moderate_post(&mo, &id, Status::Approved, None, None).await
            })
        })
        .collect();
    for approval in approvals {
        assert_eq!(approval.await.unwrap().unwrap().moderation_status, Status::Approved);
    }
    assert_eq!(town.rows("ACTIVITY#ana", "TS#").await.len(), 1);
    assert_eq!(town.audit_trail().await.len(), 1);
}

/// R33: concurrent reports are all stored, in one case.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_reports_share_one_case() {
    let town = Arc::new(Town::of(["ana", "mo"]).await);
    let post = post(&town, "ana", "hello").await;
    let names: Vec<String> = (0..30).map(|number| format!("p{number:02}")).collect();
    for name in &names {
        town.add_user(name, |_| {}).await;
    }
    let reports: Vec<_> = names
        .iter()
        .map(|name| {
            let (moderation, id) = (town.moderation(), post.id.clone());
            let caller = town.caller(name);
            tokio::spawn(async move { moderation.report_post(&caller, &id, "spam", None).await })
        })
        .collect();
    for report in reports {
        report.await.unwrap().unwrap();
    }
    let mut named: Vec<String> =
        town.case(&post.id).await.case.reporter_ids.iter().map(ToString::to_string).collect();
    named.sort();
    assert_eq!(named, names);
}

/// R33, I9: a decision and a report never leave a hidden post without a matching case.
#[tokio::test]
async fn a_report_meets_a_decision() {
    for gap in 1..OPERATIONS_MAX {
        let town = Town::of(["ana", "bo", "cleo", "mo"]).await;
        let post = post(&town, "ana", "hello").await;
        town.report("cleo", &post.id, "spam").await;
        town.moderate(&post.id, Status::Approved).await;
        let (other, id, mo) = (town.moderation(), post.id.clone(), town.mo());
        let (context, meanwhile) = town.interleave(gap, async move || {
            other.moderate_post(&mo, &id, Status::Rejected, None, None).await.unwrap();
        });
        let report =
            Moderation::new(context).report_post(&town.caller("bo"), &post.id, "spam", None).await;
        if !meanwhile.happened() {
            assert_eq!(report.unwrap().status, Status::Pending);
            return;
        }
        let now = town.case(&post.id).await;
        assert_eq!(now.content.post.moderation_status, Status::Rejected);
        assert_eq!(now.case.status, Status::Rejected);
        assert_eq!(now.case.reporter_ids.contains(&town.id("bo")), report.is_ok());
        assert!(matches!(report, Ok(_) | Err(ModerationError::NoSuchPost)));
    }
    panic!("a report never ends");
}

/// R33: no case is opened or decided for content that is being deleted.
#[tokio::test]
async fn a_report_and_a_decision_meet_a_deletion() {
    for gap in 1..OPERATIONS_MAX {
        let town = Town::of(["ana", "bo", "mo"]).await;
        let (one, two) = (post(&town, "ana", "one").await, post(&town, "ana", "two").await);
        let mut over = true;
        for (post, reports) in [(&one, true), (&two, false)] {
            let (posts, ana, id) = (posts(&town), town.caller("ana"), post.id.clone());
            let (context, meanwhile) = town.interleave(gap, async move || {
                posts.delete(&ana, &id, None).await.unwrap();
            });
            let moderation = Moderation::new(context);
            let (id, bo, mo) = (&post.id, town.caller("bo"), town.mo());
            let result = if reports {
                moderation.report_post(&bo, id, "spam", None).await.map(drop)
            } else {
                moderation.moderate_post(&mo, id, Status::Flagged, None, None).await.map(drop)
            };
            over &= !meanwhile.happened();
            let case = town.rows(&format!("CASE#{}", post.id), "").await;
            assert_eq!(case.len(), usize::from(result.is_ok()), "gap {gap}");
            assert!(matches!(result, Ok(()) | Err(ModerationError::NoSuchPost)));
        }
        if over {
            return;
        }
    }
    panic!("it never ends");
}

/// R33: nothing of a deleted account is published, however late it is deleted.
#[tokio::test]
async fn an_approval_meets_the_deletion_of_the_author() {
    let mut in_time = 0;
    for gap in 1..OPERATIONS_MAX {
        let town = town_with(ModerationMode::Before, ["ana", "mo"]).await;
        let post = post(&town, "ana", "hello").await;
        let core = town.context().core().clone();
        let ana = core.profile(&town.id("ana")).strong().get().await.unwrap().unwrap();
        let removed = rekey(&ana, &User { status: UserStatus::Deleted, ..ana.clone() }).unwrap();
        let (context, meanwhile) = town.interleave(gap, async move || {
            core.table().update(removed).await.unwrap();
        });
        let approval = Moderation::new(context)
            .moderate_post(&town.mo(), &post.id, Status::Approved, None, None)
            .await;
        let returned = town.rows("ACTIVITY#ana", "TS#").await.len();
        assert_eq!(returned, usize::from(approval.is_ok()));
        if !meanwhile.happened() {
            assert!(gap > 2, "they never met");
            return;
        }
        // Only after the commit is it too late.
        in_time += usize::from(approval.is_ok());
        assert!(in_time <= 1, "gap {gap}");
        assert!(matches!(approval, Ok(_) | Err(ModerationError::NoSuchPost)));
    }
    panic!("an approval never ends");
}

/// R33, R34: a decision about one text is not applied to another.
#[tokio::test]
async fn a_decision_meets_a_new_text() {
    for about_comment in [false, true] {
        let (mut in_time, mut returned) = (0, 0);
        for gap in 1.. {
            let town = Town::of(["ana", "bo", "mo"]).await;
            let post = post(&town, "ana", "harmless").await;
            let comment = comment(&town, "ana", &post, "harmless").await;
            let (posts, comments, ana) = (posts(&town), comments(&town), town.caller("ana"));
            let (post_id, comment_id) = (post.id.clone(), comment.id.clone());
            let (context, meanwhile) = town.interleave(gap, async move || {
                if about_comment {
                    comments.update(&ana, &comment_id, "harmful", None).await.unwrap();
                } else {
                    let content = Some(String::from("harmful"));
                    let change = PostChange { content, visibility: None };
                    posts.update(&ana, &post_id, &change, None).await.unwrap();
                }
            });
            let (moderation, mo) = (Moderation::new(context), town.mo());
            let decided = if about_comment {
                let decided =
                    moderation.moderate_comment(&mo, &comment.id, Status::Flagged, None, None);
                decided.await.map(|comment| comment.content)
            } else {
                let decided = moderation.moderate_post(&mo, &post.id, Status::Flagged, None, None);
                decided.await.map(|post| post.content)
            };
            assert_eq!(town.audit_trail().await.len(), usize::from(decided.is_ok()), "{gap}");
            if !meanwhile.happened() {
                break;
            }
            match decided {
                Ok(content) => in_time += usize::from(content == "harmless"),
                Err(ModerationError::ContentChanged) => returned += 1,
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(in_time, 1, "only when the decision is there first");
        assert!(returned > 0, "they never met");
    }
}

/// R33, R34: a pending post of a deleted group leaves the queue and cannot be approved, also when
/// the group is deleted concurrently.
#[tokio::test]
async fn an_approval_meets_the_deletion_of_a_group() {
    for gap in 0..OPERATIONS_MAX {
        let town = town_with(ModerationMode::Before, ["ana", "mo"]).await;
        let group = town.create_group("ana", "Runners").await;
        let waiting = town.post_into("ana", &group, "hello").await;
        let (groups, ana, removed) = (town.groups(), town.caller("ana"), group.clone());
        let (context, meanwhile) = town.interleave(gap, async move || {
            groups.delete(&ana, &removed, None).await.unwrap();
        });
        if gap == 0 {
            town.groups().delete(&town.caller("ana"), &group, None).await.unwrap();
        }
        let (moderation, mo) = (Moderation::new(context), town.mo());
        for _ in 0..2 {
            let approved = moderation.moderate_post(&mo, &waiting.id, Status::Approved, None, None);
            let approved = approved.await;
            let now = town.case(&waiting.id).await;
            let expected = if approved.is_ok() { Status::Approved } else { Status::Rejected };
            assert_eq!((now.case.status, now.content.post.moderation_status), (expected, expected));
            assert!(matches!(approved, Ok(_) | Err(ModerationError::NoSuchPost)), "{approved:?}");
            assert_eq!(town.audit_trail().await.len(), 1);
            assert!(town.queue(Status::Pending).await.is_empty());
        }
        if gap > 0 && !meanwhile.happened() {
            return;
        }
    }
    panic!("an approval never ends");
}

/// R33: a deleted comment's case is deleted, whether reported before or concurrently.
#[tokio::test]
async fn a_deleted_comment_removes_its_case() {
    for gap in 1.. {
        let town = Town::of(["ana", "bo", "cleo", "mo"]).await;
        let post = post(&town, "ana", "hello").await;
        let comment = comment(&town, "ana", &post, "rude").await;
        let moderation = town.moderation();
        moderation.report_comment(&town.caller("bo"), &comment.id, "rude", None).await.unwrap();
        let (cleo, id) = (town.caller("cleo"), comment.id.clone());
        let (context, meanwhile) = town.interleave(gap, async move || {
            drop(moderation.report_comment(&cleo, &id, "rude", None).await);
        });
        let deleted = Comments::new(context).delete(&town.caller("ana"), &comment.id, None).await;
        deleted.unwrap();
        assert!(town.rows(&format!("CASE#{}", comment.id), "").await.is_empty(), "{gap}");
        assert!(town.queue(Status::Pending).await.is_empty());
        let removed = town.moderation().case(&town.mo(), &(&comment.id).into()).await;
        assert!(matches!(removed, Err(ModerationError::NoSuchCase)));
        if !meanwhile.happened() {
            break;
        }
    }
}
