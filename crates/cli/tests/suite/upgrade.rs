//! Data directories, backups and exports of earlier versions, used by this one.

use std::path::Path;
use std::process::Command;

use crate::binary::{command, finish};
use crate::verify::on;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/fixtures");

fn verifies(data: &Path) -> String {
    let verified = on(data, "verify");
    assert_eq!((verified.status, verified.err.as_str()), (0, ""), "{}", verified.out);
    verified.out
}

/// An item of a newer version is refused, not stored without what this version does not know.
fn refuses_newer_items(export: &Path, into: &Path) {
    let file = export.join("gg_core.jsonl");
    let lines = std::fs::read_to_string(&file).unwrap();
    let newer = lines.replacen("{\"Item\":{", "{\"Item\":{\"shape\":{\"N\":\"2\"},", 1);
    assert_ne!(newer, lines);
    std::fs::write(&file, newer).unwrap();
    let mut run = command(["import"]);
    run.arg(export).arg("--data").arg(into);
    let refused = finish(run);
    assert_eq!(refused.status, 1, "{}", refused.out);
    let problem =
        "has shape 2, and this version knows shapes up to 1: a newer version has written it";
    assert!(
        refused.out.contains("gg_core.jsonl:1: ") && refused.out.contains(problem),
        "{}",
        refused.out
    );
    assert!(refused.out.contains("nothing was imported"), "{}", refused.out);
}

#[test]
fn stores_backups_and_exports_of_earlier_versions_pass_verify() {
    for archive in ["store-0.1.tar.gz", "store-0.1-b.tar.gz"] {
        passes_verify(archive);
    }
}

fn passes_verify(archive: &str) {
    let directory = tempfile::tempdir().unwrap();
    let archive = Path::new(FIXTURES).join(archive);
    let unpacked =
        Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(directory.path()).status();
    assert!(unpacked.unwrap().success(), "{} was not unpacked", archive.display());
    let at = |name: &str| directory.path().join(name);
    let verified = verifies(&at("data"));
    assert!(verified.contains("have an older shape"), "{verified}");
    for (verb, source) in [("restore", "backup"), ("import", "export")] {
        let into = at(&format!("from-{source}"));
        let mut run = command([verb]);
        run.arg(at(source)).arg("--data").arg(&into);
        let done = finish(run);
        assert_eq!((done.status, done.err.as_str()), (0, ""), "{verb}: {}", done.out);
        verifies(&into);
    }
    let upgraded = on(&at("data"), "admin upgrade");
    assert_eq!(upgraded.status, 0, "{}", upgraded.err);
    assert!(upgraded.out.contains("under way"), "{}", upgraded.out);
    let verified = verifies(&at("data"));
    assert!(!verified.contains("older shape"), "{verified}");
    refuses_newer_items(&at("export"), &at("from-a-newer-version"));
}
