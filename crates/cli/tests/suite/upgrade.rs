//! A data directory, a backup and an export of an earlier version, used by this one.

use std::path::Path;
use std::process::Command;

use crate::binary::{command, finish};
use crate::verify::on;

const ARCHIVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/fixtures/store-0.1.tar.gz");

fn verifies(data: &Path) {
    let verified = on(data, "verify");
    assert_eq!((verified.status, verified.err.as_str()), (0, ""), "{}", verified.out);
}

#[test]
fn a_store_a_backup_and_an_export_of_the_version_before_pass_verify() {
    let directory = tempfile::tempdir().unwrap();
    let unpacked =
        Command::new("tar").arg("-xzf").arg(ARCHIVE).arg("-C").arg(directory.path()).status();
    assert!(unpacked.unwrap().success(), "{ARCHIVE} was not unpacked");
    let at = |name: &str| directory.path().join(name);
    verifies(&at("data"));
    for (verb, source) in [("restore", "backup"), ("import", "export")] {
        let into = at(&format!("from-{source}"));
        let mut run = command([verb]);
        run.arg(at(source)).arg("--data").arg(&into);
        let done = finish(run);
        assert_eq!((done.status, done.err.as_str()), (0, ""), "{verb}: {}", done.out);
        verifies(&into);
    }
}
