#!/bin/bash
# Measures `sfs` under eight clients, each of which reads a file of 32 MiB, and prints medians. What it measures, by turns:
#
#     ./measure.sh tls|software [ROUNDS]   the colorings, with the cipher of the processor, or one in software
#     ./measure.sh processors [ROUNDS]     1 to 4 workers, each with a limit of CPU time; needs root and control groups, version 1
#     ./measure.sh copies [ROUNDS]         two servers of one worker, each of half the clients, beside one of two workers
#     ./measure.sh share                   the share of the cipher in software, by `perf`
#     ./measure.sh report                  what a runtime says that limits the serial server, and names the cipher
#     ./measure.sh peer [ROUNDS]           sfs beside nfs3_server with stunnel, under libnfs; needs libnfs-utils and stunnel4
#
# after `cargo build --release -p sfs -p sfs-bench`. `BIN` is the directory of the programs,
# and `PERCENT` how much of its work the cipher in software does for each message.
set -euo pipefail
cd "$(dirname "$0")"
bin=${BIN:-../target/release}
sfs=$bin/sfs bench=$bin/sfs-bench
what=${1:-software} rounds=${2:-7}
files=(0 1 2 3 4 5 6 7)
mebibytes=$((${#files[@]} * 32))
# So much of its work does the cipher in software: `share` then says 75 %, as in the paper.
percent=${PERCENT:-250}
# The CPU time of a worker of `processors`, in us of each period: clients need more than the server's workers, so it is little.
period=10000 share=1500

scratch=$(mktemp -d)
processes=() groups=()
clean() {
    local id
    for id in "${processes[@]}"; do kill "$id" 2>/dev/null || true; done
    wait
    for id in "${groups[@]}"; do rmdir "$id" || true; done
    rm -r "$scratch"
}
trap clean EXIT
mkdir -p "$scratch/served/pub"
for file in "${files[@]}"; do head -c 32M /dev/urandom >"$scratch/served/pub/$file"; done

# Starts a server, and notes its process and the name that it prints: `start WORKERS PROGRAM ARGUMENT..`
servers=() names=()
start() {
    : >"$scratch/name"
    COLORED_WORKERS=$1 "${@:2}" >"$scratch/name" &
    server=$!
    processes+=("$server")
    until name=$(awk '/^serves/ { print $2; found = 1 } END { exit !found }' "$scratch/name"); do sleep 0.05; done
    servers+=("$server") names+=("$name")
}

# Ends all servers.
stop() {
    kill "${servers[@]}"
    wait "${servers[@]}" || true
    servers=() names=()
}

# Starts a server of a cipher and a coloring.
serve() {
    case $1 in
        tls) start "$3" "$sfs" serve "$scratch/served" --coloring "$2" --tls 127.0.0.1:0 ;;
        software) start "$3" "$bench" software "$scratch/served" "$2" "$percent" ;;
    esac
}

# Runs a command for each file.
read_all() {
    local file client clients=()
    for file in "${files[@]}"; do
        "$@" "$file" &
        clients+=($!)
    done
    for client in "${clients[@]}"; do wait "$client"; done
}

# The servers take turns.
# shellcheck disable=SC2317 # called by name
by_sfs() { COLORED_WORKERS=1 "$sfs" cat "${names[$1 % ${#names[@]}]}pub/$1" >/dev/null; }

# The directories of the threads that are workers.
workers() { grep -l '^colored-w' /proc/"$server"/task/*/comm | xargs dirname; }

# Each thread of the servers, and its CPU time in ns.
used() {
    local server task
    for server in "${servers[@]}"; do
        for task in /proc/"$server"/task/*; do echo "${task##*/} $(cut -d' ' -f1 "$task/schedstat")"; done
    done
}

# Prints the wall time, the CPU time of all threads, and that of the busiest one, in ms for a MiB.
measure() {
    local begin
    used >"$scratch/before"
    begin=$(date +%s%N)
    read_all by_sfs
    used | awk -v wall=$(($(date +%s%N) - begin)) -v size="$mebibytes" '
        NR == FNR { before[$1] = $2; next }
        { spent = $2 - before[$1]; all += spent; if (spent > busiest) busiest = spent }
        END { printf "%.2f %.2f %.2f\n", wall / size / 1e6, all / size / 1e6, busiest / size / 1e6 }' "$scratch/before" -
}

# Prints the median of each column of a file of rounds.
medians() {
    local column
    for column in $(seq "$(head -1 "$1" | wc -w)"); do
        cut -d' ' -f"$column" "$1" | sort -n | sed -n "$((($(wc -l <"$1") + 1) / 2))p"
    done | paste -sd' '
}

print_all() {
    local file
    for file in "$scratch"/row-*; do echo "$(basename "$file" | tr - ' '): $(medians "$file")"; done
}

# Gives each worker a control group of its own, with a limit.
limit() {
    local task group
    for task in $(workers); do
        group=/sys/fs/cgroup/cpu/sfs-bench-$(basename "$task")
        mkdir "$group"
        groups+=("$group")
        echo "$period" >"$group/cpu.cfs_period_us"
        echo "$share" >"$group/cpu.cfs_quota_us"
        basename "$task" >"$group/tasks"
    done
}

