//! The acts that need no waiting.

use super::callbacks::{PostToken, Value};
use super::task::{Output, Task};
use super::{Deed, admission, limited, moves};
use crate::fault::Fault;
use crate::oracle::{CellKey, Hue};
use crate::slab::Key;
use crate::trace::What;
use crate::world::{Actor, Phase, World};
use colored_core::{ColorCell, JoinHandle, Priority, spawn_here, spawn_local};
use std::mem;
use std::panic::Location;

/// Does an act. `task` is the task that does it, if it is a task.
pub(super) fn perform(world: &World, deed: Deed, task: Option<Key>) {
    if world.has_failed() {
        return;
    }
    if world.phase.get() == Phase::EndIsDue {
        return world.shut_down();
    }
    let here = task.and_then(|task| world.oracle(|oracle| oracle.hue_of(task)));
    match deed {
        Deed::SpawnColored | Deed::SpawnUnique | Deed::SpawnHere | Deed::SpawnLocal
            if is_crowded(world) => {}
        Deed::Limit | Deed::SpawnUrgent if is_crowded(world) => {}
        Deed::SpawnColored => spawn(world, world.some_hue(), None),
        Deed::SpawnUnique => spawn_unique(world),
        Deed::SpawnHere => spawn(world, world.some_hue(), here),
        Deed::SpawnLocal => local(world, here),
        Deed::Post => post(world),
        Deed::Wake => wake(world),
        Deed::WakeForNothing => {
            if let Some((key, waker)) = world.stock.some_stale(&world.chance) {
                world.note(What::Wake, key.slot, 0);
                world.oracle(|oracle| oracle.wake(key));
                waker.wake_by_ref();
            }
        }
        Deed::Abort => abort(world),
        Deed::Detach => {
            if let Some((key, handle)) = world.stock.take_handle(&world.chance) {
                detach(world, key, handle);
            }
        }
        Deed::NewCell => new_cell(world),
        Deed::DropCell => {
            if let Some((key, cell)) = world.stock.take_cell(&world.chance) {
                drop_cell(world, key, cell);
            }
        }
        Deed::TryWith => try_with(world, here),
        Deed::LongPoll => {
            world.spend(u64::from(world.chance.below(world.profile.long_nanos)));
        }
        Deed::Classify => classify(world),
        Deed::SpawnUrgent => urgent(world),
        Deed::Limit => admission::deed(world, here),
        Deed::LookAtHandle => world.stock.with_handle(&world.chance, |key, handle| {
            let expected = world.oracle(|oracle| oracle.is_complete(key));
            if handle.is_finished() != expected {
                let what =
                    format!("task {} is complete: {expected}, says its handle not", key.slot);
                world.oracle(|oracle| oracle.violated("G9", what));
            }
        }),
    }
}

/// Whether there are many tasks already.
fn is_crowded(world: &World) -> bool {
    world.oracle(|oracle| oracle.tasks.len()) > 2 * world.profile.population as usize
}

/// Spawns a task under a color. Under the color that runs here, which is `here`, it spawns in a way of its own.
pub(super) fn spawn(world: &World, hue: Hue, here: Option<Hue>) {
    let hue = here.unwrap_or(hue);
    let (key, color) = world.oracle(|oracle| {
        oracle.lanes.get_mut(hue).published |= here.is_none();
        (oracle.spawn(hue, None), oracle.lanes.get(hue).color)
    });
    world.note(What::Spawn, hue, key.slot);
    let task = Task::new(world, key);
    if world.fault.is_due(Fault::ForgottenFuture, world) {
        return mem::forget(task);
    }
    let handle = match here {
        Some(_) => spawn_here(task).unwrap_or_else(|_| unreachable!("a task runs here")),
        None => world.handle.spawn_colored(color.expect("a color with a name"), task),
    };
    keep(world, key, handle);
}

/// Gives a color a priority.
fn classify(world: &World) {
    let hue = world.some_hue();
    set_class(world, hue, world.chance.of(&[Priority::Low, Priority::Normal, Priority::High]));
}

