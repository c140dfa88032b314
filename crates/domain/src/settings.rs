//! How an installation is configured. Everything has a default; a file may change any of it.

use roundtable_model::{Core, LoginAttempts, Ops, QuestDifficulty, Secret, Shards};
use serde::{Deserialize, Deserializer};

/// All of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// The names of the tables.
    pub tables: TableNames,
    /// Who may sign up.
    pub registration: Registration,
    /// Whether a like can be taken back.
    pub likes: LikeMode,
    /// When moderators see posts.
    pub moderation: ModerationMode,
    /// Who decides about cases before moderators do.
    pub hook: HookSettings,
    /// How failed sign-ins are answered.
    pub login: LoginSettings,
    /// What makes a post popular.
    pub score: ScoreSettings,
    /// Over how many partitions busy keys are spread.
    pub shards: ShardSettings,
    /// How home feeds are kept.
    pub feed: FeedSettings,
    /// How much quests may earn.
    pub quests: QuestSettings,
    /// What people are told, and when.
    pub notifications: NotificationSettings,
    /// How much one person may do in a while.
    pub rates: RateSettings,
    /// Files that people send.
    pub media: MediaSettings,
    /// Where events may be sent.
    pub webhooks: WebhookSettings,
    /// How long a device stays signed in without being used.
    pub session_days: u64,
    /// How many days back the posts of everybody can be read; older ones are found by author and tag.
    pub timeline_days: u32,
}

/// The names of the tables.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TableNames {
    /// Everything people make and do.
    pub core: String,
    /// Failed sign-ins.
    pub logins: String,
    /// Bookkeeping.
    pub ops: String,
}

/// Who may sign up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Registration {
    /// Everybody.
    #[default]
    Open,
    /// Whoever has an invitation.
    Invitation,
    /// Nobody.
    Closed,
}

/// Whether a like can be taken back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LikeMode {
    /// It can.
    #[default]
    Toggle,
    /// It cannot; an undo from another server is honoured nevertheless.
    Permanent,
}

/// When moderators see posts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModerationMode {
    /// When somebody reports them.
    #[default]
    Off,
    /// Before anybody else does.
    Before,
    /// As soon as they are published.
    After,
}

/// Who decides about cases before moderators do: a service of the installation's own, if any.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct HookSettings {
    /// Where cases are sent to; without it moderators decide alone.
    pub url: Option<String>,
    /// How long an answer may take, in milliseconds; then the case waits for a moderator.
    pub timeout_ms: u64,
    /// What requests are signed with, so that the service knows whom they come from.
    #[serde(deserialize_with = "secret")]
    pub secret: Option<Secret>,
}

/// Where events may be sent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct WebhookSettings {
    /// Also to this machine and its network, and there without encryption: for trying things out.
    pub local: bool,
}

/// Reads what must not be shown again.
fn secret<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Secret>, D::Error> {
    Ok(Option::<String>::deserialize(from)?.map(Secret::new))
}

/// How failed sign-ins are answered.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LoginSettings {
    /// The stretch of time in which failures add up, in seconds.
    pub window_seconds: u64,
    /// Failures of one account in it, before it is locked.
    pub account_failures_max: u64,
    /// Failures from one address in it, before it is locked.
    pub address_failures_max: u64,
    /// How long a lock lasts, in seconds.
    pub lock_seconds: u64,
    /// Password hashes computed at the same time; the others wait.
    pub hashes_at_once: usize,
    /// Memory of one hash, in KiB.
    pub hash_memory_kib: u32,
    /// Passes of one hash over its memory.
    pub hash_passes: u32,
}

/// What makes a post popular.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScoreSettings {
    /// What a like counts.
    pub like: u64,
    /// What a comment counts.
    pub comment: u64,
    /// What a share counts.
    pub share: u64,
    /// From which score on a post is listed as popular.
    pub popular_min: u64,
    /// In which steps the list notices a change.
    pub bucket: u64,
}

/// Over how many partitions busy keys are spread. They can be added to, never taken away.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ShardSettings {
    /// Posts of a day, popular posts.
    pub posts: ShardCount,
    /// Follows of a day.
    pub follows: ShardCount,
    /// Moderation cases of a day.
    pub cases: ShardCount,
    /// Tasks due on a day.
    pub tasks: ShardCount,
    /// Things with one tag.
    pub tags: ShardCount,
    /// Audit entries of a day.
    pub audit: ShardCount,
    /// Followers of one person for each shard of theirs.
    pub followers_per_shard: u64,
}

/// How home feeds are kept. None of it changes what they show.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FeedSettings {
    /// Whose activities are copied into their followers' feeds.
    pub policy: FeedPolicy,
    /// Who is promoted by themselves.
    pub promotion: PromotionSettings,
    /// Copies held in one feed.
    pub cap: usize,
    /// One copy in so many has the length of its feed checked.
    pub trim_one_in: u64,
    /// For how many days copies are held.
    pub ttl_days: u32,
    /// How long after a follow copies can be relied on, in milliseconds: by then every index, clock
    /// and commit under way has caught up.
    pub margin_ms: u64,
    /// How much of it is kept in memory.
    pub memory: FeedMemory,
}

/// Whose activities are copied into their followers' feeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeedPolicy {
    /// Those of the promoted.
    #[default]
    Documents,
    /// Nobody's.
    Pull,
    /// Everybody's.
    Push,
}

