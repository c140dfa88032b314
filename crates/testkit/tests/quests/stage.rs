//! Where it happens: a store whose stream comes in shards, late, and again, and processes that die.

use std::sync::Arc;

use async_trait::async_trait;
use roundtable_conformance::Reference;
use roundtable_domain::NewQuest;
use roundtable_model::entities::{Goal, Quest as Stored, Task};
use roundtable_model::table::limits::BATCH_WRITE_ITEMS_MAX;
use roundtable_model::table::{BatchWrite, Change, ManualClock, SharedBackend, Store};
use roundtable_model::{
    Answer, CountScope, Entity, GoalId, Processor as Name, QuestId, QuestKind, QuestStatus, Role,
    TaskId, samples,
};
use roundtable_streams::{Batch, Effects, Failure, Processor, Purge, QuestProgress, Runner};
use roundtable_testkit::{Split, Stuttering, Town, Yielding, stop_at};

use crate::deeds::{Deed, GOALS, TASKS, Wish};
use crate::definition::{self, Quest, World};

/// When everything begins.
const BEGIN_MS: u64 = 1_737_991_800_000;
/// After so long a job is taken up again that somebody had taken who is dead.
const TAKEN_UP_MS: u64 = 61_000;

/// How changes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Whole,
    /// A planted fault.
    WithoutWhatIsUndone,
}

/// Does not notice that a task was un-done.
#[derive(Debug)]
struct Forgetful(QuestProgress);

#[async_trait]
impl Processor for Forgetful {
    fn name(&self) -> Name {
        self.0.name()
    }

    fn wants(&self) -> &'static [&'static str] {
        self.0.wants()
    }

    fn may_overtake(&self) -> bool {
        self.0.may_overtake()
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure> {
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
    /// The same town, for those who are slow enough to be stopped or met.
    slow: Town,
    reading: Reading,
    world: World,
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
    pub(crate) async fn set(seed: u64, reading: Reading) -> Self {
        let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
        let mut backend: SharedBackend = Arc::new(Reference::new(clock.clone()));
        let split = seed.is_multiple_of(2).then(|| Split::new(Arc::clone(&backend)));
        if let Some(split) = &split {
            backend = Arc::new(split.clone());
        }
        backend = Arc::new(Stuttering::new(backend, seed));
        let town = |store, process| Town::on(store, clock.clone(), Town::settings(), process);
        let slow = town(Store::new(Yielding::shared(Arc::clone(&backend))), 1).await;
        let town = town(Store::shared(backend), 0).await;
        if let Some(split) = &split {
            split.cut(town.ground().core().table().definition()).await;
        }
        town.move_in("ana", |_| {}).await;
        town.move_in("ada", |_| {}).await;
        town.employ("ada", Role::Admin).await;
        for number in 0..GOALS {
            town.open_goal("ana", &format!("goal{number}")).await;
        }
        for number in 0..TASKS {
            let id = task(number).to_string();
            town.open_task("ana", &goal(number % GOALS), &id).await;
        }
        let world = World::at(BEGIN_MS);
        Self { clock, town, slow, reading, world, quests: Vec::new(), crashed: false }
    }

    fn runner(&self, town: &Town) -> Runner {
        let ground = town.ground().clone();
        let quests = QuestProgress::new(ground.clone()).at_once();
        let purge = Purge::new(ground.clone()).at_once();
        let runner = Runner::on(ground, [0; 32]).at_once().working(quests.clone());
        let runner = runner.with(purge.clone()).working(purge);
        match self.reading {
            Reading::Whole => runner.with(quests).build(),
            Reading::WithoutWhatIsUndone => runner.with(Forgetful(quests)).build(),
        }
    }

    /// Does it; what is wrong then, if anything was compared.
    pub(crate) async fn happen(&mut self, deed: &Deed) -> Option<String> {
        match deed {
            Deed::Pass(ms) => {
                self.clock.advance_ms(*ms);
                self.world.now_ms += ms;
            }
            Deed::Crash(steps) => {
                stop_at(*steps, self.runner(&self.slow).drain()).await;
                self.crashed = true;
            }
            Deed::While(deed) => {
                let before = self.world.clone();
                let runners = [self.runner(&self.slow), self.runner(&self.slow)];
                let reading = async {
                    for runner in &runners {
                        // Met by the other one it may have to leave something for later.
                        let _ = runner.drain().await;
                    }
                };
                let mut world = before;
                let done = person(&self.slow, &mut world, &self.quests, deed);
                let (made, ()) = futures::future::join(done, reading).await;
                self.world = world;
                self.quests.extend(made);
            }
            Deed::Settle => return self.settle().await,
            other => {
                let made = person(&self.town, &mut self.world, &self.quests, other).await;
                self.quests.extend(made);
            }
        }
        self.world.look();
        None
    }

    async fn settle(&mut self) -> Option<String> {
        if std::mem::take(&mut self.crashed) {
            self.clock.advance_ms(TAKEN_UP_MS);
            self.world.now_ms += TAKEN_UP_MS;
        }
        // The stream may stutter, and show nothing for a moment.
        for _ in 0..8 {
            self.runner(&self.town).drain().await.unwrap();
        }
        let core = self.town.ground().core();
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
            if let Some(wrong) = compare(&mut self.world, at, &stored, steps, earned.is_some()) {
                return Some(format!("{wrong}: {stored:?}"));
            }
        }
        let counted = self.town.xp("ana").await;
        (counted != xp).then(|| format!("{counted} XP instead of {xp}"))
    }
}

