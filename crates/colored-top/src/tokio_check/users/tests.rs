use super::{Findings, User};
use crate::metadata::Metadata;
use serde_json::{Value, json};

/// A package with what it depends on, by ordinary lines without features.
fn package(name: &str, dependencies: Value, features: Value) -> Value {
    json!({
        "id": format!("{name} 1.54.0"), "name": name, "version": "1.54.0",
        "dependencies": dependencies, "features": features, "targets": [{"kind": ["lib"]}],
    })
}

fn on_tokio(features: &[&str]) -> Value {
    json!({"name": "tokio", "rename": null, "kind": null, "optional": true, "features": features})
}

fn node(name: &str, features: &[&str], on: &[(&str, Option<&str>)]) -> Value {
    let edge = |(name, kind): &(&str, Option<&str>)| json!({"name": name, "pkg": format!("{name} 1.54.0"), "dep_kinds": [{"kind": kind, "target": null}]});
    let deps: Vec<_> = on.iter().map(edge).collect();
    json!({"id": format!("{name} 1.54.0"), "features": features, "deps": deps})
}

fn tokio() -> (Value, Value) {
    let features = json!({
        "full": ["fs", "rt-multi-thread", "time"], "rt-multi-thread": ["rt"], "test-util": ["rt", "time"],
        "fs": [], "net": ["mio/net"], "rt": [], "sync": [], "time": [],
    });
    (package("tokio", json!([]), features), node("tokio", &["rt", "time", "sync"], &[]))
}

fn found(all: Vec<(Value, Value)>) -> Findings {
    let (packages, nodes): (Vec<_>, Vec<_>) = all.into_iter().chain([tokio()]).unzip();
    let json = json!({
        "packages": packages, "workspace_members": ["mine 1.54.0"],
        "resolve": {"root": "mine 1.54.0", "nodes": nodes}, "version": 1,
    });
    Findings::of(&Metadata::parse(json.to_string().as_bytes()).unwrap())
}

fn user(name: &str, features: &[&str], path: &[&str]) -> User {
    let all = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    User { name: format!("{name} 1.54.0"), features: all(features), path: all(path) }
}

/// It has the feature by a line of its own, by one of its features, or by one of tokio's that contains others.
#[test]
fn who_asks_is_named_with_the_way_to_it() {
    let ordinary = None;
    let findings = found(vec![
        (
            package("mine", json!([on_tokio(&["sync"])]), json!({})),
            node("mine", &[], &[("backoff", ordinary), ("util", ordinary), ("tokio", ordinary)]),
        ),
        (
            package(
                "backoff",
                json!([on_tokio(&["sync"])]),
                json!({"tokio": ["dep:tokio", "tokio?/time"]}),
            ),
            node("backoff", &["tokio"], &[("tokio", ordinary)]),
        ),
        (
            package("util", json!([on_tokio(&["sync"])]), json!({"rt": ["tokio/rt"]})),
            node("util", &["default"], &[("tokio", ordinary), ("deep", ordinary)]),
        ),
        (
            package("deep", json!([on_tokio(&["full"])]), json!({})),
            node("deep", &[], &[("tokio", ordinary)]),
        ),
    ]);
    let expected = [
        user("backoff", &["time"], &["mine", "backoff"]),
        user("deep", &["fs", "rt", "time"], &["mine", "util", "deep"]),
    ];
    assert_eq!(findings.users, expected);
    assert!(!findings.are_met());
    let text = findings.to_string();
    assert!(text.contains("  deep 1.54.0     fs rt time  mine > util > deep\n"), "{text}");
    assert!(text.contains("features = [\"tokio-context\"]"), "{text}");
}

/// What tests, build scripts and macros need is not in the program, and another package's features are not this one's.
#[test]
fn who_does_not_ask_is_not_named() {
    let mut macros = package("macros", json!([on_tokio(&["full"])]), json!({}));
    macros["targets"][0]["kind"][0] = "proc-macro".into();
    let findings = found(vec![
        (macros, node("macros", &[], &[("tokio", None)])),
        (
            package("mine", json!([on_tokio(&["sync"])]), json!({"net": ["tokio/net"]})),
            node(
                "mine",
                &[],
                &[
                    ("tests", Some("dev")),
                    ("script", Some("build")),
                    ("macros", None),
                    ("tokio", None),
                ],
            ),
        ),
        (
            package("tests", json!([on_tokio(&["full"])]), json!({})),
            node("tests", &[], &[("tokio", None)]),
        ),
        (
            package("script", json!([on_tokio(&["full"])]), json!({})),
            node("script", &[], &[("tokio", None)]),
        ),
    ]);
    assert_eq!(findings.users, []);
    assert!(findings.are_met());
    assert!(findings.to_string().starts_with("No package"));
}

#[test]
fn the_feature_of_ours_is_the_answer() {
    for is_on in [false, true] {
        let features: &[&str] = if is_on { &["tokio-context"] } else { &[] };
        let findings = found(vec![
            (
                package("mine", json!([]), json!({})),
                node("mine", &[], &[("colored-rt", None), ("other", None)]),
            ),
            (
                package(
                    "colored-rt",
                    json!([on_tokio(&["sync"])]),
                    json!({"tokio-context": ["tokio/rt-multi-thread"]}),
                ),
                node("colored-rt", features, &[("tokio", None)]),
            ),
            (
                package("other", json!([on_tokio(&["net"])]), json!({})),
                node("other", &[], &[("tokio", None)]),
            ),
        ]);
        assert_eq!(
            findings.users,
            [user("other", &["net"], &["mine", "other"])],
            "ours is not named"
        );
        assert_eq!((findings.context, findings.are_met()), (Some(is_on), is_on));
        assert_eq!(findings.to_string().contains("They find one"), is_on);
    }
}

#[test]
fn another_text_than_cargos_is_refused() {
    assert!(Metadata::parse(b"{}").is_err_and(|text| text.contains("is not understood")));
}
