//! What the halves of channels with a bound and without one have in common.

/// Defines the halves, and the methods that both kinds of channels have.
macro_rules! halves {
    ($(#[$about:meta])* $sender:ident, $weak:ident, $receiver:ident) => {
        use std::task::{Context, Poll};
        use tokio::sync::mpsc;
        use $crate::sync::waiting::Wait;
        use $crate::sync::wrapper;
        use $crate::wait_reason::Kind;

        $(#[$about])*
        pub struct $sender<T>(mpsc::$sender<T>);

        wrapper::deref!([T] $sender<T> => mpsc::$sender<T>);
        wrapper::convert!([T] $sender<T> => mpsc::$sender<T>);
        wrapper::debug!([T] $sender<T>);
        wrapper::clone!([T] $sender<T>);

        /// A sender that does not keep the channel open.
        pub struct $weak<T>(mpsc::$weak<T>);

        wrapper::deref!([T] $weak<T> => mpsc::$weak<T>);
        wrapper::convert!([T] $weak<T> => mpsc::$weak<T>);
        wrapper::debug!([T] $weak<T>);
        wrapper::clone!([T] $weak<T>);

        /// The receiving half.
        pub struct $receiver<T>(mpsc::$receiver<T>);

        wrapper::deref!([T] $receiver<T> => mpsc::$receiver<T>);
        wrapper::convert!([T] $receiver<T> => mpsc::$receiver<T>);
        wrapper::debug!([T] $receiver<T>);

        impl<T> $receiver<T> {
            /// Waits for the next value; `None` if no sender is left and the channel is empty, or it is closed and empty. Cancel
            /// safe.
            #[track_caller]
            pub fn recv(&mut self) -> impl Future<Output = Option<T>> {
                Wait::here(Kind::Receive).until(self.0.recv())
            }

            /// Waits for values, and appends up to `limit` of them to `buffer`. Returns their number; 0 if there will be none,
            /// or if `limit` is 0. Cancel safe.
            #[track_caller]
            pub fn recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> impl Future<Output = usize> {
                Wait::here(Kind::Receive).until(self.0.recv_many(buffer, limit))
            }

            /// As [`recv`](Self::recv), for a future that is written by hand. Only the last task to poll is woken.
            #[track_caller]
            pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
                Wait::here(Kind::Receive).poll(cx, |cx| self.0.poll_recv(cx))
            }

            /// As [`recv_many`](Self::recv_many), for a future that is written by hand. Only the last task to poll is woken.
            #[track_caller]
            pub fn poll_recv_many(
                &mut self,
                cx: &mut Context<'_>,
                buffer: &mut Vec<T>,
                limit: usize,
            ) -> Poll<usize> {
                Wait::here(Kind::Receive).poll(cx, |cx| self.0.poll_recv_many(cx, buffer, limit))
            }
        }

        impl<T> $sender<T> {
            /// Waits until the receiver is closed or gone. Cancel safe.
            #[track_caller]
            pub fn closed(&self) -> impl Future<Output = ()> {
                Wait::here(Kind::Notified).until(self.0.closed())
            }

            /// A sender that does not keep the channel open.
            #[must_use]
            pub fn downgrade(&self) -> $weak<T> {
                $weak(self.0.downgrade())
            }
        }

        impl<T> $weak<T> {
            /// A sender, if there still is one.
            #[must_use]
            pub fn upgrade(&self) -> Option<$sender<T>> {
                self.0.upgrade().map($sender)
            }
        }
    };
}

pub(super) use halves;
