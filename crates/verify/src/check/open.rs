//! What is still under way, against its definition: quests that are active, milestones that are not
//! achieved, and homes whose activities are copied. There are few of them beside all that is over, so each
//! is looked at with what it follows from.

use std::collections::BTreeSet;

use roundtable_model::entities::{ActorHead, FeedItem, Milestone, Promotion, Quest};
use roundtable_model::table::Item;
use roundtable_model::{
    ActorId, Answer, CountScope, Entity, Error as ModelError, QuestKind, QuestStatus, Span,
    SubjectId, TYPE, Time,
};

use super::Check;
use super::beside::Waiting;
use crate::finding::{Finding, Invariant, Remedy};
use crate::subject::shown;
use crate::{Failure, Result};

/// As many of each kind are looked at, of each segment of a scan: a few megabytes.
const OPEN_MAX: usize = 5_000;

/// What is still under way.
#[derive(Debug, Default)]
pub(super) struct Opens {
    quests: Vec<Quest>,
    milestones: Vec<Milestone>,
    homes: Vec<Promotion>,
    copies: Vec<FeedItem>,
    /// How many were passed over.
    passed: u64,
}

impl Opens {
    pub(super) fn meet(&mut self, item: &Item) {
        let passed = match item.text(TYPE) {
            Some("Quest") => {
                let quest = Quest::from_item(item).ok();
                let quest = quest.filter(|quest| quest.status == QuestStatus::Active);
                keep(&mut self.quests, quest)
            }
            Some("Milestone") => {
                let milestone = Milestone::from_item(item).ok();
                keep(&mut self.milestones, milestone.filter(|milestone| !milestone.achieved))
            }
            Some("Promotion") => keep(&mut self.homes, Promotion::from_item(item).ok()),
            // Of copies there are too many to look at each of them: the first ones tell of the others.
            Some("FeedItem") if self.copies.len() < OPEN_MAX => {
                keep(&mut self.copies, FeedItem::from_item(item).ok())
            }
            _ => 0,
        };
        self.passed += passed;
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.quests.extend(other.quests);
        self.milestones.extend(other.milestones);
        self.homes.extend(other.homes);
        self.copies.extend(other.copies);
        self.passed += other.passed;
    }
}

/// Keeps one more, if there is one; how many were passed over.
fn keep<E>(kept: &mut Vec<E>, one: Option<E>) -> u64 {
    let is_full = kept.len() >= OPEN_MAX;
    match one {
        Some(_) if is_full => 1,
        one => {
            kept.extend(one);
            0
        }
    }
}

/// What each of them came to.
#[derive(Debug, Default)]
struct Compared {
    findings: Vec<Finding>,
    /// How many follow from more than is read at once.
    passed: u64,
}

impl Compared {
    /// What cannot be read is a finding of its own.
    fn note(&mut self, read: roundtable_model::Result<Option<Finding>>) -> Result<()> {
        match read {
            Ok(finding) => self.findings.extend(finding),
            Err(ModelError::Table(error)) => return Err(Failure::Table(error)),
            Err(ModelError::BadLimit { .. }) => self.passed += 1,
            Err(_) => {}
        }
        Ok(())
    }
}

