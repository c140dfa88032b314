//! What attackers find: a town with a reader and a writer, an admin, and the ways to ask its server.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use parking_lot::Mutex;
use rand::rngs::StdRng;
use roundtable_test_client::{Connection, connect_from, get, graphql};
use serde_json::{Value, json};

use super::answer::AttackAnswer;
use super::attacked_server::AttackedServer;
use super::issuer::TokenIssuer;
use super::size::AttackSize;

/// The addresses of attackers. Each is a network of its own.
pub(super) const STRANGERS: [IpAddr; 4] = [loopback(2), loopback(3), loopback(4), loopback(5)];
/// The address of the users whom an attack must not disturb.
pub(super) const READER: IpAddr = loopback(9);
/// The address of the operator, who is anonymous to the server.
pub(super) const OPERATOR: IpAddr = loopback(10);
pub(super) const PASSWORD: &str = "correct horse battery staple";
/// The time in which any single request is answered.
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The entries of a page of the feed.
const PAGE: usize = 50;
/// Posts as long as they may be, for long answers.
const LONG_POSTS: usize = 20;
const LONG_CHARS: usize = 10_000;
const FEED: &str = "query Home { getFeed(first: 50) { pageInfo { hasNextPage endCursor } edges { cursor \
    node { activityId verb createdAt post { id content createdAt likeCount commentCount shareCount \
    author { id nickname profileImageUrl } } } } } }";
const REGISTER: &str = "mutation ($input: RegisterInput!) { register(input: $input) { accessToken \
    refreshToken deviceToken user { id nickname } } }";
const LOGIN: &str = "mutation ($email: AWSEmail!, $password: String!, $device: String) { \
    login(email: $email, password: $password, deviceToken: $device) { accessToken refreshToken \
    deviceToken } }";
pub(super) const CREATE_POST: &str =
    "mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }";

const fn loopback(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(127, 0, 0, last))
}

/// A user with a session.
#[derive(Clone, Debug, Default)]
pub(super) struct AttackAccount {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) email: String,
    pub(super) token: String,
    pub(super) refresh: String,
    pub(super) device: String,
}

pub(super) struct AttackScene<'a> {
    pub(super) server: &'a AttackedServer,
    pub(super) size: &'a AttackSize,
    pub(super) issuer: &'a TokenIssuer,
    pub(super) random: Mutex<StdRng>,
    names: AtomicUsize,
    /// Signed in for as long as the scene lives, and follows the writer.
    pub(super) reader: AttackAccount,
    /// The author of short posts, and of the longest.
    pub(super) writer: AttackAccount,
    pub(super) admin: AttackAccount,
}

impl<'a> AttackScene<'a> {
    /// Creates the accounts and the posts of the reader's feed.
    pub(super) fn set(
        server: &'a AttackedServer,
        size: &'a AttackSize,
        issuer: &'a TokenIssuer,
        random: StdRng,
    ) -> Result<Self> {
        let (names, random) = (AtomicUsize::new(0), Mutex::new(random));
        let nobody = AttackAccount::default();
        let (reader, writer, admin) = (nobody.clone(), nobody.clone(), nobody);
        let mut scene = Self { server, size, issuer, random, names, reader, writer, admin };
        scene.reader = scene.sign_up(READER, "reader")?;
        scene.writer = scene.sign_up(READER, "writer")?;
        let admin = scene.sign_up(READER, "chief")?;
        server.admin(&["grant", &admin.name, "admin"])?;
        // A role comes with the next token.
        let login = scene.login(READER, &admin.email, PASSWORD, None)?;
        scene.admin = AttackAccount { token: login.text("/data/login/accessToken")?, ..admin };
        let follow = "mutation ($id: ID!) { followUser(followeeId: $id) { status } }";
        let followee = json!({ "id": scene.writer.id });
        scene
            .ask(READER, Some(&scene.reader.token), follow, &followee)?
            .require_success("follow")?;
        for number in 0..LONG_POSTS {
            scene.post(&scene.writer.token, &long_text(number), "public")?;
        }
        for number in 0..PAGE {
            scene.post(&scene.writer.token, &format!("Note {number} of the writer"), "public")?;
        }
        scene.until("the feed is full", || scene.page().map(|page| page.len() == PAGE))?;
        Ok(scene)
    }

    /// Creates an account with a name of its own.
    pub(super) fn sign_up(&self, from: IpAddr, prefix: &str) -> Result<AttackAccount> {
        let name = self.new_name(prefix);
        let email = format!("{name}@example.org");
        let answer = self.register(from, &name, &email, None)?;
        answer.require_success("signing up")?;
        let text = |field: &str| answer.text(&format!("/data/register/{field}"));
        Ok(AttackAccount {
            id: text("user/id")?,
            token: text("accessToken")?,
            refresh: text("refreshToken")?,
            device: text("deviceToken")?,
            name,
            email,
        })
    }

