//! Compares active quests, open milestones, promotions and feed copies with the data they follow
//! from. They are few beside all finished ones, so each is read with that data.

use std::collections::BTreeSet;

use roundtable_model::entities::{ActorHead, FeedItem, Milestone, Promotion, Quest};
use roundtable_model::table::Item;
use roundtable_model::{
    ActorId, CountScope, Entity, Error as ModelError, FromItem, QuestKind, QuestStatus,
    Result as ModelResult, Span, SubjectId, TYPE, Time,
};

use super::CheckRun;
use super::background::PendingWork;
use crate::finding::{Finding, Invariant, Repair};
use crate::subject::key_text;
use crate::{Result, VerifyError};

/// Entities of each type that are compared, per segment of a scan: a few megabytes.
const ENTITIES_MAX: usize = 5_000;

/// Entities to compare after the scan.
#[derive(Debug, Default)]
pub(super) struct UnfinishedEntities {
    quests: Vec<Quest>,
    milestones: Vec<Milestone>,
    promotions: Vec<Promotion>,
    copies: Vec<FeedItem>,
    skipped: u64,
}

impl UnfinishedEntities {
    pub(super) fn visit(&mut self, item: &Item) {
        let skipped = match item.text(TYPE) {
            Some("Quest") => {
                let quest = Quest::from_item(item).ok();
                let quest = quest.filter(|quest| quest.status == QuestStatus::Active);
                push(&mut self.quests, quest)
            }
            Some("Milestone") => {
                let milestone = Milestone::from_item(item).ok();
                push(&mut self.milestones, milestone.filter(|milestone| !milestone.achieved))
            }
            Some("Promotion") => push(&mut self.promotions, Promotion::from_item(item).ok()),
            // There are too many copies to compare all: the first ones are a sample.
            Some("FeedItem") if self.copies.len() < ENTITIES_MAX => {
                push(&mut self.copies, FeedItem::from_item(item).ok())
            }
            _ => 0,
        };
        self.skipped += skipped;
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.quests.extend(other.quests);
        self.milestones.extend(other.milestones);
        self.promotions.extend(other.promotions);
        self.copies.extend(other.copies);
        self.skipped += other.skipped;
    }
}

/// Adds an entity, if there is one; returns how many were skipped because the list is full.
fn push<E>(entities: &mut Vec<E>, entity: Option<E>) -> u64 {
    let is_full = entities.len() >= ENTITIES_MAX;
    match entity {
        Some(_) if is_full => 1,
        entity => {
            entities.extend(entity);
            0
        }
    }
}

#[derive(Debug, Default)]
struct ComparisonResult {
    findings: Vec<Finding>,
    /// Entities that follow from more data than is read at once.
    skipped: u64,
}

impl ComparisonResult {
    /// Adds a result; unreadable items are reported by `check_item`.
    fn add(&mut self, read: ModelResult<Option<Finding>>) -> Result<()> {
        match read {
            Ok(finding) => self.findings.extend(finding),
            Err(ModelError::Table(error)) => return Err(VerifyError::Table(error)),
            Err(ModelError::InvalidLimit { .. }) => self.skipped += 1,
            Err(_) => {}
        }
        Ok(())
    }
}

