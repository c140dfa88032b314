//! Requests that were refused although they had happened: another user has since hidden or removed what
//! the answer would show. The store's own record of the request tells.

use roundtable_model::{RequestCaller, RequestId, RoomId, Span};
use serde_json::Value;

use super::{StormOutcome, StormStep, StormUser};
use crate::{ActionOutcome, FeatureAction, FeatureOutcome, UserAction};

impl StormUser {
    /// Returns the recorded outcome of a request; `None` if it has not happened. The record is written
    /// in the transaction of the mutation, so the store must be as if the request had been answered.
    pub(super) async fn recorded(
        &self,
        step: &StormStep,
        request: &RequestId,
    ) -> Option<StormOutcome> {
        let me = RequestCaller::from(&self.caller.user_id);
        let record = self.town.context().core().outcome(&me, request).get().await.unwrap()?;
        let outcome: Value = record.outcome.decode().unwrap();
        Some(match step {
            StormStep::Act(act) => StormOutcome::Done(act_outcome(act, &outcome)),
            StormStep::Pursuit(feature_action) => {
                let outcome = match feature_action {
                    FeatureAction::Say { room, .. } => self.said_outcome(room, &outcome).await,
                    other => feature_outcome(other, &outcome),
                };
                StormOutcome::Gained(outcome)
            }
        })
    }

    /// The number of a message is not part of its record. `Nothing` if it has expired.
    async fn said_outcome(&self, room: &RoomId, outcome: &Value) -> FeatureOutcome {
        let id = created(outcome).parse().unwrap();
        let there = self.town.context().core().messages(room, Span::ALL).all().await.unwrap();
        let said = there.into_iter().find(|message| message.id == id);
        said.map_or(FeatureOutcome::Nothing, |said| FeatureOutcome::Message(id, said.seq))
    }
}

fn act_outcome(act: &UserAction, outcome: &Value) -> ActionOutcome {
    match act {
        UserAction::Post { .. } => ActionOutcome::Post(created(outcome).parse().unwrap()),
        UserAction::Comment { .. } => ActionOutcome::Comment(created(outcome).parse().unwrap()),
        UserAction::CreateGroup { .. } => ActionOutcome::Group(created(outcome).parse().unwrap()),
        _ => ActionOutcome::Other,
    }
}

fn feature_outcome(feature_action: &FeatureAction, outcome: &Value) -> FeatureOutcome {
    let id = || created(outcome);
    match feature_action {
        FeatureAction::OpenRoom(_) | FeatureAction::OpenGroupRoom(_) => {
            FeatureOutcome::Room(id().parse().unwrap())
        }
        FeatureAction::AskForHelp(_) => FeatureOutcome::Thread(id().parse().unwrap()),
        FeatureAction::Advise(..) => FeatureOutcome::Advice(id().parse().unwrap()),
        FeatureAction::EnterCompany(_) => FeatureOutcome::Company(id().parse().unwrap()),
        FeatureAction::MakeOffer { .. } => FeatureOutcome::Offer(id().parse().unwrap()),
        FeatureAction::Announce { .. } => FeatureOutcome::Ticket(id().parse().unwrap()),
        FeatureAction::PostPicture(..) => FeatureOutcome::Post(id().parse().unwrap()),
        FeatureAction::SetGoal { .. }
        | FeatureAction::ReachGoal(..)
        | FeatureAction::AddTask { .. }
        | FeatureAction::DoTask(..)
        | FeatureAction::AddMilestone(..)
        | FeatureAction::SetQuest(_)
        | FeatureAction::Complete(_) => {
            panic!("{feature_action:?} was refused, but is the user's own: {outcome}")
        }
        _ => FeatureOutcome::Nothing,
    }
}

