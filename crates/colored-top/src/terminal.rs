//! The terminal: it draws, and reads keys.

use crate::app::App;
use crate::client::{self, Client};
use crate::model::Dump;
use crate::screen;
use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// What the program has told.
enum Told {
    State(String),
    Tasks(Dump),
    Traced(String),
}

/// What the user wants beside snapshots.
#[derive(Default)]
struct Wants {
    /// As long as a page shows them.
    tasks: AtomicBool,
    /// Once.
    trace: AtomicBool,
}

/// Shows snapshots until the user has enough, or the program has ended.
pub(crate) fn run(client: Client) -> io::Result<()> {
    let wants = Arc::new(Wants::default());
    let told = read_on(client, Arc::clone(&wants));
    let mut terminal = ratatui::try_init()?;
    let shown = show(&mut terminal, &told, &wants);
    ratatui::restore();
    shown
}

/// A thread reads, so that keys need not wait for a snapshot.
fn read_on(mut client: Client, wants: Arc<Wants>) -> Receiver<io::Result<Told>> {
    // One is on the way while one is shown; while none is taken, none is asked for.
    let (send, told) = mpsc::sync_channel(0);
    thread::spawn(move || {
        loop {
            let state = client.snapshot().map(Told::State);
            let ends = state.is_err();
            if send.send(state).is_err() || ends {
                return;
            }
            // Ordering: a flag alone; a moment later is early enough.
            if wants.tasks.load(Ordering::Relaxed)
                && send.send(client.tasks().map(Told::Tasks)).is_err()
            {
                return;
            }
            // Ordering: as above.
            if wants.trace.swap(false, Ordering::Relaxed)
                && send.send(client.trace().map(Told::Traced)).is_err()
            {
                return;
            }
        }
    });
    told
}

fn show(
    terminal: &mut ratatui::DefaultTerminal,
    told: &Receiver<io::Result<Told>>,
    wants: &Wants,
) -> io::Result<()> {
    let mut app = App::default();
    while !app.ends {
        // Also while paused, so that the program keeps the connection.
        match told.try_recv() {
            Ok(told) => match told? {
                Told::State(text) => app.show(client::read(&text)?),
                Told::Tasks(dump) => app.show_tasks(dump),
                Told::Traced(text) => app.show_trace(text),
            },
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return Err(io::Error::other("the reader ended")),
        }
        // Ordering: a flag alone.
        wants.tasks.store(app.wants_tasks(), Ordering::Relaxed);
        if std::mem::take(&mut app.wants_trace) {
            // Ordering: a flag alone.
            wants.trace.store(true, Ordering::Relaxed);
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
