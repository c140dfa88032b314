//! The store of a history, whose stream has shards and stutters, and processes that die.

use std::sync::Arc;

use async_trait::async_trait;
use roundtable_conformance::Reference;
use roundtable_domain::NewQuest;
use roundtable_model::entities::{Goal, Quest as Stored, Task};
use roundtable_model::table::limits::BATCH_WRITE_ITEMS_MAX;
use roundtable_model::table::{BatchWrite, Change, ManualClock, SharedBackend, Store};
use roundtable_model::{
    CountScope, Entity, FromItem, GoalId, ProcessorName as Name, QuestId, QuestKind, QuestStatus,
    Role, TaskId, samples,
};
use roundtable_streams::{Batch, Effects, ProcessingError, Processor, Purge, QuestUpdater, Runner};
use roundtable_testkit::{SplitStreamBackend, StutteringBackend, Town, YieldingBackend, stop_at};

use crate::definition::{self, Quest, QuestModel};
use crate::steps::{GOALS, QuestDraft, QuestStep, TASKS};

/// The initial time.
const BEGIN_MS: u64 = 1_737_991_800_000;
/// After this time, jobs of dead workers are claimed again.
const TAKEN_UP_MS: u64 = 61_000;

/// The quest processor under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcessorKind {
    Whole,
    WithoutWhatIsUndone,
}

/// Ignores undone tasks.
#[derive(Debug)]
struct Forgetful(QuestUpdater);

#[async_trait]
impl Processor for Forgetful {
    fn name(&self) -> Name {
        self.0.name()
    }

    fn entity_types(&self) -> &'static [&'static str] {
        self.0.entity_types()
    }

    fn may_overtake(&self) -> bool {
        self.0.may_overtake()
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, ProcessingError> {
        let done = |change: &&Change| {
            let task = change.new.as_ref().and_then(|item| Task::from_item(item).ok());
            task.is_none_or(|task| task.done)
        };
        let changes: Vec<Change> = batch.changes.iter().filter(done).cloned().collect();
        self.0.effects(&Batch { changes: &changes, ..*batch }).await
    }
}

pub(crate) struct Stage {
    clock: Arc<ManualClock>,
    town: Town,
    /// The same town over a backend that yields, for steps that are stopped or interleaved.
    slow: Town,
    processor_kind: ProcessorKind,
    model: QuestModel,
    quests: Vec<QuestId>,
    crashed: bool,
}

fn goal(number: usize) -> GoalId {
    format!("goal{number}").parse().unwrap()
}

fn task(number: usize) -> TaskId {
    format!("task{number}").parse().unwrap()
}

impl Stage {
    pub(crate) async fn set(seed: u64, processor_kind: ProcessorKind) -> Self {
        let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
        let mut backend: SharedBackend = Arc::new(Reference::new(clock.clone()));
        let split = seed.is_multiple_of(2).then(|| SplitStreamBackend::new(Arc::clone(&backend)));
        if let Some(split) = &split {
            backend = Arc::new(split.clone());
        }
        backend = Arc::new(StutteringBackend::new(backend, seed));
        let town = |store, process| Town::on(store, clock.clone(), Town::settings(), process);
        let slow = town(Store::new(YieldingBackend::shared(Arc::clone(&backend))), 1).await;
        let town = town(Store::shared(backend), 0).await;
        if let Some(split) = &split {
            split.split(town.context().core().table().definition()).await;
        }
        town.add_user("ana", |_| {}).await;
        town.add_user("ada", |_| {}).await;
        town.grant_role("ada", Role::Admin).await;
        for number in 0..GOALS {
            town.open_goal("ana", &format!("goal{number}")).await;
        }
        for number in 0..TASKS {
            let id = task(number).to_string();
            town.open_task("ana", &goal(number % GOALS), &id).await;
        }
        let model = QuestModel::at(BEGIN_MS);
        Self { clock, town, slow, processor_kind, model, quests: Vec::new(), crashed: false }
    }

    fn runner(&self, town: &Town) -> Runner {
        let context = town.context().clone();
        let quests = QuestUpdater::new(context.clone()).without_delays();
        let purge = Purge::new(context.clone()).without_delays();
        let runner =
            Runner::builder(context, [0; 32]).without_delays().with_job_handler(quests.clone());
        let runner = runner.with(purge.clone()).with_job_handler(purge);
        match self.processor_kind {
            ProcessorKind::Whole => runner.with(quests).build(),
            ProcessorKind::WithoutWhatIsUndone => runner.with(Forgetful(quests)).build(),
        }
    }

