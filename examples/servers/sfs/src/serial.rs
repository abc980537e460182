//! The server without colors: all its work is under the default one, so nothing overlaps.

use crate::door::{self, Door};
use crate::nodes::Id;
use crate::palette::Palette;
use crate::visit::Visit;
use colored::Color;
use colored::net::{TcpListener, TcpStream};
use rpc::Services;

pub(crate) fn palette() -> Palette {
    Palette::serial()
}

/// The color of the calls on a file.
pub(crate) fn color_of(_: Option<Id>) -> Color {
    Color::DEFAULT
}

pub(crate) async fn run(listener: TcpListener, door: Door, services: Services) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        colored::spawn(serve(stream, door.clone(), services.clone()));
    }
}

/// Reads and decrypts the calls of a connection, and encrypts and writes the replies.
async fn serve(stream: TcpStream, door: Door, services: Services) {
    let Ok(visitor) = door.open(stream).await else { return };
    let connection = door::connection(visitor.stream).color(Color::DEFAULT).serve(services);
    connection.identity(Visit::new(visitor.users, visitor.key)).open();
}
