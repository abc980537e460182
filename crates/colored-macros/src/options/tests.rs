use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use super::{ALLOWED, Options};
use crate::errors::Errors;

fn parse(tokens: TokenStream) -> (Options, Vec<String>) {
    let mut errors = Errors::default();
    let options = Options::parse(tokens, &mut errors);
    (options, errors.messages())
}

fn right(tokens: TokenStream) -> Options {
    let (options, errors) = parse(tokens);
    assert!(errors.is_empty(), "{errors:?}");
    options
}

fn wrong(tokens: TokenStream) -> Vec<String> {
    let (_, errors) = parse(tokens);
    assert!(!errors.is_empty());
    errors
}

fn setters(options: &Options) -> Vec<String> {
    let call = |(name, value): &_| quote!(#name(#value)).to_string();
    options.setters.iter().map(call).collect()
}

fn path(options: &Options) -> String {
    options.path.to_token_stream().to_string().replace(' ', "")
}

#[test]
fn nothing_means_the_defaults() {
    let options = right(quote!());
    assert!(setters(&options).is_empty());
    assert_eq!(options.local, None);
    assert_eq!(path(&options), "::colored");
}

#[test]
fn every_option_at_once_with_a_trailing_comma() {
    let options = right(quote!(workers = 4, pin = true, local, crate = ::rt,));
    assert_eq!(setters(&options), ["workers (4)", "pin (true)"]);
    assert_eq!(options.local, Some(true));
    assert_eq!(path(&options), "::rt");
}

#[test]
fn any_expression_is_a_value() {
    let options = right(quote!(workers = f::<u8, u16>(1, 2) + N, pin = |a, b| a));
    assert_eq!(setters(&options), ["workers (f :: < u8 , u16 > (1 , 2) + N)", "pin (| a , b | a)"]);
    right(quote!(workers = (4usize)));
    right(quote!(workers = -n));
    right(quote!(pin = !false));
}

#[test]
fn local_is_a_flag_or_a_literal() {
    assert_eq!(right(quote!(local = true)).local, Some(true));
    assert_eq!(right(quote!(local = false)).local, Some(false));
    for tokens in [quote!(local = 1), quote!(local = flag()), quote!(local(true)), quote!(local =)]
    {
        assert_eq!(wrong(tokens), ["`local` takes no value, or the literal `true` or `false`"]);
    }
}

#[test]
fn paused_is_a_flag_that_sets_the_builder() {
    for tokens in [quote!(paused), quote!(paused = true)] {
        assert_eq!(setters(&right(tokens)), ["start_paused (true)"]);
    }
    assert!(setters(&right(quote!(paused = false))).is_empty());
    for tokens in [quote!(paused = 1), quote!(paused(true)), quote!(paused =)] {
        assert_eq!(wrong(tokens), ["`paused` takes no value, or the literal `true` or `false`"]);
    }
}

#[test]
fn options_of_tokios_are_those_of_ours() {
    let options = right(quote!(flavor = "multi_thread", worker_threads = 4));
    assert_eq!((setters(&options), options.local), (vec!["workers (4)".to_owned()], None));
    let options = right(quote!(worker_threads = 4, flavor = "current_thread", start_paused = true));
    assert_eq!(setters(&options), ["workers (1)", "workers (4)", "start_paused (true)"]);
    assert_eq!(options.local, Some(true));
    assert_eq!(setters(&right(quote!(flavor = "local"))), ["workers (1)"]);
    let takes = "`flavor` takes `\"multi_thread\"`, `\"current_thread\"` or `\"local\"`";
    for tokens in [quote!(flavor), quote!(flavor = 1), quote!(flavor = "threaded")] {
        assert_eq!(wrong(tokens), [takes]);
    }
    let range = "`worker_threads` must be 1 to 1024; leave it out for one worker per available CPU";
    assert_eq!(wrong(quote!(worker_threads = 0)), [range]);
}

#[test]
fn two_names_of_one_option_are_one() {
    for (tokens, message) in [
        (
            quote!(workers = 1, worker_threads = 2),
            "`worker_threads` is another name for `workers`, which is given already",
        ),
        (
            quote!(start_paused = true, paused),
            "`paused` is another name for `start_paused`, which is given already",
        ),
    ] {
        assert_eq!(wrong(tokens), [message]);
    }
}

#[test]
fn a_path_may_stand_in_a_string() {
    for tokens in [quote!(crate = a::b), quote!(crate = "a::b")] {
        assert_eq!(path(&right(tokens)), "a::b");
    }
    assert_eq!(path(&right(quote!(crate = crate::rt))), "crate::rt");
    let takes = ["`crate` takes a path, as in `crate = ::rt` or `crate = \"::rt\"`"];
    for tokens in [quote!(crate), quote!(crate = 4), quote!(crate = "a b"), quote!(crate = "")] {
        assert_eq!(wrong(tokens), takes);
    }
}

#[test]
fn a_wrong_literal_is_caught() {
    let takes = "`workers` takes a whole number, as in `workers = 4`";
    for (tokens, message) in [
        (quote!(workers = "4"), takes),
        (quote!(workers = 4.0), takes),
        (quote!(workers = true), takes),
        (quote!(workers = -1), takes),
        (quote!(workers), takes),
        (quote!(workers =), takes),
        (quote!(workers = ,), takes),
        (quote!(workers(4)), takes),
        (quote!(workers = *), takes),
        (quote!(workers = 4u8), "`workers` takes a `usize`"),
        (quote!(pin = 1), "`pin` takes `true` or `false`, as in `pin = true`"),
        (quote!(pin), "`pin` takes `true` or `false`, as in `pin = true`"),
    ] {
        assert_eq!(wrong(tokens.clone()), [message], "{tokens}");
    }
}

#[test]
fn a_count_that_the_builder_refuses_is_caught() {
    right(quote!(workers = 1));
    right(quote!(workers = 1_024usize));
    let range = "`workers` must be 1 to 1024; leave it out for one worker per available CPU";
    for tokens in [
        quote!(workers = (0)),
        quote!(workers = 1025),
        quote!(workers = 0x401),
        quote!(workers = 99999999999999999999),
    ] {
        assert_eq!(wrong(tokens.clone()), [range], "{tokens}");
    }
}

#[test]
fn the_first_of_two_counts() {
    let (options, errors) = parse(quote!(workers = 1, local, workers = 2, local, local));
    assert_eq!(setters(&options), ["workers (1)"]);
    assert_eq!(errors[0], "`workers` is given twice");
    assert_eq!(errors[1..], ["`local` is given twice"; 2]);
}

#[test]
fn an_unknown_option_gets_a_hint() {
    for (tokens, hint) in [
        (quote!(worker = 4), "unknown option `worker`, did you mean `workers`?"),
        (quote!(core_threads = 4), "unknown option `core_threads`, called `workers` here;"),
        (quote!(current_thread), "unknown option `current_thread`: use `workers = 1` or `local`;"),
        (quote!(colour = "x"), "unknown option `colour`;"),
    ] {
        assert_eq!(wrong(tokens), [format!("{hint} {ALLOWED}")]);
    }
}

#[test]
fn options_after_a_mistake_are_still_read() {
    let (options, errors) = parse(quote!(4, worker = [1, 2] + , workers = 0, pin = true local; x));
    assert_eq!(setters(&options), ["pin (true)"]);
    assert_eq!(options.local, Some(true));
    let starts = [
        "expected an option: ",
        "unknown option `worker`",
        "`workers` must be 1 to 1024;",
        "expected `,` before the next option",
        "`local` takes no value",
    ];
    assert_eq!(errors.len(), starts.len(), "{errors:#?}");
    for (error, start) in errors.iter().zip(starts) {
        assert!(error.starts_with(start), "{error}");
    }
}

/// The methods of the simulation's builder.
fn settings(options: &Options) -> Vec<String> {
    let (_, settings) = options.sim.as_ref().expect("a simulation");
    settings.iter().map(|setting| setting.call(&quote!(hidden)).to_string()).collect()
}

#[test]
fn the_options_of_a_simulation_in_any_order() {
    assert!(settings(&right(quote!(sim, tokio = false))).is_empty());
    let options = right(quote!(
        seeds = 10,
        crate = ::rt,
        strategy = "pct(3)",
        sim,
        workers = 1..=8,
        faults = "net, crash",
        budget = "2s",
        tokio,
        until = plateau(N),
    ));
    assert_eq!(
        settings(&options),
        [
            ". seeds (0 .. 10)",
            ". strategy (hidden :: strategy (\"pct(3)\"))",
            ". workers (hidden :: workers (1 ..= 8))",
            ". faults (hidden :: faults (\"net, crash\"))",
            ". budget (:: core :: time :: Duration :: from_millis (2000u64))",
            ". tokio ()",
            ". until_plateau (N)",
        ]
    );
    assert_eq!(path(&options), "::rt");
    for (text, millis) in [("500ms", "500u64"), ("2 min", "120000u64"), ("1h", "3600000u64")] {
        let options = right(quote!(sim, budget = #text));
        assert!(settings(&options)[0].contains(millis), "{text}");
    }
}

#[test]
fn a_wrong_option_of_a_simulation_is_caught() {
    for (tokens, start) in [
        (quote!(sim = true), "`sim` takes no value"),
        (quote!(sim, sim), "`sim` is given twice"),
        (quote!(sim, seeds = 0), "`seeds` takes a whole number from 1"),
        (quote!(sim, seeds = "7"), "`seeds` takes a whole number from 1"),
        (quote!(sim, seeds), "`seeds` takes a whole number from 1"),
        (quote!(sim, seeds = -1), "`seeds` takes a whole number from 1"),
        (quote!(sim, workers = 65), "`workers` takes 1 to 64, or a range"),
        (quote!(sim, strategy = 3), "`strategy` takes a text"),
        (quote!(sim, faults = true), "`faults` takes a text"),
        (quote!(sim, budget = "2"), "`budget` takes a time"),
        (quote!(sim, budget = "0s"), "`budget` takes a time"),
        (quote!(sim, budget = 2), "`budget` takes a time"),
        (quote!(sim, until = 200), "`until` takes `plateau(200)`"),
        (quote!(sim, until = plateau), "`until` takes `plateau(200)`"),
        (quote!(sim, until = plateau(0)), "`until` takes `plateau(200)`"),
        (quote!(sim, until = plateau(1, 2)), "`until` takes `plateau(200)`"),
        (quote!(sim, pin = true), "`pin` does not go with `sim`: a simulation has one thread"),
        (quote!(local, sim), "`local` does not go with `sim`: "),
        (quote!(sim, paused), "`paused` does not go with `sim`: "),
        (quote!(sim, tokio = 1), "`tokio` takes no value"),
        (quote!(seeds = 3), "`seeds` needs `sim`, as in `#[colored::test(sim, seeds = 1000)]`"),
        (quote!(sim, seed = 3), "unknown option `seed`, did you mean `seeds`?"),
    ] {
        let errors = wrong(tokens.clone());
        assert_eq!(errors.len(), 1, "{tokens}: {errors:?}");
        assert!(errors[0].starts_with(start), "{tokens}: {errors:?}");
    }
}
