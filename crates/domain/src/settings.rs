//! Settings of an installation. Everything has a default; a file may override any of it.

mod feed_verbs;
mod media;
mod tiers;

use roundtable_model::{Core, LoginAttempts, Ops, QuestDifficulty, Secret, Shards};
use serde::{Deserialize, Deserializer};

pub use self::feed_verbs::FeedVerbs;
pub use self::media::{MediaSettings, S3Settings};
pub use self::tiers::{TierLimits, TierOverrides, TierSettings};

#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    pub tables: TableNames,
    pub registration: Registration,
    pub likes: LikeMode,
    pub moderation: ModerationMode,
    pub hook: HookSettings,
    pub login: LoginSettings,
    pub invitations: InvitationSettings,
    pub score: ScoreSettings,
    pub shards: ShardSettings,
    pub feed: FeedSettings,
    pub quests: QuestSettings,
    pub groups: GroupSettings,
    pub notifications: NotificationSettings,
    pub rates: RateSettings,
    pub media: MediaSettings,
    pub tiers: TierSettings,
    pub webhooks: WebhookSettings,
    /// Days a session stays valid without being used.
    pub session_days: u64,
    /// Days the global list of posts reaches back; older posts are found by author and tag.
    pub timeline_days: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TableNames {
    pub core: String,
    pub logins: String,
    pub ops: String,
}

/// The users who may sign up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Registration {
    #[default]
    Open,
    /// Users with an invitation.
    Invitation,
    Closed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LikeMode {
    #[default]
    Toggle,
    /// Likes cannot be undone, except by an undo from another server.
    Permanent,
}

/// The time at which moderators review posts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModerationMode {
    /// Only after a user reports them.
    #[default]
    Off,
    /// Before they are published.
    Before,
    /// As soon as they are published.
    After,
}

/// A service of the installation that decides moderation cases before moderators do.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct HookSettings {
    /// The URL that receives cases; without it, moderators decide alone.
    pub url: Option<String>,
    /// The timeout of a call in milliseconds; after it the case waits for a moderator.
    pub timeout_ms: u64,
    /// Signs requests, so that the service can authenticate them.
    #[serde(deserialize_with = "secret")]
    pub secret: Option<Secret>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct WebhookSettings {
    /// Permits unencrypted webhooks to this machine and its network, for development.
    pub local: bool,
}

fn secret<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Secret>, D::Error> {
    Ok(Option::<String>::deserialize(from)?.map(Secret::new))
}

/// Limits on failed sign-ins, and the cost of password hashes.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LoginSettings {
    /// The window in which failures are counted.
    pub window_seconds: u64,
    /// Failures of one account, from one network or on one device, in a window before that network or
    /// device is locked for the account.
    pub account_failures_max: u64,
    /// Failures of one account, from all networks, in a window before it is locked for strangers.
    pub account_strangers_max: u64,
    /// Failures from one address in a window before it is locked.
    pub address_failures_max: u64,
    pub lock_seconds: u64,
    /// Password hashes computed concurrently; further ones wait.
    pub hashes_at_once: usize,
    pub hash_memory_kib: u32,
    pub hash_passes: u32,
}

/// Limits on the invitations of users without a staff role.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct InvitationSettings {
    /// Invitations of one user that are neither used up nor expired.
    pub open_max: usize,
    /// Users who can sign up with one invitation.
    pub uses_max: u64,
}

/// The weights and threshold of a post's popularity score.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScoreSettings {
    /// The weight of a like.
    pub like: u64,
    /// The weight of a comment.
    pub comment: u64,
    /// The weight of a share.
    pub share: u64,
    /// The lowest score at which a post is listed as popular.
    pub popular_min: u64,
    /// The step by which the score must change for the list to be updated.
    pub bucket: u64,
}

/// The number of shards of busy partitions. It can be raised, never lowered.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ShardSettings {
    /// Posts of a day, and popular posts.
    pub posts: ShardCount,
    pub follows: ShardCount,
    pub cases: ShardCount,
    pub tasks: ShardCount,
    /// Objects with one tag.
    pub tags: ShardCount,
    pub audit: ShardCount,
    /// Followers of one user per shard.
    pub followers_per_shard: u64,
}

