//! One listener: every event is read, and seen with their eyes, when it is told.

use std::sync::Arc;

use roundtable_domain_macros::boxed;
use roundtable_model::Role;
use roundtable_model::entities::User;

use super::heard::Happening;
use super::hub::Ear;
use super::{Event, Live, LiveError, Matter};
use crate::{
    Activities, ActivityError, Caller, CommentError, Comments, Failure, FollowError, Follows,
    GroupError, Groups, PostError, Posts, QuestError, Quests,
};

/// Somebody who listens.
#[derive(Debug)]
pub struct Listener {
    live: Live,
    caller: Caller,
    ear: Ear,
    /// What was taken from the ear and is not told yet: whoever stops waiting, or whom the store fails,
    /// hears of it the next time.
    untold: Option<Arc<Happening>>,
}

#[boxed]
impl Live {
    /// Listens to a matter from now on. What the caller cannot see cannot be listened to.
    pub async fn listen(&self, caller: &Caller, matter: Matter) -> Result<Listener, LiveError> {
        // The stream is not read here: who listens may be left waiting by a slow connection, and would
        // keep the place in it from all others.
        let ear = self.hub.listen(matter);
        let listener = Listener { live: self.clone(), caller: caller.clone(), ear, untold: None };
        let me = self.ground.reader(caller).await?;
        listener.check(&me).await?;
        Ok(listener)
    }
}

#[boxed]
impl Listener {
    /// The next event that the listener may hear of; waits for it. Refused from the moment on at which
    /// they cannot listen any more, when they listened too slowly, and when something was missed here.
    pub async fn next(&mut self) -> Result<Event, LiveError> {
        loop {
            let happening = match &self.untold {
                Some(happening) => Arc::clone(happening),
                None => self.ear.next().await?,
            };
            self.untold = Some(Arc::clone(&happening));
            let me = self.live.ground.reader(&self.caller).await?;
            self.check_office(&me)?;
            let seen = self.seen(&happening).await?;
            self.untold = None;
            if let Some(event) = seen {
                return Ok(event);
            }
        }
    }

    /// Refuses whoever cannot see what they want to listen to.
    async fn check(&self, me: &User) -> Result<(), LiveError> {
        self.check_office(me)?;
        let ground = &self.live.ground;
        match &self.ear.matter {
            Matter::Post(post)
            | Matter::Likes(post)
            | Matter::Comments(post)
            | Matter::Decisions(Some(post)) => {
                let posts = Posts::new(ground.clone());
                let found = posts.posts(Some(&self.caller), std::slice::from_ref(post)).await;
                let found = found?.into_iter().flatten().next();
                found.map(drop).ok_or(LiveError::NoSuchPost)
            }
            Matter::Followers(user) => {
                let sight = ground.sight_of(&self.caller, me, [user], []).await?;
                sight.person(user).map(drop).ok_or(LiveError::NoSuchUser)
            }
            Matter::Members(group) => {
                let sight = ground.sight_of(&self.caller, me, [], [group]).await?;
                sight.group(group).map(drop).ok_or(LiveError::NoSuchGroup)
            }
            Matter::Quests(user) if *user != me.id => Err(LiveError::NoSuchUser),
            _ => Ok(()),
        }
    }

    /// What moderators decide about everything is for moderators, as long as they are.
    fn check_office(&self, me: &User) -> Result<(), LiveError> {
        let in_office = self.caller.moderates()
            && me.roles.iter().any(|role| matches!(role, Role::Moderator | Role::Admin));
        match &self.ear.matter {
            Matter::Decisions(None) if !in_office => Err(Failure::Forbidden.into()),
            _ => Ok(()),
        }
    }

    /// What happened, as the listener may see it now.
    async fn seen(&self, happening: &Happening) -> Result<Option<Event>, LiveError> {
        let (ground, viewer) = (self.live.ground.clone(), Some(&self.caller));
        Ok(match happening {
            Happening::Activity(home, at, id) => {
                let place = (home.clone(), *at, id.clone());
                let found = Activities::new(ground).at(viewer, &[place]).await?;
                first(found).map(|activity| Event::Activity(Box::new(activity)))
            }
            Happening::Post(id) => {
                let found = Posts::new(ground).posts(viewer, std::slice::from_ref(id)).await;
                first(found?).map(|post| Event::Post(Box::new(post)))
            }
            Happening::Like(id, liked) => {
                let found = Posts::new(ground).posts(viewer, std::slice::from_ref(id)).await;
                let found = first(found?);
                found.map(|post| Event::Like { post_id: post.id, liked: *liked })
            }
            Happening::Comment(post, id) => {
                let place = (post.clone(), id.clone());
                let found = Comments::new(ground).comments(viewer, &[place]).await;
                first(found?).map(|comment| Event::Comment(Box::new(comment)))
            }
            Happening::Follow(follower, followee) => {
                let ends = (follower.clone(), followee.clone());
                let found = Follows::new(ground).among(viewer, &[ends]).await?;
                first(found).map(|follow| Event::Follow(Box::new(follow)))
            }
            Happening::Membership(member, is_over) => {
                let groups = Groups::new(ground);
                let member = (**member).clone();
                let found = if *is_over {
                    groups.seen_leaving(&self.caller, member).await?
                } else {
                    let place = (member.group_id, member.user_id);
                    first(groups.memberships(viewer, &[place]).await?)
                };
                found.map(|member| Event::Membership(Box::new(member)))
            }
            Happening::Quest(user, id) => {
                match Quests::new(ground).get(&self.caller, user, id).await {
                    Ok(quest) => Some(Event::Quest(Box::new(quest))),
                    Err(QuestError::NoSuchQuest) => None,
                    Err(error) => return Err(error.into()),
                }
            }
        })
    }
}

fn first<T>(found: Vec<Option<T>>) -> Option<T> {
    found.into_iter().flatten().next()
}

/// The reads of these services show what is not there as `None`: whatever they refuse concerns the caller
/// or the store.
macro_rules! refused_by {
    ($($error:ident)*) => {$(
        impl From<$error> for LiveError {
            fn from(error: $error) -> Self {
                match error {
                    $error::Failed(failure) => failure.into(),
                    other => Failure::Internal(other.to_string()).into(),
                }
            }
        }
    )*};
}

refused_by! { ActivityError PostError CommentError FollowError GroupError QuestError }
