//! Who is at the other end.

use rustix::process::{getegid, geteuid, getpid};

use super::{Place, UnixStream, pair};
use crate::net::testing::run;

#[test]
fn both_ends_of_a_connection_know_each_other() {
    run(async {
        let (client, server) = pair(&Place::new()).await;
        let (one, other) = UnixStream::pair().unwrap();
        for stream in [client, server, one, other] {
            let peer = stream.peer_cred().unwrap();
            assert_eq!((peer.uid(), peer.gid()), (geteuid().as_raw(), getegid().as_raw()));
            if cfg!(target_os = "linux") {
                let own = getpid().as_raw_nonzero().get();
                assert_eq!(peer.pid(), Some(own.cast_unsigned()));
            }
        }
    });
}
