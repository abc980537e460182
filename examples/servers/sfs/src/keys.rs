//! Keys, and names that certify themselves: whoever has the hash of a key needs no authority to know its owner.

use ring::digest::{SHA256, digest};
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The SHA-256 hash of a public key, with its algorithm (SubjectPublicKeyInfo). Its text has 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyHash(pub [u8; 32]);

impl KeyHash {
    /// Of the key in a certificate.
    ///
    /// # Errors
    ///
    /// If the bytes are no certificate.
    pub fn of(certificate: &CertificateDer<'_>) -> Result<KeyHash, rustls::Error> {
        let certificate = rustls::server::ParsedCertificate::try_from(certificate)?;
        let hash = digest(&SHA256, &certificate.subject_public_key_info());
        Ok(KeyHash(hash.as_ref().try_into().expect("it has 32 bytes")))
    }
}

impl fmt::Display for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for KeyHash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits: Option<Vec<u8>> =
            text.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect();
        let bytes: Option<Vec<u8>> = digits
            .filter(|digits| digits.len() == 64)
            .map(|digits| digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect());
        let hash = bytes.and_then(|bytes| bytes.try_into().ok());
        hash.map(KeyHash).ok_or_else(|| {
            format!("the hash of a key has 64 hexadecimal digits, and is not {text:?}")
        })
    }
}

/// A key, with a certificate that it has signed itself.
#[derive(Clone, Debug)]
pub struct Identity {
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) key: Arc<PrivateKeyDer<'static>>,
    pem: String,
}

impl Identity {
    /// A new key, which is nowhere else.
    pub fn generate() -> Identity {
        let made =
            rcgen::generate_simple_self_signed([String::from("sfs")]).expect("the name is valid");
        let pem = made.signing_key.serialize_pem() + &made.cert.pem();
        Identity::from_pem(pem).expect("it was just made")
    }

    /// The key in a file, which is made if it does not exist. Only its owner may read the file. It has the key and the
    /// certificate in PEM, as stunnel and openssl take them. Blocks.
    ///
    /// # Errors
    ///
    /// The system's; `InvalidData` if the file has something else.
    pub fn load_or_make(path: impl AsRef<Path>) -> io::Result<Identity> {
        match fs::read_to_string(path.as_ref()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let identity = Identity::generate();
                identity.save(path)?;
                Ok(identity)
            }
            pem => Identity::from_pem(pem?),
        }
    }

    /// Writes key and certificate to a new file that only its owner may read. Blocks.
    ///
    /// # Errors
    ///
    /// The system's; `AlreadyExists`.
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(self.pem.as_bytes())?;
        file.sync_all()
    }

    /// The certificate in PEM, for others to pin.
    pub fn certificate_pem(&self) -> &str {
        &self.pem[self.pem.find("-----BEGIN CERTIFICATE").unwrap_or(0)..]
    }

    fn from_pem(pem: String) -> io::Result<Identity> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).map_err(invalid)?;
        let key = PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(invalid)?;
        Ok(Identity { certificate, key: Arc::new(key), pem })
    }

    /// The hash of the public key: the part of a self-certifying name that certifies.
    pub fn hash(&self) -> KeyHash {
        KeyHash::of(&self.certificate).expect("it was parsed before")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_same_after_it_was_saved() {
        let path = std::env::temp_dir().join(format!("sfs-key-{}", std::process::id()));
        let made = Identity::load_or_make(&path).unwrap();
        let loaded = Identity::load_or_make(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(made.hash(), loaded.hash());
        assert_ne!(made.hash(), Identity::generate().hash());
        assert_eq!(made.hash().to_string().parse(), Ok(made.hash()));
        for text in ["", "ab", &"g".repeat(64), &"a".repeat(65)] {
            assert!(text.parse::<KeyHash>().is_err());
        }
    }
}
