//! [`Color`]: the key that two tasks must share to be serialized.

mod names;

use crate::sync::thread_slot;
use std::cell::Cell;
use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};
#[cfg(not(colored_loom))]
use std::sync::atomic::{AtomicU64, Ordering};

/// The key that decides which tasks may overlap: tasks of equal colors never run at the same time
/// and run in the order in which they were scheduled; tasks of different colors run in parallel.
///
/// A color is a value, not a resource: it is `Copy`, and costs nothing until something is spawned
/// under it. Colors are compared exactly: they never share a queue because of a hash collision.
///
/// There are three kinds of colors, and colors of two kinds are never equal: [`Color::DEFAULT`], colors
/// of a number or a value ([`Color::new`], [`Color::of`], [`Color::named`]), and unique ones
/// ([`Color::unique`]). The kind makes this type 16 bytes instead of 8 (12 on systems that
/// align a `u64` to 4 bytes, such as 32-bit x86). Colors sort by kind, in this order, then by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Color {
    kind: ColorKind,
    key: u64,
}

/// Which of its constructors has made a color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum ColorKind {
    Default,
    Numbered,
    Unique,
}

impl ColorKind {
    /// The kind of this number: the inverse of `as u8`.
    #[inline]
    pub(crate) const fn from_u8(kind: u8) -> Self {
        match kind {
            0 => Self::Default,
            1 => Self::Numbered,
            _ => Self::Unique,
        }
    }
}

/// Serial numbers a thread takes at once, so that making colors does not bounce one cache line
/// between all cores.
const BLOCK: u64 = 1024;

/// Serial numbers from here on belong to simulations.
pub(crate) const SIMULATED: u64 = 1 << 62;

/// How texts show a serial number: those of a simulation begin at 1.
pub(crate) const fn shown(number: u64) -> u64 {
    match number.checked_sub(SIMULATED) {
        Some(of_simulation) if of_simulation <= u32::MAX as u64 => of_simulation,
        _ => number,
    }
}

#[cfg(not(colored_loom))]
fn next_block() -> u64 {
    static NEXT_BLOCK: AtomicU64 = AtomicU64::new(1);
    // Ordering: only the distinctness of the blocks matters.
    NEXT_BLOCK.fetch_add(1, Ordering::Relaxed)
}

// All threads of a model are one thread of the system, which may run other models before and after.
#[cfg(colored_loom)]
std::thread_local!(static NEXT_BLOCK: Cell<u64> = const { Cell::new(1) });

#[cfg(colored_loom)]
fn next_block() -> u64 {
    NEXT_BLOCK.with(|next| next.replace(next.get() + 1))
}

thread_slot!(static NEXT: Cell<u64> = Cell::new(0));

impl Color {
    /// The color of tasks that name no color: `spawn`, the main future. It equals no other color,
    /// `Color::new(0)` neither.
    pub const DEFAULT: Color = Color::from_parts(ColorKind::Default, 0);

    /// The color with this number. Equal numbers are equal colors, whatever they number: account 7
    /// and room 7 would share a color. If things of more than one kind have numbers, use
    /// [`Color::of`]: `Color::of(("account", 7))`.
    #[must_use]
    #[inline]
    pub const fn new(key: u64) -> Self {
        Self::from_parts(ColorKind::Numbered, key)
    }

    /// The color of a value: equal values have equal colors, in this process and in every other
    /// that runs the same build. Say what kind of thing the value names, so that account 7 and room 7
    /// have two colors:
    ///
    /// ```
    /// # use colored_core::Color;
    /// let (account, room) = (Color::of(("account", 7)), Color::of(("room", 7)));
    /// assert_ne!(account, room);
    /// assert_ne!(account, Color::of(("account", 7_u64)), "7 is an i32 above");
    /// let name = String::from("ann");
    /// assert_eq!(Color::of(("user", &name)), Color::of(("user", "ann")), "as their hashes are");
    /// ```
    ///
    /// What counts is what the value's `Hash` writes: a reference is like what it refers to, and an
    /// integer of another type is another value. A literal without a type, such as `7`, is an `i32`
    /// where nothing else tells its type. So give numbers a type where both sides do not take them
    /// from one variable: `Color::of(("account", 7_u64))`. [`Color::new`] takes a `u64` only.
    ///
    /// # Collisions
    ///
    /// The value is hashed to 64 bits (SipHash, fixed keys). Two of `n` different values get the
    /// same color with a probability of about `n²/2⁶⁵` (one in 37 million for a million values). Then
    /// their tasks are needlessly serialized, and an `exclusive` section under one of them that waits
    /// for a task of the other one waits for itself: the wait ends with a deadlock error. If that
    /// matters, number the values and use [`Color::new`]; if keys come from an adversary, use
    /// [`Color::unique`] and keep the color beside the value.
    ///
    /// In debug builds, texts show the value, as far as its `Hash` tells, in place of the number: see
    /// [`remember_keys`](Self::remember_keys).
    #[must_use]
    pub fn of<T: Hash>(value: T) -> Self {
        let color = Self::hashed(&value);
        if names::remembers_keys() {
            names::remember_key(color.key, &value);
        }
        color
    }

