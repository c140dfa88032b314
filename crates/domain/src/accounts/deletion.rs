//! Account deletion.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Credential, User};
use roundtable_model::table::Delete;
use roundtable_model::{InvalidValue, Nickname, UserStatus, rekey};

use super::revocation::{SIGN_IN, retry_while_valid, validity_check};
use super::{AccountError, Accounts, names, require_own, tags};
use crate::access::Permission;
use crate::{Caller, ServiceError};

/// The nickname of every deleted account.
const DELETED_NICKNAME: &str = "deleted";

#[boxed]
impl Accounts {
    /// Deletes the caller's account; `nickname` confirms the intent, and a recent password the
    /// person, whose session must still be open, or whose identity linked. From this moment the
    /// profile and its content are hidden, sign-in fails and the names are free. The background purge
    /// removes the content, however much there is, and this tombstone last.
    pub async fn delete_account(
        &self,
        caller: &Caller,
        nickname: &Nickname,
    ) -> Result<(), AccountError> {
        let mutation = self.context.mutation(caller).await?;
        require_own(Permission::DeleteAccount, caller)?;
        self.require_recent_password(caller)?;
        if !mutation.account.nickname.same_as(nickname) {
            return Err(AccountError::NicknameMismatch);
        }
        mutation
            .run(async |me, attempt| {
                let after = self.tombstone(&me)?;
                attempt
                    .commit()
                    .with("user", rekey(&*me, &after)?)
                    .with("credential", Delete::new(Credential::at(&me.id)))
                    .with_named(names::moved_locks(&me, &after, after.updated_at))
                    .with_all("tag", tags::reference_writes(&self.context, &me, &after).await?)
                    .with_all(SIGN_IN, validity_check(caller))
                    .finish_or((), |failed| retry_while_valid(caller, &failed))
                    .await
            })
            .await
    }

    /// The profile without personal data: what the purge needs to find the rest.
    fn tombstone(&self, user: &User) -> Result<User, ServiceError> {
        let nickname = DELETED_NICKNAME.parse();
        let nickname = nickname
            .map_err(|invalid: InvalidValue| ServiceError::Internal(invalid.to_string()))?;
        Ok(User {
            nickname,
            preferred_username: DELETED_NICKNAME.to_owned(),
            email: None,
            full_name: None,
            display_name: None,
            birth_date: None,
            status: UserStatus::Deleted,
            country: None,
            language: None,
            gender: None,
            pronouns: None,
            bio: None,
            tags: Vec::new(),
            roles: Vec::new(),
            profile_image: None,
            profile_image_url: None,
            handle: None,
            public_key: None,
            inbox_url: None,
            outbox_url: None,
            followers_url: None,
            following_url: None,
            version: user.version + 1,
            updated_at: self.context.now(),
            id: user.id.clone(),
            tier: user.tier,
            is_verified: false,
            is_private: user.is_private,
            actor_type: user.actor_type,
            domain: user.domain.clone(),
            follower_shards: user.follower_shards,
            created_at: user.created_at,
        })
    }
}
