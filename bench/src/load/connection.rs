//! A minimal HTTP client on one open connection: it must be cheap, because it shares the machine with
//! the server.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

const TIMEOUT: Duration = Duration::from_secs(10);
/// The initial size of the response buffer.
const ROOM: usize = 256 << 10;

#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(super) fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).context("connecting to the server")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        Ok(Self { stream, buffer: vec![0; ROOM] })
    }

    /// Sends the bytes of a request and returns the body of a successful response.
    pub(super) fn request(&mut self, request: &[u8]) -> Result<&[u8]> {
        self.stream.write_all(request)?;
        let (mut read, mut whole) = (0, None);
        let (body, end) = loop {
            if self.buffer.len() == read {
                self.buffer.resize(read * 2, 0);
            }
            let more = self.stream.read(self.buffer.get_mut(read..).unwrap_or_default())?;
            ensure!(more > 0, "the server closed the connection");
            read += more;
            if whole.is_none() {
                whole = extent(self.buffer.get(..read).unwrap_or_default())?;
            }
            match whole {
                Some((body, end)) if read >= end => break (body, end),
                _ => {}
            }
        };
        ensure!(read == end, "the server sent more than one response");
        self.buffer.get(body..end).context("a response without a body")
    }
}

/// Returns the start and end of a response's body, once its head is complete.
fn extent(response: &[u8]) -> Result<Option<(usize, usize)>> {
    const END: &[u8] = b"\r\n\r\n";
    let Some(head) = response.windows(END.len()).position(|four| four == END) else {
        return Ok(None);
    };
    let text = std::str::from_utf8(response.get(..head).unwrap_or_default())?;
    if !text.starts_with("HTTP/1.1 200 ") {
        bail!("the server answered {:?}", text.lines().next().unwrap_or_default());
    }
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.context("a response without content-length")?.parse()?;
    let body = head + END.len();
    Ok(Some((body, body + length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_length_ends_a_response() {
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n";
        let whole = Some((head.len(), head.len() + 3));
        assert_eq!(extent(format!("{head}ok\n").as_bytes()).unwrap(), whole);
        assert_eq!(extent(head.as_bytes()).unwrap(), whole);
        assert_eq!(extent(b"HTTP/1.1 200 OK\r\n").unwrap(), None);
        assert!(extent(b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n").is_err());
    }
}
