//! [`SelfSigned`]: a certificate for `localhost` that no authority has signed.

use crate::Failure;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::sync::Arc;

/// A certificate for `localhost`, made anew, and its key.
#[derive(Debug)]
pub struct SelfSigned {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl SelfSigned {
    /// A new certificate with a new key.
    ///
    /// # Errors
    ///
    /// When there is no randomness.
    pub fn new() -> Result<SelfSigned, Failure> {
        let made = rcgen::generate_simple_self_signed([String::from("localhost")])?;
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        Ok(SelfSigned { certificate: made.cert.der().clone(), key: key.into() })
    }

    /// TLS 1.3 for a server with this certificate, for clients that speak the protocol `alpn`.
    ///
    /// # Errors
    ///
    /// None is expected: rustls has made the key itself.
    pub fn server(&self, alpn: &str) -> Result<ServerConfig, Failure> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate.clone()], self.key.clone_key())?;
        config.alpn_protocols = vec![alpn.into()];
        Ok(config)
    }

    /// TLS 1.3 for a client that trusts this certificate alone, and speaks the protocol `alpn`.
    ///
    /// # Errors
    ///
    /// None is expected: rcgen has made the certificate.
    pub fn client(&self, alpn: &str) -> Result<ClientConfig, Failure> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone())?;
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![alpn.into()];
        Ok(config)
    }
}
