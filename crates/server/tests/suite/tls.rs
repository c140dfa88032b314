//! TLS: clients that use it are answered, and no others.

use std::path::Path;
use std::sync::Arc;

use data_encoding::BASE64_MIME;
use roundtable_server::Server;
use roundtable_table::SystemClock;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::test_server::{TestServer, configuration};

fn pem(into: &Path, what: &str, bytes: &[u8]) {
    let text = BASE64_MIME.encode(bytes);
    let text = format!("-----BEGIN {what}-----\n{}-----END {what}-----\n", text.replace('\r', ""));
    std::fs::write(into, text).unwrap();
}

/// Writes a certificate for this machine and its key, as `http.tls` names them.
fn certificate(into: &Path) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed(vec![String::from("localhost")]).unwrap();
    pem(&into.join("server.crt"), "CERTIFICATE", made.cert.der());
    pem(&into.join("server.key"), "PRIVATE KEY", made.signing_key.serialized_der());
    made.cert.der().clone()
}

async fn encrypted(data: &Path) -> TestServer {
    let mut all = configuration(&data.join("store"));
    all.process.http.tls.certificate = Some(data.join("server.crt"));
    all.process.http.tls.key = Some(data.join("server.key"));
    TestServer::start(all, Arc::new(SystemClock)).await
}

fn client(trusted: Option<CertificateDer<'static>>, speaks: &[&[u8]]) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(trusted);
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = speaks.iter().map(|name| name.to_vec()).collect();
    TlsConnector::from(Arc::new(config))
}

async fn connected(server: &TestServer) -> TcpStream {
    TcpStream::connect(server.url.strip_prefix("https://").unwrap()).await.unwrap()
}

#[tokio::test]
async fn tls_clients_are_answered() {
    let data = tempfile::tempdir().unwrap();
    let trusted = certificate(data.path());
    let server = encrypted(data.path()).await;
    let name = ServerName::try_from("localhost").unwrap();
    let tls = client(Some(trusted.clone()), &[]);
    let mut stream = tls.connect(name.clone(), connected(&server).await).await.unwrap();
    let body = r#"{"query":"{ me { id } }"}"#;
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    assert!(response.ends_with(r#"{"data":{"me":null}}"#), "{response}");
    assert!(response.contains("strict-transport-security: max-age=31536000\r\n"), "{response}");

    let both = client(Some(trusted), &[b"h2", b"http/1.1"]);
    let stream = both.connect(name.clone(), connected(&server).await).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    drop(stream);
    let stranger = client(None, &[]).connect(name, connected(&server).await).await;
    assert!(stranger.is_err(), "a certificate that nobody vouches for");
    server.stop().await;
}

#[tokio::test]
async fn plain_text_is_refused() {
    let data = tempfile::tempdir().unwrap();
    certificate(data.path());
    let server = encrypted(data.path()).await;
    let mut plain = connected(&server).await;
    plain.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let mut response = Vec::new();
    let _ = plain.read_to_end(&mut response).await;
    let text = String::from_utf8_lossy(&response);
    assert!(!text.contains("HTTP/") && !text.contains("ok"), "{text}");
    server.stop().await;
}

#[tokio::test]
async fn invalid_certificate_files_are_named() {
    let data = tempfile::tempdir().unwrap();
    certificate(data.path());
    let mut all = configuration(&data.path().join("store"));
    all.process.http.tls.certificate = Some(data.path().join("server.crt"));
    all.process.http.tls.key = Some(data.path().join("nowhere.key"));
    let error = Server::open(all.clone()).await.unwrap_err().to_string();
    assert!(error.starts_with("http.tls.key: ") && error.contains("nowhere.key"), "{error}");
    // The key of another certificate.
    let other = rcgen::KeyPair::generate().unwrap();
    pem(&data.path().join("nowhere.key"), "PRIVATE KEY", other.serialized_der());
    let error = Server::open(all).await.unwrap_err().to_string();
    assert!(error.starts_with("http.tls: "), "{error}");
}

/// A server behind another program's TLS cannot know of it, and the header binds browsers for a year.
#[tokio::test]
async fn browsers_are_bound_to_https_only_where_that_is_wanted() {
    let data = tempfile::tempdir().unwrap();
    let trusted = certificate(data.path());
    let mut all = configuration(&data.path().join("store"));
    all.process.http.tls.certificate = Some(data.path().join("server.crt"));
    all.process.http.tls.key = Some(data.path().join("server.key"));
    all.process.http.tls.hsts_seconds = 0;
    let server = TestServer::start(all, Arc::new(SystemClock)).await;
    let name = ServerName::try_from("localhost").unwrap();
    let tls = client(Some(trusted), &[]);
    let mut stream = tls.connect(name, connected(&server).await).await.unwrap();
    let head = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(head).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 200") && !response.contains("strict-"), "{response}");
    server.stop().await;

    let plain = TestServer::fresh().await;
    let response = plain.get("/healthz").await;
    assert!(!response.headers().contains_key("strict-transport-security"));
    plain.stop().await;
}