/// A quest as it is stored against what it must be.
fn compare(
    world: &mut World,
    at: usize,
    stored: &Stored,
    steps: usize,
    earned: bool,
) -> Option<String> {
    let (counted, target) = world.counted(&world.quests[at]);
    let quest = &mut world.quests[at];
    let end = quest.wish.deadline_ms.map(|long| quest.created_ms + long);
    let is_past = end.is_some_and(|end| end <= world.now_ms);
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

/// What ana does, and ada with what is hers; a quest, if one came of it.
async fn person(
    town: &Town,
    world: &mut World,
    quests: &[QuestId],
    deed: &Deed,
) -> Option<QuestId> {
    let (ana, core) = (town.caller("ana"), town.ground().core());
    match deed {
        Deed::Do(number, done) => {
            let number = number % world.tasks.len();
            if let Some(found) = there(town, world, number).await {
                town.set_done(&found.goal_id, &found.id, *done).await;
                world.tasks[number].done_ms = done.then_some(world.now_ms);
            }
        }
        Deed::Remove(number) => {
            let number = number % world.tasks.len();
            if let Some(found) = there(town, world, number).await {
                core.table().delete(found.key().delete()).await.unwrap();
                world.tasks[number].done_ms = None;
            }
        }
        Deed::Many(number, many) if !world.gone[*number] => {
            add_many(town, world, *number, *many).await;
        }
        Deed::GiveUp(number) if !world.gone[*number] => {
            let place = Goal::at(&ana.user_id, &goal(*number));
            core.table().delete(place.delete()).await.unwrap();
            world.gone[*number] = true;
        }
        // Of what is gone, nothing becomes any more.
        Deed::Many(..) | Deed::GiveUp(_) => {}
        Deed::Reach(number, _) if world.gone[*number] => {}
        Deed::Reach(number, reached) => {
            town.set_reached("ana", &goal(*number), *reached).await;
            world.goals[*number] = reached.then_some(world.now_ms);
        }
        Deed::Set(wish) => {
            let made = town.quests().create(&ana, &input(world, wish), None).await;
            // Of what is not there any more, nothing is made.
            let made = made.ok()?;
            let created_ms = made.created_at.ms();
            let (wish, may_be_completed, is_over) = (wish.clone(), false, false);
            world.quests.push(Quest { wish, created_ms, may_be_completed, is_over });
            world.look();
            return Some(made.id);
        }
        Deed::Cancel(number) => {
            let at = number % quests.len().max(1);
            if let Some(id) = quests.get(at)
                && town.quests().cancel(&ana, id, None).await.is_ok()
            {
                world.quests[at].is_over = true;
            }
        }
        Deed::Delete(number) => {
            if let Some(id) = quests.get(number % quests.len().max(1)) {
                let ada = town.staff("ada", Role::Admin);
                let _ = town.quests().delete(&ada, &ana.user_id, id, None).await;
            }
        }
        other => panic!("{other:?} is nobody's"),
    }
    None
}

/// A task that is there, and its goal, too.
async fn there(town: &Town, world: &World, number: usize) -> Option<Task> {
    let of = world.tasks[number].goal;
    let found = town.ground().core().task(&goal(of), &task(number)).get().await.unwrap();
    found.filter(|_| !world.gone[of])
}

/// Ana adds many tasks to a goal, which are done already.
async fn add_many(town: &Town, world: &mut World, number: usize, many: usize) {
    let (first, now) = (world.tasks.len(), roundtable_model::Time::from_ms(world.now_ms));
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
        town.ground().core().table().batch_write(some.to_vec()).await.unwrap();
    }
    let done = definition::Task { goal: number, done_ms: Some(world.now_ms) };
    world.tasks.extend(std::iter::repeat_n(done, many));
}

fn input(world: &World, wish: &Wish) -> NewQuest {
    let now = roundtable_model::Time::from_ms(world.now_ms);
    let is_linked = wish.target.is_none();
    let kind = if is_linked { QuestKind::Linked } else { QuestKind::Quantitative };
    let scope = if wish.tasks.is_empty() { CountScope::Any } else { CountScope::Linked };
    NewQuest {
        kind,
        reward_xp: wish.reward_xp,
        linked_goal_ids: wish.goals.iter().copied().map(goal).collect(),
        linked_task_ids: wish.tasks.iter().map(|number| task(*number)).collect(),
        target_count: wish.target.map(|target| target as u64),
        count_scope: (!is_linked).then_some(scope),
        start_at: wish
            .start_ms
            .map(|start| roundtable_model::Time::from_ms(now.ms().saturating_add_signed(start))),
        period_seconds: wish.period_seconds,
        deadline: wish.deadline_ms.map(|long| now.plus_ms(long)),
        ..NewQuest::tasks("a quest", 1)
    }
}
