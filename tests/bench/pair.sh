#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What a malloc/free pair costs under heaptap beyond a preload that only forwards: instructions
# (callgrind, exact for a given binary) and the ratio of CPU times (median of paired runs).
#
#   tests/bench/pair.sh [BUILD_DIR [RUNS]]      default: build/release, 15 pairs of runs
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/release}
runs=${2:-15}
pairs=4000000
pair=$build/tests/bench/bench_pair
forward=$build/tests/bench/bench_forward.so
heaptap=$(echo "$build"/lib/*/heaptap/libheaptap.so)
dir=$(mktemp -d /dev/shm/heaptap-bench.XXXXXX)
trap 'rm -rf "$dir"' EXIT
chmod 700 "$dir"

for need in "$pair" "$forward" "$heaptap"; do
	[ -e "$need" ] || { echo "pair.sh: $need is missing: build first" >&2; exit 1; }
done

with() { # PRELOAD COMMAND...
	local preload=$1
	shift
	env -i PATH="$PATH" HEAPTAP_LISTEN=off HEAPTAP_DIR="$dir" LD_PRELOAD="$preload" "$@"
}

instructions() { # PRELOAD PAIRS
	with "$1" valgrind --tool=callgrind --callgrind-out-file=/dev/null "$pair" "$2" 2>&1 |
		awk '/Collected/ { print $4 }'
}

per_pair() { # PRELOAD: the difference of two runs is free of start-up
	awk -v a="$(instructions "$1" 100000)" -v b="$(instructions "$1" 300000)" \
		'BEGIN { printf "%.1f", (b - a) / 200000 }'
}

ratio() { # THREADS: median of heaptap / forwarding, each pair of runs one after the other
	for _ in $(seq "$runs"); do
		echo "$(with "$forward" "$pair" "$pairs" "$1") $(with "$heaptap" "$pair" "$pairs" "$1")"
	done | awk '{ printf "%.4f\n", $2 / $1 }' | sort -n |
		awk '{ v[NR] = $1 } END { printf "%.3f  (%.3f to %.3f)", v[int((NR + 1) / 2)], v[1], v[NR] }'
}

echo "instructions per pair: forwarding $(per_pair "$forward"), heaptap $(per_pair "$heaptap")"
echo "CPU time, heaptap / forwarding, median of $runs pairs of runs (min to max):"
echo "  1 thread   $(ratio 1)"
echo "  2 threads  $(ratio 2)"
