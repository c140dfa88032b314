//! The mutations of goals, quests, rooms, help, offers and media as data, for tests that run them
//! at random and concurrently.

mod goals;
mod rooms;
mod trade;

use roundtable_domain::{Caller, Code, NewQuest, Refusal};
use roundtable_model::entities::Media;
use roundtable_model::{
    CompanyId, GoalId, GroupId, MediaKey, MessageId, MilestoneId, OfferId, PostId, QuestId,
    RequestId, RoomId, Tag, TaskId, ThreadId, Time, UserId,
};

use crate::Town;
use crate::user_actions::{code, refused};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeatureAction {
    SetGoal { title: String, tag: Tag },
    RenameGoal { goal: GoalId, title: String, tag: Tag },
    ReachGoal(GoalId, bool),
    DeleteGoal(GoalId),
    AddTask { goal: GoalId, title: String, due_at: Option<Time> },
    DoTask(GoalId, TaskId, bool),
    DeleteTask(GoalId, TaskId),
    AddMilestone(GoalId, u8),
    Achieve(GoalId, MilestoneId),
    DeleteMilestone(GoalId, MilestoneId),
    SetQuest(Box<NewQuest>),
    CancelQuest(QuestId),
    DeleteQuest(UserId, QuestId),
    OpenRoom(UserId),
    OpenGroupRoom(GroupId),
    Say { room: RoomId, text: String, expires_at: Option<Time> },
    ReadRoom(RoomId, MessageId),
    AskForHelp(Vec<UserId>),
    Advise(ThreadId, String),
    EnterCompany(String),
    MakeOffer { company: CompanyId, title: String, tag: Tag },
    CloseOffer(OfferId),
    ReadNotifications(Time),
    SwitchOff(UserId, bool),
    Announce { is_sound: bool },
    Complete(MediaKey),
    PostPicture(Media, String),
}

/// Lists the name of each variant; a missing one does not compile.
macro_rules! named {
    ($($variant:ident)*) => {
        impl FeatureAction {
            pub const NAMES: &[&str] = &[$(stringify!($variant)),*];

            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => stringify!($variant),)*
                }
            }
        }
    };
}

named! {
    SetGoal RenameGoal ReachGoal DeleteGoal AddTask DoTask DeleteTask AddMilestone Achieve
    DeleteMilestone SetQuest CancelQuest DeleteQuest OpenRoom OpenGroupRoom Say ReadRoom AskForHelp
    Advise EnterCompany MakeOffer CloseOffer ReadNotifications SwitchOff Announce Complete PostPicture
}

/// The output of an action, reduced to fields that stay the same when the request is repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeatureOutcome {
    /// With the time it was completed.
    Goal(GoalId, Option<Time>),
    /// With the time it was done.
    Task(TaskId, Option<Time>),
    Milestone(MilestoneId),
    /// With the time it was created.
    Quest(QuestId, Time),
    Room(RoomId),
    /// With its number in the room.
    Message(MessageId, u64),
    Thread(ThreadId),
    Advice(MessageId),
    Company(CompanyId),
    Offer(OfferId),
    /// A declared upload.
    Ticket(MediaKey),
    /// A completed upload.
    File(Media),
    Post(PostId),
    Nothing,
}

/// Reduces a result, and a refusal to its code.
fn reduce<T, E: Refusal>(
    answer: Result<T, E>,
    outcome: impl FnOnce(T) -> FeatureOutcome,
) -> Result<FeatureOutcome, Code> {
    answer.map(outcome).map_err(|error| code(&error))
}

impl Town {
    /// Performs a feature action. Panics on an internal error.
    pub async fn perform_feature(
        &self,
        caller: &Caller,
        action: &FeatureAction,
        request: Option<&RequestId>,
    ) -> Result<FeatureOutcome, Code> {
        refused(self.try_perform_feature(caller, action, request).await)
    }

    /// As [`Town::perform_feature`], on a store that may fail: the outcome is unknown after
    /// [`Code::Internal`].
    pub async fn try_perform_feature(
        &self,
        caller: &Caller,
        action: &FeatureAction,
        request: Option<&RequestId>,
    ) -> Result<FeatureOutcome, Code> {
        use FeatureAction::{
            Achieve, AddMilestone, AddTask, AskForHelp, CancelQuest, DeleteGoal, DeleteMilestone,
            DeleteQuest, DeleteTask, DoTask, OpenGroupRoom, OpenRoom, ReachGoal, ReadNotifications,
            ReadRoom, RenameGoal, Say, SetGoal, SetQuest, SwitchOff,
        };
        match action {
            SetGoal { .. }
            | RenameGoal { .. }
            | ReachGoal(..)
            | DeleteGoal(_)
            | AddTask { .. }
            | DoTask(..)
            | DeleteTask(..) => self.perform_on_goals(caller, action, request).await,
            AddMilestone(..) | Achieve(..) | DeleteMilestone(..) | SetQuest(_) | CancelQuest(_)
            | DeleteQuest(..) => self.perform_on_quests(caller, action, request).await,
            OpenRoom(_)
            | OpenGroupRoom(_)
            | Say { .. }
            | ReadRoom(..)
            | AskForHelp(_)
            | FeatureAction::Advise(..)
            | ReadNotifications(_)
            | SwitchOff(..) => self.perform_on_rooms(caller, action, request).await,
            _ => self.perform_on_trade(caller, action, request).await,
        }
    }
}
