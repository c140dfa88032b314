//! Processors, and the work they leave for later: stopped at each of their await points, they end as if
//! nobody had stopped them (I4, I6).

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use roundtable_domain::{
    FeedSettings, Ground, Judge, JudgeError, ModerationMode, NewQuest, PromotionSettings, Settings,
    ShardSettings, Subject, Verdict,
};
use roundtable_model::table::{Item, Scan};
use roundtable_model::{GroupId, ModerationStatus, Role};
use roundtable_streams::{
    Counters, FollowerShards, MilestoneRule, Notices, Privacy, PromotionRule, Purge, QuestProgress,
    Runner, Scores, Setup, Verdicts,
};
use roundtable_testkit::{Act, Town, stop_at};

use crate::STOPS_MAX;
use crate::stage::{Place, is_clean};

/// What a processor has to do.
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
    Notices,
    FollowerShards,
    Promotion,
    Verdicts,
    Quests,
}

/// Rejects what is called spam.
#[derive(Debug)]
struct Reader;

#[async_trait]
impl Judge for Reader {
    async fn judge(&self, subject: &Subject) -> Result<Verdict, JudgeError> {
        tokio::task::yield_now().await;
        let is_spam = format!("{subject:?}").contains("spam");
        Ok(if is_spam { Verdict::Reject("spam".into()) } else { Verdict::Approve })
    }
}

