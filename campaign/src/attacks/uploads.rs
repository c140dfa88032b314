//! Uploads that would fill the disk, or take all transfers.

use std::io::Write as _;
use std::net::{IpAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::AttackCase;
use super::answer::AttackAnswer;
use super::scene::{AttackAccount, AttackScene, READER, STRANGERS, read_to_end};
use super::size::AttackSize;

pub(super) const CASES: &[AttackCase] = &[
    AttackCase {
        name: "upload-tickets",
        expected: "a new user gets tickets for two GiB and no more",
        run: take_tickets,
    },
    AttackCase {
        name: "parallel-uploads",
        expected: "a ticket takes one transfer at a time, and the disk has no more than it announced",
        run: send_in_parallel,
    },
    AttackCase {
        name: "longer-upload",
        expected: "a file that is longer than announced is refused, and none of it stays on the disk",
        run: send_more_than_announced,
    },
    AttackCase {
        name: "slow-uploads",
        expected: "transfers end at their deadline, and one account has no more than a quarter of them",
        run: send_slowly,
    },
];

const ANNOUNCE: &str = "mutation ($type: String!, $bytes: Int!) { createUpload(input: { \
    contentType: $type, bytes: $bytes }) { s3Key uploadUrl } }";
const COMPLETE: &str = "mutation ($key: String!) { completeUpload(s3Key: $key) { s3Key } }";
const GIF: &str = "image/gif";
/// The smallest picture. Any number of bytes may follow.
const PICTURE: &[u8] =
    b"GIF89a\x01\0\x01\0\x80\0\0\xff\xff\xff\0\0\0!\xf9\x04\x01\0\0\0\0,\0\0\0\0\
    \x01\0\x01\0\0\x02\x02D\x01\0;";
const BYTES: usize = 100_000;
/// The time between two bytes of a slow upload.
const BYTE_INTERVAL: Duration = Duration::from_millis(50);
/// Seconds that a short file may take at most: half a minute, and one for each 16 KiB.
const SHORT_FILE_SECONDS: u64 = 30 + BYTES as u64 / (16 << 10) + 1;

/// An upload that the server permits.
#[derive(Clone, Debug)]
pub(super) struct AttackTicket {
    pub(super) key: String,
    /// The path and the query of its URL.
    pub(super) target: String,
}

fn take_tickets(scene: &AttackScene<'_>) -> Result<String> {
    const TRIES: usize = 64;
    const VIDEO_BYTES: usize = 500 << 20;
    let mallory = scene.sign_up(STRANGERS[0], "mallory")?;
    let mut granted = 0;
    for _ in 0..TRIES {
        let answer = announce(scene, &mallory, "video/mp4", VIDEO_BYTES)?;
        if answer.codes().is_empty() {
            granted += 1;
        } else {
            answer.require_refusal("one more ticket", &["QUOTA_EXCEEDED"])?;
        }
    }
    ensure!(granted == 4, "{granted} tickets for 500 MiB were granted");
    Ok(format!("{granted} of {TRIES} tickets for 500 MiB"))
}

fn send_in_parallel(scene: &AttackScene<'_>) -> Result<String> {
    const PARALLEL: usize = 32;
    let mallory = scene.sign_up(STRANGERS[1], "mallory")?;
    let ticket = ticket(scene, &mallory)?;
    let before = bytes_in(&scene.server.data("media"));
    let mut first = begin_put(scene, STRANGERS[1], &ticket, BYTES / 2)?;
    let transfers = "roundtable_media_transfers";
    scene.until("the first transfer begins", || Ok(scene.metric(transfers)? > 0.5))?;
    let mut others = Vec::new();
    for from in STRANGERS.into_iter().cycle().take(PARALLEL) {
        others.push(begin_put(scene, from, &ticket, 0)?);
    }
    for other in &mut others {
        let response = read_to_end(other);
        ensure!(response.starts_with("HTTP/1.1 409"), "a second transfer: {response}");
    }
    let staged = bytes_in(&scene.server.data("media")).saturating_sub(before);
    ensure!(staged <= BYTES as u64, "{staged} bytes of one upload of {BYTES} are on the disk");
    first.write_all(picture().get(BYTES / 2..).unwrap_or_default())?;
    let response = read_to_end(&mut first);
    ensure!(response.starts_with("HTTP/1.1 204"), "the first transfer: {response}");
    let again = put(scene, STRANGERS[1], &ticket)?;
    ensure!(again.starts_with("HTTP/1.1 409"), "a transfer after the upload: {again}");
    Ok(format!("1 of {PARALLEL} parallel transfers was received"))
}

fn send_more_than_announced(scene: &AttackScene<'_>) -> Result<String> {
    /// Chunks of a file that is announced with fewer bytes.
    const CHUNKS: usize = 200;
    const CHUNK: usize = 16 << 10;
    let mallory = scene.sign_up(STRANGERS[2], "mallory")?;
    let before = bytes_in(&scene.server.data("media"));
    let ticket = ticket(scene, &mallory)?;
    let head = head(scene, &ticket);
    let length = format!("content-length: {BYTES}");
    let chunked = head.replace(&length, "transfer-encoding: chunked");
    let longer = head.replace(&length, &format!("content-length: {}", 10 * BYTES));
    let chunk = [format!("{CHUNK:x}\r\n").into_bytes(), vec![0; CHUNK], b"\r\n".to_vec()].concat();
    for head in [chunked, longer] {
        let mut stream = scene.connect(STRANGERS[2])?;
        stream.write_all(head.as_bytes())?;
        let mut sent = 0;
        // The server hangs up when it has too much.
        while sent < CHUNKS && stream.write_all(&chunk).is_ok() {
            sent += 1;
        }
        // The end of a chunked body.
        let _ = stream.write_all(b"0\r\n\r\n");
        let response = read_to_end(&mut stream);
        // A reset connection may have lost the response.
        ensure!(response.is_empty() || response.starts_with("HTTP/1.1 4"), "{response}");
        let staged = || bytes_in(&scene.server.data("media")).saturating_sub(before);
        ensure!(staged() <= BYTES as u64, "{} bytes are on the disk", staged());
        scene.until("nothing of it is left", || Ok(staged() == 0))?;
    }
    let response = put(scene, STRANGERS[2], &ticket)?;
    ensure!(response.starts_with("HTTP/1.1 204"), "the file as announced: {response}");
    Ok(String::from("2 longer files were refused"))
}

fn send_slowly(scene: &AttackScene<'_>) -> Result<String> {
    const TICKETS: usize = 20;
    /// A quarter of all transfers.
    const ACCOUNT_MAX: usize = 16;
    let seconds = SHORT_FILE_SECONDS.min(scene.size.transfer_seconds);
    let mut slow = Vec::new();
    for from in STRANGERS.into_iter().take(3) {
        let mallory = scene.sign_up(from, "mallory")?;
        for _ in 0..TICKETS {
            slow.push(begin_put(scene, from, &ticket(scene, &mallory)?, 0)?);
        }
    }
    // Others go on uploading meanwhile.
    let writers = ticket(scene, &scene.writer)?;
    let response = put(scene, READER, &writers)?;
    ensure!(response.starts_with("HTTP/1.1 204"), "another user's upload: {response}");
    let key = json!({ "key": writers.key });
    scene
        .ask(READER, Some(&scene.writer.token), COMPLETE, &key)?
        .require_success("its completion")?;
    let responses = trickle(slow, AttackSize::deadline(seconds))?;
    let with = |status: &str| responses.iter().filter(|one| one.starts_with(status)).count();
    let (late, refused) = (with("HTTP/1.1 408"), with("HTTP/1.1 503"));
    let all = 3 * TICKETS;
    ensure!(late + refused == all, "slow transfers were answered with {responses:?}");
    ensure!(refused >= 3 * (TICKETS - ACCOUNT_MAX), "only {refused} of {all} were refused at once");
    Ok(format!("{late} of {all} slow transfers ended after {seconds} s, {refused} were refused"))
}

/// Sends a byte on each connection again and again, until the server has answered all.
fn trickle(mut slow: Vec<TcpStream>, limit: Duration) -> Result<Vec<String>> {
    let deadline = Instant::now() + limit;
    let mut responses = Vec::new();
    while !slow.is_empty() {
        ensure!(Instant::now() < deadline, "{} slow transfers go on after {limit:?}", slow.len());
        let mut going_on = Vec::with_capacity(slow.len());
        for mut stream in slow {
            // A write fails once the server has answered and hung up.
            let is_open = stream.write_all(b"x").is_ok();
            stream.set_nonblocking(true)?;
            let is_silent = stream.peek(&mut [0]).is_err();
            stream.set_nonblocking(false)?;
            if is_open && is_silent {
                going_on.push(stream);
            } else {
                responses
                    .push(read_to_end(&mut stream).lines().next().unwrap_or_default().to_owned());
            }
        }
        slow = going_on;
        std::thread::sleep(BYTE_INTERVAL);
    }
    Ok(responses)
}

/// Announces an upload of a picture.
pub(super) fn ticket(scene: &AttackScene<'_>, account: &AttackAccount) -> Result<AttackTicket> {
    let answer = announce(scene, account, GIF, BYTES)?;
    let url = answer.text("/data/createUpload/uploadUrl")?;
    let target = url.split_once("/media/").context("an upload URL without /media/")?.1;
    let (key, target) = (answer.text("/data/createUpload/s3Key")?, format!("/media/{target}"));
    Ok(AttackTicket { key, target })
}

fn announce(
    scene: &AttackScene<'_>,
    account: &AttackAccount,
    content_type: &str,
    bytes: usize,
) -> Result<AttackAnswer> {
    let variables = json!({ "type": content_type, "bytes": bytes });
    scene.ask(READER, Some(&account.token), ANNOUNCE, &variables)
}

fn picture() -> Vec<u8> {
    let mut picture = PICTURE.to_vec();
    picture.resize(BYTES, 0);
    picture
}

fn head(scene: &AttackScene<'_>, ticket: &AttackTicket) -> String {
    let AttackTicket { target, .. } = ticket;
    let address = scene.server.address;
    format!(
        "PUT {target} HTTP/1.1\r\nhost: {address}\r\ncontent-type: {GIF}\r\nconnection: close\r\n\
         content-length: {BYTES}\r\n\r\n"
    )
}

/// Sends the head of an upload, and some bytes of the file.
fn begin_put(
    scene: &AttackScene<'_>,
    from: IpAddr,
    ticket: &AttackTicket,
    bytes: usize,
) -> Result<TcpStream> {
    let mut stream = scene.connect(from)?;
    stream.write_all(head(scene, ticket).as_bytes())?;
    stream.write_all(picture().get(..bytes).unwrap_or_default())?;
    Ok(stream)
}

/// Sends a whole upload, and returns the response.
fn put(scene: &AttackScene<'_>, from: IpAddr, ticket: &AttackTicket) -> Result<String> {
    let mut stream = scene.connect(from)?;
    stream.write_all(head(scene, ticket).as_bytes())?;
    let _ = stream.write_all(&picture());
    Ok(read_to_end(&mut stream))
}

/// Returns the bytes of all files below a directory. They may be moved or removed meanwhile.
fn bytes_in(at: &Path) -> u64 {
    let entries = std::fs::read_dir(at).into_iter().flatten().filter_map(Result::ok);
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => bytes_in(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    bytes.sum()
}