    fn hashed<T: Hash + ?Sized>(value: &T) -> Self {
        Self::new(BuildHasherDefault::<DefaultHasher>::default().hash_one(value))
    }

    /// Whether the process remembers, from now on, the values that are given to [`Color::of`], for texts: then they show
    /// `color of ("shop", 3)` in place of a number. Default: yes in debug builds, no in others.
    ///
    /// The first 4096 values are remembered, 64 characters of each; later ones are shown as numbers. The text is what the
    /// value's `Hash` writes: numbers, strings and bytes, without the names of types and fields. While it is on, a
    /// `Color::of` takes a lock of the process, and hashes a new value twice.
    ///
    /// ```
    /// # use colored_core::Color;
    /// Color::remember_keys(true);
    /// assert_eq!(Color::of(("shop", 3)).to_string(), "color of (\"shop\", 3)");
    /// ```
    pub fn remember_keys(on: bool) {
        names::remember_keys(on);
    }

    /// The color of a thing that exists once, by its name. It equals [`Color::of`] the name, and
    /// errors and reports show the name in place of a number.
    ///
    /// Costs a look into a table of the process more than `Color::of`. The
    /// table has room for 256 names; later names are shown as numbers. Nothing is allocated.
    ///
    /// ```
    /// # use colored_core::Color;
    /// let accounts = Color::named("accounts");
    /// assert_eq!(accounts, Color::of("accounts"));
    /// assert_eq!(accounts.to_string(), "color \"accounts\"");
    /// ```
    #[must_use]
    pub fn named(name: &'static str) -> Self {
        let color = Self::hashed(name);
        names::remember_name(color.key, name);
        color
    }

    /// The name, if the process has given it to [`Color::named`].
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        if self.is_default() || self.is_unique() { None } else { names::find_name(self.key) }
    }

    /// A color that equals no other color, of this or any other runtime in the process.
    #[must_use]
    #[inline]
    pub fn unique() -> Self {
        let number = NEXT.with(|next| {
            let mut key = next.get();
            if key % BLOCK == 0 && key < SIMULATED {
                key = next_block() * BLOCK;
            }
            next.set(key + 1);
            key
        });
        Self::from_parts(ColorKind::Unique, number)
    }

    /// The number of the first unique color of a simulation.
    pub(crate) const FIRST_SIMULATED: u64 = SIMULATED + 1;

    /// Sets the number of this thread's next unique color, and returns the earlier one. After 0 the colors are of no
    /// simulation.
    pub(crate) fn set_next_unique(number: u64) -> u64 {
        NEXT.with(|next| next.replace(number))
    }

    /// The color with these parts ([`Color::kind`], [`Color::number`]).
    #[inline]
    pub(crate) const fn from_parts(kind: ColorKind, key: u64) -> Self {
        Self { kind, key }
    }

    #[inline]
    pub(crate) const fn kind(self) -> ColorKind {
        self.kind
    }

    /// Makes every run of a model see the same serial numbers.
    #[cfg(all(test, colored_loom))]
    pub(crate) fn restart_serial_numbers() {
        NEXT_BLOCK.with(|next| next.set(1));
    }

    /// Whether this is [`Color::DEFAULT`].
    #[must_use]
    #[inline]
    pub const fn is_default(self) -> bool {
        matches!(self.kind, ColorKind::Default)
    }

    /// The number of this color: the argument of [`Color::new`], a hash, a serial number for a unique
    /// color, or 0 for [`Color::DEFAULT`]. Use it for logs and traces; colors of two kinds can have the
    /// same number.
    #[must_use]
    #[inline]
    pub const fn number(self) -> u64 {
        self.key
    }

    /// Whether the color was made by [`Color::unique`] (or for `spawn_unique`).
    #[must_use]
    #[inline]
    pub const fn is_unique(self) -> bool {
        matches!(self.kind, ColorKind::Unique)
    }
}

