//! Stories of users, played against a server that the binary runs, over HTTP and WebSocket: once as
//! they are, and once with every mutation sent twice. Afterwards the store is verified.

#![expect(clippy::unwrap_used, reason = "a story whose server does not answer has failed")]
#![expect(clippy::indexing_slicing, reason = "JSON answers null where there is nothing")]

#[path = "../suite/binary.rs"]
mod binary;
#[path = "tales.rs"]
mod tales;

use std::path::Path;
use std::time::Duration;

use binary::{command, finish};
use tales::interlude;
use tales::scene::{Scene, Style};
use tales::server_process::ServerProcess;

/// Time for derived work.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Plays all stories on one server, which is killed half-way and restarted, and verifies its store.
async fn play(style: Style) {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().to_owned();
    let serve = |path: &Path| ServerProcess::serve(["--data".as_ref(), path.as_os_str()], &[]);
    let (server_process, granting) = (serve(&path), path.clone());
    let servers = vec![Some(server_process.url.clone())];
    let scene = Scene::at(servers, style, TIMEOUT, move |name| grant(name, &granting));
    tales::first_half(&scene).await;
    let reopening = path.clone();
    let server_process = interlude::a_talk_outlives_its_server(&scene, move || {
        server_process.kill();
        let server_process = serve(&reopening);
        (vec![Some(server_process.url.clone())], server_process)
    });
    let server_process = server_process.await;
    tales::second_half(&scene).await;
    assert_eq!(server_process.stop(), Some(0));
    let mut verify = command(["verify", "--data"]);
    verify.arg(&path);
    let run_result = finish(verify);
    assert_eq!(run_result.status, 0, "{}{}", run_result.out, run_result.err);
}

fn grant(nickname: &str, data: &Path) {
    let mut grant = command(["admin", "grant", nickname, "moderator", "--data"]);
    grant.arg(data);
    let granted = finish(grant);
    assert_eq!(granted.status, 0, "{}", granted.err);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_story_can_be_played() {
    play(Style::Plain).await;
}

/// R32: a mutation repeated under its request id has one effect and the same response.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_story_can_be_played_with_every_mutation_sent_twice() {
    play(Style::Twice).await;
}
