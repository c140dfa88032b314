//! What people do beside writing and following, as data: what they pursue, whom they talk to and help,
//! what they offer, and what they send. For tests that do all of it at random and at once.

mod plans;
mod talk;
mod trade;

use roundtable_domain::{Caller, Code, NewQuest, Refusal};
use roundtable_model::entities::Media;
use roundtable_model::{
    CompanyId, GoalId, GroupId, MediaKey, MessageId, MilestoneId, OfferId, PostId, QuestId,
    RequestId, RoomId, Tag, TaskId, ThreadId, Time, UserId,
};

use crate::Town;

/// Something somebody can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pursuit {
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

/// What each is called: this does not compile when one is missing.
macro_rules! named {
    ($($variant:ident)*) => {
        impl Pursuit {
            /// What all of them are called.
            pub const NAMES: &[&str] = &[$(stringify!($variant)),*];

            /// What it is called, whoever does it to whatever.
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

/// What came of it: only what stays as it is, however often a request is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gained {
    /// A goal, and when it was reached.
    Goal(GoalId, Option<Time>),
    /// A task, and when it was done.
    Task(TaskId, Option<Time>),
    /// A milestone.
    Milestone(MilestoneId),
    /// A quest, and when it was set.
    Quest(QuestId, Time),
    /// A room.
    Room(RoomId),
    /// A message, and its number in its room.
    Message(MessageId, u64),
    /// A call for help.
    Thread(ThreadId),
    /// Something said in one.
    Advice(MessageId),
    /// A company.
    Company(CompanyId),
    /// An offer.
    Offer(OfferId),
    /// A file that was announced.
    Ticket(MediaKey),
    /// A file that has arrived.
    File(Media),
    /// A post.
    Post(PostId),
    /// Something without an id of its own.
    Nothing,
}

/// What was answered, as far as it matters; a failure of the program is no answer.
fn gained<T, E: Refusal>(
    answer: Result<T, E>,
    gain: impl FnOnce(T) -> Gained,
) -> Result<Gained, Code> {
    answer.map(gain).map_err(|error| {
        let code = error.code();
        assert!(code != Code::Internal, "{error}");
        code
    })
}

impl Town {
    /// Somebody pursues something.
    pub async fn pursue(
        &self,
        caller: &Caller,
        pursuit: &Pursuit,
        request: Option<&RequestId>,
    ) -> Result<Gained, Code> {
        use Pursuit::{
            Achieve, AddMilestone, AddTask, AskForHelp, CancelQuest, DeleteGoal, DeleteMilestone,
            DeleteQuest, DeleteTask, DoTask, OpenGroupRoom, OpenRoom, ReachGoal, ReadNotifications,
            ReadRoom, RenameGoal, Say, SetGoal, SetQuest, SwitchOff,
        };
        match pursuit {
            SetGoal { .. }
            | RenameGoal { .. }
            | ReachGoal(..)
            | DeleteGoal(_)
            | AddTask { .. }
            | DoTask(..)
            | DeleteTask(..) => self.pursue_goals(caller, pursuit, request).await,
            AddMilestone(..) | Achieve(..) | DeleteMilestone(..) | SetQuest(_) | CancelQuest(_)
            | DeleteQuest(..) => self.pursue_quests(caller, pursuit, request).await,
            OpenRoom(_)
            | OpenGroupRoom(_)
            | Say { .. }
            | ReadRoom(..)
            | AskForHelp(_)
            | Pursuit::Advise(..)
            | ReadNotifications(_)
            | SwitchOff(..) => self.pursue_talk(caller, pursuit, request).await,
            _ => self.pursue_trade(caller, pursuit, request).await,
        }
    }
}
