//! Stub: time.

use std::time::Duration;

pub(crate) async fn sleep(d: Duration) {
    crate::blocking::unblock(move || std::thread::sleep(d)).await
}
