//! The options between the parentheses of an attribute.

mod sim;
mod value;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Error, Expr, Ident, Path, Result, Token, parse_quote_spanned};

use crate::errors::Errors;
use crate::nearest::nearest;

pub(crate) use self::sim::Setting;

const NAMES: &[&str] = &["workers", "pin", "local", "paused", "tokio", "crate"];
/// Options of tokio's, which mean one of these or nothing.
const TOKIOS: &[&str] = &["flavor", "worker_threads", "start_paused"];
const ALLOWED: &str = "the options are `workers = 4`, `pin = true`, `local`, `paused`, `tokio`, `sim` and `crate = ::path`";

/// Options of other runtimes, and their replacements here.
const ELSEWHERE: &[(&str, &str)] = &[
    ("core_threads", ", called `workers` here"),
    ("threads", ", called `workers` here"),
    ("path", ", called `crate` here"),
    ("current_thread", ": use `workers = 1` or `local`"),
    ("multi_thread", ": leave it out, or use `workers = 4`"),
    ("unhandled_panic", ": a panic ends its task and reaches its `JoinHandle`"),
];

/// The valid options. A wrong option counts as missing.
pub(crate) struct Options {
    /// Methods of the builder with their argument, as written.
    pub(crate) setters: Vec<(Ident, Expr)>,
    /// Whether the calling thread runs the future, if that is said.
    pub(crate) local: Option<bool>,
    /// Whether the threads are in a tokio runtime, if that is said, and where.
    pub(crate) tokio: Option<(Span, bool)>,
    /// The settings of the simulation, if it is one, and where `sim` stands.
    pub(crate) sim: Option<(Span, Vec<Setting>)>,
    /// Where the runtime is.
    pub(crate) path: Path,
    given: Vec<Ident>,
}

impl Options {
    /// Never fails: mistakes go to `errors`.
    pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut options = Self {
            setters: Vec::new(),
            local: None,
            tokio: None,
            sim: sim::is_given(&tokens).then(|| (Span::call_site(), Vec::new())),
            path: parse_quote_spanned!(Span::mixed_site()=> ::colored),
            given: Vec::new(),
        };
        let all = |input: ParseStream| {
            options.list(input, errors);
            Ok(())
        };
        if let Err(error) = all.parse2(tokens) {
            errors.push(error);
        }
        options
    }

    /// Options up to the end of `input`.
    fn list(&mut self, input: ParseStream, errors: &mut Errors) {
        while !input.is_empty() {
            if let Err(error) = self.option(input) {
                errors.push(error);
                skip_to_comma(input);
            }
            if input.is_empty() || input.parse::<Option<Token![,]>>().is_ok_and(|c| c.is_some()) {
                continue;
            }
            errors.push(input.error("expected `,` before the next option"));
            if !input.peek(Ident::peek_any) {
                skip_to_comma(input);
            }
        }
    }

    /// One option, without the comma after it.
    fn option(&mut self, input: ParseStream) -> Result<()> {
        let name = Ident::parse_any(input)
            .map_err(|error| Error::new(error.span(), format!("expected an option: {ALLOWED}")))?;
        if !NAMES.iter().chain(TOKIOS).chain(sim::NAMES).any(|known| name == known) {
            return Err(unknown(&name));
        }
        self.note(&name)?;
        sim::check(&name, self.sim.is_some())?;
        if let Some((at, settings)) = self.sim.as_mut().filter(|_| name != "crate") {
            if name == "sim" {
                *at = name.span();
            }
            settings.extend(sim::option(&name, input)?);
        } else if name == "workers" || name == "worker_threads" {
            let value = value::workers(&name, value::of(&name, input, value::WORKERS)?)?;
            self.setters.push((Ident::new("workers", name.span()), value));
        } else if name == "flavor" {
            self.flavor(name, input)?;
        } else if name == "pin" {
            let value = value::pin(value::of(&name, input, value::PIN)?)?;
            self.setters.push((name, value));
        } else if name == "local" {
            // A wrong value still shows the intention, and avoids a second error about `Send`.
            self.local = Some(true);
            self.local = Some(value::flag(&name, input)?);
        } else if name == "paused" || name == "start_paused" {
            if value::flag(&name, input)? {
                let setter = Ident::new("start_paused", name.span());
                self.setters.push((setter, parse_quote_spanned!(name.span()=> true)));
            }
        } else if name == "tokio" {
            self.tokio = Some((name.span(), value::flag(&name, input)?));
        } else {
            self.path = value::path(&name, input)?;
        }
        Ok(())
    }

    /// Takes down that the option is given. Two names of one option are one.
    fn note(&mut self, name: &Ident) -> Result<()> {
        let meant = |name: &Ident| match name.to_string().as_str() {
            "worker_threads" => "workers".to_owned(),
            "start_paused" => "paused".to_owned(),
            word => word.to_owned(),
        };
        match self.given.iter().find(|given| meant(given) == meant(name)) {
            Some(given) if given == name => {
                Err(Error::new(name.span(), format!("`{name}` is given twice")))
            }
            Some(given) => {
                let text =
                    format!("`{name}` is another name for `{given}`, which is given already");
                Err(Error::new(name.span(), text))
            }
            None => {
                self.given.push(name.clone());
                Ok(())
            }
        }
    }

    /// `multi_thread` is the default here. The others want a future that need not be `Send`, and one worker.
    fn flavor(&mut self, name: Ident, input: ParseStream) -> Result<()> {
        if value::flavor(&name, input)? {
            self.local.get_or_insert(true);
            let one = (Ident::new("workers", name.span()), parse_quote_spanned!(name.span()=> 1));
            // A number that is given too comes later, and counts.
            self.setters.insert(0, one);
        }
        Ok(())
    }
}

fn unknown(name: &Ident) -> Error {
    let word = name.to_string();
    let hint = match ELSEWHERE.iter().find(|(elsewhere, _)| *elsewhere == word) {
        Some((_, here)) => format!("{here};"),
        None => match nearest(&word, &[NAMES, sim::NAMES].concat()) {
            Some(name) => format!(", did you mean `{name}`?"),
            None => String::from(";"),
        },
    };
    Error::new(name.span(), format!("unknown option `{word}`{hint} {ALLOWED}"))
}

/// Leaves `input` at the comma that ends the option in which a mistake was found.
fn skip_to_comma(input: ParseStream) {
    while !input.is_empty() && !input.peek(Token![,]) {
        // A stream that is not empty has a token tree.
        let _ = input.parse::<TokenTree>();
    }
}

#[cfg(test)]
mod tests;
