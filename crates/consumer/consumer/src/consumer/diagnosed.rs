//! With the feature `diagnose`, the reports of the runtime, and `colored-top`, tell of the partitions.

use super::claimed::Claimed;
use super::context::{Claim, ask_all};
use super::lane::Phase;
use super::state::State;
use colored::diagnose::partitions::{FirstRecord, Partition, PartitionSource};
use colored::{ColorCell, Handle, JoinHandle};
use std::sync::{Arc, Mutex, PoisonError};

/// The consumer is read while this lives.
pub(crate) struct Registered {
    _source: Arc<dyn PartitionSource>,
}

/// Registers a consumer with the current runtime.
pub(crate) fn register(cell: &ColorCell<State>) -> Registered {
    let told = Arc::new(Mutex::new(Told { is_asked: false, partitions: Vec::new() }));
    let source: Arc<dyn PartitionSource> = Arc::new(Teller { cell: cell.clone(), told });
    Handle::current().register_partitions(&source);
    Registered { _source: source }
}

struct Teller {
    cell: ColorCell<State>,
    told: Arc<Mutex<Told>>,
}

/// What the consumer said last.
struct Told {
    /// Whether an answer is on its way: there is one at most, also while the workers are stuck.
    is_asked: bool,
    partitions: Vec<Partition>,
}

impl PartitionSource for Teller {
    fn refresh(&self) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::replace(&mut told.is_asked, true) {
            drop(told);
            let (told, color) = (Arc::clone(&self.told), self.cell.color());
            self.cell.post(move |state| {
                let claims = state.all();
                // What it asks has its turns elsewhere.
                drop(colored::spawn_colored(color, async move {
                    let answers = ask_all(claims, tell).await;
                    let partitions = answers.into_iter().flatten().collect();
                    let told = &mut *told.lock().unwrap_or_else(PoisonError::into_inner);
                    (told.is_asked, told.partitions) = (false, partitions);
                }));
            });
        }
    }

    fn latest(&self) -> Vec<Partition> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).partitions.clone()
    }
}

fn tell(claimed: &mut Claimed, claim: &Arc<Claim>) -> Partition {
    let of = claimed.tell(claim).metrics;
    let mut told = Partition::default();
    (told.name, told.generation, told.lag) = (of.partition.to_string(), of.generation, of.lag);
    (told.in_flight, told.done_above) = (of.in_flight, of.done_above);
    (told.retries, told.dead_letters) = (of.retries, of.dead_letters);
    told.is_paused = of.is_paused;
    let lane = claimed.first_lane().filter(|lane| lane.phase == Phase::Running);
    let handler = lane.and_then(|lane| lane.task.as_ref());
    told.first = of.first.map(|first| {
        let mut told = FirstRecord::default();
        (told.key, told.offset, told.stood) = (first.key, first.offset, first.stood);
        (told.attempts, told.waits_for) = (first.attempts, first.waits_for.to_owned());
        told.task = handler.map(JoinHandle::id);
        told
    });
    told
}
