//! The proxy fully colored: a color for each connection, and one for the cache, which is all that
//! connections still meet in.

use crate::wire::{Page, Pages, fetch, mask, parse, read_head, reply};
use colored::net::{TcpListener, TcpStream};
use colored::{Color, ColorCell};
use std::io;

pub(crate) async fn run(listener: TcpListener) -> ! {
    let cache = ColorCell::new(Color::named("cache"), Pages::new());
    loop {
        let Ok((client, _)) = listener.accept().await else { continue };
        colored::spawn_unique(relay(client, cache.clone()));
    }
}

async fn relay(mut client: TcpStream, cache: ColorCell<Pages>) {
    let answer = page(&mut client, &cache).await;
    reply(client, answer).await;
}

async fn page(client: &mut TcpStream, cache: &ColorCell<Pages>) -> io::Result<Page> {
    let head = read_head(client).await?;
    let url = parse(&head)?;
    let key = url.clone();
    let page = cache.call(move |pages| pages.entry(key).or_default().clone()).await;
    let page = page.get_or_try_init(|| fetch(&url)).await?;
    Ok(mask(page))
}
