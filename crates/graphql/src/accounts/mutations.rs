//! Mutations of accounts, sessions, profiles, API keys and invitations.

use roundtable_domain::{
    AccountError, Caller, DeviceInput, KeysOnSignOut, NewMedia, ProfileChange, ServiceError,
    SignInName, SignUp,
};
use roundtable_execution::Given;
use roundtable_graphql_macros::{fields, input};
use roundtable_interface::ApiError;
use roundtable_model::{
    ApiKeyId, Date, Email, Handle, InvalidValue, InviteCode, Nickname, RequestId, Role, Secret,
    Tag, Tier, Time, UserId,
};

use super::{ApiKey, AuthPayload, Invitation};
use crate::edits::{edit, edit_non_null, edit_or_default};
use crate::request::RequestContext;
use crate::users::User;

// Not `Debug`, because it contains a password.
#[input]
pub(crate) struct RegisterInput {
    email: Email,
    password: String,
    nickname: Nickname,
    invitation: Option<InviteCode>,
    full_name: Option<String>,
    language: Option<String>,
    identity_token: Option<String>,
}

impl RegisterInput {
    async fn sign_up(self, context: &RequestContext) -> Result<SignUp, ApiError> {
        let identity = match &self.identity_token {
            Some(token) => Some(context.services().identities.identify(token).await?),
            None => None,
        };
        let Self { email, password, nickname, invitation, full_name, language, .. } = self;
        let password = Secret::new(password);
        Ok(SignUp {
            email,
            password,
            nickname,
            handle: None,
            invitation,
            full_name,
            language,
            identity,
        })
    }
}

#[input]
#[derive(Debug)]
pub(crate) struct UpdateProfileInput {
    nickname: Given<Nickname>,
    handle: Given<Handle>,
    full_name: Given<String>,
    display_name: Given<String>,
    bio: Given<String>,
    birth_date: Given<Date>,
    country: Given<String>,
    language: Given<String>,
    gender: Given<String>,
    pronouns: Given<String>,
    tags: Given<Vec<Tag>>,
    profile_image: Given<NewMedia>,
    is_private: Given<bool>,
}

impl UpdateProfileInput {
    fn change(self) -> Result<ProfileChange, ApiError> {
        Ok(ProfileChange {
            nickname: edit_non_null("nickname", self.nickname)?,
            handle: edit(self.handle),
            full_name: edit(self.full_name),
            display_name: edit(self.display_name),
            bio: edit(self.bio),
            birth_date: edit(self.birth_date),
            country: edit(self.country),
            language: edit(self.language),
            gender: edit(self.gender),
            pronouns: edit(self.pronouns),
            tags: edit_or_default(self.tags),
            profile_image: edit(self.profile_image),
            is_private: edit_non_null("isPrivate", self.is_private)?,
        })
    }
}

/// Returns the caller, who has just given the password if there is one.
async fn caller_with_password(
    context: &RequestContext,
    password: Option<String>,
) -> Result<Caller, ApiError> {
    let caller = context.caller()?;
    let Some(password) = password.map(Secret::new) else { return Ok(caller.clone()) };
    Ok(context.services().accounts().confirm_password(caller, &password).await?)
}

fn sign_in_name(identifier: Option<String>, email: Option<Email>) -> Result<SignInName, ApiError> {
    match (identifier, email) {
        (None, Some(email)) => Ok(email.into()),
        (Some(name), None) => {
            let parsed: Result<SignInName, InvalidValue> = name.parse();
            Ok(parsed.map_err(|invalid| ServiceError::bad_input("identifier", invalid))?)
        }
        (given, _) => {
            let found = if given.is_some() { "both" } else { "neither" };
            let invalid = InvalidValue::new("exactly one of `identifier` and `email`", found);
            Err(ServiceError::bad_input("identifier", invalid).into())
        }
    }
}

fn keys_on_sign_out(keep: Option<bool>) -> KeysOnSignOut {
    if keep.unwrap_or(false) { KeysOnSignOut::Keep } else { KeysOnSignOut::Revoke }
}

pub(crate) struct AccountMutations;

#[fields(Mutation)]
impl AccountMutations {
    async fn register(
        context: &RequestContext,
        input: RegisterInput,
        request_id: Option<RequestId>,
    ) -> Result<AuthPayload, ApiError> {
        let (accounts, address) = (context.services().accounts(), context.client().address);
        let sign_up = input.sign_up(context).await?;
        let signed_in = accounts.register(&sign_up, address, request_id.as_ref()).await?;
        AuthPayload::issue(context, signed_in).await
    }

    async fn login(
        context: &RequestContext,
        identifier: Option<String>,
        email: Option<Email>,
        password: String,
        device_token: Option<String>,
        device_label: Option<String>,
    ) -> Result<AuthPayload, ApiError> {
        let (accounts, address) = (context.services().accounts(), context.client().address);
        let device = DeviceInput { token: device_token.map(Secret::new), label: device_label };
        let name = sign_in_name(identifier, email)?;
        let signed_in = accounts.login_on(&name, &Secret::new(password), address, &device).await?;
        AuthPayload::issue(context, signed_in).await
    }

    async fn refresh_token(
        context: &RequestContext,
        refresh_token: String,
    ) -> Result<AuthPayload, ApiError> {
        let accounts = context.services().accounts();
        let signed_in = accounts.refresh(&Secret::new(refresh_token)).await?;
        AuthPayload::issue(context, signed_in).await
    }

