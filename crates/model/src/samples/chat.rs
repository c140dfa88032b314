//! The runners' room, and Bo's request for help.

use super::cast::{ANA, ASSIST_MESSAGE, BO, CLEO, MESSAGE, ROOM, RUNNERS, THREAD};
use super::{read, read_all};
use crate::entities::{AssistHelper, AssistMsg, AssistThread, Message, Room, RoomHead, RoomMember};
use crate::{Expiry, RoomScope};

const SENT_AT: &str = "2025-01-27T06:02:48.731Z";

pub fn room() -> Room {
    Room {
        id: read(ROOM),
        scope: RoomScope::Group,
        group_id: Some(read(RUNNERS)),
        message_timeline: None,
        created_at: read("2025-01-10T12:00:15.204Z"),
    }
}

pub fn room_head() -> RoomHead {
    RoomHead { room_id: read(ROOM), last_ts: read(SENT_AT), seq: 412 }
}

/// Bo has not read the newest message yet.
pub fn room_member() -> RoomMember {
    RoomMember {
        room_id: read(ROOM),
        user_id: read(BO),
        read_seq: 411,
        joined_at: read("2025-01-10T17:43:28.519Z"),
    }
}

pub fn message() -> Message {
    Message {
        room_id: read(ROOM),
        id: read(MESSAGE),
        user_id: read(ANA),
        seq: 412,
        text: "At the bridge already, dark but dry. Whoever is late brings coffee for all of us!"
            .into(),
        listed: false,
        created_at: read(SENT_AT),
        ttl: Some(Expiry::at_seconds(1_745_733_769)),
    }
}

pub fn assist_thread() -> AssistThread {
    AssistThread {
        thread_id: read(THREAD),
        user_id: read(BO),
        helper_ids: read_all(&[ANA, CLEO]),
        last_ts: read("2025-01-20T19:36:27.099Z"),
        created_at: read("2025-01-20T19:33:10.854Z"),
    }
}

pub fn assist_helper() -> AssistHelper {
    let AssistThread { thread_id, created_at, .. } = assist_thread();
    AssistHelper { thread_id, user_id: read(CLEO), created_at }
}

pub fn assist_msg() -> AssistMsg {
    AssistMsg {
        thread_id: read(THREAD),
        id: read(ASSIST_MESSAGE),
        user_id: read(CLEO),
        text: "Rest the knee for three days, then ten easy minutes on grass. If it still hurts, \
               come by on Thursday and I will have a look at it."
            .into(),
        created_at: read("2025-01-20T19:36:27.099Z"),
    }
}
