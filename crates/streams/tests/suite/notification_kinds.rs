//! Every kind of notification: its recipient gets it, except about users they have blocked or muted
//! or switched off, or about hidden content (R38, I9).

use roundtable_domain::{
    GroupChange, KeysOnSignOut, NotificationPreference, PageInput, PostChange,
};
use roundtable_model::entities::{AssistThread, Device, Goal, Notification, Quest, Task};
use roundtable_model::{
    Entity, GroupId, ModerationStatus, NotificationKind, PostId, QuestStatus, Role, UserStatus,
    Visibility, samples,
};
use roundtable_testkit::Town;

use crate::facts::{all, everything};

/// Ana's initial content: a post of her own, and one of bo's that she can see.
struct NotificationFixture {
    town: Town,
    post: PostId,
    others: PostId,
    group: GroupId,
}

/// The reasons for which ana gets no notifications about bo.
#[derive(Clone, Copy, Debug)]
enum Unwanted {
    Blocked,
    BlockedByThem,
    Muted,
    SwitchedOff,
    Suspended,
}

impl NotificationFixture {
    async fn new(kind: NotificationKind) -> Self {
        let town = Town::of(["ana", "bo", "cleo"]).await;
        town.add_user("mo", |mo| mo.roles = vec![Role::User, Role::Moderator]).await;
        if kind == NotificationKind::FollowRequest {
            town.set_private("ana", true).await;
        }
        if kind == NotificationKind::FollowAccepted {
            town.set_private("bo", true).await;
        }
        town.follow("ana", "bo").await;
        let (post, others) =
            (town.post("ana", "hello").await.id, town.post("bo", "good day").await.id);
        let group = town.create_private_group("bo", "readers").await;
        town.settle().await;
        Self { town, post, others, group }
    }

