//! Records the outcomes of user actions in the model.

use crate::{ActionOutcome, UserAction};
use roundtable_model::{GroupRole, UserId};

use super::town_model::{GroupModel, TextModel, TownModel};

pub(crate) fn record_action(
    model: &mut TownModel,
    me: &UserId,
    act: &UserAction,
    done: &ActionOutcome,
) {
    model.done += 1;
    match act {
        UserAction::Follow(other) | UserAction::Unfollow(other) => {
            let follows = matches!(act, UserAction::Follow(_));
            let known = model.follows.entry((me.clone(), other.clone()));
            let known = known.or_insert(Some(follows));
            *known = known.map(|_| follows);
        }
        UserAction::Block(other) => {
            model.follows.insert((me.clone(), other.clone()), None);
            model.follows.insert((other.clone(), me.clone()), None);
            model.blocks.insert((me.clone(), other.clone()), true);
            model.disturbed.insert((me.clone(), other.clone()));
            model.disturbed.insert((other.clone(), me.clone()));
        }
        UserAction::Mute(other, _) | UserAction::MuteUser(other) => {
            model.disturbed.insert((other.clone(), me.clone()));
        }
        UserAction::Unblock(other) => {
            model.blocks.insert((me.clone(), other.clone()), false);
        }
        UserAction::Reject(other) => {
            model.follows.insert((other.clone(), me.clone()), None);
        }
        UserAction::Like(post, _) | UserAction::Unlike(post) => {
            let liked = matches!(act, UserAction::Like(..));
            model.likes.insert((me.clone(), post.clone()), liked);
        }
        UserAction::Share(post) | UserAction::Unshare(post) => {
            let shared = matches!(act, UserAction::Share(_));
            model.shares.insert((me.clone(), post.clone()), shared);
        }
        UserAction::Rename(nickname) => {
            model.nicknames.insert(me.clone(), nickname.clone());
        }
        UserAction::Suspend(other) => {
            model.suspended.push(other.clone());
            model.sanctioned.insert(other.clone());
        }
        UserAction::Unsuspend(other) => model.suspended.retain(|known| known != other),
        UserAction::SetRoles(other, roles) => {
            model.roles.insert(other.clone(), roles.clone());
        }
        UserAction::DeleteAccount(_) => {
            model.gone.insert(me.clone());
        }
        _ => {
            of_groups(model, me, act, done);
            of_texts(model, me, act, done);
        }
    }
}

fn of_groups(model: &mut TownModel, me: &UserId, act: &UserAction, done: &ActionOutcome) {
    if let (UserAction::CreateGroup { name, .. }, ActionOutcome::Group(group)) = (act, done) {
        model.groups.push(group.clone());
        let name = Some(name.clone());
        let group_of_mine =
            GroupModel { founder: me.clone(), name, is_deleted: false, is_loose: false };
        model.founded.insert(group.clone(), group_of_mine);
        return;
    }
    if let UserAction::Join(group) = act {
        model.joined.push((me.clone(), group.clone()));
    }
    let (UserAction::UpdateGroup(group, _)
    | UserAction::DeleteGroup(group)
    | UserAction::Leave(group)
    | UserAction::Remove(group, _)
    | UserAction::SetRole(group, ..)) = act
    else {
        return;
    };
    let Some(known) = model.founded.get_mut(group) else { return };
    match act {
        UserAction::UpdateGroup(_, name) => {
            let is_mine = known.founder == *me;
            known.name = known.name.take().filter(|_| is_mine).map(|_| name.clone());
        }
        UserAction::DeleteGroup(_) => known.is_deleted = true,
        UserAction::Leave(_) | UserAction::Remove(..) => known.is_loose |= true,
        UserAction::SetRole(_, _, role) => known.is_loose |= *role == GroupRole::Owner,
        _ => {}
    }
}

fn of_texts(model: &mut TownModel, me: &UserId, act: &UserAction, done: &ActionOutcome) {
    let author = me.clone();
    match (act, done) {
        (UserAction::Post { content, group, .. }, ActionOutcome::Post(post)) => {
            model.posts.push(post.clone());
            let said = TextModel { author, place: group.clone(), text: Some(content.clone()) };
            model.posted.insert(post.clone(), said);
        }
        (UserAction::Comment { post, content, .. }, ActionOutcome::Comment(comment)) => {
            model.comments.push(comment.clone());
            let said = TextModel { author, place: post.clone(), text: Some(content.clone()) };
            model.commented.insert(comment.clone(), said);
        }
        (UserAction::EditPost(post, content, _), _) => {
            let kept = model.posted.get_mut(post).and_then(|said| said.text.as_mut());
            kept.into_iter().for_each(|kept| kept.clone_from(content));
        }
        (UserAction::EditComment(comment, content), _) => {
            let kept = model.commented.get_mut(comment).and_then(|said| said.text.as_mut());
            kept.into_iter().for_each(|kept| kept.clone_from(content));
        }
        (UserAction::DeletePost(post), _) => {
            model.posted.get_mut(post).into_iter().for_each(|said| said.text = None);
        }
        (UserAction::DeleteComment(comment), _) => {
            model.commented.get_mut(comment).into_iter().for_each(|said| said.text = None);
        }
        _ => {}
    }
}
