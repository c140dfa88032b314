//! Limits under a connection: a peer that does not read costs a few buffers, and those not for long, and what it
//! has sent of unfinished requests has a budget.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::received_bytes::{NoRoomToReceive, ReceivedBytes};

/// A stream whose writes fail if they block for longer than the time limit, and whose reads fail if there is no
/// room for more.
#[derive(Debug)]
pub(super) struct LimitedStream<S> {
    stream: S,
    received: ReceivedBytes,
    limit: Duration,
    /// Runs while a write is blocked.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<S> LimitedStream<S> {
    pub(super) const fn new(stream: S, limit: Duration, received: ReceivedBytes) -> Self {
        Self { stream, received, limit, timer: None }
    }

    /// Turns a write that has been blocked for too long into an error.
    fn check_timeout<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.timer = None;
            return written;
        }
        let limit = self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        match timer.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for LimitedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, into);
        match self.received.receive(into.filled().len().saturating_sub(before)) {
            Ok(()) => read,
            Err(NoRoomToReceive) => Poll::Ready(Err(io::ErrorKind::OutOfMemory.into())),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for LimitedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.check_timeout(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.check_timeout(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.check_timeout(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.check_timeout(cx, ended)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::super::received_bytes::ReceiveBudget;
    use super::*;

    fn received() -> ReceivedBytes {
        ReceiveBudget::new(0).open(None)
    }

    #[tokio::test]
    async fn a_peer_that_does_not_read_is_dropped() {
        let (ours, _theirs) = tokio::io::duplex(16);
        let mut ours = LimitedStream::new(ours, Duration::from_millis(1), received());
        ours.write_all(b"fits into it").await.unwrap();
        let error = ours.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_peer_that_sends_more_than_there_is_room_for_is_dropped() {
        let (ours, mut theirs) = tokio::io::duplex(64 << 10);
        let mut ours = LimitedStream::new(ours, Duration::from_secs(1), received());
        theirs.write_all(&vec![b'x'; 32 << 10]).await.unwrap();
        let error = ours.read_exact(&mut vec![0; 32 << 10]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
    }
}
