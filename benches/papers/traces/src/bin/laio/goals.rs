//! What the paper shows of lazy calls beside the other ways, and what is measured here.

use crate::sweep::{MODES, Play, STATES, Sweeps, Swept};
use colored_figures::chart::number;
use std::fmt::Write;

/// A figure of `lazy` over that of another mode, at the least and at the most over the clients.
struct Compared {
    what: &'static str,
    over: usize,
    figure: fn(&Play) -> f64,
    /// Only from so many clients on.
    from: usize,
    paper: &'static str,
    goal: f64,
    is_lower_better: bool,
}

// The places in `MODES`.
const LAZY: usize = 0;
const BLOCKING: usize = 1;
const AIO: usize = 2;
const AMPED: usize = 3;
const POOL: usize = 4;

const COMPARED: [Compared; 8] = [
    Compared::more(
        "requests per second, over `blocking` (figure 7)",
        BLOCKING,
        0,
        "1.05 to 2.08",
        1.05,
    ),
    Compared::more(
        "the same, over `aio`, from 128 clients on (figure 10)",
        AIO,
        128,
        "up to 1.34",
        1.1,
    ),
    Compared::more("the same, over `amped` (figure 11)", AMPED, 0, "1.1 to 1.4", 1.1),
    Compared::more("the same, over `pool` (figure 11, AMTED)", POOL, 0, "1.1 to 1.4", 1.1),
    Compared {
        what: "mean response time, over `blocking` (figure 7)",
        over: BLOCKING,
        figure: |play| play.mean,
        from: 0,
        paper: "lower",
        goal: 1.0,
        is_lower_better: true,
    },
    Compared {
        what: "p99 of the response time, over `blocking`",
        over: BLOCKING,
        figure: |play| play.p99,
        from: 0,
        paper: "not printed",
        goal: 1.0,
        is_lower_better: true,
    },
    Compared {
        what: "bytes from the disk, over `amped`",
        over: AMPED,
        figure: |play| play.read,
        from: 0,
        paper: "0.84",
        goal: 1.0,
        is_lower_better: true,
    },
    Compared {
        what: "bytes from the disk in a second, over `amped`",
        over: AMPED,
        figure: |play| play.read_rate,
        from: 0,
        paper: "1.06",
        goal: 1.0,
        is_lower_better: false,
    },
];

impl Compared {
    const fn more(
        what: &'static str,
        over: usize,
        from: usize,
        paper: &'static str,
        goal: f64,
    ) -> Compared {
        let figure: fn(&Play) -> f64 = |play| play.rate;
        Compared { what, over, figure, from, paper, goal, is_lower_better: false }
    }

    /// By clients.
    fn ratios(&self, swept: &Swept, state: usize) -> Vec<f64> {
        let ratio = |modes: &[[Play; 2]; MODES.len()]| {
            (self.figure)(&modes[LAZY][state]) / (self.figure)(&modes[self.over][state])
        };
        let wanted = swept.iter().filter(|(clients, _)| *clients >= self.from);
        wanted.map(|(_, modes)| ratio(modes)).filter(|ratio| ratio.is_finite()).collect()
    }

    fn row(&self, page: &mut String, disk: &str, swept: &Swept, state: usize) {
        let mut ratios = self.ratios(swept, state);
        ratios.sort_by(f64::total_cmp);
        let (Some(least), Some(most)) = (ratios.first(), ratios.last()) else { return };
        let is_met = match self.is_lower_better {
            true => *most <= self.goal,
            false => *least >= self.goal,
        };
        let bound = if self.is_lower_better { "at most" } else { "at least" };
        let _ = writeln!(
            page,
            "| {}: {disk}, {} | {} | {} to {} | {bound} {} | {} |",
            self.what,
            STATES[state],
            self.paper,
            number(*least),
            number(*most),
            number(self.goal),
            if is_met { "met" } else { "missed" },
        );
    }
}

/// Adds the table.
pub(super) fn add(page: &mut String, sweeps: &Sweeps) {
    page.push_str(
        "## Against the goals\n\nThe least and the most over the numbers of clients.\n\n",
    );
    page.push_str(
        "| `lazy`: what it must show | paper | measured | goal | |\n|---|---:|---:|---:|---|\n",
    );
    for compared in COMPARED {
        for (state, _) in STATES.iter().enumerate() {
            compared.row(page, "the disk as it is", &sweeps.as_it_is, state);
            compared.row(page, "the slow disk", &sweeps.slow, state);
        }
    }
    page.push('\n');
}
