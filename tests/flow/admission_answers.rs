//! `Admission` where requests arrive: a refused client gets an answer, also after it was admitted.

use colored::admission::{Admission, Admitted, Overloaded};
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpListener, TcpStream};
use colored::stage::{Builder, Events};
use colored::sync::{Notify, oneshot};
use colored::time::sleep;
use colored::{Color, spawn_colored, spawn_unique};
use colored_tests::gate::Gate;
use colored_tests::{run, runtime, shared, wait_until};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

const RED: Color = Color::new(1);
const TARGET: Duration = Duration::from_millis(5);

/// The loop of the guide: work is serial, under one color.
async fn accept(listener: TcpListener, admission: Admission) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let admitted = match admission.admit() {
            Ok(admitted) => admitted,
            Err(overloaded) => {
                drop(spawn_unique(async move { refuse(&mut stream, overloaded).await }));
                continue;
            }
        };
        drop(spawn_colored(RED, async move {
            match admitted.begin() {
                Ok(_running) => {
                    colored_tests::block(Duration::from_micros(200));
                    let _ = stream.write_all(b"200").await;
                }
                Err(overloaded) => refuse(&mut stream, overloaded).await,
            }
        }));
    }
}

async fn refuse(stream: &mut TcpStream, overloaded: Overloaded) {
    let code = if overloaded.was_admitted() { "503 late" } else { "503" };
    let _ = stream.write_all(code.as_bytes()).await;
}

/// The answer to a client.
async fn ask(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[test]
fn every_client_gets_an_answer_also_when_it_is_shed() {
    shared(|| {
        let runtime = runtime(2);
        let admission = Admission::new(TARGET);
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        drop(runtime.handle().spawn_unique(accept(listener, admission.clone())));
        // The first is admitted, since nothing waits, and its color is stuck for too long.
        let gate = Gate::close(runtime.handle(), RED);
        let late = runtime.handle().spawn_unique(ask(address));
        wait_until(|| admission.metrics().waiting == 1 && admission.delay() > 3 * TARGET);
        gate.open();
        assert_eq!(runtime.block_on(late).unwrap(), "503 late");
        // More than it can do: each client gets an answer.
        let clients: Vec<_> =
            (0..200).map(|_| runtime.handle().spawn_unique(ask(address))).collect();
        let mut answers: Vec<_> =
            clients.into_iter().map(|client| runtime.block_on(client).unwrap()).collect();
        answers.push("503 late".into());
        let count = |of: &str| answers.iter().filter(|answer| *answer == of).count() as u64;
        let told = (count("200"), count("503"), count("503 late"));
        let metrics = admission.metrics();
        assert_eq!(told, (metrics.begun, metrics.rejected, metrics.shed));
        assert_eq!(told.0 + told.1 + told.2, 201);
        assert_eq!((metrics.waiting, metrics.abandoned), (0, 0));
    });
}

/// The answer of a handler that runs too late.
type Answer = Result<u32, Overloaded>;

#[test]
fn a_stage_of_permits_answers_each_request_in_order() {
    run(2, async {
        // The first ones must be admitted, and the last one begin, also where the machine makes a pause.
        let admission = Admission::new(20 * TARGET);
        let open = Arc::new(Notify::new());
        let (opened, mut stuck) = (Arc::clone(&open), true);
        let square = move |events: Events<(Admitted, u32, oneshot::Sender<Answer>)>| {
            let (opened, stuck) = (Arc::clone(&opened), std::mem::take(&mut stuck));
            async move {
                if stuck {
                    opened.notified().await;
                }
                for (admitted, n, answer) in events {
                    let _ = answer.send(admitted.begin().map(|_running| n * n));
                }
            }
        };
        let stage = Builder::new().build(square);
        let mut answers = Vec::new();
        for n in 0..3 {
            let (answer, answered) = oneshot::channel();
            let admitted = admission.admit().expect("it was idle");
            stage.try_send((admitted, n, answer)).unwrap();
            answers.push(answered);
        }
        sleep(2 * admission.target() + TARGET).await;
        assert!(admission.delay() > 2 * admission.target());
        open.notify_one();
        for answered in answers {
            let shed = answered.await.unwrap().unwrap_err();
            assert!(shed.was_admitted() && shed.delay() > 2 * admission.target(), "{shed}");
        }
        // Idle again.
        let (answer, answered) = oneshot::channel();
        let admitted = admission.admit().unwrap();
        stage.try_send((admitted, 4, answer)).unwrap();
        assert_eq!(answered.await.unwrap(), Ok(16));
        // An admitted request whose event is not handled is given up, and not counted as waiting.
        stage.close();
        let (answer, _answered) = oneshot::channel();
        drop(stage.try_send((admission.admit().unwrap(), 5, answer)));
        let metrics = admission.metrics();
        assert_eq!((metrics.begun, metrics.shed, metrics.abandoned), (1, 3, 1));
        assert_eq!(metrics.waiting, 0);
    });
}
