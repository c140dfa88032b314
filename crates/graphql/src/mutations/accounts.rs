//! Signing up, in and out; profiles, keys and invitations.

use async_graphql::{Context, InputObject, MaybeUndefined, Object};
use roundtable_domain::{AccountError, ProfileChange, SignUp};
use roundtable_model::{ApiKeyId, Handle, InviteCode, Nickname, Secret, Tag};

use crate::Refused;
use crate::edits::{cleared, edit, kept};
use crate::request::{Asked, Once, once};
use crate::scalars::{CalendarDate, DateTime, EmailAddress, Id, Text};
use crate::types::accounts::{ApiKey, AuthPayload, Invitation};
use crate::types::media::MediaInput;
use crate::types::users::User;

/// Mutations of accounts.
#[derive(Debug, Default)]
pub(super) struct Entering;

/// Who wants an account.
#[derive(InputObject)]
pub(crate) struct RegisterInput {
    email: EmailAddress,
    password: String,
    nickname: Text<Nickname>,
    /// What lets them in, where that is needed.
    invitation: Option<Text<InviteCode>>,
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

/// What is to change about a profile; what is absent stays, and null clears.
#[derive(Debug, InputObject)]
pub(crate) struct UpdateProfileInput {
    nickname: MaybeUndefined<Text<Nickname>>,
    handle: MaybeUndefined<Text<Handle>>,
    full_name: MaybeUndefined<String>,
    display_name: MaybeUndefined<String>,
    bio: MaybeUndefined<String>,
    birth_date: MaybeUndefined<CalendarDate>,
    country: MaybeUndefined<String>,
    language: MaybeUndefined<String>,
    gender: MaybeUndefined<String>,
    pronouns: MaybeUndefined<String>,
    tags: MaybeUndefined<Vec<Text<Tag>>>,
    profile_image: MaybeUndefined<MediaInput>,
    is_private: MaybeUndefined<bool>,
}

impl UpdateProfileInput {
    fn change(self) -> Result<ProfileChange, Refused> {
        let plain = |tags: Vec<Text<Tag>>| tags.into_iter().map(|tag| tag.0).collect();
        Ok(ProfileChange {
            nickname: kept("nickname", self.nickname)?.map(|nickname| nickname.0),
            handle: edit(self.handle.map_value(|handle| handle.0)),
            full_name: edit(self.full_name),
            display_name: edit(self.display_name),
            bio: edit(self.bio),
            birth_date: edit(self.birth_date.map_value(|date| date.0)),
            country: edit(self.country),
            language: edit(self.language),
            gender: edit(self.gender),
            pronouns: edit(self.pronouns),
            tags: cleared(self.tags).map(plain),
            profile_image: edit(self.profile_image.map_value(Into::into)),
            is_private: kept("isPrivate", self.is_private)?,
        })
    }
}

#[Object]
impl Entering {
    /// Makes an account and signs its owner in.
    async fn register(
        &self,
        ctx: &Context<'_>,
        input: RegisterInput,
        request_id: Once,
    ) -> Result<AuthPayload, Refused> {
        let asked = Asked::of(ctx)?;
        let (accounts, address) = (asked.services().accounts(), asked.client().address);
        let signed_in = accounts.register(&input.into(), address, once(&request_id)).await?;
        AuthPayload::issued(ctx, signed_in).await
    }

    async fn login(
        &self,
        ctx: &Context<'_>,
        email: EmailAddress,
        password: String,
    ) -> Result<AuthPayload, Refused> {
        let asked = Asked::of(ctx)?;
        let (accounts, address) = (asked.services().accounts(), asked.client().address);
        let signed_in = accounts.login(&email.0, &Secret::new(password), address).await?;
        AuthPayload::issued(ctx, signed_in).await
    }

    /// Exchanges a refresh token for the next one, once.
    async fn refresh_token(
        &self,
        ctx: &Context<'_>,
        refresh_token: String,
    ) -> Result<AuthPayload, Refused> {
        let accounts = Asked::of(ctx)?.services().accounts();
        let signed_in = accounts.refresh(&Secret::new(refresh_token)).await?;
        AuthPayload::issued(ctx, signed_in).await
    }

