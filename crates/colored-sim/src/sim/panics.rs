//! The panics of a run, which its report shows in place of the standard error.

use std::cell::{Cell, RefCell};
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

thread_local! {
    static IN_RUN: Cell<bool> = const { Cell::new(false) };
    /// The next panic of this thread is the first one of a call of [`first_in`].
    static IS_FIRST: Cell<bool> = const { Cell::new(false) };
    static FIRST: RefCell<Option<Box<Text>>> = const { RefCell::new(None) };
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
                if IS_FIRST.replace(false) {
                    FIRST.set(Some(Box::new(Text(text.clone()))));
                }
                LAST.set(Some(Box::new(Text(text))));
            } else {
                earlier(panic);
            }
        }));
    });
    IN_RUN.set(true);
    LAST.set(None);
    Keeps
}

pub(super) struct Keeps;

impl Drop for Keeps {
    fn drop(&mut self) {
        IN_RUN.set(false);
    }
}

/// Calls `f`. The first panic inside, which `f` has caught.
pub(super) fn first_in(f: impl FnOnce()) -> Option<String> {
    IS_FIRST.set(true);
    f();
    IS_FIRST.set(false);
    FIRST.take().map(|text| text.0)
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
