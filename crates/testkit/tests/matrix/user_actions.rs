//! The user action of a row.

use roundtable_model::{GroupId, GroupRole, ModerationStatus, Role, Tier, UserId, Visibility};
use roundtable_testkit::UserAction;

use super::stage::{Stage, owner};

/// Lists the names of all variants; a missing one does not compile.
macro_rules! variants {
    ($($variant:ident)*) => {
        pub(crate) const VARIANTS: &[&str] = &[$(stringify!($variant)),*];

        pub(crate) fn variant(act: &UserAction) -> &'static str {
            match act {
                $(UserAction::$variant { .. } => stringify!($variant),)*
            }
        }
    };
}

variants! {
    Follow Unfollow Accept Reject Mute MuteUser UnmuteUser Block Unblock
    CreateGroup UpdateGroup TurnGroupPrivate ReviveGroup DeleteGroup Join Leave Invite Approve Remove SetRole
    Post EditPost DeletePost Like Unlike Share Unshare
    Comment EditComment DeleteComment LikeComment UnlikeComment
    PostActivity Report ReportComment ReportUser ReportGroup DecideCase Moderate ModerateComment
    Rename TurnPrivate Suspend Unsuspend SetRoles SetTier SetVerified DeleteAccount
}

/// The user that a row concerns.
pub(crate) fn person(object: &str) -> UserId {
    let name = match object {
        "request" | "muted person" => "tia",
        "blocked person" => "bex",
        "moderator" => "moe",
        "comment below one's post" => "tom",
        "group's admin" => "gil",
        "group" | "private group" => "ted",
        other => owner(other),
    };
    name.parse().unwrap()
}

/// The action of a row; `None` if it is not a user action.
pub(crate) fn act(stage: &Stage, operation: &str, object: &str) -> Option<UserAction> {
    let (service, _) = operation.split_once('.').unwrap();
    match service {
        "follows" | "blocks" | "mutes" | "accounts" => on_people(operation, object),
        "moderation" if operation == "moderation.decide_case" => {
            Some(UserAction::DecideCase("tom".parse().unwrap(), ModerationStatus::Approved))
        }
        "moderation" if operation == "moderation.report_user" => {
            Some(UserAction::ReportUser(person(object)))
        }
        "moderation" if operation == "moderation.report_group" => {
            Some(UserAction::ReportGroup(stage.groups[object].clone()))
        }
        "groups" => on_groups(stage, operation, object),
        _ => on_content(stage, operation, object),
    }
}

fn on_people(operation: &str, object: &str) -> Option<UserAction> {
    let person = person(object);
    Some(match operation {
        "follows.follow" => UserAction::Follow(person),
        "follows.unfollow" => UserAction::Unfollow(person),
        "follows.accept" => UserAction::Accept(person),
        "follows.reject" => UserAction::Reject(person),
        "follows.update" => UserAction::Mute(person, true),
        "mutes.mute" => UserAction::MuteUser(person),
        "mutes.unmute" => UserAction::UnmuteUser(person),
        "blocks.block" => UserAction::Block(person),
        "blocks.unblock" => UserAction::Unblock(person),
        "accounts.update_profile" if object == "taken name" => {
            UserAction::Rename("tom".parse().unwrap())
        }
        "accounts.update_profile" => UserAction::TurnPrivate(true),
        "accounts.suspend" => UserAction::Suspend(person),
        "accounts.unsuspend" => UserAction::Unsuspend(person),
        "accounts.set_roles" => UserAction::SetRoles(person, vec![Role::User, Role::Moderator]),
        "accounts.set_tier" => UserAction::SetTier(person, Tier::Pro),
        "accounts.set_verified" => UserAction::SetVerified(person, true),
        "accounts.delete_account" if object != "old sign-in" => {
            UserAction::DeleteAccount(owner(object).parse().unwrap())
        }
        _ => return None,
    })
}

fn on_groups(stage: &Stage, operation: &str, object: &str) -> Option<UserAction> {
    let name = String::from("walkers");
    if operation == "groups.create" {
        return Some(UserAction::CreateGroup { name, private: false });
    }
    let (group, id): (GroupId, _) = (stage.groups[object].clone(), |name: &str| name.parse());
    Some(match operation {
        "groups.update" if object == "privacy" => UserAction::TurnGroupPrivate(group, true),
        "groups.update" => UserAction::UpdateGroup(group, name),
        "groups.revive" => UserAction::ReviveGroup(group),
        "groups.delete" => UserAction::DeleteGroup(group),
        "groups.join" => UserAction::Join(group),
        "groups.leave" => UserAction::Leave(group),
        "groups.invite" => UserAction::Invite(group, id("tom").unwrap()),
        "groups.approve" => UserAction::Approve(group, id("tia").unwrap()),
        "groups.remove" => UserAction::Remove(group, person(object)),
        "groups.set_role" => UserAction::SetRole(group, person(object), GroupRole::Admin),
        _ => return None,
    })
}

fn on_content(stage: &Stage, operation: &str, object: &str) -> Option<UserAction> {
    let content = String::from("other words");
    if operation == "posts.create" {
        let group = stage.groups.get(object).cloned();
        return Some(UserAction::Post { content, group, visibility: Visibility::Public });
    }
    let status = ModerationStatus::Flagged;
    if let Some(comment) = stage.comments.get(object).cloned() {
        return Some(match operation {
            "comments.add" => {
                UserAction::Comment { post: stage.post_of(object), parent: Some(comment), content }
            }
            "comments.update" => UserAction::EditComment(comment, content),
            "comments.delete" => UserAction::DeleteComment(comment),
            "comments.like" => UserAction::LikeComment(comment, None),
            "comments.unlike" => UserAction::UnlikeComment(comment),
            "moderation.report_comment" => UserAction::ReportComment(comment),
            "moderation.moderate_comment" => UserAction::ModerateComment(comment, status),
            _ => return None,
        });
    }
    let post = stage.posts.get(object).cloned()?;
    Some(match operation {
        "posts.update" => UserAction::EditPost(post, content, Visibility::Public),
        "posts.delete" => UserAction::DeletePost(post),
        "likes.like" => UserAction::Like(post, None),
        "likes.unlike" => UserAction::Unlike(post),
        "shares.share" => UserAction::Share(post),
        "shares.unshare" => UserAction::Unshare(post),
        "comments.add" => UserAction::Comment { post, parent: None, content },
        "activities.post" => UserAction::PostActivity(post),
        "moderation.report_post" => UserAction::Report(post),
        "moderation.moderate_post" => UserAction::Moderate(post, status),
        _ => return None,
    })
}
