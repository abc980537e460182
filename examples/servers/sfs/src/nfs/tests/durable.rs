//! What is answered is on the device, also beside another request.

use super::{place, serve};
use crate::nfs::Request;
use crate::root::Root;
use crate::users::UserMap;
use colored::sim;
use nfs3_types::nfs3::{CREATE3args, Nfs3Option, createhow3, sattr3};
use std::sync::Arc;

/// Each request takes the file if it exists. Whoever is the first to get an answer finds the name on the device.
#[test]
fn a_name_that_another_request_is_making_is_on_the_device() {
    sim::check(|| {
        sim::fs::write("main", "/served/other", []).unwrap();
        async {
            let nfs = Arc::new(serve(Root::simulated("/served")).await);
            let top = nfs.top().await;
            let requests: Vec<_> = (0..2)
                .map(|_| {
                    let (nfs, top) = (Arc::clone(&nfs), top.clone());
                    colored::spawn_unique(async move {
                        let superuser =
                            Request::new(Arc::new(UserMap::same()), Some((0, &[0])), None);
                        let size = Nfs3Option::Some(0);
                        let how = createhow3::UNCHECKED(sattr3 { size, ..sattr3::default() });
                        let args = CREATE3args { where_: place(&top, "name"), how };
                        // After a loss of power the open files are closed: the second answer is an error.
                        if nfs.create(&superuser, args).await.is_ok() {
                            sim::fs::lose_unsynced("main");
                            let there = sim::fs::read("main", "/served/name");
                            sim::always!(there.is_ok(), "the name is on the device");
                        }
                    })
                })
                .collect();
            for request in requests {
                request.await.unwrap();
            }
        }
    });
}
