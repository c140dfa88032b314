//! What people pursue, as they remember it, and what quests and milestones are, read naively: no
//! streams, no steps, no counters.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use roundtable_domain::NewQuest;
use roundtable_model::entities::Media;
use roundtable_model::{
    CompanyId, CountScope, GoalId, GroupId, MediaKey, MessageId, MilestoneId, OfferId, PostId,
    QuestId, QuestKind, RoomId, TaskId, ThreadId, Time, UserId,
};

/// All of it.
#[derive(Debug, Default)]
pub(crate) struct Life {
    pub(crate) aims: BTreeMap<GoalId, Aim>,
    pub(crate) quests: BTreeMap<QuestId, Challenge>,
    pub(crate) rooms: BTreeMap<RoomId, Talk>,
    pub(crate) threads: BTreeMap<ThreadId, Asked>,
    pub(crate) companies: BTreeMap<CompanyId, UserId>,
    pub(crate) offers: BTreeMap<OfferId, Offered>,
    /// Files that were announced, and whether they are what was said.
    pub(crate) tickets: BTreeMap<MediaKey, (UserId, bool)>,
    /// Files that have arrived, and the post that shows them.
    pub(crate) files: BTreeMap<MediaKey, (UserId, Media, Option<PostId>)>,
    /// When somebody may have come to a group, and how much had been said there.
    pub(crate) arrivals: HashMap<(GroupId, UserId), Vec<Arrival>>,
    /// Up to when people have marked what they were told as read.
    pub(crate) marked: HashMap<UserId, Time>,
}

/// A goal, with its tasks and when they were done.
#[derive(Debug)]
pub(crate) struct Aim {
    pub(crate) owner: UserId,
    pub(crate) title: String,
    pub(crate) reached: Option<Time>,
    pub(crate) tasks: BTreeMap<TaskId, Option<Time>>,
    pub(crate) parts: BTreeMap<MilestoneId, Part>,
    pub(crate) is_deleted: bool,
}

/// A milestone.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) share: u8,
    pub(crate) is_by_hand: bool,
    /// Whether there was a moment at which enough was done.
    pub(crate) may_be_achieved: bool,
}

/// A quest.
#[derive(Debug)]
pub(crate) struct Challenge {
    pub(crate) owner: UserId,
    pub(crate) wish: NewQuest,
    pub(crate) created_at: Time,
    /// Whether there was a moment, while nobody had ended it, at which enough was done.
    pub(crate) may_be_completed: bool,
    pub(crate) is_cancelled: bool,
    pub(crate) is_deleted: bool,
}

/// A room: of two people, or of a group.
#[derive(Debug, Default)]
pub(crate) struct Talk {
    pub(crate) two: Option<[UserId; 2]>,
    pub(crate) group: Option<GroupId>,
    pub(crate) said: Vec<Spoken>,
    /// Up to where people know that they have read.
    pub(crate) read: HashMap<UserId, u64>,
}

/// What may have brought somebody into a group: when it was begun and had ended, and the number of the
/// newest message of its room at both times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) at: (Time, Time),
    pub(crate) said: (u64, u64),
}

/// A message.
#[derive(Debug)]
pub(crate) struct Spoken {
    pub(crate) id: MessageId,
    pub(crate) seq: u64,
    pub(crate) by: UserId,
    pub(crate) text: String,
    pub(crate) expires_at: Option<Time>,
}

/// A call for help.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) owner: UserId,
    pub(crate) helpers: Vec<UserId>,
    pub(crate) said: Vec<(MessageId, UserId)>,
}

/// An offer.
#[derive(Debug)]
pub(crate) struct Offered {
    pub(crate) owner: UserId,
    pub(crate) is_closed: bool,
}

impl Aim {
    /// Whether the share of done tasks is at least this.
    pub(crate) fn has_come_to(&self, share: u8) -> bool {
        let done = self.tasks.values().flatten().count();
        !self.tasks.is_empty() && done * 100 >= usize::from(share) * self.tasks.len()
    }
}

impl Challenge {
    /// How many must be done.
    pub(crate) fn target(&self) -> usize {
        let NewQuest { kind, target_count, linked_goal_ids, linked_task_ids, .. } = &self.wish;
        match kind {
            QuestKind::Quantitative => usize::try_from(target_count.unwrap()).unwrap(),
            QuestKind::Linked => {
                let goals: BTreeSet<_> = linked_goal_ids.iter().collect();
                let tasks: BTreeSet<_> = linked_task_ids.iter().collect();
                goals.len() + tasks.len()
            }
        }
    }

    fn names_any(&self) -> bool {
        !self.wish.linked_goal_ids.is_empty() || !self.wish.linked_task_ids.is_empty()
    }

    fn is_in_time(&self, done_at: Time) -> bool {
        let NewQuest { start_at, period_seconds, deadline, .. } = &self.wish;
        let start = start_at.unwrap_or(self.created_at);
        let end = period_seconds.map(|seconds| start.plus_ms(seconds * 1_000));
        let is_early = done_at < start && (start_at.is_some() || !self.names_any());
        !is_early && end.is_none_or(|end| done_at <= end) && deadline.is_none_or(|it| done_at <= it)
    }

    fn counts_task(&self, task: &TaskId) -> bool {
        match (self.wish.kind, self.wish.count_scope) {
            (QuestKind::Quantitative, Some(CountScope::Any) | None) => true,
            _ => self.wish.linked_task_ids.contains(task),
        }
    }

    fn counts_goal(&self, goal: &GoalId) -> bool {
        self.wish.kind == QuestKind::Linked && self.wish.linked_goal_ids.contains(goal)
    }
}

impl Life {
    /// How many tasks and goals count for a quest. With a goal that is given up, its tasks are gone.
    pub(crate) fn counted(&self, quest: &Challenge) -> usize {
        let mut counted = 0;
        let own = |aim: &Aim| aim.owner == quest.owner && !aim.is_deleted;
        for (goal, aim) in self.aims.iter().filter(|(_, aim)| own(aim)) {
            let tasks = aim.tasks.iter().filter(|(task, _)| quest.counts_task(task));
            let tasks = tasks.filter_map(|(_, done)| *done);
            let goal = aim.reached.filter(|_| quest.counts_goal(goal));
            counted += tasks.chain(goal).filter(|done_at| quest.is_in_time(*done_at)).count();
        }
        counted
    }

    /// Somebody has done something: whoever looks now has a reason to call a quest of theirs completed,
    /// or a milestone achieved.
    pub(crate) fn look(&mut self, owner: &UserId) {
        let mut quests = std::mem::take(&mut self.quests);
        for quest in quests.values_mut().filter(|quest| quest.owner == *owner) {
            let is_open = !quest.is_cancelled && !quest.is_deleted && !quest.may_be_completed;
            quest.may_be_completed |= is_open && self.counted(quest) >= quest.target();
        }
        self.quests = quests;
        for aim in self.aims.values_mut().filter(|aim| aim.owner == *owner) {
            let mut parts = std::mem::take(&mut aim.parts);
            for part in parts.values_mut() {
                part.may_be_achieved |= aim.has_come_to(part.share);
            }
            aim.parts = parts;
        }
    }
}
