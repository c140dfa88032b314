//! A town of people who talk: all in the room of one group, and each with another in a room of two.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::StreamExt;
use roundtable_domain::{
    Caller, Chance, Ground, Groups, Messages, NewGroup, NewMessage, NewRoom, Parts, RateSettings,
    Rooms as Conversations, Settings,
};
use roundtable_engine::{Engine, Options};
use roundtable_model::entities::User;
use roundtable_model::{Entity, Ids, RoomId, UserId, samples};
use roundtable_table::{Store, SystemClock};
use tokio::runtime::{Builder, Runtime};

use crate::progress::Progress;
use crate::social::callers::{Done, together};

/// Rooms of two, each with people of its own.
const ROOMS: u64 = 1_000;
/// People in the busy room.
const MEMBERS: u64 = 64;
/// Rooms that are opened at the same time.
const AT_ONCE: usize = 64;

/// Where people talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rooms {
    One,
    Many,
}

impl Rooms {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::One => "one room",
            Self::Many => "a thousand rooms",
        }
    }
}

/// A town of its own.
pub(super) struct Town {
    engine: Engine,
    runtime: Runtime,
    ground: Ground,
    hand: Arc<Hand>,
    /// How many messages were sent in one room, and in many.
    sent: [Arc<AtomicU64>; 2],
}

/// Everything that is needed to say something.
struct Hand {
    messages: Messages,
    busy: RoomId,
    members: Vec<Caller>,
    quiet: Vec<(RoomId, Caller)>,
}

impl Town {
    /// Opens a new town with defaults, but for rates: a few people say here what many would.
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
        let parts = Parts {
            store: Store::new(engine.clone()),
            clock: clock.clone(),
            ids: Ids::from_os(clock)?,
            chance: Chance::from_os()?,
            settings: Settings { rates, ..Settings::default() },
            fingerprint_key: [9; 32],
        };
        let ground = runtime.block_on(Ground::open(parts))?;
        let hand = Arc::new(runtime.block_on(Hand::in_town(&ground))?);
        Ok(Self { engine, runtime, ground, hand, sent: Default::default() })
    }

    /// Lets so many people talk until the window ends.
    pub(super) fn talk(&self, rooms: Rooms, callers: usize, window: Duration) -> Result<Done> {
        let [one, many] = &self.sent;
        let sent = if rooms == Rooms::One { one } else { many };
        let each = |_| {
            let hand = Arc::clone(&self.hand);
            move |number| {
                let hand = Arc::clone(&hand);
                async move { hand.say(rooms, number).await }
            }
        };
        let callers = (0..callers).map(each).collect();
        self.runtime.block_on(together(callers, sent, window))
    }

    /// Every message that was acknowledged in the busy room has its number.
    pub(super) fn check(&self) -> Result<()> {
        let heads = self.ground.core().room_heads(std::slice::from_ref(&self.hand.busy)).get();
        let head = self.runtime.block_on(heads)?.into_iter().flatten().next();
        let (seq, [sent, _]) = (head.context("there is no such room")?.seq, &self.sent);
        let sent = sent.load(Ordering::Relaxed);
        ensure!(seq == sent, "{sent} messages were sent, and the newest is number {seq}");
        Ok(())
    }

    /// Closes the engine.
    pub(super) fn close(self) -> Result<()> {
        let Self { engine, runtime, ground, hand, .. } = self;
        drop((ground, hand, runtime));
        Ok(engine.close()?)
    }
}

impl Hand {
    /// Brings people into a town, and opens their rooms.
    async fn in_town(ground: &Ground) -> Result<Self> {
        let (groups, rooms) = (Groups::new(ground.clone()), Conversations::new(ground.clone()));
        let owner = move_in(ground, "owner").await?;
        let group = groups.create(&owner, NewGroup::named("everybody"), None).await?;
        let mut members = vec![owner];
        for number in 1..MEMBERS {
            let member = move_in(ground, &format!("member{number}")).await?;
            groups.join(&member, &group.id, None).await?;
            members.push(member);
        }
        let progress = Progress::new("rooms", ROOMS);
        let open = async |number| {
            let one = move_in(ground, &format!("one{number}")).await?;
            let other = move_in(ground, &format!("other{number}")).await?;
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
        Ok(Self { messages: Messages::new(ground.clone()), busy: group.room_id, members, quiet })
    }

    async fn say(&self, rooms: Rooms, number: u64) -> Result<()> {
        let (room, caller) = match rooms {
            Rooms::One => (&self.busy, nth(&self.members, number)?),
            Rooms::Many => {
                let (room, caller) = nth(&self.quiet, number)?;
                (room, caller)
            }
        };
        let text = format!("Message {number}: see you on Saturday at the river, and bring bread.");
        self.messages.send(caller, &NewMessage::text(room.clone(), text), None).await?;
        Ok(())
    }
}

/// One of them, in turn.
fn nth<T>(all: &[T], number: u64) -> Result<&T> {
    let at = usize::try_from(number % all.len().max(1) as u64)?;
    all.get(at).context("there is nobody")
}

/// Writes a profile: signing up is no part of what is measured.
async fn move_in(ground: &Ground, name: &str) -> Result<Caller> {
    let id: UserId = ground.ids().next();
    let user = User {
        id: id.clone(),
        nickname: name.parse()?,
        email: None,
        handle: None,
        created_at: ground.now(),
        updated_at: ground.now(),
        ..samples::user()
    };
    ground.core().table().put(user.create()).await?;
    Ok(Caller::user(id))
}
