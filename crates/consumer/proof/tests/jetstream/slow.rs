//! A server whose answers come late: what that costs a member, and when it hears of its loss.

use crate::support::{Topic, nats};
use colored::time::{Duration, Instant, sleep};
use colored::{block_in_place, spawn_unique};
use colored_consumer::{Control, Event, Room, Source, TopicPartition};
use colored_consumer_jetstream::{Engine, Member};
use colored_engines_proof::effects::millis;
use colored_engines_proof::nats::Nats;
use colored_engines_proof::proxy::Proxy;
use colored_engines_proof::suite::TestTopic;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A process that does not run for so long may lose what it has.
const SESSION: Duration = millis(10_000);

/// Longer than all tests.
const EVER: Duration = Duration::from_secs(3_600);

/// What members were told.
#[derive(Debug, Default)]
struct Told {
    owners: BTreeMap<TopicPartition, &'static str>,
    /// Partitions with two owners.
    overlaps: Vec<TopicPartition>,
    /// Whose.
    losses: Vec<&'static str>,
    /// The members that have ended.
    ended: Vec<&'static str>,
}

#[derive(Clone, Default)]
struct Group(Arc<Mutex<Told>>);

impl Group {
    /// Does what a member is told, until it fails.
    fn follow(&self, name: &'static str, mut member: Member) {
        let group = self.clone();
        let _detached = spawn_unique(async move {
            let (control, room) = (member.control(), Room { records: 100, bytes: 1 << 20 });
            while let Ok(event) = member.poll(room).await {
                if let Event::Revoked(gone) = group.take(name, event) {
                    // The agent tries again what fails.
                    let _ = control.release(gone).await;
                }
            }
            group.0.lock().unwrap().ended.push(name);
        });
    }

    fn take(&self, name: &'static str, event: Event) -> Event {
        let mut told = self.0.lock().unwrap();
        match &event {
            Event::Assigned(all) => {
                for of in all.iter().map(|of| &of.owned.partition) {
                    if told.owners.insert(of.clone(), name).is_some() {
                        told.overlaps.push(of.clone());
                    }
                }
            }
            Event::Revoked(gone) | Event::Lost(gone) => {
                // Another one may have it: then it is among the overlaps.
                told.owners.retain(|of, owner| {
                    *owner != name || gone.iter().all(|gone| gone.partition != *of)
                });
                if matches!(event, Event::Lost(_)) {
                    told.losses.push(name);
                }
            }
            _ => {}
        }
        event
    }

    /// Waits until it is so, and no partition has had two owners.
    async fn until(&self, is_so: impl Fn(&Told) -> bool) {
        let end = Instant::now() + Duration::from_secs(120);
        loop {
            {
                let told = self.0.lock().unwrap();
                assert_eq!(told.overlaps, [], "{told:?}");
                if is_so(&told) {
                    return;
                }
                assert!(Instant::now() < end, "{told:?}");
            }
            sleep(millis(10)).await;
        }
    }

    /// Waits until the members have so many partitions each.
    async fn settle(&self, counts: &[(&str, usize)]) {
        self.until(|told| {
            let has = |name| told.owners.values().filter(|owner| **owner == name).count();
            counts.iter().all(|(name, count)| has(*name) == *count)
        })
        .await;
    }

    fn losses(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().losses.clone()
    }
}

/// A server behind a proxy.
async fn behind(nats: &Nats) -> (Proxy, Engine) {
    let proxy = block_in_place(|| Proxy::start(&nats.url()));
    let engine = Engine::connect(&proxy.url()).await.unwrap();
    (proxy, engine)
}

/// A member takes many partitions, and gives some up, while each answer comes late: it is taken for dead by nobody.
#[colored::test]
async fn a_slow_server_costs_no_membership() {
    let Some(nats) = nats() else { return };
    let (topic, group) = (Topic::create_at(nats, "slow", 24).await, Group::default());
    let (proxy, engine) = behind(nats).await;
    proxy.hold_back(SESSION / 12);
    let slow = engine.member("g-slow", ["slow"]).session(SESSION).join().await.unwrap();
    group.follow("slow", slow);
    sleep(SESSION / 4).await;
    group.follow("quick", topic.member().session(SESSION).join().await.unwrap());
    group.settle(&[("slow", 12), ("quick", 12)]).await;
    sleep(2 * SESSION).await;
    group.settle(&[("slow", 12), ("quick", 12)]).await;
    assert!(group.losses().is_empty());
}

/// A member of many topics whose server answers no more hears of its loss when its session is over, and not later: nobody has
/// its partitions before.
#[colored::test]
async fn a_member_hears_of_its_loss_in_time() {
    const NAMES: [&str; 6] = ["late-0", "late-1", "late-2", "late-3", "late-4", "late-5"];
    let Some(nats) = nats() else { return };
    let (mut topics, group) = (Vec::new(), Group::default());
    for name in NAMES {
        topics.push(Topic::create_at(nats, name, 2).await);
    }
    let (proxy, engine) = behind(nats).await;
    let join = async |engine: &Engine| engine.member("g-late", NAMES).session(SESSION).join().await;
    group.follow("slow", join(&engine).await.unwrap());
    group.follow("quick", join(&topics[0].engine).await.unwrap());
    group.settle(&[("slow", 6), ("quick", 6)]).await;
    proxy.hold_back(EVER);
    group.settle(&[("slow", 0), ("quick", 12)]).await;
    assert_eq!(group.losses(), ["slow"]);
}

