//! Reports, and mutations for moderators and admins.

use async_graphql::{Context, InputObject, Object};
use roundtable_domain::NewPromotion;
use roundtable_model::{
    ActorId, CommentId, ModerationStatus, PostId, PromotionReason, Role, UserId,
};

use crate::ApiError;
use crate::enums::EnumValue;
use crate::request::{RequestContext, RequestIdArg, id_ref};
use crate::scalars::{ApiId, Json};
use crate::types::comments::Comment;
use crate::types::moderation::ModerationCase;
use crate::types::posts::Post;
use crate::types::promotions::Promotion;
use crate::types::users::User;

/// The number of dead letters that are retried by default, and at most.
const REDRIVE_DEFAULT: i32 = 100;
const REDRIVE_MAX: i32 = 10_000;

#[derive(Debug, Default)]
pub(super) struct ModerationMutations;

/// A moderator's decision about a post.
#[derive(Debug, InputObject)]
pub(crate) struct ModeratePostInput {
    post_id: ApiId<PostId>,
    /// APPROVED, FLAGGED or REJECTED.
    status: EnumValue<ModerationStatus>,
    reason: Option<String>,
}

/// A new promotion: the setting whether a subject's activities are copied to followers' feeds.
#[derive(Debug, InputObject)]
pub(crate) struct SetPromotionInput {
    /// A user's or a group's id.
    subject_id: ApiId<ActorId>,
    fanout_enabled: bool,
    reason: EnumValue<PromotionReason>,
    thresholds: Option<Json>,
}

impl SetPromotionInput {
    fn read(self) -> Result<NewPromotion, ApiError> {
        let thresholds = self.thresholds.map(|json| roundtable_model::Json::encode(&json.0));
        let thresholds = thresholds.transpose();
        Ok(NewPromotion {
            subject_id: self.subject_id.0,
            fanout_enabled: self.fanout_enabled,
            reason: self.reason.0,
            thresholds: thresholds
                .map_err(|error| ApiError::bad_request(format!("thresholds: {error}")))?,
        })
    }
}

#[Object]
impl ModerationMutations {
    /// Reports a post to the moderators. Repeated reports count once.
    async fn report_post(
        &self,
        ctx: &Context<'_>,
        post_id: ApiId<PostId>,
        reason: String,
        request_id: RequestIdArg,
    ) -> Result<ModerationCase, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (moderation, request) = (context.services().moderation(), id_ref(&request_id));
        Ok(moderation.report_post(context.caller()?, &post_id.0, &reason, request).await?.into())
    }

    /// Reports a comment to the moderators. Repeated reports count once.
    async fn report_comment(
        &self,
        ctx: &Context<'_>,
        comment_id: ApiId<CommentId>,
        reason: String,
        request_id: RequestIdArg,
    ) -> Result<ModerationCase, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (moderation, request) = (context.services().moderation(), id_ref(&request_id));
        let case = moderation.report_comment(context.caller()?, &comment_id.0, &reason, request);
        Ok(case.await?.into())
    }

    /// Shows or hides a post. For moderators.
    async fn moderate_post(
        &self,
        ctx: &Context<'_>,
        input: ModeratePostInput,
        request_id: RequestIdArg,
    ) -> Result<Post, ApiError> {
        let context = RequestContext::of(ctx)?;
        let ModeratePostInput { post_id, status, reason } = input;
        let (moderation, request) = (context.services().moderation(), id_ref(&request_id));
        let (caller, reason) = (context.caller()?, reason.as_deref());
        let post = moderation.moderate_post(caller, &post_id.0, status.0, reason, request);
        Ok(post.await?.into())
    }

    /// Shows or hides a comment. For moderators.
    async fn moderate_comment(
        &self,
        ctx: &Context<'_>,
        comment_id: ApiId<CommentId>,
        status: EnumValue<ModerationStatus>,
        reason: Option<String>,
        request_id: RequestIdArg,
    ) -> Result<Comment, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (moderation, request) = (context.services().moderation(), id_ref(&request_id));
        let (caller, reason) = (context.caller()?, reason.as_deref());
        let comment = moderation.moderate_comment(caller, &comment_id.0, status.0, reason, request);
        Ok(comment.await?.into())
    }

    /// Promotes or demotes a user or a group. For admins.
    async fn set_promotion(
        &self,
        ctx: &Context<'_>,
        input: SetPromotionInput,
        request_id: RequestIdArg,
    ) -> Result<Promotion, ApiError> {
        let context = RequestContext::of(ctx)?;
        let promotions = context.services().promotions();
        Ok(promotions.set(context.caller()?, &input.read()?, id_ref(&request_id)).await?.into())
    }

    /// Replaces a user's roles. For admins.
    async fn set_user_roles(
        &self,
        ctx: &Context<'_>,
        user_id: ApiId<UserId>,
        roles: Vec<EnumValue<Role>>,
        request_id: RequestIdArg,
    ) -> Result<User, ApiError> {
        let context = RequestContext::of(ctx)?;
        let roles: Vec<Role> = roles.into_iter().map(|word| word.0).collect();
        let (accounts, request) = (context.services().accounts(), id_ref(&request_id));
        Ok(accounts.set_roles(context.caller()?, &user_id.0, &roles, request).await?.into())
    }

    /// Suspends an account and hides everything its owner created. For moderators.
    async fn suspend_user(
        &self,
        ctx: &Context<'_>,
        user_id: ApiId<UserId>,
        reason: String,
        request_id: RequestIdArg,
    ) -> Result<User, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (accounts, request) = (context.services().accounts(), id_ref(&request_id));
        Ok(accounts.suspend(context.caller()?, &user_id.0, &reason, request).await?.into())
    }

    /// Restores a suspended account. For moderators.
    async fn unsuspend_user(
        &self,
        ctx: &Context<'_>,
        user_id: ApiId<UserId>,
        request_id: RequestIdArg,
    ) -> Result<User, ApiError> {
        let context = RequestContext::of(ctx)?;
        let accounts = context.services().accounts();
        Ok(accounts.unsuspend(context.caller()?, &user_id.0, id_ref(&request_id)).await?.into())
    }

    /// Retries dead letters, by default at most 100, and returns how many succeeded. For admins.
    async fn redrive_dead_letters(
        &self,
        ctx: &Context<'_>,
        max: Option<i32>,
    ) -> Result<u64, ApiError> {
        let context = RequestContext::of(ctx)?;
        let services = context.services();
        services.accounts().check_operator(context.caller()?).await?;
        let max = max.unwrap_or(REDRIVE_DEFAULT);
        let max = usize::try_from(max).ok().filter(|_| (1..=REDRIVE_MAX).contains(&max));
        let max = max.ok_or_else(|| ApiError::bad_request("max: expected 1 to 10000"))?;
        Ok(services.streams.redrive(max).await? as u64)
    }
}
