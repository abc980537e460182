//! Mutated bytes, by seed.

use colored::io::{AsyncReadExt, AsyncWriteExt, duplex};
use colored::net::UdpSocket;
use colored::time::error::Elapsed;
use colored::time::{Duration, timeout};
use fastrand::Rng;
use rpc::bank::{Bank, DEPOSIT, Deposit};
use rpc::nfs3_types::nfs3::{READDIRPLUS3args, READDIRPLUS3resok, SETATTR3args, WRITE3args};
use rpc::nfs3_types::rpc::auth_unix;
use rpc::nfs3_types::xdr_codec::{Error, Opaque, Unpack};
use rpc::{Connection, Mistake, Retry, RpcError, Services, Udp, decode, encode};
use std::cell::Cell;
use std::io::Read;

/// A call of a deposit into account 0.
fn deposit() -> Vec<u8> {
    let mut call = Vec::new();
    for word in [9, 0, 2, DEPOSIT.program, 1, 1, 1, 20, 7, 0, 8, 8, 0, 0, 0, 0, 1_u32] {
        call.extend(word.to_be_bytes());
    }
    call
}

/// Flips bits, writes words that are lengths nobody has, cuts, and repeats.
fn mutate(bytes: &mut Vec<u8>, random: &mut Rng) {
    for _ in 0..random.usize(1..4) {
        let place = random.usize(..bytes.len().max(1));
        match random.u8(..5) {
            0 if !bytes.is_empty() => bytes[place] ^= 1 << random.u8(..8),
            1 if place + 4 <= bytes.len() => {
                let word = random.choice([0, 1, 3, 0x7fff_ffff, u32::MAX, 1 << 16, 401]).unwrap();
                let place = place & !3;
                bytes[place..place + 4].copy_from_slice(&word.to_be_bytes());
            }
            2 => bytes.truncate(place),
            3 => bytes.extend_from_within(place..),
            _ => bytes.extend(random.u32(..).to_be_bytes()),
        }
    }
}

/// Sends mutated datagrams to a bank, and deposits now and then. Returns the balance of account 0.
async fn send_mutated(services: Services, deadline: Duration) -> Result<u64, RpcError> {
    let server = Udp::bind("127.0.0.1:0").await.unwrap();
    server.serve(services);
    let to = server.local_addr().unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let client = Udp::bind("127.0.0.1:0").await.unwrap();
    let client = client.with_retry(Retry { deadline, ..Retry::default() });
    let mut random = Rng::with_seed(1);
    let mut balance = 0;
    for _ in 0..200 {
        // So many have room where they wait for the server.
        for _ in 0..100 {
            let mut call = deposit();
            mutate(&mut call, &mut random);
            let _ = socket.try_send_to(&call, to);
        }
        balance = client.call(to, DEPOSIT, &Deposit { account: 0, amount: 1 }).await?;
    }
    let counts = server.counts().await?;
    assert!(counts.garbage > 1000, "{counts:?}");
    Ok(balance)
}

#[colored::test]
async fn mutated_datagrams_end_nothing() {
    let services = Bank::new(1).services();
    let balance = send_mutated(services, Duration::from_secs(60)).await.unwrap();
    assert!(balance > 1000, "some mutations are harmless: {balance}");
}

#[colored::test]
async fn an_endpoint_that_ends_is_noticed() {
    let services = Bank::new(1).services().with_mistake(Mistake::ClosesOnGarbage);
    assert!(send_mutated(services, Duration::from_secs(1)).await.is_err());
}

/// Sends mutated streams to a server, each on a connection of its own, which must end in this time.
async fn connect_mutated(services: Services, deadline: Duration) -> Result<(), Elapsed> {
    let mut random = Rng::with_seed(2);
    for _ in 0..2000 {
        let mut stream = Vec::new();
        for _ in 0..3 {
            let call = deposit();
            stream.extend((1 << 31 | call.len() as u32).to_be_bytes());
            stream.extend(call);
        }
        mutate(&mut stream, &mut random);
        let (mut client, server) = duplex(1 << 16);
        let server = Connection::over(server).serve(services.clone()).open();
        // The server may have gone.
        let _ = client.write_all(&stream).await;
        let _ = client.shutdown().await;
        let mut replies = Vec::new();
        timeout(deadline, client.read_to_end(&mut replies)).await?.unwrap();
        assert!(replies.len() <= 4 * 48, "{replies:?}");
        let _ = server.ended().await;
    }
    Ok(())
}

