//! A small, consistent store; tests plant faults in it.

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::ScoreSettings;
use roundtable_model::entities::{
    Comment, CommentCounter, CommentLike, EmailLock, Follow, GroupCounter, GroupMember, HandleLock,
    Like, NickLock, Post, PostCounter, Share, User, UserCounter, XpEntry,
};
use roundtable_model::table::{
    Backend, Clock, Get, Item, Key, ManualClock, Put, Store, Table, Update,
};
use roundtable_model::{
    Core, Entity, FollowStatus, LoginAttempts, MemberStatus, Ops, Score, Shard, Time, UserCount,
    samples,
};
use roundtable_verify::{Finding, Invariant, Tables, Verifier, VerifyReport};

use crate::lively::runners;

/// A Monday in January 2025.
pub(crate) const BEGIN_MS: u64 = 1_737_991_800_000;

pub(crate) struct Town {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) tables: Tables,
    /// The backend, if it can delete expired items.
    pub(crate) reference: Option<Arc<Reference>>,
}

impl Town {
    /// Ana and Cleo follow Bo, Ana has requested to follow Cleo; they comment on Bo's post and
    /// share a group.
    pub(crate) async fn new() -> Self {
        let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
        let reference = Arc::new(Reference::new(clock.clone()));
        let town = Self::with_store(Store::shared(reference.clone()), clock).await;
        town.people().await;
        Self { reference: Some(reference), ..town }
    }

    pub(crate) async fn on(backend: impl Backend, clock: Arc<ManualClock>) -> Self {
        let town = Self::empty(backend, clock).await;
        town.people().await;
        town
    }

    async fn people(&self) {
        for item in all_items() {
            self.core().put(Put::new(item)).await.unwrap();
        }
    }

    pub(crate) async fn empty(backend: impl Backend, clock: Arc<ManualClock>) -> Self {
        Self::with_store(Store::new(backend), clock).await
    }

    async fn with_store(store: Store, clock: Arc<ManualClock>) -> Self {
        let create = |shape: &'static roundtable_model::shape::TableShape| {
            let (store, definition) = (store.clone(), shape.definition(shape.name));
            async move { store.create_table(definition).await.unwrap() }
        };
        let tables = Tables {
            core: Core::on(create(Core::SHAPE).await),
            logins: LoginAttempts::on(create(LoginAttempts::SHAPE).await),
            ops: Ops::on(create(Ops::SHAPE).await),
        };
        Self { clock, tables, reference: None }
    }

    pub(crate) fn core(&self) -> &Table {
        self.tables.core.table()
    }

    pub(crate) fn ops(&self) -> &Table {
        self.tables.ops.table()
    }

    pub(crate) fn verify(&self) -> Verifier {
        let clock: Arc<dyn Clock> = self.clock.clone();
        Verifier::new(self.tables.clone(), ScoreSettings::default()).clock(clock)
    }

    pub(crate) async fn check(&self) -> VerifyReport {
        self.verify().check().await.unwrap()
    }

    pub(crate) async fn put(&self, entity: &impl Entity) {
        self.core().put(entity.put()).await.unwrap();
    }

    pub(crate) async fn update(&self, update: Update) {
        self.core().update(update).await.unwrap();
    }

    pub(crate) async fn item(&self, partition: &str, sort: &str) -> Option<Item> {
        let get = Get::new(Key::new(partition, sort)).strong();
        self.core().get(get).await.unwrap().item
    }

    /// A verifier that deletes expired items first, with nothing left to derive.
    pub(crate) fn sweeping_verifier(&self) -> Verifier {
        let Some(reference) = self.reference.clone() else { return self.verify() };
        let sweep = move || {
            reference.sweep();
            Ok(())
        };
        self.verify().sweep_with(sweep).drain_with(|| Box::pin(async { Ok(0) }))
    }

    /// Repairs, and expects that no finding remains.
    pub(crate) async fn repair_all(&self) -> u64 {
        let repaired = self.sweeping_verifier().repair().await.unwrap();
        assert!(repaired.report.is_clean(), "{:#?}", repaired.report.findings);
        assert!(repaired.unrepaired.is_empty(), "{:?}", repaired.unrepaired);
        assert!(self.check().await.is_clean());
        let again = self.sweeping_verifier().repair().await.unwrap();
        assert_eq!(again.repaired_count, 0, "a second run has nothing to do");
        repaired.repaired_count
    }
}

pub(crate) fn lines(report: &VerifyReport) -> Vec<String> {
    report.findings.iter().map(Finding::to_string).collect()
}

/// The invariant and the first key of each finding.
pub(crate) fn broken_keys(report: &VerifyReport) -> Vec<(Invariant, &str)> {
    report
        .findings
        .iter()
        .map(|finding| (finding.invariant, finding.keys.first().unwrap().as_str()))
        .collect()
}

