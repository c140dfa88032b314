//! Signatures of the Standard Webhooks specification, so that its libraries can verify them.

use std::fmt;

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit, Mac};
use roundtable_model::Secret;
use sha2::Sha256;

use crate::HookConfigError;

/// Marks secrets, so that they are recognised if they leak.
const PREFIX: &str = "whsec_";
/// The specification's limits.
const KEY_BYTES_MIN: usize = 24;
const KEY_BYTES_MAX: usize = 64;

#[derive(Clone)]
pub(crate) struct HookSigningKey(Hmac<Sha256>);

impl HookSigningKey {
    pub(crate) fn read(secret: &Secret) -> Result<Self, HookConfigError> {
        let text = secret.expose().strip_prefix(PREFIX).ok_or(HookConfigError::Secret)?;
        let key = BASE64.decode(text.as_bytes()).map_err(|_| HookConfigError::Secret)?;
        if !(KEY_BYTES_MIN..=KEY_BYTES_MAX).contains(&key.len()) {
            return Err(HookConfigError::Secret);
        }
        Hmac::new_from_slice(&key).map(Self).map_err(|_| HookConfigError::Secret)
    }

    pub(crate) fn sign(&self, id: &str, seconds: u64, body: &[u8]) -> String {
        let mut mac = self.0.clone();
        mac.update(format!("{id}.{seconds}.").as_bytes());
        mac.update(body);
        format!("v1,{}", BASE64.encode(&mac.finalize().into_bytes()))
    }
}

impl fmt::Debug for HookSigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}