#[colored::test]
async fn mutated_streams_end_their_own_connection_only() {
    let bank = Bank::new(1);
    let ended = connect_mutated(bank.services(), Duration::from_secs(10)).await;
    ended.expect("each connection ends");
    assert!(bank.total().await > 2000, "most calls are executed");
}

#[colored::test]
async fn a_connection_that_does_not_end_is_noticed() {
    let services = Bank::new(1).services().with_mistake(Mistake::KeepsBrokenConnections);
    assert!(connect_mutated(services, Duration::from_secs(1)).await.is_err());
}

fn decode_mutated<T: Unpack>(bytes: &[u8], random: &mut Rng) -> (u32, u32) {
    let (mut right, mut wrong) = (0, 0);
    for _ in 0..3000 {
        let mut bytes = bytes.to_vec();
        mutate(&mut bytes, random);
        match decode::<T>(&bytes) {
            Ok(_) => right += 1,
            Err(_) => wrong += 1,
        }
    }
    (right, wrong)
}

#[test]
fn mutated_values_are_decoded_or_refused() {
    let mut random = Rng::with_seed(3);
    let groups = auth_unix { gids: vec![1, 2, 3], ..auth_unix::default() };
    let groups = encode(&groups).unwrap();
    let (_, wrong) = decode_mutated::<auth_unix>(&groups, &mut random);
    assert!(wrong > 100);
    let zeros = vec![0; 120];
    decode_mutated::<WRITE3args<'_>>(&zeros, &mut random);
    decode_mutated::<SETATTR3args>(&zeros, &mut random);
    decode_mutated::<READDIRPLUS3args>(&zeros, &mut random);
    decode_mutated::<READDIRPLUS3resok<'_>>(&zeros, &mut random);
}

thread_local! {
    /// The largest length that a decoder has been given.
    static BELIEVED: Cell<u32> = const { Cell::new(0) };
}

/// Bytes behind their length, decoded as `nfs3_types` does it.
#[derive(Debug)]
struct Trusting;

impl Unpack for Trusting {
    fn unpack(input: &mut impl Read) -> Result<(Self, usize), Error> {
        let (length, _) = u32::unpack(input)?;
        BELIEVED.set(BELIEVED.get().max(length));
        // Here `nfs3_types` allocates in any case.
        if length > 1 << 20 {
            return Err(Error::ObjectTooLarge(length as usize));
        }
        let mut bytes = vec![0; length as usize];
        input.read_exact(&mut bytes)?;
        Ok((Self, 4 + bytes.len()))
    }
}

/// The largest length that `Trusting` gets from this way to decode mutated bytes.
fn believed(decode: impl Fn(&[u8]) -> Result<Trusting, Error>) -> u32 {
    BELIEVED.set(0);
    let mut random = Rng::with_seed(4);
    for _ in 0..3000 {
        let mut bytes = encode(&Opaque::owned(vec![7; 40])).unwrap();
        mutate(&mut bytes, &mut random);
        let _ = decode(&bytes);
    }
    BELIEVED.get()
}

#[test]
fn a_decoder_that_believes_lengths_allocates_little() {
    for length in [7, 100_000, 1 << 24, u32::MAX] {
        let bytes = [length.to_be_bytes(), [0; 4]].concat();
        assert!(decode::<Trusting>(&bytes).is_err(), "{length}");
    }
    assert!(decode::<Trusting>(&[0, 0, 0, 4, 1, 2, 3, 4]).is_ok());
    assert!(believed(decode) < 100_000);
}

#[test]
fn without_the_check_of_lengths_a_decoder_allocates_gigabytes() {
    let unchecked = |bytes: &[u8]| Trusting::unpack(&mut &*bytes).map(|(value, _)| value);
    assert!(believed(unchecked) > 1 << 30);
}

#[test]
fn a_length_that_the_bytes_do_not_have_is_refused_and_a_large_number_is_not() {
    let huge = [u32::MAX.to_be_bytes(); 3].concat();
    assert!(decode::<Opaque<'static>>(&huge).is_err());
    // Sixteen gigabytes, if it were believed.
    assert!(decode::<Vec<u32>>(&huge).is_err());
    assert_eq!(decode::<u32>(&huge[..4]).unwrap(), u32::MAX);
    assert_eq!(decode::<u64>(&huge[..8]).unwrap(), u64::MAX);
    let groups = encode(&vec![u32::MAX; 3]).unwrap();
    assert_eq!(decode::<Vec<u32>>(&groups).unwrap(), [u32::MAX; 3]);
    assert!(decode::<u32>(&huge[..3]).is_err(), "too few");
    assert!(decode::<u32>(&huge[..8]).is_err(), "too many");
}
