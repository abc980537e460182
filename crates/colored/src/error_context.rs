//! Errors of the operating system, and their context: an operation with its object, such as an address or a path.
//!
//! [`io::Error`] carries the number of a system's error or a text of ours, and not both. Programs match on the number, as
//! they do with the standard library, so the number is in the error; [`named`] and [`named_call`] give the text.

use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::io;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread_local;

use colored_core::port::Closure;
#[cfg(feature = "sim")]
use colored_core::port::OfStack;
use pin_project_lite::pin_project;

/// An error of the operating system with the operation that failed and its object: `cannot open /etc/x: Permission denied
/// (os error 13)`. [`named`] and [`named_call`] make it.
///
/// Its source is the [`io::Error`]. `?` turns it into that one in a function that returns [`io::Result`], and then the number
/// stays and the text is lost; a `Box<dyn Error>` and the like keep both.
#[derive(Debug)]
pub struct NamedError {
    text: String,
    source: io::Error,
}

impl NamedError {
    pub(crate) fn of(error: io::Error, heard: Option<Box<Heard>>) -> Self {
        let heard = heard.filter(|heard| Some(heard.number) == error.raw_os_error());
        Self { text: heard.map_or_else(|| error.to_string(), |heard| heard.text), source: error }
    }

    /// The kind of the [`io::Error`].
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }

    /// The number of the system's error, as [`io::Error::raw_os_error`].
    #[must_use]
    pub fn raw_os_error(&self) -> Option<i32> {
        self.source.raw_os_error()
    }

    /// The [`io::Error`] alone.
    #[must_use]
    pub fn into_inner(self) -> io::Error {
        self.source
    }
}

impl fmt::Display for NamedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for NamedError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

impl From<NamedError> for io::Error {
    /// The error alone. A [`named`] around the function that returns it has the text.
    fn from(error: NamedError) -> Self {
        let NamedError { text, source } = error;
        if let Some(number) = source.raw_os_error() {
            hear(Some(Box::new(Heard { number, text })));
        }
        source
    }
}

/// The text of the last error that code has met which somebody listens to.
#[derive(Debug)]
pub(crate) struct Heard {
    number: i32,
    text: String,
}

#[derive(Default)]
pub(crate) enum Ear {
    #[default]
    Deaf,
    Listens(Option<Box<Heard>>),
}

thread_local! {
    static EAR: RefCell<Ear> = const { RefCell::new(Ear::Deaf) };
}

/// Of what runs on this stack.
#[cfg(feature = "sim")]
pub(crate) static EAR_OF_STACK: OfStack<RefCell<Ear>> = OfStack(&EAR);

fn replace_ear(ear: Ear) -> Ear {
    EAR.with(|current| mem::replace(&mut *current.borrow_mut(), ear))
}

/// Runs `f`, and returns what it has met beside its result: for [`hear`] on another thread.
pub(crate) fn listened<R>(f: impl FnOnce() -> R) -> (R, Option<Box<Heard>>) {
    let listening = Listening::begin();
    let result = f();
    (result, listening.end())
}

/// What code on another thread has met.
pub(crate) fn hear(met: Option<Box<Heard>>) {
    let Some(met) = met else { return };
    EAR.with(|current| {
        if let Ear::Listens(heard) = &mut *current.borrow_mut() {
            *heard = Some(met);
        }
    });
}

/// An ear that listens until it is dropped.
pub(crate) struct Listening {
    before: Option<Ear>,
}

impl Listening {
    pub(crate) fn begin() -> Self {
        Self::after(None)
    }

    fn after(heard: Option<Box<Heard>>) -> Self {
        Self { before: Some(replace_ear(Ear::Listens(heard))) }
    }

    /// What it has heard.
    pub(crate) fn end(mut self) -> Option<Box<Heard>> {
        self.give_back()
    }

    fn give_back(&mut self) -> Option<Box<Heard>> {
        match replace_ear(self.before.take()?) {
            Ear::Listens(heard) => heard,
            Ear::Deaf => None,
        }
    }
}

/// Also in an unwinding.
impl Drop for Listening {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// The error of a system's operation: `source` itself, if it has a number, and otherwise an error with `text`, which should
/// quote it, and with it as its source.
pub(crate) fn with_context(text: String, source: io::Error) -> io::Error {
    let Some(number) = source.raw_os_error() else { return with_source(text, source) };
    hear(Some(Box::new(Heard { number, text })));
    source
}

/// An error with `text`, and with the system's as its source: for what no program tells apart by a number, and where the
/// text says what to do.
pub(crate) fn with_source(text: String, source: io::Error) -> io::Error {
    io::Error::new(source.kind(), WithContext { text, source })
}

/// An error and its context.
#[derive(Debug)]
struct WithContext {
    text: String,
    source: io::Error,
}

impl fmt::Display for WithContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for WithContext {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

/// Runs a future, whose error then names the operation and its object.
///
/// Errors of this crate are the system's own, with their number, as those of the standard library: so they name no path and
/// no address. Here the error has both.
///
/// ```
/// use colored::fs::File;
/// use colored::io::named;
///
/// # #[colored::main(workers = 1)]
/// # async fn main() {
/// let error = named(File::open("/no/such/file")).await.unwrap_err();
/// assert!(error.to_string().starts_with("cannot open /no/such/file: "));
/// assert_eq!(error.raw_os_error(), std::fs::File::open("/no/such/file").unwrap_err().raw_os_error());
/// # }
/// ```
///
/// The future may be a whole program: the text is that of the last operation of this crate that failed in it, on its own task,
/// with the number of the error that the future returns. If there is none, the text is that of the error.
///
/// Cancel safe if the future is. Costs two accesses to a thread-local for each poll.
pub fn named<T, F>(operation: F) -> Named<F>
where
    F: Future<Output = io::Result<T>>,
{
    Named { heard: None, operation }
}

/// Calls a function, whose error then names the operation and its object, as [`named`] for what is no future: a listener of a
/// path, a child process, a pipe.
///
/// ```
/// use colored::io::named_call;
/// use colored::process::Command;
///
/// # #[colored::main(workers = 1)]
/// # async fn main() {
/// let error = named_call(|| Command::new("/no/such/program").spawn()).unwrap_err();
/// assert!(error.to_string().starts_with("cannot start /no/such/program: "));
/// assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
/// # }
/// ```
///
/// The closure has to return before its color is given up: a stackful task cannot wait in it.
///
/// # Errors
///
/// That of the function.
pub fn named_call<T>(operation: impl FnOnce() -> io::Result<T>) -> Result<T, NamedError> {
    let _closure = Closure::begin();
    let (result, met) = listened(operation);
    result.map_err(|error| NamedError::of(error, met))
}

pin_project! {
    /// The future of [`named`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct Named<F> {
        heard: Option<Box<Heard>>,
        #[pin]
        operation: F,
    }
}

impl<T, F: Future<Output = io::Result<T>>> Future for Named<F> {
    type Output = Result<T, NamedError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let listening = Listening::after(this.heard.take());
        let polled = this.operation.poll(cx);
        let heard = listening.end();
        match polled {
            Poll::Ready(result) => {
                Poll::Ready(result.map_err(|error| NamedError::of(error, heard)))
            }
            Poll::Pending => {
                *this.heard = heard;
                Poll::Pending
            }
        }
    }
}

impl<F> fmt::Debug for Named<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Named").finish_non_exhaustive()
    }
}
