//! Calls on streams.

use colored::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, duplex, split};
use colored::net::{TcpSocket, TcpStream};
use colored::time::{Duration, Instant};
use colored::{Color, ColorCell};
use rpc::nfs3_types::xdr_codec::Void;
use rpc::{
    Caller, Client, Connection, Limits, Procedure, Refusal, RpcError, Server, Services, UnixAuth,
    service,
};
use std::sync::{Arc, Condvar, Mutex};

const PROGRAM: u32 = 0x2000_0005;
const DOUBLE: Procedure = Procedure::new(PROGRAM, 1, 1);
const CALL_BACK: Procedure = Procedure::new(PROGRAM, 1, 2);
const PANIC: Procedure = Procedure::new(PROGRAM, 1, 3);
const USER: Procedure = Procedure::new(PROGRAM, 1, 4);
const LATE: Procedure = Procedure::new(PROGRAM, 1, 6);
const HANG: Procedure = Procedure::new(PROGRAM, 1, 5);

async fn double(_: (), _: Caller, number: u32) -> Result<u32, Refusal> {
    Ok(number * 2)
}

/// Calls the caller back, on the same connection.
async fn call_back(_: (), caller: Caller, number: u32) -> Result<u32, Refusal> {
    let client = caller.client().expect("it came on a connection");
    let doubled: u32 = client.call(DOUBLE, &number).await.map_err(|_| Refusal::SystemError)?;
    Ok(doubled + 1)
}

async fn panic(_: (), _: Caller, _: Void) -> Result<Void, Refusal> {
    panic!("as the test wants")
}

async fn user(_: (), caller: Caller, _: Void) -> Result<u32, Refusal> {
    match caller.auth() {
        rpc::Auth::Unix(user) => Ok(user.uid),
        _ => Err(Refusal::Auth(5)),
    }
}

/// Closes the connection on which it came, and is answered later.
async fn late(_: (), caller: Caller, _: Void) -> Result<Void, Refusal> {
    caller.client().expect("it came on a connection").close();
    colored::time::sleep(Duration::from_millis(100)).await;
    Ok(Void)
}

async fn hang(_: (), _: Caller, _: Void) -> Result<Void, Refusal> {
    std::future::pending().await
}

fn services() -> Services {
    Services::new().with(service! {
        program PROGRAM, version 1, state ();
        DOUBLE.number => double, under |_, number| Color::of(("number", *number));
        CALL_BACK.number => call_back, under |_, _| Color::unique();
        PANIC.number => panic, under |_, _| Color::unique();
        USER.number => user, under |_, _| Color::DEFAULT;
        LATE.number => late, under |_, _| Color::DEFAULT;
        HANG.number => hang, under |_, _| Color::DEFAULT;
    })
}

/// Both sides of a connection in memory; both serve.
fn pair() -> (Client, Client) {
    let (one, other) = duplex(1 << 12);
    let open = |stream| Connection::over(stream).serve(services()).open();
    (open(one), open(other))
}

#[colored::test]
async fn both_sides_call_on_one_connection() {
    let (one, other) = pair();
    for client in [&one, &other] {
        let answer: u32 = client.call(CALL_BACK, &20_u32).await.unwrap();
        assert_eq!(answer, 41);
    }
}

#[colored::test]
async fn calls_are_matched_by_number_and_not_by_order() {
    let (client, _server) = pair();
    let calls: Vec<_> = (0..1000_u32)
        .map(|number| {
            let client = client.clone();
            colored::spawn(async move { client.call::<u32, u32>(DOUBLE, &number).await })
        })
        .collect();
    for (number, call) in (0..).zip(calls) {
        assert_eq!(call.await.unwrap().unwrap(), number * 2);
    }
}

#[colored::test]
async fn a_panic_of_a_handler_is_a_system_error() {
    let (client, _server) = pair();
    let answer = client.call::<Void, Void>(PANIC, &Void).await;
    assert!(matches!(answer, Err(RpcError::Refused(Refusal::SystemError))), "{answer:?}");
}

