//! What people do, as the services know it.

use roundtable_domain::{ActivityError, Code, NewActivity, PostChange, Refusal};
use roundtable_model::entities::Goal;
use roundtable_model::{ActivityVerb, CommentId, GroupId, ObjectType, PostId, SubjectId};
use roundtable_testkit::Act;

use crate::cast::{Door, Name};
use crate::place::{goal_of, picture_of, task_of};
use crate::stage::Stage;
use crate::step::{Deed, Nth, Topic};

impl Stage {
    /// Somebody does something, or is refused.
    pub(crate) async fn deed(&mut self, who: Name, at: Door, deed: Deed) -> Result<(), Code> {
        match deed {
            Deed::Tell(topic) => return self.tell_of(who, at, topic).await,
            Deed::Rewrite(post) => {
                let content = Some(format!("rewritten at {}", self.now_ms()));
                return self.edit(at, post, PostChange { content, visibility: None }).await;
            }
            Deed::Show(post, to) => {
                let change = PostChange { content: None, visibility: Some(to) };
                return self.edit(at, post, change).await;
            }
            Deed::DropGoal => {
                let gone = Goal::at(&who.id(), &goal_of(who)).delete();
                let core = self.door(at).town.ground().core();
                return core.table().delete(gone).await.map(drop).map_err(|_| Code::NotFound);
            }
            _ => {}
        }
        let act = Self::act_on_people(who, deed).map(|act| (who, act));
        let act = act.or_else(|| self.act_on_clubs(who, deed));
        let act = act.or_else(|| self.act_on_posts(who, deed));
        let act = act.or_else(|| self.act_of_staff(who, deed));
        let (who, act) = act.ok_or(Code::NotFound)?;
        self.act(who, at, &act).await
    }

    fn act_on_people(who: Name, deed: Deed) -> Option<Act> {
        Some(match deed {
            Deed::Follow(other) => Act::Follow(other.id()),
            Deed::Unfollow(other) => Act::Unfollow(other.id()),
            Deed::Accept(other) => Act::Accept(other.id()),
            Deed::Reject(other) => Act::Reject(other.id()),
            Deed::Mute(other, to) => Act::Mute(other.id(), to),
            Deed::Block(other) => Act::Block(other.id()),
            Deed::Unblock(other) => Act::Unblock(other.id()),
            Deed::TurnPrivate(to) => Act::TurnPrivate(to),
            Deed::DeleteAccount => Act::DeleteAccount(who.as_str().parse().unwrap()),
            _ => return None,
        })
    }

    fn act_on_clubs(&self, who: Name, deed: Deed) -> Option<(Name, Act)> {
        Some(match deed {
            Deed::Join(club) => (who, Act::Join(self.club(club))),
            Deed::Leave(club) => (who, Act::Leave(self.club(club))),
            Deed::LetIn(club) => (club.owner(), Act::Approve(self.club(club), who.id())),
            Deed::Remove(club) => (club.owner(), Act::Remove(self.club(club), who.id())),
            Deed::Close(club) => (club.owner(), Act::DeleteGroup(self.club(club))),
            _ => return None,
        })
    }

    fn act_on_posts(&self, who: Name, deed: Deed) -> Option<(Name, Act)> {
        Some(match deed {
            Deed::Post(club, visibility) => {
                let number = self.posts.len() + 1;
                let (content, group) =
                    (format!("post {number} #n{number}"), club.map(|club| self.club(club)));
                (who, Act::Post { content, group, visibility })
            }
            Deed::Share(post) => (who, Act::Share(self.post(post)?.0)),
            Deed::Unshare(post) => (who, Act::Unshare(self.post(post)?.0)),
            Deed::Delete(post) => {
                let (id, author) = self.post(post)?;
                (author, Act::DeletePost(id))
            }
            Deed::Comment(post) => {
                let content = format!("comment {}", self.comments.len() + 1);
                (who, Act::Comment { post: self.post(post)?.0, parent: None, content })
            }
            Deed::DeleteComment(comment) => {
                let (id, author) = self.comment(comment)?;
                (author, Act::DeleteComment(id))
            }
            _ => return None,
        })
    }

    fn act_of_staff(&self, who: Name, deed: Deed) -> Option<(Name, Act)> {
        let act = match deed {
            Deed::Judge(post, to) => Act::Moderate(self.post(post)?.0, to),
            Deed::JudgeComment(comment, to) => Act::ModerateComment(self.comment(comment)?.0, to),
            Deed::Suspend => Act::Suspend(who.id()),
            Deed::Reinstate => Act::Unsuspend(who.id()),
            _ => return None,
        };
        Some((Name::Mo, act))
    }

    async fn edit(&self, at: Door, post: Nth, change: PostChange) -> Result<(), Code> {
        let (id, author) = self.post(post).ok_or(Code::NotFound)?;
        let posts = self.door(at).town.posts();
        refused(posts.update(&author.caller(), &id, &change, None).await)
    }

    /// Somebody tells of something that is theirs.
    async fn tell_of(&self, who: Name, at: Door, topic: Topic) -> Result<(), Code> {
        let goal = || (ObjectType::Goal, SubjectId::from(goal_of(who)));
        let (group_id, verb, (object_type, object_id)): (Option<GroupId>, _, _) = match topic {
            Topic::Themselves => (None, ActivityVerb::Follow, (ObjectType::User, who.id().into())),
            Topic::Goal => (None, ActivityVerb::GoalUpdate, goal()),
            Topic::Task => {
                let task = (ObjectType::Task, SubjectId::from(task_of(who)));
                (None, ActivityVerb::GoalUpdate, task)
            }
            Topic::GoalIn(club) => (Some(self.club(club)), ActivityVerb::GoalUpdate, goal()),
            Topic::Club(club) => {
                (None, ActivityVerb::Join, (ObjectType::Group, self.club(club).into()))
            }
            Topic::Post(post) => {
                let (id, _) = self.post(post).ok_or(Code::NotFound)?;
                (None, ActivityVerb::Post, (ObjectType::Post, id.into()))
            }
            Topic::Comment(comment) => {
                let (id, _) = self.comment(comment).ok_or(Code::NotFound)?;
                (None, ActivityVerb::Comment, (ObjectType::Comment, id.into()))
            }
        };
        // All of it is to be shown, whichever way it comes.
        let mut input = NewActivity {
            group_id,
            verb,
            object_type,
            object_id,
            preview_text: Some(format!("{who} at {}", self.now_ms())),
            media: (object_type == ObjectType::Goal).then(|| picture_of(who)),
            tags: vec!["hill".parse().unwrap()],
        };
        let activities = self.door(at).town.activities();
        let told = activities.post(&who.caller(), &input, None).await;
        if !matches!(told, Err(ActivityError::NoSuchMedia)) {
            return refused(told);
        }
        // They have one picture, and have shown it already.
        input.media = None;
        refused(activities.post(&who.caller(), &input, None).await)
    }

    /// A post and its author.
    pub(crate) fn post(&self, nth: Nth) -> Option<(PostId, Name)> {
        self.posts.get(nth.0.checked_rem(self.posts.len())?).cloned()
    }

    /// A comment and its author.
    pub(crate) fn comment(&self, nth: Nth) -> Option<(CommentId, Name)> {
        self.comments.get(nth.0.checked_rem(self.comments.len())?).cloned()
    }
}

/// The code of a refusal; a failure of the program is none.
fn refused<T, E: Refusal>(result: Result<T, E>) -> Result<(), Code> {
    result.map(drop).map_err(|error| {
        let code = error.code();
        assert!(code != Code::Internal, "{error}");
        code
    })
}
