//! Formats of refresh tokens and API keys (device tokens are in `devices.rs`). Each names the item that
//! stores its hash and contains 256 random bits, so the hashes need no salt.
//!
//! ```text
//! refresh token   rtr.{user}.{session}.{session_secret}.{current_secret}
//! key             rtk.{user}.{key}.{secret}
//! ```

use blake3::Hash;
use data_encoding::BASE64URL_NOPAD;
use roundtable_model::{ApiKeyId, Secret, SessionId, UserId};

use crate::entropy::Entropy;

const REFRESH: &str = "rtr";
const KEY: &str = "rtk";

pub(super) type SecretBytes = [u8; 32];

/// A refresh token, exchanged for the next one with every use.
///
/// It has two secrets: one lasts for the session, the other is new in each token. A token with the
/// right session secret but another current secret was exchanged before, however long ago, so it is
/// a copy. One item thus detects every reuse, and a thief cannot hide by exchanging many times.
pub(super) struct RefreshToken {
    pub(super) user: UserId,
    pub(super) session: SessionId,
    session_secret: SecretBytes,
    current_secret: SecretBytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenState {
    Current,
    /// Exchanged before.
    Superseded,
    /// Never issued by this session.
    Unknown,
}

impl RefreshToken {
    pub(super) fn first(user: UserId, session: SessionId, chance: &Entropy) -> Self {
        Self { user, session, session_secret: chance.bytes(), current_secret: chance.bytes() }
    }

    pub(super) fn next(&self, chance: &Entropy) -> Self {
        let (user, session) = (self.user.clone(), self.session.clone());
        Self { user, session, session_secret: self.session_secret, current_secret: chance.bytes() }
    }

    pub(super) fn parse(text: &Secret) -> Option<Self> {
        let mut parts = text.expose().split('.');
        let kind = parts.next()?;
        let (user, session) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let (session_secret, current_secret) = (decode(parts.next()?)?, decode(parts.next()?)?);
        let is_complete = kind == REFRESH && parts.next().is_none();
        is_complete.then_some(Self { user, session, session_secret, current_secret })
    }

    pub(super) fn text(&self) -> Secret {
        let Self { user, session, session_secret, current_secret } = self;
        let (session_secret, current_secret) = (encode(session_secret), encode(current_secret));
        Secret::new(format!("{REFRESH}.{user}.{session}.{session_secret}.{current_secret}"))
    }

    pub(super) fn hash(&self) -> Secret {
        let (session_secret, current_secret) =
            (blake3::hash(&self.session_secret), blake3::hash(&self.current_secret));
        Secret::new(format!("{session_secret}.{current_secret}"))
    }

    /// Compares this token with the hash that the session stores.
    pub(super) fn state_for(&self, hash: &Secret) -> TokenState {
        let Some((session_secret, current_secret)) = hash.expose().split_once('.') else {
            return TokenState::Unknown;
        };
        // Always compares both, each in constant time.
        match (
            is_hash_of(session_secret, &self.session_secret),
            is_hash_of(current_secret, &self.current_secret),
        ) {
            (true, true) => TokenState::Current,
            (true, false) => TokenState::Superseded,
            (false, _) => TokenState::Unknown,
        }
    }
}

/// An API key in the form that programs present.
pub(super) struct ApiKeyToken {
    pub(super) user: UserId,
    pub(super) key: ApiKeyId,
    secret: SecretBytes,
}

impl ApiKeyToken {
    pub(super) fn new(user: UserId, key: ApiKeyId, chance: &Entropy) -> Self {
        Self { user, key, secret: chance.bytes() }
    }

    pub(super) fn parse(text: &Secret) -> Option<Self> {
        let mut parts = text.expose().split('.');
        let kind = parts.next()?;
        let (user, key) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let secret = decode(parts.next()?)?;
        let is_complete = kind == KEY && parts.next().is_none();
        is_complete.then_some(Self { user, key, secret })
    }

