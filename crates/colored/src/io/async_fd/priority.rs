//! Waits for urgent data.

use super::{AsyncFd, Interest};
use crate::services::testing::run;
use socket2::SockRef;
use std::io::{ErrorKind, Write};
use std::mem::MaybeUninit;
use std::net::{TcpListener, TcpStream};
use std::pin::pin;
use std::task::{Context, Waker};

fn tcp_pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let far = listener.accept().unwrap().0;
    far.set_nonblocking(true).unwrap();
    (near, far)
}

fn is_pending(ready: impl Future) -> bool {
    pin!(ready).poll(&mut Context::from_waker(Waker::noop())).is_pending()
}

#[test]
fn urgent_data_ends_a_wait_for_it_and_other_data_does_not() {
    run(async {
        let (mut near, far) = tcp_pair();
        let far = AsyncFd::new(far).unwrap();
        near.write_all(b"plain").unwrap();
        far.readable().await.unwrap();
        assert!(is_pending(far.ready(Interest::PRIORITY)));
        let urgent = far.ready(Interest::PRIORITY);
        let send = async { SockRef::from(&near).send_out_of_band(b"!").unwrap() };
        let (urgent, _) = tokio::join!(urgent, send);
        assert_eq!(format!("{:?}", urgent.unwrap()), "PRIORITY");
        let mut byte = [MaybeUninit::uninit()];
        let read = |far: &TcpStream| SockRef::from(far).recv_out_of_band(&mut byte);
        assert_eq!(far.try_io(Interest::PRIORITY, read).unwrap(), 1);
        // The event has been looked at, and there is no operation that says so.
        let none = far.try_io(Interest::PRIORITY, |_| Err::<(), _>(ErrorKind::WouldBlock.into()));
        assert_eq!(none.unwrap_err().kind(), ErrorKind::WouldBlock);
        assert!(is_pending(far.ready(Interest::PRIORITY)));
        // Reading is as ready as before.
        assert!(!is_pending(far.readable()));
        // The next one counts again, and so does the end.
        let send = async { SockRef::from(&near).send_out_of_band(b"?").unwrap() };
        let (urgent, _) = tokio::join!(far.ready(Interest::PRIORITY), send);
        assert!(urgent.unwrap().is_priority());
        let _ = far.try_io(Interest::PRIORITY, |_| Err::<(), _>(ErrorKind::WouldBlock.into()));
        drop(near);
        assert!(far.ready(Interest::PRIORITY).await.unwrap().is_read_closed());
    });
}

#[test]
fn the_system_tells_of_urgent_data_only_if_nothing_else_is_asked_for() {
    run(async {
        let (mut near, far) = tcp_pair();
        let far = AsyncFd::with_interest(far, Interest::PRIORITY).unwrap();
        near.write_all(b"plain").unwrap();
        let either = Interest::PRIORITY | Interest::WRITABLE;
        assert!(either.is_priority() && either.is_writable() && !either.is_readable());
        assert_eq!(format!("{either:?}"), "WRITABLE | PRIORITY");
        SockRef::from(&near).send_out_of_band(b"!").unwrap();
        let ready = far.ready(either).await.unwrap();
        assert!(ready.is_priority() && !ready.is_writable(), "{ready:?}");
        let (near, _far) = tcp_pair();
        near.set_nonblocking(true).unwrap();
        let near = AsyncFd::with_interest(near, either).unwrap();
        assert!(near.ready(either).await.unwrap().is_writable());
    });
}
