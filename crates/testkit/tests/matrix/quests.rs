//! Rows about quests: for their owners, and for admins, who alone delete them.

use std::collections::HashMap;

use roundtable_domain::{Caller, NewQuest, QuestFilter};
use roundtable_model::{QuestId, UserId};
use roundtable_testkit::Town;

use super::operations::{Answer, lists, page, shows};
use super::stage::owner;

/// Like the main table.
#[rustfmt::skip]
pub(crate) const TABLE: &str = "
object                   | operations                                                           | anon owner follower stranger blocked member former gadmin moder admin susp

quest                    | quests.create                                                        | -    ok   ok   ok   ok   ok   ok   ok   ok   ok   403
quest                    | quests.get quests.list                                               | -    ok   404  404  404  404  404  404  404  ok   403
quest                    | quests.quests                                                        | -    ok   no   no   no   no   no   no   no   ok   403
quest                    | quests.cancel                                                        | -    ok   404  404  404  404  404  404  404  404  403
quest                    | quests.delete                                                        | -    403  403  403  403  403  403  403  403  ok   403

suspended account's quest | quests.get quests.list                                              | -    403  404  404  404  404  404  404  404  ok   403
suspended account's quest | quests.quests                                                       | -    403  no   no   no   no   no   no   no   ok   403
suspended account's quest | quests.cancel                                                       | -    403  404  404  404  404  404  404  404  404  403
suspended account's quest | quests.delete                                                       | -    403  403  403  403  403  403  403  403  ok   403

deleted account's quest  | quests.get quests.list                                               | -    401  404  404  404  404  404  404  404  404  403
deleted account's quest  | quests.quests                                                        | -    401  no   no   no   no   no   no   no   no   403
deleted account's quest  | quests.cancel                                                        | -    401  404  404  404  404  404  404  404  404  403
";

/// By the object of a row.
pub(crate) type QuestFixtures = HashMap<&'static str, QuestId>;

pub(crate) async fn set(town: &Town) -> QuestFixtures {
    let mut quests = HashMap::new();
    for name in ["quest", "suspended account's quest", "deleted account's quest"] {
        let quest = town.set_quest(owner(name), NewQuest::tasks(name, 3)).await;
        quests.insert(name, quest.id);
    }
    quests
}

pub(crate) async fn answer(
    quests: &QuestFixtures,
    town: &Town,
    (operation, object): (&str, &str),
    viewer: Option<&Caller>,
) -> Answer {
    let Some(caller) = viewer else { return "-" };
    let (quest, user): (&QuestId, UserId) = (&quests[object], owner(object).parse().unwrap());
    let quests = town.quests();
    match operation {
        "quests.create" => {
            shows(quests.create(caller, &NewQuest::tasks("run", 1), None).await, |_| true)
        }
        "quests.get" => shows(quests.get(caller, &user, quest).await, |_| true),
        "quests.quests" => {
            let found = quests.quests(caller, &[(user, quest.clone())]).await;
            shows(found, |found| found.iter().flatten().any(|other| other.id == *quest))
        }
        "quests.list" => {
            let all = QuestFilter::default();
            let found = quests.list(caller, &user, &all, &page()).await;
            lists(found, |other| other.id == *quest)
        }
        "quests.cancel" => shows(quests.cancel(caller, quest, None).await, |_| true),
        "quests.delete" => shows(quests.delete(caller, &user, quest, None).await, |_| true),
        other => panic!("no row handler for {other}"),
    }
}