    async fn logout(
        context: &RequestContext,
        refresh_token: Option<String>,
        everywhere: Option<bool>,
        keep_api_keys: Option<bool>,
    ) -> Result<bool, ApiError> {
        let accounts = context.services().accounts();
        if everywhere.unwrap_or(false) {
            let keys = keys_on_sign_out(keep_api_keys);
            let revoked = accounts.logout_everywhere(context.caller()?, keys).await?;
            context.revoked_api_keys.add(revoked);
            return Ok(true);
        }
        if let Some(token) = refresh_token {
            return Ok(accounts.logout(&Secret::new(token)).await?);
        }
        let caller = context.caller()?;
        match caller.session() {
            Some(session) => Ok(accounts.logout_session(caller, session).await?),
            None => Err(AccountError::SessionEnded.into()),
        }
    }

    async fn change_password(
        context: &RequestContext,
        current: String,
        next: String,
        keep_api_keys: Option<bool>,
    ) -> Result<bool, ApiError> {
        let (accounts, caller) = (context.services().accounts(), context.caller()?);
        let (current, next) = (Secret::new(current), Secret::new(next));
        let keys = keys_on_sign_out(keep_api_keys);
        let revoked = accounts.change_password(caller, &current, &next, keys).await?;
        context.revoked_api_keys.add(revoked);
        Ok(true)
    }

    async fn change_email(
        context: &RequestContext,
        password: String,
        email: Email,
        identity_token: Option<String>,
    ) -> Result<User, ApiError> {
        let (accounts, caller) = (context.services().accounts(), context.caller()?);
        if let Some(token) = identity_token {
            let identity = context.services().identities.identify(&token).await?;
            let password = Secret::new(password);
            let changed = accounts.change_email_to_proved(caller, &password, &email, &identity);
            return Ok(changed.await?.into());
        }
        Ok(accounts.change_email(caller, &Secret::new(password), &email).await?.into())
    }

    async fn link_identity(
        context: &RequestContext,
        identity_token: String,
        password: String,
    ) -> Result<bool, ApiError> {
        let (accounts, address) = (context.services().accounts(), context.client().address);
        let identity = context.services().identities.identify(&identity_token).await?;
        accounts.link_identity(&identity, &Secret::new(password), address).await?;
        Ok(true)
    }

    async fn update_profile(
        context: &RequestContext,
        input: UpdateProfileInput,
        request_id: Option<RequestId>,
    ) -> Result<User, ApiError> {
        let change = input.change()?;
        let (accounts, caller) = (context.services().accounts(), context.caller()?);
        Ok(accounts.update_profile(caller, &change, request_id.as_ref()).await?.into())
    }

    async fn delete_account(
        context: &RequestContext,
        confirm_nickname: Nickname,
        password: Option<String>,
    ) -> Result<bool, ApiError> {
        let caller = caller_with_password(context, password).await?;
        context.services().accounts().delete_account(&caller, &confirm_nickname).await?;
        Ok(true)
    }

    async fn set_user_roles(
        context: &RequestContext,
        user_id: UserId,
        roles: Vec<Role>,
        request_id: Option<RequestId>,
    ) -> Result<User, ApiError> {
        let (accounts, caller) = (context.services().accounts(), context.caller()?);
        Ok(accounts.set_roles(caller, &user_id, &roles, request_id.as_ref()).await?.into())
    }

    async fn set_user_tier(
        context: &RequestContext,
        user_id: UserId,
        tier: Tier,
        request_id: Option<RequestId>,
    ) -> Result<User, ApiError> {
        let (accounts, caller) = (context.services().accounts(), context.caller()?);
        Ok(accounts.set_tier(caller, &user_id, tier, request_id.as_ref()).await?.into())
    }

    async fn set_user_verified(
        context: &RequestContext,
        user_id: UserId,
        is_verified: bool,
        request_id: Option<RequestId>,
    ) -> Result<User, ApiError> {
        let (accounts, caller) = (context.services().accounts(), context.caller()?);
        Ok(accounts.set_verified(caller, &user_id, is_verified, request_id.as_ref()).await?.into())
    }

    async fn suspend_user(
        context: &RequestContext,
        user_id: UserId,
        reason: String,
        request_id: Option<RequestId>,
    ) -> Result<User, ApiError> {
        let (accounts, caller) = (context.services().accounts(), context.caller()?);
        Ok(accounts.suspend(caller, &user_id, &reason, request_id.as_ref()).await?.into())
    }

    async fn unsuspend_user(
        context: &RequestContext,
        user_id: UserId,
        request_id: Option<RequestId>,
    ) -> Result<User, ApiError> {
        let (accounts, caller) = (context.services().accounts(), context.caller()?);
        Ok(accounts.unsuspend(caller, &user_id, request_id.as_ref()).await?.into())
    }

    async fn create_api_key(
        context: &RequestContext,
        name: String,
        scopes: Vec<String>,
        expires_at: Option<Time>,
        password: Option<String>,
    ) -> Result<ApiKey, ApiError> {
        let caller = caller_with_password(context, password).await?;
        let accounts = context.services().accounts();
        Ok(accounts.create_key(&caller, &name, &scopes, expires_at).await?.into())
    }

    async fn revoke_api_key(
        context: &RequestContext,
        id: ApiKeyId,
        request_id: Option<RequestId>,
    ) -> Result<ApiKey, ApiError> {
        let (accounts, caller) = (context.services().accounts(), context.caller()?);
        Ok(accounts.revoke_key(caller, &id, request_id.as_ref()).await?.into())
    }

    async fn create_invitation(
        context: &RequestContext,
        uses: Option<u64>,
        expires_at: Option<Time>,
    ) -> Result<Invitation, ApiError> {
        let (accounts, caller) = (context.services().accounts(), context.caller()?);
        Ok(accounts.invite(caller, uses, expires_at).await?.into())
    }
}
