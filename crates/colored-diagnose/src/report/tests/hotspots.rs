use super::{Fault, PARTS, Report, Window, assert_first, idle, ms, us};
use crate::usage::FunctionUsage;
use colored_core::Color;

fn function(color: Color, function: &str, caller: Option<&str>, looks: u64) -> FunctionUsage {
    let crate_name = function.split("::").next().unwrap().to_owned();
    let caller = caller.map(str::to_owned);
    FunctionUsage { color: Some(color), crate_name, function: function.into(), caller, looks }
}

/// The report of an observation in which workers were in these functions.
fn report(window: &Window, functions: Vec<FunctionUsage>) -> Report {
    let mut windows = vec![window.clone(); PARTS as usize];
    windows.last_mut().unwrap().functions = functions;
    Report::of(&windows)
}

/// A window in which this color is hot.
fn hot(color: Color) -> Window {
    idle(2).with(color, 950, us(100), 8).waiting(4.0)
}

/// A cipher whose functions are in two crates, beside other work of the color, and another color.
fn cipher(color: Color) -> Vec<FunctionUsage> {
    let caller = Some("bench::encrypt (bench/src/lib.rs:7)");
    let cipher = |name, caller, looks| function(color, name, caller, looks);
    vec![
        cipher("orion::chacha20::round", caller, 90),
        cipher("orion::poly1305::block", caller, 30),
        cipher("orion::aead::seal", Some("bench::decrypt"), 10),
        cipher("orion::util::copy", caller, 10),
        cipher("fiat::carry", Some("orion::poly1305::block"), 20),
        cipher("shop::price", None, 24),
        cipher("shop::stock", None, 6),
        cipher("alpha::few", None, 9),
        FunctionUsage { color: Some(color), looks: 1, ..FunctionUsage::default() },
        function(Color::new(99), "other::much", None, 200),
    ]
}

const ORION: &str = "70 % of it is in the crate orion, mostly called by bench::encrypt (bench/src/lib.rs:7): \
    45 % in orion::chacha20::round, 15 % in orion::poly1305::block";
const SHOP: &str = "15 % of it is in the crate shop: 12 % in shop::price";
const FIAT: &str =
    "10 % of it is in the crate fiat, called by orion::poly1305::block: 10 % in fiat::carry";

#[test]
fn the_time_of_a_hot_color_is_told_by_crate() {
    for (color, fault) in
        [(Color::named("orders"), Fault::HotColor), (Color::DEFAULT, Fault::DefaultColor)]
    {
        let report = report(&hot(color), cipher(color));
        assert_first(&report, fault);
        let lines: Vec<_> =
            report.findings[0].evidence.iter().filter(|line| line.contains("crate")).collect();
        assert_eq!(lines, [ORION, SHOP, FIAT]);
    }
}

#[test]
fn the_hotspots_of_all_colors_and_of_the_color_at_fault_are_in_the_json() {
    let color = Color::named("orders");
    let report = report(&hot(color), cipher(color));
    let names = report.hotspots.iter().map(|hotspot| (hotspot.color, hotspot.crate_name.as_str()));
    let names: Vec<_> = names.collect();
    let all = [(None, "other"), (None, "orion"), (None, "shop")];
    let own = [(Some(color), "orion"), (Some(color), "shop"), (Some(color), "fiat")];
    assert_eq!(names, [all, own].concat());
    let json = report.to_json();
    let first = r#""hotspots":[{"color":null,"part":0.5,"crate":"other","functions":[{"function":"other::much","part":0.5}],"caller":null},"#;
    assert!(json.contains(first), "{json}");
    let caller = r#""caller":"bench::encrypt (bench/src/lib.rs:7)"}"#;
    assert!(json.contains(caller), "{json}");
}

#[test]
fn a_long_poll_has_the_functions_of_its_color() {
    let color = Color::new(3);
    let window = idle(2).with(color, 1, ms(50), 1).with(4, 300, us(50), 1);
    let window = window.poll(1, color, ms(50), Some(ms(50)));
    let report = report(&window, vec![function(color, "shop::price", None, 100)]);
    assert_first(&report, Fault::LongPoll);
    let line = "100 % of the time of color 0x3 is in the crate shop: 100 % in shop::price";
    assert!(report.findings[0].evidence.iter().any(|evidence| evidence == line), "{report}");
}

#[test]
fn full_cpus_have_the_functions_of_all_colors() {
    let mut window = idle(2);
    for color in 0..20 {
        window = window.with(100 + color, 95, us(100), 1);
    }
    let functions = (0..20).map(|color| function(Color::new(color), "shop::price", None, 5));
    let report = report(&window, functions.collect());
    assert_first(&report, None);
    let line = "\n  100 % of the time of polls is in the crate shop: 100 % in shop::price";
    assert!(report.to_string().contains(line), "{report}");
    assert!(report.to_string().starts_with("none: the CPUs limit"), "{report}");
}

#[test]
fn a_few_looks_say_nothing() {
    let color = Color::named("orders");
    let seen = |looks| report(&hot(color), vec![function(color, "shop::price", None, looks)]);
    assert_eq!(seen(19).hotspots, []);
    assert!(!seen(19).to_string().contains("crate"));
    assert_eq!(seen(20).hotspots.len(), 2);
}
