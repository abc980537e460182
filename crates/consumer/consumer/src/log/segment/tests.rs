//! What an opening brings to the device again.

use super::super::{Begin, Commons, New, Partition};
use super::*;
use crate::log::scan::Place;
use crate::scratch::Scratch;

/// Rows of two records each, by an engine that waits for the device or not; returns the offset from which the file is in
/// doubt.
async fn in_doubt_after(rows: &[bool]) -> u64 {
    let scratch = Scratch::new();
    for sync in rows {
        let keep =
            Keep { segment_bytes: 1 << 20, bytes: None, millis: None, sync: *sync, skips: false };
        let begin = Begin { is_new: true, known: 0 };
        let opened = Partition::open(scratch.path(), keep, Commons::default(), begin).await;
        let partition = opened.unwrap();
        partition.append(vec![New::default(), New::default()]).await.unwrap();
        // A mark may be written behind the row.
        partition.close("the end").await;
    }
    let handle = Files::new(1).handle(path(scratch.path(), 0));
    let file = handle.open().await.unwrap();
    let size = file.metadata().await.unwrap().len();
    let salt = handle.head(&file).await.unwrap().unwrap().salt;
    let whole = Window::new(&file, salt, size).whole(first_place(0), |_, _| {}).await.unwrap();
    let Whole { end: Place { next, .. }, size: behind, in_doubt, .. } = whole;
    assert_eq!((next, behind), (2 * rows.len() as u64, size));
    in_doubt.next
}

/// What follows the last mark is written again, and nothing else. A row that waits for the device has a mark behind it.
#[colored::test]
async fn what_did_not_wait_for_the_device_is_in_doubt() {
    assert_eq!(in_doubt_after(&[true, true, true]).await, 6);
    assert_eq!(in_doubt_after(&[true, true, false, false]).await, 2);
    assert_eq!(in_doubt_after(&[false, false, true]).await, 6);
    assert_eq!(in_doubt_after(&[false, false]).await, 0);
}
