//! Moderation cases, reports and decisions.

use std::sync::Arc;

use roundtable_domain::{CaseSubject, ModeratedContent, ReviewedCase};
use roundtable_graphql_macros::{fields, input, object};
use roundtable_interface::ApiError;
use roundtable_model::{
    CaseId, CommentId, GroupId, MessageId, ModerationStatus, PostId, RequestId, RoomId, UserId,
    entities,
};

use crate::audit::{self, AuditEntry, Report};
use crate::comments::Comment;
use crate::connection::{Connection, PageArguments};
use crate::groups::Group;
use crate::node::node_id;
use crate::objects::{converted, only};
use crate::posts::Post;
use crate::request::RequestContext;
use crate::users::User;

#[derive(Clone, Debug)]
pub(crate) struct ModerationCase {
    case: Arc<entities::ModerationCase>,
    /// `None` for a case that was just reported: its content is read if the document selects it.
    subject: Option<ReviewedSubject>,
}

#[derive(Clone, Debug)]
enum ReviewedSubject {
    Content { post: Post, comment: Option<Comment> },
    User(User),
    Group(Group),
    Message(Arc<entities::Message>),
}

impl From<entities::ModerationCase> for ModerationCase {
    fn from(case: entities::ModerationCase) -> Self {
        Self { case: Arc::new(case), subject: None }
    }
}

impl From<ReviewedCase> for ModerationCase {
    fn from(ReviewedCase { case, subject }: ReviewedCase) -> Self {
        let subject = match subject {
            CaseSubject::Content(content) => {
                let ModeratedContent { post, comment } = *content;
                ReviewedSubject::Content { post: post.into(), comment: comment.map(Into::into) }
            }
            CaseSubject::User(user) => ReviewedSubject::User((*user).into()),
            CaseSubject::Group(group) => ReviewedSubject::Group((*group).into()),
            CaseSubject::Message(message) => ReviewedSubject::Message(message.into()),
        };
        Self { case: Arc::new(case), subject: Some(subject) }
    }
}

impl ModerationCase {
    /// Returns cases in the order of their ids; `None` where there is none.
    pub(crate) async fn load(
        context: &RequestContext,
        ids: &[CaseId],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        let Some(caller) = context.viewer() else { return Ok(vec![None; ids.len()]) };
        Ok(converted(context.services().moderation().cases(caller, ids).await?))
    }
}

#[object(of = self.case)]
impl ModerationCase {
    fn node_id(&self) -> String {
        node_id("ModerationCase", &[&self.case.id])
    }

    async fn post(&self, context: &RequestContext) -> Result<Option<Post>, ApiError> {
        if let Some(ReviewedSubject::Content { post, .. }) = &self.subject {
            return Ok(Some(post.clone()));
        }
        let Some(id) = self.case.post_id.clone() else { return Ok(None) };
        Ok(only(Post::load(context, &[id]).await?))
    }

    async fn comment(&self, context: &RequestContext) -> Result<Option<Comment>, ApiError> {
        if let Some(ReviewedSubject::Content { comment, .. }) = &self.subject {
            return Ok(comment.clone());
        }
        let (post, comment) = (self.case.post_id.clone(), self.case.comment_id.clone());
        let Some(key) = post.zip(comment) else { return Ok(None) };
        Ok(only(Comment::load(context, &[key]).await?))
    }

    async fn user(&self, context: &RequestContext) -> Result<Option<User>, ApiError> {
        let id = match &self.subject {
            Some(ReviewedSubject::User(user)) => return Ok(Some(user.clone())),
            Some(ReviewedSubject::Message(message)) => Some(message.user_id.clone()),
            _ => self.case.user_id.clone(),
        };
        let Some(id) = id else { return Ok(None) };
        Ok(only(User::load(context, &[id]).await?))
    }

    async fn group(&self, context: &RequestContext) -> Result<Option<Group>, ApiError> {
        if let Some(ReviewedSubject::Group(group)) = &self.subject {
            return Ok(Some(group.clone()));
        }
        let Some(id) = self.case.group_id.clone() else { return Ok(None) };
        Ok(only(Group::load(context, &[id]).await?))
    }

    fn message_text(&self) -> Option<&str> {
        match &self.subject {
            Some(ReviewedSubject::Message(message)) => Some(&message.text),
            _ => None,
        }
    }

