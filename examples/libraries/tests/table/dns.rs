//! hickory-resolver, against a name server of ten lines on our own UDP socket.

use super::EACH;
use crate::support::in_colors;
use colored::net::UdpSocket;
use colored::{Color, ColorCell, exclusive, spawn_unique};
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::op::{Message, ResponseCode};
use hickory_resolver::proto::rr::rdata::A;
use hickory_resolver::proto::rr::{RData, Record, RecordType};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

fn resolver(addr: SocketAddr, timeout: Duration) -> TokioResolver {
    let mut connection = ConnectionConfig::udp();
    connection.port = addr.port();
    let server = NameServerConfig::new(addr.ip(), true, vec![connection]);
    let config = ResolverConfig::from_parts(None, Vec::new(), vec![server]);
    let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
    let options = builder.options_mut();
    (options.timeout, options.attempts) = (timeout, 1);
    builder.build().unwrap()
}

/// Answers with 192.0.2.N for `hostN.example.`.
async fn serve(socket: UdpSocket, queries: ColorCell<u64>) {
    let mut buffer = [0; 512];
    loop {
        let (len, from) = socket.recv_from(&mut buffer).await.unwrap();
        let mut message = Message::from_vec(&buffer[..len]).unwrap().into_response();
        queries.call(|queries| *queries += 1).await;
        for query in message.queries.clone() {
            let name = query.name().to_ascii();
            let number = name.strip_prefix("host").and_then(|rest| rest.strip_suffix(".example."));
            match number.and_then(|number| number.parse().ok()) {
                Some(number) if query.query_type() == RecordType::A => {
                    let addr = RData::A(A(Ipv4Addr::new(192, 0, 2, number)));
                    message.add_answer(Record::from_rdata(query.name().clone(), 60, addr));
                }
                _ => message.metadata.response_code = ResponseCode::NXDomain,
            }
        }
        socket.send_to(&message.to_vec().unwrap(), from).await.unwrap();
    }
}

/// A section keeps the color of a name until the answer is there, and the next look-up finds it in the cache.
pub(super) async fn many() -> u64 {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let resolver = resolver(socket.local_addr().unwrap(), Duration::from_secs(60));
    let queries = ColorCell::new(Color::named("queries"), 0);
    let server = spawn_unique(serve(socket, queries.clone()));
    let visits = in_colors(10, 2, |witness, task| {
        let (resolver, name) = (resolver.clone(), format!("host{}.example.", task % 10));
        async move {
            for _ in 0..EACH {
                let found = exclusive(resolver.ipv4_lookup(name.as_str())).await.unwrap();
                witness.visit();
                let found = found.answers().first().map(|record| record.data.to_string());
                assert_eq!(found, Some(format!("192.0.2.{}", task % 10)));
            }
        }
    });
    let visits = visits.await;
    assert_eq!(queries.call(|queries| *queries).await, 10, "one for each name");
    let unknown = resolver.ipv4_lookup("nowhere.example.").await.unwrap_err();
    assert!(unknown.is_no_records_found(), "{unknown:?}");
    server.abort();
    visits
}

pub(super) async fn gone() {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let addr = socket.local_addr().unwrap();
    drop(socket);
    let visits = in_colors(4, 2, |witness, _| async move {
        let resolver = resolver(addr, Duration::from_millis(50));
        let error = resolver.ipv4_lookup("host1.example.").await.unwrap_err();
        assert!(!error.is_no_records_found(), "{error:?}");
        witness.visit();
    });
    assert_eq!(visits.await, 8);
}
