//! Mutations of accounts, sessions, profiles, API keys and invitations.

use async_graphql::{Context, InputObject, MaybeUndefined, Object};
use roundtable_domain::{AccountError, ProfileChange, SignUp};
use roundtable_model::{ApiKeyId, Handle, InviteCode, Nickname, Secret, Tag};

use crate::ApiError;
use crate::edits::{edit, edit_non_null, edit_or_default};
use crate::request::{RequestContext, RequestIdArg, id_ref};
use crate::scalars::{ApiId, ApiText, CalendarDate, DateTime, EmailAddress};
use crate::types::accounts::{ApiKey, AuthPayload, Invitation};
use crate::types::media::MediaInput;
use crate::types::users::User;

#[derive(Debug, Default)]
pub(super) struct AccountMutations;

/// A new account.
#[derive(InputObject)]
pub(crate) struct RegisterInput {
    email: EmailAddress,
    password: String,
    nickname: ApiText<Nickname>,
    /// Required where registration is by invitation.
    invitation: Option<ApiText<InviteCode>>,
    full_name: Option<String>,
    language: Option<String>,
}

impl From<RegisterInput> for SignUp {
    fn from(input: RegisterInput) -> Self {
        Self {
            email: input.email.0,
            password: Secret::new(input.password),
            nickname: input.nickname.0,
            handle: None,
            invitation: input.invitation.map(|code| code.0),
            full_name: input.full_name,
            language: input.language,
        }
    }
}

/// Changes to a profile. An absent field keeps its value, and null clears it.
#[derive(Debug, InputObject)]
pub(crate) struct UpdateProfileInput {
    nickname: MaybeUndefined<ApiText<Nickname>>,
    handle: MaybeUndefined<ApiText<Handle>>,
    full_name: MaybeUndefined<String>,
    display_name: MaybeUndefined<String>,
    bio: MaybeUndefined<String>,
    birth_date: MaybeUndefined<CalendarDate>,
    country: MaybeUndefined<String>,
    language: MaybeUndefined<String>,
    gender: MaybeUndefined<String>,
    pronouns: MaybeUndefined<String>,
    tags: MaybeUndefined<Vec<ApiText<Tag>>>,
    profile_image: MaybeUndefined<MediaInput>,
    is_private: MaybeUndefined<bool>,
}

impl UpdateProfileInput {
    fn change(self) -> Result<ProfileChange, ApiError> {
        let tag_values = |tags: Vec<ApiText<Tag>>| tags.into_iter().map(|tag| tag.0).collect();
        Ok(ProfileChange {
            nickname: edit_non_null("nickname", self.nickname)?.map(|nickname| nickname.0),
            handle: edit(self.handle.map_value(|handle| handle.0)),
            full_name: edit(self.full_name),
            display_name: edit(self.display_name),
            bio: edit(self.bio),
            birth_date: edit(self.birth_date.map_value(|date| date.0)),
            country: edit(self.country),
            language: edit(self.language),
            gender: edit(self.gender),
            pronouns: edit(self.pronouns),
            tags: edit_or_default(self.tags).map(tag_values),
            profile_image: edit(self.profile_image.map_value(Into::into)),
            is_private: edit_non_null("isPrivate", self.is_private)?,
        })
    }
}

