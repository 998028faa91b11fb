#!/bin/bash
# SPDX-License-Identifier: MIT
#
# quickstart.sh [--once] [--no-build] [-- COMMAND...] - from a fresh clone to a live page.
#
# Installs what is missing (Debian 12, root or sudo), builds heaptap, starts redis-server with
# heaptap under a load of redis-benchmark, or COMMAND instead, and prints the page's address and a
# first finding. Runs until Ctrl-C; --once ends after the finding. --no-build uses what the tree
# (HEAPTAP_BUILD, else build/release) holds already.
set -u
cd "$(dirname "$0")/.." || exit 1

readonly build=${HEAPTAP_BUILD:-$PWD/build/release}
once=false
prepare=true
pids=()
scratch=

fail()
{
	printf 'quickstart: %s\n' "$*" >&2
	exit 1
}

usage()
{
	sed -n '4,9s/^# \{0,1\}//p' "$0"
	exit "$1"
}

# Ends what this script started, by pid, and waits for it. The server ends by itself.
clean_up()
{
	local pid

	trap - EXIT INT TERM
	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null
	done
	for pid in "${pids[@]}"; do
		wait "$pid" 2>/dev/null
	done
	[ -z "$scratch" ] || rm -rf "$scratch"
}

# A condition, asked ten times a second, for at most that many seconds.
wait_for() # SECONDS WHAT COMMAND...
{
	local seconds=$1 what=$2 tries

	shift 2
	for ((tries = seconds * 10; tries > 0; tries--)); do
		"$@" && return
		sleep 0.1
	done
	[ ! -s "$scratch/host.log" ] || tail -n 20 "$scratch/host.log" >&2
	fail "$what: not within $seconds s"
}

build_all()
{
	packaging/deps.sh build quickstart || exit 1
	echo "Building heaptap (the first time takes a minute) ..."
	if ! { cmake --preset release -DBUILD_TESTING=OFF && cmake --build --preset release; } >"$scratch/build.log" 2>&1; then
		tail -n 40 "$scratch/build.log" >&2
		fail "heaptap does not build"
	fi
}

# Asks the kernel for a port that nobody listens on.
find_free_port()
{
	local port

	for ((port = 16379; port < 16479; port++)); do
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || {
			echo "$port"
			return
		}
	done
	fail "no free port from 16379 to 16478"
}

answers_ping()
{
	[ "$(redis-cli -p "$1" ping 2>/dev/null)" = PONG ]
}

run_host()
{
	"$build/bin/heaptap" run -- "$@" </dev/null >"$scratch/host.log" 2>&1 &
	host=$!
	pids+=("$host")
}

start_redis()
{
	local port

	port=$(find_free_port) || exit 1
	run_host redis-server --port "$port" --save '' --dir "$scratch"
	wait_for 10 "redis-server on port $port" answers_ping "$port"
	redis-benchmark -p "$port" -t set,get,lpush -d 200 -n 1000000 -l -q >/dev/null 2>&1 &
	pids+=("$!")
	echo "redis-server runs on port $port with heaptap, under a load of redis-benchmark."
}

# The address with the token, as `heaptap ps` prints it.
find_page()
{
	page=$("$build/bin/heaptap" ps 2>/dev/null | grep -o 'http://[^[:space:]]*#token=[0-9a-f]*' | head -n 1)
	[ -n "$page" ]
}

ask() # PATH
{
	curl -fsS --max-time 5 -H "Authorization: Bearer ${page##*#token=}" "${page%%/#token=*}$1" 2>/dev/null
}

page_answers()
{
	find_page && ask / >/dev/null
}

is_allocating()
{
	kill -0 "$host" 2>/dev/null || fail "the command has ended: $(tail -n 3 "$scratch/host.log")"
	[ "$(ask "/api/v1/summary?process=$host" | jq '.allocs_per_s > 0 and .alloc_count > 1000')" = true ]
}

# A finding in plain words: how much, and from where most of it comes.
print_finding()
{
	local summary sites

	summary=$(ask "/api/v1/summary?process=$host") || fail "no summary"
	sites=$(ask "/api/v1/sites?process=$host&limit=3") || fail "no sites"
	jq -rn --argjson summary "$summary" --argjson sites "$sites" '
		def thousands: round | tostring | [while(. != ""; .[:-3])] | map(.[-3:]) | reverse | join(",");
		def percent: . * 100 | round | "\(.)%";
		$summary as $s | $sites.sites as $top |
		"\($s.name) (pid \($s.pid)) makes \($s.allocs_per_s | thousands) allocations and asks for " +
		"\($s.bytes_per_s / 1e6 * 10 | round / 10) MB each second; " +
		"\($s.live_bytes / 1e6 * 10 | round / 10) MB in \($s.live_count | thousands) blocks are live.",
		($top[] | "  \(.alloc_share | percent) of the allocations come from \(.name) in \(.module_name), " +
		"\((.mean_bytes // 0) | round) bytes each on average.")'
}

main()
{
	while [ $# -gt 0 ]; do
		case $1 in
		--once) once=true ;;
		--no-build) prepare=false ;;
		--help) usage 0 ;;
		--) shift && break ;;
		*) usage 2 >&2 ;;
		esac
		shift
	done
	trap clean_up EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	scratch=$(mktemp -d) || exit 1
	! $prepare || build_all
	if [ $# -gt 0 ]; then
		run_host "$@"
	else
		start_redis
	fi
	wait_for 15 "the page" page_answers
	echo "Open $page"
	wait_for 15 "the first rates" is_allocating
	print_finding
	$once && return
	echo "Press Ctrl-C to end."
	wait "$host"
}

main "$@"
