//! Configurations of rustls from files in PEM.

use super::handshake::explained;
use std::fmt::Display;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::{PemObject, SectionKind};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore, ServerConfig};

/// The configuration of a server with one certificate.
///
/// The file `certificates` has the certificate of the server, and after it those that lead to a root, if there are
/// any. The file `key` has the private key, in PKCS #8, PKCS #1 or SEC 1, without a password. Both are in PEM and may
/// be the same file. The function reads the files before it returns, on the calling thread.
///
/// # Errors
///
/// The errors of reading, and [`InvalidData`](ErrorKind::InvalidData) for content that cannot be used. The message names
/// the file and what is expected in it.
pub fn server_config(
    certificates: impl AsRef<Path>,
    key: impl AsRef<Path>,
) -> io::Result<ServerConfig> {
    let (certificates, key) = (certificates.as_ref(), key.as_ref());
    let texts = (read(certificates, CERTIFICATES)?, read(key, KEY)?);
    server((&certificates.display().to_string(), &texts.0), (&key.display().to_string(), &texts.1))
}

/// As [`server_config`], from the contents of the files.
///
/// # Errors
///
/// As [`server_config`]; the message calls the texts "the certificates" and "the key".
pub fn server_config_from_pem(
    certificates: impl AsRef<[u8]>,
    key: impl AsRef<[u8]>,
) -> io::Result<ServerConfig> {
    server(
        ("the text of the certificates", certificates.as_ref()),
        ("the text of the key", key.as_ref()),
    )
}

/// The configuration of a client that trusts the roots of the system, as its other programs do. The environment
/// variables `SSL_CERT_FILE` and `SSL_CERT_DIR` name others.
///
/// The function reads some hundred certificates before it returns, on the calling thread. That takes milliseconds:
/// make one configuration, and share it.
///
/// # Errors
///
/// If the system has no root that can be used. Roots that cannot be read are left out.
pub fn client_config() -> io::Result<ClientConfig> {
    let loaded = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(loaded.certs);
    if added == 0 {
        let mut text = String::from(
            "found no root certificate of the system; expected some where the system keeps them, or in the file that \
             the environment variable SSL_CERT_FILE names",
        );
        loaded.errors.iter().for_each(|error| text.push_str(&format!("; {error}")));
        return Err(io::Error::new(ErrorKind::NotFound, text));
    }
    client(roots)
}

/// The configuration of a client that trusts only the certificates in a PEM file, such as the root of a company, or
/// the own certificate of a server.
///
/// # Errors
///
/// As [`server_config`].
pub fn client_config_trusting(certificates: impl AsRef<Path>) -> io::Result<ClientConfig> {
    let path = certificates.as_ref();
    let name = path.display().to_string();
    let mut roots = RootCertStore::empty();
    for certificate in certificates_in(&name, &read(path, CERTIFICATES)?)? {
        roots.add(certificate).map_err(|error| unusable(&name, &error, CERTIFICATES))?;
    }
    client(roots)
}

const CERTIFICATES: &str = "PEM with at least one section BEGIN CERTIFICATE";
const KEY: &str = "PEM with a section BEGIN PRIVATE KEY, BEGIN RSA PRIVATE KEY or BEGIN EC PRIVATE KEY, without a \
                   password";

/// A text, and what error messages call it.
type Named<'a> = (&'a str, &'a [u8]);

fn server(certificates: Named<'_>, key: Named<'_>) -> io::Result<ServerConfig> {
    let chain = certificates_in(certificates.0, certificates.1)?;
    let private = key_in(key.0, key.1)?;
    let config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth();
    config.with_single_cert(chain, private).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => {
            let text = format!(
                "the key in {} is not that of the first certificate in {}; expected the certificate of the server \
                 first, and its key",
                key.0, certificates.0
            );
            io::Error::new(ErrorKind::InvalidData, text)
        }
        rustls::Error::InvalidCertificate(_) => unusable(certificates.0, &error, CERTIFICATES),
        _ => unusable(key.0, &error, KEY),
    })
}

fn client(roots: RootCertStore) -> io::Result<ClientConfig> {
    let config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// Named, so that it does not matter which one the process has by default.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn read(path: &Path, expected: &str) -> io::Result<Vec<u8>> {
    fs::read(path).map_err(|error| {
        let text = format!("cannot read {}: {error}; expected {expected}", path.display());
        explained(text, error)
    })
}

fn certificates_in(name: &str, text: &[u8]) -> io::Result<Vec<CertificateDer<'static>>> {
    let sections = sections(name, text, CERTIFICATES)?;
    let found = kinds(&sections);
    let of = |(kind, der)| CertificateDer::from_pem(kind, der);
    let certificates: Vec<_> = sections.into_iter().filter_map(of).collect();
    match certificates.is_empty() {
        true => Err(missing(name, "certificate", &found, CERTIFICATES)),
        false => Ok(certificates),
    }
}

fn key_in(name: &str, text: &[u8]) -> io::Result<PrivateKeyDer<'static>> {
    let sections = sections(name, text, KEY)?;
    let found = kinds(&sections);
    let mut keys =
        sections.into_iter().filter_map(|(kind, der)| PrivateKeyDer::from_pem(kind, der));
    keys.next().ok_or_else(|| missing(name, "private key", &found, KEY))
}

/// The sections of a text whose kinds are known.
fn sections(name: &str, text: &[u8], expected: &str) -> io::Result<Vec<(SectionKind, Vec<u8>)>> {
    let sections: Result<_, _> = <(SectionKind, Vec<u8>)>::pem_slice_iter(text).collect();
    sections.map_err(|error| unusable(name, &error, expected))
}

/// What error messages say of these.
fn kinds(sections: &[(SectionKind, Vec<u8>)]) -> String {
    let name = |(kind, _): &(SectionKind, _)| match kind {
        SectionKind::Certificate => "a certificate",
        SectionKind::PrivateKey | SectionKind::RsaPrivateKey | SectionKind::EcPrivateKey => {
            "a private key"
        }
        _ => "a section of another kind",
    };
    let names: Vec<_> = sections.iter().map(name).collect();
    if names.is_empty() { "nothing in PEM".into() } else { names.join(", ") }
}

fn missing(name: &str, what: &str, found: &str, expected: &str) -> io::Error {
    let text = format!("{name} has no {what}, but {found}; expected {expected}");
    io::Error::new(ErrorKind::InvalidData, text)
}

fn unusable(name: &str, error: &dyn Display, expected: &str) -> io::Error {
    let text = format!("cannot use {name}: {error}; expected {expected}");
    io::Error::new(ErrorKind::InvalidData, text)
}
