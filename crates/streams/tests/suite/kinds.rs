//! Every kind of notification of the contract, one by one: whoever it is for is told, and nobody is told
//! of whom they have blocked or muted or switched off, or of what is hidden (R38, I9).

use roundtable_domain::PostChange;
use roundtable_model::entities::{Goal, Notification, Quest, Task};
use roundtable_model::{
    Entity, GroupId, ModerationStatus, NotificationKind, PostId, QuestStatus, Role, UserStatus,
    Visibility, samples,
};
use roundtable_testkit::Town;

use crate::facts::{all, everything};

/// What ana has before anything happens: a post of her own, and one of bo's that she can see.
struct Scene {
    town: Town,
    post: PostId,
    others: PostId,
    group: GroupId,
}

/// Why ana does not want to hear of bo.
#[derive(Clone, Copy, Debug)]
enum Unwanted {
    Blocked,
    BlockedByThem,
    Muted,
    SwitchedOff,
    Suspended,
}

impl Scene {
    async fn new(kind: NotificationKind) -> Self {
        let town = Town::of(["ana", "bo", "cleo"]).await;
        town.move_in("mo", |mo| mo.roles = vec![Role::User, Role::Moderator]).await;
        if kind == NotificationKind::FollowRequest {
            town.set_private("ana", true).await;
        }
        town.follow("ana", "bo").await;
        let (post, others) =
            (town.post("ana", "hello").await.id, town.post("bo", "good day").await.id);
        let group = town.found_private("bo", "readers").await;
        town.settle().await;
        Self { town, post, others, group }
    }

    /// Bo does, or the system, what ana is to be told of.
    async fn cause(&self, kind: NotificationKind) {
        let Self { town, post, others, group } = self;
        let (ana, bo) = (town.caller("ana"), town.caller("bo"));
        town.pass_ms(1_000);
        match kind {
            NotificationKind::Follow | NotificationKind::FollowRequest => {
                town.follow("bo", "ana").await;
            }
            NotificationKind::Like => drop(town.like("bo", post).await),
            NotificationKind::Comment => drop(town.comment("bo", post, "well said").await),
            NotificationKind::Mention => {
                let named = Some("good day, @ana".into());
                let change = PostChange { content: named, visibility: None };
                town.posts().update(&bo, others, &change, None).await.unwrap();
            }
            NotificationKind::Share => drop(town.share("bo", post).await),
            NotificationKind::Message => {
                let room = town.room_with("bo", "ana").await;
                town.say("bo", &room, "psst").await;
            }
            NotificationKind::Group => {
                town.groups().invite(&bo, group, &ana.user_id, None).await.unwrap();
            }
            NotificationKind::Quest => {
                let quest = Quest {
                    user_id: ana.user_id,
                    status: QuestStatus::Completed,
                    updated_at: town.now(),
                    ..samples::quest()
                };
                town.ground().core().table().put(quest.create()).await.unwrap();
            }
            NotificationKind::Reminder => {
                let goal = town.set_goal("ana", "run").await;
                let due = town.now().plus_ms(60_000);
                town.add_task_due("ana", &goal.id, "shoes", Some(due)).await;
            }
            NotificationKind::Moderation => {
                town.report("bo", post, "rude").await;
                town.moderate(post, ModerationStatus::Rejected).await;
            }
        }
    }

    /// What ana is told is about is hidden from her, or gone.
    async fn hide(&self, kind: NotificationKind) {
        let Self { town, post, others, group } = self;
        let (ana, bo) = (town.caller("ana"), town.caller("bo"));
        let core = town.ground().core();
        match kind {
            NotificationKind::Follow | NotificationKind::FollowRequest => {
                town.follows().unfollow(&bo, &ana.user_id, None).await.unwrap();
            }
            NotificationKind::Like | NotificationKind::Share | NotificationKind::Moderation => {
                town.posts().delete(&ana, post, None).await.unwrap();
            }
            NotificationKind::Comment => {
                let comments = core.comments(post).all().await.unwrap();
                town.set_comment_status(comments.first().unwrap(), ModerationStatus::Flagged).await;
            }
            NotificationKind::Mention => {
                let change = PostChange { content: None, visibility: Some(Visibility::Private) };
                town.posts().update(&bo, others, &change, None).await.unwrap();
            }
            NotificationKind::Message => {
                let messages = core.messages_by(&bo.user_id).all().await.unwrap();
                core.table().delete(messages.first().unwrap().key().delete()).await.unwrap();
            }
            NotificationKind::Group => {
                town.groups().remove(&bo, group, &ana.user_id, None).await.unwrap();
            }
            NotificationKind::Quest => {
                let quest = Quest { user_id: ana.user_id, ..samples::quest() };
                core.table().delete(quest.key().delete()).await.unwrap();
            }
            NotificationKind::Reminder => {
                let goals: Vec<Goal> = all(&everything(town.ground()).await);
                let tasks: Vec<Task> = core.tasks(&goals.first().unwrap().id).all().await.unwrap();
                town.mark_done(tasks.first().unwrap(), true).await;
            }
        }
    }

