#!/usr/bin/env bash
# trybuild 1.0.122 (the newest in November 2026), by cargo 1.95 or newer.
#
# One would guess that what the tested programs depend on is checked once: `TestCases` first runs `cargo check` for the
# dependencies alone, so that the programs behind it find them made, in one target directory, with one profile.
#
# It is checked twice. The first run has the flags `--cfg trybuild --verbose -A dead_code`, the second one
# `--diagnostic-width=140` too, and Cargo keeps what differs in flags apart. So each library is in the directory two times, and a
# project with sixty dependencies waits for all of them twice, at the first test of each machine of CI.
#
# Seen: two files of metadata of itoa, and two lists of flags, of which the second one is the first one with the width. With the
# flags of the second run in CARGO_ENCODED_RUSTFLAGS, which Cargo takes before those of `--config`, there is one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset CARGO_TARGET_DIR RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
mkdir -p src tests/ui
cat >Cargo.toml <<'TOML'
[package]
name = "messages"
version = "0.1.0"
edition = "2024"

[dependencies]
itoa = "=1.0.15"

[dev-dependencies]
trybuild = "=1.0.122"
TOML
echo 'pub use itoa::Buffer;' >src/lib.rs
cat >tests/ui.rs <<'RS'
#[test]
fn messages() {
    trybuild::TestCases::new().compile_fail("tests/ui/number.rs");
}
RS
cat >tests/ui/number.rs <<'RS'
fn main() {
    let _: messages::Buffer = 7;
}
RS

# Says how often itoa was checked, and with which flags.
checked() {
    local fingerprint
    for fingerprint in $(find target/tests -path '*.fingerprint/itoa-*' -name 'lib-itoa.json'); do
        grep -o '"rustflags":\[[^]]*\]' "$fingerprint"
    done | sort
}

TRYBUILD=overwrite cargo test --quiet >/dev/null 2>&1
rm -rf target/tests
cargo test --quiet >/dev/null 2>&1
usual=$(checked)
echo "$usual"
[ "$(wc -l <<<"$usual")" = 2 ] || { echo "changed: itoa is not checked twice"; exit 1; }
[ "$(grep -c -- --diagnostic-width=140 <<<"$usual")" = 1 ] || { echo "changed: other flags"; exit 1; }

rm -rf target/tests
separator=$(printf '\x1f')
flags="--cfg|trybuild|--verbose|-A|dead_code|--diagnostic-width=140"
# trybuild alone has the variable: what Cargo makes of the test itself stays.
test=$(cargo test --no-run --message-format=json 2>/dev/null | grep -o '"executable":"[^"]*/ui-[^"]*"' | cut -d'"' -f4)
CARGO_MANIFEST_DIR=$PWD CARGO_ENCODED_RUSTFLAGS=${flags//|/$separator} "$test" --quiet >/dev/null 2>&1
alike=$(checked)
echo "with one set of flags: $(wc -l <<<"$alike")"
[ "$(wc -l <<<"$alike")" = 1 ] || { echo "changed: with one set of flags, itoa is not checked once"; exit 1; }
