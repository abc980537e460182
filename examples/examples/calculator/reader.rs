//! A reader by recursive descent: one function for each rule of the grammar. It knows no socket and no runtime.
//!
//! ```text
//! value = number | "(" ("+" | "*") value* ")"
//! ```

use std::io::{self, BufRead};

/// Reads one value, and computes it. It recurs for each parenthesis.
///
/// # Errors
///
/// The source's; `UnexpectedEof` if it ends inside a value; `InvalidData` if it has something else.
pub(crate) fn value(source: &mut impl BufRead) -> io::Result<i64> {
    if next(source)? != b'(' {
        return number(source);
    }
    source.consume(1);
    let operator = next(source)?;
    source.consume(1);
    let mut result = match operator {
        b'+' => 0,
        b'*' => 1,
        other => return Err(unexpected(other, "`+` or `*`")),
    };
    while next(source)? != b')' {
        let operand = value(source)?;
        result = match operator {
            b'+' => i64::wrapping_add(result, operand),
            _ => i64::wrapping_mul(result, operand),
        };
    }
    source.consume(1);
    Ok(result)
}

fn number(source: &mut impl BufRead) -> io::Result<i64> {
    let mut number = 0_i64;
    let mut digit = next(source)?;
    if !digit.is_ascii_digit() {
        return Err(unexpected(digit, "a digit or `(`"));
    }
    while digit.is_ascii_digit() {
        number = number.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
        source.consume(1);
        digit = peek(source)?;
    }
    Ok(number)
}

/// The next byte that is not white space. It stays in the source.
fn next(source: &mut impl BufRead) -> io::Result<u8> {
    loop {
        match peek(source)? {
            byte if byte.is_ascii_whitespace() => source.consume(1),
            byte => return Ok(byte),
        }
    }
}

fn peek(source: &mut impl BufRead) -> io::Result<u8> {
    source.fill_buf()?.first().copied().ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

fn unexpected(byte: u8, expected: &str) -> io::Error {
    let text = format!("{:?}, where {expected} is expected", char::from(byte));
    io::Error::new(io::ErrorKind::InvalidData, text)
}
