//! Processors and their jobs: stopped at each await point, they end as if they had not been stopped
//! (I4, I6).

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use roundtable_domain::{
    AutoModerator, AutoModeratorError, Context, FeedSettings, ModerationMode, ModerationSubject,
    NewGroup, NewQuest, PromotionSettings, Settings, ShardSettings, Verdict,
};
use roundtable_model::table::{Item, Scan};
use roundtable_model::{GroupId, ModerationStatus, Role};
use roundtable_streams::{
    CaseReviewer, CounterUpdater, FollowerShardScaler, GroupArchiver, MilestoneUpdater,
    NotificationWriter, PostNotifier, PrivacyUpdater, PromotionUpdater, Purge, QuestUpdater,
    Runner, RunnerBuilder, ScoreUpdater,
};
use roundtable_testkit::{Town, UserAction, stop_at};

use crate::STOPS_MAX;
use crate::stage::{TownStore, assert_clean};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// The work of a processor.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Case {
    Counters,
    Scores,
    Privacy,
    PurgeOfAGroup,
    PurgeOfAnAccount,
    PurgeOfAPost,
    PurgeOfAGoal,
    Milestones,
    Notifications,
    FollowerShards,
    Promotion,
    Verdicts,
    Quests,
    Archival,
    NewPosts,
}

/// Rejects posts that contain the word spam.
#[derive(Debug)]
struct Reader;

#[async_trait]
impl AutoModerator for Reader {
    async fn review(&self, subject: &ModerationSubject) -> Result<Verdict, AutoModeratorError> {
        tokio::task::yield_now().await;
        let is_spam = format!("{subject:?}").contains("spam");
        Ok(if is_spam { Verdict::Reject("spam".into()) } else { Verdict::Approve })
    }
}

