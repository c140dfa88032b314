//! The stories of people, played against a server that the binary runs, over HTTP and WebSocket: once as
//! they are, and once with every mutation sent twice. Afterwards the store is sound.

#![expect(clippy::unwrap_used, reason = "a story whose server does not answer has failed")]
#![expect(clippy::indexing_slicing, reason = "JSON answers null where there is nothing")]

#[path = "../suite/binary.rs"]
mod binary;
#[path = "tales.rs"]
mod tales;

use std::path::Path;
use std::time::Duration;

use binary::{command, finish};
use tales::house::House;
use tales::interlude;
use tales::scene::{Scene, Style};

/// How long anything may take that follows from something else.
const PATIENCE: Duration = Duration::from_secs(20);

/// Plays all stories at one server with a store of its own, which is killed half-way and started again;
/// and looks through that store.
async fn play(style: Style) {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().to_owned();
    let serve = |path: &Path| House::serve(["--data".as_ref(), path.as_os_str()], &[]);
    let (house, granting) = (serve(&path), path.clone());
    let doors = vec![Some(house.url.clone())];
    let scene = Scene::at(doors, style, PATIENCE, move |name| grant(name, &granting));
    tales::first_half(&scene).await;
    let reopening = path.clone();
    let house = interlude::a_talk_outlives_its_server(&scene, move || {
        house.kill();
        let house = serve(&reopening);
        (vec![Some(house.url.clone())], house)
    });
    let house = house.await;
    tales::second_half(&scene).await;
    assert_eq!(house.stop(), Some(0));
    let mut verify = command(["verify", "--data"]);
    verify.arg(&path);
    let found = finish(verify);
    assert_eq!(found.status, 0, "{}{}", found.out, found.err);
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

/// R32: a mutation that is sent again under its request id has the effect, and the answer, of one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_story_can_be_played_with_every_mutation_sent_twice() {
    play(Style::Twice).await;
}
