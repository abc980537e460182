#!/bin/bash
# Measures the colorings by turns: eight clients read 32 MiB each by TLS. Prints medians. `./measure.sh [ROUNDS [SFS]]`.
set -euo pipefail
cd "$(dirname "$0")"
rounds=${1:-7}
sfs=${2:-../target/release/sfs}
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
mkdir "$scratch/served"
for file in {0..7}; do
    head -c 32M /dev/urandom >"$scratch/served/$file"
done

# The CPU time of each worker of a process, in ns.
workers() {
    local task
    for task in /proc/"$1"/task/*; do
        if grep -q '^colored-w' "$task/comm"; then cut -d' ' -f1 "$task/schedstat"; fi
    done
}

# Prints the wall time, the CPU time of all workers, and that of the busiest one, in ms for a MiB.
measure() {
    local server name file client clients=() begin end
    : >"$scratch/name"
    COLORED_WORKERS=$2 "$sfs" serve "$scratch/served" --coloring "$1" --tls 127.0.0.1:0 >"$scratch/name" &
    server=$!
    until name=$(awk '/by TLS/ { print $2; found = 1 } END { exit !found }' "$scratch/name"); do sleep 0.05; done
    workers $server >"$scratch/before"
    begin=$(date +%s%N)
    for file in {0..7}; do
        COLORED_WORKERS=1 "$sfs" cat "$name$file" >/dev/null &
        clients+=($!)
    done
    for client in "${clients[@]}"; do wait "$client"; done
    end=$(date +%s%N)
    workers $server | paste "$scratch/before" - | awk -v wall=$((end - begin)) '
        { used = $2 - $1; all += used; if (used > busiest) busiest = used }
        END { printf "%.2f %.2f %.2f\n", wall / 256e6, all / 256e6, busiest / 256e6 }'
    kill $server
    wait $server || true
}

for round in $(seq "$rounds"); do
    for workers in 1 2; do
        for coloring in serial cipher files; do
            measure $coloring $workers >>"$scratch/$coloring $workers"
        done
    done
done
median() { sort -n | sed -n "$((rounds / 2 + 1))p"; }
echo "coloring workers: wall, CPU and CPU of the busiest worker, ms for a MiB"
for workers in 1 2; do
    for coloring in serial cipher files; do
        echo "$coloring $workers:" $(for column in 1 2 3; do cut -d' ' -f$column "$scratch/$coloring $workers" | median; done)
    done
done
