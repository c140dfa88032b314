//! Paths of media files that lead elsewhere, and URLs of files that were signed for something else.

use anyhow::{Context as _, Result, ensure};

use super::AttackCase;
use super::scene::{AttackScene, STRANGERS};
use super::uploads::ticket;

pub(super) const CASES: &[AttackCase] = &[AttackCase {
    name: "media-paths",
    expected: "no path leads out of the media directory, and a signed URL is good for its file alone",
    run: walk_paths,
}];

fn walk_paths(scene: &AttackScene<'_>) -> Result<String> {
    let secret = std::fs::read(scene.server.data("secret.key")).context("reading the secret")?;
    let secret = String::from_utf8_lossy(&secret).trim().to_owned();
    ensure!(secret.len() > 8, "the secret is too short to recognize");
    let mallory = scene.sign_up(STRANGERS[0], "mallory")?;
    let own = ticket(scene, &mallory)?;
    let (path, query) = own.target.split_once('?').context("an upload URL without a signature")?;
    let up =
        ["../", "%2e%2e/", "..%2f", "%2e%2e%2f", "..%5c", "%252e%252e%252f", "..%00/", "....//"];
    let mut targets: Vec<String> = Vec::new();
    for up in up {
        for levels in 1..=4 {
            let up = up.repeat(levels);
            for file in ["secret.key", "tree.mdb", "etc/passwd"] {
                targets.push(format!("/media/{up}{file}"));
                targets.push(format!("/media/{up}{file}?{query}"));
                targets.push(format!("{path}/{up}{file}?{query}"));
            }
        }
    }
    let absolute = scene.server.data("secret.key");
    for prefix in ["/media/", "/media//", "/media/%2f", "/media/file:"] {
        targets.push(format!("{prefix}{}", absolute.display()));
        targets.push(format!("{prefix}{}?{query}", absolute.display()));
    }
    // What was signed for an upload by PUT neither reads, nor writes another file.
    targets.extend([own.target.clone(), path.to_owned(), format!("{path}x?{query}")]);
    for method in ["GET", "PUT"] {
        for target in &targets {
            if method == "PUT" && *target == own.target {
                continue;
            }
            let request = format!(
                "{method} {target} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\
                 content-type: image/gif\r\ncontent-length: 0\r\n\r\n",
                scene.server.address
            );
            let response = scene.send_raw(STRANGERS[0], request.as_bytes())?;
            let is_refused = response.starts_with("HTTP/1.1 4");
            ensure!(is_refused, "{method} {target}: {response}");
            let shows = [secret.as_str(), "root:"].into_iter().any(|text| response.contains(text));
            ensure!(!shows, "{method} {target} shows a file: {response}");
        }
    }
    Ok(format!("{} requests were refused", 2 * targets.len() - 1))
}
