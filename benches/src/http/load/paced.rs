//! An open loop: a fixed number of requests a second in all, spread over the connections in turn.
//!
//! The connections have requests by turns, so each pauses for their number over the rate. The requests
//! that are due in one millisecond are sent together, at its end. A delay begins when its request was
//! due, not when it could be sent: a server that stops makes all requests late that were due meanwhile.

use super::{GRACE, Load, Tally, poll, thread_cpu};
use crate::placement::Placement;
use mio::Events;
use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

/// The result of an open loop.
#[derive(Clone, Debug, Default)]
pub struct Paced {
    /// As for a closed loop, but the rate counts up to the last response.
    pub tally: Tally,
    /// Delays of all right responses, in order of length.
    delays: Vec<Duration>,
}

impl Paced {
    /// The delay that the part `share` of all responses did not exceed.
    ///
    /// # Panics
    ///
    /// If there was no response.
    #[must_use]
    pub fn delay(&self, share: f64) -> Duration {
        let last = self.delays.len() - 1;
        self.delays[((self.delays.len() as f64 * share) as usize).min(last)]
    }
}

/// The interval between sends: each send has all requests that became due in it.
const TICK: Duration = Duration::from_millis(1);

/// The requests of each connection that are due, the oldest first; the first is under way.
type Due = Vec<VecDeque<Duration>>;

impl Load {
    /// Sends `rate` requests a second for `time`, then waits for the last responses.
    ///
    /// # Errors
    ///
    /// As for [`Load::run`].
    pub fn run_paced(&mut self, rate: u32, time: Duration) -> io::Result<Paced> {
        let _placed = Placement::Apart.hold()?;
        let (start, cpu) = (Instant::now(), thread_cpu());
        let mut due: Due = vec![VecDeque::new(); self.connections.len()];
        let all = (f64::from(rate) * time.as_secs_f64()) as u64;
        let a_tick = f64::from(rate) * TICK.as_secs_f64();
        let (mut sent, mut ticks) = (0, 0_u32);
        let mut paced = Paced::default();
        while (paced.delays.len() as u64) < all {
            let now = start.elapsed();
            while sent < all && TICK * (ticks + 1) <= now {
                ticks += 1;
                let until = ((f64::from(ticks) * a_tick) as u64).min(all);
                for request in sent..until {
                    // The index is less than the number of connections, so it fits.
                    let index = (request % due.len() as u64) as usize;
                    self.ask(index, TICK * ticks, &mut due)?;
                }
                sent = until;
            }
            let left = (TICK * (ticks + 1)).saturating_sub(start.elapsed());
            if poll(&mut self.poll, &mut self.events, left)? {
                self.read_answers(start, &mut due, &mut paced.delays)?;
            }
            if now > time + GRACE || self.broken() > 0 {
                self.give_up();
                break;
            }
        }
        let wall = start.elapsed();
        let requests = paced.delays.len() as u64;
        let rate = requests as f64 / wall.as_secs_f64();
        paced.tally =
            Tally { requests, errors: self.broken(), wall, rate, cpu: thread_cpu() - cpu };
        paced.delays.sort_unstable();
        Ok(paced)
    }

    fn ask(&mut self, index: usize, when: Duration, due: &mut Due) -> io::Result<()> {
        due[index].push_back(when);
        if due[index].len() == 1 { self.send(index) } else { Ok(()) }
    }

    fn read_answers(
        &mut self,
        start: Instant,
        due: &mut Due,
        delays: &mut Vec<Duration>,
    ) -> io::Result<()> {
        let events = std::mem::replace(&mut self.events, Events::with_capacity(0));
        for event in &events {
            let index = event.token().0;
            if self.connections[index].receive(&mut self.buffer, &self.script) {
                let when = due[index].pop_front();
                delays.extend(when.map(|when| start.elapsed().saturating_sub(when)));
                if !due[index].is_empty() {
                    self.send(index)?;
                }
            }
        }
        self.events = events;
        Ok(())
    }
}
