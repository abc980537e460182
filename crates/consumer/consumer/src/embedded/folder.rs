//! The name of a topic's folder: an encoding of the topic's name that no file system folds or reserves.
//!
//! A name in lower case is itself. A name with letters in upper case is in lower case here, with a `+` and a digit in base 16
//! for each four letters behind it, whose bits say which of them are in upper case; zeros at the end are left out. A name that
//! Windows reserves for a device has a `+` before it. No name of a topic has a `+`, so each folder is of one topic.

/// A name of a topic is not longer. With this length the longest folder has 252 bytes, and 255 are usual.
const LONGEST: usize = 200;

/// Whether a topic may be called so.
pub(crate) fn is_allowed(topic: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_name = (1..=LONGEST).contains(&topic.len()) && topic.chars().all(is_allowed);
    is_name && !topic.starts_with('.') && !topic.ends_with('.')
}

/// The folder of a topic, whose name is allowed.
pub(crate) fn encode(topic: &str) -> String {
    let mut folder = topic.to_ascii_lowercase();
    let bits = |four: &[u8]| {
        let bit = |(at, letter): (usize, &u8)| u32::from(letter.is_ascii_uppercase()) << at;
        four.iter().enumerate().map(bit).sum::<u32>()
    };
    let digits = topic.as_bytes().chunks(4).map(bits);
    let digits: String = digits.filter_map(|bits| char::from_digit(bits, 16)).collect();
    let digits = digits.trim_end_matches('0');
    if is_reserved(&folder) {
        folder.insert(0, '+');
    }
    if !digits.is_empty() {
        folder.push('+');
        folder.push_str(digits);
    }
    folder
}

/// The topic of a folder. `None` if it is no topic's.
pub(crate) fn decode(folder: &str) -> Option<String> {
    let rest = folder.strip_prefix('+').unwrap_or(folder);
    let (name, digits) = rest.split_once('+').unwrap_or((rest, ""));
    let mut topic = name.as_bytes().to_vec();
    for (at, letter) in topic.iter_mut().enumerate() {
        let digit = digits.chars().nth(at / 4).map_or(Some(0), |digit| digit.to_digit(16))?;
        if digit >> (at % 4) & 1 == 1 {
            letter.make_ascii_uppercase();
        }
    }
    let topic = String::from_utf8(topic).ok()?;
    (is_allowed(&topic) && encode(&topic) == folder).then_some(topic)
}

/// Whether Windows takes a name for a device, whatever follows its first dot.
fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    let is_numbered = |device: &str| {
        let rest = stem.strip_prefix(device);
        rest.is_some_and(|rest| rest.len() == 1 && rest.as_bytes()[0].is_ascii_digit())
    };
    matches!(stem, "con" | "prn" | "aux" | "nul") || is_numbered("com") || is_numbered("lpt")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn plain_names_are_themselves() {
        for name in ["orders", "a.b_c-9", "0", "-", "confirmed", "com", "com10", "nulls.x"] {
            assert_eq!(encode(name), name);
            assert_eq!(decode(name).as_deref(), Some(name));
        }
    }

    #[test]
    fn upper_case_and_devices_are_encoded() {
        let pairs = [
            ("Orders", "orders+1"),
            ("ORDERS", "orders+f3"),
            ("orderS", "orders+02"),
            ("con", "+con"),
            ("Con.txt", "+con.txt+1"),
            ("COM1", "+com1+7"),
            ("lpt0", "+lpt0"),
        ];
        for (topic, folder) in pairs {
            assert_eq!(encode(topic), folder);
            assert_eq!(decode(folder).as_deref(), Some(topic));
        }
        let foreign = [
            "lost+found",
            "Orders",
            "con",
            "+orders",
            "orders+",
            "orders+10",
            "a+",
            "a+2",
            "+",
            "++",
            "orders+F3",
            ".x",
            "x+1+1",
        ];
        for folder in foreign {
            assert_eq!(decode(folder), None, "{folder}");
        }
    }

    /// All names of a few letters, and random ones: each comes back, and no two have folders that differ by case only.
    #[test]
    fn no_two_topics_share_a_folder() {
        let mut folders = BTreeMap::new();
        let mut check = |topic: String| {
            if !is_allowed(&topic) {
                return;
            }
            let folder = encode(&topic);
            assert_eq!(decode(&folder).as_ref(), Some(&topic));
            assert!(folder.len() <= 252 && !is_reserved(&folder), "{folder}");
            let folded = folder.to_ascii_uppercase();
            let before = folders.insert(folded, topic.clone());
            assert!(before.as_ref().is_none_or(|before| *before == topic), "{before:?} {topic}");
        };
        const LETTERS: &[u8] = b"aAbBnNuUlL0.-_";
        for number in 0..LETTERS.len().pow(4) {
            let letter = |power: u32| LETTERS[number / LETTERS.len().pow(power) % LETTERS.len()];
            let name: Vec<u8> = (0..4).map(letter).collect();
            check(String::from_utf8(name[..1 + number % 4].to_vec()).unwrap());
        }
        let mut chance = fastrand::Rng::with_seed(7);
        for _ in 0..20_000 {
            let length = chance.usize(1..=200);
            check((0..length).map(|_| *chance.choice(LETTERS).unwrap() as char).collect());
        }
        check("A".repeat(200));
    }
}
