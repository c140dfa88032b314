//! Reporting, and what those do who look after the place.

use async_graphql::{Context, InputObject, Object};
use roundtable_domain::NewPromotion;
use roundtable_model::{
    ActorId, CommentId, ModerationStatus, PostId, PromotionReason, Role, UserId,
};

use crate::Refused;
use crate::request::{Asked, Once, once};
use crate::scalars::{Id, Json};
use crate::types::comments::Comment;
use crate::types::moderation::ModerationCase;
use crate::types::posts::Post;
use crate::types::promotions::Promotion;
use crate::types::users::User;
use crate::words::Word;

/// Dead letters that are tried again at once, unless told otherwise, and at most.
const REDRIVEN: i32 = 100;
const REDRIVEN_MAX: i32 = 10_000;

/// Mutations of those who report, and of those who look after the place.
#[derive(Debug, Default)]
pub(super) struct Moderating;

/// What a moderator decides about a post.
#[derive(Debug, InputObject)]
pub(crate) struct ModeratePostInput {
    post_id: Id<PostId>,
    /// APPROVED, FLAGGED or REJECTED.
    status: Word<ModerationStatus>,
    reason: Option<String>,
}

/// Whether what somebody does is to be copied into the feeds of those who follow them.
#[derive(Debug, InputObject)]
pub(crate) struct SetPromotionInput {
    /// A user's or a group's id.
    subject_id: Id<ActorId>,
    fanout_enabled: bool,
    reason: Word<PromotionReason>,
    thresholds: Option<Json>,
}

impl SetPromotionInput {
    fn read(self) -> Result<NewPromotion, Refused> {
        let thresholds = self.thresholds.map(|json| roundtable_model::Json::of(&json.0));
        let thresholds = thresholds.transpose();
        Ok(NewPromotion {
            subject_id: self.subject_id.0,
            fanout_enabled: self.fanout_enabled,
            reason: self.reason.0,
            thresholds: thresholds
                .map_err(|misfit| Refused::bad(format!("thresholds: {misfit}")))?,
        })
    }
}

#[Object]
impl Moderating {
    /// Tells moderators of a post. Reporting twice is reporting once.
    async fn report_post(
        &self,
        ctx: &Context<'_>,
        post_id: Id<PostId>,
        reason: String,
        request_id: Once,
    ) -> Result<ModerationCase, Refused> {
        let asked = Asked::of(ctx)?;
        let (moderation, request) = (asked.services().moderation(), once(&request_id));
        Ok(moderation.report_post(asked.caller()?, &post_id.0, &reason, request).await?.into())
    }

    /// Tells moderators of a comment. Reporting twice is reporting once.
    async fn report_comment(
        &self,
        ctx: &Context<'_>,
        comment_id: Id<CommentId>,
        reason: String,
        request_id: Once,
    ) -> Result<ModerationCase, Refused> {
        let asked = Asked::of(ctx)?;
        let (moderation, request) = (asked.services().moderation(), once(&request_id));
        let case = moderation.report_comment(asked.caller()?, &comment_id.0, &reason, request);
        Ok(case.await?.into())
    }

    /// Shows or hides a post; for moderators.
    async fn moderate_post(
        &self,
        ctx: &Context<'_>,
        input: ModeratePostInput,
        request_id: Once,
    ) -> Result<Post, Refused> {
        let asked = Asked::of(ctx)?;
        let ModeratePostInput { post_id, status, reason } = input;
        let (moderation, request) = (asked.services().moderation(), once(&request_id));
        let (caller, reason) = (asked.caller()?, reason.as_deref());
        let post = moderation.moderate_post(caller, &post_id.0, status.0, reason, request);
        Ok(post.await?.into())
    }

    /// Shows or hides a comment; for moderators.
    async fn moderate_comment(
        &self,
        ctx: &Context<'_>,
        comment_id: Id<CommentId>,
        status: Word<ModerationStatus>,
        reason: Option<String>,
        request_id: Once,
    ) -> Result<Comment, Refused> {
        let asked = Asked::of(ctx)?;
        let (moderation, request) = (asked.services().moderation(), once(&request_id));
        let (caller, reason) = (asked.caller()?, reason.as_deref());
        let comment = moderation.moderate_comment(caller, &comment_id.0, status.0, reason, request);
        Ok(comment.await?.into())
    }

    /// Promotes or demotes somebody; for admins.
    async fn set_promotion(
        &self,
        ctx: &Context<'_>,
        input: SetPromotionInput,
        request_id: Once,
    ) -> Result<Promotion, Refused> {
        let asked = Asked::of(ctx)?;
        let promotions = asked.services().promotions();
        Ok(promotions.set(asked.caller()?, &input.read()?, once(&request_id)).await?.into())
    }

    /// Gives and takes roles; for admins.
    async fn set_user_roles(
        &self,
        ctx: &Context<'_>,
        user_id: Id<UserId>,
        roles: Vec<Word<Role>>,
        request_id: Once,
    ) -> Result<User, Refused> {
        let asked = Asked::of(ctx)?;
        let roles: Vec<Role> = roles.into_iter().map(|word| word.0).collect();
        let (accounts, request) = (asked.services().accounts(), once(&request_id));
        Ok(accounts.set_roles(asked.caller()?, &user_id.0, &roles, request).await?.into())
    }

    /// Suspends an account, with everything its owner made; for moderators.
    async fn suspend_user(
        &self,
        ctx: &Context<'_>,
        user_id: Id<UserId>,
        reason: String,
        request_id: Once,
    ) -> Result<User, Refused> {
        let asked = Asked::of(ctx)?;
        let (accounts, request) = (asked.services().accounts(), once(&request_id));
        Ok(accounts.suspend(asked.caller()?, &user_id.0, &reason, request).await?.into())
    }

    /// Lets a suspended account back; for moderators.
    async fn unsuspend_user(
        &self,
        ctx: &Context<'_>,
        user_id: Id<UserId>,
        request_id: Once,
    ) -> Result<User, Refused> {
        let asked = Asked::of(ctx)?;
        let accounts = asked.services().accounts();
        Ok(accounts.unsuspend(asked.caller()?, &user_id.0, once(&request_id)).await?.into())
    }

    /// Tries again what could not be processed, 100 at once unless told otherwise; answers with how
    /// many were dealt with. For admins.
    async fn redrive_dead_letters(
        &self,
        ctx: &Context<'_>,
        max: Option<i32>,
    ) -> Result<u64, Refused> {
        let asked = Asked::of(ctx)?;
        let services = asked.services();
        services.accounts().check_operator(asked.caller()?).await?;
        let max = max.unwrap_or(REDRIVEN);
        let max = usize::try_from(max).ok().filter(|_| (1..=REDRIVEN_MAX).contains(&max));
        let max = max.ok_or_else(|| Refused::bad("max: expected 1 to 10000"))?;
        Ok(services.backstage.redrive(max).await? as u64)
    }
}
