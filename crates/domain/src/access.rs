//! Authorization: one table of permissions, deny by default.
//!
//! A service works out the caller's relations to an object and asks [`allows`]. The table also says
//! which permissions require that the caller can see the object, so a refusal never reveals that a
//! hidden object exists, and which permissions no API key has: with those, its holder could keep or
//! widen access beyond the key's revocation.

use std::ops::BitOr;

use crate::ServiceError;

/// All relations of a caller to an object, as a set of flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relations(u16);

impl Relations {
    pub const ANONYMOUS: Self = Self(0);
    /// Signed in with an active account.
    pub const SIGNED_IN: Self = Self(1);
    /// The object is the caller's own: their account, post, comment.
    pub const OWNER: Self = Self(1 << 1);
    /// An active member of the object's group.
    pub const MEMBER: Self = Self(1 << 2);
    pub const GROUP_ADMIN: Self = Self(1 << 3);
    pub const GROUP_OWNER: Self = Self(1 << 4);
    pub const MODERATOR: Self = Self(1 << 5);
    pub const ADMIN: Self = Self(1 << 6);
    pub const CAN_SEE: Self = Self(1 << 7);
    /// Signed in as a person, not with an API key.
    pub const IN_PERSON: Self = Self(1 << 8);

    /// Returns whether the two sets share a flag.
    pub const fn intersects(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Adds `other` if `condition` holds.
    #[must_use]
    pub const fn with_if(self, condition: bool, other: Self) -> Self {
        if condition { Self(self.0 | other.0) } else { self }
    }
}

impl BitOr for Relations {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// An action that needs permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Permission {
    UpdateProfile,
    /// Password, sign-in address and sessions.
    ChangeCredentials,
    DeleteAccount,
    ManageKeys,
    SuspendUser,
    SetRoles,
    SetTier,
    VerifyUser,
    Invite,
    SeeLoginAttempts,
    SeeAudit,
    Follow,
    AnswerFollower,
    Block,
    Mute,
    SeeFollows,
    CreateGroup,
    UpdateGroup,
    /// Privacy, join policy and persistence.
    ChangeGroupAccess,
    ReviveGroup,
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
    UpdateCompany,
    CreateOffer,
    UpdateOffer,
    CloseOffer,
    Upload,
    KeepGoals,
    SeeGoals,
    SeeTasksDue,
    OpenRoom,
    OpenGroupRoom,
    SeeRoom,
    UpdateRoom,
    SendMessage,
    CreateQuest,
    CancelQuest,
    DeleteQuest,
    SeeQuests,
    SeePromotion,
    SetPromotion,
    RedriveDeadLetters,
    DiscardDeadLetter,
    ManageWebhooks,
    SetNotificationPreferences,
}

/// The relations that grant a permission.
#[derive(Clone, Copy, Debug)]
struct PermissionRule {
    /// At least one of these is required.
    any: Relations,
    /// The caller must also be able to see the object.
    must_see: bool,
    /// Nor does an API key suffice.
    in_person: bool,
}

const fn any(any: Relations) -> PermissionRule {
    PermissionRule { any, must_see: false, in_person: false }
}

const fn any_who_sees(any: Relations) -> PermissionRule {
    PermissionRule { any, must_see: true, in_person: false }
}

const fn any_in_person(any: Relations) -> PermissionRule {
    PermissionRule { any, must_see: false, in_person: true }
}

/// Every permission with its rule. A permission missing here is granted to no caller.
const POLICY: &[(Permission, PermissionRule)] = &{
    use Relations as S;
    const fn or(left: Relations, right: Relations) -> Relations {
        Relations(left.0 | right.0)
    }
    let staff = or(S::MODERATOR, S::ADMIN);
    let group_staff = or(S::GROUP_ADMIN, S::GROUP_OWNER);
    [
        (Permission::UpdateProfile, any(S::OWNER)),
        (Permission::ChangeCredentials, any_in_person(S::OWNER)),
        (Permission::DeleteAccount, any_in_person(S::OWNER)),
        (Permission::ManageKeys, any_in_person(S::OWNER)),
        (Permission::SuspendUser, any(staff)),
        (Permission::SetRoles, any_in_person(S::ADMIN)),
        (Permission::SetTier, any(S::ADMIN)),
        (Permission::VerifyUser, any(S::ADMIN)),
        (Permission::Invite, any_in_person(S::SIGNED_IN)),
        (Permission::SeeLoginAttempts, any(S::ADMIN)),
        (Permission::SeeAudit, any(staff)),
        (Permission::Follow, any_who_sees(S::SIGNED_IN)),
        (Permission::AnswerFollower, any(S::OWNER)),
        (Permission::Block, any(S::SIGNED_IN)),
        (Permission::Mute, any_who_sees(S::SIGNED_IN)),
        (Permission::SeeFollows, any_who_sees(or(S::ANONYMOUS, S::CAN_SEE))),
        // Groups.
        (Permission::CreateGroup, any(S::SIGNED_IN)),
        (Permission::UpdateGroup, any(or(group_staff, S::ADMIN))),
        (Permission::ChangeGroupAccess, any(or(S::GROUP_OWNER, S::ADMIN))),
        (Permission::ReviveGroup, any(or(S::GROUP_OWNER, S::ADMIN))),
        (Permission::DeleteGroup, any(or(S::GROUP_OWNER, S::ADMIN))),
        (Permission::JoinGroup, any(S::SIGNED_IN)),
        (Permission::InviteToGroup, any(group_staff)),
        (Permission::ApproveMember, any(group_staff)),
        (Permission::RemoveMember, any(or(group_staff, S::ADMIN))),
        (Permission::SetGroupRole, any_in_person(S::GROUP_OWNER)),
        (Permission::SeeMembers, any_who_sees(or(S::ANONYMOUS, S::CAN_SEE))),
        (Permission::PostIntoGroup, any(S::MEMBER)),
        // Content.
        (Permission::CreatePost, any(S::SIGNED_IN)),
        (Permission::PostActivity, any(S::SIGNED_IN)),
        (Permission::Upload, any(S::SIGNED_IN)),
        (Permission::UpdatePost, any(S::OWNER)),
        (Permission::DeletePost, any(or(S::OWNER, staff))),
        (Permission::Like, any_who_sees(S::SIGNED_IN)),
        (Permission::Comment, any_who_sees(S::SIGNED_IN)),
        (Permission::Share, any_who_sees(S::SIGNED_IN)),
        (Permission::UpdateComment, any_who_sees(S::OWNER)),
        (Permission::DeleteComment, any(or(S::OWNER, staff))),
        (Permission::Report, any_who_sees(S::SIGNED_IN)),
        (Permission::Moderate, any(staff)),
        (Permission::SeeModerationQueue, any(staff)),
        // Goals, tasks and milestones.
        (Permission::KeepGoals, any(S::OWNER)),
        (Permission::SeeGoals, any(or(S::OWNER, S::ADMIN))),
        (Permission::SeeTasksDue, any(S::ADMIN)),
        // Rooms.
        (Permission::OpenRoom, any_who_sees(S::SIGNED_IN)),
        (Permission::OpenGroupRoom, any(S::MEMBER)),
        (Permission::SeeRoom, any(S::MEMBER)),
        (Permission::UpdateRoom, any(or(S::OWNER, group_staff))),
        (Permission::SendMessage, any(S::MEMBER)),
        // Help and offers. In a call for help, members are the helpers.
        (Permission::AskForHelp, any(S::SIGNED_IN)),
        (Permission::Assist, any_who_sees(or(S::OWNER, S::MEMBER))),
        (Permission::CreateCompany, any(S::SIGNED_IN)),
        (Permission::CreateOffer, any(S::OWNER)),
        (Permission::UpdateCompany, any(S::OWNER)),
        (Permission::UpdateOffer, any(S::OWNER)),
        (Permission::CloseOffer, any(or(S::OWNER, staff))),
        // Quests.
        (Permission::CreateQuest, any(S::SIGNED_IN)),
        (Permission::CancelQuest, any(S::OWNER)),
        (Permission::DeleteQuest, any(S::ADMIN)),
        (Permission::SeeQuests, any(or(S::OWNER, S::ADMIN))),
        // Notifications: the holder of a key could switch off what tells of the key.
        (Permission::SetNotificationPreferences, any_in_person(S::OWNER)),
        // Operations.
        (Permission::SeePromotion, any(S::ADMIN)),
        (Permission::SetPromotion, any(S::ADMIN)),
        (Permission::RedriveDeadLetters, any(S::ADMIN)),
        (Permission::DiscardDeadLetter, any(S::ADMIN)),
        (Permission::ManageWebhooks, any_in_person(S::ADMIN)),
    ]
};

/// Returns whether these relations grant the permission.
pub fn allows(permission: Permission, relations: Relations) -> bool {
    POLICY.iter().any(|(listed, rule)| {
        *listed == permission
            && relations.intersects(rule.any)
            && (!rule.must_see || relations.intersects(Relations::CAN_SEE))
            && (!rule.in_person || relations.intersects(Relations::IN_PERSON))
    })
}

/// Refuses what these relations do not grant.
pub(crate) fn require(permission: Permission, relations: Relations) -> Result<(), ServiceError> {
    if allows(permission, relations) {
        Ok(())
    } else if allows(permission, relations | Relations::IN_PERSON) {
        Err(ServiceError::ApiKeyNotAllowed)
    } else {
        Err(ServiceError::Forbidden)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_permission_is_in_the_table_once() {
        for (at, (permission, _)) in POLICY.iter().enumerate() {
            assert!(
                !POLICY.iter().skip(at + 1).any(|(other, _)| other == permission),
                "{permission:?} twice"
            );
        }
    }

    #[test]
    fn an_invisible_object_cannot_be_acted_on() {
        assert!(!allows(Permission::Like, Relations::SIGNED_IN));
        assert!(allows(Permission::Like, Relations::SIGNED_IN | Relations::CAN_SEE));
        assert!(!allows(Permission::Like, Relations::CAN_SEE), "not signed in");
    }

    #[test]
    fn what_widens_access_is_done_in_person() {
        let admin = Relations::SIGNED_IN | Relations::ADMIN;
        assert!(matches!(
            require(Permission::SetRoles, admin),
            Err(ServiceError::ApiKeyNotAllowed)
        ));
        require(Permission::SetRoles, admin | Relations::IN_PERSON).unwrap();
        let stranger = Relations::SIGNED_IN | Relations::IN_PERSON;
        let refused = require(Permission::SetRoles, stranger);
        assert!(matches!(refused, Err(ServiceError::Forbidden)));
    }
}
