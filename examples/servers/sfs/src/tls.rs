//! TLS 1.3 between keys that know each other by their hashes.

use crate::keys::{Identity, KeyHash};
use crate::users::UserMap;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error, ServerConfig,
    SignatureScheme,
};
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// Which clients a server takes, by the hashes of their keys, and which users theirs are.
#[derive(Clone, Debug, Default)]
pub struct Clients {
    known: BTreeMap<KeyHash, Arc<UserMap>>,
    others: Option<Arc<UserMap>>,
}

impl Clients {
    /// These clients only.
    pub fn known(clients: impl IntoIterator<Item = (KeyHash, UserMap)>) -> Clients {
        let known = clients.into_iter().map(|(key, users)| (key, Arc::new(users))).collect();
        Clients { known, others: None }
    }

    /// Other clients are taken too, with this map of users.
    #[must_use]
    pub fn and_others(mut self, users: UserMap) -> Clients {
        self.others = Some(Arc::new(users));
        self
    }

    pub(crate) fn users(&self, key: KeyHash) -> Option<Arc<UserMap>> {
        self.known.get(&key).or(self.others.as_ref()).cloned()
    }
}

/// The cryptography of `ring`.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// The server's side: it has this key, and takes these clients.
pub(crate) fn acceptor(
    provider: Arc<CryptoProvider>,
    identity: &Identity,
    clients: Arc<Clients>,
) -> TlsAcceptor {
    let verifier = Arc::new(KnownClients { clients, provider: Arc::clone(&provider) });
    let builder = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .expect("the provider has version 1.3");
    let config = builder
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![identity.certificate.clone()], identity.key.clone_key())
        .expect("the key is of the certificate");
    TlsAcceptor::from(Arc::new(config))
}

/// The client's side: it has this key, and the server has the key with this hash.
pub(crate) fn connector(identity: &Identity, server: KeyHash) -> TlsConnector {
    let provider = provider();
    let verifier = Arc::new(OneServer { server, provider: Arc::clone(&provider) });
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .expect("the provider has version 1.3");
    let config = builder
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_client_auth_cert(vec![identity.certificate.clone()], identity.key.clone_key())
        .expect("the key is of the certificate");
    TlsConnector::from(Arc::new(config))
}

/// The name that a client gives in the handshake; the hash alone certifies.
pub(crate) fn server_name() -> ServerName<'static> {
    ServerName::try_from("sfs").expect("it is a valid name")
}

#[derive(Debug)]
struct OneServer {
    server: KeyHash,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for OneServer {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match KeyHash::of(certificate)? == self.server {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(refused()),
        }
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(refused())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[derive(Debug)]
struct KnownClients {
    clients: Arc<Clients>,
    provider: Arc<CryptoProvider>,
}

impl ClientCertVerifier for KnownClients {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        match self.clients.users(KeyHash::of(certificate)?) {
            Some(_) => Ok(ClientCertVerified::assertion()),
            None => Err(refused()),
        }
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(refused())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

fn refused() -> Error {
    Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure)
}
