//! A program of 50 colors whose result shows each order of two events under a color.

use colored::sync::{mpsc, oneshot};
use colored::time::{Duration, Instant, sleep, system_time, timeout};
use colored::{
    Color, ColorCell, hop, record, select, spawn_blocking, spawn_colored, spawn_unique, yield_now,
};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

const COLORS: u64 = 50;

/// A hash of everything in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chain(u64);

impl Chain {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn add(&mut self, value: u64) -> u64 {
        let mut x = self.0 ^ value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        self.0 = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb).wrapping_add(1);
        self.0
    }
}

struct World {
    chains: Vec<ColorCell<Chain>>,
    bounded: Vec<mpsc::Sender<u64>>,
    unbounded: Vec<mpsc::UnboundedSender<u64>>,
}

impl World {
    fn chain(&self, number: u64) -> &ColorCell<Chain> {
        &self.chains[(number % COLORS) as usize]
    }
}

/// What a task does in a step, by its own chain: that depends on all that it has seen.
async fn step(world: &Arc<World>, own: &mut Chain, depth: u32) {
    let (choice, target) = (own.add(1) % 16, own.add(2));
    let value = own.0;
    match choice {
        0 | 1 => world.chain(target).post(move |chain| {
            chain.add(value);
        }),
        2 | 3 => {
            let seen = world.chain(target).call(move |chain| chain.add(value)).await;
            own.add(seen);
        }
        4 => {
            let channel = &world.bounded[(target % 5) as usize];
            own.add(u64::from(channel.send(value).await.is_ok()));
        }
        5 => {
            let channel = &world.unbounded[(target % 5) as usize];
            own.add(u64::from(channel.send(value).is_ok()));
        }
        6 if depth < 2 => {
            let shared = Arc::clone(world);
            let task = spawn_colored(target % COLORS, run(shared, value, depth + 1, 3));
            own.add(task.await.unwrap());
        }
        7 if depth < 2 => {
            let shared = Arc::clone(world);
            let task = spawn_unique(run(shared, value, depth + 1, 2));
            yield_now().await;
            own.add(u64::from(task.is_finished()));
            own.add(task.await.unwrap());
        }
        8 => sleep(Duration::from_micros(target % 800)).await,
        9 => yield_now().await,
        10 => hop(Color::new(target % COLORS)).await,
        11 => {
            let shared = Arc::clone(world);
            let blocking = spawn_blocking(move || {
                shared.chain(target).post(move |chain| {
                    chain.add(value);
                });
                value ^ 5
            });
            own.add(blocking.await.unwrap());
        }
        12 => {
            own.add(record::random());
            own.add(Instant::now().elapsed().as_nanos() as u64);
            own.add(system_time().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64);
            own.add(Color::unique().number());
        }
        13 => {
            let call = world.chain(target).call(move |chain| chain.add(value));
            let limit = Duration::from_micros(target % 60);
            own.add(timeout(limit, call).await.unwrap_or(7));
        }
        14 => {
            let (sender, receiver) = oneshot::channel();
            let task = spawn_colored(target % COLORS, async move { sender.send(value).is_ok() });
            select! {
                received = receiver => own.add(received.unwrap()),
                () = sleep(Duration::from_micros(target % 60)) => own.add(3),
            };
            own.add(u64::from(task.await.unwrap()));
        }
        _ => {
            let shared = Arc::clone(world);
            let task = spawn_colored(target % COLORS, async move {
                for _ in 0..3 {
                    shared.chain(value).post(|chain| {
                        chain.add(9);
                    });
                    yield_now().await;
                }
            });
            world.chain(target).call(move |chain| chain.add(value)).await;
            task.abort();
            own.add(u64::from(task.await.is_ok()));
        }
    }
}

fn run(
    world: Arc<World>,
    seed: u64,
    depth: u32,
    steps: u32,
) -> std::pin::Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        let mut own = Chain::new(seed);
        for _ in 0..steps {
            step(&world, &mut own, depth).await;
        }
        own.0
    })
}

/// The chains of all colors and tasks.
pub(crate) async fn program(seed: u64, tasks: u64, steps: u32) -> Vec<u64> {
    let chains = (0..COLORS).map(|color| ColorCell::new(color, Chain::new(color))).collect();
    let (mut bounded, mut unbounded, mut readers) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..5_u64 {
        let (sender, mut receiver) = mpsc::channel(2);
        bounded.push(sender);
        readers.push(spawn_colored(number, async move {
            let mut chain = Chain::new(number);
            while let Some(value) = receiver.recv().await {
                chain.add(value);
            }
            chain.0
        }));
        let (sender, mut receiver) = mpsc::unbounded_channel();
        unbounded.push(sender);
        readers.push(spawn_colored(number + 20, async move {
            let mut chain = Chain::new(number);
            while let Some(value) = receiver.recv().await {
                chain.add(value);
                if value % 8 == 0 {
                    sleep(Duration::from_micros(value % 500)).await;
                }
            }
            chain.0
        }));
    }
    let world = Arc::new(World { chains, bounded, unbounded });
    let tasks: Vec<_> = (0..tasks)
        .map(|task| {
            let world = Arc::clone(&world);
            spawn_colored(task % COLORS, run(world, seed ^ task << 32, 0, steps))
        })
        .collect();
    let mut result = Vec::new();
    for task in tasks {
        result.push(task.await.unwrap());
    }
    let chains: Vec<_> = world.chains.to_vec();
    drop(world);
    for reader in readers {
        result.push(reader.await.unwrap());
    }
    for chain in chains {
        result.push(chain.call(|chain| chain.add(0)).await);
    }
    result
}
