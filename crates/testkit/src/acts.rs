//! Everything somebody can do in a town, as data: for tests that do all of it, at random, at once, or
//! stopped in the middle.

use roundtable_domain::{
    Caller, Code, Edit, GroupChange, NewActivity, NewComment, NewGroup, NewPost, PostChange,
    ProfileChange, Refusal,
};
use roundtable_model::{
    ActivityVerb, CommentId, GroupId, GroupRole, ModerationStatus, Nickname, ObjectType, PostId,
    RequestId, Role, UserId, Visibility,
};

use crate::Town;

/// Something somebody can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    Follow(UserId),
    Unfollow(UserId),
    Accept(UserId),
    Reject(UserId),
    Mute(UserId, bool),
    Block(UserId),
    Unblock(UserId),
    CreateGroup { name: String, private: bool },
    UpdateGroup(GroupId, String),
    DeleteGroup(GroupId),
    Join(GroupId),
    Leave(GroupId),
    Invite(GroupId, UserId),
    Approve(GroupId, UserId),
    Remove(GroupId, UserId),
    SetRole(GroupId, UserId, GroupRole),
    Post { content: String, group: Option<GroupId>, visibility: Visibility },
    EditPost(PostId, String, Visibility),
    DeletePost(PostId),
    Like(PostId),
    Unlike(PostId),
    Share(PostId),
    Unshare(PostId),
    Comment { post: PostId, parent: Option<CommentId>, content: String },
    EditComment(CommentId, String),
    DeleteComment(CommentId),
    LikeComment(CommentId),
    UnlikeComment(CommentId),
    PostActivity(PostId),
    Report(PostId),
    ReportComment(CommentId),
    Moderate(PostId, ModerationStatus),
    ModerateComment(CommentId, ModerationStatus),
    Rename(Nickname),
    TurnPrivate(bool),
    Suspend(UserId),
    Unsuspend(UserId),
    SetRoles(UserId, Vec<Role>),
    DeleteAccount(Nickname),
}

/// What each is called, and which method of which service it is: this does not compile when one is
/// missing.
macro_rules! named {
    ($($variant:ident $operation:literal)*) => {
        impl Act {
            /// What all of them are called.
            pub const NAMES: &[&str] = &[$(stringify!($variant)),*];

            /// What it is called, whoever does it to whatever.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => stringify!($variant),)*
                }
            }

            /// The service and the method that does it.
            pub const fn operation(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $operation,)*
                }
            }
        }
    };
}

named! {
    Follow "follows.follow"
    Unfollow "follows.unfollow"
    Accept "follows.accept"
    Reject "follows.reject"
    Mute "follows.update"
    Block "blocks.block"
    Unblock "blocks.unblock"
    CreateGroup "groups.create"
    UpdateGroup "groups.update"
    DeleteGroup "groups.delete"
    Join "groups.join"
    Leave "groups.leave"
    Invite "groups.invite"
    Approve "groups.approve"
    Remove "groups.remove"
    SetRole "groups.set_role"
    Post "posts.create"
    EditPost "posts.update"
    DeletePost "posts.delete"
    Like "likes.like"
    Unlike "likes.unlike"
    Share "shares.share"
    Unshare "shares.unshare"
    Comment "comments.add"
    EditComment "comments.update"
    DeleteComment "comments.delete"
    LikeComment "comments.like"
    UnlikeComment "comments.unlike"
    PostActivity "activities.post"
    Report "moderation.report_post"
    ReportComment "moderation.report_comment"
    Moderate "moderation.moderate_post"
    ModerateComment "moderation.moderate_comment"
    Rename "accounts.update_profile"
    TurnPrivate "accounts.update_profile"
    Suspend "accounts.suspend"
    Unsuspend "accounts.unsuspend"
    SetRoles "accounts.set_roles"
    DeleteAccount "accounts.delete_account"
}

/// What came of it, by its id where it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// A post.
    Post(PostId),
    /// A comment.
    Comment(CommentId),
    /// A group.
    Group(GroupId),
    /// Something without an id of its own.
    Other,
}

