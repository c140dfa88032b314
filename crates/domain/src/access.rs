//! Who may do what: one table, deny by default.
//!
//! A service works out how the caller stands to what they want to act on, and asks [`allows`]. That
//! somebody must be able to see a thing before they may act on it is part of the table, so that a
//! refusal never tells that the thing is there.

use std::ops::BitOr;

/// How somebody stands to what they act on: all that is true of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing(u16);

impl Standing {
    /// Nobody known.
    pub const ANONYMOUS: Self = Self(0);
    /// Signed in, with an account that can be used.
    pub const SIGNED_IN: Self = Self(1);
    /// It is theirs: their account, post, comment.
    pub const OWNER: Self = Self(1 << 1);
    /// They are an active member of its group.
    pub const MEMBER: Self = Self(1 << 2);
    /// They help to run the group.
    pub const GROUP_ADMIN: Self = Self(1 << 3);
    /// The group is theirs.
    pub const GROUP_OWNER: Self = Self(1 << 4);
    /// They decide about content.
    pub const MODERATOR: Self = Self(1 << 5);
    /// They may do everything that is anybody's to do.
    pub const ADMIN: Self = Self(1 << 6);
    /// They can see the thing.
    pub const SEES: Self = Self(1 << 7);

    /// Whether any of `others` is true, too.
    pub const fn is_any(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// This, and `other` if `condition` holds.
    #[must_use]
    pub const fn and_if(self, condition: bool, other: Self) -> Self {
        if condition { Self(self.0 | other.0) } else { self }
    }
}

impl BitOr for Standing {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What somebody wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    UpdateProfile,
    DeleteAccount,
    ManageKeys,
    SuspendUser,
    SetRoles,
    Invite,
    SeeLoginAttempts,
    SeeAudit,
    Follow,
    AnswerFollower,
    Block,
    SeeFollows,
    CreateGroup,
    UpdateGroup,
    DeleteGroup,
    JoinGroup,
    InviteToGroup,
    ApproveMember,
    RemoveMember,
    SetGroupRole,
    SeeMembers,
    PostIntoGroup,
    CreatePost,
    UpdatePost,
    DeletePost,
    Like,
    Comment,
    Share,
    UpdateComment,
    DeleteComment,
    Report,
    Moderate,
    SeeModerationQueue,
    PostActivity,
    AskForHelp,
    Assist,
    CreateCompany,
    CreateOffer,
    CloseOffer,
    Upload,
    KeepGoals,
    SeeGoals,
    SeeTasksDue,
    OpenRoom,
    OpenGroupRoom,
    SeeRoom,
    SendMessage,
    CreateQuest,
    CancelQuest,
    DeleteQuest,
    SeeQuests,
    SeePromotion,
    SetPromotion,
    RedriveDeadLetters,
    ManageWebhooks,
}

/// What an act needs.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// One of these.
    any: Standing,
    /// And to see the thing.
    sight: bool,
}

const fn any(any: Standing) -> Rule {
    Rule { any, sight: false }
}

const fn seeing(any: Standing) -> Rule {
    Rule { any, sight: true }
}

