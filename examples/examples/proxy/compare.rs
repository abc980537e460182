//! `--compare`: the same load for each of the three proxies.

use crate::origin::{Origin, page};
use crate::{COLORINGS, Coloring};
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpListener, TcpStream};
use colored_examples::Failure;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const CLIENTS: usize = 8;
const PAGES: usize = 20;

/// Each client makes so many requests. The best time of the rounds counts: other programs only lengthen it.
pub(crate) async fn run(requests: usize, rounds: usize) -> Result<(), Failure> {
    let mut times = [Duration::MAX; COLORINGS.len()];
    for _ in 0..rounds {
        for (time, (name, coloring)) in times.iter_mut().zip(COLORINGS) {
            *time = load(name, coloring, requests).await?.min(*time);
        }
    }
    let all = CLIENTS * requests;
    for (time, (name, _)) in times.iter().zip(COLORINGS) {
        let ratio = times[0].as_secs_f64() / time.as_secs_f64();
        println!("{name:>6}: {all} requests in {time:.0?}, {ratio:.2} times as fast as serial");
    }
    println!("each fetched every page once");
    Ok(())
}

async fn load(name: &str, coloring: Coloring, requests: usize) -> Result<Duration, Failure> {
    let origin = Origin::start().await?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let addr = listener.local_addr()?;
    let proxy = colored::spawn(coloring.run(listener));

    let start = Instant::now();
    let client = |n| colored::spawn_unique(client(n, requests, addr, origin.addr));
    for client in (0..CLIENTS).map(client).collect::<Vec<_>>() {
        client.await??;
    }
    let took = start.elapsed();
    proxy.abort();

    let served = origin.served.call(|served| *served).await;
    let pages = PAGES.min(CLIENTS + requests - 1);
    if served != pages {
        return Err(Failure::new(format!("{name}: {served} fetches of {pages} pages")));
    }
    Ok(took)
}

async fn client(
    n: usize,
    requests: usize,
    proxy: SocketAddr,
    origin: SocketAddr,
) -> Result<(), Failure> {
    for turn in n..n + requests {
        let path = format!("/page-{}", turn % PAGES);
        let got = get(proxy, &format!("http://{origin}{path}")).await?;
        if got != page(&path).replace("ads-7.example", "*************") {
            return Err(Failure::new(format!("{path} is not as it should be: {got}")));
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