/// The code of a refusal; everything else that came of it, forgotten.
fn plain<T, E: Refusal>(result: Result<T, E>) -> Result<Done, Code> {
    result.map(|_| Done::Other).map_err(|error| code(&error))
}

fn code(error: &impl Refusal) -> Code {
    let code = error.code();
    // A test must not take a failure of the program for a refusal.
    assert!(code != Code::Internal, "{error}");
    code
}

impl Town {
    /// Somebody does something.
    pub async fn act(
        &self,
        caller: &Caller,
        act: &Act,
        request: Option<&RequestId>,
    ) -> Result<Done, Code> {
        match act {
            Act::Follow(_)
            | Act::Unfollow(_)
            | Act::Accept(_)
            | Act::Reject(_)
            | Act::Mute(..)
            | Act::Block(_)
            | Act::Unblock(_) => self.act_on_people(caller, act, request).await,
            Act::CreateGroup { .. }
            | Act::UpdateGroup(..)
            | Act::DeleteGroup(_)
            | Act::Join(_)
            | Act::Leave(_)
            | Act::Invite(..)
            | Act::Approve(..)
            | Act::Remove(..)
            | Act::SetRole(..) => self.act_on_groups(caller, act, request).await,
            Act::Post { .. }
            | Act::EditPost(..)
            | Act::DeletePost(_)
            | Act::Like(_)
            | Act::Unlike(_)
            | Act::Share(_)
            | Act::Unshare(_)
            | Act::PostActivity(_) => self.act_on_posts(caller, act, request).await,
            Act::Comment { .. }
            | Act::EditComment(..)
            | Act::DeleteComment(_)
            | Act::LikeComment(_)
            | Act::UnlikeComment(_) => self.act_on_comments(caller, act, request).await,
            _ => self.act_on_accounts(caller, act, request).await,
        }
    }

    async fn act_on_people(
        &self,
        caller: &Caller,
        act: &Act,
        request: Option<&RequestId>,
    ) -> Result<Done, Code> {
        let (follows, blocks) = (self.follows(), self.blocks());
        match act {
            Act::Follow(user) => plain(follows.follow(caller, user, request).await),
            Act::Unfollow(user) => plain(follows.unfollow(caller, user, request).await),
            Act::Accept(user) => plain(follows.accept(caller, user, request).await),
            Act::Reject(user) => plain(follows.reject(caller, user, request).await),
            Act::Mute(user, muted) => {
                plain(follows.update(caller, user, Some(*muted), None, request).await)
            }
            Act::Block(user) => plain(blocks.block(caller, user, request).await),
            Act::Unblock(user) => plain(blocks.unblock(caller, user, request).await),
            other => panic!("{other:?} is not about people"),
        }
    }

    async fn act_on_groups(
        &self,
        caller: &Caller,
        act: &Act,
        request: Option<&RequestId>,
    ) -> Result<Done, Code> {
        let groups = self.groups();
        match act {
            Act::CreateGroup { name, private } => {
                let group = NewGroup { is_private: *private, ..NewGroup::named(name) };
                let made = groups.create(caller, group, request).await;
                made.map(|group| Done::Group(group.id)).map_err(|error| code(&error))
            }
            Act::UpdateGroup(id, name) => {
                let change = GroupChange { name: Some(name.clone()), ..GroupChange::default() };
                plain(groups.update(caller, id, change, request).await)
            }
            Act::DeleteGroup(id) => plain(groups.delete(caller, id, request).await),
            Act::Join(id) => plain(groups.join(caller, id, request).await),
            Act::Leave(id) => plain(groups.leave(caller, id, request).await),
            Act::Invite(id, user) => plain(groups.invite(caller, id, user, request).await),
            Act::Approve(id, user) => plain(groups.approve(caller, id, user, request).await),
            Act::Remove(id, user) => plain(groups.remove(caller, id, user, request).await),
            Act::SetRole(id, user, role) => {
                plain(groups.set_role(caller, id, user, *role, request).await)
            }
            other => panic!("{other:?} is not about groups"),
        }
    }

