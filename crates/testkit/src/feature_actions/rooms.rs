//! Rooms, help threads and notifications.

use roundtable_domain::{Caller, Code, NewMessage, NewRoom, Notifications};
use roundtable_model::RequestId;

use super::{FeatureAction, FeatureOutcome, reduce};
use crate::Town;

impl Town {
    pub(super) async fn perform_on_rooms(
        &self,
        caller: &Caller,
        action: &FeatureAction,
        request: Option<&RequestId>,
    ) -> Result<FeatureOutcome, Code> {
        let (rooms, assistance) = (self.rooms(), self.assistance());
        match action {
            FeatureAction::OpenRoom(user) => {
                let opened = rooms.create(caller, &NewRoom::with(user.clone()), request).await;
                reduce(opened, |view| FeatureOutcome::Room(view.room.id))
            }
            FeatureAction::OpenGroupRoom(group) => {
                let opened = rooms.create(caller, &NewRoom::of(group.clone()), request).await;
                reduce(opened, |view| FeatureOutcome::Room(view.room.id))
            }
            FeatureAction::Say { room, text, expires_at } => {
                let new = NewMessage::text(room.clone(), text);
                let new = NewMessage { expires_at: *expires_at, ..new };
                let sent = self.messages().send(caller, &new, request).await;
                reduce(sent, |message| FeatureOutcome::Message(message.id, message.seq))
            }
            FeatureAction::ReadRoom(room, message) => {
                let read = rooms.mark_read(caller, room, message, request).await;
                reduce(read, |_| FeatureOutcome::Nothing)
            }
            FeatureAction::AskForHelp(helpers) => {
                let asked = assistance.ask(caller, helpers, request).await;
                reduce(asked, |thread| FeatureOutcome::Thread(thread.thread_id))
            }
            FeatureAction::Advise(thread, text) => {
                let said = assistance.send(caller, thread, text, request).await;
                reduce(said, |message| FeatureOutcome::Advice(message.id))
            }
            FeatureAction::ReadNotifications(before) => {
                let notifications = Notifications::new(self.context().clone());
                let read = notifications.mark_read(caller, *before, request).await;
                reduce(read, |_| FeatureOutcome::Nothing)
            }
            FeatureAction::SwitchOff(user, off) => {
                let changed =
                    self.follows().update(caller, user, None, Some(!off), None, request).await;
                reduce(changed, |_| FeatureOutcome::Nothing)
            }
            other => panic!("{other:?} is not about talk"),
        }
    }
}
