//! Password hashing with argon2id, on blocking threads with limited concurrency. Checking a
//! password takes equally long whether or not the account exists.

use std::sync::Arc;

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{
    ARGON2ID_IDENT, Algorithm, Argon2, CustomizedPasswordHasher, Params, PasswordVerifier, Version,
};
use roundtable_model::{InvalidValue, Secret};
use tokio::sync::Semaphore;
use unicode_normalization::UnicodeNormalization;

use crate::entropy::Entropy;
use crate::limits::{PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN};
use crate::{LoginSettings, ServiceError};

const SALT_BYTES: usize = 16;
const HASH_BYTES: usize = 32;

#[derive(Debug)]
pub(crate) struct PasswordHasher {
    params: Params,
    /// A hash that no password matches, checked for accounts that do not exist.
    decoy: Option<PasswordHash>,
    permits: Arc<Semaphore>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PasswordCheck {
    Wrong,
    Correct,
    /// Correct, but hashed with outdated parameters.
    CorrectButOutdated,
}

impl PasswordHasher {
    pub(crate) fn new(settings: &LoginSettings, chance: &Entropy) -> Self {
        let memory = settings.hash_memory_kib.max(Params::MIN_M_COST);
        let passes = settings.hash_passes.max(Params::MIN_T_COST);
        let params = Params::new(memory, passes, 1, Some(HASH_BYTES)).unwrap_or_default();
        let permits = settings.hashes_at_once.clamp(1, Semaphore::MAX_PERMITS);
        let decoy = decoy(&params, chance);
        Self { params, decoy, permits: Arc::new(Semaphore::new(permits)) }
    }

    pub(super) async fn hash(
        &self,
        password: &Secret,
        chance: &Entropy,
    ) -> Result<Secret, ServiceError> {
        let (argon2, params, password) =
            (self.argon2(), self.params.clone(), normalized_bytes(password));
        let salt: [u8; SALT_BYTES] = chance.bytes();
        let hashed =
            self.run_blocking(move || argon2.hash_password_with_params(&password, &salt, params));
        let hash = hashed.await?.map_err(|error| ServiceError::Internal(error.to_string()))?;
        Ok(Secret::new(hash.to_string()))
    }

    /// Checks a password against a stored hash, or against the decoy when there is no account.
    pub(super) async fn check(
        &self,
        password: &Secret,
        hash: Option<&Secret>,
    ) -> Result<PasswordCheck, ServiceError> {
        let stored = hash.map(|hash| PasswordHash::new(hash.expose())).transpose();
        let stored = stored.map_err(|error| ServiceError::Internal(error.to_string()))?;
        let (is_decoy, hash) = (stored.is_none(), stored.or_else(|| self.decoy.clone()));
        let Some(hash) = hash else { return Ok(PasswordCheck::Wrong) };
        let is_outdated = !self.is_current(&hash);
        let (argon2, password) = (self.argon2(), normalized_bytes(password));
        let verified = self.run_blocking(move || argon2.verify_password(&password, &hash)).await?;
        Ok(match verified {
            Ok(()) if is_decoy => PasswordCheck::Wrong,
            Ok(()) if is_outdated => PasswordCheck::CorrectButOutdated,
            Ok(()) => PasswordCheck::Correct,
            Err(argon2::password_hash::Error::PasswordInvalid) => PasswordCheck::Wrong,
            Err(error) => return Err(ServiceError::Internal(error.to_string())),
        })
    }

    /// Runs a long computation on a blocking thread. The permit is released when the computation
    /// ends, not when the caller stops waiting: the thread is busy until then.
    async fn run_blocking<T: Send + 'static>(
        &self,
        compute: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ServiceError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|closed| ServiceError::Internal(closed.to_string()))?;
        let computed = tokio::task::spawn_blocking(move || {
            let computed = compute();
            drop(permit);
            computed
        });
        computed.await.map_err(|error| ServiceError::Internal(error.to_string()))
    }

    fn argon2(&self) -> Argon2<'static> {
        Argon2::new(Algorithm::Argon2id, Version::V0x13, self.params.clone())
    }

    fn is_current(&self, hash: &PasswordHash) -> bool {
        let params = Params::try_from(hash);
        hash.algorithm == ARGON2ID_IDENT
            && hash.version == Some(Version::V0x13.into())
            && params.is_ok_and(|params| {
                (params.m_cost(), params.t_cost(), params.p_cost())
                    == (self.params.m_cost(), self.params.t_cost(), self.params.p_cost())
            })
    }
}

