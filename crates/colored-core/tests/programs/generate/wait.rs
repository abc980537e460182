//! The waits of a program's tasks.

use super::Make;
use crate::plan::{Set, Wait};

/// The patterns of tuples, a letter for each cell: `x` to change it, `s` to look at it.
const PATTERNS: [&str; 11] =
    ["x", "xx", "sx", "xs", "ss", "xxx", "sss", "xsx", "xxxx", "ssss", "xssx"];

impl Make {
    pub(super) fn wait(&mut self) -> Wait {
        self.depth += 1;
        let wait = loop {
            if let Some(wait) = self.some_wait() {
                break wait;
            }
        };
        self.depth -= 1;
        wait
    }

    fn some_wait(&mut self) -> Option<Wait> {
        let is_low = !self.burn();
        let choice = if is_low { self.chance.below(12) } else { self.chance.below(34) };
        Some(match choice {
            0 | 1 => Wait::Yield,
            2 | 3 => Wait::Signal,
            4 | 5 => Wait::Call(self.cell(), self.acts(1)),
            6 => Wait::CheckedCall(self.cell(), self.acts(1)),
            7 => Wait::Read(self.cell(), self.acts(1)),
            8 => Wait::CheckedRead(self.cell(), self.acts(1)),
            9 | 10 if self.may_hop => Wait::Hop(self.chance.index(self.tints)),
            11 => Wait::When(self.set(), self.acts(1)),
            12..=14 => Wait::TryWhen(self.set(), self.acts(1)),
            15 => Wait::When(self.set(), self.acts(2)),
            16..=18 => {
                let (how, body) = self.spawned();
                Wait::Join(how, body)
            }
            19 => {
                let (how, body) = self.spawned();
                Wait::Aborted(how, body)
            }
            20 => Wait::Job(self.acts(1)),
            21 => {
                let at = self.at();
                Wait::RemoteCall(at, self.chance.index(self.workers[at.runtime]), self.acts(1))
            }
            22 | 23 if self.sections => Wait::Exclusive(self.body(3)),
            24 | 25 if self.sections => Wait::CellExclusive(self.cell(), self.body(3)),
            26..=29 if self.limits > 0 && !self.in_limit => match self.chance.below(5) {
                0 => {
                    let task = self.chance.one_in(2).then(|| self.limited_task());
                    Wait::Reserve(self.limit(), task)
                }
                1 => Wait::Room(self.limit()),
                2 => Wait::LimitSpawn(self.limit(), self.limited_task()),
                3 => Wait::LimitCall(self.limit(), self.limited_acts()),
                _ => Wait::LimitPost(self.limit(), self.limited_acts()),
            },
            30 | 31 => Wait::Both(self.body(2), self.body(2)),
            32 | 33 => Wait::Either(self.body(2), self.body(2)),
            _ => return None,
        })
    }

    fn set(&mut self) -> Set {
        let cells =
            |make: &Self, count| (0..count).map(|_| make.chance.index(make.cells)).collect();
        match (self.row, self.chance.below(8)) {
            (Some(row), 0..=2) => {
                let from = self.chance.below(12).saturating_sub(8) as usize;
                let count = row - from;
                if self.chance.one_in(3) {
                    Set::Row(from, count)
                } else {
                    Set::SharedRow(from, count)
                }
            }
            (_, 3) => Set::Slice(cells(self, self.chance.below(5))),
            (_, 4) => Set::Shared(cells(self, self.chance.below(5))),
            _ => {
                let pattern = self.chance.of(&PATTERNS);
                // A tuple wants each cell once.
                let start = self.chance.index(self.cells);
                let all = (0..self.cells).map(|step| (start + step) % self.cells);
                let all: Vec<_> = all.take(pattern.len()).collect();
                let pattern = if all.len() < pattern.len() { PATTERNS[0] } else { pattern };
                Set::Tuple(pattern, all)
            }
        }
    }
}
