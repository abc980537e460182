//! The helpers of `io`, on sockets and in memory. None of them needs a runtime of tokio.

use colored::io::{
    self, AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufReader, BufStream,
    BufWriter, DuplexStream, SeekFrom,
};
use colored::time::{Duration, timeout};
use colored_tests::echo::pair;
use colored_tests::{run, runtime, shared};

/// A proxy: bytes go both ways at once, and each end passes on by itself.
#[test]
fn copy_bidirectional_passes_bytes_and_ends_both_ways() {
    const LENGTH: usize = 300_000;
    run(2, async {
        for sizes in [None, Some((1000, 100))] {
            let (mut client, mut near) = pair().await;
            let (mut far, mut server) = pair().await;
            let proxy = colored::spawn_unique(async move {
                match sizes {
                    None => io::copy_bidirectional(&mut near, &mut far).await.unwrap(),
                    Some((a, b)) => {
                        let copied = io::copy_bidirectional_with_sizes(&mut near, &mut far, a, b);
                        copied.await.unwrap()
                    }
                }
            });
            let echo = colored::spawn_unique(async move {
                let mut all = Vec::new();
                server.read_to_end(&mut all).await.unwrap();
                // The other direction is open still.
                server.write_all(&all[..LENGTH / 2]).await.unwrap();
            });
            let sent = vec![7; LENGTH];
            client.write_all(&sent).await.unwrap();
            client.shutdown().await.unwrap();
            let mut got = Vec::new();
            client.read_to_end(&mut got).await.unwrap();
            echo.await.unwrap();
            assert!(got == sent[..LENGTH / 2]);
            assert_eq!(proxy.await.unwrap(), (LENGTH as u64, LENGTH as u64 / 2));
        }
    });
}

/// Lines, words, and bytes up to a mark, in pieces that the peer did not write.
#[test]
fn buffered_streams_cut_lines_and_words() {
    run(1, async {
        let (client, server) = pair().await;
        let mut writer = BufWriter::new(client);
        for piece in ["first li", "ne\nsecond\r\na,b,", "c", "\nthe rest"] {
            writer.write_all(piece.as_bytes()).await.unwrap();
        }
        writer.shutdown().await.unwrap();
        let mut reader = BufReader::new(server);
        let mut line = String::new();
        assert_eq!(reader.read_line(&mut line).await.unwrap(), 11);
        assert_eq!(line, "first line\n");
        let mut lines = reader.lines();
        assert_eq!(lines.next_line().await.unwrap().unwrap(), "second");
        let mut words = lines.into_inner().split(b',');
        for word in ["a", "b", "c\nthe rest"] {
            assert_eq!(words.next_segment().await.unwrap().unwrap(), word.as_bytes());
        }
        assert_eq!(words.next_segment().await.unwrap(), None);

        let (client, server) = pair().await;
        let (mut client, mut server) = (BufStream::new(client), BufStream::new(server));
        client.write_all(b"question\n").await.unwrap();
        client.flush().await.unwrap();
        line.clear();
        server.read_line(&mut line).await.unwrap();
        server.write_all(b"answer\n").await.unwrap();
        server.flush().await.unwrap();
        client.read_line(&mut line).await.unwrap();
        assert_eq!(line, "question\nanswer\n");
    });
}

/// A pipe in memory holds no more than was said; its writer waits for the reader.
#[test]
fn streams_in_memory_connect_tasks() {
    async fn echo(stream: DuplexStream) -> u64 {
        let (mut reader, mut writer) = io::split(stream);
        io::copy(&mut reader, &mut writer).await.unwrap()
    }
    run(2, async {
        let (mut here, there) = io::duplex(16);
        let task = colored::spawn_unique(echo(there));
        for round in 0..100_u64 {
            here.write_u64(round).await.unwrap();
            assert_eq!(here.read_u64().await.unwrap(), round);
        }
        drop(here);
        assert_eq!(task.await.unwrap(), 800);

        let (mut reader, mut writer) = io::simplex(8);
        let task = colored::spawn_unique(async move {
            writer.write_all(&[3; 1000]).await.unwrap();
        });
        let mut got = vec![0; 1000];
        reader.read_exact(&mut got).await.unwrap();
        assert_eq!(got, [3; 1000]);
        task.await.unwrap();
    });
}

#[test]
fn small_parts_are_put_together() {
    run(1, async {
        let mut text = String::new();
        let mut parts = (&b"one "[..]).chain(&b"two three"[..]).take(7);
        parts.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "one two");
        let mut three = [0; 3];
        io::repeat(b'x').read_exact(&mut three).await.unwrap();
        assert_eq!(&three, b"xxx");
        assert_eq!(io::empty().read(&mut three).await.unwrap(), 0);
        assert_eq!(io::copy(&mut &b"gone"[..], &mut io::sink()).await.unwrap(), 4);
        let mut kept = Vec::new();
        let mut both = io::join(&b"read"[..], &mut kept);
        both.write_all(b"written").await.unwrap();
        both.read_exact(&mut three).await.unwrap();
        assert_eq!((&three, &kept[..]), (b"rea", &b"written"[..]));
        let mut cursor = std::io::Cursor::new(b"0123456789".to_vec());
        cursor.seek(SeekFrom::End(-2)).await.unwrap();
        assert_eq!(cursor.read_u8().await.unwrap(), b'8');
        let mut buffered = BufReader::new(&b"all of it"[..]);
        assert_eq!(io::copy_buf(&mut buffered, &mut io::sink()).await.unwrap(), 9);
    });
}