#[colored::test]
async fn a_handler_sees_the_user() {
    let (client, _server) = pair();
    let anonymous = client.call::<Void, u32>(USER, &Void).await;
    assert!(matches!(anonymous, Err(RpcError::Refused(Refusal::Auth(5)))), "{anonymous:?}");
    let user =
        UnixAuth { uid: 1000, machine: b"here".to_vec(), gids: vec![1, 2], ..UnixAuth::default() };
    let client = client.with_auth(rpc::Auth::Unix(user));
    assert_eq!(client.call::<Void, u32>(USER, &Void).await.unwrap(), 1000);
}

#[colored::test]
async fn a_call_times_out_and_the_connection_goes_on() {
    let (client, _server) = pair();
    let hurried = client.with_timeout(Duration::from_millis(10));
    let answer = hurried.call::<Void, Void>(HANG, &Void).await;
    assert!(matches!(answer, Err(RpcError::TimedOut(_))), "{answer:?}");
    assert_eq!(client.call::<u32, u32>(DOUBLE, &1).await.unwrap(), 2);
}

#[colored::test]
async fn pending_calls_fail_when_a_side_closes() {
    let (client, _server) = pair();
    let pending = client.clone();
    let pending = colored::spawn(async move { pending.call::<Void, Void>(HANG, &Void).await });
    assert_eq!(client.call::<u32, u32>(DOUBLE, &1).await.unwrap(), 2);
    client.close();
    let answer = pending.await.unwrap();
    assert!(matches!(answer, Err(RpcError::Closed)), "{answer:?}");
    client.ended().await.unwrap();
}

/// A side closes in which a late call and a hanging one are in progress. Returns whether the late one is answered within the
/// limit, after which the connection ends.
async fn is_answered_behind_the_close(limit: Duration) -> bool {
    let (one, other) = duplex(1 << 12);
    let limits = Limits { write: limit, ..Limits::default() };
    let _server = Connection::over(one).serve(services()).limits(limits).open();
    let client = Connection::over(other).open();
    // One task begins both, in this order.
    let hanging = client.call::<Void, Void>(HANG, &Void);
    let late = client.call::<Void, Void>(LATE, &Void);
    let (hanging, late) = colored::join!(hanging, late);
    assert!(matches!(hanging, Err(RpcError::Closed)), "{hanging:?}");
    client.ended().await.unwrap();
    late.is_ok()
}

#[colored::test]
async fn a_side_that_closes_answers_calls_in_progress_for_a_while() {
    assert!(!is_answered_behind_the_close(Duration::ZERO).await, "there was no time");
    // The late call takes 100 ms, and on a busy machine more.
    for seconds in [1, 5, 25] {
        if is_answered_behind_the_close(Duration::from_secs(seconds)).await {
            return;
        }
    }
    panic!("the late call is not answered");
}

#[colored::test]
async fn a_server_serves_over_tcp() {
    let server = Server::bind("127.0.0.1:0", services()).await.unwrap();
    let addr = server.local_addr().unwrap();
    drop(colored::spawn(server.run()));
    let stream = TcpStream::connect(addr).await.unwrap();
    let client = Connection::over(stream).open();
    assert_eq!(client.call::<u32, u32>(DOUBLE, &7).await.unwrap(), 14);
    let total = ColorCell::new(1, 0_u32);
    for number in 0..10_u32 {
        let doubled: u32 = client.call(DOUBLE, &number).await.unwrap();
        total.call(move |total| *total += doubled).await;
    }
    assert_eq!(total.call(|total| *total).await, 90);
}

/// Waits, on its worker, until two calls are here at the same time, or some seconds have passed.
async fn meet(here: Arc<Meeting>, _: Caller, _: Void) -> Result<bool, Refusal> {
    let Meeting(count, changed) = &*here;
    let mut count = count.lock().unwrap();
    *count += 1;
    changed.notify_all();
    let limit = Duration::from_secs(5);
    let (count, _) = changed.wait_timeout_while(count, limit, |count| *count < 2).unwrap();
    Ok(*count == 2)
}

#[derive(Default)]
struct Meeting(Mutex<u32>, Condvar);

