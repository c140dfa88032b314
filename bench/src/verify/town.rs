//! A consistent town of any size: users with their names, follows, groups, posts, comments, likes and
//! all counters.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use futures::StreamExt;
use roundtable_domain::ScoreSettings;
use roundtable_engine::{Engine, Options};
use roundtable_model::entities::{
    Activity, ActorHead, Comment, CommentCounter, CommentLike, Credential, EmailLock, Follow,
    Group, GroupCounter, GroupMember, Like, NickLock, Notification, Post, PostCounter, Share, User,
    UserCounter,
};
use roundtable_model::{
    CommentId, Core, Entity, Expiry, FollowStatus, GroupId, IdGenerator, LoginAttempts,
    MemberStatus, Ops, PostId, Shard, Shards, Time, UserCount, UserId, samples,
};
use roundtable_table::limits::BATCH_WRITE_ITEMS_MAX;
use roundtable_table::{BatchWrite, Item, ManualClock, Store, Table, Update};

use crate::progress::Progress;

/// The approximate number of items per user.
const ITEMS_EACH: u64 = 38;
/// Concurrent batches.
const BATCHES_AT_ONCE: usize = 64;
const GROUP: u64 = 50;
/// Every user follows the users at these distances.
const FOLLOWS: [u64; 10] = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89];
const BEGIN_MS: u64 = 1_737_991_800_000;

/// The users by number, with the ids of their items.
struct TownUsers {
    users: Vec<UserId>,
    posts: Vec<PostId>,
    comments: Vec<[CommentId; 6]>,
    score: ScoreSettings,
}

/// Creates a town in a directory; returns the number of items.
pub(super) fn make(dir: &Path, items: u64) -> Result<u64> {
    let engine = Engine::open(dir, Options::default())?;
    let store = Store::new(engine.clone());
    let people = (items / ITEMS_EACH).max(200);
    let users = TownUsers::of(people);
    let progress = Progress::new("creating a town", people);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let made = runtime.block_on(async {
        let core = store.create_table(Core::SHAPE.definition(Core::SHAPE.name)).await?;
        for shape in [LoginAttempts::SHAPE, Ops::SHAPE] {
            store.create_table(shape.definition(shape.name)).await?;
        }
        let items = (0..people).flat_map(|nth| {
            progress.add(1);
            users.person(nth)
        });
        write(&core, items).await
    })?;
    drop(store);
    engine.close()?;
    Ok(made)
}

/// Changes one counter by one.
pub(super) fn miscount(dir: &Path) -> Result<()> {
    let engine = Engine::open(dir, Options::default())?;
    let core = Store::new(engine.clone()).table_as(Core::SHAPE.definition(Core::SHAPE.name));
    let user = TownUsers::of(200).users.into_iter().nth(77).unwrap_or_else(|| samples::user().id);
    let counter = UserCounter::at(&user, &UserCount::Followers, &Shard::ZERO);
    let update = Update::new(counter).add("count", 1);
    tokio::runtime::Builder::new_current_thread().build()?.block_on(core.update(update))?;
    drop(core);
    Ok(engine.close()?)
}

async fn write(core: &Table, items: impl Iterator<Item = Item>) -> Result<u64> {
    let mut items = items.peekable();
    let batches = std::iter::from_fn(|| {
        items.peek()?;
        Some(items.by_ref().take(BATCH_WRITE_ITEMS_MAX).map(BatchWrite::Put).collect::<Vec<_>>())
    });
    let writes = batches.map(|batch| async {
        let count = batch.len() as u64;
        core.batch_write(batch).await.map(|_| count)
    });
    let mut under_way = futures::stream::iter(writes).buffer_unordered(BATCHES_AT_ONCE);
    let mut made = 0;
    while let Some(written) = under_way.next().await {
        made += written?;
    }
    Ok(made)
}

impl TownUsers {
    fn of(people: u64) -> Self {
        let ids = IdGenerator::new(Arc::new(ManualClock::at_ms(BEGIN_MS)), [5; 32]);
        let begin = Time::from_ms(BEGIN_MS);
        // Each list has its own time, so that users are the same in a town of any size.
        let made = |list: u64, nth: u64| begin.plus_ms(list * 1_000_000_000 + nth);
        let users = (0..people).map(|nth| ids.next_at(made(0, nth))).collect();
        let posts = (0..people).map(|nth| ids.next_at(made(1, nth))).collect();
        let comments =
            (0..people).map(|nth| std::array::from_fn(|_| ids.next_at(made(2, nth)))).collect();
        Self { users, posts, comments, score: ScoreSettings::default() }
    }

    fn people(&self) -> u64 {
        self.users.len() as u64
    }

    /// The user at a distance.
    fn later(&self, nth: u64, places: u64) -> UserId {
        let at = usize::try_from((nth + places) % self.people()).unwrap_or(0);
        self.users.get(at).cloned().unwrap_or_else(|| samples::user().id)
    }

    /// All items of one user.
    fn person(&self, nth: u64) -> Vec<Item> {
        let mut items = self.profile(nth);
        items.extend(self.graph(nth));
        items.extend(self.post(nth));
        items.extend(self.membership(nth));
        items
    }

