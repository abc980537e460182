//! The way between two hosts: latency, partitions, and hosts that are down.

use super::end::{Phase, Segment};
use super::{Network, Packet};
use crate::world::Fault;
use colored_machine::Ready;
use std::io::ErrorKind;

/// A packet from one host to another takes 0.5 ms.
const LATENCY: u64 = 500_000;

/// No packet is late by more than a dozen seconds.
const LATEST: u64 = 8_000_000_000;

/// A sender repeats what was held so long after it can be delivered again.
const REPEATED_AFTER: u64 = 200_000_000;

/// A sender gives up after these times: the defaults of Linux, for the first segment and for later ones.
const ASKS_FOR: u64 = 127_000_000_000;
const SENDS_FOR: u64 = 924_600_000_000;

impl Network<'_> {
    /// Nothing arrives on the way from one host to the other any more.
    pub(crate) fn cut(&mut self, from: usize, to: usize) {
        if from != to {
            self.cuts.insert((from, to));
        }
    }

    pub(crate) fn is_cut(&self, from: usize, to: usize) -> bool {
        self.cuts.contains(&(from, to))
    }

    /// The way is open again. Senders repeat what was held.
    pub(crate) fn heal(&mut self, from: usize, to: usize) {
        if !self.cuts.remove(&(from, to)) {
            return;
        }
        for end in 0..self.ends.len() {
            let (host, peer) = (self.ends[end].host, self.ends[end].peer);
            let others = self.ends[peer].host;
            if (others, host) == (from, to) {
                self.repeat_held(end);
            }
            if (host, others) == (from, to) && self.ends[end].unheard > 0 {
                self.ends[end].unheard = 0;
                self.send(peer, Segment::Room);
            }
        }
    }

    /// All ways are open again.
    pub(crate) fn heal_all(&mut self) {
        for (from, to) in self.cuts.clone() {
            self.heal(from, to);
        }
    }

    /// The sockets of a host are gone, and nobody is told.
    pub(crate) fn crash(&mut self, host: usize) {
        let machine = &mut self.machines[host];
        machine.is_up = false;
        machine.boots += 1;
        self.ends.iter_mut().filter(|end| end.host == host).for_each(|end| end.tasks = None);
        self.listeners.iter_mut().filter(|of| of.host == host).for_each(|of| of.close());
        self.datagrams.iter_mut().filter(|of| of.host == host).for_each(|of| of.close());
    }

    /// The host is up again, and answers what peers repeat.
    pub(crate) fn boot(&mut self, host: usize) {
        self.machines[host].is_up = true;
        for end in 0..self.ends.len() {
            if self.ends[end].host == host {
                self.repeat_held(end);
            }
        }
    }

    /// How long a packet takes.
    pub(super) fn latency(&mut self, from: usize, to: usize) -> u64 {
        if from == to || !self.world.fault(Fault::Delay, from) {
            return if from == to { 0 } else { LATENCY };
        }
        // Each doubling is a choice of its own, so that a failure is shrunk to the shortest delay.
        let mut latency = LATENCY * 2;
        if self.world.is_tails(Fault::Delay, from) {
            return LATENCY / 8;
        }
        while latency < LATEST && self.world.is_tails(Fault::Delay, from) {
            latency *= 2;
        }
        latency
    }

    /// Sends a segment to an end, behind all others. Over a Unix socket it is there at once.
    pub(super) fn send(&mut self, to: usize, segment: Segment) {
        if self.ends[to].is_unix() {
            return self.deliver_segment(to, segment);
        }
        let (host, from) = (self.ends[to].host, self.ends[self.ends[to].peer].host);
        let due = self.world.now() + self.latency(from, host);
        let due = due.max(self.ends[to].last_due);
        self.ends[to].last_due = due;
        self.post(host, due, Packet::Segment(to, segment));
    }

    pub(super) fn deliver_segment(&mut self, to: usize, segment: Segment) {
        let end = &self.ends[to];
        let (host, peer) = (end.host, end.peer);
        let is_out_of_reach = self.is_cut(self.ends[peer].host, host) || !self.machines[host].is_up;
        if is_out_of_reach || !end.held.is_empty() {
            return self.hold(to, segment);
        }
        if let Segment::Ask = segment {
            return self.ask(to);
        }
        let end = &mut self.ends[to];
        let is_gone = end.phase == Phase::Closed;
        if is_gone || !self.is_of_this_boot(host, self.ends[to].boots) {
            // An end of the stream needs no answer of a socket that is closed.
            let is_answered = match segment {
                Segment::Reset | Segment::Room => false,
                Segment::End => !is_gone,
                _ => true,
            };
            if is_answered {
                self.send(peer, Segment::Reset);
            } else if let Segment::Reset = segment {
                self.ends[to].lingers_until = 0;
            }
            return;
        }
        self.take_segment(to, segment);
    }

    /// The end is there, and learns of the segment.
    fn take_segment(&mut self, to: usize, segment: Segment) {
        let end = &mut self.ends[to];
        let mut ready = Ready::EMPTY;
        match segment {
            Segment::Ask => {}
            Segment::Taken if end.phase == Phase::Connecting => {
                end.phase = Phase::Open;
                ready = Ready::WRITABLE;
            }
            Segment::Taken => {}
            Segment::Data(data) if end.refuses_data() => {
                // The socket takes nothing any more, and its system says so.
                end.on_the_way -= data.len();
                if !end.is_over() {
                    let peer = end.peer;
                    end.reset();
                    self.send(peer, Segment::Reset);
                }
            }
            Segment::Data(data) => end.take_in(data),
            Segment::End => (end.is_at_end, end.has_heard_end) = (true, true),
            Segment::Reset => end.reset(),
            Segment::Room => ready = Ready::WRITABLE,
        }
        let end = &self.ends[to];
        let (tasks, ready) = (end.tasks.clone(), end.ready() | ready);
        self.mark(tasks.as_ref(), ready);
    }

    /// What cannot be delivered is repeated by the sender, who gives up at last. A reset is not repeated.
    fn hold(&mut self, to: usize, segment: Segment) {
        if let Segment::Reset = segment {
            return;
        }
        let end = &mut self.ends[to];
        let is_first = end.held.is_empty();
        let limit = if let Segment::Ask = segment { ASKS_FOR } else { SENDS_FOR };
        end.held.push_back(segment);
        if is_first {
            end.times_held += 1;
            let (peer, times) = (end.peer, end.times_held);
            let sender = self.ends[peer].host;
            self.post(sender, self.world.now() + limit, Packet::GiveUp(to, times));
        }
    }

    fn repeat_held(&mut self, to: usize) {
        let due = (self.world.now() + REPEATED_AFTER).max(self.ends[to].last_due);
        for segment in std::mem::take(&mut self.ends[to].held) {
            self.ends[to].last_due = due;
            self.post(self.ends[to].host, due, Packet::Segment(to, segment));
        }
    }

    /// Breaks the sender's end if the other one has been out of reach since then.
    pub(super) fn give_up(&mut self, to: usize, times_held: u64) {
        let (is_held, times, peer) =
            (!self.ends[to].held.is_empty(), self.ends[to].times_held, self.ends[to].peer);
        if is_held && times == times_held && self.ends[peer].phase != Phase::Closed {
            let sender = &mut self.ends[peer];
            sender.error = Some(ErrorKind::TimedOut);
            sender.fail();
            let (tasks, ready) = (sender.tasks.clone(), sender.ready());
            self.mark(tasks.as_ref(), ready);
        }
    }
}
