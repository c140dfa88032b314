//! Indexes stay consistent: patches do not change keys, rekeys rewrite them, and both can
//! interleave.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "shared/town.rs"]
mod shared;

use proptest::prelude::*;
use roundtable_model::entities::{Follow, Post, Task, User, UserCounter};
use roundtable_model::table::{self, Returning, Transaction, Update};
use roundtable_model::{
    Attribute, Core, Entity, Error, Field, FollowStatus, ModerationStatus, Nickname, Score, Shard,
    Span, Time, UserCount, rekey, samples,
};
use shared::{shards, town, user_id};

async fn put(core: &Core, entity: &impl Entity) {
    core.table().put(entity.put()).await.unwrap();
}

fn nickname(name: &str) -> Nickname {
    name.parse().unwrap()
}

#[tokio::test]
async fn a_rename_moves_the_index_with_the_profile() {
    let core = town().await;
    let ana = samples::user();
    put(&core, &ana).await;
    let renamed = User { nickname: nickname("Anna"), ..ana.clone() };
    core.table().update(rekey(&ana, &renamed).unwrap()).await.unwrap();

    assert!(core.user_by_nickname(&ana.nickname).get().await.unwrap().is_none());
    let found = core.user_by_nickname(&nickname("anna")).get().await.unwrap().unwrap();
    assert_eq!((found.nickname, found.version), (nickname("Anna"), ana.version + 1));
}

#[tokio::test]
async fn of_two_rekeys_from_one_version_the_second_is_refused() {
    let core = town().await;
    let ana = samples::user();
    put(&core, &ana).await;
    let rename = |name| rekey(&ana, &User { nickname: nickname(name), ..ana.clone() }).unwrap();
    core.table().update(rename("anna")).await.unwrap();
    let second = core.table().update(rename("annie")).await;
    assert!(matches!(second, Err(table::Error::ConditionFailed { .. })), "{second:?}");
    assert!(core.user_by_nickname(&nickname("annie")).get().await.unwrap().is_none());
}

#[tokio::test]
async fn a_rekey_leaves_a_patch_of_other_fields_alone() {
    let core = town().await;
    let ana = samples::user();
    put(&core, &ana).await;
    let bio = Some(String::from("I run."));
    let patch = User::at(&ana.id).patch().set(User::BIO, &bio);
    core.table().update(patch.into()).await.unwrap();
    let renamed = User { nickname: nickname("anna"), ..ana.clone() };
    core.table().update(rekey(&ana, &renamed).unwrap()).await.unwrap();
    let found = core.profile(&ana.id).get().await.unwrap().unwrap();
    assert_eq!((found.bio, found.nickname), (bio, nickname("anna")));
}

#[tokio::test]
async fn an_item_leaves_a_sparse_index_when_its_condition_ends() {
    let core = town().await;
    let task = samples::task();
    put(&core, &task).await;
    let day = task.due_at.unwrap().compact_day();
    let due = core.tasks_due_on(&day, shards(4)).page().await.unwrap();
    assert_eq!(due.items, std::slice::from_ref(&task));

    let done = Task { done: true, done_at: task.due_at, ..task.clone() };
    core.table().update(rekey(&task, &done).unwrap()).await.unwrap();
    assert!(core.tasks_due_on(&day, shards(4)).page().await.unwrap().items.is_empty());

    let done = core.task(&task.goal_id, &task.id).get().await.unwrap().unwrap();
    let undated = Task { due_at: None, ..done.clone() };
    core.table().update(rekey(&done, &undated).unwrap()).await.unwrap();
    let all = core.tasks_by_due(&task.user_id, Span::ALL).page().await.unwrap();
    assert!(all.items.is_empty());
    assert!(core.task_by_id(&task.id).get().await.unwrap().is_some(), "it is still known by id");
}

#[tokio::test]
async fn a_rekey_cannot_change_the_identity() {
    let follow = samples::follow();
    let moved = Follow { followee_id: user_id("somebody-else"), ..follow.clone() };
    let refused = rekey(&follow, &moved).unwrap_err();
    assert!(matches!(refused, Error::ImmutableField { entity: "Follow", field: "followeeId", .. }));
    let reshard = Follow { shard: Shard::new(7).unwrap(), ..follow.clone() };
    let refused = rekey(&follow, &reshard).unwrap_err();
    assert!(refused.to_string().ends_with("`shard` cannot change"), "{refused}");
}

