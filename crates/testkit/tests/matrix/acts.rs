//! What a row does, where it is something somebody can do.

use roundtable_model::{GroupId, GroupRole, ModerationStatus, Role, UserId, Visibility};
use roundtable_testkit::Act;

use super::stage::{Stage, owner};

/// Everything that people do, by the names of the variants: this does not compile when one is missing.
macro_rules! variants {
    ($($variant:ident)*) => {
        pub(crate) const VARIANTS: &[&str] = &[$(stringify!($variant)),*];

        pub(crate) fn variant(act: &Act) -> &'static str {
            match act {
                $(Act::$variant { .. } => stringify!($variant),)*
            }
        }
    };
}

variants! {
    Follow Unfollow Accept Reject Mute Block Unblock
    CreateGroup UpdateGroup DeleteGroup Join Leave Invite Approve Remove SetRole
    Post EditPost DeletePost Like Unlike Share Unshare
    Comment EditComment DeleteComment LikeComment UnlikeComment
    PostActivity Report ReportComment Moderate ModerateComment
    Rename TurnPrivate Suspend Unsuspend SetRoles DeleteAccount
}

/// Whom a row is about.
pub(crate) fn person(object: &str) -> UserId {
    let name = match object {
        "request" => "tia",
        "blocked person" => "bex",
        "moderator" => "moe",
        "comment below one's post" => "tom",
        "group's admin" => "gil",
        "group" | "private group" => "ted",
        other => owner(other),
    };
    name.parse().unwrap()
}

/// What a row does; `None` where it is done otherwise.
pub(crate) fn act(stage: &Stage, operation: &str, object: &str) -> Option<Act> {
    let (service, _) = operation.split_once('.').unwrap();
    match service {
        "follows" | "blocks" | "accounts" => on_people(operation, object),
        "groups" => on_groups(stage, operation, object),
        _ => on_content(stage, operation, object),
    }
}

fn on_people(operation: &str, object: &str) -> Option<Act> {
    let person = person(object);
    Some(match operation {
        "follows.follow" => Act::Follow(person),
        "follows.unfollow" => Act::Unfollow(person),
        "follows.accept" => Act::Accept(person),
        "follows.reject" => Act::Reject(person),
        "follows.update" => Act::Mute(person, true),
        "blocks.block" => Act::Block(person),
        "blocks.unblock" => Act::Unblock(person),
        "accounts.update_profile" if object == "taken name" => Act::Rename("tom".parse().unwrap()),
        "accounts.update_profile" => Act::TurnPrivate(true),
        "accounts.suspend" => Act::Suspend(person),
        "accounts.unsuspend" => Act::Unsuspend(person),
        "accounts.set_roles" => Act::SetRoles(person, vec![Role::User, Role::Moderator]),
        "accounts.delete_account" => Act::DeleteAccount(owner(object).parse().unwrap()),
        _ => return None,
    })
}

fn on_groups(stage: &Stage, operation: &str, object: &str) -> Option<Act> {
    let name = String::from("walkers");
    if operation == "groups.create" {
        return Some(Act::CreateGroup { name, private: false });
    }
    let (group, id): (GroupId, _) = (stage.groups[object].clone(), |name: &str| name.parse());
    Some(match operation {
        "groups.update" => Act::UpdateGroup(group, name),
        "groups.delete" => Act::DeleteGroup(group),
        "groups.join" => Act::Join(group),
        "groups.leave" => Act::Leave(group),
        "groups.invite" => Act::Invite(group, id("tom").unwrap()),
        "groups.approve" => Act::Approve(group, id("tia").unwrap()),
        "groups.remove" => Act::Remove(group, person(object)),
        "groups.set_role" => Act::SetRole(group, person(object), GroupRole::Admin),
        _ => return None,
    })
}

fn on_content(stage: &Stage, operation: &str, object: &str) -> Option<Act> {
    let content = String::from("other words");
    if operation == "posts.create" {
        let group = stage.groups.get(object).cloned();
        return Some(Act::Post { content, group, visibility: Visibility::Public });
    }
    let status = ModerationStatus::Flagged;
    if let Some(comment) = stage.comments.get(object).cloned() {
        return Some(match operation {
            "comments.add" => {
                Act::Comment { post: stage.post_of(object), parent: Some(comment), content }
            }
            "comments.update" => Act::EditComment(comment, content),
            "comments.delete" => Act::DeleteComment(comment),
            "comments.like" => Act::LikeComment(comment),
            "comments.unlike" => Act::UnlikeComment(comment),
            "moderation.report_comment" => Act::ReportComment(comment),
            "moderation.moderate_comment" => Act::ModerateComment(comment, status),
            _ => return None,
        });
    }
    let post = stage.posts.get(object).cloned()?;
    Some(match operation {
        "posts.update" => Act::EditPost(post, content, Visibility::Public),
        "posts.delete" => Act::DeletePost(post),
        "likes.like" => Act::Like(post),
        "likes.unlike" => Act::Unlike(post),
        "shares.share" => Act::Share(post),
        "shares.unshare" => Act::Unshare(post),
        "comments.add" => Act::Comment { post, parent: None, content },
        "activities.post" => Act::PostActivity(post),
        "moderation.report_post" => Act::Report(post),
        "moderation.moderate_post" => Act::Moderate(post, status),
        _ => return None,
    })
}
