//! Leaving for good.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Credential, User};
use roundtable_model::table::Delete;
use roundtable_model::{Misfit, Nickname, UserStatus, rekey};

use super::{AccountError, Accounts, in_person, names, own, tags};
use crate::access::Act;
use crate::once::Tried;
use crate::{Caller, Failure};

/// What is left of everybody's nickname.
const NOBODY: &str = "deleted";

#[boxed]
impl Accounts {
    /// Deletes the caller's account: `nickname` proves that they mean it. From this moment nobody sees
    /// them or what they made, nobody can sign in as them, and their names are free. What they made is
    /// taken away in the background, however much it is, and what is left here last.
    pub async fn delete_account(
        &self,
        caller: &Caller,
        nickname: &Nickname,
    ) -> Result<(), AccountError> {
        let me = self.ground.account(caller).await?;
        own(Act::DeleteAccount)?;
        in_person(caller)?;
        if !me.nickname.same_as(nickname) {
            return Err(AccountError::OtherNickname);
        }
        self.ground
            .once(
                None,
                async |()| Ok(()),
                async || {
                    let before = self.live(&me.id).await?;
                    let after = self.remains(&before)?;
                    let commit = self
                        .ground
                        .commit()
                        .with("user", rekey(&before, &after)?)
                        .with("credential", Delete::new(Credential::at(&me.id)));
                    let commit = names::moved(&before, &after, after.updated_at)
                        .into_iter()
                        .fold(commit, |commit, (name, write)| commit.with(name, write))
                        .with_any("tag", tags::in_step(&self.ground, &before, &after).await?);
                    Ok::<Tried<()>, AccountError>(commit.done(()).await?)
                },
            )
            .await
    }

    /// A profile without the person: what the background needs to find the rest.
    fn remains(&self, user: &User) -> Result<User, Failure> {
        let nickname = NOBODY.parse();
        let nickname = nickname.map_err(|misfit: Misfit| Failure::Internal(misfit.to_string()))?;
        Ok(User {
            nickname,
            preferred_username: NOBODY.to_owned(),
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
            updated_at: self.ground.now(),
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
