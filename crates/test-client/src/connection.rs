//! A minimal HTTP client on one open connection.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, socket_with};

const TIMEOUT: Duration = Duration::from_secs(10);
/// The initial size of the response buffer.
const ROOM: usize = 256 << 10;
/// The status of a response that never has a body.
const NO_CONTENT: u16 = 204;

#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// The status of a response, and the position of its body in the buffer.
#[derive(Debug, PartialEq, Eq)]
struct Extent {
    status: u16,
    body: usize,
    end: usize,
}

impl Connection {
    /// Connects from any address; a response may take ten seconds.
    pub fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).context("connecting to the server")?;
        Self::of(stream, TIMEOUT)
    }

    /// Connects from one of this machine's addresses; a response may take this time.
    pub fn open_from(own: IpAddr, address: SocketAddr, timeout: Duration) -> Result<Self> {
        Self::of(connect_from(own, address)?, timeout)
    }

    fn of(stream: TcpStream, timeout: Duration) -> Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(timeout))?;
        Ok(Self { stream, buffer: vec![0; ROOM] })
    }

    /// Sends the bytes of a request and returns the body of a successful response.
    pub fn request(&mut self, request: &[u8]) -> Result<&[u8]> {
        let (status, body) = self.exchange(request)?;
        if status != 200 {
            bail!("the server answered {status}: {}", String::from_utf8_lossy(body));
        }
        Ok(body)
    }

    /// Sends the bytes of a request and returns the status and the body of the response.
    pub fn exchange(&mut self, request: &[u8]) -> Result<(u16, &[u8])> {
        self.stream.write_all(request)?;
        let (mut read, mut whole) = (0, None);
        let extent = loop {
            if self.buffer.len() == read {
                self.buffer.resize(read * 2, 0);
            }
            let more = self.stream.read(self.buffer.get_mut(read..).unwrap_or_default())?;
            ensure!(more > 0, "the server closed the connection");
            read += more;
            if whole.is_none() {
                whole = extent(self.buffer.get(..read).unwrap_or_default())?;
            }
            if let Some(extent) = whole.take_if(|extent| read >= extent.end) {
                break extent;
            }
        };
        ensure!(read == extent.end, "the server sent more than one response");
        let body = self.buffer.get(extent.body..extent.end);
        Ok((extent.status, body.context("a response without a body")?))
    }
}

/// Connects from one of this machine's addresses.
pub fn connect_from(own: IpAddr, address: SocketAddr) -> Result<TcpStream> {
    // Processes that are started meanwhile do not inherit it.
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
    bind(&socket, &SocketAddr::from((own, 0)))?;
    connect(&socket, &address).context("connecting to the server")?;
    Ok(TcpStream::from(socket))
}

/// Returns the extent of a response, once its head is complete.
fn extent(response: &[u8]) -> Result<Option<Extent>> {
    const END: &[u8] = b"\r\n\r\n";
    let Some(head) = response.windows(END.len()).position(|four| four == END) else {
        return Ok(None);
    };
    let text = std::str::from_utf8(response.get(..head).unwrap_or_default())?;
    let mut lines = text.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).context("no status")?;
    let status = status.parse()?;
    let mut headers = lines.filter_map(|line| line.split_once(':'));
    let length = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = match length {
        Some((_, length)) => length.trim().parse::<usize>()?,
        None if status == NO_CONTENT => 0,
        None => bail!("a response without content-length"),
    };
    let body = head + END.len();
    Ok(Some(Extent { status, body, end: body + length }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_length_ends_a_response() {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";
        let whole = Some(Extent { status: 200, body: head.len(), end: head.len() + 3 });
        assert_eq!(extent(format!("{head}ok\n").as_bytes()).unwrap(), whole);
        assert_eq!(extent(head.as_bytes()).unwrap(), whole);
        assert_eq!(extent(b"HTTP/1.1 200 OK\r\n").unwrap(), None);
        let refused = extent(b"HTTP/1.1 429 Wait\r\ncontent-length: 0\r\n\r\n").unwrap();
        assert_eq!(refused.map(|extent| extent.status), Some(429));
        let empty = extent(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
        assert_eq!(empty.map(|extent| (extent.body, extent.end)), Some((27, 27)));
        assert!(extent(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
