//! Minimal WebSocket frames. Client frames are masked with zeros, which keeps their payload readable;
//! server frames must not be fragmented.

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ServerMessage {
    Text(String),
    Close,
    /// Not checked.
    Other,
}

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

/// Returns the first message of a server and its length; `None` while it is incomplete.
pub(crate) fn parse_message(bytes: &[u8]) -> Option<(ServerMessage, usize)> {
    let (first, second) = (*bytes.first()?, *bytes.get(1)?);
    assert!(second & 0x80 == 0, "the server masked a frame");
    let (length, begin) = match second & 0x7f {
        126 => (usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?)), 4),
        127 => (usize::try_from(u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?)).ok()?, 10),
        short => (usize::from(short), 2),
    };
    let payload = bytes.get(begin..begin + length)?;
    let message = match first & 0x0f {
        1 => ServerMessage::Text(String::from_utf8(payload.to_vec()).unwrap()),
        8 => ServerMessage::Close,
        _ => ServerMessage::Other,
    };
    Some((message, begin + length))
}
