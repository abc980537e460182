use super::{Act, Length, Situation, Strategy};

const LENGTH: Length = Length { turns: 100, points: 100, choices: 200, steps: 200 };

fn at(runnable: &[usize], turns: u64, last: usize, is_inside: bool) -> Situation<'_> {
    let length = Length { turns, choices: turns, ..Length::default() };
    Situation { runnable, length, last, is_inside }
}

fn run(strategy: Strategy, seed: u64) -> Vec<usize> {
    let mut chooser = strategy.begin(seed, LENGTH);
    let mut last = 0;
    let choose = |step| {
        last = chooser.choose(at(&[1, 4, 6], step, last, false));
        last
    };
    (0..100).map(choose).collect()
}

#[test]
fn a_seed_chooses_the_same_again() {
    for strategy in [
        Strategy::RoundRobin,
        Strategy::Random,
        Strategy::Pct { depth: 3 },
        Strategy::Pos,
        Strategy::Starve,
        Strategy::Portfolio,
    ] {
        for seed in 0..20 {
            assert_eq!(run(strategy, seed), run(strategy, seed), "{strategy:?} {seed}");
        }
    }
}

#[test]
fn round_robin_takes_all_in_turn() {
    assert_eq!(run(Strategy::RoundRobin, 7)[..4], [1, 4, 6, 1]);
}

#[test]
fn priorities_change_as_often_as_the_depth_says() {
    for seed in 0..50 {
        let run = run(Strategy::Pct { depth: 3 }, seed);
        let changes = run.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(changes <= 2, "{seed}: {run:?}");
    }
    let changed = |seed| run(Strategy::Pct { depth: 2 }, seed).windows(2).any(|of| of[0] != of[1]);
    assert!((0..50).any(changed));
}

/// Where one actor alone can go on, a change would change nothing.
#[test]
fn priorities_change_at_choices() {
    let length = Length { turns: 1000, points: 0, choices: 10, steps: 1000 };
    let is_changed = |seed: &u64| {
        let mut chooser = Strategy::Pct { depth: 2 }.begin(*seed, length).in_whole_turns();
        let mut last = chooser.choose(at(&[1, 4, 6], 0, 0, false));
        (1..10).any(|choice| {
            let before = last;
            last = chooser.choose(at(&[1, 4, 6], choice, last, false));
            last != before
        })
    };
    let changed = (0..100).filter(is_changed).count();
    assert!(changed > 75, "{changed} of 100 runs have a change behind one of their 10 choices");
}

#[test]
fn actors_that_have_fallen_have_any_order() {
    let runs_first = |seed| {
        let mut chooser = Strategy::Pct { depth: 3 }.begin(seed, LENGTH);
        let (mut last, mut fallen) = (0, Vec::new());
        for choice in 0..200 {
            let next = chooser.choose(at(&[1, 4, 6], choice, last, false));
            if next != last && last != 0 {
                fallen.push(last);
            }
            last = next;
        }
        let &[first, second] = &fallen[..] else { return None };
        let mut both = [first, second];
        both.sort_unstable();
        Some(chooser.choose(at(&both, 200, last, false)) == first)
    };
    let orders: Vec<bool> = (0..50).filter_map(runs_first).collect();
    assert!(orders.contains(&true) && orders.contains(&false), "{orders:?}");
}

#[test]
fn the_next_run_has_the_same_share_of_choices() {
    let length = Length { turns: 100, points: 300, choices: 40, steps: 400 };
    assert_eq!([true, false].map(|gives_way| length.choices_if(gives_way)), [40, 10]);
    let length = Length { steps: 100, ..length };
    assert_eq!([true, false].map(|gives_way| length.choices_if(gives_way)), [160, 40]);
    assert_eq!(Length::default().choices_if(true), 0);
}

#[test]
fn a_late_run_goes_on_at_random() {
    let mut chooser = Strategy::Pct { depth: 1 }.begin(0, LENGTH);
    let mut choose = |step| chooser.choose(at(&[1, 4, 6], step, 1, false));
    let early: Vec<usize> = (0..50).map(&mut choose).collect();
    assert!(early.iter().all(|actor| *actor == early[0]));
    let late: Vec<usize> = (1000..1050).map(&mut choose).collect();
    assert!([1, 4, 6].iter().all(|actor| late.contains(actor)));
}

#[test]
fn a_starved_actor_runs_seldom() {
    let seldom = |seed| {
        let run = run(Strategy::Starve, seed);
        [1, 4, 6].iter().any(|actor| run.iter().filter(|ran| *ran == actor).count() < 20)
    };
    assert!((0..50).filter(|seed| seldom(*seed)).count() > 25);
}

/// Ten actors act on one color, one of them first takes many steps that concern nobody.
#[test]
fn partial_order_sampling_gives_each_order_of_racing_acts_its_chance() {
    let comes_first = |seed| {
        let mut chooser = Strategy::Pos.begin(seed, LENGTH);
        let (mut steps, mut last, mut is_inside, mut step) = ([0_u32; 3], 0, false, 0);
        loop {
            last = chooser.choose(at(&[0, 1, 2], step, last, is_inside));
            (step, is_inside) = (step + 1, true);
            steps[last] += 1;
            let lonely = if last == 0 { 30 } else { 0 };
            if steps[last] > lonely + 1 {
                return last;
            }
            let on = if steps[last] > lonely { 7 } else { 1000 };
            let act = Act { on, by: None, takes: false };
            assert!(chooser.may_give_way(last, act, true, 0));
        }
    };
    let mut first = [0; 3];
    (0..600).for_each(|seed| first[comes_first(seed)] += 1);
    assert!(first.iter().all(|times| *times > 0), "{first:?}");
}

/// The points at which actors may give way in a run that has so many of them.
fn points(seed: u64, of: u64, act: Act) -> Vec<u64> {
    let mut chooser = Strategy::Pos.begin(seed, Length { turns: of, points: of, ..LENGTH });
    (0..of).filter(|point| chooser.may_give_way(0, act, true, *point)).collect()
}

#[test]
fn a_long_run_has_points_in_a_stretch_of_it() {
    let act = Act { on: 7, by: None, takes: false };
    assert_eq!(points(0, 500, act).len(), 500, "a short run has them everywhere");
    let of = 20_000;
    let (mut at, mut all) = ([0; 10], 0);
    for seed in 0..400 {
        let points = points(seed, of, act);
        assert!(points.len() >= 128, "{seed}: {}", points.len());
        assert_eq!(points[points.len() - 1] - points[0], points.len() as u64 - 1, "one stretch");
        points.iter().for_each(|point| at[(point / 2_000) as usize] += 1);
        all += points.len();
    }
    let percent = all as u64 / (4 * of);
    assert!((8..22).contains(&percent), "{percent} % of all points");
    assert!(at.iter().all(|times| *times > all / 100), "at all times of the run: {at:?}");
}

#[test]
fn an_act_on_the_own_color_is_a_point_less_often() {
    let act = |by| Act { on: 7, by: Some(by), takes: false };
    assert_eq!(points(0, 500, act(6)).len(), 500);
    assert!((2..40).contains(&points(0, 500, act(7)).len()));
}
