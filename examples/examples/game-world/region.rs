//! A region: its creatures, their step, and what they do at a border. All numbers are whole, so the same order of
//! events makes the same world on every machine.

use crate::world::Census;
use std::mem;

/// The width and the height of a region.
const SIZE: i32 = 1 << 16;
/// How far creatures keep away from each other.
const SIGHT: i32 = SIZE / 4;
/// How far from the border creatures trade, and how far along it.
const REACH: i32 = SIZE / 16;
const FASTEST: i32 = SIZE / 32;
const COINS: u64 = 100;

/// The place is that in the region, the speed that of one step.
#[derive(Clone)]
struct Creature {
    x: i32,
    y: i32,
    dx: i32,
    dy: i32,
    coins: u64,
}

#[derive(Clone, Copy)]
pub(crate) enum Side {
    East,
    West,
    South,
    North,
}

/// Creatures that have left by a side wait for the border there.
pub(crate) struct Region {
    creatures: Vec<Creature>,
    leaving: [Vec<Creature>; 4],
    steps: u64,
    crossed: u64,
}

impl Region {
    /// With creatures numbered from `first`.
    pub(crate) fn new(first: usize, creatures: usize) -> Region {
        let creatures = (first..first + creatures).map(Creature::new).collect();
        Region { creatures, leaving: [const { Vec::new() }; 4], steps: 0, crossed: 0 }
    }

    /// Each creature looks at all others of the region, and moves.
    pub(crate) fn step(&mut self) {
        self.steps += 1;
        let pushes: Vec<_> = self.creatures.iter().map(|one| self.push(one)).collect();
        for (mut creature, push) in mem::take(&mut self.creatures).into_iter().zip(pushes) {
            creature.go(push);
            match creature.outside() {
                None => self.creatures.push(creature),
                Some(side) => self.leaving[side as usize].push(creature),
            }
        }
    }

    /// Away from those that are near.
    fn push(&self, one: &Creature) -> (i32, i32) {
        self.creatures.iter().fold((0, 0), |(x, y), other| {
            let (dx, dy) = (one.x - other.x, one.y - other.y);
            let push = (SIGHT - dx.abs() - dy.abs()).max(0) / 1_024;
            (x + dx.signum() * push, y + dy.signum() * push)
        })
    }

    /// Adds what is here.
    pub(crate) fn count(&self, mut all: Census) -> Census {
        all.crossed += self.crossed;
        for Creature { x, y, dx, dy, coins } in
            self.creatures.iter().chain(self.leaving.iter().flatten())
        {
            all.creatures += 1;
            all.coins += coins;
            for number in [*x, *y, *dx, *dy] {
                all.checksum = mix(all.checksum, i64::from(number).cast_unsigned());
            }
            all.checksum = mix(all.checksum, *coins);
        }
        all
    }
}

/// What happens at the border of two regions, of which `b` is to the east or the south of `a`: creatures that have left
/// arrive, and those near each other trade.
pub(crate) fn meet(a: &mut Region, b: &mut Region, side: Side) {
    assert_eq!(a.steps, b.steps, "both are at the same tick, though no tick waits for another");
    let back = side.opposite();
    let over = |from: &mut Region, to: &mut Region, side: Side| {
        let leaving = mem::take(&mut from.leaving[side as usize]);
        to.crossed += leaving.len() as u64;
        to.creatures.extend(leaving.into_iter().map(|creature| creature.beyond(side)));
    };
    over(a, b, side);
    over(b, a, back);
    for one in a.creatures.iter_mut().filter(|one| one.reaches(side)) {
        for other in b.creatures.iter_mut().filter(|other| other.reaches(back)) {
            if (one.along(side) - other.along(side)).abs() < REACH {
                trade(one, other);
            }
        }
    }
}

/// The richer one gives a coin.
fn trade(one: &mut Creature, other: &mut Creature) {
    let (rich, poor) = if one.coins > other.coins { (one, other) } else { (other, one) };
    if rich.coins > poor.coins {
        rich.coins -= 1;
        poor.coins += 1;
    }
}

impl Creature {
    /// Somewhere, on its way somewhere.
    fn new(number: usize) -> Creature {
        let scattered = mix(0, number as u64 + 1);
        let part = |n: u32, size: i32| {
            let bits = (scattered >> (16 * n)) & 0xffff;
            i32::try_from(bits).expect("16 bits") * (size / 256) / 256
        };
        let speed = |n| part(n, 2 * FASTEST) - FASTEST;
        let (x, y) = (part(0, SIZE), part(1, SIZE));
        Creature { x, y, dx: speed(2), dy: speed(3), coins: COINS + scattered % COINS }
    }

    fn go(&mut self, (x, y): (i32, i32)) {
        self.dx = (self.dx + x).clamp(-FASTEST, FASTEST);
        self.dy = (self.dy + y).clamp(-FASTEST, FASTEST);
        self.x += self.dx;
        self.y += self.dy;
    }

    fn outside(&self) -> Option<Side> {
        match (self.x, self.y) {
            (SIZE.., _) => Some(Side::East),
            (..0, _) => Some(Side::West),
            (_, SIZE..) => Some(Side::South),
            (_, ..0) => Some(Side::North),
            _ => None,
        }
    }

    /// The same creature, seen from the region behind this side.
    fn beyond(mut self, side: Side) -> Creature {
        match side {
            Side::East => self.x -= SIZE,
            Side::West => self.x += SIZE,
            Side::South => self.y -= SIZE,
            Side::North => self.y += SIZE,
        }
        self
    }

    fn reaches(&self, side: Side) -> bool {
        match side {
            Side::East => self.x >= SIZE - REACH,
            Side::West => self.x < REACH,
            Side::South => self.y >= SIZE - REACH,
            Side::North => self.y < REACH,
        }
    }

    /// The place along a border.
    fn along(&self, side: Side) -> i32 {
        match side {
            Side::East | Side::West => self.y,
            Side::South | Side::North => self.x,
        }
    }
}

impl Side {
    fn opposite(self) -> Side {
        match self {
            Side::East => Side::West,
            Side::West => Side::East,
            Side::South => Side::North,
            Side::North => Side::South,
        }
    }
}

/// Scatters the bits of both.
fn mix(sum: u64, number: u64) -> u64 {
    let product = (sum.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ product >> 32
}
