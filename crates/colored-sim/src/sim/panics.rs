//! The panics of a run, which its report shows in place of the standard error.

use super::control::fail;
use colored_core::port::on_unheard_panics;
use std::cell::{Cell, RefCell};
use std::panic::{self, PanicHookInfo};
use std::sync::Once;
use std::thread;

thread_local! {
    static IN_RUN: Cell<bool> = const { Cell::new(false) };
    /// Each panic of this thread fails the run.
    static FAILS: Cell<bool> = const { Cell::new(false) };
    /// The last panic of this thread. A box: without a panic, nothing of one is left here.
    static LAST: RefCell<Option<Box<Text>>> = const { RefCell::new(None) };
}

struct Text(String);

/// Keeps the panics of this thread, from now until the guard is dropped.
pub(super) fn keep() -> Keeps {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let earlier = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            // A thread whose thread-locals are gone is no run's.
            if IN_RUN.try_with(Cell::get).unwrap_or(false) {
                let text = text(panic);
                if FAILS.get() {
                    fail(text.clone());
                }
                LAST.set(Some(Box::new(Text(text))));
            } else {
                earlier(panic);
            }
        }));
    });
    IN_RUN.set(true);
    on_unheard_panics(note_last);
    LAST.set(None);
    Keeps
}

/// The last panic of this thread fails the run.
fn note_last() {
    let taken = || "a panic, which a panic hook of the program has taken".to_owned();
    fail(take_last().unwrap_or_else(taken));
}

pub(super) struct Keeps;

impl Drop for Keeps {
    fn drop(&mut self) {
        IN_RUN.set(false);
        on_unheard_panics(|| ());
        if thread::panicking() {
            // No report shows it: it is none of the program.
            eprintln!("colored: a simulation panics: {}", take_last().unwrap_or_default());
        }
    }
}

/// Calls `f` in a turn on threads, where each panic fails the run, although `f` catches it. It belongs to the runtime.
pub fn fail_at_panics(f: impl FnOnce()) {
    FAILS.set(true);
    f();
    FAILS.set(false);
}

/// Makes it the last panic of this thread.
pub(super) fn set_last(panic: Option<String>) {
    LAST.set(panic.map(|text| Box::new(Text(text))));
}

/// The last panic of this thread.
pub(super) fn take_last() -> Option<String> {
    LAST.take().map(|text| text.0)
}

fn text(panic: &PanicHookInfo<'_>) -> String {
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let message = text.unwrap_or("a panic without a text");
    match panic.location() {
        Some(at) => format!("{message}\n  at {}:{}:{}", at.file(), at.line(), at.column()),
        None => message.to_owned(),
    }
}
