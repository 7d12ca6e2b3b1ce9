# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Read by every script of the lab on the host: messages, errors, and the path of the cache. A script that reads this
# file has set `lab_dir` to the directory of lab/.

lab_failed=125                   # the lab itself has failed: the status that env(1) and timeout(1) use
lab_usage=2
quiet=${quiet:-0}
verbose=${verbose:-0}

say() {                          # progress: not with --quiet
	[ "$quiet" = 1 ] || printf 'lab: %s\n' "$*" >&2
}

note() {                         # detail: only with --verbose
	[ "$verbose" = 0 ] || printf 'lab: %s\n' "$*" >&2
}

die() {
	printf 'lab: %s\n' "$*" >&2
	exit "$lab_failed"
}

usage_error() {
	printf 'lab: %s; try lab/run --help\n' "$*" >&2
	exit "$lab_usage"
}

# need COMMAND PACKAGE: fail with one sentence if the command is missing.
need() {
	PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null ||
		die "$1 is missing (package $2): run tools/packages --install lab"
}

cache_root() {
	local base=${XDG_CACHE_HOME:-}
	if [ -z "$base" ]; then
		[ -n "${HOME:-}" ] || die "no directory to cache the kernel in: set XDG_CACHE_HOME or HOME"
		base=$HOME/.cache
	fi
	printf '%s/rdma-lab/%s' "$base" "$arch"
}

arch=$(uname -m)
# shellcheck source=lab/lib/arch-x86_64.sh
if [ -r "$lab_dir/lib/arch-$arch.sh" ]; then
	. "$lab_dir/lib/arch-$arch.sh"
else
	die "this machine is $arch, but the lab supports only: $(cd "$lab_dir/lib" && printf '%s ' arch-*.sh)"
fi