processors() {
    local workers coloring round
    echo "coloring, workers with $((100 * share / period)) % of a processor each: wall time, CPU time of all threads and of the busiest one, ms for a MiB"
    for round in $(seq "$rounds"); do
        for run in serial-1 cipher-1 cipher-2 cipher-3 cipher-4 files-1 files-2 files-3 files-4; do
            coloring=${run%-*} workers=${run#*-}
            serve software "$coloring" "$workers"
            limit
            measure >>"$scratch/row-$run"
            stop
        done
    done
    print_all
}

colorings() {
    local workers coloring round
    echo "coloring, workers: wall time, CPU time of all threads and of the busiest one, ms for a MiB"
    for round in $(seq "$rounds"); do
        for workers in 1 2; do
            for coloring in serial cipher files; do
                serve "$1" $coloring $workers
                measure >>"$scratch/row-$coloring-$workers"
                stop
            done
        done
    done
    print_all
}

copies() {
    local run round
    echo "coloring, workers: wall time, CPU time of all threads and of the busiest one, ms for a MiB"
    for round in $(seq "$rounds"); do
        for run in serial-1 cipher-2 files-2 two-copies; do
            case $run in
                two-copies) serve software serial 1 && serve software serial 1 ;;
                *) serve software "${run%-*}" "${run#*-}" ;;
            esac
            measure >>"$scratch/row-$run"
            stop
        done
    done
    print_all
}

share() {
    serve software serial 1
    perf record --quiet --event cpu-clock --pid "$server" --output "$scratch/perf" &
    local recorder=$!
    sleep 0.5
    read_all by_sfs
    kill -INT "$recorder"
    wait "$recorder" || true
    stop
    perf report --input "$scratch/perf" --sort symbol --stdio 2>/dev/null | grep -v '^#' | grep % >"$scratch/symbols"
    head -12 "$scratch/symbols"
    awk '/orion|fiat_crypto|sfs_bench::software/ { share += $1 } END { print "the cipher: " share " %" }' "$scratch/symbols"
}

# A client whose server ends would try for a minute.
# shellcheck disable=SC2317 # called by name
for_a_while() { COLORED_WORKERS=1 timeout 3 "$sfs" cat "${name}pub/$1" >/dev/null 2>&1 || true; }

report() {
    start 2 "$bench" report "$scratch/served" serial "$percent"
    while kill -0 "$server" 2>/dev/null; do read_all for_a_while; done
    sed 1,2d "$scratch/name"
}

# The CPU time of processes, in ms.
spent() {
    local process all=0
    for process in "$@"; do
        all=$((all + $(awk '{ print $14 + $15 }' "/proc/$process/stat")))
    done
    echo $((all * 1000 / $(getconf CLK_TCK)))
}

# Starts a tunnel with these settings, on a free port, which it notes.
tunnel() {
    port=$((20000 + RANDOM % 10000))
    printf '%s\n' "foreground = yes" "pid =" "socket = l:TCP_NODELAY=1" "socket = r:TCP_NODELAY=1" "[nfs]" \
        "accept = 127.0.0.1:$port" "cert = $scratch/key.pem" "sslVersion = TLSv1.3" "$@" >"$scratch/tunnel-$port"
    stunnel4 "$scratch/tunnel-$port" 2>"$scratch/tunnel-$port.log" &
    stunnel=$!
    processes+=("$stunnel")
    until (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.05; done
}

# shellcheck disable=SC2317 # called by name
by_libnfs() { nfs-cat "nfs://127.0.0.1/pub/$1?nfsport=$port&mountport=$port" >/dev/null; }

# Prints the wall time and the CPU time of the processes of a server, in ms for a MiB, under libnfs through a tunnel to an address.
measure_tunnel() {
    local before begin
    tunnel "client = yes" "connect = $1"
    local client=$stunnel
    before=$(spent "${@:2}") begin=$(date +%s%N)
    read_all by_libnfs
    awk -v wall=$(($(date +%s%N) - begin)) -v cpu=$(($(spent "${@:2}") - before)) -v size="$mebibytes" \
        'BEGIN { printf "%.2f %.2f\n", wall / size / 1e6, cpu / size }'
    kill "$client"
}

peer() {
    local round
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=nfs -days 2 \
        -keyout "$scratch/key" -out "$scratch/certificate" 2>/dev/null
    cat "$scratch/key" "$scratch/certificate" >"$scratch/key.pem"
    echo "server, 2 workers: wall time, CPU time of the server with its tunnel, ms for a MiB"
    for round in $(seq "$rounds"); do
        for coloring in serial cipher files; do
            serve tls $coloring 2
            measure_tunnel "${name%:*}" "$server" >>"$scratch/row-sfs-$coloring"
            stop
        done
        start 2 "$bench" peer "$scratch/served" 2
        tunnel "connect = ${name%/}"
        measure_tunnel "127.0.0.1:$port" "$server" "$stunnel" >>"$scratch/row-nfs3_server-and-stunnel"
        stop
    done
    print_all
}

case $what in
    tls | software) colorings "$what" ;;
    processors | copies | share | report | peer) "$what" ;;
    *) sed -n '2,/^set/s/^# \?//p' "$0" && exit 1 ;;
esac
