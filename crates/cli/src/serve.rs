//! `roundtable serve`: runs the server until it is stopped.

use std::io::{self, IsTerminal as _};
use std::pin::pin;

use clap::{Args, ValueEnum};
use roundtable_server::{Configuration, Layers, LogFormat, LogSettings, Server};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::CommandOutcome;
use crate::config_args::{ConfigArgs, choice_name};
use crate::error::CommandError;
use crate::store_args::StoreArgs;

#[derive(Args, Debug)]
#[command(after_help = "\
Flags override environment variables, which override the file, which overrides the defaults. Every key
of the file has a variable: ROUNDTABLE_ and the key, with __ for each dot and _ for each dash.

  http.listen           --listen, ROUNDTABLE_HTTP__LISTEN
  sign-in.secret        ROUNDTABLE_SIGN_IN__SECRET, or ROUNDTABLE_SIGN_IN__SECRET_FILE

docs/roundtable.toml lists all keys with their meaning and default.

Examples:
  roundtable serve
  roundtable serve --data /var/lib/roundtable --listen 0.0.0.0:4000
  roundtable serve --store dynamodb --endpoint http://127.0.0.1:8000 --config roundtable.toml
  roundtable serve --store dynamodb --role worker --config roundtable.toml")]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// The address to listen at [default: 127.0.0.1:4000]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// The role of this process; roles other than all need --store dynamodb [default: all]
    #[arg(long, value_enum)]
    role: Option<RoleArg>,
    #[command(flatten)]
    config: ConfigArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RoleArg {
    /// Answers requests and runs the stream processors
    All,
    /// Answers requests
    Api,
    /// Runs the stream processors
    Worker,
}

impl ServeArgs {
    pub(crate) fn run(self) -> Result<CommandOutcome, CommandError> {
        let layers = self.layers()?;
        let unknown = layers.unknown_variables().join(", ");
        let configuration = Configuration::read(layers)?;
        start_logging(&configuration.process.log)?;
        if !unknown.is_empty() {
            tracing::warn!(
                variables = unknown,
                "these variables are no settings and were ignored; that of a key is ROUNDTABLE_ and the key, \
                 with __ for each dot and _ for each dash"
            );
        }
        let stop = stop_requested()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(CommandError::Start)?;
        run_to_end(runtime, async {
            let mut stop = pin!(stop);
            // Replaying a long log can be interrupted.
            let server = tokio::select! {
                server = Server::open(configuration) => server?,
                () = &mut stop => return Ok(CommandOutcome::Success),
            };
            server.run(stop).await;
            Ok(CommandOutcome::Success)
        })
    }

    fn layers(self) -> Result<Layers, CommandError> {
        let layers = self.store.apply_to(self.config.layers()?)?;
        let layers = layers.flag("--listen", "http.listen", self.listen)?;
        Ok(layers.flag("--role", "role", self.role.map(choice_name))?)
    }
}

/// Runs a future to its end. Blocking work that outlives it, such as a backup, cannot be interrupted
/// and is abandoned.
pub(crate) fn run_to_end<T>(runtime: Runtime, work: impl Future<Output = T>) -> T {
    let done = runtime.block_on(work);
    runtime.shutdown_background();
    done
}

/// Completes when the process is asked to stop. A second signal exits at once: a thread of its own
/// waits for it, even if all others are blocked.
pub(crate) fn stop_requested() -> Result<impl Future<Output = ()>, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(CommandError::Start)?;
    let guard = runtime.enter();
    let mut terminate = signal(SignalKind::terminate()).map_err(CommandError::Start)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(CommandError::Start)?;
    drop(guard);
    let (sender, receiver) = oneshot::channel();
    let wait = async move {
        let mut next = async || {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        next().await;
        let _ = sender.send(());
        next().await;
        // Every acknowledged write is in the log.
        std::process::exit(1);
    };
    let thread = std::thread::Builder::new().name(String::from("signals"));
    thread.spawn(move || runtime.block_on(wait)).map_err(CommandError::Start)?;
    Ok(async move {
        // A dropped sender also means stop.
        let _ = receiver.await;
    })
}

/// Starts logging to standard error.
pub(crate) fn start_logging(settings: &LogSettings) -> Result<(), CommandError> {
    let filter = filter(&settings.level)?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    match settings.format {
        LogFormat::Json => lines.json().flatten_event(true).init(),
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).init(),
    }
    Ok(())
}

/// Parses a level, or levels by module.
fn filter(level: &str) -> Result<EnvFilter, CommandError> {
    let unknown = || CommandError::LogLevel { level: level.to_owned() };
    // An unknown word would be taken for a module name, and silence everything else.
    let is_level = |word: &str| !word.is_empty() && word.parse::<LevelFilter>().is_ok();
    if !level.split(',').map(str::trim).all(|word| word.contains('=') || is_level(word)) {
        return Err(unknown());
    }
    EnvFilter::try_new(level).map_err(|_| unknown())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocking_work_is_not_waited_for() {
        let runtime = Runtime::new().unwrap();
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        run_to_end(runtime, async {
            tokio::task::spawn_blocking(move || receiver.recv());
        });
        drop(sender);
    }
}
