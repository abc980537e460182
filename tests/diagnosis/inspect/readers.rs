//! Readers that are slow, dead, too many, or that ask nonsense.

use super::{Reader, inspected, level, place};
use colored::Color;
use colored::usage::Level;
use colored_tests::{wait_until, watched};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

#[test]
fn a_request_that_is_none_gets_an_error_and_the_next_one_a_reply() {
    watched(|| {
        let (_scratch, path) = place();
        let _runtime = inspected(&path);
        let mut reader = Reader::connect(&path);
        for wrong in ["help\n", "\n", "level 7\n", "\u{1}\u{2}\n"] {
            reader.send(wrong);
            let error = reader.error();
            assert!(
                error.contains("allowed are `snapshot`, `dump`, `trace`, `level 0` and `level 1`"),
                "{error}"
            );
        }
        let _whole = reader.snapshot();
        reader.send("level 0\nsnapsh");
        assert_eq!(reader.reply(), Some(level(0)));
        reader.send("ot\nlevel 0\n");
        assert!(reader.reply().unwrap().starts_with(r#"{"protocol":1,"#));
        assert_eq!(reader.reply(), Some(level(0)));
        reader.send(&"x".repeat(1000));
        assert!(reader.error().contains("longer than 64 bytes"));
        assert!(reader.reply().is_none());
    });
}

/// Beside the socket, for the user alone, and whatever stands there under its name before is not written to.
#[test]
fn a_reader_gets_a_trace_file_where_something_is_recorded() {
    watched(|| {
        let (scratch, path) = place();
        let runtime = inspected(&path);
        let mut reader = Reader::connect(&path);
        assert!(reader.ask("trace").contains("records nothing: ask for `level 1` first"));
        assert_eq!(reader.ask("level 1"), level(1));
        runtime.run(async { colored::spawn_colored(7, async {}).await.unwrap() });
        let (file, victim) = (scratch.join("socket.pftrace"), scratch.join("victim"));
        std::fs::write(&victim, "").unwrap();
        std::os::unix::fs::symlink(&victim, scratch.join("socket.pftrace.part")).unwrap();
        let reply = reader.ask("trace");
        let metadata = std::fs::metadata(&file).unwrap();
        let told = format!(r#"{{"trace":"{}","bytes":{}}}"#, file.display(), metadata.len());
        assert_eq!(reply, told);
        assert!(metadata.len() > 100);
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read(&victim).unwrap(), b"");
        // In place of the last one; and where it cannot be written, that is the reply.
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        let error = reader.ask("trace");
        assert!(error.contains("cannot write the trace file") && error.contains("socket.pftrace"));
        assert!(!scratch.join("socket.pftrace.part").exists());
    });
}

#[test]
fn a_reader_that_dies_restores_the_level() {
    watched(|| {
        let (_scratch, path) = place();
        let runtime = inspected(&path);
        let handle = runtime.handle();
        let (mut one, mut other) = (Reader::connect(&path), Reader::connect(&path));
        assert_eq!(one.ask("level 0"), level(0));
        assert_eq!(one.ask("level 1"), level(1));
        assert_eq!(one.ask("level 1"), level(1));
        assert_eq!(other.ask("level 1"), level(1));
        drop(one);
        assert!(other.snapshot().contains(r#","level":1,"#));
        assert_eq!(handle.trace_level(), Level::Slices);
        drop(other);
        wait_until(|| handle.trace_level() == Level::Off);

        let mut last = Reader::connect(&path);
        assert_eq!(last.ask("level 1"), level(1));
        assert_eq!(last.ask("level 0"), level(0));
        // What the program sets meanwhile stays.
        assert_eq!(last.ask("level 1"), level(1));
        handle.set_trace_level(Level::Tasks);
        assert_eq!(last.ask("level 0"), level(2));
    });
}

/// It asks until the system takes no more: the runtime reads no further request before a reply is gone. Meanwhile all
/// tasks run, other readers get replies, and after a while it is disconnected.
#[test]
fn a_reader_that_never_reads_delays_nobody() {
    watched(|| {
        let (_scratch, path) = place();
        let runtime = inspected(&path);
        let mut slow = Reader::connect(&path);
        assert_eq!(slow.ask("level 1"), level(1));
        slow.0.get_ref().set_nonblocking(true).unwrap();
        let flood = "level 1\n".repeat(1000);
        let mut sent = 0;
        let full = |slow: &Reader| slow.0.get_ref().write(flood.as_bytes());
        // Until nothing more fits for a while, as the runtime may be about to read.
        let mut since = Instant::now();
        while since.elapsed() < Duration::from_millis(500) {
            match full(&slow) {
                Ok(bytes) => (sent, since) = (sent + bytes, Instant::now()),
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
            assert!(sent < 64 << 20, "the runtime takes everything");
        }
        let done = runtime.run(async {
            let mut done = 0;
            for number in 0..10_000 {
                let task = colored::spawn_colored(Color::new(number % 7), async { 1 });
                done += task.await.unwrap();
            }
            done
        });
        assert_eq!(done, 10_000);
        assert!(Reader::connect(&path).snapshot().contains(r#","level":1,"#));
        wait_until(|| matches!(full(&slow), Err(error) if error.kind() == ErrorKind::BrokenPipe));
        wait_until(|| runtime.handle().trace_level() == Level::Off);
    });
}

#[test]
fn a_fifth_reader_is_refused_until_another_leaves() {
    watched(|| {
        let (_scratch, path) = place();
        let _runtime = inspected(&path);
        let mut readers: Vec<_> = (0..4).map(|_| Reader::connect(&path)).collect();
        assert!(readers.iter_mut().all(|reader| reader.ask("level 0") == level(0)));
        let mut fifth = Reader::connect(&path);
        assert_eq!(fifth.error(), "four readers are connected: no more are allowed");
        assert!(fifth.reply().is_none());
        drop(readers.pop());
        wait_until(|| {
            let mut again = Reader::connect(&path);
            // It is refused, and disconnected, until the runtime has seen that the other one has left.
            again.0.get_mut().write_all(b"level 0\n").is_ok() && again.reply() == Some(level(0))
        });
        assert!(readers.iter_mut().all(|reader| reader.ask("level 0") == level(0)));
    });
}

#[test]
fn readers_are_disconnected_at_the_end() {
    watched(|| {
        let (_scratch, path) = place();
        let runtime = inspected(&path);
        let mut reader = Reader::connect(&path);
        assert_eq!(reader.ask("level 1"), level(1));
        drop(runtime);
        assert!(reader.reply().is_none());
    });
}
