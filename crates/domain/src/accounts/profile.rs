//! What people say about themselves, and what they are called.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Holder, Upload, User};
use roundtable_model::{
    Date, Email, Handle, MediaUse, Misfit, Nickname, Patch, RequestId, Secret, Tag, Time, UserId,
    UserStatus, rekey,
};
use serde::{Deserialize, Serialize};

use super::{AccountError, Accounts, names, own, tags};
use crate::access::Act;
use crate::limits::{
    ABOUT_CHARS_MAX, NAME_CHARS_MAX, TAGS_MAX, check_count, check_media_type, check_text,
};
use crate::media::{claim, unclaimed};
use crate::once::{Request, Tried};
use crate::{Caller, Edit, Failure, NewMedia};

/// What is to change about a profile; what is not mentioned stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProfileChange {
    /// The name others see. Everybody has one.
    pub nickname: Option<Nickname>,
    /// The name for links.
    pub handle: Edit<Handle>,
    /// The name in civil life.
    pub full_name: Edit<String>,
    /// The name to show instead of the nickname.
    pub display_name: Edit<String>,
    /// What they say about themselves.
    pub bio: Edit<String>,
    /// The day of birth.
    pub birth_date: Edit<Date>,
    /// Where they live.
    pub country: Edit<String>,
    /// The language they prefer.
    pub language: Edit<String>,
    /// In their own words.
    pub gender: Edit<String>,
    /// In their own words.
    pub pronouns: Edit<String>,
    /// What they are interested in, all of it.
    pub tags: Option<Vec<Tag>>,
    /// Their picture: a file that they sent. One that is elsewhere in the web is none.
    pub profile_image: Edit<NewMedia>,
    /// Whether only accepted followers see their posts. Requests that wait go on waiting.
    pub is_private: Option<bool>,
}

/// Whose profile a request changed.
#[derive(Debug, Serialize, Deserialize)]
struct Outcome {
    user: UserId,
}

impl ProfileChange {
    fn check(&self, now: Time) -> Result<(), Failure> {
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
        // Dates are written so that text order is time order.
        if let Some(date) = self.birth_date.value()
            && date.to_string() > now.day().to_string()
        {
            return Err(Failure::bad("birthDate", Misfit::new("a day that has been", date)));
        }
        Ok(())
    }

    /// The profile after the change.
    fn over(&self, before: &User, now: Time) -> User {
        let text = |edit: &Edit<String>, before: &Option<String>| {
            let after = edit.clone().over(before.clone());
            // A text that shows nothing is none.
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

/// The tags, each once, in the spelling it first has.
fn distinct(tags: &[Tag]) -> Vec<Tag> {
    let mut distinct: Vec<Tag> = Vec::with_capacity(tags.len());
    for tag in tags {
        if !distinct.iter().any(|known| known.same_as(tag)) {
            distinct.push(tag.clone());
        }
    }
    distinct
}

#[boxed]
impl Accounts {
    /// Changes what the caller says about themselves. A rename takes the new name and gives the old
    /// one back in the same moment.
    pub async fn update_profile(
        &self,
        caller: &Caller,
        change: &ProfileChange,
        request: Option<&RequestId>,
    ) -> Result<User, AccountError> {
        let me = self.ground.account(caller).await?;
        own(Act::UpdateProfile)?;
        change.check(self.ground.now())?;
        let request = self.ground.request(&me.id, request, "updateProfile", change)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.live(&outcome.user).await,
                async || {
                    let before = self.live(&me.id).await?;
                    let mut after = change.over(&before, self.ground.now());
                    let file = self.pictured(change, &mut after).await?;
                    self.renamed(&before, after, file, request.as_ref()).await
                },
            )
            .await
    }

    /// Changes the address the caller signs in with, once they have proven the password.
    pub async fn change_email(
        &self,
        caller: &Caller,
        password: &Secret,
        email: &Email,
    ) -> Result<User, AccountError> {
        let me = self.ground.account(caller).await?;
        own(Act::UpdateProfile)?;
        self.prove_again(&me, password).await?;
        self.ground
            .once(
                None,
                async |outcome: Outcome| self.live(&outcome.user).await,
                async || {
                    let before = self.live(&me.id).await?;
                    let after = User {
                        email: Some(email.clone()),
                        updated_at: self.ground.now(),
                        version: before.version + 1,
                        ..before.clone()
                    };
                    self.renamed(&before, after, None, None).await
                },
            )
            .await
    }

    /// Gives a profile the picture of a change; answers with the claim of its file, if that is another
    /// one than it has.
    async fn pictured(
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
        let free = unclaimed(&self.ground, &user.id, [named], MediaUse::Profile).await?;
        let picture = free.into_iter().flatten().next().ok_or(AccountError::NoSuchPicture)?;
        let claimed = claim(&user.id, &picture, &Holder::profile(&user.id));
        (user.profile_image, user.profile_image_url) = (Some(picture), None);
        Ok(Some(claimed))
    }

    /// Writes a profile over the one it was made from, with all that its names, tags and picture need.
    async fn renamed(
        &self,
        before: &User,
        after: User,
        file: Option<Patch<Upload>>,
        request: Option<&Request>,
    ) -> Result<Tried<User>, AccountError> {
        self.free_for(before, &after).await?;
        let commit = self.ground.commit().with("user", rekey(before, &after)?);
        let commit = names::moved(before, &after, after.updated_at)
            .into_iter()
            .fold(commit, |commit, (name, write)| commit.with(name, write))
            .with_any("tag", tags::in_step(&self.ground, before, &after).await?)
            .with_any("file", file);
        let outcome = Outcome { user: after.id.clone() };
        Ok(commit.remembering(request, &outcome)?.done(after).await?)
    }

    /// Whether nobody else has the names that are new in `after`.
    async fn free_for(&self, before: &User, after: &User) -> Result<(), AccountError> {
        let core = self.ground.core();
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

    /// The caller's own profile, as it is now.
    pub(super) async fn live(&self, user: &UserId) -> Result<User, AccountError> {
        let user = self.ground.core().profile(user).strong().get().await?;
        match user {
            Some(user) if user.status == UserStatus::Active => Ok(user),
            Some(user) if user.status == UserStatus::Suspended => Err(Failure::Suspended.into()),
            _ => Err(Failure::Unauthenticated.into()),
        }
    }
}
