#!/usr/bin/env bash
# A fail rate of 5 % in turmoil loses half of the datagrams if one is sent each millisecond; and with a fail rate of 1 % a one-way
# partition ends by itself.
#
# Version: turmoil 0.7.2 (the newest in November 2026), tokio 1.54.1, Rust 1.95.0.
# One would guess that 5 of 100 datagrams are lost: `fail_rate` is documented as the failure rate of messages, and as useful with
# UDP for tests of a flaky network. And one would guess that `partition_oneway` holds until somebody calls `repair_oneway`. What
# fails is not a message, but the link, in both directions: all messages that are on their way on it are thrown away too. The
# latency is up to 100 ms, so some twenty are on their way in the first case. The next message that somebody sends over the link
# repairs it, with the usual `repair_rate` of 1. This sets both directions to broken, and then both to healthy, also if one of them
# was partitioned on purpose. So a test with a one-way partition and some loss tests no partition.
#
# Seen, of 10,000 datagrams (2,000 in the third line):
#   5 %, one each ms: more than 40 % are lost; 1 %, one each ms: more than 10 %; 5 %, one each 200 ms: 3 to 7 %
#   one-way partition from the client to the server: 0 come through; with 1 %: more than 90 % of them
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "fail-rate"
version = "0.1.0"
edition = "2021"

[dependencies]
tokio = { version = "=1.54.1", features = ["time"] }
turmoil = "=0.7.2"
E
cat >src/main.rs <<'E'
use std::{cell::Cell, rc::Rc, time::Duration};
use turmoil::{net::UdpSocket, Builder};

/// The share of datagrams from a client that get to a server, if one is sent each `pause` milliseconds.
fn share(datagrams: u32, pause: u64, fail_rate: f64, partition: bool) -> f64 {
    let day = Duration::from_secs(24 * 60 * 60);
    let mut sim = Builder::new().rng_seed(1).fail_rate(fail_rate).udp_capacity(10_000).simulation_duration(day).build();
    let received = Rc::new(Cell::new(0_u32));
    let counter = received.clone();
    sim.host("server", move || {
        let counter = counter.clone();
        async move {
            let socket = UdpSocket::bind("0.0.0.0:1").await?;
            loop {
                socket.recv_from(&mut [0; 1]).await?;
                counter.set(counter.get() + 1);
            }
        }
    });
    sim.client("client", async move {
        let socket = UdpSocket::bind("0.0.0.0:1").await?;
        for _ in 0..datagrams {
            socket.send_to(b"x", ("server", 1)).await?;
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(())
    });
    if partition {
        sim.partition_oneway("client", "server");
    }
    sim.run().unwrap();
    let share = f64::from(received.get()) / f64::from(datagrams);
    eprintln!("{datagrams}, each {pause} ms, {fail_rate}, {partition}: {share}");
    share
}

fn main() {
    println!("no loss, one each ms: {}", share(10_000, 1, 0.0, false));
    println!("5 %, one each ms, more than 40 % are lost: {}", share(10_000, 1, 0.05, false) < 0.6);
    println!("1 %, one each ms, more than 10 % are lost: {}", share(10_000, 1, 0.01, false) < 0.9);
    println!("5 %, one each 200 ms, 3 to 7 % are lost: {}", (0.93..0.97).contains(&share(2_000, 200, 0.05, false)));
    println!("partition, no loss: {}", share(10_000, 1, 0.0, true));
    println!("partition, 1 %, one each 50 ms, more than 90 % arrive: {}", share(10_000, 50, 0.01, true) > 0.9);
}
E
seen=$(cargo run -q --release)
echo "$seen"
expected='no loss, one each ms: 1
5 %, one each ms, more than 40 % are lost: true
1 %, one each ms, more than 10 % are lost: true
5 %, one each 200 ms, 3 to 7 % are lost: true
partition, no loss: 0
partition, 1 %, one each 50 ms, more than 90 % arrive: true'
[ "$seen" = "$expected" ] || { echo "changed: other shares are lost, or the partition holds"; exit 1; }
