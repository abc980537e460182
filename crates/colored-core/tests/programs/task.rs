//! The future of a task, which checks under which color it is polled and dropped.

use crate::here;
use crate::plan::Body;
use crate::wait;
use crate::world::{Hands, Hue, Token};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread::{self, ThreadId};

/// Where a task should be.
pub(crate) enum Where {
    /// Under this color, for all its life.
    At(Hue),
    /// Under any color that has a name, or else this one.
    Somewhere(Option<Hue>),
}

/// The future of a task.
pub(crate) struct Task {
    future: Option<wait::Future>,
    place: Where,
    hands: Hands,
    /// The thread that it must stay on, once it is there.
    home: Option<ThreadId>,
    stays: bool,
    /// It is dropped under its color although it has never been polled.
    is_in: bool,
    token: Option<Token>,
}

impl Task {
    /// `hue` is where it begins, if that is known.
    pub(crate) fn new(hands: &Hands, body: &Arc<Body>, hue: Option<Hue>) -> Self {
        let own = hands.give(body.keep);
        let token = Token::open(&own.world);
        let future = wait::body(own.clone(), Arc::clone(body));
        let place = match hue {
            Some(hue) if !body.moves => Where::At(hue),
            hue => Where::Somewhere(hue),
        };
        let hands = own.bare();
        Self {
            future: Some(future),
            place,
            hands,
            home: None,
            stays: false,
            is_in: true,
            token: Some(token),
        }
    }

    /// It stays on the thread that polls it.
    pub(crate) fn staying(mut self) -> Self {
        self.stays = true;
        self
    }

    /// It may come back unspawned, and be dropped anywhere.
    pub(crate) fn not_yet_in(mut self) -> Self {
        self.is_in = false;
        self
    }

    fn hue(&self) -> Option<Hue> {
        match &self.place {
            Where::At(hue) => {
                let runs_here = |handle: &Option<colored_core::Handle>| {
                    handle.as_ref().is_none_or(colored_core::Handle::runs_here)
                };
                assert!(
                    runs_here(&self.hands.handles[hue.runtime]),
                    "a task is out of its runtime"
                );
                if hue.color.is_some() {
                    assert_eq!(
                        colored_core::Color::current(),
                        hue.color,
                        "a task is off its color"
                    );
                }
                Some(hue.clone())
            }
            // Without a handle it cannot be told where it is now.
            Where::Somewhere(Some(own)) if self.hands.handles[own.runtime].is_none() => None,
            // It hops within its runtime.
            Where::Somewhere(Some(own)) => {
                let color = colored_core::Color::current();
                let now = color.and_then(|color| self.hands.world.hue_of(own.runtime, color));
                now.or_else(|| Some(own.clone()))
            }
            Where::Somewhere(None) => self.hands.hue_now(),
        }
    }

    fn assert_at_home(&self) {
        if let Some(home) = self.home {
            assert_eq!(home, thread::current().id(), "a task has left its thread");
        }
    }
}

impl Future for Task {
    type Output = Token;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Token> {
        if self.stays {
            self.assert_at_home();
            self.home = Some(thread::current().id());
        }
        self.is_in = true;
        let hue = self.hue();
        let future = self.future.as_mut().expect("it is polled until it is ready");
        let polled = here::under(hue, || future.as_mut().poll(cx));
        polled.map(|()| Token::new(&self.hands.world))
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.assert_at_home();
        let dropped = catch_unwind(AssertUnwindSafe(|| {
            let hue = if self.is_in { self.hue() } else { None };
            let future = self.future.take();
            here::under(hue, || drop(future));
        }));
        // The panic of a check too must not be one in the destructor of another panic.
        if let Err(panic) = dropped
            && !thread::panicking()
        {
            resume_unwind(panic);
        }
        drop(self.token.take());
    }
}