    fn profile(&self, nth: u64) -> Vec<Item> {
        let id = self.later(nth, 0);
        let name = format!("person{nth}");
        let user = User {
            id: id.clone(),
            nickname: name.parse().unwrap_or(samples::user().nickname),
            email: format!("{name}@example.com").parse().ok(),
            handle: None,
            follower_shards: Shards::ONE,
            ..samples::user()
        };
        let (user_id, created_at) = (id.clone(), user.created_at);
        let nickname = user.nickname.clone();
        let lock =
            |email| EmailLock { email, user_id: id.clone(), created_at, proved_at: None }.item();
        let notification = |minute: u64| Notification {
            user_id: id.clone(),
            created_at: user.created_at.plus_ms(minute * 60_000),
            ttl: Expiry::at_seconds(4_000_000_000),
            ..samples::notification()
        };
        [
            NickLock { nickname, user_id, created_at }.item(),
            Credential { user_id: id.clone(), ..samples::credential() }.item(),
            notification(1).item(),
            notification(2).item(),
            user.item(),
        ]
        .into_iter()
        .chain(user.email.clone().map(lock))
        .collect()
    }

    fn graph(&self, nth: u64) -> Vec<Item> {
        let own = self.later(nth, 0);
        let follow = |places: &u64| Follow {
            follower_id: own.clone(),
            followee_id: self.later(nth, *places),
            status: FollowStatus::Active,
            shard: Shard::ZERO,
            ..samples::follow()
        };
        let count = |counter, count| UserCounter {
            user_id: own.clone(),
            counter,
            shard: Shard::ZERO,
            count,
            version: None,
            ..samples::user_counter()
        };
        let follows = FOLLOWS.len() as u64;
        FOLLOWS
            .iter()
            .map(|places| follow(places).item())
            .chain([
                count(UserCount::Followers, follows).item(),
                count(UserCount::Following, follows).item(),
                count(UserCount::Posts, 1).item(),
            ])
            .collect()
    }

    fn post(&self, nth: u64) -> Vec<Item> {
        let at = usize::try_from(nth).unwrap_or(0);
        let (Some(id), Some(comment_ids)) = (self.posts.get(at), self.comments.get(at)) else {
            return Vec::new();
        };
        let author = self.later(nth, 0);
        let (likes, comments, shares) = (nth % 19, nth % 7, nth % 3);
        let score = self.score.of(likes, comments, shares);
        let post = Post {
            id: id.clone(),
            author_id: author.clone(),
            score: self.score.listed(score),
            ..samples::post()
        };
        let activity = Activity {
            activity_id: id.recast(),
            actor_id: author.clone(),
            object_id: id.into(),
            ..samples::activity()
        };
        let head = ActorHead { actor_id: (&author).into(), ..samples::actor_head() };
        let zero = PostCounter::zero(id.clone());
        let counter = PostCounter { likes, comments, shares, score, ..zero };
        let mut items = vec![post.item(), activity.item(), head.item(), counter.item()];
        items.extend((0..likes).map(|place| {
            let (post_id, user_id) = (id.clone(), self.later(nth, place + 1));
            Like { post_id, user_id, ..samples::like() }.item()
        }));
        items.extend((0..shares).map(|place| {
            let (post_id, user_id) = (id.clone(), self.later(nth, place + 1));
            Share { post_id, user_id, ..samples::share() }.item()
        }));
        items.extend(self.comments(nth, id, comment_ids));
        items
    }

    /// The first comment with its replies and likes.
    fn comments(&self, nth: u64, post: &PostId, ids: &[CommentId; 6]) -> Vec<Item> {
        let count = usize::try_from(nth % 7).unwrap_or(0);
        let Some(first) = ids.first().filter(|_| count > 0) else { return Vec::new() };
        let comment = |(place, id): (usize, &CommentId)| Comment {
            post_id: post.clone(),
            id: id.clone(),
            user_id: self.later(nth, place as u64 + 1),
            parent_comment_id: (place > 0).then(|| first.clone()),
            is_deleted: false,
            ..samples::comment()
        };
        let (post_id, comment_id, user_id) = (post.clone(), first.clone(), self.later(nth, 1));
        let like = CommentLike { post_id, comment_id, user_id, ..samples::comment_like() };
        let zero = CommentCounter::zero(post.clone(), first.clone());
        let counter = CommentCounter { likes: 1, replies: count as u64 - 1, ..zero };
        let comments = ids.iter().take(count).enumerate().map(comment);
        comments.map(|comment| comment.item()).chain([like.item(), counter.item()]).collect()
    }

    fn membership(&self, nth: u64) -> Vec<Item> {
        let founder = self.later(nth - nth % GROUP, 0);
        let group_id: GroupId = founder.recast();
        let (user_id, status) = (self.later(nth, 0), MemberStatus::Active);
        let member =
            GroupMember { group_id: group_id.clone(), user_id, status, ..samples::group_member() };
        let mut items = vec![member.item()];
        if nth.is_multiple_of(GROUP) {
            let count = GROUP.min(self.people() - nth);
            let group = Group { id: group_id.clone(), owner_id: founder, ..samples::group() };
            let updated_at = Time::from_ms(BEGIN_MS);
            items.extend([group.item(), GroupCounter { group_id, count, updated_at }.item()]);
        }
        items
    }
}
