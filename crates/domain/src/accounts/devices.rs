//! Devices that users have signed in on. A device shows with a token that it is known, so that failed
//! sign-ins of strangers are not counted against it.
//!
//! The token gives no access: it only decides with whose failures an attempt is counted. A device
//! outlives its sessions, because a user who has signed out needs it to sign in again.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Device;
use roundtable_model::table::Delete;
use roundtable_model::{DeviceId, Entity, Expiry, Secret, UserId};

use super::tokens::{SecretBytes, decode, encode, is_hash_of};
use super::{AccountError, Accounts};
use crate::ServiceError;
use crate::entropy::Entropy;
use crate::limits::{DEVICE_DAYS_MAX, DEVICES_MAX, NAME_CHARS_MAX, check_text};

/// The first part of a device token: `rtd.{user}.{device}.{secret}`.
const DEVICE: &str = "rtd";
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// A client's description of the device that a user signs in on.
#[derive(Clone, Debug, Default)]
pub struct DeviceInput {
    /// The token of an earlier sign-in on this device.
    pub token: Option<Secret>,
    /// A name for the device.
    pub label: Option<String>,
}

impl DeviceInput {
    pub(super) fn check(&self) -> Result<(), ServiceError> {
        check_text("deviceLabel", self.label.as_deref().unwrap_or_default(), NAME_CHARS_MAX)
    }
}

/// A device token in the form that clients present.
struct DeviceToken {
    user: UserId,
    device: DeviceId,
    secret: SecretBytes,
}

impl DeviceToken {
    fn parse(text: &Secret) -> Option<Self> {
        let mut parts = text.expose().split('.');
        let kind = parts.next()?;
        let (user, device) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let secret = decode(parts.next()?)?;
        let is_complete = kind == DEVICE && parts.next().is_none();
        is_complete.then_some(Self { user, device, secret })
    }

    fn text(&self) -> Secret {
        let Self { user, device, secret } = self;
        Secret::new(format!("{DEVICE}.{user}.{device}.{}", encode(secret)))
    }

    fn hash(&self) -> Secret {
        Secret::new(blake3::hash(&self.secret).to_string())
    }
}

/// A device, and the token that it is known by.
#[derive(Debug)]
pub(super) struct DeviceWithToken {
    pub(super) device: Device,
    pub(super) token: Secret,
    is_new: bool,
}

#[boxed]
impl Accounts {
    /// Returns the device of a token; `None` for a token that is not one of this user's.
    pub(super) async fn known_device(
        &self,
        user: Option<&UserId>,
        token: Option<&Secret>,
    ) -> Result<Option<Device>, ServiceError> {
        let Some(token) = token.and_then(DeviceToken::parse) else { return Ok(None) };
        if user != Some(&token.user) {
            return Ok(None);
        }
        let device = self.context.core().device(&token.user, &token.device).get().await?;
        Ok(device.filter(|device| is_hash_of(device.secret_hash.expose(), &token.secret)))
    }

    /// Returns the device of a new session: the known one, or one with a new token.
    pub(super) fn signed_in_device(
        &self,
        user: &UserId,
        known: Option<Device>,
        input: &DeviceInput,
    ) -> DeviceWithToken {
        let now = self.context.now();
        let label = input.label.clone().filter(|label| !label.trim().is_empty());
        let ttl = Expiry::at(now.plus_ms(DEVICE_DAYS_MAX * DAY_MS));
        if let (Some(known), Some(token)) = (known, &input.token) {
            let label = label.or_else(|| known.label.clone());
            let device = Device { label, used_at: now, ttl, ..known };
            return DeviceWithToken { device, token: token.clone(), is_new: false };
        }
        let token = new_token(user, self.context.ids().next(), self.context.entropy());
        let device = Device {
            user_id: user.clone(),
            id: token.device.clone(),
            secret_hash: token.hash(),
            label,
            created_at: now,
            signed_up_at: None,
            used_at: now,
            ttl,
        };
        DeviceWithToken { device, token: token.text(), is_new: true }
    }

    /// Returns the device that an account is created on.
    pub(super) fn signed_up_device(&self, user: &UserId) -> DeviceWithToken {
        let new = self.signed_in_device(user, None, &DeviceInput::default());
        let signed_up_at = Some(new.device.created_at);
        DeviceWithToken { device: Device { signed_up_at, ..new.device }, ..new }
    }

    /// Forgets the least recently used devices beyond the limit.
    pub(super) async fn forget_oldest_devices(
        &self,
        signed_in: &DeviceWithToken,
    ) -> Result<(), AccountError> {
        if !signed_in.is_new {
            return Ok(());
        }
        let core = self.context.core();
        let mut devices = core.devices(&signed_in.device.user_id).all().await?;
        let excess = devices.len().saturating_sub(DEVICES_MAX);
        devices.sort_by_key(|device| device.used_at);
        for device in devices.iter().take(excess) {
            core.table().delete(Delete::new(device.key())).await.map_err(ServiceError::of_write)?;
        }
        Ok(())
    }
}

fn new_token(user: &UserId, device: DeviceId, chance: &Entropy) -> DeviceToken {
    DeviceToken { user: user.clone(), device, secret: chance.bytes() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_token_round_trips_and_others_are_rejected() {
        let chance = Entropy::seeded([1; 32]);
        let token = new_token(&"ana".parse().unwrap(), "d1".parse().unwrap(), &chance);
        let text = token.text();
        assert!(text.expose().starts_with("rtd.ana.d1."));
        let read = DeviceToken::parse(&text).unwrap();
        assert!(is_hash_of(token.hash().expose(), &read.secret));
        assert!(!token.hash().expose().contains(text.expose().rsplit('.').next().unwrap()));
        for wrong in ["", "rtd", "rtd.ana.d1", "rtd.ana.d1.AAAA", &format!("{}.x", text.expose())] {
            assert!(DeviceToken::parse(&Secret::new(wrong)).is_none(), "{wrong}");
        }
        let key = Secret::new(text.expose().replacen("rtd", "rtk", 1));
        assert!(DeviceToken::parse(&key).is_none(), "the text of an API key");
    }
}
