//! Rooms, calls for help, and what people are told.

use roundtable_domain::{Caller, Code, NewMessage, NewRoom, Notifications};
use roundtable_model::RequestId;

use super::{Gained, Pursuit, gained};
use crate::Town;

impl Town {
    pub(super) async fn pursue_talk(
        &self,
        caller: &Caller,
        pursuit: &Pursuit,
        request: Option<&RequestId>,
    ) -> Result<Gained, Code> {
        let (rooms, assistance) = (self.rooms(), self.assistance());
        match pursuit {
            Pursuit::OpenRoom(user) => {
                let opened = rooms.create(caller, &NewRoom::with(user.clone()), request).await;
                gained(opened, |view| Gained::Room(view.room.id))
            }
            Pursuit::OpenGroupRoom(group) => {
                let opened = rooms.create(caller, &NewRoom::of(group.clone()), request).await;
                gained(opened, |view| Gained::Room(view.room.id))
            }
            Pursuit::Say { room, text, expires_at } => {
                let new = NewMessage::text(room.clone(), text);
                let new = NewMessage { expires_at: *expires_at, ..new };
                let sent = self.messages().send(caller, &new, request).await;
                gained(sent, |message| Gained::Message(message.id, message.seq))
            }
            Pursuit::ReadRoom(room, message) => {
                let read = rooms.mark_read(caller, room, message, request).await;
                gained(read, |_| Gained::Nothing)
            }
            Pursuit::AskForHelp(helpers) => {
                let asked = assistance.ask(caller, helpers, request).await;
                gained(asked, |thread| Gained::Thread(thread.thread_id))
            }
            Pursuit::Advise(thread, text) => {
                let said = assistance.send(caller, thread, text, request).await;
                gained(said, |message| Gained::Advice(message.id))
            }
            Pursuit::ReadNotifications(before) => {
                let notifications = Notifications::new(self.ground().clone());
                let read = notifications.mark_read(caller, *before, request).await;
                gained(read, |_| Gained::Nothing)
            }
            Pursuit::SwitchOff(user, off) => {
                let changed = self.follows().update(caller, user, None, Some(!off), request).await;
                gained(changed, |_| Gained::Nothing)
            }
            other => panic!("{other:?} is not about talk"),
        }
    }
}
