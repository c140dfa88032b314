//! Dead letters, as admins act on them (R57).

use roundtable_domain::{Code, DeadLetterError, DeadLetterName, DeadLetterService, Refusal};
use roundtable_model::{Entity, RequestId, Role, samples};
use roundtable_testkit::Town;

/// R57: an admin discards a dead letter once, and the audit log records its name and error.
#[tokio::test]
async fn an_admin_discards_a_dead_letter() {
    let town = Town::of(["ana", "mo", "ada"]).await;
    let ada = town.staff("ada", Role::Admin);
    let (letters, ops) = (DeadLetterService::new(town.context().clone()), town.context().ops());
    let letter = samples::dead_letter();
    ops.table().put(letter.put()).await.unwrap();
    let name = DeadLetterName::from(&letter);
    for caller in [town.caller("ana"), town.staff("mo", Role::Moderator), town.caller("ada")] {
        let refused = letters.discard(&caller, &name, None).await.unwrap_err();
        assert_eq!(refused.code(), Code::Forbidden);
    }
    let request: RequestId = "discard".parse().unwrap();
    for _ in 0..2 {
        letters.discard(&ada, &name, Some(&request)).await.unwrap();
    }
    let (queue, at, id) = (&letter.queue, &letter.failed_at, &letter.id);
    assert_eq!(ops.dead_letter(queue, at, id).get().await.unwrap(), None);
    let missing = letters.discard(&ada, &name, None).await.unwrap_err();
    assert!(matches!(missing, DeadLetterError::NoSuchDeadLetter));
    let trail = town.audit_trail().await;
    assert_eq!(trail.len(), 1, "{trail:?}");
    assert!(trail[0].contains("discardDeadLetter") && trail[0].contains(&name.to_string()));
}