impl Case {
    pub(crate) const fn processor(self) -> &'static str {
        match self {
            Self::Counters => "CounterUpdater",
            Self::Scores => "ScoreUpdater",
            Self::Privacy => "PrivacyUpdater",
            Self::PurgeOfAGroup
            | Self::PurgeOfAnAccount
            | Self::PurgeOfAPost
            | Self::PurgeOfAGoal => "Purge",
            Self::Milestones => "MilestoneUpdater",
            Self::Notifications => "NotificationWriter",
            Self::FollowerShards => "FollowerShardScaler",
            Self::Promotion => "PromotionUpdater",
            Self::Verdicts => "CaseReviewer",
            Self::Quests => "QuestUpdater",
            Self::Archival => "GroupArchiver",
            Self::NewPosts => "PostNotifier",
        }
    }

    /// A runner with only this processor.
    fn alone(self, context: &Context) -> RunnerBuilder {
        let (setup, context) =
            (Runner::builder(context.clone(), [0; 32]).without_delays(), context.clone());
        match self {
            Self::Counters => setup.with(CounterUpdater::new(context)),
            Self::Scores => setup.with(ScoreUpdater::new(context)),
            Self::Privacy => {
                let privacy = PrivacyUpdater::new(context);
                setup.with(privacy.clone()).with_job_handler(privacy)
            }
            Self::Notifications => {
                let writer = NotificationWriter::new(context);
                setup.with(writer.clone()).with_job_handler(writer)
            }
            Self::Milestones => {
                let rule = MilestoneUpdater::new(context);
                setup.with(rule.clone()).with_job_handler(rule)
            }
            Self::PurgeOfAGroup
            | Self::PurgeOfAnAccount
            | Self::PurgeOfAPost
            | Self::PurgeOfAGoal => {
                let purge = Purge::new(context).without_delays();
                setup.with(purge.clone()).with_job_handler(purge)
            }
            Self::FollowerShards => setup.with(FollowerShardScaler::new(context)),
            Self::Promotion => setup.with(PromotionUpdater::new(context)),
            Self::Quests => {
                let quests = QuestUpdater::new(context).without_delays();
                setup.with(quests.clone()).with_job_handler(quests)
            }
            Self::NewPosts => {
                let notifier = PostNotifier::new(context);
                setup.with(notifier.clone()).with_job_handler(notifier)
            }
            Self::Archival => {
                let archiver = GroupArchiver::new(context);
                setup.with(archiver.clone()).with_job_handler(archiver)
            }
            Self::Verdicts => {
                let verdicts = CaseReviewer::new(context, Arc::new(Reader));
                setup.with(verdicts.clone()).with_job_handler(verdicts)
            }
        }
    }

    /// A runner with all processors.
    fn among_all(self, context: &Context) -> RunnerBuilder {
        let all = RunnerBuilder::with_all_processors_undelayed(context);
        if matches!(self, Self::Verdicts) { all.with_moderator(Arc::new(Reader)) } else { all }
    }

    fn settings(self) -> Settings {
        let mut settings = Town::settings();
        match self {
            Self::FollowerShards => {
                settings.shards = ShardSettings { followers_per_shard: 1, ..settings.shards };
            }
            Self::Promotion => {
                let promotion =
                    PromotionSettings { followers_min: 3, ..settings.feed.promotion.clone() };
                settings.feed = FeedSettings { promotion, ..settings.feed };
            }
            Self::Scores => settings.score.popular_min = 1,
            Self::Verdicts => settings.moderation = ModerationMode::Before,
            _ => {}
        }
        settings
    }

    /// Makes changes that give the processor work.
    async fn prepare(self, town: &Town) {
        let ana = town.caller("ana");
        let act = match self {
            Self::Counters | Self::Notifications | Self::Verdicts => None,
            // Scores follow from counters.
            Self::Scores => {
                Self::Counters.alone(town.context()).build().drain().await.unwrap();
                None
            }
            Self::Privacy => Some(UserAction::TurnPrivate(true)),
            Self::PurgeOfAGroup => {
                let group = group_of(town).await;
                Some(UserAction::DeleteGroup(group))
            }
            Self::PurgeOfAnAccount => Some(UserAction::DeleteAccount("ana".parse().unwrap())),
            Self::PurgeOfAPost => {
                let posts = town.context().core().posts_by(&ana.user_id).all().await.unwrap();
                posts.first().map(|post| UserAction::DeletePost(post.id.clone()))
            }
            Self::PurgeOfAGoal | Self::Milestones => {
                self.plan(town).await;
                None
            }
            Self::Quests => {
                challenge(town).await;
                None
            }
            Self::NewPosts => {
                for name in ["bo", "dan"] {
                    let (follows, caller) = (town.follows(), town.caller(name));
                    let wants = Some(true);
                    follows.update(&caller, &ana.user_id, None, None, wants, None).await.unwrap();
                }
                town.post("ana", "hear me").await;
                None
            }
            // It is idle when the clock is reset, and archived as soon as its members were told.
            Self::Archival => {
                town.clock().set_ms(town.now().ms() - 100 * DAY_MS);
                let group = NewGroup { is_persistent: Some(false), ..NewGroup::named("idlers") };
                let group = town.groups().create(&ana, group, None).await.unwrap().id;
                town.join("bo", &group).await;
                town.clock().set_ms(town.now().ms() + 100 * DAY_MS);
                None
            }
            Self::FollowerShards | Self::Promotion => {
                town.follow("cleo", "ana").await;
                None
            }
        };
        if let Some(act) = act {
            town.perform(&ana, &act, None).await.unwrap();
        }
    }

    /// Creates a goal that is partly reached, or deleted.
    async fn plan(self, town: &Town) {
        let goal = town.set_goal("ana", "Run").await.id;
        town.add_milestone("ana", &goal, 50, "half").await;
        let task = town.add_task("ana", &goal, "shoes").await;
        town.add_task("ana", &goal, "race").await;
        if matches!(self, Self::Milestones) {
            town.mark_done(&task, true).await;
        } else {
            town.goals().delete(&town.caller("ana"), &goal, None).await.unwrap();
        }
    }

    /// Returns `true` if the processor had work and has done it.
    async fn is_done(self, town: &Town) -> bool {
        let (core, ana) = (town.context().core(), town.id("ana"));
        let posts = core.posts_by(&ana).all().await.unwrap();
        match self {
            Self::Counters => {
                !town.rows(&format!("POST#{}", posts[0].id), "COUNTER#").await.is_empty()
            }
            Self::Scores => posts.iter().any(|post| post.score.is_some()),
            Self::Privacy => posts.len() == 3 && posts.iter().all(|post| post.author_is_private),
            Self::PurgeOfAGroup | Self::PurgeOfAPost => posts.len() == 2,
            Self::PurgeOfAnAccount => {
                posts.is_empty() && core.profile(&ana).strong().get().await.unwrap().is_none()
            }
            Self::FollowerShards => {
                let profile = core.profile(&ana).strong().get().await.unwrap().unwrap();
                profile.follower_shards.count() == 3
            }
            Self::Promotion => !town.rows("PROMO#ana", "").await.is_empty(),
            Self::Notifications => town.rows("NOTIF#ana", "").await.len() > 5,
            Self::NewPosts => {
                let told = town.rows("NOTIF#dan", "").await;
                told.iter().any(|row| row.contains("kind=post "))
            }
            Self::Archival => {
                let told = town.rows("NOTIF#bo", "").await;
                told.iter().filter(|row| row.contains("group_archival")).count() == 1
            }
            Self::PurgeOfAGoal => town.rows("USER#ana", "MILESTONE#").await.is_empty(),
            Self::Milestones => {
                town.previews("bo", "ana").await.contains(&String::from("Run: half"))
            }
            Self::Quests => {
                let steps = town.rows("USER#ana", "QUESTSTEP#").await.len();
                (town.xp("ana").await, steps) == (10, 4)
            }
            Self::Verdicts => {
                let rejected = |status| status == ModerationStatus::Rejected;
                let spam = posts.iter().filter(|post| rejected(post.moderation_status)).count();
                let waits = ModerationStatus::Pending;
                spam == 1 && posts.iter().all(|post| post.moderation_status != waits)
            }
        }
    }
}

