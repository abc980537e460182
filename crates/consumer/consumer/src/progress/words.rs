//! The states of the records of a partition, as words: each word has the records of 64 offsets.
//!
//! Invariant: no word is empty, and the first record is not done but for a moment: until
//! [`drop_done`](Words::drop_done).

use std::ops::Range;

/// The records with an offset of 64, by a bit each.
#[derive(Clone, Copy, Debug)]
struct Word {
    /// The offsets divided by 64.
    number: u64,
    /// Which of them have a record.
    came: u64,
    started: u64,
    done: u64,
}

/// Records, ascending by offset. Each is waiting, started or done.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Ascending. Those before `first` have gone.
    words: Vec<Word>,
    first: usize,
    len: usize,
}

/// Where a record is, until one is dropped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    word: usize,
    bit: u64,
}

impl Words {
    /// How many records there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The offset of the first record.
    #[inline]
    pub(super) fn first(&self) -> Option<u64> {
        let word = self.words.get(self.first)?;
        Some((word.number << 6) + u64::from(word.came.trailing_zeros()))
    }

    /// Whether the last record is done, if there is one.
    pub(super) fn is_last_done(&self) -> Option<bool> {
        let word = self.words[self.first..].last()?;
        Some(word.done & highest(word.came) != 0)
    }

    /// Adds a record behind the others: one that is done, or waits.
    #[inline]
    pub(super) fn push(&mut self, offset: u64, is_done: bool) {
        let (number, bit) = (offset >> 6, 1 << (offset & 63));
        let done = if is_done { bit } else { 0 };
        self.len += 1;
        match self.words.last_mut() {
            Some(last) if last.number == number => {
                last.came |= bit;
                last.done |= done;
            }
            _ => self.words.push(Word { number, came: bit, started: 0, done }),
        }
    }

    #[inline]
    pub(super) fn find(&self, offset: u64) -> Option<Spot> {
        let (number, bit) = (offset >> 6, 1 << (offset & 63));
        // Without gaps the place is known.
        let first = self.words.get(self.first)?.number;
        let guess = self.first + usize::try_from(number.checked_sub(first)?).ok()?;
        match self.words.get(guess) {
            Some(word) if word.number == number => {
                (word.came & bit != 0).then_some(Spot { word: guess, bit })
            }
            _ => self.find_behind_gaps(number, bit),
        }
    }

    #[cold]
    fn find_behind_gaps(&self, number: u64, bit: u64) -> Option<Spot> {
        let there = &self.words[self.first..];
        let at = there.binary_search_by_key(&number, |word| word.number).ok()?;
        (there[at].came & bit != 0).then_some(Spot { word: self.first + at, bit })
    }

    pub(super) fn is_started(&self, at: Spot) -> bool {
        self.words[at.word].started & at.bit != 0
    }

    /// Returns whether the record was waiting.
    #[inline]
    pub(super) fn start(&mut self, at: Spot) -> bool {
        let word = &mut self.words[at.word];
        let was_waiting = (word.started | word.done) & at.bit == 0;
        if was_waiting {
            word.started |= at.bit;
        }
        was_waiting
    }

    /// A record waits again. Returns whether it was started.
    pub(super) fn put_back(&mut self, at: Spot) -> bool {
        let word = &mut self.words[at.word];
        let was_started = word.started & at.bit != 0;
        word.started &= !at.bit;
        was_started
    }

    /// A record is done. Returns whether it was started.
    #[inline]
    pub(super) fn finish(&mut self, at: Spot) -> bool {
        let word = &mut self.words[at.word];
        let was_started = word.started & at.bit != 0;
        if was_started {
            word.started &= !at.bit;
            word.done |= at.bit;
        }
        was_started
    }

    /// Whether the record before this one is there, and done.
    #[inline]
    pub(super) fn is_done_before(&self, Spot { word, bit }: Spot) -> bool {
        let of = &self.words[word];
        let before = of.came & (bit - 1);
        if before != 0 {
            return of.done & highest(before) != 0;
        }
        let last = self.words[self.first..word].last();
        last.is_some_and(|of| of.done & highest(of.came) != 0)
    }

    /// Whether the record behind this one is there, and done.
    #[inline]
    pub(super) fn is_done_behind(&self, Spot { word, bit }: Spot) -> bool {
        let of = &self.words[word];
        let behind = of.came & !(bit | (bit - 1));
        if behind != 0 {
            return of.done & lowest(behind) != 0;
        }
        self.words.get(word + 1).is_some_and(|of| of.done & lowest(of.came) != 0)
    }

