use super::{Act, Length, Situation, Strategy};

const LENGTH: Length = Length { turns: 100, points: 100 };

fn at(runnable: &[usize], turns: u64, last: usize, is_inside: bool) -> Situation<'_> {
    Situation { runnable, length: Length { turns, points: 0 }, last, is_inside }
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
            assert!(chooser.may_give_way(last, Some(Act { on, by: None, takes: false })));
        }
    };
    let mut first = [0; 3];
    (0..600).for_each(|seed| first[comes_first(seed)] += 1);
    assert!(first.iter().all(|times| *times > 0), "{first:?}");
}
