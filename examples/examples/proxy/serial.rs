//! The proxy without colors: everything runs under the default one, so nothing overlaps, and the
//! cache needs no lock. Figure 1 of the paper.

use crate::wire::{Page, Pages, fetch, mask, parse, read_head, reply};
use colored::net::{TcpListener, TcpStream};
use colored::{Color, ColorCell};
use std::io;

pub(crate) async fn run(listener: TcpListener) -> ! {
    let cache = ColorCell::new(Color::DEFAULT, Pages::new());
    loop {
        let Ok((client, _)) = listener.accept().await else { continue };
        colored::spawn(relay(client, cache.clone()));
    }
}

async fn relay(mut client: TcpStream, cache: ColorCell<Pages>) {
    let answer = page(&mut client, &cache).await;
    reply(client, answer).await;
}

async fn page(client: &mut TcpStream, cache: &ColorCell<Pages>) -> io::Result<Page> {
    let head = read_head(client).await?;
    let url = parse(&head)?;
    let page = cache.with(|pages| pages.entry(url.clone()).or_default().clone());
    let page = page.get_or_try_init(|| fetch(&url)).await?;
    Ok(mask(page))
}
