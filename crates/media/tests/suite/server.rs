//! An S3 server in this process, over HTTP, and a plain client.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{HeaderMap, Request, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use roundtable_domain::S3Settings;
use roundtable_model::Secret;
use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s::{S3Error, S3ErrorCode, S3Result};
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::net::TcpListener;

pub(crate) const BUCKET: &str = "files";

pub(crate) struct Server {
    pub(crate) settings: S3Settings,
    pub(crate) at: TempDir,
    /// The operation that nobody may do.
    pub(crate) denied: Arc<Mutex<Option<&'static str>>>,
}

/// Denies one operation to all, and all others to strangers.
struct Access(Arc<Mutex<Option<&'static str>>>);

#[async_trait]
impl S3Access for Access {
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        let is_denied = *self.0.lock().unwrap() == Some(context.s3_op().name());
        if is_denied || context.credentials().is_none() {
            return Err(S3Error::new(S3ErrorCode::AccessDenied));
        }
        Ok(())
    }
}

impl Server {
    pub(crate) async fn start() -> Self {
        let at = tempfile::tempdir().unwrap();
        std::fs::create_dir(at.path().join(BUCKET)).unwrap();
        let mut service = S3ServiceBuilder::new(FileSystem::new(at.path()).unwrap());
        service.set_auth(SimpleAuth::from_single("roundtable", "a secret of ours"));
        let denied = Arc::default();
        service.set_access(Access(Arc::clone(&denied)));
        let service = service.build();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let service = service.clone();
                tokio::spawn(async move {
                    let connections = Builder::new(TokioExecutor::new());
                    // A client may disconnect.
                    let _ = connections.serve_connection(TokioIo::new(socket), service).await;
                });
            }
        });
        let settings = S3Settings {
            bucket: BUCKET.into(),
            region: "eu-central-1".into(),
            endpoint: Some(format!("http://{address}")),
            access_key_id: Some("roundtable".into()),
            secret_access_key: Some(Secret::new("a secret of ours")),
        };
        Self { settings, at, denied }
    }
}

/// Sends a request with a URL and no credential.
pub(crate) async fn request(
    method: &str,
    url: &str,
    headers: &BTreeMap<String, String>,
    body: &[u8],
) -> (StatusCode, HeaderMap, Vec<u8>) {
    let client: Client<HttpConnector, Full<Bytes>> =
        Client::builder(TokioExecutor::new()).build_http();
    let mut request = Request::builder().method(method).uri(url);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let request = request.body(Full::new(Bytes::copy_from_slice(body))).unwrap();
    let (head, body) = client.request(request).await.unwrap().into_parts();
    (head.status, head.headers, body.collect().await.unwrap().to_bytes().to_vec())
}
