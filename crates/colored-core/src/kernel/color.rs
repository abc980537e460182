//! [`Color`]: the key that two tasks must share to be serialized; and by what texts name it.
//!
//! # Names
//!
//! The names are the keys of [`Color::of`](crate::kernel::color::Color::of), and the names of
//! [`Color::named`](crate::kernel::color::Color::named), each in a table of the whole process.
//!
//! Of a key only its `Hash` is known, so its text is made of what that writes: numbers, strings and bytes, in their order. This
//! table is off in release builds, unless the program switches it on. A place for a name is written once and never again, so a
//! look at names needs no lock: it goes from the color's own place to the first empty one.

use crate::sync::thread_slot;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher};
#[cfg(not(colored_loom))]
use std::sync::atomic::AtomicU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::{fmt, mem};

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
        if remembers_keys() {
            remember_key(color.key, &value);
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
        // Ordering: a switch; what is made a moment later is remembered.
        REMEMBERS.store(on, Ordering::Relaxed);
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
        remember_name(color.key, name);
        color
    }

    /// The name, if the process has given it to [`Color::named`].
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        if self.is_default() || self.is_unique() { None } else { find_name(self.key) }
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
            None => match find_key(self.key) {
                Some(key) if key.starts_with('"') => write!(f, "color {key}"),
                Some(key) => write!(f, "color of {key}"),
                None => write!(f, "color {:#x}", self.key),
            },
        }
    }
}

/// Keys that are remembered. A guess: 1 MiB with the longest texts.
const KEYED: usize = 4096;

/// The characters of a text. A guess: what fits on a line beside something else.
const LONGEST: usize = 64;

static REMEMBERS: AtomicBool = AtomicBool::new(cfg!(debug_assertions));
static KEYS: Mutex<BTreeMap<u64, Box<str>>> = Mutex::new(BTreeMap::new());

fn keys() -> MutexGuard<'static, BTreeMap<u64, Box<str>>> {
    KEYS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether keys are remembered.
#[inline]
fn remembers_keys() -> bool {
    // Ordering: as in `Color::remember_keys`.
    REMEMBERS.load(Ordering::Relaxed)
}

/// Remembers the key of a color with this number, if there is a place left.
#[cold]
fn remember_key<T: Hash + ?Sized>(color: u64, key: &T) {
    let known = keys();
    if known.len() >= KEYED || known.contains_key(&color) {
        return;
    }
    // A `Hash` is code of the program.
    drop(known);
    let text = text_of(key).into();
    keys().entry(color).or_insert(text);
}

/// The text of the color's key, if it is remembered.
fn find_key(color: u64) -> Option<Box<str>> {
    keys().get(&color).cloned()
}

fn text_of<T: Hash + ?Sized>(key: &T) -> String {
    let mut parts = Parts::default();
    key.hash(&mut parts);
    parts.flush();
    let text = match &parts.done[..] {
        [one] => one.clone(),
        all => format!("({})", all.join(", ")),
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A hasher that writes down what it is given.
#[derive(Default)]
struct Parts {
    done: Vec<String>,
    /// Bytes that are a string if `0xff` follows them, as `str` does it.
    bytes: Option<Vec<u8>>,
}

impl Parts {
    fn flush(&mut self) {
        if let Some(bytes) = mem::take(&mut self.bytes) {
            self.done.push(format!("{bytes:?}"));
        }
    }

    fn number(&mut self, number: impl ToString) {
        self.flush();
        self.done.push(number.to_string());
    }
}

macro_rules! write_numbers {
    ($($write:ident: $type:ty,)*) => {
        $(fn $write(&mut self, number: $type) {
            self.number(number);
        })*
    };
}

impl Hasher for Parts {
    fn finish(&self) -> u64 {
        0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.flush();
        self.bytes = Some(bytes.to_vec());
    }

    fn write_u8(&mut self, number: u8) {
        let text = self.bytes.as_deref().map(str::from_utf8);
        match text {
            Some(Ok(text)) if number == 0xff => {
                let mut quoted = String::new();
                // A string takes everything.
                let _ = write!(quoted, "{text:?}");
                self.bytes = None;
                self.done.push(quoted);
            }
            _ => self.number(number),
        }
    }

    write_numbers! {
        write_u16: u16, write_u32: u32, write_u64: u64, write_u128: u128, write_usize: usize,
        write_i8: i8, write_i16: i16, write_i32: i32, write_i64: i64, write_i128: i128, write_isize: isize,
    }
}

/// Names that are remembered: more than there are lines of source that name one. Out of thin air.
const NAMED: usize = 256;

static NAMES: [OnceLock<(u64, &str)>; NAMED] = [const { OnceLock::new() }; NAMED];

/// The places of a color with this number, its own first.
fn places(color: u64) -> impl Iterator<Item = &'static OnceLock<(u64, &'static str)>> {
    let first = color as usize % NAMED;
    NAMES[first..].iter().chain(&NAMES[..first])
}

/// Remembers the name, if there is a place left.
fn remember_name(color: u64, name: &'static str) {
    for place in places(color) {
        if place.get_or_init(|| (color, name)).0 == color {
            return;
        }
    }
}

/// The name of the color, if it was remembered.
fn find_name(color: u64) -> Option<&'static str> {
    let named = places(color).map_while(OnceLock::get).find(|(named, _)| *named == color);
    named.map(|(_, name)| *name)
}

#[cfg(all(test, not(colored_loom)))]
mod tests;
