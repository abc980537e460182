//! The choices of one run.

use crate::classes::Class;
use crate::script::Script;
use crate::strategy::{Act, Chooser, Length, Situation, Strategy};
use std::collections::{BTreeMap, HashMap};

/// A turn of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) actor: usize,
    /// Its turns until then, this one included.
    pub(crate) turns: u64,
}

/// The moment of a choice in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Moment {
    /// Whether the actor gives way at this point inside the turn.
    Point(u32),
    /// What is drawn, for example whether a fault happens.
    Draw(u32),
    /// Who is next when the turn is over.
    End,
}

/// What a run does otherwise than by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deviation {
    /// This actor is next.
    Next(usize),
    /// This was drawn: for a fault, that it happens.
    Drawn(u32),
}

/// The deviations of a run. A choice that is removed does not move the others.
pub(crate) type Deviations = BTreeMap<(Place, Moment), Deviation>;

/// The kind of a choice: who gives way inside a turn, what a turn draws, who is next behind it, and each site of faults.
pub(crate) fn kind((place, moment): &(Place, Moment)) -> (usize, u32) {
    match moment {
        _ if place.actor >= SITES => (place.actor, 0),
        Moment::Point(_) => (0, 0),
        // The first two are the budget of the turn.
        Moment::Draw(number) => (1, u32::from(*number >= 2)),
        Moment::End => (2, 0),
    }
}

/// The choices of one run. Each has a default: an actor does not give way inside its turn; the actor that ran last goes on,
/// or else the next one by number; and no fault happens. A run is described by the choices that are not the default.
pub struct Choices {
    source: Source,
    explores: bool,
    length: Length,
    /// The actor that has run last.
    last: usize,
    actors: Vec<Actor>,
    /// By site, the time at which it has asked last, and how often then.
    sites: BTreeMap<usize, (u64, u32)>,
    /// By site of the program and number, how often it has asked.
    asked: HashMap<(u32, u64), u32>,
    /// The deviations, in the order in which they were made: a long run has many.
    made: Vec<((Place, Moment), Deviation)>,
    class: Class,
    /// A hash of all choices and of what the run has reported.
    trail: u64,
    /// None unless the turns are kept.
    turns_kept: Option<Vec<Turn>>,
}

/// A turn of a run that keeps its turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// Who had it.
    pub actor: usize,
    /// Its number among the turns of the actor, from 1.
    pub number: u64,
    /// Whether the choice of the actor was not the default.
    pub is_chosen: bool,
    /// What was drawn in it and is not the default, with the number of the draw; without what is counted apart.
    pub drawn: Vec<(u32, u32)>,
    /// When it began, in nanoseconds since the begin of the run.
    pub nanos: u64,
    /// The faults that have happened in it, or after it and before the next turn.
    pub faults: Vec<String>,
    /// What ran, as the runtime has described it.
    pub what: String,
    /// The calls of other colors in it, as the runtime has described them.
    pub calls: Vec<String>,
}

/// The sites of [`Choices::happens_at`] have places as actors have, from this number on.
const SITES: usize = 1_000_000;

/// The choices of [`Choices::happens_in_program`], which are so many at most.
const PROGRAM_SITES: usize = 2_000_000;
const MOST_SITES: u32 = 1_000_000;

#[derive(Clone, Copy, Default)]
struct Actor {
    turns: u64,
    /// Of its last turn.
    points: u32,
    draws: u32,
}

#[derive(Clone)]
enum Source {
    Strategy(Chooser),
    Replay(Deviations),
    Script(Script),
}

impl Choices {
    pub(crate) fn by(chooser: Chooser) -> Self {
        Self::of(Source::Strategy(chooser))
    }

    /// Choices by that seed, at random.
    #[must_use]
    pub fn at_random(seed: u64) -> Self {
        Self::by(Strategy::Random.begin(seed, Length::default()))
    }

    /// The choices of a replay. The default is chosen where it names none, or an actor that is not runnable.
    pub(crate) fn replay(deviations: Deviations) -> Self {
        Self::of(Source::Replay(deviations))
    }

    pub(crate) fn script(script: Script) -> Self {
        Self::of(Source::Script(script))
    }

