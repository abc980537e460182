//! What is refused: certificates, files, addresses.

use super::identity::{Identity, https, pool};
use crate::support::*;
use bytes::Bytes;
use colored::io::AsyncReadExt;
use colored::net::TcpListener;
use colored_hyper::{serve, tls};
use http_body_util::Full;
use hyper::service::service_fn;
use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use tower_service::Service;

#[colored::test(workers = 2)]
async fn a_client_refuses_another_name_and_an_unknown_certificate() {
    let identity = Identity::new("name", &["example.org"]);
    let (log, config) = (Log::default(), identity.server());
    let errors = log.clone();
    let server = start(|listener| {
        let serve = serve(tls::Listener::new(listener, config), service_fn(echo));
        serve.on_error(move |error| errors.add(error))
    })
    .await;
    let refused = async |config| {
        let error = within(pool(config).get(https(&server))).await.unwrap_err();
        error.source().unwrap().to_string()
    };
    let start = format!("cannot connect to {}: the TLS handshake failed: ", server.addr);
    let error = refused(identity.client()).await;
    assert!(error.starts_with(&start) && error.contains("not valid for name"), "{error}");
    let other = Identity::new("other", &["127.0.0.1"]);
    let error = refused(other.client()).await;
    assert!(error.starts_with(&start) && error.contains("invalid peer certificate: "), "{error}");
    assert!(log.first().await.contains("the TLS handshake failed: received fatal alert"));
    server.end().await;
}

#[test]
fn files_that_cannot_be_used_are_named_with_what_is_expected() {
    let (one, two) = (Identity::new("one-file", &["a"]), Identity::new("two-file", &["a"]));
    one.write("empty.pem", "");
    one.write("broken.pem", "-----BEGIN CERTIFICATE-----\n???\n-----END CERTIFICATE-----\n");
    one.write("words.pem", "-----BEGIN CERTIFICATE-----\nd29yZHM=\n-----END CERTIFICATE-----\n");
    let error = |certificate: PathBuf, key: PathBuf| {
        let shown = certificate.display().to_string();
        let error = tls::server_config(certificate, &key).unwrap_err();
        (
            error.kind(),
            error
                .to_string()
                .replace(&shown, "CERTIFICATE")
                .replace(&*key.display().to_string(), "KEY"),
        )
    };
    let (certificate, key) = (one.file("certificate.pem"), one.file("key.pem"));
    let cases = [
        (one.file("none.pem"), key.clone(), "cannot read CERTIFICATE: "),
        (certificate.clone(), one.file("none.pem"), "cannot read KEY: "),
        (
            one.file("empty.pem"),
            key.clone(),
            "CERTIFICATE has no certificate, but nothing in PEM; ",
        ),
        (key.clone(), key.clone(), "CERTIFICATE has no certificate, but a private key; "),
        (
            certificate.clone(),
            certificate.clone(),
            "CERTIFICATE has no private key, but a certificate; ",
        ),
        (one.file("broken.pem"), key.clone(), "cannot use CERTIFICATE: "),
        (one.file("words.pem"), key, "cannot use CERTIFICATE: "),
        (
            certificate,
            two.file("key.pem"),
            "the key in KEY is not that of the first certificate in CERTIFICATE; ",
        ),
    ];
    for (certificate, key, expected) in cases {
        let (kind, text) = error(certificate, key);
        assert!(text.starts_with(expected) && text.contains("; expected "), "{text}");
        let missing = expected.starts_with("cannot read");
        let kinds = [io::ErrorKind::InvalidData, io::ErrorKind::NotFound];
        assert_eq!(kind, kinds[usize::from(missing)], "{text}");
    }
    let error = tls::client_config_trusting(one.file("key.pem")).unwrap_err().to_string();
    assert!(
        error.contains("key.pem has no certificate, but a private key; expected PEM "),
        "{error}"
    );
    let error = tls::server_config_from_pem("", "").unwrap_err().to_string();
    assert!(error.starts_with("the text of the certificates has no certificate, but "), "{error}");
}

#[colored::test(workers = 2)]
async fn a_client_says_which_addresses_it_takes() {
    let identity = Identity::new("scheme", &["a"]);
    let mut connector = tls::Connector::new(identity.client());
    let error = connector.call("ftp://a/".parse().unwrap()).await.unwrap_err().to_string();
    let expected = "cannot connect to ftp://a/: this connector speaks HTTP only, with TLS or without; \
                    expected https://HOST[:PORT]/... or http://HOST[:PORT]/...";
    assert_eq!(error, expected);
    // A server that accepts, and says nothing.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let mut connector = connector.connect_timeout(SHORT);
    let error =
        within(connector.call(format!("https://{addr}/").parse().unwrap())).await.unwrap_err();
    assert_eq!(error.to_string(), format!("cannot connect to {addr}: no answer in 100ms"));
}

#[colored::test(workers = 2)]
async fn what_ends_a_handshake_has_the_number_of_the_system() {
    let identity = Identity::new("reset", &["127.0.0.1"]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let mut connector = tls::Connector::new(identity.client());
    let connecting = colored::spawn(connector.call(format!("https://{addr}/").parse().unwrap()));
    let (mut stream, _) = within(listener.accept()).await.unwrap();
    let mut first = [0];
    within(stream.read_exact(&mut first)).await.unwrap();
    stream.set_zero_linger().unwrap();
    drop(stream);
    let error = within(connecting).await.unwrap().unwrap_err();
    let start = format!("cannot connect to {addr}: the TLS handshake failed: ");
    assert!(error.to_string().starts_with(&start), "{error}");
    assert!(number(&error).is_some(), "{error:?}");

    let none = "/no/such/certificate.pem";
    let error = tls::server_config(none, none).unwrap_err();
    assert_eq!(number(&error), std::fs::read(none).unwrap_err().raw_os_error());
}

/// The roots are those of the environment, so this test runs itself again in processes with another one.
#[colored::test(workers = 2)]
async fn a_client_trusts_the_roots_of_the_system() {
    const URI: &str = "COLORED_TEST_URI";
    const SELF: &str = "tls::refused::a_client_trusts_the_roots_of_the_system";
    if let Ok(uri) = std::env::var(URI) {
        match tls::client::<Full<Bytes>>() {
            Ok(client) => {
                let response = within(client.request(post(uri.parse().unwrap(), "trusted"))).await;
                assert_eq!(text(response.unwrap()).await, "trusted");
            }
            Err(error) => panic!("{error}"),
        }
        return;
    }
    let identity = Identity::new("system", &["127.0.0.1"]);
    let config = identity.server();
    let server = start(|listener| serve(tls::Listener::new(listener, config), service_fn(echo)));
    let server = server.await;
    let uri = https(&server).to_string();
    let run = async |roots: PathBuf| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([SELF, "--exact", "--nocapture"]).env_remove("SSL_CERT_DIR");
        command.env(URI, &uri).env("SSL_CERT_FILE", roots);
        let output = colored::spawn_blocking(move || command.output().unwrap());
        let output = within(output).await.unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), text)
    };
    let (trusted, text) = run(identity.file("certificate.pem")).await;
    assert!(trusted, "{text}");
    let (trusted, text) = run(identity.file("nothing.pem")).await;
    assert!(
        !trusted && text.contains("found no root certificate of the system; expected "),
        "{text}"
    );
    server.end().await;
}
