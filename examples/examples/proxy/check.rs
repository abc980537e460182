//! `--check`: the same load for each of the three proxies.

use crate::origin::{Origin, page};
use crate::{COLORINGS, Coloring};
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpListener, TcpStream};
use colored_examples::Failure;
use std::io;
use std::net::SocketAddr;
use std::time::Instant;

const CLIENTS: usize = 8;
const REQUESTS: usize = 50;
const PAGES: usize = 20;

pub(crate) async fn run() -> Result<(), Failure> {
    for (name, coloring) in COLORINGS {
        check(name, coloring).await?;
    }
    Ok(())
}

async fn check(name: &str, coloring: Coloring) -> Result<(), Failure> {
    let origin = Origin::start().await?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let addr = listener.local_addr()?;
    let proxy = colored::spawn(coloring.run(listener));

    let start = Instant::now();
    let client = |n| colored::spawn_unique(client(n, addr, origin.addr));
    for client in (0..CLIENTS).map(client).collect::<Vec<_>>() {
        client.await??;
    }
    let took = start.elapsed();
    proxy.abort();

    let served = origin.served.call(|served| *served).await;
    if served != PAGES {
        return Err(Failure::new(format!("{name}: the origin was asked {served} times")));
    }
    let requests = CLIENTS * REQUESTS;
    println!("{name:>6}: {requests} requests in {took:.0?}, each of {PAGES} pages fetched once");
    Ok(())
}

async fn client(n: usize, proxy: SocketAddr, origin: SocketAddr) -> Result<(), Failure> {
    for turn in n..n + REQUESTS {
        let path = format!("/page-{}", turn % PAGES);
        let got = get(proxy, &format!("http://{origin}{path}")).await?;
        if got != page(&path) {
            return Err(Failure::new(format!("{path} is not as the origin made it: {got}")));
        }
    }
    Ok(())
}

async fn get(proxy: SocketAddr, url: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(proxy).await?;
    stream.write_all(format!("GET {url} HTTP/1.1\r\nhost: a\r\n\r\n").as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}
