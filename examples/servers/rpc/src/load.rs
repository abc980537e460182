//! `rpc serve`: a server with calls that cost something.

use crate::Failure;
use colored::{Color, Runtime};
use rpc::bank::{Bank, PROGRAM};
use rpc::{Caller, Procedure, Refusal, Server, Services, Udp, service};
use std::hint::black_box;

/// The number of a program whose procedures compute.
const LOAD: u32 = 0x2000_b0b1;

/// Computes for as many rounds as it is told to, and returns what comes out.
pub(crate) const COMPUTE: Procedure = Procedure::new(LOAD, 1, 1);

async fn compute(_: (), _: Caller, rounds: u32) -> Result<u64, Refusal> {
    let step = |number: u64, round| (number ^ u64::from(round)).wrapping_mul(0x100_0000_01b3);
    Ok((0..rounds.min(1 << 20)).fold(0, |number, round| black_box(step(number, round))))
}

/// Under one color, as a program with one thread; or under a color for each client.
fn services(is_serial: bool) -> Services {
    let color = move |caller: &Caller, _: &u32| match is_serial {
        true => Color::DEFAULT,
        false => Color::of(("client", caller.peer())),
    };
    Bank::new(50).services().with(service! {
        program LOAD, version 1, state ();
        COMPUTE.number => compute, under color;
    })
}

/// Serves until the program is killed.
pub(crate) fn serve(workers: usize, is_serial: bool) -> Result<(), Failure> {
    let runtime = Runtime::builder().workers(workers).build()?;
    runtime.run(async move {
        let server = Server::bind("127.0.0.1:0", services(is_serial)).await?;
        let server = match is_serial {
            true => server.color(|_| Color::DEFAULT),
            false => server,
        };
        let udp = Udp::bind("127.0.0.1:0").await?;
        udp.serve(services(is_serial));
        println!("tcp {}", server.local_addr()?);
        println!("udp {}", udp.local_addr()?);
        println!("program {PROGRAM}, version 1; Ctrl-C stops the server");
        server.run().await;
        Ok(())
    })
}
