//! A connection whose other end has to begin within a time: until there are so many bytes it is open which
//! protocol it speaks, and nothing else looks at the clock.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// The bytes that HTTP/2 begins with. No request that is worth an answer is shorter.
const PREFACE: usize = 24;

/// A connection.
#[derive(Debug)]
pub(super) struct Greeting<S> {
    stream: S,
    /// Bytes that are still to come.
    missing: usize,
    /// Runs as long as there are any.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S> Greeting<S> {
    /// It has this long from now on.
    pub(super) fn new(stream: S, patience: Duration) -> Self {
        let waits = Some(Box::pin(tokio::time::sleep(patience)));
        Self { stream, missing: PREFACE, waits }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Greeting<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, into);
        if self.waits.is_none() {
            return read;
        }
        self.missing = self.missing.saturating_sub(into.filled().len().saturating_sub(before));
        if self.missing == 0 {
            self.waits = None;
        }
        match &mut self.waits {
            Some(waits) if read.is_pending() => match waits.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
                Poll::Pending => Poll::Pending,
            },
            _ => read,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Greeting<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const SOON: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn whoever_says_nothing_or_too_little_is_given_up() {
        for said in [&b""[..], b"PRI * HTTP/2.0\r\n"] {
            let (ours, mut theirs) = tokio::io::duplex(64);
            let mut ours = Greeting::new(ours, SOON);
            theirs.write_all(said).await.unwrap();
            let given_up = ours.read_exact(&mut [0; PREFACE]).await.unwrap_err();
            assert_eq!(given_up.kind(), io::ErrorKind::TimedOut);
        }
    }

    #[tokio::test]
    async fn whoever_has_begun_may_take_their_time() {
        let (ours, mut theirs) = tokio::io::duplex(64);
        let mut ours = Greeting::new(ours, SOON);
        theirs.write_all(&[1; PREFACE]).await.unwrap();
        ours.read_exact(&mut [0; PREFACE]).await.unwrap();
        let more = async {
            tokio::time::sleep(SOON * 3).await;
            theirs.write_all(&[2]).await.unwrap();
        };
        let (read, ()) = tokio::join!(ours.read_u8(), more);
        assert_eq!(read.unwrap(), 2);
    }
}
