//! Configurations of a hook, and those refused before anything is sent.

use std::time::Duration;

use roundtable_domain::HookSettings;
use roundtable_hooks::{HookConfigError, WebhookClient, WebhookModerator};
use roundtable_model::Secret;

use crate::sending::clock;

const SECRET: &str = "whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0";
const SECOND: Duration = Duration::from_secs(1);

fn refused(to: &str, secret: Option<&str>, patience: Duration) -> Option<HookConfigError> {
    let secret = secret.map(Secret::new);
    WebhookClient::new(to, secret.as_ref(), patience, clock()).err()
}

#[test]
fn addresses_are_http_and_name_a_host() {
    for fine in ["http://localhost:8080", "http://[::1]/judge", "https://hook.example/a?b=c"] {
        assert_eq!(refused(fine, None, SECOND), None, "{fine}");
    }
    for (wrong, what) in [
        ("", "is not a URL"),
        ("https://", "is not a URL"),
        ("http:// hook.example", "is not a URL"),
        ("hook.example/judge", "is not a URL"),
        ("/judge", "must begin with"),
        ("hook.example", "must begin with"),
        ("ftp://hook.example/", "must begin with"),
        ("file:///etc/passwd", "is not a URL"),
        ("https://ana:hush@hook.example/", "must not contain a user name or password"),
        ("https://:8080/", "has no host"),
    ] {
        let message =
            refused(wrong, None, SECOND).map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains(what), "{wrong}: {message}");
        assert!(!message.contains("hush"));
    }
}

#[test]
fn secrets_are_those_of_the_specification() {
    let url = "http://localhost/";
    assert_eq!(refused(url, Some(SECRET), SECOND), None);
    let (short, long) = ("MTIz".repeat(7), "MTIz".repeat(22));
    for wrong in ["hush", &SECRET[6..], "whsec_", "whsec_%%%%", "whsk_MTIz"]
        .map(str::to_owned)
        .into_iter()
        .chain([format!("whsec_{short}"), format!("whsec_{long}")])
    {
        assert_eq!(refused(url, Some(&wrong), SECOND), Some(HookConfigError::Secret), "{wrong}");
    }
}

#[test]
fn the_timeout_has_limits() {
    for wrong in [Duration::ZERO, Duration::from_secs(61)] {
        let refused = refused("http://localhost/", None, wrong);
        assert_eq!(refused, Some(HookConfigError::Timeout(wrong)));
    }
}

#[test]
fn the_configured_moderator_is_used() {
    let none = HookSettings::default();
    assert!(WebhookModerator::configured(&none, clock()).unwrap().is_none());
    let url = Some(String::from("https://hook.example/token-of-ana"));
    let hook = HookSettings { url, secret: Some(Secret::new(SECRET)), ..none };
    let judge = WebhookModerator::configured(&hook, clock()).unwrap().unwrap();
    let shown = format!("{judge:?}");
    assert!(shown.contains("hook.example") && shown.contains("5s"), "{shown}");
    assert!(!shown.contains("token-of-ana") && !shown.contains("MTIz"), "{shown}");
    let unsafe_secret = HookSettings { secret: Some(Secret::new("hush")), ..hook };
    assert!(WebhookModerator::configured(&unsafe_secret, clock()).is_err());
}
