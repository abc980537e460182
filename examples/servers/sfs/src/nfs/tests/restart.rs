//! Handles after the server has started again.

use super::{Folder, open, owner};
use crate::nodes::Id;
use crate::refused::Refused;
use std::fs;

#[colored::test]
async fn a_handle_outlives_the_server() {
    let folder = Folder::new();
    fs::create_dir_all(folder.0.join("a/b")).unwrap();
    let request = owner(&folder);
    let (top, file) = {
        let nfs = open(&folder.0).await;
        let top = nfs.top().await;
        let a = nfs.seek(&request, &top, "a").await.unwrap();
        let b = nfs.seek(&request, &a, "b").await.unwrap();
        let file = nfs.make(&request, &b, "file").await.unwrap();
        nfs.put(&request, &file, b"text").await.unwrap();
        (top, file)
    };
    fs::rename(folder.0.join("a/b"), folder.0.join("c")).unwrap();
    let nfs = open(&folder.0).await;
    assert_eq!(nfs.top().await, top);
    assert_eq!(nfs.get(&request, &file).await.unwrap(), b"text");
    assert_eq!(nfs.get(&request, &Id(12345).handle()).await, Err(Refused::STALE));
    fs::remove_file(folder.0.join("c/file")).unwrap();
    fs::write(folder.0.join("c/file"), "another").unwrap();
    let nfs = open(&folder.0).await;
    assert_eq!(nfs.get(&request, &file).await, Err(Refused::STALE), "it is another file");
}
