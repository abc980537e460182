//! The values of the options. Literals are checked here, other expressions where they end up.

use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative;
use syn::{Error, Expr, ExprUnary, Ident, Lit, LitBool, LitStr, Path, Result, Token, UnOp};

/// The most workers: `MAX_WORKERS` of the builder in `colored-rt`. A test holds the two together.
pub(super) const MAX_WORKERS: usize = 1024;

pub(super) const WORKERS: &str = "a whole number, as in `workers = 4`";
pub(super) const PIN: &str = "`true` or `false`, as in `pin = true`";
const LOCAL: &str = "no value, or the literal `true` or `false`";
const FLAVOR: &str = "`\"multi_thread\"`, `\"current_thread\"` or `\"local\"`";
const CRATE: &str = "a path, as in `crate = ::rt` or `crate = \"::rt\"`";

/// The expression after `name =`. `takes` says what it should be.
pub(super) fn of(name: &Ident, input: ParseStream, takes: &str) -> Result<Expr> {
    equals(name, input, takes)?;
    // `Expr` may stop in the middle of a mistake, past the comma that should end it.
    let ahead = input.fork();
    let value = ahead.parse().map_err(|_| input.error(says(name, takes)))?;
    input.advance_to(&ahead);
    Ok(value)
}

/// A count of workers.
pub(super) fn workers(name: &Ident, value: Expr) -> Result<Expr> {
    let fault = match bare(&value) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) if !matches!(number.suffix(), "" | "usize") => {
                format!("`{name}` takes a `usize`")
            }
            Lit::Int(number) => match number.base10_parse::<usize>() {
                Ok(1..=MAX_WORKERS) => return Ok(value),
                // Too large for a `usize` is too large as well.
                _ => format!(
                    "`{name}` must be 1 to {MAX_WORKERS}; leave it out for one worker per \
                     available CPU"
                ),
            },
            _ => says(name, WORKERS),
        },
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. })
            if matches!(bare(expr), Expr::Lit(_)) =>
        {
            says(name, WORKERS)
        }
        _ => return Ok(value),
    };
    Err(Error::new_spanned(value, fault))
}

/// Whether workers are pinned.
pub(super) fn pin(value: Expr) -> Result<Expr> {
    match bare(&value) {
        Expr::Lit(literal) if !matches!(literal.lit, Lit::Bool(_)) => {
            Err(Error::new_spanned(value, format!("`pin` takes {PIN}")))
        }
        _ => Ok(value),
    }
}

/// `local`, or `local = true`: known when the attribute expands, so not any expression.
pub(super) fn flag(name: &Ident, input: ParseStream) -> Result<bool> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(true);
    }
    equals(name, input, LOCAL)?;
    let value: LitBool =
        input.parse().map_err(|error| Error::new(error.span(), says(name, LOCAL)))?;
    Ok(value.value)
}

/// The flavor of a runtime of tokio's: whether it runs everything on the calling thread.
pub(super) fn flavor(name: &Ident, input: ParseStream) -> Result<bool> {
    equals(name, input, FLAVOR)?;
    let value: LitStr =
        input.parse().map_err(|error| Error::new(error.span(), says(name, FLAVOR)))?;
    match value.value().as_str() {
        "multi_thread" => Ok(false),
        "current_thread" | "local" => Ok(true),
        _ => Err(Error::new(value.span(), says(name, FLAVOR))),
    }
}

/// The path of the runtime, bare or in a string.
pub(super) fn path(name: &Ident, input: ParseStream) -> Result<Path> {
    equals(name, input, CRATE)?;
    let parsed = match input.parse::<Option<LitStr>>()? {
        Some(text) => text.parse_with(Path::parse_mod_style).map_err(|_| text.span()),
        None => input.call(Path::parse_mod_style).map_err(|error| error.span()),
    };
    parsed.map_err(|span| Error::new(span, says(name, CRATE)))
}

/// The `=` that a value follows.
fn equals(name: &Ident, input: ParseStream, takes: &str) -> Result<()> {
    let found = input.parse::<Option<Token![=]>>()?.is_some();
    if found && !input.is_empty() && !input.peek(Token![,]) {
        return Ok(());
    }
    Err(Error::new(name.span(), says(name, takes)))
}

fn says(name: &Ident, takes: &str) -> String {
    format!("`{name}` takes {takes}")
}

/// The tokens inside parentheses, written ones or the invisible ones of a macro's fragment.
pub(super) fn bare(value: &Expr) -> &Expr {
    match value {
        Expr::Group(group) => bare(&group.expr),
        Expr::Paren(paren) => bare(&paren.expr),
        _ => value,
    }
}