/// Settings of home feeds. None but `verbs` changes what feeds show.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FeedSettings {
    pub policy: FeedPolicy,
    pub verbs: FeedVerbs,
    pub promotion: PromotionSettings,
    /// Copies stored in one feed.
    pub cap: usize,
    /// One in this many copies triggers a check of the feed's length.
    pub trim_one_in: u64,
    pub ttl_days: u32,
    /// Milliseconds after a follow from which copies can be relied on: by then indexes, clocks and
    /// commits in progress have caught up.
    pub margin_ms: u64,
    /// Activities of all actors that a page passes in the order of time, in one step, before it reads
    /// single actors.
    pub walk_max: usize,
    /// Hours that a feed in the order of rank reaches back.
    pub top_hours: u32,
    pub memory: FeedMemorySettings,
}

/// The actors whose activities are copied into their followers' feeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeedPolicy {
    /// Copies activities of promoted actors.
    #[default]
    Documents,
    Pull,
    Push,
}

/// The thresholds of automatic promotion.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PromotionSettings {
    /// The fewest followers, or members of a group, that promote an actor.
    pub followers_min: u64,
    /// The most followers of a promoted actor: above it, copying costs more than reading.
    pub followers_max: u64,
    /// The fewest activities a day that promote an actor.
    pub per_day_min: u64,
}

/// Sizes of the caches behind feeds and other pages.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FeedMemorySettings {
    /// The latest activities of all actors.
    pub recent: usize,
    /// The latest activities of one actor.
    pub each: usize,
    /// Activities of single actors, in total.
    pub actors: usize,
    pub posts: usize,
    pub people: usize,
    pub groups: usize,
    pub post_counters: usize,
    pub user_counters: usize,
    pub uploads: usize,
    /// Follows and blocks of all readers, in total.
    pub ties: usize,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct NotificationSettings {
    pub ttl_days: u32,
    /// Minutes before a task is due at which its owner is reminded.
    pub reminder_lead_minutes: u32,
}

/// Settings of groups that are not persistent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct GroupSettings {
    /// Days without activity after which such a group is archived.
    pub idle_days: IdleDays,
}

/// Days without activity: at least eight, because members are told a week before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u32")]
pub struct IdleDays(u32);

impl IdleDays {
    pub const fn days(self) -> u32 {
        self.0
    }
}

impl Default for IdleDays {
    fn default() -> Self {
        Self(90)
    }
}

impl TryFrom<u32> for IdleDays {
    type Error = roundtable_model::InvalidValue;

    fn try_from(days: u32) -> Result<Self, Self::Error> {
        if (8..=36_500).contains(&days) {
            return Ok(Self(days));
        }
        Err(roundtable_model::InvalidValue::new("8 to 36,500 days", days))
    }
}

/// A number of shards, as configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u16")]
pub struct ShardCount(pub Shards);

impl TryFrom<u16> for ShardCount {
    type Error = roundtable_model::InvalidValue;

    fn try_from(count: u16) -> Result<Self, Self::Error> {
        Shards::new(count).map(Self)
    }
}

/// Rate limits per user and per address: a burst, and a sustained rate.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RateSettings {
    pub writes_burst: u32,
    pub writes_per_minute: u32,
    /// First pages of feeds in the order of rank: each stores its order.
    pub top_feeds_burst: u32,
    pub top_feeds_per_hour: u32,
    pub sign_ups_burst: u32,
    pub sign_ups_per_hour: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tables: TableNames::default(),
            registration: Registration::default(),
            likes: LikeMode::default(),
            moderation: ModerationMode::default(),
            hook: HookSettings::default(),
            login: LoginSettings::default(),
            invitations: InvitationSettings::default(),
            score: ScoreSettings::default(),
            shards: ShardSettings::default(),
            feed: FeedSettings::default(),
            quests: QuestSettings::default(),
            groups: GroupSettings::default(),
            notifications: NotificationSettings::default(),
            rates: RateSettings::default(),
            media: MediaSettings::default(),
            tiers: TierSettings::default(),
            webhooks: WebhookSettings::default(),
            session_days: 30,
            timeline_days: 365,
        }
    }
}

