//! The list of the rooms. The list is state of the default color; each room has a color of its own.

use super::room::{Line, Room};
use colored::sync::mpsc::UnboundedReceiver;
use colored::{Color, ColorCell, Limit};
use std::collections::HashMap;

/// How many lines of a room may be on their way to its members. A member that sends more waits, and so does its client,
/// since the server does not read its socket meanwhile.
const LINES: usize = 256;

/// All rooms that have members.
#[derive(Clone)]
pub(crate) struct Hotel {
    rooms: ColorCell<HashMap<String, Entry>>,
}

struct Entry {
    room: ColorCell<Room>,
    limit: Limit,
    guests: usize,
}

impl Default for Hotel {
    fn default() -> Self {
        Self { rooms: ColorCell::new(Color::DEFAULT, HashMap::new()) }
    }
}

impl Hotel {
    /// Enters a room, which is made for the first guest. Returns the guest, and the lines that it is to hear.
    pub(crate) async fn enter(
        &self,
        room: String,
        name: String,
    ) -> (Guest, UnboundedReceiver<Line>) {
        let key = room.clone();
        let open = move |rooms: &mut HashMap<String, Entry>| {
            let color = Color::of(("room", &key));
            let entry = rooms.entry(key).or_insert_with(|| Entry {
                room: ColorCell::new(color, Room::default()),
                limit: Limit::new(color, LINES),
                guests: 0,
            });
            entry.guests += 1;
            (entry.room.clone(), entry.limit.clone())
        };
        let (cell, limit) = self.rooms.call(open).await;
        let hotel = self.clone();
        let mut guest = Guest { hotel, name: room, room: cell, limit, number: None };
        let (number, lines) = guest.room.call(|room| room.join(name)).await;
        guest.number = Some(number);
        (guest, lines)
    }
}

/// A member of a room, for as long as it is connected.
pub(crate) struct Guest {
    hotel: Hotel,
    name: String,
    room: ColorCell<Room>,
    limit: Limit,
    number: Option<u64>,
}

impl Guest {
    /// Waits until there is room for the line.
    pub(crate) async fn say(&self, text: String) {
        let Some(number) = self.number else { return };
        let permit = self.limit.reserve().await.expect("nobody closes a room");
        self.room.post(move |room| room.say(number, &text, permit));
    }

    /// For the code that finds out that the guest must leave.
    pub(crate) fn put_out(&self) -> impl FnOnce(&'static str) + use<> {
        let (room, number) = (self.room.clone(), self.number);
        move |why| {
            if let Some(number) = number {
                room.post(move |room| room.put_out(number, why));
            }
        }
    }
}

impl Drop for Guest {
    /// However the connection ends.
    fn drop(&mut self) {
        self.put_out()("has left");
        let name = std::mem::take(&mut self.name);
        self.hotel.rooms.post(move |rooms| {
            let entry = rooms.get_mut(&name).expect("it is there while it has guests");
            entry.guests -= 1;
            if entry.guests == 0 {
                rooms.remove(&name);
            }
        });
    }
}