impl Default for Color {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl From<u64> for Color {
    fn from(key: u64) -> Self {
        Self::new(key)
    }
}

impl From<u32> for Color {
    fn from(key: u32) -> Self {
        Self::new(u64::from(key))
    }
}

impl From<usize> for Color {
    fn from(key: usize) -> Self {
        // No platform has more than 64 bits.
        Self::new(key as u64)
    }
}

impl From<i32> for Color {
    /// For literals: `spawn_colored(1, ..)`. A negative number is the color of the number that has
    /// the same bits when it is extended to 64: `-1` is that of `u64::MAX`, the last one that an
    /// index or a database would give.
    fn from(key: i32) -> Self {
        Self::new(i64::from(key).cast_unsigned())
    }
}

impl From<&'static str> for Color {
    /// [`Color::named`].
    fn from(name: &'static str) -> Self {
        Self::named(name)
    }
}

impl fmt::Debug for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "color {name:?}"),
            None if self.is_default() => f.write_str("color default"),
            None if self.is_unique() => write!(f, "color unique-{}", shown(self.key)),
            None => match names::find_key(self.key) {
                Some(key) if key.starts_with('"') => write!(f, "color {key}"),
                Some(key) => write!(f, "color of {key}"),
                None => write!(f, "color {:#x}", self.key),
            },
        }
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::{Color, ColorKind, names};

    #[test]
    fn equal_keys_are_equal_colors_and_unique_ones_equal_nothing() {
        assert_eq!(Color::from(7u32), Color::new(7));
        assert_eq!(Color::from(usize::MAX), Color::new(usize::MAX as u64));
        assert_eq!(Color::from(-1i32), Color::new(u64::MAX));
        assert_eq!(Color::of("a"), Color::of(String::from("a")));
        assert_eq!(Color::of(("a", 7)), Color::of(("a", &7)));
        assert_ne!(Color::of(("a", 7)), Color::of(("b", 7)));
        assert_ne!(Color::of("a"), Color::of("b"));
        let unique = Color::unique();
        assert_ne!(unique, Color::unique());
        assert_ne!(unique, Color::new(unique.number()));
    }

    #[test]
    fn the_default_color_equals_no_number_and_no_unique_color() {
        assert_eq!(Color::default(), Color::DEFAULT);
        assert_eq!(Color::DEFAULT.number(), 0);
        assert!(Color::DEFAULT.is_default() && !Color::DEFAULT.is_unique());
        let zero = Color::from(0);
        assert_ne!(zero, Color::DEFAULT);
        assert!(!zero.is_default() && !zero.is_unique());
        assert_eq!(Color::DEFAULT.to_string(), "color default");
        assert_eq!(zero.to_string(), "color 0x0");
        let unique = Color::unique();
        let sorted = [Color::DEFAULT, zero, Color::new(u64::MAX), unique];
        assert!(sorted.is_sorted() && sorted.windows(2).all(|two| two[0] != two[1]));
        assert_eq!(size_of::<Color>(), size_of::<u64>() + align_of::<u64>(), "a key and a kind");
    }

    #[test]
    fn a_unique_color_of_a_simulation_has_a_short_name() {
        let earlier = Color::set_next_unique(Color::FIRST_SIMULATED + 6);
        let color = Color::unique();
        Color::set_next_unique(earlier);
        assert_eq!(color.to_string(), "color unique-7");
        let other = Color::from_parts(ColorKind::Unique, u64::MAX);
        assert_eq!(other.to_string(), format!("color unique-{}", u64::MAX));
    }

    #[test]
    fn the_parts_of_a_color_make_it_again() {
        for color in [Color::DEFAULT, Color::new(0), Color::new(u64::MAX), Color::unique()] {
            let kind = ColorKind::from_u8(color.kind() as u8);
            assert_eq!(Color::from_parts(kind, color.number()), color);
        }
    }

    /// The only test of this process that gives names, for it fills the table.
    #[test]
    fn a_name_is_shown_from_the_first_time_it_is_given_until_the_table_is_full() {
        let name = "accounts";
        assert_eq!(Color::of(name).name(), None);
        assert_eq!(Color::from(name), Color::of(name));
        assert_eq!(Color::of(name).name(), Some(name));
        assert_eq!(Color::of(name).to_string(), r#"color "accounts""#);
        let names: Vec<&str> = (1..=names::NAMED).map(|n| &*n.to_string().leak()).collect();
        let colors: Vec<Color> = names.iter().map(|name| Color::named(name)).collect();
        let (last, others) = colors.split_last().expect("there are some");
        assert!(others.iter().zip(&names).all(|(color, name)| color.name() == Some(name)));
        assert_eq!(last.name(), None, "one name is one too many");
        assert_eq!(Color::named(name).name(), Some(name));
        assert_eq!(Color::DEFAULT.name(), None);
        assert_eq!(Color::unique().name(), None);
    }
}
