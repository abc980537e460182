//! Time-outs, on a paused clock.

use super::support::{pair, run_paused};
use colored::time::Instant;
use colored_stackful::net::TcpStream;
use colored_stackful::{sleep, spawn_unique, wait};
use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

const LIMIT: Duration = Duration::from_millis(500);

/// What the standard library's sockets return.
const OVER: ErrorKind = if cfg!(windows) { ErrorKind::TimedOut } else { ErrorKind::WouldBlock };

/// How long `operation` takes until its time is over.
fn time_of<T: std::fmt::Debug>(operation: impl FnOnce() -> std::io::Result<T>) -> Duration {
    let begin = Instant::now();
    let error = operation().unwrap_err();
    assert_eq!(error.kind(), OVER, "{error}");
    assert_eq!(error.to_string(), "the time-out of 500ms is over");
    begin.elapsed()
}

fn is_about_the_limit(time: Duration) -> bool {
    (LIMIT..LIMIT + Duration::from_millis(100)).contains(&time)
}

#[test]
fn a_read_ends_when_its_time_is_over_and_loses_nothing() {
    run_paused(|| {
        let (client, mut server) = pair();
        server.set_read_timeout(Some(LIMIT)).unwrap();
        for _ in 0..2 {
            let time = time_of(|| server.read(&mut [0]));
            assert!(is_about_the_limit(time), "{time:?}");
        }
        assert!(is_about_the_limit(time_of(|| server.peek(&mut [0]))));
        (&client).write_all(b"a").unwrap();
        let mut byte = [0];
        server.read_exact(&mut byte).unwrap();
        assert_eq!(&byte, b"a");
    });
}

#[test]
fn what_comes_in_time_is_read() {
    run_paused(|| {
        let (client, mut server) = pair();
        server.set_read_timeout(Some(LIMIT)).unwrap();
        let writes = spawn_unique(move || {
            sleep(LIMIT / 2);
            (&client).write_all(b"a").unwrap();
        });
        assert_eq!(server.read(&mut [0]).unwrap(), 1);
        wait(writes).unwrap();
    });
}

#[test]
fn a_write_ends_when_its_time_is_over() {
    run_paused(|| {
        let (client, mut server) = pair();
        client.set_write_timeout(Some(LIMIT)).unwrap();
        let mut written = 0;
        let time = time_of(|| {
            loop {
                written += (&client).write(&[7; 100_000])?;
            }
            #[expect(unreachable_code, reason = "the loop ends by an error")]
            Ok(())
        });
        assert!(is_about_the_limit(time), "{time:?}");
        let mut bytes = vec![0; written];
        server.read_exact(&mut bytes).unwrap();
        assert!((&client).write(&[7; 100_000]).unwrap() > 0, "there is room again");
    });
}

#[test]
fn clones_share_their_time_limits() {
    run_paused(|| {
        let (client, _server) = pair();
        let clone = client.try_clone().unwrap();
        let limits =
            |stream: &TcpStream| (stream.read_timeout().unwrap(), stream.write_timeout().unwrap());
        assert_eq!(limits(&client), (None, None));
        client.set_read_timeout(Some(LIMIT)).unwrap();
        clone.set_write_timeout(Some(2 * LIMIT)).unwrap();
        for stream in [&client, &clone] {
            assert_eq!(limits(stream), (Some(LIMIT), Some(2 * LIMIT)));
        }
        assert!(is_about_the_limit(time_of(|| (&clone).read(&mut [0]))));
        for set in [TcpStream::set_read_timeout, TcpStream::set_write_timeout] {
            let error = set(&client, Some(Duration::ZERO)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            set(&client, None).unwrap();
        }
        assert_eq!(limits(&clone), (None, None));
        client.set_read_timeout(Some(Duration::MAX)).unwrap();
        assert!(limits(&clone).0 > Some(Duration::from_secs(1 << 34)), "{:?}", limits(&clone));
    });
}
