#!/bin/bash
# SPDX-License-Identifier: MIT
#
# deps.sh [build] [test] [quickstart] - installs what heaptap needs on Debian 12, by apt.
#
# Asks dpkg first, so that it costs a few milliseconds and no privilege where everything is there.
# Packages that bring a service must not start it here: a policy-rc.d is put in the way during the
# installation and taken away again. npm packages are not its business: CMake and the browser tests
# run "npm ci" with the lock files of their folders.
set -u

readonly build=(build-essential cmake ninja-build pkg-config ca-certificates
	libmicrohttpd-dev libcjson-dev libiberty-dev zlib1g-dev)
readonly quickstart=(redis-server redis-tools curl jq)
readonly test=(clang clang-format libclang-rt-14-dev libcmocka-dev redis-server redis-tools nginx
	memcached jq curl python3 rustc libjemalloc-dev libgoogle-perftools-dev
	libmimalloc-dev valgrind chromium util-linux)

fail()
{
	printf 'deps.sh: %s\n' "$*" >&2
	exit 1
}

is_installed()
{
	[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Any node from version 18 on does, wherever it comes from; Debian 12's own is 18.
has_node()
{
	local version

	version=$(node --version 2>/dev/null) && command -v npm >/dev/null || return 1
	version=${version#v}
	[ "${version%%.*}" -ge 18 ] 2>/dev/null
}

list_missing()
{
	local package

	for package in "$@"; do
		is_installed "$package" || printf '%s\n' "$package"
	done | sort -u
	has_node || printf 'nodejs\nnpm\n'
}

as_root()
{
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo -n true 2>/dev/null || [ -t 0 ] || return 1
		sudo "$@"
	fi
}

readonly policy=/usr/sbin/policy-rc.d
readonly policy_kept=/usr/sbin/policy-rc.d.before-heaptap

forbid_services()
{
	# A kept one that is there already is from a run that was killed: it is the true one.
	if [ -e "$policy" ] && [ ! -e "$policy_kept" ]; then
		as_root mv "$policy" "$policy_kept" || return 1
	fi
	printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null && as_root chmod 755 "$policy"
}

allow_services()
{
	as_root rm -f "$policy"
	if [ -e "$policy_kept" ]; then
		as_root mv "$policy_kept" "$policy"
	fi
}

install_packages()
{
	local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y)

	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
		fail "these packages are missing, and this is neither root nor is there a sudo:
	$*
as root: apt-get install --no-install-recommends $*"
	fi
	as_root true || fail "sudo is refused; as root: apt-get install --no-install-recommends $*"
	forbid_services || fail "cannot write $policy"
	trap allow_services EXIT
	# The lists of a fresh image are empty or old; a failing update need not matter where the
	# packages are in the cache.
	as_root "${apt[@]}" update || echo "deps.sh: apt-get update failed; trying without" >&2
	as_root "${apt[@]}" install --no-install-recommends "$@" </dev/null
}

collect()
{
	local part

	for part in "$@"; do
		case $part in
		build) packages+=("${build[@]}") ;;
		test) packages+=("${build[@]}" "${test[@]}") ;;
		quickstart) packages+=("${build[@]}" "${quickstart[@]}") ;;
		*) fail "'$part' is not known; allowed are build, test, quickstart" ;;
		esac
	done
}

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
	fail "this is not Debian; install by hand what stands in its lists: packaging/README.md"
packages=()
[ $# -gt 0 ] || set -- build test quickstart
collect "$@"
mapfile -t missing < <(list_missing "${packages[@]}")
[ ${#missing[@]} -gt 0 ] || exit 0

echo "deps.sh: installing ${missing[*]}"
install_packages "${missing[@]}"
mapfile -t missing < <(list_missing "${packages[@]}")
[ ${#missing[@]} -eq 0 ] || fail "still missing after apt-get: ${missing[*]}
Is there a network, and do /etc/apt/sources.list* name Debian 12's main archive?"
