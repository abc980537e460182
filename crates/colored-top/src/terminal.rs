//! The terminal: it draws, and reads keys.

use crate::app::App;
use crate::client::{self, Client};
use crate::screen;
use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use std::io;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::Duration;

/// How long a new snapshot may wait to be drawn.
const PACE: Duration = Duration::from_millis(100);

/// The size of a screen that goes elsewhere than to a terminal.
const ELSEWHERE: (u16, u16) = (110, 40);

/// The width and the height of a screen that is printed: the terminal's width, if there is one.
pub(crate) fn size() -> (u16, u16) {
    use std::io::IsTerminal;
    let terminal = io::stdout().is_terminal().then(crossterm::terminal::size);
    let width = terminal.and_then(Result::ok).map_or(ELSEWHERE.0, |(width, _)| width);
    (width.max(60), ELSEWHERE.1)
}

/// Shows snapshots until the user has enough, or the program has ended.
pub(crate) fn run(client: Client) -> io::Result<()> {
    let snapshots = read_on(client);
    let mut terminal = ratatui::try_init()?;
    let shown = show(&mut terminal, &snapshots);
    ratatui::restore();
    shown
}

/// A thread reads, so that keys need not wait for a snapshot.
fn read_on(mut client: Client) -> Receiver<io::Result<String>> {
    // One is on the way while one is shown; while none is taken, none is asked for.
    let (send, snapshots) = mpsc::sync_channel(0);
    thread::spawn(move || {
        loop {
            let text = client.snapshot();
            let ends = text.is_err();
            if send.send(text).is_err() || ends {
                return;
            }
        }
    });
    snapshots
}

fn show(
    terminal: &mut ratatui::DefaultTerminal,
    snapshots: &Receiver<io::Result<String>>,
) -> io::Result<()> {
    let mut app = App::default();
    while !app.ends {
        // Also while paused, so that the program keeps the connection.
        match snapshots.try_recv() {
            Ok(text) => app.show(client::read(&text?)?),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return Err(io::Error::other("the reader ended")),
        }
        terminal.draw(|frame| screen::draw(&app, frame.area(), frame.buffer_mut()))?;
        if event::poll(PACE)? {
            match event::read()? {
                Event::Key(key) if key.kind == KeyEventKind::Release => {}
                Event::Key(key)
                    if key.code == KeyCode::Char('c')
                        && key.modifiers.contains(KeyModifiers::CONTROL) =>
                {
                    return Ok(());
                }
                Event::Key(key) => app.press(key.code),
                _ => {}
            }
        }
    }
    Ok(())
}
