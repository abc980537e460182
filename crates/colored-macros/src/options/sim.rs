//! The options of `#[colored::test(sim)]`.

use proc_macro2::{TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Error, Expr, Ident, Lit, LitInt, LitStr, Result, Token, parenthesized};

use super::value;

/// The most workers of a simulation: `MOST_WORKERS` of its builder.
const MOST_WORKERS: usize = 64;

/// The options that only a simulation has.
pub(super) const NAMES: &[&str] = &["sim", "seeds", "strategy", "faults", "budget", "until"];

const SEEDS: &str = "a whole number from 1, as in `seeds = 1000`";
const STRATEGY: &str = "a text, as in `strategy = \"pct(3)\"`, or a `colored::sim::Strategy`";
const FAULTS: &str = "a text, as in `faults = \"net, crash\"`, or `colored::sim::Faults`";
const WORKERS: &str = "1 to 64, or a range, as in `workers = 4` or `workers = 1..=8`";
const BUDGET: &str = "a time, as in `budget = \"2s\"` or `budget = \"500ms\"`, or a `Duration`";
const UNTIL: &str = "`plateau(200)`: the end comes when so many seeds in a row bring nothing new";

/// What an option that is no simulation's means in one.
const OTHERS: &[(&str, &str)] = &[
    ("pin", "a simulation has one thread"),
    ("local", "a simulation runs the function as a task, whose future must be `Send`"),
    ("paused", "the clock of a simulation always moves by itself"),
    ("start_paused", "the clock of a simulation always moves by itself"),
    ("flavor", "use `workers = 1` for one worker"),
];

/// A method of the simulation's builder, with its argument.
pub(crate) struct Setting {
    name: Ident,
    argument: Argument,
}

enum Argument {
    /// As written.
    Plain(TokenStream),
    /// Converted by this function of the hidden module.
    By(&'static str, TokenStream),
}

impl Setting {
    fn new(of: &Ident, method: &str, argument: Argument) -> Self {
        Self { name: Ident::new(method, of.span()), argument }
    }

