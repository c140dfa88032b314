//! A subset of Redis' protocol: commands, and replies that are numbers or lists, of which only the
//! length is read.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

/// A connection with its unsent commands.
#[derive(Debug)]
pub(super) struct Connection {
    stream: BufReader<UnixStream>,
    unsent: Vec<u8>,
    line: String,
}

impl Connection {
    pub(super) fn to(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket).context("connecting to Redis")?;
        let (stream, unsent) = (BufReader::with_capacity(1 << 16, stream), Vec::new());
        Ok(Self { stream, unsent, line: String::new() })
    }

    /// Adds a command to the pipeline.
    pub(super) fn add(&mut self, command: &[&str]) {
        let unsent = &mut self.unsent;
        // Writing into memory cannot fail.
        let _ = write!(unsent, "*{}\r\n", command.len());
        for word in command {
            let _ = write!(unsent, "${}\r\n{word}\r\n", word.len());
        }
    }

    pub(super) fn send(&mut self) -> Result<()> {
        self.stream.get_mut().write_all(&self.unsent).context("sending to Redis")?;
        self.unsent.clear();
        Ok(())
    }

    /// Reads a reply that is a number.
    pub(super) fn integer(&mut self) -> Result<u64> {
        self.after(":")
    }

    /// Sends one command and returns its number.
    pub(super) fn number(&mut self, command: &[&str]) -> Result<u64> {
        self.add(command);
        self.send()?;
        self.integer()
    }

    /// Sends one command and returns the length of its list.
    pub(super) fn list(&mut self, command: &[&str]) -> Result<usize> {
        self.add(command);
        self.send()?;
        let length = self.after("*")?;
        for _ in 0..length {
            self.after("$")?;
            self.read_line()?;
        }
        Ok(usize::try_from(length)?)
    }

    fn after(&mut self, kind: &str) -> Result<u64> {
        self.read_line()?;
        let line = self.line.trim_end();
        match line.strip_prefix(kind).map(str::parse) {
            Some(Ok(number)) => Ok(number),
            _ => bail!("unexpected reply of Redis: {line:?}"),
        }
    }

    fn read_line(&mut self) -> Result<()> {
        self.line.clear();
        let read = self.stream.read_line(&mut self.line).context("reading from Redis")?;
        ensure!(read > 0, "Redis closed the connection");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_go_out_and_answers_come_back_in_order() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let stream = BufReader::new(ours);
        let mut connection = Connection { stream, unsent: Vec::new(), line: String::new() };
        theirs.write_all(b":7\r\n*2\r\n$1\r\na\r\n$2\r\nbc\r\n-ERR no\r\n").unwrap();
        assert_eq!(connection.number(&["ZCARD", "feed"]).unwrap(), 7);
        assert_eq!(connection.list(&["ZREVRANGE", "feed", "0", "1"]).unwrap(), 2);
        assert!(connection.integer().unwrap_err().to_string().contains("ERR no"));
        let mut sent = [0; 25];
        std::io::Read::read_exact(&mut theirs, &mut sent).unwrap();
        assert_eq!(&sent, b"*2\r\n$5\r\nZCARD\r\n$4\r\nfeed\r\n");
    }
}
