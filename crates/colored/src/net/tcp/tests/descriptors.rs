//! Accepting without descriptors.

use std::env;
use std::fs::File;
use std::net::TcpStream as StdStream;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::io::named;
use crate::net::testing::{listen, run};

/// The limit holds for the whole process, so the test has one of its own.
#[test]
fn a_lack_of_descriptors_loses_and_spins_nothing() {
    let limited =
        "ulimit -n 64 && exec \"$0\" --exact --ignored net::tcp::tests::descriptors::body";
    let test = Command::new("sh").arg("-c").arg(limited).arg(env::current_exe().unwrap()).output();
    let test = test.unwrap();
    let out = String::from_utf8_lossy(&test.stdout);
    assert!(test.status.success() && out.contains("1 passed"), "{out}");
}

#[test]
#[ignore = "takes all descriptors of its process: the test above runs it"]
fn body() {
    run(async {
        let (listener, addr) = listen().await;
        let client = StdStream::connect(addr).unwrap();
        let mut hoard = Vec::new();
        while let Ok(file) = File::open("/dev/null") {
            hoard.push(file);
        }
        let start = Instant::now();
        let mut errors = Vec::new();
        while start.elapsed() < Duration::from_millis(100) {
            errors.push(named(listener.accept()).await.unwrap_err());
        }
        // At 0, 5, 15, 35, 75 and 155 ms: late, perhaps, but never more.
        assert!((2..=6).contains(&errors.len()), "{} errors", errors.len());
        let text = errors[0].to_string();
        assert!(text.starts_with(&format!("cannot accept on {addr}: ")), "{text}");
        assert!(text.contains("every descriptor that is allowed is in use"), "{text}");
        assert_eq!(errors[0].raw_os_error(), Some(Errno::MFILE.raw_os_error()));

        drop(hoard);
        let (_, peer) = listener.accept().await.unwrap();
        assert_eq!(peer, client.local_addr().unwrap());
    });
}