/// Every act with what it needs. An act that is not here is nobody's.
const POLICY: &[(Act, Rule)] = &{
    use Standing as S;
    const fn or(left: Standing, right: Standing) -> Standing {
        Standing(left.0 | right.0)
    }
    let staff = or(S::MODERATOR, S::ADMIN);
    let group_staff = or(S::GROUP_ADMIN, S::GROUP_OWNER);
    [
        // People.
        (Act::UpdateProfile, any(S::OWNER)),
        (Act::DeleteAccount, any(S::OWNER)),
        (Act::ManageKeys, any(S::OWNER)),
        (Act::SuspendUser, any(staff)),
        (Act::SetRoles, any(S::ADMIN)),
        (Act::Invite, any(S::SIGNED_IN)),
        (Act::SeeLoginAttempts, any(S::ADMIN)),
        (Act::SeeAudit, any(staff)),
        (Act::Follow, seeing(S::SIGNED_IN)),
        (Act::AnswerFollower, any(S::OWNER)),
        (Act::Block, any(S::SIGNED_IN)),
        (Act::SeeFollows, seeing(or(S::ANONYMOUS, S::SEES))),
        // Groups.
        (Act::CreateGroup, any(S::SIGNED_IN)),
        (Act::UpdateGroup, any(or(group_staff, S::ADMIN))),
        (Act::DeleteGroup, any(or(S::GROUP_OWNER, S::ADMIN))),
        (Act::JoinGroup, any(S::SIGNED_IN)),
        (Act::InviteToGroup, any(group_staff)),
        (Act::ApproveMember, any(group_staff)),
        (Act::RemoveMember, any(or(group_staff, S::ADMIN))),
        (Act::SetGroupRole, any(S::GROUP_OWNER)),
        (Act::SeeMembers, seeing(or(S::ANONYMOUS, S::SEES))),
        (Act::PostIntoGroup, any(S::MEMBER)),
        // Content.
        (Act::CreatePost, any(S::SIGNED_IN)),
        (Act::PostActivity, any(S::SIGNED_IN)),
        (Act::Upload, any(S::SIGNED_IN)),
        (Act::UpdatePost, any(S::OWNER)),
        (Act::DeletePost, any(or(S::OWNER, staff))),
        (Act::Like, seeing(S::SIGNED_IN)),
        (Act::Comment, seeing(S::SIGNED_IN)),
        (Act::Share, seeing(S::SIGNED_IN)),
        (Act::UpdateComment, seeing(S::OWNER)),
        (Act::DeleteComment, any(or(S::OWNER, staff))),
        (Act::Report, seeing(S::SIGNED_IN)),
        (Act::Moderate, any(staff)),
        (Act::SeeModerationQueue, any(staff)),
        // Goals, tasks and milestones.
        (Act::KeepGoals, any(S::OWNER)),
        (Act::SeeGoals, any(or(S::OWNER, S::ADMIN))),
        (Act::SeeTasksDue, any(S::ADMIN)),
        // Rooms.
        (Act::OpenRoom, seeing(S::SIGNED_IN)),
        (Act::OpenGroupRoom, any(S::MEMBER)),
        (Act::SeeRoom, any(S::MEMBER)),
        (Act::SendMessage, any(S::MEMBER)),
        // Help and offers: of a call for help, members are the helpers.
        (Act::AskForHelp, any(S::SIGNED_IN)),
        (Act::Assist, seeing(or(S::OWNER, S::MEMBER))),
        (Act::CreateCompany, any(S::SIGNED_IN)),
        (Act::CreateOffer, any(S::OWNER)),
        (Act::CloseOffer, any(or(S::OWNER, staff))),
        // Quests.
        (Act::CreateQuest, any(S::SIGNED_IN)),
        (Act::CancelQuest, any(S::OWNER)),
        (Act::DeleteQuest, any(S::ADMIN)),
        (Act::SeeQuests, any(or(S::OWNER, S::ADMIN))),
        // Operation.
        (Act::SeePromotion, any(S::ADMIN)),
        (Act::SetPromotion, any(S::ADMIN)),
        (Act::RedriveDeadLetters, any(S::ADMIN)),
        (Act::ManageWebhooks, any(S::ADMIN)),
    ]
};

/// Whether somebody who stands so may do this.
pub fn allows(act: Act, standing: Standing) -> bool {
    POLICY.iter().any(|(known, rule)| {
        *known == act
            && standing.is_any(rule.any)
            && (!rule.sight || standing.is_any(Standing::SEES))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_act_is_in_the_table_once() {
        for (at, (act, _)) in POLICY.iter().enumerate() {
            assert!(!POLICY.iter().skip(at + 1).any(|(other, _)| other == act), "{act:?} twice");
        }
    }

    #[test]
    fn nobody_may_do_what_they_cannot_see() {
        assert!(!allows(Act::Like, Standing::SIGNED_IN));
        assert!(allows(Act::Like, Standing::SIGNED_IN | Standing::SEES));
        assert!(!allows(Act::Like, Standing::SEES), "not signed in");
    }
}
