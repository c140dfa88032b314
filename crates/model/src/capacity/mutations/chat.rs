//! Conversations, calls for help, and marks of what was read.

use super::Mutation;
use super::counters::{notices, unread};
use super::step::{Step, change, put};
use crate::entities::{AssistThread, Notification, RoomHead, RoomMember};
use crate::samples;

pub(super) fn mutations() -> Vec<Mutation> {
    vec![
        create_room(),
        send_message(),
        mark_room_read(),
        create_assist_thread(),
        send_assist_message(),
        mark_notifications_read(),
    ]
}

/// The count of those who were asked for help.
const HELPERS: (&str, f64) = ("helpers", 2.0);

fn create_room() -> Mutation {
    let members = put(&samples::room_member()).times("members", 2.0);
    Mutation::repeatable("createRoom", [put(&samples::room()), put(&samples::room_head()), members])
}

/// Somebody has read one more message.
fn read() -> Step {
    let member = samples::room_member();
    change(&member, &RoomMember { read_seq: member.read_seq + 1, ..member.clone() })
}

fn send_message() -> Mutation {
    let head = samples::room_head();
    let next = RoomHead { seq: head.seq + 1, ..head.clone() };
    let own = [put(&samples::message()), change(&head, &next), read()];
    Mutation::repeatable("sendMessage", own).then(notices("recipients", 1.0))
}

fn mark_room_read() -> Mutation {
    Mutation::repeatable("markRoomRead", [read()])
}

fn create_assist_thread() -> Mutation {
    let helpers = put(&samples::assist_helper()).times(HELPERS.0, HELPERS.1);
    Mutation::repeatable("createAssistThread", [put(&samples::assist_thread()), helpers])
        .then(notices(HELPERS.0, HELPERS.1))
}

fn send_assist_message() -> Mutation {
    let thread = samples::assist_thread();
    let later = AssistThread { last_ts: thread.last_ts.plus_ms(1), ..thread.clone() };
    let own = [put(&samples::assist_msg()), change(&thread, &later)];
    Mutation::repeatable("sendAssistMessage", own).then(notices(HELPERS.0, HELPERS.1))
}

fn mark_notifications_read() -> Mutation {
    let unseen = Notification { read_at: None, ..samples::notification() };
    let seen = Notification { read_at: Some(unseen.created_at), ..unseen.clone() };
    let marked = change(&unseen, &seen).times("notifications", 10.0);
    Mutation::repeatable("markNotificationsRead", [marked, unread()])
}
