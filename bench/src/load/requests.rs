//! The bytes of requests, and checks of their responses.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use roundtable_test_client::{Connection, get, graphql};
use serde_json::{Value, json};

use super::PAGE;
use super::content::{Content, PROFILE_POSTS};
use super::server::ServerProcess;

/// A page with the fields that an app shows.
pub(super) const FEED: &str = "query Home { getFeed(first: 50) { pageInfo { hasNextPage endCursor } \
    edges { cursor node { activityId verb createdAt post { id content createdAt likeCount commentCount \
    shareCount author { id nickname profileImageUrl } } } } } }";
const THREAD: &str = "query Thread($id: ID!) { getPost(id: $id) { id content createdAt likeCount \
    commentCount shareCount viewerHasLiked author { id nickname profileImageUrl } comments(first: 50) { \
    pageInfo { hasNextPage endCursor } edges { cursor node { id content createdAt likesCount \
    repliesCount viewerHasLiked user { id nickname profileImageUrl } } } } } }";
const PROFILE: &str = "query Profile($id: ID!) { getUser(id: $id) { id nickname displayName bio \
    profileImageUrl followersCount followingCount postsCount viewerFollows posts(first: 20) { pageInfo { \
    hasNextPage endCursor } edges { cursor node { id content createdAt likeCount commentCount \
    shareCount viewerHasLiked } } } } }";
const CHAT: &str = "query Chat($id: ID!) { getRoom(id: $id) { id unreadCount messages(first: 50) { \
    pageInfo { hasNextPage endCursor } edges { cursor node { id text createdAt user { id nickname \
    profileImageUrl } } } } } }";
const LIKE: &str = "mutation Like($id: ID!) { likePost(postId: $id) { liked likeCount } }";
pub(super) const TYPENAME: &str = "{ __typename }";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// The first page of a home feed.
    Feed,
    /// A post with its first comments.
    Thread,
    /// A user with counts and the newest posts.
    Profile,
    /// The newest messages of a room.
    Chat,
    /// The health check: an empty handler.
    Healthz,
    /// The smallest GraphQL query.
    Typename,
    /// A mutation: the like of a post that the reader does not like yet.
    Like,
}

