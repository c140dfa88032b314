//! The town as consistent items of the model, written in batches.

use std::collections::BTreeMap;

use anyhow::Result;
use futures::StreamExt;
use roundtable_model::entities::{
    Activity, ActorHead, Block, Follow, Post, Promotion, Share, User, UserCounter,
};
use roundtable_model::{
    ActivityVerb, ContentType, Entity, FeedName, FollowStatus, Nickname, ObjectType,
    PromotionReason, Shard, Tag, Time, UserCount, samples,
};
use roundtable_table::limits::BATCH_WRITE_ITEMS_MAX;
use roundtable_table::{BatchWrite, Item, Table};

use super::town::{FollowEdge, SeedActivity, Town, Verb};
use crate::progress::Progress;

/// The version of every circle; zero would mean that it never changed.
const CIRCLE_VERSION: u64 = 1;

/// Writes the town with concurrent batches; returns the number of items.
pub(super) async fn write(core: &Table, town: &Town, at_once: usize) -> Result<u64> {
    let total = town.people.len() * 3 + town.edges.len() + town.posts.len() + town.activities.len();
    let progress = Progress::new("writing the town", total as u64);
    // Activities come last: the stream still holds them, and they cause the least processing.
    let people = (0..town.people.len()).flat_map(|number| town.profile(number));
    let edges = town.edges.iter().map(|edge| town.edge(edge).item());
    let blocks = town.blocks.iter().map(|(blocker, blocked)| town.block(*blocker, *blocked).item());
    let activities = town.activities.iter().flat_map(|activity| town.activity_items(activity));
    let counts = town.counts().into_iter().map(|counter| counter.item());
    let items = people.chain(edges).chain(blocks).chain(counts).chain(activities);
    put_all(core, items, at_once, &progress).await
}

/// Writes items with concurrent batches; returns their number.
pub(super) async fn put_all(
    core: &Table,
    items: impl Iterator<Item = Item>,
    at_once: usize,
    progress: &Progress,
) -> Result<u64> {
    let mut items = items.peekable();
    let batches = std::iter::from_fn(|| {
        items.peek()?;
        Some(items.by_ref().take(BATCH_WRITE_ITEMS_MAX).map(BatchWrite::Put).collect::<Vec<_>>())
    });
    let writes = batches.map(|batch| async {
        let count = batch.len() as u64;
        core.batch_write(batch).await.map(|_| count)
    });
    let mut under_way = futures::stream::iter(writes).buffer_unordered(at_once);
    let mut written = 0;
    while let Some(count) = under_way.next().await {
        let count = count?;
        written += count;
        progress.add(count);
    }
    Ok(written)
}

impl Town {
    pub(super) fn user(&self, number: usize) -> User {
        let person = self.person(number);
        let name = Self::nickname(number);
        User {
            id: person.id.clone(),
            nickname: named(number),
            email: format!("{name}@example.com").parse().ok(),
            handle: None,
            preferred_username: name,
            status: person.status,
            is_private: person.is_private,
            created_at: Time::from_ms(Self::begin_ms()),
            updated_at: Time::from_ms(Self::begin_ms()),
            ..samples::user()
        }
    }

    /// A user and the time of their newest activity.
    fn profile(&self, number: usize) -> Vec<Item> {
        let person = self.person(number);
        let mut items = vec![self.user(number).item()];
        let is_star = number == self.star;
        let idle = ActorHead::idle((&person.id).into());
        items.extend(person.last_ms.map(Time::from_ms).map(|last_ts| {
            let (version, window_at, window_count) = (1, last_ts, 1);
            ActorHead { version, last_ts, window_at, window_count, ..idle.clone() }.item()
        }));
        if is_star {
            let promoted = true;
            items.extend([ActorHead { promoted, ..idle }.item(), self.promotion().item()]);
        }
        items
    }

    /// The star is promoted by hand, because it has too many followers for an automatic promotion.
    fn promotion(&self) -> Promotion {
        let star = &self.person(self.star).id;
        Promotion {
            subject_id: star.into(),
            user_id: Some(star.clone()),
            group_id: None,
            fanout_enabled: true,
            reason: PromotionReason::Manual,
            thresholds: None,
            overrides: None,
            watermark: None,
            watermark_since: None,
            updated_at: Time::from_ms(Self::begin_ms()),
        }
    }