impl CheckRun<'_> {
    pub(super) async fn check_unfinished(&mut self, unfinished: UnfinishedEntities) -> Result<()> {
        if unfinished.skipped > 0 {
            let what =
                "active quests, open milestones or promotions were not checked: there are too many";
            self.report.notes.push(format!("{} {what}", unfinished.skipped));
        }
        let stages =
            unfinished.quests.len() + unfinished.milestones.len() + unfinished.promotions.len();
        self.verifier.reader.progress.stage("checking unfinished entities", Some(stages as u64));
        let mut compared = ComparisonResult::default();
        for quest in &unfinished.quests {
            compared.add(self.check_quest(quest).await)?;
        }
        for milestone in &unfinished.milestones {
            compared.add(self.check_milestone(milestone).await)?;
        }
        for promotion in &unfinished.promotions {
            compared.add(self.check_promotion(promotion).await)?;
        }
        for copy in &unfinished.copies {
            compared.add(self.check_copy(copy).await)?;
        }
        if compared.skipped > 0 {
            let what = "active quests or open milestones were not checked: one has too many tasks or \
                        steps";
            self.report.notes.push(format!("{} {what}", compared.skipped));
        }
        self.findings.extend(compared.findings);
        Ok(())
    }

    /// A quest has a step for each task and goal that counts for it, and ends at its deadline.
    async fn check_quest(&self, quest: &Quest) -> ModelResult<Option<Finding>> {
        let (core, user) = (&self.verifier.tables.core, &quest.user_id);
        let mut done: Vec<(SubjectId, Time)> = Vec::new();
        for id in quest.linked_goal_ids.iter().flatten() {
            let goal = core.goal(user, id).get().await?;
            done.extend(
                goal.and_then(|goal| Some((SubjectId::from(&goal.id), goal.completed_at?))),
            );
        }
        for id in quest.linked_task_ids.iter().flatten() {
            let task = core.task_by_id(id).get().await?;
            let task = task.filter(|task| task.done && task.user_id == *user);
            done.extend(task.and_then(|task| Some((SubjectId::from(&task.id), task.done_at?))));
        }
        let is_any =
            quest.kind == QuestKind::Quantitative && quest.count_scope != Some(CountScope::Linked);
        let goals = if is_any { core.goals(user).strong().all().await? } else { Vec::new() };
        for goal in goals {
            let tasks = core.tasks(&goal.id).strong().all().await?.into_iter();
            let tasks = tasks.filter(|task| task.done && task.user_id == *user);
            done.extend(tasks.filter_map(|task| Some((SubjectId::from(&task.id), task.done_at?))));
        }
        let counted = done.into_iter().filter(|(_, done_at)| is_counted(quest, *done_at));
        let counted: BTreeSet<String> = counted.map(|(id, _)| id.to_string()).collect();
        let steps = core.quest_steps(user, &quest.id).strong().all().await?;
        let steps: BTreeSet<String> = steps.iter().map(|it| it.subject_id.to_string()).collect();
        let join_ids = |ids: &BTreeSet<String>| {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            if ids.is_empty() { String::from("none") } else { ids.join(", ") }
        };
        let key = key_text(&quest.key().into_key());
        let repair = Repair::None("its processor updates it when one of its tasks changes");
        if counted != steps {
            let expected = format!("steps: {}", join_ids(&counted));
            let finding = Finding::new(Invariant::I6, key, expected, join_ids(&steps), repair);
            return Ok(Some(finding));
        }
        let PendingWork { quests: has_work, checked_at, .. } = self.pending;
        let is_overdue = quest.deadline.is_some_and(|deadline| deadline < checked_at) && !has_work;
        Ok(is_overdue.then(|| {
            let expected = "cancelled, as its deadline has passed and no job is left";
            Finding::new(Invariant::I6, key, expected, "active", repair)
        }))
    }

    /// A milestone is achieved once the share of done tasks has reached it.
    async fn check_milestone(&self, milestone: &Milestone) -> ModelResult<Option<Finding>> {
        let core = &self.verifier.tables.core;
        let tasks = core.tasks(&milestone.goal_id).strong().all().await?;
        let (all, done) = (tasks.len(), tasks.iter().filter(|task| task.done).count());
        let part = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        // Within a rounding error, the processor decides.
        let is_reached =
            all > 0 && part(done) * 100.0 > (milestone.percentage.value() + 1e-6) * part(all);
        let goal_exists = core.goal(&milestone.user_id, &milestone.goal_id).get().await?.is_some();
        let repair = Repair::None("its processor updates it when one of its tasks changes");
        Ok((is_reached && goal_exists).then(|| {
            let expected = format!("achieved, as {done} of {all} tasks are done");
            let key = key_text(&milestone.key().into_key());
            Finding::new(Invariant::I6, key, expected, "not achieved", repair)
        }))
    }

    /// A watermark is the time of an activity, and no activity after it waits to be copied unless
    /// work is pending.
    async fn check_promotion(&self, promotion: &Promotion) -> ModelResult<Option<Finding>> {
        let core = &self.verifier.tables.core;
        let (home, marks) =
            (&promotion.subject_id, promotion.watermark.zip(promotion.watermark_since));
        let Some((mark, since)) = marks else { return Ok(None) };
        let heads = core.actor_heads(std::slice::from_ref(home)).strong().get().await?;
        let head = heads.into_iter().flatten().next();
        let key = key_text(&promotion.key().into_key());
        let repair = Repair::None("feeds read activities without a copy; the next job copies them");
        let newest = head.as_ref().map_or(Time::EPOCH, |head| head.last_ts);
        if mark > newest || mark < since {
            let expected = format!("a watermark from {since} to {newest}, the newest activity");
            let found = mark.to_string();
            return Ok(Some(Finding::new(Invariant::I6, key, expected, found, repair)));
        }
        let Some(head) = head.filter(|_| !self.pending.copies) else { return Ok(None) };
        if head.since != Some(since) {
            return Ok(None);
        }
        let behind = core.activities_of(home, Span::since(mark.plus_ms(1))).strong();
        let behind = behind.limit(100).page().await?.items;
        let missed = behind.iter().rfind(|activity| activity.fanout);
        Ok(missed.map(|missed| {
            let expected = format!("a watermark at {}, as no job is left", missed.created_at);
            Finding::new(Invariant::I6, key, expected, mark.to_string(), repair)
        }))
    }

    /// A copy equals its activity. If the activity is deleted, the copy is at least not newer than
    /// the newest activity of the same actor or group.
    async fn check_copy(&self, copy: &FeedItem) -> ModelResult<Option<Finding>> {
        let core = &self.verifier.tables.core;
        let home: ActorId =
            copy.group_id.as_ref().map_or_else(|| (&copy.actor_id).into(), ActorId::from);
        let key = || key_text(&copy.key().into_key());
        let repair = Repair::None("feeds skip it until it expires");
        let original = core.activity(&home, &copy.created_at, &copy.activity_id).get().await?;
        if let Some(one) = original {
            let original = (&one.actor_id, one.verb, one.object_type, &one.object_id, one.fanout);
            let copied = (&copy.actor_id, copy.verb, copy.object_type, &copy.object_id, true);
            return Ok((original != copied).then(|| {
                let expected = format!("a copy of {original:?}");
                Finding::new(Invariant::I6, key(), expected, format!("{copied:?}"), repair)
            }));
        }
        let heads: Vec<Option<ActorHead>> = core.actor_heads(&[home]).strong().get().await?;
        let head = heads.into_iter().flatten().next();
        // A deleted actor has no head, and its copies may remain.
        let is_ahead = head.is_some_and(|head| copy.created_at > head.last_ts);
        Ok(is_ahead.then(|| {
            let expected = "a copy of an activity";
            Finding::new(Invariant::I6, key(), expected, "a copy without an activity", repair)
        }))
    }
}

/// Returns `true` if a task or goal done at this time counts for a quest.
fn is_counted(quest: &Quest, done_at: Time) -> bool {
    let names_any = quest.linked_goal_ids.is_some() || quest.linked_task_ids.is_some();
    let start = quest.start_at.unwrap_or(quest.created_at);
    let is_early = done_at < start && (quest.start_at.is_some() || !names_any);
    let period = quest.period_seconds.map(|seconds| start.plus_ms(seconds.saturating_mul(1_000)));
    let is_late = period.is_some_and(|end| done_at > end)
        || quest.deadline.is_some_and(|deadline| done_at > deadline);
    !is_early && !is_late
}
