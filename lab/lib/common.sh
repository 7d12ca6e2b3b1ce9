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

# choose_arch NAME [usage_error]: the guest's processor, by the kernel's name or Debian's. If it is another than this machine's, foreign
# is 1, and guest_root is where its root is unpacked (lib/root.sh).
choose_arch() {
	case $1 in
	amd64) arch=x86_64 ;;
	arm64) arch=aarch64 ;;
	*) arch=$1 ;;
	esac
	[[ $arch != */* ]] && [ -r "$lab_dir/lib/arch-$arch.sh" ] ||
		"${2:-die}" "the lab has no guests of $1, but only of: $(cd "$lab_dir/lib" && echo arch-*.sh | sed 's/arch-//g; s/\.sh//g')"
	# shellcheck source=lab/lib/arch-x86_64.sh
	. "$lab_dir/lib/arch-$arch.sh"
	cache=$(cache_root)
	foreign=0 guest_root=''
	[ "$arch" = "$(uname -m)" ] || foreign=1
	export LAB_ARCH=$arch
}

choose_arch "${LAB_ARCH:-$(uname -m)}"
