//! The mutations of accounts, follows, groups, posts and moderation as data, for tests that run
//! them at random, concurrently, or stop them in the middle.

use std::cell::RefCell;

use roundtable_domain::{
    Caller, Code, Edit, GroupChange, NewActivity, NewComment, NewGroup, NewPost, PostChange,
    ProfileChange, Refusal,
};
use roundtable_model::{
    ActivityVerb, CaseId, CommentId, GroupId, GroupRole, LikeType, ModerationStatus, Nickname,
    ObjectType, PostId, RequestId, Role, Tier, UserId, Visibility,
};

use crate::Town;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserAction {
    Follow(UserId),
    Unfollow(UserId),
    Accept(UserId),
    Reject(UserId),
    Mute(UserId, bool),
    MuteUser(UserId),
    UnmuteUser(UserId),
    Block(UserId),
    Unblock(UserId),
    CreateGroup { name: String, private: bool },
    UpdateGroup(GroupId, String),
    TurnGroupPrivate(GroupId, bool),
    ReviveGroup(GroupId),
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
    Like(PostId, Option<LikeType>),
    Unlike(PostId),
    Share(PostId),
    Unshare(PostId),
    Comment { post: PostId, parent: Option<CommentId>, content: String },
    EditComment(CommentId, String),
    DeleteComment(CommentId),
    LikeComment(CommentId, Option<LikeType>),
    UnlikeComment(CommentId),
    PostActivity(PostId),
    Report(PostId),
    ReportComment(CommentId),
    ReportUser(UserId),
    ReportGroup(GroupId),
    DecideCase(CaseId, ModerationStatus),
    Moderate(PostId, ModerationStatus),
    ModerateComment(CommentId, ModerationStatus),
    Rename(Nickname),
    TurnPrivate(bool),
    Suspend(UserId),
    Unsuspend(UserId),
    SetRoles(UserId, Vec<Role>),
    SetTier(UserId, Tier),
    SetVerified(UserId, bool),
    DeleteAccount(Nickname),
}

/// Lists the name of each variant and its service method; a missing one does not compile.
macro_rules! named {
    ($($variant:ident $operation:literal)*) => {
        impl UserAction {
            pub const NAMES: &[&str] = &[$(stringify!($variant)),*];

            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => stringify!($variant),)*
                }
            }

            /// The service and the method that perform it.
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
    MuteUser "mutes.mute"
    UnmuteUser "mutes.unmute"
    Block "blocks.block"
    Unblock "blocks.unblock"
    CreateGroup "groups.create"
    UpdateGroup "groups.update"
    TurnGroupPrivate "groups.update"
    ReviveGroup "groups.revive"
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
    ReportUser "moderation.report_user"
    ReportGroup "moderation.report_group"
    DecideCase "moderation.decide_case"
    Moderate "moderation.moderate_post"
    ModerateComment "moderation.moderate_comment"
    Rename "accounts.update_profile"
    TurnPrivate "accounts.update_profile"
    Suspend "accounts.suspend"
    Unsuspend "accounts.unsuspend"
    SetRoles "accounts.set_roles"
    SetTier "accounts.set_tier"
    SetVerified "accounts.set_verified"
    DeleteAccount "accounts.delete_account"
}

/// The id of the entity it created, if any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionOutcome {
    Post(PostId),
    Comment(CommentId),
    Group(GroupId),
    Other,
}