    /// Bo, or the system, does something that notifies ana.
    async fn cause(&self, kind: NotificationKind) {
        if kind == NotificationKind::GroupArchival {
            return self.let_group_idle().await;
        }
        let Self { town, post, others, group } = self;
        let (ana, bo) = (town.caller("ana"), town.caller("bo"));
        town.advance_ms(1_000);
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
                town.send_message("bo", &room, "psst").await;
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
                town.context().core().table().put(quest.create()).await.unwrap();
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
            NotificationKind::ApiKey => {
                let scopes = [String::from("read")];
                town.accounts().create_key(&ana, "bot", &scopes, None).await.unwrap();
            }
            NotificationKind::Identity => {
                let (issuer, subject) = ("https://login.example.org", "ana");
                let (issuer, subject) = (issuer.parse().unwrap(), subject.parse().unwrap());
                let (accounts, ana) = (town.accounts(), "ana".parse().unwrap());
                accounts.link_identity_as_operator(&ana, &issuer, &subject).await.unwrap();
            }
            NotificationKind::GroupArchival => panic!("caused above"),
            NotificationKind::FollowAccepted => {
                town.follows().accept(&bo, &ana.user_id, None).await.unwrap();
            }
            NotificationKind::GroupRequest => {
                let own = town.create_private_group("ana", "own").await;
                town.join("bo", &own).await;
            }
            NotificationKind::Post => {
                let (follows, them) = (town.follows(), &bo.user_id);
                follows.update(&ana, them, None, None, Some(true), None).await.unwrap();
                town.post("bo", "news").await;
            }
            NotificationKind::CommentLike => {
                let comment = town.comment("ana", post, "by the way").await;
                town.comments().like(&bo, &comment.id, None).await.unwrap();
            }
            NotificationKind::AssistRequest => drop(town.ask_for_help("bo", &["ana"]).await),
            NotificationKind::AssistAnswer => {
                let thread = town.ask_for_help("ana", &["bo"]).await.thread_id;
                town.help("bo", &thread, "try this").await;
            }
            NotificationKind::SignIn => {
                let device = Device { user_id: ana.user_id, ..samples::device() };
                town.context().core().table().put(device.create()).await.unwrap();
            }
        }
    }

    /// Bo's group, which ana has joined, is not used for so long that it will be archived in a week.
    async fn let_group_idle(&self) {
        let Self { town, group, .. } = self;
        let (ana, bo) = (town.caller("ana"), town.caller("bo"));
        let change = GroupChange { is_persistent: Some(false), ..GroupChange::default() };
        town.groups().update(&bo, group, change, None).await.unwrap();
        town.groups().invite(&bo, group, &ana.user_id, None).await.unwrap();
        town.join("ana", group).await;
        town.settle().await;
        town.notifications().mark_read(&ana, town.now().plus_ms(1), None).await.unwrap();
        town.advance_ms(83 * 24 * 60 * 60 * 1000);
    }

    /// Hides the content of the notification from ana, or deletes it.
    async fn hide(&self, kind: NotificationKind) {
        let Self { town, post, others, group } = self;
        let (ana, bo) = (town.caller("ana"), town.caller("bo"));
        let core = town.context().core();
        match kind {
            NotificationKind::Follow | NotificationKind::FollowRequest => {
                town.follows().unfollow(&bo, &ana.user_id, None).await.unwrap();
            }
            NotificationKind::Like
            | NotificationKind::CommentLike
            | NotificationKind::Share
            | NotificationKind::Moderation => {
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
            NotificationKind::Group | NotificationKind::GroupArchival => {
                town.groups().remove(&bo, group, &ana.user_id, None).await.unwrap();
            }
            NotificationKind::Quest => {
                let quest = Quest { user_id: ana.user_id, ..samples::quest() };
                core.table().delete(quest.key().delete()).await.unwrap();
            }
            NotificationKind::Reminder => {
                let goals: Vec<Goal> = all(&everything(town.context()).await);
                let tasks: Vec<Task> = core.tasks(&goals.first().unwrap().id).all().await.unwrap();
                town.mark_done(tasks.first().unwrap(), true).await;
            }
            NotificationKind::ApiKey => {
                let keys = core.api_keys(&ana.user_id).all().await.unwrap();
                let key = &keys.first().unwrap().id;
                town.accounts().revoke_key(&ana, key, None).await.unwrap();
            }
            NotificationKind::Post => {
                let posts = core.posts_by(&bo.user_id).all().await.unwrap();
                town.posts().delete(&bo, &posts[0].id, None).await.unwrap();
            }
            NotificationKind::FollowAccepted => {
                town.follows().unfollow(&ana, &bo.user_id, None).await.unwrap();
            }
            NotificationKind::GroupRequest => {
                let own = town.groups().mine(&ana, &PageInput::first()).await.unwrap();
                let own = own.into_items().remove(0).group.id;
                town.groups().leave(&bo, &own, None).await.unwrap();
            }
            NotificationKind::AssistRequest | NotificationKind::AssistAnswer => {
                let threads: Vec<AssistThread> = all(&everything(town.context()).await);
                core.table().delete(threads.first().unwrap().key().delete()).await.unwrap();
            }
            NotificationKind::SignIn => {
                let device = Device { user_id: ana.user_id, ..samples::device() };
                core.table().delete(device.key().delete()).await.unwrap();
            }
            NotificationKind::Identity => {
                town.accounts().logout_everywhere(&ana, KeysOnSignOut::Revoke).await.unwrap();
                assert!(core.identities_of(&ana.user_id).all().await.unwrap().is_empty());
            }
        }
    }

    async fn reject_actor(&self, unwanted: Unwanted) {
        let town = &self.town;
        let (ana, bo) = (town.caller("ana"), town.id("bo"));
        let (muted, enabled) = match unwanted {
            Unwanted::Blocked => return drop(town.block("ana", "bo").await),
            Unwanted::BlockedByThem => return drop(town.block("bo", "ana").await),
            Unwanted::Suspended => return town.set_status("bo", UserStatus::Suspended).await,
            Unwanted::Muted => (Some(true), None),
            Unwanted::SwitchedOff => (None, Some(false)),
        };
        town.follows().update(&ana, &bo, muted, enabled, None, None).await.unwrap();
    }

    /// The recipients of the stored notifications of this kind.
    async fn stored(&self, kind: NotificationKind) -> Vec<String> {
        self.town.settle().await;
        let notes: Vec<Notification> = all(&everything(self.town.context()).await);
        let recipients = notes.iter().filter(|note| note.kind == kind);
        recipients.map(|note| note.user_id.to_string()).collect()
    }

    /// The number of notifications of this kind that ana sees, and her unread count.
    async fn shown(&self, kind: NotificationKind) -> (usize, u64) {
        let service = roundtable_domain::Notifications::new(self.town.context().clone());
        let (ana, page) = (self.town.caller("ana"), roundtable_domain::PageInput::first());
        let notices = service.list(&ana, &page).await.unwrap().into_items();
        let some = notices.iter().filter(|notice| notice.notification.kind == kind).count();
        (some, service.unread(&ana).await.unwrap())
    }
}

/// Returns whether the notification has an actor.
fn has_actor(kind: NotificationKind) -> bool {
    !matches!(
        kind,
        NotificationKind::Group
            | NotificationKind::Quest
            | NotificationKind::Reminder
            | NotificationKind::Moderation
            | NotificationKind::ApiKey
            | NotificationKind::Identity
            | NotificationKind::GroupArchival
            | NotificationKind::SignIn
    )
}