impl RequestKind {
    /// Reads come first, because processors continue for a while after writes.
    pub(super) const ALL: [Self; 7] = [
        Self::Feed,
        Self::Healthz,
        Self::Typename,
        Self::Thread,
        Self::Profile,
        Self::Chat,
        Self::Like,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Feed => "feed page",
            Self::Thread => "post",
            Self::Profile => "profile",
            Self::Chat => "chat",
            Self::Healthz => "healthz",
            Self::Typename => "typename",
            Self::Like => "likePost",
        }
    }

    /// Returns whether a body is a successful response, by a quick check: errors are at its end.
    pub(super) fn is_success(self, body: &[u8]) -> bool {
        let (begin, end): (&[u8], &[u8]) = match self {
            Self::Feed => (br#"{"data":{"getFeed":{"#, b"]}}}"),
            Self::Thread => (br#"{"data":{"getPost":{"#, b"]}}}}"),
            Self::Profile => (br#"{"data":{"getUser":{"#, b"]}}}}"),
            Self::Chat => (br#"{"data":{"getRoom":{"#, b"]}}}}"),
            Self::Like => (br#"{"data":{"likePost":{"liked":true,"#, b"}}}"),
            Self::Healthz => return body == b"ok\n",
            Self::Typename => return body == br#"{"data":{"__typename":"Query"}}"#,
        };
        body.starts_with(begin) && body.ends_with(end)
    }

    /// The list on the page, its length, and the picture of each of its items; `None` without a list.
    const fn shown(self) -> Option<(&'static str, usize, Option<&'static str>)> {
        let picture = Some("/node/user/profileImageUrl");
        match self {
            Self::Feed => {
                Some(("/data/getFeed/edges", PAGE, Some("/node/post/author/profileImageUrl")))
            }
            Self::Thread => Some(("/data/getPost/comments/edges", PAGE, picture)),
            Self::Profile => Some(("/data/getUser/posts/edges", PROFILE_POSTS, None)),
            Self::Chat => Some(("/data/getRoom/messages/edges", PAGE, picture)),
            Self::Like | Self::Healthz | Self::Typename => None,
        }
    }

    /// Checks a page in detail.
    fn check(self, body: &[u8]) -> Result<()> {
        ensure!(self.is_success(body), "{}: {}", self.name(), String::from_utf8_lossy(body));
        let Some((list, length, picture)) = self.shown() else { return Ok(()) };
        let response: Value = serde_json::from_slice(body)?;
        let items =
            response.pointer(list).and_then(Value::as_array).context("a page without list")?;
        ensure!(items.len() == length, "{}: a page of {} items", self.name(), items.len());
        let pictured = |item: &Value| {
            picture.is_none_or(|picture| item.pointer(picture).is_some_and(Value::is_string))
        };
        ensure!(items.iter().all(pictured), "{}: an item without picture", self.name());
        Ok(())
    }
}

#[derive(Debug)]
pub(super) struct Requests {
    /// Of each kind but `Like`, one for each reader.
    pages: Vec<(RequestKind, Vec<Vec<u8>>)>,
    address: SocketAddr,
    tokens: Vec<String>,
    likeable: Vec<String>,
    /// The number of likes so far: no like is repeated.
    liked: AtomicUsize,
    /// The median sizes of the bodies of pages.
    pub(super) sizes: Vec<(RequestKind, usize)>,
}

impl Requests {
    /// Creates the requests of a server's readers, and checks a response to each.
    pub(super) fn of(server: &ServerProcess, content: &Content) -> Result<Self> {
        let kinds = RequestKind::ALL.into_iter().filter(|kind| *kind != RequestKind::Like);
        let readers = server.tokens.iter().enumerate();
        let of_kind = |kind: RequestKind| {
            let requests = readers
                .clone()
                .map(|(reader, token)| request(server.address, token, kind, content, reader));
            Ok((kind, requests.collect::<Result<Vec<_>>>()?))
        };
        let mut requests = Self {
            pages: kinds.map(of_kind).collect::<Result<Vec<_>>>()?,
            address: server.address,
            tokens: server.tokens.clone(),
            likeable: content.likeable.clone(),
            liked: AtomicUsize::new(0),
            sizes: Vec::new(),
        };
        requests.check_all()?;
        Ok(requests)
    }

    pub(super) fn get(&self, kind: RequestKind, number: usize) -> Cow<'_, [u8]> {
        if kind == RequestKind::Like {
            return Cow::Owned(self.next_like());
        }
        let all = self.pages.iter().find(|(each, _)| *each == kind);
        let all = all.map_or(&[][..], |(_, requests)| requests);
        Cow::Borrowed(all.get(number % all.len().max(1)).map_or(&[], |request| request))
    }

    /// Returns whether every like so far was a new one.
    pub(super) fn likes_are_distinct(&self) -> bool {
        self.liked.load(Ordering::Relaxed) <= self.tokens.len() * self.likeable.len()
    }

    /// A like that no earlier request was for: all readers like a post, then the next one.
    fn next_like(&self) -> Vec<u8> {
        let number = self.liked.fetch_add(1, Ordering::Relaxed);
        let readers = self.tokens.len().max(1);
        let token = self.tokens.get(number % readers).map_or("", |token| token);
        let post = (number / readers) % self.likeable.len().max(1);
        let post = self.likeable.get(post).map_or("", |post| post);
        graphql(self.address, Some(token), LIKE, &json!({ "id": post }))
    }

    /// Checks every response once in detail, and notes the sizes.
    fn check_all(&mut self) -> Result<()> {
        let mut connection = Connection::open(self.address)?;
        for (kind, requests) in &self.pages {
            let mut sizes = Vec::with_capacity(requests.len());
            for request in requests {
                let body = connection.request(request)?;
                kind.check(body)?;
                sizes.push(body.len());
            }
            sizes.sort_unstable();
            self.sizes.push((*kind, sizes.get(sizes.len() / 2).copied().unwrap_or_default()));
        }
        RequestKind::Like.check(connection.request(&self.next_like())?)
    }
}

/// Returns the bytes of a reader's request.
fn request(
    address: SocketAddr,
    token: &str,
    kind: RequestKind,
    content: &Content,
    reader: usize,
) -> Result<Vec<u8>> {
    let id = |ids: &[String]| {
        let id = ids.get(reader % ids.len().max(1)).context("there is no content")?;
        anyhow::Ok(json!({ "id": id }))
    };
    let (document, variables) = match kind {
        RequestKind::Feed => (FEED, json!({})),
        RequestKind::Thread => (THREAD, id(&content.threads)?),
        RequestKind::Profile => (PROFILE, id(&content.profiles)?),
        RequestKind::Chat => (CHAT, id(&content.rooms)?),
        RequestKind::Like => (LIKE, id(&content.likeable)?),
        RequestKind::Typename => (TYPENAME, json!({})),
        RequestKind::Healthz => return Ok(get(address, "/healthz")),
    };
    Ok(graphql(address, Some(token), document, &variables))
}