/// Ana completes one quest; a second stays active, and a third has expired.
async fn challenge(town: &Town) {
    // The deadline has passed when the clock is reset.
    town.clock().set_ms(town.now().ms() - 60_000);
    let goal = town.open_goal("ana", "quest-goal").await;
    let soon = Some(town.now().plus_ms(10));
    let over = NewQuest { deadline: soon, ..NewQuest::tasks("soon", 2) };
    for quest in [NewQuest::tasks("two", 2), NewQuest::tasks("three", 3), over] {
        town.set_quest("ana", quest).await;
    }
    for (task, ms) in [("quest-one", 20), ("quest-two", 0)] {
        let task = town.open_task("ana", &goal, task).await;
        town.advance_ms(ms);
        town.set_done(&goal, &task, true).await;
    }
}

async fn group_of(town: &Town) -> GroupId {
    let groups = town.context().core().groups_of(&town.id("ana")).all().await.unwrap();
    groups.into_iter().next().unwrap().group_id
}

/// Creates a town with content, without running the processors.
async fn populate(town_store: &TownStore) {
    let town = town_store.town(0).await;
    for name in ["ana", "bo", "cleo", "dan", "mo"] {
        town.add_user(name, |_| {}).await;
    }
    town.grant_role("mo", Role::Moderator).await;
    town.follow("bo", "ana").await;
    town.follow("dan", "ana").await;
    town.follow("ana", "bo").await;
    let group = town.create_group("ana", "runners").await;
    town.join("bo", &group).await;
    town.post("ana", "hello #town").await;
    town.post("ana", "some spam").await;
    town.post_into("ana", &group, "let us run").await;
    let room = town.room_with("ana", "bo").await;
    town.send_message("ana", &room, "are you coming?").await;
    town.send_message("bo", &room, "later").await;
    // One is pending, and one no longer.
    town.send_picture("dan").await;
    town.upload("dan").await;
}

/// Others react to all of ana's content.
async fn react(town: &Town) {
    let posts = town.context().core().posts_by(&town.id("ana")).all().await.unwrap();
    for post in posts.iter().filter(|post| post.published_at.is_some()) {
        let comment = town.comment("bo", &post.id, "well said").await;
        town.comments().like(&town.caller("ana"), &comment.id, None, None).await.unwrap();
        town.like("bo", &post.id).await;
        if post.group_id.is_none() {
            town.share("bo", &post.id).await;
        }
    }
}

