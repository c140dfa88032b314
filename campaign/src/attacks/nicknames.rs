//! Names that others would take for someone else's.

use anyhow::Result;
use serde_json::json;

use super::AttackCase;
use super::scene::{AttackScene, STRANGERS};

pub(super) const CASES: &[AttackCase] = &[AttackCase {
    name: "confusable-nicknames",
    expected: "no new name looks like another one, like a reserved word, or like markup",
    run: choose_confusable_names,
}];

fn choose_confusable_names(scene: &AttackScene<'_>) -> Result<String> {
    let writer = scene.writer.name.as_str();
    // Cyrillic letters that look like Latin ones.
    let imitation = writer.replace('w', "\u{51d}").replace('e', "\u{435}");
    let names = [
        imitation.as_str(),
        "\u{430}dmin",
        "\u{440}\u{430}\u{443}\u{440}\u{430}l",
        "adm\u{131}n",
        "admin",
        "Moderator",
        "s_t_a_f_f",
        "ana\u{202e}nimda",
        "ana\u{200b}",
        "ana\u{200d}b",
        "ana b",
        "<b>ana</b>",
        "ana/../bo",
        "ana#bo",
        "a\u{300}\u{301}\u{302}\u{303}\u{304}",
        "\u{1d41a}\u{1d427}\u{1d41a}",
        "",
    ];
    let mallory = scene.sign_up(STRANGERS[1], "mallory")?;
    let rename =
        "mutation ($name: String!) { updateProfile(input: { nickname: $name }) { nickname } }";
    for (name, from) in names.into_iter().zip(STRANGERS.into_iter().cycle()) {
        let email = format!("{}@example.org", scene.new_name("imitator"));
        let registered = scene.register(from, name, &email, None)?;
        registered.require_refusal(&format!("signing up as {name:?}"), &["BAD_REQUEST"])?;
        let renamed =
            scene.ask(STRANGERS[1], Some(&mallory.token), rename, &json!({ "name": name }))?;
        renamed.require_refusal(&format!("a new name {name:?}"), &["BAD_REQUEST"])?;
    }
    for taken in [writer.to_owned(), writer.to_uppercase()] {
        let renamed =
            scene.ask(STRANGERS[1], Some(&mallory.token), rename, &json!({ "name": taken }))?;
        renamed.require_refusal(&format!("the name {taken:?} of another"), &["CONFLICT"])?;
    }
    Ok(format!("{} names were refused, twice each", names.len()))
}
