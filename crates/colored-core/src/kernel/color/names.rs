//! By what texts name a color: the keys of [`Color::of`](super::Color::of), and the names of [`Color::named`](super::Color::named),
//! each in a table of the whole process.
//!
//! Of a key only its `Hash` is known, so its text is made of what that writes: numbers, strings and bytes, in their order. This
//! table is off in release builds, unless the program switches it on. A place for a name is written once and never again, so a
//! look at names needs no lock: it goes from the color's own place to the first empty one.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Keys that are remembered. A guess: 1 MiB with the longest texts.
const KEYED: usize = 4096;

/// The characters of a text. A guess: what fits on a line beside something else.
const LONGEST: usize = 64;

static REMEMBERS: AtomicBool = AtomicBool::new(cfg!(debug_assertions));
static KEYS: Mutex<BTreeMap<u64, Box<str>>> = Mutex::new(BTreeMap::new());

fn keys() -> MutexGuard<'static, BTreeMap<u64, Box<str>>> {
    KEYS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Switches the table on or off. What it has is kept.
pub(super) fn remember_keys(on: bool) {
    // Ordering: a switch; what is made a moment later is remembered.
    REMEMBERS.store(on, Ordering::Relaxed);
}

/// Whether keys are remembered.
#[inline]
pub(super) fn remembers_keys() -> bool {
    // Ordering: as in `remember_keys`.
    REMEMBERS.load(Ordering::Relaxed)
}

/// Remembers the key of a color with this number, if there is a place left.
#[cold]
pub(super) fn remember_key<T: Hash + ?Sized>(color: u64, key: &T) {
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
pub(super) fn find_key(color: u64) -> Option<Box<str>> {
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

    fn write_u16(&mut self, number: u16) {
        self.number(number);
    }

    fn write_u32(&mut self, number: u32) {
        self.number(number);
    }

    fn write_u64(&mut self, number: u64) {
        self.number(number);
    }

    fn write_u128(&mut self, number: u128) {
        self.number(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.number(number);
    }

    fn write_i8(&mut self, number: i8) {
        self.number(number);
    }

    fn write_i16(&mut self, number: i16) {
        self.number(number);
    }

    fn write_i32(&mut self, number: i32) {
        self.number(number);
    }

    fn write_i64(&mut self, number: i64) {
        self.number(number);
    }

    fn write_i128(&mut self, number: i128) {
        self.number(number);
    }

    fn write_isize(&mut self, number: isize) {
        self.number(number);
    }
}

/// Names that are remembered: more than there are lines of source that name one. Out of thin air.
pub(super) const NAMED: usize = 256;

static NAMES: [OnceLock<(u64, &str)>; NAMED] = [const { OnceLock::new() }; NAMED];

/// The places of a color with this number, its own first.
fn places(color: u64) -> impl Iterator<Item = &'static OnceLock<(u64, &'static str)>> {
    let first = color as usize % NAMED;
    NAMES[first..].iter().chain(&NAMES[..first])
}

/// Remembers the name, if there is a place left.
pub(super) fn remember_name(color: u64, name: &'static str) {
    for place in places(color) {
        if place.get_or_init(|| (color, name)).0 == color {
            return;
        }
    }
}

/// The name of the color, if it was remembered.
pub(super) fn find_name(color: u64) -> Option<&'static str> {
    let named = places(color).map_while(OnceLock::get).find(|(named, _)| *named == color);
    named.map(|(_, name)| *name)
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::super::Color;
    use super::{remember_keys, remembers_keys, text_of};

    #[test]
    fn a_key_reads_as_it_was_written() {
        assert_eq!(text_of("shop"), r#""shop""#);
        assert_eq!(text_of(&String::from("a \"b\"")), r#""a \"b\"""#);
        assert_eq!(text_of(&3), "3");
        assert_eq!(text_of(&("shop", 3)), r#"("shop", 3)"#);
        assert_eq!(text_of(&(-1_i8, 2_u64, "x", true)), r#"(-1, 2, "x", 1)"#);
        // Its length, and its bytes.
        assert_eq!(text_of(&[127_u8, 0, 0, 1]), "(4, [127, 0, 0, 1])");
        assert_eq!(text_of(&()), "()");
        let long = text_of(&"ä".repeat(1000));
        assert_eq!(long.chars().count(), 65, "{long}");
    }

    /// The only test of this process that switches.
    #[test]
    fn a_color_of_a_key_is_shown_by_the_key_while_keys_are_remembered() {
        assert_eq!(remembers_keys(), cfg!(debug_assertions));
        remember_keys(false);
        let before = Color::of(("a shop that is not remembered", 1));
        remember_keys(true);
        let color = Color::of(("shop", 3));
        assert!(before.to_string().starts_with("color 0x"), "{before}");
        assert_eq!(color.to_string(), r#"color of ("shop", 3)"#);
        assert_eq!(Color::of("till").to_string(), r#"color "till""#);
        assert_eq!(color.name(), None, "it has no name");
        remember_keys(cfg!(debug_assertions));
    }
}
