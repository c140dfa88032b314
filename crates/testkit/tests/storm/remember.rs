//! What people remember of what they did.

use roundtable_model::{GroupRole, UserId};
use roundtable_testkit::{Act, Done};

use crate::model::{Founded, Memory, Said};

/// Keeps in mind what somebody has done.
pub(crate) fn remember(memory: &mut Memory, me: &UserId, act: &Act, done: &Done) {
    memory.done += 1;
    match act {
        Act::Follow(other) | Act::Unfollow(other) => {
            let follows = matches!(act, Act::Follow(_));
            let known = memory.follows.entry((me.clone(), other.clone()));
            let known = known.or_insert(Some(follows));
            *known = known.map(|_| follows);
        }
        Act::Block(other) => {
            memory.follows.insert((me.clone(), other.clone()), None);
            memory.follows.insert((other.clone(), me.clone()), None);
            memory.blocks.insert((me.clone(), other.clone()), true);
            memory.disturbed.insert((me.clone(), other.clone()));
            memory.disturbed.insert((other.clone(), me.clone()));
        }
        Act::Mute(other, _) => {
            memory.disturbed.insert((other.clone(), me.clone()));
        }
        Act::Unblock(other) => {
            memory.blocks.insert((me.clone(), other.clone()), false);
        }
        Act::Reject(other) => {
            memory.follows.insert((other.clone(), me.clone()), None);
        }
        Act::Like(post) | Act::Unlike(post) => {
            let liked = matches!(act, Act::Like(_));
            memory.likes.insert((me.clone(), post.clone()), liked);
        }
        Act::Share(post) | Act::Unshare(post) => {
            let shared = matches!(act, Act::Share(_));
            memory.shares.insert((me.clone(), post.clone()), shared);
        }
        Act::Rename(nickname) => {
            memory.nicknames.insert(me.clone(), nickname.clone());
        }
        Act::Suspend(other) => {
            memory.suspended.push(other.clone());
            memory.sanctioned.insert(other.clone());
        }
        Act::Unsuspend(other) => memory.suspended.retain(|known| known != other),
        Act::SetRoles(other, roles) => {
            memory.roles.insert(other.clone(), roles.clone());
        }
        Act::DeleteAccount(_) => {
            memory.gone.insert(me.clone());
        }
        _ => {
            of_groups(memory, me, act, done);
            of_texts(memory, me, act, done);
        }
    }
}

fn of_groups(memory: &mut Memory, me: &UserId, act: &Act, done: &Done) {
    if let (Act::CreateGroup { name, .. }, Done::Group(group)) = (act, done) {
        memory.groups.push(group.clone());
        let name = Some(name.clone());
        let group_of_mine =
            Founded { founder: me.clone(), name, is_deleted: false, is_loose: false };
        memory.founded.insert(group.clone(), group_of_mine);
        return;
    }
    if let Act::Join(group) = act {
        memory.joined.push((me.clone(), group.clone()));
    }
    let (Act::UpdateGroup(group, _)
    | Act::DeleteGroup(group)
    | Act::Leave(group)
    | Act::Remove(group, _)
    | Act::SetRole(group, ..)) = act
    else {
        return;
    };
    let Some(known) = memory.founded.get_mut(group) else { return };
    match act {
        Act::UpdateGroup(_, name) => {
            let is_mine = known.founder == *me;
            known.name = known.name.take().filter(|_| is_mine).map(|_| name.clone());
        }
        Act::DeleteGroup(_) => known.is_deleted = true,
        Act::Leave(_) | Act::Remove(..) => known.is_loose |= true,
        Act::SetRole(_, _, role) => known.is_loose |= *role == GroupRole::Owner,
        _ => {}
    }
}

fn of_texts(memory: &mut Memory, me: &UserId, act: &Act, done: &Done) {
    let author = me.clone();
    match (act, done) {
        (Act::Post { content, group, .. }, Done::Post(post)) => {
            memory.posts.push(post.clone());
            let said = Said { author, place: group.clone(), text: Some(content.clone()) };
            memory.posted.insert(post.clone(), said);
        }
        (Act::Comment { post, content, .. }, Done::Comment(comment)) => {
            memory.comments.push(comment.clone());
            let said = Said { author, place: post.clone(), text: Some(content.clone()) };
            memory.commented.insert(comment.clone(), said);
        }
        (Act::EditPost(post, content, _), _) => {
            let kept = memory.posted.get_mut(post).and_then(|said| said.text.as_mut());
            kept.into_iter().for_each(|kept| kept.clone_from(content));
        }
        (Act::EditComment(comment, content), _) => {
            let kept = memory.commented.get_mut(comment).and_then(|said| said.text.as_mut());
            kept.into_iter().for_each(|kept| kept.clone_from(content));
        }
        (Act::DeletePost(post), _) => {
            memory.posted.get_mut(post).into_iter().for_each(|said| said.text = None);
        }
        (Act::DeleteComment(comment), _) => {
            memory.commented.get_mut(comment).into_iter().for_each(|said| said.text = None);
        }
        _ => {}
    }
}
