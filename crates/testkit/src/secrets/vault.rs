//! Secrets that no response may contain: hashes, sealed keys, signing secrets, payloads of queues;
//! and names by which their owners recognise them.

use roundtable_domain::outbox_queue;
use roundtable_model::entities::{
    ApiKey, Credential, DeadLetter, Device, Idempotency, Invitation, Job, Promotion, SealedKey,
    Session, Webhook,
};
use roundtable_model::{Entity, Expiry, Json, Queue, Secret, samples};

use super::SecretTown;

/// Longer than any test runs.
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

impl SecretTown {
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
        let device = Device {
            user_id: user_id.clone(),
            secret_hash: hash("device-hash"),
            label: Some(hash("device-label").expose().to_owned()),
            ttl,
            ..samples::device()
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
            // No endpoint receives events.
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
        let outcome = Json::encode(&self.secret("outcome", &[])).unwrap();
        let request = Idempotency { outcome, ttl, ..samples::idempotency() };
        let payload = Json::encode(&self.secret("dead-letter", &[])).unwrap();
        let queue = Queue::from_static("fan-out");
        let dead_letter = DeadLetter { queue, payload, ..samples::dead_letter() };
        let events = format!(
            r#"[{{"id":"e1","type":"roundtable.post.created","subject":"{}","time":"{}","ids":{{}}}}]"#,
            self.secret("waiting-event", &[]),
            samples::job().created_at,
        );
        let delivery = Job {
            queue: outbox_queue(&webhook.id).unwrap(),
            payload: events.parse().unwrap(),
            ..samples::job()
        };
        let promotion = Promotion {
            subject_id: (&user_id).into(),
            user_id: Some(user_id),
            group_id: None,
            // Promoted, but without effect.
            fanout_enabled: false,
            watermark: None,
            watermark_since: None,
            thresholds: Some(Json::encode(&self.secret("thresholds", &["ada"])).unwrap()),
            ..samples::promotion()
        };
        let context = self.town.context();
        for item in [
            credential.create(),
            session.create(),
            device.create(),
            api_key.create(),
            invitation.create(),
            request.create(),
            promotion.create(),
        ] {
            context.core().table().put(item).await.unwrap();
        }
        for item in [webhook.create(), dead_letter.create(), delivery.create(), sealed_key.create()]
        {
            context.ops().table().put(item).await.unwrap();
        }
    }
}
