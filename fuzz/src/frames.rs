//! WebSocket frames, the least of them: those of a client are masked with zeros, so that they are what they
//! say, and those of a server must be whole.

/// A message that a server sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Text(String),
    Close,
    /// Nothing that anybody reads.
    Other,
}

/// A client's frame.
pub(crate) fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    const MASKED: u8 = 0x80;
    let mut frame = vec![0x80 | kind];
    match payload.len() {
        short @ ..126 => frame.push(MASKED | u8::try_from(short).unwrap()),
        long => {
            frame.push(MASKED | 127);
            frame.extend((long as u64).to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(payload);
    frame
}

/// The first message of a server, and how long it is; `None` when it is not whole.
pub(crate) fn told(bytes: &[u8]) -> Option<(Told, usize)> {
    let (first, second) = (*bytes.first()?, *bytes.get(1)?);
    assert!(second & 0x80 == 0, "a server's frame is masked");
    let (length, begin) = match second & 0x7f {
        126 => (usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?)), 4),
        127 => (usize::try_from(u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?)).ok()?, 10),
        short => (usize::from(short), 2),
    };
    let payload = bytes.get(begin..begin + length)?;
    let told = match first & 0x0f {
        1 => Told::Text(String::from_utf8(payload.to_vec()).unwrap()),
        8 => Told::Close,
        _ => Told::Other,
    };
    Some((told, begin + length))
}
