//! Loads without a fault.

use crate::load::{Dice, compute};
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpListener, TcpStream};
use colored::time::{Duration, MissedTickBehavior, interval, sleep};
use colored::{Color, ColorCell, spawn_colored, spawn_unique, yield_now};

/// A server without clients.
pub(crate) fn idle(_dice: &mut Dice) {
    let _detached = spawn_unique(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port of the loopback");
        loop {
            let _ = listener.accept().await;
        }
    });
}

/// A server and its clients, which together take some part of the CPUs.
pub(crate) fn server(dice: &mut Dice) {
    let clients = dice.number(8..=32);
    let (request, pause) = (dice.micros(20..=60), dice.micros(800..=3_000));
    let hits = ColorCell::new(Color::named("hits"), 0_u64);
    let _detached = spawn_unique(async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port of the loopback");
        let address = listener.local_addr().expect("it has an address");
        for _ in 0..clients {
            let _detached = spawn_unique(client(address, pause));
        }
        while let Ok((stream, _)) = listener.accept().await {
            let _detached = spawn_unique(connection(stream, request, hits.clone()));
        }
    });
}

async fn client(address: std::net::SocketAddr, pause: Duration) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    let mut answer = [0; 128];
    loop {
        stream.write_all(&[b'?'; 64]).await?;
        stream.read_exact(&mut answer).await?;
        sleep(pause).await;
    }
}

async fn connection(
    mut stream: TcpStream,
    request: Duration,
    hits: ColorCell<u64>,
) -> std::io::Result<()> {
    let mut question = [0; 64];
    loop {
        stream.read_exact(&mut question).await?;
        compute(request);
        hits.call(|hits| *hits += 1).await;
        stream.write_all(&[b'!'; 128]).await?;
    }
}

/// A batch over many colors, which takes all CPUs.
pub(crate) fn batch(dice: &mut Dice) {
    let colors = dice.number(50..=400);
    let chunk = dice.micros(50..=3_000);
    for color in 0..colors as u64 {
        let _detached = spawn_colored(Color::new(10 + color), async move {
            loop {
                compute(chunk);
                yield_now().await;
            }
        });
    }
}

/// Now and then much comes at once for one color, and is done a moment later.
pub(crate) fn burst(dice: &mut Dice) {
    let (items, item) = (dice.number(200..=1_000), dice.micros(50..=200));
    let cell = ColorCell::new(Color::named("inbox"), 0_u64);
    let pause = 3 * item * items as u32;
    let _detached = spawn_unique(async move {
        loop {
            for _ in 0..items {
                cell.post(move |done| {
                    compute(item);
                    *done += 1;
                });
            }
            // Behind all of them.
            cell.call(|_| ()).await;
            sleep(pause).await;
        }
    });
}

/// Tasks with timers, and little to do.
pub(crate) fn timers(dice: &mut Dice) {
    let (tasks, period) = (dice.number(20..=200), dice.millis(20..=200));
    for _ in 0..tasks {
        let _detached = spawn_unique(async move {
            let mut ticks = interval(period);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                compute(Duration::from_micros(5));
            }
        });
    }
}

/// A color that is busy for a good part of the time, and that nobody waits for.
pub(crate) fn busy(dice: &mut Dice) {
    let frame = dice.millis(2..=8);
    let _detached = spawn_colored(Color::named("frames"), async move {
        let mut ticks = interval(frame);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            // In parts, so that no poll is long.
            for _ in 0..7 {
                compute(frame / 10);
                yield_now().await;
            }
        }
    });
}
