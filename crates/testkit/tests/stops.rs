//! A crash between any two steps of a mutation leaves nothing half done (I1 to I3, I5), and its
//! repetition has the effect of one (I8): every mutation is stopped at each of its await points, in
//! front of each operation of the store and behind it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::{Caller, PageInput};
use roundtable_model::table::{ManualClock, Order, Store};
use roundtable_model::{
    CommentId, GroupId, GroupRole, ModerationStatus, PostId, RequestId, Role, Visibility,
};
use roundtable_testkit::{Act, Done, Town, Yielding, stop_at};
use roundtable_verify::Verify;

/// More await points than any mutation has.
const STOPS_MAX: usize = 400;

/// A town in which everything can be done to something.
struct Stage {
    backend: Arc<Reference>,
    clock: Arc<ManualClock>,
    post: PostId,
    shared: PostId,
    comment: CommentId,
    group: GroupId,
    private_group: GroupId,
}

impl Stage {
    async fn set() -> Self {
        let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
        let backend = Arc::new(Reference::new(clock.clone()));
        let store = Store::shared(backend.clone());
        let town = Town::on(store, clock.clone(), Town::settings(), 0).await;
        for name in ["ana", "bo", "cleo", "mo", "ada"] {
            town.move_in(name, |_| {}).await;
        }
        town.move_in("pia", |pia| pia.is_private = true).await;
        town.employ("mo", Role::Moderator).await;
        town.employ("ada", Role::Admin).await;
        town.follow("ana", "bo").await;
        town.follow("bo", "ana").await;
        town.follow("cleo", "pia").await;
        town.block("cleo", "mo").await;
        let (group, private_group) =
            (town.found("ana", "runners").await, town.found_private("ana", "readers").await);
        town.groups().join(&town.caller("bo"), &group, None).await.unwrap();
        town.groups().join(&town.caller("bo"), &private_group, None).await.unwrap();
        let post = town.post("ana", "hello #town, says @bo").await.id;
        let shared = town.post("bo", "pass it on").await.id;
        let comment = town.comment("bo", &post, "well said").await.id;
        town.like("bo", &post).await;
        town.share("ana", &shared).await;
        town.comments().like(&town.caller("ana"), &comment, None).await.unwrap();
        town.settle().await;
        Self { backend, clock, post, shared, comment, group, private_group }
    }

    /// The same town once more, to be changed without this one.
    fn again(&self) -> Self {
        Self {
            backend: Arc::new(self.backend.fork()),
            clock: self.clock.clone(),
            post: self.post.clone(),
            shared: self.shared.clone(),
            comment: self.comment.clone(),
            group: self.group.clone(),
            private_group: self.private_group.clone(),
        }
    }

    async fn town(&self, process: u8) -> Town {
        let store = Store::shared(self.backend.clone());
        Town::on(store, self.clock.clone(), Town::settings(), process).await
    }

    async fn slow_town(&self, process: u8) -> Town {
        let store = Store::new(Yielding::shared(self.backend.clone()));
        Town::on(store, self.clock.clone(), Town::settings(), process).await
    }

