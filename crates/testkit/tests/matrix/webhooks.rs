//! Who gets which answer about endpoints that are told of events: they are the admins' business (R44).

use roundtable_domain::{Caller, Webhooks};
use roundtable_model::{Entity, Time, samples};
use roundtable_testkit::Town;

use super::asks::{Answer, lists, page, shows};

/// As in the large table.
#[rustfmt::skip]
pub(crate) const TABLE: &str = "
object                   | operations                                                           | anon owner follower stranger blocked member former gadmin moder admin susp

webhook                  | webhooks.create webhooks.list webhooks.delete webhooks.replay        | -    403  403  403  403  403  403  403  403  ok   403
";

/// Does what a row says as somebody.
pub(crate) async fn answer(town: &Town, operation: &str, viewer: Option<&Caller>) -> Answer {
    let Some(caller) = viewer else { return "-" };
    let webhooks = Webhooks::new(town.ground().clone());
    let there = samples::webhook();
    town.ground().ops().table().put(there.create()).await.unwrap();
    match operation {
        "webhooks.create" => {
            let types = [String::from("*")];
            shows(webhooks.create(caller, &there.url, &types).await, |_| true)
        }
        "webhooks.list" => lists(webhooks.list(caller, &page()).await, |each| each.id == there.id),
        "webhooks.delete" => shows(webhooks.delete(caller, &there.id, None).await, |_| true),
        "webhooks.replay" => {
            shows(webhooks.replay(caller, &there.id, Time::from_ms(0)).await, |_| true)
        }
        other => panic!("nobody knows how to ask {other}"),
    }
}
