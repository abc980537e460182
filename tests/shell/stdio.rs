//! The standard streams of the process.

use colored::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, stderr, stdin, stdout};
use colored::time::{Duration, timeout};
use colored::{spawn_colored, yield_now};
use colored_tests::{child, runtime};

/// A standard input that has no bytes and no end.
const SILENT: &str = "f=$(mktemp -u); mkfifo $f; exec 0<>$f; rm $f";

#[test]
fn the_lines_of_the_input_are_read_to_the_end() {
    let line = "exec <<END\none\ntwo\n\nlast\nEND";
    child::run_after(line, module_path!(), "the_lines_of_the_input_are_read_to_the_end", || {
        runtime(1).run(async {
            let mut lines = BufReader::new(stdin()).lines();
            let mut read = Vec::new();
            while let Some(line) = lines.next_line().await.unwrap() {
                read.push(line);
            }
            assert_eq!(read, ["one", "two", "", "last"]);
            assert_eq!(stdin().read(&mut [0; 8]).await.unwrap(), 0, "it stays at the end");
        });
    });
}

#[test]
fn an_input_that_never_ends_does_not_keep_the_program() {
    let name = "an_input_that_never_ends_does_not_keep_the_program";
    child::run_after(SILENT, module_path!(), name, || {
        runtime(1).run(async {
            let mut byte = [0];
            for _ in 0..3 {
                let read = async { stdin().read(&mut byte).await };
                assert!(timeout(Duration::from_millis(10), read).await.is_err());
            }
        });
    });
}

#[test]
fn bytes_for_a_dropped_read_go_to_the_next_handle_and_every_reader_is_woken() {
    // The bytes come when the readers wait: then this process makes the file `READY`.
    let line = "f=$(mktemp -u); mkfifo $f; export READY=$(mktemp -u)
(while [ ! -e $READY ]; do sleep 0.01; done; rm $READY; printf abcdef) >$f & exec <$f; rm $f";
    let name = "bytes_for_a_dropped_read_go_to_the_next_handle_and_every_reader_is_woken";
    child::run_after(line, module_path!(), name, || {
        runtime(2).run(async {
            let mut bytes = [0; 2];
            let read = async { stdin().read(&mut bytes).await };
            assert!(timeout(Duration::from_millis(10), read).await.is_err());
            let readers: Vec<_> = (0..4)
                .map(|color| {
                    spawn_colored(color, async {
                        let mut bytes = [0; 2];
                        let n = stdin().read(&mut bytes).await.unwrap();
                        String::from_utf8(bytes[..n].to_vec()).unwrap()
                    })
                })
                .collect();
            // The last one to wait goes away, and must not take the wake-up of the others along.
            for _ in 0..100 {
                yield_now().await;
            }
            let last = spawn_colored(9, async { stdin().read(&mut [0; 2]).await.unwrap() });
            for _ in 0..100 {
                yield_now().await;
            }
            last.abort();
            assert!(last.await.unwrap_err().is_cancelled());
            std::fs::write(std::env::var("READY").unwrap(), "").unwrap();
            let mut read = Vec::new();
            for reader in readers {
                read.push(reader.await.unwrap());
            }
            read.sort();
            assert_eq!(read, ["", "ab", "cd", "ef"]);
        });
    });
}

#[test]
fn what_is_written_is_there_when_the_write_returns() {
    let said =
        child::said("", module_path!(), "what_is_written_is_there_when_the_write_returns", || {
            runtime(2).run(async {
                let mut out = stdout();
                for n in 0..100 {
                    out.write_all(format!("<{n}>").as_bytes()).await.unwrap();
                    print!("({n})");
                }
                out.flush().await.unwrap();
                let big = spawn_colored(7, async {
                    stdout().write_all(&[b'x'; 300_000]).await.unwrap();
                });
                stderr().write_all(b"[to the error]").await.unwrap();
                big.await.unwrap();
            });
        });
    let Some((said, cried)) = said else { return };
    let wanted: String = (0..100).map(|n| format!("<{n}>({n})")).collect();
    assert!(said.contains(&wanted), "{said}");
    assert!(said.contains(&"x".repeat(300_000)));
    assert!(cried.contains("[to the error]"), "{cried}");
}

#[test]
fn an_input_that_never_ends_does_not_delay_a_shutdown() {
    let name = "an_input_that_never_ends_does_not_delay_a_shutdown";
    child::run_after(SILENT, module_path!(), name, || {
        let runtime = runtime(1);
        let _read = runtime.spawn(async { stdin().read(&mut [0]).await });
        runtime.run(async { colored::time::sleep(Duration::from_millis(10)).await });
        let begin = std::time::Instant::now();
        runtime.shutdown_timeout(Duration::from_secs(60)).expect("no thread is waited for");
        assert!(begin.elapsed() < Duration::from_secs(30));
    });
}
