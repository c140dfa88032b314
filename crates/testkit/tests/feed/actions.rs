//! Performs the actions of users with the services.

use roundtable_domain::{ActivityError, Code, NewActivity, PostChange, Refusal};
use roundtable_model::entities::Goal;
use roundtable_model::{ActivityVerb, CommentId, GroupId, ObjectType, PostId, SubjectId};
use roundtable_testkit::UserAction;

use crate::cast::{Name, Server};
use crate::populated_store::{goal_of, picture_of, task_of};
use crate::stage::Stage;
use crate::step::{FeedAction, Nth, Topic};

impl Stage {
    pub(crate) async fn action(
        &mut self,
        who: Name,
        at: Server,
        action: FeedAction,
    ) -> Result<(), Code> {
        match action {
            FeedAction::Tell(topic) => return self.tell_of(who, at, topic).await,
            FeedAction::Rewrite(post) => {
                let content = Some(format!("rewritten at {}", self.now_ms()));
                return self.edit(at, post, PostChange { content, visibility: None }).await;
            }
            FeedAction::Show(post, to) => {
                let change = PostChange { content: None, visibility: Some(to) };
                return self.edit(at, post, change).await;
            }
            FeedAction::DropGoal => {
                let gone = Goal::at(&who.id(), &goal_of(who)).delete();
                let core = self.server(at).town.context().core();
                return core.table().delete(gone).await.map(drop).map_err(|_| Code::NotFound);
            }
            _ => {}
        }
        let act = Self::act_on_people(who, action).map(|act| (who, act));
        let act = act.or_else(|| self.act_on_clubs(who, action));
        let act = act.or_else(|| self.act_on_posts(who, action));
        let act = act.or_else(|| self.act_of_staff(who, action));
        let (who, act) = act.ok_or(Code::NotFound)?;
        self.act(who, at, &act).await
    }

    fn act_on_people(who: Name, action: FeedAction) -> Option<UserAction> {
        Some(match action {
            FeedAction::Follow(other) => UserAction::Follow(other.id()),
            FeedAction::Unfollow(other) => UserAction::Unfollow(other.id()),
            FeedAction::Accept(other) => UserAction::Accept(other.id()),
            FeedAction::Reject(other) => UserAction::Reject(other.id()),
            FeedAction::Mute(other, true) => UserAction::MuteUser(other.id()),
            FeedAction::Mute(other, false) => UserAction::UnmuteUser(other.id()),
            FeedAction::Block(other) => UserAction::Block(other.id()),
            FeedAction::Unblock(other) => UserAction::Unblock(other.id()),
            FeedAction::TurnPrivate(to) => UserAction::TurnPrivate(to),
            FeedAction::DeleteAccount => UserAction::DeleteAccount(who.as_str().parse().unwrap()),
            _ => return None,
        })
    }

    fn act_on_clubs(&self, who: Name, action: FeedAction) -> Option<(Name, UserAction)> {
        Some(match action {
            FeedAction::Join(club) => (who, UserAction::Join(self.club(club))),
            FeedAction::Leave(club) => (who, UserAction::Leave(self.club(club))),
            FeedAction::LetIn(club) => {
                (club.owner(), UserAction::Approve(self.club(club), who.id()))
            }
            FeedAction::Remove(club) => {
                (club.owner(), UserAction::Remove(self.club(club), who.id()))
            }
            FeedAction::Close(club) => (club.owner(), UserAction::DeleteGroup(self.club(club))),
            _ => return None,
        })
    }

    fn act_on_posts(&self, who: Name, action: FeedAction) -> Option<(Name, UserAction)> {
        Some(match action {
            FeedAction::Post(club, visibility) => {
                let number = self.posts.len() + 1;
                let (content, group) =
                    (format!("post {number} #n{number}"), club.map(|club| self.club(club)));
                (who, UserAction::Post { content, group, visibility })
            }
            FeedAction::Share(post) => (who, UserAction::Share(self.post(post)?.0)),
            FeedAction::Unshare(post) => (who, UserAction::Unshare(self.post(post)?.0)),
            FeedAction::Delete(post) => {
                let (id, author) = self.post(post)?;
                (author, UserAction::DeletePost(id))
            }
            FeedAction::Comment(post) => {
                let content = format!("comment {}", self.comments.len() + 1);
                (who, UserAction::Comment { post: self.post(post)?.0, parent: None, content })
            }
            FeedAction::DeleteComment(comment) => {
                let (id, author) = self.comment(comment)?;
                (author, UserAction::DeleteComment(id))
            }
            _ => return None,
        })
    }

    fn act_of_staff(&self, who: Name, action: FeedAction) -> Option<(Name, UserAction)> {
        let act = match action {
            FeedAction::Judge(post, to) => UserAction::Moderate(self.post(post)?.0, to),
            FeedAction::JudgeComment(comment, to) => {
                UserAction::ModerateComment(self.comment(comment)?.0, to)
            }
            FeedAction::Suspend => UserAction::Suspend(who.id()),
            FeedAction::Reinstate => UserAction::Unsuspend(who.id()),
            _ => return None,
        };
        Some((Name::Mo, act))
    }

    async fn edit(&self, at: Server, post: Nth, change: PostChange) -> Result<(), Code> {
        let (id, author) = self.post(post).ok_or(Code::NotFound)?;
        let posts = self.server(at).town.posts();
        refused(posts.update(&author.caller(), &id, &change, None).await)
    }

    /// Posts an activity about an object of the user's own.
    async fn tell_of(&self, who: Name, at: Server, topic: Topic) -> Result<(), Code> {
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
        // With all optional fields, which copies must preserve.
        let mut input = NewActivity {
            group_id,
            verb,
            object_type,
            object_id,
            preview_text: Some(format!("{who} at {}", self.now_ms())),
            media: (object_type == ObjectType::Goal).then(|| picture_of(who)),
            tags: vec!["hill".parse().unwrap()],
        };
        let activities = self.server(at).town.activities();
        let env_number = activities.post(&who.caller(), &input, None).await;
        if !matches!(env_number, Err(ActivityError::NoSuchMedia)) {
            return refused(env_number);
        }
        // Each user has one picture, which may be used already.
        input.media = None;
        refused(activities.post(&who.caller(), &input, None).await)
    }

    pub(crate) fn post(&self, nth: Nth) -> Option<(PostId, Name)> {
        self.posts.get(nth.0.checked_rem(self.posts.len())?).cloned()
    }

    pub(crate) fn comment(&self, nth: Nth) -> Option<(CommentId, Name)> {
        self.comments.get(nth.0.checked_rem(self.comments.len())?).cloned()
    }
}

/// The code of a refusal; panics on an internal error.
fn refused<T, E: Refusal>(result: Result<T, E>) -> Result<(), Code> {
    result.map(drop).map_err(|error| {
        let code = error.code();
        assert!(code != Code::Internal, "{error}");
        code
    })
}
