//! The waits of tasks.

use crate::act;
use crate::here;
use crate::plan::{Body, Do, Set, Wait};
use crate::spawn;
use crate::task::Task;
use crate::value::Value;
use crate::visit::{Place, Visit};
use crate::world::{Cell, Hands, Later, Thing};
use colored_core::{
    Address, RemoteCall, RemoteCallWait, Several, blocking, checked_when, exclusive, hop, shared,
    when, yield_now,
};
use colored_limit::Closed;
use std::future::poll_fn;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

pub(crate) type Future = Pin<Box<dyn std::future::Future<Output = ()> + Send>>;

/// The future of a body, which does one step after the other.
pub(crate) fn body(mut hands: Hands, body: Arc<Body>) -> Future {
    Box::pin(async move {
        let mut kept = Vec::new();
        for step in &body.steps {
            match step {
                Do::Act(act) => {
                    poll_fn(|cx| {
                        act::one(&mut hands, act, Some(cx.waker()));
                        Poll::Ready(())
                    })
                    .await;
                }
                Do::Await(wait) => future(&hands, wait).await,
                Do::Keep(acts) => kept.push(Later::new(&hands, acts)),
            }
        }
        // The future drops one value at a time, so that two panics do not meet.
        while let Some(later) = kept.pop() {
            drop(later);
        }
    })
}

/// The future of a wait.
pub(crate) fn future(hands: &Hands, wait: &Arc<Wait>) -> Future {
    let (hands, wait) = (hands.give(u32::MAX), Arc::clone(wait));
    Box::pin(async move {
        // `run` gives `None` if these hands no longer have the cell, or whatever else the wait needs.
        let _had = run(hands, &wait).await;
    })
}

