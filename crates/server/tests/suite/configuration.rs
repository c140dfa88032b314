//! The documented configuration file: it parses, and its values are the defaults.

use std::path::Path;

use roundtable_server::{Configuration, Layers};

#[test]
fn the_annotated_file_has_every_key_with_its_default() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/roundtable.toml");
    let read = Configuration::read(Layers::new().file(&path).unwrap()).unwrap();
    assert_eq!(format!("{read:#?}"), format!("{:#?}", Configuration::default()));
}

/// A line that is not TOML may hold a secret, and errors end up in logs.
#[test]
fn the_text_of_a_bad_line_is_not_shown() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "[sign-in]\nsecret = hush-hush\n").unwrap();
    let error = Layers::new().file(file.path()).unwrap_err();
    let (shown, inside) = (error.to_string(), format!("{error:?}"));
    assert!(shown.contains("line 2: "), "{shown}");
    assert!(!shown.contains("hush") && !inside.contains("hush"), "{shown}");
}

#[test]
fn the_internal_audience_is_refused_for_users() {
    let mine =
        [(String::from("ROUNDTABLE_SIGN_IN__AUDIENCE"), String::from("roundtable-internal"))];
    let error = Configuration::read(Layers::new().environment(mine).unwrap()).unwrap_err();
    assert!(error.to_string().starts_with("sign-in.audience: "), "{error}");
}

/// An address opens no account, so strangers may sign up beside the users of an issuer.
#[test]
fn an_issuer_permits_every_kind_of_registration() {
    let read = |registration: &str| {
        let set = [
            ("ROUNDTABLE_REGISTRATION", registration),
            ("ROUNDTABLE_SIGN_IN__OIDC__ISSUER", "https://login.example.org"),
            ("ROUNDTABLE_SIGN_IN__OIDC__AUDIENCE", "roundtable"),
        ];
        let set = set.map(|(key, value)| (key.to_owned(), value.to_owned()));
        Configuration::read(Layers::new().environment(set).unwrap())
    };
    assert!(["open", "invitation", "closed"].into_iter().all(|kind| read(kind).is_ok()));
}

/// Keys without a default appear as comments, so that every key can be found.
#[test]
fn every_key_of_the_code_is_in_the_annotated_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/roundtable.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let shown = format!("{:#?}", Configuration::default());
    for line in shown.lines() {
        let Some((name, _)) = line.trim().split_once(": ") else { continue };
        let key = name.replace('_', "-");
        if ["process", "settings"].contains(&name) {
            continue;
        }
        let is_key = |line: &str| {
            let line = line.trim_start_matches(['#', ' ']);
            line.starts_with(&format!("{key} ="))
                || line.starts_with(&format!("[{key}"))
                || line.contains(&format!(".{key}]"))
        };
        assert!(text.lines().any(is_key), "{key} is not in the file");
    }
}
