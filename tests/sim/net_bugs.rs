//! Bugs that only a network with faults shows, each with a twin that has none; and that such runs repeat.

use super::{assert_all_seen, silent};
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpListener, TcpStream, UdpSocket};
use colored::sim::{
    Builder, Failure, Fault, Faults, always, begin_quiet_phase, host_name, sometimes, system_time,
};
use colored::time::{Duration, Instant, sleep, timeout};
use colored::{ColorCell, spawn, spawn_unique};
use colored_tests::soak::repeat;
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex};

const SECOND: Duration = Duration::from_secs(1);

/// The failure of a program that has a bug.
#[track_caller]
fn found<F>(builder: Builder, program: impl Fn() -> F + Sync) -> Failure
where
    F: Future<Output = ()> + Send + 'static,
{
    let failure = super::found(&builder.run(program));
    assert!(failure.choices() <= 12, "{failure}");
    failure
}

/// A server that sums up what it gets: a number and a byte in each message. If it knows messages, it adds none twice.
pub(super) fn sums(
    knows_messages: bool,
) -> impl Fn() -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
    move || {
        Box::pin(async move {
            let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
            let state = ColorCell::new(1, (0, BTreeSet::new()));
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let state = state.clone();
                spawn_unique(async move {
                    while let (Ok(message), Ok(byte)) =
                        (stream.read_u8().await, stream.read_u8().await)
                    {
                        let add = move |(sum, known): &mut (u8, BTreeSet<u8>)| {
                            if known.insert(message) || !knows_messages {
                                *sum += byte;
                            }
                            *sum
                        };
                        let sum = state.call(add).await;
                        if stream.write_u8(sum).await.is_err() {
                            break;
                        }
                    }
                });
            }
        })
    }
}

pub(super) async fn add(message: u8, byte: u8) -> io::Result<u8> {
    let mut stream = TcpStream::connect("a:80").await?;
    stream.write_all(&[message, byte]).await?;
    stream.read_u8().await
}

/// Adds 1, 2 and 3, and tries each again until there is an answer.
async fn add_three() {
    let mut sum = 0;
    for message in 1..=3 {
        sum = loop {
            match timeout(SECOND, add(message, message)).await {
                Ok(Ok(sum)) => break sum,
                _ => sleep(SECOND).await,
            }
        };
    }
    always!(sum == 6, "each number counts once");
}

#[test]
fn a_request_that_is_tried_again_counts_twice() {
    let faults = Faults::network();
    let failure = found(Builder::new().faults(faults).host("a", sums(false)), add_three);
    assert!(failure.message().contains("each number counts once"), "{failure}");
    Builder::new()
        .seeds(silent(500))
        .faults(faults)
        .host("a", sums(true))
        .run(add_three)
        .assert_passed();
}

#[test]
fn a_message_is_taken_for_one_read() {
    async fn server(reads_exactly: bool) {
        let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut buf = [0; 8];
            let len = match reads_exactly {
                true => stream.read_exact(&mut buf).await.unwrap(),
                false => stream.read(&mut buf).await.unwrap(),
            };
            always!(len == 8, "a message has eight bytes");
        }
    }
    let client = || async {
        let mut stream = TcpStream::connect("a:80").await.unwrap();
        stream.write_all(b"a number").await.unwrap();
        stream.shutdown().await.unwrap();
        sleep(60 * SECOND).await;
    };
    let builder = Builder::new().seeds(0..300).faults(Faults::none().with(Fault::Pieces));
    let failure = found(builder.clone().host("a", || server(false)), client);
    assert_eq!(failure.choices(), 1, "one short read or write: {failure}");
    builder.seeds(silent(300)).host("a", || server(true)).run(client).assert_passed();
}

#[test]
fn a_lease_by_the_time_of_day() {
    // The holder of a lease of ten seconds stops to use it after nine.
    async fn holder(is_monotonic: bool) {
        let (begin, day) = (Instant::now(), system_time());
        loop {
            let held = match is_monotonic {
                true => begin.elapsed(),
                false => system_time().duration_since(day).unwrap_or_default(),
            };
            if held >= 9 * SECOND {
                break;
            }
            always!(begin.elapsed() < 10 * SECOND, "the lease is over");
            sleep(SECOND / 10).await;
        }
    }
    let builder = Builder::new().seeds(0..300).faults(Faults::none().with(Fault::Clock));
    let failure = found(builder.clone(), || holder(false));
    assert!(failure.message().contains("the lease is over"), "{failure}");
    builder.seeds(silent(300)).run(|| holder(true)).assert_passed();
}

