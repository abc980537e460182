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

/// The color under which a task should be.
pub(crate) enum Where {
    /// The task stays under this color all its life.
    At(Hue),
    /// The task is under any color that has a name, or else under this one.
    Somewhere(Option<Hue>),
}

/// The future of a task.
pub(crate) struct Task {
    future: Option<wait::Future>,
    place: Where,
    hands: Hands,
    /// The thread on which the task must stay, once it is there.
    thread: Option<ThreadId>,
    stays: bool,
    /// Whether the task is in its lane, and so is dropped under its color although it was never polled.
    is_in: bool,
    token: Option<Token>,
}

impl Task {
    /// Makes the future of a task. `hue` is the color under which it begins, if that is known.
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
            thread: None,
            stays: false,
            is_in: true,
            token: Some(token),
        }
    }

    /// Makes the task stay on the thread that polls it.
    pub(crate) fn staying(mut self) -> Self {
        self.stays = true;
        self
    }

    /// Allows that the task comes back unspawned, and is dropped anywhere.
    pub(crate) fn not_yet_in(mut self) -> Self {
        self.is_in = false;
        self
    }

    fn hue(&self) -> Option<Hue> {
        match &self.place {
            Where::At(hue) => {
                let runs_here = |handle: &Option<colored_core::SchedulerHandle>| {
                    handle.as_ref().is_none_or(colored_core::SchedulerHandle::runs_here)
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
            // Without a handle the program cannot know where the task is now.
            Where::Somewhere(Some(own)) if self.hands.handles[own.runtime].is_none() => None,
            // A task hops within its runtime.
            Where::Somewhere(Some(own)) => {
                let color = colored_core::Color::current();
                let now = color.and_then(|color| self.hands.world.hue_of(own.runtime, color));
                now.or_else(|| Some(own.clone()))
            }
            Where::Somewhere(None) => self.hands.hue_now(),
        }
    }

    fn assert_on_its_thread(&self) {
        if let Some(thread) = self.thread {
            assert_eq!(thread, thread::current().id(), "a task has left its thread");
        }
    }
}

impl Future for Task {
    type Output = Token;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Token> {
        if self.stays {
            self.assert_on_its_thread();
            self.thread = Some(thread::current().id());
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
        self.assert_on_its_thread();
        let dropped = catch_unwind(AssertUnwindSafe(|| {
            let hue = if self.is_in { self.hue() } else { None };
            let future = self.future.take();
            here::under(hue, || drop(future));
        }));
        // A failed check must not panic in a destructor during another panic.
        if let Err(panic) = dropped
            && !thread::panicking()
        {
            resume_unwind(panic);
        }
        drop(self.token.take());
    }
}
