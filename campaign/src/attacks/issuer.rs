//! An issuer of identity tokens, whose keys the server fetches.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, anyhow};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

pub(super) const AUDIENCE: &str = "the-round-table";
const KEY_ID: &str = "one";
const TOKEN_SECONDS: u64 = 3_600;

/// Serves its configuration and its key until it is dropped.
pub(super) struct TokenIssuer {
    pub(super) url: String,
    address: SocketAddr,
    key: EncodingKey,
    /// Nobody trusts this one.
    other_key: EncodingKey,
    is_over: Arc<AtomicBool>,
}

impl TokenIssuer {
    pub(super) fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (url, key, other_key) = (format!("http://{address}"), new_key()?, new_key()?);
        let mut public = Jwk::from_encoding_key(&key, Algorithm::ES256)?;
        public.common.key_id = Some(KEY_ID.to_owned());
        let keys = json!({ "keys": [public] }).to_string();
        let discovery = json!({ "issuer": url, "jwks_uri": format!("{url}/keys") }).to_string();
        let is_over = Arc::<AtomicBool>::default();
        let stop = Arc::clone(&is_over);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                // The server asks again if it does not get an answer.
                let _ = answer(&stream, &discovery, &keys);
            }
        });
        Ok(Self { url, address, key, other_key, is_over })
    }

    /// Returns the claims of a person whose address this issuer has verified.
    pub(super) fn claims(&self, email: &str) -> Value {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        json!({
            "iss": self.url, "aud": AUDIENCE, "sub": email, "exp": now + TOKEN_SECONDS,
            "email": email, "email_verified": true,
        })
    }

    pub(super) fn sign(&self, claims: &Value) -> Result<String> {
        sign(&self.key, claims)
    }

    /// Returns a token about an address, signed with a key that claims to be the issuer's.
    pub(super) fn forge(&self, claims: &Value) -> Result<String> {
        sign(&self.other_key, claims)
    }
}

impl Drop for TokenIssuer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread, which sees that it is over.
        let _ = TcpStream::connect(self.address);
    }
}

fn new_key() -> Result<EncodingKey> {
    let random = SystemRandom::new();
    let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
    Ok(EncodingKey::from_ec_der(made.map_err(|_| anyhow!("no key was made"))?.as_ref()))
}

fn sign(key: &EncodingKey, claims: &Value) -> Result<String> {
    let header = Header { kid: Some(KEY_ID.to_owned()), ..Header::new(Algorithm::ES256) };
    jsonwebtoken::encode(&header, claims, key).context("signing a token")
}

fn answer(mut stream: &TcpStream, discovery: &str, keys: &str) -> Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().context("no request")??;
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let body = if first.contains("/.well-known/openid-configuration") { discovery } else { keys };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    );
    Ok(stream.write_all(head.as_bytes())?)
}
