//! Operations on a path, and their errors.

use super::files::Files;
use crate::blocking::{self, Deferred};
use crate::device::Event;
use crate::error_context::with_context;
use crate::pool::Class;
use crate::services::current;
use crate::wait_reason::{Kind, labeled};
use std::io;
use std::path::{Path, PathBuf};

/// `source` with the operation and the path.
pub(super) fn failed(operation: &str, path: &Path, source: io::Error) -> io::Error {
    with_context(format!("cannot {operation} {}: {source}", path.display()), source)
}

/// Runs `f` with the files of the runtime and the path on a thread that may block. Its error names the operation and the path.
pub(super) async fn offload<T, F>(operation: &str, path: &Path, f: F) -> io::Result<T>
where
    F: FnOnce(&Files, &Path) -> io::Result<T> + Send + 'static,
    T: Send + 'static,
{
    offload_to(Class::File, operation, path, f).await
}

/// As [`offload`], on a thread of that class.
pub(super) async fn offload_to<T, F>(
    class: Class,
    operation: &str,
    path: &Path,
    f: F,
) -> io::Result<T>
where
    F: FnOnce(&Files, &Path) -> io::Result<T> + Send + 'static,
    T: Send + 'static,
{
    let owned = path.to_owned();
    let done = on_thread(class, move |files| f(files, &owned)).await;
    done.map_err(|error| failed(operation, path, error))
}

/// As [`offload_to`], of two paths.
pub(super) async fn offload_two<T, F>(
    class: Class,
    operation: &str,
    from: &Path,
    to: &Path,
    f: F,
) -> io::Result<T>
where
    F: FnOnce(&Files, &Path, &Path) -> io::Result<T> + Send + 'static,
    T: Send + 'static,
{
    let (source, target): (PathBuf, PathBuf) = (from.to_owned(), to.to_owned());
    on_thread(class, move |files| f(files, &source, &target)).await.map_err(|error| {
        let text = format!("cannot {operation} {} to {}: {error}", from.display(), to.display());
        with_context(text, error)
    })
}

/// Runs `f` on a thread of that class.
async fn on_thread<T, F>(class: Class, f: F) -> io::Result<T>
where
    F: FnOnce(&Files) -> io::Result<T> + Send + 'static,
    T: Send + 'static,
{
    let files = current::with(|context| {
        context.services.devices.paths.add(Event::Deferred);
        Files::of(&context.services)
    });
    finished(blocking::defer(class, move || f(&files))?).await
}

/// The result of a deferred operation.
pub(super) async fn finished<T>(operation: Deferred<io::Result<T>>) -> io::Result<T> {
    labeled(Kind::File, 0, operation).await.ok_or_else(blocking::shut_down)?
}
