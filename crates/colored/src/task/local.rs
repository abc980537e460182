//! [`task_local!`](crate::task_local!): a value for the length of a future.
//!
//! The value lives in the future while the future waits, and in a thread-local while the future is
//! polled or dropped. The scope exchanges the two values when a poll begins and when it ends, also by a
//! panic. So the value moves with its task from worker to worker and from color to color, a nested
//! scope hides the outer value and restores it, and nothing is allocated.

use colored_core::port::{Closure, OfStack, exchange_with_stacks};
use pin_project_lite::pin_project;
use std::cell::{BorrowError, BorrowMutError, RefCell};
use std::fmt;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread::{self, AccessError};

/// Declares values that are set for the length of a future. Code that the future calls reaches them
/// without an argument: for example the id of a request, or its user.
///
/// ```
/// colored::task_local! {
///     /// The request that is being served.
///     pub static REQUEST: u32;
/// }
///
/// fn log(line: &str) -> String {
///     match REQUEST.try_with(|id| *id) {
///         Ok(id) => format!("[{id}] {line}"),
///         Err(_) => line.to_owned(),
///     }
/// }
///
/// # #[colored::main(workers = 2)]
/// # async fn main() {
/// let serve = REQUEST.scope(7, async {
///     colored::yield_now().await;
///     log("served")
/// });
/// assert_eq!(colored::spawn_unique(serve).await.unwrap(), "[7] served");
/// assert_eq!(log("idle"), "idle");
/// # }
/// ```
///
/// Each static is a [`LocalKey`]. A task spawned inside a scope does not inherit the value: wrap its
/// future in a scope of its own.
#[macro_export]
macro_rules! task_local {
    ($($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty);* $(;)?) => {
        $(
            $(#[$attribute])*
            $visibility static $name: $crate::task::LocalKey<$type> = {
                ::std::thread_local! {
                    static SLOT: ::std::cell::RefCell<::std::option::Option<$type>> =
                        const { ::std::cell::RefCell::new(::std::option::Option::None) };
                }
                $crate::task::LocalKey::__new(::std::stringify!($name), &SLOT)
            };
        )*
    };
}

/// A value that is set inside the scopes of a future; [`task_local!`](crate::task_local) declares it.
///
/// A scope belongs to a future, not to a thread: the value is set while that future is polled and while
/// it is dropped, on any worker and under any color, and at no other time.
pub struct LocalKey<T: 'static> {
    name: &'static str,
    slot: OfStack<RefCell<Option<T>>>,
}

impl<T: 'static> LocalKey<T> {
    /// For [`task_local!`](crate::task_local).
    #[doc(hidden)]
    pub const fn __new(
        name: &'static str,
        slot: &'static thread::LocalKey<RefCell<Option<T>>>,
    ) -> Self {
        Self { name, slot: OfStack(slot) }
    }

    /// A future that runs `future` with the value set to `value`. A scope inside it hides the value
    /// until it ends.
    ///
    /// As cancel safe as `future`. The value is dropped with the returned future, after `future`
    /// itself, and so under the color of its task. The returned future is `Send` if both parts are.
    ///
    /// # Panics
    ///
    /// The returned future panics when it is polled inside a [`with`](Self::with) of the same key.
    pub fn scope<F: Future>(&'static self, value: T, future: F) -> Scope<T, F> {
        Scope { key: self, value: Some(value), future: Some(future) }
    }

    /// Runs `f` with the value set to `value`, and drops it afterwards.
    ///
    /// # Panics
    ///
    /// With the panic of `f`; and inside a [`with`](Self::with) of the same key.
    #[track_caller]
    pub fn sync_scope<R>(&'static self, value: T, f: impl FnOnce() -> R) -> R {
        let mut value = Some(value);
        match Exchanged::begin(self, &mut value) {
            Ok(_set) => f(),
            Err(error) => self.refuse(error),
        }
    }

    /// Uses the value of the innermost scope. May be nested.
    ///
    /// # Panics
    ///
    /// Where [`try_with`](Self::try_with) returns an error.
    #[track_caller]
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        match self.try_with(f) {
            Ok(result) => result,
            Err(error) => panic!("{error}"),
        }
    }

    /// Uses the value of the innermost scope. May be nested.
    ///
    /// # Errors
    ///
    /// Outside every scope, where [`Scope::take_value`] has taken the value, and in the destructors
    /// of a thread's own locals. `f` is dropped unused.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, NotInScope> {
        let not_set = NotInScope { name: self.name };
        let found = self.slot.0.try_with(|slot| {
            // It is borrowed for writing only while no foreign code runs.
            let value = slot.try_borrow().map_err(|_: BorrowError| not_set)?;
            let (_closure, _lent) = (Closure::begin(), Lent::begin());
            value.as_ref().map(f).ok_or(not_set)
        });
        found.unwrap_or(Err(not_set))
    }

    /// A clone of the value of the innermost scope.
    ///
    /// # Panics
    ///
    /// As for [`with`](Self::with).
    #[must_use]
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Clone,
    {
        self.with(T::clone)
    }

    /// A clone of the value of the innermost scope.
    ///
    /// # Errors
    ///
    /// As for [`try_with`](Self::try_with).
    pub fn try_get(&'static self) -> Result<T, NotInScope>
    where
        T: Clone,
    {
        self.try_with(T::clone)
    }

    #[track_caller]
    fn refuse(&self, refused: Refused) -> ! {
        let name = self.name;
        match refused {
            Refused::InUse => panic!(
                "a scope of the task-local `{name}` cannot begin inside `{name}.with(..)`: that has \
                 the value borrowed"
            ),
            Refused::ThreadEnds => {
                panic!("a scope of the task-local `{name}` cannot begin while its thread ends")
            }
        }
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The error of a task-local that has no value here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotInScope {
    name: &'static str,
}

impl fmt::Display for NotInScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name;
        write!(
            f,
            "the task-local `{name}` has no value here: it has one inside \
             `{name}.scope(value, future)`, which spawned tasks do not inherit"
        )
    }
}

