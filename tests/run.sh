#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run.sh [FUZZ_SECONDS] - installs what is missing, builds every preset and runs all its tests, then
# fuzzes the segment reader for a minute (or FUZZ_SECONDS; 0 leaves it out).
#
#	HEAPTAP_PRESETS		presets to test, "release asan tsan" by default
#	HEAPTAP_JOBS		parallel jobs, all processors by default
#
# As root or not, without a terminal. Ends with "N passed, N failed" and status 0 where none failed.
set -u
cd "$(dirname "$0")/.." || exit 1
exec </dev/null

readonly presets=${HEAPTAP_PRESETS-release asan tsan}
readonly fuzz_seconds=${1:-60}
readonly jobs=${HEAPTAP_JOBS:-$(nproc)}

passed=0
failed=0
report=()

say()
{
	printf '\n=== %s (%d s)\n' "$*" "$SECONDS"
}

count_failure() # WHAT
{
	failed=$((failed + 1))
	report+=("FAILED  $1")
}

build() # PRESET
{
	say "$1: build"
	cmake --preset "$1" -DBUILD_TESTING=ON && cmake --build --preset "$1" --parallel "$jobs"
}

# Takes the numbers from the line that ctest closes with.
count_tests() # PRESET LOG
{
	local bad all line

	line=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+' "$2" | tail -n 1)
	if [ -z "$line" ]; then
		count_failure "$1: ctest did not come to its end"
		return
	fi
	bad=$(sed -E 's/.*passed, ([0-9]+) tests? failed.*/\1/' <<<"$line")
	all=$(sed -E 's/.*out of ([0-9]+).*/\1/' <<<"$line")
	if [ "$all" -eq 0 ]; then
		count_failure "$1: ctest found no test"
		return
	fi
	passed=$((passed + all - bad))
	failed=$((failed + bad))
	report+=("$1: $((all - bad)) passed, $bad failed")
	while read -r line; do
		report+=("FAILED  $1: $line")
	done < <(sed -n '/^The following tests FAILED:/,$p' "$2" | grep -E '^[[:space:]]*[0-9]+ - ')
}

test_preset() # PRESET
{
	local log=build/$1/ctest.log

	build "$1" || {
		count_failure "$1: does not build"
		return
	}
	say "$1: test"
	ctest --preset "$1" --parallel "$jobs" --no-tests=error 2>&1 | tee "$log"
	count_tests "$1" "$log"
}

# Every fuzz target of the build, one after the other, on its own corpus.
fuzz()
{
	local target name

	build fuzz || {
		count_failure "fuzz: does not build"
		return
	}
	for target in build/fuzz/tests/fuzz/fuzz_*; do
		[ -x "$target" ] && [ -f "$target" ] || continue
		name=$(basename "$target")
		say "$name: $fuzz_seconds s"
		fuzz_one "$target" "$name"
	done
}

fuzz_one() # TARGET NAME
{
	local corpus=build/fuzz/corpus-$2 seeds=tests/fuzz/corpus/$2 args=()

	mkdir -p "$corpus"
	[ -d "$seeds" ] && args=("$seeds")
	if "$1" -max_total_time="$fuzz_seconds" -timeout=10 -print_final_stats=1 \
		-artifact_prefix="$corpus-" "$corpus" "${args[@]}" >"$corpus.log" 2>&1; then
		passed=$((passed + 1))
		report+=("$2: $(sed -n 's/^stat::number_of_executed_units: *//p' "$corpus.log") inputs, no finding")
	else
		tail -n 40 "$corpus.log"
		count_failure "$2: see $corpus.log"
	fi
}

if ! packaging/deps.sh build test; then
	echo "0 passed, 1 failed"
	exit 1
fi
for preset in $presets; do
	test_preset "$preset"
done
[ "$fuzz_seconds" = 0 ] || fuzz

say "summary"
[ ${#report[@]} -eq 0 ] || printf '%s\n' "${report[@]}"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
