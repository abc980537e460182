//! Faults that take several steps: a reader beside a writer, two `when`s that change places.

use super::callbacks::Value;
use super::several::{Behavior, Cell, Token, of_all};
use crate::fault::Fault;
use crate::oracle::{CellKey, Want};
use crate::slab::Key;
use crate::trace::What;
use crate::world::World;
use std::future::poll_fn;
use std::task::Poll;

/// Looks at a value that a writer is changing, as a broken lock would allow.
pub(super) fn look_meanwhile(cell: CellKey, value: &Value, world: &World) {
    let key = world.oracle(|oracle| {
        let hue = oracle.cells.get(cell).expect("it is in use").hue;
        oracle.reader(hue)
    });
    Token::new(key).run(|world| value.look(world));
}

/// Whether two `when`s are to change places, and must both wait.
pub(super) fn may_swap(wants: &[Want], world: &World) -> bool {
    let busy = world.oracle(|oracle| wants.iter().any(|want| !oracle.must_be_idle(want.hue)));
    busy && world.fault.is_due(Fault::SwappedWhens, world)
}

/// Two `when`s over the same cells. The oracle takes each for the other one.
pub(super) fn swapped(
    wants: &[Want],
    cells: &[(Key, Cell)],
    waiter: Key,
    world: &World,
) -> Behavior {
    let wants: Vec<_> = wants.iter().map(|want| Want { shared: false, ..*want }).collect();
    let said = world.oracle(|oracle| [(); 2].map(|()| oracle.behavior(&wants, waiter)));
    said.iter().for_each(|key| world.note(What::Several, key.slot, 0));
    let [first, second] = said;
    let mut futures = [(first, second), (second, first)]
        .map(|(said, done)| (said, Some(of_all(cells, Token::new(done)))));
    let future = poll_fn(move |cx| {
        for (said, future) in &mut futures {
            let Some(wanted) = future else { continue };
            match wanted.as_mut().poll(cx) {
                Poll::Pending => World::with(|world| {
                    world.oracle(|oracle| oracle.behavior_is_pending(*said));
                }),
                Poll::Ready(()) => *future = None,
            }
        }
        if futures.iter().any(|(_, future)| future.is_some()) {
            return Poll::Pending;
        }
        // The task that waits for the other one gives it up.
        World::with(|world| world.oracle(|oracle| oracle.behavior_given_up(second)));
        Poll::Ready(())
    });
    Behavior { key: first, future: Box::pin(future) }
}
