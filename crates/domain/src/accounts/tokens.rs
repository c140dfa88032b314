//! The texts that stand for somebody: refresh tokens and keys for programs. Each says where its hash
//! is kept and holds 256 bits of chance; only hashes are stored, and they need no salt, because nobody
//! guesses 256 bits.
//!
//! ```text
//! refresh token   rtr.{user}.{session}.{lasting}.{current}
//! key             rtk.{user}.{key}.{secret}
//! ```

use blake3::Hash;
use data_encoding::BASE64URL_NOPAD;
use roundtable_model::{ApiKeyId, Secret, SessionId, UserId};

use crate::chance::Chance;

const REFRESH: &str = "rtr";
const KEY: &str = "rtk";

/// What nobody can guess.
type Bits = [u8; 32];

/// The text that a signed-in device exchanges for the next one.
///
/// It has two secrets. One is the session's and lasts, the other is new in each text. Who knows the
/// first, but has not the newest of the second, holds a text that was exchanged before, however long
/// ago: a copy. So one item tells all of that, and a thief cannot hide by exchanging many times.
pub(super) struct RefreshToken {
    pub(super) user: UserId,
    pub(super) session: SessionId,
    lasting: Bits,
    current: Bits,
}

/// What a session knows of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It is the one to be exchanged next.
    Current,
    /// It was exchanged before.
    Earlier,
    /// It never was.
    Never,
}

impl RefreshToken {
    /// The first one of a session.
    pub(super) fn first(user: UserId, session: SessionId, chance: &Chance) -> Self {
        Self { user, session, lasting: chance.bytes(), current: chance.bytes() }
    }

    /// The one that follows this one.
    pub(super) fn next(&self, chance: &Chance) -> Self {
        let (user, session) = (self.user.clone(), self.session.clone());
        Self { user, session, lasting: self.lasting, current: chance.bytes() }
    }

    pub(super) fn parse(text: &Secret) -> Option<Self> {
        let mut parts = text.expose().split('.');
        let kind = parts.next()?;
        let (user, session) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let (lasting, current) = (read(parts.next()?)?, read(parts.next()?)?);
        let whole = kind == REFRESH && parts.next().is_none();
        whole.then_some(Self { user, session, lasting, current })
    }

    pub(super) fn text(&self) -> Secret {
        let Self { user, session, lasting, current } = self;
        let (lasting, current) = (written(lasting), written(current));
        Secret::new(format!("{REFRESH}.{user}.{session}.{lasting}.{current}"))
    }

    /// What is stored of it.
    pub(super) fn hash(&self) -> Secret {
        let (lasting, current) = (blake3::hash(&self.lasting), blake3::hash(&self.current));
        Secret::new(format!("{lasting}.{current}"))
    }

    /// What the session of this hash knows of it.
    pub(super) fn known_by(&self, hash: &Secret) -> Known {
        let Some((lasting, current)) = hash.expose().split_once('.') else { return Known::Never };
        // Both are always compared, each in constant time.
        match (is_hash_of(lasting, &self.lasting), is_hash_of(current, &self.current)) {
            (true, true) => Known::Current,
            (true, false) => Known::Earlier,
            (false, _) => Known::Never,
        }
    }
}

/// The text that a program shows.
pub(super) struct KeyText {
    pub(super) user: UserId,
    pub(super) key: ApiKeyId,
    secret: Bits,
}

impl KeyText {
    pub(super) fn new(user: UserId, key: ApiKeyId, chance: &Chance) -> Self {
        Self { user, key, secret: chance.bytes() }
    }

    pub(super) fn parse(text: &Secret) -> Option<Self> {
        let mut parts = text.expose().split('.');
        let kind = parts.next()?;
        let (user, key) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let secret = read(parts.next()?)?;
        let whole = kind == KEY && parts.next().is_none();
        whole.then_some(Self { user, key, secret })
    }

    /// How it begins: enough to recognise it by, and nothing of its secret.
    pub(super) fn prefix(&self) -> String {
        let Self { user, key, .. } = self;
        format!("{KEY}.{user}.{key}")
    }

    pub(super) fn text(&self) -> Secret {
        Secret::new(format!("{}.{}", self.prefix(), written(&self.secret)))
    }

    /// What is stored of it.
    pub(super) fn hash(&self) -> Secret {
        Secret::new(blake3::hash(&self.secret).to_string())
    }

    pub(super) fn fits(&self, hash: &Secret) -> bool {
        is_hash_of(hash.expose(), &self.secret)
    }
}

fn written(bits: &Bits) -> String {
    BASE64URL_NOPAD.encode(bits)
}

fn read(text: &str) -> Option<Bits> {
    BASE64URL_NOPAD.decode(text.as_bytes()).ok()?.try_into().ok()
}

fn is_hash_of(hash: &str, bits: &Bits) -> bool {
    Hash::from_hex(hash).is_ok_and(|hash| hash == blake3::hash(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(chance: &Chance) -> RefreshToken {
        RefreshToken::first("ana".parse().unwrap(), "s1".parse().unwrap(), chance)
    }

    #[test]
    fn a_token_reads_back_and_hides_what_it_is() {
        let chance = Chance::seeded([1; 32]);
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
    fn every_earlier_token_of_a_session_is_known() {
        let chance = Chance::seeded([1; 32]);
        let mut tokens = vec![first(&chance)];
        for _ in 0..5 {
            tokens.push(tokens.last().unwrap().next(&chance));
        }
        let stored = tokens.last().unwrap().hash();
        let known: Vec<Known> = tokens.iter().map(|token| token.known_by(&stored)).collect();
        assert_eq!(known[5], Known::Current);
        assert!(known[..5].iter().all(|known| *known == Known::Earlier));
        assert_eq!(first(&chance).known_by(&stored), Known::Never, "somebody else's guess");
    }

    #[test]
    fn what_is_no_token_is_none() {
        let chance = Chance::seeded([1; 32]);
        let text = first(&chance).text().expose().to_owned();
        let key = KeyText::new("ana".parse().unwrap(), "k1".parse().unwrap(), &chance);
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
        assert!(KeyText::parse(&Secret::new(text)).is_none());
    }

    #[test]
    fn a_key_fits_its_own_hash_only() {
        let chance = Chance::seeded([1; 32]);
        let key = KeyText::new("ana".parse().unwrap(), "k1".parse().unwrap(), &chance);
        let other = KeyText::new("ana".parse().unwrap(), "k1".parse().unwrap(), &chance);
        assert_eq!(key.prefix(), "rtk.ana.k1");
        let read = KeyText::parse(&key.text()).unwrap();
        assert!(read.fits(&key.hash()) && !other.fits(&key.hash()));
        assert!(!read.fits(&Secret::new("")));
    }
}
