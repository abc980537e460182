//! The last reference to a lane of a unique color, against a shutdown that finds the lane in the table.

use super::check_within;
use super::doubles::gate;
use super::pool::{pool, step_until_idle};
use crate::ext::locals::ColorLocal;
use crate::kernel::color::Color;
use loom::thread;

/// A value of a color that asks for the color as it is dropped: that publishes the lane.
#[derive(Default)]
struct Publishes;

impl Drop for Publishes {
    fn drop(&mut self) {
        assert!(Color::current().is_some(), "a value of a color is dropped under it");
    }
}

static PUBLISHES: ColorLocal<Publishes> = ColorLocal::__new("PUBLISHES", Publishes::default);

/// One worker runs a task's last turn, and gives the last reference to its lane back. The other runs the node by which
/// a shutdown tells that lane to cancel its tasks. The values of the color end on one of the two, and publish the lane.
/// The thread that takes the last reference sees the publication.
/// Shows G5.
#[test]
fn a_late_publication_is_seen_by_the_release_of_the_last_reference() {
    check_within(2, || {
        let (handle, mut workers, _beds) = pool(2);
        let (gate, wait) = gate();
        drop(handle.spawn_unique(async move {
            PUBLISHES.with(|_| ());
            wait.await;
        }));
        step_until_idle(&mut workers[0]);
        gate.open();
        let mut first = workers.remove(0);
        let thread = thread::spawn(move || {
            let _ = first.step();
            first
        });
        handle.scheduler().shut_down();
        step_until_idle(&mut workers[0]);
        let mut first = thread.join().unwrap();
        step_until_idle(&mut first);
        step_until_idle(&mut workers[0]);
        assert_eq!(handle.scheduler().lanes(), 1, "the default color's lane alone is in the table");
    });
}