impl std::error::Error for NotInScope {}

/// Why a scope cannot begin.
#[derive(Debug)]
enum Refused {
    InUse,
    ThreadEnds,
}

impl From<BorrowMutError> for Refused {
    fn from(_: BorrowMutError) -> Self {
        Self::InUse
    }
}

impl From<AccessError> for Refused {
    fn from(_: AccessError) -> Self {
        Self::ThreadEnds
    }
}

/// A value that is lent to a closure. A simulation does not stop a turn meanwhile: another stack would exchange the value.
struct Lent;

impl Lent {
    fn begin() -> Self {
        #[cfg(feature = "sim")]
        colored_sim::loans::begin();
        Self
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        #[cfg(feature = "sim")]
        colored_sim::loans::end();
    }
}

/// Until this is dropped, the thread's slot has the scope's value, and the scope has the slot's earlier value.
struct Exchanged<'a, T: 'static> {
    key: &'static LocalKey<T>,
    value: &'a mut Option<T>,
    _closure: Closure,
}

impl<'a, T: 'static> Exchanged<'a, T> {
    fn begin(key: &'static LocalKey<T>, value: &'a mut Option<T>) -> Result<Self, Refused> {
        exchange_with_stacks(&key.slot);
        exchange(key, value)?;
        Ok(Self { key, value, _closure: Closure::begin() })
    }
}

impl<T: 'static> Drop for Exchanged<'_, T> {
    fn drop(&mut self) {
        let back = exchange(self.key, self.value);
        // A `with` inside has returned, and one outside would have kept the scope from beginning.
        debug_assert!(back.is_ok(), "a scope that has begun can end");
    }
}

fn exchange<T>(key: &LocalKey<T>, value: &mut Option<T>) -> Result<(), Refused> {
    key.slot.0.try_with(|slot| {
        mem::swap(&mut *slot.try_borrow_mut()?, value);
        Ok(())
    })?
}

pin_project! {
    /// A future inside a scope; [`LocalKey::scope`] makes it.
    #[must_use = "futures do nothing unless awaited"]
    pub struct Scope<T: 'static, F> {
        key: &'static LocalKey<T>,
        value: Option<T>,
        // `None` once it is done: its destructor has then run inside the scope.
        #[pin]
        future: Option<F>,
    }

    impl<T: 'static, F> PinnedDrop for Scope<T, F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            if this.future.is_some() {
                // Where the scope cannot begin, the future goes without it.
                let _set = Exchanged::begin(this.key, this.value);
                this.future.set(None);
            }
        }
    }
}

impl<T: 'static, F> Scope<T, F> {
    /// Takes the value out, between two polls or after the last one; `None` if it was taken before.
    /// Afterwards the key has no value inside this scope.
    pub fn take_value(self: Pin<&mut Self>) -> Option<T> {
        self.project().value.take()
    }
}

impl<T: 'static, F: Future> Future for Scope<T, F> {
    type Output = F::Output;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let mut this = self.project();
        let _set = match Exchanged::begin(this.key, this.value) {
            Ok(set) => set,
            Err(error) => this.key.refuse(error),
        };
        let Some(future) = this.future.as_mut().as_pin_mut() else {
            panic!("a scope of `{}` was polled again after it had ended", this.key.name)
        };
        let polled = future.poll(cx);
        if polled.is_ready() {
            this.future.set(None);
        }
        polled
    }
}

impl<T: 'static, F> fmt::Debug for Scope<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("key", &self.key.name).finish_non_exhaustive()
    }
}
