//! Streams in simulations.

use super::support::pair;
use colored::sim;
use colored_stackful::{spawn_unique, wait};
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::time::Duration;

async fn echo() {
    let client = spawn_unique(|| {
        let (mut client, mut server) = pair();
        client.set_read_timeout(Some(Duration::from_secs(100))).unwrap();
        let server = spawn_unique(move || {
            let mut buffer = [0; 64];
            loop {
                match server.read(&mut buffer).unwrap() {
                    0 => return,
                    n => server.write_all(&buffer[..n]).unwrap(),
                }
            }
        });
        for number in 0..5 {
            client.write_all(&[number; 100]).unwrap();
            let mut back = [0; 100];
            client.read_exact(&mut back).unwrap();
            assert_eq!(back, [number; 100]);
        }
        let error = client.read(&mut [0]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
        client.shutdown(Shutdown::Write).unwrap();
        assert_eq!(client.read(&mut [0]).unwrap(), 0);
        wait(server).unwrap();
    });
    client.await.unwrap();
}

/// The time-out of 100 s passes in simulated time.
#[test]
fn an_echo_is_right_under_every_schedule() {
    let report = sim::Builder::new().seeds(0..100).run(echo);
    if let Some(failure) = report.failure() {
        panic!("{failure}");
    }
}