#[test]
fn a_client_that_waits_for_a_lost_answer_hangs_also_in_the_quiet_phase() {
    async fn server() {
        let socket = UdpSocket::bind("0.0.0.0:7").await.unwrap();
        let mut buf = [0; 1];
        loop {
            let (_, from) = socket.recv_from(&mut buf).await.unwrap();
            socket.send_to(&buf, from).await.unwrap();
        }
    }
    async fn ask(tries_again: bool) {
        let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
        loop {
            socket.send_to(&[1], "a:7").await.unwrap();
            let mut buf = [0];
            let answer = socket.recv(&mut buf);
            if !tries_again {
                answer.await.unwrap();
                break;
            }
            if timeout(SECOND, answer).await.is_ok() {
                break;
            }
        }
    }
    let builder = Builder::new().seeds(0..300).faults(Faults::swarm()).host("a", server);
    let failure = found(builder.clone(), || ask(false));
    assert!(failure.message().contains("nothing is runnable"), "{failure}");
    builder.seeds(silent(300)).run(|| ask(true)).assert_passed();
}

/// Some hosts that talk, and what they have seen.
async fn talk(seen: &Mutex<Vec<String>>) {
    let add = |what: String| seen.lock().unwrap().push(format!("{:?} {what}", host_name()));
    for message in 1..=3 {
        let answer = timeout(2 * SECOND, self::add(message, 1)).await;
        add(format!("{answer:?}"));
    }
}

#[test]
fn a_seed_makes_the_same_run_again_with_all_faults() {
    let seeds = repeat(200, 400);
    let trails = || {
        let trails = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let other = Arc::clone(&seen);
        let report = Builder::new()
            .seeds(0..seeds as u64)
            .jobs(1)
            .faults(Faults::swarm())
            .host("a", sums(true))
            .host("b", move || {
                let seen = Arc::clone(&other);
                async move { talk(&seen).await }
            })
            .run(|| {
                let (seen, trails) = (Arc::clone(&seen), Arc::clone(&trails));
                async move {
                    talk(&seen).await;
                    begin_quiet_phase();
                    sleep(100 * SECOND).await;
                    talk(&seen).await;
                    let seen = std::mem::take(&mut *seen.lock().unwrap());
                    sometimes!(seen.iter().any(|what| what.contains("Reset")), "a reset");
                    sometimes!(seen.iter().any(|what| what.contains("Elapsed")), "silence");
                    sometimes!(seen.len() == 9, "b runs once");
                    trails.lock().unwrap().push(seen);
                }
            });
        assert_all_seen(&report);
        std::mem::take(&mut *trails.lock().unwrap())
    };
    let (first, second) = (trails(), trails());
    assert_eq!(first.len(), seeds + seeds.div_ceil(64), "of 64 seeds one is run twice");
    assert_eq!(first, second);
    let distinct: BTreeSet<_> = first.iter().collect();
    assert!(distinct.len() > seeds / 4, "{} different runs", distinct.len());
}

#[test]
fn after_the_quiet_phase_has_begun_nothing_fails() {
    let report =
        Builder::new().seeds(silent(300)).faults(Faults::swarm()).host("a", sums(true)).run(
            || async {
                let noisy = spawn(add_three());
                sleep(10 * SECOND).await;
                begin_quiet_phase();
                // What was late may be late by eight seconds.
                sleep(10 * SECOND).await;
                for message in 4..10 {
                    timeout(SECOND, add(message, 0)).await.unwrap().unwrap();
                }
                drop(noisy);
            },
        );
    report.assert_passed();
}

#[test]
fn a_report_names_the_faults_and_packets() {
    let failure = found(Builder::new().faults(Faults::network()).host("a", sums(false)), add_three);
    let text = failure.to_string();
    assert!(text.contains("<- fault: ") && text.contains("data of main arrives"), "{text}");
}
