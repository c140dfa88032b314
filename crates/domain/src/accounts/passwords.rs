//! Passwords become hashes here, and nowhere else: argon2id, off the async threads, only so many at
//! the same time. A password that is checked for nobody takes as long as any other.

use std::sync::Arc;

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{
    ARGON2ID_IDENT, Algorithm, Argon2, CustomizedPasswordHasher, Params, PasswordVerifier, Version,
};
use roundtable_model::{Misfit, Secret};
use tokio::sync::Semaphore;
use unicode_normalization::UnicodeNormalization;

use crate::chance::Chance;
use crate::limits::{PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN};
use crate::{Failure, LoginSettings};

/// Bytes of a salt.
const SALT_BYTES: usize = 16;
/// Bytes of a hash.
const HASH_BYTES: usize = 32;

/// What passwords are hashed with.
#[derive(Debug)]
pub(crate) struct Passwords {
    params: Params,
    /// A hash that no password has, for those who have no account.
    nobodys: Option<PasswordHash>,
    at_once: Arc<Semaphore>,
}

/// Whether a password was right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checked {
    /// It was not.
    Wrong,
    /// It was.
    Right,
    /// It was, and its hash was made with other parameters than those of today.
    RightButOld,
}

impl Passwords {
    pub(crate) fn new(settings: &LoginSettings, chance: &Chance) -> Self {
        let memory = settings.hash_memory_kib.max(Params::MIN_M_COST);
        let passes = settings.hash_passes.max(Params::MIN_T_COST);
        let params = Params::new(memory, passes, 1, Some(HASH_BYTES)).unwrap_or_default();
        let at_once = settings.hashes_at_once.clamp(1, Semaphore::MAX_PERMITS);
        let nobodys = nobodys(&params, chance);
        Self { params, nobodys, at_once: Arc::new(Semaphore::new(at_once)) }
    }

    /// The hash of a new password.
    pub(super) async fn hash(&self, password: &Secret, chance: &Chance) -> Result<Secret, Failure> {
        let (argon2, params, password) = (self.argon2(), self.params.clone(), plain(password));
        let salt: [u8; SALT_BYTES] = chance.bytes();
        let hashed = self.aside(move || argon2.hash_password_with_params(&password, &salt, params));
        let hash = hashed.await?.map_err(|error| Failure::Internal(error.to_string()))?;
        Ok(Secret::new(hash.to_string()))
    }

    /// Checks a password against somebody's hash, or, for nobody, against one that never fits.
    pub(super) async fn check(
        &self,
        password: &Secret,
        hash: Option<&Secret>,
    ) -> Result<Checked, Failure> {
        let stored = hash.map(|hash| PasswordHash::new(hash.expose())).transpose();
        let stored = stored.map_err(|error| Failure::Internal(error.to_string()))?;
        let (is_nobody, hash) = (stored.is_none(), stored.or_else(|| self.nobodys.clone()));
        let Some(hash) = hash else { return Ok(Checked::Wrong) };
        let is_old = !self.is_of_today(&hash);
        let (argon2, password) = (self.argon2(), plain(password));
        let fits = self.aside(move || argon2.verify_password(&password, &hash)).await?;
        Ok(match fits {
            Ok(()) if is_nobody => Checked::Wrong,
            Ok(()) if is_old => Checked::RightButOld,
            Ok(()) => Checked::Right,
            Err(argon2::password_hash::Error::PasswordInvalid) => Checked::Wrong,
            Err(error) => return Err(Failure::Internal(error.to_string())),
        })
    }

    /// Computes something long where it holds nobody up. Its place is given back when it is done, not
    /// when nobody waits for it any more: a thread is busy until then.
    async fn aside<T: Send + 'static>(
        &self,
        compute: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let place = Arc::clone(&self.at_once).acquire_owned().await;
        let place = place.map_err(|closed| Failure::Internal(closed.to_string()))?;
        let computed = tokio::task::spawn_blocking(move || {
            let computed = compute();
            drop(place);
            computed
        });
        computed.await.map_err(|error| Failure::Internal(error.to_string()))
    }

    fn argon2(&self) -> Argon2<'static> {
        Argon2::new(Algorithm::Argon2id, Version::V0x13, self.params.clone())
    }

    fn is_of_today(&self, hash: &PasswordHash) -> bool {
        let params = Params::try_from(hash);
        hash.algorithm == ARGON2ID_IDENT
            && hash.version == Some(Version::V0x13.into())
            && params.is_ok_and(|params| {
                (params.m_cost(), params.t_cost(), params.p_cost())
                    == (self.params.m_cost(), self.params.t_cost(), self.params.p_cost())
            })
    }
}

