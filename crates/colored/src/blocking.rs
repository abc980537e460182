//! Stub: the blocking pool.

pub(crate) async fn unblock<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || done.send(f()).ok());
    result.await.expect("the blocking call panicked")
}
