//! Conversations, and marks of what was read.

use super::Mutation;
use super::counters::{notices, unread};
use super::step::{change, put};
use crate::entities::{Notification, RoomHead, RoomMember};
use crate::samples;

pub(super) fn mutations() -> Vec<Mutation> {
    vec![create_room(), send_message(), mark_notifications_read()]
}

fn create_room() -> Mutation {
    let members = put(&samples::room_member()).times("members", 2.0);
    Mutation::new("createRoom", [put(&samples::room()), put(&samples::room_head()), members])
}

fn send_message() -> Mutation {
    let head = samples::room_head();
    let next = RoomHead { seq: head.seq + 1, ..head.clone() };
    let member = samples::room_member();
    let read = RoomMember { read_seq: member.read_seq + 1, ..member.clone() };
    let own = [put(&samples::message()), change(&head, &next), change(&member, &read)];
    Mutation::new("sendMessage", own).then(notices("recipients", 1.0))
}

fn mark_notifications_read() -> Mutation {
    let unseen = Notification { read_at: None, ..samples::notification() };
    let seen = Notification { read_at: Some(unseen.created_at), ..unseen.clone() };
    let marked = change(&unseen, &seen).times("notifications", 10.0);
    Mutation::new("markNotificationsRead", [marked, unread()])
}