/// Whether the fault swaps priorities.
fn are_wrong(world: &World) -> bool {
    let begun = world.fault == Fault::WrongPriority && world.stock.fault_done.get();
    begun || world.fault.is_due(Fault::WrongPriority, world)
}

fn set_class(world: &World, hue: Hue, mut class: Priority) {
    let color = world.oracle(|oracle| {
        oracle.classify(hue, class);
        oracle.lanes.get(hue).color
    });
    if are_wrong(world) {
        class = match class {
            Priority::Low => Priority::High,
            Priority::Normal => Priority::Normal,
            Priority::High => Priority::Low,
        };
    }
    world.handle.set_priority(color.expect("a color with a name"), class);
}

fn urgent(world: &World) {
    let hue = world.some_hue();
    let (key, color) = world.oracle(|oracle| {
        oracle.lanes.get_mut(hue).published = true;
        (oracle.spawn_urgent(hue), oracle.lanes.get(hue).color)
    });
    world.note(What::Spawn, hue, key.slot);
    let color = color.expect("a color with a name");
    let task = Task::new(world, key);
    let handle = if are_wrong(world) {
        world.handle.spawn_colored(color, task)
    } else {
        world.handle.spawn_high_from(Location::caller(), color, task)
    };
    keep(world, key, handle);
}

fn spawn_unique(world: &World) {
    let key = world.oracle(|oracle| {
        let hue = oracle.lanes.add_unique();
        oracle.spawn(hue, None)
    });
    world.note(What::Spawn, u32::MAX, key.slot);
    keep(world, key, world.handle.spawn_unique(Task::new(world, key)));
}

fn local(world: &World, here: Option<Hue>) {
    let (Some(hue), Actor::Worker(worker)) = (here, world.oracle(|oracle| oracle.actor())) else {
        return;
    };
    let key = world.oracle(|oracle| oracle.spawn(hue, Some(worker)));
    world.note(What::Spawn, hue, key.slot);
    let handle = spawn_local(Task::new(world, key));
    keep(world, key, handle.unwrap_or_else(|_| unreachable!("a worker runs here")));
}

/// Keeps the handle of a new task.
pub(super) fn keep(world: &World, key: Key, handle: JoinHandle<Output>) {
    // At the end of the scheduler a spawn can be over at once.
    if !world.oracle(|oracle| oracle.is_complete(key)) {
        world.stock.keep_abort(key, handle.abort_handle());
    }
    if let Some((key, handle)) = world.stock.keep_handle(&world.chance, (key, handle)) {
        detach(world, key, handle);
    }
}

/// Drops a handle; one of a task that is complete is asked first, half of the time.
pub(super) fn detach(world: &World, key: Key, mut handle: JoinHandle<Output>) {
    world.note(What::Detach, key.slot, 0);
    if world.oracle(|oracle| oracle.is_complete(key)) && world.chance.one_in(2) {
        match handle.try_take() {
            Some(result) => moves::check_outcome(world, key, result),
            None => {
                let what = format!("task {} is complete, and gives nothing", key.slot);
                world.oracle(|oracle| oracle.violated("G9", what));
            }
        }
        return;
    }
    world.oracle(|oracle| oracle.handle_gone(key));
    drop(handle);
}

fn wake(world: &World) {
    let Some((key, waker)) = world.stock.take_signal(&world.chance) else { return };
    world.note(What::Wake, key.slot, 0);
    world.oracle(|oracle| oracle.wake(key));
    if !world.fault.is_due(Fault::LostWake, world) {
        waker.wake();
    }
}

fn abort(world: &World) {
    let Some((key, handle)) = world.stock.some_abort(&world.chance) else { return };
    world.oracle(|oracle| oracle.abort(key));
    world.note(What::Abort, key.slot, 0);
    handle.abort();
}

