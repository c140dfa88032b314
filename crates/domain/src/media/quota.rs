//! Quotas of uploads: the bytes of a user's files, and the number of uploads that are pending.
//!
//! An announcement charges both in its own transaction, so that no number of concurrent requests gets
//! more than the limit. The stream releases them (`streams/counters.rs`): a completed upload is no
//! longer pending, and one that was refused, has expired or was deleted, by any writer, takes no bytes.

use roundtable_model::entities::{Upload, User, UserCounter};
use roundtable_model::{InvalidValue, Patch, UserCount};

use super::MediaError;
use super::kind::MediaKind;
use crate::account::SINGLE_SHARD;
use crate::circle::change_count;
use crate::settings::MediaSettings;
use crate::{Context, ServiceError};

/// The limits on the uploads of one user.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_field_names, reason = "they have the names of the settings")]
pub(super) struct UploadLimits {
    image_bytes_max: u64,
    video_bytes_max: u64,
    account_bytes_max: u64,
    account_uploads_max: u64,
}

impl UploadLimits {
    /// Looks up the limits of a user; the only place that does. They are the same for all users.
    pub(super) const fn of(settings: &MediaSettings, _user: &User) -> Self {
        Self {
            image_bytes_max: settings.image_bytes_max,
            video_bytes_max: settings.video_bytes_max,
            account_bytes_max: settings.account_bytes_max,
            account_uploads_max: settings.account_uploads_max,
        }
    }

    pub(super) fn check_size(&self, kind: MediaKind, bytes: u64) -> Result<(), ServiceError> {
        let max = if kind.is_image { self.image_bytes_max } else { self.video_bytes_max };
        if (1..=max).contains(&bytes) {
            return Ok(());
        }
        let found = format!("{bytes} bytes, maximum {max}");
        Err(ServiceError::bad_input(
            "bytes",
            InvalidValue::new("a non-empty file within the size limit", found),
        ))
    }

    /// Returns the writes that charge a new upload to its owner. They fail if concurrent uploads have
    /// used up a limit meanwhile.
    pub(super) async fn charges(
        &self,
        context: &Context,
        upload: &Upload,
    ) -> Result<[Patch<UserCounter>; 2], MediaError> {
        let (user, bytes) = (&upload.user_id, upload.charged_bytes.unwrap_or(0));
        let counters = [UserCount::MediaBytes, UserCount::PendingUploads];
        let keys = counters.map(|counter| UserCounter::at(user, &counter, &SINGLE_SHARD));
        let used = context.items_at("counts", keys).await?;
        let used = |counter: UserCount| {
            let counters = used.iter().flatten();
            counters.filter(|used| used.counter == counter).map(|used| used.count).sum::<u64>()
        };
        let charge = |counter: UserCount, amount: u64, max: u64| {
            let used_max = max.checked_sub(amount).filter(|used_max| used(counter) <= *used_max)?;
            let change = change_count(
                user,
                counter,
                SINGLE_SHARD,
                i64::try_from(amount).ok()?,
                upload.created_at,
            );
            let fits = UserCounter::COUNT.absent().or(UserCounter::COUNT.at_most(&used_max));
            Some(change.when(fits))
        };
        let pending = charge(UserCount::PendingUploads, 1, self.account_uploads_max);
        let bytes = charge(UserCount::MediaBytes, bytes, self.account_bytes_max);
        Ok([bytes.ok_or(MediaError::QuotaExceeded)?, pending.ok_or(MediaError::TooManyUploads)?])
    }
}
