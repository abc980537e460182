//! The options of a connection and of a listener.

use std::io::{self, ErrorKind};
use std::time::Duration;

use socket2::SockRef;

use crate::io::{AsyncReadExt, AsyncWriteExt};
use crate::net::testing::{listen, pair, run};
use crate::net::{KeepAlive, ListenOptions, TcpStream};

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn assert_refused<T: std::fmt::Debug>(result: io::Result<T>, text: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(error.to_string(), text);
}

#[test]
fn options_are_what_was_set() {
    run(async {
        let (client, _server) = pair().await;
        assert!(!client.nodelay().unwrap());
        client.set_nodelay(true).unwrap();
        assert!(client.nodelay().unwrap());
        let probing = KeepAlive::new().idle(seconds(30)).probes(3);
        client.set_keep_alive(Some(probing.interval(seconds(5)))).unwrap();
        assert!(client.keep_alive().unwrap());
        client.set_keep_alive(None).unwrap();
        assert!(!client.keep_alive().unwrap());
        client.set_linger(Some(seconds(1))).unwrap();
        assert_eq!(client.linger().unwrap(), Some(seconds(1)));
        client.set_zero_linger().unwrap();
        assert_eq!(client.linger().unwrap(), Some(seconds(0)));
        client.set_linger(None).unwrap();
        assert_eq!(client.linger().unwrap(), None);
        client.set_ttl(9).unwrap();
        assert_eq!(client.ttl().unwrap(), 9);
        assert!(client.take_error().unwrap().is_none());
    });
}

#[test]
fn a_linger_is_rounded_up_and_never_becomes_a_reset() {
    run(async {
        let (mut client, mut server) = pair().await;
        for (given, whole) in [
            (Duration::ZERO, 0),
            (Duration::from_nanos(1), 1),
            (Duration::from_millis(1500), 2),
            (seconds(32_767), 32_767),
            (Duration::from_millis(500), 1),
        ] {
            client.set_linger(Some(given)).unwrap();
            assert_eq!(client.linger().unwrap(), Some(seconds(whole)), "{given:?}");
        }
        client.write_all(b"the last words").await.unwrap();
        drop(client);
        let mut got = Vec::new();
        server.read_to_end(&mut got).await.unwrap();
        assert_eq!(got, b"the last words");
    });
}

#[test]
fn a_linger_that_is_too_long_is_refused() {
    run(async {
        let (client, _server) = pair().await;
        client.set_linger(Some(seconds(7))).unwrap();
        for given in [Duration::from_millis(32_767_001), seconds(1 << 33), Duration::MAX] {
            let allowed = "allowed are None, 0 (reset) and up to 32767 s";
            let text = format!("set_linger({given:?}): {allowed}");
            assert_refused(client.set_linger(Some(given)), &text);
        }
        assert_eq!(client.linger().unwrap(), Some(seconds(7)));
    });
}

#[test]
fn a_keep_alive_out_of_its_range_is_refused_and_changes_nothing() {
    run(async {
        let (client, _server) = pair().await;
        let new = KeepAlive::new;
        for (given, text) in [
            (new().idle(Duration::ZERO), "idle 0ns): allowed are whole seconds, 1 to 32767"),
            (new().idle(seconds(40_000)), "idle 40000s): allowed are whole seconds, 1 to 32767"),
            (new().probes(0), "probes 0): allowed are 1 to 127 probes"),
            (new().probes(1000), "probes 1000): allowed are 1 to 127 probes"),
            (
                new().idle(Duration::MAX),
                "idle 18446744073709551615.999999999s): allowed are whole seconds, 1 to 32767",
            ),
        ] {
            let text = format!("set_keep_alive({text}");
            assert_refused(client.set_keep_alive(Some(given)), &text);
            assert!(!client.keep_alive().unwrap());
        }
        #[cfg(not(target_os = "openbsd"))]
        assert_refused(
            client.set_keep_alive(Some(new().interval(Duration::ZERO))),
            "set_keep_alive(interval 0ns): allowed are whole seconds, 1 to 32767",
        );
    });
}

#[test]
#[cfg(target_os = "linux")]
fn the_times_of_a_keep_alive_are_rounded_up() {
    run(async {
        let (client, _server) = pair().await;
        let half = Duration::from_millis(500);
        let probing = KeepAlive::new().idle(half).interval(seconds(32_767)).probes(127);
        client.set_keep_alive(Some(probing)).unwrap();
        let socket = SockRef::from(&client);
        assert_eq!(socket.tcp_keepalive_time().unwrap(), seconds(1));
        assert_eq!(socket.tcp_keepalive_interval().unwrap(), seconds(32_767));
        assert_eq!(socket.tcp_keepalive_retries().unwrap(), 127);
    });
}

#[test]
fn a_time_to_live_out_of_its_range_is_refused() {
    run(async {
        let (client, _server) = pair().await;
        let (listener, _) = listen().await;
        for hops in [0, 256, u32::MAX] {
            let allowed = "allowed are 1 to 255 hops";
            assert_refused(client.set_ttl(hops), &format!("set_ttl({hops}): {allowed}"));
            assert_refused(listener.set_ttl(hops), &format!("set_ttl({hops}): {allowed}"));
            let listened = ListenOptions::new().ttl(hops).listen("127.0.0.1:0").await;
            assert_refused(listened, &format!("ttl({hops}): {allowed}"));
        }
        for hops in [1, 255] {
            client.set_ttl(hops).unwrap();
            assert_eq!(client.ttl().unwrap(), hops);
        }
    });
}

#[test]
fn the_time_to_live_is_that_of_the_protocol() {
    run(async {
        let options = ListenOptions::new().only_v6(true).ttl(33);
        let Ok(listener) = options.listen("[::1]:0").await else {
            eprintln!("skipped: this machine has no IPv6 loopback");
            return;
        };
        assert_eq!(listener.ttl().unwrap(), 33);
        let addr = listener.local_addr().unwrap();
        let (client, accepted) = tokio::join!(TcpStream::connect(addr), listener.accept());
        let (client, (server, _)) = (client.unwrap(), accepted.unwrap());
        assert_eq!(server.ttl().unwrap(), 33);
        client.set_ttl(7).unwrap();
        assert_eq!(client.ttl().unwrap(), 7);
        assert_eq!(SockRef::from(&client).unicast_hops_v6().unwrap(), 7);
        listener.set_ttl(44).unwrap();
        assert_eq!(SockRef::from(&listener).unicast_hops_v6().unwrap(), 44);
    });
}

#[test]
#[cfg(any(target_os = "linux", windows))]
fn a_listener_for_both_protocols_gives_both_its_time_to_live() {
    run(async {
        let Ok(listener) = ListenOptions::new().only_v6(false).ttl(33).listen("[::]:0").await
        else {
            eprintln!("skipped: this machine has no IPv6");
            return;
        };
        let port = listener.local_addr().unwrap().port();
        for hops in [33, 44] {
            listener.set_ttl(hops).unwrap();
            for peer in ["127.0.0.1", "::1"] {
                let (client, accepted) =
                    tokio::join!(TcpStream::connect((peer, port)), listener.accept());
                let (_client, (server, _)) = (client.unwrap(), accepted.unwrap());
                assert_eq!(server.ttl().unwrap(), hops, "to {peer}");
            }
        }
    });
}
