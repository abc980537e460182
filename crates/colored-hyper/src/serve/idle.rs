//! The two limits of an HTTP/2 connection that has nothing to do: [`Idle`] until the server says goodbye, and
//! [`Goodbye`] until it stops waiting for the client to understand.

use super::activity::Activity;
use colored::time::{Duration, Instant, Sleep, sleep, sleep_until};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Ends when no request has begun for the time of the limit.
pub(super) struct Idle {
    limit: Duration,
    activity: Activity,
    timer: Sleep,
}

impl Idle {
    /// The limit of a connection that begins now.
    pub(super) fn new(limit: Duration, activity: Activity) -> Idle {
        let timer = sleep_until(activity.last_request() + limit);
        Idle { limit, activity, timer }
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(Pin::new(&mut self.timer).poll(cx));
            let due = self.activity.last_request() + self.limit;
            if due <= Instant::now() {
                return Poll::Ready(());
            }
            Pin::new(&mut self.timer).reset(due);
        }
    }
}

/// How long a client may take to acknowledge that the server goes away. A guess: far longer than a round trip.
const ACKNOWLEDGE: Duration = Duration::from_secs(5);

/// A connection that asks more often whether it may close takes time from others.
const LEAST: Duration = Duration::from_millis(10);

/// The end of a connection that has told its client to go away. hyper closes it when the client has acknowledged this and
/// has taken every response; this is the limit for clients that do not.
pub(super) struct Goodbye {
    activity: Activity,
    /// How often to look.
    step: Duration,
    /// How long the rest of a response may make no progress.
    write_timeout: Option<Duration>,
    /// For how long there has been no request and no progress.
    quiet: Duration,
    /// How much the client had taken.
    taken: u64,
    timer: Sleep,
}

impl Goodbye {
    pub(super) fn new(limits: Limits, activity: Activity) -> Goodbye {
        let Limits { idle, write_timeout } = limits;
        let step = ACKNOWLEDGE.min(idle.unwrap_or(ACKNOWLEDGE)).max(LEAST);
        activity.take_progress();
        Goodbye {
            activity,
            step,
            write_timeout,
            quiet: Duration::ZERO,
            taken: 0,
            timer: sleep(step),
        }
    }

    /// Ready when the connection should be dropped.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(Pin::new(&mut self.timer).poll(cx));
            if self.has_taken() || self.activity.take_progress() || self.activity.is_busy() {
                self.quiet = Duration::ZERO;
            } else {
                self.quiet = self.quiet.saturating_add(self.step);
                let is_over = match self.activity.has_responses() {
                    true => self.write_timeout.is_some_and(|limit| self.quiet >= limit),
                    false => true,
                };
                if is_over {
                    return Poll::Ready(());
                }
            }
            Pin::new(&mut self.timer).reset(Instant::now() + self.step);
        }
    }
}

impl Goodbye {
    /// Whether the client had taken more of a response at the last look than at the one before.
    fn has_taken(&mut self) -> bool {
        let Some(flow) = self.activity.flow().filter(|_| self.activity.has_responses()) else {
            return false;
        };
        let before = mem::replace(&mut self.taken, flow.look().taken);
        before != self.taken
    }
}

/// The limits of an HTTP/2 connection that these timers keep.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) idle: Option<Duration>,
    pub(super) write_timeout: Option<Duration>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use colored::time::timeout;
    use std::future::poll_fn;

    const LIMIT: Duration = Duration::from_millis(20);

    #[test]
    fn the_time_begins_again_with_each_request() {
        let runtime = colored::Runtime::builder().workers(1).build().unwrap();
        runtime.block_on(async {
            let activity = Activity::new();
            let begun = activity.last_request();
            let mut idle = Idle::new(LIMIT, activity.clone());
            poll_fn(|cx| idle.poll(cx)).await;
            assert!(begun.elapsed() >= LIMIT);

            drop(activity.begin_request());
            let request = activity.last_request();
            assert!(request >= begun + LIMIT && request <= Instant::now());
            let mut idle = Idle::new(LIMIT, activity);
            poll_fn(|cx| idle.poll(cx)).await;
            assert!(request.elapsed() >= LIMIT);
        });
    }

    #[test]
    fn a_goodbye_waits_for_requests_and_for_responses_that_go_on() {
        let runtime = colored::Runtime::builder().workers(1).build().unwrap();
        runtime.block_on(async {
            let activity = Activity::new();
            let limits = Limits { idle: Some(LIMIT), write_timeout: Some(LIMIT * 5) };
            let mut goodbye = Goodbye::new(limits, activity.clone());
            poll_fn(|cx| goodbye.poll(cx)).await;

            let request = activity.begin_request();
            let mut goodbye = Goodbye::new(limits, activity.clone());
            let busy = timeout(LIMIT * 10, poll_fn(|cx| goodbye.poll(cx))).await;
            assert!(busy.is_err());
            drop(request);
            poll_fn(|cx| goodbye.poll(cx)).await;

            activity.note_response(true);
            let begun = Instant::now();
            let mut goodbye = Goodbye::new(limits, activity.clone());
            poll_fn(|cx| goodbye.poll(cx)).await;
            assert!(begun.elapsed() >= LIMIT * 5);

            let forever = Limits { write_timeout: None, ..limits };
            let mut goodbye = Goodbye::new(forever, activity.clone());
            assert!(timeout(LIMIT * 10, poll_fn(|cx| goodbye.poll(cx))).await.is_err());
            activity.note_response(false);
            poll_fn(|cx| goodbye.poll(cx)).await;
        });
    }
}
