//! The other subcommands that print what follows from the schema.

use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::binary::{command, finish};

const TABLES: [&str; 3] = ["gg_core", "gg_login_attempts", "gg_ops"];

fn printed(line: &str) -> String {
    let run = finish(command(line.split_whitespace()));
    assert_eq!((run.status, run.err.as_str()), (0, ""), "{line}: {}", run.out);
    run.out
}

#[test]
fn the_lint_finds_nothing_that_the_schema_does_not_accept() {
    let found = printed("table lint");
    assert!(found.contains("ok    hot: Post in GSI2 of gg_core\n"), "{found}");
    assert!(found.lines().last().unwrap().starts_with("0 open, "), "{found}");
    assert_eq!(printed("table lint --open"), "No findings.\n");
}

#[test]
fn terraform_has_every_table_and_is_formatted() {
    let file = printed("table terraform --prefix staging_");
    for table in TABLES {
        assert!(file.contains(&format!("= \"staging_{table}\"")), "{table} in {file}");
    }
    let check = Command::new("terraform")
        .args(["fmt", "-check", "-diff", "-"])
        .env("CHECKPOINT_DISABLE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut check) = check else {
        eprintln!("terraform is not installed: its formatting was not checked");
        return;
    };
    check.stdin.take().unwrap().write_all(file.as_bytes()).unwrap();
    let done = check.wait_with_output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn cloudformation_has_every_table() {
    let template = printed("table cloudformation");
    for table in TABLES {
        assert!(template.contains(&format!("TableName: \"{table}\"")), "{table} in {template}");
    }
    assert_eq!(template.matches("DeletionPolicy: Retain").count(), 3);
    assert_eq!(template.matches("NEW_AND_OLD_IMAGES").count(), 1);
}

#[test]
fn workbench_has_a_sample_of_every_entity_and_one_type_for_each_attribute() {
    let model: Value = serde_json::from_str(&printed("table workbench")).unwrap();
    let tables = model["DataModel"].as_array().unwrap();
    assert_eq!(tables.iter().map(|table| &table["TableName"]).collect::<Vec<_>>(), TABLES);
    for table in tables {
        let types: HashMap<&str, &str> = table["NonKeyAttributes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|each| (each["AttributeName"].as_str(), each["AttributeType"].as_str()))
            .map(|(name, kind)| (name.unwrap(), kind.unwrap()))
            .chain([("PK", "S"), ("SK", "S")])
            .collect();
        for facet in table["TableFacets"].as_array().unwrap() {
            let samples = facet["TableData"].as_array().unwrap();
            assert_eq!(samples.len(), 1, "{}", facet["FacetName"]);
            for (name, value) in samples[0].as_object().unwrap() {
                let kinds: Vec<&String> = value.as_object().unwrap().keys().collect();
                assert_eq!(kinds, [types[name.as_str()]], "{name} of {}", facet["FacetName"]);
            }
        }
    }
}

#[test]
fn capacity_uses_the_built_in_rates_or_others() {
    let documents = printed("table capacity");
    assert!(documents.contains("a month of 730 hours"), "{documents}");
    let units = printed("table capacity --units");
    assert!(units.contains("posts_by"), "{units}");

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rates.toml");
    let with = |text: &str| {
        fs::write(&path, text).unwrap();
        let mut command = command(["table", "capacity", "--rates"]);
        command.arg(&path);
        finish(command)
    };
    let own = with("[reads]\nposts_by = 120\n");
    assert_eq!((own.status, own.err.as_str()), (0, ""));
    assert!(own.out.contains("posts_by"), "{}", own.out);
    let wrong = with("[reads]\npost_by = 120\n");
    assert_eq!((wrong.status, wrong.out.as_str()), (1, ""));
    assert!(wrong.err.contains("rates.toml: "), "{}", wrong.err);
    assert!(wrong.err.contains("posts_by"), "{}", wrong.err);
}
