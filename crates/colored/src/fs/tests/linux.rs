//! Faults that need to know what is in memory.

use super::{File, Scratch, pattern, run_with};
use crate::fs::fault::{self, Fault};
use crate::fs::system::Residency;
use rustix::fs::{Advice, fadvise};

/// Where the system knows that the data is not there, no attempt is made any more, since it would be slow.
#[test]
fn after_slow_refusals_a_read_asks_first_what_is_in_memory() {
    let scratch = Scratch::new();
    let bytes = pattern(10_000);
    std::fs::write(&scratch.0, &bytes).unwrap();
    let path = scratch.0.clone();
    let (is_cold, metrics) = run_with(None, async move {
        let file = File::open(&path).await.unwrap();
        let mut buf = [0; 100];
        // Most attempts are slow, but not so many fail that most are left out.
        for number in 0..160 {
            fault::set((number % 3 > 0).then_some(Fault::SlowRefusal));
            file.read_at(&mut buf, 200).await.unwrap();
        }
        fault::set(None);
        // What is in memory is read at once, and the end is found.
        assert_eq!(file.read_at(&mut buf, 200).await.unwrap(), 100);
        assert_eq!(file.read_at(&mut buf, 10_000).await.unwrap(), 0);
        let std = std::fs::File::open(&path).unwrap();
        std.sync_all().unwrap();
        fadvise(&std, 0, None, Advice::DontNeed).unwrap();
        let is_cold = Residency::of(&std).is_some_and(|of| of.resident(0, 1) == 0);
        let mut all = vec![0; 10_000];
        file.read_exact_at(&mut all, 0).await.unwrap();
        assert_eq!(all, bytes);
        is_cold
    });
    let of = &metrics[0];
    if of.unsupported > 0 || !is_cold {
        println!(
            "skipped: the temporary directory has no attempts, or does not tell what is in memory"
        );
        return;
    }
    assert!(of.slow_refusals >= 4, "{of:?}");
    assert_eq!(of.skipped, 1, "{of:?}");
}
