//! Keeping up with the stream, round after round, until told to stop.

use std::fmt::Display;
use std::pin::pin;
use std::time::Duration;

use futures::future::{Either, select};

/// How long a round waits for news, and how long a failed one is followed by nothing.
pub(crate) const WAIT: Duration = Duration::from_secs(1);

/// Does `round` again and again until `stop` comes; `who` cannot read the stream when one fails.
// Not `AsyncFn`: nobody could tell that its futures are `Send`, and a server needs them to be.
pub(crate) async fn until_stopped<E, Round>(
    stop: impl Future<Output = ()>,
    who: &str,
    round: impl Fn() -> Round,
) where
    E: Display,
    Round: Future<Output = Result<(), E>>,
{
    let mut stop = pin!(stop);
    loop {
        match select(stop.as_mut(), pin!(round())).await {
            Either::Left(_) => return,
            Either::Right((Ok(()), _)) => {}
            Either::Right((Err(failure), _)) => {
                tracing::warn!(%failure, who, "the stream cannot be read");
                let pause = pin!(tokio::time::sleep(WAIT));
                if let Either::Left(_) = select(stop.as_mut(), pause).await {
                    return;
                }
            }
        }
    }
}
