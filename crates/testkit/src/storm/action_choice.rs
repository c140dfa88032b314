//! Chooses the next action on users, groups and content among candidate objects.

use rand::Rng;
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use roundtable_model::{
    CommentId, GroupId, GroupRole, LikeType, ModerationStatus, PostId, Role, Tier, UserId,
};

use crate::UserAction;

/// Candidate objects of an action, mostly ones that the user may act on.
pub(super) struct Candidates {
    pub(super) other: UserId,
    pub(super) post: Option<PostId>,
    pub(super) comment: Option<CommentId>,
    pub(super) group: Option<GroupId>,
    pub(super) own_post: Option<PostId>,
    pub(super) own_comment: Option<CommentId>,
    pub(super) own_group: Option<GroupId>,
    pub(super) joined: Option<GroupId>,
    pub(super) member: UserId,
    pub(super) followed: UserId,
    pub(super) follower: UserId,
    pub(super) blocked: UserId,
    pub(super) suspended: UserId,
}

pub(super) fn to_people(card: &str, found: Candidates, random: &mut SmallRng) -> UserAction {
    match card {
        "Follow" => UserAction::Follow(found.other),
        "Unfollow" => UserAction::Unfollow(found.followed),
        "Accept" => UserAction::Accept(found.follower),
        "Reject" => UserAction::Reject(found.follower),
        "Mute" => UserAction::Mute(found.followed, random.random()),
        "ReportUser" => UserAction::ReportUser(found.other),
        "DecideCase" => {
            let status = if random.random() {
                ModerationStatus::Approved
            } else {
                ModerationStatus::Rejected
            };
            UserAction::DecideCase((&found.other).into(), status)
        }
        "MuteUser" => UserAction::MuteUser(found.other),
        "UnmuteUser" => UserAction::UnmuteUser(found.followed),
        "Block" => UserAction::Block(found.other),
        _ => UserAction::Unblock(found.blocked),
    }
}

pub(super) fn to_groups(
    card: &str,
    found: Candidates,
    random: &mut SmallRng,
) -> Option<UserAction> {
    let Candidates { other, group, own_group, joined, member, .. } = found;
    Some(match card {
        "TurnGroupPrivate" => UserAction::TurnGroupPrivate(own_group?, random.random()),
        "ReviveGroup" => UserAction::ReviveGroup(own_group?),
        "DeleteGroup" => UserAction::DeleteGroup(own_group?),
        "Join" => UserAction::Join(group?),
        "Leave" => UserAction::Leave(joined?),
        "Invite" => UserAction::Invite(own_group?, other),
        "Approve" => UserAction::Approve(own_group?, member),
        "Remove" => UserAction::Remove(own_group?, member),
        _ => UserAction::SetRole(own_group?, member, *GroupRole::ALL.choose(random)?),
    })
}

pub(super) fn to_accounts(card: &str, found: Candidates, random: &mut SmallRng) -> UserAction {
    match card {
        "TurnPrivate" => UserAction::TurnPrivate(random.random_bool(0.3)),
        "Rename" => UserAction::Rename(format!("n{}", random.random::<u16>()).parse().unwrap()),
        "Suspend" => UserAction::Suspend(found.other),
        "Unsuspend" => UserAction::Unsuspend(found.suspended),
        "SetTier" if random.random() => UserAction::SetTier(found.other, Tier::Pro),
        "SetTier" => UserAction::SetTier(found.other, Tier::Free),
        "SetVerified" => UserAction::SetVerified(found.other, random.random()),
        _ if random.random() => {
            UserAction::SetRoles(found.other, vec![Role::User, Role::Moderator])
        }
        _ => UserAction::SetRoles(found.other, vec![Role::User]),
    }
}

pub(super) fn to_content(
    card: &str,
    found: Candidates,
    random: &mut SmallRng,
) -> Option<UserAction> {
    let Candidates { post, comment, own_post, own_comment, group, .. } = found;
    // Some without a type, which keeps that of a like that exists.
    let kind = LikeType::ALL.choose(random).copied().filter(|_| random.random());
    let status = *[ModerationStatus::Approved, ModerationStatus::Rejected].choose(random)?;
    Some(match card {
        "DeletePost" => UserAction::DeletePost(own_post?),
        "PostActivity" => UserAction::PostActivity(own_post?),
        "Like" => UserAction::Like(post?, kind),
        "Unlike" => UserAction::Unlike(post?),
        "Share" => UserAction::Share(post?),
        "Unshare" => UserAction::Unshare(post?),
        "DeleteComment" => UserAction::DeleteComment(own_comment?),
        "LikeComment" => UserAction::LikeComment(comment?, kind),
        "UnlikeComment" => UserAction::UnlikeComment(comment?),
        "Report" => UserAction::Report(post?),
        "ReportGroup" => UserAction::ReportGroup(group?),
        "ReportComment" => UserAction::ReportComment(comment?),
        "Moderate" => UserAction::Moderate(post?, status),
        "ModerateComment" => UserAction::ModerateComment(comment?, status),
        other => panic!("{other} is no card of this deck"),
    })
}