    async fn act_on_posts(
        &self,
        caller: &Caller,
        act: &Act,
        request: Option<&RequestId>,
    ) -> Result<Done, Code> {
        let posts = self.posts();
        match act {
            Act::Post { content, group, visibility } => {
                let (group_id, visibility) = (group.clone(), Some(*visibility));
                let input = NewPost { group_id, visibility, ..NewPost::text(content.clone()) };
                let made = posts.create(caller, &input, request).await;
                made.map(|post| Done::Post(post.id)).map_err(|error| code(&error))
            }
            Act::EditPost(id, content, visibility) => {
                let change =
                    PostChange { content: Some(content.clone()), visibility: Some(*visibility) };
                plain(posts.update(caller, id, &change, request).await)
            }
            Act::DeletePost(id) => plain(posts.delete(caller, id, request).await),
            Act::Like(id) => plain(self.likes().like(caller, id, None, request).await),
            Act::Unlike(id) => plain(self.likes().unlike(caller, id, request).await),
            Act::Share(id) => plain(self.shares().share(caller, id, request).await),
            Act::Unshare(id) => plain(self.shares().unshare(caller, id, request).await),
            Act::PostActivity(id) => {
                let input = NewActivity {
                    group_id: None,
                    verb: ActivityVerb::Post,
                    object_type: ObjectType::Post,
                    object_id: id.into(),
                    preview_text: None,
                    media: None,
                    tags: Vec::new(),
                };
                plain(self.activities().post(caller, &input, request).await)
            }
            other => panic!("{other:?} is not about posts"),
        }
    }

    async fn act_on_comments(
        &self,
        caller: &Caller,
        act: &Act,
        request: Option<&RequestId>,
    ) -> Result<Done, Code> {
        let comments = self.comments();
        match act {
            Act::Comment { post, parent, content } => {
                let (post_id, content) = (post.clone(), content.clone());
                let input = NewComment { post_id, content, parent_comment_id: parent.clone() };
                let made = comments.add(caller, &input, request).await;
                made.map(|comment| Done::Comment(comment.id)).map_err(|error| code(&error))
            }
            Act::EditComment(id, content) => {
                plain(comments.update(caller, id, content, request).await)
            }
            Act::DeleteComment(id) => plain(comments.delete(caller, id, request).await),
            Act::LikeComment(id) => plain(comments.like(caller, id, request).await),
            Act::UnlikeComment(id) => plain(comments.unlike(caller, id, request).await),
            other => panic!("{other:?} is not about comments"),
        }
    }

    async fn act_on_accounts(
        &self,
        caller: &Caller,
        act: &Act,
        request: Option<&RequestId>,
    ) -> Result<Done, Code> {
        let (accounts, moderation) = (self.accounts(), self.moderation());
        match act {
            Act::Report(id) => plain(moderation.report_post(caller, id, "rude", request).await),
            Act::ReportComment(id) => {
                plain(moderation.report_comment(caller, id, "rude", request).await)
            }
            Act::Moderate(id, status) => {
                plain(moderation.moderate_post(caller, id, *status, None, request).await)
            }
            Act::ModerateComment(id, status) => {
                plain(moderation.moderate_comment(caller, id, *status, None, request).await)
            }
            Act::Rename(nickname) => {
                let change =
                    ProfileChange { nickname: Some(nickname.clone()), ..ProfileChange::default() };
                plain(accounts.update_profile(caller, &change, request).await)
            }
            Act::TurnPrivate(private) => {
                let bio = Edit::Set(format!("private: {private}"));
                let is_private = Some(*private);
                let change = ProfileChange { is_private, bio, ..ProfileChange::default() };
                plain(accounts.update_profile(caller, &change, request).await)
            }
            Act::Suspend(user) => plain(accounts.suspend(caller, user, "rude", request).await),
            Act::Unsuspend(user) => plain(accounts.unsuspend(caller, user, request).await),
            Act::SetRoles(user, roles) => {
                plain(accounts.set_roles(caller, user, roles, request).await)
            }
            Act::DeleteAccount(nickname) => plain(accounts.delete_account(caller, nickname).await),
            other => panic!("{other:?} is not about accounts"),
        }
    }
}
