//! Profile changes, including renames and changes of the e-mail address.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Credential, Holder, Upload, User};
use roundtable_model::{
    Date, Email, Handle, InvalidValue, MediaUse, Nickname, Patch, RequestId, Secret, Tag, Time,
    UserId, rekey,
};
use serde::{Deserialize, Serialize};

use super::revocation::{SIGN_IN, retry_while_valid, validity_check};
use super::{AccountError, Accounts, names, nicknames, require_own, tags};
use crate::access::Permission;
use crate::commit::FailedConditions;
use crate::limits::{
    ABOUT_CHARS_MAX, NAME_CHARS_MAX, TAGS_MAX, check_count, check_media_type, check_text,
};
use crate::media::{claim, unclaimed};
use crate::mutation::{Attempt, AttemptOutcome};
use crate::{Caller, Edit, NewMedia, ServiceError};

/// Changes to a profile; `None` and `Keep` leave a field as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProfileChange {
    pub nickname: Option<Nickname>,
    /// A unique name for links.
    pub handle: Edit<Handle>,
    pub full_name: Edit<String>,
    /// Shown instead of the nickname.
    pub display_name: Edit<String>,
    pub bio: Edit<String>,
    pub birth_date: Edit<Date>,
    pub country: Edit<String>,
    pub language: Edit<String>,
    pub gender: Edit<String>,
    pub pronouns: Edit<String>,
    /// Replaces all tags.
    pub tags: Option<Vec<Tag>>,
    /// An uploaded file of the user's; external pictures are not accepted.
    pub profile_image: Edit<NewMedia>,
    /// True if only accepted followers see the posts. Pending follow requests stay pending.
    pub is_private: Option<bool>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ProfileOutcome {
    user: UserId,
}

impl ProfileChange {
    fn check(&self, now: Time) -> Result<(), ServiceError> {
        let texts = [
            ("fullName", &self.full_name, NAME_CHARS_MAX),
            ("displayName", &self.display_name, NAME_CHARS_MAX),
            ("bio", &self.bio, ABOUT_CHARS_MAX),
            ("country", &self.country, NAME_CHARS_MAX),
            ("language", &self.language, NAME_CHARS_MAX),
            ("gender", &self.gender, NAME_CHARS_MAX),
            ("pronouns", &self.pronouns, NAME_CHARS_MAX),
        ];
        for (field, text, chars_max) in texts {
            check_text(field, text.value().map_or("", String::as_str), chars_max)?;
        }
        if let Some(media) = self.profile_image.value() {
            check_media_type("profileImage", &media.content_type)?;
        }
        check_count("tags", self.tags.as_ref().map_or(0, Vec::len), TAGS_MAX)?;
        // Dates sort as text.
        if let Some(date) = self.birth_date.value()
            && date.to_string() > now.day().to_string()
        {
            return Err(ServiceError::bad_input(
                "birthDate",
                InvalidValue::new("a day in the past", date),
            ));
        }
        Ok(())
    }

    fn applied_to(&self, before: &User, now: Time) -> User {
        let text = |edit: &Edit<String>, before: &Option<String>| {
            let after = edit.clone().over(before.clone());
            // Blank texts are stored as absent.
            after.filter(|text| !text.trim().is_empty())
        };
        let nickname = self.nickname.clone().unwrap_or_else(|| before.nickname.clone());
        User {
            preferred_username: match &self.nickname {
                Some(nickname) => nickname.to_string(),
                None => before.preferred_username.clone(),
            },
            nickname,
            handle: self.handle.clone().over(before.handle.clone()),
            full_name: text(&self.full_name, &before.full_name),
            display_name: text(&self.display_name, &before.display_name),
            bio: text(&self.bio, &before.bio),
            birth_date: self.birth_date.clone().over(before.birth_date),
            country: text(&self.country, &before.country),
            language: text(&self.language, &before.language),
            gender: text(&self.gender, &before.gender),
            pronouns: text(&self.pronouns, &before.pronouns),
            tags: self.tags.as_deref().map_or_else(|| before.tags.clone(), distinct),
            is_private: self.is_private.unwrap_or(before.is_private),
            updated_at: now,
            version: before.version + 1,
            ..before.clone()
        }
    }
}

/// Removes duplicate tags, keeping the first spelling.
fn distinct(tags: &[Tag]) -> Vec<Tag> {
    let mut distinct: Vec<Tag> = Vec::with_capacity(tags.len());
    for tag in tags {
        if !distinct.iter().any(|existing| existing.same_as(tag)) {
            distinct.push(tag.clone());
        }
    }
    distinct
}

