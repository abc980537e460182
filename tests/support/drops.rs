//! Destructors that say where they ran.

use colored::Color;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A record of drops, and of their places.
#[derive(Clone, Debug, Default)]
pub struct Drops(Arc<Log>);

#[derive(Debug, Default)]
struct Log {
    made: AtomicU64,
    dropped: AtomicU64,
    wrong: Mutex<Vec<String>>,
}

impl Drops {
    /// A value that wants to be dropped under `color`.
    pub fn under(&self, color: impl Into<Color>) -> OnColor {
        self.0.made.fetch_add(1, Ordering::Relaxed);
        OnColor { color: color.into(), drops: self.clone() }
    }

    /// How many have been dropped.
    pub fn count(&self) -> u64 {
        self.0.dropped.load(Ordering::Acquire)
    }

    /// Asserts that exactly `count` were made, and all were dropped once, under their colors.
    #[track_caller]
    pub fn assert_exact(&self, count: u64) {
        assert_eq!(self.0.made.load(Ordering::Relaxed), count, "made");
        self.assert_all();
    }

    /// Asserts that all that were made were dropped once, under their colors.
    #[track_caller]
    pub fn assert_all(&self) {
        let wrong = self.0.wrong.lock().unwrap();
        assert!(wrong.is_empty(), "{} dropped elsewhere: {:?}", wrong.len(), wrong.first());
        assert_eq!(self.count(), self.0.made.load(Ordering::Relaxed), "dropped, of those made");
    }
}

/// See [`Drops::under`].
#[derive(Debug)]
pub struct OnColor {
    color: Color,
    drops: Drops,
}

impl Drop for OnColor {
    fn drop(&mut self) {
        let current = Color::current();
        if current != Some(self.color) {
            let text = format!("{} under {current:?}", self.color);
            self.drops.0.wrong.lock().unwrap().push(text);
        }
        self.drops.0.dropped.fetch_add(1, Ordering::Release);
    }
}

/// The future, with a value that it owns from the beginning to its end.
pub async fn keep<T, F: Future>(value: T, future: F) -> F::Output {
    let _value = value;
    future.await
}

#[test]
fn a_drop_elsewhere_is_seen() {
    let drops = Drops::default();
    drop(drops.under(7));
    let said = super::panic_of(|| drops.assert_exact(1));
    assert!(said.contains("color 0x7 under None"), "{said}");
}