    async fn reports(
        &self,
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Report>, ApiError> {
        Connection::empty_if_hidden(audit::list_reports(context, &self.case.id, paging).await)
    }

    async fn history(
        &self,
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<AuditEntry>, ApiError> {
        let subject = self.case.id.recast();
        Connection::empty_if_hidden(audit::list_audit_of(context, &subject, paging).await)
    }

    async fn decided_by(
        cases: &[Self],
        context: &RequestContext,
    ) -> Result<Vec<Option<User>>, ApiError> {
        let deciders = cases.iter().map(|case| case.case.decided_by.clone());
        User::load_given(context, &deciders.collect::<Vec<_>>()).await
    }
}

pub(crate) struct ModerationQueries;

#[fields(Query)]
impl ModerationQueries {
    async fn list_moderation_queue(
        context: &RequestContext,
        status: Option<ModerationStatus>,
        paging: PageArguments,
    ) -> Result<Connection<ModerationCase>, ApiError> {
        let (caller, moderation) = (context.caller()?, context.services().moderation());
        let list = format!("cases, {status:?}");
        let read = async |page: &_| moderation.queue(caller, status, page).await;
        paging.read(context, &list, read).await
    }

    async fn get_moderation_case(
        context: &RequestContext,
        id: CaseId,
    ) -> Result<Option<ModerationCase>, ApiError> {
        let caller = context.caller()?;
        let found = context.services().moderation().cases(caller, &[id]).await?;
        Ok(only(converted(found)))
    }
}

#[input]
#[derive(Debug)]
pub(crate) struct ModeratePostInput {
    post_id: PostId,
    status: ModerationStatus,
    reason: Option<String>,
}

pub(crate) struct ModerationMutations;

#[fields(Mutation)]
impl ModerationMutations {
    async fn report_post(
        context: &RequestContext,
        post_id: PostId,
        reason: String,
        request_id: Option<RequestId>,
    ) -> Result<ModerationCase, ApiError> {
        let (moderation, caller) = (context.services().moderation(), context.caller()?);
        let request = request_id.as_ref();
        Ok(moderation.report_post(caller, &post_id, &reason, request).await?.into())
    }

    async fn report_comment(
        context: &RequestContext,
        comment_id: CommentId,
        reason: String,
        request_id: Option<RequestId>,
    ) -> Result<ModerationCase, ApiError> {
        let (moderation, caller) = (context.services().moderation(), context.caller()?);
        let request = request_id.as_ref();
        Ok(moderation.report_comment(caller, &comment_id, &reason, request).await?.into())
    }

    async fn report_user(
        context: &RequestContext,
        user_id: UserId,
        reason: String,
        request_id: Option<RequestId>,
    ) -> Result<ModerationCase, ApiError> {
        let (moderation, caller) = (context.services().moderation(), context.caller()?);
        let request = request_id.as_ref();
        Ok(moderation.report_user(caller, &user_id, &reason, request).await?.into())
    }

    async fn report_group(
        context: &RequestContext,
        group_id: GroupId,
        reason: String,
        request_id: Option<RequestId>,
    ) -> Result<ModerationCase, ApiError> {
        let (moderation, caller) = (context.services().moderation(), context.caller()?);
        let request = request_id.as_ref();
        Ok(moderation.report_group(caller, &group_id, &reason, request).await?.into())
    }

    async fn report_message(
        context: &RequestContext,
        room_id: RoomId,
        message_id: MessageId,
        reason: String,
        request_id: Option<RequestId>,
    ) -> Result<ModerationCase, ApiError> {
        let (moderation, caller) = (context.services().moderation(), context.caller()?);
        let request = request_id.as_ref();
        let case = moderation.report_message(caller, &room_id, &message_id, &reason, request);
        Ok(case.await?.into())
    }

    async fn decide_case(
        context: &RequestContext,
        case_id: CaseId,
        status: ModerationStatus,
        reason: Option<String>,
        request_id: Option<RequestId>,
    ) -> Result<ModerationCase, ApiError> {
        let (moderation, caller) = (context.services().moderation(), context.caller()?);
        let (reason, request) = (reason.as_deref(), request_id.as_ref());
        Ok(moderation.decide_case(caller, &case_id, status, reason, request).await?.into())
    }

    async fn moderate_post(
        context: &RequestContext,
        input: ModeratePostInput,
        request_id: Option<RequestId>,
    ) -> Result<Post, ApiError> {
        let ModeratePostInput { post_id, status, reason } = input;
        let (moderation, caller) = (context.services().moderation(), context.caller()?);
        let (reason, request) = (reason.as_deref(), request_id.as_ref());
        Ok(moderation.moderate_post(caller, &post_id, status, reason, request).await?.into())
    }

    async fn moderate_comment(
        context: &RequestContext,
        comment_id: CommentId,
        status: ModerationStatus,
        reason: Option<String>,
        request_id: Option<RequestId>,
    ) -> Result<Comment, ApiError> {
        let (moderation, caller) = (context.services().moderation(), context.caller()?);
        let (reason, request) = (reason.as_deref(), request_id.as_ref());
        Ok(moderation.moderate_comment(caller, &comment_id, status, reason, request).await?.into())
    }
}
