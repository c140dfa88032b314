//! Who wrote what, and who has which name: whom a wish is for.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use roundtable_domain::{Cause, Ground};
use roundtable_model::entities::{Comment, Post};
use roundtable_model::table::Change;
use roundtable_model::{CommentId, Entity, Nickname, PostId, Time, UserId};

use super::wishes::{Whom, Wish};
use crate::Failure;
use crate::processor::{Images, entity};
use crate::reads::read_all;

/// What is known of whom wishes are for.
#[derive(Debug, Default)]
pub(super) struct People {
    authors: HashMap<PostId, UserId>,
    commenters: HashMap<CommentId, UserId>,
    /// By the name as it is compared: people write it as they like.
    names: HashMap<String, (UserId, Time)>,
}

impl People {
    /// Everybody whom these wishes are for, as far as it can still be known. What was removed just now
    /// is still in the changes.
    pub(super) async fn of(
        ground: &Ground,
        changes: &[Change],
        wishes: impl Iterator<Item = &Wish>,
    ) -> Result<Self, Failure> {
        let mut people = Self::default();
        people.hear(changes)?;
        let (mut posts, mut comments) = (BTreeSet::new(), BTreeSet::new());
        let mut names: BTreeMap<String, Nickname> = BTreeMap::new();
        for wish in wishes {
            match &wish.whom {
                Whom::User(_) => {}
                Whom::Named(name) => drop(names.insert(name.fold().into_owned(), name.clone())),
                Whom::Author(id) => drop(posts.insert(id.clone())),
                Whom::Commenter(post, id) => drop(comments.insert((post.clone(), id.clone()))),
            }
        }
        let core = ground.core();
        let places = posts.iter().map(|id| (id.clone(), Post::at(id)));
        let posts = read_all(core.table(), places).await?;
        people.authors.extend(posts.into_iter().map(|(id, post)| (id, post.author_id)));
        let places = comments.iter().map(|(post, id)| (id.clone(), Comment::at(post, id)));
        let comments = read_all(core.table(), places).await?;
        people.commenters.extend(comments.into_iter().map(|(id, one)| (id, one.user_id)));
        let names: Vec<Nickname> = names.into_values().collect();
        let locks = core.nick_locks(&names).get().await?.into_iter().flatten();
        let known = |lock: roundtable_model::entities::NickLock| {
            (lock.nickname.fold().into_owned(), (lock.user_id, lock.created_at))
        };
        people.names.extend(locks.map(known));
        Ok(people)
    }

    fn hear(&mut self, changes: &[Change]) -> Result<(), Failure> {
        for change in changes {
            let kind = entity(change).unwrap_or_default();
            if kind == Post::SHAPE.name {
                let Images { old, new } = Images::<Post>::of(change)?;
                let post = new.or(old);
                self.authors.extend(post.map(|post| (post.id, post.author_id)));
            } else if kind == Comment::SHAPE.name {
                let Images { old, new } = Images::<Comment>::of(change)?;
                let comment = new.or(old);
                self.commenters.extend(comment.map(|one| (one.id, one.user_id)));
            }
        }
        Ok(())
    }

    /// Why somebody is told this, or was; `None` if that is nobody, or whoever did it.
    pub(super) fn cause(&self, wish: &Wish, is_wanted: bool) -> Option<Cause> {
        let user = match &wish.whom {
            Whom::User(user) => user,
            Whom::Author(post) => self.authors.get(post)?,
            Whom::Commenter(_, comment) => self.commenters.get(comment)?,
            // Whoever took the name afterwards was not meant.
            Whom::Named(name) => {
                let is_meant = |since: &Time| wish.meant_at.is_some_and(|then| *since <= then);
                let holder = self.names.get(&*name.fold());
                holder.filter(|(_, since)| !is_wanted || is_meant(since)).map(|(user, _)| user)?
            }
        };
        let did_it = [&wish.actor, &wish.unless].into_iter().flatten().any(|one| one == user);
        let (kind, at) = (wish.kind, wish.at);
        (!did_it).then(|| Cause {
            user: user.clone(),
            kind,
            actor: wish.actor.clone(),
            about: wish.about.clone(),
            at,
        })
    }
}
