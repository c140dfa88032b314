//! Secrets that no answer has a place for: hashes, sealed keys, what endpoints are signed with, what
//! waits in queues; and the few that their owners recognise such things by.

use roundtable_model::entities::{
    ApiKey, Credential, DeadLetter, Idempotency, Invitation, Promotion, SealedKey, Session, Webhook,
};
use roundtable_model::{Entity, Expiry, Json, Secret, samples};

use super::Hidden;

/// As long as the town may be looked at.
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

impl Hidden {
    /// Ana's, and the operators'.
    pub(crate) async fn vault(&mut self) {
        let (user_id, ada) = (self.town.id("ana"), self.town.id("ada"));
        let ttl = Expiry::at(self.town.now().plus_ms(DAY_MS));
        let mut hash = |name| Secret::new(self.secret(name, &[]));
        let credential = Credential {
            user_id: user_id.clone(),
            password_hash: hash("password-hash"),
            ..samples::credential()
        };
        let session = Session {
            user_id: user_id.clone(),
            refresh_hash: hash("refresh-hash"),
            ttl,
            ..samples::session()
        };
        let sealed_key = SealedKey { sealed: hash("sealed-key"), ..samples::sealed_key() };
        let (key, signing) = (hash("api-key-hash"), hash("webhook-secret"));
        let api_key = ApiKey {
            user_id: user_id.clone(),
            name: self.secret("api-key-name", &["ana"]),
            secret_hash: key,
            ttl: Some(ttl),
            ..samples::api_key()
        };
        let webhook = Webhook {
            url: format!("https://example.com/{}", self.secret("webhook-url", &["ada"])),
            secret: signing,
            // Nobody is there to be told.
            enabled: false,
            owner_id: ada,
            ..samples::webhook()
        };
        let invitation = Invitation {
            code: self.secret("invitation", &[]).parse().unwrap(),
            inviter_id: user_id.clone(),
            ttl: Some(ttl),
            ..samples::invitation()
        };
        let outcome = Json::of(&self.secret("outcome", &[])).unwrap();
        let request = Idempotency { outcome, ttl, ..samples::idempotency() };
        let payload = Json::of(&self.secret("dead-letter", &[])).unwrap();
        let dead_letter = DeadLetter { payload, ..samples::dead_letter() };
        let promotion = Promotion {
            subject_id: (&user_id).into(),
            user_id: Some(user_id),
            group_id: None,
            // It is known, and changes nothing.
            fanout_enabled: false,
            watermark: None,
            watermark_since: None,
            thresholds: Some(Json::of(&self.secret("thresholds", &["ada"])).unwrap()),
            ..samples::promotion()
        };
        let ground = self.town.ground();
        for item in [
            credential.create(),
            session.create(),
            api_key.create(),
            invitation.create(),
            request.create(),
            promotion.create(),
        ] {
            ground.core().table().put(item).await.unwrap();
        }
        for item in [webhook.create(), dead_letter.create(), sealed_key.create()] {
            ground.ops().table().put(item).await.unwrap();
        }
    }
}