    /// Signs a device out: the one that holds this refresh token, or, without one, the one that asks;
    /// or all of the caller's. Tells whether there was one.
    async fn logout(
        &self,
        ctx: &Context<'_>,
        refresh_token: Option<String>,
        everywhere: Option<bool>,
    ) -> Result<bool, Refused> {
        let asked = Asked::of(ctx)?;
        let accounts = asked.services().accounts();
        if everywhere.unwrap_or(false) {
            accounts.logout_everywhere(asked.caller()?).await?;
            return Ok(true);
        }
        if let Some(token) = refresh_token {
            return Ok(accounts.logout(&Secret::new(token)).await?);
        }
        let caller = asked.caller()?;
        match &asked.client().session {
            Some(session) => Ok(accounts.logout_session(caller, session).await?),
            None => Err(AccountError::SessionEnded.into()),
        }
    }

    /// Changes the caller's password, and signs them out everywhere but here.
    async fn change_password(
        &self,
        ctx: &Context<'_>,
        current: String,
        next: String,
    ) -> Result<bool, Refused> {
        let asked = Asked::of(ctx)?;
        let (accounts, session) = (asked.services().accounts(), asked.client().session.as_ref());
        let (current, next) = (Secret::new(current), Secret::new(next));
        accounts.change_password(asked.caller()?, session, &current, &next).await?;
        Ok(true)
    }

    /// Changes the address the caller signs in with.
    async fn change_email(
        &self,
        ctx: &Context<'_>,
        password: String,
        email: EmailAddress,
    ) -> Result<User, Refused> {
        let asked = Asked::of(ctx)?;
        let accounts = asked.services().accounts();
        let password = Secret::new(password);
        Ok(accounts.change_email(asked.caller()?, &password, &email.0).await?.into())
    }

    /// Changes what the caller says about themselves.
    async fn update_profile(
        &self,
        ctx: &Context<'_>,
        input: UpdateProfileInput,
        request_id: Once,
    ) -> Result<User, Refused> {
        let asked = Asked::of(ctx)?;
        let (accounts, change) = (asked.services().accounts(), input.change()?);
        Ok(accounts.update_profile(asked.caller()?, &change, once(&request_id)).await?.into())
    }

    /// Deletes the caller's account, who proves by their nickname that they mean it.
    async fn delete_account(
        &self,
        ctx: &Context<'_>,
        confirm_nickname: Text<Nickname>,
    ) -> Result<bool, Refused> {
        let asked = Asked::of(ctx)?;
        let accounts = asked.services().accounts();
        accounts.delete_account(asked.caller()?, &confirm_nickname.0).await?;
        Ok(true)
    }

    /// Makes a key for a program of the caller's.
    async fn create_api_key(
        &self,
        ctx: &Context<'_>,
        name: String,
        scopes: Vec<String>,
        expires_at: Option<DateTime>,
    ) -> Result<ApiKey, Refused> {
        let asked = Asked::of(ctx)?;
        let (accounts, expires_at) = (asked.services().accounts(), expires_at.map(|at| at.0));
        Ok(accounts.create_key(asked.caller()?, &name, &scopes, expires_at).await?.into())
    }

    /// Takes a key away; answers with it as it was.
    async fn revoke_api_key(
        &self,
        ctx: &Context<'_>,
        id: Id<ApiKeyId>,
        request_id: Once,
    ) -> Result<ApiKey, Refused> {
        let asked = Asked::of(ctx)?;
        let accounts = asked.services().accounts();
        Ok(accounts.revoke_key(asked.caller()?, &id.0, once(&request_id)).await?.into())
    }

    /// Makes an invitation for so many people: one, unless told otherwise.
    async fn create_invitation(
        &self,
        ctx: &Context<'_>,
        uses: Option<u64>,
        expires_at: Option<DateTime>,
    ) -> Result<Invitation, Refused> {
        let asked = Asked::of(ctx)?;
        let (accounts, expires_at) = (asked.services().accounts(), expires_at.map(|at| at.0));
        Ok(accounts.invite(asked.caller()?, uses, expires_at).await?.into())
    }
}