/// Two clients call at the same time, over TCP: whether their calls have met.
async fn have_met(color: impl Fn(&Caller, &Void) -> Color + Send + Sync + 'static) -> bool {
    let services = Services::new().with(service! {
        program PROGRAM, version 1, state Arc::<Meeting>::default();
        1 => meet, under color;
    });
    let server = Server::bind("127.0.0.1:0", services).await.unwrap();
    let addr = server.local_addr().unwrap();
    drop(colored::spawn(server.run()));
    let calls = [0, 1].map(|_| {
        colored::spawn_unique(async move {
            let stream = TcpStream::connect(addr).await.unwrap();
            let client = Connection::over(stream).open();
            client.call::<Void, bool>(Procedure::new(PROGRAM, 1, 1), &Void).await.unwrap()
        })
    });
    let [one, other] = calls;
    one.await.unwrap() && other.await.unwrap()
}

#[colored::test(workers = 2)]
async fn calls_of_two_clients_run_in_parallel_under_a_color_each() {
    assert!(have_met(|caller, _| Color::of(caller.peer())).await);
    assert!(!have_met(|_, _| Color::new(7)).await, "one color is one thread");
}

/// So many calls of [`DOUBLE`], one after the other.
fn calls(count: u32) -> Vec<u8> {
    let call = |number: u32| {
        let (last, length) = (1 << 31, 44);
        let header = [last | length, number, 0, 2, DOUBLE.program, DOUBLE.version, DOUBLE.number];
        let words = [&header[..], &[0, 0, 0, 0, number]].concat();
        words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>()
    };
    (0..count).flat_map(call).collect()
}

/// The bytes of a reply to [`DOUBLE`].
const REPLY: usize = 4 + 24 + 4;

/// Calls a server so often, and reads the replies slowly, `step` bytes at a time, or stops to read after a while. Returns how
/// that has ended for the server.
async fn read_slowly<S, C>(
    (server, client): (S, C),
    (count, step): (u32, usize),
    stops: bool,
) -> Result<(), RpcError>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    C: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let limits = Limits { write: LIMIT, ..Limits::default() };
    let server = Connection::over(server).serve(services()).limits(limits).open();
    let (mut reading, mut writing) = split(client);
    drop(colored::spawn(async move { writing.write_all(&calls(count)).await }));
    let reader = colored::spawn(async move {
        let (begun, mut got, mut reply) = (Instant::now(), 0, vec![0; step]);
        while got < count as usize * REPLY {
            if stops && begun.elapsed() > LIMIT {
                colored::time::sleep(LIMIT * 20).await;
                break;
            }
            // Slow for long, and then as fast as it goes.
            if stops || begun.elapsed() < LIMIT * 4 {
                colored::time::sleep(LIMIT / 20).await;
            }
            match reading.read(&mut reply).await {
                Ok(0) | Err(_) => break,
                Ok(n) => got += n,
            }
        }
        got
    });
    if stops {
        let ended = server.ended().await;
        reader.abort();
        return ended;
    }
    assert_eq!(reader.await.unwrap(), count as usize * REPLY);
    server.close();
    server.ended().await
}

/// Long enough that a busy machine keeps it.
const LIMIT: Duration = Duration::from_millis(1000);

/// A connection over TCP whose systems buffer little.
async fn small_pair() -> (TcpStream, TcpStream) {
    let listener = TcpSocket::new_v4().unwrap();
    listener.set_send_buffer_size(64 << 10).unwrap();
    listener.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = listener.listen(1).unwrap();
    let client = TcpSocket::new_v4().unwrap();
    client.set_recv_buffer_size(4 << 10).unwrap();
    let client = client.connect(listener.local_addr().unwrap());
    let (server, client) = colored::join!(listener.accept(), client);
    (server.unwrap().0, client.unwrap())
}

#[colored::test]
async fn a_side_that_reads_slowly_gets_all_replies_and_one_that_stops_is_cut_off() {
    for stops in [false, true] {
        let (memory, tcp) = colored::join!(
            // The replies of one batch take longer than the limit.
            read_slowly(duplex(1 << 10), (2_000, 64), stops),
            // A third of the buffer takes longer than the limit.
            read_slowly(small_pair().await, (20_000, 1024), stops)
        );
        for ended in [memory, tcp] {
            match ended {
                Ok(()) => assert!(!stops, "the connection goes on"),
                Err(RpcError::Io(error)) => {
                    assert!(stops && error.to_string().contains("has taken nothing"), "{error}")
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
