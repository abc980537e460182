//! TLS 1.3 by ChaCha20-Poly1305 in Rust without instructions of some processor: the library `orion`, which has no others. A
//! percentage above 100 makes it as slow as an older cipher: it encrypts a message several times, and sends the last result.

use orion::hazardous::aead::chacha20poly1305::{self, SecretKey};
use std::sync::Arc;
use tokio_rustls::rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, MessageDecrypter, MessageEncrypter,
    Nonce, OutboundOpaqueMessage, OutboundPlainMessage, PrefixedPayload, Tls13AeadAlgorithm,
    UnsupportedOperationError, make_tls13_aad,
};
use tokio_rustls::rustls::crypto::{CipherSuiteCommon, CryptoProvider, ring};
use tokio_rustls::rustls::{
    ConnectionTrafficSecrets, ContentType, Error, ProtocolVersion, SupportedCipherSuite,
    Tls13CipherSuite,
};

/// The bytes of a key.
const KEY: usize = 32;

/// The bytes that authenticate a message.
const TAG: usize = 16;

/// The cryptography of `ring`, with this cipher alone, which does so many hundredths of its work for each message it sends.
pub(crate) fn provider(percent: usize) -> Arc<CryptoProvider> {
    let ring = ring::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256.tls13();
    let ring = ring.expect("it is of TLS 1.3");
    let CipherSuiteCommon { suite, hash_provider, confidentiality_limit } = ring.common;
    // Suites live as long as the program: one for each server.
    let suite = Box::leak(Box::new(Tls13CipherSuite {
        common: CipherSuiteCommon { suite, hash_provider, confidentiality_limit },
        hkdf_provider: ring.hkdf_provider,
        aead_alg: Box::leak(Box::new(Software { percent })),
        quic: None,
    }));
    let cipher_suites = vec![SupportedCipherSuite::Tls13(suite)];
    Arc::new(CryptoProvider { cipher_suites, ..ring::default_provider() })
}

struct Software {
    percent: usize,
}

impl Tls13AeadAlgorithm for Software {
    fn encrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageEncrypter> {
        Box::new(Cipher::new(&key, iv, self.percent))
    }

    fn decrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageDecrypter> {
        Box::new(Cipher::new(&key, iv, 100))
    }

    fn key_len(&self) -> usize {
        KEY
    }

    fn extract_keys(
        &self,
        key: AeadKey,
        iv: Iv,
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        Ok(ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv })
    }
}

/// One direction of a connection.
struct Cipher {
    key: SecretKey,
    iv: Iv,
    percent: usize,
}

impl Cipher {
    fn new(key: &AeadKey, iv: Iv, percent: usize) -> Cipher {
        let key = SecretKey::from_slice(key.as_ref()).expect("it has the length of a key");
        Cipher { key, iv, percent }
    }

    fn nonce(&self, message: u64) -> chacha20poly1305::Nonce {
        chacha20poly1305::Nonce::from(Nonce::new(&self.iv, message).0)
    }
}

/// Of how many hundredths of a message each pass is. The last one is of the whole message.
fn passes(percent: usize) -> impl Iterator<Item = usize> {
    let whole = (percent / 100).max(1);
    std::iter::once(percent % 100).chain(std::iter::repeat_n(100, whole))
}

impl MessageEncrypter for Cipher {
    fn encrypt(
        &mut self,
        message: OutboundPlainMessage<'_>,
        number: u64,
    ) -> Result<OutboundOpaqueMessage, Error> {
        let len = self.encrypted_payload_len(message.payload.len());
        let mut plain = message.payload.to_vec();
        plain.extend_from_slice(&message.typ.to_array());
        let mut sealed = vec![0; len];
        let (nonce, aad) = (self.nonce(number), make_tls13_aad(len));
        for percent in passes(self.percent) {
            let part = &plain[..plain.len() * percent / 100];
            chacha20poly1305::seal(&self.key, &nonce, part, Some(&aad), &mut sealed)
                .map_err(|_| Error::EncryptError)?;
        }
        let payload = PrefixedPayload::from(&sealed[..]);
        let (kind, version) = (ContentType::ApplicationData, ProtocolVersion::TLSv1_2);
        Ok(OutboundOpaqueMessage::new(kind, version, payload))
    }

    fn encrypted_payload_len(&self, payload_len: usize) -> usize {
        payload_len + 1 + TAG
    }
}

impl MessageDecrypter for Cipher {
    fn decrypt<'a>(
        &mut self,
        mut message: InboundOpaqueMessage<'a>,
        number: u64,
    ) -> Result<InboundPlainMessage<'a>, Error> {
        let sealed = &mut message.payload;
        let len = sealed.len().checked_sub(TAG).ok_or(Error::DecryptError)?;
        let mut plain = vec![0; len];
        let (nonce, aad) = (self.nonce(number), make_tls13_aad(sealed.len()));
        chacha20poly1305::open(&self.key, &nonce, sealed, Some(&aad), &mut plain)
            .map_err(|_| Error::DecryptError)?;
        sealed[..len].copy_from_slice(&plain);
        sealed.truncate(len);
        message.into_tls13_unpadded_message()
    }
}
