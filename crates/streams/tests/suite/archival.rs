//! Archival of idle groups (R55): after the configured time, with a notice a week before, and never of
//! groups that persist.

use roundtable_domain::{GroupChange, NewGroup, PageInput};
use roundtable_model::entities::Group;
use roundtable_model::{GroupId, NotificationKind, Time};
use roundtable_testkit::Town;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

async fn create(town: &Town, is_persistent: Option<bool>) -> GroupId {
    let group = NewGroup { is_persistent, ..NewGroup::named("Runners") };
    let group = town.groups().create(&town.caller("ana"), group, None).await.unwrap().id;
    town.join("bo", &group).await;
    group
}

async fn group(town: &Town, id: &GroupId) -> Group {
    town.groups().get(None, id).await.unwrap().group
}

/// Lets days pass, and the processors run after each.
async fn pass_days(town: &Town, days: u64) {
    for _ in 0..days {
        town.advance_ms(DAY_MS);
        town.settle().await;
    }
}

/// The times of the notices that a user has received.
async fn notices(town: &Town, name: &str) -> Vec<Time> {
    let listed = town.notifications().list(&town.caller(name), &PageInput::first()).await.unwrap();
    let notices = listed.into_items().into_iter().map(|view| view.notification);
    let notices = notices.filter(|note| note.kind == NotificationKind::GroupArchival);
    notices.map(|note| note.created_at).collect()
}

/// R55: an idle group is archived after 90 days; its active members are told a week before.
#[tokio::test]
async fn an_idle_group_is_archived_after_a_notice() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let id = create(&town, Some(false)).await;
    town.groups().invite(&town.caller("ana"), &id, &town.id("cleo"), None).await.unwrap();
    let begun = town.now();
    pass_days(&town, 82).await;
    assert!(group(&town, &id).await.archives_at.is_none() && notices(&town, "bo").await.is_empty());
    pass_days(&town, 1).await;
    let told_at = begun.plus_ms(83 * DAY_MS);
    assert_eq!(group(&town, &id).await.archives_at, Some(told_at.plus_ms(7 * DAY_MS)));
    for (name, told) in [("ana", vec![told_at]), ("bo", vec![told_at]), ("cleo", vec![])] {
        assert_eq!(notices(&town, name).await, told, "{name}");
    }
    pass_days(&town, 6).await;
    assert!(group(&town, &id).await.archived_at.is_none());
    pass_days(&town, 1).await;
    let archived = group(&town, &id).await;
    assert_eq!((archived.archived_at, archived.archives_at), (Some(town.now()), None));
    assert_eq!(notices(&town, "bo").await.len(), 1);
    pass_days(&town, 1).await;
    assert_eq!(group(&town, &id).await, archived);
}

/// R55: omitted, a group persists; one that persists is never archived, however idle it is.
#[tokio::test]
async fn persistent_groups_are_not_archived() {
    let town = Town::of(["ana", "bo"]).await;
    let (omitted, given) = (create(&town, None).await, create(&town, Some(true)).await);
    let turned = create(&town, Some(false)).await;
    town.settle().await;
    let change = GroupChange { is_persistent: Some(true), ..GroupChange::default() };
    town.groups().update(&town.caller("ana"), &turned, change, None).await.unwrap();
    // As stored before groups could be archived, when omitted meant not persistent.
    let earlier = create(&town, None).await;
    let core = town.context().core();
    let patch = roundtable_model::Entity::key(&group(&town, &earlier).await).patch();
    core.table().update(patch.set(Group::IS_PERSISTENT, &false).into()).await.unwrap();
    for _ in 0..2 {
        town.advance_ms(100 * DAY_MS);
        town.settle().await;
    }
    for id in [omitted, given, turned, earlier] {
        let group = group(&town, &id).await;
        assert!(group.persists() && group.archived_at.is_none() && group.archives_at.is_none());
    }
    assert!(notices(&town, "bo").await.is_empty());
}

/// R55: posts, comments, messages and new members count as activity, also in the week after the notice.
#[tokio::test]
async fn a_group_in_use_is_not_archived() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let id = create(&town, Some(false)).await;
    let post = town.post_into("ana", &id, "let us run").await.id;
    for turn in 0..4 {
        pass_days(&town, 84).await;
        assert!(group(&town, &id).await.archives_at.is_some(), "{turn}: announced");
        match turn {
            0 => drop(town.comment("bo", &post, "yes").await),
            1 => {
                let room = town.room_of("bo", &id).await;
                town.send_message("bo", &room, "when?").await;
            }
            2 => drop(town.join("cleo", &id).await),
            _ => drop(town.post_into("bo", &id, "now").await),
        }
        pass_days(&town, 10).await;
        let group = group(&town, &id).await;
        assert!(group.archives_at.is_none() && group.archived_at.is_none(), "{turn}: used");
        // Every turn begins with an activity.
        town.post_into("ana", &id, "again").await;
    }
}

/// R55: a revived group is archived again when it is idle again.
#[tokio::test]
async fn a_revived_group_counts_as_idle_from_then_on() {
    let town = Town::of(["ana", "bo"]).await;
    let id = create(&town, Some(false)).await;
    pass_days(&town, 91).await;
    assert!(group(&town, &id).await.archived_at.is_some());
    pass_days(&town, 30).await;
    town.groups().revive(&town.caller("ana"), &id, None).await.unwrap();
    pass_days(&town, 89).await;
    assert!(group(&town, &id).await.archived_at.is_none());
    pass_days(&town, 2).await;
    assert!(group(&town, &id).await.archived_at.is_some());
}

/// R55: members have a week from the notice even if the processors were down when it was due.
#[tokio::test]
async fn a_late_notice_still_leaves_a_week() {
    let town = Town::of(["ana", "bo"]).await;
    let id = create(&town, Some(false)).await;
    town.settle().await;
    town.advance_ms(200 * DAY_MS);
    town.settle().await;
    let announced = group(&town, &id).await;
    assert_eq!(announced.archives_at, Some(town.now().plus_ms(7 * DAY_MS)));
    assert!(announced.archived_at.is_none());
    assert_eq!(notices(&town, "bo").await, [town.now()]);
}