#[tokio::test]
async fn a_patch_requires_the_item_and_an_upsert_creates_it() {
    let core = town().await;
    let ana = user_id("ana");
    let (kind, shard) = (UserCount::Posts, Shard::ZERO);
    let patch = UserCounter::at(&ana, &kind, &shard).patch().add(UserCounter::COUNT, 1);
    assert!(core.table().update(patch.into()).await.is_err());

    let now = Time::from_ms(1_737_991_800_000);
    for _ in 0..3 {
        let upsert = UserCounter::upsert(&ana, &kind, &shard)
            .add(UserCounter::COUNT, 1)
            .set(UserCounter::UPDATED_AT, &now)
            .returning(Returning::New);
        core.table().update(upsert.into()).await.unwrap();
    }
    let counts = core.counts(&ana, &[kind], shards(1)).get().await.unwrap();
    let expected = UserCounter {
        user_id: ana,
        counter: kind,
        shard,
        count: 3,
        seq: None,
        version: None,
        updated_at: now,
    };
    assert_eq!(counts, [Some(expected)]);
}

#[tokio::test]
async fn keys_check_create_and_delete() {
    let core = town().await;
    let (follow, table) = (samples::follow(), core.table());
    let at = || Follow::at(&follow.follower_id, &follow.followee_id);
    let run = |transaction| table.store().transact(transaction);
    assert!(run(Transaction::new().with(table, at().exists())).await.is_err());
    run(Transaction::new().with(table, at().absent())).await.unwrap();
    run(Transaction::new().with(table, follow.create())).await.unwrap();
    assert!(run(Transaction::new().with(table, follow.create())).await.is_err(), "it is there");
    let active = Follow::STATUS.is(&FollowStatus::Active);
    run(Transaction::new().with(table, at().check(active.clone()))).await.unwrap();
    assert!(run(Transaction::new().with(table, at().check(active.negate()))).await.is_err());
    run(Transaction::new().with(table, at().delete())).await.unwrap();
    assert!(run(Transaction::new().with(table, at().delete())).await.is_err(), "it is gone");
}

/// One step of a random history of a post.
#[derive(Clone, Debug)]
enum Step {
    Delete(bool),
    Approve(bool),
    Publish(Option<u64>),
    Score(Option<u64>),
    Edit(String),
    /// The same, from a copy read some steps ago.
    Stale(Box<Step>),
}

fn step() -> impl Strategy<Value = Step> {
    let fresh = prop_oneof![
        any::<bool>().prop_map(Step::Delete),
        any::<bool>().prop_map(Step::Approve),
        prop::option::of(0..4_000_000_000_000u64).prop_map(Step::Publish),
        prop::option::of(0..2_000u64).prop_map(Step::Score),
        "[a-z]{0,9}".prop_map(Step::Edit),
    ];
    fresh.clone().prop_recursive(1, 1, 1, move |_| {
        fresh.clone().prop_map(|step| Step::Stale(Box::new(step)))
    })
}

fn changed(post: &Post, step: &Step) -> Post {
    let mut post = post.clone();
    match step {
        Step::Delete(gone) => post.is_deleted = *gone,
        Step::Approve(true) => post.moderation_status = ModerationStatus::Approved,
        Step::Approve(false) => post.moderation_status = ModerationStatus::Flagged,
        Step::Publish(at) => post.published_at = at.map(Time::from_ms),
        Step::Score(score) => post.score = score.map(Score::new),
        Step::Edit(content) => post.content.clone_from(content),
        Step::Stale(step) => return changed(&post, step),
    }
    post
}

/// Sets one field without reading the item.
fn blind<T: Attribute>(at: &Post, field: Field<Post, T, false>, to: &T) -> Update {
    Post::at(&at.id).patch().set(field, to).into()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// I3, for one item: after any patches and rekeys, including stale writers, the stored index
    /// keys match the stored fields.
    #[test]
    fn index_keys_always_follow_from_the_fields(steps in prop::collection::vec(step(), 1..30)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let core = town().await;
            let mut read = samples::post();
            let id = read.id.clone();
            let mut version = read.version;
            put(&core, &read).await;
            for step in &steps {
                let update = match step {
                    Step::Edit(content) => blind(&read, Post::CONTENT, content),
                    step => rekey(&read, &changed(&read, step)).unwrap(),
                };
                let done = core.table().update(update).await;
                let stored = core.post(&id).get().await.unwrap().unwrap();
                let fresh = read.version == version;
                if !matches!(step, Step::Edit(_)) {
                    assert_eq!((done.is_ok(), stored.version), (fresh, version + u64::from(fresh)));
                }
                version = stored.version;
                let item = core.table().get(table::Get::new(Post::at(&id))).await.unwrap().item;
                assert_eq!(item.unwrap(), stored.item());
                if !matches!(step, Step::Stale(_)) {
                    read = stored;
                }
            }
        });
    }
}