/// A hash made of chance alone: checking a password against it is as much work as against a real one.
fn nobodys(params: &Params, chance: &Chance) -> Option<PasswordHash> {
    Some(PasswordHash {
        algorithm: ARGON2ID_IDENT,
        version: Some(Version::V0x13.into()),
        params: ParamsString::try_from(params).ok()?,
        salt: Some(Salt::new(&chance.bytes::<SALT_BYTES>()).ok()?),
        hash: Some(Output::new(&chance.bytes::<HASH_BYTES>()).ok()?),
    })
}

/// The bytes that are hashed: the same whichever keyboard the password was typed on.
fn plain(password: &Secret) -> Vec<u8> {
    password.expose().nfkc().collect::<String>().into_bytes()
}

/// Refuses a password that is too short to protect anything, or too long.
pub(super) fn check_new(field: &'static str, password: &Secret) -> Result<(), Failure> {
    let chars = password.expose().chars().count();
    if chars < PASSWORD_CHARS_MIN {
        let misfit = Misfit::new("at least 8 characters", chars);
        return Err(Failure::bad(field, misfit));
    }
    check_length(field, password)
}

/// Refuses a password that is so long that hashing it becomes a weapon.
pub(super) fn check_length(field: &'static str, password: &Secret) -> Result<(), Failure> {
    match password.expose().len() {
        0..=PASSWORD_BYTES_MAX => Ok(()),
        bytes => Err(Failure::bad(field, Misfit::new("at most 1024 bytes", bytes))),
    }
}

const _: () = assert!(PASSWORD_CHARS_MIN == 8 && PASSWORD_BYTES_MAX == 1024, "as the errors say");

#[cfg(test)]
mod tests {
    use super::*;

    fn passwords(memory: u32) -> (Passwords, Chance) {
        let chance = Chance::seeded([3; 32]);
        let settings = LoginSettings { hash_memory_kib: memory, ..LoginSettings::default() };
        (Passwords::new(&settings, &chance), chance)
    }

    fn secret(text: &str) -> Secret {
        Secret::new(text)
    }

    #[tokio::test]
    async fn only_the_right_password_fits() {
        let (passwords, chance) = passwords(8);
        let hash = passwords.hash(&secret("correct horse"), &chance).await.unwrap();
        assert!(hash.expose().starts_with("$argon2id$v=19$m=8,t=2,p=1$"), "{}", hash.expose());
        let other = passwords.hash(&secret("correct horse"), &chance).await.unwrap();
        assert_ne!(hash, other, "each has a salt of its own");
        let check = async |password| passwords.check(&secret(password), Some(&hash)).await.unwrap();
        assert_eq!(check("correct horse").await, Checked::Right);
        assert_eq!(check("Correct horse").await, Checked::Wrong);
        assert_eq!(check("").await, Checked::Wrong);
    }

    #[tokio::test]
    async fn nobody_has_a_password() {
        let (passwords, _) = passwords(8);
        assert_eq!(passwords.check(&secret("anything"), None).await.unwrap(), Checked::Wrong);
        let nobodys = passwords.nobodys.unwrap().to_string();
        assert!(
            nobodys.starts_with("$argon2id$v=19$m=8,t=2,p=1$"),
            "as much work as any: {nobodys}"
        );
    }

    #[tokio::test]
    async fn hashes_of_other_days_are_told_apart() {
        let (before, chance) = passwords(8);
        let (today, _) = passwords(16);
        let hash = before.hash(&secret("correct horse"), &chance).await.unwrap();
        let checked = today.check(&secret("correct horse"), Some(&hash)).await.unwrap();
        assert_eq!(checked, Checked::RightButOld);
        assert_eq!(today.check(&secret("x"), Some(&hash)).await.unwrap(), Checked::Wrong);
    }

    #[tokio::test]
    async fn the_same_characters_are_the_same_password() {
        let (passwords, chance) = passwords(8);
        let hash = passwords.hash(&secret("caf\u{e9} au lait"), &chance).await.unwrap();
        let typed = secret("cafe\u{301} au lait");
        assert_eq!(passwords.check(&typed, Some(&hash)).await.unwrap(), Checked::Right);
    }

    #[test]
    fn a_password_has_limits() {
        let refused = check_new("password", &secret("short")).unwrap_err();
        assert_eq!(refused.to_string(), "password: expected at least 8 characters, found 5");
        assert!(check_new("password", &secret(&"x".repeat(1024))).is_ok());
        assert!(check_new("password", &secret(&"x".repeat(1025))).is_err());
    }
}
