//! [`Ranged`]: the part of a file that a request asks for (RFC 9110, section 14).

use std::ops::Range;

/// What a `Range` header asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ranged {
    /// The whole file: there is no header, or it is none that this server follows, such as one with
    /// several ranges. RFC 9110 allows a server to ignore the header.
    Whole,
    Part(Range<u64>),
    /// The range begins behind the end of the file.
    Unsatisfiable,
}

impl Ranged {
    pub(crate) fn parse(header: &str, len: u64) -> Ranged {
        let Some((unit, range)) = header.split_once('=') else { return Ranged::Whole };
        if !unit.trim().eq_ignore_ascii_case("bytes") {
            return Ranged::Whole;
        }
        let Some((first, last)) = range.trim().split_once('-') else { return Ranged::Whole };
        match (number(first), number(last)) {
            // The last bytes; a file may have fewer.
            (Number::Missing, Number::Is(0)) => Ranged::Unsatisfiable,
            (Number::Missing, Number::Is(_)) if len == 0 => Ranged::Unsatisfiable,
            (Number::Missing, Number::Is(count)) => Ranged::Part(len.saturating_sub(count)..len),
            (Number::Is(first), Number::Is(last)) if last < first => Ranged::Whole,
            (Number::Is(first), Number::Missing | Number::Is(_)) if first >= len => {
                Ranged::Unsatisfiable
            }
            (Number::Is(first), Number::Missing) => Ranged::Part(first..len),
            (Number::Is(first), Number::Is(last)) => {
                Ranged::Part(first..last.saturating_add(1).min(len))
            }
            _ => Ranged::Whole,
        }
    }
}

enum Number {
    Missing,
    Is(u64),
    Wrong,
}

fn number(text: &str) -> Number {
    let text = text.trim();
    if text.is_empty() {
        return Number::Missing;
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Number::Wrong;
    }
    // A number that is too large is behind the end of any file.
    Number::Is(text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::Ranged::{self, Part, Unsatisfiable, Whole};

    #[test]
    fn ranges_of_ten_bytes() {
        let rows = [
            ("bytes=0-0", Part(0..1)),
            ("bytes=2-5", Part(2..6)),
            ("Bytes = 2 - 5", Part(2..6)),
            ("bytes=7-", Part(7..10)),
            ("bytes=7-99", Part(7..10)),
            ("bytes=-3", Part(7..10)),
            ("bytes=-30", Part(0..10)),
            ("bytes=0-99999999999999999999999", Part(0..10)),
            ("bytes=10-", Unsatisfiable),
            ("bytes=10-12", Unsatisfiable),
            ("bytes=99999999999999999999999-", Unsatisfiable),
            ("bytes=-0", Unsatisfiable),
            ("bytes=5-4", Whole),
            ("bytes=-", Whole),
            ("bytes=1-2,4-5", Whole),
            ("bytes=+1-2", Whole),
            ("lines=1-2", Whole),
            ("1-2", Whole),
            ("", Whole),
        ];
        for (header, expected) in rows {
            assert_eq!(Ranged::parse(header, 10), expected, "{header}");
        }
    }

    #[test]
    fn an_empty_file_has_no_part() {
        assert_eq!(Ranged::parse("bytes=0-", 0), Unsatisfiable);
        assert_eq!(Ranged::parse("bytes=-1", 0), Unsatisfiable);
    }
}