/// The id of what a request has created: its outcome, the field `id` of it, or its only field.
fn created(outcome: &Value) -> &str {
    match outcome {
        Value::String(id) => id,
        Value::Object(fields) => {
            let only = || fields.values().next().filter(|_| fields.len() == 1);
            created(fields.get("id").or_else(only).unwrap())
        }
        other => panic!("{other} names nothing that was created"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use roundtable_conformance::Reference;
    use roundtable_domain::{Caller, NewMessage};
    use roundtable_model::table::{ManualClock, Store};
    use roundtable_model::{Role, Time};

    use super::super::InFlightStep;
    use super::*;
    use crate::storm::SharedModel;
    use crate::storm::features::RoomModel;
    use crate::{Town, YieldingBackend, stop_at};

    const NAMES: [&str; 3] = ["ana", "bo", "ada"];

    /// Bo, whose request had no answer before the process ended.
    fn bo(town: &Arc<Town>, model: &Arc<SharedModel>, step: StormStep) -> StormUser {
        let names = NAMES.map(String::from);
        let bo = StormUser::new(town.clone(), model.clone(), "bo", &names, 1);
        let admin = Caller::with_roles(town.id("ada"), &[Role::Admin]);
        let in_flight = InFlightStep { step, request: request(), before: None, restarts: None };
        StormUser { in_flight: Some(in_flight), ..bo.repeating(admin) }
    }

    fn request() -> RequestId {
        "interrupted".parse().unwrap()
    }

    async fn a_town() -> (Arc<Town>, Arc<SharedModel>) {
        (Arc::new(Town::of(NAMES).await), Arc::default())
    }

    /// A simulated town was told of a like that its model had forgotten.
    #[tokio::test]
    async fn a_like_is_known_although_its_repetition_is_refused() {
        for happened in [false, true] {
            let (town, model) = a_town().await;
            let post = town.post("ana", "hello").await.id;
            let step = StormStep::Act(UserAction::Like(post.clone(), None));
            let mut bo = bo(&town, &model, step);
            if happened {
                let liked = town.likes().like(&bo.caller, &post, None, Some(&request())).await;
                liked.unwrap();
            }
            town.block("ana", "bo").await;
            bo.resume(town.clone(), town.now()).await;
            let likes = model.take().likes;
            assert_eq!(likes.get(&(town.id("bo"), post)), happened.then_some(&true));
        }
    }

    #[tokio::test]
    async fn a_message_is_known_although_its_sender_cannot_read_it_any_more() {
        let (town, model) = a_town().await;
        let group = town.create_group("ana", "readers").await;
        town.join("bo", &group).await;
        let room = town.room_of("bo", &group).await;
        model.with(|model| {
            model.features.rooms.insert(room.clone(), RoomModel::default());
        });
        let say = |text: &str, expires_at| {
            let (room, text) = (room.clone(), text.to_owned());
            StormStep::Pursuit(FeatureAction::Say { room, text, expires_at })
        };
        let mut bo = bo(&town, &model, say("hello", None));
        let new = NewMessage::text(room.clone(), "hello");
        let sent = town.messages().send(&bo.caller, &new, Some(&request())).await.unwrap();
        town.groups().leave(&bo.caller, &group, None).await.unwrap();
        bo.resume(town.clone(), town.now()).await;
        model.with(|model| {
            let known = &model.features.rooms[&room];
            assert_eq!(known.said.iter().map(|said| &said.id).collect::<Vec<_>>(), [&sent.id]);
            assert_eq!(known.read[&town.id("bo")], sent.seq);
        });
    }

    #[tokio::test]
    async fn a_message_that_expired_has_no_known_number() {
        let (town, model) = a_town().await;
        let room = town.room_with("ana", "bo").await;
        model.with(|model| {
            model.features.rooms.insert(room.clone(), RoomModel::default());
        });
        let expires_at: Option<Time> = Some(town.now().plus_ms(5_000));
        let text = String::from("hello");
        let say = FeatureAction::Say { room: room.clone(), text: text.clone(), expires_at };
        let mut bo = bo(&town, &model, StormStep::Pursuit(say));
        let new = NewMessage { expires_at, ..NewMessage::text(room.clone(), text) };
        town.messages().send(&bo.caller, &new, Some(&request())).await.unwrap();
        town.advance_ms(10_000);
        bo.resume(town.clone(), town.now()).await;
        model.with(|model| {
            let known = &model.features.rooms[&room];
            assert!(known.said.is_empty() && known.unnumbered.contains(&town.id("bo")));
        });
    }

    /// A user joined at a time that the clock was turned back from, and the next process crashed as well
    /// before there was an answer.
    #[tokio::test]
    async fn an_arrival_may_be_before_the_first_of_several_crashes() {
        let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
        let backend = YieldingBackend::new(Reference::new(clock.clone()));
        let town = Town::on(Store::new(backend), clock.clone(), Town::settings(), 0).await;
        for name in NAMES {
            town.add_user(name, |_| {}).await;
        }
        let (town, model) = (Arc::new(town), Arc::default());
        let group = town.create_group("ana", "readers").await;
        let mut bo = bo(&town, &model, StormStep::Act(UserAction::Join(group.clone())));
        bo.in_flight.as_mut().unwrap().before = Some((town.now(), 0));
        town.advance_ms(5_000);
        let joined_at = town.now();
        town.groups().join(&bo.caller, &group, Some(&request())).await.unwrap();
        town.advance_ms(1_000);
        let first_crash = town.now();
        clock.set_ms(first_crash.minus_ms(3_000).ms());
        let second_crash = town.now();
        assert!(stop_at(0, bo.resume(town.clone(), first_crash)).await.is_none());
        bo.resume(town.clone(), second_crash).await;
        let arrivals = model.take().features.arrivals.remove(&(group, town.id("bo"))).unwrap();
        let [arrival] = arrivals.as_slice() else { panic!("{arrivals:?}") };
        assert!((arrival.at.0..=arrival.at.1).contains(&joined_at), "{arrival:?}");
    }

    #[test]
    fn an_outcome_names_what_it_created() {
        for outcome in [
            serde_json::json!("x"),
            serde_json::json!({ "Post": "x" }),
            serde_json::json!({ "Comment": { "post": "p", "id": "x" } }),
            serde_json::json!({ "room": "x" }),
            serde_json::json!({ "room": "r", "id": "x" }),
        ] {
            assert_eq!(created(&outcome), "x");
        }
    }
}
