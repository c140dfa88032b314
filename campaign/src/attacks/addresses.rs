//! Strangers who reserve another person's address, with and without tokens of an issuer.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::AttackCase;
use super::scene::{AttackScene, PASSWORD, STRANGERS};

pub(super) const CASES: &[AttackCase] = &[AttackCase {
    name: "reserved-address",
    expected: "no sign-up and no change of address keeps a person from their own, or opens their account",
    run: reserve_addresses,
}];

fn reserve_addresses(scene: &AttackScene<'_>) -> Result<String> {
    for changes in [false, true] {
        let name = scene.new_name("vera");
        let address = format!("{name}@example.org");
        let mallory = if changes {
            let mallory = scene.sign_up(STRANGERS[0], "mallory")?;
            let change = "mutation ($password: String!, $email: AWSEmail!) { changeEmail( \
                password: $password, email: $email) { email } }";
            let variables = json!({ "password": PASSWORD, "email": address });
            let changed = scene.ask(STRANGERS[0], Some(&mallory.token), change, &variables)?;
            changed.require_success("claiming a free address")?;
            mallory.token
        } else {
            let squatter =
                scene.register(STRANGERS[0], &scene.new_name("mallory"), &address, None)?;
            squatter.text("/data/register/accessToken")?
        };
        require_refused_identities(scene, &name, &address)?;
        let claims = scene.issuer.claims(&address);
        let veras = scene.issuer.sign(&claims)?;
        scene
            .me(STRANGERS[3], &veras)?
            .require_refusal("an identity without account", &["UNAUTHENTICATED"])?;
        let signed_up = scene.register(STRANGERS[3], &name, &address, Some(&veras))?;
        signed_up.require_success("the owner of the address signs up")?;
        let opened = scene.me(STRANGERS[3], &veras)?;
        ensure!(opened.at("/data/me/nickname") == &name, "the owner's token opens {opened}");
        let left = scene.ask(STRANGERS[0], Some(&mallory), "{ me { email } }", &json!({}))?;
        ensure!(left.at("/data/me/email").is_null(), "the stranger has the address: {left}");
    }
    Ok(String::from("both reservations were taken back by the owner, and 10 identities refused"))
}

/// Tries what looks like a token about an address.
fn require_refused_identities(scene: &AttackScene<'_>, name: &str, address: &str) -> Result<()> {
    let good = scene.issuer.claims(address);
    let with = |key: &str, value: Value| {
        let mut claims = good.clone();
        if let Some(claims) = claims.as_object_mut() {
            claims.insert(key.to_owned(), value);
        }
        claims
    };
    let tokens = [
        scene.issuer.forge(&good)?,
        scene.issuer.sign(&with("email_verified", json!(false)))?,
        scene.issuer.sign(&with("email", json!("somebody@example.org")))?,
        scene.issuer.sign(&with("exp", json!(1)))?,
        scene.issuer.sign(&with("aud", json!("another-table")))?,
    ];
    for token in &tokens {
        let refused = scene.register(STRANGERS[1], name, address, Some(token))?;
        refused.require_refusal(token, &["BAD_REQUEST", "CONFLICT", "UNAUTHENTICATED"])?;
    }
    let plain = scene.register(STRANGERS[1], name, address, None)?;
    plain.require_refusal("a second claim of the address", &["CONFLICT"])
}