thread_local! {
    /// The text of the last internal error of this thread, for the assertion that follows it.
    static LAST_INTERNAL_ERROR: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The beginning of errors of a store that did not answer.
const UNAVAILABLE: &str = "the table is unavailable";

/// Drops the output, and reduces a refusal to its code.
fn reduce<T, E: Refusal>(result: Result<T, E>) -> Result<ActionOutcome, Code> {
    result.map(|_| ActionOutcome::Other).map_err(|error| code(&error))
}

pub(crate) fn code(error: &impl Refusal) -> Code {
    let code = error.code();
    if matches!(code, Code::Internal | Code::OutcomeUnknown) {
        LAST_INTERNAL_ERROR.set(error.to_string());
    }
    code
}

/// Returns the answer of a store that does not fail; panics on an internal error, which is not a
/// refusal.
pub(crate) fn refused<T>(answer: Result<T, Code>) -> Result<T, Code> {
    if let Err(Code::Internal | Code::OutcomeUnknown) = answer {
        panic!("{}", LAST_INTERNAL_ERROR.take());
    }
    answer
}

/// As [`refused`], of a store that may not answer: then the outcome is [`Code::OutcomeUnknown`].
pub(crate) fn refused_or_lost<T>(answer: Result<T, Code>) -> Result<T, Code> {
    match answer {
        // A full disk refuses the rest of a mutation that has begun.
        Err(Code::OutcomeUnknown | Code::ReadOnly) => Err(Code::OutcomeUnknown),
        // A read had no answer.
        Err(Code::Internal)
            if LAST_INTERNAL_ERROR.with_borrow(|text| text.contains(UNAVAILABLE)) =>
        {
            Err(Code::OutcomeUnknown)
        }
        answer => refused(answer),
    }
}

impl Town {
    /// Performs an action. Panics on an internal error.
    pub async fn perform(
        &self,
        caller: &Caller,
        action: &UserAction,
        request: Option<&RequestId>,
    ) -> Result<ActionOutcome, Code> {
        refused(self.try_perform(caller, action, request).await)
    }

    /// As [`Town::perform`], on a store that may fail: the outcome is unknown after
    /// [`Code::Internal`] and [`Code::OutcomeUnknown`].
    pub async fn try_perform(
        &self,
        caller: &Caller,
        action: &UserAction,
        request: Option<&RequestId>,
    ) -> Result<ActionOutcome, Code> {
        match action {
            UserAction::Follow(_)
            | UserAction::Unfollow(_)
            | UserAction::Accept(_)
            | UserAction::Reject(_)
            | UserAction::Mute(..)
            | UserAction::MuteUser(_)
            | UserAction::UnmuteUser(_)
            | UserAction::Block(_)
            | UserAction::Unblock(_) => self.perform_on_users(caller, action, request).await,
            UserAction::CreateGroup { .. }
            | UserAction::UpdateGroup(..)
            | UserAction::TurnGroupPrivate(..)
            | UserAction::ReviveGroup(_)
            | UserAction::DeleteGroup(_)
            | UserAction::Join(_)
            | UserAction::Leave(_)
            | UserAction::Invite(..)
            | UserAction::Approve(..)
            | UserAction::Remove(..)
            | UserAction::SetRole(..) => self.perform_on_groups(caller, action, request).await,
            UserAction::Post { .. }
            | UserAction::EditPost(..)
            | UserAction::DeletePost(_)
            | UserAction::Like(..)
            | UserAction::Unlike(_)
            | UserAction::Share(_)
            | UserAction::Unshare(_)
            | UserAction::PostActivity(_) => self.perform_on_posts(caller, action, request).await,
            UserAction::Comment { .. }
            | UserAction::EditComment(..)
            | UserAction::DeleteComment(_)
            | UserAction::LikeComment(..)
            | UserAction::UnlikeComment(_) => {
                self.perform_on_comments(caller, action, request).await
            }
            _ => self.perform_on_accounts(caller, action, request).await,
        }
    }

    async fn perform_on_users(
        &self,
        caller: &Caller,
        action: &UserAction,
        request: Option<&RequestId>,
    ) -> Result<ActionOutcome, Code> {
        let (follows, blocks) = (self.follows(), self.blocks());
        match action {
            UserAction::Follow(user) => reduce(follows.follow(caller, user, request).await),
            UserAction::Unfollow(user) => reduce(follows.unfollow(caller, user, request).await),
            UserAction::Accept(user) => reduce(follows.accept(caller, user, request).await),
            UserAction::Reject(user) => reduce(follows.reject(caller, user, request).await),
            UserAction::Mute(user, muted) => {
                reduce(follows.update(caller, user, Some(*muted), None, None, request).await)
            }
            UserAction::MuteUser(user) => {
                reduce(self.mutes().mute(caller, user, None, request).await)
            }
            UserAction::UnmuteUser(user) => {
                reduce(self.mutes().unmute(caller, user, request).await)
            }
            UserAction::Block(user) => reduce(blocks.block(caller, user, request).await),
            UserAction::Unblock(user) => reduce(blocks.unblock(caller, user, request).await),
            other => panic!("{other:?} is not about people"),
        }
    }

    async fn perform_on_groups(
        &self,
        caller: &Caller,
        action: &UserAction,
        request: Option<&RequestId>,
    ) -> Result<ActionOutcome, Code> {
        let groups = self.groups();
        match action {
            UserAction::CreateGroup { name, private } => {
                let group = NewGroup { is_private: *private, ..NewGroup::named(name) };
                let made = groups.create(caller, group, request).await;
                made.map(|group| ActionOutcome::Group(group.id)).map_err(|error| code(&error))
            }
            UserAction::UpdateGroup(id, name) => {
                let change = GroupChange { name: Some(name.clone()), ..GroupChange::default() };
                reduce(groups.update(caller, id, change, request).await)
            }
            UserAction::TurnGroupPrivate(id, is_private) => {
                let is_private = Some(*is_private);
                let change = GroupChange { is_private, ..GroupChange::default() };
                reduce(groups.update(caller, id, change, request).await)
            }
            UserAction::ReviveGroup(id) => reduce(groups.revive(caller, id, request).await),
            UserAction::DeleteGroup(id) => reduce(groups.delete(caller, id, request).await),
            UserAction::Join(id) => reduce(groups.join(caller, id, request).await),
            UserAction::Leave(id) => reduce(groups.leave(caller, id, request).await),
            UserAction::Invite(id, user) => reduce(groups.invite(caller, id, user, request).await),
            UserAction::Approve(id, user) => {
                reduce(groups.approve(caller, id, user, request).await)
            }
            UserAction::Remove(id, user) => reduce(groups.remove(caller, id, user, request).await),
            UserAction::SetRole(id, user, role) => {
                reduce(groups.set_role(caller, id, user, *role, request).await)
            }
            other => panic!("{other:?} is not about groups"),
        }
    }

    async fn perform_on_posts(
        &self,
        caller: &Caller,
        action: &UserAction,
        request: Option<&RequestId>,
    ) -> Result<ActionOutcome, Code> {
        let posts = self.posts();
        match action {
            UserAction::Post { content, group, visibility } => {
                let (group_id, visibility) = (group.clone(), Some(*visibility));
                let input = NewPost { group_id, visibility, ..NewPost::text(content.clone()) };
                let made = posts.create(caller, &input, request).await;
                made.map(|post| ActionOutcome::Post(post.id)).map_err(|error| code(&error))
            }
            UserAction::EditPost(id, content, visibility) => {
                let change =
                    PostChange { content: Some(content.clone()), visibility: Some(*visibility) };
                reduce(posts.update(caller, id, &change, request).await)
            }
            UserAction::DeletePost(id) => reduce(posts.delete(caller, id, request).await),
            UserAction::Like(id, kind) => {
                reduce(self.likes().like(caller, id, *kind, request).await)
            }
            UserAction::Unlike(id) => reduce(self.likes().unlike(caller, id, request).await),
            UserAction::Share(id) => reduce(self.shares().share(caller, id, request).await),
            UserAction::Unshare(id) => reduce(self.shares().unshare(caller, id, request).await),
            UserAction::PostActivity(id) => {
                let input = NewActivity {
                    group_id: None,
                    verb: ActivityVerb::Post,
                    object_type: ObjectType::Post,
                    object_id: id.into(),
                    preview_text: None,
                    media: None,
                    tags: Vec::new(),
                };
                reduce(self.activities().post(caller, &input, request).await)
            }
            other => panic!("{other:?} is not about posts"),
        }
    }

    async fn perform_on_comments(
        &self,
        caller: &Caller,
        action: &UserAction,
        request: Option<&RequestId>,
    ) -> Result<ActionOutcome, Code> {
        let comments = self.comments();
        match action {
            UserAction::Comment { post, parent, content } => {
                let (post_id, content) = (post.clone(), content.clone());
                let input = NewComment { post_id, content, parent_comment_id: parent.clone() };
                let made = comments.add(caller, &input, request).await;
                made.map(|comment| ActionOutcome::Comment(comment.id)).map_err(|error| code(&error))
            }
            UserAction::EditComment(id, content) => {
                reduce(comments.update(caller, id, content, request).await)
            }
            UserAction::DeleteComment(id) => reduce(comments.delete(caller, id, request).await),
            UserAction::LikeComment(id, kind) => {
                reduce(comments.like(caller, id, *kind, request).await)
            }
            UserAction::UnlikeComment(id) => reduce(comments.unlike(caller, id, request).await),
            other => panic!("{other:?} is not about comments"),
        }
    }

    async fn perform_on_accounts(
        &self,
        caller: &Caller,
        action: &UserAction,
        request: Option<&RequestId>,
    ) -> Result<ActionOutcome, Code> {
        let (accounts, moderation) = (self.accounts(), self.moderation());
        match action {
            UserAction::Report(id) => {
                reduce(moderation.report_post(caller, id, "rude", request).await)
            }
            UserAction::ReportComment(id) => {
                reduce(moderation.report_comment(caller, id, "rude", request).await)
            }
            UserAction::ReportUser(id) => {
                reduce(moderation.report_user(caller, id, "rude", request).await)
            }
            UserAction::ReportGroup(id) => {
                reduce(moderation.report_group(caller, id, "rude", request).await)
            }
            UserAction::DecideCase(id, status) => {
                reduce(moderation.decide_case(caller, id, *status, None, request).await)
            }
            UserAction::Moderate(id, status) => {
                reduce(moderation.moderate_post(caller, id, *status, None, request).await)
            }
            UserAction::ModerateComment(id, status) => {
                reduce(moderation.moderate_comment(caller, id, *status, None, request).await)
            }
            UserAction::Rename(nickname) => {
                let change =
                    ProfileChange { nickname: Some(nickname.clone()), ..ProfileChange::default() };
                reduce(accounts.update_profile(caller, &change, request).await)
            }
            UserAction::TurnPrivate(private) => {
                let bio = Edit::Set(format!("private: {private}"));
                let is_private = Some(*private);
                let change = ProfileChange { is_private, bio, ..ProfileChange::default() };
                reduce(accounts.update_profile(caller, &change, request).await)
            }
            UserAction::Suspend(user) => {
                reduce(accounts.suspend(caller, user, "rude", request).await)
            }
            UserAction::Unsuspend(user) => reduce(accounts.unsuspend(caller, user, request).await),
            UserAction::SetRoles(user, roles) => {
                reduce(accounts.set_roles(caller, user, roles, request).await)
            }
            UserAction::SetTier(user, tier) => {
                reduce(accounts.set_tier(caller, user, *tier, request).await)
            }
            UserAction::SetVerified(user, is_verified) => {
                reduce(accounts.set_verified(caller, user, *is_verified, request).await)
            }
            UserAction::DeleteAccount(nickname) => {
                let caller = caller.clone().with_password_at(self.now());
                reduce(accounts.delete_account(&caller, nickname).await)
            }
            other => panic!("{other:?} is not about accounts"),
        }
    }
}
