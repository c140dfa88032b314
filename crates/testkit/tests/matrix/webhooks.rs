//! Rows about webhooks and dead letters, which are for admins only (R44).

use roundtable_domain::{Caller, DeadLetterService, Webhooks};
use roundtable_model::{Entity, Time, samples};
use roundtable_testkit::Town;

use super::operations::{Answer, lists, page, shows};

/// Like the main table.
#[rustfmt::skip]
pub(crate) const TABLE: &str = "
object                   | operations                                                           | anon owner follower stranger blocked member former gadmin moder admin susp

webhook                  | webhooks.create webhooks.list webhooks.delete webhooks.replay        | -    403  403  403  403  403  403  403  403  ok   403
webhook                  | webhooks.enable webhooks.deliveries                                  | -    403  403  403  403  403  403  403  403  ok   403
dead letter              | dead_letters.discard                                                 | -    403  403  403  403  403  403  403  403  ok   403
";

pub(crate) async fn answer(town: &Town, operation: &str, viewer: Option<&Caller>) -> Answer {
    let Some(caller) = viewer else { return "-" };
    let webhooks = Webhooks::new(town.context().clone());
    let there = samples::webhook();
    town.context().ops().table().put(there.create()).await.unwrap();
    match operation {
        "webhooks.create" => {
            let types = [String::from("*")];
            shows(webhooks.create(caller, &there.url, &types).await, |_| true)
        }
        "webhooks.enable" => shows(webhooks.enable(caller, &there.id, None).await, |_| true),
        "webhooks.deliveries" => {
            shows(webhooks.deliveries(caller, &there.id, &page()).await, |_| true)
        }
        "dead_letters.discard" => {
            let letter = samples::dead_letter();
            town.context().ops().table().put(letter.put()).await.unwrap();
            let letters = DeadLetterService::new(town.context().clone());
            shows(letters.discard(caller, &(&letter).into(), None).await, |()| true)
        }
        "webhooks.list" => lists(webhooks.list(caller, &page()).await, |each| each.id == there.id),
        "webhooks.delete" => shows(webhooks.delete(caller, &there.id, None).await, |_| true),
        "webhooks.replay" => {
            shows(webhooks.replay(caller, &there.id, Time::from_ms(0), None).await, |_| true)
        }
        other => panic!("no row handler for {other}"),
    }
}
