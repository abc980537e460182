//! One browser: messages in, lines out.

use super::hotel::{Guest, Hotel};
use super::room::Line;
use colored::spawn_here;
use colored::sync::mpsc::UnboundedReceiver;
use colored_hyper::websocket::{Error, Message, Receiver, Sender, WebSocket};

pub(crate) async fn serve(socket: WebSocket, hotel: Hotel, room: String, name: String) {
    let (sender, receiver) = socket.split();
    let (guest, lines) = hotel.enter(room, name).await;
    let put_out = guest.put_out();
    let reading = spawn_here(hear(receiver, guest));
    let ends = reading.abort_handle();
    let writing = spawn_here(async move {
        if let Err(error) = tell(lines, sender).await {
            put_out(if matches!(error, Error::Io(_)) { "was too slow" } else { "is gone" });
            ends.abort();
        }
    });
    // Aborted or not, the guest has left.
    let _ = reading.await;
    let _ = writing.await;
}

/// Until the browser leaves, or the server stops.
async fn hear(mut receiver: Receiver, guest: Guest) {
    while let Some(Ok(message)) = receiver.recv().await {
        if let Message::Text(text) = message {
            // Waits while the room has enough to say; meanwhile the browser is not read.
            guest.say(text.to_string()).await;
        }
    }
}

/// Until the guest has left and has heard everything.
async fn tell(mut lines: UnboundedReceiver<Line>, mut sender: Sender) -> Result<(), Error> {
    while let Some(line) = lines.recv().await {
        sender.send(Message::text(line.text().trim_end())).await?;
    }
    Ok(())
}
