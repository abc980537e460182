//! Rings on sockets of the system.

use super::world::Ring;
use chord::{Error, Mistake, Settings, Value, concurrently};
use colored::sync::{Semaphore, SemaphorePermit};
use colored::time::{Duration, Instant, sleep};
use std::net::SocketAddrV4;
use std::ops::{Deref, DerefMut};

/// Until a ring is settled, or has all copies again, on a busy machine.
pub(crate) const MOST: Duration = Duration::from_secs(120);

const READS_AT_A_TIME: usize = 32;

/// So many nodes live at a time, those of all tests together: a busy machine has no time for more.
static ROOM: Semaphore = Semaphore::const_new(100);

/// Settings for a busy machine, on which a thread may get no CPU for seconds.
pub(crate) fn settings(mistake: Mistake) -> Settings {
    let (deadline, patience) = (Duration::from_secs(5), Duration::from_secs(60));
    Settings { deadline, patience, mistake, ..Settings::default() }
}

/// A ring, and the room that it takes until it is dropped.
pub(crate) struct Housed {
    ring: Ring,
    _room: SemaphorePermit<'static>,
}

impl Deref for Housed {
    type Target = Ring;

    fn deref(&self) -> &Ring {
        &self.ring
    }
}

impl DerefMut for Housed {
    fn deref_mut(&mut self) -> &mut Ring {
        &mut self.ring
    }
}

/// Waits until other tests leave room for the ring, starts it, and waits until it is settled.
pub(crate) async fn start(
    processes: u16,
    nodes: u16,
    settings: impl Fn(u16) -> Settings,
) -> Housed {
    let nodes_in_all = u32::from(processes) * u32::from(nodes);
    let room = ROOM.acquire_many(nodes_in_all).await.expect("nobody closes it");
    let ring = Ring::start(processes, nodes, settings).await.expect("loopback is there");
    assert!(ring.settle(MOST).await, "the ring settles");
    Housed { ring, _room: room }
}

impl Ring {
    /// Ends the process as a crash does.
    pub(crate) fn kill(&mut self, address: SocketAddrV4) {
        self.processes.retain(|process| process.address() != address);
        self.members.retain(|member| member.process() != address);
    }

    /// Waits until each of the values has as many copies as it should have. Returns whether it has in time.
    pub(crate) async fn repair(&self, values: &[Value], most: Duration) -> bool {
        let begin = Instant::now();
        for value in values {
            while self.client.count_copies((value.key(), value.sequence())).await.unwrap_or(0) < 3 {
                if begin.elapsed() > most {
                    return false;
                }
                sleep(Duration::from_millis(100)).await;
            }
        }
        true
    }

    /// How many of the values can be read, and are what was stored.
    pub(crate) async fn count_readable(&self, values: &[Value]) -> usize {
        let client = self.client.clone();
        let read = concurrently(values.to_vec(), READS_AT_A_TIME, move |value| {
            let client = client.clone();
            async move {
                let read = match client.block(value.key()).await {
                    // On a busy machine, the nodes that have it may have been taken for dead.
                    Err(Error::NotFound(_)) => client.block(value.key()).await,
                    read => read,
                };
                read.is_ok_and(|read| read.bytes() == value.bytes())
            }
        });
        read.await.into_iter().filter(|is_right| *is_right).count()
    }
}