pub(crate) fn read<T: std::str::FromStr<Err = roundtable_model::InvalidValue>>(text: &str) -> T {
    text.parse().unwrap()
}

pub(crate) fn at(minutes: u64) -> Time {
    Time::from_ms(BEGIN_MS).plus_ms(minutes * 60_000)
}

pub(crate) fn user(name: &str) -> User {
    User {
        id: read(name),
        nickname: read(name),
        email: Some(read(&format!("{name}@example.com"))),
        handle: (name == "bo").then(|| read("bo_runs")),
        version: 1,
        // Only the lively town has pictures.
        profile_image: None,
        ..samples::user()
    }
}

pub(crate) fn follow(follower: &str, followee: &str) -> Follow {
    Follow {
        follower_id: read(follower),
        followee_id: read(followee),
        status: FollowStatus::Active,
        active_since: Some(at(1)),
        shard: Shard::ZERO,
        version: 1,
        ..samples::follow()
    }
}

pub(crate) fn count(name: &str, counter: UserCount, count: u64) -> UserCounter {
    let version = (counter == UserCount::Following).then_some(3);
    let (user_id, shard, updated_at) = (read(name), Shard::ZERO, at(2));
    UserCounter { user_id, counter, shard, count, version, seq: None, updated_at }
}

pub(crate) fn post() -> Post {
    Post {
        id: read("p1"),
        author_id: read("bo"),
        score: Some(Score::new(10)),
        published_at: Some(at(3)),
        created_at: at(3),
        version: 4,
        is_deleted: false,
        // Only the lively town has tags and media.
        hashtags: Vec::new(),
        media: Vec::new(),
        ..samples::post()
    }
}

pub(crate) fn like(name: &str) -> Like {
    Like { post_id: read("p1"), user_id: read(name), ..samples::like() }
}

pub(crate) fn comment(id: &str, parent: Option<&str>) -> Comment {
    let (post_id, id, user_id) = (read("p1"), read(id), read("ana"));
    let parent_comment_id = parent.map(read);
    Comment { post_id, id, user_id, parent_comment_id, is_deleted: false, ..samples::comment() }
}

pub(crate) fn post_counter() -> PostCounter {
    let seq = "0".repeat(40);
    let zero = PostCounter::zero(read("p1"));
    PostCounter { likes: 2, comments: 2, shares: 1, score: 13, seq, ..zero }
}

fn all_items() -> Vec<Item> {
    let mut items = runners();
    for name in ["ana", "bo", "cleo"] {
        let User { id: user_id, nickname, email, handle, created_at, .. } = user(name);
        let email = email.unwrap();
        items.push(user(name).item());
        items.push(NickLock { nickname, user_id: user_id.clone(), created_at }.item());
        items.push(
            EmailLock { email, user_id: user_id.clone(), created_at, proved_at: None }.item(),
        );
        items.extend(handle.map(|handle| HandleLock { handle, user_id, created_at }.item()));
    }
    let pending =
        Follow { status: FollowStatus::Pending, active_since: None, ..follow("ana", "cleo") };
    let member = |name: &str, status| {
        let (group_id, user_id) = (read("runners"), read(name));
        GroupMember { group_id, user_id, status, ..samples::group_member() }.item()
    };
    let xp = |quest: &str, reward_xp| {
        let (user_id, quest_id) = (read("ana"), read(quest));
        XpEntry { user_id, quest_id, reward_xp, ..samples::xp_entry() }.item()
    };
    let group_id = read("runners");
    let (post_id, comment_id) = (read("p1"), read("c1"));
    let clike = CommentLike { post_id, comment_id, user_id: read("bo"), ..samples::comment_like() };
    let (zero, seq) = (CommentCounter::zero(read("p1"), read("c1")), "0".repeat(40));
    let ccounter = CommentCounter { likes: 1, replies: 1, seq, ..zero };
    let share = Share { post_id: read("p1"), user_id: read("cleo"), ..samples::share() };
    let gone = Comment { is_deleted: true, ..comment("c3", Some("c1")) };
    items.extend([
        follow("ana", "bo").item(),
        follow("cleo", "bo").item(),
        pending.item(),
        count("bo", UserCount::Followers, 2).item(),
        count("ana", UserCount::Following, 1).item(),
        count("cleo", UserCount::Following, 1).item(),
        count("bo", UserCount::Posts, 1).item(),
        count("ana", UserCount::Xp, 150).item(),
        xp("q1", 100),
        xp("q2", 50),
        member("ana", MemberStatus::Active),
        member("bo", MemberStatus::Active),
        member("cleo", MemberStatus::Pending),
        GroupCounter { group_id, count: 2, updated_at: at(2) }.item(),
        post().item(),
        post_counter().item(),
        like("ana").item(),
        like("cleo").item(),
        comment("c1", None).item(),
        comment("c2", Some("c1")).item(),
        gone.item(),
        share.item(),
        clike.item(),
        ccounter.item(),
    ]);
    items
}