    /// Performs a step; returns a mismatch if it compared anything.
    pub(crate) async fn perform(&mut self, step: &QuestStep) -> Option<String> {
        match step {
            QuestStep::Pass(ms) => {
                self.clock.advance_ms(*ms);
                self.model.now_ms += ms;
            }
            QuestStep::Crash(steps) => {
                stop_at(*steps, self.runner(&self.slow).drain()).await;
                self.crashed = true;
            }
            QuestStep::While(step) => {
                let before = self.model.clone();
                let runners = [self.runner(&self.slow), self.runner(&self.slow)];
                let processor_kind = async {
                    for runner in &runners {
                        // In conflict with the other one, it may leave work for later.
                        let _ = runner.drain().await;
                    }
                };
                let mut model = before;
                let done = person(&self.slow, &mut model, &self.quests, step);
                let (made, ()) = futures::future::join(done, processor_kind).await;
                self.model = model;
                self.quests.extend(made);
            }
            QuestStep::Settle => return self.settle().await,
            other => {
                let made = person(&self.town, &mut self.model, &self.quests, other).await;
                self.quests.extend(made);
            }
        }
        self.model.note_progress();
        None
    }

    async fn settle(&mut self) -> Option<String> {
        if std::mem::take(&mut self.crashed) {
            self.clock.advance_ms(TAKEN_UP_MS);
            self.model.now_ms += TAKEN_UP_MS;
        }
        // The stream may stutter, and return empty pages.
        for _ in 0..8 {
            self.runner(&self.town).drain().await.unwrap();
        }
        let core = self.town.context().core();
        let (ana, mut xp) = (self.town.id("ana"), 0);
        for (at, id) in self.quests.iter().enumerate() {
            let rewards = core.xp_entries(&ana).strong().all().await.unwrap();
            let earned = rewards.iter().find(|entry| entry.quest_id == *id);
            xp += earned.map_or(0, |entry| entry.reward_xp);
            let steps = core.quest_steps(&ana, id).strong().all().await.unwrap().len();
            let Some(stored) = core.quest(&ana, id).get().await.unwrap() else {
                if steps > 0 {
                    return Some(format!("{steps} steps of no quest"));
                }
                continue;
            };
            if let Some(wrong) = compare(&mut self.model, at, &stored, steps, earned.is_some()) {
                return Some(format!("{wrong}: {stored:?}"));
            }
        }
        let counted = self.town.xp("ana").await;
        (counted != xp).then(|| format!("{counted} XP instead of {xp}"))
    }
}

/// Compares a stored quest with the model.
fn compare(
    model: &mut QuestModel,
    at: usize,
    stored: &Stored,
    steps: usize,
    earned: bool,
) -> Option<String> {
    let (counted, target) = model.counted(&model.quests[at]);
    let quest = &mut model.quests[at];
    let end = quest.draft.deadline_ms.map(|long| quest.created_ms + long);
    let is_past = end.is_some_and(|end| end <= model.now_ms);
    let progress = usize::try_from(stored.progress_count).unwrap();
    let was_over = std::mem::replace(&mut quest.is_over, stored.status != QuestStatus::Active);
    let fits = match stored.status {
        QuestStatus::Completed => quest.may_be_completed && progress == target && earned,
        _ if earned => false,
        QuestStatus::Active => counted < target && progress == counted && !is_past,
        QuestStatus::Cancelled if stored.cancel_reason.is_some() => {
            is_past && (was_over || counted < target)
        }
        QuestStatus::Cancelled => true,
    };
    let expected = format!("{counted} of {target}, past: {is_past}, {quest:?}");
    (!fits || steps != progress).then(|| format!("{steps} steps, but {expected}"))
}