/// Decides about an attempt to change the address after a condition failed: a new password meanwhile
/// counts as a wrong one here.
pub(super) fn email_refusal<T>(
    caller: &Caller,
    failed: &FailedConditions,
) -> Result<AttemptOutcome<T>, AccountError> {
    if failed.contains("credential") {
        return Err(AccountError::WrongPassword);
    }
    retry_while_valid(caller, failed)
}

#[boxed]
impl Accounts {
    /// Updates the caller's profile. A rename takes the new name and releases the old one in one
    /// transaction.
    pub async fn update_profile(
        &self,
        caller: &Caller,
        change: &ProfileChange,
        request: Option<&RequestId>,
    ) -> Result<User, AccountError> {
        let mutation = self.context.mutation(caller).await?;
        require_own(Permission::UpdateProfile, caller)?;
        change.check(self.context.now())?;
        if let Some(nickname) = &change.nickname
            && !nickname.same_as(&mutation.account.nickname)
        {
            nicknames::check_new(nickname)?;
        }
        mutation
            .once("updateProfile", change, request)?
            .replay(async |_: ProfileOutcome| Ok(self.context.authorize_read(caller).await?))
            .run(async |me, attempt| {
                let mut after = change.applied_to(&me, self.context.now());
                let file = self.set_picture(change, &mut after).await?;
                self.write_profile(&me, after, file, attempt).await
            })
            .await
    }

    /// Changes the sign-in address after checking the password.
    pub async fn change_email(
        &self,
        caller: &Caller,
        password: &Secret,
        email: &Email,
    ) -> Result<User, AccountError> {
        let mutation = self.context.mutation(caller).await?;
        require_own(Permission::ChangeCredentials, caller)?;
        let credential = self.reauthenticate(&mutation.account, password).await?;
        let unchanged = Credential::PASSWORD_HASH.is(&credential.password_hash);
        mutation
            .run(async |me, attempt| {
                let after = User {
                    email: Some(email.clone()),
                    updated_at: self.context.now(),
                    version: me.version + 1,
                    ..User::clone(&me)
                };
                self.check_changed_names(&me, &after).await?;
                attempt
                    .commit()
                    .with("user", rekey(&*me, &after)?)
                    .with_named(names::moved_locks(&me, &after, after.updated_at))
                    .with("credential", Credential::at(&me.id).check(unchanged.clone()))
                    .with_all(SIGN_IN, validity_check(caller))
                    .finish_or(after, |failed| email_refusal(caller, &failed))
                    .await
            })
            .await
    }

    /// Sets or clears the picture; returns the claim of its file when that is a new one.
    async fn set_picture(
        &self,
        change: &ProfileChange,
        user: &mut User,
    ) -> Result<Option<Patch<Upload>>, AccountError> {
        let named = match &change.profile_image {
            Edit::Keep => return Ok(None),
            Edit::Clear => {
                (user.profile_image, user.profile_image_url) = (None, None);
                return Ok(None);
            }
            Edit::Set(named) => named,
        };
        if user.profile_image.as_ref().is_some_and(|has| has.s3_key == named.s3_key) {
            return Ok(None);
        }
        let free = unclaimed(&self.context, &user.id, [named], MediaUse::Profile).await?;
        let picture = free.into_iter().flatten().next().ok_or(AccountError::NoSuchPicture)?;
        let claimed = claim(&user.id, &picture, &Holder::profile(&user.id));
        (user.profile_image, user.profile_image_url) = (Some(picture), None);
        Ok(Some(claimed))
    }

    /// Replaces a profile, together with the locks, tag references and file that depend on it.
    async fn write_profile(
        &self,
        before: &User,
        after: User,
        file: Option<Patch<Upload>>,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<User>, AccountError> {
        self.check_changed_names(before, &after).await?;
        let outcome = ProfileOutcome { user: after.id.clone() };
        attempt
            .commit()
            .with("user", rekey(before, &after)?)
            .with_named(names::moved_locks(before, &after, after.updated_at))
            .with_all("tag", tags::reference_writes(&self.context, before, &after).await?)
            .with_all("file", file)
            .finish(outcome, after)
            .await
    }

    /// Refuses names that changed and are taken.
    async fn check_changed_names(&self, before: &User, after: &User) -> Result<(), AccountError> {
        let core = self.context.core();
        if let Some(email) = &after.email
            && !before.email.as_ref().is_some_and(|old| old.same_as(email))
            && core.email_lock(email).get().await?.is_some()
        {
            return Err(AccountError::EmailTaken);
        }
        if !before.nickname.same_as(&after.nickname)
            && core.nick_lock(&after.nickname).get().await?.is_some()
        {
            return Err(AccountError::NicknameTaken);
        }
        if let Some(handle) = &after.handle
            && !before.handle.as_ref().is_some_and(|old| old.same_as(handle))
            && core.handle_lock(handle).get().await?.is_some()
        {
            return Err(AccountError::HandleTaken);
        }
        Ok(())
    }
}
