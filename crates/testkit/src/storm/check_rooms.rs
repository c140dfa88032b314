//! Compares rooms, help threads and unread counts with the model (R15, R16, R28).

use std::collections::BTreeMap;

use crate::Town;
use roundtable_domain::Caller;
use roundtable_model::entities::{Message, Room, RoomMember};
use roundtable_model::{Expiry, MessageId, RoomId, RoomScope, Span, UserId, UserStatus};

use super::features::{Arrival, MessageModel, RoomModel};
use super::town_model::TownModel;

pub(crate) async fn check_rooms(model: &TownModel, town: &Town) {
    let mut unread = 0;
    for (id, room) in &model.features.rooms {
        unread += in_room(model, town, id, room).await;
    }
    assert!(model.features.rooms.len() < 20 || unread > 0, "a storm in which everything was read");
    for (id, asked) in &model.features.threads {
        let there = town.context().core().assist_messages(id).all().await.unwrap();
        let mut there: Vec<MessageId> = there.into_iter().map(|message| message.id).collect();
        let is_kept = model.alive(&asked.owner);
        let said = asked.said.iter().filter(|(_, user)| is_kept && model.alive(user));
        let mut said: Vec<MessageId> = said.map(|(id, _)| id.clone()).collect();
        there.sort_unstable();
        said.sort_unstable();
        assert_eq!(there, said, "{id}");
    }
}

/// Compares one room; returns its unread count.
async fn in_room(model: &TownModel, town: &Town, id: &RoomId, room: &RoomModel) -> u64 {
    let core = town.context().core();
    let seats = core.room_members(id).strong().all().await.unwrap();
    let there = core.messages(id, Span::ALL).all().await.unwrap();
    let Some(stored) = core.room(id).get().await.unwrap() else {
        let is_left = room.two.as_ref().is_some_and(|two| two.iter().any(|it| model.alive(it)));
        assert!(!is_left && there.is_empty() && seats.is_empty(), "{id} left {there:?} {seats:?}");
        return 0;
    };
    let live = |said: &&MessageModel| {
        let is_over = said
            .expires_at
            .is_some_and(|at| Expiry::at(at).seconds() <= town.context().clock().now_seconds());
        model.alive(&said.by) && !is_over
    };
    let said: BTreeMap<u64, &MessageModel> =
        room.said.iter().filter(live).map(|said| (said.seq, said)).collect();
    let told = |message: &Message| (message.seq, message.id.clone(), message.text.clone());
    let mut there: Vec<_> = there.iter().map(told).collect();
    there.reverse();
    let expected = said.values().map(|said| (said.seq, said.id.clone(), said.text.clone()));
    assert_eq!(there, expected.collect::<Vec<_>>(), "{id}");
    if let Some(two) = &room.two {
        let mut sitting: Vec<&UserId> = seats.iter().map(|seat| &seat.user_id).collect();
        let mut expected: Vec<&UserId> = two.iter().filter(|user| model.alive(user)).collect();
        sitting.sort_unstable();
        expected.sort_unstable();
        assert_eq!((stored.scope, sitting), (RoomScope::Dm, expected), "{id}");
    }
    let mut unread = 0;
    for seat in &seats {
        unread += by_one(model, town, (room, &stored), &said, seat).await;
    }
    unread
}

/// Returns `true` if a member's read position is the modelled one, or that of an arrival: messages
/// before the arrival count as read, later ones do not. The creator of the group was there first.
fn fits(seat: &RoomMember, known: u64, room: &Room, arrivals: &[Arrival]) -> bool {
    let first = Arrival { at: (room.created_at, room.created_at), said: (0, 0) };
    let mut then = arrivals
        .iter()
        .chain([&first])
        .filter(|arrival| (arrival.at.0..=arrival.at.1).contains(&seat.joined_at));
    then.any(|Arrival { said: (least, most), .. }| {
        (known.max(*least)..=known.max(*most)).contains(&seat.read_seq)
    })
}

/// Returns `true` if a read position may be due to a request whose outcome its user did not learn.
fn is_unanswered(model: &TownModel, room: &RoomModel, me: &UserId, read: u64) -> bool {
    // Suspended at any time, because most suspensions are lifted.
    let refused = room.refused.get(me).filter(|_| model.sanctioned.contains(me));
    room.unnumbered.contains(me) || refused.is_some_and(|refused| read <= *refused)
}

/// The unread count of a user: messages after the read position, by senders the user can see.
async fn by_one(
    model: &TownModel,
    town: &Town,
    (room, stored): (&RoomModel, &Room),
    said: &BTreeMap<u64, &MessageModel>,
    seat: &RoomMember,
) -> u64 {
    let (core, me) = (town.context().core(), &seat.user_id);
    let known = room.read.get(me).copied().unwrap_or_default();
    let arrivals = room.group.as_ref().and_then(|group| {
        model.features.arrivals.get(&(group.clone(), me.clone())).map(Vec::as_slice)
    });
    let arrivals = arrivals.unwrap_or_default();
    let profile = core.profile(me).strong().get().await.unwrap().unwrap();
    let is_active = profile.status == UserStatus::Active;
    let read = seat.read_seq;
    let fits = match &room.two {
        Some(_) => read == known,
        None => fits(seat, known, stored, arrivals),
    };
    assert!(
        fits || read > known && is_unanswered(model, room, me, read),
        "{me} has read up to {known}; it says {read}, after {arrivals:?} in {room:#?}"
    );
    if !is_active {
        return 0;
    }
    let mut expected = 0;
    for said in said.range(seat.read_seq + 1..).map(|(_, said)| *said) {
        let author = core.profile(&said.by).strong().get().await.unwrap().unwrap();
        let is_heard = author.status == UserStatus::Active && !model.is_blocked(me, &said.by);
        expected += u64::from(said.by == *me || is_heard);
    }
    let view = town.rooms().room(&Caller::user(me.clone()), &seat.room_id).await.unwrap();
    assert_eq!(view.unread_count, expected, "{me} in {}", seat.room_id);
    expected
}

