#!/bin/sh
# Prints how the colored servers differ from the serial one, and in how many lines.
cd "$(dirname "$0")/src" || exit 1
for colored in cipher files; do
    echo "serial.rs -> $colored.rs"
    diff serial.rs "$colored.rs"
    added=$(diff serial.rs "$colored.rs" | grep -c '^>')
    echo "$added lines changed or added, in 1 module of $(find . -name '*.rs' | wc -l)"
    echo
done
