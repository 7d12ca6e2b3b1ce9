# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Read by every script of the lab on the host: how the lab speaks, how it fails, and where its cache is.
# A script that reads this file has set `lab_dir` to the directory of lab/.

lab_failed=125                   # the lab's own failures, as env(1) and timeout(1) do it
lab_usage=2
quiet=${quiet:-0}
verbose=${verbose:-0}

say() {                          # progress: silenced by --quiet
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

# need COMMAND PACKAGE: fail in one sentence where a program is missing.
need() {
	PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null ||
		die "$1 is missing (package $2): run tools/packages --install"
}

cache_root() {
	local base=${XDG_CACHE_HOME:-}
	if [ -z "$base" ]; then
		[ -n "${HOME:-}" ] || die "neither XDG_CACHE_HOME nor HOME says where to cache the kernel"
		base=$HOME/.cache
	fi
	printf '%s/rdma-lab/%s' "$base" "$arch"
}

arch=$(uname -m)
# shellcheck source=lab/lib/arch-x86_64.sh
if [ -r "$lab_dir/lib/arch-$arch.sh" ]; then
	. "$lab_dir/lib/arch-$arch.sh"
else
	die "this machine is $arch, and the lab knows only: $(cd "$lab_dir/lib" && printf '%s ' arch-*.sh)"
fi
