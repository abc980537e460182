//! hickory-resolver, against a name server of ten lines on our own UDP socket.
//!
//! The resolver's sockets and timers are tokio's. Each name has a color, and a look-up keeps the color until it has its
//! answer. So the name server is asked once for each name: the next look-up of that color finds the answer in the cache.

use colored::net::UdpSocket;
use colored::task::JoinSet;
use colored::{Color, ColorCell, exclusive, spawn_unique};
use colored_libraries::Failure;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::op::{Message, ResponseCode};
use hickory_resolver::proto::rr::rdata::A;
use hickory_resolver::proto::rr::{RData, Record, RecordType};
use std::net::Ipv4Addr;

#[colored::main(tokio)]
async fn main() -> Result<(), Failure> {
    let socket = UdpSocket::bind("127.0.0.1:0").await?;
    let addr = socket.local_addr()?;
    let queries = ColorCell::new(Color::named("queries"), 0);
    drop(spawn_unique(serve(socket, queries.clone())));

    let mut connection = ConnectionConfig::udp();
    connection.port = addr.port();
    let server = NameServerConfig::new(addr.ip(), true, vec![connection]);
    let config = ResolverConfig::from_parts(None, Vec::new(), vec![server]);
    let provider = TokioRuntimeProvider::default();
    let resolver = TokioResolver::builder_with_config(config, provider).build()?;

    let mut lookups = JoinSet::new();
    for n in 0..12 {
        let (resolver, name) = (resolver.clone(), format!("host{}.example.", n % 3));
        lookups.spawn_colored(Color::of(&name), async move {
            let found = exclusive(resolver.ipv4_lookup(name.as_str())).await?;
            let addr = found.answers().first().map(|record| record.data.to_string());
            Ok::<_, Failure>(format!("{name} {}", addr.unwrap_or_default()))
        });
    }
    let mut found = Vec::new();
    while let Some(lookup) = lookups.join_next().await {
        found.push(lookup??);
    }
    found.sort_unstable();
    found.dedup();
    println!("{}", found.join("\n"));
    println!("12 look-ups, {} queries", queries.call(|queries| *queries).await);
    match resolver.ipv4_lookup("nowhere.example.").await {
        Err(error) if error.is_no_records_found() => println!("nowhere.example. is unknown"),
        other => return Err(Failure::new(format!("expected no such name, got {other:?}"))),
    }
    Ok(())
}

/// Answers with 192.0.2.N for `hostN.example.`.
async fn serve(socket: UdpSocket, queries: ColorCell<u32>) -> Result<(), Failure> {
    let mut buffer = [0; 512];
    loop {
        let (len, from) = socket.recv_from(&mut buffer).await?;
        let mut message = Message::from_vec(&buffer[..len])?.into_response();
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
        socket.send_to(&message.to_vec()?, from).await?;
    }
}