    fn of(source: Source) -> Self {
        Self {
            explores: !matches!(source, Source::Replay(_)),
            source,
            length: Length::default(),
            last: 0,
            actors: Vec::new(),
            sites: BTreeMap::new(),
            asked: HashMap::new(),
            made: Vec::new(),
            class: Class::default(),
            trail: 0,
            turns_kept: None,
        }
    }

    /// Keeps the turns of the run, for [`turns`](Self::turns).
    #[must_use]
    pub fn keeping_turns(mut self) -> Self {
        self.turns_kept = Some(Vec::new());
        self
    }

    /// Whether the turns are kept.
    #[must_use]
    pub fn keeps_turns(&self) -> bool {
        self.turns_kept.is_some()
    }

    /// The turns, if they are kept, in the order in which they began.
    #[must_use]
    pub fn turns(&self) -> &[Turn] {
        self.turns_kept.as_deref().unwrap_or_default()
    }

    /// Says when the last turn of an actor was over, and what it has run, if turns are kept.
    pub fn describe(&mut self, actor: usize, nanos: u64, what: impl FnOnce() -> String) {
        if let Some(turn) = self.turn_kept(actor) {
            turn.nanos = nanos;
            turn.what = what();
        }
    }

    /// The last turn of an actor, if turns are kept.
    fn turn_kept(&mut self, actor: usize) -> Option<&mut Turn> {
        self.turns_kept.as_mut()?.iter_mut().rfind(|turn| turn.actor == actor)
    }

    /// Choices for the same run. To be called before the first choice.
    #[must_use]
    pub fn again(&self) -> Self {
        let choices = Self::of(self.source.clone());
        if self.keeps_turns() { choices.keeping_turns() } else { choices }
    }

    /// For a run that is compared with one that a search has made.
    pub(crate) fn exploring(self) -> Self {
        Self { explores: true, ..self }
    }

    /// Whether a search makes this run for its own sake. Otherwise the run shows what was found.
    #[must_use]
    pub fn explores(&self) -> bool {
        self.explores
    }

    /// Choices for the same run, in which no actor gives way inside a turn. To be called before the first choice.
    #[must_use]
    pub fn in_whole_turns(&self) -> Self {
        let choices = Self::of(match self.source.clone() {
            Source::Strategy(chooser) => Source::Strategy(chooser.in_whole_turns()),
            Source::Replay(mut deviations) => {
                deviations.retain(|(_, moment), _| !matches!(moment, Moment::Point(_)));
                Source::Replay(deviations)
            }
            Source::Script(script) => Source::Script(script),
        });
        if self.keeps_turns() { choices.keeping_turns() } else { choices }
    }

    /// Chooses who is next when a turn is over: one of `runnable`, which is sorted. Those of `paused` are inside a turn, and
    /// go on with it; any other one begins a turn.
    ///
    /// # Panics
    ///
    /// If none is runnable.
    #[inline]
    pub fn choose(&mut self, runnable: &[usize], paused: &[usize]) -> usize {
        let last = self.last;
        let next = || runnable.iter().find(|actor| **actor > last).or(runnable.first());
        let default = match runnable.binary_search(&last) {
            Ok(_) => last,
            Err(_) => *next().expect("some actor is runnable"),
        };
        let chosen = self.pick(Moment::End, runnable, default);
        self.go_on_with(chosen, paused, chosen != default);
        chosen
    }

    /// The actor that has run last is inside its turn, at a point: it is about to act if `is_ahead`, or has acted. Returns
    /// whether it may give way: then [`give_way`](Self::give_way) chooses.
    #[inline]
    pub fn pass_point(&mut self, act: Act, is_ahead: bool) -> bool {
        let passed = self.length.points;
        self.length.points += 1;
        if let Source::Strategy(chooser) = &mut self.source {
            // The points of a turn are counted for those at which an actor may give way.
            return chooser.gives_way() && {
                let may = chooser.may_give_way(self.last, act, is_ahead, passed);
                self.actor().points += 1;
                may
            };
        }
        let place = self.place();
        let point = &mut self.actor().points;
        let moment = Moment::Point(*point);
        *point += 1;
        match &self.source {
            Source::Replay(deviations) => deviations.contains_key(&(place, moment)),
            _ => is_ahead,
        }
    }

