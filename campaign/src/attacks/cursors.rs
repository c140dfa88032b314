//! Changed and foreign cursors.

use anyhow::{Result, ensure};
use rand::Rng as _;
use serde_json::{Value, json};

use super::AttackCase;
use super::answer::AttackAnswer;
use super::scene::{AttackScene, STRANGERS};

pub(super) const CASES: &[AttackCase] = &[AttackCase {
    name: "changed-cursor",
    expected: "a cursor continues its own list for its own viewer, and nothing else",
    run: change_cursors,
}];

fn change_cursors(scene: &AttackScene<'_>) -> Result<String> {
    let mallory = scene.sign_up(STRANGERS[2], "mallory")?;
    let page = |token: &str, list: &str, after: Value| -> Result<AttackAnswer> {
        let query =
            format!("query ($after: String) {{ {list}(first: 1, after: $after) {{ nextToken }} }}");
        scene.ask(STRANGERS[2], Some(token), &query, &json!({ "after": after }))
    };
    let own = page(&mallory.token, "listGlobalFeed", Value::Null)?;
    let cursor = own.text("/data/listGlobalFeed/nextToken")?;
    page(&mallory.token, "listGlobalFeed", json!(cursor))?.require_success("the cursor itself")?;
    page(&mallory.token, "getFeed", json!(cursor))?
        .require_refusal("of another list", &["BAD_REQUEST"])?;
    let reader = page(&scene.reader.token, "listGlobalFeed", Value::Null)?;
    let readers = json!(reader.text("/data/listGlobalFeed/nextToken")?);
    page(&mallory.token, "listGlobalFeed", readers)?
        .require_refusal("of another", &["BAD_REQUEST"])?;
    let mut tried = 0;
    for forged in forgeries(scene, &cursor) {
        let answer = page(&mallory.token, "listGlobalFeed", json!(forged))?;
        answer.require_refusal(&format!("the cursor {forged:?}"), &["BAD_REQUEST"])?;
        tried += 1;
    }
    ensure!(tried > 0, "no cursor was forged");
    Ok(format!("{tried} changed cursors were refused"))
}

/// Returns changed cursors. The last letter is left out: some of its bits may mean nothing.
fn forgeries(scene: &AttackScene<'_>, cursor: &str) -> Vec<String> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let bytes = cursor.as_bytes();
    let mut all =
        vec![String::new(), String::from("nonsense"), cursor.repeat(2), cursor.repeat(100)];
    let mut random = scene.random.lock();
    while all.len() < scene.size.forgeries {
        let at = random.random_range(0..bytes.len().saturating_sub(1).max(1));
        let letter = LETTERS.get(random.random_range(0..LETTERS.len())).copied().unwrap_or(b'A');
        let mut changed = bytes.to_vec();
        if let Some(byte) = changed.get_mut(at) {
            *byte = letter;
        }
        if changed != bytes {
            all.push(String::from_utf8_lossy(&changed).into_owned());
        }
        all.push(cursor.chars().take(at).collect());
    }
    all
}
