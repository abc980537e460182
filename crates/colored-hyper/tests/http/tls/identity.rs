//! Certificates, and clients that know them.

use super::Pool;
use crate::support::Server;
use colored_hyper::tls::{self, ClientConfig, ServerConfig};
use colored_hyper::{ColoredExecutor, client_builder};
use hyper::Uri;
use std::fs;
use std::path::PathBuf;

/// A certificate with its key, in files that are removed at the end.
pub(crate) struct Identity {
    folder: PathBuf,
}

impl Identity {
    /// For these names; `test` tells its files from those of other tests.
    pub(crate) fn new(test: &str, names: &[&str]) -> Identity {
        let folder = format!("colored-hyper-tls-{test}-{}", std::process::id());
        let identity = Identity { folder: std::env::temp_dir().join(folder) };
        fs::create_dir_all(&identity.folder).unwrap();
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        identity.write("certificate.pem", &made.cert.pem());
        identity.write("key.pem", &made.signing_key.serialize_pem());
        identity
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.file(name), text).unwrap();
    }

    pub(crate) fn server(&self) -> ServerConfig {
        tls::server_config(self.file("certificate.pem"), self.file("key.pem")).unwrap()
    }

    pub(crate) fn client(&self) -> ClientConfig {
        tls::client_config_trusting(self.file("certificate.pem")).unwrap()
    }
}

impl Drop for Identity {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

pub(crate) fn pool(config: ClientConfig) -> Pool {
    client_builder(ColoredExecutor::unique()).build(tls::Connector::new(config))
}

pub(crate) fn https(server: &Server) -> Uri {
    format!("https://{}/", server.addr).parse().unwrap()
}