/// A random hash: checking a password against it costs as much as against a real one.
fn decoy(params: &Params, chance: &Entropy) -> Option<PasswordHash> {
    Some(PasswordHash {
        algorithm: ARGON2ID_IDENT,
        version: Some(Version::V0x13.into()),
        params: ParamsString::try_from(params).ok()?,
        salt: Some(Salt::new(&chance.bytes::<SALT_BYTES>()).ok()?),
        hash: Some(Output::new(&chance.bytes::<HASH_BYTES>()).ok()?),
    })
}

/// The bytes to hash: NFKC makes them independent of the keyboard.
fn normalized_bytes(password: &Secret) -> Vec<u8> {
    password.expose().nfkc().collect::<String>().into_bytes()
}

/// Refuses a new password that is too short or too long.
pub(super) fn check_new(field: &'static str, password: &Secret) -> Result<(), ServiceError> {
    let chars = password.expose().chars().count();
    if chars < PASSWORD_CHARS_MIN {
        let invalid = InvalidValue::new("at least 8 characters", chars);
        return Err(ServiceError::bad_input(field, invalid));
    }
    check_length(field, password)
}

/// Refuses a password so long that hashing it becomes a denial of service.
pub(super) fn check_length(field: &'static str, password: &Secret) -> Result<(), ServiceError> {
    match password.expose().len() {
        0..=PASSWORD_BYTES_MAX => Ok(()),
        bytes => {
            Err(ServiceError::bad_input(field, InvalidValue::new("at most 1024 bytes", bytes)))
        }
    }
}

const _: () = assert!(
    PASSWORD_CHARS_MIN == 8 && PASSWORD_BYTES_MAX == 1024,
    "the error messages state these limits"
);

#[cfg(test)]
mod tests {
    use super::*;

    fn passwords(memory: u32) -> (PasswordHasher, Entropy) {
        let chance = Entropy::seeded([3; 32]);
        let settings = LoginSettings { hash_memory_kib: memory, ..LoginSettings::default() };
        (PasswordHasher::new(&settings, &chance), chance)
    }

    fn secret(text: &str) -> Secret {
        Secret::new(text)
    }

    #[tokio::test]
    async fn only_the_correct_password_matches() {
        let (passwords, chance) = passwords(8);
        let hash = passwords.hash(&secret("correct horse"), &chance).await.unwrap();
        assert!(hash.expose().starts_with("$argon2id$v=19$m=8,t=2,p=1$"), "{}", hash.expose());
        let other = passwords.hash(&secret("correct horse"), &chance).await.unwrap();
        assert_ne!(hash, other, "each has a salt of its own");
        let check = async |password| passwords.check(&secret(password), Some(&hash)).await.unwrap();
        assert_eq!(check("correct horse").await, PasswordCheck::Correct);
        assert_eq!(check("Correct horse").await, PasswordCheck::Wrong);
        assert_eq!(check("").await, PasswordCheck::Wrong);
    }

    #[tokio::test]
    async fn no_password_matches_a_missing_account() {
        let (passwords, _) = passwords(8);
        assert_eq!(passwords.check(&secret("anything"), None).await.unwrap(), PasswordCheck::Wrong);
        let decoy = passwords.decoy.unwrap().to_string();
        assert!(decoy.starts_with("$argon2id$v=19$m=8,t=2,p=1$"), "as much work as any: {decoy}");
    }

    #[tokio::test]
    async fn a_hash_with_other_parameters_is_outdated() {
        let (before, chance) = passwords(8);
        let (today, _) = passwords(16);
        let hash = before.hash(&secret("correct horse"), &chance).await.unwrap();
        let checked = today.check(&secret("correct horse"), Some(&hash)).await.unwrap();
        assert_eq!(checked, PasswordCheck::CorrectButOutdated);
        assert_eq!(today.check(&secret("x"), Some(&hash)).await.unwrap(), PasswordCheck::Wrong);
    }

    #[tokio::test]
    async fn the_same_characters_are_the_same_password() {
        let (passwords, chance) = passwords(8);
        let hash = passwords.hash(&secret("caf\u{e9} au lait"), &chance).await.unwrap();
        let typed = secret("cafe\u{301} au lait");
        assert_eq!(passwords.check(&typed, Some(&hash)).await.unwrap(), PasswordCheck::Correct);
    }

    #[test]
    fn a_password_has_limits() {
        let refused = check_new("password", &secret("short")).unwrap_err();
        assert_eq!(refused.to_string(), "password: expected at least 8 characters, found 5");
        assert!(check_new("password", &secret(&"x".repeat(1024))).is_ok());
        assert!(check_new("password", &secret(&"x".repeat(1025))).is_err());
    }
}