/// One answer comes late, and the others take a while: all that the member writes is found.
#[colored::test]
async fn a_late_answer_costs_no_membership() {
    let Some(nats) = nats() else { return };
    let (_topic, group) = (Topic::create_at(nats, "spike", 2).await, Group::default());
    let (proxy, engine) = behind(nats).await;
    let member = engine.member("g-spike", ["spike"]).session(SESSION).join().await.unwrap();
    group.follow("slow", member);
    group.settle(&[("slow", 2)]).await;
    proxy.hold_back(EVER);
    sleep(SESSION * 11 / 20).await;
    proxy.hold_back(SESSION / 6);
    sleep(2 * SESSION).await;
    assert!(group.losses().is_empty());
    group.settle(&[("slow", 2)]).await;
}

/// A member that was lost joins again, and another one has come: what is above its share now is given up.
#[colored::test]
async fn a_member_that_comes_back_gives_up_what_is_above_its_share() {
    let Some(nats) = nats() else { return };
    let (topic, group) = (Topic::create_at(nats, "back", 24).await, Group::default());
    let (proxy, engine) = behind(nats).await;
    let slow = engine.member("g-back", ["back"]).session(SESSION).join().await.unwrap();
    group.follow("slow", slow);
    group.settle(&[("slow", 24)]).await;
    proxy.hold_back(EVER);
    group.follow("quick", topic.member().session(SESSION).join().await.unwrap());
    group.until(|told| told.losses == ["slow"]).await;
    proxy.hold_back(Duration::ZERO);
    group.settle(&[("slow", 12), ("quick", 12)]).await;
}

/// A static member is started again, reads one topic less, and another one has come.
#[colored::test]
async fn a_member_that_is_started_again_gives_up_what_is_above_its_share() {
    let Some(nats) = nats() else { return };
    let (topic, group) = (Topic::create_at(nats, "anew", 24).await, Group::default());
    let _more = Topic::create_at(nats, "anew-more", 2).await;
    let both = || topic.engine.member("g-anew", ["anew", "anew-more"]).session(SESSION);
    let mut first = both().instance("a").join().await.unwrap();
    let mut count = 0;
    while count < 26 {
        let event = first.poll(Room { records: 1, bytes: 1 }).await.unwrap();
        let Event::Assigned(all) = event else { panic!("{event:?}") };
        count += all.len();
    }
    first.close().await.unwrap();
    group.follow("other", both().join().await.unwrap());
    group.follow("a", topic.join(SESSION, Some("a")).await);
    group.settle(&[("a", 12), ("other", 14)]).await;
}

/// The network of a static member comes back, and another one has joined under its name: that one stays.
#[colored::test]
async fn a_member_that_comes_back_leaves_its_successor_alone() {
    let Some(nats) = nats() else { return };
    let (topic, group) = (Topic::create_at(nats, "name", 2).await, Group::default());
    let (proxy, engine) = behind(nats).await;
    let first = engine.member("g-name", ["name"]).session(SESSION).instance("a");
    group.follow("first", first.join().await.unwrap());
    group.settle(&[("first", 2)]).await;
    proxy.hold_back(EVER);
    group.until(|told| told.losses == ["first"]).await;
    group.follow("second", topic.join(SESSION, Some("a")).await);
    group.settle(&[("second", 2)]).await;
    proxy.hold_back(Duration::ZERO);
    group.until(|told| told.ended == ["first"]).await;
    sleep(SESSION / 2).await;
    assert_eq!(group.losses(), ["first"]);
    group.settle(&[("second", 2)]).await;
}

/// A member that has lost everything, and leaves then, is there no more.
#[colored::test]
async fn a_lost_member_that_leaves_has_no_entry() {
    let Some(nats) = nats() else { return };
    let _topic = Topic::create_at(nats, "left", 2).await;
    let (proxy, engine) = behind(nats).await;
    let mut member = engine.member("g-left", ["left"]).session(SESSION).join().await.unwrap();
    let room = Room { records: 1, bytes: 1 };
    assert!(matches!(member.poll(room).await, Ok(Event::Assigned(_))));
    let (bucket, entries) = ("KV_colored-g-left", "$KV.colored-g-left.member.*");
    assert!(block_in_place(|| nats.has_value(bucket, entries)));
    proxy.hold_back(EVER);
    while !matches!(member.poll(room).await.unwrap(), Event::Lost(_)) {}
    member.close().await.unwrap();
    assert!(!block_in_place(|| nats.has_value(bucket, entries)));
}

/// A watch does not show that another member lives: that one keeps its partitions, since the server is asked.
#[colored::test]
async fn a_late_watch_makes_nobody_dead() {
    let Some(nats) = nats() else { return };
    let (topic, group) = (Topic::create_at(nats, "watch", 12).await, Group::default());
    group.follow("quick", topic.join(SESSION, Some("a")).await);
    group.settle(&[("quick", 12)]).await;
    let proxy = block_in_place(|| Proxy::start(&nats.url()));
    // The subject of what a watch shows. In an answer to a question no space follows it.
    proxy.replace(".member.a ", ".nobody.a ");
    let engine = Engine::connect(&proxy.url()).await.unwrap();
    group
        .follow("late", engine.member("g-watch", ["watch"]).session(SESSION).join().await.unwrap());
    group.settle(&[("quick", 6), ("late", 6)]).await;
    sleep(3 * SESSION).await;
    group.settle(&[("quick", 6), ("late", 6)]).await;
    assert!(group.losses().is_empty());
}
