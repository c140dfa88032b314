//! Names read from the source, for tests that must leave none out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Modules of the domain that hold no operations of the API.
const NO_SERVICES: &[&str] = &["bus", "context", "viewer_access"];

/// Returns every operation of every service, as `service.method`; of live sources, the next event.
pub fn service_operations() -> BTreeSet<String> {
    let domain = crate_sources("domain");
    let mut operations = BTreeSet::new();
    for file in files_below(&domain) {
        let within = file.strip_prefix(&domain).unwrap().with_extension("");
        let service = within.iter().next().unwrap().to_str().unwrap();
        if NO_SERVICES.contains(&service) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let methods = text.lines().filter_map(|line| line.strip_prefix("    pub async fn "));
        let names = methods.filter_map(|method| method.split(['(', '<']).next());
        let is_live = text.lines().any(|line| line.starts_with("impl LiveSource for "));
        let names = names.chain(is_live.then_some("next"));
        operations.extend(names.map(|name| format!("{service}.{name}")));
    }
    operations
}

/// Returns the types that implement `Processor`.
pub fn processor_types() -> BTreeSet<String> {
    let mut types = BTreeSet::new();
    for file in files_below(&crate_sources("streams")) {
        let text = fs::read_to_string(file).unwrap();
        let named = text.lines().filter_map(|line| line.strip_prefix("impl Processor for "));
        types.extend(named.filter_map(|rest| rest.split_whitespace().next().map(String::from)));
    }
    types
}

fn crate_sources(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src")
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let entries: io::Result<Vec<_>> = fs::read_dir(directory).unwrap().collect();
    let paths = entries.unwrap().into_iter().map(|entry| entry.path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}
