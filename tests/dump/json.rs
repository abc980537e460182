//! A small checker of JSON texts.

/// Panics unless `text` is one value of JSON.
pub(super) fn check(text: &str) {
    let mut rest = text.as_bytes();
    value(&mut rest);
    assert!(rest.is_empty(), "something follows: {}", String::from_utf8_lossy(rest));
}

type Rest<'a> = &'a [u8];

fn take(rest: &mut Rest<'_>, what: &str) {
    let after = rest.strip_prefix(what.as_bytes());
    *rest = after.unwrap_or_else(|| panic!("{what:?} expected: {}", String::from_utf8_lossy(rest)));
}

/// The elements of a list up to `end`.
fn list(rest: &mut Rest<'_>, end: &str, mut element: impl FnMut(&mut Rest<'_>)) {
    if rest.starts_with(end.as_bytes()) {
        return take(rest, end);
    }
    loop {
        element(rest);
        if rest.starts_with(end.as_bytes()) {
            return take(rest, end);
        }
        take(rest, ",");
    }
}

fn value(rest: &mut Rest<'_>) {
    match rest.first() {
        Some(b'{') => {
            take(rest, "{");
            let mut names = Vec::new();
            list(rest, "}", |rest| {
                names.push(string(rest));
                take(rest, ":");
                value(rest);
            });
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "a field is there twice");
        }
        Some(b'[') => {
            take(rest, "[");
            list(rest, "]", value);
        }
        Some(b'"') => drop(string(rest)),
        Some(b't') => take(rest, "true"),
        Some(b'f') => take(rest, "false"),
        Some(b'n') => take(rest, "null"),
        _ => number(rest),
    }
}

fn string(rest: &mut Rest<'_>) -> Vec<u8> {
    take(rest, "\"");
    let mut text = Vec::new();
    loop {
        let (&byte, after) = rest.split_first().expect("a string ends");
        *rest = after;
        match byte {
            b'"' => return text,
            b'\\' => {
                let (&escaped, after) = rest.split_first().expect("a string ends");
                *rest = after;
                if escaped == b'u' {
                    let (digits, after) = rest.split_at(4);
                    assert!(digits.iter().all(u8::is_ascii_hexdigit), "four digits");
                    *rest = after;
                } else {
                    assert!(b"\"\\/bfnrt".contains(&escaped), "\\{}", char::from(escaped));
                }
                text.push(escaped);
            }
            _ => {
                assert!(byte >= b' ', "a control character is escaped");
                text.push(byte);
            }
        }
    }
}

fn number(rest: &mut Rest<'_>) {
    let end = rest.iter().position(|byte| !b"+-.eE0123456789".contains(byte));
    let (digits, after) = rest.split_at(end.unwrap_or(rest.len()));
    let text = std::str::from_utf8(digits).expect("digits are text");
    text.parse::<f64>().unwrap_or_else(|_| panic!("a number expected: {text:?}"));
    *rest = after;
}

#[test]
fn the_checker_accepts_json_and_nothing_else() {
    check(r#"{"a":[1,-2.5e3,"x\n\u00e4",{}],"b":null,"c":true}"#);
    for wrong in ["{", "[1,]", r#"{"a":1,"a":2}"#, "[1] 2", "\"\n\"", "nul", "{\"a\"}"] {
        let checked = std::panic::catch_unwind(|| check(wrong));
        assert!(checked.is_err(), "{wrong:?}");
    }
}
