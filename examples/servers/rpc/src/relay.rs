//! [`Relay`]: a lossy network on one machine.

use colored::net::UdpSocket;
use colored::task::AbortHandle;
use colored::time::{Duration, sleep};
use colored::{Color, ColorCell, spawn_colored, spawn_here};
use fastrand::Rng;
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// How often datagrams suffer, in each direction. Each rate is of 1.
#[derive(Clone, Debug)]
pub struct Loss {
    /// The rate of datagrams that are lost.
    pub drops: f64,
    /// The rate of those that come twice.
    pub duplicates: f64,
    /// The rate of those that are late, behind others.
    pub reorders: f64,
    /// The most time by which they are late.
    pub late: Duration,
}

impl Default for Loss {
    /// 10 %, 10 %, 20 %, 5 ms.
    fn default() -> Self {
        Self { drops: 0.1, duplicates: 0.1, reorders: 0.2, late: Duration::from_millis(5) }
    }
}

/// Counts of datagrams, in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelayCounts {
    /// Those that have come.
    pub received: u64,
    /// Those that were dropped.
    pub dropped: u64,
    /// Those that were sent twice.
    pub doubled: u64,
    /// Those that were sent late.
    pub late: u64,
}

/// Stands between clients and a server, and loses, doubles and delays their datagrams by a seed. It ends when it is
/// dropped. For each client, the server sees an address of its own.
#[derive(Debug)]
pub struct Relay {
    addr: SocketAddr,
    shared: ColorCell<State>,
    task: AbortHandle,
}

struct State {
    random: Rng,
    counts: RelayCounts,
    loss: Loss,
    returning: Vec<AbortHandle>,
}

impl Relay {
    /// A relay at a new address of the IP address of `bind`, in front of `server`. Not cancel safe.
    ///
    /// # Errors
    ///
    /// The system's.
    pub async fn start(bind: &str, server: SocketAddr, loss: Loss, seed: u64) -> io::Result<Self> {
        let front = Arc::new(UdpSocket::bind(bind).await?);
        let addr = front.local_addr()?;
        let color = Color::unique();
        let random = Rng::with_seed(seed);
        let counts = RelayCounts::default();
        let shared = ColorCell::new(color, State { random, counts, loss, returning: Vec::new() });
        let run = forward(front, server, bind.to_owned(), shared.clone());
        let task = spawn_colored(color, run).abort_handle();
        Ok(Self { addr, shared, task })
    }

    /// The address for the clients.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// What the relay has done so far. Cancel safe.
    pub async fn counts(&self) -> RelayCounts {
        self.shared.call(|state| state.counts).await
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
        self.shared.post(|state| state.returning.iter().for_each(AbortHandle::abort));
    }
}

/// From the clients to the server.
async fn forward(
    front: Arc<UdpSocket>,
    server: SocketAddr,
    bind: String,
    shared: ColorCell<State>,
) {
    let mut clients: HashMap<SocketAddr, Arc<UdpSocket>> = HashMap::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let Ok((length, client)) = front.recv_from(&mut buffer).await else { continue };
        let back = match clients.get(&client) {
            Some(back) => Arc::clone(back),
            None => {
                let any_port = format!("{}:0", bind.rsplit_once(':').map_or("", |(ip, _)| ip));
                let Ok(back) = UdpSocket::bind(any_port).await else { continue };
                let back = Arc::new(back);
                clients.insert(client, Arc::clone(&back));
                let answering =
                    answer(Arc::clone(&back), Arc::clone(&front), client, shared.clone());
                let answering = spawn_here(answering).abort_handle();
                shared.with(|state| state.returning.push(answering));
                back
            }
        };
        pass(&buffer[..length], &back, server, &shared);
    }
}

/// From the server to a client.
async fn answer(
    back: Arc<UdpSocket>,
    front: Arc<UdpSocket>,
    client: SocketAddr,
    shared: ColorCell<State>,
) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let Ok((length, _)) = back.recv_from(&mut buffer).await else { continue };
        pass(&buffer[..length], &front, client, &shared);
    }
}

/// Passes a datagram on: never, once, or twice, each time now or later.
fn pass(datagram: &[u8], socket: &Arc<UdpSocket>, to: SocketAddr, shared: &ColorCell<State>) {
    let times = shared.with(State::draw);
    for late in times.into_iter().flatten() {
        if late.is_zero() {
            // If there is no room, one more is lost.
            let _ = socket.try_send_to(datagram, to);
        } else {
            let (datagram, socket) = (datagram.to_vec(), Arc::clone(socket));
            drop(spawn_here(async move {
                sleep(late).await;
                let _ = socket.try_send_to(&datagram, to);
            }));
        }
    }
}

impl State {
    /// How late a datagram is passed on, for each time that it is.
    fn draw(&mut self) -> [Option<Duration>; 2] {
        self.counts.received += 1;
        let mut happens = |rate: f64| self.random.f64() < rate;
        if happens(self.loss.drops) {
            self.counts.dropped += 1;
            return [None, None];
        }
        let is_doubled = happens(self.loss.duplicates);
        self.counts.doubled += u64::from(is_doubled);
        [true, is_doubled].map(|is_sent| is_sent.then(|| self.draw_late()))
    }

    fn draw_late(&mut self) -> Duration {
        if self.random.f64() >= self.loss.reorders {
            return Duration::ZERO;
        }
        self.counts.late += 1;
        self.loss.late.mul_f64(self.random.f64().max(0.01))
    }
}