    /// Chooses who goes on at that point: one of `runnable`, which is sorted and has the actor that passes the point. If it
    /// is another one, that one begins a turn, or goes on with it if it is `paused`.
    pub fn give_way(&mut self, runnable: &[usize], paused: &[usize]) -> usize {
        let point = self.actor().points - 1;
        let (last, moment) = (self.last, Moment::Point(point));
        let chosen = self.pick(moment, runnable, last);
        if chosen != last {
            self.note(u64::from(point));
            self.go_on_with(chosen, paused, true);
        }
        chosen
    }

    #[inline]
    fn pick(&mut self, moment: Moment, runnable: &[usize], default: usize) -> usize {
        let place = self.place();
        let is_inside = moment != Moment::End;
        let at = Situation { runnable, length: self.length, last: self.last, is_inside };
        let chosen = match &mut self.source {
            Source::Strategy(chooser) if runnable.len() > 1 => {
                self.length.choices += 1;
                chooser.choose(at)
            }
            Source::Strategy(_) => default,
            Source::Replay(deviations) => match deviations.get(&(place, moment)) {
                Some(Deviation::Next(actor)) if runnable.contains(actor) => *actor,
                _ => default,
            },
            Source::Script(script) => script.choose(at, default),
        };
        if chosen != default {
            self.made.push(((place, moment), Deviation::Next(chosen)));
        }
        chosen
    }

    #[inline]
    fn go_on_with(&mut self, chosen: usize, paused: &[usize], is_chosen: bool) {
        self.last = chosen;
        self.note(chosen as u64);
        if !paused.contains(&chosen) {
            self.length.turns += 1;
            let actor = self.actor();
            *actor = Actor { turns: actor.turns + 1, points: 0, draws: 0 };
            let number = actor.turns;
            if let Some(kept) = &mut self.turns_kept {
                kept.push(Turn { actor: chosen, number, is_chosen, ..Turn::default() });
            }
        }
    }

    #[inline]
    fn actor(&mut self) -> &mut Actor {
        if self.last >= self.actors.len() {
            self.actors.resize(self.last + 1, Actor::default());
        }
        &mut self.actors[self.last]
    }

    /// The turn in progress.
    fn place(&self) -> Place {
        let turns = self.actors.get(self.last).map_or(0, |actor| actor.turns);
        Place { actor: self.last, turns }
    }

    /// Says which fault has happened, if turns are kept.
    pub fn describe_fault(&mut self, what: impl FnOnce() -> String) {
        if let Some(turn) = self.turn_kept(self.last) {
            turn.faults.push(what());
        }
    }

    /// Says what is called in the turn in progress, if turns are kept.
    pub fn describe_call(&mut self, what: impl FnOnce() -> String) {
        if let Some(turn) = self.turn_kept(self.last) {
            turn.calls.push(what());
        }
    }

    /// Whether a fault happens that happens once in `one_in`. By default it does not.
    pub fn happens(&mut self, one_in: u32) -> bool {
        self.draw(|chooser| u32::from(chooser.happens(one_in)), 1) > 0
    }

    /// Draws twice, as [`happens`](Self::happens).
    #[inline]
    pub fn happen(&mut self, one_in: [u32; 2]) -> [bool; 2] {
        let place = self.place();
        let draws = &mut self.actor().draws;
        let first = *draws;
        *draws += 2;
        let key = |number| (place, Moment::Draw(number));
        let happen = match &mut self.source {
            Source::Strategy(chooser) => one_in.map(|one_in| chooser.happens(one_in)),
            Source::Replay(deviations) => {
                [first, first + 1].map(|number| deviations.contains_key(&key(number)))
            }
            Source::Script(_) => [false; 2],
        };
        if happen[0] {
            self.keep_drawn(key(first), Some(first), 1);
        }
        if happen[1] {
            self.keep_drawn(key(first + 1), Some(first + 1), 1);
        }
        self.note(u64::from(happen[0]) | u64::from(happen[1]) << 1);
        happen
    }

    /// A number below `bound`, which is not zero. By default it is 0.
    pub fn choose_below(&mut self, bound: u32) -> u32 {
        self.draw(|chooser| chooser.below(bound), bound - 1)
    }

