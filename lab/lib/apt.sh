# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Read by lib/fetch: asks apt, as an ordinary user, what kernel there is today and downloads packages. Where the
# machine's package lists are missing or out of date, lists of our own are kept in the cache.
# Sets kernel_package, kernel_version, kernel_release by find_kernel.

apt_options=(-o APT::Sandbox::User= -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o Acquire::Retries=1
	-o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20)

apt_query() { LC_ALL=C apt-cache "${apt_options[@]}" "$@" 2>/dev/null; }

candidate() { apt_query policy "$1" | sed -n 's/^ *Candidate: //p' | grep -v '(none)'; }

# depends PACKAGE=VERSION PATTERN: names among its dependencies.
depends() {
	apt_query show "$1" | sed -n 's/^Depends: //p' | sed 's/[,|]/\n/g' | sed 's/^ *//; s/[ (:].*//' | grep -E "$2" |
		sort -u
}

find_kernel() {
	local meta
	meta=$(candidate "$arch_kernel") || return 1
	kernel_package=$(depends "$arch_kernel=$meta" '^linux-image-[0-9]' | head -n 1) && [ -n "$kernel_package" ] || return 1
	kernel_version=$(candidate "$kernel_package") || return 1
	kernel_release=${kernel_package#linux-image-}
	kernel_release=${kernel_release%-unsigned}
}

# Lists of our own, for when those of the machine do not do.
refresh_lists() {
	local lists=$cache/apt/lists
	mkdir -p "$lists/partial" "$cache/apt/cache/archives/partial" || return 1
	say "refreshing the package lists in the lab's own cache"
	apt_options+=(-o "Dir::State::lists=$lists" -o "Dir::Cache=$cache/apt/cache" -o Acquire::Languages=none)
	apt-get "${apt_options[@]}" -qq update >>"$work/apt.log" 2>&1 || true
}

# apt_size PACKAGE=VERSION...: how much there is to download, in MB.
apt_size() {
	apt_query show "$@" | sed -n 's/^Size: //p' | awk '{ s += $1 } END { printf "%d", s / 1e6 + 0.5 }'
}

# download PACKAGE=VERSION...: into the current directory; apt checks the signatures.
download() {
	apt-get "${apt_options[@]}" -qq download "$@" >>"$work/apt.log" 2>&1
}