#[Object]
impl AccountMutations {
    /// Creates an account and signs its owner in.
    async fn register(
        &self,
        ctx: &Context<'_>,
        input: RegisterInput,
        request_id: RequestIdArg,
    ) -> Result<AuthPayload, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (accounts, address) = (context.services().accounts(), context.client().address);
        let signed_in = accounts.register(&input.into(), address, id_ref(&request_id)).await?;
        AuthPayload::issue(ctx, signed_in).await
    }

    async fn login(
        &self,
        ctx: &Context<'_>,
        email: EmailAddress,
        password: String,
    ) -> Result<AuthPayload, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (accounts, address) = (context.services().accounts(), context.client().address);
        let signed_in = accounts.login(&email.0, &Secret::new(password), address).await?;
        AuthPayload::issue(ctx, signed_in).await
    }

    /// Exchanges a refresh token for new tokens. Each refresh token is valid once.
    async fn refresh_token(
        &self,
        ctx: &Context<'_>,
        refresh_token: String,
    ) -> Result<AuthPayload, ApiError> {
        let accounts = RequestContext::of(ctx)?.services().accounts();
        let signed_in = accounts.refresh(&Secret::new(refresh_token)).await?;
        AuthPayload::issue(ctx, signed_in).await
    }

    /// Ends the session of a refresh token, by default the caller's session, or all sessions of the caller.
    /// Returns whether there was one.
    async fn logout(
        &self,
        ctx: &Context<'_>,
        refresh_token: Option<String>,
        everywhere: Option<bool>,
    ) -> Result<bool, ApiError> {
        let context = RequestContext::of(ctx)?;
        let accounts = context.services().accounts();
        if everywhere.unwrap_or(false) {
            accounts.logout_everywhere(context.caller()?).await?;
            return Ok(true);
        }
        if let Some(token) = refresh_token {
            return Ok(accounts.logout(&Secret::new(token)).await?);
        }
        let caller = context.caller()?;
        match &context.client().session {
            Some(session) => Ok(accounts.logout_session(caller, session).await?),
            None => Err(AccountError::SessionEnded.into()),
        }
    }

    /// Changes the caller's password and ends all other sessions.
    async fn change_password(
        &self,
        ctx: &Context<'_>,
        current: String,
        next: String,
    ) -> Result<bool, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (accounts, session) =
            (context.services().accounts(), context.client().session.as_ref());
        let (current, next) = (Secret::new(current), Secret::new(next));
        accounts.change_password(context.caller()?, session, &current, &next).await?;
        Ok(true)
    }

    /// Changes the caller's login e-mail address.
    async fn change_email(
        &self,
        ctx: &Context<'_>,
        password: String,
        email: EmailAddress,
    ) -> Result<User, ApiError> {
        let context = RequestContext::of(ctx)?;
        let accounts = context.services().accounts();
        let password = Secret::new(password);
        Ok(accounts.change_email(context.caller()?, &password, &email.0).await?.into())
    }

    /// Changes the caller's profile.
    async fn update_profile(
        &self,
        ctx: &Context<'_>,
        input: UpdateProfileInput,
        request_id: RequestIdArg,
    ) -> Result<User, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (accounts, change) = (context.services().accounts(), input.change()?);
        Ok(accounts.update_profile(context.caller()?, &change, id_ref(&request_id)).await?.into())
    }

    /// Deletes the caller's account; the nickname confirms the intent.
    async fn delete_account(
        &self,
        ctx: &Context<'_>,
        confirm_nickname: ApiText<Nickname>,
    ) -> Result<bool, ApiError> {
        let context = RequestContext::of(ctx)?;
        let accounts = context.services().accounts();
        accounts.delete_account(context.caller()?, &confirm_nickname.0).await?;
        Ok(true)
    }

    /// Creates an API key for a program of the caller's.
    async fn create_api_key(
        &self,
        ctx: &Context<'_>,
        name: String,
        scopes: Vec<String>,
        expires_at: Option<DateTime>,
    ) -> Result<ApiKey, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (accounts, expires_at) = (context.services().accounts(), expires_at.map(|at| at.0));
        Ok(accounts.create_key(context.caller()?, &name, &scopes, expires_at).await?.into())
    }

    /// Revokes an API key and returns it as it was.
    async fn revoke_api_key(
        &self,
        ctx: &Context<'_>,
        id: ApiId<ApiKeyId>,
        request_id: RequestIdArg,
    ) -> Result<ApiKey, ApiError> {
        let context = RequestContext::of(ctx)?;
        let accounts = context.services().accounts();
        Ok(accounts.revoke_key(context.caller()?, &id.0, id_ref(&request_id)).await?.into())
    }

    /// Creates an invitation, by default for one use.
    async fn create_invitation(
        &self,
        ctx: &Context<'_>,
        uses: Option<u64>,
        expires_at: Option<DateTime>,
    ) -> Result<Invitation, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (accounts, expires_at) = (context.services().accounts(), expires_at.map(|at| at.0));
        Ok(accounts.invite(context.caller()?, uses, expires_at).await?.into())
    }
}