async fn run(mut hands: Hands, wait: &Wait) -> Option<()> {
    let world = Arc::clone(&hands.world);
    match wait {
        Wait::Yield => yield_now().await,
        Wait::Hop(tint) => hop(world.colors[*tint]).await,
        Wait::Signal => {
            let mut waits = true;
            poll_fn(move |cx| {
                if !std::mem::take(&mut waits) {
                    return Poll::Ready(());
                }
                world.put(Thing::Waker(cx.waker().clone()));
                Poll::Pending
            })
            .await;
        }
        Wait::Join(how, body) => {
            let join = spawn::spawn(&hands, *how, body)?;
            if let Ok(token) = join.await {
                token.look();
            }
        }
        Wait::Aborted(how, body) => {
            let join = spawn::spawn(&hands, *how, body)?;
            join.abort();
            drop(join.await);
        }
        Wait::Job(acts) => {
            let visit = Visit::new(&hands, acts, None);
            let (job, join) = blocking(move || here::under(None, || visit.act()));
            world.put(Thing::Job(job));
            drop(join.await);
        }
        Wait::RemoteCall(at, worker, acts) => {
            let handle = hands.handle(at.runtime)?;
            let (color, hue) = (world.colors[at.tint], world.hue(at.runtime, at.tint));
            let address = Address::new(&handle, color);
            let visit = Visit::new(&hands, acts, None);
            let job = move || here::under(Some(hue), || visit.act());
            let waker = poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
            let (mut call, remote) = RemoteCallWait::new(job, waker);
            let there = Going(Some(remote));
            let sent = handle.post_to_worker(*worker, color, move || there.run());
            assert!(sent.is_ok(), "there is such a worker");
            let site = Location::caller();
            let _cancelled = poll_fn(|cx| call.poll(cx, site, || Some(address.clone()))).await;
        }
        Wait::Call(..) | Wait::CheckedCall(..) | Wait::Read(..) | Wait::CheckedRead(..) => {
            one_cell(&mut hands, wait).await?;
        }
        Wait::When(set, acts) => {
            let visit = Visit::new(&hands, acts, None);
            several(&hands, set, visit, false).await?;
        }
        Wait::TryWhen(set, acts) => {
            let visit = Visit::new(&hands, acts, None);
            several(&hands, set, visit, true).await?;
        }
        Wait::Exclusive(inner) => exclusive(body(hands.give(inner.keep), Arc::clone(inner))).await,
        Wait::CellExclusive(cell, inner) => {
            let cell = hands.cell(*cell)?;
            let inner = body(hands.give(inner.keep), Arc::clone(inner));
            cell.exclusive(async move |value| {
                value.write();
                let before = value.number();
                inner.await;
                assert_eq!(value.number(), before, "somebody was in an exclusive section");
                value.write();
            })
            .await;
        }
        Wait::Reserve(..)
        | Wait::Room(_)
        | Wait::LimitSpawn(..)
        | Wait::LimitCall(..)
        | Wait::LimitPost(..) => room(&mut hands, wait).await?,
        Wait::Both(one, other) | Wait::Either(one, other) => {
            let is_either = matches!(wait, Wait::Either(..));
            let mut branches =
                [one, other].map(|branch| Some(body(hands.give(branch.keep), Arc::clone(branch))));
            drop(hands);
            poll_fn(move |cx| {
                let mut ready = 0;
                for branch in &mut branches {
                    if branch.as_mut().is_none_or(|future| future.as_mut().poll(cx).is_ready()) {
                        *branch = None;
                        ready += 1;
                    }
                }
                let enough = if is_either { 1 } else { 2 };
                if ready >= enough { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        }
    }
    Some(())
}

/// The half of a remote call that the color runs.
struct Going<F: FnOnce() -> R, R>(Option<RemoteCall<F, R>>);

impl<F: FnOnce() -> R, R> Going<F, R> {
    fn run(mut self) {
        if let Some(remote) = self.0.take() {
            remote.run(|f| f());
        }
    }
}

impl<F: FnOnce() -> R, R> Drop for Going<F, R> {
    fn drop(&mut self) {
        // A worker that has stopped refuses the remote call at once, under the color to which it was sent. That is not
        // the caller's color.
        if let Some(remote) = self.0.take() {
            here::under(None, || drop(remote));
        }
    }
}

async fn one_cell(hands: &mut Hands, wait: &Wait) -> Option<()> {
    match wait {
        Wait::Call(cell, acts) => {
            let cell = hands.cell(*cell)?;
            let visit = Visit::new(hands, acts, None);
            cell.call(move |value| visit.change(value)).await;
        }
        Wait::CheckedCall(cell, acts) => {
            let cell = hands.cell(*cell)?;
            let visit = Visit::new(hands, acts, None);
            drop(cell.checked_call(move |value| visit.change(value)).await);
        }
        Wait::Read(cell, acts) => {
            let cell = hands.cell(*cell)?;
            let visit = Visit::new(hands, acts, None);
            cell.read(move |value| visit.change_all(&mut [Place::Seen(value)])).await;
        }
        Wait::CheckedRead(cell, acts) => {
            let cell = hands.cell(*cell)?;
            let visit = Visit::new(hands, acts, None);
            drop(cell.checked_read(move |value| visit.change_all(&mut [Place::Seen(value)])).await);
        }
        _ => unreachable!("it has nothing to do with one cell"),
    }
    Some(())
}

async fn room(hands: &mut Hands, wait: &Wait) -> Option<()> {
    match wait {
        Wait::Reserve(limit, task) => {
            let limit = hands.limit(*limit)?;
            if let Ok(permit) = limit.limit().reserve().await
                && let Some(body) = task
            {
                let hue = spawn::limit_hue(hands, &limit);
                drop(permit.spawn(Task::new(hands, body, hue)));
            }
        }
        Wait::Room(limit) => {
            let limit = hands.limit(*limit)?;
            drop(limit.limit().checked_reserve().await);
        }
        Wait::LimitSpawn(limit, body) => {
            let limit = hands.limit(*limit)?;
            let task = Task::new(hands, body, spawn::limit_hue(hands, &limit)).not_yet_in();
            if let Ok(join) = limit.limit().spawn(task).await {
                drop(join.await);
            }
        }
        Wait::LimitCall(limit, acts) => {
            let limit = hands.limit(*limit)?;
            let visit = Visit::new(hands, acts, None);
            if let Err(Closed(back)) = limit.call(move |value| visit.change(value)).await {
                drop(back);
            }
        }
        Wait::LimitPost(limit, acts) => {
            let limit = hands.limit(*limit)?;
            let visit = Visit::new(hands, acts, None);
            drop(limit.post(move |value| visit.change(value)).await);
        }
        _ => unreachable!("it has nothing to do with room"),
    }
    Some(())
}

/// Waits for a `when` over a tuple of these cells, `s` for a shared one.
macro_rules! tuple {
    ($tries:ident $visit:ident: $($which:ident $cell:ident)*) => {{
        let f = move |$($cell: tuple!(@type $which)),*| {
            let mut all = [$(tuple!(@place $which $cell)),*];
            $visit.change_all(&mut all);
        };
        if $tries {
            drop(checked_when(($(tuple!(@element $which $cell),)*), f).await);
        } else {
            when(($(tuple!(@element $which $cell),)*), f).await;
        }
    }};
    (@type x) => { &mut Value };
    (@type s) => { &Value };
    (@element x $cell:ident) => { $cell };
    (@element s $cell:ident) => { $cell.shared() };
    (@place x $cell:ident) => { Place::Changed($cell) };
    (@place s $cell:ident) => { Place::Seen($cell) };
}

async fn several(hands: &Hands, set: &Set, visit: Visit, tries: bool) -> Option<()> {
    match set {
        Set::Tuple(pattern, cells) => {
            let cells: Option<Vec<Cell>> = cells.iter().map(|cell| hands.cell(*cell)).collect();
            let cells = cells?;
            match (*pattern, &cells[..]) {
                ("x", [a, ..]) => tuple!(tries visit: x a),
                ("xx", [a, b]) => tuple!(tries visit: x a x b),
                ("sx", [a, b]) => tuple!(tries visit: s a x b),
                ("xs", [a, b]) => tuple!(tries visit: x a s b),
                ("ss", [a, b]) => tuple!(tries visit: s a s b),
                ("xxx", [a, b, c]) => tuple!(tries visit: x a x b x c),
                ("sss", [a, b, c]) => tuple!(tries visit: s a s b s c),
                ("xsx", [a, b, c]) => tuple!(tries visit: x a s b x c),
                ("xxxx", [a, b, c, d]) => tuple!(tries visit: x a x b x c x d),
                ("ssss", [a, b, c, d]) => tuple!(tries visit: s a s b s c s d),
                ("xssx", [a, b, c, d]) => tuple!(tries visit: x a s b s c x d),
                _ => unreachable!("a pattern has as many cells"),
            }
        }
        Set::Slice(cells) => {
            let cells: Option<Vec<Cell>> = cells.iter().map(|cell| hands.cell(*cell)).collect();
            row(&cells?, visit, tries).await;
        }
        Set::Shared(cells) => {
            let cells: Option<Vec<Cell>> = cells.iter().map(|cell| hands.cell(*cell)).collect();
            shared_row(&cells?, visit, tries).await;
        }
        Set::Row(from, count) => {
            let cells = hands.row.clone()?;
            row(&cells[*from..from + count], visit, tries).await;
        }
        Set::SharedRow(from, count) => {
            let cells = hands.row.clone()?;
            shared_row(&cells[*from..from + count], visit, tries).await;
        }
    }
    Some(())
}

async fn row(cells: &[Cell], visit: Visit, tries: bool) {
    let f = move |mut values: Several<'_, Value>| {
        for index in 0..values.len() {
            let hue = values[index].hue().clone();
            here::under(Some(hue), || values[index].write());
        }
        let hue = (!values.is_empty()).then(|| values[0].hue().clone());
        here::under(hue, || visit.act());
        let _sum: u64 = values.iter().map(Value::read).sum();
    };
    if tries {
        drop(checked_when(cells, f).await);
    } else {
        when(cells, f).await;
    }
}

async fn shared_row(cells: &[Cell], visit: Visit, tries: bool) {
    let f = move |values: &Several<'_, Value>| {
        let mut seen: Vec<_> = values.iter().map(Place::Seen).collect();
        visit.change_all(&mut seen);
    };
    if tries {
        drop(checked_when(shared(cells), f).await);
    } else {
        when(shared(cells), f).await;
    }
}
