//! The partitions of the consumers on a runtime, with what the handlers of their first records wait for.

use super::{Dump, make};
use crate::partitions::Partition;
use crate::subject::Subject;
use std::time::Duration;

/// The tasks are not looked at for a mark that has stood for less: most marks move many times meanwhile.
const STANDS: Duration = Duration::from_millis(10);

/// The partitions, as the consumers last told, which are asked again for the next time. With more than `most_tasks` tasks,
/// what the handlers wait for is left out.
pub(crate) fn partitions(subject: &dyn Subject, most_tasks: u64) -> Vec<Partition> {
    let sources = &subject.diagnosis().partitions;
    let mut partitions = sources.latest();
    sources.refresh();
    let is_of_interest =
        |partition: &Partition| partition.has_stood(STANDS) && partition.task().is_some();
    if partitions.iter().any(is_of_interest) && subject.scheduler().live_tasks() <= most_tasks {
        let dump = make(subject);
        partitions.iter_mut().for_each(|partition| explain(partition, &dump));
    }
    partitions
}

/// Says what the task of the handler does.
fn explain(partition: &mut Partition, dump: &Dump) {
    let Some(id) = partition.task() else { return };
    let Some(task) = dump.tasks().find(|task| task.id() == id) else { return };
    let Some(first) = &mut partition.first else { return };
    let waits: Vec<_> = task.waits().iter().map(ToString::to_string).collect();
    let does = if waits.is_empty() { task.does().to_owned() } else { waits.join(", or ") };
    first.waits_for += ", which ";
    first.waits_for += &does;
}