/// Performs a step of ana's, or ada's on ana's quests; returns a new quest.
async fn person(
    town: &Town,
    model: &mut QuestModel,
    quests: &[QuestId],
    step: &QuestStep,
) -> Option<QuestId> {
    let (ana, core) = (town.caller("ana"), town.context().core());
    match step {
        QuestStep::Do(number, done) => {
            let number = number % model.tasks.len();
            if let Some(found) = existing_task(town, model, number).await {
                town.set_done(&found.goal_id, &found.id, *done).await;
                model.tasks[number].done_ms = done.then_some(model.now_ms);
            }
        }
        QuestStep::Remove(number) => {
            let number = number % model.tasks.len();
            if let Some(found) = existing_task(town, model, number).await {
                core.table().delete(found.key().delete()).await.unwrap();
                model.tasks[number].done_ms = None;
            }
        }
        QuestStep::Many(number, many) if !model.gone[*number] => {
            add_many(town, model, *number, *many).await;
        }
        QuestStep::GiveUp(number) if !model.gone[*number] => {
            let place = Goal::at(&ana.user_id, &goal(*number));
            core.table().delete(place.delete()).await.unwrap();
            model.gone[*number] = true;
        }
        // A deleted goal does not change any more.
        QuestStep::Many(..) | QuestStep::GiveUp(_) => {}
        QuestStep::Reach(number, _) if model.gone[*number] => {}
        QuestStep::Reach(number, reached) => {
            town.set_completed("ana", &goal(*number), *reached).await;
            model.goals[*number] = reached.then_some(model.now_ms);
        }
        QuestStep::Set(draft) => {
            let made = town.quests().create(&ana, &input(model, draft), None).await;
            // A deleted task cannot be updated.
            let made = made.ok()?;
            let created_ms = made.created_at.ms();
            let (draft, may_be_completed, is_over) = (draft.clone(), false, false);
            model.quests.push(Quest { draft, created_ms, may_be_completed, is_over });
            model.note_progress();
            return Some(made.id);
        }
        QuestStep::Cancel(number) => {
            let at = number % quests.len().max(1);
            if let Some(id) = quests.get(at)
                && town.quests().cancel(&ana, id, None).await.is_ok()
            {
                model.quests[at].is_over = true;
            }
        }
        QuestStep::Delete(number) => {
            if let Some(id) = quests.get(number % quests.len().max(1)) {
                let ada = town.staff("ada", Role::Admin);
                let _ = town.quests().delete(&ada, &ana.user_id, id, None).await;
            }
        }
        other => panic!("{other:?} is no step of a user"),
    }
    None
}

/// A task that exists, with its goal.
async fn existing_task(town: &Town, model: &QuestModel, number: usize) -> Option<Task> {
    let of = model.tasks[number].goal;
    let found = town.context().core().task(&goal(of), &task(number)).get().await.unwrap();
    found.filter(|_| !model.gone[of])
}

/// Adds many done tasks to a goal.
async fn add_many(town: &Town, model: &mut QuestModel, number: usize, many: usize) {
    let (first, now) = (model.tasks.len(), roundtable_model::Time::from_ms(model.now_ms));
    let tasks = (first..first + many).map(|number_of_task| Task {
        user_id: town.id("ana"),
        goal_id: goal(number),
        id: task(number_of_task),
        done: true,
        done_at: Some(now),
        ..samples::task()
    });
    let tasks: Vec<BatchWrite> = tasks.map(|task| BatchWrite::Put(task.item())).collect();
    for some in tasks.chunks(BATCH_WRITE_ITEMS_MAX) {
        town.context().core().table().batch_write(some.to_vec()).await.unwrap();
    }
    let done = definition::Task { goal: number, done_ms: Some(model.now_ms) };
    model.tasks.extend(std::iter::repeat_n(done, many));
}

fn input(model: &QuestModel, draft: &QuestDraft) -> NewQuest {
    let now = roundtable_model::Time::from_ms(model.now_ms);
    let is_linked = draft.target.is_none();
    let kind = if is_linked { QuestKind::Linked } else { QuestKind::Quantitative };
    let scope = if draft.tasks.is_empty() { CountScope::Any } else { CountScope::Linked };
    NewQuest {
        kind,
        reward_xp: draft.reward_xp,
        linked_goal_ids: draft.goals.iter().copied().map(goal).collect(),
        linked_task_ids: draft.tasks.iter().map(|number| task(*number)).collect(),
        target_count: draft.target.map(|target| target as u64),
        count_scope: (!is_linked).then_some(scope),
        start_at: draft
            .start_ms
            .map(|start| roundtable_model::Time::from_ms(now.ms().saturating_add_signed(start))),
        period_seconds: draft.period_seconds,
        deadline: draft.deadline_ms.map(|long| now.plus_ms(long)),
        ..NewQuest::tasks("a quest", 1)
    }
}
