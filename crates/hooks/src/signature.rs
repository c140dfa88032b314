//! Signatures as the Standard Webhooks specification has them, so that any of its libraries checks them.

use std::fmt;

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit, Mac};
use roundtable_model::Secret;
use sha2::Sha256;

use crate::Misconfigured;

/// What secrets begin with, so that they are known for what they are wherever they turn up.
const PREFIX: &str = "whsec_";
/// How long the specification wants a key to be.
const KEY_BYTES_MIN: usize = 24;
const KEY_BYTES_MAX: usize = 64;

/// What messages to one receiver are signed with.
#[derive(Clone)]
pub(crate) struct SigningKey(Hmac<Sha256>);

impl SigningKey {
    pub(crate) fn read(secret: &Secret) -> Result<Self, Misconfigured> {
        let text = secret.expose().strip_prefix(PREFIX).ok_or(Misconfigured::Secret)?;
        let key = BASE64.decode(text.as_bytes()).map_err(|_| Misconfigured::Secret)?;
        if !(KEY_BYTES_MIN..=KEY_BYTES_MAX).contains(&key.len()) {
            return Err(Misconfigured::Secret);
        }
        Hmac::new_from_slice(&key).map(Self).map_err(|_| Misconfigured::Secret)
    }

    /// The signature of a message sent at this second.
    pub(crate) fn sign(&self, id: &str, seconds: u64, body: &[u8]) -> String {
        let mut mac = self.0.clone();
        mac.update(format!("{id}.{seconds}.").as_bytes());
        mac.update(body);
        format!("v1,{}", BASE64.encode(&mac.finalize().into_bytes()))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}
