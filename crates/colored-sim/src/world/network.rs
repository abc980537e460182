//! The network of a simulation: packets between the hosts, and the sockets that they go to.
//!
//! | file | what is in it |
//! |---|---|
//! | this one | the machines, the packets under way, and their delivery |
//! | [`address`] | the addresses of hosts, and ports |
//! | [`link`](mod@link) | latency, partitions, crashes |
//! | [`end`] | one end of a stream: what has arrived, and what is on its way |
//! | [`stream`] | reading, writing and closing an end |
//! | [`listener`] | listening and connecting |
//! | [`unconnected`] | sockets that do neither yet |
//! | [`datagrams`] | UDP |
//! | [`error`](mod@error) | the numbers of errors |
//!
//! A packet to another host takes some time, one inside a host none. Each host has an actor that delivers the next packet
//! that is due. A stream loses nothing: a packet that cannot be delivered is held, as a sender would repeat it.

pub(super) mod address;
mod datagrams;
mod end;
mod error;
mod link;
mod listener;
mod stream;
mod unconnected;

pub(super) use self::datagrams::Datagrams;
pub(super) use self::listener::Listener;
pub(super) use self::stream::Stream;
pub(super) use self::unconnected::Unconnected;

use self::datagrams::Datagram;
use self::end::{End, Segment};
use super::World;
use colored_core::contain;
use colored_machine::{Ready, Tasks};
use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::task::Waker;

/// The state of the network.
#[derive(Default)]
pub(crate) struct State {
    machines: Vec<Machine>,
    /// All ends of streams of the run. None is removed.
    ends: Vec<End>,
    listeners: Vec<listener::Queue>,
    datagrams: Vec<datagrams::Queue>,
    serial: u64,
    /// From which host to which one nothing arrives.
    cuts: BTreeSet<(usize, usize)>,
    /// What was delivered last, and from which host.
    last: Option<(usize, &'static str)>,
}

/// A host, as far as the network is concerned.
struct Machine {
    is_up: bool,
    /// How often it has crashed. Sockets of an earlier boot are gone.
    boots: u64,
    next_port: u16,
    /// Those to it, by the time at which they are due, and a serial number.
    packets: BTreeMap<(u64, u64), Packet>,
}

/// Something on its way.
enum Packet {
    /// To this end.
    Segment(usize, Segment),
    Datagram(Datagram),
    /// A datagram of this socket has found nobody.
    Unreachable(usize),
    /// The sender to this end gives up if the end is still out of reach, and has been since its count was this one.
    GiveUp(usize, u64),
}

impl State {
    pub(super) fn new(hosts: usize) -> State {
        let machine = |_| Machine {
            is_up: true,
            boots: 0,
            next_port: address::FIRST_PORT,
            packets: BTreeMap::new(),
        };
        State { machines: (0..hosts).map(machine).collect(), ..State::default() }
    }
}

/// The network, locked. Tasks are woken when this is dropped, after the lock.
pub(crate) struct Network<'a> {
    world: &'a World,
    state: Option<MutexGuard<'a, State>>,
    wakers: Vec<Waker>,
}

impl World {
    /// Whether a packet is under way.
    pub(crate) fn has_packets(&self) -> bool {
        // Ordering: only the thread of the run writes and reads.
        self.packets.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn network(&self) -> Network<'_> {
        // A panic under the lock is a fault of this module; the state stays as it was.
        let state = self.network.lock().unwrap_or_else(PoisonError::into_inner);
        Network { world: self, state: Some(state), wakers: Vec::new() }
    }
}

impl std::ops::Deref for Network<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        self.state.as_ref().expect("it is taken by the drop")
    }
}

impl std::ops::DerefMut for Network<'_> {
    fn deref_mut(&mut self) -> &mut State {
        self.state.as_mut().expect("it is taken by the drop")
    }
}

impl Drop for Network<'_> {
    fn drop(&mut self) {
        self.state = None;
        mem::take(&mut self.wakers).into_iter().for_each(|waker| contain(|| waker.wake()));
    }
}

impl Network<'_> {
    /// Whether a packet to this host is due.
    pub(crate) fn has_due(&self, host: usize) -> bool {
        self.next_of(host).is_some_and(|due| due <= self.world.now())
    }

    /// The next time at which a packet is due.
    pub(crate) fn next_due(&self) -> Option<u64> {
        (0..self.machines.len()).filter_map(|host| self.next_of(host)).min()
    }

    fn next_of(&self, host: usize) -> Option<u64> {
        self.machines[host].packets.first_key_value().map(|((due, _), _)| *due)
    }

    /// Delivers the next packet to this host.
    pub(crate) fn deliver(&mut self, host: usize) {
        let Some((_, packet)) = self.machines[host].packets.pop_first() else { return };
        // Ordering: see `World::has_packets`.
        self.world.packets.fetch_sub(1, Ordering::Relaxed);
        self.last = Some(self.describe(&packet));
        match packet {
            Packet::Segment(end, segment) => self.deliver_segment(end, segment),
            Packet::Datagram(datagram) => self.deliver_datagram(datagram),
            Packet::Unreachable(socket) => self.refuse_datagram(socket),
            Packet::GiveUp(end, held) => self.give_up(end, held),
        }
    }

    /// What was delivered last.
    pub(crate) fn describe_last(&self) -> String {
        match self.last {
            Some((from, what)) => format!("{what} of {} arrives", self.world.names[from]),
            None => String::new(),
        }
    }

    fn describe(&self, packet: &Packet) -> (usize, &'static str) {
        let sender = |end: usize| self.ends[self.ends[end].peer].host;
        match packet {
            Packet::Segment(end, segment) => (sender(*end), segment.name()),
            Packet::Datagram(datagram) => (datagram.sender(), "a datagram"),
            Packet::Unreachable(socket) => (self.datagrams[*socket].host, "a refused datagram"),
            Packet::GiveUp(end, _) => (sender(*end), "the time limit"),
        }
    }

    /// Puts a packet on its way.
    fn post(&mut self, to: usize, due: u64, packet: Packet) {
        let serial = self.serial;
        self.serial += 1;
        self.machines[to].packets.insert((due, serial), packet);
        // Ordering: see `World::has_packets`.
        self.world.packets.fetch_add(1, Ordering::Relaxed);
    }

    /// Tells the tasks of a socket that it is ready.
    fn mark(&mut self, tasks: Option<&Arc<dyn Tasks>>, ready: Ready) {
        if let Some(tasks) = tasks {
            tasks.mark(ready, &mut self.wakers);
        }
    }

    /// The host of this address, seen from a host.
    fn host_of(&self, from: usize, ip: IpAddr) -> Option<usize> {
        address::host_of(from, ip).filter(|host| *host < self.machines.len())
    }

    /// Whether the host has not crashed since it had that count.
    fn is_of_this_boot(&self, host: usize, boots: u64) -> bool {
        let machine = &self.machines[host];
        machine.is_up && machine.boots == boots
    }
}
