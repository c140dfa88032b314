//! Checks that all servers show all readers the same.

use anyhow::{Context, Result, ensure};
use roundtable_test_client::Connection;
use serde_json::{Value, json};

use super::ComparedServer;
use crate::load::PAGE;
use crate::load::requests::RequestKind;
use crate::progress::log_step;

/// The parts of an entry that are equal on all servers. Cursors and signatures differ, and times have
/// different formats.
const EQUAL: [&str; 9] = [
    "/node/activityId",
    "/node/verb",
    "/node/post/id",
    "/node/post/content",
    "/node/post/likeCount",
    "/node/post/commentCount",
    "/node/post/shareCount",
    "/node/post/author/id",
    "/node/post/author/nickname",
];
/// The parts that are only present everywhere.
const PRESENT: [&str; 3] = ["/cursor", "/node/createdAt", "/node/post/createdAt"];

/// Compares every reader's page of the first server with that of the others.
pub(super) fn check(servers: &[ComparedServer]) -> Result<()> {
    log_step("comparing every reader's page");
    let (ours, peers) = servers.split_first().context("there are no servers")?;
    let ours = pages(ours)?;
    for peer in peers {
        for (ours, theirs) in ours.iter().zip(&pages(peer)?) {
            let differ = ours.iter().zip(theirs).find(|(ours, theirs)| ours != theirs);
            ensure!(ours == theirs, "{} differs from ours: {differ:?}", peer.name);
        }
    }
    Ok(())
}

/// Returns what each reader's page shows.
fn pages(server: &ComparedServer) -> Result<Vec<Vec<Value>>> {
    let mut connection = Connection::open(server.address)?;
    let pages = server.requests.iter().map(|request| {
        let body = connection.request(request).context(server.name)?;
        let text = String::from_utf8_lossy(body);
        ensure!(RequestKind::Feed.is_success(body), "{}: {text}", server.name);
        shown(&serde_json::from_slice(body)?).context(server.name)
    });
    pages.collect()
}

/// Returns the equal parts of all entries, and then whether another page follows.
fn shown(response: &Value) -> Result<Vec<Value>> {
    let feed = response.pointer("/data/getFeed").context("no feed")?;
    let edges = feed.pointer("/edges").and_then(Value::as_array).context("no entries")?;
    ensure!(edges.len() == PAGE, "a page of {} entries", edges.len());
    let more = part(feed, "/pageInfo/hasNextPage")?;
    part(feed, "/pageInfo/endCursor")?;
    let entries = edges.iter().map(entry);
    entries.chain([Ok(more.clone())]).collect()
}

fn entry(edge: &Value) -> Result<Value> {
    PRESENT.into_iter().try_for_each(|path| part(edge, path).map(|_| ()))?;
    let picture = part(edge, "/node/post/author/profileImageUrl")?.as_str().unwrap_or_default();
    let (picture, signature) = picture.split_once('?').context("a picture without signature")?;
    ensure!(signature.contains("signature="), "a picture without signature: {signature}");
    let key = picture.rsplit_once("/u/").map(|(_, key)| key);
    let parts = EQUAL.into_iter().map(|path| part(edge, path).cloned());
    Ok(json!([parts.collect::<Result<Vec<Value>>>()?, key]))
}

fn part<'a>(value: &'a Value, path: &str) -> Result<&'a Value> {
    let part = value.pointer(path).filter(|part| !part.is_null());
    part.with_context(|| format!("no {path} in {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(url: &str) -> Value {
        let author = json!({ "id": "u1", "nickname": "ana", "profileImageUrl": url });
        let post = json!({
            "id": "p1", "content": "hello", "createdAt": 5, "likeCount": 1, "commentCount": 2,
            "shareCount": 3, "author": author,
        });
        let node = json!({ "activityId": "a1", "verb": "post", "createdAt": 5, "post": post });
        json!({ "cursor": "c", "node": node })
    }

    #[test]
    fn signatures_may_differ_but_not_the_picture() {
        let of = |url| entry(&edge(url));
        let first = of("http://a/media/u/u1/me.jpg?expires=1&signature=x").unwrap();
        assert_eq!(of("http://b/media/u/u1/me.jpg?expires=2&signature=y").unwrap(), first);
        assert_ne!(of("http://b/media/u/u2/me.jpg?expires=2&signature=y").unwrap(), first);
        assert!(of("http://b/media/u/u1/me.jpg").is_err());
    }

    #[test]
    fn a_page_must_be_full_and_have_all_parts() {
        let page = |edges: Vec<Value>| {
            let info = json!({ "hasNextPage": true, "endCursor": "c" });
            shown(&json!({ "data": { "getFeed": { "pageInfo": info, "edges": edges } } }))
        };
        let full = edge("http://a/media/u/u1/me.jpg?signature=x");
        assert_eq!(page(vec![full.clone(); PAGE]).unwrap().len(), PAGE + 1);
        assert!(page(vec![full.clone(); PAGE - 1]).is_err());
        let mut without = full;
        without["node"]["post"]["likeCount"] = Value::Null;
        assert!(page(vec![without; PAGE]).is_err());
    }
}
