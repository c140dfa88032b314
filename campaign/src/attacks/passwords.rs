//! Wrong passwords from strangers, against an account whose owner signs in on a known device.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::AttackCase;
use super::scene::{AttackScene, PASSWORD, READER, STRANGERS};
use super::strangers::from_everywhere;

pub(super) const CASES: &[AttackCase] = &[AttackCase {
    name: "wrong-passwords",
    expected: "strangers get few guesses, aliases and batches no more of them, and never lock out a known \
               device",
    run: guess_passwords,
}];

/// The limit of failures from one network, by default.
const FAILURES_MAX: usize = 10;
/// Sign-ins of one request, by aliases.
const ALIASES: usize = 20;

/// Counts of sign-ins that were tried.
#[derive(Clone, Copy, Debug, Default)]
struct GuessCounts {
    tried: usize,
    checked: usize,
}

impl std::iter::Sum for GuessCounts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        let add = |sum: Self, one: Self| Self {
            tried: sum.tried + one.tried,
            checked: sum.checked + one.checked,
        };
        all.fold(Self::default(), add)
    }
}

fn guess_passwords(scene: &AttackScene<'_>) -> Result<String> {
    let victim = scene.sign_up(READER, "victim")?;
    let guesses = from_everywhere(|from| {
        let mut counts = GuessCounts::default();
        while counts.tried < scene.size.guesses {
            let query = logins(&victim.email, counts.tried);
            let answer = scene.ask(from, None, &query, &json!({}))?;
            let codes = answer.codes();
            ensure!(!codes.is_empty() && answer.at("/data").is_null(), "a guess: {answer}");
            counts.tried += ALIASES;
            counts.checked += codes.iter().filter(|code| **code == "UNAUTHENTICATED").count();
            let known = scene.login(READER, &victim.email, PASSWORD, Some(&victim.device))?;
            known.require_success("signing in on the known device")?;
        }
        Ok(counts)
    })?;
    let GuessCounts { tried, checked } = guesses;
    let checked_max = FAILURES_MAX * STRANGERS.len();
    ensure!(
        checked <= checked_max,
        "{checked} of {tried} guesses were checked, over {checked_max}"
    );
    wait_for_a_pause(scene, &victim.email)?;
    let lucky = scene.login(STRANGERS[0], &victim.email, PASSWORD, None)?;
    lucky.require_refusal("the right password during a pause", &["RATE_LIMITED"])?;
    scene.me(READER, &victim.token)?.require_success("the victim's session")?;
    Ok(format!("{checked} of {tried} guesses were checked"))
}

/// Guesses until the server has begun a pause of two seconds or more.
fn wait_for_a_pause(scene: &AttackScene<'_>, email: &str) -> Result<()> {
    let mut had_a_pause = false;
    scene.until("a guess after a pause is checked", || {
        let answer = scene.login(STRANGERS[0], email, "one more guess", None)?;
        let is_refused = answer.code() == "RATE_LIMITED";
        had_a_pause |= is_refused;
        Ok(had_a_pause && !is_refused)
    })
}

/// Returns a document with many sign-ins of one account.
fn logins(email: &str, first: usize) -> String {
    let login = |number: usize| {
        let (email, guess) = (Value::from(email), format!("guess {number}"));
        format!("a{number}: login(email: {email}, password: {guess:?}) {{ accessToken }} ")
    };
    let all: String = (first..first + ALIASES).map(login).collect();
    format!("mutation {{ {all} }}")
}