/// R38: each kind reaches its recipient and no other user.
#[tokio::test]
async fn each_kind_reaches_its_recipient_only() {
    for kind in NotificationKind::ALL {
        let fixture = NotificationFixture::new(*kind).await;
        fixture.cause(*kind).await;
        let recipients = fixture.stored(*kind).await;
        let mine = recipients.iter().filter(|name| *name == "ana").count();
        assert_eq!(mine, 1, "{kind}: {recipients:?}");
        // Bo was notified of ana's own follow, and is told of his own group.
        let others = recipients.iter().any(|name| {
            let is_bos = [NotificationKind::Follow, NotificationKind::GroupArchival].contains(kind);
            name != "ana" && !is_bos
        });
        assert!(!others, "{kind}: {recipients:?}");
        assert_eq!(fixture.shown(*kind).await, (1, 1), "{kind}");
        assert_eq!(fixture.town.runner().dead_letters().count().await.unwrap(), 0);
    }
}

/// R38, I9: users get no notifications about users they have blocked, muted or switched off, who
/// have blocked them, or who are suspended, whether that happened before or after the notification
/// was written.
#[tokio::test]
async fn no_kind_is_written_about_unwanted_users() {
    use Unwanted::{Blocked, BlockedByThem, Muted, Suspended, SwitchedOff};
    for kind in NotificationKind::ALL.iter().filter(|kind| has_actor(**kind)) {
        for unwanted in [Blocked, BlockedByThem, Muted, SwitchedOff, Suspended] {
            let before = NotificationFixture::new(*kind).await;
            before.cause(*kind).await;
            before.reject_actor(unwanted).await;
            let recipients = before.stored(*kind).await;
            assert!(!recipients.contains(&"ana".into()), "{kind}, {unwanted:?}: {recipients:?}");
            let after = NotificationFixture::new(*kind).await;
            after.cause(*kind).await;
            after.town.settle().await;
            after.reject_actor(unwanted).await;
            assert_eq!(after.shown(*kind).await, (0, 0), "{kind}, {unwanted:?}, afterwards");
        }
    }
}

/// R38, I9: users get no notifications about content that is hidden from them or deleted, whether
/// that happened before or after the notification was written.
#[tokio::test]
async fn no_kind_is_written_about_hidden_content() {
    let lasting = [NotificationKind::ApiKey, NotificationKind::Identity, NotificationKind::SignIn];
    for kind in NotificationKind::ALL.iter().filter(|kind| !lasting.contains(kind)) {
        let before = NotificationFixture::new(*kind).await;
        before.cause(*kind).await;
        before.hide(*kind).await;
        let recipients = before.stored(*kind).await;
        assert!(!recipients.contains(&"ana".into()), "{kind}: {recipients:?}");
        let after = NotificationFixture::new(*kind).await;
        after.cause(*kind).await;
        after.town.settle().await;
        after.hide(*kind).await;
        after.town.settle().await;
        assert_eq!(after.shown(*kind).await, (0, 0), "{kind}, afterwards");
    }
}

/// A key that was created and revoked behind its owner's back is reported, however fast that was, and
/// so is an identity that was linked and unlinked.
#[tokio::test]
async fn what_was_revoked_does_not_hide_that_it_gave_access() {
    let kinds = [NotificationKind::ApiKey, NotificationKind::Identity, NotificationKind::SignIn];
    for (kind, settles_before) in kinds.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        let fixture = NotificationFixture::new(kind).await;
        fixture.cause(kind).await;
        if settles_before {
            fixture.town.settle().await;
        }
        fixture.hide(kind).await;
        assert_eq!(fixture.stored(kind).await, ["ana"], "{kind}, {settles_before}");
        assert_eq!(fixture.shown(kind).await, (1, 1), "{kind}, {settles_before}");
    }
}

/// R54: a kind that is switched off is neither written nor shown; the others are.
#[tokio::test]
async fn each_kind_can_be_switched_off() {
    for kind in NotificationKind::ALL {
        let switch = async |fixture: &NotificationFixture, is_enabled| {
            let (town, change) =
                (&fixture.town, NotificationPreference { kind: *kind, is_enabled });
            let service = roundtable_domain::Notifications::new(town.context().clone());
            service.update_preferences(&town.caller("ana"), &[change], None).await.unwrap();
        };
        let before = NotificationFixture::new(*kind).await;
        switch(&before, false).await;
        before.cause(*kind).await;
        let recipients = before.stored(*kind).await;
        assert!(!recipients.contains(&"ana".into()), "{kind}: {recipients:?}");
        let after = NotificationFixture::new(*kind).await;
        after.cause(*kind).await;
        after.town.settle().await;
        switch(&after, false).await;
        assert_eq!(after.shown(*kind).await, (0, 0), "{kind}, afterwards");
        switch(&after, true).await;
        assert_eq!(after.shown(*kind).await, (1, 1), "{kind}, on again");
    }
}