    /// The call of the method.
    pub(crate) fn call(&self, private: &TokenStream) -> TokenStream {
        let Self { name, argument } = self;
        match argument {
            Argument::Plain(argument) => quote!(.#name(#argument)),
            Argument::By(function, argument) => {
                let function = Ident::new(function, name.span());
                quote!(.#name(#private::#function(#argument)))
            }
        }
    }
}

/// Whether `sim` is among the options, before any of them is read.
pub(super) fn is_given(tokens: &TokenStream) -> bool {
    let mut begins = true;
    tokens.clone().into_iter().any(|token| {
        let is_sim = begins && matches!(&token, TokenTree::Ident(name) if name == "sim");
        begins = matches!(&token, TokenTree::Punct(comma) if comma.as_char() == ',');
        is_sim
    })
}

/// Why the option `name` may not be given: beside `sim`, or without it.
pub(super) fn check(name: &Ident, is_sim: bool) -> Result<()> {
    let word = name.to_string();
    let text = match OTHERS.iter().find(|(other, _)| *other == word) {
        Some((_, why)) if is_sim => format!("`{word}` does not go with `sim`: {why}"),
        None if !is_sim && NAMES.contains(&&*word) => {
            format!("`{word}` needs `sim`, as in `#[colored::test(sim, seeds = 1000)]`")
        }
        _ => return Ok(()),
    };
    Err(Error::new(name.span(), text))
}

/// Reads an option of a simulation; `sim` itself sets nothing.
pub(super) fn option(name: &Ident, input: ParseStream) -> Result<Option<Setting>> {
    let setting = if name == "sim" {
        if !input.is_empty() && !input.peek(Token![,]) {
            return Err(Error::new(name.span(), "`sim` takes no value"));
        }
        return Ok(None);
    } else if name == "seeds" {
        let seeds = number(name, value::of(name, input, SEEDS)?, SEEDS, u64::MAX)?;
        Setting::new(name, "seeds", Argument::Plain(quote_spanned!(seeds.span()=> 0..#seeds)))
    } else if name == "strategy" {
        named(name, input, "strategy", STRATEGY)?
    } else if name == "faults" {
        named(name, input, "faults", FAULTS)?
    } else if name == "budget" {
        Setting::new(name, "budget", Argument::Plain(budget(name, input)?))
    } else if name == "until" {
        Setting::new(name, "until_plateau", Argument::Plain(until(name, input)?))
    } else if name == "tokio" {
        let call = || Setting::new(name, "tokio", Argument::Plain(TokenStream::new()));
        return Ok(value::flag(name, input)?.then(call));
    } else {
        let workers = value::of(name, input, WORKERS)?;
        let workers = number(name, workers, WORKERS, MOST_WORKERS as u64)?;
        Setting::new(name, "workers", Argument::By("workers", quote!(#workers)))
    };
    Ok(Some(setting))
}

/// A value, or its name as a text, which the function of the option's name converts.
fn named(name: &Ident, input: ParseStream, option: &'static str, takes: &str) -> Result<Setting> {
    let value = value::of(name, input, takes)?;
    let argument = match literal(&value) {
        Some(Lit::Str(_)) => Argument::By(option, quote!(#value)),
        Some(_) => return Err(says(&value, name, takes)),
        None => Argument::Plain(quote!(#value)),
    };
    Ok(Setting::new(name, option, argument))
}

fn says(at: &Expr, name: &Ident, takes: &str) -> Error {
    Error::new_spanned(at, format!("`{name}` takes {takes}"))
}

fn literal(value: &Expr) -> Option<&Lit> {
    match value::bare(value) {
        Expr::Lit(literal) => Some(&literal.lit),
        _ => None,
    }
}

/// A number: a literal is checked here, any other expression where it ends up.
fn number(name: &Ident, value: Expr, takes: &str, most: u64) -> Result<Expr> {
    let is_right = |number: &LitInt| {
        matches!(number.suffix(), "" | "usize" | "u64")
            && number.base10_parse::<u64>().is_ok_and(|number| (1..=most).contains(&number))
    };
    match literal(&value) {
        Some(Lit::Int(number)) if is_right(number) => Ok(value),
        Some(_) => Err(says(&value, name, takes)),
        None => match &value {
            Expr::Unary(negative) if literal(&negative.expr).is_some() => {
                Err(says(&value, name, takes))
            }
            _ => Ok(value),
        },
    }
}

/// A time, as a text or as an expression.
fn budget(name: &Ident, input: ParseStream) -> Result<TokenStream> {
    let value = value::of(name, input, BUDGET)?;
    match literal(&value) {
        Some(Lit::Str(text)) => {
            let millis = millis(text).ok_or_else(|| says(&value, name, BUDGET))?;
            Ok(quote!(::core::time::Duration::from_millis(#millis)))
        }
        Some(_) => Err(says(&value, name, BUDGET)),
        None => Ok(quote!(#value)),
    }
}

fn millis(text: &LitStr) -> Option<u64> {
    let text = text.value();
    let digits = text.find(|of: char| !of.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let unit = match unit.trim() {
        "ms" => 1,
        "s" => 1000,
        "min" | "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit).filter(|millis| *millis > 0)
}

/// `plateau(200)`.
fn until(name: &Ident, input: ParseStream) -> Result<TokenStream> {
    let wrong = || Error::new(name.span(), format!("`{name}` takes {UNTIL}"));
    input.parse::<Token![=]>().map_err(|_| wrong())?;
    let word: Ident = input.parse().map_err(|_| wrong())?;
    if word != "plateau" || !input.peek(syn::token::Paren) {
        return Err(wrong());
    }
    let inside;
    parenthesized!(inside in input);
    // All of it is taken, as the parser would report what is left a second time.
    let seeds = syn::parse2(inside.parse()?).map_err(|_| wrong())?;
    let seeds = number(name, seeds, UNTIL, u64::MAX)?;
    Ok(quote!(#seeds))
}
