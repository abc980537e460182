//! State by key, fire and forget: `ColorCell::post` against an actor per key.

use super::Row;
use super::keyed::{KEYS, color, per_key};
use crate::latch::Latch;
use crate::measure::{Case, Entry, Pace, Sample, Unit};
use crate::rivals::{Rival, Runtimes};
use crate::zipf;
use tokio::sync::mpsc;

/// The rows of this file.
pub const ROWS: &[Row] = &[Row { name: "keyed_post", build: |on, _| case(on) }];

/// Operations per sample.
const OPS: usize = 50_000;

fn case(on: Runtimes) -> Case {
    let keys: &'static [usize] = Vec::leak(zipf::sequence(KEYS, OPS));
    Case {
        unit: Unit::ns("ns/op"),
        pace: Pace::Short,
        entries: vec![
            Entry::subject(posts(on, keys)),
            Entry::peer("actor", actors(on.tokio(), keys)),
            Entry::plotted("actor_ct", actors(on.tokio_ct(), keys)),
        ],
    }
}

/// Both sides are first in, first out within a key. So one last message per key shows that all are
/// done, and no operation pays for counting.
fn posts(on: Runtimes, keys: &'static [usize]) -> impl FnMut() -> Sample {
    let latch = Latch::leaked();
    let cells = per_key(|key| on.handle.cell(color(key), 0_u64));
    let rival = on.serial();
    let mut expected = 0;
    move || {
        let sample = Sample::time(OPS as u64, || {
            rival.run(async move {
                latch.expect(KEYS);
                for &key in keys {
                    cells[key].0.post(|value| *value += 1);
                }
                for cell in cells {
                    cell.0.post(|_| latch.hit());
                }
                latch.wait().await;
            });
        });
        expected += OPS as u64;
        let total = rival.run(async move {
            let mut total = 0;
            for cell in cells {
                total += cell.0.call(|value| *value).await;
            }
            total
        });
        assert_eq!(total, expected, "a post was lost");
        sample
    }
}

enum Message {
    Add(u64),
    Last,
}

/// The channel is unbounded, as posting is: a bounded channel would only be slower.
fn actors<R: Rival>(on: R, keys: &'static [usize]) -> impl FnMut() -> Sample {
    let latch = Latch::leaked();
    let actors = per_key(|_| {
        let (send, mut receive) = mpsc::unbounded_channel();
        drop(on.spawn_from_outside(async move {
            let mut value = 0_u64;
            while let Some(message) = receive.recv().await {
                match message {
                    Message::Add(amount) => value += amount,
                    Message::Last => latch.hit(),
                }
            }
            value
        }));
        send
    });
    move || {
        Sample::time(OPS as u64, || {
            on.run(async move {
                latch.expect(KEYS);
                for &key in keys {
                    actors[key].0.send(Message::Add(1)).expect("the actor lives");
                }
                for actor in actors {
                    actor.0.send(Message::Last).expect("the actor lives");
                }
                latch.wait().await;
            });
        })
    }
}