    /// Drops the first records that are done. Returns how many these were.
    #[inline]
    pub(super) fn drop_done(&mut self) -> usize {
        let mut dropped = 0;
        while let Some(word) = self.words.get_mut(self.first) {
            let open = word.came & !word.done;
            let gone = if open == 0 { word.came } else { word.came & (lowest(open) - 1) };
            dropped += gone.count_ones() as usize;
            word.came &= !gone;
            word.done &= !gone;
            if open != 0 {
                break;
            }
            self.first += 1;
        }
        self.len -= dropped;
        if self.first == self.words.len() {
            self.words.clear();
            self.first = 0;
        } else if self.first >= 32 && self.first >= self.words.len() / 2 {
            // So each word is moved once on average.
            self.words.drain(..std::mem::take(&mut self.first));
        }
        dropped
    }

    /// How many rows of records that are done there are.
    pub(super) fn count_rows(&self) -> usize {
        let mut rows = 0;
        self.for_each_row(|_| rows += 1);
        rows
    }

    /// Tells each row of records that are done: from behind the record before it to behind its last one.
    pub(super) fn for_each_row(&self, mut tell: impl FnMut(Range<u64>)) {
        // Behind the last record that is not done, and behind the last one that is.
        let (mut from, mut to) = (0, 0);
        for word in &self.words[self.first..] {
            let behind = |bits: u64| (word.number << 6) + u64::from(64 - bits.leading_zeros());
            let mut left = word.came;
            while left != 0 {
                let row = below_lowest(left, left & !word.done);
                if row != 0 {
                    to = behind(row);
                    left &= !row;
                    continue;
                }
                if to > from {
                    tell(from..to);
                }
                let open = below_lowest(left, left & word.done);
                from = behind(open);
                left &= !open;
            }
        }
        if to > from {
            tell(from..to);
        }
    }
}

/// Those bits that are below the lowest of others: all, if there is no other.
#[inline]
fn below_lowest(bits: u64, of: u64) -> u64 {
    bits & lowest(of).wrapping_sub(1)
}

/// The lowest bit.
#[inline]
fn lowest(bits: u64) -> u64 {
    bits & bits.wrapping_neg()
}

/// The highest bit, of some.
#[inline]
fn highest(bits: u64) -> u64 {
    1 << (63 - bits.leading_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum State {
        Waiting,
        Started,
        Done,
    }

    fn assert_same(words: &Words, map: &BTreeMap<u64, State>) {
        assert_eq!((words.len(), words.first()), (map.len(), map.keys().next().copied()));
        let (mut told, mut rows, mut behind) = (Vec::new(), Vec::<Range<u64>>::new(), 0);
        for (offset, state) in map {
            if *state == State::Done {
                match rows.last_mut() {
                    Some(last) if last.end == behind => last.end = offset + 1,
                    _ => rows.push(behind..offset + 1),
                }
            }
            behind = offset + 1;
        }
        words.for_each_row(|row| told.push(row));
        assert_eq!((words.count_rows(), told), (rows.len(), rows));
    }

    /// Beside a map by offset, with gaps within words and beyond them.
    #[test]
    fn words_are_a_map_of_records() {
        for seed in 0..200 {
            let (mut chance, mut words) = (fastrand::Rng::with_seed(seed), Words::default());
            let (mut map, mut next) = (BTreeMap::<u64, State>::new(), chance.u64(..200));
            for _ in 0..400 {
                let some = chance.usize(..map.len().max(1));
                match (chance.u8(..6), map.iter_mut().nth(some)) {
                    (0..3, _) => {
                        let is_done = chance.u8(..4) == 0 && !map.is_empty();
                        words.push(next, is_done);
                        map.insert(next, if is_done { State::Done } else { State::Waiting });
                        next += if chance.u8(..8) == 0 { chance.u64(1..300) } else { 1 };
                    }
                    (3, Some((offset, state))) => {
                        let was_waiting = *state == State::Waiting;
                        assert_eq!(words.start(words.find(*offset).unwrap()), was_waiting);
                        *state = if was_waiting { State::Started } else { *state };
                    }
                    (4, Some((offset, state))) => {
                        let was_started = *state == State::Started;
                        assert_eq!(words.put_back(words.find(*offset).unwrap()), was_started);
                        *state = if was_started { State::Waiting } else { *state };
                    }
                    (5, Some((offset, state))) => {
                        let was_started = *state == State::Started;
                        assert_eq!(words.finish(words.find(*offset).unwrap()), was_started);
                        *state = if was_started { State::Done } else { *state };
                        let offset = *offset;
                        let is_done = |state: Option<(&u64, &State)>| {
                            state.is_some_and(|(_, state)| *state == State::Done)
                        };
                        let at = words.find(offset).unwrap();
                        assert_eq!(
                            words.is_done_before(at),
                            is_done(map.range(..offset).next_back())
                        );
                        assert_eq!(
                            words.is_done_behind(at),
                            is_done(map.range(offset + 1..).next())
                        );
                    }
                    _ => {}
                }
                let mut dropped = 0;
                while map.first_entry().is_some_and(|first| *first.get() == State::Done) {
                    map.pop_first();
                    dropped += 1;
                }
                assert_eq!(words.drop_done(), dropped);
                assert_same(&words, &map);
                assert!(words.find(next).is_none());
            }
        }
    }
}