/// Counts the remaining messages of a user.
pub(crate) async fn remaining_items(town: &Town, user: &UserId) -> usize {
    let core = town.context().core();
    core.rooms_of(user).all().await.unwrap().len()
        + core.messages_by(user).all().await.unwrap().len()
        + core.assists_of(user).all().await.unwrap().len()
        + core.assist_messages_by(user).all().await.unwrap().len()
        + town.rows(&format!("NOTIF#{user}"), "").await.len()
        + town.rows(&format!("FEED#{user}"), "").await.len()
}

#[cfg(test)]
mod tests {
    use roundtable_domain::{Code, Refusal, Rooms};
    use roundtable_model::{Role, Time, samples};

    use super::*;
    use crate::storm::record_action::record_action;
    use crate::storm::record_feature::{record_feature, record_refusal};
    use crate::{ActionOutcome, FeatureAction, FeatureOutcome, UserAction};

    #[test]
    fn a_new_member_has_read_only_the_messages_before() {
        let at = |ms| Time::from_ms(ms);
        let room = Room { created_at: at(0), ..samples::room() };
        let seat = |joined, read_seq| RoomMember {
            joined_at: at(joined),
            read_seq,
            ..samples::room_member()
        };
        let came = |from, to, said| Arrival { at: (at(from), at(to)), said };
        let arrivals = [came(10, 20, (2, 3)), came(50, 60, (7, 9))];
        let fits = |joined, read_seq, known| fits(&seat(joined, read_seq), known, &room, &arrivals);
        assert!(fits(0, 0, 0) && !fits(0, 1, 0) && fits(0, 4, 4));
        assert!(fits(10, 2, 0) && fits(20, 3, 0) && !fits(20, 4, 0) && !fits(20, 1, 0));
        assert!(fits(55, 8, 3) && !fits(55, 3, 3), "what was read before they left is not enough");
        assert!(!fits(55, 10, 3) && fits(55, 12, 12) && !fits(55, 9, 12));
        assert!(!fits(30, 5, 5), "the user was not admitted then");
    }

    /// What a storm found once in about fifty runs: a user was suspended between the write of a read
    /// position and its answer, and was active again at the end.
    #[tokio::test]
    async fn a_user_who_was_suspended_before_the_answer_may_have_read() {
        let mut refused_but_read = 0;
        for operations in 1.. {
            let town = Town::of(["ana", "bo", "ada"]).await;
            let (bo, room) = (town.id("bo"), town.room_with("ana", "bo").await);
            let message = town.send_message("ana", &room, "hello").await.id;
            let (accounts, ada, suspended) =
                (town.accounts(), town.staff("ada", Role::Admin), bo.clone());
            let (context, meanwhile) = town.interleave(operations, async move || {
                accounts.suspend(&ada, &suspended, "rude", None).await.unwrap();
            });
            let rooms = Rooms::new(context);
            let answer = rooms.mark_read(&town.caller("bo"), &room, &message, None).await;
            if !meanwhile.happened() {
                break;
            }
            let ada = town.staff("ada", Role::Admin);
            town.accounts().unsuspend(&ada, &bo, None).await.unwrap();
            let seat = town.context().core().room_member(&room, &bo).get().await.unwrap().unwrap();
            let mut model = TownModel::default();
            let open = FeatureAction::OpenRoom(bo.clone());
            record_feature(&mut model, &town.id("ana"), &open, &FeatureOutcome::Room(room.clone()));
            let (text, expires_at) = (String::from("hello"), None);
            let say = FeatureAction::Say { room: room.clone(), text, expires_at };
            let said = FeatureOutcome::Message(message.clone(), 1);
            record_feature(&mut model, &town.id("ana"), &say, &said);
            let read = FeatureAction::ReadRoom(room.clone(), message);
            match answer {
                Ok(_) => record_feature(&mut model, &bo, &read, &FeatureOutcome::Nothing),
                Err(error) => {
                    assert_eq!(error.code(), Code::Forbidden);
                    refused_but_read += seat.read_seq;
                    record_refusal(&mut model, &bo, &read);
                }
            }
            let known = &model.features.rooms[&room];
            assert!(!is_unanswered(&model, known, &bo, 1), "nobody is known to be suspended yet");
            let suspend = UserAction::Suspend(bo.clone());
            record_action(&mut model, &town.id("ada"), &suspend, &ActionOutcome::Other);
            check_rooms(&model, &town).await;
        }
        assert!(refused_but_read > 0, "no suspension came between the write and the answer");
    }
}