    pub(super) fn new_name(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.names.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn register(
        &self,
        from: IpAddr,
        name: &str,
        email: &str,
        identity: Option<&str>,
    ) -> Result<AttackAnswer> {
        let input = json!({ "nickname": name, "email": email, "password": PASSWORD,
            "identityToken": identity });
        self.ask(from, None, REGISTER, &json!({ "input": input }))
    }

    pub(super) fn login(
        &self,
        from: IpAddr,
        email: &str,
        password: &str,
        device: Option<&str>,
    ) -> Result<AttackAnswer> {
        let variables = json!({ "email": email, "password": password, "device": device });
        self.ask(from, None, LOGIN, &variables)
    }

    /// Creates an API key of an account, and returns its secret.
    pub(super) fn create_key(&self, account: &AttackAccount, scopes: &[&str]) -> Result<String> {
        let query = "mutation ($scopes: [String!]!, $password: String) { createApiKey(name: \"robot\", \
            scopes: $scopes, password: $password) { secret } }";
        let variables = json!({ "scopes": scopes, "password": PASSWORD });
        let answer = self.ask(READER, Some(&account.token), query, &variables)?;
        answer.text("/data/createApiKey/secret")
    }

    pub(super) fn post(&self, token: &str, content: &str, visibility: &str) -> Result<String> {
        let input = json!({ "content": content, "contentType": "text", "visibility": visibility });
        let answer = self.ask(READER, Some(token), CREATE_POST, &json!({ "input": input }))?;
        answer.text("/data/createPost/id")
    }

    /// Returns the nickname that a credential stands for.
    pub(super) fn me(&self, from: IpAddr, credential: &str) -> Result<AttackAnswer> {
        self.ask(from, Some(credential), "{ me { nickname } }", &json!({}))
    }

    /// Sends one request on a connection of its own.
    pub(super) fn ask(
        &self,
        from: IpAddr,
        token: Option<&str>,
        query: &str,
        variables: &Value,
    ) -> Result<AttackAnswer> {
        let request = graphql(self.server.address, token, query, variables);
        let mut connection = Connection::open_from(from, self.server.address, TIMEOUT)?;
        let (status, body) = connection.exchange(&request)?;
        Ok(AttackAnswer::new(status, body))
    }

    pub(super) fn connect(&self, from: IpAddr) -> Result<TcpStream> {
        let stream = connect_from(from, self.server.address)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        Ok(stream)
    }

    /// Sends bytes on a connection of their own, and returns all that the server sends until it hangs up.
    pub(super) fn send_raw(&self, from: IpAddr, request: &[u8]) -> Result<String> {
        let mut stream = self.connect(from)?;
        stream.write_all(request)?;
        Ok(read_to_end(&mut stream))
    }

    /// Returns the sum of a metric over its labels, or of the samples that begin like this.
    pub(super) fn metric(&self, begin: &str) -> Result<f64> {
        let request = get(self.server.address, "/metrics");
        let mut connection = Connection::open_from(OPERATOR, self.server.address, TIMEOUT)?;
        let page = String::from_utf8(connection.request(&request)?.to_vec())?;
        let sample = |line: &str| -> Option<f64> {
            let rest = line.strip_prefix(begin)?;
            let is_whole = begin.ends_with('}') || rest.starts_with([' ', '{']);
            rest.rsplit(' ').next().filter(|_| is_whole)?.parse().ok()
        };
        Ok(page.lines().filter_map(sample).sum())
    }

    /// Returns the reader's page of the feed.
    pub(super) fn page(&self) -> Result<Vec<Value>> {
        let answer = self.ask(READER, Some(&self.reader.token), FEED, &json!({}))?;
        answer.require_success("the reader's page")?;
        Ok(answer.at("/data/getFeed/edges").as_array().cloned().unwrap_or_default())
    }

    /// Returns the bytes of the reader's request for a page.
    pub(super) fn page_request(&self) -> Vec<u8> {
        graphql(self.server.address, Some(&self.reader.token), FEED, &json!({}))
    }

    /// Waits until something holds, which takes a moment.
    pub(super) fn until(&self, what: &str, mut holds: impl FnMut() -> Result<bool>) -> Result<()> {
        let deadline = Instant::now() + TIMEOUT;
        while !holds().with_context(|| what.to_owned())? {
            ensure!(self.server.is_running(), "the server has ended");
            ensure!(Instant::now() < deadline, "not within {TIMEOUT:?}: {what}");
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }
}

/// Reads until the other side hangs up or the time is over. A reset ends it as well: the server need not read
/// all that was sent.
pub(super) fn read_to_end(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    let mut buffer = [0; 16 << 10];
    while let Ok(bytes @ 1..) = stream.read(&mut buffer) {
        all.extend_from_slice(buffer.get(..bytes).unwrap_or_default());
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// Returns the longest text that a post may have.
fn long_text(number: usize) -> String {
    let text = format!("{number}: the story of the run, from the very beginning. ");
    text.chars().cycle().take(LONG_CHARS).collect()
}
