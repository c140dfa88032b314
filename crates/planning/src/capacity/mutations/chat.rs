//! Rooms, requests for help, and read marks.

use roundtable_model::entities::{AssistThread, Notification, RoomHead, RoomMember};
use roundtable_model::samples;

use super::MutationWrites;
use super::counters::{notifications, unread};
use super::step::{MutationStep, change, put};

pub(super) fn mutations() -> Vec<MutationWrites> {
    vec![
        create_room(),
        send_message(),
        mark_room_read(),
        create_assist_thread(),
        send_assist_message(),
        mark_notifications_read(),
    ]
}

const HELPERS: (&str, f64) = ("helpers", 2.0);

fn create_room() -> MutationWrites {
    let members = put(&samples::room_member()).times("members", 2.0);
    MutationWrites::idempotent(
        "createRoom",
        [put(&samples::room()), put(&samples::room_head()), members],
    )
}

fn mark_read() -> MutationStep {
    let member = samples::room_member();
    change(&member, &RoomMember { read_seq: member.read_seq + 1, ..member.clone() })
}

fn send_message() -> MutationWrites {
    let head = samples::room_head();
    let next = RoomHead { seq: head.seq + 1, ..head.clone() };
    let own = [put(&samples::message()), change(&head, &next), mark_read()];
    MutationWrites::idempotent("sendMessage", own).then_derived(notifications("recipients", 1.0))
}

fn mark_room_read() -> MutationWrites {
    MutationWrites::idempotent("markRoomRead", [mark_read()])
}

fn create_assist_thread() -> MutationWrites {
    let helpers = put(&samples::assist_helper()).times(HELPERS.0, HELPERS.1);
    MutationWrites::idempotent("createAssistThread", [put(&samples::assist_thread()), helpers])
        .then_derived(notifications(HELPERS.0, HELPERS.1))
}

fn send_assist_message() -> MutationWrites {
    let thread = samples::assist_thread();
    let later = AssistThread { last_ts: thread.last_ts.plus_ms(1), ..thread.clone() };
    let own = [put(&samples::assist_msg()), change(&thread, &later)];
    MutationWrites::idempotent("sendAssistMessage", own)
        .then_derived(notifications(HELPERS.0, HELPERS.1))
}

fn mark_notifications_read() -> MutationWrites {
    let unseen = Notification { read_at: None, ..samples::notification() };
    let seen = Notification { read_at: Some(unseen.created_at), ..unseen.clone() };
    let marked = change(&unseen, &seen).times("notifications", 10.0);
    MutationWrites::idempotent("markNotificationsRead", [marked, unread()])
}
