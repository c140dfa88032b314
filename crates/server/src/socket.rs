//! The socket in the data directory of an embedded store, through which whoever runs the server reaches
//! it. Each line is an [order](Order) in JSON, and is answered by a line. Only the server's own user can
//! open it.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream as Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::office::{Answer, Office, Order};
use crate::stopping::Stopping;

/// What it is called.
const NAME: &str = "admin.sock";
/// Where it is made, before anybody can reach it.
const MAKING: &str = "admin.sock.making";
/// Bytes of an order.
const ORDER_BYTES_MAX: u64 = 64 << 10;
/// How long a client may take to send one.
const PATIENCE: Duration = Duration::from_secs(10);
/// Clients at the same time; others wait.
const CLIENTS_MAX: usize = 8;
/// Before the next try, when the system has no more connections to give.
const PAUSE: Duration = Duration::from_millis(100);

/// What is sent back.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Reply {
    Done(Answer),
    Refused(String),
}

/// Why nothing could be asked.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The socket cannot be used.
    #[error("{}: {error}", path.display())]
    Socket {
        /// Where it is.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The server said no.
    #[error("{0}")]
    Refused(String),
}

/// Asks the server that has this data directory; `None` when there is none. Blocks.
pub fn ask(data: &Path, order: &Order) -> Result<Option<Answer>, AskError> {
    let path = data.join(NAME);
    let failed = |error| AskError::Socket { path: path.clone(), error };
    let mut connection = match Connection::connect(&path) {
        Ok(connection) => connection,
        // One that is left of a server that was killed refuses.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(failed(error)),
    };
    let order = serde_json::to_string(order).map_err(|error| failed(error.into()))?;
    connection.write_all(format!("{order}\n").as_bytes()).map_err(failed)?;
    let mut line = String::new();
    // However long a backup takes.
    if BufReader::new(connection).read_line(&mut line).map_err(failed)? == 0 {
        return Err(failed(io::Error::other("the server stopped before it was done")));
    }
    match serde_json::from_str(&line).map_err(|error| failed(error.into()))? {
        Reply::Done(answer) => Ok(Some(answer)),
        Reply::Refused(why) => Err(AskError::Refused(why)),
    }
}

/// Answers orders until the process stops; the socket is there at once. Without one it only says so:
/// nothing else needs it.
pub(crate) fn serve(
    data: PathBuf,
    office: Office,
    stopping: Stopping,
) -> impl Future<Output = ()> + Send + 'static {
    let bound = bind(&data);
    async move {
        match bound {
            Ok(listener) => listen(&listener, &office, &stopping).await,
            Err(error) => {
                let path = data.join(NAME);
                tracing::warn!(path = %path.display(), %error, "cannot be administered while it runs");
                return stopping.wished().await;
            }
        }
        let _ = fs::remove_file(data.join(NAME));
    }
}

async fn listen(listener: &UnixListener, office: &Office, stopping: &Stopping) {
    let room = Arc::new(Semaphore::new(CLIENTS_MAX));
    let mut clients = JoinSet::new();
    while let Some(next) = stopping.unless(next(listener, &room)).await {
        while clients.try_join_next().is_some() {}
        let Some((stream, place)) = next else { continue };
        let (office, stopping) = (office.clone(), stopping.clone());
        clients.spawn(async move {
            if let Err(error) = converse(stream, &office, &stopping).await {
                tracing::debug!(%error, "somebody who asked went away");
            }
            drop(place);
        });
    }
    // Orders under way are carried out, as long as the process waits.
    while clients.join_next().await.is_some() {}
}

/// The socket, for this user alone from its first moment. One that is there is left of a server that was
/// killed: the store's own lock keeps a second one away.
fn bind(data: &Path) -> io::Result<UnixListener> {
    let (making, path) = (data.join(MAKING), data.join(NAME));
    let _ = fs::remove_dir_all(&making);
    fs::DirBuilder::new().mode(0o700).create(&making)?;
    let made = making.join("s");
    let listener = UnixListener::bind(&made)?;
    fs::set_permissions(&made, fs::Permissions::from_mode(0o600))?;
    fs::rename(&made, &path)?;
    fs::remove_dir(&making)?;
    Ok(listener)
}

async fn next(
    listener: &UnixListener,
    room: &Arc<Semaphore>,
) -> Option<(UnixStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(room).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, place)),
        Err(error) => {
            tracing::warn!(%error, "nobody can be heard at the socket");
            tokio::time::sleep(PAUSE).await;
            None
        }
    }
}

/// Answers one client, order by order, until the process stops.
async fn converse(stream: UnixStream, office: &Office, stopping: &Stopping) -> io::Result<()> {
    let (from, mut to) = stream.into_split();
    let mut from = tokio::io::BufReader::new(from);
    loop {
        let mut line = Vec::new();
        let mut limited = (&mut from).take(ORDER_BYTES_MAX);
        let read = timeout(PATIENCE, limited.read_until(b'\n', &mut line));
        let Some(read) = stopping.unless(read).await else { return Ok(()) };
        let Ok(bytes) = read.map_err(io::Error::other)? else { return Ok(()) };
        if bytes == 0 {
            return Ok(());
        }
        let whole = line.ends_with(b"\n");
        let reply = match serde_json::from_slice(&line) {
            _ if !whole => Reply::Refused(String::from("expected an order in one line")),
            Ok(order) => carry_out(office, order).await,
            Err(error) => Reply::Refused(format!("this is no order: {error}")),
        };
        let mut reply = serde_json::to_vec(&reply)?;
        reply.push(b'\n');
        to.write_all(&reply).await?;
        if !whole {
            return Ok(());
        }
    }
}

async fn carry_out(office: &Office, order: Order) -> Reply {
    tracing::info!(?order, "asked through the socket");
    match office.carry_out(order).await {
        Ok(answer) => Reply::Done(answer),
        Err(why) => Reply::Refused(why),
    }
}
