//! A time limit for the start of a connection. Until the first bytes arrive the protocol is unknown,
//! and no other timer runs.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// Bytes of the HTTP/2 preface. No valid request is shorter.
const PREFACE_BYTES: usize = 24;

/// A stream whose first bytes must be read within a time limit.
#[derive(Debug)]
pub(super) struct HandshakeTimeout<S> {
    stream: S,
    missing: usize,
    /// Runs until all of them have arrived.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<S> HandshakeTimeout<S> {
    pub(super) fn new(stream: S, limit: Duration) -> Self {
        let timer = Some(Box::pin(tokio::time::sleep(limit)));
        Self { stream, missing: PREFACE_BYTES, timer }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HandshakeTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, into);
        if self.timer.is_none() {
            return read;
        }
        self.missing = self.missing.saturating_sub(into.filled().len().saturating_sub(before));
        if self.missing == 0 {
            self.timer = None;
        }
        match &mut self.timer {
            Some(timer) if read.is_pending() => match timer.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
                Poll::Pending => Poll::Pending,
            },
            _ => read,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for HandshakeTimeout<S> {
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

    const LIMIT: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn a_peer_that_sends_too_little_is_dropped() {
        for sent in [&b""[..], b"PRI * HTTP/2.0\r\n"] {
            let (ours, mut theirs) = tokio::io::duplex(64);
            let mut ours = HandshakeTimeout::new(ours, LIMIT);
            theirs.write_all(sent).await.unwrap();
            let error = ours.read_exact(&mut [0; PREFACE_BYTES]).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        }
    }

    #[tokio::test]
    async fn a_started_connection_has_no_time_limit() {
        let (ours, mut theirs) = tokio::io::duplex(64);
        let mut ours = HandshakeTimeout::new(ours, LIMIT);
        theirs.write_all(&[1; PREFACE_BYTES]).await.unwrap();
        ours.read_exact(&mut [0; PREFACE_BYTES]).await.unwrap();
        let more = async {
            tokio::time::sleep(LIMIT * 3).await;
            theirs.write_all(&[2]).await.unwrap();
        };
        let (read, ()) = tokio::join!(ours.read_u8(), more);
        assert_eq!(read.unwrap(), 2);
    }
}
