//! TLS from a certificate and a key in files.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::configuration::{ConfigurationError, TlsSettings};

pub(crate) fn acceptor(settings: &TlsSettings) -> Result<Option<TlsAcceptor>, ConfigurationError> {
    let (Some(certificate), Some(key)) = (&settings.certificate, &settings.key) else {
        return Ok(None);
    };
    let unreadable = |key: &'static str, path: &Path, reason: &dyn std::fmt::Display| {
        ConfigurationError::conflict(key, format!("{}: {reason}", path.display()))
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unreadable("http.tls.certificate", certificate, &error))?;
    let private = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| unreadable("http.tls.key", key, &error))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, private))
        .map_err(|error| ConfigurationError::conflict("http.tls", error.to_string()))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Some(TlsAcceptor::from(Arc::new(config))))
}