fn new_cell(world: &World) {
    let lasting = world.chance.one_in(2);
    let cells = if lasting { &world.stock.lasting } else { &world.stock.cells };
    if cells.borrow().len() >= world.profile.cells as usize {
        return;
    }
    let hue = world.some_hue();
    let (key, color) = world.oracle(|oracle| (oracle.new_cell(hue), oracle.lanes.get(hue).color));
    world.note(What::Cell, hue, key.slot);
    let color = color.expect("a color with a name");
    let cell = ColorCell::new_in(&world.handle, color, Value::new(key));
    cells.borrow_mut().push((key, cell));
    if world.fault.is_due(Fault::LeakedLane, world) {
        mem::forget(ColorCell::new_in(&world.handle, colored_core::Color::new(u64::MAX), ()));
    }
}

fn drop_cell(world: &World, key: CellKey, cell: ColorCell<Value>) {
    world.oracle(|oracle| oracle.clone_gone(key, false));
    last_owner(world, key, || drop(cell));
}

/// Runs `drop_it`, which drops a clone of a cell. The oracle knows already that it goes. If it is the last one, the
/// value goes at once, or its end is scheduled.
pub(super) fn last_owner(world: &World, key: CellKey, drop_it: impl FnOnce()) {
    let last = world.oracle(|oracle| oracle.is_ownerless(key));
    if !last {
        return drop_it();
    }
    world.note(What::LastOwner, key.slot, 0);
    let outer = world.stock.going.replace(Some(key));
    drop_it();
    let went = world.stock.going.replace(outer) != Some(key);
    if !went {
        world.oracle(|oracle| oracle.last_owner_waits(key));
    }
}

fn post(world: &World) {
    let Some((key, cell)) = world.stock.some_cell(&world.chance) else { return };
    let number = world.stock.posts.get();
    let swapped = world.fault.is_due(Fault::SwappedPosts, world);
    world.stock.posts.set(number + 2);
    let numbers = if swapped { [number + 1, number] } else { [number, number + 1] };
    // Two posts at a time: the oracle tells their order apart most easily.
    for (said, done) in [number, number + 1].into_iter().zip(numbers) {
        let hue = world.oracle(|oracle| oracle.post(key, said));
        world.note(What::Post, hue, said);
        let token = PostToken::new(done, hue);
        if world.fault.is_due(Fault::Unscheduled, world) {
            return token.run_on_the_spot();
        }
        cell.post(move |value| token.run(value));
    }
}

/// A cell gives its value under its own color, and under no other.
fn try_with(world: &World, here: Option<Hue>) {
    let (Some(here), Some((key, cell))) = (here, world.stock.some_cell(&world.chance)) else {
        return;
    };
    let (hue, nameless) = world.oracle(|oracle| {
        let hue = oracle.cells.get(key).map(|cell| cell.hue);
        (hue, oracle.lanes.get(here).color.is_none())
    });
    if nameless {
        // A task that is refused has looked at its color.
        return;
    }
    // Time goes by inside, and this clone may be the last at the end of it.
    world.oracle(|oracle| oracle.clone_made(key));
    let given = cell.try_with(|value| value.touch(world)).is_ok();
    if given != (hue == Some(here)) {
        let what = format!("a cell of color {hue:?} under color {here}: {given}");
        world.oracle(|oracle| oracle.violated("G1", what));
    }
    drop_cell(world, key, cell);
}

/// Lets go of the cells that stay up to the end.
pub(super) fn let_lasting_go(world: &World) {
    limited::let_go(world);
    admission::let_go(world, usize::MAX);
    let classified: Vec<_> = world.oracle(|oracle| oracle.lanes.classified().collect());
    for hue in classified {
        set_class(world, hue, Priority::Normal);
    }
    for (key, cell) in world.stock.lasting.take() {
        drop_cell(world, key, cell);
    }
}

/// Lets go of at most `most` handles and cells.
pub(super) fn let_go(world: &World, most: usize) {
    for _ in 0..most {
        let handle = world.stock.take_handle(&world.chance);
        let cell = world.stock.take_cell(&world.chance);
        if handle.is_none() && cell.is_none() {
            return;
        }
        if let Some((key, handle)) = handle {
            detach(world, key, handle);
        }
        if let Some((key, cell)) = cell {
            drop_cell(world, key, cell);
        }
    }
}