    fn draw(&mut self, draw: impl FnOnce(&mut Chooser) -> u32, most: u32) -> u32 {
        let place = self.place();
        let draws = &mut self.actor().draws;
        let number = *draws;
        *draws += 1;
        self.draw_at((place, Moment::Draw(number)), Some(number), draw, most)
    }

    /// A number up to `most`. A replay may name a larger one, that another version of the program had. `number` is that of the
    /// draw in its turn.
    fn draw_at(
        &mut self,
        key: (Place, Moment),
        number: Option<u32>,
        draw: impl FnOnce(&mut Chooser) -> u32,
        most: u32,
    ) -> u32 {
        let drawn = match &mut self.source {
            Source::Strategy(chooser) => draw(chooser),
            Source::Replay(deviations) => match deviations.get(&key) {
                Some(Deviation::Drawn(drawn)) => (*drawn).min(most),
                _ => 0,
            },
            Source::Script(_) => 0,
        };
        if drawn > 0 {
            self.keep_drawn(key, number, drawn);
        }
        self.note(u64::from(drawn));
        drawn
    }

    /// What was drawn is not the default.
    #[inline]
    fn keep_drawn(&mut self, key: (Place, Moment), number: Option<u32>, drawn: u32) {
        self.made.push((key, Deviation::Drawn(drawn)));
        if let (Some(turn), Some(number)) = (self.turn_kept(self.last), number) {
            turn.drawn.push((number, drawn));
        }
    }

    /// As [`happens`](Self::happens), for something that concerns a site: the choice is named by the site, by `time`, and
    /// by how often the site has asked at that time. It stays the same one when turns before that time are removed.
    pub fn happens_at(&mut self, site: usize, time: u64, one_in: u32) -> bool {
        let asked = self.sites.entry(site).or_default();
        if asked.0 != time {
            *asked = (time, 0);
        }
        let number = asked.1;
        asked.1 += 1;
        let key = (Place { actor: SITES + site, turns: time }, Moment::Draw(number));
        self.draw_at(key, None, |chooser| u32::from(chooser.happens(one_in)), 1) > 0
    }

    /// As [`happens`](Self::happens), for something in the program: the choice is named by the site, by a number of the
    /// program's, and by how often the site has asked with that number. It stays the same one when other choices are removed.
    /// A strategy lets it happen in any case if `is_due`.
    pub fn happens_in_program(
        &mut self,
        site: u32,
        number: u64,
        is_due: bool,
        one_in: u32,
    ) -> bool {
        let site = site % MOST_SITES;
        let asked = self.asked.entry((site, number)).or_default();
        let times = *asked;
        *asked += 1;
        let place = Place { actor: PROGRAM_SITES + site as usize, turns: number };
        let draw = |chooser: &mut Chooser| u32::from(chooser.happens(one_in) || is_due);
        self.draw_at((place, Moment::Draw(times)), None, draw, 1) > 0
    }

    /// An act has happened.
    #[inline]
    pub fn note_act(&mut self, act: Act) {
        self.class.note(act);
        if let Source::Script(script) = &mut self.source {
            script.note_act(act);
        }
    }

    /// Adds something that the run has done to its trail: two runs of the same choices have equal trails.
    #[inline]
    pub fn note(&mut self, value: u64) {
        // The step of FNV-1a, by 64 bits.
        self.trail = (self.trail ^ value).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    }

    /// How many turns have begun.
    #[must_use]
    pub fn made(&self) -> u64 {
        self.length.turns
    }

    pub(crate) fn length(&self) -> Length {
        let gives_way = matches!(&self.source, Source::Strategy(chooser) if chooser.gives_way());
        Length { steps: self.length.steps_if(gives_way), ..self.length }
    }

    /// A hash of the choices and of what the run has [noted](Self::note): two equal runs have equal trails.
    #[must_use]
    pub fn trail(&self) -> u64 {
        self.trail
    }

    /// Names the class of the run: runs of one class do the same.
    pub(crate) fn class(&self) -> u64 {
        self.class.name()
    }

    pub(crate) fn deviations(&self) -> Deviations {
        self.made.iter().copied().collect()
    }

    pub(crate) fn into_script(self) -> Option<Script> {
        match self.source {
            Source::Script(script) => Some(script),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