    /// Every mutation, by somebody who may do it.
    fn acts(&self, town: &Town) -> Vec<(Caller, Act)> {
        let Self { post, shared, comment, group, private_group, .. } = self;
        let id = |name: &str| town.id(name);
        let (ana, bo, cleo) = (town.caller("ana"), town.caller("bo"), town.caller("cleo"));
        let pia = town.caller("pia");
        let (mo, ada) = (town.staff("mo", Role::Moderator), town.staff("ada", Role::Admin));
        let text = || String::from("a text with a #tag");
        let posting = |group: Option<&GroupId>| Act::Post {
            content: text(),
            group: group.cloned(),
            visibility: Visibility::Public,
        };
        let answer =
            Act::Comment { post: post.clone(), parent: Some(comment.clone()), content: text() };
        vec![
            (cleo.clone(), Act::Follow(id("ana"))),
            (ana.clone(), Act::Unfollow(id("bo"))),
            (pia.clone(), Act::Accept(id("cleo"))),
            (pia.clone(), Act::Reject(id("cleo"))),
            (ana.clone(), Act::Mute(id("bo"), true)),
            (ana.clone(), Act::Block(id("bo"))),
            (cleo.clone(), Act::Unblock(id("mo"))),
            (cleo.clone(), Act::CreateGroup { name: String::from("cooks"), private: false }),
            (ana.clone(), Act::UpdateGroup(group.clone(), String::from("walkers"))),
            (ana.clone(), Act::DeleteGroup(group.clone())),
            (cleo.clone(), Act::Join(group.clone())),
            (bo.clone(), Act::Leave(group.clone())),
            (ana.clone(), Act::Invite(private_group.clone(), id("cleo"))),
            (ana.clone(), Act::Approve(private_group.clone(), id("bo"))),
            (ana.clone(), Act::Remove(group.clone(), id("bo"))),
            (ana.clone(), Act::SetRole(group.clone(), id("bo"), GroupRole::Owner)),
            (cleo.clone(), posting(None)),
            (bo.clone(), posting(Some(group))),
            (ana.clone(), Act::EditPost(post.clone(), text(), Visibility::Followers)),
            (ana.clone(), Act::DeletePost(post.clone())),
            (cleo.clone(), Act::Like(post.clone())),
            (bo.clone(), Act::Unlike(post.clone())),
            (cleo.clone(), Act::Share(shared.clone())),
            (ana.clone(), Act::Unshare(shared.clone())),
            (cleo.clone(), answer),
            (bo.clone(), Act::EditComment(comment.clone(), text())),
            (bo.clone(), Act::DeleteComment(comment.clone())),
            (cleo.clone(), Act::LikeComment(comment.clone())),
            (ana.clone(), Act::UnlikeComment(comment.clone())),
            (ana.clone(), Act::PostActivity(post.clone())),
            (cleo.clone(), Act::Report(post.clone())),
            (cleo.clone(), Act::ReportComment(comment.clone())),
            (mo.clone(), Act::Moderate(post.clone(), ModerationStatus::Rejected)),
            (mo.clone(), Act::ModerateComment(comment.clone(), ModerationStatus::Flagged)),
            (ana.clone(), Act::Rename("annabel".parse().unwrap())),
            (ana.clone(), Act::TurnPrivate(true)),
            (mo, Act::Suspend(id("bo"))),
            (ada.clone(), Act::SetRoles(id("bo"), vec![Role::User, Role::Moderator])),
            (ana, Act::DeleteAccount("ana".parse().unwrap())),
        ]
    }
}

async fn is_clean(town: &Town, after: &str) {
    let report = Verify::on(town.ground()).check().await.unwrap();
    assert!(report.is_clean(), "{after}: {:#?}", report.findings);
}

/// R32, R33, I1, I2, I3, I5, I8
#[tokio::test]
async fn a_mutation_can_be_stopped_anywhere() {
    let first = Stage::set().await;
    let count = first.acts(&first.town(1).await).len();
    let mut stopped = 0;
    for number in 0..count {
        for stops in 0..STOPS_MAX {
            let stage = first.again();
            let slow = stage.slow_town(1).await;
            let (caller, act) = stage.acts(&slow).swap_remove(number);
            let request: RequestId = "once".parse().unwrap();
            let answer = stop_at(stops, slow.act(&caller, &act, Some(&request))).await;
            let what = format!("{act:?} stopped after {stops}");
            let town = stage.town(2).await;
            town.settle().await;
            is_clean(&town, &what).await;
            if let Some(answer) = answer {
                assert!(answer.is_ok(), "{act:?}: {answer:?}");
                break;
            }
            stopped += 1;
            let again = town.act(&caller, &act, Some(&request)).await;
            // Whoever has deleted their account is nobody any more.
            let gone = matches!(act, Act::DeleteAccount(_)) && again.is_err();
            assert!(gone || again.is_ok(), "{what}, then again: {again:?}");
            if let (Act::Post { .. }, Ok(Done::Post(post))) = (&act, &again) {
                let page = PageInput::first();
                let posts = town.posts();
                let mine = posts.by(Some(&caller), &caller.user_id, Order::Descending, &page);
                let mine = mine.await.unwrap().into_items();
                let texts = mine.iter().filter(|post| post.content.contains("#tag")).count();
                assert_eq!(
                    (texts, mine.iter().any(|other| other.id == *post)),
                    (1, true),
                    "{what}"
                );
            }
            town.settle().await;
            is_clean(&town, &format!("{what}, then again")).await;
            assert!(stops + 1 < STOPS_MAX, "{act:?} has more await points than expected");
        }
    }
    assert!(stopped > 10 * count, "only {stopped} stops of {count} mutations");
}
