//! The queue of a partition: what the client has fetched of it, apart from all others.

use super::pointer;
use super::poll::{Polled, poll};
use crate::context::Client;
use colored::sync::Notify;
use colored_consumer::TopicPartition;
use rdkafka::consumer::Consumer;
use rdkafka::types::RDKafka;
use rdkafka_sys::bindings;
use std::ffi::{CString, c_void};
use std::fmt;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the client says of a queue.
struct Signal {
    /// Whether something may be in it.
    has_come: AtomicBool,
    /// Wakes the task that polls.
    wake: Arc<Notify>,
}

/// What the client has fetched of a partition. It fetches no more of it while more than a little is in the queue.
pub(crate) struct PartitionQueue {
    queue: *mut bindings::rd_kafka_queue_t,
    signal: Arc<Signal>,
    /// The queue ends before it.
    client: Arc<Client>,
}

// SAFETY: The client's queues have locks, so any thread may call.
unsafe impl Send for PartitionQueue {}

impl fmt::Debug for PartitionQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartitionQueue").finish_non_exhaustive()
    }
}

impl PartitionQueue {
    /// Takes the queue of a partition out of the client's, before the client fetches the partition. `None` if there is none.
    pub(crate) fn split(client: &Arc<Client>, of: &TopicPartition) -> Option<PartitionQueue> {
        let topic = CString::new(&*of.topic).ok()?;
        let number = i32::try_from(of.partition).ok()?;
        // SAFETY: The client and the name live longer than the call.
        let queue = unsafe {
            bindings::rd_kafka_queue_get_partition(pointer(client), topic.as_ptr(), number)
        };
        if queue.is_null() {
            return None;
        }
        let wake = Arc::clone(&client.context().wake);
        let signal = Arc::new(Signal { has_come: AtomicBool::new(true), wake });
        let argument = Arc::as_ptr(&signal).cast_mut().cast::<c_void>();
        // SAFETY: The queue is not null, and lives.
        unsafe { bindings::rd_kafka_queue_forward(queue, null_mut()) };
        // SAFETY: As above. The signal lives until the drop, which ends these calls.
        unsafe { bindings::rd_kafka_queue_cb_event_enable(queue, Some(tell), argument) };
        Some(PartitionQueue { queue, signal, client: Arc::clone(client) })
    }

    /// Whether something may be in it.
    pub(crate) fn has_come(&self) -> bool {
        // Ordering: the task is woken afterwards, and looks again.
        self.signal.has_come.load(Ordering::Relaxed)
    }

    /// Takes what has come, without a wait; `None` if nothing has.
    pub(crate) fn poll(&self) -> Option<Polled> {
        // Ordering: the lock of the queue orders it: what comes after the look sets it again.
        self.signal.has_come.store(false, Ordering::Relaxed);
        // SAFETY: The queue is not null, and lives.
        let polled = unsafe { poll(self.queue) }?;
        // Ordering: only this task takes it back.
        self.signal.has_come.store(true, Ordering::Relaxed);
        Some(polled)
    }
}

impl Drop for PartitionQueue {
    fn drop(&mut self) {
        // SAFETY: The queue is not null, and lives. No call of the signal begins behind this one.
        unsafe { bindings::rd_kafka_queue_cb_event_enable(self.queue, None, null_mut()) };
        // SAFETY: The client lives.
        let all = unsafe { bindings::rd_kafka_queue_get_consumer(pointer(&self.client)) };
        if !all.is_null() {
            // What is left is thrown away by the next poll of the client.
            // SAFETY: Both queues are not null, and live.
            unsafe { bindings::rd_kafka_queue_forward(self.queue, all) };
            // SAFETY: This reference is this one's alone.
            unsafe { bindings::rd_kafka_queue_destroy(all) };
        }
        // SAFETY: As above.
        unsafe { bindings::rd_kafka_queue_destroy(self.queue) };
    }
}

/// The client calls it, on a thread of its own, when the queue is no longer empty.
unsafe extern "C" fn tell(_: *mut RDKafka, signal: *mut c_void) {
    // SAFETY: It is the signal of a queue that has not been dropped.
    let signal = unsafe { &*signal.cast::<Signal>() };
    // Ordering: see `PartitionQueue::poll`.
    signal.has_come.store(true, Ordering::Relaxed);
    signal.wake.notify_one();
}
