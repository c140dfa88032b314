//! A town for chat: one group with a busy room, and many rooms of two users.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use futures::StreamExt;
use roundtable_domain::{
    Caller, Context, ContextParts, Entropy, Groups, Messages, NewGroup, NewMessage, NewRoom,
    RateSettings, Rooms as RoomService, Settings,
};
use roundtable_engine::{Engine, Options};
use roundtable_model::entities::User;
use roundtable_model::{Entity, IdGenerator, RoomId, UserId, samples};
use roundtable_table::{Store, SystemClock};
use tokio::runtime::{Builder, Runtime};

use crate::progress::Progress;
use crate::social::callers::{CallStats, run_callers};

/// Rooms of two users, who are in no other room.
const ROOMS: u64 = 1_000;
const MEMBERS: u64 = 64;
/// Rooms that are created concurrently.
const AT_ONCE: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RoomKind {
    One,
    Many,
}

impl RoomKind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::One => "one room",
            Self::Many => "a thousand rooms",
        }
    }
}

pub(super) struct Town {
    engine: Engine,
    runtime: Runtime,
    context: Context,
    chat: Arc<Chat>,
    /// Messages sent in one room, and in many.
    sent: [Arc<AtomicU64>; 2],
}

struct Chat {
    messages: Messages,
    busy: RoomId,
    members: Vec<Caller>,
    quiet: Vec<(RoomId, Caller)>,
}

impl Town {
    /// Opens a new town with default settings except rate limits: a few users act for many here.
    pub(super) fn open(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        let engine = Engine::open(dir, Options::default())?;
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let clock = Arc::new(SystemClock);
        let rates = RateSettings {
            writes_burst: u32::MAX,
            writes_per_minute: u32::MAX,
            ..RateSettings::default()
        };
        let parts = ContextParts {
            store: Store::new(engine.clone()),
            clock: clock.clone(),
            ids: IdGenerator::from_os(clock)?,
            entropy: Entropy::from_os()?,
            settings: Settings { rates, ..Settings::default() },
            fingerprint_key: [9; 32],
        };
        let context = runtime.block_on(Context::open(parts))?;
        let chat = Arc::new(runtime.block_on(Chat::populate(&context))?);
        Ok(Self { engine, runtime, context, chat, sent: Default::default() })
    }

    /// Sends messages from concurrent callers until the window ends.
    pub(super) fn send_messages(
        &self,
        rooms: RoomKind,
        callers: usize,
        window: Duration,
    ) -> Result<CallStats> {
        let [one, many] = &self.sent;
        let sent = if rooms == RoomKind::One { one } else { many };
        let each = |_| {
            let chat = Arc::clone(&self.chat);
            move |number| {
                let chat = Arc::clone(&chat);
                async move { chat.send_message(rooms, number).await }
            }
        };
        let callers = (0..callers).map(each).collect();
        self.runtime.block_on(run_callers(callers, sent, window))
    }

    /// Checks that every acknowledged message of the busy room has its number.
    pub(super) fn check(&self) -> Result<()> {
        let heads = self.context.core().room_heads(std::slice::from_ref(&self.chat.busy)).get();
        let head = self.runtime.block_on(heads)?.into_iter().flatten().next();
        let (seq, [sent, _]) = (head.context("the room has no head")?.seq, &self.sent);
        let sent = sent.load(Ordering::Relaxed);
        ensure!(seq == sent, "{sent} messages were sent, and the newest is number {seq}");
        Ok(())
    }

    pub(super) fn close(self) -> Result<()> {
        let Self { engine, runtime, context, chat, .. } = self;
        drop((context, chat, runtime));
        Ok(engine.close()?)
    }
}

impl Chat {
    async fn populate(context: &Context) -> Result<Self> {
        let (groups, rooms) = (Groups::new(context.clone()), RoomService::new(context.clone()));
        let owner = add_user(context, "owner").await?;
        let group = groups.create(&owner, NewGroup::named("everybody"), None).await?;
        let mut members = vec![owner];
        for number in 1..MEMBERS {
            let member = add_user(context, &format!("member{number}")).await?;
            groups.join(&member, &group.id, None).await?;
            members.push(member);
        }
        let progress = Progress::new("rooms", ROOMS);
        let open = async |number| {
            let one = add_user(context, &format!("one{number}")).await?;
            let other = add_user(context, &format!("other{number}")).await?;
            let room = rooms.create(&one, &NewRoom::with(other.user_id), None).await?;
            Ok::<_, anyhow::Error>((room.room.id, one))
        };
        let mut opened = futures::stream::iter(0..ROOMS).map(open).buffered(AT_ONCE);
        let mut quiet = Vec::new();
        while let Some(room) = opened.next().await {
            quiet.push(room?);
            progress.add(1);
        }
        drop(opened);
        Ok(Self { messages: Messages::new(context.clone()), busy: group.room_id, members, quiet })
    }

    async fn send_message(&self, rooms: RoomKind, number: u64) -> Result<()> {
        let (room, caller) = match rooms {
            RoomKind::One => (&self.busy, nth(&self.members, number)?),
            RoomKind::Many => {
                let (room, caller) = nth(&self.quiet, number)?;
                (room, caller)
            }
        };
        let text = format!("Message {number}: see you on Saturday at the river, and bring bread.");
        self.messages.send(caller, &NewMessage::text(room.clone(), text), None).await?;
        Ok(())
    }
}

/// Returns the elements in turn.
fn nth<T>(all: &[T], number: u64) -> Result<&T> {
    let at = usize::try_from(number % all.len().max(1) as u64)?;
    all.get(at).context("an empty list")
}

/// Writes a profile directly: registration is not measured.
async fn add_user(context: &Context, name: &str) -> Result<Caller> {
    let id: UserId = context.ids().next();
    let user = User {
        id: id.clone(),
        nickname: name.parse()?,
        email: None,
        handle: None,
        created_at: context.now(),
        updated_at: context.now(),
        ..samples::user()
    };
    context.core().table().put(user.create()).await?;
    Ok(Caller::user(id))
}
