//! The page that explains keys and words.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Paragraph, Widget};

const TEXT: &str = "\
1 to 9        the pages; the program lists its tasks only while page 8 is shown
up, down      marks a color or a task; enter shows it, esc goes back
s, left, right  sorts the colors by another column
t             sums since the begin of the program, or the last half second
w             writes a trace file beside the socket, for ui.perfetto.dev
p, space      pauses: new snapshots are not shown
q, ctrl-c     ends

busy          how much of one CPU's time the color ran, or was kept across an await: at 100 % it is full
waits         the mean number of tasks and callbacks that wait; `for color`: their color ran others or was kept,
              `for CPU`: their color did nothing, and no worker took it
depth         tasks and callbacks in line now
turns         polls of tasks and runs of callbacks
moves         slices on another worker than the one before
done above    of a partition: records that are done above the first one that is not, which holds the commit back
level         what the runtime records; this program sets 1, and the runtime returns to what it had afterwards
";

pub(super) fn draw(area: Rect, buffer: &mut Buffer) {
    Paragraph::new(TEXT).render(area, buffer);
}
