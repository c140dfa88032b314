//! Forged and changed access tokens.

use anyhow::{Context as _, Result, ensure};
use data_encoding::BASE64URL_NOPAD;
use rand::Rng as _;
use serde_json::{Value, json};

use super::AttackCase;
use super::scene::{AttackScene, STRANGERS};

pub(super) const CASES: &[AttackCase] = &[AttackCase {
    name: "forged-token",
    expected: "no token is accepted but those that the server has signed, as it has signed them",
    run: forge_tokens,
}];

const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn forge_tokens(scene: &AttackScene<'_>) -> Result<String> {
    let mallory = scene.sign_up(STRANGERS[0], "mallory")?;
    let own = mallory.token.as_str();
    let unsigned = changed(own, 0, |header| set(header, "alg", json!("none")))?;
    let (unsigned, _) = unsigned.rsplit_once('.').context("a token without a signature")?;
    let reader = json!(scene.reader.id);
    let mut forged = vec![
        format!("{unsigned}."),
        changed(unsigned, 1, |claims| set(claims, "sub", reader.clone()))? + ".",
        changed(own, 0, |header| set(header, "alg", json!("HS256")))?,
        changed(own, 0, |header| set(header, "kid", json!("../../secret.key")))?,
        changed(own, 1, |claims| set(claims, "sub", reader.clone()))?,
        changed(own, 1, |claims| set(claims, "sub", json!(scene.admin.id)))?,
        changed(own, 1, |claims| set(claims, "staff", json!(true)))?,
        changed(own, 1, |claims| set(claims, "exp", json!(u32::MAX)))?,
        signed_with_the_public_key(scene, own)?,
        scene.issuer.forge(&scene.issuer.claims(&scene.reader.email))?,
        scene.reader.refresh.clone(),
        scene.reader.device.clone(),
    ];
    let mut random = scene.random.lock();
    while forged.len() < scene.size.forgeries {
        let place = random.random_range(0..own.len());
        let letter = LETTERS.get(random.random_range(0..LETTERS.len())).copied();
        forged.push(with_letter(own, place, letter.unwrap_or(b'A')));
    }
    drop(random);
    let forged: Vec<String> = forged.into_iter().filter(|token| !is_same(token, own)).collect();
    for token in &forged {
        let answer = scene.me(STRANGERS[1], token)?;
        answer.require_refusal(token, &["UNAUTHENTICATED"])?;
        ensure!(answer.status == 401 && answer.at("/data").is_null(), "{token}: {answer}");
    }
    scene.me(STRANGERS[0], own)?.require_success("the attacker's own token")?;
    Ok(format!("{} forged tokens were refused", forged.len()))
}

/// Returns a token with one part changed.
fn changed(token: &str, part: usize, change: impl FnOnce(&mut Value)) -> Result<String> {
    let mut parts: Vec<String> = token.split('.').map(str::to_owned).collect();
    let part = parts.get_mut(part).context("a token with too few parts")?;
    let mut value: Value = serde_json::from_slice(&BASE64URL_NOPAD.decode(part.as_bytes())?)?;
    change(&mut value);
    *part = BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    Ok(parts.join("."))
}

fn set(object: &mut Value, key: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value);
    }
}

fn with_letter(token: &str, place: usize, letter: u8) -> String {
    let bytes = token.bytes().enumerate();
    let letters = bytes.map(|(at, own)| if at == place && own != b'.' { letter } else { own });
    letters.map(char::from).collect()
}

/// Returns whether two tokens stand for the same bytes: the last letter of a part has bits that mean nothing.
fn is_same(one: &str, other: &str) -> bool {
    let part = |part: &str| {
        let mut lenient = data_encoding::BASE64URL_NOPAD.specification();
        lenient.check_trailing_bits = false;
        lenient.encoding().ok()?.decode(part.as_bytes()).ok()
    };
    one.split('.').map(part).eq(other.split('.').map(part))
}

/// Returns a token whose signature is a message authentication code with the server's public key.
fn signed_with_the_public_key(scene: &AttackScene<'_>, own: &str) -> Result<String> {
    let request = format!(
        "GET /.well-known/jwks.json HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
        scene.server.address
    );
    let keys = scene.send_raw(STRANGERS[0], request.as_bytes())?;
    let (_, keys) = keys.split_once("\r\n\r\n").context("no keys")?;
    let keys: Value = serde_json::from_str(keys)?;
    let modulus = keys.pointer("/keys/0/n").and_then(Value::as_str).context("no public key")?;
    let claims = own.split('.').nth(1).context("a token without claims")?;
    let claims: Value = serde_json::from_slice(&BASE64URL_NOPAD.decode(claims.as_bytes())?)?;
    let kid = keys.pointer("/keys/0/kid").and_then(Value::as_str).map(str::to_owned);
    let header = jsonwebtoken::Header { kid, ..jsonwebtoken::Header::default() };
    let key = jsonwebtoken::EncodingKey::from_secret(modulus.as_bytes());
    Ok(jsonwebtoken::encode(&header, &claims, &key)?)
}
