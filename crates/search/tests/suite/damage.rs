//! Restarts, kills, damage and other versions: the index goes on where it was, or is built again.

use std::fs;
use std::path::{Path, PathBuf};

use roundtable_domain::PageInput;

use super::{indexer, names, search_of, town};

fn files(directory: &Path) -> Vec<PathBuf> {
    let builds = fs::read_dir(directory).unwrap().map(|it| it.unwrap().path());
    let mut files: Vec<PathBuf> = builds
        .flat_map(|build| fs::read_dir(build).unwrap().map(|it| it.unwrap().path()))
        .collect();
    files.sort();
    files
}

/// R58: committed with its position in the stream.
#[tokio::test]
async fn a_restarted_index_goes_on_from_its_position() {
    let (town, directory) = (town().await, tempfile::tempdir().unwrap());
    town.post("ana", "badger one").await;
    let mut first = indexer(&town, directory.path());
    first.catch_up().await.unwrap();
    assert_eq!(first.status()().builds, 1);
    drop(first);
    let gone = town.post("ana", "badger two").await.id;
    town.post("ana", "badger three").await;
    town.posts().delete(&town.caller("ana"), &gone, None).await.unwrap();
    let mut second = indexer(&town, directory.path());
    second.catch_up().await.unwrap();
    assert_eq!(second.status()().builds, 0, "it was not built again");
    assert_eq!(names(&search_of(&town, &second), None, "badger").await.len(), 2);
}

/// R58: rebuilt from the table when missing, damaged or of an older version.
#[tokio::test]
async fn a_missing_damaged_or_older_index_is_built_again() {
    let town = town().await;
    for n in 0..20 {
        town.post("ana", &format!("lynx {n}")).await;
    }
    let accidents: [(&str, fn(&Path)); 5] = [
        ("missing", |directory| fs::remove_dir_all(directory).unwrap()),
        ("without its table of contents", |directory| {
            let metas = files(directory).into_iter().filter(|it| it.ends_with("meta.json"));
            metas.for_each(|it| fs::remove_file(it).unwrap());
        }),
        ("cut off", |directory| {
            for file in files(directory) {
                let length = fs::metadata(&file).unwrap().len();
                fs::File::options().write(true).open(file).unwrap().set_len(length / 2).unwrap();
            }
        }),
        ("of other bytes", |directory| {
            for file in files(directory).into_iter().filter(|it| !it.ends_with("meta.json")) {
                let mut bytes = fs::read(&file).unwrap();
                if let Some(byte) = bytes.get_mut(5) {
                    *byte ^= 0x55;
                }
                fs::write(&file, bytes).unwrap();
            }
        }),
        ("of another version", |directory| {
            for file in files(directory).into_iter().filter(|it| it.ends_with("meta.json")) {
                let text = fs::read_to_string(&file).unwrap();
                fs::write(&file, text.replace("roundtable 1 ", "roundtable 0 ")).unwrap();
            }
        }),
    ];
    for (accident, happen) in accidents {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("search");
        indexer(&town, &root).catch_up().await.unwrap();
        happen(&root);
        let mut after = indexer(&town, &root);
        let (search, page) = (search_of(&town, &after), PageInput::default());
        let refused = search.search(None, "lynx", None, &page).await.unwrap_err();
        assert!(refused.to_string().contains("being built"), "{accident}: {refused}");
        after.catch_up().await.unwrap();
        assert_eq!(after.status()().builds, 1, "{accident}");
        assert_eq!(names(&search_of(&town, &after), None, "lynx").await.len(), 20, "{accident}");
    }
}

/// The directory as a killed process leaves it: copied while it is being written.
#[tokio::test]
async fn a_killed_index_loses_nothing_that_the_stream_has() {
    let (town, directory) = (town().await, tempfile::tempdir().unwrap());
    let root = directory.path().join("search");
    let mut alive = indexer(&town, &root);
    for n in 0..10 {
        town.post("ana", &format!("raven {n}")).await;
        alive.catch_up().await.unwrap();
        let copy = directory.path().join(format!("killed {n}"));
        for file in files(&root) {
            let to = copy.join(file.strip_prefix(&root).unwrap());
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            // Segments are merged meanwhile, and their files removed.
            let _ = fs::copy(&file, &to);
        }
        town.post("bo", &format!("raven {n} again")).await;
        let mut revived = indexer(&town, &copy);
        revived.catch_up().await.unwrap();
        let found = names(&search_of(&town, &revived), None, "raven").await;
        assert_eq!(found.len(), 2 * (n + 1));
    }
}
