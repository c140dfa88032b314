//! The model of goals, quests, rooms, help, offers and files. Quests and milestones are computed
//! naively, without streams, steps or counters.

use std::collections::{BTreeMap, BTreeSet};

use roundtable_domain::NewQuest;
use roundtable_model::entities::Media;
use roundtable_model::{
    CompanyId, CountScope, GoalId, GroupId, MediaKey, MessageId, MilestoneId, OfferId, PostId,
    QuestId, QuestKind, RoomId, TaskId, ThreadId, Time, UserId,
};

#[derive(Debug, Default)]
pub(crate) struct FeatureModel {
    pub(crate) aims: BTreeMap<GoalId, GoalModel>,
    pub(crate) quests: BTreeMap<QuestId, QuestModel>,
    pub(crate) rooms: BTreeMap<RoomId, RoomModel>,
    pub(crate) threads: BTreeMap<ThreadId, ThreadModel>,
    pub(crate) companies: BTreeMap<CompanyId, UserId>,
    pub(crate) offers: BTreeMap<OfferId, OfferModel>,
    /// Declared uploads; true if the bytes match the declaration.
    pub(crate) tickets: BTreeMap<MediaKey, (UserId, bool)>,
    /// Completed uploads, and the post that shows them.
    pub(crate) files: BTreeMap<MediaKey, (UserId, Media, Option<PostId>)>,
    /// Times at which a user may have joined a group, with the message numbers then.
    pub(crate) arrivals: BTreeMap<(GroupId, UserId), Vec<Arrival>>,
    /// The times up to which users have marked notifications as read.
    pub(crate) marked: BTreeMap<UserId, Time>,
}

/// A goal, with its tasks and the times they were done.
#[derive(Debug)]
pub(crate) struct GoalModel {
    pub(crate) owner: UserId,
    pub(crate) title: String,
    pub(crate) reached: Option<Time>,
    pub(crate) tasks: BTreeMap<TaskId, Option<Time>>,
    pub(crate) parts: BTreeMap<MilestoneId, MilestoneModel>,
    pub(crate) is_deleted: bool,
}

#[derive(Debug)]
pub(crate) struct MilestoneModel {
    pub(crate) share: u8,
    pub(crate) is_by_hand: bool,
    /// True if enough tasks were done at some time.
    pub(crate) may_be_achieved: bool,
}

#[derive(Debug)]
pub(crate) struct QuestModel {
    pub(crate) owner: UserId,
    pub(crate) wish: NewQuest,
    pub(crate) created_at: Time,
    /// True if enough was done at some time while it was active.
    pub(crate) may_be_completed: bool,
    pub(crate) is_cancelled: bool,
    pub(crate) is_deleted: bool,
}

#[derive(Debug, Default)]
pub(crate) struct RoomModel {
    pub(crate) two: Option<[UserId; 2]>,
    pub(crate) group: Option<GroupId>,
    pub(crate) said: Vec<MessageModel>,
    /// Known read positions.
    pub(crate) read: BTreeMap<UserId, u64>,
    /// The furthest read positions that were requested and refused. The answer is read after the position
    /// is written: a user who is suspended in between is refused, although it was written. Without a
    /// request id, nothing tells.
    pub(crate) refused: BTreeMap<UserId, u64>,
    /// Users who sent a message that expired before they learned its number.
    pub(crate) unnumbered: BTreeSet<UserId>,
}

impl RoomModel {
    pub(crate) fn seq_of(&self, message: &MessageId) -> u64 {
        self.said.iter().find(|said| said.id == *message).unwrap().seq
    }
}

/// A possible arrival in a group: its start and end times, and the newest message number at both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) at: (Time, Time),
    pub(crate) said: (u64, u64),
}

#[derive(Debug)]
pub(crate) struct MessageModel {
    pub(crate) id: MessageId,
    pub(crate) seq: u64,
    pub(crate) by: UserId,
    pub(crate) text: String,
    pub(crate) expires_at: Option<Time>,
}

#[derive(Debug)]
pub(crate) struct ThreadModel {
    pub(crate) owner: UserId,
    pub(crate) helpers: Vec<UserId>,
    pub(crate) said: Vec<(MessageId, UserId)>,
}

#[derive(Debug)]
pub(crate) struct OfferModel {
    pub(crate) owner: UserId,
    pub(crate) is_closed: bool,
}

impl GoalModel {
    /// Returns `true` if at least this percentage of the tasks is done.
    pub(crate) fn has_reached(&self, share: u8) -> bool {
        let done = self.tasks.values().flatten().count();
        !self.tasks.is_empty() && done * 100 >= usize::from(share) * self.tasks.len()
    }
}

impl QuestModel {
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

impl FeatureModel {
    /// The number of tasks and goals that count for a quest. A deleted goal's tasks do not.
    pub(crate) fn counted(&self, quest: &QuestModel) -> usize {
        let mut counted = 0;
        let own = |aim: &GoalModel| aim.owner == quest.owner && !aim.is_deleted;
        for (goal, aim) in self.aims.iter().filter(|(_, aim)| own(aim)) {
            let tasks = aim.tasks.iter().filter(|(task, _)| quest.counts_task(task));
            let tasks = tasks.filter_map(|(_, done)| *done);
            let goal = aim.reached.filter(|_| quest.counts_goal(goal));
            counted += tasks.chain(goal).filter(|done_at| quest.is_in_time(*done_at)).count();
        }
        counted
    }

    /// Records after an action that a processor running now may complete a quest or achieve a
    /// milestone.
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
                part.may_be_achieved |= aim.has_reached(part.share);
            }
            aim.parts = parts;
        }
    }
}