impl Default for TableNames {
    fn default() -> Self {
        let [core, logins, ops] = [Core::SHAPE, LoginAttempts::SHAPE, Ops::SHAPE];
        let [core, logins, ops] = [core, logins, ops].map(|shape| shape.name.to_owned());
        Self { core, logins, ops }
    }
}

impl Default for HookSettings {
    fn default() -> Self {
        Self { url: None, timeout_ms: 5_000, secret: None }
    }
}

impl Default for LoginSettings {
    fn default() -> Self {
        Self {
            window_seconds: 15 * 60,
            account_failures_max: 10,
            account_strangers_max: 100,
            address_failures_max: 100,
            lock_seconds: 15 * 60,
            hashes_at_once: 2,
            hash_memory_kib: 19 * 1024,
            hash_passes: 2,
        }
    }
}

impl Default for InvitationSettings {
    fn default() -> Self {
        Self { open_max: 10, uses_max: 5 }
    }
}

impl Default for ScoreSettings {
    fn default() -> Self {
        Self { like: 1, comment: 3, share: 5, popular_min: 10, bucket: 10 }
    }
}

impl Default for ShardSettings {
    fn default() -> Self {
        let one = ShardCount(Shards::ONE);
        Self {
            posts: one,
            follows: one,
            cases: one,
            tasks: one,
            tags: one,
            audit: one,
            followers_per_shard: 100_000,
        }
    }
}

impl Default for FeedSettings {
    fn default() -> Self {
        Self {
            policy: FeedPolicy::default(),
            verbs: FeedVerbs::default(),
            promotion: PromotionSettings::default(),
            cap: 800,
            trim_one_in: 200,
            ttl_days: 45,
            margin_ms: 60_000,
            walk_max: 20_000,
            top_hours: 48,
            memory: FeedMemorySettings::default(),
        }
    }
}

impl Default for PromotionSettings {
    fn default() -> Self {
        Self { followers_min: 1_000, followers_max: 50_000, per_day_min: 50 }
    }
}

impl Default for FeedMemorySettings {
    fn default() -> Self {
        Self {
            recent: 250_000,
            each: 128,
            actors: 1_000_000,
            posts: 100_000,
            people: 100_000,
            groups: 20_000,
            post_counters: 200_000,
            user_counters: 200_000,
            uploads: 100_000,
            ties: 2_000_000,
        }
    }
}

impl Default for NotificationSettings {
    fn default() -> Self {
        Self { ttl_days: 90, reminder_lead_minutes: 60 }
    }
}

impl Default for RateSettings {
    fn default() -> Self {
        Self {
            writes_burst: 200,
            writes_per_minute: 600,
            top_feeds_burst: 30,
            top_feeds_per_hour: 120,
            sign_ups_burst: 20,
            sign_ups_per_hour: 60,
        }
    }
}

/// The most experience a quest may earn, by difficulty: users set their own quests and could
/// otherwise award themselves any amount.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct QuestSettings {
    pub easy_xp_max: u64,
    pub medium_xp_max: u64,
    pub hard_xp_max: u64,
}

impl Default for QuestSettings {
    fn default() -> Self {
        Self { easy_xp_max: 50, medium_xp_max: 100, hard_xp_max: 250 }
    }
}

impl QuestSettings {
    pub const fn reward_max(&self, difficulty: QuestDifficulty) -> u64 {
        match difficulty {
            QuestDifficulty::Easy => self.easy_xp_max,
            QuestDifficulty::Medium => self.medium_xp_max,
            QuestDifficulty::Hard => self.hard_xp_max,
        }
    }
}

impl ScoreSettings {
    pub const fn of(&self, likes: u64, comments: u64, shares: u64) -> u64 {
        likes
            .saturating_mul(self.like)
            .saturating_add(comments.saturating_mul(self.comment))
            .saturating_add(shares.saturating_mul(self.share))
    }

    /// Rounds a score down to the step it is listed under; `None` below the threshold.
    pub fn listed(&self, score: u64) -> Option<roundtable_model::Score> {
        let bucket = self.bucket.max(1);
        (score >= self.popular_min).then(|| roundtable_model::Score::new(score / bucket * bucket))
    }
}