    async fn want_no_more(&self, unwanted: Unwanted) {
        let town = &self.town;
        let (ana, bo) = (town.caller("ana"), town.id("bo"));
        let (muted, enabled) = match unwanted {
            Unwanted::Blocked => return drop(town.block("ana", "bo").await),
            Unwanted::BlockedByThem => return drop(town.block("bo", "ana").await),
            Unwanted::Suspended => return town.set_status("bo", UserStatus::Suspended).await,
            Unwanted::Muted => (Some(true), None),
            Unwanted::SwitchedOff => (None, Some(false)),
        };
        town.follows().update(&ana, &bo, muted, enabled, None).await.unwrap();
    }

    /// Who has been told of this kind of thing, as it is stored.
    async fn stored(&self, kind: NotificationKind) -> Vec<String> {
        self.town.settle().await;
        let notes: Vec<Notification> = all(&everything(self.town.ground()).await);
        let told = notes.iter().filter(|note| note.kind == kind);
        told.map(|note| note.user_id.to_string()).collect()
    }

    /// How much of this kind ana is shown, and how much she is said not to have read.
    async fn shown(&self, kind: NotificationKind) -> (usize, u64) {
        let service = roundtable_domain::Notifications::new(self.town.ground().clone());
        let (ana, page) = (self.town.caller("ana"), roundtable_domain::PageInput::first());
        let notices = service.list(&ana, &page).await.unwrap().into_items();
        let some = notices.iter().filter(|notice| notice.notification.kind == kind).count();
        (some, service.unread(&ana).await.unwrap())
    }
}

/// Whether somebody did it, rather than the system.
fn has_actor(kind: NotificationKind) -> bool {
    !matches!(
        kind,
        NotificationKind::Group
            | NotificationKind::Quest
            | NotificationKind::Reminder
            | NotificationKind::Moderation
    )
}

/// R38: each kind is told to whoever it is for, and to nobody else.
#[tokio::test]
async fn each_kind_is_told_to_whoever_it_is_for() {
    for kind in NotificationKind::ALL {
        let scene = Scene::new(*kind).await;
        scene.cause(*kind).await;
        let told = scene.stored(*kind).await;
        let mine = told.iter().filter(|name| *name == "ana").count();
        assert_eq!(mine, 1, "{kind}: {told:?}");
        // Ana's own follow was told to bo.
        let others = told.iter().any(|name| name != "ana" && *kind != NotificationKind::Follow);
        assert!(!others, "{kind}: {told:?}");
        assert_eq!(scene.shown(*kind).await, (1, 1), "{kind}");
        assert_eq!(scene.town.runner().dead_letters().count().await.unwrap(), 0);
    }
}

/// R38, I9: nobody is told of whom they have blocked or muted or switched off, who has blocked them, or
/// who is suspended: neither when that was so before it was told, nor afterwards.
#[tokio::test]
async fn no_kind_is_told_of_whom_somebody_does_not_want_to_hear_of() {
    use Unwanted::{Blocked, BlockedByThem, Muted, Suspended, SwitchedOff};
    for kind in NotificationKind::ALL.iter().filter(|kind| has_actor(**kind)) {
        for unwanted in [Blocked, BlockedByThem, Muted, SwitchedOff, Suspended] {
            let before = Scene::new(*kind).await;
            before.cause(*kind).await;
            before.want_no_more(unwanted).await;
            let told = before.stored(*kind).await;
            assert!(!told.contains(&"ana".into()), "{kind}, {unwanted:?}: {told:?}");
            let after = Scene::new(*kind).await;
            after.cause(*kind).await;
            after.town.settle().await;
            after.want_no_more(unwanted).await;
            assert_eq!(after.shown(*kind).await, (0, 0), "{kind}, {unwanted:?}, afterwards");
        }
    }
}

/// R38, I9: nobody is told of what is hidden from them or gone, neither when it was hidden before it was
/// told, nor afterwards.
#[tokio::test]
async fn no_kind_is_told_of_what_is_hidden() {
    for kind in NotificationKind::ALL {
        let before = Scene::new(*kind).await;
        before.cause(*kind).await;
        before.hide(*kind).await;
        let told = before.stored(*kind).await;
        assert!(!told.contains(&"ana".into()), "{kind}: {told:?}");
        let after = Scene::new(*kind).await;
        after.cause(*kind).await;
        after.town.settle().await;
        after.hide(*kind).await;
        after.town.settle().await;
        assert_eq!(after.shown(*kind).await, (0, 0), "{kind}, afterwards");
    }
}