/// A buffer that grows gets the bytes at its end, and no byte that was there changes.
#[test]
fn reads_append_to_buffers() {
    run(1, async {
        let (mut client, mut server) = pair().await;
        client.write_all(b"abc").await.unwrap();
        let mut buf = Vec::with_capacity(16);
        buf.push(b'_');
        assert_eq!(server.read_buf(&mut buf).await.unwrap(), 3);
        assert_eq!(server.try_read_buf(&mut buf).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        client.write_all(b"defg").await.unwrap();
        server.readable().await.unwrap();
        assert_eq!(server.try_read_buf(&mut buf).unwrap(), 4);
        assert_eq!(buf, b"_abcdefg");
        client.write_all(b"hi").await.unwrap();
        let (reader, _writer) = server.split();
        reader.readable().await.unwrap();
        assert_eq!(reader.try_read_buf(&mut buf).unwrap(), 2);
        // Without room nothing is read.
        let mut full: &mut [u8] = &mut [];
        client.write_all(b"j").await.unwrap();
        reader.readable().await.unwrap();
        assert_eq!(reader.try_read_buf(&mut full).unwrap(), 0);
        assert_eq!(reader.try_read_buf(&mut buf).unwrap(), 1);
        assert_eq!(buf, b"_abcdefghij");
    });
}

/// A loop that always finds work would, if it never ended its poll, do so many rounds: some seconds.
const ROUNDS: u64 = 30_000_000;

/// Runs a future that need not be `Send`.
fn here(test: impl Future<Output = ()>) {
    shared(|| runtime(1).block_on(test));
}

/// `operation` is ready each time. A timeout around a loop fires, since each poll of the loop ends.
async fn check_that_it_ends_its_polls(name: &str, mut operation: impl AsyncFnMut()) {
    let rounds = async {
        for _ in 0..ROUNDS {
            operation().await;
        }
    };
    assert!(timeout(Duration::from_millis(2), rounds).await.is_err(), "{name}");
}

#[test]
fn a_timeout_fires_around_a_loop_over_what_is_always_ready() {
    here(async {
        check_that_it_ends_its_polls("empty: read", async || {
            assert_eq!(io::empty().read(&mut [0]).await.unwrap(), 0);
        })
        .await;
        check_that_it_ends_its_polls("empty: write", async || {
            assert_eq!(io::empty().write(b"x").await.unwrap(), 1);
        })
        .await;
        check_that_it_ends_its_polls("repeat", async || {
            assert_eq!(io::repeat(7).read_u8().await.unwrap(), 7);
        })
        .await;
        check_that_it_ends_its_polls("sink", async || {
            assert_eq!(io::sink().write(b"x").await.unwrap(), 1);
        })
        .await;
        let (mut near, mut far) = io::duplex(8);
        check_that_it_ends_its_polls("duplex", async || {
            near.write_u8(3).await.unwrap();
            assert_eq!(far.read_u8().await.unwrap(), 3);
        })
        .await;
        let (mut reader, mut writer) = io::simplex(8);
        check_that_it_ends_its_polls("simplex", async || {
            writer.write_u8(3).await.unwrap();
            assert_eq!(reader.read_u8().await.unwrap(), 3);
        })
        .await;
    });
}

/// Also of readers and writers of other crates, which take no unit of our budget.
#[test]
fn a_timeout_fires_around_a_copy_of_what_is_always_ready() {
    const BYTES: u64 = 1 << 35;
    async fn check(name: &str, copy: impl Future) {
        assert!(timeout(Duration::from_millis(2), copy).await.is_err(), "{name}");
    }
    here(async {
        let theirs = || tokio::io::repeat(1).take(BYTES);
        let mut sink = tokio::io::sink();
        check("copy", io::copy(&mut theirs(), &mut sink)).await;
        check("copy_buf", io::copy_buf(&mut BufReader::new(theirs()), &mut sink)).await;
        let mut one = io::join(theirs(), tokio::io::sink());
        let mut other = io::join(tokio::io::empty(), tokio::io::sink());
        check("copy_bidirectional", io::copy_bidirectional(&mut one, &mut other)).await;
        check_that_it_ends_its_polls("short copies", async || {
            assert_eq!(io::copy(&mut &b"x"[..], &mut sink).await.unwrap(), 1);
        })
        .await;
    });
}

/// A copy between sockets takes the units that the sockets take, and no more.
#[test]
fn what_takes_a_unit_by_itself_is_not_charged_again() {
    run(1, async {
        let mut twice = io::Metered::new(io::repeat(1));
        colored::yield_now().await;
        let mut reads = 0;
        while colored::task::has_budget_remaining() {
            twice.read_u8().await.unwrap();
            reads += 1;
        }
        assert_eq!(reads, 128);
        assert_eq!(twice.into_inner().into_inner().read_u8().await.unwrap(), 1);
    });
}