impl Case {
    /// Whose case it is.
    pub(crate) const fn processor(self) -> &'static str {
        match self {
            Self::Counters => "Counters",
            Self::Scores => "Scores",
            Self::Privacy => "Privacy",
            Self::PurgeOfAGroup
            | Self::PurgeOfAnAccount
            | Self::PurgeOfAPost
            | Self::PurgeOfAGoal => "Purge",
            Self::Milestones => "MilestoneRule",
            Self::Notices => "Notices",
            Self::FollowerShards => "FollowerShards",
            Self::Promotion => "PromotionRule",
            Self::Verdicts => "Verdicts",
            Self::Quests => "QuestProgress",
        }
    }

    /// A runner with this processor, and nothing else.
    fn alone(self, ground: &Ground) -> Setup {
        let (setup, ground) = (Runner::on(ground.clone(), [0; 32]).at_once(), ground.clone());
        match self {
            Self::Counters => setup.with(Counters::new(ground)),
            Self::Scores => setup.with(Scores::new(ground)),
            Self::Privacy => {
                let privacy = Privacy::new(ground);
                setup.with(privacy.clone()).working(privacy)
            }
            Self::Notices => {
                let notices = Notices::new(ground);
                setup.with(notices.clone()).working(notices)
            }
            Self::Milestones => {
                let rule = MilestoneRule::new(ground);
                setup.with(rule.clone()).working(rule)
            }
            Self::PurgeOfAGroup
            | Self::PurgeOfAnAccount
            | Self::PurgeOfAPost
            | Self::PurgeOfAGoal => {
                let purge = Purge::new(ground).at_once();
                setup.with(purge.clone()).working(purge)
            }
            Self::FollowerShards => setup.with(FollowerShards::new(ground)),
            Self::Promotion => setup.with(PromotionRule::new(ground)),
            Self::Quests => {
                let quests = QuestProgress::new(ground).at_once();
                setup.with(quests.clone()).working(quests)
            }
            Self::Verdicts => {
                let verdicts = Verdicts::new(ground, Arc::new(Reader));
                setup.with(verdicts.clone()).working(verdicts)
            }
        }
    }

    /// Everything there is, with this processor.
    fn among_all(self, ground: &Ground) -> Setup {
        let all = Setup::everything_at_once(ground);
        if matches!(self, Self::Verdicts) { all.judged_by(Arc::new(Reader)) } else { all }
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

    /// What happens, so that the processor has something to do.
    async fn happen(self, town: &Town) {
        let ana = town.caller("ana");
        let act = match self {
            Self::Counters | Self::Notices | Self::Verdicts => None,
            // Scores follow from what was counted.
            Self::Scores => {
                Self::Counters.alone(town.ground()).build().drain().await.unwrap();
                None
            }
            Self::Privacy => Some(Act::TurnPrivate(true)),
            Self::PurgeOfAGroup => {
                let group = group_of(town).await;
                Some(Act::DeleteGroup(group))
            }
            Self::PurgeOfAnAccount => Some(Act::DeleteAccount("ana".parse().unwrap())),
            Self::PurgeOfAPost => {
                let posts = town.ground().core().posts_by(&ana.user_id).all().await.unwrap();
                posts.first().map(|post| Act::DeletePost(post.id.clone()))
            }
            Self::PurgeOfAGoal | Self::Milestones => {
                self.plan(town).await;
                None
            }
            Self::Quests => {
                challenge(town).await;
                None
            }
            Self::FollowerShards | Self::Promotion => {
                town.follow("cleo", "ana").await;
                None
            }
        };
        if let Some(act) = act {
            town.act(&ana, &act, None).await.unwrap();
        }
    }

    /// A goal of which something is reached, or that is given up.
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

    /// Whether there was something to do that is done.
    async fn is_done(self, town: &Town) -> bool {
        let (core, ana) = (town.ground().core(), town.id("ana"));
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
            Self::Notices => town.rows("NOTIF#ana", "").await.len() > 5,
            Self::PurgeOfAGoal => town.rows("USER#ana", "MILESTONE#").await.is_empty(),
            Self::Milestones => town.told("bo", "ana").await.contains(&String::from("Run: half")),
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

/// Ana completes one quest, not another, and a third one is over.
async fn challenge(town: &Town) {
    // When time begins anew, the deadline has passed.
    town.clock().set_ms(town.now().ms() - 60_000);
    let goal = town.open_goal("ana", "quest-goal").await;
    let soon = Some(town.now().plus_ms(10));
    let over = NewQuest { deadline: soon, ..NewQuest::tasks("soon", 2) };
    for quest in [NewQuest::tasks("two", 2), NewQuest::tasks("three", 3), over] {
        town.set_quest("ana", quest).await;
    }
    for (task, ms) in [("quest-one", 20), ("quest-two", 0)] {
        let task = town.open_task("ana", &goal, task).await;
        town.pass_ms(ms);
        town.set_done(&goal, &task, true).await;
    }
}

async fn group_of(town: &Town) -> GroupId {
    let groups = town.ground().core().groups_of(&town.id("ana")).all().await.unwrap();
    groups.into_iter().next().unwrap().group_id
}

/// A town with some life in it, of which nothing has followed yet.
async fn lively(place: &Place) {
    let town = place.town(0).await;
    for name in ["ana", "bo", "cleo", "dan", "mo"] {
        town.move_in(name, |_| {}).await;
    }
    town.employ("mo", Role::Moderator).await;
    town.follow("bo", "ana").await;
    town.follow("dan", "ana").await;
    town.follow("ana", "bo").await;
    let group = town.found("ana", "runners").await;
    town.join("bo", &group).await;
    town.post("ana", "hello #town").await;
    town.post("ana", "some spam").await;
    town.post_into("ana", &group, "let us run").await;
    let room = town.room_with("ana", "bo").await;
    town.say("ana", &room, "are you coming?").await;
    town.say("bo", &room, "later").await;
}

/// People do with everything of ana's what they can.
async fn react(town: &Town) {
    let posts = town.ground().core().posts_by(&town.id("ana")).all().await.unwrap();
    for post in posts.iter().filter(|post| post.published_at.is_some()) {
        let comment = town.comment("bo", &post.id, "well said").await;
        town.comments().like(&town.caller("ana"), &comment.id, None).await.unwrap();
        town.like("bo", &post.id).await;
        if post.group_id.is_none() {
            town.share("bo", &post.id).await;
        }
    }
}

/// Everything in a town, as lines that do not say when.
async fn everything(town: &Town) -> Vec<String> {
    let table = town.ground().core().table();
    let page = table.scan(Scan::new()).await.unwrap();
    assert!(page.next.is_none(), "a small town is one page");
    let partition = |item: &Item| item.text("PK").unwrap().to_owned();
    let partitions: BTreeSet<String> = page.items.iter().map(partition).collect();
    let mut lines = Vec::new();
    for partition in partitions {
        let rows = town.rows(&partition, "").await;
        lines.extend(rows.into_iter().map(|row| format!("{partition} {}", settled(&row))));
    }
    lines
}

/// A row without what depends on who was stopped: notes are made by processors, and where they are in the
/// stream, up to which they are counted, says when.
fn settled(row: &str) -> &str {
    match row.split_once(" seq=") {
        Some((counter, _)) if counter.starts_with("COUNTER#UNREAD") => counter,
        _ => row,
    }
}

/// R32, R33, I4, I6: whatever a processor was doing, it is done as if nobody had stopped it.
async fn can_be_stopped_anywhere(case: Case) {
    let first = Place::new(case.settings());
    lively(&first).await;
    let town = first.town(1).await;
    react(&town).await;
    case.happen(&town).await;
    let straight = first.again().town(2).await;
    assert!(!case.is_done(&straight).await, "{case:?} is nothing to do");
    case.among_all(straight.ground()).build().drain().await.unwrap();
    assert!(case.is_done(&straight).await, "{case:?} is not done");
    let expected = everything(&straight).await;
    for stops in 0..STOPS_MAX {
        let place = first.again();
        let slow = place.slow_town(2).await;
        let work = case.alone(slow.ground()).build();
        let done = stop_at(stops, work.drain()).await;
        let what = format!("{case:?} stopped after {stops}");
        place.pass();
        let town = place.town(3).await;
        case.among_all(town.ground()).build().drain().await.unwrap();
        is_clean(&town, &what).await;
        assert!(case.is_done(&town).await, "{what} is not done");
        let found = everything(&town).await;
        assert_eq!(found.len(), expected.len(), "{what}");
        // What a verdict or a milestone makes has ids, and those of two processes differ.
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

/// One test for each, so that they run at the same time.
macro_rules! stopped {
    ($($test:ident $case:ident)*) => {$(
        /// R32, R33, I4, I6
        #[tokio::test]
        async fn $test() {
            can_be_stopped_anywhere(Case::$case).await;
        }
    )*

        impl Case {
            pub(crate) const ALL: &[Self] = &[$(Self::$case),*];
        }
    };
}

stopped! {
    counting Counters
    scoring Scores
    telling_posts_that_their_author_is_private Privacy
    purging_a_group PurgeOfAGroup
    purging_an_account PurgeOfAnAccount
    purging_a_post PurgeOfAPost
    purging_a_goal PurgeOfAGoal
    achieving_milestones Milestones
    telling_people Notices
    spreading_followers FollowerShards
    promoting Promotion
    judging Verdicts
    counting_for_quests Quests
}