impl Check<'_> {
    pub(super) async fn look_at_open(&mut self, open: Opens) -> Result<()> {
        if open.passed > 0 {
            let what = "active quests, open milestones or promotions were not compared with what \
                        they follow from: there are too many";
            self.report.notes.push(format!("{} {what}", open.passed));
        }
        let stages = open.quests.len() + open.milestones.len() + open.homes.len();
        self.verify.reader.progress.stage("what is under way", Some(stages as u64));
        let mut compared = Compared::default();
        for quest in &open.quests {
            compared.note(self.quest(quest).await)?;
        }
        for milestone in &open.milestones {
            compared.note(self.milestone(milestone).await)?;
        }
        for home in &open.homes {
            compared.note(self.home(home).await)?;
        }
        for copy in &open.copies {
            compared.note(self.copy(copy).await)?;
        }
        if compared.passed > 0 {
            let what = "active quests or open milestones were not compared with their tasks and steps: \
                        one has too many";
            self.report.notes.push(format!("{} {what}", compared.passed));
        }
        self.findings.extend(compared.findings);
        Ok(())
    }

    /// A quest's steps are the tasks and goals that count for it, and it ends at its deadline.
    async fn quest(&self, quest: &Quest) -> roundtable_model::Result<Option<Finding>> {
        let (core, user) = (&self.verify.tables.core, &quest.user_id);
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
        let counted = done.into_iter().filter(|(_, done_at)| counts(quest, *done_at));
        let counted: BTreeSet<String> = counted.map(|(id, _)| id.to_string()).collect();
        let steps = core.quest_steps(user, &quest.id).strong().all().await?;
        let steps: BTreeSet<String> = steps.iter().map(|it| it.subject_id.to_string()).collect();
        let named = |some: &BTreeSet<String>| {
            let some: Vec<&str> = some.iter().map(String::as_str).collect();
            if some.is_empty() { String::from("none") } else { some.join(", ") }
        };
        let key = shown(&quest.key().into_key());
        let remedy = Remedy::None("its processor looks again when one of its tasks changes");
        if counted != steps {
            let expected = format!("steps of what counts for it: {}", named(&counted));
            let finding = Finding::new(Invariant::I6, key, expected, named(&steps), remedy);
            return Ok(Some(finding));
        }
        let Waiting { quests: waits, looked_at, .. } = self.waiting;
        let is_over = quest.deadline.is_some_and(|deadline| deadline < looked_at) && !waits;
        Ok(is_over.then(|| {
            let expected = "cancelled, as its deadline has passed and no job is left";
            Finding::new(Invariant::I6, key, expected, "active", remedy)
        }))
    }

    /// A milestone is achieved once the share of done tasks has reached it.
    async fn milestone(&self, one: &Milestone) -> roundtable_model::Result<Option<Finding>> {
        let core = &self.verify.tables.core;
        let tasks = core.tasks(&one.goal_id).strong().all().await?;
        let (all, done) = (tasks.len(), tasks.iter().filter(|task| task.done).count());
        let part = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        // What is a rounding error away is reached or not, as its processor decides.
        let is_reached =
            all > 0 && part(done) * 100.0 > (one.percentage.value() + 1e-6) * part(all);
        let is_kept = core.goal(&one.user_id, &one.goal_id).get().await?.is_some();
        let remedy = Remedy::None("its processor looks again when one of its tasks changes");
        Ok((is_reached && is_kept).then(|| {
            let expected = format!("achieved, as {done} of {all} tasks are done");
            let key = shown(&one.key().into_key());
            Finding::new(Invariant::I6, key, expected, "not achieved", remedy)
        }))
    }

    /// A watermark is of something that happened, and nothing that was to be copied is behind it unless
    /// something waits to be done.
    async fn home(&self, one: &Promotion) -> roundtable_model::Result<Option<Finding>> {
        let core = &self.verify.tables.core;
        let Some((mark, since)) = one.watermark.zip(one.watermark_since) else { return Ok(None) };
        let heads = core.actor_heads(std::slice::from_ref(&one.subject_id)).strong().get().await?;
        let head = heads.into_iter().flatten().next();
        let key = shown(&one.key().into_key());
        let remedy = Remedy::None("readers look up what is not copied; the next job copies it");
        let newest = head.as_ref().map_or(Time::EPOCH, |head| head.last_ts);
        if mark > newest || mark < since {
            let expected = format!("a watermark from {since} to {newest}, the newest activity");
            let found = mark.to_string();
            return Ok(Some(Finding::new(Invariant::I6, key, expected, found, remedy)));
        }
        let Some(head) = head.filter(|_| !self.waiting.copies) else { return Ok(None) };
        if head.since != Some(since) {
            return Ok(None);
        }
        let behind = core.activities_of(&one.subject_id, Span::since(mark.plus_ms(1))).strong();
        let behind = behind.limit(100).page().await?.items;
        let missed = behind.iter().rfind(|activity| activity.fanout);
        Ok(missed.map(|missed| {
            let expected = format!("a watermark at {}, as no job is left", missed.created_at);
            Finding::new(Invariant::I6, key, expected, mark.to_string(), remedy)
        }))
    }

    /// A copy is of an activity: one that is there says the same; of one that was taken away nothing is
    /// left that it could be compared with, but its home is not ahead of it.
    async fn copy(&self, copy: &FeedItem) -> roundtable_model::Result<Option<Finding>> {
        let core = &self.verify.tables.core;
        let home: ActorId =
            copy.group_id.as_ref().map_or_else(|| (&copy.actor_id).into(), ActorId::from);
        let key = || shown(&copy.key().into_key());
        let remedy = Remedy::None("readers pass it over; it goes when its time is over");
        if let Some(of) = core.activity(&home, &copy.created_at, &copy.activity_id).get().await? {
            let says = (&of.actor_id, of.verb, of.object_type, &of.object_id, of.fanout);
            let said = (&copy.actor_id, copy.verb, copy.object_type, &copy.object_id, true);
            return Ok((says != said).then(|| {
                let expected = format!("a copy of {says:?}");
                Finding::new(Invariant::I6, key(), expected, format!("{said:?}"), remedy)
            }));
        }
        let heads: Vec<Option<ActorHead>> = core.actor_heads(&[home]).strong().get().await?;
        let head = heads.into_iter().flatten().next();
        // Nobody can have done it: whoever is gone has no head.
        let is_ahead = head.is_some_and(|head| copy.created_at > head.last_ts);
        Ok(is_ahead.then(|| {
            let expected = "a copy of an activity";
            Finding::new(Invariant::I6, key(), expected, "one of what never happened", remedy)
        }))
    }
}

/// Whether something that concerns a quest counts for it, done then.
fn counts(quest: &Quest, done_at: Time) -> bool {
    let names_any = quest.linked_goal_ids.is_some() || quest.linked_task_ids.is_some();
    let start = quest.start_at.unwrap_or(quest.created_at);
    let is_early = done_at < start && (quest.start_at.is_some() || !names_any);
    let period = quest.period_seconds.map(|seconds| start.plus_ms(seconds.saturating_mul(1_000)));
    let is_late = period.is_some_and(|end| done_at > end)
        || quest.deadline.is_some_and(|deadline| done_at > deadline);
    !is_early && !is_late
}
