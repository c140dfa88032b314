//! Registration: open, by invitation, or closed.

use std::net::IpAddr;

use futures::future::{OptionFuture, try_join};
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Credential, User};
use roundtable_model::table::essential;
use roundtable_model::{
    ActorType, Email, Entity, Handle, InviteCode, Nickname, RequestId, Role, Secret, Shards, Tier,
    UserId, UserStatus,
};
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use super::attempts::AttemptOrigin;
use super::identities::{ExternalIdentity, IDENTITY};
use super::passwords::check_new;
use super::{AccountError, Accounts, SignedInUser, after_commit, names, nicknames};
use crate::Registration;
use crate::limits::{NAME_CHARS_MAX, check_text};

#[derive(Clone, Debug)]
pub struct SignUp {
    pub email: Email,
    pub password: Secret,
    pub nickname: Nickname,
    /// A second unique name, for links.
    pub handle: Option<Handle>,
    /// Required when registration is by invitation.
    pub invitation: Option<InviteCode>,
    pub full_name: Option<String>,
    pub language: Option<String>,
    /// The new user at an external issuer, which has verified the address.
    pub identity: Option<ExternalIdentity>,
}

/// The stored outcome of a registration; never contains a token.
#[derive(Debug, Serialize, Deserialize)]
struct SignUpOutcome {
    user: UserId,
}

impl SignUp {
    fn check(&self) -> Result<(), AccountError> {
        if let Some(identity) = &self.identity {
            identity.require_email(&self.email)?;
        }
        nicknames::check_new(&self.nickname)?;
        check_new("password", &self.password)?;
        check_text("fullName", self.full_name.as_deref().unwrap_or_default(), NAME_CHARS_MAX)?;
        Ok(check_text("language", self.language.as_deref().unwrap_or_default(), NAME_CHARS_MAX)?)
    }
}

#[boxed]
impl Accounts {
    /// Creates an account and opens a session. `address` limits the rate of registrations;
    /// operators pass `None`.
    ///
    /// A repeated request checks the password again and opens another session.
    pub async fn register(
        &self,
        sign_up: &SignUp,
        address: Option<IpAddr>,
        request: Option<&RequestId>,
    ) -> Result<SignedInUser, AccountError> {
        if let Some(address) = address {
            self.context.rate_limiter().sign_up(address)?;
        }
        sign_up.check()?;
        let SignUp { email, password, nickname, handle, invitation, .. } = sign_up;
        let SignUp { full_name, language, identity, .. } = sign_up;
        let input = (email.fold(), nickname, handle, invitation, full_name, language);
        let request = self.context.idempotent_request(email, request, "register", &input)?;
        let id: UserId = self.context.ids().next();
        let hash = OnceCell::new();
        let registered = self.context.run_once(
            request.as_ref(),
            async |outcome: SignUpOutcome| {
                let account = email.into();
                let origin = AttemptOrigin::Stranger { account: &account, address };
                self.verify_password(Some(&outcome.user), password, origin).await
            },
            async |attempt| {
                let invitation = self.check_admission(invitation.as_ref()).await?;
                let address = self.claim_email(email, &id, identity.is_some()).await?;
                self.check_names(nickname, handle.as_ref()).await?;
                let identity = match identity {
                    Some(identity) => self.identity_write(identity, &id).await?,
                    None => None,
                };
                let hashed = self.context.passwords().hash(password, self.context.entropy());
                let hash: &Secret = hash.get_or_try_init(|| hashed).await?;
                let user = self.new_user(id.clone(), sign_up);
                let credential = Credential {
                    user_id: user.id.clone(),
                    password_hash: hash.clone(),
                    created_at: user.created_at,
                    updated_at: user.created_at,
                };
                attempt
                    .commit()
                    .with("user", user.create())
                    .with("credential", credential.create())
                    .with_all("invitation", invitation)
                    .with_named(address)
                    .with_named(names::new_locks(&user))
                    .with_all(IDENTITY, identity)
                    .finish(SignUpOutcome { user: user.id.clone() }, (user, credential))
                    .await
            },
        );
        let (user, credential) = registered.await?;
        let device = self.signed_up_device(&user.id);
        // Also where the store keeps its last space in reserve: the account exists already.
        essential(self.open_session(user, &credential, device)).await.map_err(after_commit)
    }

    /// Refuses the registration where required, and returns the write that uses the invitation.
    async fn check_admission(
        &self,
        invitation: Option<&InviteCode>,
    ) -> Result<Option<roundtable_model::table::Write>, AccountError> {
        match self.context.settings().registration {
            Registration::Open => Ok(None),
            Registration::Closed => Err(AccountError::RegistrationClosed),
            Registration::Invitation => match invitation {
                Some(code) => Ok(Some(self.redeem(code).await?)),
                None => Err(AccountError::InvitationNeeded),
            },
        }
    }

    /// Refuses names that are taken.
    async fn check_names(
        &self,
        nickname: &Nickname,
        handle: Option<&Handle>,
    ) -> Result<(), AccountError> {
        let core = self.context.core();
        let handle = OptionFuture::from(handle.map(|handle| core.handle_lock(handle).get()));
        let handle = async { handle.await.transpose() };
        match try_join(core.nick_lock(nickname).get(), handle).await? {
            (Some(_), _) => Err(AccountError::NicknameTaken),
            (_, Some(Some(_))) => Err(AccountError::HandleTaken),
            _ => Ok(()),
        }
    }

    fn new_user(&self, id: UserId, sign_up: &SignUp) -> User {
        let now = self.context.now();
        User {
            id,
            nickname: sign_up.nickname.clone(),
            email: Some(sign_up.email.clone()),
            full_name: sign_up.full_name.clone(),
            display_name: None,
            birth_date: None,
            status: UserStatus::Active,
            country: None,
            language: sign_up.language.clone(),
            gender: None,
            pronouns: None,
            bio: None,
            tags: Vec::new(),
            tier: Tier::Free,
            roles: vec![Role::User],
            profile_image: None,
            profile_image_url: None,
            is_verified: false,
            is_private: false,
            handle: sign_up.handle.clone(),
            actor_type: ActorType::Person,
            public_key: None,
            inbox_url: None,
            outbox_url: None,
            followers_url: None,
            following_url: None,
            preferred_username: sign_up.nickname.to_string(),
            domain: None,
            follower_shards: Shards::ONE,
            version: 1,
            created_at: now,
            updated_at: now,
        }
    }
}