/// Who is promoted without a moderator's word.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PromotionSettings {
    /// Whoever has so many followers, or members.
    pub followers_min: u64,
    /// Nobody who has more: to copy costs more than to look.
    pub followers_max: u64,
    /// Whoever does so much in a day.
    pub per_day_min: u64,
}

/// How much of recent activities, and of what they are about, is kept in memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FeedMemory {
    /// The latest activities of everybody.
    pub recent: usize,
    /// The latest activities of one actor.
    pub each: usize,
    /// Activities of single actors, altogether.
    pub actors: usize,
    /// Posts.
    pub posts: usize,
    /// Profiles.
    pub people: usize,
    /// Groups.
    pub groups: usize,
    /// Whom readers follow and block, altogether.
    pub ties: usize,
}

/// What people are told, and when.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct NotificationSettings {
    /// For how many days notifications are held.
    pub ttl_days: u32,
    /// How long before a task is due its owner is reminded, in minutes.
    pub reminder_lead_minutes: u32,
}

/// A number of shards in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u16")]
pub struct ShardCount(pub Shards);

impl TryFrom<u16> for ShardCount {
    type Error = roundtable_model::Misfit;

    fn try_from(count: u16) -> Result<Self, Self::Error> {
        Shards::new(count).map(Self)
    }
}

/// How much one person, or one address, may do in a while: so many at once, and so many a minute in
/// the long run.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RateSettings {
    /// Writes of one person at once.
    pub writes_burst: u32,
    /// Writes of one person a minute.
    pub writes_per_minute: u32,
    /// Sign-ups from one address at once.
    pub sign_ups_burst: u32,
    /// Sign-ups from one address an hour.
    pub sign_ups_per_hour: u32,
}

/// Files that people send.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MediaSettings {
    /// For how long a file can be sent once it was announced, in seconds.
    pub upload_seconds: u64,
    /// For how long an address shows a file, in seconds.
    pub download_seconds: u64,
    /// Bytes of a picture.
    pub image_bytes_max: u64,
    /// Bytes of a video.
    pub video_bytes_max: u64,
    /// Where files are, if not in a directory of their own.
    pub s3: Option<S3Settings>,
}

/// A store of files that speaks S3's API.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct S3Settings {
    /// Which bucket.
    pub bucket: String,
    /// Which region.
    pub region: String,
    /// Where it is, if not at Amazon's; clients must reach it, too.
    pub endpoint: Option<String>,
    /// Whom it knows us as; without it, whatever this machine is known as.
    pub access_key_id: Option<String>,
    /// How it knows us.
    #[serde(deserialize_with = "secret")]
    pub secret_access_key: Option<Secret>,
}

impl Default for MediaSettings {
    fn default() -> Self {
        Self {
            upload_seconds: 15 * 60,
            download_seconds: 5 * 60,
            image_bytes_max: 20 << 20,
            video_bytes_max: 500 << 20,
            s3: None,
        }
    }
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
            score: ScoreSettings::default(),
            shards: ShardSettings::default(),
            feed: FeedSettings::default(),
            quests: QuestSettings::default(),
            notifications: NotificationSettings::default(),
            rates: RateSettings::default(),
            media: MediaSettings::default(),
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
            address_failures_max: 100,
            lock_seconds: 15 * 60,
            hashes_at_once: 2,
            hash_memory_kib: 19 * 1024,
            hash_passes: 2,
        }
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
            promotion: PromotionSettings::default(),
            cap: 800,
            trim_one_in: 200,
            ttl_days: 45,
            margin_ms: 60_000,
            memory: FeedMemory::default(),
        }
    }
}

impl Default for PromotionSettings {
    fn default() -> Self {
        Self { followers_min: 1_000, followers_max: 50_000, per_day_min: 50 }
    }
}

impl Default for FeedMemory {
    fn default() -> Self {
        Self {
            recent: 250_000,
            each: 128,
            actors: 1_000_000,
            posts: 100_000,
            people: 100_000,
            groups: 20_000,
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
            sign_ups_burst: 20,
            sign_ups_per_hour: 60,
        }
    }
}

/// The most experience a quest may earn, by its difficulty: otherwise everybody could award themselves
/// anything.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct QuestSettings {
    /// Of an easy one.
    pub easy_xp_max: u64,
    /// Of one in between.
    pub medium_xp_max: u64,
    /// Of a hard one.
    pub hard_xp_max: u64,
}

impl Default for QuestSettings {
    fn default() -> Self {
        Self { easy_xp_max: 50, medium_xp_max: 100, hard_xp_max: 250 }
    }
}

impl QuestSettings {
    /// The most that a quest of this difficulty may earn.
    pub const fn reward_max(&self, difficulty: QuestDifficulty) -> u64 {
        match difficulty {
            QuestDifficulty::Easy => self.easy_xp_max,
            QuestDifficulty::Medium => self.medium_xp_max,
            QuestDifficulty::Hard => self.hard_xp_max,
        }
    }
}

impl ScoreSettings {
    /// What a post has scored.
    pub const fn of(&self, likes: u64, comments: u64, shares: u64) -> u64 {
        likes
            .saturating_mul(self.like)
            .saturating_add(comments.saturating_mul(self.comment))
            .saturating_add(shares.saturating_mul(self.share))
    }

    /// The step a score is listed under; `None` when it is not.
    pub fn listed(&self, score: u64) -> Option<roundtable_model::Score> {
        let bucket = self.bucket.max(1);
        (score >= self.popular_min).then(|| roundtable_model::Score::new(score / bucket * bucket))
    }
}