    /// The public part: enough to recognise the key by, and nothing of its secret.
    pub(super) fn prefix(&self) -> String {
        let Self { user, key, .. } = self;
        format!("{KEY}.{user}.{key}")
    }

    pub(super) fn text(&self) -> Secret {
        Secret::new(format!("{}.{}", self.prefix(), encode(&self.secret)))
    }

    pub(super) fn hash(&self) -> Secret {
        Secret::new(blake3::hash(&self.secret).to_string())
    }

    pub(super) fn matches(&self, hash: &Secret) -> bool {
        is_hash_of(hash.expose(), &self.secret)
    }
}

pub(super) fn encode(bits: &SecretBytes) -> String {
    BASE64URL_NOPAD.encode(bits)
}

pub(super) fn decode(text: &str) -> Option<SecretBytes> {
    BASE64URL_NOPAD.decode(text.as_bytes()).ok()?.try_into().ok()
}

pub(super) fn is_hash_of(hash: &str, bits: &SecretBytes) -> bool {
    Hash::from_hex(hash).is_ok_and(|hash| hash == blake3::hash(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(chance: &Entropy) -> RefreshToken {
        RefreshToken::first("ana".parse().unwrap(), "s1".parse().unwrap(), chance)
    }

    #[test]
    fn a_token_round_trips_and_its_hash_hides_the_secrets() {
        let chance = Entropy::seeded([1; 32]);
        let token = first(&chance);
        let text = token.text();
        assert!(text.expose().starts_with("rtr.ana.s1."));
        let read = RefreshToken::parse(&text).unwrap();
        assert_eq!((read.user, read.session), (token.user.clone(), token.session.clone()));
        let hash = token.hash();
        let secrets = text.expose().trim_start_matches("rtr.ana.s1.");
        assert!(secrets.split('.').all(|secret| !hash.expose().contains(secret)));
    }

    #[test]
    fn every_earlier_token_is_superseded() {
        let chance = Entropy::seeded([1; 32]);
        let mut tokens = vec![first(&chance)];
        for _ in 0..5 {
            tokens.push(tokens.last().unwrap().next(&chance));
        }
        let stored = tokens.last().unwrap().hash();
        let states: Vec<TokenState> = tokens.iter().map(|token| token.state_for(&stored)).collect();
        assert_eq!(states[5], TokenState::Current);
        assert!(states[..5].iter().all(|states| *states == TokenState::Superseded));
        assert_eq!(first(&chance).state_for(&stored), TokenState::Unknown, "a guess");
    }

    #[test]
    fn malformed_tokens_are_rejected() {
        let chance = Entropy::seeded([1; 32]);
        let text = first(&chance).text().expose().to_owned();
        let key = ApiKeyToken::new("ana".parse().unwrap(), "k1".parse().unwrap(), &chance);
        for wrong in [
            "",
            "rtr",
            "rtr.ana.s1",
            "rtr.ana.s1.AAAA.AAAA",
            &format!("{text}.x"),
            &text.replacen("rtr", "rtk", 1),
            &text.replacen("ana", "a#b", 1),
            key.text().expose(),
        ] {
            assert!(RefreshToken::parse(&Secret::new(wrong)).is_none(), "{wrong}");
        }
        assert!(ApiKeyToken::parse(&Secret::new(text)).is_none());
    }

    #[test]
    fn a_key_matches_only_its_own_hash() {
        let chance = Entropy::seeded([1; 32]);
        let key = ApiKeyToken::new("ana".parse().unwrap(), "k1".parse().unwrap(), &chance);
        let other = ApiKeyToken::new("ana".parse().unwrap(), "k1".parse().unwrap(), &chance);
        assert_eq!(key.prefix(), "rtk.ana.k1");
        let read = ApiKeyToken::parse(&key.text()).unwrap();
        assert!(read.matches(&key.hash()) && !other.matches(&key.hash()));
        assert!(!read.matches(&Secret::new("")));
    }
}
