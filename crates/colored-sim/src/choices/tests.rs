use super::{Choices, Deviation, Moment, Place, Turn};
use crate::strategy::{Act, Length, Strategy};
use std::collections::BTreeMap;

/// Some turns; actors with an even number have two points in each turn.
fn walk(choices: &mut Choices) -> Vec<usize> {
    let act = |on| Act { on, by: None, takes: false };
    let runnable: [&[usize]; 5] = [&[0, 2], &[0, 1, 2], &[1], &[0, 1, 2], &[0, 2]];
    let (mut walked, mut paused): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut points = BTreeMap::new();
    for of_these in runnable.iter().cycle().take(60) {
        let mut of_these: Vec<usize> = of_these.iter().chain(&paused).copied().collect();
        of_these.sort_unstable();
        of_these.dedup();
        let mut actor = choices.choose(&of_these, &paused);
        let mut begins = !paused.contains(&actor);
        while actor.is_multiple_of(2) {
            paused.retain(|paused| *paused != actor);
            if begins {
                points.insert(actor, 0);
            }
            walked.push(actor);
            let passed = points.get_mut(&actor).unwrap();
            *passed += 1;
            if *passed > 2 {
                break;
            }
            begins = false;
            if choices.pass_point(act(*passed), true) {
                let others: Vec<usize> =
                    if paused.is_empty() { vec![0, 1, 2] } else { vec![actor] };
                let next = choices.give_way(&others, &paused);
                if next != actor {
                    paused.push(actor);
                    (actor, begins) = (next, true);
                }
            }
        }
        walked.push(100 + actor);
        walked.push(usize::from(choices.happens(3)));
        walked.push(choices.choose_below(4) as usize);
    }
    walked
}

#[test]
fn the_deviations_of_a_run_replay_it() {
    let mut inside = 0;
    for seed in 0..200 {
        let length = Length { turns: 60, points: 60, choices: 120, steps: 120 };
        let mut first = Choices::by(Strategy::Portfolio.begin(seed, length));
        let walked = walk(&mut first);
        let is_inside = |(_, moment): &&(Place, Moment)| matches!(moment, Moment::Point(_));
        inside += first.deviations().keys().filter(is_inside).count();
        let mut again = Choices::replay(first.deviations());
        assert_eq!(walk(&mut again), walked, "seed {seed}");
        assert_eq!(again.trail(), first.trail(), "seed {seed}");
    }
    assert!(inside > 100, "actors gave way {inside} times");
}

#[test]
fn in_whole_turns_nobody_gives_way() {
    for seed in 0..50 {
        let length = Length { turns: 60, points: 60, choices: 120, steps: 120 };
        let first = Choices::by(Strategy::Portfolio.begin(seed, length));
        let mut whole = first.in_whole_turns();
        walk(&mut whole);
        let is_inside = |(_, moment): &(Place, Moment)| matches!(moment, Moment::Point(_));
        assert!(!whole.deviations().keys().any(is_inside));
    }
}

#[test]
fn a_choice_is_where_several_actors_can_go_on() {
    let act = Act { on: 1, by: None, takes: false };
    let of = |strategy: Strategy| {
        let mut choices = Choices::by(strategy.begin(0, Length::default()));
        for runnable in [&[0][..], &[0, 1], &[1], &[0, 2]] {
            choices.choose(runnable, &[]);
            if choices.pass_point(act, true) {
                choices.give_way(&[0, 1, 2], &[]);
            }
        }
        let Length { turns, points, choices, steps } = choices.length();
        assert_eq!(points, 4);
        (choices, steps - turns)
    };
    assert_eq!(of(Strategy::RoundRobin), (2, 0));
    assert_eq!(of(Strategy::Pos), (6, 4));
}

#[test]
fn without_deviations_the_last_actor_goes_on() {
    let mut choices = Choices::replay(BTreeMap::new());
    assert_eq!(choices.choose(&[1, 2], &[]), 1);
    assert!(!choices.pass_point(Act { on: 1, by: None, takes: false }, false));
    assert_eq!(choices.choose(&[1, 2], &[]), 1);
    assert_eq!(choices.choose(&[0, 2], &[]), 2);
    assert_eq!(choices.choose(&[0, 1], &[]), 0);
    assert!(!choices.happens(1));
    assert!(choices.deviations().is_empty());
}

#[test]
fn an_actor_that_is_not_runnable_is_replaced_by_the_default() {
    let after = |actor, turns, next| ((Place { actor, turns }, Moment::End), Deviation::Next(next));
    let mut choices = Choices::replay([after(0, 0, 9), after(1, 1, 2)].into());
    assert_eq!((choices.choose(&[1, 2], &[]), choices.choose(&[1, 2], &[])), (1, 2));
}

#[test]
fn turns_are_kept_with_what_was_not_the_default() {
    let next = ((Place { actor: 1, turns: 1 }, Moment::End), Deviation::Next(2));
    let drawn = ((Place { actor: 2, turns: 1 }, Moment::Draw(1)), Deviation::Drawn(3));
    let mut choices = Choices::replay([next, drawn].into()).keeping_turns();
    for _ in 0..2 {
        let actor = choices.choose(&[1, 2], &[]);
        choices.happens(2);
        choices.choose_below(4);
        choices.describe(actor, 7, || "it".to_owned());
    }
    let what = "it".to_owned();
    let it = Turn { actor: 1, number: 1, nanos: 7, what, ..Turn::default() };
    let second = Turn { actor: 2, is_chosen: true, drawn: vec![(1, 3)], ..it.clone() };
    assert_eq!(choices.turns(), [it, second]);
}

#[test]
fn a_choice_of_a_site_stays_when_turns_before_it_are_removed() {
    let fault = (Place { actor: super::SITES + 3, turns: 70 }, Moment::Draw(1));
    for turns in 0..5 {
        let mut choices = Choices::replay([(fault, Deviation::Drawn(1))].into());
        for _ in 0..turns {
            let _actor = choices.choose(&[0, 1], &[]);
            assert!(!choices.happens(1) && !choices.happens_at(3, 69, 1));
        }
        let asked = [3, 2, 3, 3].map(|site| choices.happens_at(site, 70, 1));
        assert_eq!(asked, [false, false, true, false]);
        assert_eq!(choices.deviations().len(), 1);
    }
}

#[test]
fn a_number_that_is_too_large_becomes_the_largest() {
    let drawn =
        |number| ((Place { actor: 0, turns: 0 }, Moment::Draw(number)), Deviation::Drawn(9));
    let mut choices = Choices::replay([drawn(0), drawn(1)].into());
    assert_eq!((choices.choose_below(3), choices.happens(1)), (2, true));
}
