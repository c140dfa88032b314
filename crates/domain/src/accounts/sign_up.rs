//! Signing up: open to everybody, to those who were invited, or to nobody.

use std::net::IpAddr;

use futures::future::{OptionFuture, try_join3};
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Credential, User};
use roundtable_model::{
    ActorType, Email, Entity, Handle, InviteCode, Nickname, RequestId, Role, Secret, Shards, Tier,
    UserId, UserStatus,
};
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use super::passwords::check_new;
use super::{AccountError, Accounts, SignedIn, names};
use crate::Failure;
use crate::Registration;
use crate::limits::{NAME_CHARS_MAX, check_text};
use crate::once::Tried;

/// Who wants an account.
#[derive(Clone, Debug)]
pub struct SignUp {
    /// What they sign in with.
    pub email: Email,
    /// What proves that it is them.
    pub password: Secret,
    /// What others know them by.
    pub nickname: Nickname,
    /// A second name for links, if they want one.
    pub handle: Option<Handle>,
    /// Who lets them in, where that is needed.
    pub invitation: Option<InviteCode>,
    /// Their name in civil life.
    pub full_name: Option<String>,
    /// The language they prefer.
    pub language: Option<String>,
}

/// What signing up led to. No token is ever stored.
#[derive(Debug, Serialize, Deserialize)]
struct Outcome {
    user: UserId,
}

impl SignUp {
    fn check(&self) -> Result<(), Failure> {
        check_new("password", &self.password)?;
        check_text("fullName", self.full_name.as_deref().unwrap_or_default(), NAME_CHARS_MAX)?;
        check_text("language", self.language.as_deref().unwrap_or_default(), NAME_CHARS_MAX)
    }
}

#[boxed]
impl Accounts {
    /// Makes an account and signs its owner in. `address` is where they do it from; without one, the
    /// rate of sign-ups does not count, as for whoever runs this.
    ///
    /// A repetition of the request proves the password again and opens a session of its own.
    pub async fn register(
        &self,
        sign_up: &SignUp,
        address: Option<IpAddr>,
        request: Option<&RequestId>,
    ) -> Result<SignedIn, AccountError> {
        if let Some(address) = address {
            self.ground.rates().sign_up(address)?;
        }
        sign_up.check()?;
        let SignUp { email, password, nickname, handle, invitation, full_name, language } = sign_up;
        let input = (email.fold(), nickname, handle, invitation, full_name, language);
        let request = self.ground.request(email, request, "register", &input)?;
        let id: UserId = self.ground.ids().next();
        let hash = OnceCell::new();
        let made = self.ground.once(
            request.as_ref(),
            async |outcome: Outcome| {
                self.proven(email, Some(&outcome.user), password, address).await
            },
            async || {
                let invitation = self.admitted(invitation.as_ref()).await?;
                self.free(email, nickname, handle.as_ref()).await?;
                let hashed = self.ground.passwords().hash(password, self.ground.chance());
                let hash: &Secret = hash.get_or_try_init(|| hashed).await?;
                let user = self.new_user(id.clone(), sign_up);
                let credential = Credential {
                    user_id: user.id.clone(),
                    password_hash: hash.clone(),
                    created_at: user.created_at,
                    updated_at: user.created_at,
                };
                let commit = self
                    .ground
                    .commit()
                    .with("user", user.create())
                    .with("credential", credential.create())
                    .with_any("invitation", invitation);
                let commit = names::taken(&user)
                    .into_iter()
                    .fold(commit, |commit, (name, write)| commit.with(name, write));
                let outcome = Outcome { user: user.id.clone() };
                let commit = commit.remembering(request.as_ref(), &outcome)?;
                Ok::<Tried<_>, AccountError>(commit.done((user, credential)).await?)
            },
        );
        let (user, credential) = made.await?;
        self.open_session(user, &credential).await
    }

    /// Whether somebody new is let in, with the write that uses their invitation.
    async fn admitted(
        &self,
        invitation: Option<&InviteCode>,
    ) -> Result<Option<roundtable_model::table::Write>, AccountError> {
        match self.ground.settings().registration {
            Registration::Open => Ok(None),
            Registration::Closed => Err(AccountError::RegistrationClosed),
            Registration::Invitation => match invitation {
                Some(code) => Ok(Some(self.redeemed(code).await?)),
                None => Err(AccountError::InvitationNeeded),
            },
        }
    }

    /// Whether nobody has these names yet.
    async fn free(
        &self,
        email: &Email,
        nickname: &Nickname,
        handle: Option<&Handle>,
    ) -> Result<(), AccountError> {
        let core = self.ground.core();
        let handle = OptionFuture::from(handle.map(|handle| core.handle_lock(handle).get()));
        let handle = async { handle.await.transpose() };
        let locks = try_join3(core.email_lock(email).get(), core.nick_lock(nickname).get(), handle);
        match locks.await? {
            (Some(_), _, _) => Err(AccountError::EmailTaken),
            (_, Some(_), _) => Err(AccountError::NicknameTaken),
            (_, _, Some(Some(_))) => Err(AccountError::HandleTaken),
            _ => Ok(()),
        }
    }

    fn new_user(&self, id: UserId, sign_up: &SignUp) -> User {
        let now = self.ground.now();
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
