//! The admin socket in the data directory of an embedded store. Each line is an [`AdminCommand`] in
//! JSON, answered with one line. Only the server's own user can open it.

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

use crate::admin::{AdminCommand, AdminReply, AdminService};
use crate::shutdown::ShutdownSignal;

const SOCKET_NAME: &str = "admin.sock";
/// A private directory in which the socket is created before it is moved into place.
const PRIVATE_DIRECTORY: &str = "admin.sock.making";
const COMMAND_BYTES_MAX: u64 = 64 << 10;
/// Time for a client to send a command.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// Clients at the same time; further ones wait.
const CLIENTS_MAX: usize = 8;
/// Before the next `accept`, when the system is out of connections.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SocketReply {
    Done(AdminReply),
    Refused(String),
}

/// The reason that a command could not be sent, or was refused.
#[derive(Debug, thiserror::Error)]
pub enum AdminSocketError {
    #[error("{}: {error}", path.display())]
    Socket { path: PathBuf, error: io::Error },
    #[error("{0}")]
    Refused(String),
}

/// Sends a command to the server that has this data directory open; `None` when there is none. Blocks.
pub fn send_command(
    data: &Path,
    command: &AdminCommand,
) -> Result<Option<AdminReply>, AdminSocketError> {
    let path = data.join(SOCKET_NAME);
    let failed = |error| AdminSocketError::Socket { path: path.clone(), error };
    let mut connection = match Connection::connect(&path) {
        Ok(connection) => connection,
        // The socket of a server that was killed refuses connections.
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
    let command = serde_json::to_string(command).map_err(|error| failed(error.into()))?;
    connection.write_all(format!("{command}\n").as_bytes()).map_err(failed)?;
    let mut line = String::new();
    // No time-out: a backup takes as long as it needs.
    if BufReader::new(connection).read_line(&mut line).map_err(failed)? == 0 {
        return Err(failed(io::Error::other(
            "the server stopped before the command was finished; check its effect, and try again",
        )));
    }
    match serde_json::from_str(&line).map_err(|error| failed(error.into()))? {
        SocketReply::Done(reply) => Ok(Some(reply)),
        SocketReply::Refused(reason) => Err(AdminSocketError::Refused(reason)),
    }
}

/// Serves commands until shutdown; the socket exists when this returns. If it cannot be created, the
/// server runs without it and logs a warning.
pub(crate) fn serve(
    data: PathBuf,
    admin: AdminService,
    shutdown: ShutdownSignal,
) -> impl Future<Output = ()> + Send + 'static {
    let bound = bind(&data);
    async move {
        match bound {
            Ok(listener) => listen(&listener, &admin, &shutdown).await,
            Err(error) => {
                let path = data.join(SOCKET_NAME);
                tracing::warn!(path = %path.display(), %error, "the admin socket could not be created: `roundtable admin` and `backup` will not reach this server");
                return shutdown.triggered().await;
            }
        }
        let _ = fs::remove_file(data.join(SOCKET_NAME));
    }
}

async fn listen(listener: &UnixListener, admin: &AdminService, shutdown: &ShutdownSignal) {
    let permits = Arc::new(Semaphore::new(CLIENTS_MAX));
    let mut clients = JoinSet::new();
    while let Some(accepted) = shutdown.unless_triggered(accept(listener, &permits)).await {
        while clients.try_join_next().is_some() {}
        let Some((stream, permit)) = accepted else { continue };
        let (admin, shutdown) = (admin.clone(), shutdown.clone());
        clients.spawn(async move {
            if let Err(error) = serve_client(stream, &admin, &shutdown).await {
                tracing::debug!(%error, "an admin client disconnected");
            }
            drop(permit);
        });
    }
    // Running commands may finish, as long as the process waits.
    while clients.join_next().await.is_some() {}
}

/// Creates the socket, private to this user from the start. An existing one was left by a killed
/// server: the store's lock keeps a second server out.
fn bind(data: &Path) -> io::Result<UnixListener> {
    let (private, path) = (data.join(PRIVATE_DIRECTORY), data.join(SOCKET_NAME));
    let _ = fs::remove_dir_all(&private);
    fs::DirBuilder::new().mode(0o700).create(&private)?;
    let socket = private.join("s");
    let listener = UnixListener::bind(&socket)?;
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600))?;
    fs::rename(&socket, &path)?;
    fs::remove_dir(&private)?;
    Ok(listener)
}

async fn accept(
    listener: &UnixListener,
    permits: &Arc<Semaphore>,
) -> Option<(UnixStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(permits).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, permit)),
        Err(error) => {
            tracing::warn!(%error, "the admin socket could not accept a connection; retrying");
            tokio::time::sleep(ACCEPT_RETRY).await;
            None
        }
    }
}

/// Answers one client's commands until shutdown.
async fn serve_client(
    stream: UnixStream,
    admin: &AdminService,
    shutdown: &ShutdownSignal,
) -> io::Result<()> {
    let (from, mut to) = stream.into_split();
    let mut from = tokio::io::BufReader::new(from);
    loop {
        let mut line = Vec::new();
        let mut limited = (&mut from).take(COMMAND_BYTES_MAX);
        let read = timeout(READ_TIMEOUT, limited.read_until(b'\n', &mut line));
        let Some(read) = shutdown.unless_triggered(read).await else { return Ok(()) };
        let Ok(bytes) = read.map_err(io::Error::other)? else { return Ok(()) };
        if bytes == 0 {
            return Ok(());
        }
        let is_whole = line.ends_with(b"\n");
        let reply = match serde_json::from_slice(&line) {
            _ if !is_whole => SocketReply::Refused(String::from("expected a command in one line")),
            Ok(command) => execute(admin, command).await,
            Err(error) => SocketReply::Refused(format!("this is not a command: {error}")),
        };
        let mut reply = serde_json::to_vec(&reply)?;
        reply.push(b'\n');
        to.write_all(&reply).await?;
        if !is_whole {
            return Ok(());
        }
    }
}

async fn execute(admin: &AdminService, command: AdminCommand) -> SocketReply {
    tracing::info!(?command, "executing an admin command from the socket");
    match admin.execute(command).await {
        Ok(reply) => SocketReply::Done(reply),
        Err(reason) => SocketReply::Refused(reason),
    }
}
