//! What others do in the middle of a report or a decision.

use std::sync::Arc;

use roundtable_domain::{Comments, Moderation, ModerationError, ModerationMode, PostChange};
use roundtable_model::entities::User;
use roundtable_model::{ModerationStatus as Status, Role, UserStatus, rekey};
use roundtable_testkit::Town;

use super::{comment, comments, post, posts, town_with};

/// A mutation is over after fewer operations than these.
const OPERATIONS_MAX: usize = 60;

/// R33: of two who decide differently at the same time one wins, and the other is told.
#[tokio::test]
async fn two_decisions_at_once_are_one() {
    let mut overtaken = 0;
    for gap in 1..OPERATIONS_MAX {
        let town = town_with(ModerationMode::Before, ["ana", "mo", "mia"]).await;
        let post = post(&town, "ana", "hello").await;
        let (other, id) = (town.moderation(), post.id.clone());
        let mia = town.staff("mia", Role::Moderator);
        let (ground, meanwhile) = town.meanwhile(gap, async move || {
            other.moderate_post(&mia, &id, Status::Rejected, None, None).await.unwrap();
        });
        let mine = Moderation::new(ground)
            .moderate_post(&town.mo(), &post.id, Status::Approved, None, None)
            .await;
        let trail = town.trail().await.len();
        let now = town.case(&post.id).await;
        assert_eq!(now.case.status, now.content.post.moderation_status);
        assert_eq!(now.content.post.published_at.is_some(), mine.is_ok());
        match mine {
            Err(ModerationError::DecidedMeanwhile) => {
                overtaken += 1;
                assert_eq!((now.case.status, trail), (Status::Rejected, 1));
            }
            // One after the other: the second knew of the first, or there was no second.
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

/// R33, I8: two who agree decide once.
#[tokio::test]
async fn two_equal_decisions_at_once_are_one() {
    for gap in 1..OPERATIONS_MAX {
        let town = Town::of(["ana", "bo", "mo", "mia"]).await;
        let post = post(&town, "ana", "hello").await;
        town.report("bo", &post.id, "spam").await;
        let (other, id) = (town.moderation(), post.id.clone());
        let mia = town.staff("mia", Role::Moderator);
        let (ground, meanwhile) = town.meanwhile(gap, async move || {
            other.moderate_post(&mia, &id, Status::Rejected, Some("hers"), None).await.unwrap();
        });
        let mine = Moderation::new(ground)
            .moderate_post(&town.mo(), &post.id, Status::Rejected, None, None)
            .await;
        assert_eq!(mine.unwrap().moderation_status, Status::Rejected);
        if !meanwhile.happened() {
            return;
        }
        // She may have given a reason for what had been decided already.
        let trail = town.trail().await;
        let after = trail.first().is_some_and(|entry| entry.starts_with("mo"));
        assert_eq!(trail.len(), 1 + usize::from(after), "{trail:?}");
    }
    panic!("a decision never ends");
}

/// R33: approvals at the same time publish once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_post_that_many_approve_is_published_once() {
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
    assert_eq!(town.trail().await.len(), 1);
}

/// R33: everybody who reports at the same time is heard, in one case.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_report_at_once() {
    let town = Arc::new(Town::of(["ana", "mo"]).await);
    let post = post(&town, "ana", "hello").await;
    let names: Vec<String> = (0..30).map(|number| format!("p{number:02}")).collect();
    for name in &names {
        town.move_in(name, |_| {}).await;
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

/// R33, I9: a decision and a report never leave a hidden post without a case that says so.
#[tokio::test]
async fn a_report_meets_a_decision() {
    for gap in 1..OPERATIONS_MAX {
        let town = Town::of(["ana", "bo", "cleo", "mo"]).await;
        let post = post(&town, "ana", "hello").await;
        town.report("cleo", &post.id, "spam").await;
        town.moderate(&post.id, Status::Approved).await;
        let (other, id, mo) = (town.moderation(), post.id.clone(), town.mo());
        let (ground, meanwhile) = town.meanwhile(gap, async move || {
            other.moderate_post(&mo, &id, Status::Rejected, None, None).await.unwrap();
        });
        let report =
            Moderation::new(ground).report_post(&town.caller("bo"), &post.id, "spam", None).await;
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

/// R33: nothing is opened or decided about what is being deleted.
#[tokio::test]
async fn a_report_and_a_decision_meet_a_deletion() {
    for gap in 1..OPERATIONS_MAX {
        let town = Town::of(["ana", "bo", "mo"]).await;
        let (one, two) = (post(&town, "ana", "one").await, post(&town, "ana", "two").await);
        let mut over = true;
        for (post, reports) in [(&one, true), (&two, false)] {
            let (posts, ana, id) = (posts(&town), town.caller("ana"), post.id.clone());
            let (ground, meanwhile) = town.meanwhile(gap, async move || {
                posts.delete(&ana, &id, None).await.unwrap();
            });
            let moderation = Moderation::new(ground);
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

/// R33: nobody is published who has gone, however late.
#[tokio::test]
async fn an_approval_meets_a_departure() {
    let mut in_time = 0;
    for gap in 1..OPERATIONS_MAX {
        let town = town_with(ModerationMode::Before, ["ana", "mo"]).await;
        let post = post(&town, "ana", "hello").await;
        let core = town.ground().core().clone();
        let ana = core.profile(&town.id("ana")).strong().get().await.unwrap().unwrap();
        let gone = rekey(&ana, &User { status: UserStatus::Deleted, ..ana.clone() }).unwrap();
        let (ground, meanwhile) = town.meanwhile(gap, async move || {
            core.table().update(gone).await.unwrap();
        });
        let approval = Moderation::new(ground)
            .moderate_post(&town.mo(), &post.id, Status::Approved, None, None)
            .await;
        let told = town.rows("ACTIVITY#ana", "TS#").await.len();
        assert_eq!(told, usize::from(approval.is_ok()));
        if !meanwhile.happened() {
            assert!(gap > 2, "they never met");
            return;
        }
        // Only after all has been written is it too late to go.
        in_time += usize::from(approval.is_ok());
        assert!(in_time <= 1, "gap {gap}");
        assert!(matches!(approval, Ok(_) | Err(ModerationError::NoSuchPost)));
    }
    panic!("an approval never ends");
}

/// R33, R34: what was decided about one text is not carried out on another that took its place.
#[tokio::test]
async fn a_decision_meets_a_new_text() {
    for about_comment in [false, true] {
        let (mut in_time, mut told) = (0, 0);
        for gap in 1.. {
            let town = Town::of(["ana", "bo", "mo"]).await;
            let post = post(&town, "ana", "harmless").await;
            let comment = comment(&town, "ana", &post, "harmless").await;
            let (posts, comments, ana) = (posts(&town), comments(&town), town.caller("ana"));
            let (post_id, comment_id) = (post.id.clone(), comment.id.clone());
            let (ground, meanwhile) = town.meanwhile(gap, async move || {
                if about_comment {
                    comments.update(&ana, &comment_id, "harmful", None).await.unwrap();
                } else {
                    let content = Some(String::from("harmful"));
                    let change = PostChange { content, visibility: None };
                    posts.update(&ana, &post_id, &change, None).await.unwrap();
                }
            });
            let (moderation, mo) = (Moderation::new(ground), town.mo());
            let decided = if about_comment {
                let decided =
                    moderation.moderate_comment(&mo, &comment.id, Status::Flagged, None, None);
                decided.await.map(|comment| comment.content)
            } else {
                let decided = moderation.moderate_post(&mo, &post.id, Status::Flagged, None, None);
                decided.await.map(|post| post.content)
            };
            assert_eq!(town.trail().await.len(), usize::from(decided.is_ok()), "{gap}");
            if !meanwhile.happened() {
                break;
            }
            match decided {
                Ok(content) => in_time += usize::from(content == "harmless"),
                Err(ModerationError::ChangedMeanwhile) => told += 1,
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(in_time, 1, "only when the decision is there first");
        assert!(told > 0, "they never met");
    }
}

/// R33, R34: what waits in a group that goes leaves the queue, and is not there for whoever wants to
/// show it; also when the group goes at that very moment.
#[tokio::test]
async fn an_approval_meets_the_end_of_a_group() {
    for gap in 0..OPERATIONS_MAX {
        let town = town_with(ModerationMode::Before, ["ana", "mo"]).await;
        let group = town.found("ana", "Runners").await;
        let waiting = town.post_into("ana", &group, "hello").await;
        let (groups, ana, gone) = (town.groups(), town.caller("ana"), group.clone());
        let (ground, meanwhile) = town.meanwhile(gap, async move || {
            groups.delete(&ana, &gone, None).await.unwrap();
        });
        if gap == 0 {
            town.groups().delete(&town.caller("ana"), &group, None).await.unwrap();
        }
        let (moderation, mo) = (Moderation::new(ground), town.mo());
        for _ in 0..2 {
            let approved = moderation.moderate_post(&mo, &waiting.id, Status::Approved, None, None);
            let approved = approved.await;
            let now = town.case(&waiting.id).await;
            let expected = if approved.is_ok() { Status::Approved } else { Status::Rejected };
            assert_eq!((now.case.status, now.content.post.moderation_status), (expected, expected));
            assert!(matches!(approved, Ok(_) | Err(ModerationError::NoSuchPost)), "{approved:?}");
            assert_eq!(town.trail().await.len(), 1);
            assert!(town.queue(Status::Pending).await.is_empty());
        }
        if gap > 0 && !meanwhile.happened() {
            return;
        }
    }
    panic!("an approval never ends");
}

/// R33: a comment that goes takes its case along, reported before or at the same moment.
#[tokio::test]
async fn a_comment_takes_its_case_along() {
    for gap in 1.. {
        let town = Town::of(["ana", "bo", "cleo", "mo"]).await;
        let post = post(&town, "ana", "hello").await;
        let comment = comment(&town, "ana", &post, "rude").await;
        let moderation = town.moderation();
        moderation.report_comment(&town.caller("bo"), &comment.id, "rude", None).await.unwrap();
        let (cleo, id) = (town.caller("cleo"), comment.id.clone());
        let (ground, meanwhile) = town.meanwhile(gap, async move || {
            drop(moderation.report_comment(&cleo, &id, "rude", None).await);
        });
        let deleted = Comments::new(ground).delete(&town.caller("ana"), &comment.id, None).await;
        deleted.unwrap();
        assert!(town.rows(&format!("CASE#{}", comment.id), "").await.is_empty(), "{gap}");
        assert!(town.queue(Status::Pending).await.is_empty());
        let gone = town.moderation().case(&town.mo(), &(&comment.id).into()).await;
        assert!(matches!(gone, Err(ModerationError::NoSuchCase)));
        if !meanwhile.happened() {
            break;
        }
    }
}
