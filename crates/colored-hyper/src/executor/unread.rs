//! [`Limited`]: a stream of HTTP/2 that ends when its client takes nothing of the response.
//!
//! hyper polls the body of a response, and then waits until the client gives room for what it got. No code of a service
//! runs in that wait, so the task of the stream measures it: the body says in each poll whether its stream waits for the
//! server or for the client.

use colored::__private::{OfStack, exchange_with_stacks};
use colored::time::{Duration, Instant, Sleep, sleep};
use pin_project_lite::pin_project;
use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// What a stream waits for.
#[derive(Default)]
enum Awaits {
    /// Nothing has been said in this poll.
    #[default]
    Same,
    Server,
    /// For so long at most, on this connection.
    Client(Duration, Arc<dyn Connection>),
}

/// The connection of a stream.
pub(crate) trait Connection: Send + Sync {
    /// Ready when the connection has looked since the first of these polls. `asked` is none before that, and afterwards.
    fn poll_look(&self, cx: &mut Context<'_>, asked: &mut Option<u64>) -> Poll<Look>;
}

/// How far the responses of a connection have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// How many bytes the client has taken.
    pub(crate) taken: u64,
    /// How many more it takes at most until it has all that a stream has sent by now.
    pub(crate) ahead: u64,
}

thread_local! {
    /// For the poll that runs now.
    static AWAITS: RefCell<Awaits> = const { RefCell::new(Awaits::Same) };
}

static AWAITS_OF_STACK: OfStack<RefCell<Awaits>> = OfStack(&AWAITS);

/// The stream that is being polled waits for the server.
pub(crate) fn note_server() {
    AWAITS.set(Awaits::Server);
}

/// The stream that is being polled waits for its client, and should not for longer than `limit`.
pub(crate) fn note_client(limit: Duration, connection: Arc<dyn Connection>) {
    AWAITS.set(Awaits::Client(limit, connection));
}

pin_project! {
    /// Ends with its future, or when that has waited for its client for too long.
    pub(super) struct Limited<F> {
        #[pin]
        future: F,
        // In a box, because few streams ever have one.
        wait: Option<Box<Wait>>,
    }
}

/// The wait for a client.
struct Wait {
    limit: Duration,
    timer: Sleep,
    connection: Arc<dyn Connection>,
    asked: Option<u64>,
    patience: Patience,
}

/// What a client that gives no room is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    /// The limit has not ended.
    Fresh,
    /// It has `taken` so much, and may need all up to `target` to give room.
    Takes { taken: u64, target: u64 },
    /// It has all that it needs.
    Last,
}

impl Patience {
    /// The limit has ended. Whether this was the last time.
    fn is_over(&mut self, Look { taken, ahead }: Look) -> bool {
        *self = match *self {
            Patience::Fresh if ahead == 0 => Patience::Last,
            Patience::Fresh => Patience::Takes { taken, target: taken.saturating_add(ahead) },
            Patience::Takes { target, .. } if taken >= target => Patience::Last,
            Patience::Takes { taken: before, target } if taken != before => {
                Patience::Takes { taken, target }
            }
            Patience::Takes { .. } | Patience::Last => return true,
        };
        false
    }
}

impl Wait {
    fn new(limit: Duration, connection: Arc<dyn Connection>) -> Wait {
        let timer = sleep(limit);
        Wait { limit, timer, connection, asked: None, patience: Patience::Fresh }
    }

    /// The client has given room, and has to give more.
    fn begin_again(&mut self) {
        (self.asked, self.patience) = (None, Patience::Fresh);
        Pin::new(&mut self.timer).reset(Instant::now() + self.limit);
    }

    /// Ready when the client has taken nothing for the time of the limit, or has had all for as long, and gives no room.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.asked.is_none() {
                ready!(Pin::new(&mut self.timer).poll(cx));
            }
            let look = ready!(self.connection.poll_look(cx, &mut self.asked));
            if self.patience.is_over(look) {
                return Poll::Ready(());
            }
            Pin::new(&mut self.timer).reset(Instant::now() + self.limit);
        }
    }
}

impl<F> Limited<F> {
    pub(super) fn new(future: F) -> Limited<F> {
        Limited { future, wait: None }
    }
}

impl<F: Future> Future for Limited<F> {
    type Output = ();

    /// The runtime then drops the future, by which hyper resets the stream.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        exchange_with_stacks(&AWAITS_OF_STACK);
        // A stream may poll another connection, in which another stream is polled.
        let outer = AWAITS.replace(Awaits::Same);
        let polled = this.future.poll(cx);
        let awaits = AWAITS.replace(outer);
        if polled.is_ready() {
            return Poll::Ready(());
        }
        match (awaits, &mut *this.wait) {
            (Awaits::Same, _) => {}
            (Awaits::Server, wait) => *wait = None,
            (Awaits::Client(..), Some(wait)) => wait.begin_again(),
            (Awaits::Client(limit, connection), wait) => {
                *wait = Some(Box::new(Wait::new(limit, connection)));
            }
        }
        match this.wait {
            Some(wait) => wait.poll(cx),
            None => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use colored::time::timeout;
    use std::future::{pending, poll_fn};

    const LIMIT: Duration = Duration::from_millis(20);

    /// A connection of which the client has taken all.
    struct Taken;

    impl Connection for Taken {
        fn poll_look(&self, _: &mut Context<'_>, _: &mut Option<u64>) -> Poll<Look> {
            Poll::Ready(Look::default())
        }
    }

    #[test]
    fn a_client_is_waited_for_while_it_takes_what_it_needs() {
        let mut patience = Patience::Fresh;
        for (taken, ahead) in [(10, 100), (11, 500), (109, 0), (110, 50)] {
            assert!(!patience.is_over(Look { taken, ahead }), "{taken}");
        }
        // What others have sent since is not needed.
        assert!(patience.is_over(Look { taken: 120, ahead: 30 }));

        let mut patience = Patience::Fresh;
        assert!(!patience.is_over(Look { taken: 10, ahead: 100 }));
        assert!(patience.is_over(Look { taken: 10, ahead: 100 }));
    }

    #[test]
    fn a_stream_ends_only_while_it_waits_for_its_client() {
        let runtime = colored::Runtime::builder().workers(1).build().unwrap();
        runtime.block_on(async {
            let mut polls = 0;
            let client = poll_fn(|_| {
                polls += 1;
                if polls == 1 {
                    note_client(LIMIT, Arc::new(Taken));
                }
                Poll::<()>::Pending
            });
            Limited::new(client).await;

            let mut polls = 0;
            let server = poll_fn(|_| {
                polls += 1;
                if polls == 1 {
                    note_client(LIMIT, Arc::new(Taken))
                } else {
                    note_server()
                }
                Poll::<()>::Pending
            });
            let mut server = std::pin::pin!(Limited::new(server));
            poll_fn(|cx| Poll::Ready(server.as_mut().poll(cx).is_pending())).await;
            assert!(timeout(LIMIT * 5, server).await.is_err());

            assert!(timeout(LIMIT * 2, Limited::new(pending::<()>())).await.is_err());
            assert!(AWAITS.with_borrow(|awaits| matches!(awaits, Awaits::Same)));
        });
    }
}
