//! The API, without TLS and with it.

use crate::support::{Running, addr_after, error, get, send};
use colored::Runtime;
use colored_hyper::{ColoredExecutor, client_builder, tls};
use http_body_util::{BodyExt, Empty};
use std::net::SocketAddr;
use std::thread;

fn start(options: &str) -> (Running, SocketAddr) {
    let running = Running::start("axum-app", &format!("--addr 127.0.0.1:0 {options}"));
    let addr = addr_after(&running.line(), "listening on ");
    (running, addr)
}

/// The status and the body of the answer.
fn transfer(addr: SocketAddr, body: &str) -> (String, String) {
    let request = format!(
        "POST /transfers HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let (head, body) = send(addr, &request);
    (head["HTTP/1.1 ".len()..][..3].to_owned(), body)
}

#[test]
fn coins_move_and_none_is_lost() {
    let (running, addr) = start("");
    let clients = (0..4).map(|client| {
        thread::spawn(move || {
            for n in 0..50 {
                let (from, to) = (client * 100 + n, (client * 7 + n) % 10);
                let (status, body) =
                    transfer(addr, &format!(r#"{{"from": {from}, "to": {to}, "coins": 3}}"#));
                assert_eq!(status, "200", "{body}");
            }
        })
    });
    clients.collect::<Vec<_>>().into_iter().for_each(|client| client.join().unwrap());
    assert_eq!(get(addr, "/total").1, r#"{"coins":100000}"#);
    assert_eq!(get(addr, "/accounts/101").1, r#"{"account":101,"coins":97}"#);

    let answer = transfer(addr, r#"{"from": 998, "to": 999, "coins": 10}"#);
    let accounts = r#"[{"account":998,"coins":90},{"account":999,"coins":110}]"#;
    assert_eq!(answer, ("200".into(), accounts.into()));
    let same = r#"[{"account":998,"coins":90},{"account":998,"coins":90}]"#;
    assert_eq!(transfer(addr, r#"{"from": 998, "to": 998, "coins": 90}"#).1, same);
    let few = r#"{"error":"the account has only 90 coins"}"#;
    assert_eq!(
        transfer(addr, r#"{"from": 998, "to": 999, "coins": 91}"#),
        ("409".into(), few.into())
    );
    let none = r#"{"error":"there is no account 1000; expected 0 to 999"}"#;
    assert_eq!(
        transfer(addr, r#"{"from": 1000, "to": 999, "coins": 1}"#),
        ("404".into(), none.into())
    );
    assert_eq!(get(addr, "/accounts/1000").1, none);
    assert_eq!(transfer(addr, "{").0, "400");
    #[cfg(unix)]
    assert_eq!(running.stop(), ["stopped: the accounts hold 100000 coins"]);
    #[cfg(not(unix))]
    drop(running);
}

#[test]
fn it_speaks_tls_with_a_certificate_of_its_own() {
    let file = std::env::temp_dir().join(format!("axum-app-{}.pem", std::process::id()));
    let (_running, addr) = start(&format!("--tls {}", file.display()));
    let config = tls::client_config_trusting(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let total = Runtime::builder().workers(1).build().unwrap().block_on(async {
        let connector = tls::Connector::new(config);
        let client = client_builder(ColoredExecutor::here()).build::<_, Empty<&[u8]>>(connector);
        let uri = format!("https://localhost:{}/total", addr.port()).parse().unwrap();
        let answer = client.get(uri).await.unwrap();
        answer.into_body().collect().await.unwrap().to_bytes()
    });
    assert_eq!(total, r#"{"coins":100000}"#);
}

#[test]
fn it_says_what_it_cannot_write() {
    let text = error("axum-app", "--addr 127.0.0.1:0 --tls /nowhere/at/all");
    assert!(text.starts_with("Error: cannot write /nowhere/at/all: "), "{text}");
}
