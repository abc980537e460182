//! One member is killed alone: it polls no more, commits no more, and does not leave its group.

use crate::delegated::as_its_member;
use crate::group::{owned, settle};
use crate::support::{Effects, Scratch, engine, key, millis, number, send, until};
use colored::sync::Notify;
use colored::time::sleep;
use colored_consumer::embedded::{EmbeddedControl, Engine, Member};
use colored_consumer::{Consumer, Error, Event, Room, Source};
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A member whose driver ends without a word to the group.
struct Mortal {
    member: ManuallyDrop<Member>,
    kill: Arc<Notify>,
}

impl Source for Mortal {
    type Control = EmbeddedControl;

    fn control(&self) -> EmbeddedControl {
        self.member.control()
    }

    async fn poll(&mut self, room: Room) -> Result<Event, Error> {
        let (kill, member) = (&self.kill, &mut self.member);
        colored::select! {
            biased;
            () = kill.notified() => std::panic::resume_unwind(Box::new("killed")),
            event = member.poll(room) => event,
        }
    }

    as_its_member!(ManuallyDrop::into_inner);
}

/// A handler that never returns by itself.
#[derive(Clone, Default)]
struct Stuck {
    has_begun: Arc<AtomicBool>,
    is_dropped: Arc<AtomicBool>,
}

struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        // Ordering: a switch of a test.
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn start(engine: &Engine, effects: &Effects, stuck: &Stuck) -> (Consumer, Arc<Notify>) {
    let member = engine.member("g", ["t"]).session(millis(1_000)).join().await.unwrap();
    let kill = Arc::new(Notify::new());
    let source = Mortal { member: ManuallyDrop::new(member), kill: Arc::clone(&kill) };
    let (seen, stuck) = (effects.clone(), stuck.clone());
    let builder = Consumer::builder(source).strict(true).commit_every(millis(10));
    let consumer = builder.start(move |record, context| {
        let (seen, stuck) = (seen.clone(), stuck.clone());
        async move {
            // Ordering: a switch of a test.
            if key(&record) == "k0"
                && number(&record) == 15
                && !stuck.has_begun.swap(true, Ordering::Relaxed)
            {
                let _dropped = SetOnDrop(Arc::clone(&stuck.is_dropped));
                std::future::pending::<()>().await;
            }
            sleep(millis(1)).await;
            seen.add(&record, context.generation());
            Ok(())
        }
    });
    (consumer.unwrap(), kill)
}

/// The others get its partitions when its session ends, and nothing is lost. Its handlers are dropped; only what was its
/// own may come again.
#[colored::test]
async fn a_member_that_is_killed_alone_is_followed_by_the_others() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 6).await;
    let (effects, stuck) = (Effects::default(), Stuck::default());
    let mut members = Vec::new();
    for _ in 0..3 {
        members.push(start(&engine, &effects, &stuck).await);
    }
    settle(&[&members[0].0, &members[1].0, &members[2].0], &[2, 2, 2]).await;
    send(&engine, 30, 0, 40).await;
    // Ordering: a switch of a test.
    until("the stuck handler", || stuck.has_begun.load(Ordering::Relaxed)).await;
    let of = effects.all().into_iter().find(|effect| effect.key == "k0").unwrap().partition;
    let mut victims = Vec::new();
    for (at, (consumer, _)) in members.iter().enumerate() {
        let owned = owned(consumer).await;
        victims.extend(owned.contains(&of).then_some((at, owned)));
    }
    let (at, gone) = victims.pop().unwrap();
    let (victim, kill) = members.swap_remove(at);
    kill.notify_one();
    until("its end", || victim.is_ended()).await;
    // Ordering: a switch of a test.
    until("the drop of its handler", || stuck.is_dropped.load(Ordering::Relaxed)).await;
    settle(&[&members[0].0, &members[1].0], &[3, 3]).await;
    send(&engine, 30, 40, 50).await;
    until("all", || effects.by_key().values().all(|numbers| numbers.contains(&49))).await;
    for (consumer, _) in members {
        assert_eq!(consumer.metrics().await.violations, 0);
        consumer.stop().await.unwrap();
    }
    effects.assert_all_without_a_gap(30, 50);
    let partitions: std::collections::BTreeMap<_, _> =
        effects.all().into_iter().map(|effect| (effect.key, effect.partition)).collect();
    for (key, numbers) in effects.by_key() {
        let is_kept = !gone.contains(&partitions[&key]);
        assert!(!is_kept || numbers == (0..50).collect::<Vec<_>>(), "{key}: {numbers:?}");
    }
}
