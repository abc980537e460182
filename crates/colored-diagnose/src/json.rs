//! JSON texts: [`object()`] writes one, [`Object`] and [`Array`] are its builders.
//!
//! The builders write straight into one string. A builder lives inside a closure, which ends the object, so nothing is
//! left open and nothing is closed twice.

use std::fmt::{self, Write};
use std::time::Duration;

/// The text of an object, whose fields `fill` writes.
pub(crate) fn object(fill: impl FnOnce(&mut Object<'_>)) -> String {
    let mut out = String::new();
    Object::write(&mut out, fill);
    out
}

/// What a field or an element may be.
pub(crate) trait Value {
    /// Appends the text of the value.
    fn write_to(self, out: &mut String);
}

/// The fields of an object, in the order in which they are written. A name must not come twice.
pub(crate) struct Object<'out> {
    out: &'out mut String,
    is_empty: bool,
}

impl<'out> Object<'out> {
    /// Appends an object to `out`.
    pub(crate) fn write(out: &'out mut String, fill: impl FnOnce(&mut Object<'_>)) {
        out.push('{');
        let mut object = Object { out, is_empty: true };
        fill(&mut object);
        object.out.push('}');
    }

    /// A field with a simple value.
    pub(crate) fn field(&mut self, name: &str, value: impl Value) {
        self.name(name);
        value.write_to(self.out);
    }

    /// A field that is an object.
    pub(crate) fn object(&mut self, name: &str, fill: impl FnOnce(&mut Object<'_>)) {
        self.name(name);
        Object::write(self.out, fill);
    }

    /// A field that is an array.
    pub(crate) fn array(&mut self, name: &str, fill: impl FnOnce(&mut Array<'_>)) {
        self.name(name);
        Array::write(self.out, fill);
    }

    fn name(&mut self, name: &str) {
        separate(self.out, &mut self.is_empty);
        name.write_to(self.out);
        self.out.push(':');
    }
}

/// The elements of an array.
pub(crate) struct Array<'out> {
    out: &'out mut String,
    is_empty: bool,
}

impl<'out> Array<'out> {
    /// Appends an array to `out`.
    pub(crate) fn write(out: &'out mut String, fill: impl FnOnce(&mut Array<'_>)) {
        out.push('[');
        let mut array = Array { out, is_empty: true };
        fill(&mut array);
        array.out.push(']');
    }

    /// An element with a simple value.
    pub(crate) fn element(&mut self, value: impl Value) {
        separate(self.out, &mut self.is_empty);
        value.write_to(self.out);
    }

    /// An element that is an object.
    pub(crate) fn object(&mut self, fill: impl FnOnce(&mut Object<'_>)) {
        separate(self.out, &mut self.is_empty);
        Object::write(self.out, fill);
    }
}

fn separate(out: &mut String, is_empty: &mut bool) {
    if !*is_empty {
        out.push(',');
    }
    *is_empty = false;
}

impl Value for &str {
    fn write_to(self, out: &mut String) {
        out.push('"');
        escape(self, out);
        out.push('"');
    }
}

impl Value for &String {
    fn write_to(self, out: &mut String) {
        self.as_str().write_to(out);
    }
}

/// A string of what `format_args!` formats.
impl Value for fmt::Arguments<'_> {
    fn write_to(self, out: &mut String) {
        out.push('"');
        // A string takes everything.
        let _ = Escaped(out).write_fmt(self);
        out.push('"');
    }
}

impl Value for bool {
    fn write_to(self, out: &mut String) {
        out.push_str(if self { "true" } else { "false" });
    }
}

impl Value for u64 {
    fn write_to(self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
}

impl Value for i64 {
    fn write_to(self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
}

impl Value for usize {
    fn write_to(self, out: &mut String) {
        (self as u64).write_to(out);
    }
}

/// Infinite values and what is no number become `null`: JSON has no others.
impl Value for f64 {
    fn write_to(self, out: &mut String) {
        if self.is_finite() {
            let _ = write!(out, "{self}");
        } else {
            out.push_str("null");
        }
    }
}

/// Seconds, exact to the nanosecond.
impl Value for Duration {
    fn write_to(self, out: &mut String) {
        let _ = write!(out, "{}.{:09}", self.as_secs(), self.subsec_nanos());
    }
}

/// `null` if there is none.
impl<T: Value> Value for Option<T> {
    fn write_to(self, out: &mut String) {
        match self {
            Some(value) => value.write_to(out),
            None => out.push_str("null"),
        }
    }
}

/// What is written to it is part of a string.
struct Escaped<'out>(&'out mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        escape(text, self.0);
        Ok(())
    }
}

fn escape(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            letter if letter < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::object;
    use std::time::Duration;

    #[test]
    fn fields_and_elements_are_separated_at_every_depth() {
        let text = object(|all| {
            all.field("name", "orders");
            all.field("count", 3_u64);
            all.array("list", |list| {
                list.element(-1_i64);
                list.object(|_| {});
                list.object(|inner| inner.field("yes", true));
            });
            all.object("more", |more| {
                more.field("none", None::<u64>);
                more.field("some", Some("text"));
            });
        });
        assert_eq!(
            text,
            r#"{"name":"orders","count":3,"list":[-1,{},{"yes":true}],"more":{"none":null,"some":"text"}}"#
        );
        assert_eq!(object(|all| all.array("none", |_| {})), r#"{"none":[]}"#);
    }

    #[test]
    fn strings_are_escaped_also_in_names_and_formatted_texts() {
        let odd = "a\"b\\c\nd\r\te\u{1}f\u{1f}ü";
        let escaped = "a\\\"b\\\\c\\nd\\r\\te\\u0001f\\u001fü";
        assert_eq!(
            object(|all| all.field(odd, format_args!("<{odd}>"))),
            format!("{{\"{escaped}\":\"<{escaped}>\"}}")
        );
    }

    #[test]
    fn numbers_are_numbers_of_json() {
        let list = |all: &mut super::Array<'_>| {
            all.element(0.5);
            all.element(1e300);
            all.element(f64::INFINITY);
            all.element(f64::NAN);
            all.element(u64::MAX);
            all.element(usize::MIN);
            all.element(Duration::new(12, 34));
        };
        let text = object(|all| all.array("list", list));
        let large = format!("{}", 1e300);
        assert_eq!(
            text,
            format!("{{\"list\":[0.5,{large},null,null,18446744073709551615,0,12.000000034]}}")
        );
    }
}
