//! Quotas of uploads: the bytes of a user's files, and the number of uploads that are pending.
//!
//! An announcement charges both in its own transaction, so that no number of concurrent requests gets
//! more than the limit. The stream releases them (`streams/counters.rs`): a completed upload is no
//! longer pending, and one that was refused, has expired or was deleted, by any writer, takes no bytes.

use roundtable_model::entities::{Upload, UserCounter};
use roundtable_model::{InvalidValue, Patch, UserCount};

use super::MediaError;
use super::kind::MediaKind;
use crate::account::SINGLE_SHARD;
use crate::circle::change_count;
use crate::{Context, ServiceError, TierLimits};

/// The limits on the uploads of one user, by the user's tier.
#[derive(Clone, Copy, Debug)]
pub(super) struct UploadLimits(pub(super) TierLimits);

impl UploadLimits {
    pub(super) fn check_size(&self, kind: MediaKind, bytes: u64) -> Result<(), ServiceError> {
        let TierLimits { tier, image_bytes_max, video_bytes_max, .. } = self.0;
        let max = if kind.is_image { image_bytes_max } else { video_bytes_max };
        if (1..=max).contains(&bytes) {
            return Ok(());
        }
        let found = format!("{bytes} bytes, maximum {max} for the tier `{tier}`");
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
        let TierLimits { tier, account_bytes_max, account_uploads_max, .. } = self.0;
        let pending = charge(UserCount::PendingUploads, 1, account_uploads_max);
        let bytes = charge(UserCount::MediaBytes, bytes, account_bytes_max);
        let no_space = || ServiceError::TierLimitReached {
            tier,
            max: account_bytes_max,
            limit: "bytes of files and pending uploads",
            advice: "delete posts with files, or wait until uploads that you did not complete expire",
        };
        let too_many = || ServiceError::TierLimitReached {
            tier,
            max: account_uploads_max,
            limit: "pending uploads",
            advice: "complete them, or wait until they expire",
        };
        Ok([bytes.ok_or_else(no_space)?, pending.ok_or_else(too_many)?])
    }
}