/// Returns all rows of a town without times.
async fn all_rows(town: &Town) -> Vec<String> {
    let table = town.context().core().table();
    let page = table.scan(Scan::new()).await.unwrap();
    assert!(page.next.is_none(), "a small town is one page");
    let partition = |item: &Item| item.text("PK").unwrap().to_owned();
    let partitions: BTreeSet<String> = page.items.iter().map(partition).collect();
    let mut lines = Vec::new();
    for partition in partitions {
        let rows = town.rows(&partition, "").await;
        lines.extend(rows.into_iter().map(|row| format!("{partition} {}", stable_part(&row))));
    }
    lines
}

/// Counters of users that follow from the stream, wholly or in part.
const STREAMED: [&str; 3] = ["COUNTER#UNREAD", "COUNTER#MEDIA_BYTES", "COUNTER#PENDING_UPLOADS"];

/// A row without the parts that depend on the stop: processors create notifications, and counters
/// hold a stream position.
fn stable_part(row: &str) -> &str {
    match row.split_once(" seq=") {
        Some((counter, _)) if STREAMED.iter().any(|name| counter.starts_with(name)) => counter,
        _ => row,
    }
}

/// Stops a processor at each await point, and compares the result with that of an uninterrupted
/// run.
async fn survives_a_stop_at_any_point(case: Case) {
    let first = TownStore::new(case.settings());
    populate(&first).await;
    let town = first.town(1).await;
    react(&town).await;
    case.prepare(&town).await;
    let straight = first.fork().town(2).await;
    assert!(!case.is_done(&straight).await, "{case:?} is nothing to do");
    case.among_all(straight.context()).build().drain().await.unwrap();
    assert!(case.is_done(&straight).await, "{case:?} is not done");
    let expected = all_rows(&straight).await;
    for stops in 0..STOPS_MAX {
        let town_store = first.fork();
        let slow = town_store.slow_town(2).await;
        let work = case.alone(slow.context()).build();
        let done = stop_at(stops, work.drain()).await;
        let what = format!("{case:?} stopped after {stops}");
        town_store.pass();
        let town = town_store.town(3).await;
        case.among_all(town.context()).build().drain().await.unwrap();
        assert_clean(&town, &what).await;
        assert!(case.is_done(&town).await, "{what} is not done");
        let found = all_rows(&town).await;
        assert_eq!(found.len(), expected.len(), "{what}");
        // Verdicts and milestones create ids, which differ between processes.
        if !matches!(case, Case::Verdicts | Case::Milestones | Case::Quests) {
            assert_eq!(found, expected, "{what}");
        }
        if let Some(done) = done {
            done.unwrap();
            assert!(stops > 10, "{stops} await points are too few to be all of {case:?}");
            return;
        }
    }
    panic!("{case:?} has more await points than expected");
}

/// One test for each case, so that they run in parallel.
macro_rules! stopped {
    ($($test:ident $case:ident)*) => {$(
        #[tokio::test]
        async fn $test() {
            survives_a_stop_at_any_point(Case::$case).await;
        }
    )*

        impl Case {
            pub(crate) const ALL: &[Self] = &[$(Self::$case),*];
        }
    };
}

stopped! {
    counters_survive_a_stop Counters
    scores_survive_a_stop Scores
    privacy_of_posts_survives_a_stop Privacy
    the_purge_of_a_group_survives_a_stop PurgeOfAGroup
    the_purge_of_an_account_survives_a_stop PurgeOfAnAccount
    the_purge_of_a_post_survives_a_stop PurgeOfAPost
    the_purge_of_a_goal_survives_a_stop PurgeOfAGoal
    milestones_survive_a_stop Milestones
    notifications_survive_a_stop Notifications
    follower_shards_survive_a_stop FollowerShards
    promotions_survive_a_stop Promotion
    verdicts_survive_a_stop Verdicts
    quests_survive_a_stop Quests
    archival_survives_a_stop Archival
    notifications_of_new_posts_survive_a_stop NewPosts
}
