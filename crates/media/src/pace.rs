//! The pace that an upload must keep, so that a client that sends a byte now and then does not keep
//! others from uploading.

use std::time::Duration;

/// The time before an upload must keep a pace.
const GRACE: Duration = Duration::from_secs(30);
const BYTES_PER_SECOND_MIN: u64 = 16 << 10;

/// Returns the time that an upload of this length may take, at most `time_max`.
pub(crate) fn transfer_time(bytes: u64, time_max: Duration) -> Duration {
    time_max.min(GRACE + Duration::from_secs(bytes / BYTES_PER_SECOND_MIN))
}

/// Returns whether an upload would not end in time if it went on as it does.
pub(crate) fn is_behind(elapsed: Duration, received: u64, bytes: u64, time_max: Duration) -> bool {
    let after_grace = elapsed.saturating_sub(GRACE).as_millis();
    u128::from(received) * time_max.as_millis() < u128::from(bytes) * after_grace
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF_AN_HOUR: Duration = Duration::from_mins(30);

    #[test]
    fn short_files_have_less_time() {
        assert_eq!(transfer_time(1, HALF_AN_HOUR), GRACE);
        assert_eq!(transfer_time(1 << 20, HALF_AN_HOUR), GRACE + Duration::from_secs(64));
        assert_eq!(transfer_time(500 << 20, HALF_AN_HOUR), HALF_AN_HOUR);
    }

    #[test]
    fn an_upload_keeps_its_pace_after_a_while() {
        let bytes = 500 << 20;
        let behind = |seconds, received| {
            is_behind(Duration::from_secs(seconds), received, bytes, HALF_AN_HOUR)
        };
        assert!(!behind(30, 0), "it has only begun");
        assert!(behind(60, 31), "a byte a second");
        assert!(!behind(60, bytes / 50), "a fiftieth after a sixtieth of the time");
        assert!(behind(900, bytes / 3) && !behind(900, bytes / 2));
    }
}
