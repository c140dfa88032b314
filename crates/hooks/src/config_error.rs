//! Configuration errors of hooks. They show neither address nor secret, because both may grant access.

use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HookConfigError {
    #[error("the address of the hook {0}")]
    Address(&'static str),
    #[error(
        "the secret of the hook must be whsec_ followed by 24 to 64 bytes in base64; generate one with: \
         echo \"whsec_$(openssl rand -base64 32)\""
    )]
    Secret,
    #[error("the time-out of the hook is {0:?}; expected more than zero and at most a minute")]
    Timeout(Duration),
    #[error("no trusted certificates found; install the system's root certificates: {0}")]
    Certificates(String),
}
