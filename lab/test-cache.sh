# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Read by lab/test: the checks that damage the cache, or run without a network, without disk space or without root. Each
# has a cache of its own. The functions that all checks use are in test-checks.sh.
# shellcheck disable=SC2016   # what is in single quotes is for the shell in the guest

own_cache() {                    # make a copy of the cache that may be damaged; set entry to that of the kernel
	local from=${XDG_CACHE_HOME:-$HOME/.cache}/rdma-lab name=${LAB_KERNEL:-default}
	[[ $name != */* ]] || name=path-$(printf %s "$name" | sha256sum | cut -c 1-12)
	mkdir -p cache
	cp -a --reflink=auto "$from" cache/
	export XDG_CACHE_HOME=$PWD/cache
	entry=$(sed -n 's/^entry //p' "$PWD"/cache/rdma-lab/*/asked/*-"$name")
	entry=$(echo "$PWD"/cache/rdma-lab/*/kernels/"$entry")
}

no_network() {                   # hide all archives from apt
	mkdir -p etc/parts lists/partial
	printf 'deb http://127.0.0.1:9/debian stable main\n' >etc/sources.list
	printf '%s\n' "Dir::Etc::sourcelist \"$PWD/etc/sources.list\";" "Dir::Etc::sourceparts \"$PWD/etc/parts\";" \
		"Dir::State::lists \"$PWD/lists\";" 'Acquire::http::Proxy "http://127.0.0.1:9";' >apt.conf
	export APT_CONFIG=$PWD/apt.conf
}

check_corrupt_cache() {
	own_cache
	printf X | dd of="$entry/kernel/image" bs=1 seek=5000000 conv=notrunc status=none
	: >"$entry/siw/siw.cpio"
	expect 6 "$run" -- sh -c 'ibv_devices | grep -q siw0 && exit 6'
	sentence "kernel is damaged" err
	sentence "siw module is damaged" err
	expect 0 "$run" -- true
	[ ! -s err ] || { cat err; fail "the second run still says something"; }
}

check_offline_full() {
	own_cache
	no_network
	touch -d '60 days ago' cache/rdma-lab/*/asked/*
	expect 0 "$run" -- true
	[ ! -s err ] || { cat err; fail "offline use is not silent"; }
}

check_offline_empty() {
	no_network
	export XDG_CACHE_HOME=$PWD/empty
	expect 125 "$run" -- true
	sentence "network" err
	[ -z "$(ls -d empty/rdma-lab/*/tmp.* 2>/dev/null)" ] || fail "left a temporary directory"
}

check_full_disk() {
	[ "$(id -u)" = 0 ] || skip "only root can mount a small file system"
	mkdir small
	unshare -m sh -c 'mount -t tmpfs -o size=20m none small' 2>/dev/null || skip "cannot mount here"
	expect 125 unshare -m sh -c 'mount -t tmpfs -o size=20m none small; XDG_CACHE_HOME=$PWD/small exec "$0" -- true' "$run"
	sentence "MB free" err
}

check_ordinary_user() {
	[ "$(id -u)" = 0 ] || skip "this whole test runs as an ordinary user"
	setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$run" || skip "another user cannot read this tree"
	own_cache
	chown -R 65534:65534 .
	expect 3 env TMPDIR="$PWD" setpriv --reuid 65534 --regid 65534 --clear-groups "$run" -- sh -c 'id -u >file; exit 3'
	[ "$(cat file)" = 0 ] && [ "$(stat -c %u file)" = 65534 ] || fail "the file did not come back as the user's"
}