    fn edge(&self, edge: &FollowEdge) -> Follow {
        let begin = Time::from_ms(Self::begin_ms());
        let status = if edge.is_active { FollowStatus::Active } else { FollowStatus::Pending };
        Follow {
            follower_id: self.person(edge.follower).id.clone(),
            followee_id: self.person(edge.followee).id.clone(),
            follower_nickname: named(edge.follower),
            followee_nickname: named(edge.followee),
            status,
            muted: edge.is_muted,
            active_since: edge.is_active.then_some(begin),
            shard: Shard::ZERO,
            day_shard: Shard::ZERO,
            notification_enabled: true,
            notify_posts: None,
            activity_pub_id: None,
            version: 1,
            created_at: begin,
        }
    }

    fn block(&self, blocker: usize, blocked: usize) -> Block {
        Block {
            blocker_id: self.person(blocker).id.clone(),
            blocked_id: self.person(blocked).id.clone(),
            created_at: Time::from_ms(Self::begin_ms()),
        }
    }

    /// The numbers of followees, followers and posts of all users.
    fn counts(&self) -> Vec<UserCounter> {
        let mut counts: BTreeMap<(usize, UserCount), u64> = BTreeMap::new();
        let mut count = |number, counter| *counts.entry((number, counter)).or_default() += 1;
        for edge in self.edges.iter().filter(|edge| edge.is_active) {
            count(edge.follower, UserCount::Following);
            count(edge.followee, UserCount::Followers);
        }
        for post in self.posts.iter().filter(|post| !post.is_deleted) {
            count(post.author, UserCount::Posts);
        }
        let counter = |((number, counter), count)| UserCounter {
            user_id: self.person(number).id.clone(),
            counter,
            shard: Shard::ZERO,
            count,
            version: (counter == UserCount::Following).then_some(CIRCLE_VERSION),
            seq: None,
            updated_at: Time::from_ms(Self::begin_ms()),
        };
        counts.into_iter().map(counter).collect()
    }

    /// An activity with its post or share.
    fn activity_items(&self, seed: &SeedActivity) -> Vec<Item> {
        let Some(post) = self.posts.get(seed.post) else { return Vec::new() };
        let at = Time::from_ms(seed.at_ms);
        let verb = match seed.verb {
            Verb::Wrote => ActivityVerb::Post,
            Verb::Shared | Verb::Unshared => ActivityVerb::Share,
        };
        let text = Self::text(seed.post);
        let activity = Activity {
            activity_id: seed.id.clone(),
            actor_id: self.person(seed.actor).id.clone(),
            group_id: None,
            verb,
            object_type: ObjectType::Post,
            object_id: (&post.id).into(),
            object_home: None,
            preview_text: Some(text.clone()),
            media: None,
            tags: tags(seed.post),
            fanout: false,
            created_at: at,
        };
        let object = match seed.verb {
            Verb::Wrote => Some(self.post(seed.post, text).item()),
            Verb::Shared => {
                let share = Share {
                    post_id: post.id.clone(),
                    user_id: activity.actor_id.clone(),
                    activity_id: activity.activity_id.clone(),
                    post_user_id: self.person(post.author).id.clone(),
                    created_at: at,
                };
                Some(share.item())
            }
            Verb::Unshared => None,
        };
        object.into_iter().chain([activity.item()]).collect()
    }

    fn post(&self, number: usize, content: String) -> Post {
        let Some(post) = self.posts.get(number) else { return samples::post() };
        let at = Time::from_ms(post.at_ms);
        let author = self.person(post.author);
        Post {
            id: post.id.clone(),
            author_id: author.id.clone(),
            author_nickname: named(post.author),
            group_id: None,
            content,
            content_type: ContentType::Text,
            media: Vec::new(),
            visibility: post.visibility,
            moderation_status: post.moderation,
            is_deleted: post.is_deleted,
            hashtags: tags(number),
            mentions: Vec::new(),
            feed_id: FeedName::GLOBAL,
            activity_pub_id: None,
            audience: Vec::new(),
            author_is_private: author.is_private,
            published_at: Some(at),
            score: None,
            shard: Shard::ZERO,
            version: 1,
            created_at: at,
            updated_at: at,
        }
    }
}

fn named(number: usize) -> Nickname {
    Town::nickname(number).parse().unwrap_or_else(|_| samples::user().nickname)
}

fn tags(number: usize) -> Vec<Tag> {
    Town::tag(number).and_then(|tag| tag.parse().ok()).into_iter().collect()
}
