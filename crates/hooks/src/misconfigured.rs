//! What can be wrong with how a hook is configured. It says nothing of the address or the secret itself:
//! both may open doors.

use std::time::Duration;

/// Why a hook cannot be called as configured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misconfigured {
    /// Where it is cannot be called.
    #[error("the address of the hook {0}")]
    Address(&'static str),
    /// What it is signed with is no key.
    #[error(
        "the secret of the hook must be whsec_ followed by 24 to 64 bytes in base64; make one with: \
         echo \"whsec_$(openssl rand -base64 32)\""
    )]
    Secret,
    /// An answer would never, or hardly ever, come in time.
    #[error("the time-out of the hook is {0:?}; it must be above zero, and a minute at most")]
    Patience(Duration),
    /// Nobody could tell a certificate from another.
    #[error("no certificates to trust: {0}")]
    Certificates(String),
}
